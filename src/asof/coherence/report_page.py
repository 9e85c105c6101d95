"""A report as one HTML file that needs nothing else and runs nothing.

Everything from the archive is escaped, and the page forbids itself scripts, pictures and requests:
addresses and hosts were written by strangers. It stays below a few megabytes and can be read
whether the crawl has ten pages or fifty thousand: long lists are folded and cut, with their counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from asof.change.columns import harmless
from asof.clock import SECOND
from asof.coherence import report_words as words
from asof.coherence.report import Group, Report, apart, offenders
from asof.coherence.report_advice import advice
from asof.coherence.report_drawing import (
    BINS,
    SINGLE_ROWS,
    Link,
    curve_figure,
    pages_figure,
    safe_link,
)
from asof.coherence.report_style import STYLE
from asof.coherence.verdict import Grade, PageVerdict, Standing

_MOST_PAGES = 100  # listed of each cause
_MOST_HOSTS = 30
_OPEN = 8  # a cause with so few pages needs no unfolding
_PARTS = 10  # into which pages are put by the distance of their two sights
_COMMAND = re.compile(r"`(.+)`$")
_OPTION = re.compile(
    r"(?<= )(--coherence inducible|--delay S|--no-conditional)"
)  # not to be broken at a hyphen


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
        f"<title>{_safe(title)} - asof</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        '<header class="masthead"><span class="wordmark">as&#8239;of</span></header>\n<main>\n',
        *_opening(report),
        *_advice(report),
        *_curve(report),
        *_picture(report, link),
        *_offenders(report, link),
        *_plan(report),
        *_hosts(report),
        "</main>\n<footer><p>Times are UTC. Nothing on this page runs a script or loads anything."
        " Equal bytes on both sides of a moment are strong evidence, not proof: something else may"
        " have been there in between.</p></footer>\n</body>\n</html>\n",
    ]
    return "".join(parts)


# -- the numbers -----------------------------------------------------------------------------------


def _opening(report: Report) -> Iterator[str]:
    measured = report.measurement
    yield f'<p class="kicker">Quality of {_kind(report)}</p>\n'
    yield f"<h1><bdi>{_safe(report.part or words.name_of(report.crawls))}</bdi></h1>\n"
    yield f'<p class="under">{_safe(_crawled(report))}</p>\n'
    yield (
        f'<div class="verdict"><p class="big">{words.percent(measured.c)}'
        "<small>coherence C</small></p>"
        f'<div><p class="says">{_safe(words.headline(report))}</p>'
        f'<p class="how">{_safe(words.method(measured.mode))}</p></div></div>\n'
    )
    counts, total = measured.counts, len(measured.pages)
    if total:
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
        f"<div><dt>{name}</dt><dd>{value}<small>{_safe(more)}</small></dd></div>\n"
        for name, value, more in _facts(report)
    )
    yield f'<dl class="facts">\n{facts}</dl>\n'


def _facts(report: Report) -> Iterator[tuple[str, str, str]]:
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
    for name, taken, noun in (
        ("Completeness", report.vertical, "URL"),
        ("Hosts reached", report.horizontal, "host"),
    ):
        if taken is not None:
            more = f"{taken.taken:,} taken of {words.number(taken.found, noun)} found"
            yield name, words.percent(taken.share), more


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
    yield '<section>\n<h2>What would help</h2>\n<ul class="advice">\n'
    for sentence in advice(report):
        told = _COMMAND.sub(r"<code>\1</code>", _safe(sentence))
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
        yield f"<div><dt>{name}</dt><dd><small>{_safe(says)}</small></dd></div>\n"
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
            " the stronger its colour, the more of them are known at that time. On the right,"
            " their grades at the moment of reference.</p>\n"
        )
    else:
        yield (
            "<p>One row per page, the first visited on top. A bar is the time over which its"
            " content is known; a page counts if its bar crosses the line.</p>\n"
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
        yield from _group(group, link)
    yield "</section>\n"


def _group(group: Group, link: Link) -> Iterator[str]:
    title, meaning = words.titled(group.grade, group.name)
    unfolded = " open" if len(group.pages) <= _OPEN else ""
    yield (
        f'<details{unfolded}><summary><span class="swatch {group.grade.value}"></span>'
        f'<span class="count">{words.number(len(group.pages))}</span>'
        f'<span class="title">{_safe(title)}</span><span class="meaning">{_safe(meaning)}</span>'
        '</summary>\n<ul class="page">\n'
    )
    for verdict in group.pages[:_MOST_PAGES]:
        yield _listed(verdict, link)
    if (rest := len(group.pages) - _MOST_PAGES) > 0:
        yield (
            f'<li class="more">and {words.number(rest, "more page")};'
            " <code>asof quality --json --all</code> lists every one</li>\n"
        )
    yield "</ul></details>\n"


def _listed(verdict: PageVerdict, link: Link) -> str:
    seen = words.sights(verdict)
    if apart(verdict):
        seen += f", {words.span(apart(verdict))} apart"
    told = f'<p class="url"><bdi>{_safe(verdict.url)}</bdi></p><p class="seen">{_safe(seen)}</p>'
    shown = words.command(verdict) if verdict.grade in (Grade.CHANGED, Grade.EQUIVALENT) else None
    if shown is not None:
        href = safe_link(link(verdict))
        anchor = f'<a href="{escape(href)}">What changed</a> · ' if href else ""
        told += f'<p class="seen">{anchor}<code>{_safe(shown)}</code></p>'
    return f"<li>{told}</li>\n"


# -- the plan and the hosts ------------------------------------------------------------------------


def _plan(report: Report) -> Iterator[str]:
    course, measured = report.planned, report.measurement
    if course is None or measured.c is None:
        return
    yield "<section>\n<h2>Plan and outcome</h2>\n"
    if course.expected is None:
        yield f"<p>The plan {_safe(course.plan)} knew nothing of the pages: a first crawl.</p>\n"
    else:
        risk = "" if course.eta is None else f", with a readiness to assume risk of {course.eta:g}"
        yield (
            f"<p>The plan {_safe(course.plan)}{risk} knew {words.number(course.pages, 'page')}. The"
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
        f'<span>{_safe(name)}</span><span class="track"><span class="fill {kind}"'
        f' style="width:{100 * share:.2f}%"></span></span>'
        f'<span class="n">{words.percent(share)}</span>\n'
        for name, share, kind in rows
    )
    return f'<div class="bars">\n{inside}</div>\n'


def _hosts(report: Report) -> Iterator[str]:
    found = sorted(report.standings.values(), key=_notable)
    if not found:
        return
    yield (
        "<section>\n<h2>What the servers' word is worth</h2>\n<p>Over everything the archive has of"
        " them: how often a Last-Modified or a confirmation (304, strong ETag) could be checked,"
        " and was right.</p>\n"
        '<div class="scroll"><table>\n<thead><tr><th scope="col">Host</th>'
        '<th scope="col">Dates</th>'
        '<th scope="col">Confirmations</th><th scope="col">Clock</th></tr></thead>\n<tbody>\n'
    )
    for standing in found[:_MOST_HOSTS]:
        yield _host_row(standing)
    yield "</tbody></table></div>\n"
    if (rest := len(found) - _MOST_HOSTS) > 0:
        yield f'<p class="none">and {words.number(rest, "more host")}</p>\n'
    yield "</section>\n"


def _notable(standing: Standing) -> tuple[int, int, int, str]:
    checked = standing.dates_right + standing.validators_right
    wrong = standing.validators_wrong, standing.dates_wrong
    return -wrong[0], -wrong[1], -checked, standing.host


def _host_row(standing: Standing) -> str:
    cells = (
        (standing.trusts_dates, standing.dates_right, standing.dates_wrong),
        (standing.trusts_validators, standing.validators_right, standing.validators_wrong),
    )
    told = "".join(
        f'<td class="{"bad" if wrong and not trusted else "fine"}">'
        f"{'trusted' if trusted else 'not trusted'}, {_checked(right, wrong)}</td>"
        for trusted, right, wrong in cells
    )
    host = f'<td class="host"><bdi>{_safe(standing.host)}</bdi></td>'
    return f"<tr>{host}{told}<td>{_skew(standing)}</td></tr>\n"


def _checked(right: int, wrong: int) -> str:
    if not right + wrong:
        return "never checked"
    return f"{right:,} right, {wrong:,} wrong" if wrong else f"{right:,} right"


def _skew(standing: Standing) -> str:
    if standing.skew is None:
        return "tells no time"
    if abs(standing.skew) < 2 * SECOND:
        return "right"
    return f"{words.span(abs(standing.skew))} {'ahead' if standing.skew > 0 else 'behind'}"


def _no_link(verdict: PageVerdict) -> str | None:
    return None


def _safe(text: str) -> str:
    return escape(harmless(text.replace("\n", " ")))
