"""The pictures of a report as inline SVG: shares over time, and pages by time (Figures 2 to 4, 6).

A picture is stretched to the width of its place (`preserveAspectRatio=none`), for which strokes do
not scale, dots are strokes of no length with round ends, and all words stand in HTML around it: so
it is sharp and legible on a telephone, on a wall and on paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from asof.clock import DAY, SECOND, Instant, to_datetime
from asof.coherence.quality_report import Report, cause
from asof.coherence.verdict import COHERENT, Coverage, Grade, PageVerdict
from asof.report import quality_words as words
from asof.report.terminal import harmless

Link = Callable[[PageVerdict], str | None]

WIDTH = 1000
LABELLED_ROWS = 60  # so many rows have room for their address
SINGLE_ROWS = 300  # so many are drawn one by one; beyond that each row stands for several pages
BINS = 160
LEVELS = 20  # of density
COLUMN = 4  # of a density, in units of the picture
_MOST_POINTS = 1200  # of a curve: more than a screen has columns
_STEPS = (
    *(n * SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * words.MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * words.HOUR for n in (1, 2, 3, 6, 12)),
    *(n * DAY for n in (1, 2, 5, 10, 30, 60, 90, 180, 365, 730, 1825, 3650, 36500, 365000)),
)


@dataclass(frozen=True, slots=True)
class Window:
    """The stretch of time that a picture shows."""

    start: Instant
    end: Instant

    def x(self, at: Instant) -> float:
        """Where a moment lies, 0 to WIDTH; what is outside lies on the edge."""
        share = (at - self.start) / max(self.end - self.start, 1)
        return min(max(share, 0.0), 1.0) * WIDTH

    def shows(self, at: Instant) -> bool:
        """Whether a moment is inside."""
        return self.start <= at <= self.end


def window_of(report: Report) -> Window:
    """From the first to the last sight of any page by these crawls, and the reference.

    Sights by earlier and later crawls may be years away; the bars that lead to them end at the
    edge.
    """
    start = min((crawl.started for crawl in report.crawls), default=None)
    ends = [crawl.ended for crawl in report.crawls]
    end = None if None in ends or not ends else max(at for at in ends if at is not None)
    reference = report.measurement.reference
    seen = [
        each.at
        for page in report.measurement.pages
        for each in (page.before, page.after)
        if each is not None
        and (start is None or each.at >= start)
        and (end is None or each.at <= end)
    ]
    lo, hi = min([reference, *seen]), max([reference, *seen])
    margin = max((hi - lo) // 50, SECOND)  # so that the first and the last dot are whole
    return Window(lo - margin, hi + margin)


# -- shares over time ------------------------------------------------------------------------------


def curve_figure(report: Report) -> str:
    """Provable and expected share of the pages over time, the reference and the best stretch."""
    points = report.curve
    if not points:
        return ""
    shown = _thinned(points)
    window = Window(points[0].at, max(points[-1].at, points[0].at + SECOND))
    steps: list[str] = []
    for point in shown:
        x, y = window.x(point.at), 100 * (1 - point.provable)
        steps.append(f"{'H' if steps else 'M'}{x:.1f}{'V' if steps else ' '}{y:.2f}")
    line = "".join(steps) + f"H{WIDTH}"
    expected = " ".join(
        f"{window.x(point.at):.1f},{100 * (1 - point.expected):.2f}"
        for point in shown
        if point.expected == point.expected
    )
    inside = "".join(
        f'<line class="grid" x1="0" y1="{y}" x2="{WIDTH}" y2="{y}"/>' for y in (0, 25, 50, 75, 100)
    )
    if report.best is not None and report.best.until >= window.start:
        left, right = window.x(report.best.since), window.x(report.best.until)
        wide = max(right - left, 2.0)
        inside += f'<rect class="best" x="{left:.1f}" y="0" width="{wide:.1f}" height="100"/>'
    inside += f'<path class="area" d="{line}V100H{window.x(shown[0].at):.1f}Z"/>'
    inside += f'<path class="line" d="{line}"/>'
    if any(point.expected > point.provable for point in points):
        inside += f'<polyline class="expected" points="{expected}"/>'
    inside += _reference_line(report, window, 100)
    labels = "".join(
        f'<span class="y" style="top:{100 - share}%">{share} %</span>' for share in (50, 100)
    )
    picture = _svg(inside, 100, "Share of the pages that is provable at each moment")
    return f'{_flag(report, window)}<div class="plot curve">{picture}{labels}</div>{_ticks(window)}'


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


def pages_figure(report: Report, link: Link) -> str:
    """One row per page, or per so many pages: visit, revisit and how long it is known to hold."""
    pages = sorted(report.measurement.pages, key=_first_seen)
    if not pages:
        return ""
    window = window_of(report)
    if len(pages) <= SINGLE_ROWS:
        return _single(report, pages, window, link)
    return _binned(report, pages, window)


def _first_seen(page: PageVerdict) -> tuple[bool, Instant, str]:
    # The first visited on top, as in Figures 4 and 6; what was not seen before the moment at last.
    first = page.before or page.after
    return page.before is None, page.since if first is None else first.at, page.url


def _single(report: Report, pages: Sequence[PageVerdict], window: Window, link: Link) -> str:
    labelled = len(pages) <= LABELLED_ROWS
    row = 20 if labelled else max(5, min(12, 1200 // len(pages)))
    marks: dict[str, list[str]] = {"visit": [], "again": [], "ring": [], "other": []}
    rows = []
    for place, page in enumerate(pages):
        y = place * row + row / 2
        rows.append(_row(report, page, window, y, row, link))
        for side, kind in ((page.before, "visit"), (page.after, "again")):
            if side is None or not window.shows(side.at):
                continue
            if kind == "again" and page.before is not None and side.at == page.before.at:
                continue  # the joker: visit and revisit in one
            dot = f"M{window.x(side.at):.1f} {y:g}h0"
            if kind == "again" and page.grade is Grade.CHANGED:
                marks["other"].append(dot)
            elif kind == "again":
                marks["again"].append(dot)
                marks["ring"].append(dot)
            else:
                marks["visit"].append(dot)
    height = row * len(pages)
    size = min(row * 0.5, 8)
    inside = "".join(rows) + _reference_line(report, window, height)
    for kind, wide in (("other", 1.1), ("again", 1.1), ("ring", 0.55), ("visit", 1.0)):
        if marks[kind]:
            path = "".join(marks[kind])
            inside += f'<path class="dot {kind}" stroke-width="{size * wide:.1f}" d="{path}"/>'
    picture = _svg(inside, height, "Pages by time: visits, revisits and what they prove")
    labels = _labels(pages) if labelled else ""
    kind = "rows labelled" if labelled else "rows"
    # The style knows how high a labelled row is, so that on paper picture and labels shrink as one.
    tall = f"calc({len(pages)} * var(--row))" if labelled else f"{height}px"
    return (
        f'<div class="{kind}">{labels}<div class="time">{_flag(report, window)}'
        f'<div class="plot" style="height:{tall}">{picture}</div>{_ticks(window)}</div></div>'
    )


def _row(
    report: Report, page: PageVerdict, window: Window, y: float, row: float, link: Link
) -> str:
    thick = row * (0.5 if row >= 9 else 0.7)
    left, right = (window.x(at) for at in _extent(report, page))
    grade = page.grade.value
    if page.grade in COHERENT or page.grade is Grade.EQUIVALENT:
        wide = max(right - left, 1.0)
        bar = (
            f'<rect class="{grade}" x="{left:.1f}" y="{y - thick / 2:g}" width="{wide:.1f}"'
            f' height="{thick:g}"/>'
        )
    else:
        bar = f'<path class="doubt {grade}" d="M{left:.1f} {y:g}H{right:.1f}"/>'
    target = (
        f'<rect class="hit" x="0" y="{y - row / 2:g}" width="{WIDTH}" height="{row:g}"/>'
        f"<title>{safe(page.url)}\n{grade}: {safe(_told(page))}\n{words.sights(page)}</title>"
    )
    href = safe_link(link(page)) if page.grade is Grade.CHANGED else None
    inside = bar + target
    return f'<a href="{escape(href)}">{inside}</a>' if href else f"<g>{inside}</g>"


def _extent(report: Report, page: PageVerdict) -> tuple[Instant, Instant]:
    """From when to when the row of a page is drawn."""
    reference = report.measurement.reference
    if page.grade is Grade.CLAIMED and page.after is not None:
        return min(page.since, reference), max(page.until, page.after.at)
    if page.grade in COHERENT or page.grade is Grade.EQUIVALENT:
        return page.since, page.until
    seen = [each.at for each in (page.before, page.after) if each is not None]
    seen = seen or [page.since, page.until]
    return min([*seen, reference]), max([*seen, reference])


def _binned(report: Report, pages: Sequence[PageVerdict], window: Window) -> str:
    row, per = 5, -(-len(pages) // BINS)
    bins = [pages[k : k + per] for k in range(0, len(pages), per)]
    height = row * len(bins)
    shades: dict[int, list[str]] = {}
    grades: dict[Grade, list[str]] = {}
    hits = ""
    for place, part in enumerate(bins):
        y = place * row
        for level, left, right in _densities(report, part, window):
            shades.setdefault(level, []).append(f"M{left} {y}H{right}v{row}H{left}z")
        for grade, x, wide in _shares(part):
            grades.setdefault(grade, []).append(f"M{x:.0f} {y}h{wide:.0f}v{row}H{x:.0f}z")
        first = place * per + 1
        told = f"Pages {first:,} to {first + len(part) - 1:,} by visit: {_tally(part)}"
        hits += (
            f'<g><rect class="hit" x="0" y="{y}" width="{WIDTH}" height="{row}"/>'
            f"<title>{told}</title></g>"
        )
    inside = "".join(
        f'<path class="shade" fill-opacity="{level / LEVELS:g}" d="{"".join(shades[level])}"/>'
        for level in sorted(shades)
    )
    inside += _reference_line(report, window, height) + hits
    picture = _svg(
        inside, height, f"Pages by time; each row stands for {words.number(per, 'page')}"
    )
    stacked = "".join(
        f'<path class="{grade.value}" d="{"".join(grades[grade])}"/>'
        for grade in Grade
        if grade in grades
    )
    marks = "".join(
        f'<span class="y" style="top:{100 * share:g}%">{int(share * len(pages)) or 1:,}</span>'
        for share in (0, 0.25, 0.5, 0.75, 1)
    )
    return (
        f'<div class="rows binned"><div class="ranks" style="height:{height}px">{marks}</div>'
        f'<div class="time">{_flag(report, window)}<div class="plot" style="height:{height}px">'
        f'{picture}</div>{_ticks(window)}</div><div class="share"><div class="plot"'
        f' style="height:{height}px">{_svg(stacked, height, "Grades of each row")}</div>'
        '<div class="ends"><span>0</span><span>100 %</span></div></div></div>'
    )


def _densities(
    report: Report, part: Sequence[PageVerdict], window: Window
) -> Iterator[tuple[int, int, int]]:
    """How many pages of a row are known when: levels over stretches of the picture's width."""
    turns: Counter[int] = Counter()
    for page in part:
        if page.grade in COHERENT or page.grade is Grade.EQUIVALENT:
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
    x = 0.0
    for grade in Grade:
        wide = WIDTH * sum(page.grade is grade for page in part) / len(part)
        if wide:
            yield grade, x, wide
            x += wide


def _tally(part: Sequence[PageVerdict]) -> str:
    counts = {grade: sum(page.grade is grade for page in part) for grade in Grade}
    told = [f"{count:,} {grade.value}" for grade, count in counts.items() if count]
    return (
        f"{words.percent(sum(page.is_coherent for page in part) / len(part))} coherent; "
        + ", ".join(told)
    )


# -- what stands around a picture ------------------------------------------------------------------


def safe_link(href: str | None) -> str | None:
    """A link that leads to a page: relative, or http(s); whatever else would act is dropped."""
    if not href:
        return None
    scheme, colon, _ = href.partition(":")
    relative = not colon or any(sign in scheme for sign in "/?#")
    return href if relative or scheme.lower() in ("http", "https") else None


def _svg(inside: str, height: float, says: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:g}" preserveAspectRatio="none" role="img"'
        f' aria-label="{escape(says)}">{inside}</svg>'
    )


def _reference_line(report: Report, window: Window, height: float) -> str:
    at = report.measurement.reference
    if not window.shows(at):
        return ""
    x = window.x(at)
    return f'<line class="mark" x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{height:g}"/>'


def _flag(report: Report, window: Window) -> str:
    """The moment of reference, in words above its line."""
    at = report.measurement.reference
    if not window.shows(at):
        return ""
    share = window.x(at) / WIDTH
    side = " first" if share < 0.2 else " last" if share > 0.8 else ""
    when = words.clock(at) if window.end - window.start < DAY else words.moment(at)
    return (
        f'<div class="flags"><span class="flag{side}" style="left:{100 * share:.2f}%">as of'
        f" {when}</span></div>"
    )


def _ticks(window: Window) -> str:
    """The axis of time: at most seven round moments."""
    step = next((s for s in _STEPS if (window.end - window.start) <= 6 * s), _STEPS[-1])
    first = -(-window.start // step) * step
    told = []
    for count, at in enumerate(range(first, window.end + 1, step)):
        share = 100 * window.x(at) / WIDTH
        thin = " mid" if count % 2 else ""
        if 3 <= share <= 97:
            told.append(
                f'<span class="tick{thin}" style="left:{share:.2f}%">{_tick(at, step)}</span>'
            )
    ends = words.day(window.start), words.day(window.end)
    days = ends[0] if ends[0] == ends[1] else " to ".join(ends)
    return f'<div class="ticks">{"".join(told)}</div><p class="days">{days}, UTC</p>'


def _tick(at: Instant, step: int) -> str:
    when = to_datetime(at)
    if step >= 180 * DAY:
        return f"{words.MONTHS[when.month - 1]} {when.year}"
    if step >= DAY:
        return f"{when.day} {words.MONTHS[when.month - 1]}"
    return f"{when:%H:%M}" if step >= words.MINUTE else f"{when:%H:%M:%S}"


def _labels(pages: Sequence[PageVerdict]) -> str:
    """Addresses beside the rows, without the part that all of them share."""
    heads = {page.url.partition("://")[2].partition("/")[0] for page in pages}
    items = []
    for page in pages:
        rest = page.url.partition("://")[2] or page.url
        text = "/" + rest.partition("/")[2] if len(heads) == 1 and "/" in rest else rest
        short = text if len(text) <= 38 else f"{text[:14]}…{text[-23:]}"
        items.append(f'<li title="{safe(page.url)}"><bdi>{safe(short)}</bdi></li>')
    return f'<ol class="labels">{"".join(items)}</ol>'


def _told(page: PageVerdict) -> str:
    if page.is_coherent:
        return words.GRADES[page.grade]
    title, meaning = words.titled(page.grade, cause(page))
    return f"{title.lower()}. {meaning}"


def safe(text: str) -> str:
    """Text from the archive as HTML: escaped, without signs that act."""
    return escape(harmless(text.replace("\n", " ")))
