"""Reading WARC files into catalog rows, on all cores: the work behind import and reindex.

A file is cut into ranges at record boundaries; each range becomes one Batch of rows, made by a
worker process, and the batches arrive in file order, so that the outcome does not depend on the
number of workers.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, zip_longest
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, TypeVar

from asof.catalog.derive import fast_row, missing_identity, row
from asof.catalog.rows import Row
from asof.model import Crawl, Damage
from asof.warc.compression import Packing, packing
from asof.warc.info import read_crawl
from asof.warc.reader import scan, scan_as
from asof.warc.record import StoredRecord
from asof.warc.split import split
from asof.warc.verify import judge

# Large enough to make a worker's start-up and the hand-over of rows cheap, small enough to show
# progress and to keep both cores busy until the end.
RANGE_BYTES = 8 << 20

# Where an HTTP head says how its body is coded.
_HEAD = 1 << 14

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

    `shared` says that some gzip member holds several records, which then have no place of their
    own to be read from. `unusable` are whole records that nobody could ask for: they are kept,
    but have no URL or no date to be found by.
    """

    source: FileRange
    records: int
    rows: list[Row]
    damage: list[Damage]
    crawls: list[Crawl]
    unusable: list[Damage]
    shared: bool = False


def ranges(path: Path) -> list[FileRange]:
    """The file in stretches of about RANGE_BYTES, each starting at a record."""
    size = path.stat().st_size
    parts = size // RANGE_BYTES
    starts = [0] if parts < 2 else split(path, parts)
    return [
        FileRange(path, begin, end, (size if end is None else end) - begin)
        for begin, end in zip_longest(starts, starts[1:])
    ]


def read_range(source: FileRange) -> Batch:
    """Scan one range; runs in a worker."""
    batch = Batch(source, 0, [], [], [], [])
    records, shared = 0, False
    items: Iterator[Row | tuple[()] | StoredRecord | Damage]
    if packing(source.path) is Packing.GZIP:
        items = scan_as(source.path, fast_row, start=source.start, end=source.end)
    else:
        items = whole_records(source.path, source.start, source.end)
    for found in items:
        if isinstance(found, Damage):
            batch.damage.append(found)
            continue
        records += 1
        if isinstance(found, tuple):
            if found:
                batch.rows.append(found)
            continue
        shared = shared or found.skip > 0
        entry = row(found)
        if entry is not None:
            batch.rows.append(entry)
        else:
            _note(found, batch)
    return replace(batch, records=records, shared=shared)


def whole_records(
    path: Path, start: int = 0, end: int | None = None
) -> Iterator[StoredRecord | Damage]:
    """What a file holds, where a record whose bytes have changed since counts as damage.

    A gzip member has a checksum of its own. Other files have none, so there the record's digest
    must tell; not that of a chunked payload, for tools do not agree on what it is taken of.
    """
    found = scan(path, start=start, end=end)
    if packing(path) is Packing.GZIP:
        return found
    return map(_judged, found)


def _judged(found: StoredRecord | Damage) -> StoredRecord | Damage:
    if not isinstance(found, StoredRecord):
        return found
    verdict = judge(found)
    if not verdict.problems:
        return found
    if "payload" in verdict.problems[0]:
        chunked = b"chunked" in (found.data or b"")[:_HEAD].lower()
        if verdict.verified or chunked:
            return found
    where = found.where
    return Damage(where.file, where.offset, verdict.problems[0], where.length)


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
