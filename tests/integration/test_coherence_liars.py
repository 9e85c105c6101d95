"""Servers that lie, each in its own way and all at once: what is said of them stays true.

The time is virtual, the HTTP is real (tests/support/changing_web.py and lying_web.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from asof.archive import OpenArchive
from asof.clock import DAY, SECOND, Instant
from asof.coherence.quality import categorised
from asof.coherence.verdict import COHERENT, Reason
from asof.model import Capture, Grade
from support.changing_web import ChangingWeb, Crawled, newspaper
from support.lying_web import (
    Lie,
    LyingSite,
    advertisement,
    audits,
    date_off,
    dated,
    no_clock,
    no_dates,
    not_modified,
    one_tag,
    random_tags,
)

HOUR = 3600 * SECOND


LONG_AGO = 1_700_000_000 * SECOND
RANDOM_DATES = dated(lambda question, _: question.at - int(question.chance("date") * 100 * DAY))
WANDERING = date_off(lambda question: int(question.chance("clock") * HOUR), "Date")


@dataclass(frozen=True)
class Case:
    """Lies, and what they must come to.

    `dates` and `validators`: whether these are trusted after four plain crawls and an inducible
    one. `skew`: how far the clock is known to be off, None if it is no use. `unknown`: why nothing
    is known of a page that was taken once, in the first crawl ever. `blind`: no evidence shows the
    lie unless an audit meets it.
    """

    lies: tuple[Lie, ...]
    dates: bool = False
    validators: bool = True
    skew: Instant | None = 0
    unknown: Reason = Reason.UNPROVED_DATES
    blind: bool = False
    etag: str = "strong"


CASES = {
    "dates of long ago": Case((dated(lambda *_: LONG_AGO),)),
    "dates of now": Case((dated(lambda question, _: question.at),)),
    "dates of tomorrow": Case(
        (dated(lambda question, _: question.at + DAY),), unknown=Reason.FUTURE_DATE
    ),
    "dates of 1970": Case((dated(lambda *_: 0),), unknown=Reason.NO_DATE),
    "random dates": Case((RANDOM_DATES,)),
    "dates an hour early": Case((date_off(lambda _: -HOUR, "Last-Modified"),)),
    "dates two hours late": Case((date_off(lambda _: 2 * HOUR, "Last-Modified"),)),
    "no dates": Case((no_dates,), unknown=Reason.NO_DATE),
    "weak tags": Case((), dates=True, etag="weak"),
    "random tags": Case((random_tags,), dates=True),
    "one tag for all": Case((one_tag,), validators=False, blind=True),
    "304 always": Case((not_modified(1.0),), validators=False, blind=True),
    "304 half of the time": Case((not_modified(0.5),), dates=True, validators=False, blind=True),
    "a clock three hours ahead": Case(
        (date_off(lambda _: 3 * HOUR, "Date", "Last-Modified"),), dates=True, skew=3 * HOUR
    ),
    "a clock five hours behind": Case(
        (date_off(lambda _: -5 * HOUR, "Date", "Last-Modified"),), dates=True, skew=-5 * HOUR
    ),
    "a clock for Date only": Case((date_off(lambda _: 3 * HOUR, "Date"),), skew=3 * HOUR),
    "a clock that wanders": Case((WANDERING,), dates=True, skew=None),
    "no clock": Case((no_clock,), dates=True, skew=None),
    # What differs in each answer is dated to before others of it, so that its dates are no good.
    "ads under one tag": Case((advertisement,), validators=False),
    "ads under weak tags": Case((advertisement,), etag="weak"),
    "ads without a tag": Case((advertisement,), etag="none"),
    "ads and nothing else": Case((advertisement, no_dates), etag="none", unknown=Reason.NO_DATE),
    "all at once": Case(
        (advertisement, not_modified(0.3), RANDOM_DATES, WANDERING),
        validators=False,
        skew=None,
        blind=True,
    ),
}


def lying(case: Case, folder: Path, seed: int = 1) -> ChangingWeb:
    spec = newspaper(seed, 30, 1.0, static=0.2)
    honest = replace(spec, last_modified=True, gzip=False, etag=case.etag)  # type: ignore[arg-type]
    return ChangingWeb(LyingSite(honest, *case.lies), folder)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Webs by the name of their case, each crawled four times; made when they are asked for."""

    @cache
    def of(name: str) -> ChangingWeb:
        web = lying(CASES[name], tmp_path_factory.mktemp("trained") / "archive")
        web.train(4, 20.0)
        return web

    return of


@pytest.fixture(scope="module")
def crawled_by(trained: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A web as it was trained, and one more crawl of it in this mode."""

    @cache
    def of(name: str, mode: str) -> tuple[ChangingWeb, Crawled]:
        web = trained(name).branch(tmp_path_factory.mktemp("crawled") / "archive")
        return web, web.crawl(coherence=mode)

    return of


# -- what must hold --------------------------------------------------------------------------------


def contradictions(captures: Iterable[Capture]) -> int:
    """How often the archive itself shows that a 304 or a strong ETag was false.

    Counted without asof's own rules: two downloads under one tag that differ, and a 304 with other
    content in the very next answer of the host, unless the server dates that to about then.
    """
    in_order = sorted(captures, key=lambda capture: capture.at)
    found = 0
    tagged: dict[tuple[str, str], str | None] = {}
    for capture in in_order:
        if capture.status == 200 and capture.etag and capture.etag.startswith('"'):
            digest = tagged.setdefault((capture.url, capture.etag), capture.digest)
            found += digest != capture.digest
    last: dict[str, str | None] = {}
    for before, capture in pairwise([None, *in_order]):  # type: ignore[assignment]
        assert capture is not None
        if capture.status == 200:
            is_audit = before is not None and before.status == 304 and before.url == capture.url
            if is_audit and before.at - 2 * SECOND >= (capture.last_modified or 0):
                found += last.get(capture.url) != capture.digest
            last[capture.url] = capture.digest
    return found


def assert_honest(web: ChangingWeb, crawled: Crawled, *, blind: bool) -> None:
    assert not web.lies(crawled, Grade.PROVEN)
    wrong = web.lies(crawled, Grade.CONFIRMED, Grade.CLAIMED, Grade.EQUIVALENT)
    if wrong:
        assert blind
        assert not contradictions(crawled.gathered.everything)
    for page in crawled.measurement.pages:
        assert (page.reason is Reason.NONE) == (page.grade in COHERENT), page
        if page.reason is Reason.FALSE_VALIDATORS:
            assert not crawled.trust.trusts_validators
        if page.grade is Grade.EQUIVALENT:
            assert page.reason is Reason.WEAK_VALIDATOR
    if not crawled.trust.trusts_dates or crawled.trust.skew is None:
        assert not crawled.having(Grade.CLAIMED)
    if not crawled.trust.trusts_validators:
        assert not crawled.having(Grade.CONFIRMED)


@pytest.mark.parametrize("mode", ["inducible", "measurable"])
@pytest.mark.parametrize("name", CASES)
def test_what_is_said_of_a_liar_is_true(crawled_by: Any, name: str, mode: str) -> None:
    """Nothing proven is wrong; a server's word only where nothing in the archive shows it."""
    web, crawled = crawled_by(name, mode)
    assert_honest(web, crawled, blind=CASES[name].blind)


@pytest.mark.parametrize("name", CASES)
def test_what_the_word_of_a_liar_is_worth_becomes_known(crawled_by: Any, name: str) -> None:
    case = CASES[name]
    _, crawled = crawled_by(name, "inducible")
    trust = crawled.trust
    assert (trust.trusts_dates, trust.trusts_validators) == (case.dates, case.validators)
    assert trust.skew == pytest.approx(case.skew, abs=SECOND)
    if case.validators:
        return
    assert not crawled.having(Grade.CONFIRMED, Grade.EQUIVALENT)
    reasons = {page.reason for page in crawled.having(Grade.UNKNOWN)}
    assert reasons <= {Reason.FALSE_VALIDATORS, Reason.REWRITTEN}


@pytest.mark.parametrize("name", CASES)
def test_a_page_that_was_taken_once_says_why_nothing_is_known_of_it(
    tmp_path: Path, name: str
) -> None:
    web = lying(CASES[name], tmp_path / "archive")
    crawled = web.crawl(coherence="measurable")
    joker, *others = sorted(crawled.measurement.pages, key=lambda page: page.since)
    assert joker.grade is Grade.PROVEN
    assert {page.grade for page in others} == {Grade.UNKNOWN}
    reasons = Counter(page.reason for page in others)
    assert reasons.most_common(1)[0][0] is CASES[name].unknown
    near = {Reason.NO_DATE, Reason.FUTURE_DATE}  # of what has just changed, as each lie has it
    assert set(reasons) <= {CASES[name].unknown, *near}


@pytest.mark.parametrize("trust", ["always", "never"])
def test_who_knows_better_decides_whether_dates_are_trusted(tmp_path: Path, trust: str) -> None:
    """`--trust-dates`: of a first crawl nobody knows what dates are worth, but the user may."""
    web = lying(Case(()), tmp_path / "archive")
    crawled = web.crawl(coherence="measurable", trust_dates=trust)
    assert bool(crawled.having(Grade.CLAIMED)) == (trust == "always")
    assert not web.lies(crawled, Grade.PROVEN, Grade.CLAIMED)


@pytest.mark.parametrize("name", ["ads under one tag", "ads and nothing else"])
def test_pages_that_differ_in_advertisements_only_are_the_same_in_substance(
    trained: Any, tmp_path: Path, name: str
) -> None:
    web = trained(name).branch(tmp_path / "archive")
    crawled = web.crawl(coherence="inducible", conditional=False)
    with OpenArchive.open(web.folder, clock=web.clock) as archive:
        found = categorised(archive, crawled.gathered, crawled.measurement, lambda _: None)
    pages = [page for page in found.pages if page.reason is Reason.OTHER_CONTENT]
    assert {page.grade for page in pages} == {Grade.CHANGED, Grade.EQUIVALENT}
    for page in pages:
        assert page.before is not None
        assert page.after is not None
        same = web.same(page.url, page.before.at, page.after.at)
        assert (page.grade is Grade.EQUIVALENT) == same, page
    assert found.c_in_substance > 2 * found.c  # type: ignore[operator]


# -- audits ----------------------------------------------------------------------------------------


def test_a_server_that_says_304_to_everything_is_caught_by_what_it_has_replaced(
    tmp_path: Path,
) -> None:
    """Audits by lot may miss what has changed (half of these runs); a probe asks about that."""
    for seed in range(1, 17):
        web = lying(CASES["304 always"], tmp_path / str(seed), seed)
        crawled = web.crawl(coherence="inducible")
        assert any(not web.same(each.url, each.since, each.until) for each in audits(crawled))
        assert not crawled.trust.trusts_validators
        assert_honest(web, crawled, blind=True)


def test_without_audits_nothing_shows_that_304_is_always_said(tmp_path: Path) -> None:
    """What audits are for: `--no-audit` believes it all, and half of it is false."""
    web = lying(CASES["304 always"], tmp_path / "archive")
    crawled = web.crawl(coherence="inducible", audit=False)
    assert crawled.trust.trusts_validators
    assert not contradictions(crawled.gathered.everything)
    assert web.lies(crawled, Grade.CONFIRMED)
    assert not web.lies(crawled, Grade.PROVEN)


def test_whole_answers_leave_a_liar_nothing_to_lie_about(tmp_path: Path) -> None:
    """`--no-conditional`: bytes on both sides, and C is what it truly is."""
    web = lying(CASES["304 always"], tmp_path / "archive")
    crawled = web.crawl(coherence="inducible", conditional=False)
    assert not crawled.having(Grade.CONFIRMED, Grade.EQUIVALENT, Grade.UNKNOWN)
    assert not web.lies(crawled, Grade.PROVEN, Grade.CLAIMED)
    for page in crawled.measurement.pages:
        taken = [capture.at for capture in crawled.gathered.counted if capture.url == page.url]
        if page.grade is not Grade.CLAIMED:
            assert page.is_coherent == web.same(page.url, taken[0], taken[-1])
