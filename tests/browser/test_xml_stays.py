"""XML in a real browser, from a mirror on disk and from the server: nothing in it leaks or runs.

All that leaves the browser is watched: by a port that stands for the live web, on which so much as
a connection counts, and by the log of the browser's own network.
"""

from __future__ import annotations

import http.server
import json
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from support import rig, served_archive
from support.hostile_xml import FILES_ONLY, LEAKS, PLAIN, media, written
from support.live_web import SITE, Canary, png
from support.served_archive import Page
from support.watched_browser import Watched

pytestmark = pytest.mark.needs("chromium")

AT = "2026-01-01T00:00:00Z"
WITHIN = "".join(
    f'<iframe src="{name}"></iframe><object data="{name}"></object><embed src="{name}">'
    f'<img src="{name}">'
    for name in LEAKS
)
ALLOWED = {"Connection-Allowlist": "(response-origin); webrtc=block; redirects=allow"}


@pytest.fixture(scope="module")
def canary() -> Iterator[Canary]:
    with closing(Canary()) as bird:
        yield bird


def address(canary: Canary) -> str:
    return f"http://127.0.0.1:{canary.port}/"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory, canary: Canary) -> Path:
    pages = [
        Page(SITE + name, AT, written(text, address(canary)), media(name))
        for name, text in (LEAKS | PLAIN).items()
    ]
    pages.append(Page(SITE + "x.png", AT, png(7, 5, b"\1\2\3"), "image/png"))
    shown = b"<title>t</title><img id=drawn src=plain.svg>"
    pages.append(Page(SITE + "shown.html", AT, shown))
    pages.append(Page(SITE + "within.html", AT, b"<title>t</title>" + WITHIN.encode()))
    return served_archive.build(tmp_path_factory.mktemp("xml") / "a", pages)


@pytest.fixture(scope="module")
def mirror(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files by the names of the documents."""
    out = tmp_path_factory.mktemp("out") / "site"
    rig.ok("export", "--format", "files", "--at", "2026-02", "-o", out, "-a", archive)
    said = json.loads((out / "manifest.json").read_text())["files"]
    kept = {each["url"].removeprefix(SITE): each for each in said}
    assert all(kept[name].get("source") for name in LEAKS if kept[name]["file"].endswith(".txt"))
    assert not any(kept[name].get("source") for name in PLAIN)
    return {name: out / each["file"] for name, each in kept.items()}


@pytest.fixture
def browser() -> Iterator[Watched]:
    with Watched.fresh() as running:
        yield running


@contextmanager
def live(canary: Canary, headers: dict[str, str]) -> Iterator[str]:
    """The documents outside of any archive."""

    class Live(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/")
            found = LEAKS.get(name)
            self.send_response(200 if found else 404)
            for header, value in headers.items():
                self.send_header(header, value)
            # Chromium shows feeds as text, other XML as what it holds.
            sent = media(name).replace("atom+", "") if found else "text/plain"
            self.send_header("Content-Type", sent)
            self.end_headers()
            self.wfile.write(written(found or "", address(canary)))

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Live) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def heard(browser: Watched, canary: Canary, urls: Iterable[str], seconds: float = 0.5) -> list[str]:
    """Of which documents the live web heard."""
    found = []
    for url in urls:
        before = canary.visits
        browser.call("Page.navigate", url=url)
        browser.settle(seconds)
        if canary.visits != before:
            found.append(url.rpartition("/")[2])
        browser.call("Page.navigate", url="about:blank")
        browser.settle(0.1)
    browser.settle(1)
    return found


def told(browser: Watched, canary: Canary) -> list[Any]:
    """What the browser's own log has of the live web."""
    live = re.compile(rf"(?:\w+://|\w+/http://)?127\.0\.0\.1:{canary.port}(?:\W|$)")
    return [each for each in browser.connections() if live.match(each[1])]


def test_live_they_all_leak(browser: Watched, canary: Canary) -> None:
    """The control: what keeps silent in an archive is heard here, and is in the log."""
    with live(canary, {}) as root:
        found = heard(browser, canary, [root + name for name in LEAKS], 1)
    assert set(LEAKS) - set(found) <= FILES_ONLY
    assert told(browser, canary)


def test_the_header_alone_keeps_them_from_connecting(browser: Watched, canary: Canary) -> None:
    names = ("connect.xml", "connect.svg", "entity.svg", "entity.xhtml", "hidden.xhtml")
    with live(canary, ALLOWED) as root:
        assert heard(browser, canary, [root + name for name in names], 1) == []


def test_a_mirror_asks_nobody(browser: Watched, canary: Canary, mirror: dict[str, Path]) -> None:
    before = canary.visits
    urls = [mirror[name].as_uri() for name in (*LEAKS, "within.html")]
    assert heard(browser, canary, urls) == []
    assert (told(browser, canary), canary.visits) == ([], before)


def test_pictures_and_feeds_stay_what_they_are(browser: Watched, mirror: dict[str, Path]) -> None:
    assert {mirror[name].suffix for name in PLAIN} == {".svg", ".xml"}
    browser.open(mirror["shown.html"].as_uri())
    browser.settle(0.5)
    assert browser.evaluate("document.querySelector('#drawn').naturalWidth") == 200
    browser.open(mirror["plain.svg"].as_uri())
    assert browser.evaluate("document.documentElement.localName") == "svg"
    assert '<link href="http://site.example/"/>' in mirror["plain.atom"].read_text()
    browser.open(mirror["said.xml"].as_uri())
    browser.settle(0.5)
    assert browser.evaluate("document.getElementsByTagName('h:img')[0].naturalWidth") == 7


@pytest.mark.parametrize("form", ["", "if_", "id_"])
def test_the_server_asks_nobody(browser: Watched, canary: Canary, archive: Path, form: str) -> None:
    before = canary.visits
    with served_archive.serving(archive) as server:
        root = f"{server.url}/20260102{form}/{SITE}"
        assert heard(browser, canary, [root + name for name in (*LEAKS, "within.html")]) == []
    assert (told(browser, canary), canary.visits) == ([], before)


def test_what_is_served_is_a_picture_a_feed_or_the_source(browser: Watched, archive: Path) -> None:
    with served_archive.serving(archive) as server:
        root = f"{server.url}/20260102if_/{SITE}"
        browser.open(root + "said.xml")
        browser.settle(0.5)
        assert browser.evaluate("document.getElementsByTagName('h:img')[0].naturalWidth") == 7
        browser.open(root + "entity.xhtml")
        assert "<!ENTITY" in browser.evaluate("document.body.innerText")
        browser.open(root + "shown.html")
        browser.settle(0.5)
        assert browser.evaluate("document.querySelector('#drawn').naturalWidth") == 200
        for name, sent in (("plain.svg", "image/svg+xml"), ("plain.atom", "application/atom+xml")):
            answer = server.ask(f"/20260102if_/{SITE}{name}")
            assert answer.headers["Content-Type"] == sent
            assert answer.headers["Connection-Allowlist"] == ALLOWED["Connection-Allowlist"]
