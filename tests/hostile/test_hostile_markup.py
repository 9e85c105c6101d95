"""Hostile markup: no crash, no hang, memory in proportion, and what can be read is read."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from unittest import mock

import pytest

from asof.text.html.blocks import joined, layout, layout_of
from asof.text.html.page import read_html
from asof.text.html.tag_row import MOST_CHARACTERS, MOST_TOKENS, row_in_python, tag_row

MB = 1 << 20
# Generous: the slowest of these takes 5 s on a busy machine; what is quadratic takes minutes.
SECONDS = 30.0
STORY = "<p>The harbour was quiet in the morning, and the boats lay still on the water.</p>" * 5

PAGES = {
    "deep": "<div>" * 100_000 + STORY,
    "deep and closed": "<div>" * 100_000 + STORY + "</div>" * 100_000,
    "deep formatting": "<b><i>" * 100_000 + STORY,
    "deep tables": "<table><tr><td>" * 50_000 + STORY,
    "deep lists": "<ul><li>" * 100_000 + STORY,
    "deep and hidden": "<span hidden>" * 50_000 + "</span>" * 50_000 + STORY,
    "wrong ends": "<div>" * 50_000 + "</p></b></table>" * 50_000 + STORY,
    "long attribute": f'<p title="{"x" * 10 * MB}">' + STORY,
    "many attributes": f"<p {' '.join(f'a{n}=b' for n in range(500_000))}>" + STORY,
    "bare attributes": f"<p {'a ' * MB}>" + STORY,
    "long class": f'<p class="{"main nav " * 500_000}">' + STORY,
    "open quotes": STORY + "<a '\">" * 100_000,
    "open quotes at the end": STORY + "</a b='>" * 100_001,
    "open tags": STORY + "<a " * 300_000,
    "open comments": STORY + "<!--" * 300_000,
    "dashes": STORY + "<!--" + "-" * MB,
    "open scripts": STORY + "<script>" * 200_000,
    "less than": "<" * MB + STORY,
    "open ends": STORY + "</" * 500_000,
    "entities": "<p>" + "&amp;" * 500_000 + STORY,
    "broken entities": "<p>" + "&" * MB + STORY,
    "nuls": ("<p>a\0b</p>\0" * 50_000).replace("<p>", "<\0p>", 5) + STORY,
    "one long text": "<p>" + "harbour " * 2 * MB,
    "many paragraphs": "<p>x" * 300_000 + STORY,
    "many links": "".join(f"<a href=/{n}>x</a>" for n in range(200_000)) + STORY,
    "one long link": f"<a href='{'x' * 5 * MB}'>x</a>" + STORY,
    "many metas": "<meta name=date content=x>" * 100_000 + STORY,
    "long title": f"<title>{'t ' * MB}</title>" + STORY,
    "long data": f'<script type="application/ld+json">{"[" * MB}</script>' + STORY,
    "many breaks": "<p>x" + "<br>" * 500_000 + STORY,
    "words of one class": "<div class='" + "a-" * 500_000 + "'>" + STORY,
    "styles": "<p style='" + "display:" * 300_000 + "'>" + STORY,
    "surrogates": "<p>\ud800</p>" + STORY,
    "control characters": "".join(map(chr, range(1, 32))) * 1000 + STORY,
    "drawings": "<svg><desc>" * 50_000 + "</svg>" * 50_000 + STORY,
}
# The rest of these documents is inside a tag, a script or a title, or is hidden.
READ = [name for name in PAGES if name not in ("nuls", "drawings")]


# The slow twin has the same pages in `make test-long`; `make fuzz` compares the two each time.
@pytest.fixture(params=["compiled", pytest.param("python", marks=pytest.mark.long)])
def reader(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "compiled":
        yield
    else:
        with mock.patch("asof.text.html.blocks.compiled", None):
            yield


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.usefixtures("reader")
def test_it_is_read_in_time_by_the_fast_methods(name: str) -> None:
    start = time.perf_counter()
    for method in ("fast", "tags"):
        page = read_html(PAGES[name], "https://example.org/", method)
        assert "\0" not in page.text
    assert time.perf_counter() - start < SECONDS


@pytest.mark.parametrize("name", PAGES)
def test_it_is_read_in_time_by_the_default(name: str) -> None:
    start = time.perf_counter()
    page = read_html(PAGES[name], "https://example.org/")
    assert time.perf_counter() - start < SECONDS
    if name in READ:
        assert "harbour" in page.text


def test_a_hundred_megabytes_of_text_are_cut() -> None:
    page = read_html("<p>" + "harbour " * (100 * MB // 8), method="fast")
    assert len(page.text) == MOST_CHARACTERS - 3


def test_there_are_not_more_tags_than_can_be_kept() -> None:
    markup = "<p>x" * (MOST_CHARACTERS // 4)
    assert len(layout(markup).blocks) <= MOST_TOKENS
    assert sum(1 for _ in tag_row(markup)) == MOST_TOKENS


def test_memory_is_in_proportion() -> None:
    """Nothing grows with the square of anything, and nothing is kept of a page that was read."""
    markup = PAGES["deep"] + PAGES["many links"]
    layout(markup)
    tracemalloc.start()
    try:
        for _ in range(3):
            page = layout(markup)
            del page
        left, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert left < MB
    assert peak < 40 * len(markup)


@pytest.mark.parametrize("name", ["deep", "wrong ends", "deep and hidden", "styles", "long class"])
def test_both_readers_agree(name: str) -> None:
    assert layout(PAGES[name]) == layout_of(row_in_python(PAGES[name]))


def test_every_cut_of_a_page_can_be_read() -> None:
    """Whatever is missing at the end, both readers say the same."""
    markup = (
        "<!doctype html><html lang='en'><title>T&amp;</title><!-- c --><p class=\"a b\" hidden>x"
        "<br/>y</p><a href='z'>z</a><script type=\"application/ld+json\">{}</script>"
        "<pre> \u00e9\n</pre>"
    )
    for end in range(len(markup)):
        cut = markup[:end]
        assert layout(cut) == layout_of(row_in_python(cut))
        assert joined(layout(cut).blocks) == read_html(cut, method="fast").text
