"""Reports of crawls that never were, for tests."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace

from asof.clock import SECOND, Instant, parse_stamp
from asof.coherence.quality_report import Report, WholeCoherence
from asof.coherence.verdict import Best, Coverage, HostTrust, Measurement, Mode, PageVerdict, Reason
from asof.frontier.completeness import Share
from asof.model import CoherencePlan, Crawl, CrawlState, Evidence, Grade, Proof

START: Instant = parse_stamp("20260301115500") or 0
SITE = "https://www.example.org"
_PARTS = ("docs", "news", "people", "events", "archive")
_CATEGORIES = ("minor", "minor", "major", "structure", "major", "removed", None)


def address(number: int, rng: random.Random) -> str:
    """A plausible one; now and then long, or with letters from elsewhere."""
    if number == 0:
        return f"{SITE}/"
    part = _PARTS[min(int(rng.expovariate(0.7)), len(_PARTS) - 1)]
    tail = rng.choice(
        ("index.html", "overview", "report.pdf", "2026/spring", "über-uns?lang=de&x=1")
    )
    return f"{SITE}/{part}/{number}/{tail}"


def verdict(
    url: str,
    grade: Grade,
    before: Instant | None,
    after: Instant | None,
    *,
    reason: Reason = Reason.NONE,
    category: str | None = None,
    proof: Proof = Proof.SAME_DIGEST,
    number: int = 0,
) -> PageVerdict:
    """A page as measured, from the moments of its two sights."""
    first = None if before is None else Evidence(Proof.DOWNLOAD, before, f"visit-{number}")
    last = None if after is None else Evidence(proof, after, f"revisit-{number}")
    sights = [at for at in (before, after) if at is not None]
    since, until = min(sights), max(sights)
    if grade is Grade.CHANGED:
        until = since
    return PageVerdict(url, grade, reason, first, last, since, until, category)


def judged(
    number: int, before: Instant, after: Instant, length: int, rng: random.Random
) -> PageVerdict:
    """One page of an inducible crawl: the further apart both sights, the likelier it changed."""
    url = address(number, rng)
    heat = rng.lognormvariate(0, 1.5) * (6 if "/news/" in url else 1)
    survives = math.exp(-heat * (after - before) / (12 * length))
    chance = rng.random()
    proof = Proof.NOT_MODIFIED if rng.random() < 0.35 else Proof.SAME_DIGEST
    if after == before:
        return verdict(url, Grade.PROVEN, before, after, number=number)
    if rng.random() < 0.04:
        return verdict(
            url, Grade.UNKNOWN, before, None, reason=Reason.NOT_SEEN_AGAIN, number=number
        )
    if rng.random() < 0.01:
        return verdict(url, Grade.UNKNOWN, before, None, reason=Reason.FAILED_AGAIN, number=number)
    if chance < survives:
        if rng.random() < 0.06:
            return verdict(
                url, Grade.EQUIVALENT, before, after,
                reason=Reason.OTHER_CONTENT, category="insignificant", number=number,
            )  # fmt: skip
        grade = Grade.CONFIRMED if proof is Proof.NOT_MODIFIED else Grade.PROVEN
        if rng.random() < 0.03:
            grade, proof = Grade.CLAIMED, Proof.DOWNLOAD
        return verdict(url, grade, before, after, proof=proof, number=number)
    category = rng.choice(_CATEGORIES)
    reason = Reason.REMOVED if category == "removed" else Reason.OTHER_CONTENT
    return verdict(
        url, Grade.CHANGED, before, after,
        reason=reason, category=category, proof=Proof.DOWNLOAD, number=number,
    )  # fmt: skip


def pages_of(count: int, turn: Instant, step: int, rng: random.Random) -> Iterator[PageVerdict]:
    """Visits in order up to the turn, revisits in the reverse order from there on (Figure 6)."""
    for number in range(count):
        slot = count - 1 - number
        before = turn - slot * step + rng.randrange(max(step // 4, 1)) * (slot > 0)
        after = turn + slot * step + rng.randrange(max(step // 4, 1)) * (slot > 0)
        yield judged(number, before, max(before, after), count * step, rng)


def made_up(count: int, seed: int = 7, *, expected: float | None = 0.9) -> Report:
    """An inducible crawl of so many pages, with a little of everything."""
    rng = random.Random(seed)
    step = SECOND if count > 60 else 40 * SECOND
    turn = START + 5 * 60 * SECOND + count * step
    pages = tuple(pages_of(count, turn, step, rng))
    coherence_plan = CoherencePlan("inducible", "auto", expected, count * 9 // 10, None, turn)
    crawl = Crawl(
        "20260301115500-ab12", (f"{SITE}/",), START, CrawlState.FINISHED,
        ended=turn + count * step + 3 * SECOND, coherence_plan=coherence_plan,
    )  # fmt: skip
    hosts = (
        HostTrust("www.example.org", 41, 0, 118, 0, 120_000, True, True),
        HostTrust("cdn.example.net", 0, 9, 3, 2, -7_260 * SECOND, False, False),
        HostTrust("img.example.org", 0, 0, 0, 0, None, False, True),
    )
    measured = Measurement(Mode.INDUCIBLE, turn, pages, {each.host: each for each in hosts})
    coherent = sum(page.is_coherent for page in pages)
    return Report(
        (crawl,),
        measured,
        vertical=Share(count + count // 20, count),
        horizontal=Share(7, 3),
        best=Best(turn, turn + step, coherent) if count else None,
        curve=tuple(curve_of(pages, crawl.started, crawl.ended or turn)),
        whole=WholeCoherence("coherent", (turn, turn))
        if coherent == count
        else WholeCoherence("incoherent"),
        place=" -a /srv/archives/example",
        errors=count // 30,
    )


def interrupted(count: int) -> Report:
    """The same, stopped before it turned."""
    report = made_up(count)
    (crawl,) = report.crawls
    coherence_plan = CoherencePlan("inducible", "auto", 0.9, count * 9 // 10)
    crawl = replace(crawl, state=CrawlState.INTERRUPTED, coherence_plan=coherence_plan)
    measured = replace(report.measurement, mode=Mode.OFF)
    return replace(report, crawls=(crawl,), measurement=measured)


def curve_of(pages: tuple[PageVerdict, ...], start: Instant, end: Instant) -> Iterator[Coverage]:
    """Provable shares by counting, expected ones somewhat above them."""
    spans = [(page.since, page.until) for page in pages if page.is_coherent]
    for place in range(301):
        at = start + (end - start) * place // 300
        held = sum(since <= at <= until for since, until in spans[:: max(len(spans) // 500, 1)])
        share = (
            held
            / max(len(spans[:: max(len(spans) // 500, 1)]), 1)
            * len(spans)
            / max(len(pages), 1)
        )
        yield Coverage(at, share, min(1.0, share + 0.25 * (1 - share)))
