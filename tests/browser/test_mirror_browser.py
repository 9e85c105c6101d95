"""A mirror on disk in a real browser: it looks right from file://, and nothing leaves the disk."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support import rig, served_archive
from support.live_web import SITE, Canary, leaky, png
from support.served_archive import Page

pytestmark = pytest.mark.needs("chromium")

JAN, FEB, MAR = (f"2026-0{month}-01T00:00:00Z" for month in (1, 2, 3))
SCRIPTED = b"""<!doctype html><html lang=en><head><title>plain</title>
<link rel=stylesheet href=/deep/down/style.css crossorigin><base href="/elsewhere/"></head><body>
<h1>Page</h1><img id=one src=/img/logo srcset="/img/logo 1x, /img/big 2x">
<img id=moved src=/moved.png>
<iframe src=/frame?x=1></iframe><iframe src=/never></iframe>
<a id=next href="/next#here">next</a> <a id=away href="http://live.example/x">away</a>
<a id=led href=/led>led</a> <a id=gone href=/gone>gone</a><a id=file href="file://evil.example/s">f</a>
<noscript><p id=without>no scripts</p></noscript>
<script src=/app.js crossorigin integrity="sha256-no"></script>
<script>document.title += " inline"</script></body></html>"""
FONT = b"@font-face { font-family: f; src: url(/f.woff2) } h1 { font: 33px f }"


def pages(live: str) -> list[Page]:
    css = b"@import 'more.css'; h1 { color: rgb(1, 2, 3); background: url(../../img/logo) }"
    return [
        Page(SITE, JAN, SCRIPTED),
        Page(SITE + "deep/down/style.css", JAN, css, "text/css"),
        Page(SITE + "deep/down/more.css", JAN, FONT, "text/css"),
        Page(SITE + "f.woff2", JAN, b"wOF2 none", "font/woff2"),
        Page(SITE + "paper.pdf", JAN, b"%PDF-1.4 none", "application/pdf"),
        Page(SITE + "img/logo", JAN, png(7, 5, b"\1\2\3"), "image/png"),
        Page(SITE + "moved.png", JAN, b"", None, "302 Found", (("Location", "/img/logo"),)),
        Page(SITE + "frame?x=1", JAN, b"<title>frame</title><a href=/next>n</a>"),
        Page(SITE + "next", JAN, b"<title>next</title><p id=here>next"),
        Page(SITE + "led", JAN, b"", None, "301 Moved", (("Location", "/next"),)),
        Page(SITE + "gone", JAN, b"gone", "text/html", "404 Not Found"),
        Page(SITE + "app.js", JAN, b"document.title += ' ran'", "text/javascript"),
        Page(SITE + "leaky", JAN, leaky(live).replace(b"onload", b"data-onload")),
        Page(SITE + "ours.png", JAN, png(7, 5, b"\1\2\3"), "image/png"),
        Page(SITE + "refresh", JAN, b"<meta http-equiv=refresh content='0;url=/next'><p>wait"),
        Page(SITE + "cyrillic", JAN, "<title>Привет</title>".encode("cp1251"),
             "text/html; charset=windows-1251"),
        Page(SITE + "away", JAN, f"<script>location = '{live}nav'; open('{live}pop')</script>"
             f"<title>stays</title><form action='{live}f' id=f><input></form>".encode()),
        Page(SITE + "act.svg", JAN, f'<svg xmlns="http://www.w3.org/2000/svg"><script>'
             f"location='{live}svg'</script></svg>".encode(), "image/svg+xml"),
        Page(SITE + "x.xhtml", JAN, f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x'
             f'</title></head><body><script>new Image().src="{live}x"</script></body></html>'
             .encode(), "application/xhtml+xml"),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def canary() -> Iterator[Canary]:
    with closing(Canary()) as bird:
        yield bird


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory, canary: Canary) -> Path:
    live = f"http://127.0.0.1:{canary.port}/"
    return served_archive.build(tmp_path_factory.mktemp("mirror") / "a", pages(live))


@pytest.fixture(scope="module", params=["--no-scripts", "--scripts"])
def mirror(request: Any, archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("out") / "site"
    rig.ok(
        "export", "--format", "files", "--at", "2026-02", request.param, "-o", out, "-a", archive
    )
    # The archive is not needed, and neither is the place where it was written.
    moved = out.with_name("moved elsewhere")
    shutil.move(out, moved)
    return Mirror(moved, request.param == "--scripts")


class Mirror:
    def __init__(self, root: Path, scripts: bool) -> None:
        self.root, self.scripts = root, scripts
        said = json.loads((root / "manifest.json").read_text())
        self.files = {entry["url"]: entry["file"] for entry in said["files"]}

    def url(self, page: str) -> str:
        return (self.root / self.files[SITE + page]).as_uri()


def test_a_page_looks_as_it_did(browser: Any, mirror: Mirror) -> None:
    browser.open(mirror.url(""))
    browser.settle(0.5)
    assert browser.evaluate("document.compatMode") == "CSS1Compat"
    assert browser.evaluate("document.documentElement.lang") == "en"
    style = "getComputedStyle(document.querySelector('h1'))"
    assert browser.evaluate(f"{style}.color") == "rgb(1, 2, 3)"
    assert browser.evaluate(f"{style}.fontSize") == "33px"
    assert browser.evaluate("document.querySelector('#one').naturalWidth") == 7
    assert browser.evaluate("document.querySelector('#moved').naturalWidth") == 7
    assert "file://evil" not in browser.evaluate("document.querySelector('#file').href")
    assert len([url for url in browser.sent if "frame" in url]) == 1
    assert [url for url in browser.sent if url.endswith("/f.woff2")] != []
    expected = "plain ran inline" if mirror.scripts else "plain"
    assert browser.evaluate("document.title") == expected
    assert browser.evaluate("!!document.querySelector('#without')") is not mirror.scripts
    assert all(url.startswith(("file:", "data:", "about:")) for url in browser.sent)


def walk(browser: Any, element: str) -> None:
    browser.events.clear()
    browser.evaluate(f"document.querySelector('{element}').click()")
    browser.wait("Page.loadEventFired")
    browser.settle(0.3)


def test_links_lead_to_files(browser: Any, mirror: Mirror) -> None:
    for link, title, fragment in (("#next", "next", "#here"), ("#led", "next", "")):
        browser.open(mirror.url(""))
        walk(browser, link)
        assert browser.evaluate("document.title") == title
        assert browser.evaluate("location.hash") == fragment
    for link, told in (("#away", "live.example/x"), ("#gone", "the server answered 404")):
        browser.open(mirror.url(""))
        walk(browser, link)
        seen = browser.evaluate("document.querySelector('li:target').innerText")
        assert told in seen
        assert browser.evaluate("[...document.querySelectorAll('li')].filter("
                                "e => e.checkVisibility()).length") == 1  # fmt: skip


def test_the_index_leads_to_the_pages(browser: Any, mirror: Mirror) -> None:
    browser.open((mirror.root / "index.html").as_uri())
    walk(browser, "tbody a")
    assert "plain" in browser.evaluate("document.title")
    browser.open(mirror.url("refresh"))
    browser.settle(0.5)
    assert browser.evaluate("document.title") == "next"
    browser.open(mirror.url("cyrillic"))
    assert browser.evaluate("document.title") == "Привет"


@pytest.mark.parametrize("page", ["leaky", "away", "act.svg", "x.xhtml"])
def test_nothing_leaves_the_disk(browser: Any, mirror: Mirror, canary: Canary, page: str) -> None:
    before = canary.visits
    browser.open(mirror.url(page))
    browser.settle(1)
    if page == "away":
        assert browser.evaluate("document.title") == "stays"
        browser.evaluate("document.querySelector('#f').submit()")
        browser.settle(0.3)
    assert [url for url in browser.sent if url.startswith(("http:", "https:", "ws"))] == []
    assert browser.evaluate("location.protocol") == "file:"
    assert canary.visits == before
