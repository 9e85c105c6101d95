"""A report as lines for a terminal: what `asof quality` prints for people.

Short whatever the size of the crawl: the figures, the gravest pages of each cause, the hosts that
stand out, and the advice. What is left out is counted.
"""

import textwrap
from collections.abc import Iterator

from asof.caret import cells
from asof.coherence.quality_report import CauseGroup, Report, offenders
from asof.model import Grade
from asof.report import quality_words as words
from asof.report.quality_advice import advice
from asof.report.quality_commands import diff
from asof.report.terminal import harmless
from asof.report.words import likely_traps, moment, number, percent, stretch, taken_of

_NARROWEST = 40
_LABEL = 16
_MOST_PAGES = 3  # shown of each cause
_MOST_GROUPS = 12
_MOST_HOSTS = 5
_BAR = 24


def report_text(report: Report, width: int = 80) -> list[str]:
    """Lines of at most `width` columns, except for commands, which are kept whole to be copied."""
    width = max(width, _NARROWEST)
    lines = [*_opening(report, width)]
    if report.is_measured:
        lines += [*_grades(report, width), "", *_measured(report, width)]
    else:
        lines += [""]
    lines += _completeness(report, width)
    if report.is_measured:
        lines += _offenders(report, width)
    lines += _hosts(report, width)
    told = advice(report)
    if told:
        lines += ["", "What would help"]
    for sentence in told:
        says, _, shown = sentence.partition("`")
        lines.extend(_wrapped(f"- {says}", width, "  ", "    "))
        if shown:
            lines.append(f"      {harmless(shown.removesuffix('`'))}")
    return [line.rstrip() for line in lines]


def _opening(report: Report, width: int) -> Iterator[str]:
    crawls = report.crawls
    ids = ", ".join(crawl.id for crawl in crawls[:3])
    more = f" and {number(len(crawls) - 3)} more" if len(crawls) > 3 else ""
    yield _cut(f"Crawl{'s' if len(crawls) > 1 else ''} {ids}{more}" if crawls else "Archive", width)
    yield _cut(f"  {report.part or words.name_of(crawls)}", width)
    if crawls:
        first, last = crawls[0].started, crawls[-1].ended
        when = f"since {moment(first)}" if last is None else stretch(first, last)
        yield _cut(f"  {when} UTC, {crawls[-1].standing}", width)
    yield ""
    yield f"Coherence C  {percent(report.measurement.c if report.is_measured else None)}"
    yield from _wrapped(words.headline(report), width, "  ")
    if report.is_measured:
        yield from _wrapped(f"That moment is {words.reference_name(report)}.", width, "  ")


def _grades(report: Report, width: int) -> Iterator[str]:
    counts, total = report.measurement.counts, len(report.measurement.pages)
    widest = len(f"{max(counts.values(), default=0):,}")
    for grade, count in counts.items():
        if count:
            # A grade that exists is never without a mark.
            bar = "#" * max(round(_BAR * count / total), 1)
            share = f"{percent(count / total):>7}"
            yield f"    {grade.value:<{_LABEL - 4}}{count:>{widest},}  {share}  {bar}"[:width]


def _measured(report: Report, width: int) -> Iterator[str]:
    measured, plan = report.measurement, report.planned
    if measured.c is not None and measured.c_in_substance != measured.c:
        told = f"{percent(measured.c_in_substance)}, noise left out"
        yield from _figure("in substance", told, width)
    if plan is not None and measured.c is not None:
        told = f"{plan.plan}, {number(plan.pages, 'page')} known"
        if not plan.pages:
            told = f"{plan.plan}; a first crawl, of which nothing was known"
        if plan.expected is not None:
            told += f"; expected {percent(plan.expected)}"
            told += f", came out {words.outcome(plan.expected, measured.c)}"
        yield from _figure("plan", told, width)
    elif (sought := report.coherence_plan) is not None:
        at = "" if sought.turn is None else f", as of {moment(sought.turn)}"
        yield from _figure("plan", f"{sought.plan}, for another moment{at}", width)
    else:
        yield from _figure("plan", "none: coherence was not sought", width)
    yield from _figure("changed back", words.returns_sentence(report), width)
    yield from _figure("best moment", words.best_sentence(report), width)
    yield from _figure("all at once", words.whole_sentence(report), width)
    yield from _figure("observable", words.observable_sentence(report), width)


def _completeness(report: Report, width: int) -> Iterator[str]:
    for name, taken, noun in (
        ("completeness", report.vertical, "URL"),
        ("hosts reached", report.horizontal, "host"),
    ):
        if taken is not None:
            told = taken_of(taken.taken, taken.found, noun)
            share = f"{percent(taken.share)}, " if taken.found else ""
            yield from _figure(name, share + told, width)
    if report.traps.count:
        told = likely_traps(report.traps.count, report.traps.example)
        yield from _figure("traps", told, width)
    if (errors := words.errors_sentence(report)) is not None:
        yield from _figure("errors", errors, width)


def _offenders(report: Report, width: int) -> Iterator[str]:
    groups = offenders(report.measurement.pages)
    if not groups:
        return
    yield ""
    yield f"Not coherent: {number(sum(len(group.pages) for group in groups), 'page')}"
    widest = max(len(f"{len(group.pages):,}") for group in groups)
    for group in groups[:_MOST_GROUPS]:
        title, meaning = words.titled(group.grade, group.name)
        told = f"{len(group.pages):>{widest},}  {title}. {meaning}"
        yield from _wrapped(told, width, "  ", " " * (widest + 4))
        yield from _listed(group, report.place, width)
    if rest := groups[_MOST_GROUPS:]:
        count = sum(len(group.pages) for group in rest)
        causes = number(len(rest), "more cause")
        yield f"  {count:>{widest},}  of {causes} (--json lists them)"


def _listed(group: CauseGroup, place: str, width: int) -> Iterator[str]:
    for page in group.pages[:_MOST_PAGES]:
        shown = diff(page, place) if group.grade is Grade.CHANGED else None
        # The command has the address in it, and is kept whole: cut, it would be of no use.
        yield f"      {harmless(shown)}" if shown else _cut(f"      {page.url}", width)
    if (rest := len(group.pages) - _MOST_PAGES) > 0:
        yield f"      ... and {number(rest)} more"


def _hosts(report: Report, width: int) -> Iterator[str]:
    hosts = report.host_trust.values()
    caught = [each for each in hosts if each.validators_wrong or each.dates_wrong]
    if not caught:
        return
    caught.sort(key=lambda each: (-each.validators_wrong, -each.dates_wrong, each.host))
    yield ""
    yield "Servers whose word was wrong"
    for trust in caught[:_MOST_HOSTS]:
        dates = words.checked(trust.dates_right, trust.dates_wrong)
        confirmed = words.checked(trust.validators_right, trust.validators_wrong)
        yield _cut(f"  {trust.host}: dates {dates}; confirmations {confirmed}", width)
    if len(caught) > _MOST_HOSTS:
        yield f"  ... and {number(len(caught) - _MOST_HOSTS)} more"


def _figure(name: str, value: str, width: int) -> Iterator[str]:
    yield from _wrapped(f"{name:<{_LABEL - 2}}{value}", width, "  ", " " * _LABEL)


def _wrapped(text: str, width: int, first: str, rest: str | None = None) -> list[str]:
    return textwrap.wrap(
        harmless(text), width, initial_indent=first, subsequent_indent=rest or first,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _cut(text: str, width: int) -> str:
    """Text in one line. Of what is too long the middle is left out: addresses differ at the end."""
    text = harmless(text)
    if cells(text) <= width:
        return text
    tail = width // 3
    head = text
    while cells(head) > width - tail - 1:
        head = head[:-1]
    end = text[-tail:]
    while cells(end) > tail:
        end = end[1:]
    return f"{head}…{end}"
