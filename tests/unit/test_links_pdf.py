"""Links in PDF documents: found without a parser, and without end to what one could be asked."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.text.links.pdf_links import MAX_LINKS, MAX_STREAM, pdf_links


def found(document: bytes) -> list[str]:
    assert all(link.hop.value == "L" for link in pdf_links(document))
    return [link.reference for link in pdf_links(document)]


def action(uri: bytes) -> bytes:
    return b"1 0 obj <</Type/Annot/A<</S/URI/URI" + uri + b">>>> endobj\n"


def packed(content: bytes, filters: bytes = b"/FlateDecode", kind: bytes = b"/ObjStm") -> bytes:
    data = zlib.compress(content)
    head = b"5 0 obj <</Type%b/Filter%b/Length %d>>\nstream\r\n" % (kind, filters, len(data))
    return b"%PDF-1.7\n" + head + data + b"\nendstream endobj\n"


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        (b"(http://h/a)", "http://h/a"),
        (b" \r\n (http://h/a)", "http://h/a"),
        (b"(http://h/a\\(b\\)c)", "http://h/a(b)c"),
        (b"(http://h/a(b(c))d)", "http://h/a(b(c))d"),
        (b"(http://h/\\141\\2\\\n61)", None),
        (b"(http://h/\\141b)", "http://h/ab"),
        (b"(http://h/a\\\r\nb)", "http://h/ab"),
        (b"<687474703A2F2F682F61>", "http://h/a"),
        (b"<68 74 74 70 3a 2f\n2f682F6>", "http://h/`"),
        (b"(\xfe\xff" + "http://h/é".encode("utf-16-be") + b")", "http://h/é"),
        (b"<FEFF" + "http://h/é".encode("utf-16-be").hex().encode() + b">", "http://h/é"),
        ("(http://h/é)".encode(), "http://h/é"),
        ("(http://h/é)".encode("latin-1"), "http://h/é"),
        (b"(mailto:a@b)", None),
        (b"(relative.html)", None),
        (b"(http://h/a b)", None),
        (b"(http://h/never closed", None),
        (b"(" + b"(" * 100_000, None),
        (b"(http://h/" + b"a" * 10_000 + b")", None),
        (b" 7 0 R", None),
        (b"(\x8f\x12\xff\x00 encrypted)", None),
    ],
)
def test_strings_in_every_form(uri: bytes, expected: str | None) -> None:
    """Literal and hexadecimal strings, escapes, and the encodings that writers use."""
    assert found(action(uri)) == ([] if expected is None else [expected])


def test_object_streams_are_unpacked() -> None:
    inner = b"".join(b"<</S/URI/URI(http://h/%d)>>" % n for n in range(3))
    assert found(packed(inner)) == ["http://h/0", "http://h/1", "http://h/2"]
    assert found(packed(inner, b"[/FlateDecode]")) == ["http://h/0", "http://h/1", "http://h/2"]
    assert found(packed(inner) + packed(b"/URI(http://h/9)"))[-1] == "http://h/9"


def test_other_streams_are_left_alone() -> None:
    """Pages and pictures hold no annotations; they are most of a file."""
    assert found(packed(b"/URI(http://h/a)", kind=b"/XObject")) == []
    assert found(packed(b"/URI(http://h/a)", b"/LZWDecode")) == []


def test_a_broken_stream_gives_what_comes_before_the_break() -> None:
    whole = packed(b"/URI(http://h/a)" + bytes(range(256)) * 2000)
    cut = whole[: len(whole) - 200] + b"\xff" * 100
    assert found(cut) == ["http://h/a"]
    assert found(whole.replace(b"endstream", b"")) == ["http://h/a"]


def test_bombs_are_cut() -> None:
    """A stream may unpack to a gigabyte; not here."""
    bomb = packed(b"/URI(http://h/a)" + bytes(MAX_STREAM * 4) + b"/URI(http://h/far)")
    assert found(bomb * 40) == ["http://h/a"]


def test_each_link_once_and_no_more_than_so_many() -> None:
    assert found(action(b"(http://h/a)") * 5) == ["http://h/a"]
    flood = b"".join(b"/URI(http://h/%d)" % n for n in range(MAX_LINKS + 50))
    assert len(found(flood)) == MAX_LINKS


PARTS = [
    *(b"/URI", b"(", b")", b"<", b">", b"\\", b"\\1", b"48", b"http://h/", b" ", b"\n", b"obj"),
    *(b"/ObjStm", b"/FlateDecode", b"stream\n", b"endstream", b"\xfe\xff", zlib.compress(b"x")),
]


@given(st.lists(st.one_of(st.sampled_from(PARTS), st.binary(max_size=4)), max_size=30))
def test_any_bytes_are_read_without_complaint(parts: list[bytes]) -> None:
    found(b"".join(parts))
