"""The trap of replay by nearness: a page as of a moment, with parts from after it.

The page was captured on 10 March. Its logo was captured long before, and again a day later, when it
had been redrawn after the page was captured; so had its figures. The nearest logo never stood on
that page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.chromium import Chromium
from support.served_archive import Page, Server, build, serving

SITE = "http://site.example/"
THEN = "20260310120000"
# Drawn anew, and written anew, after the page was captured.
AFTER = (
    ("Last-Modified", "Tue, 10 Mar 2026 18:00:00 GMT"),
    ("Date", "Wed, 11 Mar 2026 12:00:00 GMT"),
)


def logo(width: int) -> bytes:
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="5"/>'.encode()


PAGES = [
    Page(SITE, "2026-03-10T12:00:00Z", b"<title>page</title><img src=logo.svg><iframe src=d.json>"),
    Page(SITE + "logo.svg", "2026-02-01T12:00:00Z", logo(10), "image/svg+xml"),
    Page(SITE + "logo.svg", "2026-03-11T12:00:00Z", logo(20), "image/svg+xml", headers=AFTER),
    Page(SITE + "d.json", "2026-03-11T12:00:00Z", b'{"n": 2}', "application/json", headers=AFTER),
    Page(SITE + "old.json", "2026-03-01T12:00:00Z", b'{"n": 1}', "application/json"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(build(tmp_path_factory.mktemp("archive"), PAGES)) as running:
        yield running


def seen(browser: Any, url: str) -> int:
    """How wide the logo is that a reader sees."""
    browser.open(url)
    browser.settle(0.5)
    return int(browser.evaluate("frames[0].document.querySelector('img').naturalWidth"))


@pytest.mark.needs("chromium")
def test_a_reader_sees_the_logo_that_was_there(browser: Chromium, server: Server) -> None:
    assert seen(browser, f"{server.url}/{THEN}/{SITE}") == 10
    assert seen(browser, f"{server.url}/-/strict/{THEN}/{SITE}") == 10
    assert seen(browser, f"{server.url}/-/nearest/{THEN}/{SITE}") == 20


def test_each_part_says_what_is_known_of_it(server: Server) -> None:
    shown = server.ask(f"/{THEN}oe_/{SITE}logo.svg")
    assert shown.body == logo(10)
    assert shown.headers["Asof-Verdict"].startswith("possible; ")
    nearest = server.ask(f"/-/nearest/{THEN}oe_/{SITE}logo.svg")
    assert nearest.body == logo(20)
    assert nearest.headers["Asof-Verdict"].startswith("violated; ")
    assert "reason=dated-after" in nearest.headers["Asof-Verdict"]


def test_what_was_not_there_yet_is_missing(server: Server) -> None:
    missing = server.ask(f"/{THEN}oe_/{SITE}d.json", Sec_Fetch_Dest="empty")
    assert missing.status == 404
    assert missing.headers["Asof-Verdict"].startswith("missing; ")
    assert "reason=dated-after" in missing.headers["Asof-Verdict"]
    assert server.ask(f"/-/nearest/{THEN}oe_/{SITE}d.json").body == b'{"n": 2}'
    earlier = server.ask(f"/{THEN}oe_/{SITE}old.json")
    assert earlier.body == b'{"n": 1}'
    assert earlier.headers["Asof-Verdict"].startswith("possible; ")


def test_the_page_counts_its_parts(server: Server) -> None:
    page = server.ask(f"/{THEN}/{SITE}", Sec_Fetch_Dest="document")
    assert page.headers["Asof-Verdict"].startswith('proven; shown="2026-03-10T12:00:00.999999Z"')
    assert page.headers["Asof-Composition"] == "proven=1, possible=1, missing=1"
    page = server.ask(f"/-/nearest/{THEN}/{SITE}", Sec_Fetch_Dest="document")
    assert page.headers["Asof-Composition"] == "proven=1, violated=2"
