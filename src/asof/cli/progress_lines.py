"""How far long work has come, for those without a terminal: a line every ten seconds on stderr.

`ASOF_PROGRESS` says how many seconds, for programs that show it further.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from time import monotonic

import click

from asof.report.words import length, percent

_EVERY, _SHORTEST = 10.0, 0.1
# Lines back to where the pace is measured from: what was skipped long ago says nothing of it.
_PACE = 6


class ProgressLines:
    """What is done of one piece of work after the other, and the words for it."""

    def __init__(self, worded: Callable[[float], str] = lambda count: f"{count:,.0f}") -> None:
        self._worded = worded
        self._what, self._done, self._total = "", 0.0, 0.0
        self._before: deque[tuple[float, float]] = deque(maxlen=_PACE)

    def begin(self, what: str, total: float | None) -> None:
        """Say what is done now, and how much of it there is, if that is known."""
        self._what, self._done, self._total = what, 0, total or 0
        self._before.clear()
        self._before.append((monotonic(), 0))

    def show(self, what: str, done: float, total: float) -> None:
        """That so much is done of a piece of work; another than the last one begins."""
        if what != self._what:
            self.begin(what, total)
        self._done, self._total = done, total

    def advance(self, count: float) -> None:
        """That so much more is done."""
        self._done += count

    def line(self, now: float) -> str:
        """The line for this moment."""
        (then, before), done, total = self._before[0], self._done, self._total
        self._before.append((now, done))
        told = f"asof: {self._what}: {self._worded(done)}"
        if not total:
            return told if done else f"asof: {self._what} ..."
        told += f" of {self._worded(total)} ({percent(min(1.0, done / total))})"
        if done <= before or done >= total:
            return told
        return f"{told}, about {length((total - done) * (now - then) / (done - before))} left"


@contextmanager
def spoken(lines: ProgressLines, every: float | None = None) -> Iterator[ProgressLines]:
    """Let the lines be said as long as the work goes on; work that is done sooner is silent."""
    over, pause = Event(), _pause() if every is None else every

    def speak() -> None:
        while not over.wait(pause):
            click.echo(lines.line(monotonic()), err=True)

    speaker = Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield lines
    finally:
        over.set()
        speaker.join()


def _pause() -> float:
    with suppress(ValueError):
        if (wished := float(os.environ.get("ASOF_PROGRESS", _EVERY))) >= _SHORTEST:
            return wished
    return _EVERY
