"""Which capture shows a URL as of a moment: by evidence first, by distance second.

The words are those of `asof.coherence.measure`, whose judge is asked, and two more for what is not
known to have been there at the moment but can be shown:

    proven ... equivalent   a content whose validity holds the moment
    possible                captured before the moment, and nothing is known against it; or only
                            another URL is known to have been there that has the same key
    doubtful                captured after it, and no date that could be believed; or on one side
                            of it, and something else on the other: it changed at some time
    violated                dated to after the moment, or something else is known to have been there
    missing                 nothing that can be shown

A moment named by a stamp is a whole second: what was captured in that second was captured then.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import starmap
from operator import attrgetter
from threading import Lock
from typing import NamedTuple

from asof.archive.archive import OpenArchive
from asof.catalog.observe import Observation, observe
from asof.clock import SECOND, Instant, whole_second
from asof.coherence.host_trust import RESOLUTION, RanBack, ran_back
from asof.coherence.measure import Believed, believed, judge
from asof.coherence.observations import SameAnswers, alike
from asof.coherence.trust_file import KeptTrust
from asof.coherence.verdict import MARGIN, HostTrust, Reason
from asof.model import Capture, Grade
from asof.url import host_of, one_address

# Sights that are held of all URLs together, about a kilobyte each; one URL may have more.
_MOST_SIGHTS = 50_000


class Policy(StrEnum):
    """What may be shown."""

    COHERENT = "coherent"  # the best evidence; nothing that is known not to have been there
    NEAREST = "nearest"  # what was captured nearest the moment, whatever it is
    STRICT = "strict"  # nothing from after the moment without evidence either


class Verdict(StrEnum):
    """What is known of what is shown, from the best to the worst."""

    PROVEN = "proven"
    CONFIRMED = "confirmed"
    CLAIMED = "claimed"
    EQUIVALENT = "equivalent"
    POSSIBLE = "possible"
    DOUBTFUL = "doubtful"
    VIOLATED = "violated"
    MISSING = "missing"


RANK = {verdict: place for place, verdict in enumerate(Verdict)}
# Those by which a content holds the moment.
HOLDING = frozenset((Verdict.PROVEN, Verdict.CONFIRMED, Verdict.CLAIMED, Verdict.EQUIVALENT))
_HIDDEN = {
    Policy.COHERENT: frozenset((Verdict.VIOLATED,)),
    Policy.STRICT: frozenset((Verdict.VIOLATED, Verdict.DOUBTFUL)),
    Policy.NEAREST: frozenset[Verdict](),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What shows a URL as of a moment (`at`), and what is known of it.

    `since` and `until` are how long that content is known. Without a capture it is missing, and the
    reason says why.
    """

    url: str
    at: Instant
    capture: Capture | None = None
    verdict: Verdict = Verdict.MISSING
    reason: Reason = Reason.NONE
    since: Instant | None = None
    until: Instant | None = None

    @property
    def distance(self) -> Instant | None:
        """Microseconds from the moment to the capture; negative before it."""
        return None if self.capture is None else self.capture.at - self.at


class Rated(NamedTuple):
    """A sight that could be shown, and what would have to be said of it.

    Not `sure` are errors and parts, which show nothing of a content.
    """

    sight: Observation
    verdict: Verdict
    reason: Reason
    since: Instant
    until: Instant
    sure: bool = True


Has = Callable[[Observation], bool]


def _anything(_: Observation) -> bool:
    return True


class Chooser:
    """Of one archive. What is known of URLs is kept for as long as nothing is written."""

    def __init__(self, archive: OpenArchive) -> None:
        self.archive = archive
        self._trust = KeptTrust(archive)
        self._known: OrderedDict[str, tuple[tuple[Believed, RanBack], ...]] = OrderedDict()
        self._sights, self._version = 0, (-1, -1, -1)
        self._turn = Lock()

    def choose(
        self, url: str, at: Instant, policy: Policy = Policy.COHERENT, has: Has = _anything
    ) -> Choice:
        """What shows a part of a page as of a moment. Of what is held in parts only, one that `has`
        what is wanted, if there is one.
        """
        choice = chosen(url, at, self._rated(url, at, has), policy)
        return choice if choice.capture or has is _anything else self.choose(url, at, policy)

    def page(
        self, url: str, at: Instant, policy: Policy = Policy.COHERENT, has: Has = _anything
    ) -> Choice:
        """What shows a page, as of the latest moment up to `at` at which it is known.

        The choice is of that moment, and so shall be those of the page's parts. Nothing comes from
        after the moment that is not claimed for it, unless the nearest is wanted.
        """
        choice = self._page(url, at, policy, has)
        return choice if choice.capture or has is _anything else self._page(url, at, policy)

    def _page(self, url: str, at: Instant, policy: Policy, has: Has = _anything) -> Choice:
        found = self._rated(url, at, has)
        first = chosen(url, at, found, policy)
        if policy is Policy.NEAREST:
            if first.verdict in HOLDING or first.capture is None:
                return first
            then = whole_second(first.capture.at)
            return chosen(url, then, self._rated(url, then, has), policy)
        past = [each for each in found if each.sight.at <= at]
        named = [each for each in past if _is_named(at) and each.sight.at > at - SECOND]
        if first.verdict in HOLDING and not named:
            return first
        if not named and self._is_unclear(url, at):
            return Choice(url, at, reason=Reason.NOT_COMPARABLE)
        if not past:
            return Choice(url, at, reason=first.reason)
        if named:  # what was captured in the very second is what was asked for, an error as well
            return _choice(url, at, max(named, key=lambda each: each.sight.at))
        last = min(past[0].until, at)
        then = whole_second(last) if whole_second(last) <= at else last
        known = [each for each in self._rated(url, then, has) if each.sight.at <= then]
        return chosen(url, then, known, policy)

    def _is_unclear(self, url: str, at: Instant) -> bool:
        """Whether what was seen last is not to be had: a 304 that may mean one of two contents."""
        seen = [sight for known, _ in self._of(url) for sight in known.seen if sight.at <= at]
        return bool(seen) and max(seen, key=attrgetter("at")).unclear

    def _rated(self, url: str, at: Instant, has: Has) -> list[Rated]:
        """Of several names for one key the nearest first."""
        return _rated(url, self._of(url), at, has)

    def among(self, url: str, captures: Sequence[Capture], at: Instant, policy: Policy) -> Choice:
        """What shows a URL by these captures alone, which are answers to the same question; of
        what is known as well, that from before the moment.
        """
        seen = observe(captures, others=self.archive.catalog)
        found = _rated(url, starmap(self._believed, seen.items()), at)
        found.sort(key=lambda each: (not each.sure, each.sight.at > at))
        return chosen(url, at, found, policy)

    def _of(self, url: str) -> Sequence[tuple[Believed, RanBack]]:
        version = self.archive.ledger.version()
        with self._turn:
            if version != self._version:
                self._known.clear()
                self._sights, self._version = 0, version
            if (kept := self._known.get(url)) is not None:
                self._known.move_to_end(url)
                return kept
        made = tuple(self._read(url))
        with self._turn:
            if url not in self._known and version == self._version:
                self._known[url] = made
                self._sights += _size(made)
            while self._sights > _MOST_SIGHTS and len(self._known) > 1:
                self._sights -= _size(self._known.popitem(last=False)[1])
        return made

    def _read(self, url: str) -> Iterator[tuple[Believed, RanBack]]:
        """What there is of a URL; where only others under its key are known, of each of them."""
        for name, seen in self.archive.catalog.observed(url).items():
            yield self._believed(name, seen)

    def _believed(self, name: str, seen: Sequence[Observation]) -> tuple[Believed, RanBack]:
        host = host_of(name)
        trust = self._trust.of(host) if _rests_on_words(seen) else HostTrust(host)
        return believed(name, seen, trust), ran_back(sight.capture for sight in seen)


def _rated(
    url: str, names: Iterable[tuple[Believed, RanBack]], at: Instant, has: Has = _anything
) -> list[Rated]:
    found: list[Rated] = []
    several = False
    for number, (known, back) in enumerate(names):
        several = number > 0
        lost = frozenset(
            crawl
            for crawl, stretches in back.items()
            if any(low <= at <= high for low, high in stretches)
        )
        if lost:
            known = believed(known.url, known.seen, known.trust, lost)
        of_name = rated(known, at, has)
        found += of_name if one_address(url, known.url) else map(_of_another, of_name)
    if several:
        found.sort(key=lambda each: (not each.sure, abs(each.sight.at - at)))
    return found


def _rests_on_words(seen: Sequence[Observation]) -> bool:
    """Whether anything can rest on a server's word: a 304, or a date."""
    return any(each.confirms or each.capture.last_modified is not None for each in seen)


def _size(kept: Sequence[tuple[Believed, RanBack]]) -> int:
    return 1 + sum(len(known.seen) for known, _ in kept)


# -- pure ------------------------------------------------------------------------------------------


def chosen(url: str, at: Instant, found: Sequence[Rated], policy: Policy) -> Choice:
    """The best of what could be shown, of several the first; by NEAREST the nearest."""
    if not found:
        return Choice(url, at)
    if policy is Policy.NEAREST:
        best = min(found, key=lambda each: (abs(each.sight.at - at), each.sight.at > at))
    else:
        best = min(found, key=lambda each: RANK[each.verdict])
    if best.verdict in _HIDDEN[policy]:
        return Choice(url, at, reason=best.reason)
    return _choice(url, at, best)


def _of_another(known: Rated) -> Rated:
    """What a sight of another URL under the same key shows: it may be what was there, too."""
    if known.verdict is Verdict.VIOLATED:
        return known
    verdict = Verdict.POSSIBLE if known.verdict in HOLDING else known.verdict
    return known._replace(verdict=verdict, reason=Reason.OTHER_URL)


def _choice(url: str, at: Instant, best: Rated) -> Choice:
    return Choice(url, at, best.sight.capture, best.verdict, best.reason, best.since, best.until)


def rated(known: Believed, at: Instant, has: Has = _anything) -> list[Rated]:
    """What could show a URL as of a moment, on either side of it; of equals the better first.

    Sights that show nothing for sure come last.
    """
    before, holder, after = known.around(_instant(known, at))
    if holder is not None:
        found = list(_holding(known, holder, at))
    else:
        found = list(_around(known, before, after, at))
    return [*found, *_silent(known, holder or before, after, at, has)]


def _instant(known: Believed, at: Instant) -> Instant:
    """The instant to judge by: of a second that is named, the last capture in it."""
    before, holder, _ = known.around(at)
    run = holder or before
    if run is None or not _is_named(at):
        return at
    last = run.seen[bisect_right(run.seen, at, key=attrgetter("at")) - 1].at
    return last if last > at - SECOND else at


def _is_named(at: Instant) -> bool:
    """Whether a moment is the end of a second, as that of a stamp is."""
    return (at + 1) % SECOND == 0


def _holding(known: Believed, run: SameAnswers, at: Instant) -> Iterator[Rated]:
    page = judge(known, _instant(known, at))
    # Different answers of one instant: each was there, for all that is known.
    verdict = Verdict.POSSIBLE if page.grade is Grade.CHANGED else Verdict(page.grade.value)
    place = bisect_right(run.seen, at, key=attrgetter("at"))
    for near in (range(place - 1, -1, -1), range(place, len(run.seen))):
        sight = _shown(run.seen[each] for each in near)
        if sight is not None:
            yield Rated(sight, verdict, page.reason, run.since, run.until)


def _around(
    known: Believed, before: SameAnswers | None, after: SameAnswers | None, at: Instant
) -> Iterator[Rated]:
    """What was seen last before a moment and first after it, the likelier one first.

    Of two contents, between which it changed at some time, the nearer is: whatever the rate.
    """
    page = judge(known, at)
    older, newer = Verdict.POSSIBLE, Verdict.DOUBTFUL
    why = why_newer = page.reason
    is_newer = before is None
    if after is not None:
        differs = before is not None and _differ(known, before, after)
        dated = _date(known, before, after)
        if page.grade is Grade.CLAIMED:
            older = Verdict.VIOLATED if differs else older
            newer, why = Verdict.CLAIMED, Reason.OTHER_CONTENT if differs else Reason.REWRITTEN
        elif dated is not None and dated - RESOLUTION > at:
            newer, why_newer = Verdict.VIOLATED, Reason.DATED_AFTER
        elif differs and before is not None:
            older, is_newer = Verdict.DOUBTFUL, after.since - at < at - before.until
            if dated is not None:
                why = why_newer = Reason.UNPROVED_DATES
                is_newer = True
    found = [(before, older, why), (after, newer, why_newer)]
    for run, verdict, reason in reversed(found) if is_newer else found:
        sight = None if run is None else _shown(run.seen if run is after else reversed(run.seen))
        if run is not None and sight is not None:
            since = page.since if verdict is Verdict.CLAIMED else run.since
            yield Rated(sight, verdict, reason, since, run.until)


def _date(known: Believed, before: SameAnswers | None, after: SameAnswers) -> Instant | None:
    """What the server dates a content to that was seen after the moment, if that was never wrong.

    It need not have proved itself: to say that something was not there yet, its word is enough.
    """
    date, reason = known.dated(after)
    if date is None or reason is Reason.UNTRUSTED_DATES:
        return None
    is_false = before is not None and date + MARGIN <= before.until
    return None if is_false else date


def _differ(known: Believed, before: SameAnswers, after: SameAnswers) -> bool:
    by_tag = known.trust.trusts_validators
    return alike(before.seen[-1], after.seen[0], by_tag=by_tag) is False


def _silent(
    known: Believed, last: SameAnswers | None, after: SameAnswers | None, at: Instant, has: Has
) -> Iterator[Rated]:
    """Sights that show nothing for sure, errors and parts: better than nothing."""
    place = bisect_right(known.dropped, at, key=lambda each: each[0].at)
    for near in (range(place - 1, -1, -1), range(place, len(known.dropped))):
        for sight, why in (known.dropped[each] for each in near):
            if sight.source is None or not has(sight):
                continue
            is_best = last is None and (after is None or why is not Reason.FAILED_AGAIN)
            verdict = Verdict.POSSIBLE if is_best and sight.at <= at else Verdict.DOUBTFUL
            yield Rated(sight, verdict, why, sight.at, sight.at, sure=False)
            break


def _shown(sights: Iterable[Observation]) -> Observation | None:
    """The first whose bytes are at hand."""
    return next((sight for sight in sights if sight.source is not None), None)
