"""The compiled reader: there in CI, and unharmed by any bytes."""

from __future__ import annotations

import base64
import os
import random

import pytest

from asof.native import compiled

needs_it = pytest.mark.skipif(compiled is None, reason="no C compiler when asof was installed")

RECORD = (
    b"WARC/1.1\r\nWARC-Type: response\r\n"
    b"WARC-Record-ID: <urn:uuid:2becb774-9327-4d2c-83d3-b8d831691857>\r\n"
    b"WARC-Date: 2020-02-29T03:04:05.25Z\r\nWARC-Target-URI: http://example.org/\r\n"
    b"WARC-Block-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n"
    b"WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\nContent-Length: 93\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nETag: x\r\nAge: 77\r\nLast-Modified: Wed, 01 Jan 2020 00:00:00 GMT\r\n"
    b"\r\nhello wide\r\n\r\n"
)


def test_ci_has_it() -> None:
    """Where the tests must be whole, both readers are tried."""
    assert compiled is not None or os.environ.get("CI") != "true"


@needs_it
def test_it_reads_what_it_should() -> None:
    at = "2020-02-29T03:04:05.25Z"
    uuid = "2becb774-9327-4d2c-83d3-b8d831691857"
    digest = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
    modified = "Wed, 01 Jan 2020 00:00:00 GMT"
    found = (at, uuid, "http://example.org/", 200, None, digest, 10, "x", modified, None, "77")
    assert compiled.response(RECORD) == found
    kind, when, block, payload, *_ = compiled.digests(RECORD)  # type: ignore[misc]
    assert (kind, when) == ("response", at)
    assert (RECORD[block:][:5], RECORD[payload:-4]) == (b"HTTP/", b"hello wide")


@needs_it
@pytest.mark.parametrize("text", ["", "WARC/1.1", None, 7, memoryview(RECORD)])
def test_only_bytes_are_taken(text: object) -> None:
    with pytest.raises(TypeError):
        compiled.response(text)  # type: ignore[arg-type]


@needs_it
def test_it_survives_every_cut_and_every_changed_byte() -> None:
    """Whatever stands where, the answer is a value or None; reading past the end would show."""
    for end in range(len(RECORD)):
        assert compiled.response(RECORD[:end]) is None
        assert compiled.digests(RECORD[:end]) is None
    for at in range(len(RECORD)):
        for byte in b"\0\r\n :\xff<>9z":
            changed = RECORD[:at] + bytes([byte]) + RECORD[at + 1 :]
            compiled.response(changed)
            compiled.digests(changed)


@needs_it
def test_it_survives_noise() -> None:
    chance = random.Random(7)
    pieces = [
        RECORD[:10],
        b"\r\n",
        b": ",
        b"WARC-Type",
        b"Content-Length: 0",
        b"\xff",
        b"HTTP/1.1 2",
    ]
    for _ in range(20_000):
        noise = b"".join(chance.choices(pieces, k=chance.randint(0, 12))) + b"\r\n\r\n"
        compiled.response(noise)
        compiled.digests(noise)


@needs_it
def test_it_finds_the_members_that_bytes_find_finds() -> None:
    chance = random.Random(3)
    magic = b"\x1f\x8b\x08"
    for _ in range(20_000):
        data = b"".join(chance.choices([magic, b"\x1f", b"\x1f\x8b", b"x", b"\x08"], k=9))
        start = chance.randint(0, len(data) + 2)
        assert compiled.find_member(data, start) == data.find(magic, start)


@needs_it
@pytest.mark.parametrize("arguments", [(), (b"",), (b"", -1), ("", 0), (b"", "0"), (b"", 0, 0)])
def test_it_finds_nothing_in_nonsense(arguments: tuple[object, ...]) -> None:
    with pytest.raises((TypeError, ValueError)):
        compiled.find_member(*arguments)  # type: ignore[arg-type]


@needs_it
def test_base32_is_that_of_the_standard_library() -> None:
    chance = random.Random(5)
    for size in range(65):
        for _ in range(20):
            data = chance.randbytes(size)
            assert compiled.base32(data) == base64.b32encode(data).decode()
    with pytest.raises(ValueError, match="long"):
        compiled.base32(bytes(65))
