"""Laws of finding links in HTML, with a browser-grade parser (lexbor) as the referee."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from asof.model import Hop
from asof.testing import SiteSpec, SyntheticSite
from asof.text.links.css import css_links
from asof.text.links.elements import element_links
from asof.text.links.html_links import html_links
from asof.text.links.link import bare
from support.laws import examples

# Markup of which a tree keeps every element, so that both sides must find exactly the same.
KEPT = (
    """
<a href=x>|<a href="y">|<a href='z?a&amp;b'>|<img src=i|>|<|"|'|=|/|<!--|-->|--!>|<!-->|<script>
</script>|<style>|</style>|<textarea>|</textarea>|<div>|<p|<![CDATA[|]]>|<?|<!doctype html>|</
<b href = w >|&amp;|é|<noscript>|<iframe>|</iframe>|<xmp>|</xmp>|href|<a/href=k/>|<A HREF=">">
<style/>|<a ="b" href=m>|<a b="c"href=n>|<path/>|<script/>|<a href="http://o/p">
<img src="//o/q">|<a href=javascript:x>|<a class="c" href="p" id="d">|<p class="c">|</p>
<a href="r" HREF="s">|<img srcset="t 1x, u 2x">|<link rel=icon href=v>|<a x='" href="y2'
<use xlink:href="w2"/>|<div style="a:url(w3)">|<i data-src="/w4">|<a href="&#47;w5">|<!x
<a data-href="w/6">|<embed src=w7>|</x y=">">|</x y="|<a href="é?é">|<p title='">'>
<object data=w8>|<video poster=w9 src="w10">|<source src=w11>|<script src=w12>|<li a=b c>
<a\thref="w13"\n>|<a href="w14" / >|<a href="w15"/>|<a href = "w16">|<b src="w20">
<a href="w17" style="url(w18)">|<x-y src="w19" href=w21>|<div background=w22>
""".strip()
    .replace("\n", "|")
    .replace("\\t", "\t")
    .replace("\\n", "\n")
    .split("|")
)
HTML_ONLY = ["</a", "</div>", "</noscript>", "<title>", "</title>"]
DRAWINGS = [
    *("<svg>", "</svg>", '<svg w="1">', "<svg/>", "<g", "</g>", '<path d="M0 0"/></svg>'),
    *('<svg w="1"><path d="M0"/></svg>', '<svg><circle fill="url(d1)"/>', "<image href=d2>"),
    *('<path d="x" xlink:href="d3"/>', "<stop href='d4'></stop>", '<svg><use href="d5">'),
]
# Markup where a tree leaves out what stands in it, or moves it: we find more than a browser.
LEFT_OUT = [
    *("<template>", "</template>", "<select>", "</select>", "<option>", "<button>", "<nobr>"),
    *("<noframes>", "</noframes>", "<noembed>", "</noembed>", "<frame src=f1>"),
    *("<table>", "<tr>", "<td background=b1>", "</table>", "<col>", "<caption>"),
    *("<head>", "</head>", "<body>", "<body background=b2>", "</body>", "</html>"),
    *("<form action=g1>", "</form>", "<base href=h1>", "<image href=w1>"),
]
BLANKS = [" ", "\n", "\t", "\0"]


def soup(pieces: list[str], most: int = 14) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from([*pieces, *BLANKS]), max_size=most).map("".join)


def seen_by_a_browser(markup: str) -> set[tuple[str, Hop]]:
    """What the elements of the tree refer to, by the same table of elements."""
    found = set()
    for node in LexborHTMLParser(markup.encode()).css("*"):
        attributes = {name: value or "" for name, value in node.attributes.items()}
        drawn = is_in_a_drawing(node)
        references = list(element_links(node.tag or "", attributes, drawn=drawn))
        if node.tag == "style":
            references += [(link.reference, link.hop) for link in css_links(node.text())]
        for reference, hop in references:
            if bare(reference):
                found.add((as_parsed(bare(reference)), hop))
    return found


def is_in_a_drawing(node: LexborNode | None) -> bool:
    while node is not None:
        if node.tag == "svg":
            return True
        node = node.parent
    return False


def as_parsed(reference: str) -> str:
    """Browsers normalise line ends before they look; the URL parser drops them anyway."""
    return reference.replace("\r\n", "\n").replace("\r", "\n")


def found_by_us(markup: str) -> set[tuple[str, Hop]]:
    links = html_links(markup)
    return {(as_parsed(link.reference), link.hop) for link in (*links.early, *links.found)}


@given(st.one_of(soup([*KEPT, *HTML_ONLY]), soup([*KEPT, *DRAWINGS])))
@settings(max_examples=examples(500))
@example("<svg><title>x</title><a href=v /></svg><title/><a href=w></title><a href=y>")
@example('<div title="<a href=\'x\'>"><a href="y">')
@example('<p title=\'"\'><a href="x">')
def test_exactly_the_links_that_a_browser_sees_are_found(markup: str) -> None:
    """Whatever the markup, tokens begin and end where they do in a browser."""
    assert found_by_us(markup) == seen_by_a_browser(markup)


@given(soup([*KEPT, *HTML_ONLY, *LEFT_OUT], most=20))
@settings(max_examples=examples(500))
def test_no_link_that_a_browser_sees_is_lost(markup: str) -> None:
    """Where a tree leaves elements out, more may be found; never less."""
    assert seen_by_a_browser(markup) <= found_by_us(markup)


@given(soup([*KEPT, *HTML_ONLY, *DRAWINGS, *LEFT_OUT], most=20), st.integers(0, 200))
@settings(max_examples=examples(500))
def test_compiled_or_not_the_same_is_found(markup: str, length: int) -> None:
    """The tokenizer in C, where there is one, is a twin of the one in Python; also when cut off."""
    for document in (markup.encode(), markup.encode()[:length]):
        with mock.patch("asof.text.links.html_links.compiled", None):
            plain = html_links(document, "utf-8")
        assert html_links(document, "utf-8") == plain


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_complaint(data: bytes) -> None:
    html_links(data)
    html_links(data, "utf-16")
    html_links(data, xml=True)


@pytest.fixture(scope="module")
def pages() -> list[str]:
    site = SyntheticSite(SiteSpec(seed=7, pages=40))
    start = site.spec.start
    return [site.respond("GET", path, (), start).body.decode() for path in site.paths(start)]


def test_whole_pages_are_read_as_a_browser_does(pages: list[str]) -> None:
    """The pages of the synthetic site: same links by tokens as by a tree."""
    assert len(pages) >= 40
    for page in pages:
        assert found_by_us(page) == seen_by_a_browser(page)
