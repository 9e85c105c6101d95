// What is done to the markup of a page before the program rewrites it, for what it would leave as it is.
// Markup is read as bytes, one sign each: whatever the encoding, these signs are ASCII.
const OPAQUE = "asof-opaque";  // also in scripts_see.js
// A tag is read as browsers read it, with what its attributes say, and one that never ends is one to the
// end: so that nothing is taken for markup that is not, and each sign is looked at once.
const TAG = `(?=[\\s/>])(?:[^>=]|=\\s*(?:"[^"]*?(?:"|$)|'[^']*?(?:'|$))|=(?!\\s*["']))*?`;
const MARKUP = new RegExp([
  "<!--(?:-?>|[^]*?(?:--!?>|$))", `<(style|textarea|title|xmp|noscript|noembed|noframes)${TAG}>[^]*?(?:</\\1(?=[\\s/>])|$)`,
  `<script(${TAG})>[^]*?(?:</script(?=[\\s/>])|$)`, `<iframe(${TAG})>`, `<meta(${TAG})>`,
  `<object(${TAG})>([^]*?)</object\\s*>`, `<embed(${TAG})>`, `(</?[a-z][^\\s/>]*${TAG}(?:>|$))`,
].join("|"), "gi");
const unsigned = text => Uint8Array.from(text, sign => sign.charCodeAt(0));
const REFRESH = /(content\s*=\s*"\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?)(')([^'"]*)'/i;  // its address in quotes
function signs(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return text;
}

// Attributes as they are written: what is escaped stays so.
const ATTRIBUTE = /([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;
function attributes(tag) {
  const found = new Map();
  for (const [, name, ...values] of tag.matchAll(ATTRIBUTE)) {
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), values.find(value => value !== undefined) ?? "");
  }
  return found;
}
const element = (found, name = "iframe") => `<${name}${[...found].map(([name, value]) => ` ${name}="${value.replaceAll('"', "&quot;")}"`).join("")}>`;
const SIGNS = {lt: "<", gt: ">", quot: '"', apos: "'", "#39": "'", "#34": '"', amp: "&"};
const unescaped = text => text.replace(/&(lt|gt|quot|apos|#39|#34|amp);/gi, (_, name) => SIGNS[name.toLowerCase()]);

// A frame of a text is one of an address that the program makes a page for: else it would be past its
// rewriting. So is one without an origin, that the worker would never see; scripts_see.js says who it is.
function framed(found, prefix) {
  const text = found.get("srcdoc"), sandbox = found.get("sandbox");
  const data = text === undefined && /^data:(?:text\/html)?(;[^,]*)?,(.*)$/s.exec(unescaped(found.get("src") ?? ""));
  const allowed = sandbox ?? (data ? "allow-forms allow-modals allow-pointer-lock allow-scripts" : null);
  if (allowed !== null && !/allow-same-origin/i.test(allowed)) found.set("sandbox", `${allowed} allow-same-origin ${OPAQUE}`);
  if (text === undefined && !data) return found;
  try {
    const bytes = data ? (/;base64/i.test(data[1]) ? atob(data[2]) : unescape(data[2])) : unescaped(text);
    decodeURIComponent(escape(bytes));  // in UTF-8, as the program takes it, or not at all
    found.delete("srcdoc");
    found.set("src", `${prefix}srcdoc:${btoa(escape(bytes))}`);
  } catch {}
  return found;
}

// Objects are past every worker, and the program takes the end of the next script for that of an <embed>
// that it shows in another element. So pictures are pictures here, and pages are frames; so are drawings,
// whose scripts run there and are reached by those around.
function shown(name, tag, inside) {
  const found = attributes(tag), type = found.get("type") ?? "", instead = /^image\/(?!svg\+xml)/i.test(type) ? "img" : "iframe";
  if (!/^(image\/|text\/html\b)/i.test(type)) return `<${name}${tag}>${inside}</${name}>`;
  for (const [theirs, ours] of [["data", "src"], ["type", "data-type"]]) if (found.has(theirs)) found.set(ours, found.get(theirs)), found.delete(theirs);
  if (instead === "img") return element(found, instead);
  return `${element(found.set("style", `border: none; ${found.get("style") ?? ""}`))}${inside}</iframe>`;
}

// The program reads addresses as if all were in UTF-8. Browsers decode them as the page is, but for a query.
function decoder(bytes, type) {
  const told = /charset\s*=\s*["']?([\w-]+)/i, [, name = "utf-8"] = told.exec(type) ?? told.exec(signs(bytes.subarray(0, 1024))) ?? [];
  try { const made = new TextDecoder(name); return made.encoding.startsWith("utf-") ? null : made; } catch { return null; }
}
const ADDRESSES = /(\s(?:href|src|action)\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/gi;
const addressed = (tag, made) => tag.replace(ADDRESSES, (_, name, url) => {
  const [path, ...query] = url.split("?");
  return name + [made.decode(unsigned(path)).replace(/[^\x00-\x7f]+/g, encodeURIComponent), ...query.map(part => part.replace(/[\x80-\xff]/g, escape))].join("?");
});

// What attributes refer to (&#1078;) the program writes as one byte, whatever it is; so it is written as the
// page would, where it has a byte for that.
const REFERENCE = /&(?:#(\d{3,7})|#x([\da-f]{2,6})|(nbsp|copy|reg|laquo|raquo|middot|times|sect|ndash|mdash|lsquo|rsquo|bdquo|ldquo|rdquo|bull|hellip|trade|euro));/gi;
const NAMED = {nbsp: 160, copy: 169, reg: 174, laquo: 171, raquo: 187, middot: 183, times: 215, sect: 167, ndash: 8211, mdash: 8212, lsquo: 8216,
  rsquo: 8217, bdquo: 8222, ldquo: 8220, rdquo: 8221, bull: 8226, hellip: 8230, trade: 8482, euro: 8364};
const OF_OLD = new TextDecoder("windows-1252");  // so browsers read &#151;
function referred(tag, made) {
  const all = made.all ??= [...made.decode(Uint8Array.from({length: 256}, (_, place) => place))];
  return all.length !== 256 ? tag : tag.replace(REFERENCE, (whole, digits, hex, name) => {
    const code = digits ? Number(digits) : hex ? parseInt(hex, 16) : NAMED[name] ?? 0;
    if (code < 128 || code > 0xffff) return whole;
    const place = all.indexOf(code < 160 ? OF_OLD.decode(Uint8Array.of(code)) : String.fromCharCode(code));
    return place > 127 ? String.fromCharCode(place) : whole;
  });
}

// `later` is where an answer's own header leads, and when.
function prepared(bytes, prefix, base, type, later) {
  bytes ??= new Uint8Array();
  const made = decoder(bytes, type), after = later ? `<meta http-equiv="refresh" content="${later.replaceAll('"', "&quot;")}">` : "";
  let hasModule = false;
  const before = base ? `<!doctype html><base href="${base.replaceAll('"', "&quot;")}">` : "";
  const mended = markup => markup.replace(MARKUP, (whole, _, script, frame, meta, object, inside, embed, tag) => {
    if (meta !== undefined) return whole.replace(REFRESH, "$1$3");
    if (frame !== undefined) return element(framed(attributes(frame), prefix));
    if (object !== undefined) return shown("object", object, mended(inside));
    if (embed !== undefined) return shown("embed", embed, "");
    if (made && tag !== undefined) return addressed(referred(tag, made), made);
    const said = attributes(script ?? "");
    if (said.get("type")?.toLowerCase() !== "module" || said.has("src")) return whole;
    hasModule = true;
    return whole.replace(`${script}>`, () => `${script}>${told("document.baseURI")}`);
  });
  return Object.assign(unsigned(before + mended(signs(bytes)) + after), {hasModule});
}
