"""Reading WARC files: every whole record, and every stretch that is none, in the order of the file.

Our own, on ISA-L: the offsets are exact, damage costs no more than the records it hit, and memory
stays flat whatever a file claims. FastWARC and warcio are the referees (tests, bench/warc_read.py).

    scan -> one member, one record (nearly always)      `_scan_members`
         -> one member, one record that is too large    `_large_record`
         -> anything else in a compressed file          `uneven_members.scan_run`
         -> a plain file                                `_scan_plain`
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from asof.errors import DamageError
from asof.model import Damage, Location
from asof.warc.compression import open_members
from asof.warc.header import parse_header, read_header
from asof.warc.members import (
    BLOCK_LIMIT,
    GZIP_MAGIC,
    PIECE,
    Broken,
    GzipMembers,
    Window,
)
from asof.warc.record import StoredRecord
from asof.warc.records import FoundRecord, find_records, torn_record
from asof.warc.uneven_members import scan_run
from asof.warc.zstd_members import Members

_END = b"\r\n\r\n"
# The window of a single read; a scan uses a larger one.
_SINGLE = 128 << 10
_LEAST = 4 << 10
# Where the HTTP head of a block that is too large to hold must end.
HEAD_REACH = 1 << 20


Value = TypeVar("Value")
Shortcut = Callable[[bytes | bytearray, int, int], Value | None]


def scan(
    path: Path, *, start: int = 0, end: int | None = None, torn: bool = False
) -> Iterator[StoredRecord | Damage]:
    """All records, and the damage between them, that begin at or after `start` and before `end`.

    `start` is 0, an offset from `split`, or the end of a record. Nothing that a file holds makes
    this raise or hang; a file that cannot be opened or read is an InputError. With `torn`, what
    is left of a record follows the damage that it is, flagged, with a length that is true.
    """
    with Window(path) as file:
        stop = file.size if end is None else min(end, file.size)
        yield from _scan(file, start, stop, torn=torn)


def scan_as(
    path: Path, shortcut: Shortcut[Value], *, start: int = 0, end: int | None = None
) -> Iterator[Value | StoredRecord | Damage]:
    """Like `scan`, for those who need no StoredRecord of most records.

    `shortcut` is asked first about every gzip member that is held in memory: given its content,
    offset and length, it may give a value that stands for the record, else None.
    """
    with Window(path) as file:
        yield from _scan(file, start, file.size if end is None else min(end, file.size), shortcut)


def _no_shortcut(content: bytes | bytearray, offset: int, length: int) -> None:
    """Every record is wanted as such."""


def read_record(path: Path, offset: int, length: int = _SINGLE) -> StoredRecord:
    """The record at an offset that `scan` or a catalog gave; `length` is what they said of it."""
    with Window(path, min(max(length, _LEAST), _SINGLE)) as file:
        if file.peek(offset, len(GZIP_MAGIC)) == GZIP_MAGIC:  # in no other file a record begins so
            scanned = _scan_members(GzipMembers(file), offset, file.size, _no_shortcut, torn=False)
        else:
            scanned = _scan(file, offset, file.size)
        found = next(scanned, None)
    if isinstance(found, StoredRecord) and found.where.offset == offset:
        return found
    reason = found.reason if isinstance(found, Damage) else "no record starts here"
    raise _damaged(path, offset, reason)


def block_chunks(record: StoredRecord) -> Iterator[bytes]:
    """The block of a record: from memory, or in pieces from the file when it is not held."""
    if record.data is not None:
        if record.data:
            yield record.data
        return
    offset = record.where.offset
    with Window(record.path) as file:
        left = record.size
        try:
            for piece in _block_pieces(behind(_pieces(file, offset), record.skip)):
                yield piece[:left] if len(piece) > left else piece
                left -= min(left, len(piece))
                if not left:
                    return
        except Broken as broken:
            raise _damaged(record.path, offset, broken.reason) from broken
    raise _damaged(record.path, offset, "the record is shorter than it was")


def behind(chunks: Iterator[bytes], length: int) -> Iterator[bytes]:
    """What comes after the first `length` bytes."""
    for chunk in chunks:
        if length < len(chunk):
            yield chunk[length:]
            break
        length -= len(chunk)
    yield from chunks


def beginning(record: StoredRecord) -> bytes:
    """The block of a record; of one that is not held, as much as an HTTP head is looked for in."""
    if record.data is not None:
        return record.data
    found = b""
    for chunk in block_chunks(record):
        found += chunk
        if len(found) >= HEAD_REACH:
            break
    return found


def _scan(
    file: Window,
    at: int,
    stop: int,
    shortcut: Shortcut[Value] = _no_shortcut,
    *,
    torn: bool = False,
) -> Iterator[Value | StoredRecord | Damage]:
    members = open_members(file)
    if members is None:
        return _scan_plain(file, at, stop, torn=torn)
    return _scan_members(members, at, stop, shortcut, torn=torn)


def _scan_members(
    members: Members, at: int, stop: int, shortcut: Shortcut[Value], *, torn: bool
) -> Iterator[Value | StoredRecord | Damage]:
    """The hot loop of import and check: what is usual is done here, what is not, elsewhere."""
    path = members.file.path
    name = path.name
    load = members.load
    while at < stop:
        try:
            loaded = load(at)
            if loaded is None:
                record = _large_record(members, at)
                if record is not None:
                    yield record
                    at += record.where.length
                    continue
        except Broken:
            loaded = None
        if loaded is not None:
            content, after = loaded
            value = shortcut(content, at, after - at)
            if value is not None:
                yield value
                at = after
                continue
            content = bytes(content)
            parsed = parse_header(content)
            if isinstance(parsed, tuple):
                header, length, size = parsed
                if length + size + 4 == len(content) and content.endswith(_END):
                    where = Location(name, at, after - at)
                    data = content[length:-4] if size <= BLOCK_LIMIT else None
                    yield StoredRecord(path, where, header, size, data)
                    at = after
                    continue
            if not content:  # as bgzip puts at the end; or a skippable frame
                at = after
                continue
        at = yield from scan_run(members, at, torn=torn)


def _large_record(members: Members, at: int) -> StoredRecord | None:
    """The one record of a member with more content than is held; None if it is not like that."""
    member = members.open(at)
    piece = member.read()
    parsed = parse_header(piece)
    if isinstance(parsed, str):
        return None
    header, length, size = parsed
    if size <= BLOCK_LIMIT:
        return None
    total = 0
    tail = b""
    while piece:
        total += len(piece)
        tail = (tail + piece)[-len(_END) :]
        piece = member.read()
    if total != length + size + len(_END) or tail != _END:
        return None
    path = members.file.path
    return StoredRecord(path, Location(path.name, at, member.end - at), header, size, None)


def _scan_plain(file: Window, at: int, stop: int, *, torn: bool) -> Iterator[StoredRecord | Damage]:
    path = file.path
    name = path.name
    for found in find_records(file, at, stop):
        record: FoundRecord | None
        if isinstance(found, FoundRecord):
            record = found
        else:
            yield Damage(name, found.start, found.reason, found.end - found.start)
            record = torn_record(file, found) if torn else None
        if record is not None:
            where = Location(name, record.start, record.end - record.start)
            yield StoredRecord(path, where, record.header, record.size, record.data)


def _pieces(file: Window, at: int) -> Iterator[bytes]:
    """The content from an offset on, whether of members one after the other or as it is."""
    members = open_members(file)
    while members is None and (piece := file.pread(at, PIECE)):
        at += len(piece)
        yield piece
    while members is not None and members.start_of(at) is not None:
        member = members.open(at)
        while piece := member.read():
            yield piece
        at = member.end


def _block_pieces(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """What follows the header that some content begins with."""
    head = b""
    for piece in pieces:
        head += piece
        read = read_header(head)
        if isinstance(read, tuple):
            yield head[read[1] :]
            break
    yield from pieces


def _damaged(path: Path, offset: int, reason: str) -> DamageError:
    return DamageError(
        reason, file=str(path), offset=offset, hint="Run `asof check` to see what else is damaged."
    )
