"""Nothing that an archived script does reaches the live web, or our own pages."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from support import served_archive
from support.scripted import Sink, Watched, own_address
from support.serve_command import serving
from support.served_archive import Page

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.needs("scripts")]

SITE, AT = "http://site.example/", "2026-01-01T00:00:00Z"
LINK = (
    "const l = document.createElement('link');"
    " Object.assign(l, {rel: '%s', as: 'script', href: 'http://LIVE/'}); document.head.append(l)"
)
# What a script can try to be heard of. LIVE is a name of the live web, UDP one of this machine.
TRIES = {
    "fetch": "fetch('http://LIVE/')",
    "image": "new Image().src = 'http://LIVE/'",
    "beacon": "navigator.sendBeacon('http://LIVE/')",
    "socket": "new WebSocket('ws://LIVE/')",
    "events": "new EventSource('http://LIVE/')",
    "transport": "new WebTransport('https://LIVE/')",
    "webrtc": "const p = new RTCPeerConnection({iceServers: [{urls: 'stun:UDP'}]});"
    " p.createDataChannel('x'); p.createOffer().then(offer => p.setLocalDescription(offer))",
    **{rel: LINK % rel for rel in (
        "preconnect", "dns-prefetch", "prefetch", "preload", "modulepreload", "manifest", "icon",
        "stylesheet")},
    "speculation": "const s = document.createElement('script'); s.type = 'speculationrules';"
    " s.textContent = JSON.stringify({prefetch: [{urls: ['http://LIVE/'],"
    " eagerness: 'immediate'}]});"
    " document.head.append(s)",
    "form": "const f = document.createElement('form'); f.action = 'http://LIVE/';"
    " f.method = 'post'; document.body.append(f); f.submit()",
    "frame": "const f = document.createElement('iframe'); f.src = 'http://LIVE/';"
    " document.body.append(f)",
    "data-frame": "const f = document.createElement('iframe'); f.src = 'data:text/html,<link"
    " rel=preconnect href=http://LIVE/><img src=http://LIVE/>'; document.body.append(f)",
    "srcdoc": "const f = document.createElement('iframe'); f.srcdoc = '<link rel=preconnect"
    " href=http://LIVE/><img src=http://LIVE/>'; document.body.append(f)",
    "worker": "new Worker('http://LIVE/')",
    "blob-worker": "new Worker(URL.createObjectURL(new Blob([`fetch('http://LIVE/');"
    " importScripts('http://LIVE/')`])))",
    "open": "open('http://LIVE/')",
    "top": "top.location = 'http://LIVE/'",
    "location": "location.href = 'http://LIVE/'",
    "refresh": "const m = document.createElement('meta'); m.httpEquiv = 'refresh';"
    " m.content = '0; url=http://LIVE/'; document.head.append(m)",
    "style": "const s = document.createElement('style'); s.textContent = '@import url(http://LIVE/);"
    " body { background: url(http://LIVE/) }'; document.head.append(s)",
    "ping": "const a = document.createElement('a'); a.href = '#x'; a.ping = 'http://LIVE/';"
    " document.body.append(a); a.click()",
    "object": "document.body.insertAdjacentHTML('beforeend', '<object data=http://LIVE/></object>"
    "<embed src=http://LIVE/><video autoplay src=http://LIVE/></video><svg><image href=http://LIVE/></svg>')",
}  # fmt: skip
# In a window whose built-ins nobody has changed: a script can always make one.
FRESH = """document.body.insertAdjacentHTML("beforeend", "<i></i>");
document.body.lastChild.innerHTML = "<iframe></iframe>";
const fresh = window[length - 1];
fresh.eval(CODE)"""


def name(kind: str, number: int) -> str:
    return f"{kind}-{number}.example"


def page(codes: list[str]) -> bytes:
    tries = "".join(f"try {{ {code} }} catch {{}}\n" for code in codes)
    return f"<!doctype html><title>Tries</title><body><script>{tries}</script>".encode()


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    kinds = ("plain", "fresh", "control")
    running = Sink([name(kind, number) for kind in kinds for number in range(len(TRIES))])
    yield running
    running.close()


def code_of(sink: Sink, kind: str, number: int) -> str:
    code = list(TRIES.values())[number].replace("LIVE", name(kind, number))
    code = code.replace("UDP", f"{own_address()}:{sink.udp_port}")
    if kind == "fresh":
        return f"(() => {{ {FRESH.replace('CODE', repr('(() => {' + code + '})()'))} }})()"
    return f"(() => {{ {code} }})()"


LEAVING = ("form", "open", "top", "location", "refresh")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, sink: Sink) -> Iterator[str]:
    kept = [Page(SITE, AT, b"<!doctype html><title>Quiet</title>")]
    for kind in ("plain", "fresh"):
        codes = {each: code_of(sink, kind, number) for number, each in enumerate(TRIES)}
        stay = [code for each, code in codes.items() if each not in LEAVING]
        kept.append(Page(f"{SITE}{kind}", AT, page(stay)))
        kept += [Page(f"{SITE}{kind}-{each}", AT, page([codes[each]])) for each in LEAVING]
    kept.append(Page(SITE + "own.js", AT, b"self.onfetch = () => {}", "text/javascript"))
    folder = served_archive.build(tmp_path_factory.mktemp("stay") / "a", kept)
    with serving(folder) as running:
        yield running


@pytest.fixture(scope="module")
def browser(sink: Sink) -> Iterator[Watched]:
    with Watched.fresh(*sink.rules) as running:
        yield running


def test_the_sink_hears_what_is_sent(browser: Watched, sink: Sink, address: str) -> None:
    """The control: a page without our policies is heard by each of these."""
    browser.open("about:blank")
    heard = ("fetch", "image", "socket", "preconnect", "frame", "style")
    for number, each in enumerate(TRIES):
        if each in heard or each == "webrtc":
            browser.evaluate(f"{code_of(sink, 'control', number)}; 0")
    browser.settle(1.5)
    wanted = {name("control", number) for number, each in enumerate(TRIES) if each in heard}
    assert wanted <= set(sink.seen)
    assert not own_address() or "udp" in sink.seen


@pytest.mark.parametrize("kind", ["plain", "fresh"])
def test_nothing_gets_to_the_live_web(
    browser: Watched, sink: Sink, address: str, kind: str
) -> None:
    browser.open("about:blank")  # ends what the control began
    browser.settle(0.5)
    sink.seen.clear()
    for each in (kind, *(f"{kind}-{way}" for way in LEAVING)):
        browser.open(f"{address}/2026/{SITE}{each}")
        browser.settle(3 if each == kind else 1.2)
        assert browser.evaluate("location.origin") == address, each
    assert sink.seen == []
    gone = [url for url in browser.sent if urlsplit(url).hostname not in ("127.0.0.1", "localhost")]
    assert [url for url in gone if url.startswith("http")] == []
    assert (
        len([t for t in browser.call("Target.getTargets")["targetInfos"] if t["type"] == "page"])
        <= 2
    )


def test_our_own_pages_are_out_of_reach(browser: Watched, address: str) -> None:
    browser.targets.clear()
    browser.open(f"{address}/2026/{SITE}")
    assert browser.until("document.title", "Quiet") == "Quiet"
    browser.evaluate("document.cookie = 'ours=1'; localStorage.setItem('ours', '1')")
    fresh = (
        "document.body.insertAdjacentHTML('beforeend', '<i></i>');"
        "document.body.lastChild.innerHTML = '<iframe></iframe>'; const w = window[length - 1];"
    )
    read = f"""(async () => {{ {fresh}
      const told = {{}};
      const text = url => w.fetch(url).then(a => a.text(), () => "no");
      told.json = await text("{address}/-/api/composition?url={SITE}&at=now");
      told.page = await text("{address}/");
      try {{ told.above = parent.document.title; }} catch {{ told.above = "no"; }}
      told.cookie = w.document.cookie.includes("ours");
      told.kept = w.localStorage.getItem("ours");
      return JSON.stringify(told);
    }})()"""
    assert browser.inside(read) == (
        '{"json":"no","page":"no","above":"no","cookie":false,"kept":null}'
    )


def test_no_archived_script_becomes_a_worker_of_all_pages(browser: Watched, address: str) -> None:
    browser.targets.clear()
    browser.open(f"{address}/2026/{SITE}")
    assert browser.until("document.title", "Quiet") == "Quiet"
    tried = f"""(async () => {{
      const told = [], home = location.href.split("mp_/")[0], own = "/{SITE}own.js";
      const other = "/sw.js?replayPrefix=w&root=x";
      for (const url of [`${{home}}id_${{own}}`, `${{home}}mp_${{own}}`, other])
        told.push(await navigator.serviceWorker.register(url, {{scope: url}})
          .then(() => "yes", () => "no"));
      navigator.serviceWorker.controller?.postMessage({{msg_type: "removeColl", name: "coherent"}});
      return told.join();
    }})()"""
    assert browser.inside(tried) == "no,no,no"
    found = "(async () => (await fetch('/own.js')).status)()"
    assert browser.inside(found) == 200


def asked(
    address: str, port: int, target: str, **headers: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(
            "GET", target, headers={n.replace("_", "-"): v for n, v in headers.items()}
        )
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def test_the_replay_origin_has_nothing_else(browser: Watched, address: str) -> None:
    browser.open(f"{address}/2026/{SITE}")
    boot = urlsplit(browser.evaluate("document.querySelector('iframe').dataset.boot"))
    assert (boot.hostname, boot.port) != (urlsplit(address).hostname, urlsplit(address).port)
    port = boot.port or 0
    nowhere = (
        *("/", "/captures", f"/2026/{SITE}", "/-/api/composition", "/-/static/asof.css"),
        *("/cdx?url=x", "/w/coherent/2026mp_/x", f"/w/other/20260101000000id_/{SITE}"),
    )
    for target in nowhere:
        assert asked(address, port, target)[0] == 404, target
    raw = f"/w/coherent/20260101000000id_/{SITE}"
    status, headers, body = asked(address, port, raw)
    assert (status, b"Quiet" in body) == (200, True)
    assert (
        headers["Content-Security-Policy"] == "sandbox; default-src 'none'; frame-ancestors 'none'"
    )
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Set-Cookie"] is None
    assert asked(address, port, raw, Host="evil.example")[0] == 400
    assert asked(address, port, raw, Service_Worker="script")[0] == 403
    assert asked(address, port, "/sw.js?replayPrefix=w", Service_Worker="script")[0] == 200
    for words in ("", "?replayPrefix=w&root=x", "?replayPrefix=w&injectScripts=x"):
        assert asked(address, port, f"/sw.js{words}", Service_Worker="script")[0] == 403
    # A page of it by itself is no page.
    browser.open(f"http://localhost:{port}{raw.replace('id_', 'mp_')}")
    assert "Quiet" not in browser.evaluate("document.title")
