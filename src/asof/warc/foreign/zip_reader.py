"""ZIP files as strangers make them: the entries, their bytes, and what can be saved of a torn one.

The one reader of packages (WACZ), office files and archives (PKWARE APPNOTE 6.3.10). Not `zipfile`,
since this one has to say where something is wrong instead of raising one of eight exceptions, to
bound what it keeps and unpacks, and to read files whose central directory is missing. Names are for
people and for looking up: no file is ever opened by them.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_ISLNK
from struct import unpack_from
from typing import BinaryIO

from isal import isal_zlib

from asof.errors import InputError
from asof.files import open_plain

LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"

_END64, _LOCATOR64, _DESCRIPTOR = b"PK\x06\x06", b"PK\x06\x07", b"PK\x07\x08"
_STEP = 1 << 18
# A WACZ or an office file has some dozens of entries, with names of some dozens of characters; far
# more is an attack.
MAX_ENTRIES = 200_000
_MAX_NAME = 512
# How many magic numbers that turn out to be none are looked at in a torn file.
_MAX_ATTEMPTS = 100_000
# How much is unpacked, in all, to learn where entries end of which nothing says it.
_MAX_MEASURED = 1 << 32
_METHODS = {
    1: "shrink", 6: "implode", 9: "deflate64", 12: "bzip2", 14: "lzma", 93: "zstd", 99: "AES",
}  # fmt: skip
_UNKNOWN = 0xFFFFFFFF
_DESCRIPTOR_SIZES = (12, 16, 20, 24)  # of what follows a streamed entry (APPNOTE section 4.3.9)


class BadEntry(Exception):
    """The bytes of an entry cannot be had as declared; the text says why."""


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """One entry. `offset` is that of its local header; `crc` is None where nothing says it."""

    name: str
    offset: int
    method: int
    flags: int
    crc: int | None
    packed: int
    size: int
    mode: int = 0
    raw: bytes = b""  # its header and name as the directory has them

    @property
    def is_encrypted(self) -> bool:
        return bool(self.flags & 0x1)

    @property
    def is_symlink(self) -> bool:
        return S_ISLNK(self.mode)


@dataclass(frozen=True, slots=True)
class ZipListing:
    """The entries in the order of the file, and what is wrong with the ZIP as a whole."""

    entries: tuple[ZipEntry, ...]
    problems: tuple[tuple[int, str], ...] = ()
    directory: tuple[int, int] = (0, 0)  # where it begins and ends, if there is one


def list_entries(file: BinaryIO, *, measure: bool = True) -> ZipListing:
    """The entries by the central directory; what it has lost, by their local headers.

    Those that do not lie where the directory says come last. Without `measure` nothing is unpacked:
    an entry whose size only its end can tell has none.
    """
    size = file.seek(0, os.SEEK_END)
    found = _central(file, size)
    problems: list[tuple[int, str]] = []
    lost: set[int] = set()
    directory = (0, 0)
    if isinstance(found, str):
        entries = _Salvage(file, size, measure).entries()
        problems.append((size, f"{found}; {len(entries)} entries were found without it"))
    else:
        entries, directory = found
        lost = {entry.offset for entry in entries if _at(file, entry.offset, 4) != LOCAL}
        if lost:
            listed = {entry.offset for entry in entries}
            saved = _Salvage(file, size, measure).entries()
            entries += [entry for entry in saved if entry.offset not in listed]
    entries.sort(key=lambda entry: (entry.offset in lost, entry.offset))
    if len(entries) >= MAX_ENTRIES:
        problems.append((0, f"only the first {MAX_ENTRIES:,} entries are read"))
    return ZipListing(tuple(entries), tuple(problems), directory)


def has_directory(path: Path) -> bool:
    """Whether the end record of a ZIP is there, whatever the file begins with."""
    with open_zip(path) as file:
        return not isinstance(_central(file, file.seek(0, os.SEEK_END)), str)


def open_zip(path: Path) -> BinaryIO:
    try:
        return os.fdopen(open_plain(path, os.O_RDONLY, follow=True), "rb")
    except OSError as error:
        raise InputError(
            f"{path} cannot be opened ({error.strerror}).",
            hint="Check the path and its permissions.",
        ) from error


def unpack(file: BinaryIO, entry: ZipEntry) -> Iterator[bytes]:
    """The bytes of an entry, at most as many as it declares; BadEntry where something is wrong.

    The bytes come before their checksum is known: be ready for a BadEntry after the last of them.
    """
    made, crc = 0, 0
    for piece in contents(file, entry):
        made += len(piece)
        if made > entry.size:
            raise BadEntry(f"unpacks to more than the {entry.size} bytes it declares")
        crc = isal_zlib.crc32(piece, crc)
        yield piece
    if made < entry.size:
        raise BadEntry(f"has {made} of the {entry.size} bytes it declares")
    if entry.crc is not None and crc != entry.crc:
        raise BadEntry("does not match its checksum")


def contents(file: BinaryIO, entry: ZipEntry) -> Iterator[bytes]:
    """The bytes of an entry, whatever it declares of them; BadEntry at once if there are none."""
    if entry.is_encrypted:
        raise BadEntry("is encrypted")
    if entry.method not in (0, 8):
        known = _METHODS.get(entry.method, f"number {entry.method}")
        raise BadEntry(f"is packed by a method that is not supported ({known})")
    header = _at(file, entry.offset, 30)
    if len(header) < 30 or not header.startswith(LOCAL):
        raise BadEntry("has no header where the directory says")
    file.seek(entry.offset + 30 + sum(unpack_from("<HH", header, 26)))
    if entry.method == 0:
        return _stored(file, entry.packed)
    return _inflated(file, entry.packed, zlib.decompressobj(-15))


def loose_ends(file: BinaryIO, listing: ZipListing) -> Iterator[str]:
    """What another reader could see otherwise: entries that are described in two ways, or that
    overlap, and bytes that belong to none. Nothing of that kind is in a ZIP as tools write it.
    """
    at = descriptor = 0
    for entry in sorted(listing.entries, key=lambda entry: entry.offset):
        gap = entry.offset - at
        if gap < 0:
            yield f"{entry.name} shares its bytes with another entry"
        elif gap and not (descriptor and gap in _DESCRIPTOR_SIZES):
            yield f"{gap:,} bytes before {entry.name} belong to no entry"
        length, is_alike = _own_header(file, entry)
        if not is_alike:
            yield f"{entry.name} is described in two ways, or its name can be read in two"
        descriptor = entry.flags & 0x8
        at = entry.offset + length + entry.packed
    start, end = listing.directory
    if start != at and not (descriptor and start - at in _DESCRIPTOR_SIZES):
        yield "before its directory are bytes that belong to no entry"
    listed = sum(
        46 + sum(unpack_from("<HHH", each.raw, 28)) for each in listing.entries if each.raw
    )
    if listed != end - start:
        yield "its directory does not end where its last entry does"
    last = _at(file, end, 100)  # the three end records at most
    last = last[last.find(END) :]
    if last[4:8] + last[20:] != bytes(6) or last[8:10] != last[10:12]:
        yield "after its directory are bytes that belong to nothing"


def _own_header(file: BinaryIO, entry: ZipEntry) -> tuple[int, bool]:
    """The length of an entry's own header, and whether it says what the directory does."""
    header, listed, name = _at(file, entry.offset, 30), entry.raw, entry.raw[46:]
    if len(header) < 30 or not listed:
        return len(header), False
    length = sum(unpack_from("<HH", header, 26))
    rest = _at(file, entry.offset + 30, length)
    crc, packed, size = unpack_from("<III", header, 14)
    size, packed = _zip64(rest[len(name) :], size, packed)
    return 30 + length, (
        listed[6:8] in (header[4:6], b"\x2d\x00")  # the directory may need ZIP64 where it does not
        and listed[8:16] + name == header[6:14] + rest[: len(name)]
        and listed[28:30] == header[26:28] and listed[34:36] == b"\0\0"
        and name == entry.name.encode()
        and bool(entry.flags & 0x8 or (crc, packed, size) == (entry.crc, entry.packed, entry.size))
    )  # fmt: skip


def _stored(file: BinaryIO, left: int) -> Iterator[bytes]:
    while left and (piece := file.read(min(left, _STEP))):
        left -= len(piece)
        yield piece


def _inflated(file: BinaryIO, left: int, inflater: zlib._Decompress) -> Iterator[bytes]:
    try:
        while not inflater.eof:
            feed = inflater.unconsumed_tail
            if not feed:
                feed = file.read(min(left, 1 << 16))
                left -= len(feed)
            piece = inflater.decompress(feed, _STEP)
            if piece:
                yield piece
            elif not feed:
                raise BadEntry("breaks off: what it is packed in has no end")
    except zlib.error as error:
        raise BadEntry(f"cannot be unpacked ({error})") from error
    if left or inflater.unused_data:
        raise BadEntry("goes on behind the end of what it is packed in")


def _central(file: BinaryIO, size: int) -> tuple[list[ZipEntry], tuple[int, int]] | str:
    """The entries of the central directory and its place, or why there is none to be used."""
    start = max(0, size - 65_557)  # the end record and the longest comment
    tail = _at(file, start, size - start)
    at = tail.rfind(END)
    if at < 0 or len(tail) - at < 22:
        return "the ZIP has no central directory: its end is missing"
    _, _, _, count, length, offset = unpack_from("<HHHHII", tail, at + 4)
    end = start + at
    locator = _at(file, end - 20, 20) if end >= 20 else b""
    if locator.startswith(_LOCATOR64):
        record = _at(file, unpack_from("<Q", locator, 8)[0], 56)
        if len(record) == 56 and record.startswith(_END64):
            count, length, offset = unpack_from("<QQQ", record, 32)
            end -= 20 + 12 + unpack_from("<Q", record, 4)[0]
    # Bytes before the first entry (a self-extractor), or a lost start, shift everything alike.
    shift = end - length - offset
    if end - length < 0 or (count and _at(file, end - length, 4) != CENTRAL):
        return "the ZIP's central directory does not lie where its end says"
    entries = _entries(file, end - length, end, count, shift)
    return entries if isinstance(entries, str) else (entries, (end - length, end))


def _entries(file: BinaryIO, at: int, end: int, count: int, shift: int) -> list[ZipEntry] | str:
    entries: list[ZipEntry] = []
    file.seek(at)
    while len(entries) < min(count, MAX_ENTRIES):
        header = file.read(46)
        if len(header) < 46 or not header.startswith(CENTRAL) or file.tell() > end:
            return f"the ZIP's central directory is damaged after {len(entries)} of {count} entries"
        flags, method, crc = unpack_from("<HH4xI", header, 8)
        packed, size, name_length, extra_length, comment_length = unpack_from("<IIHHH", header, 20)
        mode, offset = unpack_from("<HI", header, 40)
        name, extra = file.read(name_length), file.read(extra_length)
        file.seek(comment_length, os.SEEK_CUR)
        size, packed, offset = _zip64(extra, size, packed, offset)
        shown, offset = printable(name, flags), offset + shift
        entries.append(
            ZipEntry(shown, offset, method, flags, crc, packed, size, mode, header + name)
        )
    return entries


def _zip64(extra: bytes, *values: int) -> list[int]:
    """The values that did not fit into 32 bits, from the extra field (APPNOTE section 4.5.3)."""
    found, at = list(values), 0
    while at + 4 <= len(extra):
        kind, length = unpack_from("<HH", extra, at)
        if kind == 1:
            field = extra[at + 4 : at + 4 + length]
            for index, value in enumerate(values):
                if value == _UNKNOWN and len(field) >= 8:
                    found[index], field = unpack_from("<Q", field)[0], field[8:]
        at += 4 + length
    return found


@dataclass(slots=True)
class _Salvage:
    """Entries by their local headers, one after another; a gap is searched for the next header."""

    _file: BinaryIO
    _size: int
    _measure: bool
    _room: int = _MAX_MEASURED

    def entries(self) -> list[ZipEntry]:
        entries: list[ZipEntry] = []
        at, attempts = 0, 0
        while len(entries) < MAX_ENTRIES and attempts < _MAX_ATTEMPTS:
            found = _find(self._file, at, LOCAL)
            if found is None:
                break
            entry, at = self._local(found)
            attempts += 1
            if entry is not None:
                entries.append(entry)
        return entries

    def _local(self, at: int) -> tuple[ZipEntry | None, int]:
        """The entry whose local header lies here, if it is one, and where to look for the next."""
        header = _at(self._file, at, 30)
        if len(header) < 30:
            return None, self._size
        version, flags, method, crc, packed, unpacked = unpack_from("<HHH4xIII", header, 4)
        name_length, extra_length = unpack_from("<HH", header, 26)
        if version > 100 or not 0 < name_length <= 1024:
            return None, at + 1
        name = _at(self._file, at + 30, name_length)
        extra = _at(self._file, at + 30 + name_length, extra_length)
        unpacked, packed = _zip64(extra, unpacked, packed)
        data = at + 30 + name_length + extra_length
        entry = ZipEntry(printable(name, flags), at, method, flags, crc, packed, unpacked)
        if packed in (0, _UNKNOWN) and method == 8:
            return self._inflatable(entry, data)
        if packed in (0, _UNKNOWN) and flags & 0x8:
            return self._described(entry, data) if method == 0 else (None, data)
        return entry, data + packed

    def _described(self, entry: ZipEntry, data: int) -> tuple[ZipEntry, int]:
        """A stored entry that was streamed: its size and checksum come after it (APPNOTE 4.3.9)."""
        at = data
        for _ in range(_MAX_ATTEMPTS):
            found = _find(self._file, at, _DESCRIPTOR)
            if found is None:
                break
            length, fields = found - data, _at(self._file, found + 4, 20)
            for form, width in (("<IQQ", 20), ("<III", 12)):
                if len(fields) >= width:
                    crc, packed, unpacked = unpack_from(form, fields)
                    if packed == unpacked == length:
                        sized = replace(entry, crc=crc, packed=length, size=length)
                        return sized, found + 4 + width
            at = found + 1
        rest = max(0, self._size - data)
        return replace(entry, crc=None, packed=rest, size=rest), self._size

    def _inflatable(self, entry: ZipEntry, data: int) -> tuple[ZipEntry | None, int]:
        """A deflated entry of which nothing says the size: only unpacking tells where it ends."""
        if not self._measure:
            return replace(entry, crc=None, packed=0, size=0), data
        inflater, made = zlib.decompressobj(-15), 0
        self._file.seek(data)
        try:
            for piece in _inflated(self._file, self._size, inflater):
                made += len(piece)
                self._room -= len(piece)
                if self._room < 0:
                    return None, data
        except BadEntry:  # what comes before the fault is kept
            end = _find(self._file, data, LOCAL) or self._size
        else:
            end = self._file.tell() - len(inflater.unused_data)
        whole = replace(entry, crc=None, packed=end - data, size=made)
        return (whole, end) if made else (None, data)


def _find(file: BinaryIO, at: int, magic: bytes) -> int | None:
    """The next such number from `at` on. Small blocks first: mostly it is near."""
    kept, block = b"", 1 << 12
    while piece := _at(file, at, block):
        window = kept + piece
        found = window.find(magic)
        if found >= 0:
            return at - len(kept) + found
        at, kept, block = at + len(piece), window[-3:], min(4 * block, 1 << 20)
    return None


def _at(file: BinaryIO, offset: int, size: int) -> bytes:
    if not 0 <= offset < 1 << 62:
        return b""
    file.seek(offset)
    return file.read(size)


def printable(name: bytes, flags: int = 0) -> str:
    """A name for people: slashes one way, not too long, and nothing that could drive a terminal."""
    if len(name) > _MAX_NAME:
        name = name[: _MAX_NAME // 2] + b"..." + name[-_MAX_NAME // 2 :]
    try:
        text = name.decode("utf-8")
    except UnicodeDecodeError:  # the code page of DOS, unless the entry says otherwise
        text = name.decode("utf-8" if flags & 0x800 else "cp437", "replace")
    return "".join(char if char.isprintable() else "_" for char in text.replace("\\", "/"))
