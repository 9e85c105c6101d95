self.addEventListener("fetch", event => event.respondWith(new Response("<script>console.log(1)</script>taken over", {headers: {"Content-Type": "text/html"}})));
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", () => clients.claim());
fetch("http://own-worker.leak.test/own-worker", {mode: "no-cors"}).catch(() => {});
