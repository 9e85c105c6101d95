"""A foreign file read forward: unpacked on the way, in flat memory, and on past damage.

A `ForeignFile` keeps what the parsers of ARC and TREC-Web need to be honest: where in the file the
next byte lies, where a member starts, and why no more bytes can be had. A compressed file may be a
member a record, one member for all, or blocks cut anywhere: the start of each member is kept as a
mark, and after damage the next member that does unpack is looked for.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from asof.errors import InputError
from asof.model import Body, Damage
from asof.warc.members import GZIP_MAGIC, PIECE, Broken, GzipMember, GzipMembers, Window
from asof.warc.reader import behind
from asof.warc.record import Record
from asof.warc.zstd_members import ZSTD_MAGIC, Member, Members, ZstdFrames

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


class _Unpacked:
    """The bytes of a file as they are, or member by member; every member's start is a mark.

    `fault` says why the bytes end, where they do not end as they should, and `fault_at` which
    member it is. `made` counts the bytes so far; a mark is (what was made before it, its offset).
    """

    def __init__(self, file: Window, members: Members | None, fault: str = "") -> None:
        self.fault = fault
        self.fault_at = 0
        self.made = 0
        self.marks: list[tuple[int, int]] = [] if members else [(0, 0)]
        self._file = file
        self.members = members
        self._member: Member | None = None
        self._at = 0  # of the member, or of the one to be opened next
        self._rescan = 4 * file.size + _SPARE_RESCAN
        self._attempts = _MAX_ATTEMPTS

    def more(self) -> bytes:
        """The next bytes, never over the start of a member; empty at the end and after a fault."""
        try:
            while not self.fault:
                if self.members is None:
                    self.fault_at = self.made
                    piece = self._file.pread(self.made, PIECE)
                    self.made += len(piece)
                    return piece
                member = self._member = self._member or self._begin(self.members)
                if member is None:
                    break
                if piece := member.read():
                    self.made += len(piece)
                    return piece
                self._at, self._member = member.end, None
        except Broken as broken:
            self.fault = broken.reason
        except InputError as error:  # a bad sector must not end an import
            self.fault = error.what
        return b""

    def _begin(self, members: Members) -> Member | None:
        """Open the next member; None at the end of the file."""
        # Tapes and some disk tools pad files with NUL; gzip itself passes over them.
        while head := self._file.read(self._at, _FEED):
            kept = head.lstrip(b"\0")
            self._at += len(head) - len(kept)
            if kept:
                break
        self.fault_at = self._at
        if not head:
            return None
        if self.marks and self.marks[-1][0] == self.made:
            self.marks.pop()
        if len(self.marks) < _MAX_MARKS:
            self.marks.append((self.made, self._at))
        if isinstance(members, ZstdFrames):
            return members.open(self._at)
        if not kept.startswith(GZIP_MAGIC):
            raise Broken("the bytes after a gzip member are not gzip")
        return GzipMember(self._file, self._at, feed=_FEED)

    def recover(self) -> bool:
        """After a fault, find the next member by its magic number, and only where it does unpack.

        Bad data may have led the inflater past the start of the next member, so the search starts
        inside the bad one, as long as the budget for reading bytes again lasts.
        """
        if not self.fault or self.members is None:
            return False
        magic = ZSTD_MAGIC if isinstance(self.members, ZstdFrames) else GZIP_MAGIC
        at, reached = self.fault_at, self._member.fed if self._member else self._at
        if reached - at > self._rescan:
            at = reached
        self._rescan -= max(0, reached - at)
        try:
            for place in self._file.places(magic, at + 1):
                if not self._attempts:
                    break
                self._attempts -= 1
                if self.members.start_of(place, 512):
                    self._at, self._member, self.fault = place, None, ""
                    return True
        except InputError:
            pass
        return False


def _unpacked(file: Window, starts: Starts) -> _Unpacked:
    """The bytes of a file, whose first ones may be junk in front of something else."""
    gzip = GzipMembers(file)
    if file.peek(0, 4) == ZSTD_MAGIC:
        return _Unpacked(file, ZstdFrames(file))
    if gzip.start_of(0) is not None:
        return _Unpacked(file, gzip)
    window = file.pread(0, _JUNK)
    places = (match.end() for match in islice(_LINE_START.finditer(window), _MAX_ATTEMPTS))
    plain = next((at for at in places if starts(window[at : at + _FEED])), _JUNK)
    packed = window.find(GZIP_MAGIC, 0, plain)
    while packed >= 0 and not starts(gzip.start_of(packed, _FEED) or b""):
        packed = window.find(GZIP_MAGIC, packed + 1, plain)
    if packed < 0:
        return _Unpacked(file, None)
    return _Unpacked(file, gzip, "the file does not begin with a gzip member")


class ForeignFile:
    """The unpacked bytes of a file, in order. `position` counts those already taken.

    `starts` tells whether some bytes begin a record; it decides between plain and packed where the
    file begins with neither. `told` is for its reader: that it has spoken of the fault.
    """

    def __init__(self, path: Path, starts: Starts) -> None:
        self.path = path
        self.position = 0
        self.told = False
        self._file = Window(path)
        self.size = self._file.size
        self.magic = self._file.peek(0, 4)
        self._unpacked = _unpacked(self._file, starts)
        self.packed = self._unpacked.members is not None
        self._buffer = bytearray()
        self._returned: deque[Iterator[bytes]] = deque()
        self._owned: list[Body] = []

    def __enter__(self) -> ForeignFile:
        return self

    def __exit__(self, *error: object) -> None:
        for body in self._owned:
            body.discard()
        self._file.__exit__()

    def walk(
        self, blank: bytes | None, step: Callable[[], Iterator[Record | Damage]]
    ) -> Iterator[Record | Damage]:
        """What each `step` finds, after any `blank` bytes, and what is at fault; on to the end."""
        while True:
            # Nothing before this place will be given back: its marks can go.
            marks = self._unpacked.marks
            del marks[: max(0, bisect_left(marks, (self.position + 1, 0)) - 1)]
            while blanks := len(ahead := self.peek(1 << 12)) - len(ahead.lstrip(blank)):
                self.drop(blanks)
            if not self.at_end:
                yield from step()
                continue
            if self.fault and not self.told:
                yield self.damage(self.fault_at, self.fault)
            if not self.recover():
                return
            self.told = False

    def damage(self, offset: int, reason: str, length: int = 0) -> Damage:
        return Damage(str(self.path), offset, reason, length)

    @property
    def fault(self) -> str:
        """Why the bytes end, where they do not end as they should. Known once they are taken."""
        return self._unpacked.fault

    @property
    def fault_at(self) -> int:
        return self._unpacked.fault_at

    @property
    def at_end(self) -> bool:
        """Whether no byte is left before the end or the fault."""
        return not self.peek(1)

    @property
    def at_member(self) -> bool:
        """Whether a member starts exactly here."""
        if self.at_end:
            return False
        marks = self._unpacked.marks
        index = bisect_left(marks, (self.position, 0))
        return index < len(marks) and marks[index][0] == self.position

    @property
    def where(self) -> int:
        """The offset in the file of the next byte, or of the member that holds it."""
        if not self.packed:
            return self.position
        marks = self._unpacked.marks
        index = bisect_left(marks, (self.position + 1, 0))
        return marks[index - 1][1] if index else 0

    def peek(self, size: int) -> bytes:
        """Up to `size` of the next bytes, left in place."""
        self._fill(size)
        return bytes(memoryview(self._buffer)[:size])

    def take(self, size: int) -> bytes:
        """Up to `size` of the next bytes, not past the start of a member; empty at the end."""
        self._fill(min(size, PIECE))
        return self._consume(min(size, self._before_member()))

    def drop(self, size: int) -> None:
        """Pass over `size` bytes, members or not."""
        while size > 0 and (piece := self.take(size)):
            size -= len(piece)

    def line(self, limit: int) -> bytes:
        """The next line with its end; cut at `limit` bytes and at the start of a member."""
        return self._consume(min(self._line_length(limit), self._before_member()))

    def peek_line(self, limit: int) -> bytes:
        """The next line, left in place; cut at `limit` bytes only."""
        return bytes(memoryview(self._buffer)[: self._line_length(limit)])

    def rest_of_member(self, limit: int) -> bytes:
        """Up to `limit` of the bytes before the next member, left in place."""
        self._fill(limit)
        return bytes(memoryview(self._buffer)[: min(limit, self._before_member())])

    def give_back(self, body: Body, start: int) -> None:
        """Undo the taking of what `body` holds from `start` on, up to here. The body is used up."""
        self._owned.append(body)
        self._returned.appendleft(iter([bytes(self._buffer)]))
        self._returned.appendleft(_drain(body, start))
        self._buffer.clear()
        self.position -= body.size - start

    def recover(self) -> bool:
        """After a fault, go on at the next readable member; False when there is none."""
        if not self._unpacked.recover():
            return False
        self._buffer.clear()
        self.position = self._unpacked.made
        return True

    def _line_length(self, limit: int) -> int:
        self._fill(1)
        searched = 0
        while (end := self._buffer.find(b"\n", searched, limit)) < 0:
            searched = len(self._buffer)
            if searched >= limit:
                break
            self._fill(min(limit, searched + PIECE))
            if len(self._buffer) == searched:
                break
        return limit if end < 0 else end + 1

    def _consume(self, size: int) -> bytes:
        piece = bytes(memoryview(self._buffer)[:size])
        del self._buffer[: len(piece)]
        self.position += len(piece)
        return piece

    def _before_member(self) -> int:
        """How many of the next bytes come before the start of a member that is known."""
        marks = self._unpacked.marks
        index = bisect_left(marks, (self.position + 1, 0))
        return marks[index][0] - self.position if index < len(marks) else len(self._buffer)

    def _fill(self, size: int) -> None:
        while len(self._buffer) < size:
            piece = b""
            while self._returned and not (piece := next(self._returned[0], b"")):
                self._returned.popleft()
            piece = piece or self._unpacked.more()
            if not piece:
                return
            self._buffer += piece


def _drain(body: Body, start: int) -> Iterator[bytes]:
    yield from behind(body.chunks(), start)
    body.discard()
