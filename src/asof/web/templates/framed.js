// What the frame of a replayed page cannot do without a script: the part of the page that an address
// names is shown, the title is the page's, and what was opened in the frame gets an address and a
// banner of its own. The page itself runs no script, so nothing can act here.
const own = frame.src;
const inside = () => frame.contentWindow.location;
const show = () => { if (location.hash) inside().replace(own + location.hash); };
addEventListener("hashchange", show);
frame.addEventListener("load", () => {
  try {
    const now = inside().href;
    if (now.startsWith(location.origin) && now.split("#")[0] !== own) location.replace(now);
    else if (typeof frame.contentDocument.title === "string") document.title = frame.contentDocument.title || document.title;
  } catch {}
});
show();
frame.focus();
