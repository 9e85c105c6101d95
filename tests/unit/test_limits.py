"""How much a crawl may take: counted as it is taken, and what ends the crawl is named."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.config import Config
from asof.crawl.limits import DISK_RESERVE, CrawlLimits
from asof.testing import SimulatedClock

GB = 1_000_000_000


class Usage(NamedTuple):
    """What shutil.disk_usage says."""

    total: int
    used: int
    free: int


class Disk:
    """A disk with as much room as a test wants; counts how often it was looked at."""

    def __init__(self, total: int, free: int) -> None:
        self.total = total
        self.free = free
        self.looks = 0

    def usage(self, path: Path) -> Usage:
        self.looks += 1
        return Usage(self.total, self.total - self.free, self.free)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    made = Disk(100 * GB, 50 * GB)
    monkeypatch.setattr(shutil, "disk_usage", made.usage)
    return made


def limits(clock: SimulatedClock, per_host: int | None = None, **settings: Any) -> CrawlLimits:
    config = Config().updated(settings, source="a test")
    return CrawlLimits(config, clock, Path("/nowhere"), per_host)


# -- Pages ----------------------------------------------------------------------------------------


def test_without_limits_nothing_is_ever_reached(clock: SimulatedClock, disk: Disk) -> None:
    free = limits(clock)
    for _ in range(1_000):
        free.take("a.example")
        free.received("a.example", GB)
    clock.jump(days=1_000)
    assert not free.full
    assert free.refusal("a.example") is None
    assert free.time_left == float("inf")
    assert free.reached() == ""


def test_pages_are_full_when_so_many_were_taken(clock: SimulatedClock) -> None:
    two = limits(clock, max_pages=2)
    seen = [two.full]
    for change in (two.take, two.take, two.give_back):
        change("a.example")
        seen.append(two.full)
    assert seen == [False, False, True, False]


def test_pages_of_a_host_are_refused_by_the_host_alone(clock: SimulatedClock) -> None:
    """The others go on, and so does the crawl."""
    one = limits(clock, per_host=1)
    one.take("a.example")
    assert one.refusal("a.example") == "more than 1 pages of one host"
    assert one.refusal("b.example") is None
    assert not one.full
    one.give_back("a.example")
    assert one.refusal("a.example") is None


def test_a_resumed_crawl_goes_on_counting(clock: SimulatedClock) -> None:
    """Pages and bytes of earlier runs count, in all and by host; the time is that of this run."""
    resumed = limits(clock, per_host=3, max_pages=5, time_limit=60, max_bytes_per_host=100)
    clock.jump(seconds=50)
    resumed.resume({"a.example": 3, "b.example": 1}, {"b.example": 70, "c.example": 100})
    assert resumed.refusal("a.example") == "more than 3 pages of one host"
    assert resumed.refusal("b.example") is None
    assert resumed.refusal("c.example") == "more than 100 bytes of one host"
    before = resumed.full
    resumed.take("b.example")
    resumed.received("b.example", 30)
    assert (before, resumed.full) == (False, True)
    assert resumed.refusal("b.example") is not None
    assert (resumed.bytes, resumed.elapsed, resumed.time_left) == (200, 0.0, 60.0)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abc"))))
def test_what_is_given_back_was_never_taken(steps: list[tuple[bool, str]]) -> None:
    """Whatever the order, the limit is full exactly when as many are out as it allows."""
    some = limits(SimulatedClock(virtual=True), per_host=2, max_pages=3)
    out = {"a": 0, "b": 0, "c": 0}
    for take, host in steps:
        if take:
            some.take(host)
            out[host] += 1
        elif out[host]:
            some.give_back(host)
            out[host] -= 1
        assert some.full == (sum(out.values()) >= 3)
        assert {h for h in out if some.refusal(h)} == {h for h, n in out.items() if n >= 2}


# -- Bytes ----------------------------------------------------------------------------------------


def test_bytes_in_all_end_the_crawl(clock: SimulatedClock, disk: Disk) -> None:
    some = limits(clock, max_bytes=1_000)
    some.received("a.example", 600)
    assert some.reached() == ""
    some.received("b.example", 400)
    assert (some.bytes, some.reached()) == (1_000, "max-bytes")


def test_bytes_of_a_host_are_refused_by_the_host_alone(clock: SimulatedClock, disk: Disk) -> None:
    some = limits(clock, max_bytes_per_host=1_000)
    some.received("a.example", 1_000)
    some.received("b.example", 999)
    assert some.refusal("a.example") == "more than 1000 bytes of one host"
    assert some.refusal("b.example") is None
    assert some.reached() == ""


# -- Time -----------------------------------------------------------------------------------------


def test_time_ends_the_crawl_at_its_limit(clock: SimulatedClock, disk: Disk) -> None:
    short = limits(clock, time_limit=10)
    clock.jump(seconds=9.5)
    assert (short.elapsed, short.time_left, short.reached()) == (9.5, 0.5, "")
    clock.jump(seconds=0.5)
    assert (short.time_left, short.reached()) == (0.0, "time-limit")
    clock.jump(seconds=5)
    assert (short.time_left, short.reached()) == (-5.0, "time-limit")


# -- Disk -----------------------------------------------------------------------------------------


def test_the_reserve_of_the_disk_ends_the_crawl(clock: SimulatedClock, disk: Disk) -> None:
    some = limits(clock, disk_reserve=GB)
    disk.free = GB
    assert some.reached() == ""
    clock.jump(seconds=1)
    disk.free = GB - 1
    assert some.reached() == DISK_RESERVE


def test_no_reserve_is_no_limit(clock: SimulatedClock, disk: Disk) -> None:
    disk.free = 0
    assert limits(clock, disk_reserve=0).reached() == ""


def test_of_a_small_disk_a_twentieth_is_reserved_at_most(clock: SimulatedClock, disk: Disk) -> None:
    """Who gives us 5 MB means them to be used, though the reserve is 200 MB."""
    some = limits(clock)
    disk.total, disk.free = 5_000_000, 250_000
    assert some.reached() == ""
    clock.jump(seconds=1)
    disk.free = 249_999
    assert some.reached() == DISK_RESERVE


def test_the_disk_is_looked_at_once_a_second(clock: SimulatedClock, disk: Disk) -> None:
    """It is asked about after every page."""
    some = limits(clock)
    for _ in range(1_000):
        some.reached()
    assert disk.looks == 1
    for _ in range(10):
        clock.jump(seconds=0.5)
        some.reached()
    assert disk.looks == 6


def test_the_disk_is_that_of_the_archive(
    clock: SimulatedClock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Path] = []

    def usage(path: Path) -> Usage:
        asked.append(path)
        return Usage(GB, 0, GB)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    CrawlLimits(Config(), clock, tmp_path, None).reached()
    assert asked == [tmp_path]
