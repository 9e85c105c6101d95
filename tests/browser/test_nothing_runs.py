"""Archived answers with odd headers, in a real browser: no script of theirs runs in our origin.

Each of them says `ran` on the console when it runs. The console is the browser's, so that nothing
that a policy forbids or allows can hide it.
"""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from support import served_archive
from support.served_archive import Page

pytestmark = pytest.mark.needs("chromium")

SITE = "http://site.example/"
AT = "2026-01-01T00:00:00Z"
SAY = "console.log('ran ' + location.href)"
HTML = f"""<!doctype html><title>quiet</title><p>text<script>{SAY}</script>
<img src=x: onerror="{SAY}">""".encode()
FULL = (
    HTML
    + f"""<script src=say.js></script><svg onload="{SAY}"></svg>
<iframe srcdoc="<script>{SAY}</script>"></iframe><iframe src="javascript:{SAY}"></iframe>
<object data="data:text/html,<script>{SAY}</script>"></object>""".encode()
)
PDF = b"%PDF-1.4\n" + HTML
XHTML = f'<html xmlns="http://www.w3.org/1999/xhtml"><script>{SAY}</script></html>'.encode()
XML = f'<x xmlns:h="http://www.w3.org/1999/xhtml"><h:script>{SAY}</h:script></x>'.encode()
SVG = (
    f'<svg xmlns="http://www.w3.org/2000/svg" onload="{SAY}"><script>{SAY}</script></svg>'.encode()
)
SHEET = f"""<x:stylesheet version="1.0" xmlns:x="http://www.w3.org/1999/XSL/Transform"><x:output
method="html"/><x:template match="/"><html><body><script>{SAY}</script></body></html></x:template>
</x:stylesheet>""".encode()
STYLED = b'<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="sheet.xsl"?><x/>'
UTF_7 = b"<title>quiet</title>" + HTML.replace(b"<", b"+ADw-").replace(b">", b"+AD4-")
PARTS = b"--b\r\nContent-Type: text/html\r\n\r\n" + HTML + b"\r\n--b--\r\n"
MAIL = b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n" + PARTS
TYPE = "Content-Type"
PLAIN = ("comma", "twice", "html", "svg", "xslt")

# What is sent, and under which headers. A type of None is no header at all.
CASES: dict[str, tuple[bytes, tuple[tuple[str, str], ...]]] = {
    "comma": (b"%PDF-1.4" + FULL, ((TYPE, "application/pdf; x=y, text/html"),)),
    "comma-bare": (PDF, ((TYPE, "application/pdf,text/html"),)),
    "comma-html": (HTML, ((TYPE, "application/pdf; x=y, text/html"),)),
    "comma-first": (PDF, ((TYPE, "text/html, application/pdf"),)),
    "twice": (PDF, ((TYPE, "application/pdf"), (TYPE, "text/html"))),
    "thrice": (PDF, ((TYPE, "application/pdf"), (TYPE, "text/html"), (TYPE, "application/pdf"))),
    "twice-svg": (SVG, ((TYPE, "application/pdf"), (TYPE, "image/svg+xml"))),
    "quoted": (PDF, ((TYPE, 'application/pdf; x="a, text/html'),)),
    "quoted-comma": (PDF, ((TYPE, 'application/pdf; x=";", text/html'),)),
    "escaped": (PDF, ((TYPE, 'application/pdf; x="\\", text/html; y="'),)),
    "blanks": (PDF, ((TYPE, " \t application/pdf \t ;\tx , \t text/html"),)),
    "upper": (PDF, ((TYPE, "APPLICATION/PDF;X=Y,TEXT/HTML"),)),
    "claimed": (HTML, ((TYPE, "application/pdf"),)),
    "real": (PDF, ((TYPE, "application/pdf"),)),
    "semicolons": (HTML, ((TYPE, ";;application/pdf;;text/html"),)),
    "folded": (PDF, ((TYPE, "application/pdf;\r\n x=y,\r\n text/html"),)),
    "nul": (PDF, ((TYPE, "application/pdf\0; text/html"),)),
    "high": (PDF, ((TYPE, "application/pdf;\xa0x=\xff, text/html"),)),
    "none": (HTML, ()),
    "none-pdf": (PDF, ()),
    "empty": (HTML, ((TYPE, ""),)),
    "any": (HTML, ((TYPE, "*/*"),)),
    "plain": (HTML, ((TYPE, "text/plain"),)),
    "octets": (HTML, ((TYPE, "application/octet-stream"),)),
    "unknown": (HTML, ((TYPE, "application/x-odd"),)),
    "html": (FULL, ((TYPE, "text/html"),)),
    "utf-7": (UTF_7, ((TYPE, "text/html;charset=utf-7"),)),
    "utf-16": (HTML.decode().encode("utf-16"), ((TYPE, "text/html; charset=utf-16"),)),
    "xhtml": (XHTML, ((TYPE, "application/xhtml+xml"),)),
    "xml": (XML, ((TYPE, "text/xml"),)),
    "odd-xml": (XML, ((TYPE, "application/odd+xml"),)),
    "xslt": (STYLED, ((TYPE, "text/xml"),)),
    "svg": (SVG, ((TYPE, "image/svg+xml"),)),
    "mixed": (PARTS, ((TYPE, "multipart/x-mixed-replace; boundary=b"),)),
    "mail": (MAIL, ((TYPE, "message/rfc822"),)),
    "related": (MAIL, ((TYPE, "multipart/related; boundary=b"),)),
    "image": (HTML, ((TYPE, "image/png"),)),
    "script": (SAY.encode(), ((TYPE, "text/javascript"),)),
    "inline": (PDF, ((TYPE, "application/pdf"), ("Content-Disposition", "inline; filename=a.htm"))),
    "attached": (HTML, ((TYPE, "text/html"), ("Content-Disposition", "attachment"))),
    "policy": (HTML, ((TYPE, "text/html"), ("Content-Security-Policy", "script-src *"),
                      ("Content-Security-Policy", "sandbox allow-scripts"))),
    "refresh": (HTML, ((TYPE, "text/html"), ("Refresh", "0; url=html"),
                       ("Refresh", f"0; url=data:text/html,<script>{SAY}</script>"))),
    "refresh-pdf": (PDF, ((TYPE, "application/pdf"), ("Refresh", "0; url=/2026id_/" + SITE))),
    "link": (HTML, ((TYPE, "text/html"), ("Link", "<say.js>; rel=modulepreload"))),
    "cookie": (HTML, ((TYPE, "text/html"), ("Set-Cookie", "a=b"), ("X-Content-Type-Options", ""))),
    "encoded": (HTML, ((TYPE, "application/pdf"), ("Content-Encoding", "identity, text/html"))),
    "error": (HTML, ((TYPE, "application/pdf; x=y, text/html"),)),
}  # fmt: skip
# All of the page opens another tab when it is clicked at.
WIDE = "<style>a, button { position: fixed; inset: 0; width: 100%; height: 100% }</style>"
OPENERS = {
    "script": f'<a target=_blank rel=opener href="javascript:{SAY}">x</a>',
    "data": f'<a target=_blank rel=opener href="data:text/html,<script>{SAY}</script>">x</a>',
    "page": "<a target=_blank rel=opener href=html>x</a>",
    "form": f'<form target=_blank rel=opener action="javascript:{SAY}"><button>x</button></form>',
}
OTHER_FORMS = ("mp_", "oe_", "im_", "js_", "cs_", "fw_", "wkrf_")


def pages() -> list[Page]:
    kept = [
        Page(SITE + name, AT, body, None, "404 No" if name == "error" else "200 OK", headers)
        for name, (body, headers) in CASES.items()
    ]
    frames = "".join(f"<iframe src=/{name}></iframe>" for name in CASES)
    frames += "".join(f"<object data=/{name}></object><embed src=/{name}>" for name in PLAIN)
    # Of another URL, with a type of its own or none: what a revisit refers to.
    elsewhere = ("http://other.example/", AT)
    return [
        *kept,
        Page(SITE + "say.js", AT, SAY.encode(), "text/javascript"),
        Page(SITE + "sheet.xsl", AT, SHEET, "text/xml"),
        Page(SITE + "all", AT, b"<title>quiet</title>" + frames.encode()),
        *(
            Page(SITE + "tab-" + name, AT, (WIDE + opener).encode())
            for name, opener in OPENERS.items()
        ),
        Page(elsewhere[0], AT, PDF, "application/pdf, text/html"),
        Page(SITE + "again", "2026-02-01T00:00:00Z", b"", None, same_as=elsewhere),
    ]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = served_archive.build(tmp_path_factory.mktemp("nothing") / "a", pages())
    with served_archive.serving(folder) as running:
        yield running


@pytest.fixture(scope="module")
def browser(browser: Any) -> Any:
    browser.call("Page.setDownloadBehavior", behavior="deny")
    return browser


def ran(browser: Any, url: str) -> list[str]:
    """What ran of a page: it may turn out to be a file to be saved, which is no page."""
    browser.events.clear()
    gone = browser.call("Page.navigate", url=url).get("errorText")
    if not gone:
        browser.wait("Page.loadEventFired")
    browser.settle(0.02)
    said = [e["params"] for e in browser.events if e.get("method") == "Runtime.consoleAPICalled"]
    return [str(call["args"][0].get("value")) for call in said]


@pytest.mark.parametrize("form", ["", "id_", "if_"])
def test_no_archived_answer_runs_a_script(browser: Any, server: Any, form: str) -> None:
    root = f"{server.url}/2026{form}/{SITE}"
    seen = {name: ran(browser, root + name) for name in (*CASES, "again")}
    assert {name: said for name, said in seen.items() if said} == {}


def test_in_no_other_form_either(browser: Any, server: Any) -> None:
    targets = [f"/2026{form}/{SITE}{name}" for form in OTHER_FORMS for name in PLAIN[:3]]
    assert [target for target in targets if ran(browser, server.url + target)] == []


def test_no_frame_object_or_embed_runs_a_script(browser: Any, server: Any) -> None:
    assert ran(browser, f"{server.url}/2026if_/{SITE}all") == []


def test_the_same_answers_run_them_on_the_live_web(browser: Any) -> None:
    """The control: without us the browser runs them, and this test sees it."""

    class Live(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body, headers = CASES.get(self.path.strip("/"), (b"", ()))
            self.send_response(200)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    names = ("comma", "comma-bare", "twice", "quoted-comma", "upper", "html", "svg", "xml", "xhtml")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Live) as live:
        thread = threading.Thread(target=live.serve_forever)
        thread.start()
        try:
            root = f"http://127.0.0.1:{live.server_port}/"
            assert [name for name in names if not ran(browser, root + name)] == []
        finally:
            live.shutdown()
            thread.join()


def tabs(browser: Any) -> set[str]:
    found = browser.call("Target.getTargets")["targetInfos"]
    return {target["targetId"] for target in found if target["type"] == "page"}


class TestNewTabs:
    """What an archived page opens in another tab, which its sandbox does not reach."""

    @staticmethod
    def opened(browser: Any, server: Any, name: str, script: str = "") -> tuple[list[str], str]:
        """What ran in the tabs that a click opens, and where one of them is."""
        browser.open(f"{server.url}/2026/{SITE}{name}")
        browser.settle(0.2)
        before, where, own = tabs(browser), "", browser._session
        browser.events.clear()
        if script:
            browser.call("Runtime.evaluate", expression=script, userGesture=True)
        else:
            browser.click(100, 100)
        browser.settle(0.7)
        for tab in tabs(browser) - before:
            attached = browser.call("Target.attachToTarget", targetId=tab, flatten=True)
            browser._session = attached["sessionId"]
            try:
                browser.call("Runtime.enable")  # tells what was said before, too
                where = browser.evaluate("location.pathname + ' ' + document.activeElement.tagName")
                browser.call("Page.close")
            finally:
                browser._session = own
        said = [e for e in browser.events if e.get("method") == "Runtime.consoleAPICalled"]
        return [str(e["params"]["args"][0].get("value")) for e in said], where

    @pytest.mark.parametrize("name", ["tab-script", "tab-data", "tab-form"])
    def test_nothing_runs_in_them(self, browser: Any, server: Any, name: str) -> None:
        assert self.opened(browser, server, name)[0] == []

    def test_a_page_has_its_banner_there(self, browser: Any, server: Any) -> None:
        # The frame has the focus: the banner's script, and no other, has run.
        assert self.opened(browser, server, "tab-page") == ([], f"/2026/{SITE}html IFRAME")

    def test_what_is_said_in_them_is_heard(self, browser: Any, server: Any) -> None:
        """The control."""
        script = "open('about:blank').console.log('heard')"
        assert self.opened(browser, server, "tab-page", script)[0] == ["heard"]
