"""A clock that tests can move: real time at any speed, or virtual time that never waits."""

import asyncio
import heapq
import itertools
import math
import selectors
import threading
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from asof.clock import DAY, SECOND, Instant
from asof.errors import UsageError

# 2026-01-01T00:00:00Z: where synthetic time starts unless told otherwise.
START: Instant = 1_767_225_600 * SECOND
_PATIENCE = 0.002  # real seconds without a sign of life

T = TypeVar("T")
_Wake = asyncio.Future[None]


class SimulatedClock:
    """A `Clock` for tests, demos and benchmarks, safe to share between threads.

    Two modes. **Running** (the default): time flows `speed` times as fast as the machine's and
    can `jump` ahead; `sleep` waits for real, divided by the speed. **Virtual**: time stands still
    until it is moved by `jump`, or until everybody waits.

    When does everybody wait? Under `clock.run(main())` that is known exactly: the loop has no
    callback to run and no socket is ready, so time moves straight to the earliest sleeper. On
    any other loop (uvloop, or one that runs already) the clock can only guess: nobody has read
    the clock or gone to sleep for 2 real milliseconds.

    Limits of virtual time. Work that the loop cannot see (threads, subprocesses, a peer in
    another process) does not hold time still: it looks as if that work had taken long. `run`'s
    `grace` is the real seconds that such work gets before time moves on. Time never runs
    backwards, sleepers wake in the order of their deadlines, and none wakes early.

    >>> clock = SimulatedClock(virtual=True)
    >>> async def nap() -> float:
    ...     await clock.sleep(3600)
    ...     return clock.monotonic()
    >>> clock.run(nap())
    3600.0
    """

    def __init__(
        self, start: Instant = START, *, speed: float = 1.0, virtual: bool = False
    ) -> None:
        if not 0 < speed < math.inf:
            what = f"A clock cannot run at speed {speed}."
            raise UsageError(what, hint="Give a number above zero.")
        self.start = start
        self.virtual = virtual
        self.speed = speed
        self._now = start
        self._origin = time.monotonic_ns()
        self._lock = threading.Lock()
        self._napping: set[_Wake] = set()  # running mode
        self._sleepers: list[tuple[Instant, int, _Wake]] = []  # virtual mode: a heap
        self._order = itertools.count()
        self._touched = 0
        self._exact: asyncio.AbstractEventLoop | None = None
        self._watched: asyncio.AbstractEventLoop | None = None

    def now(self) -> Instant:
        self._touched += 1
        return self._read()

    def monotonic(self) -> float:
        """Simulated seconds since the start."""
        self._touched += 1
        return (self._read() - self.start) / SECOND

    async def sleep(self, seconds: float) -> None:
        """Let that many simulated seconds pass; a jump over the deadline ends it."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        # Rounded up: whoever sleeps until a moment must not wake before it.
        deadline = self._read() + math.ceil(seconds * SECOND)
        if self.virtual:
            await self._sleep_virtually(deadline)
        else:
            await self._sleep_really(deadline)

    def jump(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> Instant:
        """Move ahead at once, from any thread; sleepers that are jumped over wake up late."""
        ahead = round(days * DAY + (hours * 3600 + minutes * 60 + seconds) * SECOND)
        if ahead < 0:
            raise UsageError("A clock cannot jump back.", hint="Jump by a positive amount.")
        with self._lock:
            self._touched += 1
            self._now += ahead
            for wake in self._napping:
                _finish(wake)
        self._wake_due()
        return self._read()

    def run(self, main: Coroutine[Any, Any, T], *, grace: float = 0.0) -> T:
        """Like `asyncio.run`, on a loop that tells this clock exactly when all tasks wait."""
        if not self.virtual:
            return asyncio.run(main)
        with asyncio.Runner(loop_factory=lambda: self._exact_loop(grace)) as runner:
            try:
                return runner.run(main)
            finally:
                self._exact = None

    def _exact_loop(self, grace: float) -> asyncio.AbstractEventLoop:
        self._exact = asyncio.SelectorEventLoop(_IdleSelector(self, grace))
        return self._exact

    def _read(self) -> Instant:
        if self.virtual:
            return self._now
        return self._now + int((time.monotonic_ns() - self._origin) * self.speed) // 1000

    async def _sleep_really(self, deadline: Instant) -> None:
        loop = asyncio.get_running_loop()
        # Again and again: uvloop's timers have milliseconds and may fire early, and a jump wakes
        # everybody.
        while (left := deadline - self._read()) > 0:
            wake: _Wake = loop.create_future()
            timer = loop.call_later(left / SECOND / self.speed, _finish, wake)
            with self._lock:
                self._napping.add(wake)
            try:
                await wake
            finally:
                timer.cancel()
                with self._lock:
                    self._napping.discard(wake)

    async def _sleep_virtually(self, deadline: Instant) -> None:
        loop = asyncio.get_running_loop()
        wake: _Wake = loop.create_future()
        with self._lock:
            self._touched += 1
            heapq.heappush(self._sleepers, (deadline, next(self._order), wake))
        if loop is not self._exact and self._watched is not loop:
            self._watched = loop
            loop.call_later(_PATIENCE, self._look, loop, self._touched)
        await wake

    def _wake_next(self) -> bool:
        """Move to the earliest deadline and wake its sleepers."""
        with self._lock:
            while self._sleepers and self._sleepers[0][2].done():
                heapq.heappop(self._sleepers)
            if not self._sleepers:
                return False
            self._now = max(self._now, self._sleepers[0][0])
        self._wake_due()
        return True

    def _wake_due(self) -> None:
        with self._lock:
            self._touched += 1
            while self._sleepers and self._sleepers[0][0] <= self._now:
                _finish(heapq.heappop(self._sleepers)[2])

    def _look(self, loop: asyncio.AbstractEventLoop, touched: int) -> None:
        """Move time if the clock was left alone since the last look; look again while needed."""
        if self._watched is not loop:
            return
        if touched == self._touched:
            self._wake_next()
        if self._sleepers:
            loop.call_later(_PATIENCE, self._look, loop, self._touched)
        else:
            self._watched = None


class _IdleSelector(selectors.DefaultSelector):
    """A selector that moves a virtual clock when its loop is about to wait with nothing to do.

    asyncio asks its selector to wait (timeout not 0) only when no callback is ready. If no
    socket is ready either, every task waits: for this clock, for a timer of the loop, or for
    another thread.
    """

    def __init__(self, clock: SimulatedClock, grace: float) -> None:
        super().__init__()
        self._clock = clock
        self._grace = grace

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Ready sockets; nothing, at once, when the clock woke a sleeper instead."""
        if timeout is not None and timeout <= 0:
            return super().select(timeout)
        ready = super().select(self._grace if timeout is None else min(timeout, self._grace))
        if ready or self._clock._wake_next():
            return ready
        return super().select(timeout)


def _finish(wake: _Wake) -> None:
    """Wake a sleeper from any thread."""
    loop = wake.get_loop()
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    if running is not loop:
        if not loop.is_closed():
            loop.call_soon_threadsafe(_finish, wake)
    elif not wake.done():
        wake.set_result(None)
