"""Counts of crawls: nobody waits longer than he wants to, and nothing is counted too often."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.clock import SystemClock
from asof.crawl import summary
from asof.errors import ArchiveError
from asof.frontier.report import LeftOutReason
from asof.model import Crawl, CrawlState
from asof.web import crawl_counts
from asof.web.crawl_counts import Counts

CRAWL = Crawl("c1", ("http://a.org/",), 1, CrawlState.INTERRUPTED)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    with (
        OpenArchive.write(tmp_path / "archive", purpose="test") as archive,
        archive.ledger.transaction() as db,
    ):
        archive.catalog.put_crawl(CRAWL)
        number = archive.catalog.crawl_no("c1")
        for no, (state, host) in enumerate([("failed", "a.org"), ("done", "b.org")] * 150):
            db.execute(
                "INSERT INTO targets (crawl,key,url,host,state,priority,depth,hops,reason)"
                " VALUES (?, ?, ?, ?, ?, 1, 1, 'L', 'dns')",
                (number, no, f"http://{no}.{host}/", f"{no}.{host}", state),
            )
    return archive.folder


class Gate:
    """Lets counts through one by one, and knows how many there were."""

    def __init__(self) -> None:
        self.counts, self.open = 0, threading.Semaphore(0)

    def report_of(self, *args: object) -> summary.Report:
        self.counts += 1
        assert self.open.acquire(timeout=10)
        return summary.report_of(*args)  # type: ignore[arg-type]


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    found = Gate()
    monkeypatch.setattr(crawl_counts, "report_of", found.report_of)
    yield found
    found.open.release(10)


def test_who_does_not_wait_is_told_what_is_known(folder: Folder, gate: Gate) -> None:
    counts = Counts(folder, SystemClock())
    (first,) = counts.of([CRAWL], 0.05)
    assert (first.summary, first.report) == (None, None)
    assert first.ending == "interrupted"
    (again,) = counts.of([CRAWL], 0.05)
    assert (again.report, gate.counts) == (None, 1), "one count for all who ask"
    gate.open.release()
    (known,) = counts.of([CRAWL], 10)
    assert known.report is not None
    assert known.report.failed == [
        LeftOutReason("dns", 150, tuple(f"http://{no}.a.org/" for no in (0, 2, 4)))
    ]
    assert known.summary is not None
    assert (known.summary.failed, known.summary.captured) == (150, 150)
    assert len(known.report.completeness.hosts) == 100
    assert counts.of([CRAWL], 0) == [known]
    assert gate.counts == 1


def test_while_it_is_counted_anew_the_last_count_is_told(folder: Folder, gate: Gate) -> None:
    counts = Counts(folder, SystemClock())
    gate.open.release()
    (known,) = counts.of([CRAWL], 10)
    changed = replace(CRAWL, settings={"exclude": ["x"]})
    assert counts.of([changed], 0.05) == [replace(known, crawl=changed)]
    gate.open.release()
    (new,) = counts.of([changed], 10)
    assert (new.crawl, gate.counts) == (changed, 2)


def test_of_one_that_has_ended_the_kept_summary_is_told_at_once(folder: Folder, gate: Gate) -> None:
    kept = replace(CRAWL, state=CrawlState.FINISHED, note='{"captured": 7, "ended_by": "done"}')
    (told,) = Counts(folder, SystemClock()).of([kept], 0)
    assert told.summary is not None
    assert (told.summary.captured, told.report, told.ending) == (7, None, "Finished")


def test_what_cannot_be_counted_is_an_error_for_each_who_asks(folder: Folder) -> None:
    counts = Counts(folder, SystemClock())
    folder.db.unlink()
    for _ in range(2):
        with pytest.raises(ArchiveError):
            counts.of([CRAWL], 10)
