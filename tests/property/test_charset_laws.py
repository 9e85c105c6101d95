"""Laws of encodings, media types and languages: for any bytes, and any word of what they are."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from webencodings import LABELS

from asof.text.encoding.charset import charset_of, decoded
from asof.text.encoding.decoders import decode_as
from asof.text.encoding.labels import CODECS, encoding_named
from asof.text.encoding.prescan import declared_label, prescan
from asof.text.kinds.media import media_of, sniffed
from asof.text.language import language_of
from support.laws import examples

EAST_ASIAN = ("big5", "euc-jp", "euc-kr", "gb18030", "gbk", "shift_jis")
SINGLE = sorted(
    {name for name in LABELS.values() if re.match(r"iso-8859|windows|koi8|mac|x-|ibm", name)}
)
# Python maps some of their characters otherwise.
ODD = {"big5", "euc-jp", "gbk", "gb18030", "iso-2022-jp", "koi8-u"}
MARKUP = [
    b"<meta ",
    b"charset=",
    b"http-equiv=content-type ",
    b"content=",
    b"'",
    b'"',
    b">",
    b"<!--",
]
MARKUP += [
    b"-->",
    b"<?xml ",
    b"encoding=",
    b"koi8-r",
    b"utf-16",
    b"<a ",
    b"</",
    b" ",
    b"/",
    b"=",
    b"\0",
]
MAGIC = [
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"%PDF-",
    b"RIFF",
    b"<?xml ",
]
MAGIC += [
    b"<rss",
    b"<html",
    b"From: ",
    b"{",
    b"\xff\xfe",
    b"\0\0\0\x18ftyp",
    b"\x1a\x45\xdf\xa3",
    b"BM",
]

headers = st.one_of(
    st.none(),
    st.text(max_size=40),
    st.sampled_from(sorted(LABELS)),
    st.just("text/html; charset=big5"),
)


@given(st.binary(max_size=400), headers, st.booleans())
@settings(deadline=None)  # the first example loads models
def test_any_bytes_are_some_text_whatever_is_said_of_them(
    data: bytes, declared: str | None, markup: bool
) -> None:
    found = charset_of(data, declared, markup=markup)
    assert isinstance(decoded(data, found), str)
    assert 0 <= found.confidence <= 1
    assert found.codec
    assert found.name


@given(st.lists(st.sampled_from(MARKUP) | st.binary(max_size=3), max_size=30))
@settings(deadline=None)  # the first example loads models
def test_the_prescan_names_an_encoding_of_the_standard_or_none(pieces: list[bytes]) -> None:
    found = prescan(b"".join(pieces))
    assert found is None or encoding_named(found) == found


@given(st.text(max_size=60))
@settings(deadline=None)  # the first example loads models
def test_a_content_type_gives_a_label_or_none(value: str) -> None:
    label = declared_label(value)
    assert label is None or label.strip() == label


@given(st.text(st.characters(min_codepoint=0x20, exclude_categories=("Cs", "Cc")), min_size=1))
@settings(deadline=None)  # the first example loads models
def test_what_is_utf_8_and_says_so_is_read_as_such(text: str) -> None:
    data = text.encode()
    assert decoded(data, charset_of(data, "utf-8")) == text.removeprefix("\ufeff")


@pytest.mark.parametrize("name", SINGLE)
@given(data=st.binary(max_size=60))
@settings(max_examples=examples(20), deadline=None)
def test_one_byte_is_one_character(name: str, data: bytes) -> None:
    text = decode_as(data, name)
    assert len(text) == len(data)
    assert all(c == chr(b) for c, b in zip(text, data, strict=True) if b < 0x80)


@pytest.mark.parametrize("name", EAST_ASIAN)
@given(data=st.data())
@settings(max_examples=examples(60), deadline=None)
def test_reading_at_once_is_reading_byte_by_byte(name: str, data: st.DataObject) -> None:
    """The way of the standard: a lead byte, a byte after it, and what goes back on an error."""
    lead_bytes = st.integers(0x80, 0xFF)
    byte = st.one_of(lead_bytes, st.integers(0x30, 0x39), st.integers(0, 0xFF))
    raw = bytes(data.draw(st.lists(byte, max_size=24)))
    assert decode_as(raw, name) == "".join(byte_by_byte(raw, name))


def byte_by_byte(data: bytes, name: str) -> list[str]:
    """The longest unit that means something, else an error that ends before a byte of ASCII."""
    text: list[str] = []
    at = 0
    while at < len(data):
        length, meaning = unit(data[at : at + 4], name)
        text.append(meaning)
        at += length
    return text


def unit(head: bytes, name: str) -> tuple[int, str]:
    alone = decode_as(head[:1], name)
    if head[0] < 0x80 or alone != "\ufffd":
        return 1, alone
    gb = name in ("gbk", "gb18030")
    if gb and len(head) > 1 and 0x30 <= head[1] <= 0x39 and 0x81 <= head[0] <= 0xFE:
        return four_bytes(head)
    leads = 0x81 <= head[0] <= 0xFE
    if name == "euc-jp":
        leads = head[0] in (0x8E, 0x8F) or 0xA1 <= head[0] <= 0xFE
        if head[0] == 0x8F and len(head) > 1 and 0xA1 <= head[1] <= 0xFE:
            if len(head) > 2 and head[2] < 0x80:
                return 2, "\ufffd"
            return min(3, len(head)), decode_as(head[:3], name)
    if name == "shift_jis":
        leads = 0x81 <= head[0] <= 0x9F or 0xE0 <= head[0] <= 0xFC
    if not leads or len(head) == 1:
        return 1, "\ufffd"
    pair = decode_as(head[:2], name)
    if pair.startswith("\ufffd"):
        return (1 if head[1] < 0x80 else 2), "\ufffd"
    return 2, pair


def four_bytes(head: bytes) -> tuple[int, str]:
    if len(head) < 3 or (len(head) == 3 and 0x81 <= head[2] <= 0xFE):
        return len(head), "\ufffd"
    whole = decode_as(head, "gb18030")
    return (4, whole) if len(whole) == 1 else (1, "\ufffd")


@pytest.mark.parametrize("name", [n for n in CODECS if not n.startswith("utf-16")])
@given(data=st.binary(max_size=30))
@settings(max_examples=examples(15), deadline=None)
def test_ascii_before_a_text_changes_nothing_in_it(name: str, data: bytes) -> None:
    assert decode_as(b"<p>say: " + data, name) == "<p>say: " + decode_as(data, name)


@pytest.mark.parametrize("name", sorted(set(CODECS) - ODD))
@given(text=st.text(st.characters(exclude_categories=("Cs", "Cc", "Co")), max_size=20))
@settings(max_examples=examples(25), deadline=None)
def test_what_python_can_write_is_read_as_python_reads_it(name: str, text: str) -> None:
    data = text.encode(CODECS[name], "ignore")
    ours, theirs = decode_as(data, name), data.decode(CODECS[name], "replace")
    assert ours == theirs


@given(st.sampled_from(MAGIC), st.binary(max_size=300), headers, st.none() | st.text(max_size=20))
@settings(deadline=None)  # the first example loads models
def test_any_bytes_have_a_media_type(
    magic: bytes, rest: bytes, declared: str | None, name: str | None
) -> None:
    for data in (rest, magic + rest):
        found = media_of(data, declared, name)
        assert re.fullmatch(r"[^\s/;]+/[^\s/;]+", found)
        assert (sniffed(data) is None) == (not data)


@given(
    st.binary(max_size=300), st.sampled_from(["application/octet-stream", "*/*", "unknown/unknown"])
)
@settings(deadline=None)  # the first example loads models
def test_to_say_octets_is_to_say_nothing(data: bytes, declared: str) -> None:
    assert media_of(data, declared) == media_of(data)


@given(st.text(max_size=200), st.none() | st.text(max_size=12))
@settings(deadline=None)  # the first example loads models
def test_any_text_has_a_language_or_none(text: str, declared: str | None) -> None:
    found = language_of(text, declared)
    assert found is None or re.fullmatch("[a-z]{2,3}", found)
