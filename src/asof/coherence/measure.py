"""Coherence of pages with regard to one moment: a verdict for each, with its evidence.

Spaniol 2009, definitions 3.4 and 3.6, asks one thing of a page: was what we have of it there at the
moment of reference? What answers it, firmest first:

    proven      equal bytes at or before the moment and at or after it, or a download at it (the
                joker of the paper)
    confirmed   bytes or a 304 on either side, by strong validators of a host that was never caught
    claimed     a copy taken after the moment, dated to before it by a host whose dates proved
                right, and nothing else was seen in between
    equivalent  a 304 by a weak validator; a redirect to the same place in other words
    changed     something else on either side; or dated to after the moment, by a trusted host
    unknown     with the reason

A date tells the second; clocks are known to a second or so. A claim must be clear of the moment by
both (`MARGIN`). Moments are those at which a request began, as in the paper download time is
neglected: the moment of reference must not lie inside a visit.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import NamedTuple

from asof.catalog.observe import Firmness, Observation, observe
from asof.catalog.referents import ANSWERS
from asof.clock import Instant
from asof.coherence.credibility import credible
from asof.coherence.host_trust import RESOLUTION, RanBack, claimed_by, ran_back
from asof.coherence.observations import SameAnswers, Sights, alike, is_page, runs, same_bytes
from asof.coherence.verdict import MARGIN, HostTrust, Measurement, Mode, PageVerdict, Reason
from asof.model import Capture, Grade, State
from asof.url import host_of


def measure(
    captures: Iterable[Capture], reference: Instant, *, mode: Mode,
    host_trust: Mapping[str, HostTrust], first: Instant | None = None,
    known: Iterable[Capture] = (), seen: Sights | None = None, back: RanBack | None = None,
) -> Measurement:  # fmt: skip
    """The verdict of every page that the captures have, as of the moment of reference.

    Pages are the URLs that were answered with less than 400 among `captures`. `known` are captures
    that make no page but are evidence all the same: what an earlier crawl saw, and above all what a
    304 refers to. In measurable mode `first` is when the crawl began: its moment of reference is
    the first download of a page from then on (section 3.2 of the paper: t_s = t_1). `seen` is what
    all of them show and `back` where their clocks `ran_back`, if that is known already.
    """
    counted = list(captures)
    pages = {
        c.url
        for c in counted
        if (c.status is None or 200 <= c.status < 400) and c.kind in ANSWERS and is_page(c.url)
    }
    if mode is Mode.MEASURABLE and first is not None:
        begin = max(first, reference)
        reference = min((c.at for c in counted if c.url in pages and c.at >= begin), default=begin)
    everything = [*counted, *known]
    lost = frozenset(
        crawl
        for crawl, stretches in (ran_back(everything) if back is None else back).items()
        if any(low <= reference <= high for low, high in stretches)
    )
    sights: Sights = observe(everything, urls=pages) if seen is None else seen
    used = {host: host_trust.get(host, HostTrust(host)) for host in sorted(map(host_of, pages))}
    verdicts = []
    for url, own in sights.items():
        if url in pages:
            about = believed(url, own, used[host_of(url)], lost)
            verdicts.append(judge(about, reference, mode))
    return Measurement(mode, reference, tuple(sorted(verdicts, key=attrgetter("url"))), used)


# Sights that show nothing, each with the reason.
_Dropped = Sequence[tuple[Observation, Reason]]


class Dated(NamedTuple):
    """What a server dates a content to, whether that is believed or not, and why not."""

    date: Instant | None
    reason: Reason


@dataclass(frozen=True, slots=True)
class Believed:
    """What is believed of one URL, ready to be judged as of any moment.

    `runs` are its answers as intervals, and `dropped` the sights that show nothing, all by time.
    """

    url: str
    trust: HostTrust
    seen: Sequence[Observation]
    runs: Sequence[SameAnswers]
    dropped: _Dropped
    # A run may have many thousand sights: what is asked of it at every moment is kept.
    _places: dict[Instant, dict[Firmness, list[int]]] = field(default_factory=dict, compare=False)
    _dates: dict[Instant, Dated] = field(default_factory=dict, compare=False)

    @property
    def doubted(self) -> bool:
        """Whether its own dates were wrong before."""
        return self.trust.doubts(self.url)

    def around(
        self, moment: Instant
    ) -> tuple[SameAnswers | None, SameAnswers | None, SameAnswers | None]:
        """The interval that ends before a moment, the one that holds it, the one begun after it."""
        place = bisect_right(self.runs, moment, key=attrgetter("since"))
        after = self.runs[place] if place < len(self.runs) else None
        if place and self.runs[place - 1].until >= moment:
            return None, self.runs[place - 1], after
        return (self.runs[place - 1] if place else None), None, after

    def places(self, run: SameAnswers) -> dict[Firmness, list[int]]:
        """Where in an interval the sights of each firmness stand, the firmest first."""
        if (known := self._places.get(run.since)) is None:
            known = {firmness: [] for firmness in reversed(Firmness)}
            for place, sight in enumerate(run.seen):
                known[sight.firmness].append(place)
            self._places[run.since] = known
        return known

    def dated(self, run: SameAnswers) -> Dated:
        """What the server dates a content to, and why that is not believed."""
        if (known := self._dates.get(run.since)) is None:
            known = self._dates[run.since] = self._dated(run)
        return known

    def _dated(self, run: SameAnswers) -> Dated:
        trust = self.trust
        if run.state is State.GONE or run.mixed or not any(s.is_bytes for s in run.seen):
            return Dated(None, Reason.NOT_SEEN_BEFORE)
        given = [s for s in run.seen if s.capture.last_modified is not None]
        if not given:
            return Dated(None, Reason.NO_DATE)
        skew = trust.skew or 0
        found = claimed_by((s.capture for s in given), replace(trust, skew=skew), run.since)
        date = None if found is None else found[0]
        if all((s.capture.last_modified or 0) - skew > s.at + MARGIN for s in given):
            return Dated(date, Reason.FUTURE_DATE)
        if self.doubted or not trust.trusts_dates:
            was_wrong = self.doubted or trust.dates_wrong > 0
            return Dated(date, Reason.UNTRUSTED_DATES if was_wrong else Reason.UNPROVED_DATES)
        if trust.skew is None:
            return Dated(date, Reason.CLOCK_OFF)
        return Dated(date, Reason.NO_DATE if date is None else Reason.NONE)


def believed(
    url: str, seen: Sequence[Observation], trust: HostTrust, lost: frozenset[str] = frozenset()
) -> Believed:
    """By all sights of the URL, in order of time. `lost`: crawls whose clock was."""
    firm, dropped = credible(seen, trust, doubted=trust.doubts(url), lost=lost)
    found = runs(firm, by_tag=trust.trusts_validators, skew=trust.skew)
    return Believed(url, trust, seen, found, dropped)


def judge(known: Believed, reference: Instant, mode: Mode = Mode.OFF) -> PageVerdict:
    """What is known of one URL at a moment; it must have been seen."""
    return _Judge(known, reference, mode).verdict()


class _Claim(NamedTuple):
    """What the dates of a copy that was taken later say: since when it is there, or why not."""

    since: Instant | None
    reason: Reason
    is_after: bool = False


@dataclass(frozen=True, slots=True)
class _Judge:
    known: Believed
    reference: Instant
    mode: Mode

    @property
    def url(self) -> str:
        return self.known.url

    @property
    def trust(self) -> HostTrust:
        return self.known.trust

    def verdict(self) -> PageVerdict:
        before, holder, after = self.known.around(self.reference)
        if holder is not None:
            return self._inside(holder)
        if after is None:
            return self._never_again(before, self.known.dropped, self.known.seen)
        return self._between(before, after, self.known.dropped)

    # -- seen on both sides, and the same ----------------------------------------------------------

    def _inside(self, run: SameAnswers) -> PageVerdict:
        """A run may have many thousand sights: those nearest the moment are looked up."""
        low = bisect_left(run.seen, self.reference, key=attrgetter("at"))
        high = bisect_right(run.seen, self.reference, low, key=attrgetter("at"))
        if run.mixed:
            return self._same(run, Grade.CHANGED, Reason.OTHER_CONTENT, run.seen[0], run.seen[-1])
        joker = next((sight for sight in run.seen[low:high] if sight.is_bytes), None)
        if joker is not None:
            near = (run.seen[place] for place in range(low, min(high + 1, len(run.seen))))
            later = next((sight for sight in near if sight is not joker), None)
            return self._same(run, Grade.PROVEN, Reason.NONE, joker, later)
        places = self.known.places(run)
        pair = _equal_bytes(run.seen, places[Firmness.BYTES], low, high)
        if pair is not None:
            return self._same(run, Grade.PROVEN, Reason.NONE, *pair)
        one = run.seen[
            next(p[bisect_left(p, high) - 1] for p in places.values() if p and p[0] < high)
        ]
        other = run.seen[
            next(p[bisect_left(p, low)] for p in places.values() if p and p[-1] >= low)
        ]
        if run.state is State.ELSEWHERE and one.is_bytes and other.is_bytes:
            return self._same(run, Grade.EQUIVALENT, Reason.OTHER_CONTENT, one, other)
        if min(one.firmness, other.firmness) >= Firmness.STRONG:
            return self._same(run, Grade.CONFIRMED, Reason.NONE, one, other)
        return self._same(run, Grade.EQUIVALENT, Reason.WEAK_VALIDATOR, one, other)

    def _same(
        self, run: SameAnswers, grade: Grade, reason: Reason, before: Observation,
        after: Observation | None,
    ) -> PageVerdict:  # fmt: skip
        first = run.evidence(before)
        last = None if after is None or after is before else run.evidence(after)
        return PageVerdict(self.url, grade, reason, first, last, run.since, run.until)

    # -- seen on one side, or something else on either ---------------------------------------------

    def _never_again(
        self, before: SameAnswers | None, dropped: _Dropped, seen: Sequence[Observation]
    ) -> PageVerdict:
        wanted = [why for sight, why in dropped if sight.at >= self.reference or before is None]
        reason = min(wanted, key=_TELLING.index, default=Reason.NOT_SEEN_AGAIN)
        if before is None:
            nearest = min(seen, key=lambda sight: abs(sight.at - self.reference)).at
            return PageVerdict(self.url, Grade.UNKNOWN, reason, None, None, nearest, nearest)
        last = before.evidence(before.seen[-1])
        return PageVerdict(self.url, Grade.UNKNOWN, reason, last, None, before.since, before.until)

    def _between(
        self, before: SameAnswers | None, after: SameAnswers, dropped: _Dropped
    ) -> PageVerdict:
        claim = self._claim(before, after)
        first = after.evidence(after.seen[0])
        last = None if before is None else before.evidence(before.seen[-1])
        if claim.since is not None:
            copy = next(sight for sight in after.seen if sight.is_bytes)
            return PageVerdict(
                self.url, Grade.CLAIMED, Reason.NONE, last, after.evidence(copy), claim.since,
                after.until,
            )  # fmt: skip
        if before is None:
            # Definition 3.4: modified after the start of the crawl is an error. Of any other moment
            # before the first capture nothing is known.
            is_error = claim.is_after and self.mode is Mode.MEASURABLE
            grade = Grade.CHANGED if is_error else Grade.UNKNOWN
            reason = claim.reason if claim.is_after else self._why_not_before(claim.reason, dropped)
            return PageVerdict(self.url, grade, reason, None, first, after.since, after.until)
        nearest = min(
            (before, after),
            key=lambda run: min(abs(run.since - self.reference), abs(run.until - self.reference)),
        )
        grade, reason = self._difference(before, after)
        return PageVerdict(self.url, grade, reason, last, first, nearest.since, nearest.until)

    def _difference(self, before: SameAnswers, after: SameAnswers) -> tuple[Grade, Reason]:
        if not (before.mixed or after.mixed):
            if after.state is State.GONE:
                return Grade.CHANGED, Reason.REMOVED
            if before.state is State.GONE:
                return Grade.CHANGED, Reason.APPEARED
        likeness = self._alike(before, after)
        if likeness is False:
            return Grade.CHANGED, Reason.OTHER_CONTENT
        return Grade.UNKNOWN, Reason.REWRITTEN if likeness else Reason.NOT_COMPARABLE

    def _alike(self, before: SameAnswers, after: SameAnswers) -> bool | None:
        """Whether two neighbours have the same answer; None where that cannot be known."""
        if before.mixed or after.mixed:
            return False
        return alike(before.seen[-1], after.seen[0], by_tag=self.trust.trusts_validators)

    def _why_not_before(self, reason: Reason, dropped: _Dropped) -> Reason:
        """Why nothing is known of the time before: by what was tried then, else by the dates."""
        tried = [why for sight, why in dropped if sight.at <= self.reference]
        worth = [why for why in tried if why is not Reason.FAILED_AGAIN]
        if worth:
            return min(worth, key=_TELLING.index)
        if reason is Reason.NO_DATE and self.mode is not Mode.MEASURABLE:
            return Reason.NOT_SEEN_BEFORE  # nobody had asked for a date
        return reason

    def _claim(self, before: SameAnswers | None, after: SameAnswers) -> _Claim:
        """Since when what was seen after the moment is there, by the dates of its server."""
        claimed, reason = self.known.dated(after)
        if reason is not Reason.NONE or claimed is None:
            return _Claim(None, reason)
        since = claimed + max(MARGIN, self.trust.lag)
        if since > self.reference:
            return _Claim(None, Reason.DATED_AFTER, claimed - RESOLUTION > self.reference)
        is_early = before is not None and claimed + MARGIN <= before.until
        if is_early and before is not None and self._alike(before, after) is False:
            return _Claim(None, Reason.UNTRUSTED_DATES)  # something else was seen since then
        return _Claim(since, Reason.NONE)


# Of several reasons why something shows nothing, the one that tells most.
_TELLING = (
    Reason.CRAWLER_CLOCK, Reason.FALSE_VALIDATORS, Reason.UNTRUSTED_DATES, Reason.UNPROVED_DATES,
    Reason.NOT_COMPARABLE, Reason.TRUNCATED, Reason.FAILED_AGAIN,
)  # fmt: skip


def _equal_bytes(
    seen: Sequence[Observation], places: Sequence[int], low: int, high: int
) -> tuple[Observation, Observation] | None:
    """The nearest downloads of the same bytes on either side; of pages that are gone, any two.

    `places` are those of downloads; before the moment are those below `high`, after it from `low`.
    """
    last = bisect_left(places, high) - 1
    for after in range(bisect_left(places, low), len(places)):
        other = seen[places[after]]
        for before in range(last, -1, -1):
            one = seen[places[before]]
            if one.state is State.GONE or same_bytes(one, other):
                return one, other
    return None
