"""How far the words of a host can be believed: its dates, its validators, its clock.

Learnt from everything the archive has of a host.

**Dates.** Where a content changed between two downloads, at t1 and t2, its Last-Modified is right
if it lies in (t1, t2], and wrong if it lies before: then the new content was dated to a moment at
which something else was seen. One equal to the moment of the download says nothing (dynamic pages),
one in the future or of the epoch is ignored. With r right and w wrong ones, and nothing known
before, the share of right ones has the posterior Beta(1 + r, 1 + w). A host is trusted if that
share is 0.7 or more with a probability of 95 %: from 8 right ones on if none is wrong, 12 if one
is, 16 if two are. A URL of which one date was ever wrong is trusted under no circumstances.

**Validators.** Right: the same strong ETag with the same content, downloaded twice; a 304 with a
download of the same content soon after. Wrong: the same strong ETag with another content; a 304
before which a later download of another content is dated; other content in an audit, that is in
the very next answer to the same crawl. The last may also be an honest change in between: it is
wrong if, at the rate at which the host's pages change, so many would come about by chance once in
a hundred times or less. After a single wrong one no 304 of the host is believed: a false proof does
more harm than a missing one.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from operator import attrgetter
from statistics import median
from typing import Literal

from asof.catalog.observe import Firmness, Observation, Silence, is_strong, observe
from asof.catalog.referents import ANSWERS
from asof.clock import DAY, SECOND, Instant
from asof.coherence.observations import is_page, same_bytes
from asof.coherence.verdict import MARGIN, HostTrust
from asof.model import Capture, State
from asof.url import host_of

Policy = Literal["auto", "always", "never"]

# A download so soon after a 304 checks it.
AUDIT_WINDOW: Instant = 120 * SECOND
# HTTP dates are cut to seconds, and so is the Date that a clock is measured by.
RESOLUTION: Instant = SECOND
_STEADY: Instant = 5 * SECOND
_SHARE, _DOUBT = 0.7, 0.05
_BY_CHANCE = 0.01


@dataclass(slots=True)
class _Tally:
    dates_right: int = 0
    dates_wrong: int = 0
    validators_right: int = 0
    validators_wrong: int = 0
    doubted: list[str] = field(default_factory=list)
    # Audits: how many brought other content; of each, how long after its 304 it came and how often
    # the page changes. How often pages change on average, and over how long that was watched.
    caught: int = 0
    audits: list[tuple[Instant, float]] = field(default_factory=list)
    rate: float = 0.0
    watched: Instant = 0

    def watch(self, rate: float, time: Instant) -> None:
        """Take the rate of one more page into the average, by how long it was watched."""
        self.watched += time
        if time:
            self.rate += (rate - self.rate) * time / self.watched

    @property
    def wrong(self) -> int:
        """Validators that were wrong, audits included unless honest changes explain them.

        Honest changes are a Poisson process. Of rates that are little known the higher one counts.
        """
        mean = math.fsum(gap * max(own, self.rate) for gap, own in self.audits)
        term, fewer = 1.0, 0.0
        for count in range(self.caught):
            fewer += term
            term *= mean / (count + 1)
        by_chance = 1.0 - fewer * math.exp(-mean)
        return self.validators_wrong + (self.caught if by_chance <= _BY_CHANCE else 0)


def learn_host_trust(
    captures: Iterable[Capture],
    skews: Mapping[str, int | None],
    *,
    policy: Policy = "auto",
) -> dict[str, HostTrust]:
    """What each host's words are worth, by all captures there are of it.

    `skews` is how far each host's clock was ahead (`skew_of`). By `policy` dates are trusted as
    far as they proved right, always (and the clock, where it is not known, taken for right: it is
    the user who says so), or never.
    """
    everything = list(captures)
    unsteady = frozenset(ran_back(everything))
    audits = _audits(everything)
    tallies: dict[str, _Tally] = {}
    for url, seen in observe(everything).items():
        host = host_of(url)
        tally = tallies.setdefault(host, _Tally())
        if len(seen) > 1 and is_page(url):
            _learn(url, seen, skews.get(host) or 0, unsteady, audits, tally)
    found = {}
    for host, tally in sorted(tallies.items()):
        trusts = policy == "always" or (
            policy == "auto" and is_trusted(tally.dates_right, tally.dates_wrong)
        )
        skew = skews.get(host)
        found[host] = HostTrust(
            host=host,
            dates_right=tally.dates_right,
            dates_wrong=tally.dates_wrong,
            validators_right=tally.validators_right,
            validators_wrong=tally.wrong,
            skew=0 if skew is None and policy == "always" else skew,
            trusts_dates=trusts,
            trusts_validators=not tally.wrong,
            doubted=tuple(sorted(tally.doubted)),
        )
    return found


def is_trusted(right: int, wrong: int) -> bool:
    """Whether the 5 % quantile of Beta(1 + right, 1 + wrong) is at least 0.7.

    For whole numbers Beta is a binomial tail: of right + wrong + 1 trials, each a failure with
    probability 0.3, at most `wrong` must fail with a chance of 5 % or less.
    """
    trials = right + wrong + 1
    if wrong >= (1 - _SHARE) * trials:
        return False
    fail, succeed = math.log1p(-_SHARE), math.log(_SHARE)
    whole = math.lgamma(trials + 1)
    chance = math.fsum(
        math.exp(
            whole
            - math.lgamma(k + 1)
            - math.lgamma(trials - k + 1)
            + k * fail
            + (trials - k) * succeed
        )
        for k in range(wrong + 1)
    )
    return chance <= _DOUBT


def skew_of(dates: Iterable[tuple[Instant, Instant]]) -> int | None:
    """How far a server's clock is ahead, by moments of asking and the Date of the answers.

    None if there are none, or they are not within 5 s of their median: a clock that was set
    meanwhile, several servers behind one name, or a Date from a cache.
    """
    ahead = [date - at for at, date in dates]
    if not ahead:
        return None
    middle = int(median(ahead))
    return middle if all(abs(each - middle) <= _STEADY for each in ahead) else None


def ran_back(captures: Iterable[Capture]) -> dict[str, list[tuple[Instant, Instant]]]:
    """Stretches that the clock of the crawler itself passed twice, by crawl.

    A crawl stores the answers of one URL in the order in which it asked, so a later record with an
    earlier date means that the clock was set back, from the latest date that was stored before or
    later still, to the earliest after that. Files of others may be in any order and tell nothing.
    """
    by_crawl: dict[str, list[Capture]] = defaultdict(list)
    for capture in captures:
        if capture.crawl is not None:
            by_crawl[capture.crawl].append(capture)
    found: dict[str, list[tuple[Instant, Instant]]] = {}
    for crawl, own in by_crawl.items():
        own.sort(key=attrgetter("where.file", "where.offset"))
        lowest = list(accumulate((each.at for each in reversed(own)), min))[::-1]  # from each on
        last: dict[str, Instant] = {}
        high, place = own[0].at, 0
        for index, capture in enumerate(own):
            if capture.at < last.get(capture.url, capture.at):
                stretches = found.setdefault(crawl, [])
                if (stretch := (lowest[place], high)) not in stretches[-1:]:
                    stretches.append(stretch)
            last[capture.url] = capture.at
            if capture.at > high:
                high, place = capture.at, index
    return found


# -- learning --------------------------------------------------------------------------------------


def _audits(captures: Iterable[Capture]) -> frozenset[tuple[str, str]]:
    """Records that follow one another where a crawl asked its host twice for the same URL."""
    by_host: dict[str, list[Capture]] = defaultdict(list)
    for capture in captures:
        if capture.kind in ANSWERS:
            by_host[host_of(capture.url)].append(capture)
    found: set[tuple[str, str]] = set()
    for asked in by_host.values():
        asked.sort(key=attrgetter("at", "where.file", "where.offset"))
        for before, after in pairwise(asked):
            is_next = before.url == after.url and before.crawl == after.crawl
            if is_next and after.at - before.at <= AUDIT_WINDOW:
                found.add((before.record_id, after.record_id))
    return frozenset(found)


def _learn(
    url: str,
    seen: Sequence[Observation],
    skew: int,
    unsteady: frozenset[str],
    audits: frozenset[tuple[str, str]],
    tally: _Tally,
) -> None:
    shown = [sight for sight in seen if sight.why is Silence.NONE]
    whole = [sight for sight in shown if sight.state is State.PRESENT]
    downloads = [sight for sight in whole if sight.is_bytes]
    _learn_tags(downloads, tally)
    steady = [sight for sight in whole if sight.capture.crawl not in unsteady]
    bodies = [sight for sight in steady if sight.is_bytes]
    _learn_dates(url, bodies, skew, tally)
    rate, watched = _rate(steady, audits)
    tally.watch(rate, watched)
    moments = [sight.at for sight in bodies]
    after: Observation | None = None
    for sight in reversed(steady):
        if sight.is_bytes:
            after = sight
        # Of a weak validator other bytes are no breach: it speaks of the substance only.
        elif after is not None and sight.firmness is not Firmness.WEAK:
            place = bisect_right(moments, sight.at)
            before = moments[place - 1] if place else None
            is_audit = (sight.capture.record_id, after.capture.record_id) in audits
            _learn_confirmation(sight, after, before, skew, rate if is_audit else None, tally)


def _learn_tags(downloads: Sequence[Observation], tally: _Tally) -> None:
    """Each strong ETag against the download before that has it."""
    with_tag: dict[str, Observation] = {}
    for sight in downloads:
        tag = sight.capture.etag
        if tag is None or not is_strong(tag):
            continue
        if tag in with_tag:
            equal = same_bytes(with_tag[tag], sight)
            tally.validators_right += equal is True
            tally.validators_wrong += equal is False
        with_tag[tag] = sight


def _learn_dates(url: str, downloads: Sequence[Observation], skew: int, tally: _Tally) -> None:
    is_doubted = False
    for one, other in pairwise(downloads):
        if same_bytes(one, other) is not False or one.at == other.at:
            continue
        modified = dated(other.capture, skew)
        if modified is None:
            continue
        if modified + MARGIN <= one.at:
            tally.dates_wrong += 1
            is_doubted = True
        else:
            tally.dates_right += 1
    if is_doubted:
        tally.doubted.append(url)


def _learn_confirmation(
    sight: Observation,
    after: Observation,
    before: Instant | None,
    skew: int,
    audited: float | None,
    tally: _Tally,
) -> None:
    """A 304 against the download that follows it; `before` is when bytes came the last time.

    `audited` is the rate at which the page changes, if the download is the audit of the 304.
    """
    equal = same_bytes(sight, after)
    gap = after.at - sight.at
    if equal is True:
        tally.validators_right += gap <= AUDIT_WINDOW
        tally.audits += [] if audited is None else [(gap, audited)]
    if equal is not False:
        return
    modified = dated(after.capture, skew)
    if modified is not None and modified + MARGIN > sight.at:
        return  # changed after the 304, it says
    # One from before that other content was seen is false itself, and accuses nobody.
    accused = modified is not None and (before is None or modified + MARGIN > before)
    if accused:
        tally.validators_wrong += 1
    elif audited is not None:
        tally.caught += 1
        tally.audits.append((gap, audited))


def _rate(seen: Sequence[Observation], audits: frozenset[tuple[str, str]]) -> tuple[float, Instant]:
    """How often a page changes, and over how long that was seen, audits left out.

    From how many of n gaps of about one length show a change, with the correction for few of them:
    -log((n - X + 0.5) / (n + 0.5)) changes a gap.
    """
    gaps = [
        (other.at - one.at, same_bytes(one, other) is False)
        for one, other in pairwise(seen)
        if (one.capture.record_id, other.capture.record_id) not in audits
    ]
    time = sum(length for length, _ in gaps)
    if not time:
        return 0.0, 0
    changed = sum(is_changed for _, is_changed in gaps)
    return -math.log((len(gaps) - changed + 0.5) / (len(gaps) + 0.5)) * len(gaps) / time, time


def dated(capture: Capture, skew: int) -> Instant | None:
    """The Last-Modified of a download by the crawler's clock, if it says anything."""
    modified = capture.last_modified
    if modified is None or modified <= DAY:
        return None
    modified -= skew
    return None if modified > capture.at - MARGIN else modified
