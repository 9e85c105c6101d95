"""What became of the targets of crawls, counted beside those who read.

Of a million targets that takes seconds, in which nobody else could ask the same connection: it is
done by a thread with one of its own, and who asks waits for a moment only.
"""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.clock import Clock
from asof.crawl.summary import Report, Summary, report_of, summary_of
from asof.crawl.watch import current_summary
from asof.model import Crawl, CrawlState
from asof.report.crawl_words import ENDINGS

# Seconds between two counts of the same, and at least 50 times as long as one takes. Of a crawl
# that has ended only a reindex changes anything.
_AGAIN, _ENDED_AGAIN, _SHARE = 2.0, 60.0, 50
# Hosts that are told of: as many as in JSON. Some crawls have 100,000.
_HOSTS = 100
_KEPT = 64


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a crawl; None is what is being counted."""

    crawl: Crawl
    summary: Summary | None
    report: Report | None

    @property
    def ending(self) -> str:
        """How it ended, as `asof crawl` says it."""
        return ENDINGS.get(summary_of(self.crawl).ended_by, self.crawl.standing)


class Counts:
    """Counts one crawl at a time."""

    def __init__(self, home: Folder, clock: Clock) -> None:
        self._home = home
        self._clock = clock
        self._lock = Lock()
        self._done: dict[str, tuple[float, Told]] = {}
        self._under_way: dict[str, Future[Told]] = {}
        self._worker = ThreadPoolExecutor(1, "counts")

    def of(self, crawls: Iterable[Crawl], patience: float) -> list[Told]:
        """What is known of crawls after so many seconds at most; of some, as it was before."""
        until = self._clock.monotonic() + patience
        counting = [(crawl, self._begun(crawl)) for crawl in crawls]
        return [self._ended(crawl, begun, until) for crawl, begun in counting]

    def _begun(self, crawl: Crawl) -> "Told | Future[Told]":
        with self._lock:
            due, known = self._done.get(crawl.id, (0.0, None))
            if known is not None and known.crawl == crawl and self._clock.monotonic() < due:
                return known
            if crawl.id not in self._under_way:
                self._under_way[crawl.id] = self._worker.submit(self._count, crawl)
            return self._under_way[crawl.id]

    def _ended(self, crawl: Crawl, begun: "Told | Future[Told]", until: float) -> Told:
        if isinstance(begun, Told):
            return begun
        try:
            return begun.result(max(0.0, until - self._clock.monotonic()))
        except TimeoutError:
            _, known = self._done.get(crawl.id, (0.0, None))
            has_ended = crawl.state is CrawlState.FINISHED
            if known is not None:
                return replace(known, crawl=crawl)
            return Told(crawl, summary_of(crawl) if has_ended else None, None)

    def _count(self, crawl: Crawl) -> Told:
        began = self._clock.monotonic()
        try:
            with OpenArchive.open(self._home.root, clock=self._clock) as archive:
                report = report_of(archive.ledger, archive.catalog.crawl_no(crawl.id))
                summary = current_summary(archive, crawl)
            hosts = report.completeness.hosts[:_HOSTS]
            report = replace(report, completeness=replace(report.completeness, hosts=hosts))
            told, now = Told(crawl, summary, report), self._clock.monotonic()
            least = _ENDED_AGAIN if crawl.state is CrawlState.FINISHED else _AGAIN
            with self._lock:
                if len(self._done) >= _KEPT:
                    self._done.clear()
                self._done[crawl.id] = now + max(least, _SHARE * (now - began)), told
            return told
        finally:
            with self._lock:
                del self._under_way[crawl.id]
