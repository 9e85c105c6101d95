"""`asof crawl`: capture a site, with a live view (view.py)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import click

from asof.cli.options import Command, archive_option, examples, json_option, size
from asof.cli.output import print_json, say, where
from asof.cli.view import CrawlView
from asof.crawl import CrawlRequest, run_crawl
from asof.crawl.run import CrawlOutcome, plan_crawl
from asof.crawl.summary import crawl_json
from asof.model import CrawlState
from asof.report.words import duration, human_bytes


def _setting(
    name: str, metavar: str, text: str, kind: Callable[[str], object] = str
) -> Callable[[Command], Command]:
    return click.option(name, type=kind, metavar=metavar, help=text)


def _flag(name: str, text: str) -> Callable[[Command], Command]:
    return click.option(name, is_flag=True, help=text)


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
@_setting("--preset", "P", "intensive, extensive, page or assignment.")
@_setting("--scope", "S", "host (default), domain, path, page or surt:PREFIX.")
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="RULE",
    help="in|out KIND:VALUE, in order; `asof scope --help` lists the kinds.",
)
@click.option("--include", multiple=True, metavar="RE", help="Take URLs that match, on any host.")
@click.option("--exclude", multiple=True, metavar="RE", help="Leave out URLs that match.")
@_setting("--depth", "N", "Follow at most N links from a seed.", int)
@_flag("--no-requisites", "Leave out images, styles... that lie outside the scope.")
@_setting("--max-pages", "N", "Stop after N captures, robots.txt not counted.", int)
@_setting("--max-bytes", "N", "Stop after N bytes (kB, MB, GB) from the wire.", size)
@_setting("--time-limit", "S", "Stop after S seconds.", float)
@_setting("--max-pages-per-host", "N", "At most N captures of a host.", int)
@_setting("--max-bytes-per-host", "N", "At most N bytes of a host.", size)
@_setting("--disk-reserve", "N", "Stop when fewer bytes are free [200 MB].", size)
@_setting("--delay", "S", "Seconds to leave a host alone after an answer [1].", float)
@_setting("--concurrency", "N", "Hosts asked at once, at most [128].", int)
@_setting("--robots", "obey|ignore", "What to do about robots.txt [obey].")
@_setting("--user-agent", "TEXT", "The name that servers are told.")
@_flag("--insecure", "Accept invalid certificates (and record that).")
@_setting("--proxy", "URL", "Fetch through an HTTP proxy.")
@_flag("--cookies", "Keep cookies during the crawl.")
@_flag("--allow-private", "Let pages lead into private networks.")
@_flag("--no-conditional", "Ask for everything, changed or not.")
@_flag("--no-traps", "Follow endless calendars and the like, too.")
@_flag("--no-text", "Read no documents while the crawl waits.")
@_setting(
    "--coherence",
    "M",
    "inducible: visit all, then look at all again; measurable: once, by trusted dates [off].",
)
@_setting("--plan", "P", "auto, optimal, threshold, bfs (lifo) or fifo [auto].")
@_setting("--eta", "X", "The risk that threshold takes [0.6].", float)
@_setting("--revisits", "N", "Look at N pages again, at most.", int)
@_flag("--no-audit", "Believe every firm 304: check none by bytes.")
@_setting("--trust-dates", "T", "Last-Modified: auto, always or never [auto].")
@_flag("--plan-only", "Show the plan and what it expects; crawl nothing.")
@_flag("--control", "Take orders: asof pause, resume, exclude, stop.")
@_flag("--new", "Start a new crawl even if one can be resumed.")
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
    settings = _settings(options)
    request = CrawlRequest(folder, urls, settings, environ=os.environ, new=new, control=control)
    if plan_only:
        _show_plan(request, as_json=as_json)
        return 0
    with CrawlView(silent=quiet) as view:
        outcome = run_crawl(request, watch=None if quiet else view.show, talk=view.say)
    if as_json:
        print_json({**crawl_json(outcome.crawl, outcome.summary), "files": list(outcome.files)})
    if not quiet:
        print_outcome(outcome, folder)
    return 130 if outcome.crawl.state is CrawlState.INTERRUPTED else 0


def _show_plan(request: CrawlRequest, *, as_json: bool) -> None:
    # Here, for plans need numpy, which other crawls do not.
    from asof.report.plan_text import plan_json, plan_lines

    itinerary = plan_crawl(request)
    if as_json:
        print_json(plan_json(itinerary))
    else:
        click.echo("\n".join(plan_lines(itinerary)))


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
