"""Definition 3.1 over what is known: did all pages of a crawl ever stand together?

The seed's coherence needs to know when each page changed before and after its download, which no
crawler knows. Captures bound it from both sides: what was seen to be the same is *proven*; what was
seen to be different ends what is *possible*. So there are three answers: all proven intervals meet;
even the widest possible ones do not; or nobody knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from asof.catalog.observe import Sights
from asof.clock import Instant
from asof.coherence.credibility import firm_runs
from asof.coherence.intervals import coherence
from asof.coherence.observations import SameAnswers, alike, is_page
from asof.coherence.quality_report import Answer, Stretch
from asof.coherence.verdict import HostTrust
from asof.model import State
from asof.url import host_of


@dataclass(frozen=True, slots=True)
class Bounds:
    """The invariance interval of the content that a page was taken with, as far as it is known.

    It was there from `since` to `until`; not yet, or not any more, at `after` and `before`, None
    where nothing else was seen.
    """

    url: str
    since: Instant
    until: Instant
    after: Instant | None
    before: Instant | None


def interval_bounds(
    seen: Sights, *, host_trust: Mapping[str, HostTrust] | None = None,
    since: Instant | None = None, until: Instant | None = None,
) -> list[Bounds]:  # fmt: skip
    """Of each page, by URL, the bounds of the content it was first taken with.

    First from `since` on and not after `until`, if given: those of a crawl among captures of many.
    All sights bound what is known. Errors of servers and weak validators bound nothing.
    """
    found = []
    for url in sorted(filter(is_page, seen)):
        host = host_of(url)
        trust = (host_trust or {}).get(host, HostTrust(host))
        intervals = firm_runs(url, seen[url], trust)
        taken = next((n for n, r in enumerate(intervals) if _is_taken(r, since, until)), None)
        if taken is not None:
            found.append(_bounds(url, intervals, taken))
    return found


def archive_coherence(
    seen: Sights, *, host_trust: Mapping[str, HostTrust] | None = None,
    since: Instant | None = None, until: Instant | None = None,
) -> tuple[Answer, Stretch | None]:  # fmt: skip
    """Whether pages cohere by definition 3.1, and when: proven, or possible where it is unknown.

    Which captures count is as in `interval_bounds`. Nothing captured is nothing known.
    """
    pages = interval_bounds(seen, host_trust=host_trust, since=since, until=until)
    if not pages:
        return "unknown", None
    proven = coherence((page.since, page.until) for page in pages)
    if proven is not None:
        return "coherent", proven
    # Between two sights that differ lies a change, so these ends do not belong to what is possible.
    earliest = max((p.after for p in pages if p.after is not None), default=None)
    latest = min((p.before for p in pages if p.before is not None), default=None)
    if earliest is not None and latest is not None and earliest >= latest:
        return "incoherent", None
    begins = min(p.since for p in pages) if earliest is None else earliest
    ends = max(p.until for p in pages) if latest is None else latest
    return "unknown", (min(begins, ends), max(begins, ends))


def _is_taken(run: SameAnswers, since: Instant | None, until: Instant | None) -> bool:
    if run.mixed or run.state not in (State.PRESENT, State.ELSEWHERE):
        return False
    return any(
        (since is None or since <= sight.at) and (until is None or sight.at <= until)
        for sight in run.seen
    )


def _bounds(url: str, intervals: Sequence[SameAnswers], taken: int) -> Bounds:
    run = intervals[taken]
    earlier = [other.until for other in intervals[:taken] if _differs(other, run)]
    later = [other.since for other in intervals[taken + 1 :] if _differs(other, run)]
    after = max((at for at in earlier if at <= run.since), default=None)
    before = min((at for at in later if at >= run.until), default=None)
    return Bounds(url, run.since, run.until, after, before)


def _differs(other: SameAnswers, run: SameAnswers) -> bool:
    return not other.mixed and alike(other.seen[0], run.seen[0]) is False
