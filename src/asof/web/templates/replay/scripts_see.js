// What archived scripts see, where the program in pages (wombat, by the authors of the worker's) lets
// the replay show through or is not as browsers are. It runs right behind that program, in each page, and
// before anything of the page. It is for truth alone: all that keeps scripts in lies elsewhere.
(() => {
  "use strict";  // a function that is called without an object is told so, whoever made the window
  const Wombat = self._WBWombat, {prototype} = Wombat;
  const before = (name, ours) => { const theirs = prototype[name]; prototype[name] = function (...words) { ours.call(this, ...words); return theirs.apply(this, words); }; };
  const around = (name, ours) => { const theirs = prototype[name]; prototype[name] = function (...words) { return ours.call(this, (...said) => theirs.apply(this, said), ...words); }; };
  const ADDRESS = /^(?:https?:\/\/[^/]+)?\/w\/[^/]+\/(?::\d+\/)?\d*(?:[a-z]+_)?\/((?:blob:[^/]*\/)?https?:\/\/.*)$/s;
  const origin = url => /^(?:blob:[^/]*\/)?(https?:\/\/[^/]+)/.exec(url)?.[1] ?? "";
  // The origin of a window's document; what was written, or made of a text, has that of its parent.
  function home(win) {
    const found = ADDRESS.exec(win.location.href);
    if (found) return origin(found[1]);
    try { return win.parent === win ? "" : home(win.parent); } catch { return ""; }
  }
  // Such documents are sandboxed without an origin; our worker reaches them only if they have one.
  const OPAQUE = "asof-opaque";
  const isOpaque = win => { try { return win.frameElement.sandbox.contains(OPAQUE); } catch { return false; } };
  const getter = (owner, name, mend) => {
    const theirs = Object.getOwnPropertyDescriptor(owner, name);
    Object.defineProperty(owner, name, {...theirs, get() { return mend(theirs.get.call(this), this); }});
  };

  // Addresses

  around("extractOriginalURL", function (theirs, url) {
    const text = String(url ?? "");
    if (/_\/srcdoc:/.test(text)) return this.wb_info.url;
    // An archived address may have "/http" in it.
    return /^https?:/.test(text) && !text.startsWith(this.wb_info.prefix.split("/w/")[0]) ? text : theirs(url);
  });

  prototype.overrideReferrer = function (document) {
    const theirs = this.getOrigGetter(document, "referrer"), wombat = this;
    this.defGetterProp(document, "referrer", function () {
      const [, from = ""] = ADDRESS.exec(theirs.call(wombat.proxyToObj(this))) ?? [], site = origin(from);
      return site && site !== home(wombat.$wbwindow) ? `${site}/` : from;  // strict-origin-when-cross-origin
    });
  };

  // As the program writes what began with a slash: [href="/x"] is [href="/w/.../http://site/x"] there.
  const URLS = /\[\s*(href|src|action|data|poster)\s*(\^?)=\s*(["']?)((?:https?:|\/)[^"'\]]*)\3\s*\]/g;
  function selector(query, site) {
    if (typeof query !== "string" || !query.includes("[")) return query;
    return query.replace(URLS, (written, name, isStart, quote, url) => {
      const isRooted = /^\/(?!\/)/.test(url), value = JSON.stringify(`_/${isRooted ? site : ""}${url}`);
      return `:is(${written}, [${name}^="${isRooted ? "/w/" : "http"}"][${name}${isStart ? "*" : "$"}=${value}])`;
    });
  }

  function addresses(wombat, win) {
    const site = home(win), rooted = new RegExp(`(=")/w/[^/"]+/(?::\\d+/)?\\d*[a-z]+_/${site.replace(/[.]/g, "\\.")}(?=/)`, "g");
    for (const name of ["innerHTML", "outerHTML"]) getter(win.Element.prototype, name, (text, {_no_rewrite: isRaw}) => !isRaw && site && text?.includes('="/w/') ? text.replace(rooted, "$1") : text);
    const {XMLSerializer: {prototype: writer}} = win, {serializeToString: write} = writer;
    writer.serializeToString = {serializeToString(node) { return write.call(this, wombat.proxyToObj(node)).replace(rooted, "$1").replace(wombat.wb_unrewrite_rx, ""); }}.serializeToString;
    for (const owner of [win.Document, win.DocumentFragment, win.Element]) for (const name of ["querySelector", "querySelectorAll", "matches", "closest"]) {
      const theirs = owner.prototype[name];
      if (theirs) owner.prototype[name] = {[name](query, ...rest) { return theirs.call(wombat.proxyToObj(this), selector(query, site), ...rest); }}[name];
    }
    for (const [owner, ...names] of [["EventSource", "url"], ["PerformanceEntry", "name"], ["ErrorEvent", "filename"], ["HTMLImageElement", "currentSrc"], ["HTMLMediaElement", "currentSrc"], ["HashChangeEvent", "oldURL", "newURL"]]) {
      for (const name of names) getter(win[owner].prototype, name, url => wombat.extractOriginalURL(url));
    }
    if (/_\/srcdoc:/.test(win.location.href)) for (const name of ["URL", "documentURI"]) getter(win.Document.prototype, name, () => "about:srcdoc");
  }

  // What is stored stays in the tab, as cookies do: under a name for each origin, in the one that all share.

  const AREAS = ["localStorage", "sessionStorage"];
  const stored = (area, site) => `asof-${area}:${site}/`;

  function storage(wombat, win, kept) {
    const prefixes = new WeakMap(), of = area => { if (!prefixes.has(area)) throw new win.TypeError("Illegal invocation"); return prefixes.get(area); };
    const keys = area => Object.keys(kept).filter(key => key.startsWith(of(area))).map(key => key.slice(of(area).length));
    class Storage {
      constructor() { throw new win.TypeError("Illegal constructor"); }
      get length() { return keys(this).length; }
      key(index) { return keys(this)[index] ?? null; }
      getItem(key) { return kept.getItem(of(this) + key); }
      setItem(key, value) { kept.setItem(of(this) + key, String(value)); }
      removeItem(key) { kept.removeItem(of(this) + key); }
      clear() { keys(this).forEach(key => this.removeItem(key)); }
      get [Symbol.toStringTag]() { return "Storage"; }
    }
    const isOwn = (target, key) => typeof key === "symbol" || key in target;
    for (const name of AREAS) {
      const area = new Proxy(Object.create(Storage.prototype), {
        get: (target, key, self) => isOwn(target, key) ? Reflect.get(target, key, self) : area.getItem(key) ?? undefined,
        set: (target, key, value) => { typeof key === "symbol" ? Reflect.set(target, key, value) : area.setItem(key, value); return true; },
        has: (target, key) => isOwn(target, key) ? key in target : area.getItem(key) !== null,
        deleteProperty: (target, key) => { typeof key === "symbol" ? Reflect.deleteProperty(target, key) : area.removeItem(key); return true; },
        ownKeys: () => keys(area),
        getOwnPropertyDescriptor: (target, key) => typeof key === "symbol" || area.getItem(key) === null ? undefined
          : {value: area.getItem(key), writable: true, enumerable: true, configurable: true},
      });
      prefixes.set(area, stored(name, home(win)));
      wombat.defGetterProp(win, name, () => area, true);
    }
    win.Storage = Storage;
  }

  prototype.initStorageOverride = function () {
    const win = this.$wbwindow;
    this.addEventOverride("storageArea", win.StorageEvent.prototype);
    try { this.__sessionStorage = win.sessionStorage; } catch { return; }
    this.__localStorage = win.localStorage;
    storage(this, win, win.sessionStorage);
  };

  // Browsers tell the other windows of the tab, by the names that we gave.
  function storageEvents(wombat, win) {
    win.addEventListener("storage", event => {
      event.stopImmediatePropagation();
      const name = AREAS.find(each => event.key?.startsWith(stored(each, home(win))));
      if (!name) return;
      const {oldValue, newValue} = event, key = event.key.slice(stored(name, home(win)).length);
      const told = new win.StorageEvent("storage", {key, oldValue, newValue, url: wombat.extractOriginalURL(event.url)});
      told._storageArea = win[name];
      wombat.storage_listeners.map(told);
      win.__orig_onstorage?.call(win, told);
    });
  }

  // What does as browsers do

  around("overrideHistoryFunc", function (theirs, name) {
    const made = theirs(name), {$wbwindow: win} = this;
    return made && (win.history[name] = win.History.prototype[name] = function (...words) {
      try { return made.apply(this, words); } catch (error) {
        throw /^Invalid history change/.test(error.message) ? new win.DOMException(error.message, "SecurityError") : error;
      }
    });
  });

  // Clocks show another moment, and are what they were otherwise.
  around("initDateOverride", function (theirs, ...words) {
    const {$wbwindow: win} = this, {Date: Real} = win;
    theirs(...words);
    if (win.Date === Real) return;
    const {now, __WB_timediff} = win.Date, current = said => said.length ? said : [now()];
    Object.assign(Real, {now, __WB_timediff});
    win.Date = Real.prototype.constructor = new Proxy(Real, {
      apply: () => new Real(now()).toString(), construct: (target, said, maker) => Reflect.construct(target, current(said), maker),
    });
  });

  // No server answers: as if there were none.
  prototype.initWSOverride = function () {
    const win = this.$wbwindow, on = ["open", "message", "error", "close"], states = ["CONNECTING", "OPEN", "CLOSING", "CLOSED"];
    class WebSocket extends win.EventTarget {
      binaryType = "blob"; bufferedAmount = 0; extensions = ""; protocol = ""; readyState = 0;
      constructor(url) {
        super();
        this.url = new win.URL(String(url).replace(/^http/, "ws"), win.document.baseURI.replace(/^http/, "ws")).href;
        on.forEach(name => { this[`on${name}`] = null; this.addEventListener(name, event => this[`on${name}`]?.call(this, event)); });
        win.setTimeout(() => this.#end(true), 300);
      }
      #end(isError) {
        if (this.readyState === 3) return;
        this.readyState = 3;
        if (isError) this.dispatchEvent(new win.Event("error"));
        this.dispatchEvent(new win.CloseEvent("close", {code: 1006, wasClean: false}));
      }
      send() { if (!this.readyState) throw new win.DOMException("Still in CONNECTING state.", "InvalidStateError"); }
      close() { if (this.readyState < 2) { this.readyState = 2; win.setTimeout(() => this.#end(true)); } }
    }
    states.forEach((name, number) => { WebSocket[name] = WebSocket.prototype[name] = number; });
    win.WebSocket = WebSocket;
  };

  // The program opens a request when it is sent. One that is open already is then opened unseen. One that is
  // waited for is past the worker in many browsers: it is answered as what no worker controls.
  around("initHTTPOverrides", function (theirs) {
    const {prototype: made} = this.$wbwindow.XMLHttpRequest, {setRequestHeader: say} = made, wombat = this;
    theirs();
    const {open: keep, send: later} = made;
    made.send = {send(body) {
      const [method, url, isAsync = true, ...rest] = this.__WB_xhr_open_arguments ?? [];
      if (isAsync || this._no_rewrite) return later.call(this, body);
      wombat.utilFns.XHRopen.call(this, method, wombat.rewriteUrl(String(url)), false, ...rest);
      for (const [name, value] of this.__WB_xhr_headers) say.call(this, name, value);
      wombat.utilFns.XHRsend.call(this, body);
    }}.send;
    made.open = {open(...words) {
      keep.apply(this, words);
      const [method, url, isAsync = true, ...rest] = words;
      if (isAsync && words.length > 1) wombat.utilFns.XHRopen.call(this, method, this._no_rewrite ? url : wombat.rewriteUrl(String(url)), true, ...rest);
    }}.open;
  });

  // Browsers load such pictures before they are seen, but in a frame of another origin only when they are.
  function lazy(wombat, win) {
    const {document} = win, AHEAD = "1250px", seen = new WeakSet();
    const near = new win.IntersectionObserver(all => all.forEach(({isIntersecting, target}) => {
      if (isIntersecting) near.unobserve(target), seen.add(target), wombat.wb_setAttribute.call(target, "loading", "eager");
    }), {root: document, rootMargin: AHEAD});
    const look = () => document.querySelectorAll("img[loading=lazy i], iframe[loading=lazy i]").forEach(each => near.observe(each));
    for (const name of ["DOMContentLoaded", "load"]) win.addEventListener(name, look);
    for (const {prototype: owner} of [win.HTMLImageElement, win.HTMLIFrameElement]) getter(owner, "loading", (said, elem) => seen.has(elem) ? "lazy" : said);
  }

  // A name that a frame has means that frame.
  const hasFrame = (win, name) => Array.from({length: win.length}, (_, number) => win[number]).some(each => {
    try { return each.name === name || hasFrame(each, name); } catch { return false; }
  });
  around("rewriteAttrTarget", function (theirs, target) {
    return /^[^_]/.test(target ?? "") && hasFrame(this.$wbwindow.__WB_replay_top, target) ? target : theirs(target);
  });

  // In a sandbox, a frame leads nobody but those below it: not the one beside it, as menus do, nor the
  // page around it. So who is led goes by itself.
  const TOP = "___wb_replay_top_frame";
  const below = win => Array.from({length: win.length}, (_, number) => win[number]).flatMap(each => [each, ...below(each)]);
  const named = (each, name) => { try { return each.name === name; } catch { return false; } };
  function led(win, name) {
    const {__WB_replay_top: top} = win;
    if (!name || !top || top === win) return null;
    return [TOP, "_top", "_parent"].includes(name) ? top : below(top).find(each => named(each, name) && each !== win && !below(win).includes(each));
  }

  // A frame may be led by the page that it is in.
  function lead(wombat, to, url) {
    if (to === wombat.$wbwindow.__WB_replay_top) to.WB_wombat_location.assign(url);
    else wombat.wb_setAttribute.call(to.frameElement, "src", wombat.rewriteUrl(url));
  }

  // A frame with a picture or a text in it has no program that knows its address: it is led from without.
  const isBare = win => { try { return toString.call(win) === "[object Window]" && !win._WB_wombat_obj_proxy && win.frameElement && !/html|xml/.test(win.document.contentType); } catch { return false; } };
  const bare = new WeakMap(), {toString} = Object.prototype;
  function fromWithout(wombat, win) {
    const {$wbwindow: own} = wombat, read = (from, name) => typeof from[name] === "function" ? from[name].bind(from) : from[name];
    const go = url => { lead(wombat, win, new own.URL(url, own.document.baseURI).href); return true; }, ways = {assign: go, replace: go};
    const place = new Proxy(ways, {
      get: (_, name) => ways[name] ?? read(new own.URL(ADDRESS.exec(win.location.href)?.[1] ?? win.location.href), name),
      set: (_, name, value) => name === "href" && go(value),
    });
    bare.set(win, new Proxy({}, {
      get: (_, name) => name === "location" ? place : read(win, name),
      set: (_, name, value) => name === "location" ? go(value) : Reflect.set(win, name, value),
    }));
    return bare.get(win);
  }
  around("defaultProxyGet", function (theirs, ...words) {
    const found = theirs(...words);
    return isBare(found) ? bare.get(found) ?? fromWithout(this, found) : found;
  });

  // The program lets no page be loaded anew, for some never end that in replay: so not for ever.
  const MOST_RELOADS = 5;
  function reloads(win) {
    Object.getPrototypeOf(win.WB_wombat_location).reload = function reload() {
      const {_orig_loc: real, wombat: {__sessionStorage: kept, $wbwindow: {performance}}} = this, now = performance.timeOrigin, [at, times, before] = JSON.parse(kept?.getItem("asof-reloads") ?? "[]");
      const again = at === real.href && now - before < 10000 ? times + 1 : 1;
      kept?.setItem("asof-reloads", JSON.stringify([real.href, again, now]));
      if (again <= MOST_RELOADS) real.reload();
    };
  }

  // A form is handed in by the page around, which may lead all of its frames.
  function handIn(win, to, form, by) {
    const {document} = win.__WB_replay_top, made = document.createElement("form");
    const said = name => by?.hasAttribute(`form${name}`) ? by.getAttribute(`form${name}`) : form.getAttribute(name) ?? "";
    for (const name of ["method", "enctype"]) made.setAttribute(name, said(name));
    made.setAttribute("target", to.name);
    made.setAttribute("action", new win.URL(said("action"), win.document.baseURI).href);
    for (const [name, value] of new win.FormData(form, by)) made.appendChild(Object.assign(document.createElement("input"), {type: "hidden", name, value}));
    document.documentElement.appendChild(made);
    made.submit();
    made.remove();
  }

  function leads(wombat, win) {
    const read = (elem, name) => elem && wombat.wb_getAttribute.call(elem, name);
    const target = (elem, by) => led(win, read(by, "formtarget") ?? read(elem, "target") ?? read(win.document.querySelector("base[target]"), "target"));
    win.addEventListener("click", event => {
      const link = event.composedPath().find(each => /^a(rea)?$/i.test(each.tagName) && each.href);
      if (link) win.setTimeout(() => {
        const to = !event.defaultPrevented && /^https?:/.test(link.href) && target(link);
        if (to) lead(wombat, to, link.href);
      });
    }, true);
    win.addEventListener("submit", event => {
      const {target: form, submitter} = event;
      win.setTimeout(() => { const to = !event.defaultPrevented && target(form, submitter); if (to) handIn(win, to, form, submitter); });
    }, true);
    const {submit} = win.HTMLFormElement.prototype;
    win.HTMLFormElement.prototype.submit = {submit() { const to = target(this); return to ? handIn(win, to, this) : submit.call(this); }}.submit;
  }

  // The window of the page has a name for the banner's sake; what scripts call it is kept apart.
  function ownName(wombat, win) {
    if (win.__WB_replay_top !== win) return;
    const {__sessionStorage: kept} = wombat;
    wombat.defProp(win, "name", name => kept.setItem("asof-name", String(name)), () => kept.getItem("asof-name") ?? "");
  }

  // Without an object before the dot, the window is meant.
  around("initPostMessageOverride", function (theirs, win) {
    const isNew = !win.__orig_postMessage;
    theirs(win);
    if (isNew) for (const name of ["addEventListener", "removeEventListener"]) {
      const made = win.EventTarget.prototype[name];
      win.EventTarget.prototype[name] = {[name](...words) { return Reflect.apply(made, this ?? win, words); }}[name];
    }
  });

  // Functions of a text see the page's own address; its arguments may have the same names.
  function functions(wombat, win) {
    const made = (target, words, maker) => {
      const text = String(words.at(-1) ?? ""), names = words.slice(0, -1).join(), excludes = wombat.OVERRIDE_PROPS.filter(name => names.includes(name));
      const make = said => maker ? Reflect.construct(target, said, maker) : Reflect.apply(target, undefined, said);
      if (!words.length || wombat.skipWrapScriptTextBasedOnText(text, excludes)) return make(words);
      const strict = /^\s*(["'])use strict\1/.test(text) ? '"use strict";' : "";
      try { return make([...words.slice(0, -1), strict + wombat.wrapScriptTextJsProxy(text, excludes)]); } catch { return make(words); }
    };
    const {prototype: common} = win.Function;
    win.Function = new Proxy(win.Function, {apply: (target, _, words) => made(target, words), construct: made});
    Object.defineProperty(common, "constructor", {value: win.Function, writable: true, configurable: true});
  }

  // Frames

  // A frame that was written is loaded once more, so that the worker is asked for what it needs. Until
  // then scripts find there what they wrote.
  // Addresses in it are relative to those of the page that made it, and it is no page of old for want of a
  // doctype where it is a text.
  const written = new WeakMap(), {blobUrlForIframe: apart} = prototype;
  around("blobUrlForIframe", function (theirs, frame, text) {
    const {document} = this.$wbwindow, isText = frame !== this.$wbwindow.frameElement;
    const [doctype, said = isText ? "<!doctype html>" : ""] = /^\s*(<!doctype[^>]*>)?/i.exec(text), base = this.extractOriginalURL(document.baseURI);
    const isOwn = !/^https?:/.test(base) || /<base\s[^>]*\bhref/i.test(text);
    theirs(frame, isOwn ? text : `${said}<base href="${base.replaceAll('"', "&quot;")}">${String(text).slice(doctype.length)}`);
    if (isText) return;
    if (!written.has(frame)) frame.addEventListener("load", () => written.delete(frame), {once: true});
    written.set(frame, document);
  });

  // The text of a module is the worker's to rewrite.
  around("rewriteWorker", function (theirs, url, said) {
    if (said?.type !== "module" || !/^blob:/.test(url)) return theirs(url, said);
    const asked = new XMLHttpRequest(), {prefix, request_ts, url: page} = this.wb_info;
    this.utilFns.XHRopen.call(asked, "GET", url, false);
    this.utilFns.XHRsend.call(asked);
    const copy = this.URL.createObjectURL(new Blob([asked.responseText], {type: "text/javascript"}));
    return `${prefix}${request_ts}wkrm_/blob:${copy.slice(copy.lastIndexOf("/") + 1)}/${page}`;
  });

  around("rewriteElem", function (theirs, elem) {
    if (elem?.tagName === "IFRAME") {
      framed(this, elem);
      // An empty frame is there at once, and stays: the program would load one in its place.
      if (isEmpty(this, elem)) return this.rewriteAttr(elem, "style");
    }
    const type = /^(OBJECT|EMBED)$/.test(elem?.tagName) && this.wb_getAttribute.call(elem, "type") || "";
    if (!/^(image\/|text\/html\b)/i.test(type)) return theirs(elem);
    const shown = this.$wbwindow.document.createElement(/^image\/(?!svg\+xml)/i.test(type) ? "img" : "iframe");
    for (const {name, value} of elem.attributes) this.wb_setAttribute.call(shown, name === "data" ? "src" : name, value);
    shown.style.border = "none";
    elem.parentNode?.replaceChild(shown, elem);
    return true;
  });

  const isEmpty = (wombat, frame) => !wombat.wb_getAttribute.call(frame, "srcdoc") && /^(about:blank)?$/.test(wombat.wb_getAttribute.call(frame, "src") ?? "");

  function framed(wombat, frame) {
    const read = name => wombat.wb_getAttribute.call(frame, name), data = /^data:(text\/html|image\/svg\+xml)?(;[^,]*)?,(.*)$/s.exec(read("src") ?? "");
    let sandbox = read("sandbox");
    if (data) sandbox ??= "allow-forms allow-modals allow-pointer-lock allow-scripts";
    if (sandbox !== null && !/allow-same-origin/i.test(sandbox)) wombat.wb_setAttribute.call(frame, "sandbox", `${sandbox} allow-same-origin ${OPAQUE}`);
    if (!data) return;
    const text = decodeURIComponent(data[3]);
    apart.call(wombat, frame, /;base64/i.test(data[2]) ? atob(text) : text);
  }

  around("wombatInit", function (theirs) {
    const win = this.$wbwindow;
    addresses(this, win);
    storageEvents(this, win);
    leads(this, win);
    const wombat = this, made = theirs(), {open} = win;
    ownName(this, win);
    functions(this, win);
    reloads(win);
    lazy(this, win);
    win.open = {open(url, name, ...rest) {
      const to = url ? led(win, name) : null;
      if (to) lead(wombat, to, new win.URL(url, win.document.baseURI).href);
      return to ?? open.call(this, url, name, ...rest);
    }}.open;
    getter(win.HTMLIFrameElement.prototype, "contentDocument", (found, frame) => this.objToProxy(written.get(frame)) ?? found);
    if (isOpaque(win)) Object.defineProperty(win.WB_wombat_location, "origin", {value: "null", configurable: true});
    return made;
  });
})();
