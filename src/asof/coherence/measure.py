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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
            trust = used[host_of(url)]
            judge = _Judge(url, reference, mode, trust, trust.doubts(url), lost)
            verdicts.append(judge.verdict(own))
    return Measurement(mode, reference, tuple(sorted(verdicts, key=attrgetter("url"))), used)


# Sights that show nothing, each with the reason.
_Dropped = Sequence[tuple[Observation, Reason]]


class _Claim(NamedTuple):
    """What the dates of a copy that was taken later say: since when it is there, or why not."""

    since: Instant | None
    reason: Reason
    is_after: bool = False


@dataclass(frozen=True, slots=True)
class _Judge:
    """Judges one URL. `doubted`: its dates were wrong before. `lost`: crawls whose clock was."""

    url: str
    reference: Instant
    mode: Mode
    trust: HostTrust
    doubted: bool
    lost: frozenset[str]

    def verdict(self, seen: Sequence[Observation]) -> PageVerdict:
        """By all sights of the URL, in order of time."""
        firm, dropped = credible(seen, self.trust, doubted=self.doubted, lost=self.lost)
        found = runs(firm, by_tag=self.trust.trusts_validators, skew=self.trust.skew)
        holder = next((r for r in found if r.since <= self.reference <= r.until), None)
        if holder is not None:
            return self._inside(holder)
        before = next((r for r in reversed(found) if r.until < self.reference), None)
        after = next((r for r in found if r.since > self.reference), None)
        if after is None:
            return self._never_again(before, dropped, seen)
        return self._between(before, after, dropped)

    # -- seen on both sides, and the same ----------------------------------------------------------

    def _inside(self, run: SameAnswers) -> PageVerdict:
        before = [sight for sight in run.seen if sight.at <= self.reference]
        after = [sight for sight in run.seen if sight.at >= self.reference]
        if run.mixed:
            return self._same(run, Grade.CHANGED, Reason.OTHER_CONTENT, before[0], after[-1])
        joker = next((s for s in before if s.at == self.reference and s.is_bytes), None)
        if joker is not None:
            later = next((s for s in after if s is not joker), None)
            return self._same(run, Grade.PROVEN, Reason.NONE, joker, later)
        pair = _equal_bytes(before, after)
        if pair is not None:
            return self._same(run, Grade.PROVEN, Reason.NONE, *pair)
        one = max(before, key=lambda sight: (sight.firmness, sight.at))
        other = max(after, key=lambda sight: (sight.firmness, -sight.at))
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
        trust = self.trust
        if after.state is State.GONE or after.mixed or not any(s.is_bytes for s in after.seen):
            return _Claim(None, Reason.NOT_SEEN_BEFORE)
        given = [s for s in after.seen if s.capture.last_modified is not None]
        if not given:
            return _Claim(None, Reason.NO_DATE)
        skew = trust.skew or 0
        if all((s.capture.last_modified or 0) - skew > s.at + MARGIN for s in given):
            return _Claim(None, Reason.FUTURE_DATE)
        if self.doubted or not trust.trusts_dates:
            was_wrong = self.doubted or trust.dates_wrong > 0
            why = Reason.UNTRUSTED_DATES if was_wrong else Reason.UNPROVED_DATES
            return _Claim(None, why)
        if trust.skew is None:
            return _Claim(None, Reason.CLOCK_OFF)
        found = claimed_by((s.capture for s in given), trust, after.since)
        if found is None:
            return _Claim(None, Reason.NO_DATE)
        claimed, since = found
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
    before: Sequence[Observation], after: Sequence[Observation]
) -> tuple[Observation, Observation] | None:
    """The nearest downloads of the same bytes on either side; of pages that are gone, any two."""
    for other in after:
        if not other.is_bytes:
            continue
        for one in reversed(before):
            if one.is_bytes and (one.state is State.GONE or same_bytes(one, other)):
                return one, other
    return None
