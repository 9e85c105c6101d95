"""`asof quality`: how complete a crawl is."""

from __future__ import annotations

from pathlib import Path

import click

from asof.archive import Archive
from asof.cli.options import archive_option, examples, json_option
from asof.cli.output import open_archive, print_json
from asof.cli.view import printable
from asof.crawl.completeness import Completeness, Share, completeness, completeness_json
from asof.errors import NotCaptured, UsageError
from asof.model import Crawl

_MOST_HOSTS = 10


@click.command(
    "quality", epilog=examples("asof quality", "asof quality 20260301120000-ab12 --json")
)
@click.argument("crawl", required=False, metavar="[CRAWL]")
@archive_option
@json_option
def quality_command(crawl: str | None, folder: Path, as_json: bool) -> int:
    """How much of what a crawl found it has taken.

    Of CRAWL, or of the newest one. Vertical completeness: of the URLs found that belong to the
    crawl, those captured. Horizontal: of the hosts that links lead to, in scope or not, those of
    which something was captured.
    """
    with open_archive(folder) as archive:
        chosen = choose_crawl(archive, crawl)
        if chosen is None:
            raise NotCaptured(f"{folder} holds no crawl.", hint="Make one with `asof crawl URL`.")
        value = completeness(archive.ledger, archive.catalog.crawl_no(chosen.id))
    if as_json:
        print_json({"crawl": chosen.id, "completeness": completeness_json(value)})
        return 0
    click.echo(f"Crawl {chosen.id}")
    print_completeness(value)
    _print_hosts(value)
    return 0


def choose_crawl(archive: Archive, name: str | None) -> Crawl | None:
    """The crawl of that id; without one the newest, or None when there is none."""
    crawls = archive.crawls()
    if name is None:
        return crawls[-1] if crawls else None
    found = next((crawl for crawl in crawls if crawl.id == name), None)
    if found is None:
        raise UsageError(f"There is no crawl {name!r}.", hint="`asof status` lists them.")
    return found


def print_completeness(value: Completeness) -> None:
    """The two figures, for people."""
    click.echo(
        f"  vertical completeness    {_percent(value.vertical)}  {_of(value.vertical, 'URL')}"
    )
    click.echo(
        f"  horizontal completeness  {_percent(value.horizontal)}  {_of(value.horizontal, 'host')}"
    )


def _percent(share: Share) -> str:
    """To a tenth, rounded down: 100 % is said of nothing that misses a page."""
    part = share.share
    return "  -    " if part is None else f"{int(part * 1000) / 10:>5.1f} %"


def _of(share: Share, what: str) -> str:
    if not share.found:
        return "nothing is known of what was found"
    return f"{share.taken:,} taken of {share.found:,} {what}{'s' if share.found != 1 else ''} found"


def _print_hosts(value: Completeness) -> None:
    missing = [(host, share) for host, share in value.hosts if share.missing]
    if missing:
        click.echo("  hosts that miss most")
    for host, share in missing[:_MOST_HOSTS]:
        click.echo(f"    {_percent(share)}  {share.missing:>9,} missing  {printable(host)}")
    if len(missing) > _MOST_HOSTS:
        click.echo(f"    ... and {len(missing) - _MOST_HOSTS:,} more (--json lists up to 100)")
