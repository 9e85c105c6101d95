"""Saved covers in a real browser: legible at any width and in both schemes, links that lead on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asof.archive.folder import Folder
from asof.cover.documents.tables import Table
from asof.cover.join.join import JoinLimits
from asof.cover.kept.saved_covers import save_cover
from asof.cover.question import Question
from asof.cover.run import thin_out
from support import served_archive
from support.served_archive import Page

TESTS = Path(__file__).parents[1]

pytestmark = pytest.mark.needs("chromium")

SITE = "http://site.example/"
WORDS = [f"word{number}" for number in range(60)]
LONG = SITE + "a-name-that-has-no-end/" * 12
PAGES = ("/", "/covers", "/covers/versions", "/covers/versions?page=2", "/covers/many?of={}")


# How far anything begins to the left of the text.
LEFT = """Math.min(0, ...[...document.querySelectorAll('main p, main li')].map(
  e => e.getBoundingClientRect().x - document.querySelector('main').getBoundingClientRect().x))"""


def documents() -> dict[str, str]:
    """Two versions of many pages, the first all in the second; and one with an endless name."""
    found = {f"20260101100000/{LONG}": "nothing of that is said in any other one"}
    for number in range(60):
        for month in (1, 2):
            text = f"{number} " * 5 + " ".join(WORDS[: 20 * month])
            found[f"20260{month}01100000/{SITE}{number}"] = text
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    stored = [
        Page(f"{SITE}{number}", f"2026-0{month}-01T10:00:00Z", f"<p>{number} {month}".encode())
        for number in range(3)
        for month in (1, 2)
    ]
    folder = served_archive.build(tmp_path_factory.mktemp("covers") / "archive", stored)
    rows = documents()
    collection = Table(tuple(rows), tuple(rows.values()), {}).collection()
    for name, relation in (("versions", "C(d1,d2) >= 0.95"), ("many", "C(d1,d2) >= 0.3")):
        outcome = thin_out(collection, Question(relation), JoinLimits())
        asked = Question(relation, where="x" * 300, prefer="recency")
        save_cover(Folder(folder), name, outcome, asked, 1_767_225_600_000_000)
    with served_archive.serving(folder) as found:
        yield found


def pages(server: Any) -> list[str]:
    """The pages, and of the last one that of the document that covers the most."""
    link = server.ask("/covers/many").text.partition("of=")[2].partition('"')[0]
    assert link
    return [server.url + page.format(link) for page in PAGES]


@pytest.mark.parametrize("width", [360, 700, 1400])
def test_no_width_needs_scrolling_to_the_side(browser: Any, server: Any, width: int) -> None:
    browser.size(width)
    for url in pages(server):
        browser.open(url)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        assert browser.evaluate(LEFT) >= 0
        assert browser.evaluate("document.scripts.length") == 0
        assert all(sent.startswith(server.url) for sent in browser.sent)


def test_the_bar_is_as_long_as_what_is_contained(browser: Any, server: Any) -> None:
    browser.size(1000)
    browser.open(server.url + "/covers/many")
    shares = browser.evaluate(
        "[...document.querySelectorAll('.measures')].map(e => ["
        "parseFloat(e.querySelector('span').innerText.slice(2)),"
        "100 * e.querySelector('rect').getBoundingClientRect().width"
        " / e.querySelector('svg').getBoundingClientRect().width])"
    )
    assert shares
    assert any(said < 99 for said, _ in shares)
    assert all(abs(said - shown) < 0.2 for said, shown in shares)


def test_a_covered_capture_is_a_click_away(browser: Any, server: Any) -> None:
    browser.size(1000)
    browser.open(server.url + "/covers/versions")
    link = f"document.querySelector('.gone a[href=\"/20260101100000/{SITE}0\"]')"
    browser.evaluate(f"{link}.scrollIntoView()")
    x, y, wide, high = browser.evaluate(
        f"(b => [b.x, b.y, b.width, b.height])({link}.getBoundingClientRect())"
    )
    browser.events.clear()
    browser.click(x + wide / 2, y + high / 2)
    browser.wait("Page.loadEventFired")
    assert browser.evaluate("location.pathname") == f"/20260101100000/{SITE}0"
    assert (
        browser.evaluate(
            "document.querySelector('iframe').contentDocument.querySelector('p').innerText"
        )
        == "0 1"
    )


def test_dark_is_dark_and_light_is_light(browser: Any, server: Any) -> None:
    browser.size(1000)
    shades = []
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        browser.open(server.url + "/covers/versions")
        colours = (
            browser.evaluate(f"getComputedStyle({place}).{name}")
            for place, name in (
                ("document.documentElement", "backgroundColor"),
                ("document.querySelector('.stays')", "color"),
                ("document.querySelector('.measures rect')", "fill"),
            )
        )
        shades.append([sum(map(int, text[4:-1].split(","))) for text in colours])
    browser.scheme("light")
    (light_paper, light_ink, light_bar), (dark_paper, dark_ink, dark_bar) = shades
    assert light_paper - light_ink > 500
    assert dark_ink - dark_paper > 500
    assert light_paper - light_bar > 200
    assert dark_bar - dark_paper > 200
