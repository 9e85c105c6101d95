fetch("http://past-script.leak.test/past-script", {mode: "no-cors"}).catch(() => {});
fetch("http://main.test/?hostile=past", {mode: "no-cors", credentials: "include"}).catch(() => {});
try { new Worker("/worker.js"); } catch {}
navigator.serviceWorker?.register("/own-worker.js").catch(() => {});
