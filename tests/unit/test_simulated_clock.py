from __future__ import annotations

import asyncio
import threading
import time

import pytest
import uvloop

from asof.clock import DAY, SECOND, Clock
from asof.errors import UsageError
from asof.testing import START, SimulatedClock
from support.raw_server import Run


def test_it_is_a_clock() -> None:
    clock: Clock = SimulatedClock()
    assert START <= clock.now() < START + SECOND


def test_real_time_flows_and_jumps() -> None:
    clock = SimulatedClock()
    before = clock.now()
    time.sleep(0.01)
    assert 10_000 <= clock.now() - before < 5 * SECOND
    assert clock.jump(days=7, hours=1, minutes=1, seconds=1) >= before + 7 * DAY + 3661 * SECOND
    assert clock.monotonic() >= 7 * 86_400


def test_a_fast_clock_sleeps_less_and_never_wakes_early() -> None:
    clock = SimulatedClock(speed=1000)

    async def main() -> tuple[float, float]:
        start, real = clock.monotonic(), time.perf_counter()
        await clock.sleep(20)
        return clock.monotonic() - start, time.perf_counter() - real

    for run in (asyncio.run, uvloop.run):
        slept, real = run(main())
        assert slept >= 20
        assert 0.02 <= real < 5


def test_a_jump_from_another_thread_ends_a_real_sleep() -> None:
    clock = SimulatedClock()

    async def main() -> float:
        threading.Timer(0.05, lambda: clock.jump(days=1)).start()
        await asyncio.gather(clock.sleep(3600), clock.sleep(86_400))
        return clock.monotonic()

    assert asyncio.run(asyncio.wait_for(main(), 20)) >= 86_400


def sleepers(clock: SimulatedClock) -> list[tuple[str, float]]:
    """What three tasks with different habits note down, in the order in which they woke."""
    notes: list[tuple[str, float]] = []

    async def beat(name: str, period: float, times: int) -> None:
        for _ in range(times):
            await clock.sleep(period)
            notes.append((name, clock.monotonic()))

    async def main() -> list[tuple[str, float]]:
        await asyncio.gather(beat("a", 2, 3), beat("b", 3, 2), beat("c", 86_400, 1))
        return notes

    if clock.virtual:
        return clock.run(main())
    return asyncio.run(main())


ORDER = [("a", 2.0), ("b", 3.0), ("a", 4.0), ("b", 6.0), ("a", 6.0), ("c", 86_400.0)]


def test_virtual_sleepers_wake_in_the_order_of_their_deadlines() -> None:
    assert sleepers(SimulatedClock(virtual=True)) == ORDER


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_virtual_time_moves_on_a_loop_that_is_not_its_own(run: Run) -> None:
    clock = SimulatedClock(virtual=True)

    async def main() -> list[float]:
        moments = []
        for _ in range(3):
            await asyncio.gather(clock.sleep(3600), clock.sleep(10))
            moments.append(clock.monotonic())
        return moments

    began = time.perf_counter()
    assert run(main()) == [3600.0, 7200.0, 10_800.0]
    assert time.perf_counter() - began < 10


def test_virtual_time_stands_still_while_there_is_work() -> None:
    clock = SimulatedClock(virtual=True)

    async def main() -> float:
        background = asyncio.create_task(clock.sleep(5))
        for _ in range(10_000):
            await asyncio.sleep(0)
        moment = clock.monotonic()
        await background
        return moment

    assert clock.run(main()) == 0.0
    assert clock.monotonic() == 5.0


def test_thousands_of_virtual_sleeps_take_no_time() -> None:
    clock = SimulatedClock(virtual=True)

    async def host(number: int) -> None:
        for _ in range(10):
            await clock.sleep(1 + number / 1000)

    async def main() -> None:
        await asyncio.gather(*(host(number) for number in range(500)))

    began = time.perf_counter()
    clock.run(main())
    assert clock.monotonic() == pytest.approx(14.99)
    assert time.perf_counter() - began < 10


def test_a_cancelled_sleeper_does_not_move_time() -> None:
    clock = SimulatedClock(virtual=True)

    async def main() -> None:
        task = asyncio.create_task(clock.sleep(50))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0.02)  # a timer of the loop: real, and nobody sleeps virtually

    clock.run(main())
    assert clock.monotonic() == 0.0


def test_nonsense_is_refused() -> None:
    with pytest.raises(UsageError, match="jump back"):
        SimulatedClock().jump(days=-1)
    with pytest.raises(UsageError, match="speed"):
        SimulatedClock(speed=0)
