"""The report's page in a real browser: legible at any width, and it asks for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from asof.report.quality_page import page
from support.made_up_report import interrupted, made_up

TESTS = Path(__file__).parents[1]

pytestmark = pytest.mark.needs("chromium")

SIZES = (0, 1, 10, 250, 2000)
BOXES = """
[...document.querySelectorAll(%r)].map(e => {
  const box = e.getBoundingClientRect(); return [box.x, box.y, box.width, box.height] })"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """The addresses of reports by number of pages."""
    folder = tmp_path_factory.mktemp("reports")
    for count in SIZES:
        text = page(made_up(count, seed=5))
        (folder / f"{count}.html").write_text(text, encoding="utf-8")
    return {count: (folder / f"{count}.html").as_uri() for count in SIZES}


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("width", [360, 800, 1400])
def test_no_width_needs_scrolling_to_the_side(
    browser: Any, pages: dict[int, str], count: int, width: int
) -> None:
    browser.size(width)
    browser.open(pages[count])
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.sent == [pages[count]]


@pytest.mark.parametrize("width", [360, 1400])
def test_before_the_turning_point_there_is_nothing_to_draw(
    browser: Any, tmp_path: Path, width: int
) -> None:
    file = tmp_path / "early.html"
    file.write_text(page(interrupted(40)), encoding="utf-8")
    browser.size(width)
    browser.open(file.as_uri())
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate("document.querySelector('.big').firstChild.data") == "-"
    assert browser.evaluate("document.querySelectorAll('svg, details, .grades').length") == 0
    assert "was interrupted" in browser.evaluate("document.querySelector('.advice').innerText")


def test_the_pictures_have_the_width_of_the_text(browser: Any, pages: dict[int, str]) -> None:
    browser.size(1000)
    browser.open(pages[250])
    text = browser.evaluate(BOXES % "main")[0]
    for x, _, wide, high in browser.evaluate(BOXES % "figure svg"):
        assert text[0] <= x < x + wide <= text[0] + text[2] + 1
        assert high > 100


@pytest.mark.parametrize("width", [360, 1000])
def test_labels_stand_beside_their_rows(browser: Any, pages: dict[int, str], width: int) -> None:
    browser.size(width)
    browser.open(pages[10])
    labels, rows = (browser.evaluate(BOXES % css) for css in (".labels li", ".hit"))
    assert len(labels) == len(rows) == 10
    for label, row in zip(labels, rows, strict=True):
        assert abs(label[1] + label[3] / 2 - (row[1] + row[3] / 2)) < 1
        assert label[0] + label[2] <= row[0]


@pytest.mark.parametrize("width", [360, 1000])
@pytest.mark.parametrize("count", [10, 250, 2000])
def test_axes_have_names_and_scales(
    browser: Any, pages: dict[int, str], count: int, width: int
) -> None:
    browser.size(width)
    browser.open(pages[count])
    for figure in range(2):
        inside = f"document.querySelectorAll('figure')[{figure}].querySelectorAll"
        upward, *_, across = browser.evaluate(f"[...{inside}('.axis')].map(e => e.innerText)")
        assert upward.startswith(("Share of the pages", "Pages, the first"))
        assert across == "Time (UTC), 1 Mar 2026"
        ticks = browser.evaluate(
            f"[...{inside}('.tick')].filter(e => e.checkVisibility()).map(e => "
            "(box => [box.left, box.right])(e.getBoundingClientRect()))"
        )
        assert len(ticks) >= 2
        ends = [0.0, *(x for tick in ticks for x in tick), float(width)]
        assert ends == sorted(ends)  # none lies over another one, or outside


@pytest.mark.parametrize("width", [360, 1000])
def test_the_curve_has_a_scale_beside_it(browser: Any, pages: dict[int, str], width: int) -> None:
    browser.size(width)
    browser.open(pages[2000])
    scale = browser.evaluate("[...document.querySelectorAll('.curved .y')].map(e => e.innerText)")
    assert scale == ["100 %", "75 %", "50 %", "25 %", "0 %"]
    labels, lines = (browser.evaluate(BOXES % css) for css in (".curved .y", ".curve line.grid"))
    for label, line in zip(labels, lines, strict=True):
        assert 0 <= label[0] < label[0] + label[2] <= line[0]
    middles = [label[1] + label[3] / 2 for label in labels]
    for middle, line in zip(middles, lines, strict=True):
        assert abs(middle - line[1]) < 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_keys_say_what_they_mean_and_all_can_be_read(
    browser: Any, pages: dict[int, str], scheme: str
) -> None:
    browser.scheme(scheme)
    for count in (10, 2000):
        browser.open(pages[count])
        keys = browser.evaluate(
            "[...document.querySelectorAll('figure .key li')].map(e => e.innerText)"
        )
        assert "proven: the same bytes before and after" in keys
        assert "known by evidence" in keys
        assert browser.illegible() == []
    browser.scheme("light")


def test_the_line_of_reference_stands_under_its_flag(browser: Any, pages: dict[int, str]) -> None:
    browser.size(1000)
    browser.open(pages[2000])
    flags, lines = (browser.evaluate(BOXES % css) for css in (".flag", "line.mark"))
    assert len(flags) == len(lines) == 2
    for flag, line in zip(flags, lines, strict=True):
        assert abs(flag[0] + flag[2] / 2 - (line[0] + line[2] / 2)) < 2


def test_dark_is_dark_and_light_is_light(browser: Any, pages: dict[int, str]) -> None:
    browser.size(1000)
    shades = []
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        browser.open(pages[10])
        colours = (
            browser.evaluate(f"getComputedStyle(document.documentElement).{name}")
            for name in ("backgroundColor", "color")
        )
        shades.append([sum(map(int, text[4:-1].split(","))) for text in colours])
    browser.scheme("light")
    (light_paper, light_ink), (dark_paper, dark_ink) = shades
    assert light_paper - light_ink > 500
    assert dark_ink - dark_paper > 500


def test_a_folded_list_opens_without_a_script(browser: Any, pages: dict[int, str]) -> None:
    browser.size(1000)
    browser.open(pages[2000])
    before = browser.evaluate("document.querySelectorAll('details[open]').length")
    browser.evaluate("document.querySelector('details:not([open])').scrollIntoView()")
    x, y, wide, high = browser.evaluate(BOXES % "details:not([open]) summary")[0]
    browser.click(x + wide / 2, y + high / 2)
    assert browser.evaluate("document.querySelectorAll('details[open]').length") == before + 1
    assert browser.evaluate("document.scripts.length") == 0


def test_it_prints(browser: Any, pages: dict[int, str]) -> None:
    browser.size(1000)
    browser.open(pages[250])
    browser.call("Emulation.setEmulatedMedia", media="print")
    tall = [box[3] for box in browser.evaluate(BOXES % "figure")]
    browser.call("Emulation.setEmulatedMedia", media="")
    assert max(tall) < 950  # a sheet of A4 is 1123 pixels high, margins included
