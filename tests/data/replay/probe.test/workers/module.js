import { part } from "./part.js";

onmessage = async () => {
  const { later } = await import("./later.js");
  postMessage({ here: `module and ${part}`, url: import.meta.url, later });
};
