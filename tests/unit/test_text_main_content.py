"""Main content: what is left out, what is kept, and what is done where a method finds nothing."""

from __future__ import annotations

from typing import Any

import pytest

from asof.text.html.blocks import Block, joined, layout
from asof.text.html.facts import Facts
from asof.text.html.fast_content import best_row, fast_content
from asof.text.html.main_content import main_content, without_links
from asof.text.html.page import read_html

SENTENCE = "The harbour was quiet in the morning, and the boats lay still on the grey water. "
STORY = "".join(f"<p>{number}. {SENTENCE * 3}</p>" for number in range(6))
MENU = "<ul>" + "".join(f"<li><a href=/{n}>Section {n}</a></li>" for n in range(20)) + "</ul>"


def fast(markup: str) -> str:
    return joined(fast_content(layout(markup).blocks))


class TestFast:
    def test_menus_around_a_story_are_left_out(self) -> None:
        main = fast(f"<body>{MENU}<h1>Quiet</h1>{STORY}{MENU}</body>")
        assert main.startswith("Quiet\n0. The harbour")
        assert main.count("The harbour") == 18
        assert "Section" not in main

    @pytest.mark.parametrize(
        "noise",
        [
            "<nav>{}</nav>",
            "<footer>{}</footer>",
            "<aside>{}</aside>",
            "<div role=navigation>{}</div>",
            "<div class='site-footer'>{}</div>",
            "<div id=sidebar>{}</div>",
            "<div class=relatedPosts>{}</div>",
            "<div class='author-box'>{}</div>",
            "<ol class=commentlist>{}</ol>",
            "<div id=comments>{}</div>",
        ],
    )
    def test_what_calls_itself_noise_is(self, noise: str) -> None:
        words = "Buy this thing now, and read our other pages about things. " * 3
        main = fast(f"<body>{STORY}{noise.format(f'<p>{words}</p>')}</body>")
        assert "The harbour" in main
        assert "Buy this" not in main

    def test_a_page_that_is_nothing_but_noise_is_read_all_the_same(self) -> None:
        assert "The harbour" in fast(f"<body><nav><div class=sidebar>{STORY}</div></nav></body>")

    def test_remarks_are_the_content_of_a_forum(self) -> None:
        assert "The harbour" in fast(f"<h1>Thread</h1><div class=comments>{STORY}</div>")

    def test_the_marked_main_part_is_all(self) -> None:
        other = f"<div><p>{SENTENCE.replace('harbour', 'station')}</p></div>"
        main = fast(f"<body>{other}<main>{STORY}</main>{other}</body>")
        assert "harbour" in main
        assert "station" not in main

    def test_nothing_has_no_content(self) -> None:
        assert fast("") == fast("<body></body>") == fast(f"<body>{MENU}</body>") == ""


@pytest.mark.parametrize(
    ("weights", "row"),
    [
        ([], (0, 0)),
        ([-1, -2], (0, 0)),
        ([3], (0, 1)),
        ([1, -2, 3, -1, 2, -5], (2, 5)),
        ([0, 1], (0, 2)),
        ([2, -3, 2], (0, 1)),
    ],
)
def test_the_best_row_has_the_greatest_sum(weights: list[float], row: tuple[int, int]) -> None:
    assert best_row(weights) == row


class TestDefault:
    def test_trafilatura_finds_an_article(self) -> None:
        page = read_html(f"<html><body>{MENU}<article>{STORY}</article>{MENU}</body></html>")
        assert page.method == "trafilatura"
        assert page.main.count("The harbour") == 18

    def test_lines_that_are_links_are_left_out_of_an_article(self) -> None:
        teaser = "<p><a href=/x>Read also: what the other harbour looked like</a></p>"
        article = "<meta property=og:type content=article>"
        inside = f"<article>{STORY}{teaser}{STORY}</article>"
        assert "Read also" in read_html(f"<html><body>{inside}").main
        page = read_html(f"<html><head>{article}</head><body>{inside}")
        assert "Read also" not in page.main
        assert page.main.count("The harbour") == 36

    def test_a_page_that_is_no_article_is_not_cut_to_its_first_part(self) -> None:
        """A shop says what it is; trafilatura takes the one part that looks like a text."""
        parts = "".join(
            f"<section><h2>Part {n}</h2><div>{SENTENCE}</div></section>" for n in range(30)
        )
        markup = (
            "<html><head><meta property=og:type content=product></head>"
            f"<body><main><article><p>{SENTENCE * 4}</p></article>{parts}</main></body></html>"
        )
        main = read_html(markup).main
        assert main.count("The harbour") >= 30

    def test_what_trafilatura_cannot_read_the_fast_method_does(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_: object, **__: Any) -> str:
            raise RecursionError

        monkeypatch.setattr("trafilatura.extract", broken)
        page = read_html(f"<html><body>{STORY}</body></html>")
        assert page.method == "blocks"
        assert page.main.count("The harbour") == 18

    def test_what_no_method_takes_for_content_is_read_by_tags(self) -> None:
        page = read_html("<p>short</p>", method="fast")
        assert (page.main, page.method) == ("short", "tags")

    def test_an_empty_page_has_none(self) -> None:
        for method in ("default", "fast", "tags"):
            assert read_html("", method=method).main == ""

    def test_it_does_not_change_with_the_order_of_pages(self) -> None:
        """trafilatura keeps caches; none of them may change what is found."""
        first, second = (f"<html><body>{STORY}<p>{n}</p></body></html>" for n in "ab")
        once = read_html(first).main
        for _ in range(3):
            read_html(second)
            assert read_html(first).main == once


def test_links_that_are_the_article_stay() -> None:
    blocks = [Block("A list of everything", 20, "li", 0, False)]
    assert without_links("- A list of everything", blocks) == "- A list of everything"


def test_a_line_that_is_text_elsewhere_stays() -> None:
    blocks = [Block("Tides", 5, "a", 0, False), Block("Tides", 0, "p", 0, False)]
    assert without_links("Tides\nand more words than that", blocks).startswith("Tides\n")


def test_wild_pages_are_kept_from_trafilatura(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: Any) -> str:
        raise AssertionError

    monkeypatch.setattr("trafilatura.extract", never)
    for markup in (
        "<b></b>" * 40_000 + STORY,
        f"<p {'a=b ' * 2000}>" + STORY,
        STORY + " " * (1 << 23),
    ):
        page = layout(markup)
        assert main_content(markup, page, Facts(page.marks), "default")[1] == "blocks"
