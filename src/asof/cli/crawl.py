"""`asof crawl`: capture a site, with a live view (view.py)."""

from __future__ import annotations

import os
from pathlib import Path

import click

from asof.cli.options import archive_option, examples, json_option, size
from asof.cli.output import print_json, say, where
from asof.cli.view import CrawlView
from asof.crawl import CrawlRequest, run_crawl
from asof.crawl.run import CrawlOutcome, plan_crawl
from asof.crawl.summary import crawl_json
from asof.model import CrawlState
from asof.report.words import duration, human_bytes


@click.command(
    "crawl",
    epilog=examples(
        "asof crawl https://example.org/                 the whole host, one request a second",
        "asof crawl https://example.org/blog/ --scope path --depth 3",
        "asof crawl https://a.example/ https://b.example/ --preset extensive",
        "asof crawl https://example.org/ --rule 'out media:video/*' --rule 'out size:50MB'",
        "asof crawl https://example.org/ --coherence inducible --plan-only",
        "asof crawl                                      resume what was interrupted",
    ),
)
@click.argument("urls", nargs=-1, metavar="[URL...]")
@archive_option
@click.option("--preset", metavar="P", help="intensive, extensive, page or assignment.")
@click.option("--scope", metavar="S", help="host (default), domain, path, page or surt:PREFIX.")
@click.option(
    "--rule", "rules", multiple=True, metavar="RULE",
    help="in|out KIND:VALUE, in order; `asof scope --help` lists the kinds.",
)  # fmt: skip
@click.option("--include", multiple=True, metavar="RE", help="Take URLs that match, on any host.")
@click.option("--exclude", multiple=True, metavar="RE", help="Leave out URLs that match.")
@click.option("--depth", type=int, metavar="N", help="Follow at most N links from a seed.")
@click.option(
    "--no-requisites", is_flag=True, help="Leave out images, styles... that lie outside the scope."
)
@click.option(
    "--max-pages", type=int, metavar="N", help="Stop after N captures, robots.txt not counted."
)
@click.option(
    "--max-bytes", type=size, metavar="N", help="Stop after N bytes (kB, MB, GB) from the wire."
)
@click.option("--time-limit", type=float, metavar="S", help="Stop after S seconds.")
@click.option("--max-pages-per-host", type=int, metavar="N", help="At most N captures of a host.")
@click.option("--max-bytes-per-host", type=size, metavar="N", help="At most N bytes of a host.")
@click.option(
    "--disk-reserve", type=size, metavar="N", help="Stop when fewer bytes are free [200 MB]."
)
@click.option(
    "--delay", type=float, metavar="S", help="Seconds to leave a host alone after an answer [1]."
)
@click.option("--concurrency", type=int, metavar="N", help="Hosts asked at once, at most [128].")
@click.option("--robots", metavar="obey|ignore", help="What to do about robots.txt [obey].")
@click.option("--user-agent", metavar="TEXT", help="The name that servers are told.")
@click.option("--insecure", is_flag=True, help="Accept invalid certificates (and record that).")
@click.option("--proxy", metavar="URL", help="Fetch through an HTTP proxy.")
@click.option("--cookies", is_flag=True, help="Keep cookies during the crawl.")
@click.option("--allow-private", is_flag=True, help="Let pages lead into private networks.")
@click.option("--no-conditional", is_flag=True, help="Ask for everything, changed or not.")
@click.option("--no-traps", is_flag=True, help="Follow endless calendars and the like, too.")
@click.option("--no-text", is_flag=True, help="Read no documents while the crawl waits.")
@click.option(
    "--coherence", metavar="M",
    help="inducible: visit all, then look at all again; measurable: once, by trusted dates [off].",
)  # fmt: skip
@click.option("--plan", metavar="P", help="auto, optimal, threshold, bfs (lifo) or fifo [auto].")
@click.option("--eta", type=float, metavar="X", help="The risk that threshold takes [0.6].")
@click.option("--revisits", type=int, metavar="N", help="Look at N pages again, at most.")
@click.option("--no-audit", is_flag=True, help="Check no 304 by asking for the page itself.")
@click.option("--trust-dates", metavar="T", help="Last-Modified: auto, always or never [auto].")
@click.option("--plan-only", is_flag=True, help="Show the plan and what it expects; crawl nothing.")
@click.option("--control", is_flag=True, help="Take orders: asof pause, resume, exclude, stop.")
@click.option("--new", is_flag=True, help="Start a new crawl even if one can be resumed.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
@json_option
def crawl_command(
    urls: tuple[str, ...],
    folder: Path,
    control: bool,
    new: bool,
    plan_only: bool,
    quiet: bool,
    as_json: bool,
    **options: object,
) -> int:
    """Capture sites, starting at URL..., into an archive.

    A crawl that was interrupted (Ctrl-C, crash, full disk) goes on where it stood when the same
    URLs, or none, are given again; with the settings it was begun with, unless options say
    otherwise. A second crawl of a site asks for what has changed, and stores only that.

    With --coherence inducible every page is visited, then looked at again, in the order that
    promises most pages unchanged between the two; `asof quality` tells how many were.
    """
    request = CrawlRequest(
        archive=folder,
        seeds=urls,
        settings=_settings(options),
        environ=os.environ,
        new=new,
        control=control,
    )
    if plan_only:
        # Here, for plans need numpy, which other crawls do not.
        from asof.report.plan_text import plan_json, plan_lines

        itinerary = plan_crawl(request)
        if as_json:
            print_json(plan_json(itinerary))
        else:
            click.echo("\n".join(plan_lines(itinerary)))
        return 0
    with CrawlView(silent=quiet) as view:
        outcome = run_crawl(request, watch=None if quiet else view.show, talk=view.say)
    if as_json:
        print_json({**crawl_json(outcome.crawl, outcome.summary), "files": list(outcome.files)})
    if not quiet:
        print_outcome(outcome, folder)
    return 130 if outcome.crawl.state is CrawlState.INTERRUPTED else 0


# What a flag sets when it is given.
_FLAGS = {
    "no_requisites": ("requisites", False),
    "insecure": ("verify_tls", False),
    "cookies": ("cookies", True),
    "allow_private": ("allow_private", True),
    "no_conditional": ("conditional", False),
    "no_traps": ("traps", False),
    "no_text": ("text", False),
    "no_audit": ("audit", False),
}


def _settings(options: dict[str, object]) -> dict[str, object]:
    """Options as settings: what was not given is None."""
    settings = {name: value or None if isinstance(value, tuple) else value
                for name, value in options.items() if name not in _FLAGS}  # fmt: skip
    given = dict(setting for flag, setting in _FLAGS.items() if options[flag])
    return settings | given


_ENDINGS = {
    "done": "Finished",
    "interrupted": "Interrupted",
    "max-pages": "Finished at the limit of pages",
    "max-bytes": "Finished at the limit of bytes",
    "time-limit": "Finished at the limit of time",
    "disk-reserve": "Stopped, for the disk is nearly full",
}


def print_outcome(outcome: CrawlOutcome, folder: Path) -> None:
    """The summary at the end, for people."""
    summary = outcome.summary
    say(
        f"{_ENDINGS[summary.ended_by]}: {summary.captured:,} captured, {summary.failed:,} failed, "
        f"{summary.left_out:,} left out, {summary.queued:,} still queued; "
        f"{human_bytes(summary.bytes)} in {duration(summary.seconds)}."
    )
    if summary.revisited or summary.to_revisit:
        left = f", {summary.to_revisit:,} still to be" if summary.to_revisit else ""
        say(
            f"  {summary.revisited:>8,}  looked at again{left}; `asof quality` tells what it proves"
        )
    for reason, count in list((summary.reasons or {}).items())[:8]:
        say(f"  {count:>8,}  {reason}")
    if outcome.crawl.state is CrawlState.INTERRUPTED:
        say(f"Go on with: asof crawl{where(folder)}")
    else:
        say(f"Look at it with: asof serve{where(folder)}")
