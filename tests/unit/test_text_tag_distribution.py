"""The tag distribution of Naumann 2011: where a page has words rather than tags."""

from __future__ import annotations

import pytest

from asof.text.html.page import read_html
from asof.text.html.tag_distribution import best_runs, tag_content
from asof.text.html.tag_row import tag_row


@pytest.mark.parametrize(
    ("row", "span"),
    [
        ("", None),
        ("ttt", None),
        ("w", (0, 0)),
        ("ttwwwtt", (2, 4)),
        ("twttwwwwttwt", (4, 7)),
        ("twtwwwwtwt", (1, 8)),  # a tag and a word more make no difference: the longest
        ("ttwwwtwwwtt", (2, 8)),  # one tag inside costs less than three words
        ("wtttwww", (4, 6)),
        ("wwtwwtt", (0, 4)),
        ("wtwtw", (0, 4)),  # all the same: the longest
        ("wttw", (0, 0)),  # of two alike the first
    ],
)
def test_the_span_is_the_plateau(row: str, span: tuple[int, int] | None) -> None:
    """`t` is a tag, `w` a word."""
    found = best_runs([-1 if letter == "t" else 1 for letter in row])
    assert (found and (found[0], found[1] - 1)) == span


def content(markup: str) -> str:
    return tag_content(tag_row(markup))


def test_the_text_between_menus_is_the_content() -> None:
    menu = "<ul>" + "<li><a href=x>one</a></li>" * 9 + "</ul>"
    story = (
        "<p>Here are words enough to outweigh two tags.</p><p>And here are even more of them.</p>"
    )
    expected = "Here are words enough to outweigh two tags.\nAnd here are even more of them."
    assert content(f"<body>{menu}{story}{menu}</body>") == expected


def test_formatting_is_ignored() -> None:
    words = "<b>every</b> <i>word</i> <span>has</span> <em>its</em> <font>own</font> <u>tags</u>"
    assert content(f"<body><ul><li>x</li></ul><p>{words}</p>") == "every word has its own tags"


def test_scripts_are_no_words() -> None:
    script = "<script>" + "these are no words " * 50 + "</script>"
    assert content(f"{script}<p>but these words are</p>{script}") == "but these words are"


def test_a_page_without_words_has_no_content() -> None:
    assert content("<ul><li></li></ul>") == content("") == ""


def test_it_is_a_method_of_reading() -> None:
    page = read_html("<ul><li>a</li></ul><p>words and words and words</p>", method="tags")
    assert (page.method, page.main) == ("tags", "words and words and words")
