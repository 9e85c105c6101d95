"""Coherence from end to end: a site that changes, real HTTP, real crawls; judged by the truth.

Only the time is virtual (tests/support/changing_web.py). All seeds are fixed, so that every figure
here comes out the same each time: what is called noise is noise over seeds, not over runs.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from asof.archive import OpenArchive
from asof.coherence.verdict import COHERENT, MARGIN, Reason
from asof.model import Grade
from asof.testing import SiteSpec, SyntheticSite
from support.changing_web import (
    PLANS,
    ChangingWeb,
    Crawled,
    compared,
    copy_of,
    newspaper,
    scratch,
)

SEEDS = range(1, 13)
PAGES, LOAD, STATIC = 60, 2.0, 0.3
HONEST = {
    "dates and tags": {},
    "tags only": {"last_modified": False},
    "dates only": {"etag": "none"},
    "weak tags": {"etag": "weak", "last_modified": False},
    "nothing": {"etag": "none", "last_modified": False},
    "some of each": {"etag": "mixed"},
    "whole answers only": {"conditional": False},
    "coming and going": {"appearing": 8, "vanishing": 8, "turnover": 0.005},
    "redirects, errors, a sitemap": {
        "redirects": 5,
        "errors": (404, 410, 500),
        "sitemap": "single",
        "images": 2,
        "asset_rate": 500.0,
    },
}


# -- plans -----------------------------------------------------------------------------------------


@cache
def outcomes() -> list[dict[str, tuple[float, float]]]:
    """Of each seed and plan: the measured C and the expected one. The verdicts are judged, too."""
    found = []
    for seed in SEEDS:
        with scratch() as folder:
            spec = newspaper(seed, PAGES, LOAD, static=STATIC)
            crawls = compared(spec, folder, training=5, pause=PAGES / 2)
            for web, crawled in crawls.values():
                assert_coherent_if_unchanged(web, crawled)
            found.append({plan: (crawl.c, crawl.expected) for plan, (_, crawl) in crawls.items()})
    return found


def assert_coherent_if_unchanged(web: ChangingWeb, crawled: Crawled) -> None:
    """Without dates a page is coherent iff it was the same at the visit and at the revisit."""
    assert crawled.reference == crawled.coherence_plan.turn
    assert crawled.trust.trusts_validators
    for page in crawled.measurement.pages:
        taken = [c.at for c in crawled.gathered.counted if c.url == page.url]
        visit = max(at for at in taken if at <= crawled.reference)  # it may have been probed before
        after = (at for at in taken if at > crawled.reference and page.after is not None)
        again = next(after, visit)
        assert page.is_coherent == web.same(page.url, visit, again), page


def spread(values: Sequence[float]) -> float:
    """The standard error of a mean."""
    return statistics.stdev(values) / sqrt(len(values))


@pytest.mark.parametrize("blind", ["lifo", "fifo"])
def test_a_plan_beats_a_blind_order_by_what_it_had_promised(blind: str) -> None:
    """Paired by seed: same site, same history, same moment; only the order differs."""
    gains = [each["auto"][0] - each[blind][0] for each in outcomes()]
    promised = [each["auto"][1] - each[blind][1] for each in outcomes()]
    assert statistics.fmean(promised) > 0.05
    assert statistics.fmean(gains) > 4 * spread(gains)
    off = [gain - promise for gain, promise in zip(gains, promised, strict=True)]
    assert abs(statistics.fmean(off)) < 3 * spread(off)


@pytest.mark.parametrize("plan", PLANS)
def test_the_c_that_a_plan_expects_is_the_c_that_comes(plan: str) -> None:
    off = [measured - expected for measured, expected in (each[plan] for each in outcomes())]
    assert abs(statistics.fmean(off)) < 3 * spread(off)
    assert 0.4 < statistics.fmean(each["lifo"][0] for each in outcomes()) < 0.7


# -- verdicts --------------------------------------------------------------------------------------


def honest(**changed: Any) -> SiteSpec:
    """A small site that changes often, with dates; and what is changed about it."""
    spec = newspaper(5, 30, 1.0, static=0.2)
    return replace(spec, **({"last_modified": True} | changed))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Webs by their kind, each crawled four times; made when they are asked for."""

    @cache
    def of(kind: str) -> ChangingWeb:
        folder = tmp_path_factory.mktemp("trained") / "archive"
        web = ChangingWeb(SyntheticSite(honest(**HONEST[kind])), folder)  # type: ignore[arg-type]
        web.train(4, 20.0)
        return web

    return of


def assert_true(web: ChangingWeb, crawled: Crawled) -> None:
    """Every verdict agrees with what the site truly was."""
    reference = crawled.reference
    for page in crawled.measurement.pages:
        if page.grade in COHERENT or page.grade is Grade.EQUIVALENT:
            assert web.is_true(page, reference), page
        elif page.grade is Grade.CHANGED and page.before is not None:
            assert page.after is not None
            assert not web.same(page.url, page.before.at, page.after.at), page
        elif page.grade is Grade.CHANGED:
            assert page.after is not None
            assert not web.same(page.url, reference, page.after.at), page
        assert (page.reason is Reason.NONE) == (page.grade in COHERENT), page


@pytest.mark.parametrize("mode", ["inducible", "measurable"])
@pytest.mark.parametrize("kind", HONEST)
def test_every_verdict_is_true_of_an_honest_site(
    trained: Any, tmp_path: Path, kind: str, mode: str
) -> None:
    web = trained(kind).branch(tmp_path / "archive")
    crawled = web.crawl(coherence=mode)
    assert_true(web, crawled)
    assert crawled.trust.validators_wrong == crawled.trust.dates_wrong == 0
    if mode == "inducible" or kind != "nothing":
        assert crawled.measurement.c_in_substance > 0.3  # or there was little to be wrong about


@pytest.mark.parametrize("mode", ["inducible", "measurable"])
def test_what_a_reader_gets_was_there_at_the_moment_of_reference(
    trained: Any, tmp_path: Path, mode: str
) -> None:
    """Not by the moments of the evidence, but by the bytes in the archive."""
    web = trained("dates and tags").branch(tmp_path / "archive")
    crawled = web.crawl(coherence=mode, audit=False)
    captures = {capture.record_id: capture for capture in crawled.gathered.everything}
    coherent = crawled.having(*COHERENT)
    with OpenArchive.open(web.folder, clock=web.clock) as archive:
        for page in coherent:
            memento = archive.read(captures[copy_of(page).record_id])
            _, _, content = web.answer(page.url, crawled.reference)
            assert b"".join(memento.payload()) == content, page.url
    assert {page.grade for page in coherent} >= {Grade.PROVEN, Grade.CONFIRMED}


def test_whole_answers_on_both_sides_prove_whatever_did_not_change(
    trained: Any, tmp_path: Path
) -> None:
    web = trained("tags only").branch(tmp_path / "archive")
    crawled = web.crawl(coherence="inducible", conditional=False)
    assert {page.grade for page in crawled.measurement.pages} == {Grade.PROVEN, Grade.CHANGED}
    assert_coherent_if_unchanged(web, crawled)


def test_a_claim_is_made_of_each_page_that_changed_before_the_crawl_began(
    trained: Any, tmp_path: Path
) -> None:
    """Measurable: where dates have proved right, C misses only what is too near to say."""
    web = trained("dates only").branch(tmp_path / "archive")
    crawled = web.crawl(coherence="measurable", conditional=False)
    start = crawled.reference
    for page in crawled.measurement.pages:
        at = max(c.at for c in crawled.gathered.counted if c.url == page.url)
        modified = web.truth.modified(page.url.removeprefix(web.site.origins[0]), at)
        if not start - MARGIN - max(MARGIN, crawled.trust.lag) < modified < start + MARGIN:
            assert page.is_coherent == (modified <= start), page
    assert crawled.having(Grade.CLAIMED)


def test_of_a_first_crawl_nothing_is_said_that_nobody_can_know(tmp_path: Path) -> None:
    """Dates are honest, but nobody has seen yet that they are."""
    web = ChangingWeb(SyntheticSite(honest()), tmp_path / "archive")
    crawled = web.crawl(coherence="measurable")
    joker, *others = sorted(crawled.measurement.pages, key=lambda page: page.since)
    assert joker.grade is Grade.PROVEN
    assert web.is_true(joker, crawled.reference)
    assert {page.grade for page in others} == {Grade.UNKNOWN}
    # A page that has changed in the second of its download has no date: see asof.testing.answer.
    assert {page.reason for page in others} <= {Reason.UNPROVED_DATES, Reason.NO_DATE}
