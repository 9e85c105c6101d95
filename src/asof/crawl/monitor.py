"""What a crawl tells while it runs, and what it is told: events, snapshots, orders."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from asof.archive import OpenArchive
from asof.crawl.assignment import AssignmentFiles, beside, crawled_pages
from asof.crawl.control import Act, Control, Order
from asof.crawl.events import EventLog, log_file
from asof.crawl.summary import Meter, Snapshot
from asof.model import Crawl, Exchange, Failure, Target

# Seconds between two snapshots, and between two counts of what is queued by host.
_REPORT_EVERY = 0.25

# What the log calls an order that was carried out.
_DONE = dict(zip(Act, ("paused", "resumed", "excluded", "stopped"), strict=True))

Watcher = Callable[[Snapshot], None]


@dataclass(slots=True, eq=False)
class Monitor:
    """The crawl's ears and mouth. `_control` is None when nobody may give orders."""

    events: EventLog
    _watch: Watcher | None = None
    _control: Control | None = None
    _pages: AssignmentFiles | None = None
    _meter: Meter = field(default_factory=Meter)
    _report_at: float = 0.0

    @property
    def controlled(self) -> bool:
        return self._control is not None

    @property
    def watched(self) -> bool:
        """Whether anybody sees the snapshots."""
        return self._watch is not None or self.controlled

    def orders(self) -> list[Order]:
        return [] if self._control is None else self._control.orders()

    def obeyed(self, order: Order, did: str) -> None:
        if self._control is not None:
            self._control.obeyed(order, did)
        fields = {"pattern": order.pattern} if order.pattern else {}
        self.events.write(_DONE[order.act], did=did, **fields)
        self._report_at = 0.0

    def fetched(self, target: Target, exchange: Exchange, *, revisit: bool, page: bool) -> None:
        self._meter.recent.append((exchange.status, target.url))
        self.events.fetched(target, exchange, revisit=revisit)
        if page and self._pages is not None:
            self._pages.crawled(target.url)

    def failed(self, target: Target, failure: Failure) -> None:
        self._meter.recent.append((0, target.url))
        self.events.write(
            "failed",
            url=target.url,
            reason=failure.reason,
            detail=failure.detail,
            tries=target.tries + 1,
        )

    def due(self, now: float) -> bool:
        self.events.tick()
        return now >= self._report_at

    def report(self, snapshot: Snapshot, now: float) -> None:
        self._report_at = now + _REPORT_EVERY
        rate = self._meter.rate(now, snapshot.captured)
        full = replace(snapshot, recent=tuple(self._meter.recent), rate_now=rate)
        if self._watch is not None:
            self._watch(full)
        if self._control is not None:
            self._control.publish(full)


@contextmanager
def monitoring(
    archive: OpenArchive,
    crawl: Crawl,
    watch: Watcher | None,
    talk: Callable[[str], None],
    controlled: bool,
    resumed: bool = False,
) -> Iterator[Monitor]:
    """The monitor of one run; all its files are closed at the end."""
    with ExitStack() as held:
        events = EventLog(log_file(archive.folder, crawl.id), archive.clock, talk)
        held.callback(events.close)
        control = None
        if controlled:

            def note(why: str) -> None:
                events.write("ignored", reason=why)

            control = Control(archive.folder, archive.clock, crawl.id, note)
            held.callback(control.close)
        pages = None
        if crawl.settings.get("preset") == "assignment":
            already = [page.url for page in crawled_pages(archive, crawl)]
            pages = AssignmentFiles(beside(archive), already)
            held.callback(pages.close)
        about = {"crawl": crawl.id, "seeds": list(crawl.seeds), "resumed": resumed}
        events.write("started", **about, settings=crawl.settings)
        yield Monitor(events, watch, control, pages)
