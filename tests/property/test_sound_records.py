"""The quick judgement of a record agrees with the careful one."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.model import Location
from asof.native import compiled
from asof.warc.header import parse_header
from asof.warc.record import StoredRecord
from asof.warc.verify import sound_kind, verify

needs_it = pytest.mark.skipif(compiled is None, reason="no C compiler when asof was installed")
ALGORITHMS = {"sha1": hashlib.sha1, "sha256": hashlib.sha256}


def digest(name: str, data: bytes) -> str:
    return f"{name}:{base64.b32encode(ALGORITHMS[name](data).digest()).decode()}"


def record(kind: str, head: bytes, body: bytes, name: str = "sha1", **changes: str) -> bytes:
    block = head + body
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": "<urn:uuid:2becb774-9327-4d2c-83d3-b8d831691857>",
        "WARC-Date": "2020-01-02T03:04:05Z",
        "WARC-Target-URI": "http://example.org/",
        "WARC-Block-Digest": digest(name, block),
        "WARC-Payload-Digest": digest(name, body),
        "Content-Type": "application/http",
    } | {key.replace("_", "-"): value for key, value in changes.items()}
    lines = ["WARC/1.1", *(f"{key}: {value}" for key, value in fields.items())]
    lines.append(f"Content-Length: {len(block)}\r\n\r\n")
    return "\r\n".join(lines).encode() + block + b"\r\n\r\n"


def problems(content: bytes) -> list[str] | None:
    parsed = parse_header(content)
    if isinstance(parsed, str):
        return None
    header, length, size = parsed
    if length + size + 4 != len(content) or not content.endswith(b"\r\n\r\n"):
        return None
    where = Location("x.warc.gz", 0, 9)
    return verify(StoredRecord(Path("x.warc.gz"), where, header, size, content[length:-4]))


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


@needs_it
@pytest.mark.parametrize("kind", ["response", "request"])
@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_a_plain_record_is_judged_quickly(kind: str, name: str) -> None:
    assert sound_kind(record(kind, HEAD, b"hello", name)) == kind


@needs_it
@pytest.mark.parametrize("kind", ["response", "request"])
@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_a_wrong_digest_is_never_sound(kind: str, name: str) -> None:
    good = digest(name, b"hello")
    for wrong in (
        digest(name, b"other"), good.lower(), good[:-1], good + "=", good.replace("=", ""),
        good[:9] + "1" + good[10:], f"{name}:" + "A" * (len(good) - len(name) - 1),
    ):  # fmt: skip
        content = record(kind, HEAD, b"hello", name, WARC_Payload_Digest=wrong)
        if wrong != good:
            assert sound_kind(content) is None


heads = st.sampled_from(
    [HEAD, b"HTTP/1.1 200 OK\n\n", b"HTTP/1.1 200 OK\r\n \r\nX: y\r\n\r\n", b"\r\n\r\n", b"", b"x",
     b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"]
)  # fmt: skip


@given(
    st.sampled_from(["response", "request", "resource", "revisit", "RESPONSE", "metadata", ""]),
    heads,
    st.binary(max_size=12),
    st.dictionaries(
        st.sampled_from(
            ["WARC_Target_URI", "WARC_Date", "WARC_Segment_Number", "X", "WARC_Block_Digest",
             "warc_block_digest", "WARC_Payload_Digest", "WARC_Type "]
        ),
        st.sampled_from(
            ["dns:x", "1", "sha1:X", "2020", "", "x\r\n y", "http://b/", "sha1:" + "A" * 32, "é"]
        ),
        max_size=2,
    ),
)  # fmt: skip
def test_what_is_called_sound_has_no_problem(
    kind: str, head: bytes, body: bytes, changes: dict[str, str]
) -> None:
    content = record(kind, head, body, **changes)
    found = sound_kind(content)
    if found is not None:
        assert problems(content) == []
        assert parse_header(content)[0].kind == found


@given(st.data())
def test_a_changed_byte_is_not_called_sound_unless_it_is(data: st.DataObject) -> None:
    content = bytearray(record("response", HEAD, b"hello"))
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(content) - 1))
        content[position] = data.draw(st.sampled_from(b"\r\n\t :;<>\0aZ07\xff"))
    if sound_kind(bytes(content)) is not None:
        assert problems(bytes(content)) == []
