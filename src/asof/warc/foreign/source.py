"""A foreign file read forward: unpacked on the way, in flat memory, and on past damage.

A `Source` keeps what the parsers of ARC and TREC-Web need to be honest: where in the file the next
byte lies, where a gzip member starts, and why no more bytes can be had.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from asof.errors import InputError
from asof.model import Body
from asof.warc.foreign.unpack import STEP, Plain, Starts, open_unpacker


class Source:
    """The unpacked bytes of a file, in order. `position` counts those already taken.

    `starts` tells whether some bytes begin a record; it decides between plain and packed where the
    file begins with neither.
    """

    def __init__(self, path: Path, starts: Starts) -> None:
        self.path = path
        self.position = 0
        try:
            self.size = path.stat().st_size
            self._file: BinaryIO = path.open("rb")
            self.magic = self._file.read(4)
            self._file.seek(0)
        except OSError as error:
            raise InputError(
                f"{path} cannot be opened ({error.strerror}).",
                hint="Check the path and its permissions.",
            ) from error
        self._unpacker = open_unpacker(self._file, self.size, starts)
        self.packed = not isinstance(self._unpacker, Plain)
        self._buffer = bytearray()
        self._returned: deque[Iterator[bytes]] = deque()
        self._owned: list[Body] = []

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *error: object) -> None:
        for body in self._owned:
            body.discard()
        self._file.close()

    @property
    def fault(self) -> str:
        """Why the bytes end, where they do not end as they should. Known once they are taken."""
        return self._unpacker.fault

    @property
    def fault_at(self) -> int:
        """The offset in the file of what is at fault."""
        return self._unpacker.fault_at

    @property
    def at_end(self) -> bool:
        """Whether no byte is left before the end or the fault."""
        return not self.peek(1)

    @property
    def at_member(self) -> bool:
        """Whether a gzip member starts exactly here."""
        if self.at_end:
            return False
        marks = self._unpacker.marks
        index = bisect_left(marks, (self.position, 0))
        return index < len(marks) and marks[index][0] == self.position

    @property
    def where(self) -> int:
        """The offset in the file of the next byte, or of the gzip member that holds it."""
        if not self.packed:
            return self.position
        marks = self._unpacker.marks
        index = bisect_left(marks, (self.position + 1, 0))
        return marks[index - 1][1] if index else 0

    def settle(self) -> None:
        """Say that nothing before this place will be given back: its marks can go."""
        marks = self._unpacker.marks
        del marks[: max(0, bisect_left(marks, (self.position + 1, 0)) - 1)]

    def peek(self, size: int) -> bytes:
        """Up to `size` of the next bytes, left in place."""
        self._fill(size)
        return bytes(memoryview(self._buffer)[:size])

    def take(self, size: int) -> bytes:
        """Up to `size` of the next bytes, not past the start of a gzip member; empty at the end."""
        self._fill(min(size, STEP))
        return self._consume(min(size, self._before_member()))

    def line(self, limit: int) -> bytes:
        """The next line with its end; cut at `limit` bytes and at the start of a gzip member."""
        return self._consume(min(self._line_length(limit), self._before_member()))

    def peek_line(self, limit: int) -> bytes:
        """The next line, left in place; cut at `limit` bytes only."""
        length = self._line_length(limit)
        return bytes(memoryview(self._buffer)[:length])

    def rest_of_member(self, limit: int) -> bytes:
        """Up to `limit` of the bytes before the next gzip member, left in place."""
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
        """After a fault, go on at the next readable gzip member; False when there is none."""
        if not self._unpacker.recover():
            return False
        self._buffer.clear()
        self.position = self._unpacker.made
        return True

    def _line_length(self, limit: int) -> int:
        self._fill(1)
        searched = 0
        while (end := self._buffer.find(b"\n", searched, limit)) < 0:
            searched = len(self._buffer)
            if searched >= limit:
                break
            self._fill(min(limit, searched + STEP))
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
        marks = self._unpacker.marks
        index = bisect_left(marks, (self.position + 1, 0))
        return marks[index][0] - self.position if index < len(marks) else len(self._buffer)

    def _fill(self, size: int) -> None:
        while len(self._buffer) < size:
            piece = b""
            while self._returned and not (piece := next(self._returned[0], b"")):
                self._returned.popleft()
            piece = piece or self._unpacker.more()
            if not piece:
                return
            self._buffer += piece


def _drain(body: Body, start: int) -> Iterator[bytes]:
    passed = 0
    for chunk in body.chunks():
        kept = chunk[max(0, start - passed) :]
        passed += len(chunk)
        if kept:
            yield kept
    body.discard()
