"""The bytes of a file, unpacked as they are read: plain, gzip, zstd. Bounded, and never raising.

A gzip file may be a member a record, one member for all, or blocks cut anywhere. The start of each
member is kept as a mark, and after damage the next member that does unpack is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import BinaryIO, Protocol

import zstandard
from isal import igzip_lib

GZIP_MAGIC = b"\x1f\x8b\x08"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
BAD_CHECKSUM = "the checksum of the gzip member is wrong"
# Unpacked bytes asked for at once: what bounds the memory of a gzip bomb.
STEP = 1 << 18

_READ = 1 << 16
# Compressed bytes given to the inflater at once. An error loses what the call had unpacked, so this
# bounds how much of a one-member file is lost before a bad spot.
_FEED = 1 << 12
# Marks and attempts kept per file. Both are far above what honest files need; they stop a file made
# of tiny members, or of magic numbers, from taking memory and time out of proportion.
_MAX_MARKS = 1 << 16
_MAX_ATTEMPTS = 100_000
# Bytes that may be scanned a second time after damage, beside four times the file itself.
_SPARE_RESCAN = 64 << 20
# Junk in front of the first record is looked through as far as this.
_JUNK = 1 << 20
_LINE_START = re.compile(rb"(?:\A|\n)(?=[A-Za-z<])")

Starts = Callable[[bytes], bool]

# The stub of isal declares its exception as a value, not as a class.
_BAD_DATA: type[Exception] = igzip_lib.IsalError  # type: ignore[assignment]


class Unpacker(Protocol):
    """Gives unpacked bytes until the end or a fault."""

    fault: str
    """Why the bytes end, where they do not end as they should."""
    fault_at: int
    """The offset in the file of what is at fault: a gzip member, or what should be one."""
    made: int
    """How many bytes were unpacked so far."""
    marks: list[tuple[int, int]]
    """For each gzip member: how many bytes were made before it, and its offset in the file."""

    def more(self) -> bytes:
        """The next bytes; empty at the end and after a fault."""
        ...

    def recover(self) -> bool:
        """Go on at the next readable place after a fault, if there is one."""
        ...


class Plain:
    """Bytes as they are."""

    def __init__(self, file: BinaryIO) -> None:
        self.fault = ""
        self.fault_at = 0
        self.made = 0
        self.marks = [(0, 0)]
        self._file = file

    def more(self) -> bytes:
        """The next bytes."""
        piece, self.fault = _read(self._file, STEP)
        self.fault_at = self.made
        self.made += len(piece)
        return piece

    def recover(self) -> bool:
        """There is nothing to look for."""
        return False


class Zstd:
    """Zstandard frames. No recovery: ARC and TREC-Web are hardly ever packed so."""

    def __init__(self, file: BinaryIO) -> None:
        self.fault = ""
        self.fault_at = 0
        self.made = 0
        self.marks = [(0, 0)]
        self._reader = zstandard.ZstdDecompressor().stream_reader(
            file, read_across_frames=True, closefd=False
        )

    def more(self) -> bytes:
        """The next bytes, unpacked."""
        if self.fault:
            return b""
        try:
            piece = self._reader.read(STEP)
        except (zstandard.ZstdError, OSError) as error:
            self.fault = f"the zstd data cannot be unpacked ({error})"
            return b""
        self.made += len(piece)
        return piece

    def recover(self) -> bool:
        """There is nothing to look for."""
        return False


class Gzip:
    """Gzip members one after another; every member's start is kept as a mark."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.fault = ""
        self.fault_at = 0
        self.made = 0
        self.marks: list[tuple[int, int]] = []
        self._file = file
        self._raw = b""
        self._raw_at = 0
        self._inflater: igzip_lib.IgzipDecompressor | None = None
        self._rescan = 4 * size + _SPARE_RESCAN
        self._attempts = _MAX_ATTEMPTS

    def more(self) -> bytes:
        """The next bytes, unpacked; they never reach over the start of a member."""
        while not self.fault:
            if self._inflater is None and not self._begin():
                break
            if piece := self._inflate():
                self.made += len(piece)
                return piece
        return b""

    def _begin(self) -> bool:
        """Stand at the next member; False at the end of the file."""
        while True:
            self._refill(len(GZIP_MAGIC))
            # Tapes and some disk tools pad files with NUL; gzip itself passes over them.
            kept = self._raw.lstrip(b"\0")
            self._raw_at += len(self._raw) - len(kept)
            padded, self._raw = len(kept) < len(self._raw), kept
            if not padded:
                break
        if not self._raw:
            return False
        self.fault_at = self._raw_at
        if not self._raw.startswith(GZIP_MAGIC):
            self.fault = "the bytes after a gzip member are not gzip"
            return False
        self._inflater = _inflater()
        if self.marks and self.marks[-1][0] == self.made:
            self.marks.pop()
        if len(self.marks) < _MAX_MARKS:
            self.marks.append((self.made, self._raw_at))
        return True

    def _inflate(self) -> bytes:
        inflater = self._inflater
        assert inflater is not None
        feed = b""
        if inflater.needs_input:
            self._refill(1)
            feed, self._raw = self._raw[:_FEED], self._raw[_FEED:]
            self._raw_at += len(feed)
            if not feed:
                self.fault = self.fault or "the file ends inside a gzip member"
                return b""
        try:
            piece = inflater.decompress(feed, STEP)
        except _BAD_DATA as error:
            wrong_sum = "checksum" in str(error)
            self.fault = BAD_CHECKSUM if wrong_sum else f"the gzip data is damaged ({error})"
            return b""
        if inflater.eof:
            self._raw = inflater.unused_data + self._raw
            self._raw_at -= len(inflater.unused_data)
            self._inflater = None
        return piece

    def _refill(self, size: int) -> None:
        while len(self._raw) < size:
            piece, self.fault = _read(self._file, _READ)
            if not piece:
                return
            self._raw += piece

    def recover(self) -> bool:
        """Find the next member by its magic number, and only where it does unpack.

        Bad data may have led the inflater past the start of the next member, so the search starts
        inside the bad one, as long as the budget for reading bytes again lasts.
        """
        if not self.fault:
            return False
        start = self.fault_at + 1
        if self._raw_at - start > self._rescan:
            start = self._raw_at
        self._rescan -= max(0, self._raw_at - start)
        found = next((at for at in self._magics(start) if self._opens(at)), None)
        if found is None:
            return False
        self._file.seek(found)
        self._raw, self._raw_at, self._inflater, self.fault = b"", found, None, ""
        return True

    def _magics(self, start: int) -> Iterator[int]:
        at, kept = start, b""
        while self._attempts > 0:
            self._file.seek(at)
            piece, problem = _read(self._file, 1 << 20)
            if not piece or problem:
                return
            window, base = kept + piece, at - len(kept)
            found = window.find(GZIP_MAGIC)
            while found >= 0 and self._attempts > 0:
                yield base + found
                found = window.find(GZIP_MAGIC, found + 1)
            at, kept = at + len(piece), window[-2:]

    def _opens(self, at: int) -> bool:
        self._attempts -= 1
        self._file.seek(at)
        piece, _ = _read(self._file, _FEED)
        return unpack_start(piece, 512) is not None


def open_unpacker(file: BinaryIO, size: int, starts: Starts) -> Unpacker:
    """The unpacker that fits the file, whose first bytes may be junk in front of something else.

    `starts` tells whether bytes at the start of a line, or of a gzip member, begin a record.
    """
    window, _ = _read(file, _JUNK)
    file.seek(0)
    if window.startswith(ZSTD_MAGIC):
        return Zstd(file)
    if window.startswith(GZIP_MAGIC) and unpack_start(window) is not None:
        return Gzip(file, size)
    plain, packed = (
        next(filter(None, places), None)
        for places in (_plain_places(window, starts), _packed_places(window, starts))
    )
    if packed is None or (plain is not None and plain < packed):
        return Plain(file)
    unpacker = Gzip(file, size)
    unpacker.fault = "the file does not begin with a gzip member"
    return unpacker


def unpack_start(window: bytes, limit: int = 1 << 12) -> bytes | None:
    """The first bytes of the gzip member that begins here, or None when none does."""
    if len(window) < 4 or window[3] & 0xE0:  # reserved flags must be zero: RFC 1952 section 2.3.1
        return None
    inflater = _inflater()
    try:
        piece = inflater.decompress(window[:_FEED], limit)
    except _BAD_DATA:
        return None
    return piece if piece or inflater.eof else None


def _plain_places(window: bytes, starts: Starts) -> Iterator[int]:
    """Where records begin in plain bytes, counted from 1; what is not near is not looked for."""
    for match in islice(_LINE_START.finditer(window), _MAX_ATTEMPTS):
        if starts(window[match.end() : match.end() + _FEED]):
            yield match.end() + 1


def _packed_places(window: bytes, starts: Starts) -> Iterator[int]:
    """Where gzip members begin whose first bytes begin a record, counted from 1."""
    at = window.find(GZIP_MAGIC)
    while at >= 0:
        piece = unpack_start(window[at : at + _FEED])
        if piece and starts(piece):
            yield at + 1
        at = window.find(GZIP_MAGIC, at + 1)


def _inflater() -> igzip_lib.IgzipDecompressor:
    return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)


def _read(file: BinaryIO, size: int) -> tuple[bytes, str]:
    """Bytes, or why the disk will not give them: a bad sector must not end an import."""
    try:
        return file.read(size), ""
    except OSError as error:
        return b"", f"the file cannot be read on ({error.strerror})"
