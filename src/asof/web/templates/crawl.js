// Asks every two seconds how the crawl stands, while it runs and the page is seen, and puts what has
// changed in its place. All words are the server's: what it sends is the page that is there anyhow.
(() => {
  const watch = document.querySelector("[data-watch]"), state = document.querySelector("[data-live=state]");
  if (!watch) return;
  const place = watch.dataset.watch, USUAL = 2000, LONGEST = 32000;
  let timer = 0, pause = USUAL, busy = false;
  history.replaceState(null, "", place);  // after an order: to load the page again orders nothing

  async function look() {
    clearTimeout(timer);
    if (document.hidden || busy) return;
    busy = true;
    try {
      const answer = await fetch(place, {headers: {accept: "text/html"}});
      if (!answer.ok) throw new Error(answer.status);
      const made = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!made.querySelector("[data-watch]")) return location.replace(place);  // it has ended
      for (const old of document.querySelectorAll("[data-live]")) {
        const next = made.querySelector(`[data-live="${old.dataset.live}"]`);
        if (next && next.innerHTML !== old.innerHTML) old.replaceChildren(...next.childNodes);
      }
      watch.className = made.querySelector("[data-watch]").className;
      document.title = made.title;
      pause = USUAL;
    } catch {
      pause = Math.min(2 * pause, LONGEST);
      const lost = "The server does not answer. It is asked again.";
      if (state.textContent !== lost) state.textContent = lost;
    } finally {
      busy = false;
    }
    timer = setTimeout(look, pause);
  }
  document.addEventListener("visibilitychange", look);
  timer = setTimeout(look, pause);
})();
