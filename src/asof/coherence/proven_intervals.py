"""Over which stretches of time each page is known, given what the word of its host is worth.

The same rules as for a verdict (asof.coherence.measure), for all moments at once: for the curve of
what is provable and for the best moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from asof.catalog.observe import Sights
from asof.clock import Instant
from asof.coherence.credibility import firm_runs
from asof.coherence.host_trust import claimed_by
from asof.coherence.observations import SameAnswers, is_page
from asof.coherence.verdict import HostTrust
from asof.model import State, Validity
from asof.url import host_of


def known_intervals(
    seen: Sights, host_trust: Mapping[str, HostTrust], *, urls: Iterable[str]
) -> list[Validity]:
    """The intervals of pages, by URL and time, without their evidence.

    Weak validators and words of hosts that were caught count for nothing here; what dates that can
    be trusted say of the time before stays apart (`claimed_since`). A page that is gone has no
    content, and no interval.
    """
    found: list[Validity] = []
    for url in sorted(url for url in set(urls) if is_page(url) and url in seen):
        trust = host_trust.get(host_of(url), HostTrust(host_of(url)))
        trusted = trust.trusts_dates and not trust.doubts(url)
        before: Instant | None = None
        for run in firm_runs(url, seen[url], trust):
            if not run.mixed and run.state is not State.GONE:
                claimed = _claimed(run, trust, before) if trusted else None
                first = run.seen[0]
                found.append(Validity(
                    url=url, content=first.identity, status=first.status, since=run.since,
                    until=run.until, evidence=(), claimed_since=claimed, state=first.state,
                ))  # fmt: skip
            before = run.until
    return found


def with_claims(intervals: Iterable[Validity]) -> list[Validity]:
    """The same intervals, from where dates say that they begin."""
    return [
        each if each.claimed_since is None else replace(each, since=each.claimed_since)
        for each in intervals
    ]


def _claimed(run: SameAnswers, trust: HostTrust, before: Instant | None) -> Instant | None:
    """Since when a content is there by its dates, clear of them as a verdict has to be."""
    claim = claimed_by((sight.capture for sight in run.seen), trust, run.since)
    # What contradicts another sight is no date to go by.
    if claim is None or (before is not None and claim[1] <= before):
        return None
    return None if claim[1] > run.since else claim[1]
