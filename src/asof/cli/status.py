"""`asof status`: what crawls there are, how they stand, what they left out; `--follow` one now."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.archive.stocktaking import Stocktaking
from asof.catalog.inventory import Holding, Totals, totals_of
from asof.cli.options import archive_option, examples, json_option, no_archive
from asof.cli.output import open_archive, print_json, table
from asof.cli.quality import print_completeness
from asof.cli.screen import console
from asof.cli.view import CrawlView, snapshot_line
from asof.clock import Clock, SystemClock, iso, when
from asof.crawl.summary import Summary, crawl_json, report_json, report_of, snapshot_json
from asof.crawl.watch import Watch, current_summary
from asof.frontier.report import LeftOutReason
from asof.model import Crawl
from asof.report.json_shapes import totals_json
from asof.report.words import human_bytes, number, printable, shortened

_LOOK_EVERY = 1.0
_LINE_EVERY = 5.0
_JSON_EVERY = 2.0
_MOST_REASONS = 8
# Columns from which on a table of crawls has room at all, and for their starts.
_NARROW, _WIDE = 76, 110


@click.command(
    "status",
    epilog=examples("asof status", "asof status 20260301120000-ab12", "asof status --follow"),
)
@click.argument("crawl", required=False, metavar="[CRAWL]", callback=no_archive)
@archive_option
@click.option("--follow", is_flag=True, help="Watch the crawl that runs now until it ends.")
@json_option
def status_command(crawl: str | None, folder: Path, follow: bool, as_json: bool) -> int:
    """What the archive holds, and how its crawls stand.

    Of CRAWL (the newest, unless one is named) also how complete it is, and what it left out and
    what failed, by reason and with examples. With --follow: a live view of the crawl that runs now
    (JSON lines with --json); a crawl with --control tells more, and sooner.
    """
    if follow:
        return _follow(Folder(folder), SystemClock(), as_json=as_json)
    with open_archive(folder) as archive:
        chosen = archive.crawl(crawl)
        crawls = [(each, current_summary(archive, each)) for each in archive.crawls()]
        segments = archive.segments()
        holdings = Stocktaking(archive).exact()
        size, totals = sum(segment.committed for segment in segments), totals_of(holdings)
        if as_json:
            told = {"archive": str(folder), **totals_json(totals), "bytes": size}
            listed = [crawl_json(*pair) for pair in crawls]
            told |= {"segments": len(segments), "crawls": listed, **_report_json(archive, chosen)}
            print_json(told)
            return 0
        click.echo(
            f"{folder}: {number(totals.captures, 'capture')} of {number(totals.urls, 'URL')}, "
            f"{human_bytes(size)} in {number(len(segments), 'WARC file')}"
        )
        _print_hosts(holdings, totals)
        if chosen is not None:
            _print_crawls([pair for pair in crawls if crawl is None or pair[0].id == crawl])
            report = report_of(archive.ledger, archive.catalog.crawl_no(chosen.id))
            click.echo(f"\nCrawl {chosen.id}")
            print_completeness(report.completeness)
            _print_reasons("left out", report.left_out)
            _print_reasons("failed", report.failed)
    return 0


def _print_hosts(holdings: Sequence[Holding], totals: Totals) -> None:
    """Those with the most captures, and from when to when there are any."""
    hosts = sorted(
        (each for each in holdings if each.is_host), key=lambda each: (-each.captures, each.key)
    )
    if hosts:
        span = f"from {when(totals.first)} to {when(totals.last)} UTC"
        click.echo(f"  {number(len(hosts), 'host')}, {span}")
    for host in hosts[:_MOST_REASONS]:
        click.echo(f"  {host.captures:>9,}  {printable(host.name)}")
    if len(hosts) > _MOST_REASONS:
        click.echo(f"             ... and {number(len(hosts) - _MOST_REASONS, 'more host')}")


def _print_crawls(crawls: list[tuple[Crawl, Summary]]) -> None:
    screen = console()
    if screen.width < _NARROW:
        for crawl, summary in crawls:
            told = f"{summary.captured:,} captured, {summary.failed:,} failed"
            click.echo(f"{crawl.id}  {crawl.standing}\n  {told}")
            click.echo(f"  {summary.left_out:,} left out, {summary.queued:,} queued")
            click.echo(f"  {shortened(' '.join(crawl.seeds), max(20, screen.width - 2))}")
        return
    wide = screen.width >= _WIDE
    # A crawl's id begins with the time of its start, which a narrow terminal shows once.
    names = ("crawl", "state", *(("started (UTC)",) if wide else ()))
    shown = table(names, ("captured", "failed", "left out", "queued"))
    shown.add_column("seeds", overflow="ellipsis")
    for crawl, summary in crawls:
        started = (when(crawl.started),) if wide else ()
        counts = (summary.captured, summary.failed, summary.left_out, summary.queued)
        cells = (f"{count:,}" for count in counts)
        shown.add_row(crawl.id, crawl.standing, *started, *cells, " ".join(crawl.seeds))
    screen.print(shown)


# -- One crawl: how complete it is, what it left out and what failed ------------------------------


def _report_json(archive: OpenArchive, crawl: Crawl | None) -> dict[str, object]:
    if crawl is None:
        return {"crawl": None, "completeness": None, "left_out": [], "failures": []}
    report = report_of(archive.ledger, archive.catalog.crawl_no(crawl.id))
    return {"crawl": crawl.id, **report_json(report)}


def _print_reasons(title: str, reasons: list[LeftOutReason]) -> None:
    width = console().width
    if reasons:
        click.echo(f"  {title}")
    for row in reasons[:_MOST_REASONS]:
        click.echo(f"  {row.count:>9,}  {printable(row.reason)}")
        for example in row.examples:
            click.echo(f"             {shortened(example, max(20, min(160, width - 13)))}")
    if len(reasons) > _MOST_REASONS:
        more = number(len(reasons) - _MOST_REASONS, "more reason")
        click.echo(f"             ... and {more} (--json)")


# -- A crawl that runs now ------------------------------------------------------------------------


def _follow(home: Folder, clock: Clock, *, as_json: bool) -> int:
    home.require()
    watch = Watch(home, clock)
    crawl = ""
    with CrawlView(silent=as_json or not sys.stderr.isatty()) as view:
        due = clock.monotonic()
        while (found := watch.look()) is not None:
            name, snapshot = found
            crawl = name or crawl  # its last words may be gone a moment before it is
            view.show(snapshot)
            if crawl and not view.is_live and clock.monotonic() >= due:
                due = clock.monotonic() + (_JSON_EVERY if as_json else _LINE_EVERY)
                if as_json:
                    print_json({"at": iso(clock.now()), "crawl": crawl, **snapshot_json(snapshot)})
                else:
                    click.echo(snapshot_line(snapshot))
            asyncio.run(clock.sleep(_LOOK_EVERY))
    _print_end(home, crawl, as_json=as_json)
    return 0


def _print_end(home: Folder, crawl_id: str, *, as_json: bool) -> None:
    """The last word: how the crawl that was followed ended, or that there was none."""
    with OpenArchive.open(home.root) as archive:
        crawl = archive.crawl(crawl_id or None)
        summary = Summary() if crawl is None else current_summary(archive, crawl)
    if crawl is None:
        click.echo(f"{home.root} holds no crawl.", err=True)
    elif as_json:
        print_json(crawl_json(crawl, summary))
    else:
        which = f"Crawl {crawl.id}" if crawl_id else f"No crawl is running. The last, {crawl.id},"
        click.echo(
            f"{which} is {crawl.state.value}: "
            f"{summary.captured:,} captured, {summary.failed:,} failed, "
            f"{summary.left_out:,} left out, {summary.queued:,} queued."
        )
