"""The commit protocol: the order of writing is the order of durability.

    append records to the WARC  ->  fdatasync  ->  ONE transaction: captures, frontier, offset

What lies in a WARC beyond its committed offset is found again by `asof.archive.recovery`, so a
record that reached the disk whole is never thrown away, even when the database did not hear of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from asof.archive.folder import Folder
from asof.archive.journal import CommitGroup, records_of
from asof.catalog.asked import Requests, set_apart
from asof.catalog.captures import Catalog
from asof.catalog.derive import fast_row, row
from asof.catalog.rows import Row
from asof.clock import Instant
from asof.config import Config
from asof.ledger import Ledger
from asof.model import Crawl, Location, Segment
from asof.warc.info import warcinfo
from asof.warc.record import Record, StoredRecord, WarcHeader
from asof.warc.write import WarcFile, pack, raw_record

# The kinds of records that are made in a crawl and are captures (asof.catalog.derive).
_CAPTURES = frozenset(("response", "revisit", "resource"))


@dataclass(slots=True)
class _Written:
    """What was put into one file: it, and the rows of what it got."""

    file: WarcFile
    rows: list[Row] = field(default_factory=list)
    requests: Requests = field(default_factory=Requests)
    sealed: bool = False


class Committer:
    """Writes the groups of one crawl. Nobody else may write to the archive meanwhile."""

    def __init__(self, folder: Folder, ledger: Ledger, crawl: Crawl, config: Config) -> None:
        self._folder = folder
        self._ledger = ledger
        self._catalog = Catalog(ledger)
        self._crawl = crawl
        self._config = config
        self._file: WarcFile | None = None
        self._failed: Exception | None = None

    def write(self, group: CommitGroup, also: Callable[[], None] = lambda: None) -> None:
        """Make a group durable: first the records, then the rows that speak of them.

        `also` is called inside the transaction, for what must be committed together with them.
        After a failure nothing more is written: the offset of a later commit would hide records
        that lie in the file already. The next start adopts what is whole.
        """
        try:
            if self._failed is not None:
                raise self._failed
            written = self._append(group)
            for part in written:
                part.file.sync()
            with self._ledger.transaction():
                for part in written:
                    segment = Segment(
                        part.file.path.name, part.file.size, self._crawl.id, sealed=part.sealed
                    )
                    number = self._catalog.put_segment(segment)
                    self._catalog.add_rows(part.rows, number)
                    set_apart(self._ledger, part.requests.found(), part.file.path, number)
                also()
        except Exception as error:
            self._failed = error
            raise
        finally:
            group.discard()
        for part in written:
            if part.sealed:
                part.file.close()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _append(self, group: CommitGroup) -> list[_Written]:
        """Put the records into files: into one as a rule, into more when one gets full."""
        written: list[_Written] = []
        members: list[bytes] = []
        waiting = 0
        for unit in group.units:
            if self._file is not None and self._file.size + waiting >= self._config.segment_bytes:
                self._file.append_packed(members)
                members, waiting = [], 0
                if not written:
                    written.append(_Written(self._file))
                written[-1].sealed = True
                self._file = None
            if self._file is None:
                # One that this very group has filled is not known to be full yet.
                self._file = (None if written else self._reopen()) or self._create(
                    group.taken, written[-1].file.path.name if written else self._last()
                )
            if not written or written[-1].sealed:
                written.append(_Written(self._file))
            rows = written[-1].rows
            for record in records_of(unit):
                if record.in_memory:
                    raw = raw_record(record)
                    member = pack(raw, packed=record.packed)
                    where = Location(self._file.path.name, self._file.size + waiting, len(member))
                    members.append(member)
                    waiting += len(member)
                else:
                    self._file.append_packed(members)
                    members, waiting, raw = [], 0, b""
                    (where,) = self._file.append([record])
                if record.kind in _CAPTURES:
                    rows += _rows(record, raw, self._file.path, where)
                elif record.kind == "request":
                    written[-1].requests.take(_stored(record, self._file.path, where))
        if self._file is not None:
            self._file.append_packed(members)
        return written

    def _reopen(self) -> WarcFile | None:
        """The last file of this crawl, if it is one: a catalog may come from strangers. Recovery
        has gone before: what is longer than it knew is not for us to cut.
        """
        own = {path.name: path for path in self._folder.segment_files()}
        for segment in reversed(self._catalog.segments()):
            path = own.get(segment.file)
            if segment.crawl != self._crawl.id or segment.sealed or path is None:
                continue
            is_own = path.name.endswith(f"-{segment.crawl}.warc.gz") and self._folder.is_own(path)
            if is_own and path.stat().st_size <= segment.committed < self._config.segment_bytes:
                return WarcFile.reopen(path, segment.committed)
        return None

    def _last(self) -> str | None:
        """The newest file of the crawl that holds anything."""
        own = (s for s in reversed(self._catalog.segments()) if s.crawl == self._crawl.id)
        return next((segment.file for segment in own if segment.committed), None)

    def _create(self, now: Instant, previous: str | None) -> WarcFile:
        path = self._folder.new_segment(self._crawl.id)
        file = WarcFile.create(path)
        file.append([warcinfo(self._crawl, path.name, now, previous)])
        return file


def _rows(record: Record, raw: bytes, path: Path, where: Location) -> Sequence[Row]:
    """The row of a capture, as a reader of the file would make it; none if it would make none."""
    found = fast_row(raw, where.offset, where.length) if raw else None
    if found:
        return (found,)
    careful = row(_stored(record, path, where))
    return () if careful is None else (careful,)


def _stored(record: Record, path: Path, where: Location) -> StoredRecord:
    data = b"".join([part.data for part in record.block]) if record.in_memory else None
    return StoredRecord(path, where, WarcHeader("1.1", record.fields), record.size, data)
