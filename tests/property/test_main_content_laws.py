"""Laws of reading pages: the optimum of the lecture against all spans, compiled against plain."""

from __future__ import annotations

import os
from html import unescape
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from asof.text.html.blocks import _read_compiled, joined, layout, layout_of
from asof.text.html.fast_content import best_row, fast_content
from asof.text.html.page import read_html
from asof.text.html.tag_distribution import best_runs, tag_content
from asof.text.html.tag_row import compiled, row_in_python, tag_row
from support.laws import examples

needs_it = pytest.mark.skipif(compiled is None, reason="no C compiler when asof was installed")

PIECES = (
    r"""
<p>|</p>|<div class="c">|</div>|<div class='nav-bar'>|<a href="x">|</a>|<A HREF=y >|word|two words
<b>|</b>|<br>|<BR/>|<li>|</li>|<ul>|</ul>|<ol>|<table>|</table>|<tr>|<td>|<th>|</tr>|</td>|<pre>
</pre>|<span hidden>|</span>|<div hidden>|<p style="display:none">|<i style='x; DISPLAY : none'>
</i>|<nav>|</nav>|<main id=main>|</main>|<article>|<div role=main>|<div role='navigation'>|<script>
</script>|<script type="application/ld+json">|<style>|</style>|<title>|</title>|<textarea>
</textarea>|<xmp>|</xmp>|<!--|-->|--!>|<!-->|<!doctype html>|<?x|</ y>|<|>|"|'|=|/|&amp;|&nbsp;
&#0;|&#x41;|&|<template>|</template>|<noscript>|</noscript>|<object>|</object>|<select>|<option>
<svg>|</svg>|<desc>|<meta name=date content="2020-01-01">|<html lang=en>|<body class=sidebar>
<time datetime=x>|<base href=z>|<div class="post-content comments">|<div id="authorBox">
<p class='more stories'>|<hr>|<img alt=x hidden>|<x-y hidden>|</x-y>|<dt>|<dd>|<p a=b c='d' e>
<p/hidden>|<p =class=nav>|<p hidden=until-found>|<a b=>|<p class="x"y>|<p title=">">|<p x='
</p x=">">|<h1>|</h1>|<button>|</button>|<iframe>|</iframe>|</|<script/>|</ script>|</SCRIPT>
<details>|<form class=search>|<span HIDDEN>|<b Style="DISPLAY:NONE">|<i class=phone>
""".strip()
    .replace("\n", "|")
    .split("|")
)
PIECES += ["<p class=\u212aomments>", "<lin\u212a>", "\u00e9", "\u4e2d", "\u2003", "\u00a0"]
PIECES += ["\x1c", "\x85", "\v"]
soups = st.lists(st.sampled_from([*PIECES, " ", "\n", "\t"]), max_size=25).map("".join)
REFERENCES = [
    *("&amp;", "&ampx;", "&amp", "&", "#", ";", "lt;", "&lt;", "&nbsp;", "&rsquo;", "&eacute;"),
    *("&#39;", "&#x27;", "&#X41;", "&#8217;", "&#128512;", "&#150;", "&#0;", "&#10;", "&#x;"),
    *("&#xD800;", "&#65533;", "&#65534;", "&#64976;", "&#x110000;", "&#65", "&quot;", "&notit;"),
    *("&#99999999999999999999;", "&hellip;", "&copy;", "&reg", "&apos;", "x", " ", "\t"),
]
rows = st.lists(st.integers(0, 1), max_size=12)


def score(bits: list[int], i: int, j: int) -> int:
    """What the content from token i to token j is worth, both included (Naumann 2011)."""
    return sum(bits[:i]) + sum(1 - bit for bit in bits[i : j + 1]) + sum(bits[j + 1 :])


def test_the_score_is_that_of_the_seed() -> None:
    """Tags before i, words from i to j, tags after j."""
    row = [1, 1, 0, 0, 1, 0, 1, 1]
    assert score(row, 2, 5) == 2 + 3 + 2
    assert score(row, 0, 7) == 3
    assert score(row, 2, 3) == 2 + 2 + 3


@given(rows)
@example([1, 0, 1, 0])
def test_no_span_is_better_than_the_one_that_is_found(bits: list[int]) -> None:
    """The referee tries all pairs of i and j by the formula of Naumann 2011."""
    spans = [(i, j) for i in range(len(bits)) for j in range(i, len(bits))]
    runs = best_runs([-1 if bit else 1 for bit in bits])
    if 0 not in bits:
        assert runs is None
        return
    assert runs is not None
    found = (runs[0], runs[1] - 1)
    best = max(score(bits, i, j) for i, j in spans)
    assert score(bits, *found) == best
    alike = [span for span in spans if score(bits, *span) == best]
    assert found == min(alike, key=lambda span: (span[0] - span[1], span[0]))


@given(st.lists(st.integers(-5, 5), max_size=10))
def test_no_row_has_a_greater_sum(weights: list[int]) -> None:
    start, end = best_row(weights)
    sums = [sum(weights[i:j]) for i in range(len(weights)) for j in range(i, len(weights) + 1)]
    assert sum(weights[start:end]) == max(sums, default=0)


@needs_it
@settings(max_examples=examples(1000))
@given(soups)
def test_compiled_or_not_a_page_reads_the_same(markup: str) -> None:
    assert _read_compiled(markup) == layout_of(row_in_python(markup))


@needs_it
@given(st.text())
def test_compiled_or_not_any_text_reads_the_same(text: str) -> None:
    plain = layout_of(row_in_python(text))
    assert _read_compiled(text) in (plain, None)
    assert layout(text) == plain


@given(soups)
@example("x</titl")
@example("<svg><title>x</title><script>y</script><style/></svg><p/>")
def test_compiled_or_not_the_row_of_tags_is_the_same(markup: str) -> None:
    assert list(tag_row(markup)) == list(row_in_python(markup))


def test_ci_has_the_compiled_reader() -> None:
    """Where the tests must be whole, both readers are tried."""
    assert compiled is not None or os.environ.get("CI") != "true"


@settings(deadline=None)
@given(soups)
@example("--><script></script>-->")
def test_nothing_is_raised_and_content_is_text_of_the_page(markup: str) -> None:
    for method in ("fast", "tags"):
        page = read_html(markup, "https://example.org/", method)
        # The tags method may end inside a word that a script stands in the middle of.
        condensed = "".join(page.text.split())
        assert all(word in condensed for word in page.main.split())
        assert len(set(page.links)) == len(page.links)
        assert "\0" not in page.text


@given(soups)
def test_the_fast_content_is_blocks_of_the_page_in_order(markup: str) -> None:
    blocks = layout(markup).blocks
    rest = iter(blocks)
    assert all(any(block is other for other in rest) for block in fast_content(blocks))


@given(st.lists(st.sampled_from(REFERENCES), max_size=8).map("".join))
def test_references_are_those_of_the_standard_library(text: str) -> None:
    """The compiled reader resolves the common ones itself, and knows which they are."""
    assert joined(layout(f"<p>{text}</p>").blocks) == " ".join(unescape(text).split())


@given(soups)
def test_reading_in_python_finds_the_same_content(markup: str) -> None:
    found = read_html(markup, None, "fast")
    with mock.patch("asof.text.html.blocks.compiled", None):
        assert read_html(markup, None, "fast") == found


# Markup that says the same to any parser, and has no text outside of blocks.
SOUND = [
    "<p>one two</p>",
    "<div>three</div>",
    "<ul><li>four</li><li>five</li></ul>",
    "<h2>six</h2>",
]
SOUND += ["<div><p>sev<b>en</b></p><p>eight<br>nine</p></div>", "<p>t&eacute;n &amp; more</p>"]
SOUND += ["<table><tr><td>a</td><td>b</td></tr></table>", "<script>no</script>", "<!-- no -->"]


@given(st.lists(st.sampled_from(SOUND), max_size=12).map("".join))
def test_the_words_are_those_of_a_browsers_tree(markup: str) -> None:
    tree = LexborHTMLParser(f"<html><body>{markup}</body></html>")
    for element in tree.css("script"):
        element.decompose()
    seen = tree.body.text(separator=" ").split() if tree.body else []
    assert "".join(joined(layout(markup).blocks).split()) == "".join(seen)


@given(soups)
def test_the_content_by_tags_is_text_of_the_page(markup: str) -> None:
    words = set(joined(layout(markup).blocks).split())
    assert len(words) or not tag_content(tag_row(markup))
