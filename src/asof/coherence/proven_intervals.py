"""Over which stretches of time each page is known, given what the word of its host is worth.

The same rules as for a verdict (asof.coherence.measure), for all moments at once: for the curve of
what is provable and for the best moment.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence

from asof.clock import Instant
from asof.coherence.host_trust import claimed_by
from asof.coherence.intervals import Stretches
from asof.coherence.observations import SameAnswers
from asof.coherence.verdict import HostTrust
from asof.model import State, Validity


def page_intervals(url: str, runs: Sequence[SameAnswers], trust: HostTrust) -> Iterator[Validity]:
    """The intervals of a page, by its firm runs, without their evidence.

    What dates that can be trusted say of the time before stays apart (`claimed_since`). A page that
    is gone has no content, and no interval.
    """
    trusted = trust.trusts_dates and not trust.doubts(url)
    before: Instant | None = None
    for run in runs:
        if not run.mixed and run.state is not State.GONE:
            claimed = _claimed(run, trust, before) if trusted else None
            first = run.seen[0]
            yield Validity(
                url=url, content=first.identity, status=first.status, since=run.since,
                until=run.until, evidence=(), claimed_since=claimed, state=first.state,
            )  # fmt: skip
        before = run.until


def stretches(
    intervals: Iterable[Validity], first: Instant | None = None, last: Instant | None = None
) -> Stretches:
    """The intervals from where dates say that they begin, and of them what lies in a time."""
    urls: list[str] = []
    ends = array("q"), array("q")
    for each in intervals:
        since, until = each.since if each.claimed_since is None else each.claimed_since, each.until
        since = since if first is None else max(since, first)
        until = until if last is None else min(until, last)
        if since <= until:
            urls.append(each.url)
            ends[0].append(since)
            ends[1].append(until)
    return Stretches.of(urls, *ends)


def _claimed(run: SameAnswers, trust: HostTrust, before: Instant | None) -> Instant | None:
    """Since when a content is there by its dates, clear of them as a verdict has to be."""
    claim = claimed_by((sight.capture for sight in run.seen), trust, run.since)
    # What contradicts another sight is no date to go by.
    if claim is None or (before is not None and claim[1] <= before):
        return None
    return None if claim[1] > run.since else claim[1]
