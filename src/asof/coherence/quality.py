"""The quality of a crawl in one value: how complete, how coherent, and what to do about it."""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from asof.archive.archive import Moment, OpenArchive
from asof.catalog.referents import ANSWERS
from asof.change.cascade import compare
from asof.change.categories import Category
from asof.change.texts import Texts
from asof.clock import Instant
from asof.coherence.certificate import Choice
from asof.coherence.credibility import firm_runs
from asof.coherence.gather import (
    Catalogued,
    GatheredCaptures,
    Progress,
    capture_at,
    gather,
    measured,
)
from asof.coherence.host_trust import claimed_by
from asof.coherence.intervals import Stretches, coverage, curve, observable, stab, thinned
from asof.coherence.invariance import Together, page_bounds
from asof.coherence.observations import is_page
from asof.coherence.proven_intervals import page_intervals, stretches
from asof.coherence.quality_report import Report, WholeCoherence
from asof.coherence.rates import learn_rates
from asof.coherence.returns import Returns, returns_of
from asof.coherence.verdict import Coverage, Measurement, PageVerdict, Reason
from asof.errors import AsofError, NotCaptured
from asof.frontier.completeness import Completeness, completeness
from asof.model import Capture, Grade, Validity
from asof.url import host_of

# Points of the curve of coverage: as many as a screen has pixels to tell apart.
_POINTS = 400

Bar = Callable[[str, int | None], AbstractContextManager[Progress]]
CaptureKey = tuple[str, Instant, str]


@dataclass(frozen=True, slots=True)
class Quality:
    """What is known of how good a choice of captures is.

    `completeness` is None for more than one crawl, `report` where nothing was captured.
    """

    name: str
    completeness: Completeness | None
    report: Report | None


def quality(
    archive: OpenArchive,
    choice: Choice,
    place: str = "",
    progress: Bar = lambda what, total: nullcontext(lambda done: None),
) -> Quality:
    """Measure what was chosen, and read what changed; `progress` is told of what how many."""
    names = choice.crawls
    value = None
    if len(names) == 1 and choice.prefix is None:
        value = completeness(archive.ledger, archive.catalog.crawl_no(names[0]))
    title = ", ".join(names) if names else f"all crawls of {choice.prefix}"
    try:
        with progress("reading", archive.catalog.count()) as advance:
            gathered, measurement = measure_choice(archive, choice, advance)
    except NotCaptured:
        if value is None:
            raise
        return Quality(title, value, None)
    with progress("comparing", len(changed_pages(measurement))) as advance:
        measurement = categorised(archive, gathered, measurement, advance)
    with progress("reporting", None):
        return Quality(title, value, quality_report(archive, gathered, measurement, place))


def chosen(
    archive: OpenArchive, names: Sequence[str], prefix: str | None, moment: Moment | None
) -> Choice:
    """What is to be measured: the crawls named, or the newest; or all below a prefix."""
    reference = None if moment is None else archive.moment(moment)
    if names or prefix is None:
        crawls = [archive.crawl(name) for name in names or (None,)]
        if None in crawls:
            raise NotCaptured(
                f"{archive.folder.root} holds no crawl.",
                hint="Make one with `asof crawl URL`; what was imported is measured with --url.",
            )
        names = [crawl.id for crawl in crawls if crawl is not None]
    return Choice(tuple(names), prefix, reference)


def changed_pages(measurement: Measurement) -> list[PageVerdict]:
    """The pages whose two sides are to be compared by what they say."""
    return [page for page in measurement.pages if page.reason is Reason.OTHER_CONTENT]


def quality_report(
    archive: OpenArchive, gathered: GatheredCaptures, measurement: Measurement, place: str = ""
) -> Report:
    """Put together what is known of the captures that count.

    `place` is what commands need to find the archive, as a shell reads it.
    """
    pages = {page.url for page in measurement.pages}
    intervals, whole, returns = _intervals(gathered, pages)
    others = {c.url for c in gathered.counted if c.kind in ANSWERS and c.url not in pages}
    report = Report(
        gathered.crawls, measurement, whole=whole,
        best=stab(intervals.since, intervals.until) if intervals else None,
        curve=_curve(gathered, measurement.reference, intervals.among(pages), len(pages)),
        observable=_observable(gathered),
        part=gathered.choice.prefix or "", chosen=gathered.choice.reference is not None,
        errors=sum(map(is_page, others)), place=place,
        returns=returns,
    )  # fmt: skip
    if len(gathered.crawls) != 1 or gathered.choice.prefix:
        return report
    value = completeness(archive.ledger, archive.catalog.crawl_no(gathered.crawls[0].id))
    return replace(report, vertical=value.vertical, horizontal=value.horizontal, traps=value.traps)


def _intervals(
    gathered: GatheredCaptures, pages: Set[str]
) -> tuple[Stretches, WholeCoherence, Returns]:
    """When each page is known between the first and the last capture; whether all cohere; how often
    those of C were seen to change back.
    """
    urls = {capture.url for capture in gathered.counted}
    first, last = min(capture.at for capture in gathered.counted), gathered.until
    together, returns = Together(), Returns()

    def known() -> Iterator[Validity]:
        nonlocal returns
        for url, runs, trust in firm_runs(gathered.seen, gathered.host_trust, urls):
            yield from page_intervals(url, runs, trust)
            for bounds in page_bounds(url, runs, first, last):
                together.add(bounds)
            if url in pages:
                returns += returns_of(runs)

    found = stretches(known(), first, last)
    return found, WholeCoherence(*together.answer()), returns


def measure_choice(
    archive: OpenArchive, choice: Choice, progress: Progress = lambda done: None
) -> tuple[GatheredCaptures, Measurement]:
    """The verdict of every page that counts, by evidence alone; `progress` is told of captures."""
    gathered = gather(Catalogued(archive, progress), choice)
    return gathered, measured(gathered)


def categorised(
    archive: OpenArchive, gathered: GatheredCaptures, measurement: Measurement, progress: Progress
) -> Measurement:
    """The same with the category of each change; pages that differ in noise only are equivalent.

    The cascade of Spaniol 2010 (incoherence detection) reads what stands on both sides.
    """
    changed = {page.url for page in changed_pages(measurement)}
    captures = capture_at(each for each in gathered.everything if each.url in changed)
    pages: list[PageVerdict] = []
    with Texts(archive) as texts:
        for page in measurement.pages:
            if page.reason is Reason.OTHER_CONTENT:
                page = _categorised(page, captures, texts)
                progress(1)
            pages.append(page)
    return replace(measurement, pages=tuple(pages))


def _categorised(
    page: PageVerdict, captures: Mapping[CaptureKey, Capture], texts: Texts
) -> PageVerdict:
    if page.before is None or page.after is None:
        return page
    old, new = (captures.get((page.url, s.at, s.record_id)) for s in (page.before, page.after))
    if old is None or new is None:
        return page
    try:
        change = compare(texts.version(old), texts.version(new))
    except AsofError:  # a damaged record: the digests differ, and that is all that is known
        return page
    if change.category in (Category.INSIGNIFICANT, Category.UNCHANGED):
        return replace(page, grade=Grade.EQUIVALENT, category=Category.INSIGNIFICANT.value)
    return replace(page, category=change.category.value)


def _curve(
    gathered: GatheredCaptures, reference: Instant, intervals: Stretches, pages: int
) -> tuple[Coverage, ...]:
    """What is known and what is expected from the first capture to the last, of the pages of C."""
    if not intervals:
        return ()
    times = thinned(*curve(intervals.since, intervals.until), _POINTS)[0].tolist()
    if times[0] < reference < times[-1]:
        times = sorted({*times, reference})
    learnt = learn_rates(gathered.everything, gathered.host_trust)
    rates = array("d", map(learnt.mean, intervals.urls))
    del learnt  # as large
    return tuple(coverage(intervals, rates, times, pages))


def _observable(gathered: GatheredCaptures) -> tuple[Instant, Instant] | None:
    """Definition 3.2, over the pages as they were seen last, by dates that can be trusted."""
    last: dict[str, Capture] = {}
    for capture in gathered.counted:
        if is_page(capture.url) and capture.status is not None and capture.status < 400:
            last[capture.url] = capture
    return observable((_dated(each, gathered), each.at) for each in last.values())


def _dated(capture: Capture, gathered: GatheredCaptures) -> Instant | None:
    """Since when a page is as it was seen by its date, as sure of it as a verdict has to be."""
    trust = gathered.host_trust[host_of(capture.url)]
    if not trust.trusts_dates or trust.doubts(capture.url):
        return None
    claim = claimed_by([capture], trust, capture.at)
    return None if claim is None else claim[1]
