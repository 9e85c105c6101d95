"""Reading WARC files into catalog rows, on all cores: the work behind import and reindex.

A file is cut into ranges at record boundaries; each range becomes one Batch of rows, made by a
worker process, and the batches arrive in file order, so that the outcome does not depend on the
number of workers.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from asof.catalog.derive import Row, row
from asof.model import Crawl, Damage
from asof.warc.build import read_crawl
from asof.warc.reader import scan, split
from asof.warc.record import StoredRecord

# Large enough to make a worker's start-up and the hand-over of rows cheap, small enough to show
# progress and to keep both cores busy until the end.
RANGE_BYTES = 8 << 20

Result = TypeVar("Result")


class Spread(Protocol):
    """A map over ranges that keeps their order."""

    def __call__(
        self, work: Callable[[Range], Result], items: Sequence[Range], /
    ) -> Iterator[Result]:
        """The results in the order of the items."""
        ...


@dataclass(frozen=True, slots=True)
class Range:
    """A stretch of a file that starts at a record."""

    path: Path
    start: int
    end: int | None
    size: int


@dataclass(frozen=True, slots=True)
class Batch:
    """What a range holds: rows for the catalog, damage, and what it says about its crawl.

    `shared` says that some gzip member holds several records, which then have no place of their
    own to be read from.
    """

    source: Range
    records: int
    rows: list[Row]
    damage: list[Damage]
    crawls: list[Crawl]
    shared: bool = False


def ranges(path: Path, start: int = 0) -> list[Range]:
    """The file in stretches of about RANGE_BYTES, each starting at a record."""
    size = path.stat().st_size
    parts = max(1, (size - start) // RANGE_BYTES)
    starts = [start] if start or parts == 1 else split(path, parts)
    ends: list[int | None] = [*starts[1:], None]
    return [
        Range(path, begin, end, (size if end is None else end) - begin)
        for begin, end in zip(starts, ends, strict=True)
    ]


def read_range(source: Range) -> Batch:
    """Scan one range; runs in a worker."""
    batch = Batch(source, 0, [], [], [])
    records, shared = 0, False
    for found in scan(source.path, start=source.start, end=source.end):
        if not isinstance(found, StoredRecord):
            batch.damage.append(found)
            continue
        records += 1
        shared = shared or found.skip > 0
        entry = row(found)
        if entry is not None:
            batch.rows.append(entry)
        else:
            crawl = read_crawl(found)
            if crawl is not None:
                batch.crawls.append(crawl)
    return Batch(source, records, batch.rows, batch.damage, batch.crawls, shared)


@contextmanager
def workers(count: int, total: int) -> Iterator[Spread]:
    """A map over ranges that keeps their order: in this process, or on `count` others.

    Little work (`total` bytes) is not worth a second process. They are forked where that is safe,
    before any thread has started (0.3 s less than a fresh start of each), and spawned elsewhere.
    """
    if count < 2 or total <= RANGE_BYTES:
        yield map
        return
    method = "fork" if threading.active_count() == 1 else "spawn"
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(count, mp_context=context) as pool:
        list(pool.map(abs, range(count)))  # starts them now
        yield partial(_bounded_map, pool, count * 2)


def _bounded_map(
    pool: ProcessPoolExecutor,
    ahead: int,
    work: Callable[[Range], Result],
    items: Sequence[Range],
) -> Iterator[Result]:
    """Like pool.map, with at most `ahead` results waiting: rows of a huge file must not pile up."""
    waiting = [pool.submit(work, item) for item in items[:ahead]]
    upcoming = iter(items[ahead:])
    while waiting:
        yield waiting.pop(0).result()
        waiting.extend(pool.submit(work, item) for item in _take_one(upcoming))


def _take_one(items: Iterator[Range]) -> Iterator[Range]:
    item = next(items, None)
    if item is not None:
        yield item
