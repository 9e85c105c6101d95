// Keeps the token of `asof serve --control`, which came behind the # of an address and is sent to
// nobody by that, for as long as the tab is open, and fills it into forms.
(() => {
  const found = /[#&]token=([\w-]+)/.exec(location.hash);
  if (found) {
    sessionStorage.setItem("token", found[1]);
    history.replaceState(null, "", location.pathname + location.search);
  }
  for (const field of document.querySelectorAll("input[name=token]")) {
    field.value = sessionStorage.getItem("token") || "";
    const label = field.closest(".token");
    if (label) label.hidden = Boolean(field.value);
    field.form.addEventListener("submit", () => sessionStorage.setItem("token", field.value));
  }
})();
