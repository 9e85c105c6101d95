"""The shortcut to a row gives what the long way gives, or nothing."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.catalog.derive import fast_row, row
from asof.model import Location
from asof.native import compiled
from asof.warc.header import parse_header
from asof.warc.record import StoredRecord

# Without a compiler there is no shortcut; CI has a compiler (tests/unit/test_compiled.py).
needs_it = pytest.mark.skipif(compiled is None, reason="no C compiler when asof was installed")
PLACE = Path("x.warc.gz")
ID = "<urn:uuid:2becb774-9327-4d2c-83d3-b8d831691857>"


def digest(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def record(head: str, body: bytes, *, version: str = "1.1", fields: dict[str, str]) -> bytes:
    block = head.encode("utf-8", "surrogateescape") + body
    lines = [f"WARC/{version}", *(f"{name}: {value}" for name, value in fields.items())]
    lines.append(f"Content-Length: {len(block)}\r\n\r\n")
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + block + b"\r\n\r\n"


def the_long_way(content: bytes) -> tuple[object, ...] | None:
    parsed = parse_header(content)
    if isinstance(parsed, str):
        return None
    header, length, size = parsed
    if length + size + 4 != len(content):
        return None
    where = Location(PLACE.name, 7, 99)
    return row(StoredRecord(PLACE, where, header, size, content[length:-4]))


def agree(content: bytes) -> None:
    """What the shortcut says is what the long way says; nothing is no row in both."""
    quick = fast_row(content, 7, 99)
    if quick is not None:
        assert isinstance(parse_header(content), tuple)
        assert (quick or None) == the_long_way(content)


def plain(body: bytes = b"hello", **changes: str) -> dict[str, str]:
    return {
        "WARC-Type": "response",
        "WARC-Record-ID": ID,
        "WARC-Date": "2020-01-02T03:04:05Z",
        "WARC-Target-URI": "http://www.example.org/Page?b=1&a=2",
        "WARC-Payload-Digest": digest(body),
        "Content-Type": "application/http; msgtype=response",
    } | {name.replace("_", "-"): value for name, value in changes.items()}


HEAD = (
    'HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nETag: "x"\r\n'
    "Last-Modified: Wed, 01 Jan 2020 00:00:00 GMT\r\n\r\n"
)


@needs_it
def test_a_plain_response_takes_the_shortcut() -> None:
    content = record(HEAD, b"hello", fields=plain())
    assert fast_row(content, 7, 99) is not None
    assert fast_row(content, 7, 99) == the_long_way(content)


def companion(kind: str = "request", **changes: str) -> bytes:
    media = "application/http" if kind == "request" else "application/warc-fields"
    fields = {"WARC-Type": kind, "WARC-Concurrent-To": ID, "Content-Type": media}
    changed = {name.replace("_", "-"): value for name, value in changes.items()}
    return record("GET / HTTP/1.1\r\n\r\n", b"", fields=plain(b"") | fields | changed)


@needs_it
@pytest.mark.parametrize("kind", ["request", "metadata"])
def test_what_goes_with_a_response_is_passed_over(kind: str) -> None:
    assert fast_row(companion(kind), 7, 99) == ()
    assert the_long_way(companion(kind)) is None


@needs_it
def test_what_says_something_of_its_own_is_not_passed_over() -> None:
    assert fast_row(companion("metadata", Content_Type="text/plain"), 7, 99) is None
    assert fast_row(companion("warcinfo"), 7, 99) is None
    assert fast_row(companion(warc_type="response"), 7, 99) is None
    assert fast_row(companion()[:-1] + b"x", 7, 99) is None


@given(st.data())
def test_a_companion_with_changed_bytes_does_not_lead_astray(data: st.DataObject) -> None:
    content = bytearray(companion(data.draw(st.sampled_from(["request", "metadata"]))))
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(content) - 1))
        content[position] = data.draw(st.sampled_from(b"\r\n\t :;<>\0aZ0\xff"))
    agree(bytes(content))


names = st.sampled_from(
    [
        "Content-Type",
        "content-type",
        "ETag",
        "Etag ",
        " ETag",
        "Last-Modified",
        "Location",
        "Transfer-Encoding",
        "Content-Encoding",
        "X",
        "",
        "Content-Length",
        "x y",
    ]
)
values = st.sampled_from(
    [
        "text/html",
        "text/html; charset=x",
        " text/html",
        "a/b c",
        "",
        "\t",
        "gzip",
        "chunked",
        '"e"',
        "Wed, 01 Jan 2020 00:00:00 GMT",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "x\r\n folded",
        "é",
        "\0",
        "a\nb",
        "a\rb",
        "/else",
        "tail ",
        "identity",
    ]
)
separators = st.sampled_from([": ", ":", ":  ", " : ", ":\t", ""])
heads = st.builds(
    lambda start, lines, end: start + "".join(lines) + end,
    st.sampled_from(
        [
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.0 404 \r\n",
            "HTTP/1.1 200\r\n",
            "HTTP/1.1 301 Moved\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n",
            "ICY 200 OK\r\n",
            "HTTP/1.1 99 x\r\n",
            "HTTP/2 200\r\n",
            "<html>",
            "HTTP/1.1 200 OK\n",
        ]
    ),
    st.lists(
        st.builds(
            lambda n, s, v, e: n + s + v + e,
            names,
            separators,
            values,
            st.sampled_from(["\r\n", "\r\n", "\r\n", "\n", "\r\r\n"]),
        ),
        max_size=5,
    ),
    st.sampled_from(["\r\n", "\r\n", "\r\n", "\n", ""]),
)
changes = st.dictionaries(
    st.sampled_from(
        [
            "WARC_Type",
            "WARC_Record_ID",
            "WARC_Date",
            "WARC_Target_URI",
            "WARC_Payload_Digest",
            "WARC_Truncated",
            "WARC_Segment_Number",
            "WARC_Asof_Anomalies",
            "X_Own",
            "Content_Type",
            "warc_type",
            "WARC_Profile",
        ]
    ),
    st.sampled_from(
        [
            "response",
            "revisit",
            "RESPONSE",
            "resource",
            ID,
            "<urn:uuid:x>",
            "urn:uuid:1",
            "x",
            "2020-01-02",
            "20200102030405",
            "2020-01-02T03:04:05.123456789Z",
            "2020-13-02T03:04:05Z",
            "http://a.example/",
            "<http://a.example/>",
            "https://A.example:443/%7Ex y",
            "dns:a",
            "1",
            "sha1:ABC",
            "sha256:" + "A" * 52 + "====",
            "length",
            "",
            " x",
            "x ",
            "é",
            "obs-fold, x",
        ]
    ),
    max_size=3,
)


@given(heads, st.binary(max_size=20), changes, st.sampled_from(["1.1", "1.0", "0.17", "9.9"]))
def test_the_shortcut_never_says_anything_else(
    head: str, body: bytes, changed: dict[str, str], version: str
) -> None:
    fields = plain(body, **changed)
    content = record(head, body, version=version, fields=fields)
    agree(content)


@given(st.data())
def test_a_byte_changed_anywhere_does_not_lead_astray(data: st.DataObject) -> None:
    content = bytearray(record(HEAD, b"hello", fields=plain()))
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(content) - 1))
        content[position] = data.draw(st.sampled_from(b"\r\n\t :;<>\0aZ0\xff"))
    agree(bytes(content))
