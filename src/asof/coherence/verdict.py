"""The values of coherence: what is known of a page at a moment, by what evidence, and their sum.

Spaniol 2009 asks of each page only whether it is coherent. On the live web an answer is as good as
its evidence, so each verdict has a grade. Only equal bytes on both sides of the moment prove; what
a server says (304, Last-Modified) is kept apart and named as such, and is worth nothing once the
server was caught with a false word. Even equal bytes do not exclude that something else was there
in between (A-B-A).
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum

from asof.clock import SECOND, Instant
from asof.model import Evidence, Grade


class Mode(StrEnum):
    """How coherence is sought: by dates that servers give, or by visiting twice."""

    OFF = "off"
    MEASURABLE = "measurable"  # definition 3.4: unchanged since the crawl began
    INDUCIBLE = "inducible"  # definition 3.6: the same at the visit and the revisit


# HTTP dates tell the second, and clocks are known to a second or so.
MARGIN: Instant = 2 * SECOND

COHERENT = frozenset((Grade.PROVEN, Grade.CONFIRMED, Grade.CLAIMED))


class Reason(StrEnum):
    """Why a verdict is not better than it is; stable words for programs, sentences elsewhere."""

    NONE = ""
    NOT_SEEN_AGAIN = "not-seen-again"  # taken before the moment, never after it
    NOT_SEEN_BEFORE = "not-seen-before"  # taken after it only, and no date that can be trusted
    FAILED_AGAIN = "failed-again"  # the server was asked again and brought an error or nothing
    APPEARED = "appeared"  # not there before the moment, there after it
    REMOVED = "removed"  # there before it, not there after it
    OTHER_CONTENT = "other-content"  # the bytes differ
    REWRITTEN = "rewritten"  # equal bytes, but the server dates them to after the earlier look
    WEAK_VALIDATOR = "weak-validator"  # 304, but only "equivalent" is meant by it
    FALSE_VALIDATORS = "false-validators"  # this host was caught with a 304 or ETag that was false
    UNTRUSTED_DATES = "untrusted-dates"  # Last-Modified of this host or page was found wrong
    UNPROVED_DATES = "unproved-dates"  # it has not proved right often enough to be believed
    FUTURE_DATE = "future-date"  # Last-Modified lies after the download
    NO_DATE = "no-date"  # no Last-Modified
    CLOCK_OFF = "clock-off"  # the server's clock is wrong, or it does not tell the time
    DATED_AFTER = "dated-after"  # the server dates it to after the moment, or too near to say
    TRUNCATED = "truncated"  # cut short, so nothing is known of the rest
    NOT_COMPARABLE = "not-comparable"  # digests of different kinds, or of something not held
    CRAWLER_CLOCK = "crawler-clock"  # the crawler's own clock ran back over the moment
    OTHER_URL = "other-url"  # only another URL was captured that indexes take for the same
    UNREADABLE = "unreadable"  # its record is lost or damaged, so that nothing can be shown of it


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """What is known of one URL at the moment of reference.

    `before` is the last evidence at or before it, `after` the first after it (or at it, if that is
    another record). `since` and `until` are the interval that holds the moment, or the nearest one.
    `category` is that of the change between both sides (asof.change.categories), where known.
    """

    url: str
    grade: Grade
    reason: Reason
    before: Evidence | None
    after: Evidence | None
    since: Instant
    until: Instant
    category: str | None = None

    @property
    def is_coherent(self) -> bool:
        return self.grade in COHERENT


@dataclass(frozen=True, slots=True)
class HostTrust:
    """How far a host's words were found to be true, over everything the archive has of it.

    `dates_right` and `dates_wrong` count changes whose Last-Modified lay, or did not lie, between
    the two captures that saw them; `validators_right` and `validators_wrong` the same for 304
    answers and strong ETags that could be checked. `skew` is how far the server's clock was ahead,
    in microseconds, None where it tells no time or an unsteady one. Dates are trusted for what they
    say of moments at least `lag` after them. `doubted` are the URLs whose own Last-Modified was
    found wrong, in order: others' dates may be trusted, those of these never.
    """

    host: str
    dates_right: int = 0
    dates_wrong: int = 0
    validators_right: int = 0
    validators_wrong: int = 0
    skew: int | None = None
    trusts_dates: bool = False
    trusts_validators: bool = True
    doubted: tuple[str, ...] = ()
    lag: Instant = 0

    @property
    def tells_time(self) -> bool:
        """Whether its dates can be believed as they stand, by our clock."""
        return self.trusts_dates and self.skew is not None and abs(self.skew) <= SECOND

    def doubts(self, url: str) -> bool:
        """Whether the dates of this URL are never trusted. There may be as many as pages."""
        place = bisect_left(self.doubted, url)
        return place < len(self.doubted) and self.doubted[place] == url


@dataclass(frozen=True, slots=True)
class Measurement:
    """Coherence of a set of pages with regard to one moment."""

    mode: Mode
    reference: Instant
    pages: tuple[PageVerdict, ...]
    host_trust: Mapping[str, HostTrust] = field(default_factory=dict)

    @property
    def counts(self) -> dict[Grade, int]:
        found = Counter(page.grade for page in self.pages)
        return {grade: found[grade] for grade in Grade}

    @property
    def c(self) -> float | None:
        """C = 1 - errors / pages (Spaniol 2010; Spaniol 2009 writes q for the share of errors)."""
        return self._share_of(COHERENT)

    @property
    def c_in_substance(self) -> float | None:
        """C with what differs only in noise counted as coherent."""
        return self._share_of(COHERENT | {Grade.EQUIVALENT})

    def _share_of(self, grades: Set[Grade]) -> float | None:
        fine = sum(page.grade in grades for page in self.pages)
        return fine / len(self.pages) if self.pages else None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a set of URLs is known at a moment: proven by intervals, and as expected."""

    at: Instant
    provable: float
    expected: float


@dataclass(frozen=True, slots=True)
class Best:
    """The stretch of time over which the most intervals hold together."""

    since: Instant
    until: Instant
    count: int
