// Two replayed pages, each in a frame of the origin where archived scripts run. All that they say is
// hostile text; of it one thing counts: that scripts cannot run there, and then both are still.
const frames = [...document.querySelectorAll("iframe[data-src]")];
const home = new URL(frames[0].dataset.src).origin;
addEventListener("message", ({origin, source, data}) => {
  if (origin !== home || data?.asof !== "failed" || !frames.some(one => one.contentWindow === source)) return;
  for (const one of frames.splice(0)) one.src = one.dataset.still;
});
for (const one of frames) one.src = one.dataset.src;
