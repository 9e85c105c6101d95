"""The members of zstd files: one frame a record, maybe with a dictionary in front.

By the .warc.zst convention the dictionary is the content of a skippable frame with the magic number
0x184D2A5D at the start of the file, as it is or as a zstd frame of its own.

The blocks of a frame say how long they are (RFC 8878 section 3.1.1.2), so its end is known without
unpacking it, and as a block gives at most 128 KiB, so is the memory that unpacking takes.
"""

import struct
from collections.abc import Iterator
from itertools import islice

import zstandard

from asof.warc.members import (
    PIECE,
    RECORD_START,
    Broken,
    GzipMember,
    GzipMembers,
    Window,
    gathered,
    starts_record,
)

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPABLE = tuple(struct.pack("<I", 0x184D2A50 + number) for number in range(16))

_DICTIONARY = struct.pack("<I", 0x184D2A5D)
_DICTIONARY_LIMIT = 32 << 20
_BLOCK = 128 << 10
_LONGEST_HEADER = 18
_CHECKSUM = 4
# What the reference decoder allows by default; a frame may ask for up to 3.75 TB.
_WINDOW_LIMIT = 128 << 20
_RLE, _RESERVED = 1, 3


def frame_ends(file: Window, at: int) -> Iterator[int]:
    """Where the parts of the frame at an offset end: its header, each block, at last all of it."""
    head = file.read(at, _LONGEST_HEADER)
    if head.startswith(SKIPPABLE) and len(head) >= 8:
        at += 8 + int.from_bytes(head[4:8], "little")
        if at > file.size:
            raise Broken("the zstd frame is cut short", cut=True)
        yield at
        return
    try:
        checksum = _CHECKSUM if zstandard.get_frame_parameters(head).has_checksum else 0
        at += zstandard.frame_header_size(head)
    except zstandard.ZstdError as error:
        begun = head.startswith(ZSTD_MAGIC) or ZSTD_MAGIC.startswith(head)
        cut = begun and len(head) < _LONGEST_HEADER
        raise Broken("no zstd frame starts here", cut=cut) from error
    yield at
    last = False
    while not last:
        start = int.from_bytes(file.read(at, 3), "little")
        last, kind, size = bool(start & 1), start >> 1 & 3, start >> 3
        if kind == _RESERVED or size > _BLOCK:
            raise Broken("the zstd data is damaged")
        at += 3 + (1 if kind == _RLE else size) + (checksum if last else 0)
        if at > file.size:
            raise Broken("the zstd frame is cut short", cut=True)
        yield at


class ZstdFrame:
    """One frame, read forward, as many blocks at a time as make a piece."""

    __slots__ = ("_ends", "_file", "_unpacker", "end", "fed")

    def __init__(self, file: Window, at: int, unpacker: zstandard.ZstdDecompressor) -> None:
        self._file = file
        self.fed = at
        self._ends = frame_ends(file, at)
        skipped = file.peek(at, 4) in SKIPPABLE
        self._unpacker = None if skipped else unpacker.decompressobj()
        self.end = -1

    def read(self) -> bytes:
        """The next piece of the content, empty at its end; `Broken` when it cannot be had."""
        while self.end < 0:
            stop = max(islice(self._ends, PIECE // _BLOCK), default=-1)
            if stop < 0:
                if self._unpacker is not None and not self._unpacker.eof:
                    raise Broken("the zstd data is damaged")
                self.end = self.fed
                continue
            start, self.fed = self.fed, stop
            if self._unpacker is None:
                continue
            try:
                if piece := self._unpacker.decompress(self._file.read(start, stop - start)):
                    return piece
            except zstandard.ZstdError as error:
                cause = str(error).rpartition(": ")[2].lower()
                raise Broken(f"the zstd data is damaged ({cause})") from error
        return b""


class ZstdFrames:
    """The members of a zstd file."""

    def __init__(self, file: Window) -> None:
        self.file = file
        self._unpacker = _read_dictionary(file) or zstandard.ZstdDecompressor(
            max_window_size=_WINDOW_LIMIT
        )

    def load(self, at: int) -> tuple[bytes, int] | None:
        """The content of the member at an offset, and where it ends; None: too much to hold."""
        frame = self.open(at)
        content = gathered(frame.read)
        return None if content is None else (content, frame.end)

    def open(self, at: int) -> ZstdFrame:
        return ZstdFrame(self.file, at, self._unpacker)

    def start_of(self, at: int, count: int = len(RECORD_START)) -> bytes | None:
        """The first few bytes of a member's content; None when no member starts there."""
        try:
            return self.open(at).read()[:count]
        except Broken:
            return None

    def end_of(self, at: int) -> int | None:
        """Where a frame ends, by what its blocks say, if a record or nothing follows there."""
        try:
            end = max(frame_ends(self.file, at))
        except Broken:
            return None
        return end if end == self.file.size or starts_record(self.start_of(end)) else None

    def next_start(self, at: int) -> int:
        """Where the next member that starts a record lies, after a broken one at an offset.

        A frame whose content is damaged may still say where it ends. If a record starts there, then
        nothing that lies inside the frame can pass for a frame of the file's own.
        """
        end = self.end_of(at)
        if end is not None:
            return end
        for found in self.file.places(ZSTD_MAGIC, at + 1):
            if starts_record(self.start_of(found)):
                return found
        return self.file.size


Member = GzipMember | ZstdFrame
"""The content of one member, read forward. `end` is the offset after it, once it is read."""

Members = GzipMembers | ZstdFrames
"""A compressed file, by the offsets of its members."""


def _read_dictionary(file: Window) -> zstandard.ZstdDecompressor | None:
    """An unpacker with the dictionary in front of the frames; None when none is there, or readable.

    Frames that needed it are then reported as damaged, each with that reason.
    """
    head = file.peek(0, 8)
    size = int.from_bytes(head[4:8], "little")
    if not head.startswith(_DICTIONARY) or not 0 < size <= _DICTIONARY_LIMIT:
        return None
    data = file.pread(8, size)
    try:
        if data.startswith(ZSTD_MAGIC):
            plain = zstandard.ZstdDecompressor(max_window_size=_WINDOW_LIMIT)
            data = plain.stream_reader(data).read(_DICTIONARY_LIMIT)
        if not data:
            return None
        return zstandard.ZstdDecompressor(
            dict_data=zstandard.ZstdCompressionDict(data), max_window_size=_WINDOW_LIMIT
        )
    except zstandard.ZstdError:
        return None
