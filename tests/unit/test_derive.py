"""What a catalog row is derived from, record by record."""

from __future__ import annotations

import base64
import gzip
import hashlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asof.catalog import derive as module
from asof.catalog.dates import modified, warc_date
from asof.catalog.derive import derive, is_capture, record_uri, row
from asof.clock import DAY, parse_foreign, parse_http_date, parse_iso, parse_stamp
from asof.model import Capture, Location
from asof.warc.digest import base32, digest_text, plain_base32
from asof.warc.record import StoredRecord, WarcHeader
from support.catalog_entry import row_of
from support.laws import examples

URL = "http://www.example.org/Page"
ID = "2becb774-9327-4d2c-83d3-b8d831691857"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"


def stored(block: bytes = HEAD + b"hello", **fields: str | None) -> StoredRecord:
    """A response record; `fields` add to its header, or take away with None."""
    header: dict[str, str | None] = {
        "WARC-Type": "response",
        "WARC-Record-ID": f"<urn:uuid:{ID}>",
        "WARC-Target-URI": URL,
        "WARC-Date": "2020-01-02T03:04:05Z",
        "Content-Type": "application/http; msgtype=response",
    }
    header |= {name.replace("_", "-"): value for name, value in fields.items()}
    pairs = tuple((name, value) for name, value in header.items() if value is not None)
    return StoredRecord(
        Path("x.warc"), Location("x.warc", 7, 99), WarcHeader("1.1", pairs), len(block), block
    )


def derived(block: bytes = HEAD + b"hello", **fields: str | None) -> Capture:
    capture = derive(stored(block, **fields))
    assert capture is not None
    return capture


def sha256_text(data: bytes) -> str:
    return digest_text(hashlib.sha256(data).digest())


def sha1_text(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def test_a_response() -> None:
    capture = derived(
        b'HTTP/1.1 200 OK\r\nETag: W/"a"\r\nLast-Modified: Wed, 01 Jan 2020 00:00:00 GMT\r\n'
        b"Content-Type: text/html; charset=utf-8\r\n\r\nhello",
        WARC_Payload_Digest="sha1:ABC",
        WARC_Truncated="length",
        WARC_Asof_Anomalies="lf-line-ends, obs-fold",
    )
    assert capture == Capture(
        url=URL,
        surt="org,example)/page",
        at=1_577_934_245_000_000,
        kind="response",
        status=200,
        media_type="text/html",
        digest="sha1:ABC",
        content=sha256_text(b"hello"),
        size=5,
        record_id=ID,
        where=Location("x.warc", 7, 99),
        etag='W/"a"',
        last_modified=1_577_836_800_000_000,
        truncated="length",
        anomalies=("lf-line-ends", "obs-fold"),
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"WARC_Type": "request"},
        {"WARC_Type": "warcinfo"},
        {"WARC_Type": "conversion"},
        {"WARC_Type": "continuation"},
        {"WARC_Type": "metadata", "Content_Type": "application/warc-fields"},
        {"WARC_Type": "resource", "Content_Type": "application/warc-fields"},
        {"WARC_Type": None},
        {"WARC_Target_URI": None},
        {"WARC_Target_URI": "<>"},
        {"WARC_Date": None},
        {"WARC_Date": "yesterday"},
    ],
)
def test_what_is_no_capture(fields: dict[str, str | None]) -> None:
    record = stored(**fields)  # type: ignore[arg-type]
    assert derive(record) is None
    assert row(record) is None
    assert not is_capture(record.header)


@pytest.mark.parametrize("kind", ["response", "revisit", "resource", "metadata"])
def test_what_is_a_capture(kind: str) -> None:
    record = stored(WARC_Type=kind, Content_Type="text/plain")
    assert is_capture(record.header)
    assert derived(WARC_Type=kind, Content_Type="text/plain").kind == kind


def test_a_resource_is_its_block() -> None:
    capture = derived(b"hello", WARC_Type="resource", Content_Type="text/plain ;x=y")
    assert (capture.status, capture.media_type, capture.size) == (None, "text/plain", 5)
    assert (capture.digest, capture.content) == (sha1_text(b"hello"), sha256_text(b"hello"))


def test_a_dns_response_has_no_http_head() -> None:
    capture = derived(b"20200102030405\nexample.org.", WARC_Target_URI="dns:example.org")
    assert (capture.surt, capture.status, capture.media_type) == ("dns:example.org", None, None)


def test_without_a_declared_digest_it_is_sha1_of_the_stored_payload() -> None:
    assert derived().digest == sha1_text(b"hello")


def test_content_is_the_decoded_entity_whatever_the_coding() -> None:
    packed = gzip.compress(b"hello")
    chunked = (
        b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in (packed[:9], packed[9:])) + b"0\r\n\r\n"
    )
    head = b"HTTP/1.1 200 OK\r\n%s\r\n"
    coded = derived(head % b"Content-Encoding: gzip\r\n" + packed)
    both = derived(head % b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n" + chunked)
    assert coded.content == both.content == sha256_text(b"hello")
    assert coded.digest == sha1_text(packed)
    assert both.digest == sha1_text(chunked)
    assert both.size == len(chunked)


def test_an_entity_beyond_the_limit_counts_by_its_stored_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "ENTITY_LIMIT", 1000)
    bomb = gzip.compress(bytes(5000))
    capture = derived(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + bomb)
    assert capture.content == sha256_text(bomb)


def test_a_block_too_large_to_hold_gives_the_same_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    packed = gzip.compress(b"hello" * 100)
    for head in (b"", b"Content-Encoding: gzip\r\n"):
        for digest in (None, "sha1:ABC"):
            block = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + packed
            whole = stored(block, WARC_Payload_Digest=digest)
            pieces = [block[at : at + 7] for at in range(0, len(block), 7)]
            monkeypatch.setattr(module, "block_chunks", lambda _, pieces=pieces: iter(pieces))
            monkeypatch.setattr(module, "HEAD_REACH", 60)
            late = StoredRecord(whole.path, whole.where, whole.header, whole.size, None)
            assert row(late) == row(whole)


def test_a_revisit_refers_and_holds_nothing() -> None:
    capture = derived(
        b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n',
        WARC_Type="revisit",
        WARC_Profile="http://netpreserve.org/warc/1.1/revisit/server-not-modified",
        WARC_Refers_To_Target_URI="<http://example.org/a b>",
        WARC_Refers_To_Date="2019-01-01T00:00:00.25Z",
    )
    assert (capture.status, capture.profile) == (304, "server-not-modified")
    assert (capture.digest, capture.content, capture.size) == (None, None, 0)
    assert capture.refers_to_url == "http://example.org/a%20b"
    assert capture.refers_to_at == parse_iso("2019-01-01T00:00:00.25Z")


def test_a_revisit_without_a_block() -> None:
    capture = derived(b"", WARC_Type="revisit", WARC_Profile="urn:mine", WARC_Payload_Digest="x:y")
    assert (capture.status, capture.digest, capture.profile) == (None, "x:y", "urn:mine")


@pytest.mark.parametrize(
    ("status", "location", "target"),
    [
        (301, b"/new", "http://www.example.org/new"),
        (302, b"https://other.example", "https://other.example/"),
        (308, "/bücher".encode(), "http://www.example.org/b%C3%BCcher"),
        (308, b"/b\xfccher", "http://www.example.org/b%C3%BCcher"),
        (303, b"mailto:a@b", None),
        (200, b"/new", None),
    ],
)
def test_where_a_redirect_leads(status: int, location: bytes, target: str | None) -> None:
    head = b"HTTP/1.1 %d X\r\nLocation: %s\r\n\r\n" % (status, location)
    assert derived(head).redirect == target


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("Wed, 01 Jan 2020 00:00:00 GMT", True),
        ("Fri, 03 Jan 2020 00:00:00 GMT", True),  # less than a day after the capture
        ("Sat, 04 Jan 2020 00:00:00 GMT", False),
        ("Thu, 01 Jan 1970 00:00:00 GMT", False),
        ("Sun, 31 Dec 1989 23:59:59 GMT", False),
        ("Mon, 01 Jan 1990 00:00:00 GMT", True),
        ("Wednesday, 01-Jan-20 00:00:00 GMT", True),
        ("0", False),
        ("-1", False),
    ],
)
def test_a_last_modified_that_can_be_true(value: str, kept: bool) -> None:
    capture = derived(b"HTTP/1.1 200 OK\r\nLast-Modified: %s\r\n\r\n" % value.encode())
    assert (capture.last_modified is not None) == kept


def test_the_final_response_counts_not_an_interim_one() -> None:
    capture = derived(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + HEAD + b"hello")
    assert (capture.status, capture.media_type, capture.content) == (
        200, "text/html", sha256_text(b"hello"),
    )  # fmt: skip


def test_a_block_without_an_http_head_is_all_payload() -> None:
    capture = derived(b"<html>hello")
    assert (capture.status, capture.media_type, capture.size) == (None, None, 11)
    assert capture.content == sha256_text(b"<html>hello")


@pytest.mark.parametrize(
    ("field", "record_id", "uri"),
    [
        (f"<urn:uuid:{ID}>", ID, f"urn:uuid:{ID}"),
        (f"urn:uuid:{ID}", ID, f"urn:uuid:{ID}"),
        (f"<{ID}>", f"<{ID}>", ID),
        ("<urn:x:1>", "urn:x:1", "urn:x:1"),
        ("<urn:uuid:short>", "urn:uuid:short", "urn:uuid:short"),
        ("<http://host/1>", "http://host/1", "http://host/1"),
    ],
)
def test_record_ids_are_compact_and_can_be_written_out(
    field: str, record_id: str, uri: str
) -> None:
    assert derived(WARC_Record_ID=field).record_id == record_id
    assert record_uri(record_id) == uri


def test_a_record_without_an_id_gets_one_from_what_it_says() -> None:
    first, again = derived(WARC_Record_ID=None), derived(WARC_Record_ID=None)
    other = derived(HEAD + b"other", WARC_Record_ID=None)
    assert first.record_id == again.record_id != other.record_id
    assert record_uri(first.record_id).startswith("urn:uuid:")


def test_a_first_segment_is_a_truncated_capture() -> None:
    assert derived(WARC_Segment_Number="1").truncated == "segmentation"


def test_the_target_is_freed_of_brackets_and_spaces() -> None:
    assert derived(WARC_Target_URI="<http://example.org/a b>").url == "http://example.org/a%20b"


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2008-04-16T14:30:15Z", "2008-04-16T14:30:15Z"),
        ("2020-01-02T03:04:05.123456789Z", "2020-01-02T03:04:05.123456Z"),
        ("2020-01-02T03:04:05.5Z", "2020-01-02T03:04:05.5Z"),
        ("20200102030405", "2020-01-02T03:04:05Z"),
        ("2020-01-02", "2020-01-02T00:00:00Z"),
        ("2020-01-02T04:04:05+01:00", "2020-01-02T03:04:05Z"),
    ],
)
def test_warc_dates_in_every_form(text: str, iso: str) -> None:
    assert warc_date(text) == parse_iso(iso)


DIGITS = st.text("0123456789", min_size=2, max_size=2)


@settings(max_examples=examples(300))
@given(
    st.tuples(*[DIGITS] * 5),
    st.sampled_from(["1970", "1999", "2024", "0000"]),
    st.text("0123456789", max_size=9),
)
def test_the_quick_reading_of_dates_says_what_the_clock_says(
    parts: tuple[str, ...], year: str, fraction: str
) -> None:
    month, day, hour, minute, second = parts
    dot = "." if fraction else ""
    text = f"{year}-{month}-{day}T{hour}:{minute}:{second}{dot}{fraction}Z"
    assert warc_date(text) == parse_foreign(text)
    assert parse_iso(text) in (None, warc_date(text))
    assert warc_date(year + "".join(parts)) == parse_stamp(year + "".join(parts))
    http = f"Thu, {day} Mar {year} {hour}:{minute}:{second} GMT"
    expected = parse_http_date(http)
    plausible = expected is not None and 631_152_000_000_000 <= expected <= (1 << 60) + DAY
    assert modified(http, 1 << 60) == (expected if plausible else None)


HEADER_LINES = rb"""Content-Type: text/html
content-type:text/plain
CONTENT-TYPE : a/b ; c
ETag:"x"
X-ETag: no
ETag
Location: /a
 folded
Content-Encoding: gzip
Transfer-Encoding:  chunked
X: Content-Type: no
: no
Content-Type:""".split(b"\n")
ODD_LINES = [b"\tfolded", b"", b"Last-Modified: \xe9", b"A: \0", b"B: \r C", b"ETag: x\nETag: y"]
LINES = st.lists(st.sampled_from(HEADER_LINES + ODD_LINES + [b"ETag:\tx \t"]), max_size=6)
STATUS = st.sampled_from(
    [
        b"HTTP/1.1 200 OK",
        b"HTTP/1.0 404",
        b"HTTP/1.1 100 Continue",
        b"HTTP/1.1  200 OK",
        b"HTTP/2 200",
        b"ICY 200",
        b"",
    ]
)


@settings(max_examples=examples(500))
@given(
    STATUS, LINES, st.sampled_from([b"\r\n", b"\n"]), st.sampled_from([b"", b"body", b"\r\nbody"])
)
def test_the_quick_reading_of_heads_says_what_the_careful_one_says(
    status: bytes, lines: list[bytes], end: bytes, body: bytes
) -> None:
    data = end.join([status, *lines, b"", b""]) + body
    quick, careful = module._plain_head(data), module._careful_head(data)
    if quick is not None:
        assert quick.length == careful.length
        assert quick.status == careful.status
        assert quick.values == {n: v for n, v in careful.values.items() if n in quick.values}
        wanted = ("content-type", "etag", "last-modified", "location")
        assert {n for n in wanted if n in careful.values} <= set(quick.values)
        assert [(n.lower(), v.strip()) for n, v in quick.codings] == [
            (n.lower(), v.strip()) for n, v in careful.codings
        ]


@given(st.binary(min_size=20, max_size=20), st.binary(min_size=32, max_size=32))
def test_base32_is_base32(sha1: bytes, sha256: bytes) -> None:
    for encoded in (base32, plain_base32):
        assert encoded(sha1) == base64.b32encode(sha1).decode()
        assert f"sha256:{encoded(sha256)}" == digest_text(sha256)


def test_a_row_and_a_capture_say_the_same() -> None:
    for record in (
        stored(),
        stored(WARC_Type="revisit", WARC_Refers_To_Date="2019-01-01T00:00:00Z"),
        stored(WARC_Asof_Anomalies="a b", WARC_Truncated="time"),
    ):
        capture = derive(record)
        assert capture is not None
        assert row_of(capture) == row(record)


@pytest.mark.parametrize(
    ("declared", "trusted"),
    [
        ("sha1:FMI7BLM5YYOF3PYFCRBNT3QFYT3AOOHP", True),
        ("sha256:FTZE3OS7WCRQ4JXIHMVMLOPCTYNRMHS4D6TUEXTTAQZWFE4LTASA====", True),
        ("sha1:ABC", False),
        ("md5:XRX3JNFT4LDKQPBO4AKKIHTRYE======", False),
    ],
)
def test_a_sound_digest_of_an_uncoded_payload_is_its_content(declared: str, trusted: bool) -> None:
    assert (derived(WARC_Payload_Digest=declared).content == declared) is trusted


def test_the_digest_of_a_coded_payload_is_not_its_content() -> None:
    block = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"hello")
    capture = derived(block, WARC_Payload_Digest="sha1:FMI7BLM5YYOF3PYFCRBNT3QFYT3AOOHP")
    assert capture.content == sha256_text(b"hello")
