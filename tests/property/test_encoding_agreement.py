"""For any page, links, text and replay take the same bytes for the same characters."""

from __future__ import annotations

from urllib.parse import unquote

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from webencodings import LABELS

from asof.crawl.discover import references
from asof.replay.links import ReplayPlace
from asof.replay.rewrite import RewriteKind, rewrite
from asof.text.encoding.charset import charset_of, decoded
from asof.text.encoding.decoders import decode_as
from asof.text.encoding.detection import is_wide, may_be_wide
from asof.text.encoding.labels import CODECS
from asof.text.read import read
from support.laws import examples

PIECES = [
    *(b"<meta charset=koi8-r>", b"<meta charset='utf-16'>", b"<meta charset=x-user-defined>"),
    *(b'<meta http-equiv=content-type content="text/html; charset=big5">', b"<title>t</title>"),
    *(b"<!-- <meta charset=gbk> -->", b"<!--", b"-->", b'<p title="', b'">', b"<script>"),
    *(b"</script>", b"<style>", b"</style>", b" " * 1200, b"<body>", b"<p>", b"\n", b"caf\xe9 "),
    *("Рано утром старый рыбак ".encode("koi8-r"), "漁師は小さな舟で".encode("euc-jp")),
    *("über Straßen ".encode(), "舟で".encode("iso2022_jp"), b"~{", b"~}", b"\x1b", b"\0", b"\xff"),
]
STARTS = [
    *(
        b"",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b'<?xml version="1.0" encoding="koi8-r"?>',
        b"<!doctype html>",
    ),
]
DECLARED = ["", *("; charset=" + label for label in ("utf-8", "iso-8859-1", "koi8-r", "utf-16"))]
WORDS = [word.encode(codec) for word, codec in (("рыбак", "koi8-r"), ("舟", "gbk"), ("é", "utf-8"))]

pages = st.builds(
    lambda start, head, word: start + b"".join(head) + b'<a href="/here-%s">%s</a>' % (word, word),
    st.sampled_from(STARTS),
    st.lists(st.sampled_from(PIECES), max_size=8),
    st.sampled_from(WORDS),
)
declared = st.sampled_from(DECLARED) | st.sampled_from(sorted(LABELS)).map("; charset={}".format)


@given(pages, declared)
@example(b"<p>" + WORDS[0] + b'<a href="/here-\xd2">', "; charset=iso-8859-1")
@settings(max_examples=examples(300), deadline=None)
def test_links_text_and_replay_name_one_encoding(data: bytes, parameter: str) -> None:
    content_type = "text/html" + parameter
    charset = read(data, content_type).charset
    assume(charset is not None)
    text = decoded(data, charset_of(data, content_type))
    assert charset == charset_of(data, content_type).name
    found = references("text/html", data, headers=(("Content-Type", content_type),)).found
    seen = {link.reference for link in found if link.reference.startswith("/here-")}
    led: list[str] = []

    def leads(url: str) -> str:
        led.append(url)
        return "/x"

    rewrite(data, RewriteKind.HTML, content_type, ReplayPlace("http://a.test/", leads))
    shown = {unquote(url).removeprefix("http://a.test") for url in led}
    assert seen <= shown
    assert all(reference in text for reference in seen)


@given(pages | st.binary(max_size=200).map(b"<p>".__add__), declared)
@settings(max_examples=examples(300), deadline=None)
def test_what_seems_narrow_is_in_no_wide_encoding(data: bytes, parameter: str) -> None:
    """Links look for the encoding only where a reference is not ASCII: never too late."""
    if not may_be_wide(data):
        assert not is_wide(charset_of(data, "text/html" + parameter).codec)


@given(st.sampled_from(sorted(set(CODECS) - {"utf-16le", "utf-16be"})), st.binary(max_size=40))
@settings(max_examples=examples(200), deadline=None)
def test_pieces_of_a_text_are_read_as_the_whole(name: str, data: bytes) -> None:
    from asof.text.encoding import decoders

    whole = decode_as(data, name)
    most, decoders._PIECE = decoders._PIECE, 2
    try:
        assert decode_as(data, name) == whole
    finally:
        decoders._PIECE = most
