"""The parts of a document that is a ZIP archive, unpacked piece by piece and never beyond a limit.

`zipfile` reads the directory; the parts are inflated here, for three reasons: sizes that the
directory quotes are not believed, a wrong checksum at the end does not cost the text before it, and
an archive whose directory is lost is read by the headers that stand before each part (APPNOTE,
section 4.3.7). Nothing is ever written to a disk, so names with `../` in them lead nowhere.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from dataclasses import dataclass

from asof.text.convert.entities import LONGEST_DECLARATION, refuse_entities
from asof.text.convert.found import Refused

# What one document may unpack to, all parts together, and how many parts it may have.
MAX_UNPACKED = 300 << 20
MAX_PARTS = 50_000
# What is read into memory as a whole (documents are; sheets are streamed).
MAX_PART = 64 << 20
_PIECE = 1 << 16
_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_STORED, _DEFLATED = 0, 8
_ENCRYPTED = 0x1


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a part lies in the archive; `packed` is None where only its end tells."""

    name: str
    offset: int
    method: int
    encrypted: bool
    packed: int | None


class Parts:
    """An opened archive: its parts by name, and what may still be unpacked."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._room = MAX_UNPACKED
        entries = _mended(_directory(data), data) or _headers(data)
        if not entries:
            raise Refused("is a damaged ZIP archive without any part")
        if len(entries) > MAX_PARTS:
            raise Refused(f"has more than {MAX_PARTS:,} parts")
        self.entries: dict[str, Entry] = {}
        for entry in entries:  # two of one name: the first is what a directory leads to
            self.entries.setdefault(entry.name, entry)
        self._folded = {name.lower(): name for name in self.entries}

    def find(self, name: str) -> str | None:
        """The part of that name as the archive spells it; writers disagree about case."""
        name = name.lstrip("/")
        return name if name in self.entries else self._folded.get(name.lower())

    def open(self, name: str) -> Part:
        """A part to be read piece by piece."""
        found = self.find(name)
        if found is None:
            raise Refused(f"lacks its part {name}")
        entry = self.entries[found]
        if entry.encrypted:
            raise Refused("is encrypted")
        return Part(self, entry)

    def read(self, name: str, most: int = MAX_PART) -> bytes:
        """A whole part, if it is not larger than `most`."""
        data = self.open(name).read(most + 1)
        if len(data) > most:
            raise Refused(f"has a part of more than {most >> 20} MB")
        return data

    def spend(self, size: int) -> None:
        """Count what was unpacked; too much of it is a bomb."""
        self._room -= size
        if self._room < 0:
            raise Refused(f"unpacks to more than {MAX_UNPACKED >> 20} MB")


class Part:
    """A part that is being unpacked; `read` is what a parser calls. No part declares entities."""

    def __init__(self, parts: Parts, entry: Entry) -> None:
        self._parts = parts
        self._position = _content(parts.data, entry.offset)
        packed = len(parts.data) if entry.packed is None else entry.packed
        self._end = min(len(parts.data), self._position + packed)
        self._inflater = _inflater(entry.method)
        self._left = b""
        self._tail = b""

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size`; none at the end of the part or where it breaks off."""
        pieces: list[bytes] = []
        wanted = size if size >= 0 else MAX_PART
        while wanted > 0 and (piece := self._next(min(wanted, 1 << 20))):
            pieces.append(piece)
            wanted -= len(piece)
        data = b"".join(pieces)
        self._parts.spend(len(data))
        refuse_entities(self._tail + data)
        self._tail = data[-LONGEST_DECLARATION:]
        return data

    def _next(self, most: int) -> bytes:
        if self._inflater is None:
            start, self._position = self._position, min(self._end, self._position + most)
            return self._parts.data[start : self._position]
        while not self._inflater.eof:
            packed = self._left
            if not packed:
                packed = self._parts.data[self._position : min(self._end, self._position + _PIECE)]
                self._position += len(packed)
            if not packed:
                break
            try:
                data = self._inflater.decompress(packed, most)
            except zlib.error:
                self._position, self._left = self._end, b""
                break
            self._left = self._inflater.unconsumed_tail
            if data:
                return data
        return b""


def _inflater(method: int) -> zlib._Decompress | None:
    if method == _STORED:
        return None
    if method == _DEFLATED:
        return zlib.decompressobj(-15)
    raise Refused(f"is packed by method {method}, which is not read")


def _content(data: bytes, offset: int) -> int:
    """Where the bytes of a part begin, after the header before them."""
    if offset < 0 or offset + _LOCAL.size > len(data):
        raise Refused("is a damaged ZIP archive: a part lies outside of it")
    fields = _LOCAL.unpack_from(data, offset)
    if fields[0] != b"PK\x03\x04":
        raise Refused("is a damaged ZIP archive: a part has no header")
    return offset + _LOCAL.size + int(fields[9]) + int(fields[10])


def _directory(data: bytes) -> list[Entry]:
    """The parts as the directory at the end of the archive lists them; none if it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [
                Entry(
                    info.filename.replace("\\", "/").lstrip("/"),
                    info.header_offset,
                    info.compress_type,
                    bool(info.flag_bits & _ENCRYPTED),
                    info.compress_size,
                )
                for info in archive.infolist()
            ]
    except (zipfile.BadZipFile, ValueError, LookupError, struct.error, OSError, EOFError):
        return []
    except NotImplementedError as error:  # a version of the format that is not there yet
        raise Refused("is a ZIP archive of an unknown version") from error


def _mended(entries: list[Entry], data: bytes) -> list[Entry]:
    """The same with the right places, where the directory has them wrong."""
    if all(data[each.offset : each.offset + 4] == b"PK\x03\x04" for each in entries):
        return entries
    found = {each.name: each for each in _headers(data)}
    return [found.get(each.name, each) for each in entries]


def _headers(data: bytes) -> list[Entry]:
    """The parts by the headers that stand before them."""
    entries: list[Entry] = []
    offset = data.find(b"PK\x03\x04")
    while offset >= 0 and len(entries) <= MAX_PARTS:
        if offset + _LOCAL.size > len(data):
            break
        _, _, flags, method, _, _, _, packed, _, length, extra = _LOCAL.unpack_from(data, offset)
        start = offset + _LOCAL.size
        name = data[start : start + length].decode("utf-8" if flags & 0x800 else "cp437", "replace")
        known = packed if packed and not flags & 0x8 else None
        if method in (_STORED, _DEFLATED) and name:
            entries.append(
                Entry(name.replace("\\", "/"), offset, method, bool(flags & _ENCRYPTED), known)
            )
        offset = data.find(b"PK\x03\x04", start + length + extra + (known or 0))
    return entries
