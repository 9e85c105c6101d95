"""`asof crawl`: capture a site, with a live view (view.py)."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import click

from asof.cli.options import Command, archive_option, as_typed, examples, json_option, size
from asof.cli.output import print_json, say, where
from asof.cli.view import CrawlView
from asof.crawl import CrawlRequest, run_crawl
from asof.crawl.run import CrawlOutcome, plan_crawl
from asof.crawl.summary import crawl_json
from asof.model import SILENCE, CrawlState
from asof.report.crawl_words import ENDINGS, captured, why_not
from asof.report.words import duration, human_bytes, likely_traps, number

_MOST_SEEDS = 20  # of those that brought nothing


def _setting(
    name: str, metavar: str, text: str, kind: Callable[[str], object] = str
) -> Callable[[Command], Command]:
    return click.option(name, type=kind, metavar=metavar, help=text)


def _flag(name: str, setting: str, value: bool, text: str) -> Callable[[Command], Command]:
    return click.option(name, setting, flag_value=value, type=bool, default=None, help=text)


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
@click.option("--rule", "rules", multiple=True, metavar="RULE",
              help="in|out KIND:VALUE, in order; `asof scope --help` lists the kinds.")  # fmt: skip
@click.option("--include", multiple=True, metavar="RE", help="Take URLs that match, on any host.")
@click.option("--exclude", multiple=True, metavar="RE", help="Leave out URLs that match.")
@_setting("--depth", "N", "Follow at most N links from a seed.", int)
@_flag("--no-requisites", "requisites", False,
       "Leave out images, styles... that lie outside the scope.")  # fmt: skip
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
@_flag("--insecure", "verify_tls", False, "Accept invalid certificates (and record that).")
@_setting("--proxy", "URL", "Fetch through an HTTP proxy.")
@_flag("--cookies", "cookies", True, "Keep cookies during the crawl.")
@_flag("--allow-private", "allow_private", True, "Let pages lead into private networks.")
@_flag("--no-conditional", "conditional", False, "Ask for everything, changed or not.")
@_flag("--no-traps", "traps", False, "Follow endless calendars and the like, too.")
@_flag("--no-text", "text", False, "Read no documents while the crawl waits.")
@_setting(
    "--coherence",
    "M",
    "inducible: visit all, then look at all again; measurable: once, by trusted dates [off].",
)
@_setting("--plan", "P", "auto, optimal, threshold, bfs (lifo) or fifo [auto].")
@_setting("--eta", "X", "The risk that threshold takes [0.6].", float)
@_setting("--revisits", "N", "Look at N pages again, at most.", int)
@_flag("--no-audit", "audit", False, "Believe every firm 304: check none by bytes.")
@_setting("--trust-dates", "T", "Last-Modified: auto, always or never [auto].")
@click.option("--plan-only", is_flag=True, help="Show the plan and what it expects; crawl nothing.")
@click.option("--control", is_flag=True, help="Take orders: asof pause, resume, exclude, stop.")
@click.option("--new", is_flag=True, help="Start a new crawl even if one can be resumed.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
@json_option
@as_typed()
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
    settings = {name: None if value == () else value for name, value in options.items()}
    request = CrawlRequest(folder, urls, settings, environ=os.environ, new=new, control=control)
    if plan_only:
        # Here, for plans need numpy, which other crawls do not.
        from asof.report.plan_text import plan_json, plan_lines

        planned = plan_crawl(request)
        if as_json:
            print_json(plan_json(planned))
        else:
            click.echo("\n".join(plan_lines(planned)))
        return 0
    with CrawlView(silent=quiet) as view:
        outcome = run_crawl(request, watch=None if quiet else view.show, talk=view.say)
    if as_json:
        print_json({**crawl_json(outcome.crawl, outcome.summary), "files": list(outcome.files)})
    if not quiet:
        _print_outcome(outcome, folder)
    if outcome.crawl.state is CrawlState.INTERRUPTED:
        return 130
    return 1 if outcome.is_barren else 0


_LIMITS = ("max-pages", "max-bytes", "time-limit")


def _print_outcome(outcome: CrawlOutcome, folder: Path) -> None:
    summary = outcome.summary
    say(
        f"{ENDINGS[summary.ended_by]}: {captured(summary)}, {summary.failed:,} failed, "
        f"{summary.left_out:,} left out, {summary.queued:,} still queued; "
        f"{human_bytes(summary.bytes)} in {duration(summary.seconds)}."
    )
    if summary.revisited or summary.to_revisit:
        left = f", {summary.to_revisit:,} still to be" if summary.to_revisit else ""
        told = f"looked at again{left}; `asof quality` tells what it proves"
        say(f"  {summary.revisited:>8,}  {told}")
    if summary.probes:
        say(f"  {summary.probes:>8,}  to probe whether servers tell the truth (--no-audit: none)")
    for reason, count in list((summary.reasons or {}).items())[:8]:
        say(f"  {count:>8,}  {reason}")
    if summary.traps:
        say(f"{likely_traps(summary.traps, summary.trap_example)}.")
    if "refused-address" in (summary.reasons or {}):
        say("Private networks are asked only where a seed names them, or with --allow-private.")
    for seed, why in outcome.barren[:_MOST_SEEDS]:
        say(f"No page came from {seed}: {why_not(why)}.")
    if outcome.is_barren:
        if all(why in SILENCE for _, why in outcome.barren):
            say("Check the address in a browser: is it http or https, is the name right?")
        return
    silent = sum(count for why, count in (summary.reasons or {}).items() if why in SILENCE)
    seeds = outcome.crawl.seeds
    named = shlex.join(seeds) if len(seeds) <= _MOST_SEEDS else "URL..."
    again = f"asof crawl{where(folder)} {named}"
    if silent and not outcome.barren:
        say(f"{number(silent, 'address')} brought no answer. To ask again later: {again}")
    if summary.queued and summary.ended_by in _LIMITS:
        waiting = number(summary.queued, "address", ("still waits", "still wait"))
        them = "it" if summary.queued == 1 else "them"
        say(f"{waiting}. To take {them}, lift the limit: {again}")
    broken = outcome.crawl.state is CrawlState.INTERRUPTED
    next_step = "Go on with: asof crawl" if broken else "Look at it with: asof serve"
    say(f"{next_step}{where(folder)}")
