"""The live view of a crawl: a dozen lines on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from asof.cli.output import say
from asof.cli.screen import console, shown_safely
from asof.crawl.summary import Snapshot
from asof.report.crawl_words import to_go
from asof.report.words import human_bytes

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

# A person reads no faster, and drawing takes two milliseconds.
_DRAWN_PER_SECOND = 4
_PLAIN_EVERY = 10.0


class CrawlView:
    """Shows snapshots to a person at stderr; with `silent`, to nobody.

    On a terminal the view is drawn a few times a second whatever the crawl says meanwhile, and
    goes away at the end. Elsewhere a line is written every ten seconds.
    """

    def __init__(self, *, silent: bool = False) -> None:
        self._silent = silent
        self._snapshot: Snapshot | None = None
        self._live = None if silent or not sys.stderr.isatty() else self._make_live()
        self._next_line = time.monotonic() + _PLAIN_EVERY

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def is_live(self) -> bool:
        """Whether there is a terminal to draw on."""
        return self._live is not None

    def say(self, line: str) -> None:
        if self._live is not None:
            self._live.console.print(line)
        elif not self._silent:
            say(line)

    def show(self, snapshot: Snapshot) -> None:
        """How the crawl stands; cheap, since drawing is done at the view's own pace."""
        self._snapshot = snapshot
        if self._live is None and not self._silent and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _PLAIN_EVERY
            say(snapshot_line(snapshot))

    def _make_live(self) -> Live:
        # Here, for loading rich takes a tenth of a second that a script need not spend.
        from rich.live import Live

        screen = console(err=True)
        return Live(
            console=screen,
            get_renderable=lambda: shown_safely(self._drawn(screen)),
            refresh_per_second=_DRAWN_PER_SECOND,
            transient=True,
        )

    def _drawn(self, screen: Console) -> RenderableType:
        from asof.cli.panel import snapshot_panel

        return "" if self._snapshot is None else snapshot_panel(self._snapshot, screen.width)


def snapshot_line(snapshot: Snapshot) -> str:
    """A snapshot in one line, for logs and pipes."""
    state = "" if snapshot.state == "running" else f"{snapshot.state} · "
    return (
        f"{state}{snapshot.captured:,} captured · {snapshot.queued:,} queued · "
        f"{snapshot.failed:,} failed · {snapshot.left_out:,} left out · "
        f"{human_bytes(snapshot.bytes)} · {snapshot.rate_now or snapshot.rate:.1f}/s"
        f"{to_go(snapshot, ' · ')}{' · ' + snapshot.waiting if snapshot.waiting else ''}"
    )
