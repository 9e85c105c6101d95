"""A quality report as one HTML file that needs nothing else and runs nothing.

It stays below a few megabytes and can be read whether the crawl has ten pages or fifty thousand:
long lists are folded and cut, with their counts.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from asof.clock import SECOND
from asof.coherence.quality_report import Report, apart, offenders
from asof.coherence.verdict import HostTrust, Mode, PageVerdict
from asof.report import quality_words
from asof.report.quality_advice import advice
from asof.report.quality_commands import diff, listing
from asof.report.quality_drawing import SINGLE_ROWS, curve, page_bins, page_rows
from asof.report.render import render
from asof.report.words import (
    clock,
    day,
    likely_traps,
    moment,
    number,
    percent,
    span,
    stretch,
    taken_of,
)

_MOST_PAGES = 100  # listed of each cause
_MOST_HOSTS = 30
_OPEN = 8  # a cause with so few pages needs no unfolding
_PARTS = 10  # into which pages are put by the distance of their two sights
_OPTION = re.compile(  # not to be broken at a hyphen
    r"(?<= )(--coherence inducible|--scope path|--delay S|--no-conditional)"
)


def page(report: Report) -> str:
    """The whole file, to be written as UTF-8."""
    pages = report.measurement.pages
    return render(
        "quality.html",
        report=report,
        words=quality_words,
        name=report.part or quality_words.name_of(report.crawls),
        kind=_kind(report),
        crawled=_crawled(report),
        # The moment of a crawl that has not turned is a makeshift; what it is to be is known.
        mode=report.measurement.mode if report.is_measured else Mode.INDUCIBLE,
        total=len(pages),
        facts=[*_facts(report)],
        advice=[*_advice(report)],
        curve=curve(report),
        rows=page_rows(report) if 0 < len(pages) <= SINGLE_ROWS else None,
        bins=page_bins(report) if len(pages) > SINGLE_ROWS else None,
        groups=offenders(pages),
        few=_OPEN,
        most_pages=_MOST_PAGES,
        listing=listing(report),
        diff=diff,
        apart=apart,
        by_distance=[*_by_distance(pages)],
        hosts=sorted(report.host_trust.values(), key=_notable),
        most_hosts=_MOST_HOSTS,
    )


def _kind(report: Report) -> str:
    if report.part:
        return "a part of a site"
    return "a crawl" if len(report.crawls) == 1 else number(len(report.crawls), "crawl")


def _crawled(report: Report) -> str:
    if not report.crawls:
        return ""
    first, last = report.crawls[0], report.crawls[-1]
    ids = first.id if len(report.crawls) == 1 else f"{first.id} to {last.id}"
    when = f"since {moment(first.started)}"
    if last.ended is not None:
        when = f"{stretch(first.started, last.ended)} ({span(last.ended - first.started)})"
    plan = report.coherence_plan
    seeking = "coherence not sought" if plan is None else f"{plan.mode} coherence"
    return f"{ids} · {when} · {last.standing} · {seeking}"


def _facts(report: Report) -> Iterator[tuple[str, str, str]]:
    """Figures in a row: name, value and what it is of."""
    if report.is_measured:
        yield from _measures(report)
    for name, taken, noun in (
        ("Completeness", report.vertical, "URL"),
        ("Hosts reached", report.horizontal, "host"),
    ):
        if taken is not None:
            more = taken_of(taken.taken, taken.found, noun)
            if taken is report.vertical and report.errors:
                more += f"; {number(report.errors)} with an error (404 and the like), not in C"
            yield name, percent(taken.share), more


def _measures(report: Report) -> Iterator[tuple[str, str, str]]:
    measured, plan, best = report.measurement, report.planned, report.best
    at, total = measured.reference, len(measured.pages)
    yield "As of", clock(at), f"{day(at)}, {quality_words.reference_name(report)}"
    if measured.c_in_substance != measured.c:
        yield "C in substance", percent(measured.c_in_substance), "noise counted as coherent"
    back = report.returns
    seen = percent(back.returned / back.changed_again) if back.changed_again else "not known"
    yield "Changed back", seen, quality_words.returns_sentence(report).removeprefix("Not known: ")
    if plan is not None and plan.expected is not None:
        known = f"plan {plan.plan}, {number(plan.pages, 'page')} known"
        yield "The plan expected", percent(plan.expected), known
    if best is not None and total:
        share = percent(min(best.count / total, 1))
        yield "Most hold together", share, stretch(best.since, best.until)


def _advice(report: Report) -> Iterator[tuple[str, list[str]]]:
    """Sentences, and the command that stands last: at odd places options, which stay whole."""
    if report.traps.count:
        told = likely_traps(report.traps.count, report.traps.example)
        yield f"{told.replace('`', '')}.", []
    for sentence in advice(report):
        told, _, command = sentence.partition("`")
        if command.endswith("`"):
            yield told, _OPTION.split(command[:-1])
        else:
            yield sentence, []


def _by_distance(pages: Sequence[PageVerdict]) -> Iterator[tuple[str, float, str]]:
    seen = sorted((page for page in pages if apart(page) > 0), key=apart)
    if len(seen) < 2 * _PARTS or apart(seen[-1]) < SECOND:
        return
    ends = [(place + 1) * len(seen) // _PARTS for place in range(_PARTS)]
    # Tenths that would be called the same are one bar.
    named = {f"up to {span(apart(seen[end - 1]))}": end for end in ends}
    if len(named) == 1:
        return
    for (_, start), (name, end) in pairwise([("", 0), *named.items()]):
        part = seen[start:end]
        yield name, sum(page.is_coherent for page in part) / len(part), ""


def _notable(trust: HostTrust) -> tuple[int, int, int, str]:
    """The worst first."""
    checked = trust.dates_right + trust.validators_right
    return -trust.validators_wrong, -trust.dates_wrong, -checked, trust.host
