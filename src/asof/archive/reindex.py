"""Rebuild the database from the WARC files alone. They are only read."""

from collections import defaultdict
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from asof.archive.folder import Folder
from asof.archive.scan import Batch, Progress, Spread, entered, is_vouched, ranges, read_range
from asof.catalog.asked import Asked, set_apart
from asof.catalog.captures import Catalog
from asof.catalog.inventory import forget
from asof.errors import AsofError
from asof.files import sync_folder
from asof.frontier.report import untaken
from asof.ledger import Ledger, discard
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
        discard(fresh)  # what one that was killed left; nobody else makes one while we hold it
        try:
            ledger = Ledger(fresh, writable=True)
            try:
                result = _rebuild(folder, ledger, spread, progress)
                taken = ledger.overwrite(folder.db)
            finally:
                ledger.close()
            if not taken:
                discard(folder.db)
                fresh.replace(folder.db)
                sync_folder(folder.root)
            with suppress(AsofError):  # another counts just now, and not what was here before
                forget(folder.inventory)
        finally:
            discard(fresh)
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
    # Ours first: what others say of a crawl that is ours does not count.
    ordered = sorted(paths, key=lambda path: Folder.is_imported(path.name))
    work = [item for path in ordered for item in ranges(path)]
    segments: dict[Path, Segment] = {}
    asked: dict[Path, list[Asked]] = defaultdict(list)
    with ledger.transaction():
        batch: Batch
        for batch in spread(read_range, work):
            captures += _take(catalog, segments, batch)
            asked[batch.source.path] += batch.asked
            damage.extend((*batch.damage, *batch.unusable))
            if not is_vouched(batch.source.path):
                damage.extend(batch.doubtful)
            progress(batch.source.size)
        for path, own in asked.items():
            captures -= set_apart(ledger, own, path, catalog.put_segment(segments[path]))
        crawls = catalog.crawls()
    damage += [Damage(path.name, 0, "is no file, and was left out") for path in folder.strays()]
    return Reindexed(len(paths), captures, len(crawls), tuple(damage))


def _take(catalog: Catalog, segments: dict[Path, Segment], batch: Batch) -> int:
    """Enter a batch; a segment gets its row with its first batch, sealed and whole."""
    path = batch.source.path
    segment = segments.get(path) or Segment(path.name, path.stat().st_size, sealed=True)
    segments[path], number = entered(catalog, segment, batch)
    return catalog.add_rows(batch.rows, number)
