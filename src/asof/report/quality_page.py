"""A report as one HTML file that needs nothing else and runs nothing.

Everything from the archive is escaped, and the page forbids itself scripts, pictures and requests:
addresses and hosts were written by strangers. It stays below a few megabytes and can be read
whether the crawl has ten pages or fifty thousand: long lists are folded and cut, with their counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from asof.clock import SECOND
from asof.coherence.quality_report import Group, Report, apart, offenders
from asof.coherence.verdict import Grade, Mode, PageVerdict
from asof.report import quality_words as words
from asof.report.quality_advice import advice
from asof.report.quality_commands import diff, listing
from asof.report.quality_drawing import (
    BINS,
    SINGLE_ROWS,
    Link,
    curve_figure,
    pages_figure,
    safe,
    safe_link,
)
from asof.report.quality_hosts import hosts_section
from asof.report.quality_style import STYLE

_MOST_PAGES = 100  # listed of each cause
_OPEN = 8  # a cause with so few pages needs no unfolding
_PARTS = 10  # into which pages are put by the distance of their two sights
_COMMAND = re.compile(r"`(.+)`$")
_OPTION = re.compile(  # not to be broken at a hyphen
    r"(?<= )(--coherence inducible|--scope path|--delay S|--no-conditional)"
)


def page(report: Report, diff_link: Link | None = None) -> str:
    """The whole file, to be written as UTF-8.

    `diff_link` gives the address of a page that shows what changed, or None; the command that
    shows it is there in any case.
    """
    link = diff_link or _no_link
    title = f"Quality of {report.part or words.name_of(report.crawls)}"
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy"'
        " content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{safe(title)} - asof</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        '<header class="masthead"><span class="wordmark">as&#8239;of</span></header>\n<main>\n',
        *_opening(report),
        *_advice(report),
        *(_measured(report, link) if report.is_measured else ()),
        *hosts_section(report),
        "</main>\n<footer><p>Times are UTC. Nothing on this page runs a script or loads anything."
        " Equal bytes on both sides of a moment are strong evidence, not proof: something else may"
        " have been there in between.</p></footer>\n</body>\n</html>\n",
    ]
    return "".join(parts)


def _measured(report: Report, link: Link) -> Iterator[str]:
    yield from _curve(report)
    yield from _picture(report, link)
    yield from _offenders(report, link)
    yield from _plan(report)


# -- the numbers -----------------------------------------------------------------------------------


def _opening(report: Report) -> Iterator[str]:
    measured = report.measurement
    yield f'<p class="kicker">Quality of {_kind(report)}</p>\n'
    yield f"<h1><bdi>{safe(report.part or words.name_of(report.crawls))}</bdi></h1>\n"
    yield f'<p class="under">{safe(_crawled(report))}</p>\n'
    # The moment of a crawl that has not turned is a makeshift; what it is to be is known.
    mode = measured.mode if report.is_measured else Mode.INDUCIBLE
    yield (
        f'<div class="verdict"><p class="big">{words.percent(_c(report))}'
        "<small>coherence C</small></p>"
        f'<div><p class="says">{safe(words.headline(report))}</p>'
        f'<p class="how">{safe(words.method(mode))}</p></div></div>\n'
    )
    counts, total = measured.counts, len(measured.pages)
    if total and report.is_measured:
        spans = "".join(
            f'<span class="{grade.value}" style="flex-grow:{count}"'
            f' title="{grade.value}: {count:,}"></span>'
            for grade, count in counts.items()
            if count
        )
        yield f'<div class="grades" role="img" aria-label="Pages by grade">{spans}</div>\n'
        yield '<ul class="key counts">\n'
        for grade, count in counts.items():
            yield (
                f'<li><span class="swatch {grade.value}"></span><b>{grade.value}</b>'
                f"<span>{count:,} · {words.percent(count / total)}</span>"
                f'<span class="what">{words.GRADES[grade]}</span></li>\n'
            )
        yield "</ul>\n"
    facts = "".join(
        f"<div><dt>{name}</dt><dd>{value}<small>{safe(more)}</small></dd></div>\n"
        for name, value, more in _facts(report)
    )
    yield f'<dl class="facts">\n{facts}</dl>\n'


def _facts(report: Report) -> Iterator[tuple[str, str, str]]:
    if report.is_measured:
        yield from _measures(report)
    for name, taken, noun in (
        ("Completeness", report.vertical, "URL"),
        ("Hosts reached", report.horizontal, "host"),
    ):
        if taken is not None:
            more = f"{taken.taken:,} taken of {words.number(taken.found, noun)} found"
            if taken is report.vertical and report.errors:
                more += (
                    f"; {words.number(report.errors)} with an error (404 and the like), not in C"
                )
            yield name, words.percent(taken.share), more


def _measures(report: Report) -> Iterator[tuple[str, str, str]]:
    measured, course, total = report.measurement, report.planned, len(report.measurement.pages)
    reference = measured.reference
    yield (
        "As of",
        words.clock(reference),
        f"{words.day(reference)}, {words.reference_name(report)}",
    )
    if measured.c_in_substance != measured.c:
        yield "C in substance", words.percent(measured.c_in_substance), "noise counted as coherent"
    if course is not None and course.expected is not None:
        known = f"plan {course.plan}, {words.number(course.pages, 'page')} known"
        yield "The plan expected", words.percent(course.expected), known
    if report.best is not None and total:
        share = words.percent(min(report.best.count / total, 1))
        yield "Most hold together", share, words.stretch(report.best.since, report.best.until)


def _c(report: Report) -> float | None:
    return report.measurement.c if report.is_measured else None


def _kind(report: Report) -> str:
    if report.part:
        return "a part of a site"
    return "a crawl" if len(report.crawls) == 1 else words.number(len(report.crawls), "crawl")


def _crawled(report: Report) -> str:
    if not report.crawls:
        return ""
    first, last = report.crawls[0], report.crawls[-1]
    ids = first.id if len(report.crawls) == 1 else f"{first.id} to {last.id}"
    when = f"since {words.moment(first.started)}"
    if last.ended is not None:
        when = (
            f"{words.stretch(first.started, last.ended)} ({words.span(last.ended - first.started)})"
        )
    course = report.course
    seeking = "coherence not sought" if course is None else f"{course.mode} coherence"
    return f"{ids} · {when} · {last.state.value} · {seeking}"


def _advice(report: Report) -> Iterator[str]:
    sentences = advice(report)
    if not sentences:
        return
    yield '<section>\n<h2>What would help</h2>\n<ul class="advice">\n'
    for sentence in sentences:
        told = _COMMAND.sub(r"<code>\1</code>", safe(sentence))
        told = _OPTION.sub(r'<span class="option">\1</span>', told)
        yield f"<li>{told}</li>\n"
    yield "</ul>\n</section>\n"


# -- the pictures ----------------------------------------------------------------------------------


def _curve(report: Report) -> Iterator[str]:
    figure = curve_figure(report)
    yield (
        "<section>\n<h2>How much is provable when</h2>\n<p>The share of the pages of which it is"
        " proven what they were at each moment, because the same content was seen before and"
        " after it.</p>\n"
    )
    if figure:
        expects = any(point.expected > point.provable for point in report.curve)
        yield f'<figure>{figure}<ul class="key line">'
        yield '<li><span class="swatch proven"></span>provable</li>'
        if expects:
            yield '<li><span class="swatch dash"></span>expected, by how often pages change</li>'
        if report.best is not None:
            yield '<li><span class="swatch best"></span>the most pages hold together</li>'
        yield '<li><span class="swatch rule"></span>moment of reference</li></ul></figure>\n'
    yield '<dl class="facts">\n'
    for name, says in (
        ("All pages at once (definition 3.1)", words.whole_sentence(report)),
        ("Observable, by Last-Modified (definition 3.2)", words.observable_sentence(report)),
        ("Best moment to ask for", words.best_sentence(report)),
    ):
        yield f"<div><dt>{name}</dt><dd><small>{safe(says)}</small></dd></div>\n"
    yield "</dl>\n</section>\n"


def _picture(report: Report, link: Link) -> Iterator[str]:
    figure = pages_figure(report, link)
    if not figure:
        return
    total = len(report.measurement.pages)
    yield "<section>\n<h2>Pages, visits and revisits</h2>\n"
    if total > SINGLE_ROWS:
        yield (
            "<p>The first visited on top. Each row stands for"
            f" {words.number(-(-total // BINS), 'page')}:"
            " the stronger its colour, the more of them are known to have been at that time what"
            " they were at the moment of reference. On the right, their grades at that"
            " moment.</p>\n"
        )
    else:
        yield (
            "<p>One row per page, the first visited on top. A bar is the time over which a page is"
            " known to have been what it was at the moment of reference. A broken line leads to"
            " the sights of a page of which that is not known, or that changed around it; whatever"
            " else is known of it at other times is not drawn.</p>\n"
        )
    yield f'<figure>{figure}<ul class="key line">'
    if total > SINGLE_ROWS:
        yield '<li><span class="swatch shades"></span>none to all pages of a row are known</li>'
    for grade, count in report.measurement.counts.items():
        if count:
            yield f'<li><span class="swatch {grade.value}"></span>{grade.value}</li>'
    if total <= SINGLE_ROWS:
        yield '<li><span class="swatch dot"></span>visit</li>'
        yield '<li><span class="swatch ring"></span>revisit</li>'
        yield '<li><span class="swatch other"></span>revisit, other content</li>'
    yield '<li><span class="swatch rule"></span>moment of reference</li></ul></figure>\n'
    yield "</section>\n"


# -- the pages -------------------------------------------------------------------------------------


def _offenders(report: Report, link: Link) -> Iterator[str]:
    groups = offenders(report.measurement.pages)
    yield "<section>\n<h2>Pages that are not coherent</h2>\n"
    count = sum(len(group.pages) for group in groups)
    if not groups:
        yield '<p class="none">There are none.</p>\n</section>\n'
        return
    yield (
        f"<p>{words.number(count, 'page')} of {len(report.measurement.pages):,}, by cause. In each"
        " list those first that were seen the longest apart.</p>\n"
    )
    for group in groups:
        yield from _group(report, group, link)
    yield "</section>\n"


def _group(report: Report, group: Group, link: Link) -> Iterator[str]:
    title, meaning = words.titled(group.grade, group.name)
    unfolded = " open" if len(group.pages) <= _OPEN else ""
    yield (
        f'<details{unfolded}><summary><span class="swatch {group.grade.value}"></span>'
        f'<span class="count">{words.number(len(group.pages))}</span>'
        f'<span class="title">{safe(title)}</span><span class="meaning">{safe(meaning)}</span>'
        '</summary>\n<ul class="page">\n'
    )
    for verdict in group.pages[:_MOST_PAGES]:
        yield _listed(verdict, link, report.place)
    if (rest := len(group.pages) - _MOST_PAGES) > 0:
        yield (
            f'<li class="more">and {words.number(rest, "more page")};'
            f" <code>{safe(listing(report))}</code> lists every one</li>\n"
        )
    yield "</ul></details>\n"


def _listed(verdict: PageVerdict, link: Link, place: str) -> str:
    seen = words.sights(verdict)
    if apart(verdict):
        seen += f", {words.span(apart(verdict))} apart"
    told = f'<p class="url"><bdi>{safe(verdict.url)}</bdi></p><p class="seen">{safe(seen)}</p>'
    shown = diff(verdict, place) if verdict.grade in (Grade.CHANGED, Grade.EQUIVALENT) else None
    if shown is not None:
        href = safe_link(link(verdict))
        anchor = f'<a href="{escape(href)}">What changed</a> · ' if href else ""
        told += f'<p class="seen">{anchor}<code>{safe(shown)}</code></p>'
    return f"<li>{told}</li>\n"


# -- the plan -------------------------------------------------------------------------------------


def _plan(report: Report) -> Iterator[str]:
    course, measured = report.planned, report.measurement
    if course is None or measured.c is None:
        return
    yield "<section>\n<h2>Plan and outcome</h2>\n"
    if course.expected is None:
        yield f"<p>The plan {safe(course.plan)} knew nothing of the pages: a first crawl.</p>\n"
    else:
        risk = "" if course.eta is None else f", with a readiness to assume risk of {course.eta:g}"
        yield (
            f"<p>The plan {safe(course.plan)}{risk} knew {words.number(course.pages, 'page')}. The"
            f" crawl came out {words.outcome(course.expected, measured.c)}.</p>\n"
        )
        yield _bars([("expected", course.expected, "plan"), ("measured", measured.c, "")])
    rows = list(_by_distance(measured.pages))
    if rows:
        yield (
            "<h3>Coherent, by the time between visit and revisit</h3>\n"
            f"{_bars(rows)}"
            '<p class="none">Each bar is a tenth of the pages that were seen twice.</p>\n'
        )
    yield "</section>\n"


def _by_distance(pages: Sequence[PageVerdict]) -> Iterator[tuple[str, float, str]]:
    seen = sorted((page for page in pages if apart(page) > 0), key=apart)
    if len(seen) < 2 * _PARTS or apart(seen[-1]) < SECOND:
        return
    for place in range(_PARTS):
        part = seen[place * len(seen) // _PARTS : (place + 1) * len(seen) // _PARTS]
        share = sum(page.is_coherent for page in part) / len(part)
        yield f"up to {words.span(apart(part[-1]))}", share, ""


def _bars(rows: Sequence[tuple[str, float, str]]) -> str:
    inside = "".join(
        f'<span>{safe(name)}</span><span class="track"><span class="fill {kind}"'
        f' style="width:{100 * share:.2f}%"></span></span>'
        f'<span class="n">{words.percent(share)}</span>\n'
        for name, share, kind in rows
    )
    return f'<div class="bars">\n{inside}</div>\n'


def _no_link(verdict: PageVerdict) -> str | None:
    return None
