"""How a quality report says things, on the terminal and on its page."""

import tomllib
from importlib.resources import files
from typing import Any

from asof.clock import SECOND
from asof.coherence.quality_report import Report, cause
from asof.coherence.verdict import HostTrust, Mode, PageVerdict
from asof.model import Crawl, Grade, Proof
from asof.report.words import ARE, WERE, moment, number, percent, span, stretch

_TOLD: dict[str, Any] = tomllib.loads(
    files("asof.report").joinpath("quality_words.toml").read_text(encoding="utf-8")
)
GRADES = {Grade(name): str(told) for name, told in _TOLD["grades"].items()}
PROOFS = {Proof(name): str(told) for name, told in _TOLD["proofs"].items()}
CAUSES: dict[tuple[Grade, str], tuple[str, str]] = {
    (Grade(grade), name): (title, meaning)
    for grade, causes in _TOLD["causes"].items()
    for name, (title, meaning) in causes.items()
}


def titled(grade: Grade, name: str) -> tuple[str, str]:
    return CAUSES.get((grade, name), (name.replace("-", " ").capitalize() or "Unknown", ""))


def told(name: str, command: str | None = None, **values: str) -> str:
    """A sentence of advice; its command, if any, stands last in backticks."""
    return str(_TOLD["advice"][name]).format_map(values) + (f": `{command}`" if command else ".")


def points(share: float) -> str:
    """A difference of shares, in points of C."""
    return f"{share * 100:.1f} points"


def outcome(expected: float, measured: float) -> str:
    """How a forecast turned out: `1.2 points better than expected`."""
    gap = measured - expected
    if abs(gap) < 0.0005:
        return "as expected"
    return f"{points(abs(gap))} {'better' if gap > 0 else 'worse'} than expected"


def verdict(page: PageVerdict) -> str:
    """What is known of a page, or why it is not coherent."""
    if page.is_coherent:
        return GRADES[page.grade]
    title, meaning = titled(page.grade, cause(page))
    return f"{title.lower()}. {meaning}"


def sights(page: PageVerdict) -> str:
    """When a page was seen on either side of the moment, and how."""
    seen = [
        f"{side} {moment(evidence.at)} ({PROOFS[evidence.proof]})"
        for side, evidence in (("before:", page.before), ("after:", page.after))
        if evidence is not None
    ]
    return ", ".join(seen)


def name_of(crawls: tuple[Crawl, ...]) -> str:
    seeds = list(dict.fromkeys(seed for crawl in crawls for seed in crawl.seeds))
    if not seeds:
        return "This archive"
    return seeds[0] if len(seeds) == 1 else f"{seeds[0]} and {number(len(seeds) - 1, 'more seed')}"


def reference_name(report: Report) -> str:
    mode, best = report.measurement.mode, report.best
    if mode is Mode.INDUCIBLE:
        return "the turning point between visits and revisits"
    if mode is Mode.MEASURABLE:
        return "the start of the crawl"
    if (
        not report.chosen
        and best is not None
        and best.since <= report.measurement.reference <= best.until
    ):
        return "the moment at which most pages hold together"
    return "a moment that was chosen afterwards"


def headline(report: Report) -> str:
    counts, total = report.measurement.counts, len(report.measurement.pages)
    if not report.is_measured:
        return (
            "Not measured yet: the visits are not finished, and C is told by looking again after"
            f" them. {number(total, 'page', WERE)} visited so far."
        )
    at = f"{moment(report.measurement.reference)} UTC"
    if not total:
        return f"No page was captured that could be measured as of {at}."
    if report.coherent == total:
        if total == 1:
            return f"The one page is known to stand in the archive as it was on {at}."
        return (
            f"All {number(total, 'page')} are known to stand in the archive as they were on {at}."
        )
    known = number(report.coherent, verbs=ARE)
    says = f"Of {number(total, 'page')}, {known} known to stand in the archive as on {at}."
    differ = "differs" if counts[Grade.EQUIVALENT] == 1 else "differ"
    rest = {
        Grade.CHANGED: "{} changed around that moment",
        Grade.EQUIVALENT: f"{{}} {differ} at most in noise",
        Grade.UNKNOWN: "of {} it is not known",
    }
    told = [text.format(number(counts[grade])) for grade, text in rest.items() if counts[grade]]
    listed = told[0] if len(told) == 1 else ", ".join(told[:-1]) + " and " + told[-1]
    return f"{says} {listed[0].upper()}{listed[1:]}."


def method(mode: Mode) -> str:
    return str(_TOLD["methods"][mode.value])


def whole_sentence(report: Report) -> str:
    """The answer of definition 3.1, in plain words.

    It is stricter than C: by what these crawls have seen or had confirmed, and by no dates.
    """
    whole = report.whole
    if whole.answer == "coherent" and whole.stretch is not None:
        return f"Yes: all pages are known to hold together, {stretch(*whole.stretch)} UTC."
    if whole.answer == "coherent":
        return "Yes: all pages are known to hold together."
    if whole.answer == "incoherent":
        return "No: there is no moment at which all stored pages can have been there together."
    told = "Not known: what was seen proves no moment for all pages, and rules none out."
    if report.measurement.pages and report.coherent == len(report.measurement.pages):
        told += " C counts more: dates that are trusted, and what other crawls have seen."
    return told


def observable_sentence(report: Report) -> str:
    """The answer of definition 3.2, in plain words."""
    trusted = [trust.trusts_dates for trust in report.host_trust.values()]
    if report.observable is not None:
        by = ", by the servers' own dates" if any(trusted) else ""
        return f"Yes{by}: {stretch(*report.observable)} UTC."
    if report.is_observable is False:
        return "No: no moment lies between the Last-Modified and the download of every page."
    some = f"{number(trusted.count(False))} of {number(len(trusted), 'host')}"
    some = some if any(trusted) else "these hosts" if len(trusted) > 1 else "this host"
    return f"Not known: the dates of {some} are not trusted (yet)."


def returns_sentence(report: Report) -> str:
    """What equal bytes on both sides cannot show, and how often it was seen, in plain words."""
    returns, total = report.returns, len(report.measurement.pages)
    if not returns.seen_thrice:
        return "Not known: no page was seen three times, which it takes to see one change back."
    told = "Not known: no page was seen to change twice"
    if returns.changed_again:
        times = number(returns.changed_again, "further change")
        told = f"{number(returns.returned)} of {times} of a page went back to an earlier content"
    return (
        f"{told}; {number(returns.seen_thrice)} of {number(total, 'page')} were seen three times."
    )


def errors_sentence(report: Report) -> str | None:
    """How many of the URLs that were taken are no pages, in plain words; None if none is known."""
    if not report.errors:
        return None
    known = report.vertical is not None and report.vertical.taken
    taken = f" of {number(known)}" if known else " of the"
    return (
        f"{number(report.errors)}{taken} taken URLs answered with an error (404 and the like);"
        " C does not count them"
    )


def best_sentence(report: Report) -> str:
    """When the most pages hold together, in plain words."""
    best, total = report.best, len(report.measurement.pages)
    if best is None or not total:
        return "Nothing is proven at any moment."
    share = percent(min(best.count / total, 1))
    told = f"{number(best.count)} of {number(total, 'page')}, {share}"
    holds = best.since <= report.measurement.reference <= best.until
    if holds and best.count > report.coherent:
        told += ", if every confirmation is believed"
    return f"{stretch(best.since, best.until)} UTC ({told})"


def checked(right: int, wrong: int) -> str:
    """How often the word of a server could be checked, and was right."""
    if not right + wrong:
        return "never checked"
    return f"{right:,} right, {wrong:,} wrong" if wrong else f"{right:,} right"


def skew(trust: HostTrust) -> str:
    if trust.skew is None:
        return "tells no time"
    if abs(trust.skew) < 2 * SECOND:
        return "right"
    return f"{span(abs(trust.skew))} {'ahead' if trust.skew > 0 else 'behind'}"
