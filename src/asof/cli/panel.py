"""The live view as it is drawn: a dozen lines for any width of a terminal."""

from collections.abc import Iterable
from itertools import zip_longest

from rich.console import RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from asof.cli.output import completed
from asof.crawl.summary import Snapshot
from asof.report.crawl_words import STATES, to_go
from asof.report.words import duration, human_bytes, length, number, printable, shortened

# Wide enough for hosts and URLs side by side; narrower terminals get them one above the other.
_WIDE = 110
_WIDEST = 160
_HOSTS, _URLS = 3, 4
_LONGEST_HOST = 40
_COLOURS = {2: "green", 3: "yellow"}  # of answers by the hundreds of their status, else red

_STATE_COLOURS = {"revisiting": "cyan", "paused": "yellow", "stopping": "yellow"}


def snapshot_panel(snapshot: Snapshot, width: int) -> Table:
    """A snapshot as the dozen lines that a terminal shows, for any width from 40 columns on."""
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
        hosts, urls = _hosts(snapshot, left, _URLS), _urls(snapshot, width - left, _URLS)
        for pair in zip_longest(hosts, urls, fillvalue=""):
            sides.add_row(*pair)
        if sides.row_count:
            panel.add_row(sides)
    else:
        for line in (*_hosts(snapshot, width, _HOSTS), *_urls(snapshot, width, _URLS)):
            panel.add_row(line)
    if snapshot.reasons:
        some = (f"{printable(reason)} {count:,}" for reason, count in snapshot.reasons[:6])
        told = f"  failures: {' · '.join(some)}"
        panel.add_row(Text(told, style="red", overflow="ellipsis", no_wrap=True))
    return panel


def _heading(snapshot: Snapshot) -> Iterable[Text]:
    mark, word = STATES.get(snapshot.state, ("●", printable(snapshot.state)))
    colour = _STATE_COLOURS.get(snapshot.state, "green")
    yield Text.assemble(
        (f"{mark} {word}", f"bold {colour}"),
        f"  {duration(snapshot.elapsed)}",
        (to_go(snapshot, " · "), "dim"),
        (completed(" · go on with `asof resume`") if snapshot.state == "paused" else "", "dim"),
        (f" · {printable(snapshot.waiting)}" if snapshot.waiting else "", "dim"),
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
    shown = snapshot.busiest[:most]
    longest = max((len(printable(host)) for host, _, _ in shown), default=0)
    room = min(longest, _LONGEST_HOST, width - 30)
    for host, queued, wait in shown:
        due = "now" if wait == 0 else "" if wait < 0 else length(wait)  # below 0: not known
        yield Text.assemble(
            "  ", (shortened(host, room).ljust(room), "cyan"),
            f" {queued:>9,}", (" queued  ", "dim"), due,
        )  # fmt: skip


def _urls(snapshot: Snapshot, width: int, most: int) -> Iterable[Text]:
    """The last answers, newest last."""
    shown = snapshot.recent[-most:]
    if not shown and snapshot.current:
        yield Text(f"      {shortened(snapshot.current, width - 6)}", style="dim")
    for status, url in shown:
        yield Text.assemble(
            "  ", (f"{status or '---':>3}", _COLOURS.get(status // 100, "red")), " ",
            (shortened(url, width - 6), "dim"),
        )  # fmt: skip
