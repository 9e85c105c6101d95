"""The live view of a crawl: a dozen lines on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from itertools import zip_longest
from typing import TYPE_CHECKING, Self

from asof.cli.output import say
from asof.crawl.summary import Snapshot
from asof.report.words import duration, human_bytes, number, printable, shortened

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

# Wide enough for hosts and URLs side by side; narrower terminals get them one above the other.
_WIDE = 110
_WIDEST = 160
_HOSTS, _URLS = 3, 4
_LONGEST_HOST = 40
# A person reads no faster, and drawing takes two milliseconds.
_DRAWN_PER_SECOND = 4
_PLAIN_EVERY = 10.0

_STATES = {
    "running": ("●", "crawling", "green"),
    "revisiting": ("●", "looking again", "cyan"),
    "paused": ("‖", "paused", "yellow"),
    "stopping": ("■", "stopping", "yellow"),
}
_AT_WORK = ("running", "revisiting")


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
        """A sentence between the views."""
        if self._live is not None:
            self._live.console.print(line, markup=False)
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
        from rich.console import Console
        from rich.live import Live

        console = Console(stderr=True, highlight=False)
        return Live(
            console=console,
            get_renderable=lambda: self._drawn(console),
            refresh_per_second=_DRAWN_PER_SECOND,
            transient=True,
        )

    def _drawn(self, console: Console) -> RenderableType:
        return "" if self._snapshot is None else snapshot_panel(self._snapshot, console.width)


def snapshot_line(snapshot: Snapshot) -> str:
    """A snapshot in one line, for logs and pipes."""
    state = "" if snapshot.state == "running" else f"{snapshot.state} · "
    return (
        f"{state}{snapshot.captured:,} captured · {snapshot.queued:,} queued · "
        f"{snapshot.failed:,} failed · {snapshot.left_out:,} left out · "
        f"{human_bytes(snapshot.bytes)} · {snapshot.rate_now or snapshot.rate:.1f}/s"
        f"{_to_go(snapshot, ' · ')}"
    )


def snapshot_panel(snapshot: Snapshot, width: int) -> Table:
    """A snapshot as the dozen lines that a terminal shows, for any width from 40 columns on."""
    from rich.table import Table

    width = max(40, min(width, _WIDEST))
    panel = Table.grid(padding=0)
    panel.add_column(no_wrap=True, width=width)
    for line in (*_heading(snapshot), _progress(snapshot, width), _pace(snapshot)):
        panel.add_row(line)
    if width >= _WIDE:
        left = width * 2 // 5
        sides = Table.grid(padding=0)
        sides.add_column(no_wrap=True, width=left)
        sides.add_column(no_wrap=True, width=width - left)
        pairs = zip_longest(
            _hosts(snapshot, left, _URLS), _urls(snapshot, width - left, _URLS), fillvalue=""
        )
        for pair in pairs:
            sides.add_row(*pair)
        if sides.row_count:
            panel.add_row(sides)
    else:
        for line in (*_hosts(snapshot, width, _HOSTS), *_urls(snapshot, width, _URLS)):
            panel.add_row(line)
    if snapshot.reasons:
        panel.add_row(_failures(snapshot))
    return panel


def _heading(snapshot: Snapshot) -> Iterable[Text]:
    from rich.text import Text

    mark, word, colour = _STATES.get(snapshot.state, ("●", printable(snapshot.state), "green"))
    yield Text.assemble(
        (f"{mark} {word}", f"bold {colour}"),
        f"  {duration(snapshot.elapsed)}",
        (_to_go(snapshot, " · "), "dim"),
        (" · go on with `asof resume`" if snapshot.state == "paused" else "", "dim"),
        overflow="ellipsis",
    )
    yield Text.assemble(
        "  ", (f"{snapshot.captured:,}", "bold"), (" captured  ", "dim"),
        (f"{snapshot.queued:,}", "bold"), (" queued  ", "dim"),
        (f"{snapshot.failed:,}", "bold red" if snapshot.failed else "bold"), (" failed  ", "dim"),
        (f"{snapshot.left_out:,}", "bold"), (" left out  ", "dim"),
        (human_bytes(snapshot.bytes), "bold"),
        overflow="ellipsis",
    )  # fmt: skip


def _progress(snapshot: Snapshot, width: int) -> RenderableType:
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    known = max(1, snapshot.captured + snapshot.queued)
    length = min(width, 100) - 8
    line = Table.grid(padding=0)
    line.add_column(width=2)
    line.add_column(width=length)
    line.add_column(width=6, justify="right")
    bar = ProgressBar(
        total=known, completed=snapshot.captured, width=length, complete_style="green"
    )
    line.add_row("", bar, f"{100 * snapshot.captured // known} %")
    return line


def _pace(snapshot: Snapshot) -> Text:
    from rich.text import Text

    seconds = snapshot.elapsed or 1.0
    waiting = max(0, snapshot.hosts - snapshot.active)
    return Text(
        f"  {snapshot.rate_now:.1f}/s now · {snapshot.rate:.1f}/s mean · "
        f"{human_bytes(snapshot.bytes / seconds)}/s · "
        f"{number(snapshot.active, 'host')} active, "
        f"{waiting:,} waiting",
        style="dim",
        overflow="ellipsis",
    )


def _hosts(snapshot: Snapshot, width: int, most: int) -> Iterable[Text]:
    """The busiest hosts, each with what is queued and when it may be asked again."""
    from rich.text import Text

    shown = snapshot.busiest[:most]
    longest = max((len(printable(host)) for host, _, _ in shown), default=0)
    room = min(longest, _LONGEST_HOST, width - 30)
    for host, queued, wait in shown:
        yield Text.assemble(
            "  ", (shortened(host, room).ljust(room), "cyan"),
            f" {queued:>9,}", (" queued  ", "dim"), _wait(wait),
        )  # fmt: skip


def _wait(seconds: float) -> str:
    if seconds <= 0:
        return "now" if seconds == 0 else ""
    return f"{seconds:.1f} s" if seconds < 60 else duration(seconds)


def _urls(snapshot: Snapshot, width: int, most: int) -> Iterable[Text]:
    """The last answers, newest last."""
    from rich.text import Text

    shown = snapshot.recent[-most:]
    if not shown and snapshot.current:
        yield Text(f"      {shortened(snapshot.current, width - 6)}", style="dim")
    for status, url in shown:
        yield Text.assemble(
            "  ", (f"{status or '---':>3}", _colour(status)), " ",
            (shortened(url, width - 6), "dim"),
        )  # fmt: skip


def _colour(status: int) -> str:
    if 200 <= status < 300:
        return "green"
    return "yellow" if 300 <= status < 400 else "red"


def _failures(snapshot: Snapshot) -> Text:
    from rich.text import Text

    some = " · ".join(f"{printable(reason)} {count:,}" for reason, count in snapshot.reasons[:6])
    return Text(f"  failures: {some}", style="red", overflow="ellipsis", no_wrap=True)


def _to_go(snapshot: Snapshot, before: str) -> str:
    """When the queue would be empty: nothing while that is no question or nobody can tell."""
    remaining = snapshot.remaining
    if remaining is None or snapshot.state not in _AT_WORK or not snapshot.queued:
        return ""
    return f"{before}about {duration(remaining)} to go"
