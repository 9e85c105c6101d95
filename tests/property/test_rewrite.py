"""Laws of rewriting, with a browser-grade parser as the referee for what a reference is."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from asof.replay.links import ReplayPlace
from asof.replay.rewrite import rewrite_css
from asof.replay.rewrite_html import rewrite_html
from asof.text.encoding.charset import charset_of, decoded
from asof.text.encoding.detection import is_wide
from asof.text.encoding.labels import CODECS
from asof.text.links.attribute_values import replaced, srcset
from asof.text.markup import unescape

PIECES = (
    """
<a href=x>|<a href="y">|<a href='z?a&amp;b'>|<img src=i|>|<|"|'|=|/|<!--|-->|--!>|<!-->|<script>
</script>|<style>|</style>|a{b:url(q)}|<title>|</title>|<textarea>|</textarea>|<svg>|</svg>|<math>
</math>|<title/>|<div>|</div>|<p|<![CDATA[|]]>|<?|<!doctype html>|</|<b href = w >|&amp;|é
<noscript>|</noscript>|<iframe>|</iframe>|<xmp>|</xmp>|<table>|<select>|<template>|</template>|href
<a/href=k/>|<A HREF=">">|<style/>|<a ="b" href=m>|</a|<a b="c"href=n>|<foreignObject>|<desc>
</foreignObject>|<path/>|<script/>|<body>|<head>|<a href="http://o/p">|<img src="//o/q">
<a href=javascript:x>
""".strip()
    .replace("\n", "|")
    .split("|")
)
SOUP = st.lists(st.sampled_from([*PIECES, " ", "\n", "\t", "\0"]), max_size=14).map("".join)
CSS_PIECES = [
    "url(",
    ")",
    "x.png",
    '"',
    "'",
    "/*",
    "*/",
    "@import",
    "\\",
    ";",
    "{",
    "}",
    "a:b",
    "image-set(",
    "@namespace",
    "\\75",
    "é",
    "#f",
    "data:",
    "http://o/",
    "type(",
    ",",
]
STYLES = st.lists(st.sampled_from([*CSS_PIECES, " ", "\n", "\0"]), max_size=20).map("".join)


def place() -> ReplayPlace:
    return ReplayPlace("http://h/d/p.html", lambda url: f"/T/{url}")


def references(document: bytes) -> list[tuple[str | None, str, str]]:
    """Element, attribute and value of all references that a browser would see."""
    tree = LexborHTMLParser(document)
    return [
        (node.tag, name, value)
        for node in tree.css("[href],[src]")
        for name in ("href", "src")
        if (value := node.attributes.get(name)) is not None
    ]


@given(SOUP)
def test_a_browser_sees_the_same_document_with_other_references(soup: str) -> None:
    """Whatever the markup: exactly the references that a parser finds are replaced."""
    here = place()
    out = rewrite_html(soup.encode(), "utf-8", here)[0]
    expected = [(t, n, here.refer(v) or v) for t, n, v in references(soup.encode())]
    assert references(out) == expected


@given(SOUP)
def test_no_reference_to_the_live_web_is_left(soup: str) -> None:
    out = rewrite_html(soup.encode(), "utf-8", place())[0]
    assert not [v for _, _, v in references(out) if re.match(r"(?:https?:)?//", v.strip())]


@given(SOUP, st.sampled_from(["utf-8", "windows-1252", "shift_jis", None]))
def test_text_stays_as_it_was(soup: str, charset: str | None) -> None:
    data = soup.replace("url(q)", "").encode()
    out = rewrite_html(data, charset, place())[0]
    assert LexborHTMLParser(out).text() == LexborHTMLParser(data).text()


@given(st.binary(max_size=300), st.sampled_from([None, "utf-8", "gbk", "utf-16", "x-unknown"]))
def test_any_bytes_can_be_rewritten(data: bytes, charset: str | None) -> None:
    rewrite_html(data, charset, place(), below=True)
    rewrite_html(data, charset, place(), xml=True)
    rewrite_css(data, charset, place())


@given(st.binary(max_size=200))
@example(b"\xe1\xd6")
def test_a_document_without_markup_stays_as_it_was(data: bytes) -> None:
    """Byte by byte; as UTF-8 where it is in what no browser reads, or has no ASCII in its place."""
    plain = data.replace(b"<", b"")
    charset = charset_of(plain, "utf-8")
    out, name = rewrite_html(plain, "utf-8", place())
    if name == charset.name:
        assert out == plain
    else:
        assert charset.name not in CODECS or is_wide(charset.codec)
        assert out == decoded(plain, charset).encode("utf-8", "replace")


@given(STYLES)
def test_a_sheet_differs_only_by_its_references(style: str) -> None:
    """Every stretch between two replaced references is a stretch of the original, in order."""
    style = style.replace("#f", "")
    marked = ReplayPlace("http://h/d/s.css", lambda url: "/T/")
    out = rewrite_css(style.encode(), "utf-8", marked)[0].decode()
    position = 0
    for stretch in out.split("/T/"):
        found = style.find(stretch, position)
        assert found >= 0, (stretch, style)
        position = found + len(stretch)


@given(STYLES)
def test_a_sheet_is_read_the_same_in_pieces_of_html(style: str) -> None:
    """A style element holds what a style sheet holds."""
    if "</" in style or "\0" in style:
        return
    alone = rewrite_css(style.encode(), "utf-8", place())[0]
    inside = rewrite_html(b"<style>" + style.encode() + b"</style>", "utf-8", place())[0]
    assert inside == b"<style>" + alone + b"</style>"


@given(st.text("ab,( )\t", max_size=30))
def test_srcset_keeps_everything_but_urls(value: str) -> None:
    assert replaced(value, srcset(value), lambda url: None) == value
    assert replaced(value, srcset(value), lambda url: url) == value
    assert replaced(value, srcset(value), lambda url: f"{url}!").replace("!", "") == value


@given(st.text("&;#x0123456789abcltgtampcopy=<>\"'", max_size=30))
def test_character_references_are_read_as_a_parser_reads_them(value: str) -> None:
    if '"' in value:
        return
    tree = LexborHTMLParser(f'<a title="{value}">'.encode())
    node = tree.css_first("a")
    assert node is not None
    assert unescape(value) == node.attributes["title"]


@given(st.text(max_size=20))
def test_any_label_is_a_codec_or_nothing(label: str) -> None:
    assert isinstance(b"".decode(charset_of(b"", label).codec), str)
