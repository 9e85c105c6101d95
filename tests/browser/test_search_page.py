"""The page of a search in a real browser: legible at any width and in both schemes, by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from asof import index
from support import said_pages, served_archive
from support.said_pages import SITE

pytestmark = pytest.mark.needs("chromium")

EVERYTHING = quote("anchor OR note1 OR buoys OR mergers OR 灯台 OR маяк OR המגדלור OR المنارة")
PAGES = ("/", "/search", f"/search?q={EVERYTHING}", "/search?q=zeppelin", "/search?q=(anchor",
         f"/search?q={EVERYTHING}&from=2025&to=2027&prefix=example&fold=no")  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = said_pages.build(tmp_path_factory.mktemp("said") / "archive")
    index(folder)
    with served_archive.serving(folder) as running:
        yield running


@pytest.mark.parametrize("width", [390, 700, 1280, 2560])
def test_no_width_needs_scrolling_to_the_side(browser: Any, server: Any, width: int) -> None:
    browser.size(width)
    for page in PAGES:
        browser.open(server.url + page)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width, page
        assert browser.evaluate("document.scripts.length") == 0
        assert all(sent.startswith(server.url) for sent in browser.sent)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_can_be_read(browser: Any, server: Any, scheme: str) -> None:
    browser.size(1280)
    browser.scheme(scheme)
    try:
        for page in PAGES:
            browser.open(server.url + page)
            assert browser.illegible() == [], page
    finally:
        browser.scheme("light")


def test_words_in_other_directions_stand_in_their_own(browser: Any, server: Any) -> None:
    browser.size(1280)
    browser.open(server.url + "/search?q=" + quote("המגדלור"))
    assert (
        browser.evaluate("getComputedStyle(document.querySelector('.extract')).direction") == "rtl"
    )
    assert browser.evaluate("getComputedStyle(document.querySelector('.told')).direction") == "ltr"


def test_a_question_is_typed_and_a_hit_followed_by_the_keyboard(browser: Any, server: Any) -> None:
    browser.size(1280)
    browser.open(server.url + "/search")
    browser.settle(0.5)  # the focus is set a frame later
    assert browser.evaluate("document.activeElement.id") == "q"
    browser.evaluate("document.activeElement.value = 'mergers'")
    browser.events.clear()
    browser.press("Enter")
    browser.wait("Page.loadEventFired")
    assert browser.evaluate("[...document.querySelectorAll('mark')].map(e => e.innerText)") == [
        "mergers"
    ]
    browser.evaluate("document.querySelector('.hits h2 a').focus()")
    browser.events.clear()
    browser.press("Enter")
    browser.wait("Page.loadEventFired")
    assert browser.evaluate("location.pathname") == f"/20260205100000/{SITE}"
