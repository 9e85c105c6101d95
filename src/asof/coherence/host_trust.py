"""How far the words of a host can be believed: its dates, its validators, its clock.

Learnt from everything the archive has of a host.

**Dates.** Where a content changed between two downloads, at t1 and t2, its Last-Modified is right
if it lies in (t1, t2], and wrong if it lies before: then the new content was dated to a moment at
which something else was seen. One equal to the moment of the download says nothing (dynamic pages),
one in the future or of the epoch is ignored. With r right and w wrong ones, and nothing known
before, the share of right ones has the posterior Beta(1 + r, 1 + w). A host is trusted if that
share is 0.9 or more with a probability of 95 %: from 28 right ones on if none is wrong, 44 if one
is. A URL of which one date was ever wrong is trusted under no circumstances.

Files may be dated when they were written and appear later (rsync -t, a build), and a date that lies
between two downloads shows only that it was not later by more than to the second of them: t2 less
the date. So dates are trusted for what they say of a moment that is at least `lag` after them,
where `lag` is the shortest for which enough right ones are known to be as good as that.

**Validators.** Right: the same strong ETag with the same content, downloaded twice; a 304 with a
download of the same content soon after. Wrong: the same strong ETag with another content; a 304
before which a later download of another content is dated, if such dates are trusted; one that
speaks of another content than was downloaded before it and after it; other content in an audit,
that is in the very next answer to the same crawl. The last may also be an honest change in between:
it is wrong if, at the rate at which the host's pages change, so many would come about by chance
once in a hundred times or less. After a single wrong one no 304 of the host is believed: a false
proof does more harm than a missing one.
"""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from operator import attrgetter
from statistics import median
from typing import Literal

from asof.catalog.observe import Firmness, Observation, Silence, is_strong, observe
from asof.catalog.referents import ANSWERS
from asof.clock import DAY, SECOND, Instant
from asof.coherence.observations import Sights, asked_by, is_page, same_bytes
from asof.coherence.verdict import MARGIN, HostTrust
from asof.model import Capture, State
from asof.url import host_of

Policy = Literal["auto", "always", "never"]
RanBack = dict[str, list[tuple[Instant, Instant]]]

# A download so soon after a 304 checks it.
AUDIT_WINDOW: Instant = 120 * SECOND
# HTTP dates are cut to seconds, and so is the Date that a clock is measured by.
RESOLUTION: Instant = SECOND
_STEADY: Instant = 5 * SECOND
_SHARE, _DOUBT = 0.9, 0.05
_BY_CHANCE = 0.01


@dataclass(slots=True)
class _Tally:
    # How late after its date each content can have appeared at most, of the right ones.
    lags: list[Instant] = field(default_factory=list)
    dates_wrong: int = 0
    validators_right: int = 0
    validators_wrong: int = 0
    doubted: set[str] = field(default_factory=set)
    # 304 answers that a date contradicts: by how long, of which URL, and what an audit says of it.
    accused: list[tuple[Instant, str, tuple[Instant, float] | None]] = field(default_factory=list)
    # Audits: how many brought other content; of each, how long after its 304 it came and how often
    # the page changes. How often pages change on average, and over how long that was watched.
    caught: int = 0
    audits: list[tuple[Instant, float]] = field(default_factory=list)
    rate: float = 0.0
    watched: Instant = 0

    def watch(self, rate: float, time: Instant) -> None:
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

    @property
    def lag(self) -> Instant | None:
        """How long after its dates they are trusted; None if they are not."""
        enough = range(len(self.lags) + 1)
        needed = bisect_left(enough, True, key=lambda right: is_trusted(right, self.dates_wrong))
        return sorted(self.lags)[needed - 1] if needed < len(enough) else None

    def convict(self, lag: Instant | None) -> None:
        """Settle what dates say against 304 answers: believed are those that are trusted."""
        for ahead, url, audit in self.accused:
            if lag is not None and ahead >= lag and url not in self.doubted:
                self.validators_wrong += 1
            elif audit is not None:
                self.caught += 1
                self.audits.append(audit)


def learn_host_trust(
    captures: Iterable[Capture], skews: Mapping[str, int | None], *, policy: Policy = "auto",
    seen: Sights | None = None, back: Collection[str] | None = None,
) -> dict[str, HostTrust]:  # fmt: skip
    """What each host's words are worth, by all captures there are of it.

    `skews` is how far each host's clock was ahead (`skew_of`). By `policy` dates are trusted as
    far as they proved right, always (and the clock, where it is not known, taken for right: it is
    the user who says so), or never. `seen` is what the captures show, and `back` the crawls whose
    clock `ran_back`, if that is known already.
    """
    everything = list(captures)
    unsteady = frozenset(ran_back(everything) if back is None else back)
    audits = _audits(everything)
    tallies: dict[str, _Tally] = defaultdict(_Tally)
    for url, sights in (observe(everything) if seen is None else seen).items():
        host = host_of(url)
        tally = tallies[host]
        if len(sights) > 1 and is_page(url):
            _learn(url, sights, skews.get(host) or 0, unsteady, audits, tally)
    return {host: _judged(host, tallies[host], skews.get(host), policy) for host in sorted(tallies)}


def _judged(host: str, tally: _Tally, skew: int | None, policy: Policy) -> HostTrust:
    lag = {"auto": tally.lag, "always": 0, "never": None}[policy]
    tally.convict(lag)
    return HostTrust(
        host, dates_right=len(tally.lags), dates_wrong=tally.dates_wrong,
        validators_right=tally.validators_right, validators_wrong=tally.wrong,
        skew=0 if skew is None and policy == "always" else skew,
        trusts_dates=lag is not None, lag=lag or 0, trusts_validators=not tally.wrong,
        doubted=tuple(sorted(tally.doubted)),
    )  # fmt: skip


def is_trusted(right: int, wrong: int) -> bool:
    """Whether the 5 % quantile of Beta(1 + right, 1 + wrong) is at least 0.9.

    For whole numbers Beta is a binomial tail: of right + wrong + 1 trials, each a failure with
    probability 0.1, at most `wrong` must fail with a chance of 5 % or less.
    """
    trials = right + wrong + 1
    if wrong >= (1 - _SHARE) * trials:
        return False
    fail, succeed = math.log1p(-_SHARE), math.log(_SHARE)
    whole = math.lgamma(trials + 1)
    powers = (
        whole - math.lgamma(k + 1) - math.lgamma(trials - k + 1) + k * fail + (trials - k) * succeed
        for k in range(wrong + 1)
    )
    return math.fsum(map(math.exp, powers)) <= _DOUBT


def skew_of(dates: Iterable[tuple[Instant, Instant]]) -> int | None:
    """How far a server's clock is ahead, by moments of asking and the Date of the answers.

    None if there are none, or they are not within 5 s of their median: a clock that was set
    meanwhile, several servers behind one name, or a Date from a cache. One in ten may be off: a
    single answer from elsewhere says nothing of the others.
    """
    if not (ahead := [date - at for at, date in dates]):
        return None
    middle = int(median(ahead))
    off = sum(abs(each - middle) > _STEADY for each in ahead)
    return middle if off <= len(ahead) // 10 else None


def ran_back(captures: Iterable[Capture]) -> RanBack:
    """Stretches that the clock of the crawler itself passed twice, by crawl.

    A crawl stores the answers of one URL in the order in which it asked, so a later record with an
    earlier date means that the clock was set back, from the latest date that was stored before or
    later still, to the earliest after that. Files of others may be in any order and tell nothing.
    """
    by_crawl: dict[str, list[Capture]] = defaultdict(list)
    for capture in captures:
        if capture.crawl is not None:
            by_crawl[capture.crawl].append(capture)
    found: RanBack = {}
    for crawl, own in by_crawl.items():
        _sort(own, "where.file", "where.offset")
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


def _sort(captures: list[Capture], *keys: str) -> None:
    """By several keys, the last one first: tuples of them would take much room."""
    for key in reversed(keys):
        captures.sort(key=attrgetter(key))


# -- learning --------------------------------------------------------------------------------------


def _audits(captures: Iterable[Capture]) -> frozenset[tuple[str, str]]:
    """Records that follow one another where a crawl asked its host twice for the same URL."""
    by_host: dict[str, list[Capture]] = defaultdict(list)
    for capture in captures:
        if capture.kind in ANSWERS:
            by_host[host_of(capture.url)].append(capture)
    found: set[tuple[str, str]] = set()
    for asked in by_host.values():
        _sort(asked, "at", "where.file", "where.offset")
        for before, after in pairwise(asked):
            is_next = before.url == after.url and before.crawl == after.crawl
            if is_next and after.at - before.at <= AUDIT_WINDOW:
                found.add((before.record_id, after.record_id))
    return frozenset(found)


def _learn(
    url: str, seen: Sequence[Observation], skew: int, unsteady: frozenset[str],
    audits: frozenset[tuple[str, str]], tally: _Tally,
) -> None:  # fmt: skip
    whole = [each for each in seen if each.why is Silence.NONE and each.state is State.PRESENT]
    _learn_tags([sight for sight in whole if sight.is_bytes], tally)
    steady = [sight for sight in whole if sight.capture.crawl not in unsteady]
    bodies = [sight for sight in steady if sight.is_bytes]
    _learn_dates(url, bodies, skew, tally)
    rate, watched = _rate(steady, audits)
    tally.watch(rate, watched)
    before: Observation | None = None
    following = iter(bodies)
    after = next(following, None)
    for sight in steady:
        if sight.is_bytes:
            before, after = sight, next(following, None)
        # Of a weak validator other bytes are no breach: it speaks of the substance only.
        elif after is not None and not (
            sight.firmness is Firmness.WEAK and asked_by(sight).etag is not None
        ):
            is_audit = (sight.capture.record_id, after.capture.record_id) in audits
            _learn_confirmation(sight, before, after, skew, rate if is_audit else None, tally)


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
    for one, other in pairwise(downloads):
        if same_bytes(one, other) is not False or one.at == other.at:
            continue
        modified = dated(other.capture, skew)
        if modified is not None and modified + MARGIN <= one.at:
            tally.dates_wrong += 1
            tally.doubted.add(url)
        elif modified is not None:
            tally.lags.append(other.at - modified)


def _learn_confirmation(
    sight: Observation, before: Observation | None, after: Observation, skew: int,
    audited: float | None, tally: _Tally,
) -> None:  # fmt: skip
    """A 304 against the downloads before and after it.

    `audited` is the rate at which the page changes, if the download is the audit of the 304.
    """
    equal, gap = same_bytes(sight, after), after.at - sight.at
    audit = None if audited is None else (gap, audited)
    if equal is True:
        tally.validators_right += gap <= AUDIT_WINDOW
        tally.audits += [] if audit is None else [audit]
    if equal is not False:
        return
    if audit is not None and before is not None and _is_between(before, sight, after):
        tally.validators_wrong += 1
        return
    modified = dated(after.capture, skew)
    if modified is not None and modified + MARGIN > sight.at:
        return  # changed after the 304, it says
    # One from before that other content was seen is false itself, and accuses nobody.
    if modified is not None and (before is None or modified + MARGIN > before.at):
        tally.accused.append((sight.at - modified, sight.capture.url, audit))
    elif audit is not None:
        tally.caught += 1
        tally.audits.append(audit)


def _is_between(before: Observation, sight: Observation, after: Observation) -> bool:
    """Whether a crawl saw something else before and after what a 304 speaks of."""
    is_one = before.capture.crawl == after.capture.crawl
    return is_one and same_bytes(before, sight) is False


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
    if modified is None or modified <= DAY or modified - skew > capture.at - MARGIN:
        return None
    return modified - skew


def claimed_by(
    captures: Iterable[Capture], trust: HostTrust, until: Instant
) -> tuple[Instant, Instant] | None:
    """The date of a content of a trusted host, not after `until`, and from when on it counts.

    The latest of several follows from every one of them, so it is true if any of them is. One after
    the first sight of the content is of a later writing of the same.
    """
    dates = (dated(each, trust.skew) for each in captures) if trust.skew is not None else ()
    latest = max((date for date in dates if date is not None and date <= until), default=None)
    return None if latest is None else (latest, latest + max(MARGIN, trust.lag))
