"""Records in a stretch of bytes: the content of a plain file, or of members that go together.

The stretch may be huge and may be hostile, so this looks before it reads: a block is fetched only
once what follows it shows that its Content-Length can be true. Each byte is looked at a bounded
number of times, whatever the lengths claim.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from asof.warc.header import HEADER_LIMIT, parse_header, read_header
from asof.warc.members import BLOCK_LIMIT, RECORD_START
from asof.warc.record import Flag, WarcHeader, flagged

_END = b"\r\n\r\n"
_USUAL_HEADER = 1 << 12
_STEP = 1 << 17
_EMPTY_LINE = re.compile(rb"\n\r{0,2}\n")
_VERSION_LINE = re.compile(rb"WARC/\d{1,3}\.\d{1,3}[ \t]{0,9}\r{0,2}\n")
_BLANK = b"\r\n"


class Stretch(Protocol):
    """Bytes by position, from 0 or wherever they start up to `size`."""

    size: int

    def read(self, at: int, count: int) -> bytes:
        """Bytes from a position on; fewer only at the end."""
        ...

    def peek(self, at: int, count: int) -> bytes:
        """A few bytes further on, where it is not yet certain that one wants to go there."""
        ...


class FoundRecord(NamedTuple):
    """A whole record: its positions in the stretch, its header, its block if it may be held."""

    start: int
    end: int
    header: WarcHeader
    size: int
    data: bytes | None


class Lost(NamedTuple):
    """Positions that hold no whole record, and why."""

    start: int
    end: int
    reason: str


def find_records(
    stretch: Stretch, start: int, stop: int, *, blocks: bool = True
) -> Iterator[FoundRecord | Lost]:
    """What lies in a stretch, in order, from a start on, as far as it begins before `stop`.

    Empty lines between records are nobody's. Without `blocks` no data is read at all.
    """
    at = _skip_blank(stretch, start)
    while at < stop:
        read = find_record(stretch, at, blocks=blocks)
        found = Lost(at, next_start(stretch, at + 1), read) if isinstance(read, str) else read
        yield found
        at = _skip_blank(stretch, found.end)


def find_record(stretch: Stretch, at: int, *, blocks: bool = True) -> FoundRecord | str:
    """The record at a position, or why there is none."""
    parsed = parse_header(stretch.read(at, _USUAL_HEADER))
    if isinstance(parsed, str):
        if stretch.size - at <= _USUAL_HEADER:
            return parsed
        parsed = parse_header(stretch.read(at, HEADER_LIMIT))
        if isinstance(parsed, str):
            return parsed
    header, length, size = parsed
    block = at + length
    end = block + size
    if end > stretch.size:
        return "the record is cut short, or its Content-Length is too large"
    finish = _finish(stretch, end, stretch.peek(block - 2, 2) != _BLANK)
    if finish < 0:
        return "Content-Length does not lead to the end of the record"
    data = stretch.read(block, size) if blocks and size <= BLOCK_LIMIT else None
    return FoundRecord(at, finish, header, size, data)


def torn_record(stretch: Stretch, lost: Lost) -> FoundRecord | None:
    """What is left of the record that a stretch without a whole one begins with, if one does."""
    head = stretch.read(lost.start, min(HEADER_LIMIT, lost.end - lost.start))
    read = read_header(head)
    if isinstance(read, str) and len(head) < HEADER_LIMIT:  # the lines of it that are whole
        read = read_header(head[: head.rfind(b"\n") + 1] + b"\r\n")
    if isinstance(read, str) or not read[0].kind:
        return None
    block = lost.start + read[1]
    size = max(0, lost.end - block)
    if size >= len(_END) and stretch.peek(lost.end - len(_END), len(_END)) == _END:
        size -= len(_END)
    data = stretch.read(block, size) if size <= BLOCK_LIMIT else None
    header = flagged(read[0], Flag.CUT_SHORT, size)
    return FoundRecord(lost.start, lost.end, header, size, data)


def _finish(stretch: Stretch, end: int, bare_lf: bool) -> int:
    """Where a record ends whose block ends at `end`; -1 if a record cannot end there.

    Two line ends close a record (WARC 1.1 section 4). Some tools leave them out, or write one;
    then the next record, or the end of everything, must follow at once.
    """
    tail = stretch.peek(end, len(_END))
    if tail == _END:
        return end + len(_END)
    if bare_lf and tail.startswith(b"\n\n"):
        return end + 2
    blank = len(tail) - len(tail.lstrip(_BLANK))
    # Not all of a run of empty lines: a hostile file would have it read once for every record.
    rest = stretch.peek(end, _USUAL_HEADER if blank == len(_END) else 2 * len(_END)).lstrip(_BLANK)
    return end + blank if RECORD_START.startswith(rest[: len(RECORD_START)].upper()) else -1


def _skip_blank(stretch: Stretch, at: int) -> int:
    """The first position from `at` on that is not part of a line end."""
    count = len(_END)
    while at < stretch.size:
        blank = stretch.read(at, count)
        rest = blank.lstrip(_BLANK)
        at += len(blank) - len(rest)
        if rest or not blank:
            return at
        count = _STEP
    return at


def next_start(stretch: Stretch, at: int) -> int:
    """Where the next record starts, as far as can be told from its header; else the end.

    A header is a version line and what follows up to an empty line. So for each empty line the last
    version line before it is taken: one that starts a line if there is one, else one behind junk.
    That way each byte is looked at twice, and no field of a header passes for its start.
    """
    step = _USUAL_HEADER  # then further steps, for most often it is near
    held = b""  # since the last empty line, and no more than a header may have
    while at < stretch.size:
        data = stretch.read(at, step)
        if not data:
            break
        held += data
        at += len(data)
        step = _STEP
        begin = 0
        for blank in _EMPTY_LINE.finditer(held):
            first = max(begin, blank.end() - HEADER_LIMIT)
            found = _last_version(held[first : blank.end()].upper())
            if found is not None:
                # At the start of what is held, or behind an empty line, a line starts as well.
                return at - len(held) + first + found
            begin = blank.end()
        held = held[max(begin, len(held) - HEADER_LIMIT) :]
    return stretch.size


def _last_version(data: bytes) -> int | None:
    behind_junk = None
    at = data.rfind(RECORD_START)
    while at >= 0:
        if _VERSION_LINE.match(data, at):
            if at == 0 or data[at - 1 : at] == b"\n":
                return at
            behind_junk = at if behind_junk is None else behind_junk
        at = data.rfind(RECORD_START, 0, at)
    return behind_junk
