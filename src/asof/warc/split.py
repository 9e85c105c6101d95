"""Cutting a file into parts that several processes can scan at once.

The law (tests/property): the scans of the parts, one after the other, are the scan of the file. So
a part must start where the scan of the whole passes, and it is not enough that a record seems to
start there: that may be a WARC file inside a record of this one.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from asof.warc.compression import open_members
from asof.warc.members import GZIP_MAGIC, Broken, GzipMembers, Window, starts_record
from asof.warc.records import FoundRecord, find_records
from asof.warc.zstd_members import Members, frame_ends

_STEP = 1 << 13  # blocks are stepped over, so a wide window would read them for nothing
_LONGEST_STORED = 0xFFFF
_LENGTHS = 4


def split(path: Path, parts: int) -> list[int]:
    """Offsets at which `parts` parts of a file, or fewer, start; the first is 0.

    A part ends where the next one starts. Plain and zstd files are walked, which is cheap without
    reading their blocks; gzip files cannot be, so a start is looked for near each place wanted.
    """
    with Window(path) as file:
        members = open_members(file)
        gzip = members if isinstance(members, GzipMembers) else None
        walk: Iterator[int]
        if members is None:
            records = find_records(file.narrowed(_STEP), 0, file.size, blocks=False)
            walk = (found.start for found in records if isinstance(found, FoundRecord))
        else:
            walk = _frame_starts(file, members)
        starts = [0]
        for number in range(1, parts):
            target = file.size * number // parts
            if target <= starts[-1]:
                continue
            if gzip is not None:
                place = _gzip_start(gzip, target)
            else:
                place = next((at for at in walk if at >= target), -1)
            if not 0 < place < file.size:
                break
            starts.append(place)
        return starts


def _frame_starts(file: Window, frames: Members) -> Iterator[int]:
    at = 0
    with suppress(Broken):
        while at < file.size:
            if starts_record(frames.start_of(at)):
                yield at
            at = max(frame_ends(file, at))


def _gzip_start(members: GzipMembers, at: int) -> int:
    """The first member from an offset on that certainly starts a record of this file."""
    file = members.file
    for found in file.places(GZIP_MAGIC, at):
        if starts_record(members.start_of(found)) and not _may_be_stored(file, found):
            return found
    return file.size


def _may_be_stored(file: Window, at: int) -> bool:
    """Whether the bytes at an offset may be content that an earlier member holds verbatim.

    Only a stored block (RFC 1951 section 3.2.4) does that. It starts, at most 65,535 bytes before
    its end, with its length and the complement of its length. So where no two bytes and their
    complements reach over the offset, there is no such block. By chance there are in one place of
    three, which then is passed over.
    """
    begin = max(0, at - _LONGEST_STORED - _LENGTHS)
    before = file.pread(begin, at - begin)
    if len(before) < _LENGTHS:
        return False
    ahead = int.from_bytes(before[2:], "big") ^ int.from_bytes(before[:-2], "big")
    match = ahead.to_bytes(len(before) - 2, "big")
    place = match.find(b"\xff\xff")
    while place >= 0:
        length = int.from_bytes(before[place : place + 2], "little")
        if place + _LENGTHS + length > len(before):
            return True
        place = match.find(b"\xff\xff", place + 1)
    return False
