"""Rebuild the database from the WARC files alone. They are only read."""

from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from asof.archive.folder import Folder
from asof.archive.scan import Batch, Progress, Spread, is_vouched, ranges, read_range
from asof.catalog.captures import Catalog
from asof.catalog.inventory import forget
from asof.errors import AsofError
from asof.files import sync_folder
from asof.frontier.report import untaken
from asof.ledger import Ledger
from asof.model import Damage, Segment


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What the rebuilt catalog holds, what could not be read, and how many URLs that crawls found
    and did not take nobody knows of any more: no file has them.
    """

    segments: int
    captures: int
    crawls: int
    damage: tuple[Damage, ...]
    forgotten: int = 0


def total_bytes(folder: Folder) -> int:
    return sum(path.stat().st_size for path in folder.segment_files())


def reindex(folder: Folder, *, spread: Spread, progress: Progress) -> Reindexed:
    """Build a new database beside the old one and put its content there when it is whole."""
    folder.require()
    fresh = folder.db.with_name("asof.db.new")
    with folder.lock("reindex"):
        forgotten = _untaken(folder)
        _remove(fresh)  # what one that was killed left; nobody else makes one while we hold it
        try:
            ledger = Ledger(fresh, writable=True)
            try:
                result = _rebuild(folder, ledger, spread, progress)
                taken = ledger.overwrite(folder.db)
            finally:
                ledger.close()
            if not taken:
                _remove(folder.db)  # first the database: nobody opens it without its log
                fresh.replace(folder.db)
                sync_folder(folder.root)
            with suppress(AsofError):  # another counts just now, and not what was here before
                forget(folder.inventory)
        finally:
            _remove(fresh)
    return replace(result, forgotten=forgotten)


def _untaken(folder: Folder) -> int:
    """How many URLs the old catalog knows as found and not taken; 0 if it cannot be read."""
    try:
        with closing(Ledger(folder.db, writable=False)) as ledger:
            return untaken(ledger)
    except AsofError:
        return 0


def _rebuild(folder: Folder, ledger: Ledger, spread: Spread, progress: Progress) -> Reindexed:
    catalog = Catalog(ledger, folder.warc)
    paths = folder.segment_files()
    damage: list[Damage] = []
    captures = 0
    work = [item for path in paths for item in ranges(path)]
    numbers: dict[Path, int] = {}
    with ledger.transaction():
        batch: Batch
        for batch in spread(read_range, work):
            captures += _take(catalog, numbers, batch)
            damage.extend((*batch.damage, *batch.unusable))
            if not is_vouched(batch.source.path):
                damage.extend(batch.doubtful)
            progress(batch.source.size)
        crawls = catalog.crawls()
    damage += [Damage(path.name, 0, "is no file, and was left out") for path in folder.strays()]
    return Reindexed(len(paths), captures, len(crawls), tuple(damage))


def _take(catalog: Catalog, numbers: dict[Path, int], batch: Batch) -> int:
    """Enter a batch; a segment gets its row with its first batch, sealed and whole."""
    path = batch.source.path
    for found in batch.crawls:
        catalog.put_crawl(found)
    if path not in numbers:
        crawl = batch.crawls[0].id if batch.crawls else None
        segment = Segment(path.name, path.stat().st_size, crawl, sealed=True)
        numbers[path] = catalog.put_segment(segment)
    return catalog.add_rows(batch.rows, numbers[path])


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
