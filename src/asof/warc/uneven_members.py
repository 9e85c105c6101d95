"""Members that do not hold exactly one record each: several in one, or one spread over several.

A *run* is a member and those after it whose content does not start a record. Its content is one
stretch, in which records are looked for as in a plain file. As a run ends where a member starts a
record, what is found in one never depends on what came before it, and a file may be read in parts.

A run is read twice: first to learn how far it goes and whether its checksums hold, then for its
records. What lies in a member whose checksum failed is believed only where a digest vouches for it.
"""

from array import array
from bisect import bisect_right
from collections.abc import Generator, Iterator
from pathlib import Path

from asof.model import Damage, Location
from asof.warc.digest import parse_digest
from asof.warc.members import (
    BLOCK_LIMIT,
    PIECE,
    RECORD_START,
    Broken,
    GzipMember,
    GzipMembers,
    starts_record,
)
from asof.warc.record import Flag, StoredRecord, flagged
from asof.warc.records import FoundRecord, Lost, find_records, torn_record
from asof.warc.zstd_members import Member, Members

# A gigabyte in blocks of 64 KiB, as bgzip makes them, has less than a tenth of this.
_MAX_MEMBERS = 1 << 20
# Content kept behind the furthest place read, so that a block whose end was looked at first can
# still be had; and how often one may go back further than that, by unpacking again.
_BEHIND = BLOCK_LIMIT + PIECE
_MAX_REWINDS = 16


class MemberRun:
    """The content of a run as a stretch of bytes; `broken` is the member it ends with, if one is.

    `end` is the offset after the last member that is whole, `whole` the content of those.
    """

    def __init__(self, members: Members, at: int, feed: int = 0) -> None:
        self._members = members
        self._feed = feed
        self._starts = array("Q")  # position in the content of each member that has any
        self._offsets = array("Q")
        self.broken: Broken | None = None
        self.size = self.whole = self.fed = 0
        self.end = at
        self._survey(at)
        self._member: Member | None = None
        self._next = 0  # the member to be opened next
        self._buffer = bytearray()
        self._base = 0
        self._rewinds = 0

    def _survey(self, at: int) -> None:
        while self.broken is None:
            member = self._open(at)
            self._starts.append(self.size)
            self._offsets.append(at)
            try:
                while piece := member.read():
                    self.size += len(piece)
            except Broken as broken:
                self.broken = broken
                self.fed = member.fed - at
                return
            self.end = at = member.end
            self.whole = self.size
            if self._starts[-1] == self.size and len(self._starts) > 1:
                self._starts.pop()  # an empty member: nothing of it can be found
                self._offsets.pop()
            start = self._members.start_of(at)
            if start is None or starts_record(start) or len(self._starts) >= _MAX_MEMBERS:
                return

    def _open(self, at: int) -> Member:
        if self._feed:
            return GzipMember(self._members.file, at, feed=self._feed)
        return self._members.open(at)

    def place(self, at: int) -> tuple[int, int]:
        """The offset of the member that holds a position, and the position within its content."""
        member = bisect_right(self._starts, at) - 1
        return self._offsets[member], at - self._starts[member]

    def end_of(self, at: int) -> int:
        """The offset after the member that holds the byte before a position."""
        member = bisect_right(self._starts, max(0, at - 1))
        return self._offsets[member] if member < len(self._offsets) else self.end

    def read(self, at: int, count: int) -> bytes:
        """Content from a position on; fewer bytes only at the end."""
        count = min(count, self.size - at)
        if count <= 0:
            return b""
        if at < self._base:
            self._rewind(at)
        while self._base + len(self._buffer) < at + count:
            piece = self._more()
            if not piece:
                break
            self._buffer += piece
            surplus = min(at, self._base + len(self._buffer) - _BEHIND) - self._base
            if surplus > PIECE:
                del self._buffer[:surplus]
                self._base += surplus
        begin = at - self._base
        return bytes(self._buffer[begin : begin + count])

    peek = read

    def _rewind(self, at: int) -> None:
        self._rewinds += 1
        if self._rewinds > _MAX_REWINDS:
            raise Broken("too many records with a wrong Content-Length in one member")
        self._next = bisect_right(self._starts, at) - 1
        self._member = None
        self._buffer.clear()
        self._base = self._starts[self._next]

    def _more(self) -> bytes:
        while True:
            if self._member is None:
                if self._next == len(self._starts):
                    return b""
                self._member = self._open(self._offsets[self._next])
                self._next += 1
            try:
                piece = self._member.read()
            except Broken:
                return b""
            if piece:
                return piece
            self._member = None


def scan_run(
    members: Members, at: int, *, torn: bool = False
) -> Generator[StoredRecord | Damage, None, int]:
    """What a run holds, in order; returns the offset at which the next one starts.

    `torn`: also what is left of records that are not whole, or that nothing vouches for.
    """
    path = members.file.path
    run = _to_the_last_byte(members, at) if torn else MemberRun(members, at)
    after = run.end if run.broken is None else members.next_start(run.place(run.size)[0])
    lost: Lost | None = None
    done = 0
    told = False  # what is wrong with the member
    try:
        for found in find_records(run, 0, run.size):
            believed = isinstance(found, FoundRecord) and _believed(run, found)
            if lost is not None and (believed or torn):
                yield from _damaged(path, run, lost, after, torn=torn)
                lost = None
            if isinstance(found, FoundRecord) and (believed or torn):
                if not believed and run.broken is not None:
                    told = True
                    yield _damage(path, run, Lost(found.start, found.end, run.broken.reason), after)
                    found = found._replace(header=flagged(found.header, Flag.WRONG_CHECKSUM))
                yield _stored(path, run, found, after)
                done = found.end
                continue
            reason = found.reason if isinstance(found, Lost) else ""
            start = found.start if lost is None else lost.start
            lost = Lost(start, found.end, reason)
            if found.end > run.whole and not torn:
                break  # what follows in a torn member may be the inside of the record that tore
    except Broken as broken:
        run.broken = broken
    if run.broken is not None and not (told and lost is None):
        start = done if lost is None else lost.start
        lost = Lost(start, run.size, run.broken.reason)
    if lost is not None:
        yield from _damaged(path, run, lost, after, torn=torn)
    return after


def _to_the_last_byte(members: Members, at: int) -> MemberRun:
    """A run; of a small member that is broken, with all that comes before the bad spot.

    An error loses what its call had unpacked, so it is given byte by byte: for a microsecond each,
    and not for ever. (ISA-L loses its place where a header with flags is cut.)
    """
    run = MemberRun(members, at)
    place = run.place(run.size)[0]
    if run.broken is None or not isinstance(members, GzipMembers):
        return run
    if run.fed > members.patience or members.file.peek(place + 3, 1) != b"\0":
        return run
    closer = MemberRun(members, at, feed=1)
    members.patience -= closer.fed
    return closer if closer.size <= BLOCK_LIMIT else run


def _damaged(
    path: Path, run: MemberRun, lost: Lost, after: int, *, torn: bool
) -> Iterator[StoredRecord | Damage]:
    yield _damage(path, run, lost, after)
    part = torn_record(run, lost) if torn else None
    if part is not None:
        yield _stored(path, run, part, after)


def _stored(path: Path, run: MemberRun, found: FoundRecord, after: int) -> StoredRecord:
    offset, skip = run.place(found.start)
    end = run.end_of(found.end) if found.end <= run.whole else after
    where = Location(path.name, offset, end - offset)
    return StoredRecord(path, where, found.header, found.size, found.data, skip)


def _damage(path: Path, run: MemberRun, lost: Lost, after: int) -> Damage:
    offset, skip = run.place(lost.start)
    end = run.end_of(lost.end) if lost.end <= run.whole and lost.end < run.size else after
    reason = f"{lost.reason} (byte {skip} of what is unpacked)" if skip else lost.reason
    return Damage(path.name, offset, reason, end - offset)


def _believed(run: MemberRun, found: FoundRecord) -> bool:
    """Whether a record is what was once written, as far as the file can tell.

    Past the last good checksum a record counts only if another follows it in the same member, so
    in a file of one record a member nothing does: there the member is torn and so is its record.
    It must have its digest or, where the file was merely cut, no digest to go by. (A flipped bit
    rarely upsets deflate: of 300, 292 were found out by the checksum at the end and by nothing
    before. So that a header in such a member is right can only be hoped for.)
    """
    if found.end <= run.whole or run.broken is None:
        return True
    if not starts_record(run.read(found.end, len(RECORD_START))):
        return False
    declared = found.header.get("WARC-Block-Digest")
    digest = parse_digest(declared) if declared else None
    if digest is None or found.data is None:
        return run.broken.cut
    if isinstance(digest, str):
        return False
    new, value = digest
    return new(found.data).digest() == value
