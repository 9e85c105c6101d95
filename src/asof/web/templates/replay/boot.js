// Starts the worker, then goes to the page that the fragment names: PLAN/:ASKED/STAMPmp_/URL. Where a
// page was asked for past the worker, this stands in its place and goes to the same again.
(async () => {
  const workers = navigator.serviceWorker, isBoot = location.pathname === "/-/boot";
  const page = /^#([\w.~-]+\/:\d{14}\/\d{14}mp_\/.+)$/s.exec(location.hash);
  if (isBoot && !page) return;
  try {
    const tries = isBoot ? 0 : 1 + Number(sessionStorage.getItem("asof-boots"));
    sessionStorage.setItem("asof-boots", tries);
    if (tries > 3) throw new Error("it does not take part");
    const soon = seconds => new Promise(done => setTimeout(done, 1000 * seconds));
    const controlled = new Promise(done => workers.addEventListener("controllerchange", done, {once: true}));
    await workers.register("/sw.js?replayPrefix=w", {scope: "/"});
    const late = soon(15).then(() => { throw new Error("it did not start"); });
    await Promise.race([workers.ready, late]);
    // After a reload past all caches there is a worker, but none for this document.
    if (!workers.controller) await Promise.race([controlled, soon(2)]);
    if (isBoot) location.replace("/w/" + page[1]);
    else location.reload();
  } catch (error) {
    parent.postMessage({asof: "failed", why: String(error)}, "*");
  }
})();
