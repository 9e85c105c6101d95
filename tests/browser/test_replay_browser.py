"""Replay in a real browser: it looks right, no script runs, and nothing reaches the live web."""

from __future__ import annotations

import http.server
import os
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support import served_archive
from support.live_web import SITE, Canary, leaky, png
from support.served_archive import Page

TESTS = Path(__file__).parents[1]

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def canary() -> Iterator[Canary]:
    with closing(Canary()) as bird:
        yield bird


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, canary: Canary) -> Iterator[Any]:
    live = f"http://127.0.0.1:{canary.port}/"
    css = b"h1 { color: rgb(1, 2, 3) } h1 { background: url(ours.png) }"
    pages = [
        Page(SITE, "2026-01-01T00:00:00Z", leaky(live)),
        Page(SITE + "style.css", "2026-01-01T00:00:00Z", css, "text/css"),
        Page(SITE + "ours.png", "2026-01-01T00:00:00Z", png(7, 5, b"\1\2\3"), "image/png"),
        Page(SITE + "app.js", "2026-01-01T00:00:00Z", b"document.title='ran'", "text/javascript"),
        Page(SITE + "next.html", "2026-01-01T00:00:00Z", b"<title>next</title><p id=here>next"),
        Page(SITE + "next.html", "2026-02-01T00:00:00Z", b"<title>later</title><p>later"),
        Page(SITE + "on", "2026-01-01T00:00:00Z",
             b"<meta http-equiv=refresh content='0;url=next.html'><p>wait"),
        Page(SITE + "frames", "2026-01-01T00:00:00Z",
             b"<title>frames</title><frameset cols='*,*'><frame src=next.html><frame src=on>"),
    ]  # fmt: skip
    folder = served_archive.build(tmp_path_factory.mktemp("browser") / "a", pages, seeds=(SITE,))
    with served_archive.serving(folder) as running:
        yield running


@pytest.fixture(scope="module")
def browser(browser: Any) -> Any:
    browser.size(1280)
    return browser


def title(browser: Any) -> str:
    return str(browser.evaluate("document.title"))


def middle(browser: Any, element: str) -> list[float]:
    """Where an element of the page, or of the page in its frame, can be clicked."""
    found: list[float] = browser.evaluate(
        f"(() => {{ const e = {element}, b = e.getBoundingClientRect();"
        " const f = e.ownerDocument.defaultView.frameElement?.getBoundingClientRect();"
        " return [b.x + b.width / 2 + (f?.x ?? 0), b.y + b.height / 2 + (f?.y ?? 0)] })()"
    )
    return found


class TestNothingLeaks:
    def test_replay_asks_only_this_server_and_runs_no_script(
        self, browser: Any, server: Any, canary: Canary
    ) -> None:
        before = canary.visits
        browser.open(f"{server.url}/2026/{SITE}")
        browser.settle(1)
        assert canary.visits == before
        ours = (f"{server.url}/", "data:", "about:", "blob:")
        assert [url for url in browser.sent if not url.startswith(ours)] == []
        assert title(browser) == "quiet"
        # It is still the page: its own picture and style sheet are there, so is <noscript>.
        page = "frames[0].document"
        assert browser.evaluate(f"{page}.title") == "quiet"
        assert browser.evaluate(f"{page}.querySelector('#ours').naturalWidth") == 7
        colour = browser.evaluate(f"getComputedStyle({page}.querySelector('h1')).color")
        assert colour == "rgb(1, 2, 3)"
        assert browser.evaluate(f"{page}.querySelectorAll('noscript img').length") == 1

    def test_a_raw_memento_is_shown_to_people_as_its_source(
        self, browser: Any, server: Any, canary: Canary
    ) -> None:
        before = canary.visits
        browser.open(f"{server.url}/2026id_/{SITE}")
        browser.settle(0.5)
        assert canary.visits == before
        assert browser.evaluate("document.contentType") == "text/plain"
        assert "<title>quiet</title>" in browser.evaluate("document.body.innerText")

    def test_the_same_page_on_the_live_web_does_both(self, browser: Any, canary: Canary) -> None:
        """The control: without us, the canary is visited and scripts run."""
        body = leaky(f"http://127.0.0.1:{canary.port}/")

        class Live(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        before = canary.visits
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Live) as live:
            thread = threading.Thread(target=live.serve_forever)
            thread.start()
            try:
                browser.open(f"http://127.0.0.1:{live.server_port}/")
                browser.settle(0.5)
            finally:
                live.shutdown()
                thread.join()
        assert canary.visits > before + 5
        assert title(browser) != "quiet"


class TestBanner:
    def test_its_links_lead_to_another_time(self, browser: Any, server: Any) -> None:
        browser.open(f"{server.url}/20260115/{SITE}next.html")
        assert title(browser) == "next"
        browser.events.clear()
        browser.click(*middle(browser, "document.querySelector('a[rel=next]')"))
        browser.wait("Page.loadEventFired")
        assert title(browser) == "later"
        assert browser.evaluate("location.pathname") == f"/20260201000000/{SITE}next.html"

    def test_a_refresh_is_not_followed_but_offered(self, browser: Any, server: Any) -> None:
        browser.open(f"{server.url}/2026/{SITE}on")
        browser.settle(0.5)
        assert browser.evaluate("location.pathname") == f"/2026/{SITE}on"
        assert browser.evaluate("frames[0].location.pathname") == f"/2026mp_/{SITE}on"
        offered = browser.evaluate("document.querySelector('.onward a').getAttribute('href')")
        assert offered == f"/2026/{SITE}next.html"

    def test_frames_have_none_inside(self, browser: Any, server: Any) -> None:
        browser.open(f"{server.url}/2026/{SITE}frames")
        browser.settle(0.3)
        assert title(browser) == "frames"
        assert browser.evaluate("frames[0].frames.length") == 2
        assert browser.evaluate("frames[0].frames[0].document.querySelector('iframe')") is None
        assert browser.evaluate("frames[0].frames[0].document.title") == "next"  # as of the page


class TestNavigation:
    def test_links_stay_in_the_archive_at_the_same_moment(self, browser: Any, server: Any) -> None:
        browser.open(f"{server.url}/202601/{SITE}")
        browser.settle(0.3)
        link = "frames[0].document.querySelector('#link')"
        browser.evaluate(f"{link}.scrollIntoView({{block: 'center'}})")
        browser.events.clear()
        browser.click(*middle(browser, link))
        browser.wait("Page.loadEventFired")
        assert title(browser) == "next"
        assert browser.evaluate("location.pathname + location.hash") == (
            f"/202601/{SITE}next.html#here"
        )

    def test_the_form_works_without_a_script(self, browser: Any, server: Any) -> None:
        browser.open(f"{server.url}/")
        browser.evaluate("document.querySelector('#url').focus()")
        browser.call("Input.insertText", text="site.example/next.html")
        browser.press("Tab")
        browser.call("Input.insertText", text="2026-01")
        browser.press("Enter")
        browser.wait("Page.loadEventFired")
        assert browser.evaluate("location.pathname") == f"/202601/https{SITE[4:]}next.html"


class TestOurPages:
    TARGETS = (
        "/",
        f"/captures?url={SITE}next.html&at=20260115",
        f"/captures?prefix={SITE}",
        f"/2025/{SITE}",
        "/2026/http://nowhere.example/a/rather/long/path/to/see/whether/it/breaks?and=query&so=on",
    )

    @pytest.mark.parametrize("target", TARGETS)
    def test_narrow_and_dark(self, browser: Any, server: Any, target: str, tmp_path: Path) -> None:
        seen: dict[str, int] = {}
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            for width in (1280, 400):
                browser.size(width)
                browser.open(server.url + target)
                assert browser.evaluate("document.documentElement.scrollWidth") <= width
                paper = browser.evaluate("getComputedStyle(document.documentElement).background")
                seen[scheme] = sum(map(int, paper.removeprefix("rgb(").split(")")[0].split(",")))
                name = f"{self.TARGETS.index(target)}-{width}-{scheme}.png"
                folder = Path(os.environ.get("ASOF_SCREENSHOTS") or tmp_path)
                browser.screenshot(folder / name)
        browser.size(1280)
        browser.scheme("light")
        assert seen["light"] > 600
        assert seen["dark"] < 150

    def test_the_first_tab_skips_to_the_content(self, browser: Any, server: Any) -> None:
        browser.open(f"{server.url}/captures?url={SITE}next.html")
        browser.press("Tab")
        assert browser.evaluate("document.activeElement.className") == "skip"

    def test_nothing_is_refused_by_our_own_policy(self, browser: Any, server: Any) -> None:
        for target in (*self.TARGETS, f"/2026/{SITE}next.html"):
            browser.open(server.url + target)
            browser.settle(0.2)
            failed = [e for e in browser.events if e.get("method") == "Network.loadingFailed"]
            assert failed == []
            assert browser.evaluate("document.styleSheets.length") == 1
