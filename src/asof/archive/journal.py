"""The commit protocol: the order of writing is the order of durability.

    append records to the WARC  ->  fdatasync  ->  ONE transaction: captures, frontier, offset

A group is at most a second or 64 records. Until its commit the group's rows are in an open
transaction: seen by this process at once, by nobody after a crash. What lies in a WARC beyond its
committed offset is found again by `asof.archive.recovery`, so a record that reached the disk whole
is never thrown away, even when the database did not hear of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from asof.archive.archive import Archive
from asof.catalog.derive import derive
from asof.config import Config
from asof.model import Capture, Crawl, Location, Segment
from asof.warc.build import warcinfo
from asof.warc.record import Record, StoredRecord, WarcHeader
from asof.warc.write import WarcFile


class Journal:
    """The way of one crawl's records into the archive."""

    def __init__(self, archive: Archive, crawl: Crawl, config: Config) -> None:
        self._archive = archive
        self._crawl = crawl
        self._config = config
        self._file: WarcFile | None = None
        self._segment_no = 0
        self._pending = 0
        self._opened = 0.0

    @property
    def pending(self) -> int:
        """Records written since the last commit."""
        return self._pending

    def begin(self) -> None:
        """Open the group's transaction, if it is not open."""
        if not self._archive.ledger.db.in_transaction:
            self._archive.ledger.begin()
            self._opened = self._archive.clock.monotonic()

    def due(self) -> bool:
        """Whether the group is full, or old enough."""
        if not self._archive.ledger.db.in_transaction:
            return False
        age = self._archive.clock.monotonic() - self._opened
        return self._pending >= self._config.group_records or age >= self._config.group_seconds

    def write(self, records: Sequence[Record]) -> list[Capture]:
        """Append records (all or none) and catalogue them in the open group."""
        self.begin()
        file = self._current()
        locations = file.append(records)
        captures = []
        for record, where in zip(records, locations, strict=True):
            capture = derive(_as_stored(file.path, record, where))
            if capture is not None:
                captures.append(capture)
        self._archive.catalog.add(captures, self._segment_no)
        self._pending += len(records)
        return captures

    def commit(self) -> None:
        """Make the group durable: first the records, then the rows that speak of them."""
        if not self._archive.ledger.db.in_transaction:
            return
        if self._file is not None and self._pending:
            self._file.sync()
            self._put_segment(sealed=False)
        self._archive.ledger.commit()
        self._pending = 0

    def abandon(self) -> None:
        """After a failed write: forget the open group's rows. Its whole records stay on disk."""
        self._archive.ledger.rollback()
        self._pending = 0
        self.close()

    def close(self) -> None:
        """Let go of the file; commit first what is to be kept."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _current(self) -> WarcFile:
        if self._file is not None and self._file.size >= self._config.segment_bytes:
            self._file.sync()
            self._put_segment(sealed=True)
            self.close()
        if self._file is None:
            self._file = self._reopen() or self._create()
        return self._file

    def _reopen(self) -> WarcFile | None:
        """Go on with the crawl's last file if there is room in it."""
        folder = self._archive.folder
        for segment in reversed(self._archive.catalog.segments()):
            if segment.crawl != self._crawl.id or segment.sealed:
                continue
            path = folder.warc / segment.file
            if segment.committed < self._config.segment_bytes and path.exists():
                self._segment_no = self._archive.catalog.segment_no(segment.file)
                return WarcFile.reopen(path, segment.committed)
        return None

    def _create(self) -> WarcFile:
        path = self._archive.folder.new_segment(self._crawl.id)
        file = WarcFile.create(path)
        info = warcinfo(self._crawl, path.name, self._archive.clock.now())
        file.append([info])
        self._segment_no = self._archive.catalog.put_segment(
            Segment(path.name, 0, crawl=self._crawl.id)
        )
        return file

    def _put_segment(self, *, sealed: bool) -> None:
        assert self._file is not None
        self._archive.catalog.put_segment(
            Segment(self._file.path.name, self._file.size, crawl=self._crawl.id, sealed=sealed)
        )


def _as_stored(path: Path, record: Record, where: Location) -> StoredRecord:
    """The record as a reader of the file would find it, without reading it again."""
    in_memory = all(part.spool is None for part in record.block)
    data = b"".join(part.data for part in record.block) if in_memory else None
    return StoredRecord(path, where, WarcHeader("1.1", record.fields), record.size, data)
