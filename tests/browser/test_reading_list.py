"""A reading list in a real browser: legible at any width, folds that open, nothing asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from asof.report.reading_list import page
from support.covered import versions

TESTS = Path(__file__).parents[1]

pytestmark = pytest.mark.needs("chromium")

# How many addresses, and versions of each: nothing, one, some, many of one, many.
SIZES = ((0, 0), (1, 1), (5, 2), (1, 60), (30_000, 2))
OPEN = "document.querySelectorAll('details[open]').length"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, int], str]:
    """The addresses of reading lists by their size."""
    folder = tmp_path_factory.mktemp("lists")
    found = {}
    for count, each in SIZES:
        file = folder / f"{count}-{each}.html"
        file.write_text(page(versions(count, each), title="x" * 200), encoding="utf-8")
        found[count, each] = file.as_uri()
    return found


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("width", [360, 1400])
def test_no_width_needs_scrolling_to_the_side(
    browser: Any, pages: dict[tuple[int, int], str], size: tuple[int, int], width: int
) -> None:
    browser.size(width)
    browser.open(pages[size])
    browser.evaluate("document.querySelectorAll('details').forEach((e, n) => e.open = n < 9)")
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.sent == [pages[size]]
    assert browser.evaluate("document.scripts.length") == 0


def test_folds_open_without_a_script(browser: Any, pages: dict[tuple[int, int], str]) -> None:
    browser.size(1000)
    browser.open(pages[30_000, 2])
    assert browser.evaluate(OPEN) == 1
    browser.evaluate("document.querySelector('details:not([open])').scrollIntoView()")
    x, y, wide, high = browser.evaluate(
        "(b => [b.x, b.y, b.width, b.height])"
        "(document.querySelector('details:not([open]) summary').getBoundingClientRect())"
    )
    browser.click(x + wide / 2, y + high / 2)
    assert browser.evaluate(OPEN) == 2


def test_the_bar_is_as_long_as_what_is_contained(
    browser: Any, pages: dict[tuple[int, int], str]
) -> None:
    browser.size(1000)
    browser.open(pages[5, 2])
    bars = browser.evaluate(
        "[...document.querySelectorAll('.gone svg')].map(e => ["
        "parseFloat(e.parentElement.textContent.trim().slice(2)), e.getBoundingClientRect().width,"
        " e.firstChild.getBoundingClientRect().width])"
    )
    assert len(bars) == 5
    assert all(
        width == 56 and abs(width * said / 100 - inside) < 0.2 for said, width, inside in bars
    )


def test_dark_is_dark_and_light_is_light(browser: Any, pages: dict[tuple[int, int], str]) -> None:
    shades = []
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        browser.open(pages[5, 2])
        colours = (
            browser.evaluate(f"getComputedStyle(document.documentElement).{name}")
            for name in ("backgroundColor", "color")
        )
        shades.append([sum(map(int, text[4:-1].split(","))) for text in colours])
    browser.scheme("light")
    (light_paper, light_ink), (dark_paper, dark_ink) = shades
    assert light_paper - light_ink > 500
    assert dark_ink - dark_paper > 500
