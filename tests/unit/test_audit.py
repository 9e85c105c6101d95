"""Which 304 answers are audited, and what becomes of hosts whose answers were false."""

from __future__ import annotations

from asof.crawl.visit import Audits
from asof.model import Body, Exchange, Target, Timings

HOST = "example.org"


def answer(status: int = 304) -> Exchange:
    return Exchange("", b"", b"", Body(0), status, (), 0, Timings(0, 0, 0), b"")


def target(number: int, place: float = 1.0) -> Target:
    return Target(f"https://{HOST}/{number}", priority=place)


def choose(audits: Audits, each: Target, status: int = 304) -> bool:
    chosen = audits.choose(each, HOST, answer(status), placed=True)
    if chosen:
        assert audits.checks(each)
        assert not audits.choose(each, HOST, answer(status), placed=True)  # an audit is not audited
        audits.done(each)
    return chosen


def test_three_of_each_host_and_then_one_in_ten() -> None:
    audits = Audits(wanted=True)
    chosen = [choose(audits, target(number)) for number in range(2_000)]
    assert chosen[:3] == [True] * 3
    assert 150 < sum(chosen) < 250


def test_the_first_half_of_the_places_is_spared() -> None:
    audits = Audits(wanted=True)
    assert not any(choose(audits, target(n, 1 / 3)) for n in range(100))
    assert audits.choose(target(1, 0.0), HOST, answer(), placed=False)


def test_nothing_but_304_is_audited_and_nothing_if_nobody_wants_it() -> None:
    assert not choose(Audits(wanted=True), target(1), 200)
    assert not choose(Audits(wanted=False), target(1))


def test_of_a_suspect_every_304_is_audited_wherever_it_stands() -> None:
    audits = Audits(wanted=True)
    assert not audits.differed(HOST)
    assert all(choose(audits, target(number, 0.0)) for number in range(20))


def test_after_three_finds_a_host_is_not_asked_by_conditions_any_more() -> None:
    audits = Audits(wanted=True)
    assert [audits.differed(HOST) for _ in range(3)] == [False, False, True]
    assert not audits.differed("example.com")
