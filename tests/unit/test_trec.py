"""TREC-Web (Naumann 2011, slide 69) in and out, and the law that what is written can be read."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asof.clock import SECOND, parse_iso
from asof.errors import StorageError, UsageError
from asof.model import Damage
from asof.warc.foreign.trec import TrecDocument, read_trec, write_trec
from asof.warc.record import Record
from support.foreign_records import block, damage, field

SLIDE_69 = b"""\
<DOC>
<DOCNO>WTX001-B01-10</DOCNO>
<DOCHDR>
http://www.example.com/test.html 204.244.59.33 19970101013145 text/html 440
HTTP/1.0 200 OK
Date: Wed, 01 Jan 1997 01:21:13 GMT
Server: Apache/1.0.3
Content-type: text/html
Content-length: 270
Last-modified: Mon, 25 Nov 1996 05:31:24 GMT
</DOCHDR>
<HTML>
<TITLE>Tropical Fish Store</TITLE>
Coming soon!
</HTML>
</DOC>
<DOC>
<DOCNO>WTX001-B01-109</DOCNO>
<DOCHDR>
http://www.example.com/fish.html 204.244.59.33 19970101013149 text/html 440
HTTP/1.0 200 OK
Date: Wed, 01 Jan 1997 01:21:19 GMT
Server: Apache/1.0.3
Content-type: text/html
Content-length: 270
Last-modified: Mon, 25 Nov 1996 05:31:24 GMT
</DOCHDR>
<HTML>
<TITLE>Fish Information</TITLE>
This page will soon contain interesting
information about tropical fish.
</HTML>
</DOC>
"""

# What other readers do: split at the tags, knowing nothing of ours.
NAIVE = re.compile(rb"<DOC>\n<DOCNO>(.*?)</DOCNO>\n<DOCHDR>\n(.*?)</DOCHDR>\n(.*?)</DOC>\n", re.S)


def doc(number: int, content: bytes = b"<p>fish</p>\n", *, line: bytes | None = None) -> bytes:
    first = b"http://a/%d 192.0.2.7 19970101013145 text/html 99" % number if line is None else line
    return (
        b"<DOC>\n<DOCNO>D-%d</DOCNO>\n<DOCHDR>\n%b\nHTTP/1.0 200 OK\nDate: Wed, 01 Jan 1997 "
        b"01:21:13 GMT\nContent-Type: text/html\n</DOCHDR>\n%b</DOC>\n" % (number, first, content)
    )


def found(path: Path, data: bytes = b"") -> list[Record | Damage]:
    if data:
        path.write_bytes(data)
    return list(read_trec(path, path.parent))


def records(items: list[Record | Damage]) -> list[Record]:
    kept = [item for item in items if isinstance(item, Record)]
    return [record for record in kept if field(record, "WARC-Asof-Anomalies") is None]


def urls(items: list[Record | Damage]) -> list[str | None]:
    return [field(record, "WARC-Target-URI") for record in records(items)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "fish.trec"


# -- reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_slide_69(path: Path, pack: Callable[..., Any] | type[bytes]) -> None:
    first, second = found(path, pack(SLIDE_69))
    assert field(first, "WARC-Type") == "response"
    assert field(first, "WARC-Target-URI") == "http://www.example.com/test.html"
    assert field(first, "WARC-IP-Address") == "204.244.59.33"
    assert field(first, "WARC-Date") == "1997-01-01T01:31:45Z"
    assert field(first, "WARC-TREC-ID") == "WTX001-B01-10"
    head, blank, content = block(first).partition(b"\n\n")
    assert head.startswith(b"HTTP/1.0 200 OK\nDate: Wed, 01 Jan 1997 01:21:13 GMT\n")
    assert head.endswith(b"05:31:24 GMT")
    assert blank
    assert content == b"<HTML>\n<TITLE>Tropical Fish Store</TITLE>\nComing soon!\n</HTML>"
    assert field(second, "WARC-TREC-ID") == "WTX001-B01-109"
    assert block(second).endswith(b"information about tropical fish.\n</HTML>")


def test_tags_in_any_case_and_lines_with_cr(path: Path) -> None:
    data = doc(1).lower().replace(b"http/1.0 200 ok", b"HTTP/1.0 200 OK").replace(b"\n", b"\r\n")
    (record,) = found(path, data + b"\r\n")
    assert field(record, "WARC-TREC-ID") == "d-1"
    assert block(record).endswith(b"content-type: text/html\r\n\r\n<p>fish</p>")


def test_tags_with_spaces_and_content_on_the_line_of_the_tag(path: Path) -> None:
    data = b"<DOC ><DOCNO> D-1 </DOCNO> <DOCHDR>http://a/ 1.2.3.4 19970101013145 text/html 1\n"
    (record,) = found(path, data + b"HTTP/1.0 200 OK</DOCHDR >text</DOC >")
    assert field(record, "WARC-TREC-ID") == "D-1"
    assert block(record) == b"HTTP/1.0 200 OK\n\ntext"


def test_a_header_line_of_a_url_alone_takes_the_date_of_the_head(path: Path) -> None:
    """As in the GOV2 collection."""
    (record,) = found(path, doc(1, line=b"http://www.example.gov/a"))
    assert field(record, "WARC-Target-URI") == "http://www.example.gov/a"
    assert field(record, "WARC-Date") == "1997-01-01T01:21:13Z"
    assert field(record, "WARC-IP-Address") is None


def test_a_document_without_dochdr_is_a_resource_named_by_its_docno(path: Path) -> None:
    data = b"<DOC>\n<DOCNO> AP880212-0001 </DOCNO>\n<TEXT>\nnews\n</TEXT>\n</DOC>\n"
    path.write_bytes(data)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    (record,) = found(path)
    assert field(record, "WARC-Type") == "resource"
    assert field(record, "WARC-Target-URI") == "urn:trec:AP880212-0001"
    assert field(record, "WARC-Date") == "2001-09-09T01:46:40Z"
    assert block(record) == b"<TEXT>\nnews\n</TEXT>"
    os.utime(path, (1_100_000_000, 1_100_000_000))
    (later,) = found(path)
    assert field(later, "WARC-Date") == "2004-11-09T11:33:20Z"
    assert field(later, "WARC-Record-ID") == field(record, "WARC-Record-ID")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (doc(2).replace(b"</DOC>\n", b""), "another begins inside"),
        (doc(2).replace(b"<DOCHDR>\n", b""), "not opened"),
        (doc(2).replace(b"</DOCHDR>\n", b""), "not closed"),
        (doc(2, line=b"http://a/2 1.2.3.4 yesterday text/html 99"), "no valid date"),
        (doc(2, line=b"http://a/2 1.2.3.4 19979999013145 text/html 99"), "no valid date"),
        (doc(2, line=b"1.2.3.4 19970101013145 text/html 99"), "no URL"),
        (b"<DOC>\nno number, no header\n</DOC>\n", "neither"),
        (b"\xff\x00 junk outside of any document\n", "no document begins here"),
    ],
)
def test_what_is_wrong_costs_only_its_own_document(path: Path, bad: bytes, reason: str) -> None:
    items = found(path, doc(1) + bad + doc(3) + doc(4))
    assert urls(items) == ["http://a/1", "http://a/3", "http://a/4"]
    (lost,) = damage(items)
    assert reason in lost.reason
    assert lost.offset == len(doc(1))
    assert len(bad) - 1 <= lost.length <= len(bad)


def test_the_first_end_tag_ends_the_document_and_the_rest_is_reported(path: Path) -> None:
    items = found(path, doc(1, b"about </DOC> tags\n") + doc(2))
    assert urls(items) == ["http://a/1", "http://a/2"]
    assert block(records(items)[0]).endswith(b"\n\nabout ")
    (lost,) = damage(items)
    assert lost.offset == doc(1, b"about </DOC> tags\n").index(b"tags")


def test_cut_anywhere_the_whole_documents_come(path: Path) -> None:
    data = doc(1) + doc(2)
    whole = records(found(path, data))
    for cut in range(len(doc(1)) + 1, len(data) - 1):
        items = found(path, data[:cut])
        assert records(items) == whole[:1]
        assert [lost.offset for lost in damage(items)] == [len(doc(1))]


def test_a_damaged_gzip_member_costs_its_documents_only(path: Path) -> None:
    packed = [bytearray(gzip.compress(doc(number))) for number in range(4)]
    packed[1][-3] ^= 0xFF
    packed[1][40] ^= 0xFF
    items = found(path, b"".join(packed))
    assert [url for url in urls(items) if url != "http://a/1"] == [
        "http://a/0", "http://a/2", "http://a/3"
    ]  # fmt: skip
    assert {lost.offset for lost in damage(items)} == {len(packed[0])}


def test_large_content_goes_to_a_file(path: Path, tmp_path: Path) -> None:
    content = b"<p>fish</p>\n" * 300_000
    spool = tmp_path / "spool"
    spool.mkdir()
    path.write_bytes(doc(1, content) + doc(2))
    large, small = read_trec(path, spool)
    assert [part.spool is not None for part in large.block] == [False, True]
    assert block(large).endswith(b"\n\n" + content[:-1])
    assert all(part.spool is None for part in small.block)


# -- writing --------------------------------------------------------------------------------------

AT = 852_082_305 * SECOND
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def document(**changes: Any) -> TrecDocument:
    values: dict[str, object] = {
        "docno": "D-1", "url": "http://a/1", "ip": "192.0.2.7", "at": AT,
        "media_type": "text/html", "head": HEAD, "payload": b"<p>fish</p>\n",
    }  # fmt: skip
    return TrecDocument(**{**values, **changes})


def read_back(record: Record | Damage) -> TrecDocument:
    """The document that a record holds, as far as a record keeps it."""
    assert isinstance(record, Record)
    head = record.block[0].data if field(record, "WARC-Type") == "response" else b""
    kind = field(record, "Content-Type") or ""
    at = parse_iso(field(record, "WARC-Date") or "")
    assert at is not None
    return TrecDocument(
        docno=field(record, "WARC-TREC-ID") or "",
        url=field(record, "WARC-Target-URI") or "",
        ip=field(record, "WARC-IP-Address") or "",
        at=at,
        media_type="text/html" if head else kind,
        head=head,
        payload=block(record)[len(head) :],
    )


def test_what_is_written_looks_like_slide_69(path: Path) -> None:
    assert write_trec(path, [document()]) == 1
    assert path.read_bytes() == (
        b"<DOC>\n<DOCNO>D-1</DOCNO>\n<DOCHDR>\n"
        b"http://a/1 192.0.2.7 19970101013145 text/html 56\n"
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n</DOCHDR>\n<p>fish</p>\n\n</DOC>\n"
    )


NASTY = [
    b"</DOC>\n<DOC>\n<DOCNO>evil</DOCNO>\n<DOCHDR>\nhttp://evil/ x\n</DOCHDR>\nx</DOC>",
    b"</doc>", b"<\\/DOC>", b"<\\\\/DOC></DOC>", b"<<\\</DOC ><", b"</DO", b"<", b"\n", b"\r", b"",
]  # fmt: skip


@pytest.mark.parametrize("nasty", NASTY)
def test_content_can_neither_end_its_document_nor_open_another(path: Path, nasty: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nX-Evil: " + nasty.replace(b"\n", b" ").strip() + b"\r\n\r\n"
    wanted = [
        document(payload=nasty), document(docno="D-2", head=head, payload=nasty * 3),
        document(docno="D-3"),
    ]  # fmt: skip
    write_trec(path, wanted)
    assert [match[1] for match in NAIVE.finditer(path.read_bytes())] == [b"D-1", b"D-2", b"D-3"]
    items = found(path)
    assert not damage(items)
    assert [read_back(record) for record in records(items)] == wanted


def test_a_page_that_claims_to_be_stuffed_is_not_believed(path: Path) -> None:
    head = b"HTTP/1.1 200 OK\nX-Asof-Stuffed: yes\n\n"
    wanted = [document(head=head, payload=b"<\\b>"), document(head=HEAD, payload=b"<\\/b>")]
    write_trec(path, wanted)
    assert [read_back(record) for record in records(found(path))] == wanted


def test_large_stuffed_content_is_unstuffed_on_the_way(path: Path) -> None:
    wanted = document(payload=b"<\\x></DOC>" * 200_000 + b"<")
    write_trec(path, [wanted])
    (record,) = found(path)
    assert read_back(record) == wanted
    record.block[1].discard()


def test_what_the_format_cannot_hold_is_made_to_fit(path: Path) -> None:
    odd = document(
        docno="a b<c>\xfc", url="http://a/</DOCHDR>\n\xfc x", ip="", media_type="junk", at=AT + 5
    )
    write_trec(path, [odd])
    (record,) = found(path)
    back = read_back(record)
    assert back.docno == "a_b_c__"
    assert back.url == "http://a/%3C/DOCHDR%3E%0A\xfc%20x"
    assert (back.ip, back.at, back.payload) == ("", AT, odd.payload)
    assert b" 0.0.0.0 19970101013145 application/octet-stream " in path.read_bytes()


def test_a_gz_name_gives_gzip_and_the_same_bytes_every_time(tmp_path: Path) -> None:
    for name in ("a.trec.gz", "b.trec.gz"):
        write_trec(tmp_path / name, [document()])
    first, second = ((tmp_path / name).read_bytes() for name in ("a.trec.gz", "b.trec.gz"))
    assert first == second
    assert gzip.decompress(first).startswith(b"<DOC>\n")
    assert len(found(tmp_path / "a.trec.gz")) == 1


def test_nothing_is_left_of_a_write_that_fails(tmp_path: Path) -> None:
    def broken() -> Iterator[TrecDocument]:
        yield document()
        raise OSError(28, "No space left on device")

    with pytest.raises(StorageError, match="cannot be written"):
        write_trec(tmp_path / "x.trec", broken())
    assert not list(tmp_path.iterdir())
    with pytest.raises(UsageError):
        write_trec(tmp_path / "no" / "x.trec", [])


# -- the law --------------------------------------------------------------------------------------

pieces = st.sampled_from(
    [b"<", b"\\", b"/", b"DOC", b"doc>", b"</DOC>", b"<DOC>", b"</DOCHDR>", b"<DOCNO>", b"\n",
     b"\r\n", b" ", b"X-Asof-Stuffed: yes\n", b"\xff\x00", b"text"]
)  # fmt: skip
contents = st.lists(pieces | st.binary(max_size=20), max_size=12).map(b"".join)
# No empty line inside: that is where a head ends. Lines of CR alone are the reader's business.
header_lines = st.lists(
    st.lists(pieces, max_size=4).map(lambda some: re.sub(rb"[\r\n]+", b"_", b"".join(some))),
    max_size=3,
)


@st.composite
def documents(draw: st.DrawFn) -> TrecDocument:
    end = draw(st.sampled_from([b"\n", b"\r\n"]))
    last = draw(st.sampled_from([b"\n", b"\r\n"]))
    lines = [b"HTTP/1.1 200 OK", *(b"H: " + line for line in draw(header_lines))]
    head = draw(st.sampled_from([b"", end.join(lines) + end + last]))
    visible = st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters="<>")
    return TrecDocument(
        docno=draw(st.text(visible, min_size=1, max_size=20)),
        url="http://a/"
        + draw(st.text(visible | st.sampled_from("\xfc\u6c34\U0001f41f"), max_size=20)),
        ip=draw(st.sampled_from(["192.0.2.7", "2001:db8::1", ""])),
        at=draw(st.integers(0, 4_000_000_000)) * SECOND,
        media_type="text/html" if head else draw(st.sampled_from(["text/html", "image/png"])),
        head=head,
        payload=draw(contents),
    )


@given(wanted=st.lists(documents(), max_size=4), packed=st.booleans())
@example(wanted=[document(head=b"HTTP/1.1 200 OK\n\r\n")], packed=False)
@example(wanted=[document(head=b"HTTP/1.1 200 OK\r\n\n", payload=b"\r")], packed=False)
def test_what_is_written_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, wanted: list[TrecDocument], packed: bool
) -> None:
    path = tmp_path_factory.mktemp("law") / ("x.trec.gz" if packed else "x.trec")
    assert write_trec(path, wanted) == len(wanted)
    items = found(path)
    assert not damage(items)
    assert [read_back(record) for record in records(items)] == wanted
