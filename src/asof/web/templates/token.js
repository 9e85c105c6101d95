// Fills the token that the tab knows into forms.
(() => {
  const fields = document.querySelectorAll("input[name=token]");
  const fill = () => {
    const token = sessionStorage.getItem("token") || "";
    for (const field of fields) field.value = token;
    document.documentElement.classList.toggle("trusted", !!token);
  };
  for (const field of fields)
    field.form.addEventListener("submit", () => sessionStorage.setItem("token", field.value));
  // One that was refused is asked for again: the server may have a new one.
  if (document.querySelector("[data-refused=token]")) sessionStorage.removeItem("token");
  fill();
  addEventListener("pageshow", fill);  // who goes back to a form finds it as it is now
})();
