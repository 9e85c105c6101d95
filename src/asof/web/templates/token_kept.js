// Keeps the token of `asof serve --control`, which came behind the # of an address and is sent to
// nobody by that, for as long as the tab is open. It runs before anything is drawn, so that nothing
// moves: a page's root is `trusted` where the token is known, and is not asked for it then.
(() => {
  const found = /[#&]token=([\w-]+)/.exec(location.hash);
  if (found) {
    sessionStorage.setItem("token", found[1]);
    history.replaceState(null, "", location.pathname + location.search);
  }
  document.documentElement.classList.toggle("trusted", !!sessionStorage.getItem("token"));
})();
