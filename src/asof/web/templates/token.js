// Keeps the token of `asof serve --control`, which came behind the # of an address and is sent to
// nobody by that, for as long as the tab is open, and fills it into forms.
(() => {
  const found = /[#&]token=([\w-]+)/.exec(location.hash);
  if (found) {
    sessionStorage.setItem("token", found[1]);
    history.replaceState(null, "", location.pathname + location.search);
  }
  const fields = document.querySelectorAll("input[name=token]");
  const fill = () => {
    for (const field of fields) {
      field.value = sessionStorage.getItem("token") || "";
      const label = field.closest(".token");
      if (label) label.classList.toggle("asked", !field.value);
    }
  };
  for (const field of fields)
    field.form.addEventListener("submit", () => sessionStorage.setItem("token", field.value));
  // One that was refused is asked for again: the server may have a new one.
  if (document.querySelector("[data-refused=token]")) sessionStorage.removeItem("token");
  fill();
  addEventListener("pageshow", fill);  // who goes back to a form finds it as it is now
})();
