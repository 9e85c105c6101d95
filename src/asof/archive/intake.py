"""Taking in files by other tools: WARC, ARC, WACZ and TREC-Web.

What is whole comes in, what is not is reported by file and offset, and the same records twice add
nothing. WARC files with one record a member are kept byte for byte; from a damaged one the whole
records are copied as they are; what has no such form is converted to WARC 1.1.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from asof.archive.archive import OpenArchive
from asof.archive.folder import SEGMENT_SUFFIXES, storage_errors
from asof.archive.scan import Batch, Progress, Spread, ranges, read_range, whole_records
from asof.catalog.rows import Row
from asof.errors import InputError
from asof.files import sync_folder
from asof.model import Damage, Segment
from asof.warc.compression import packing
from asof.warc.foreign.arc import read_arc
from asof.warc.foreign.detect import Format, sniff
from asof.warc.foreign.trec import read_trec
from asof.warc.foreign.wacz import extract_warcs
from asof.warc.info import import_info
from asof.warc.record import Record, StoredRecord
from asof.warc.write import WarcFile, member

# Rows entered at once: sorted by key, so many find their place next to one another (half the time
# of entering each range by itself), and few enough to hold.
_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class Intake:
    """What became of one file."""

    file: str
    format: str
    records: int = 0
    captures: int = 0
    added: int = 0
    stored: tuple[str, ...] = ()
    damage: tuple[Damage, ...] = ()

    def __add__(self, other: Intake) -> Intake:
        return replace(
            self, **{name: getattr(self, name) + getattr(other, name) for name in _ADDED}
        )


_ADDED = ("records", "captures", "added", "stored", "damage")


def take_in(archive: OpenArchive, path: Path, *, spread: Spread, progress: Progress) -> Intake:
    """Import one file of any known format."""
    if not path.is_file():
        raise InputError(f"{path} is not a file.", hint="Name WARC, ARC, WACZ or TREC-Web files.")
    try:
        kind = sniff(path)
        taker = _Taker(archive, path, kind.value, spread, progress)
        if kind is Format.WARC:
            return taker.warc(path, _label(path))
        if kind is Format.WACZ:
            return taker.wacz()
        reader = read_arc if kind is Format.ARC else read_trec
        return taker.converted(reader(path, archive.folder.spool), _label(path))
    except PermissionError as error:  # the user's to mend
        raise InputError(
            f"{path} cannot be read: {error.strerror}.", hint="Check its rights."
        ) from error


@dataclass(frozen=True, slots=True)
class _Taker:
    """One import under way."""

    _archive: OpenArchive
    _source: Path
    _kind: str
    _spread: Spread
    _progress: Progress

    def warc(self, path: Path, label: str) -> Intake:
        """A WARC file, which `path` holds: the source itself, or a member of it."""
        # It is named for what it holds, whatever its name said.
        target = self._archive.folder.new_segment(f"import-{label}", packing(path))
        before = path.stat()

        def keep() -> None:
            with _partial(target) as part, storage_errors(target):
                with path.open("rb") as reading, part.open("xb") as writing:
                    _copy(reading.fileno(), writing.fileno(), os.fstat(reading.fileno()).st_size)
                    os.fsync(writing.fileno())
                _settle(part, target)
            now = path.stat()
            if (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
                target.unlink()
                raise InputError(f"{path} changed while it was read.", hint="Import it again.")

        try:
            return self._enter(path, target, keep, intact=True)
        except _NotIntact as why:
            if why.shared:
                return self._repack(path, label)
            return self._salvage(path, target, why.damage)

    def wacz(self) -> Intake:
        """Every WARC in a WACZ, each under a name of ours."""
        total = Intake(str(self._source), self._kind)
        with TemporaryDirectory(dir=self._archive.folder.spool) as scratch:
            for found in extract_warcs(self._source, Path(scratch)):
                if isinstance(found, Damage):
                    total += Intake("", "", damage=(found,))
                    continue
                name, path = found
                taken = self.warc(path, f"{_label(self._source)}-{_label(Path(name))}")
                inside = f"{self._source}/{name}"
                damage = tuple(replace(item, file=inside) for item in taken.damage)
                total += replace(taken, damage=damage)
                path.unlink(missing_ok=True)
        return total

    def converted(self, records: Iterator[Record | Damage], label: str) -> Intake:
        """Records of another format, written as a new WARC file."""

        def fill(part: Path) -> Iterator[Damage]:
            with WarcFile.create(part) as file:
                info = import_info(self._source.name, self._kind, self._archive.clock.now())
                file.append([info])
                for record in records:
                    if isinstance(record, Damage):
                        yield record
                        continue
                    file.append([record])
                    for piece in record.block:
                        piece.discard()
                file.sync()

        outcome = self._fill(self._archive.folder.new_segment(f"import-{label}"), fill)
        self._progress(self._source.stat().st_size)
        return outcome

    def _salvage(self, path: Path, target: Path, damage: tuple[Damage, ...]) -> Intake:
        """Copy the whole records of a damaged file, byte for byte, into a new one."""

        def fill(part: Path) -> Iterator[Damage]:
            with storage_errors(part), path.open("rb") as source, part.open("xb") as out:
                for start, length in _whole_stretches(path):
                    source.seek(start)
                    _copy(source.fileno(), out.fileno(), length)
                os.fsync(out.fileno())
            yield from damage

        return self._fill(target, fill)

    def _repack(self, path: Path, label: str) -> Intake:
        """Give every record of a file without random access a gzip member of its own."""

        def fill(part: Path) -> Iterator[Damage]:
            with storage_errors(part), part.open("xb") as out:
                for found in whole_records(path):
                    if isinstance(found, Damage):
                        yield found
                    else:
                        out.writelines(member(found))
                out.flush()
                os.fsync(out.fileno())

        return self._fill(self._archive.folder.new_segment(f"import-{label}"), fill)

    def _fill(self, target: Path, fill: Callable[[Path], Iterator[Damage]]) -> Intake:
        """Catalogue a new file, which `fill` writes under a temporary name, giving the damage."""
        with _partial(target) as part:
            damage = tuple(fill(part))
            outcome = self._enter(part, target, lambda: _settle(part, target))
        return outcome + Intake("", "", damage=damage)

    def _enter(
        self, path: Path, target: Path, keep: Callable[[], None], *, intact: bool = False
    ) -> Intake:
        """Catalogue what `path` holds as `target`; `keep` puts it there before the commit.

        Nothing is kept of a file that adds nothing; one that must be `intact` and is not, is
        refused by _NotIntact.
        """
        archive = self._archive
        records = captures = added = 0
        damage: list[Damage] = []
        unusable: list[Damage] = []
        shared = False
        with archive.ledger.transaction():
            segment = Segment(target.name, path.stat().st_size, sealed=True)
            number = archive.catalog.put_segment(segment)
            rows: list[Row] = []
            batch: Batch
            for batch in self._spread(read_range, ranges(path)):
                records += batch.records
                captures += len(batch.rows)
                rows += batch.rows
                if len(rows) >= _ROWS:
                    added += archive.catalog.add_rows(rows, number)
                    rows.clear()
                damage.extend(batch.damage)
                unusable.extend(batch.unusable)
                shared = shared or batch.shared
                for crawl in batch.crawls:
                    archive.catalog.put_crawl(crawl)
                if batch.crawls and batch.source.start == 0:  # as `reindex` would say
                    archive.catalog.put_segment(replace(segment, crawl=batch.crawls[0].id))
                if intact:
                    self._progress(batch.source.size)
            added += archive.catalog.add_rows(rows, number)
            if intact and (damage or shared):
                raise _NotIntact(tuple(damage), shared)
            if added:
                keep()
            else:
                archive.ledger.rollback()
        stored = (target.name,) if added else ()
        kept = tuple(unusable)
        return Intake(str(self._source), self._kind, records, captures, added, stored, kept)


@dataclass(eq=False)
class _NotIntact(Exception):
    """A file cannot be kept as it is: parts are damaged, or records share a gzip member."""

    damage: tuple[Damage, ...]
    shared: bool


def _whole_stretches(path: Path) -> Iterator[tuple[int, int]]:
    """The byte ranges of whole records, neighbours joined."""
    start = end = 0
    for found in whole_records(path):
        if not isinstance(found, StoredRecord):
            continue
        where = found.where
        if where.offset < end:  # another record of the same member
            continue
        if where.offset != end:
            if end > start:
                yield start, end - start
            start = where.offset
        end = where.offset + where.length
    if end > start:
        yield start, end - start


def _copy(source: int, target: int, length: int) -> None:
    while length:
        done = os.sendfile(target, source, None, length)
        if not done:
            return
        length -= done


@contextmanager
def _partial(target: Path) -> Iterator[Path]:
    """A temporary name beside the target that does not outlive the block."""
    part = target.with_name(target.name + ".part")
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def _settle(part: Path, target: Path) -> None:
    with storage_errors(target):
        part.rename(target)
        sync_folder(target.parent)


def _label(path: Path) -> str:
    name = path.name
    for suffix in (*SEGMENT_SUFFIXES, ".arc.gz", ".arc", ".wacz", ".gz", ".zst"):
        name = name.removesuffix(suffix)
    # A file name is hostile: keep letters, digits, dot, dash, underscore, and not too many.
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._-")[:80] or "unnamed"
