"""A running crawl seen from another process: how it stands, and what it does about an order."""

import asyncio
from dataclasses import dataclass, replace

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.clock import SECOND, Clock
from asof.crawl.control import Act, Order, Status, running, send_order, writer
from asof.crawl.summary import Meter, Snapshot, Summary, counted, summary_of
from asof.errors import ArchiveError, UsageError
from asof.frontier import report
from asof.frontier.states import TargetState
from asof.model import Crawl, CrawlState

# A file is looked at as often as one likes; the database, which must count, less often.
_COUNT_EVERY = 5.0
# A crawl hears orders five times a second; one that is busy with a large document takes longer.
PATIENCE = 5.0
_LOOK_EVERY = 0.05


def current_summary(archive: OpenArchive, crawl: Crawl) -> Summary:
    """The summary of a crawl that has ended; of another, what its queue says now."""
    kept = summary_of(crawl)
    if crawl.state is CrawlState.FINISHED:
        return kept
    now = counted(archive.ledger, archive.catalog.crawl_no(crawl.id))
    return replace(now, bytes=kept.bytes, seconds=kept.seconds, ended_by=kept.ended_by)


class Watch:
    """Looks at the crawl that runs: at its status file or, without --control, at the database."""

    def __init__(self, home: Folder, clock: Clock) -> None:
        self._home = home
        self._clock = clock
        self._meter = Meter()
        self._counted: tuple[str, Snapshot] = ("", Snapshot(0.0, 0, 0, 0, 0, 0, 0))
        self._count_at = clock.monotonic()

    def look(self) -> tuple[str, Snapshot] | None:
        """The crawl's id and how it stands; an empty id while it is starting; None: it ended."""
        status = running(self._home)
        if status is not None:
            return status.crawl, status.snapshot
        if writer(self._home)[0] != "crawl":
            return None
        now = self._clock.monotonic()
        if now >= self._count_at:
            self._count_at = now + _COUNT_EVERY
            self._counted = self._count(now)
        return self._counted

    def _count(self, now: float) -> tuple[str, Snapshot]:
        try:
            archive = OpenArchive.open(self._home.root)
        except ArchiveError:  # it is being made
            return self._counted
        with archive:
            crawl = archive.crawl()
            if crawl is None or crawl.state is not CrawlState.RUNNING:
                return self._counted
            return crawl.id, self._snapshot(archive, crawl, now)

    def _snapshot(self, archive: OpenArchive, crawl: Crawl, now: float) -> Snapshot:
        number = archive.catalog.crawl_no(crawl.id)
        count = report.tally(archive.ledger, number)
        busiest = report.busiest(archive.ledger, number)
        own = [segment for segment in archive.segments() if segment.crawl == crawl.id]
        return Snapshot(
            elapsed=max(0, self._clock.now() - crawl.started) / SECOND,
            captured=count[TargetState.DONE],
            failed=count[TargetState.FAILED],
            left_out=count[TargetState.LEFT_OUT],
            queued=count[TargetState.QUEUED],
            bytes=sum(segment.committed for segment in own),
            hosts=report.queued_hosts(archive.ledger, number),
            busiest=tuple((host, queued, -1.0) for host, queued in busiest),
            reasons=tuple(report.reasons(archive.ledger, number, TargetState.FAILED).items()),
            rate_now=self._meter.rate(now, count[TargetState.DONE]),
        )


@dataclass(frozen=True, slots=True)
class GivenOrder:
    """An order to a crawl. `did` is None until it obeys, `state` when it has ended meanwhile."""

    order: Order
    crawl: str
    did: str | None
    state: str | None


def give_order(home: Folder, clock: Clock, act: Act, pattern: str = "") -> GivenOrder:
    status = running(home)
    if status is None:
        raise _nobody(home)
    home.require()
    order = send_order(home, clock, act, pattern)
    deadline = clock.monotonic() + PATIENCE
    last: Status | None = status
    while clock.monotonic() < deadline:
        last = running(home)
        if last is None or last.crawl != status.crawl:
            # A crawl that has been told to stop, and is not there any more, has obeyed.
            return GivenOrder(order, status.crawl, "stopped" if act is Act.STOP else None, None)
        if (did := last.did(order)) is not None:
            return GivenOrder(order, status.crawl, did, last.snapshot.state)
        asyncio.run(clock.sleep(_LOOK_EVERY))
    return GivenOrder(order, status.crawl, None, None if last is None else last.snapshot.state)


def _nobody(home: Folder) -> UsageError:
    if home.is_locked():
        return UsageError(
            f"{home.root} is in use, but not by a crawl that takes orders.",
            hint="Stop it with Ctrl-C, then go on with `asof crawl --control`.",
        )
    return UsageError(
        f"No crawl is running in {home.root}.",
        hint="One that was interrupted goes on with `asof crawl`;"
        " one that takes orders is started with `asof crawl --control`.",
    )
