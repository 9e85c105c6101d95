"""Files through bounded windows, and the members of gzip files, by offset.

A compressed WARC file is a row of members (RFC 1952 section 2.2), one for each record if its writer
was kind (WARC 1.1 annex D). Nothing here knows what a record is, but for the five bytes it starts
with: they tell a member from a coincidence.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from pathlib import Path

import deflate
from isal import igzip_lib

from asof.errors import InputError
from asof.files import open_plain
from asof.native import compiled
from asof.warc.header import HEADER_LIMIT

BLOCK_LIMIT = 4 << 20
"""Blocks of more bytes are not held in memory."""

CONTENT_LIMIT = BLOCK_LIMIT + HEADER_LIMIT + 4
"""So much content a member may have to be held in memory."""

RECORD_START = b"WARC/"
"""In whatever case: see `starts_record`."""

GZIP_MAGIC = b"\x1f\x8b\x08"
BAD_CHECKSUM = "the checksum of the gzip member is wrong"
PIECE = 1 << 18
"""Content asked for at once: this, and not what a bomb would like, is what is allocated."""

_WINDOW = 1 << 19
# A member that starts so near to the window's end is read through a new window.
_MARGIN = 1 << 16
# What the first call may give. Nearly all records are smaller; the buffer is allocated in full, and
# from 128 KiB on that means a trip to the kernel (measured: 55 us instead of 36 us for 25 KB).
_FIRST = 1 << 16
_FEED = 1 << 16
_PROBE = 1 << 12
_RESERVED_FLAGS = 0xE0
_SMALLEST_MEMBER = 18
# Deflate cannot make less than a thousandth of anything, so a length that says so is a coincidence.
_LARGEST_RATIO = 1_100
# Bytes compared to tell a member from bytes that another member stores as they are.
_SAMPLE = 32


_find_member: Callable[[bytes, int], int] = (
    (lambda data, start: data.find(GZIP_MAGIC, start)) if compiled is None else compiled.find_member
)


def starts_record(data: bytes | None) -> bool:
    """Whether some bytes begin as a record does, in whatever case."""
    return data is not None and data[: len(RECORD_START)].upper() == RECORD_START


# The stub of isal declares its exception as a value, not as a class.
_BAD_DATA: type[Exception] = igzip_lib.IsalError  # type: ignore[assignment]


@dataclass(eq=False)
class Broken(Exception):
    """A member cannot be read to its end; stays inside `asof.warc`. `cut`: the file ends first."""

    reason: str
    cut: bool = False


class Window:
    """A file read through one window; `data` holds its bytes from offset `base` on."""

    __slots__ = ("_span", "base", "data", "fd", "path", "size", "view")

    def __init__(self, path: Path, span: int = _WINDOW) -> None:
        self.path = path
        self._span = span
        try:
            self.fd = open_plain(path, os.O_RDONLY, follow=True)
            self.size = os.fstat(self.fd).st_size
        except OSError as error:
            raise InputError(
                f"{path} cannot be opened ({error.strerror}).",
                hint="Check the path and its permissions.",
            ) from error
        self.base = 0
        self.data = b""
        self.view = memoryview(self.data)

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self.fd)

    def narrowed(self, span: int) -> Window:
        """The same open file through another window; closed with this one."""
        other = copy(self)
        other._span = span
        other.move(0)
        return other

    def pread(self, at: int, count: int) -> bytes:
        try:
            return os.pread(self.fd, count, at)
        except OSError as error:
            raise InputError(
                f"{self.path} cannot be read: {error.strerror}.",
                hint="Check the path, its rights and the disk.",
            ) from error

    def move(self, at: int) -> None:
        self.data = self.pread(at, self._span)
        self.view = memoryview(self.data)
        self.base = at

    def read(self, at: int, count: int) -> bytes:
        """Bytes from an offset on, through the window if it can hold them."""
        begin = at - self.base
        if begin < 0 or begin + count > len(self.data):
            if count > self._span:
                return self.pread(at, count)
            self.move(at)
            begin = 0
        return self.data[begin : begin + count]

    def peek(self, at: int, count: int) -> bytes:
        begin = at - self.base
        if begin < 0 or begin + count > len(self.data):
            return self.pread(at, count)
        return self.data[begin : begin + count]

    def find(self, needle: bytes, at: int) -> int:
        """The first place of some bytes from an offset on, or -1."""
        while at < self.size:
            if not self.base <= at < self.base + len(self.data) - len(needle):
                self.move(at)
            found = self.data.find(needle, at - self.base)
            if found >= 0:
                return self.base + found
            past = self.base + len(self.data)
            if past >= self.size or not self.data:
                return -1
            at = past - len(needle) + 1
        return -1

    def places(self, needle: bytes, at: int) -> Iterator[int]:
        """All places of some bytes from an offset on."""
        while (at := self.find(needle, at)) >= 0:
            yield at
            at += 1


class GzipMember:
    """One gzip member, read forward in pieces of bounded size."""

    __slots__ = ("_feed", "_file", "_inflater", "_more", "_new", "end", "fed")

    def __init__(
        self,
        file: Window,
        at: int,
        inflater: igzip_lib.IgzipDecompressor | None = None,
        feed: int = _FEED,
    ) -> None:
        self._file = file
        self._feed = feed
        self.fed = at  # what lies before has been given to the inflater
        self._new = inflater is None
        self._inflater = inflater or igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)
        self._more = inflater is not None  # the inflater may hold content back
        self.end = -1

    def read(self) -> bytes:
        """The next piece of the content, empty at its end; `Broken` when it cannot be had."""
        inflater = self._inflater
        while not inflater.eof:
            # Chunks start where the member does, not where a window does: an error loses what its
            # call had unpacked, and two readings must lose the same.
            chunk = b""
            if inflater.needs_input and not self._more:
                chunk = self._file.pread(self.fed, self._feed)
                self.fed += len(chunk)
                if not chunk:
                    raise Broken("the gzip member is cut short", cut=True)
                if self._new:
                    _require_known_flags(chunk[3:4])
                    self._new = False
            piece = _inflate(inflater, chunk, PIECE)
            # A full piece may leave content behind even when all input is used up.
            self._more = len(piece) == PIECE
            if piece:
                return piece
            if not (chunk or inflater.needs_input or inflater.eof):
                raise Broken("the gzip data is damaged")  # never seen; it would go on for ever
        if self.end < 0:
            self.end = self.fed - len(inflater.unused_data)
        return b""


def gathered(read: Callable[[], bytes], first: bytes = b"") -> bytes | None:
    """All of a member's content; None: too much to hold."""
    pieces = [first]
    total = len(first)
    while piece := read():
        pieces.append(piece)
        total += len(piece)
        if total > CONTENT_LIMIT:
            return None
    return b"".join(pieces)


def _whole_member(view: memoryview) -> bytearray | None:
    """The content of what may be exactly one member, by libdeflate; None if it is not.

    libdeflate wants all of it at once, and takes 24 us where ISA-L takes 31 (pages of 23 KB). It
    does not say where the member ended, but the last four bytes of one are its content's length
    (RFC 1952 section 2.3.1): when they say what has come out, nothing follows.
    """
    length = int.from_bytes(view[-4:], "little")
    if not 0 < length <= min(CONTENT_LIMIT, len(view) * _LARGEST_RATIO):
        return None
    try:
        content = deflate.gzip_decompress(view, length)
    except (deflate.DeflateError, ValueError):  # the latter of deflate 0.8 for a bad header
        return None
    return content if len(content) == length else None


def _require_known_flags(flags: bytes) -> None:
    """ISA-L does not mind, but other readers would not take the member (RFC 1952 2.3.1.2)."""
    if flags and flags[0] & _RESERVED_FLAGS:
        raise Broken("the gzip header is damaged")


def _inflate(inflater: igzip_lib.IgzipDecompressor, chunk: bytes | memoryview, limit: int) -> bytes:
    try:
        return inflater.decompress(chunk, limit)
    except _BAD_DATA as error:
        if "checksum" in str(error):
            raise Broken(BAD_CHECKSUM) from error
        raise Broken("the gzip data is damaged") from error


class GzipMembers:
    """The members of a gzip file."""

    def __init__(self, file: Window) -> None:
        self.file = file
        self.patience = 1 << 22  # bytes that may be unpacked one by one

    def load(self, at: int) -> tuple[bytes | bytearray, int] | None:
        """The content of the member at an offset, and where it ends; None: too much to hold."""
        file = self.file
        begin = at - file.base
        data = file.data
        if begin < 0 or (begin + _MARGIN > len(data) and file.base + len(data) < file.size):
            file.move(at)
            data = file.data
            begin = 0
        # Most members reach to the next magic number. Where that is a coincidence, or anything else
        # is unusual, the inflater that can stop and go on has the word; what it does not use it
        # copies, so it gets no more than that either. A header with flags must not be cut: ISA-L
        # loses its place in one (isal 1.8.0, FEXTRA).
        stop = -1
        flags = data[begin + 3 : begin + 4]
        if flags == b"\0":
            stop = _find_member(data, begin + _SMALLEST_MEMBER)
            whole = _whole_member(file.view[begin : stop if stop > 0 else None])
            if whole is not None:
                return whole, file.base + (stop if stop > 0 else len(data))
        else:
            _require_known_flags(flags)
        if stop < 0:
            stop = len(data)
        inflater = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)
        content = _inflate(inflater, file.view[begin:stop], _FIRST)
        if inflater.eof:
            return content, file.base + stop - len(inflater.unused_data)
        member = GzipMember(file, file.base + stop, inflater)
        more = gathered(member.read, content)
        return None if more is None else (more, member.end)

    def open(self, at: int) -> GzipMember:
        return GzipMember(self.file, at)

    def start_of(self, at: int, count: int = len(RECORD_START)) -> bytes | None:
        """The first few bytes of a member's content; None when no member starts there."""
        raw = self.file.peek(at, _PROBE)
        if not raw.startswith(GZIP_MAGIC) or len(raw) < _SMALLEST_MEMBER:
            return None
        if raw[3] & _RESERVED_FLAGS:
            return None
        if raw[3]:  # names and comments come before the content
            raw = self.file.peek(at, _FEED)
        inflater = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)
        try:
            return _inflate(inflater, raw, count)
        except Broken:
            return None

    def next_start(self, at: int) -> int:
        """Where the next member that starts a record lies, after a broken one at an offset.

        A captured .warc.gz is stored inside its record as it is, for it cannot be made smaller.
        When the record is cut short, the members inside it must not pass for the archive's own: an
        author of web pages could forge captures that way.
        """
        cover = _Cover(self.file, at)
        for found in self.file.places(GZIP_MAGIC, at + 1):
            if starts_record(self.start_of(found)) and not cover.hides(found):
                return found
        return self.file.size


class _Cover:
    """A broken member, unpacked as far as it goes beside the search for the next one."""

    def __init__(self, file: Window, at: int) -> None:
        self._file = file
        self._fed = at
        self._inflater = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)
        self._tail = b""
        self._open = True

    def hides(self, at: int) -> bool:
        """Whether the bytes at an offset are content of the broken member, stored verbatim."""
        goal = min(at + 2 * _SAMPLE, self._file.size)
        while self._open and self._fed < goal:
            chunk = self._file.pread(self._fed, min(_FEED, goal - self._fed))
            self._fed += len(chunk)
            self._open = bool(chunk) and self._feed(chunk)
        return self._open and self._file.peek(at, _SAMPLE) in self._tail

    def _feed(self, chunk: bytes) -> bool:
        more = True
        while more:
            try:
                piece = _inflate(self._inflater, chunk, PIECE)
            except Broken:
                return False
            self._tail = (self._tail + piece)[-8 * _SAMPLE :]
            chunk = b""
            more = len(piece) == PIECE or not (self._inflater.needs_input or self._inflater.eof)
            if self._inflater.eof:
                return False
        return True
