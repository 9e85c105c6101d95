"""A ZIP file has one listing and one content, whether it is a WACZ or a document."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import pytest

from asof.text.convert.found import Refused
from asof.text.convert.zip_parts import Parts
from asof.warc.foreign.wacz import extract_warcs, wacz_members

FIRST, SECOND = b"the first words " * 40, b"other words " * 60
NAMES = ("a.warc", "b.warc")


class _Stream(io.RawIOBase):
    """What cannot be sought in: sizes then come after the bytes."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.data += data
        return len(data)


def made(method: int = zipfile.ZIP_DEFLATED, *, streamed: bool = False) -> bytes:
    out = _Stream() if streamed else io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in zip(NAMES, (FIRST, SECOND), strict=True):
            archive.writestr(name, content)
    return bytes(out.data) if isinstance(out, _Stream) else out.getvalue()


def torn(data: bytes) -> bytes:
    return data[: data.index(b"PK\x01\x02")]


def misplaced(data: bytes) -> bytes:
    """The directory sends the reader of the second entry astray."""
    at = data.rindex(b"PK\x01\x02") + 42
    return data[:at] + struct.pack("<I", 7) + data[at + 4 :]


def unsized(data: bytes) -> bytes:
    """Neither the flag nor a size says how long the entries are."""
    data = torn(data)
    for at in (0, data.index(b"PK\x03\x04", 4)):
        data = data[: at + 18] + bytes(8) + data[at + 26 :]
    return data


STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
CASES = {
    "whole": made(),
    "after other bytes": b"#!/bin/sh\n" * 9 + made(),
    "streamed": made(streamed=True),
    "torn": torn(made()),
    "torn, streamed and deflated": torn(made(streamed=True)),
    "torn, streamed and stored": torn(made(STORED, streamed=True)),
    "torn inside the second entry": torn(made(STORED))[:-5],
    "misplaced": misplaced(made()),
    "without any size": unsized(made()),
}


def as_wacz(data: bytes, folder: Path) -> dict[str, bytes]:
    path = folder / "x.wacz"
    path.write_bytes(data)
    found = [each for each in extract_warcs(path, folder / "out") if isinstance(each, tuple)]
    return {name: file.read_bytes() for name, file in found}


def as_document(data: bytes) -> dict[str, bytes]:
    parts = Parts(data)
    return {name: parts.read(name) for name in parts.entries}


@pytest.mark.parametrize("case", CASES)
def test_an_odd_zip_is_the_same_to_both(case: str, tmp_path: Path) -> None:
    data = CASES[case]
    second = SECOND[:-5] if "inside" in case else SECOND
    expected = dict(zip(NAMES, (FIRST, second), strict=True))
    assert as_document(data) == expected
    assert as_wacz(data, tmp_path) == expected


@pytest.mark.parametrize(("flag", "raw"), [(0, b"\x81.warc"), (0x800, "ü.warc".encode())])
def test_a_name_is_read_in_the_encoding_it_is_written_in(
    flag: int, raw: bytes, tmp_path: Path
) -> None:
    data = bytearray(made(STORED))
    local, central = data.index(b"PK\x03\x04"), data.index(b"PK\x01\x02")
    for at, length, name in ((central, 28, 46), (local, 26, 30)):
        struct.pack_into("<H", data, at + (8 if at == central else 6), flag)
        struct.pack_into("<H", data, at + length, len(raw))
        data[at + name : at + name + len(NAMES[0])] = raw
    end = data.rindex(b"PK\x05\x06")
    grown = len(raw) - len(NAMES[0])
    size, offset = struct.unpack_from("<II", data, end + 12)
    struct.pack_into("<II", data, end + 12, size + grown, offset + grown)
    at = data.rindex(b"PK\x01\x02") + 42
    struct.pack_into("<I", data, at, struct.unpack_from("<I", data, at)[0] + grown)
    (tmp_path / "x.wacz").write_bytes(data)
    assert {entry.name for _, entry in wacz_members(tmp_path / "x.wacz")} == {"ü.warc", "b.warc"}
    assert as_document(bytes(data)) == {"ü.warc": FIRST, "b.warc": SECOND}


def test_what_is_encrypted_is_refused_by_both(tmp_path: Path) -> None:
    data = bytearray(made())
    for at in (6, data.index(b"PK\x01\x02") + 8):
        data[at] |= 1
    assert as_wacz(bytes(data), tmp_path) == {"b.warc": SECOND}
    with pytest.raises(Refused, match="is encrypted"):
        Parts(bytes(data)).read("a.warc")
