"""What would make the next crawl better, in concrete sentences; the most telling first.

Each rule looks at one cause of lost coherence and says what it cost and what to do about it. None
speaks unless its cause is there; a report without faults gets one sentence that says so. Of a crawl
that is not at its end only that is advised which cannot mend itself when it goes on.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

from asof.change.categories import Category
from asof.coherence.quality_report import Report, apart, cause
from asof.coherence.verdict import Mode, PageVerdict, Reason
from asof.model import CrawlState, Grade
from asof.report.quality_commands import crawl, crawl_of_part, resume
from asof.report.quality_words import points, skew, told
from asof.report.words import ARE, HOUR, WERE, moment, number, percent, span

# What another sight of the page can still turn into a proof, as long as it has not changed since.
_WAITING = frozenset((Reason.NOT_SEEN_AGAIN, Reason.FAILED_AGAIN))
_MOST = 3  # of the same kind of advice; the lists in the report have the rest
_DATES = frozenset((
    Reason.UNTRUSTED_DATES, Reason.UNPROVED_DATES, Reason.NO_DATE, Reason.FUTURE_DATE,
    Reason.CLOCK_OFF,
))  # fmt: skip
# Fewer pages than these say nothing about a host: by chance a single page can do anything.
_FEW = 5
# A plan is a forecast: it missed only if the gap is more than a few points and more than the chance
# of twice the standard error of a share leaves.
_GAP = 0.05
# Long slots cost coherence if the shorter half of them is better by so much.
_TELLING = 0.10


@dataclass(frozen=True, slots=True)
class Gain:
    """Pages under one address that were seen on one side only, and what asking again may bring.

    `expected` counts the pages that are likely to be as they were: as many of them as of the
    pages beside them that were seen on both sides.
    """

    prefix: str
    pages: int
    expected: float


def advice(report: Report) -> tuple[str, ...]:
    """Sentences for whoever wants a better crawl, if any. A command stands last, in backticks."""
    if goes_on := tuple(_unfinished(report)):
        return goes_on + tuple(sentence for rule in _MEANWHILE for sentence in rule(report))
    total = len(report.measurement.pages)
    if not total:
        return (told("nothing", crawl(report)),)
    if found := tuple(sentence for rule in _RULES for sentence in rule(report)):
        return found
    if report.coherent == total:
        return (told("perfect"),)
    # What is left where no rule speaks: here and there a page changed.
    changed = report.measurement.counts[Grade.CHANGED]
    return (told("changed", crawl(report), pages=number(changed, "page")),) if changed else ()


def gains(pages: tuple[PageVerdict, ...]) -> tuple[Gain, ...]:
    """Where asking again would gain most, by address; the largest gain first.

    Every page weighs the same in C, so that what counts is how many pages wait, and how likely
    they are to have stayed as they were. The latter is taken from their neighbours.
    """
    waiting: Counter[str] = Counter()
    decided: Counter[str] = Counter()
    stayed: Counter[str] = Counter()
    for page in pages:
        prefix = _prefix(page.url)
        if page.grade is Grade.UNKNOWN and page.reason in _WAITING and page.before is not None:
            waiting[prefix] += 1
        elif page.grade is not Grade.UNKNOWN:
            decided[prefix] += 1
            stayed[prefix] += page.is_coherent
    overall = (sum(stayed.values()) + 1) / (sum(decided.values()) + 2)
    found = [
        # The whole site counts as two more neighbours: few of them must not decide alone.
        Gain(prefix, count, count * (stayed[prefix] + 2 * overall) / (decided[prefix] + 2))
        for prefix, count in waiting.items()
    ]
    return tuple(sorted(found, key=lambda gain: (-gain.expected, gain.prefix)))


# -- how the crawl was made ------------------------------------------------------------------------


def _unfinished(report: Report) -> Iterator[str]:
    """A crawl that can go on must do so first: another one would only begin from the start."""
    if not report.crawls or report.crawls[-1].imported:
        return
    plan, state = report.coherence_plan, report.crawls[-1].state
    what, now, then, end = "its revisits", "are", "were", "done"
    if plan is None or plan.mode != Mode.INDUCIBLE:
        what, now, then, end = "it", "is", "was", "complete"
    elif plan.turn is None:
        what, now, then, end = "its turning point", "is", "was", "reached"
    which = "crawl" if len(report.crawls) == 1 else "newest crawl"
    if state is CrawlState.RUNNING:
        yield told("runs", which=which, awaited=f"{what} {now} {end}")
    elif state is CrawlState.INTERRUPTED:
        yield told("interrupted", resume(report), which=which, awaited=f"{what} {then} {end}")


def _sought(report: Report) -> Iterator[str]:
    pages, plan = report.measurement.pages, report.coherence_plan
    if plan is None and report.coherent < len(pages):
        once = [page for page in pages if page.before is None or page.after is None]
        most = sum(page.since == page.until for page in once) > len(pages) / 2
        yield told("seen-once" if most else "not-sought", crawl(report))
    elif plan is not None and plan.mode == Mode.INDUCIBLE and plan.turn is None:
        yield told("never-turned", crawl(report))


def _plan(report: Report) -> Iterator[str]:
    plan, measured = report.planned, report.measurement.c
    if plan is None or plan.expected is None or measured is None:
        return
    total = len(report.measurement.pages)
    gap = plan.expected - measured
    noise = 2 * sqrt(max(measured * (1 - measured), 1 / total) / total)
    shares = {"expected": percent(plan.expected), "measured": percent(measured)}
    pages = report.measurement.pages
    changed = sum(page.grade is Grade.CHANGED for page in pages)
    unsure = sum(
        page.grade is Grade.UNKNOWN or page.reason is Reason.WEAK_VALIDATOR for page in pages
    )
    if gap > max(_GAP, noise) and changed / total - (1 - plan.expected) > gap / 2:
        yield told("plan-faster", crawl(report), plan=plan.plan, **shares)
    elif gap > max(_GAP, noise) and unsure / total > gap / 2:  # else noise, which is told anyway
        few = number(unsure, "page")
        yield told("plan-unknown", plan=plan.plan, pages=few, **shares)
    elif -gap > max(_GAP, noise):
        yield told("plan-slower", plan=plan.plan, **shares)
    if 0 < plan.pages < total / 2:
        yield told("plan-partial", known=number(plan.pages), pages=number(total, "page"))


def _slots(report: Report) -> Iterator[str]:
    seen = [page for page in report.measurement.pages if apart(page) > 0]
    if len(seen) < 4 * _FEW or report.coherence_plan is None:
        return
    seen.sort(key=apart)
    half = len(seen) // 2
    halves = seen[:half], seen[-half:]
    near, far = (sum(page.is_coherent for page in part) / half for part in halves)
    if near - far < _TELLING:
        return
    yield told(
        "slots", crawl(report, "--delay S"),
        near=span(apart(seen[half])), near_share=percent(near),
        far=span(apart(seen[-1])), far_share=percent(far),
    )  # fmt: skip


# -- what the pages tell ---------------------------------------------------------------------------


def _revisits(report: Report) -> Iterator[str]:
    found = gains(report.measurement.pages)
    if not found:
        return
    waiting, expected = sum(gain.pages for gain in found), sum(gain.expected for gain in found)
    yield told(
        "revisits", crawl_of_part(report, found[0].prefix) or crawl(report),
        pages=number(waiting, "page", WERE),
        expected=f"{round(expected):,}",
        gained=points(expected / len(report.measurement.pages)),
        places=_listed([f"{gain.prefix} ({number(gain.pages)})" for gain in found]),
    )  # fmt: skip


def _changing(report: Report) -> Iterator[str]:
    """Parts of the site that change too fast for a crawl of all of it."""
    changed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for page in report.measurement.pages:
        if page.grade is not Grade.UNKNOWN:
            prefix = _prefix(page.url)
            total[prefix] += 1
            changed[prefix] += page.grade is Grade.CHANGED
    if len(total) < 2:
        return
    hot = [key for key, count in changed.items() if count >= _FEW and count >= total[key] / 2]
    hot.sort(key=lambda key: (-changed[key], key))
    if hot:
        places = [f"{key} ({number(changed[key])} of {number(total[key])})" for key in hot]
        shown = next(filter(None, (crawl_of_part(report, key) for key in hot)), None)
        yield told("changing", shown, places=_listed(places))


def _noise(report: Report) -> Iterator[str]:
    measured = report.measurement
    noisy = [page for page in measured.pages if cause(page) == Category.INSIGNIFICANT]
    noisy = [page for page in noisy if not page.is_coherent]
    if not noisy:
        return
    most, count = Counter(_host(page.url) for page in noisy).most_common(1)[0]
    seen = sum(_host(page.url) == most and apart(page) > 0 for page in measured.pages)
    pages = number(len(noisy), "page", ("differs", "differ"))
    everywhere = count >= _FEW and count >= 0.9 * seen
    name = "noise-everywhere" if everywhere else "noise"
    yield told(name, pages=pages, share=percent(measured.c_in_substance), host=most)


def _failures(report: Report) -> Iterator[str]:
    failed = [p for p in report.measurement.pages if p.reason is Reason.FAILED_AGAIN]
    for host, count in Counter(_host(page.url) for page in failed).most_common(_MOST):
        if count >= _FEW:
            yield told("failures", crawl(report, "--delay S"), host=host,
                       times=number(count, "time"))  # fmt: skip


# -- what the servers tell -------------------------------------------------------------------------


def _liars(report: Report) -> Iterator[str]:
    caught = [trust for trust in report.host_trust.values() if not trust.trusts_validators]
    caught.sort(key=lambda trust: (-trust.validators_wrong, trust.host))
    for trust in caught[:_MOST]:
        false = number(trust.validators_wrong, "false confirmation")
        yield told("caught", host=trust.host, confirmations=false)
    if len(caught) > _MOST:
        yield told("caught-too", hosts=number(len(caught) - _MOST, "other host"))


def _dates(report: Report) -> Iterator[str]:
    measured = report.measurement
    reasons = Counter(page.reason for page in measured.pages if not page.is_coherent)
    undated = sum(reasons[reason] for reason in _DATES)
    if measured.mode is Mode.MEASURABLE and undated:
        yield told("dates", crawl(report), pages=number(undated, "page"))


def _clocks(report: Report) -> Iterator[str]:
    for trust in sorted(report.host_trust.values(), key=lambda each: each.host):
        if trust.skew is not None and abs(trust.skew) >= HOUR:
            yield told("clock", host=trust.host, skew=skew(trust))


def _disbelieved(report: Report) -> Iterator[str]:
    """Pages seen before the moment, and after it only by a server's word that is not believed."""
    seen = (page for page in report.measurement.pages if page.before is not None)
    unknown = (page for page in seen if page.grade is Grade.UNKNOWN)
    reasons = Reason.UNTRUSTED_DATES, Reason.FALSE_VALIDATORS
    doubted = [page for page in unknown if page.reason in reasons]
    if doubted and report.measurement.mode is not Mode.MEASURABLE:
        pages = number(len(doubted), "page")
        yield told("disbelieved", crawl(report, "--no-conditional"), pages=pages)


def _elsewhere(report: Report) -> Iterator[str]:
    best, total = report.best, len(report.measurement.pages)
    if best is None or best.since <= report.measurement.reference <= best.until:
        return
    more = min(best.count, total) - report.coherent
    if more >= max(1, total // 100):
        pages = number(more, "more page", ARE)
        yield told("elsewhere", pages=pages, at=moment(best.since))


def _missing(report: Report) -> Iterator[str]:
    vertical = report.vertical
    if vertical is not None and vertical.missing:
        yield told("missing", urls=number(vertical.missing, "URL"))


_RULES = (
    _sought, _plan, _revisits, _slots, _changing, _noise, _failures,
    _liars, _disbelieved, _dates, _clocks, _elsewhere, _missing,
)  # fmt: skip
_MEANWHILE = (_liars, _clocks)


def _listed(places: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = f", and {number(len(places) - _MOST)} more" if len(places) > _MOST else ""
    return ", ".join(places[:_MOST]) + more


def _host(url: str) -> str:
    # Not urlsplit: addresses from foreign archives may be of a kind that it raises on.
    return url.partition("://")[2].partition("/")[0].partition("?")[0]


def _prefix(url: str) -> str:
    """The host and the first folder: parts of a site that are kept by the same people."""
    scheme, _, rest = url.partition("://")
    host, *folders = rest.partition("?")[0].split("/")[:3]
    return f"{scheme}://{host}/" + (f"{folders[0]}/" if len(folders) > 1 else "")
