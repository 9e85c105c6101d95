// The frame has an origin of its own, in which archived scripts run. It says by messages where it is;
// all that it says is hostile text. What it goes to gets an address and a banner of its own here.
const {boot, plan, asked, lead} = frame.dataset, home = new URL(boot).origin;
let here = frame.dataset.url, mended = "", waiting = 0;
const named = new Set();  // what scripts called the pages that they were on, also before those had loaded
const go = url => frame.contentWindow.location.replace(`${boot}#${plan}/:${asked}/${asked}mp_/${url}`);
// Where scripts cannot run, the rest of this tab's pages need not try it again.
const tab = name => { try { return name ? sessionStorage.setItem("still", name) : sessionStorage.getItem("still"); } catch { return null; } };
const still = () => location.replace(frame.dataset.still + here + location.hash);

async function settle(url, shown, title, isNamed) {
  const [page, part] = url.split(/#(.*)/s), hash = part === undefined ? "" : "#" + part;
  if (page !== here) {
    const answer = await fetch(lead + page, {headers: {accept: "text/html"}});
    const made = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = made.querySelector("iframe[data-boot]");
    // What is not there, or is shown in another way, has a page of its own; a script may call the
    // page that it is on by any name.
    if (!next) return isNamed || location.replace(lead + page);
    document.querySelector(".bar").replaceWith(document.adoptNode(made.querySelector(".bar")));
    document.title = made.title;
    frame.dataset.shown = next.dataset.shown;
    here = page;
  }
  history.replaceState(null, "", lead + page + hash);
  if (title) document.title = title.slice(0, 200);
  // A script may lead to a page as of the moment of the last one, not the one asked for.
  if (shown && shown !== frame.dataset.shown && mended !== page) go(mended = page);
}

addEventListener("message", ({origin, source, data}) => {
  if (origin !== home || source !== frame.contentWindow || data === null || typeof data !== "object") return;
  const {asof, wb_type: kind, url, request_ts: shown, title} = data;
  const text = value => typeof value === "string" ? value : "";
  if (asof === "failed") { tab("failed"); still(); }
  else if (kind === "title") document.title = text(title).slice(0, 200) || document.title;
  else if (["load", "replace-url", "archive-not-found"].includes(kind) && /^https?:\/\/[^\s]+$/.test(text(url))) {
    clearTimeout(waiting);
    if (kind === "replace-url" && named.size < 1000) named.add(url);
    const isNamed = kind !== "archive-not-found" && named.has(url);
    waiting = setTimeout(settle, 30, url, kind === "load" && !isNamed ? text(shown) : "", text(title), isNamed);
  }
});
addEventListener("hashchange", () => {
  const message = {wb_type: "outer_hashchange", hash: location.hash};
  frame.contentWindow.postMessage({from_top: true, message}, home);
});
if (tab() !== null) still();
else frame.src = `${boot}#${plan}/:${asked}/${asked}mp_/${here}${location.hash}`;
frame.focus();
