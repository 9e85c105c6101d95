"""How much one client may ask for: the token bucket, by a clock that stands still until told."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.clock import Clock, SystemClock
from asof.web.turns import BURST_SECONDS, BYTES, Buckets, reader, turn


@dataclass
class Standing(SystemClock):
    at: float = 1000.0

    def monotonic(self) -> float:
        return self.at


def buckets(clock: Clock, rate: int = 2) -> Buckets:
    return Buckets(clock, rate)


def test_a_burst_passes_and_then_as_many_as_the_rate_says() -> None:
    clock = Standing()
    turns = buckets(clock)
    burst = 2 * BURST_SECONDS
    assert [turns.wait("192.0.2.1") for _ in range(burst)] == [0.0] * burst
    assert turns.wait("192.0.2.1") == 0.5
    assert turns.wait("192.0.2.1") == 0.5  # who is refused does not wait longer for it
    clock.at += 0.5
    assert turns.wait("192.0.2.1") == 0.0
    assert turns.wait("192.0.2.1") > 0
    # The others have not noticed.
    assert turns.wait("192.0.2.2") == 0.0
    # A while later all of it is there again, and not more.
    clock.at += 3600
    passed = sum(turns.wait("192.0.2.1") == 0 for _ in range(3 * burst))
    assert passed == burst


def test_what_is_sent_counts_as_well() -> None:
    clock = Standing()
    turns = buckets(clock)
    turns.charge("192.0.2.1", BYTES - 1)
    assert turns.wait("192.0.2.1") == 0.0
    turns.charge("192.0.2.1", 100 * BYTES)
    assert turns.wait("192.0.2.1") == pytest.approx(101 / 2 + 0.5 - BURST_SECONDS)


def test_one_who_may_ask_less_than_once_in_a_burst_may_ask_once() -> None:
    assert turn(0, 1000, gap=50, burst=50) == (1050, 0)
    assert turn(1050, 1000, gap=50, burst=50) == (1050, 50)


@given(
    st.lists(st.integers(0, 5_000_000), min_size=1, max_size=200),
    st.integers(1, 1_000_000),
    st.integers(1, 50),
)
def test_never_more_than_a_burst_and_the_rate(steps: list[int], gap: int, many: int) -> None:
    paid, now, passed = 0, 1_000_000_000, []
    for step in steps:
        now += step
        paid, wait = turn(paid, now, gap, many * gap)
        if wait == 0:
            passed.append(now)
        else:  # and after the wait that is told it passes
            assert turn(paid, now + wait, gap, many * gap)[1] == 0
            assert turn(paid, now + wait - 1, gap, many * gap)[1] > 0
    for number, first in enumerate(passed):
        for count, last in enumerate(passed[number:], 1):
            assert count <= many + (last - first) / gap


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("not an address", "not an address", True),
    ],
)
def test_who_is_taken_for_one_reader(one: str, other: str, same: bool) -> None:
    assert (reader(one) == reader(other)) is same
