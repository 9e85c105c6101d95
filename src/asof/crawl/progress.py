"""How a crawl stands by what its queue says, for those who watch and for its summary."""

from __future__ import annotations

from asof.clock import Clock
from asof.crawl.summary import Summary
from asof.frontier.hosts import Hosts
from asof.frontier.report import busiest, failed, reasons, tally
from asof.frontier.states import TargetState
from asof.ledger import Ledger

# Seconds between two counts.
_COUNT_EVERY = 2.0
_REASONS = 4


class Outlook:
    """The hosts with most queued and the reasons of failures, counted now and then."""

    def __init__(self, reader: Ledger, crawl_no: int) -> None:
        self._reader = reader
        self._crawl_no = crawl_no
        self._count_at = 0.0
        self.busiest: tuple[tuple[str, int, float], ...] = ()
        self.reasons: tuple[tuple[str, int], ...] = ()

    def renew(self, now: float, clock: Clock, hosts: Hosts) -> None:
        """Count anew, if it is time."""
        if now < self._count_at:
            return
        self.busiest = tuple(
            (host, count, max(0.0, hosts.due(host, now) - now))
            for host, count in busiest(self._reader, self._crawl_no)
        )
        why = failed(self._reader, self._crawl_no, examples=0)[:_REASONS]
        self.reasons = tuple((reason.reason, reason.count) for reason in why)
        # Counting a million targets takes a second: never more than a fiftieth of the time.
        took = clock.monotonic() - now
        self._count_at = now + max(_COUNT_EVERY, 50 * took)


def counted(reader: Ledger, crawl_no: int) -> Summary:
    """What became of the targets of a crawl, of what is committed."""
    visits, revisits = tally(reader, crawl_no), tally(reader, crawl_no, revisits=True)
    return Summary(
        captured=visits[TargetState.DONE],
        failed=visits[TargetState.FAILED],
        left_out=visits[TargetState.LEFT_OUT],
        queued=visits[TargetState.QUEUED],
        reasons=reasons(reader, crawl_no),
        revisited=revisits[TargetState.DONE],
        to_revisit=revisits[TargetState.QUEUED],
    )
