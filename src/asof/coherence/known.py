"""Over which stretches of time each page is known, given what the word of its host is worth.

The same rules as for a verdict (asof.coherence.measure), for all moments at once: for the curve of
what is provable and for the best moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from asof.clock import Instant
from asof.coherence.believe import believed
from asof.coherence.sights import Firmness, Run, State, is_page, runs, sights
from asof.coherence.trust import dated
from asof.coherence.verdict import MARGIN, Standing
from asof.model import Capture, Validity
from asof.url import host_of


def known_intervals(
    captures: Iterable[Capture],
    standings: Mapping[str, Standing],
    *,
    urls: Iterable[str],
    claims: bool = False,
) -> list[Validity]:
    """The intervals of pages, by URL and time. With `claims`, dates of trusted hosts count.

    Weak validators and words of hosts that were caught are no evidence here. A page that is gone
    has no content, and no interval.
    """
    seen = sights(captures)
    found: list[Validity] = []
    for url in sorted(url for url in set(urls) & seen.keys() if is_page(url)):
        standing = standings.get(host_of(url), Standing(host_of(url)))
        doubted = standing.doubts(url)
        firm, _ = believed(seen[url], standing, doubted=doubted)
        strong = [sight for sight in firm if sight.firmness >= Firmness.STRONG]
        before: Instant | None = None
        for run in runs(strong, by_tag=standing.trusts_validators):
            if not run.mixed and run.state is not State.GONE:
                since = run.since
                if claims and standing.trusts_dates and standing.skew is not None and not doubted:
                    since = min(since, _claimed(run, standing.skew, before))
                found.append(_interval(url, run, since))
            before = run.until
    return found


def _interval(url: str, run: Run, since: Instant) -> Validity:
    first = run.sights[0]
    return Validity(
        url=url,
        content=first.content or first.digest or f"unknown:{first.capture.record_id}",
        status=first.capture.status,
        since=since,
        until=run.until,
        evidence=tuple(run.evidence(sight) for sight in run.sights),
    )


def _claimed(run: Run, skew: int, before: Instant | None) -> Instant:
    """Since when a content is there by its dates, clear of them as a verdict has to be."""
    dates = [dated(sight.capture, skew) for sight in run.sights]
    believable = [date for date in dates if date is not None and date <= run.since]
    if not believable:
        return run.since
    claimed = max(believable) + MARGIN
    # What contradicts another sight is no date to go by.
    return run.since if before is not None and claimed <= before else claimed
