// Shows how far a run of a cover is, until it is over.
(() => {
  const run = document.getElementById("run");
  if (!run) return;
  const bar = run.querySelector("progress"), told = run.querySelector(".said");
  const look = async () => {
    const answer = await fetch(run.dataset.state).catch(() => null);
    const found = answer?.ok ? await answer.json() : {state: "running"};
    if (found.state !== "running" && found.state !== "stopping") {
      location.replace(found.state === "saved" ? run.dataset.cover : location.href);
      return;
    }
    if (found.said) told.textContent = found.said;
    if (found.share != null) bar.value = found.share;
    setTimeout(look, 1000);
  };
  setTimeout(look, 500);
})();
