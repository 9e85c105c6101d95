// Probes say into the page whether something works in it as it did when it was live.
//
//   probe("id", run)   run() may return a promise; what it throws is why the probe failed
//   same(is, wanted)   throws unless both are the same
//
// The outcome stands in <probe-table>, one <probe-row data-id data-state data-why> for each; the
// table has data-done once the page is loaded and no probe is open.
(() => {
  const PATIENCE = 10000;
  const table = document.createElement("probe-table");
  table.hidden = true;
  document.documentElement.append(table);
  let open = 0;
  let loaded = false;
  const settle = () => {
    if (loaded && open === 0) table.dataset.done = "yes";
  };
  const late = () => new Promise((_, fail) => setTimeout(() => fail("did not end"), PATIENCE));
  window.probe = (id, run) => {
    const row = document.createElement("probe-row");
    row.dataset.id = id;
    row.dataset.state = "open";
    table.append(row);
    open += 1;
    Promise.race([(async () => run())(), late()]).then(
      value => {
        row.dataset.state = value === false ? "fail" : "pass";
        row.dataset.why = value === false ? "is false" : "";
      },
      error => {
        row.dataset.state = "fail";
        row.dataset.why = String(error).slice(0, 300);
      },
    ).finally(() => {
      open -= 1;
      setTimeout(settle, 0);
    });
  };
  window.same = (is, wanted) => {
    const [a, b] = [JSON.stringify(is), JSON.stringify(wanted)];
    if (a !== b) throw new Error(`${a}, not ${b}`);
  };
  // The event of a target, or an error if `error` comes first.
  window.once = (target, name) => new Promise((done, fail) => {
    target.addEventListener(name, done, {once: true});
    if (name !== "error") {
      target.addEventListener("error", () => fail(new Error(`error, not ${name}`)), {once: true});
    }
  });
  window.pause = time => new Promise(done => setTimeout(done, time));
  // Becomes true, some time.
  window.until = async (test) => {
    while (!test()) await window.pause(30);
  };
  window.onload_of = image => (image.complete && image.naturalWidth ? null : once(image, "load"));
  window.addEventListener("load", () => {
    loaded = true;
    setTimeout(settle, 50);
  });
})();
