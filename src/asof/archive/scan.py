"""Reading WARC files into catalog rows, on all cores: the work behind import and reindex.

A file is cut into ranges at record boundaries; each range becomes one Batch of rows, made by a
worker process, and the batches arrive in file order, so that the outcome does not depend on the
number of workers.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, zip_longest
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Final, TypeVar

from asof.archive.folder import Folder
from asof.catalog.asked import Asked, Requests
from asof.catalog.captures import Catalog
from asof.catalog.derive import fast_row, missing_identity, row
from asof.catalog.rows import Row
from asof.model import Crawl, Damage, Segment
from asof.warc.compression import Packing, packing
from asof.warc.info import read_crawl
from asof.warc.members import BAD_CHECKSUM
from asof.warc.reader import scan_as
from asof.warc.record import Flag, StoredRecord
from asof.warc.split import split
from asof.warc.verify import payload_holds, verify

# Large enough to make a worker's start-up and the hand-over of rows cheap, small enough to show
# progress and to keep both cores busy until the end.
RANGE_BYTES = 8 << 20

_DIGEST: Final = 7  # of COLUMNS
_SIZE: Final = 9
_ANOMALIES: Final = 19

Result = TypeVar("Result")
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class FileRange:
    """A stretch of a file that starts at a record."""

    path: Path
    start: int
    end: int | None
    size: int


@dataclass(frozen=True, slots=True)
class Batch:
    """What a range holds: rows for the catalog, damage, and what it says about its crawl.

    `unusable` are whole records that nobody could ask for: they are kept, but have no URL or no
    date to be found by. `doubtful` are those whose digest does not hold. `asked` are the
    requests whose answers are to be set apart. `uneven` says that the file had better be written
    anew: some gzip member holds several records, which then have no place of their own to be read
    from; one is in several segments (`segmented`); or a digest does not hold, and no checksum would
    tell whether that was so when it came.
    """

    source: FileRange
    records: int
    rows: list[Row]
    damage: list[Damage]
    crawls: list[Crawl]
    unusable: list[Damage]
    doubtful: list[Damage]
    asked: list[Asked]
    uneven: bool = False
    segmented: bool = False


def ranges(path: Path) -> list[FileRange]:
    """The file in stretches of about RANGE_BYTES, each starting at a record."""
    size = path.stat().st_size
    parts = size // RANGE_BYTES
    starts = [0] if parts < 2 else split(path, parts)
    return [
        FileRange(path, begin, end, (size if end is None else end) - begin)
        for begin, end in zip_longest(starts, starts[1:])
    ]


def entered(catalog: Catalog, segment: Segment, batch: Batch) -> tuple[Segment, int]:
    """Enter a segment and the crawls that a stretch of it speaks of; gives its number, too.

    It is of the crawl that it names first.
    """
    begins = batch.source.start == 0 and batch.crawls
    owner = segment.crawl or (batch.crawls[0].id if begins else None)
    ours = {crawl.id for crawl in catalog.crawls() if not crawl.imported} if batch.crawls else ()
    told = told_of(segment.file, batch.crawls, owner, ours)
    for crawl in told:
        catalog.put_crawl(crawl)
    segment = replace(segment, crawl=owner if told else segment.crawl)
    return segment, catalog.put_segment(segment)


def told_of(
    file: str, named: Sequence[Crawl], owner: str | None, ours: Collection[str]
) -> Sequence[Crawl]:
    """What counts of what a file says of crawls: that of others speaks of its own one alone, and
    not if that is `ours`. What would be asked, and how, is not for strangers to say.
    """
    if not Folder.is_imported(file):
        return named
    return [replace(c, imported=True) for c in named if c.id == owner and c.id not in ours]


def is_vouched(path: Path) -> bool:
    """Whether checksums show that what is wrong in a file of the archive was so when it came.

    A file by others is kept as it came only where each record has a checksum.
    """
    return Folder.is_imported(path.name) and packing(path) is Packing.GZIP


def read_range(source: FileRange) -> Batch:
    """Scan one range; runs in a worker."""
    batch = Batch(source, 0, [], [], [], [], [], [])
    records, uneven, segmented, requests = 0, False, False, Requests()
    doubt = False  # see `asof.warc.foreign.mend`
    checked = packing(source.path) is Packing.GZIP
    items: Iterator[Row | tuple[()] | StoredRecord | Damage]
    items = scan_as(source.path, _proven_row, start=source.start, end=source.end)
    for found in items:
        if isinstance(found, Damage):
            batch.damage.append(found)
            doubt = doubt or BAD_CHECKSUM not in found.reason
            continue
        records += 1
        if isinstance(found, tuple):
            if found:
                batch.rows.append(_doubted(found) if doubt else found)
            continue
        segmented = segmented or found.header.get("WARC-Segment-Number") is not None
        uneven = uneven or segmented or found.skip > 0
        problems = verify(found)
        entry = row(found, problems)
        if entry is not None:
            batch.rows.append(_doubted(entry) if doubt else entry)
        else:
            requests.take(found)
            _note(found, batch)
        if problems:
            where = found.where
            batch.doubtful.append(Damage(where.file, where.offset, problems[0], where.length))
            uneven = uneven or not checked
    asked = requests.found()
    return replace(batch, records=records, asked=asked, uneven=uneven, segmented=segmented)


def _doubted(entry: Row) -> Row:
    """A row that says that its record was found after damage."""
    said = f"{entry[_ANOMALIES] or ''} {Flag.AFTER_DAMAGE}".strip()
    return (*entry[:_ANOMALIES], said, entry[-1])


def _proven_row(content: bytes | bytearray, offset: int, length: int) -> Row | tuple[()] | None:
    """The row of a plain record whose payload is what it says; None for a closer look."""
    found = fast_row(content, offset, length)
    if found and not payload_holds(found[_DIGEST] or "", content, found[_SIZE]):
        return None
    return found


def _note(record: StoredRecord, batch: Batch) -> None:
    lack = missing_identity(record.header)
    if lack is not None:
        where = record.where
        batch.unusable.append(Damage(where.file, where.offset, lack, where.length))
        return
    crawl = read_crawl(record)
    if crawl is not None:
        batch.crawls.append(crawl)


Spread = Callable[[Callable[[FileRange], Any], Sequence[FileRange]], Iterator[Any]]
"""A map over ranges that keeps their order."""


@contextmanager
def workers(count: int, total: int) -> Iterator[Spread]:
    """Such a map: in this process, or on `count` others.

    Little work (`total` bytes) is not worth a second process. They are forked where that is safe,
    before any thread has started (0.3 s less than a fresh start of each), and spawned elsewhere.
    """
    if count < 2 or total <= RANGE_BYTES:
        yield map
        return
    method = "fork" if threading.active_count() == 1 else "spawn"
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(count, mp_context=context, initializer=_begin) as pool:
        list(pool.map(abs, range(count)))  # starts them now
        yield partial(_bounded_map, pool, count * 2)


def _begin() -> None:
    """In a worker: Ctrl-C is for the parent, and a parent that was killed is not survived."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait([sentinel])  # a pipe of which the parent has the other end, and never writes to it
    os._exit(1)


def _bounded_map(
    pool: ProcessPoolExecutor,
    ahead: int,
    work: Callable[[FileRange], Result],
    items: Sequence[FileRange],
) -> Iterator[Result]:
    """Like pool.map, with at most `ahead` results waiting: rows of a huge file must not pile up."""
    waiting = [pool.submit(work, item) for item in items[:ahead]]
    upcoming = iter(items[ahead:])
    while waiting:
        yield waiting.pop(0).result()
        waiting.extend(pool.submit(work, item) for item in islice(upcoming, 1))
