"""`asof crawl`: capture a site, with a live view."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from asof.cli.options import archive_option, examples, json_option
from asof.cli.output import human_bytes, print_json, say
from asof.crawl import CrawlRequest, Snapshot, run_crawl
from asof.crawl.run import CrawlOutcome
from asof.crawl.summary import crawl_json
from asof.model import CrawlState

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table


@click.command(
    "crawl",
    epilog=examples(
        "asof crawl https://example.org/                 the whole host, one request a second",
        "asof crawl https://example.org/blog/ --scope path --depth 3",
        "asof crawl                                      resume what was interrupted",
    ),
)
@click.argument("urls", nargs=-1, metavar="URL...")
@archive_option
@click.option("--scope", metavar="S", help="host (default), domain, path, page or surt:PREFIX.")
@click.option("--exclude", multiple=True, metavar="RE", help="Leave out URLs that match.")
@click.option("--depth", type=int, metavar="N", help="Follow at most N links from a seed.")
@click.option("--max-pages", type=int, metavar="N", help="Stop after N captures.")
@click.option("--max-bytes", type=int, metavar="N", help="Stop after N bytes from the wire.")
@click.option("--time-limit", type=float, metavar="S", help="Stop after S seconds.")
@click.option("--delay", type=float, metavar="S", help="Seconds between requests to a host [1].")
@click.option("--robots", metavar="obey|ignore", help="What to do about robots.txt [obey].")
@click.option("--user-agent", metavar="TEXT", help="Who to say we are.")
@click.option("--insecure", is_flag=True, help="Accept invalid certificates (and record that).")
@click.option("--proxy", metavar="URL", help="Fetch through an HTTP proxy.")
@click.option("--cookies", is_flag=True, help="Keep cookies during the crawl.")
@click.option("--new", is_flag=True, help="Start a new crawl even if one can be resumed.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
@json_option
def crawl_command(
    urls: tuple[str, ...],
    folder: Path,
    exclude: tuple[str, ...],
    insecure: bool,
    cookies: bool,
    new: bool,
    quiet: bool,
    as_json: bool,
    **settings: object,
) -> int:
    """Capture sites, starting at URL..., into an archive.

    A crawl that was interrupted (Ctrl-C, crash, full disk) goes on where it stood when the same
    URLs, or none, are given again.
    """
    request = CrawlRequest(
        archive=folder,
        seeds=urls,
        settings={
            **settings,
            "exclude": exclude or None,
            "verify_tls": False if insecure else None,
            "cookies": True if cookies else None,
        },
        environ=os.environ,
        new=new,
    )
    with CrawlView(silent=quiet) as view:
        outcome = run_crawl(request, watch=view.show, talk=view.say)
    if as_json:
        print_json({**crawl_json(outcome.crawl, outcome.summary), "files": list(outcome.files)})
    if not quiet:
        print_outcome(outcome, folder)
    return 130 if outcome.crawl.state is CrawlState.INTERRUPTED else 0


class CrawlView:
    """The live view on a terminal; a line every ten seconds elsewhere."""

    _PLAIN_EVERY = 10.0

    def __init__(self, *, silent: bool = False) -> None:
        self._silent = silent
        self._live = None if silent or not sys.stderr.isatty() else _live()
        self._next_line = time.monotonic() + self._PLAIN_EVERY

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, line: str) -> None:
        """A sentence between the views."""
        if self._live is not None:
            self._live.console.print(line, markup=False)
        elif not self._silent:
            say(line)

    def show(self, snapshot: Snapshot) -> None:
        """The state of the crawl, as often as a person can read it."""
        if self._live is not None:
            self._live.update(_panel(snapshot, self._live.console.width))
        elif not self._silent and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + self._PLAIN_EVERY
            say(_line(snapshot))


def _live() -> Live:
    # Here, for loading rich takes a tenth of a second that a script need not spend.
    from rich.console import Console
    from rich.live import Live

    return Live(console=Console(stderr=True, highlight=False), transient=True)


def _panel(snapshot: Snapshot, width: int) -> Table:
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    known = max(1, snapshot.captured + snapshot.queued)
    panel = Table.grid()
    panel.add_row(Text(_line(snapshot)))
    panel.add_row(ProgressBar(total=known, completed=snapshot.captured, width=min(width, 80)))
    panel.add_row(Text(snapshot.current[: width - 2], style="dim"))
    return panel


def _line(snapshot: Snapshot) -> str:
    remaining = snapshot.remaining
    eta = "" if remaining is None else f" · about {_duration(remaining)} to go"
    return (
        f"{snapshot.captured:,} captured · {snapshot.queued:,} queued · {snapshot.failed:,} failed"
        f" · {human_bytes(snapshot.bytes)} · {snapshot.rate:.1f}/s{eta}"
    )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


_ENDINGS = {
    "done": "Finished",
    "interrupted": "Interrupted",
    "max-pages": "Finished at the limit of pages",
    "max-bytes": "Finished at the limit of bytes",
    "time-limit": "Finished at the limit of time",
}


def print_outcome(outcome: CrawlOutcome, folder: Path) -> None:
    """The summary at the end, for people."""
    summary = outcome.summary
    say(
        f"{_ENDINGS[summary.ended_by]}: {summary.captured:,} captured, {summary.failed:,} failed, "
        f"{summary.left_out:,} left out, {summary.queued:,} still queued; "
        f"{human_bytes(summary.bytes)} in {_duration(summary.seconds)}."
    )
    for reason, count in list((summary.reasons or {}).items())[:8]:
        say(f"  {count:>8,}  {reason}")
    where = "" if folder == Path("archive") else f" -a {folder}"
    if outcome.crawl.state is CrawlState.INTERRUPTED:
        say(f"Go on with: asof crawl{where}")
    else:
        say(f"Look at it with: asof serve{where}")
