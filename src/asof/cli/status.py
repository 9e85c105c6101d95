"""`asof status`: what crawls there are and how they stand."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from asof.archive import Archive
from asof.cli.options import archive_option, json_option
from asof.cli.output import human_bytes, open_archive, print_json, when
from asof.crawl.summary import Summary, crawl_json, summary_of
from asof.frontier.queue import Frontier
from asof.frontier.states import State
from asof.model import Crawl, CrawlState


@click.command("status")
@archive_option
@json_option
def status_command(folder: Path, as_json: bool) -> int:
    """What the archive holds, and how its crawls stand."""
    with open_archive(folder) as archive:
        crawls = [(crawl, _summary(archive, crawl)) for crawl in archive.crawls()]
        segments = archive.segments()
        captures, urls = archive.catalog.count(), archive.catalog.count_urls()
        size = sum(segment.committed for segment in segments)
    if as_json:
        print_json(
            {
                "archive": str(folder),
                "captures": captures,
                "urls": urls,
                "bytes": size,
                "segments": len(segments),
                "crawls": [crawl_json(crawl, summary) for crawl, summary in crawls],
            }
        )
        return 0
    click.echo(
        f"{folder}: {captures:,} captures of {urls:,} URLs, "
        f"{human_bytes(size)} in {len(segments):,} WARC files"
    )
    if crawls:
        _print_crawls(crawls)
    return 0


def _summary(archive: Archive, crawl: Crawl) -> Summary:
    """The summary of a crawl that has ended; of another, what its queue says now."""
    kept = summary_of(crawl)
    if crawl.state is CrawlState.FINISHED:
        return kept
    frontier = Frontier(archive.ledger, archive.catalog.crawl_no(crawl.id))
    return Summary(
        captured=frontier.tally[State.DONE],
        failed=frontier.tally[State.FAILED],
        left_out=frontier.tally[State.LEFT_OUT],
        queued=frontier.tally[State.QUEUED],
        bytes=kept.bytes,
        seconds=kept.seconds,
        ended_by=kept.ended_by,
        reasons=frontier.reasons(),
    )


def _print_crawls(crawls: list[tuple[Crawl, Summary]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("crawl", "state", "started (UTC)"):
        table.add_column(name, no_wrap=True)
    for name in ("captured", "failed", "left out", "queued"):
        table.add_column(name, justify="right")
    table.add_column("seeds", overflow="ellipsis")
    for crawl, summary in crawls:
        table.add_row(
            crawl.id,
            crawl.state.value,
            when(crawl.started),
            f"{summary.captured:,}",
            f"{summary.failed:,}",
            f"{summary.left_out:,}",
            f"{summary.queued:,}",
            " ".join(crawl.seeds),
        )
    # As wide as the terminal; in a file, wide enough for everything.
    Console(width=None if sys.stdout.isatty() else 200).print(table)
