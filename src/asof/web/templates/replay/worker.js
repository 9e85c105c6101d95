// The worker of the replay origin. wabac's program, unmodified, makes pages of archived answers; all
// that is ours stands around it. Archived scripts are hostile and have this origin to themselves, so
// nothing that they can write to (messages, databases, caches) is trusted, and no answer gets to
// them without the policy that keeps them from reaching anything else.
const HOME = location.origin, REPLAY = `${HOME}/w/`;
const respond = FetchEvent.prototype.respondWith;

const refused = (status, told) => new Response(told, {status, headers: {"content-type": "text/plain"}});

// What browsers act on, whatever an archived answer says.
const DROPPED = ["x-content-type-options", "x-dns-prefetch-control", "cross-origin-resource-policy",
  "x-redirect-status", "x-redirect-statustext", "link", "refresh", "set-cookie", "clear-site-data",
  "reporting-endpoints", "report-to", "nel", "speculation-rules", "service-worker-allowed"];

// What scripts read of an answer, where browsers do nothing about it.
const LOADS = /\brel\s*=[^,;]*(pre|dns|style|icon|manifest|dictionary)/i;
function readable(headers, destination) {
  for (const name of ["etag", "last-modified", "link"]) {
    const said = headers.get(`x-asof-${name}`);
    headers.delete(`x-asof-${name}`);
    if (said !== null && destination === "" && !(name === "link" && LOADS.test(said))) headers.set(name, said);
  }
}

function guarded(answer, destination) {
  const headers = new Headers(answer.headers);
  DROPPED.forEach(name => headers.delete(name));
  readable(headers, destination);
  headers.set("content-security-policy", POLICY);
  headers.set("connection-allowlist", CONNECTIONS);
  headers.set("x-dns-prefetch-control", "off");
  headers.set("referrer-policy", "same-origin");
  const {status, statusText} = answer, where = headers.get("location");
  const isRedirect = status > 300 && status < 309 && where !== null;
  if (isRedirect && !new URL(where, HOME).href.startsWith(REPLAY)) return guarded(refused(404, "This leads out of the archive."));
  if (!status) return guarded(refused(502, "No answer."));
  const isEmpty = isRedirect || [101, 204, 205, 304].includes(status);
  return new Response(isEmpty ? null : answer.body, {status, statusText, headers});
}

// The program forgets what an import says of the type, so browsers want a module where JSON is; and a
// module should know where it was.
async function imported(answer, {url}) {
  const kind = answer.headers.get("content-type"), [, where] = /\/\d*(?:esm|wkrm)_\/(?:blob:[^/]*\/)?(https?:.*)$/s.exec(url) ?? [];
  const [isJson, isCss] = [/\bjson\b/, /\bcss\b/].map(each => each.test(kind)), headers = {"content-type": "text/javascript"};
  if (!where || !answer.ok || !isJson && !isCss && !/\b(java|ecma)script\b/.test(kind)) return answer;
  if (isCss) return new Response(`const made = new CSSStyleSheet(); made.replaceSync(${JSON.stringify(await answer.text())}); export default made;`, {headers});
  const made = isJson ? ["export default ", await answer.arrayBuffer()] : [told(JSON.stringify(where)), apart(await answer.text(), /\/\d*wkrm_\//.test(url))];
  return new Response(new Blob(made), {headers: isJson ? headers : answer.headers});
}

FetchEvent.prototype.respondWith = function (answer) {
  const {destination} = this.request;
  respond.call(this, Promise.resolve(answer).then(made => imported(made, this.request)).then(made => guarded(made, destination), () => guarded(refused(502, "The archive does not answer."))));
};

addEventListener("fetch", event => {
  const {url, destination, referrer} = event.request, path = url.slice(HOME.length);
  // A frame of a blob, as wombat writes its address and the program does not read it.
  const blob = /^(\/w\/[^/]+\/(?::\d+\/)?\d*)[a-z]+_\/blob:https?:\/\/[^/]+\/([\w-]+)$/.exec(path);
  // JSON that a module imports is no module: the program would make one of it.
  const json = destination === "json" && /^(\/w\/[^/]+\/)(?::\d+\/)?(\d{14})[a-z]+_\/(.+)$/s.exec(path);
  if (url.startsWith(HOME) && /^\/(sw\.js|wabac\.js|-\/boot(\.js)?)([?#]|$)/.test(path)) event.stopImmediatePropagation();
  else if (destination === "document" || !url.startsWith(HOME + "/") || path.startsWith("/w/api/")) {
    event.stopImmediatePropagation();
    event.respondWith(refused(403, "Archived scripts run inside the archive's own pages only."));
  } else if (json) {
    event.stopImmediatePropagation();
    event.respondWith(fetch(`${HOME}${json[1]}${json[2]}id_/${json[3]}`));
  } else if (blob) {
    event.stopImmediatePropagation();
    const base = /_\/(https?:.*)$/.exec(referrer);
    event.respondWith(Response.redirect(`${HOME}${blob[1]}mp_/blob:${blob[2]}/${base ? base[1] : "http://blob/"}`));
  }
});
addEventListener("message", event => event.stopImmediatePropagation());

importScripts(PROGRAM);

// What runs in every archived document before anything of its own.
function before() {
  for (const name of Object.getOwnPropertyNames(self)) if (/^(webkit|moz)?RTC/.test(name)) delete self[name];
  // Browsers keep no cookies of a frame that is of another site, and none of these should be sent.
  const kept = sessionStorage, here = /_\/https?:\/\/([^/]+)([^?#]*)/.exec(location.href) || ["", "", "/"];
  const jar = `asof-cookies:${here[1]}`, cookies = () => JSON.parse(kept.getItem(jar) || "[]");
  Object.defineProperty(Document.prototype, "cookie", {configurable: true, enumerable: true,
    get: () => cookies().filter(([, , path]) => here[2] === path || here[2].startsWith(path.replace(/\/?$/, "/")))
      .map(([name, value]) => name ? `${name}=${value}` : value).join("; "),
    set(text) {
      const [pair, ...words] = String(text).split(";"), cut = pair.indexOf("=");
      const name = pair.slice(0, Math.max(cut, 0)).trim(), value = pair.slice(cut + 1).trim();
      const said = word => words.find(each => each.trim().toLowerCase().startsWith(`${word}=`))?.replace(/^[^=]*=/, "");
      const age = said("max-age"), date = said("expires"), path = (said("path") || "/").replace(/^.*_\/https?:\/\/[^/]*/, "") || "/";
      const isOver = age !== undefined ? Number(age) <= 0 : date !== undefined && Date.parse(date) <= Date.now();
      const all = cookies().filter(each => each[0] !== name || each[2] !== path);
      if (!isOver) all.push([name, value, path]);
      try { kept.setItem(jar, JSON.stringify(all)); } catch {}
    }});
  let isRoot = false;
  try { isRoot = parent !== self && !parent.document; } catch { isRoot = true; }
  // Links carry the moment of the page that they are on. Who goes on from it still asks for the
  // moment that he asked for first.
  const asked = /^\/w\/[^/]+\/:(\d{14})\//.exec(location.pathname);
  if (!isRoot || !asked || !self.navigation) return;
  const home = `${location.origin}/w/`, plan = location.pathname.split("/")[2];
  navigation.addEventListener("navigate", event => {
    const {destination: {url, sameDocument}, navigationType: kind, sourceElement: by} = event;
    // What the program has not rewritten is relative to where the page really is.
    const isOurs = url.startsWith(`${location.origin}/`), page = /_\/(https?:.*)$/s.exec(location.href);
    const real = isOurs && page ? new URL(url.slice(location.origin.length), page[1]).href : url;
    const to = url.startsWith(home) ? /^[^/]+\/(?::\d+\/)?\d*(?:[a-z]+_)?\/(.*)$/s.exec(url.slice(home.length)) : [real, real];
    if (!to || !/^https?:/.test(url) || sameDocument || !event.cancelable || event.formData || event.downloadRequest !== null) return;
    if (kind !== "push" && kind !== "replace") return;
    const scheme = page && /^\/\//.test(to[1]) ? page[1].split("/")[0] : "";
    const wanted = `${home}${plan}/:${asked[1]}/${asked[1]}mp_/${scheme}${to[1]}`;
    if (url === wanted) return;
    event.preventDefault();
    // A link may want that nobody is told where it was.
    if (by?.relList?.contains("noreferrer")) Object.assign(document.createElement("a"), {rel: "noreferrer", href: wanted}).click();
    else location[kind === "push" ? "assign" : "replace"](wanted);
  });
}

const {collections, staticData, staticPrefix} = self.sw;
for (const [name, script] of Object.entries(MENDS)) staticData.get(staticPrefix + name).content += script;

async function collection(name) {
  const extraConfig = {prefix: "", isLive: false, archivePrefix: `/w/${name}/`, archiveMod: "id_", noPostToGet: true, csp: POLICY};
  const config = {root: false, dbname: `db:${name}`, sourceUrl: "", metadata: {}, extraConfig};
  const store = await collections._initStore("live", config);
  const made = collections._createCollection({name, store, config});
  const insert = made.makeHeadInsert.bind(made), rewrite = made.fullRewrite.bind(made), find = store.getResource.bind(store);
  // All of it is gone before the page begins: its scripts count and look for their own.
  made.makeHeadInsert = (...words) => `<script>(${before})()</script>`
    + insert(...words).replace("enable_auto_fetch = true", "enable_auto_fetch = false")
    + "<script>document.querySelectorAll('script, style').forEach(each => each.remove())</script>";
  made.fullRewrite = async (request, found, base, url, stamp) => {
    const isPage = request.mode === "navigate" && /^text\/html\b/.test(found.headers.get("content-type"));
    // What was made of a text has the address of the page around it.
    const [, around] = url.startsWith("srcdoc:") && /_\/(?:blob:[^/]*\/)?(https?:.*)$/s.exec(request.referrer) || [];
    const ready = isPage && prepared(await found.getBuffer(), `${made.prefix}:${request.pageId}/${stamp}mp_/`, around, found.headers.get("content-type"), found.headers.get("refresh"));
    if (ready) found.setBuffer(ready);
    // What scripts read is as it was; what they make of it is rewritten then.
    if (request.destination === "" && /^text\/css\b/.test(found.headers.get("content-type"))) request.mod = "id_";
    const done = await rewrite(request, found, around ?? base, url, stamp);
    if (ready?.hasModule) done.setBuffer(allApart(await done.getBuffer()));
    return done;
  };
  // A page that somebody went to is looked for as of the moment asked for; what belongs to it, as
  // of the moment that it is shown as of.
  store.getFetchUrl = (url, request, headers) => {
    const {method, mode, pageId, timestamp} = request;
    // The program hands on what is sent by these alone.
    if (!/^(GET|HEAD|POST|PUT|DELETE|OPTIONS)$/.test(method)) headers.set("x-asof-method", method), request.method = "POST";
    return `/w/${name}/${timestamp || pageId}${mode === "navigate" && pageId === timestamp ? "mp_" : "id_"}/${url}`;
  };
  store.getResource = async (...words) => {
    const found = await find(...words);
    if (found && found.status === 206) found.setRange = () => false;  // it is cut already
    return found;
  };
  return made;
}

const known = new Map();
collections.inited = Promise.resolve(true);
collections.getColl = async name => {
  if (!/^(coherent|nearest|strict)(\.[\w.~-]+)?$/.test(name)) return null;
  if (!known.has(name)) known.set(name, collection(name));
  return known.get(name);
};
