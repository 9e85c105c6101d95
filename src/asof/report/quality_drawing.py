"""The pictures of a quality report, as numbers for its template: shares over time, pages by time.

After Figures 2 to 4 and 6 of Spaniol 2009. A picture is stretched to the width of its place
(`preserveAspectRatio=none`), for which strokes do not scale, dots are strokes of no length with
round ends, and all words stand in HTML around it: so it is sharp and legible on a telephone, on a
wall and on paper.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from asof.clock import DAY, SECOND, Instant, to_datetime
from asof.coherence.quality_report import Report
from asof.coherence.verdict import COHERENT, Coverage, PageVerdict
from asof.model import Grade
from asof.report.words import HOUR, MINUTE, MONTHS, clock, day, moment, percent

WIDTH = 1000
LABELLED_ROWS = 60  # so many rows have room for their address
SINGLE_ROWS = 300  # so many are drawn one by one; beyond that each row stands for several pages
BINS = 160
LEVELS = 20  # of density
COLUMN = 4  # of a density, in units of the picture
_LABEL = 38  # characters of an address beside its row
_BIN = 5  # units that a row of several pages is high
_MOST_POINTS = 1200  # of a curve: more than a screen has columns
_STEPS = (
    *(n * SECOND // 10 for n in (1, 2, 5)),
    *(n * SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR for n in (1, 2, 3, 6, 12)),
    *(n * DAY for n in (1, 2, 5, 10, 30, 60, 90, 180, 365, 730, 1825, 3650, 36500, 365000)),
)
# How wide the dots of each kind are beside the first one, in the order in which they are drawn.
_DOTS = {"other": 1.1, "again": 1.1, "ring": 0.55, "visit": 1.0}


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """The stretch of time that a picture shows."""

    start: Instant
    end: Instant

    def x(self, at: Instant) -> float:
        """Where a moment lies, 0 to WIDTH; what is outside lies on the edge."""
        share = (at - self.start) / max(self.end - self.start, 1)
        return min(max(share, 0.0), 1.0) * WIDTH

    def shows(self, at: Instant) -> bool:
        return self.start <= at <= self.end


@dataclass(frozen=True, slots=True)
class Axis:
    """What stands around a picture: the moment of reference above it, times and days below.

    `mark` is where the moment lies, None outside of the window; `ticks` are at most seven round
    moments: where in percent, what they say, and whether they go first where there is no room.
    """

    mark: float | None
    flag: str
    ticks: tuple[tuple[float, str, bool], ...]
    days: str


@dataclass(frozen=True, slots=True)
class Curve:
    """Paths of the provable and the expected share over time; the best stretch as x and width."""

    axis: Axis
    line: str
    start: float
    expected: str
    best: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page in a picture: its middle, and from where to where it is drawn."""

    page: PageVerdict
    y: float
    left: float
    right: float
    holds: bool  # is drawn as a bar: the page is known to have been what it was


@dataclass(frozen=True, slots=True)
class PageRows:
    """One row for each page, `step` high; `dots` are kind, size and path."""

    axis: Axis
    rows: tuple[PageRow, ...]
    step: float
    dots: tuple[tuple[str, float, str], ...]
    labels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PageBins:
    """One row for each `per` pages: shades by opacity, grades beside, what each row says."""

    axis: Axis
    per: int
    height: int
    shades: tuple[tuple[float, str], ...]
    grades: tuple[tuple[str, str], ...]
    rows: tuple[tuple[int, str], ...]
    ranks: tuple[tuple[float, int], ...]


def window_of(report: Report) -> TimeWindow:
    """From the first to the last sight of any page by these crawls, and the reference.

    Sights by earlier and later crawls may be years away; the bars that lead to them end at the
    edge.
    """
    start = min((crawl.started for crawl in report.crawls), default=-inf)
    ends = (inf if crawl.ended is None else crawl.ended for crawl in report.crawls)
    end = max(ends, default=inf)
    reference = report.measurement.reference
    seen = [
        each.at
        for page in report.measurement.pages
        for each in (page.before, page.after)
        if each is not None and start <= each.at <= end
    ]
    lo, hi = min([reference, *seen]), max([reference, *seen])
    margin = max((hi - lo) // 50, SECOND)  # so that the first and the last dot are whole
    return TimeWindow(lo - margin, hi + margin)


def curve(report: Report) -> Curve | None:
    """Provable and expected share of the pages over time, the reference and the best stretch."""
    points = report.curve
    if not points:
        return None
    shown = _thinned(points)
    window = TimeWindow(points[0].at, max(points[-1].at, points[0].at + SECOND))
    steps: list[str] = []
    for point in shown:
        x, y = window.x(point.at), 100 * (1 - point.provable)
        steps.append(f"{'H' if steps else 'M'}{x:.1f}{'V' if steps else ' '}{y:.2f}")
    expected = [
        f"{window.x(point.at):.1f},{100 * (1 - point.expected):.2f}"
        for point in shown
        if point.expected == point.expected
    ]
    expects = any(point.expected > point.provable for point in points)
    best = None
    if report.best is not None and report.best.until >= window.start:
        left, right = window.x(report.best.since), window.x(report.best.until)
        best = left, max(right - left, 2.0)
    return Curve(
        _axis(report, window),
        "".join(steps) + f"H{WIDTH}",
        window.x(shown[0].at),
        " ".join(expected) if expects else "",
        best,
    )


def _thinned(points: Sequence[Coverage]) -> list[Coverage]:
    """Of neighbours that cannot be told apart, the lowest and the highest: no more, no less."""
    stride = -(-len(points) // _MOST_POINTS) * 2
    if stride <= 2:
        return list(points)
    shown: dict[Instant, Coverage] = {}
    for k in range(0, len(points), stride):
        few = points[k : k + stride]
        ends = [pick(few, key=lambda point: point.provable) for pick in (min, max)]
        shown |= {point.at: point for point in sorted(ends, key=lambda point: point.at)}
    return list(shown.values())


# -- pages by time ---------------------------------------------------------------------------------


def page_rows(report: Report) -> PageRows:
    """One row per page: visit, revisit and how long it is known to hold."""
    pages = sorted(report.measurement.pages, key=_first_seen)
    window = window_of(report)
    labelled = len(pages) <= LABELLED_ROWS
    step = 20 if labelled else max(5, min(12, 1200 // len(pages)))
    rows = []
    dots: dict[str, list[str]] = {kind: [] for kind in _DOTS}
    for place, page in enumerate(pages):
        y = place * step + step / 2
        left, right = (window.x(at) for at in _extent(report, page))
        rows.append(PageRow(page, y, left, right, _holds(page)))
        for at, kinds in _sights(page):
            for kind in kinds if window.shows(at) else ():
                dots[kind].append(f"M{window.x(at):.1f} {y:g}h0")
    size = min(step * 0.5, 8)
    return PageRows(
        _axis(report, window),
        tuple(rows),
        step,
        tuple((kind, size * _DOTS[kind], "".join(path)) for kind, path in dots.items() if path),
        tuple(_labels(pages)) if labelled else (),
    )


def _first_seen(page: PageVerdict) -> tuple[bool, Instant, str]:
    # The first visited on top, as in Figures 4 and 6; what was not seen before the moment at last.
    first = page.before or page.after
    return page.before is None, page.since if first is None else first.at, page.url


def _sights(page: PageVerdict) -> Iterator[tuple[Instant, tuple[str, ...]]]:
    """When a page was seen, and the dots that are drawn for it."""
    if page.before is not None:
        yield page.before.at, ("visit",)
    # Visit and revisit can be one, for the page that was visited last.
    if page.after is not None and (page.before is None or page.after.at != page.before.at):
        yield page.after.at, ("other",) if page.grade is Grade.CHANGED else ("again", "ring")


def _holds(page: PageVerdict) -> bool:
    return page.grade in COHERENT or page.grade is Grade.EQUIVALENT


def _extent(report: Report, page: PageVerdict) -> tuple[Instant, Instant]:
    """From when to when the row of a page is drawn."""
    reference = report.measurement.reference
    if page.grade is Grade.CLAIMED and page.after is not None:
        return min(page.since, reference), max(page.until, page.after.at)
    if _holds(page):
        return page.since, page.until
    seen = [each.at for each in (page.before, page.after) if each is not None]
    seen = seen or [page.since, page.until]
    return min([*seen, reference]), max([*seen, reference])


def _labels(pages: Sequence[PageVerdict]) -> Iterator[tuple[str, str]]:
    """Addresses beside the rows, and the same cut short, no two of them to the same.

    Without the part that all of them share; of what is too long the middle is left out, or what
    comes before the place where it differs from others.
    """
    heads = {page.url.partition("://")[2].partition("/")[0] for page in pages}
    schemes = {page.url.partition("://")[0] for page in pages}
    texts = {}
    for page in pages:
        rest = page.url.partition("://")[2] if len(schemes) == 1 else ""
        alone = len(schemes) == len(heads) == 1 and "/" in rest
        texts[page.url] = "/" + rest.partition("/")[2] if alone else rest or page.url
    alike: dict[str, list[str]] = defaultdict(list)
    for text in texts.values():
        alike[_shortened(text)].append(text)
    used: set[str] = set()
    for url, text in texts.items():
        short = _shortened(text)
        if len(others := alike[short]) > 1:
            pairs = zip(min(others), max(others), strict=False)
            place = next((n for n, (one, other) in enumerate(pairs) if one != other), 0)
            short = f"{text[:9]}…{text[place : place + 28]}"
        while short in used:  # alike even there
            short += "'"
        used.add(short)
        yield url, short


def _shortened(text: str) -> str:
    return text if len(text) <= _LABEL else f"{text[:14]}…{text[-23:]}"


# -- many pages by time ----------------------------------------------------------------------------


def page_bins(report: Report) -> PageBins:
    """One row per so many pages: how many of them are known when, and their grades."""
    pages = sorted(report.measurement.pages, key=_first_seen)
    window, per = window_of(report), -(-len(pages) // BINS)
    shades: dict[int, list[str]] = {}
    grades: dict[Grade, list[str]] = {}
    rows = []
    for first in range(0, len(pages), per):
        part, y = pages[first : first + per], first // per * _BIN
        for level, left, right in _densities(report, part, window):
            shades.setdefault(level, []).append(f"M{left} {y}H{right}v{_BIN}H{left}z")
        for grade, x, wide in _shares(part):
            grades.setdefault(grade, []).append(f"M{x:.0f} {y}h{wide:.0f}v{_BIN}H{x:.0f}z")
        rows.append((y, f"Pages {first + 1:,} to {first + len(part):,} by visit: {_tally(part)}"))
    return PageBins(
        _axis(report, window),
        per,
        _BIN * len(rows),
        tuple((level / LEVELS, "".join(shades[level])) for level in sorted(shades)),
        tuple((grade.value, "".join(grades[grade])) for grade in Grade if grade in grades),
        tuple(rows),
        tuple((100 * share, int(share * len(pages)) or 1) for share in (0, 0.25, 0.5, 0.75, 1)),
    )


def _densities(
    report: Report, part: Sequence[PageVerdict], window: TimeWindow
) -> Iterator[tuple[int, int, int]]:
    """How many pages of a row are known when: levels over stretches of the picture's width."""
    turns: Counter[int] = Counter()
    for page in filter(_holds, part):
        left, right = (window.x(at) for at in _extent(report, page))
        first = int(left) // COLUMN * COLUMN
        turns[first] += 1
        turns[max(int(right) // COLUMN * COLUMN, first + COLUMN)] -= 1
    known, level, start = 0, 0, 0
    for x in sorted(turns):
        known += turns[x]
        # What a single page of many knows is still drawn, if ever so faintly.
        now = -(-known * LEVELS // len(part))
        if now != level:
            if level:
                yield level, start, x
            level, start = now, x


def _shares(part: Sequence[PageVerdict]) -> Iterator[tuple[Grade, float, float]]:
    """The grades of a row beside each other, as wide as they are many."""
    counts, x = Counter(page.grade for page in part), 0.0
    for grade in Grade:
        if wide := WIDTH * counts[grade] / len(part):
            yield grade, x, wide
            x += wide


def _tally(part: Sequence[PageVerdict]) -> str:
    counts = Counter(page.grade for page in part)
    told = ", ".join(f"{counts[grade]:,} {grade.value}" for grade in Grade if counts[grade])
    return f"{percent(sum(page.is_coherent for page in part) / len(part))} coherent; {told}"


# -- what stands around a picture ------------------------------------------------------------------


def _axis(report: Report, window: TimeWindow) -> Axis:
    at, length = report.measurement.reference, window.end - window.start
    step = next((s for s in _STEPS if length <= 6 * s), _STEPS[-1])
    first = -(-window.start // step) * step
    places = [(100 * window.x(at) / WIDTH, at) for at in range(first, window.end + 1, step)]
    shown = [(left, _tick(at, step)) for left, at in places if 3 <= left <= 97]
    ends = day(window.start), day(window.end)
    return Axis(
        window.x(at) if window.shows(at) else None,
        clock(at) if length < DAY else moment(at),
        # Fewer than two tell nothing of how long the axis is, and three have room anywhere.
        tuple((*tick, len(shown) > 3 and bool(n % 2)) for n, tick in enumerate(shown)),
        ends[0] if ends[0] == ends[1] else " to ".join(ends),
    )


def _tick(at: Instant, step: int) -> str:
    when = to_datetime(at)
    if step >= 180 * DAY:
        return f"{MONTHS[when.month - 1]} {when.year}"
    if step >= DAY:
        return f"{when.day} {MONTHS[when.month - 1]}"
    if step < SECOND:
        return f"{when:%H:%M:%S}.{when.microsecond * 10 // SECOND}"
    return f"{when:%H:%M}" if step >= MINUTE else f"{when:%H:%M:%S}"
