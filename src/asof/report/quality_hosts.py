"""The part of a report's page that tells what the word of each server is worth."""

from __future__ import annotations

from collections.abc import Iterator

from asof.clock import SECOND
from asof.coherence.quality_report import Report
from asof.coherence.verdict import Standing
from asof.report import quality_words as words
from asof.report.quality_drawing import safe

_MOST_HOSTS = 30


def hosts_section(report: Report) -> Iterator[str]:
    """A table of what was checked of each host, the worst first."""
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
    host = f'<td class="host"><bdi>{safe(standing.host)}</bdi></td>'
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
