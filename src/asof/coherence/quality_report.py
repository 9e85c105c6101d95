"""What is known of the quality of a crawl, in one value.

Nothing is computed from captures here: whoever has the archive open measures, plans and estimates,
and puts the results together in a `Report`. Advice, JSON, text and page (`asof.report`) are
functions of it alone, so that they cannot disagree.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from asof.change.categories import Category
from asof.clock import Instant
from asof.coherence.returns import Returns
from asof.coherence.verdict import Best, Coverage, HostTrust, Measurement, Mode, PageVerdict, Reason
from asof.frontier.completeness import Share, Traps
from asof.model import CoherencePlan, Crawl, CrawlState, Grade

Stretch = tuple[Instant, Instant]
Answer = Literal["coherent", "incoherent", "unknown"]


@dataclass(frozen=True, slots=True)
class WholeCoherence:
    """Whether all pages hang together (definition 3.1), and over which stretch they do.

    The definition (Spaniol 2009) needs the time of the next change, which no crawler knows: there
    is a third answer.
    """

    answer: Answer = "unknown"
    stretch: Stretch | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The quality of what one or more crawls brought, or of a part of it.

    `part` names a sub-site, else it is empty. `curve` is by time. Of definition 3.2, `observable`
    is the stretch that all intervals from Last-Modified to the download share, None if there is
    none. Without rates of change, `expected` of the curve is what is provable. `place` is what
    commands need to find the archive (` -a DIR`, quoted; empty for the usual folder). `errors` is
    how many of the URLs that were taken answered with an error, None where nobody counted.
    `chosen`: the moment is one that somebody asked for.
    """

    crawls: tuple[Crawl, ...]
    measurement: Measurement
    vertical: Share | None = None
    horizontal: Share | None = None
    traps: Traps = field(default_factory=Traps)
    best: Best | None = None
    curve: tuple[Coverage, ...] = ()
    whole: WholeCoherence = field(default_factory=WholeCoherence)
    observable: Stretch | None = None
    part: str = ""
    place: str = ""
    errors: int | None = None
    chosen: bool = False
    returns: Returns = field(default_factory=Returns)

    @property
    def coherence_plan(self) -> CoherencePlan | None:
        """How the newest of the crawls sought coherence; None if it did not."""
        plans = [plan for crawl in self.crawls if (plan := crawl.coherence_plan) is not None]
        return plans[-1] if plans and plans[-1].mode != Mode.OFF else None

    @property
    def planned(self) -> CoherencePlan | None:
        """The plan that the outcome can be held against: for this moment and for all pages."""
        plan, whole = self.coherence_plan, len(self.crawls) == 1 and not self.part
        return plan if plan and whole and plan.mode == self.measurement.mode else None

    @property
    def is_measured(self) -> bool:
        """Whether C says anything: of a crawl that is to visit twice, not before it turns."""
        if len(self.crawls) != 1 or self.part or self.chosen:
            return True
        plan = self.coherence_plan
        waits = plan is not None and plan.mode == Mode.INDUCIBLE and plan.turn is None
        return not waits or self.crawls[0].state is CrawlState.FINISHED

    @property
    def is_observable(self) -> bool | None:
        """The answer of definition 3.2; None where dates that it needs are not trusted."""
        if self.observable is not None:
            return True
        trusted = [trust.trusts_dates for trust in self.host_trust.values()]
        return False if trusted and all(trusted) else None

    @property
    def host_trust(self) -> Mapping[str, HostTrust]:
        return self.measurement.host_trust

    @property
    def coherent(self) -> int:
        return sum(page.is_coherent for page in self.measurement.pages)


# -- pages that are not coherent -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CauseGroup:
    """Pages that are not coherent for one cause. `name` is a stable word for programs."""

    name: str
    grade: Grade
    pages: tuple[PageVerdict, ...]


# Spaniol 2010 names the categories of incoherence; the gravest first. What was not compared, or
# what no comparison can judge, comes after what is known to be grave.
_CHANGED = (
    Category.REMOVED, Category.APPEARED, Category.STRUCTURE, Category.MAJOR, Category.MOVED,
    "other", Category.UNAVAILABLE, Category.MINOR, Category.INSIGNIFICANT,
)  # fmt: skip
_ORDER = {
    (grade, str(name)): place
    for place, (grade, name) in enumerate(
        [(Grade.CHANGED, name) for name in _CHANGED]
        + [(Grade.UNKNOWN, name) for name in Reason]
        + [(Grade.EQUIVALENT, name) for name in (Category.INSIGNIFICANT, Reason.WEAK_VALIDATOR)]
    )
}


def offenders(pages: Iterable[PageVerdict]) -> tuple[CauseGroup, ...]:
    """The pages that are not coherent, by cause: changed, not known, and then mere noise.

    Inside a group those come first that were seen the longest apart: of them a shorter distance
    would have saved the most.
    """
    found: dict[tuple[Grade, str], list[PageVerdict]] = {}
    for page in pages:
        if not page.is_coherent:
            found.setdefault((page.grade, cause(page)), []).append(page)
    keys = sorted(found, key=lambda key: (_ORDER.get(key, len(_ORDER)), key))
    for group in found.values():
        group.sort(key=lambda page: (-apart(page), page.url))
    return tuple(CauseGroup(name, grade, tuple(found[grade, name])) for grade, name in keys)


def cause(page: PageVerdict) -> str:
    """Why a page is not coherent, in one stable word: a category of change, or a reason."""
    if page.grade is Grade.UNKNOWN:
        return page.reason.value
    if page.category is not None and page.category != Category.UNCHANGED:
        return page.category
    if page.grade is Grade.EQUIVALENT:
        weak = page.reason is Reason.WEAK_VALIDATOR
        return page.reason.value if weak else Category.INSIGNIFICANT.value
    named = page.reason in (Reason.REMOVED, Reason.APPEARED)
    return page.reason.value if named else "other"


def apart(page: PageVerdict) -> int:
    """How far apart both sights of a page are, in microseconds: its slot in Spaniol 2009."""
    if page.before is None or page.after is None:
        return 0
    return page.after.at - page.before.at
