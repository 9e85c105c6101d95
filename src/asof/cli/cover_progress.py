"""Of `asof cover`: what is seen of a run while it goes on, and how it is stopped."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

from asof.cli.output import say

_TWICE = 1.0  # seconds: a key that is pressed again sooner was pressed once


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed; pressed again it ends the command as always."""
    pressed: float | None = None

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed is not None and monotonic() - pressed > _TWICE:
            raise KeyboardInterrupt
        if pressed is not None:
            return
        pressed = monotonic()
        say("Stopping: the best that was found so far follows. Ctrl-C again to end at once.")

    before = signal.signal(signal.SIGINT, press)
    try:
        yield lambda: pressed is not None
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each stage, for those who watch."""
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress, TaskID

    with Progress(console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield show
