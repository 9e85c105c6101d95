// A script of a document that no worker controls is run as one of the document's own text, which the
// program rewrites; each after the one before it. It has been loaded when it has run.
const me = document.currentScript;
let around = parent;
while (around !== around.parent && around.location.protocol === "about:") around = around.parent;
if (me) {
  me.addEventListener("load", event => event.stopImmediatePropagation(), {capture: true, once: true});
  const text = around.fetch(address).then(answer => answer.text());
  self.asofScripts = Promise.all([text, self.asofScripts]).then(([made]) => {
    const run = Object.assign(document.createElement("script"), {textContent: made});
    document.documentElement.appendChild(run);
    run.remove();
    me.dispatchEvent(new Event("load"));
  }, () => me.dispatchEvent(new Event("error")));
}
