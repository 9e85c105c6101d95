"""`asof site`: what is known of each address of a site as of a moment."""

import shlex
from pathlib import Path

import click

from asof.cli.options import archive_option, examples, json_option, moment_option
from asof.cli.output import open_archive, print_json, say
from asof.clock import whole_second


@click.command(
    "site",
    epilog=examples(
        "asof site example.org --at 2026-03",
        "asof site https://example.org/news/ --at 2026-03-01 --json",
    ),
)
@click.argument("url")
@archive_option
@moment_option
@click.option("--after", default="", metavar="KEY", help="Go on where an answer ended (`next`).")
@json_option
def site_command(url: str, folder: Path, moment: str, after: str, as_json: bool) -> int:
    """What of a site was there as of a moment, and how firmly.

    A line for each address that begins with URL: proven, confirmed and claimed were there, by what
    was seen before the moment and after it, possible ones when they were seen last; others have
    moved, are gone, have no proof (errors only) or were seen later only (not yet). URL without a
    path is a host with its subdomains, with a slash at its end a folder.
    """
    from asof.replay.sites import Sites
    from asof.report.site_words import site_json, site_lines, summary

    with open_archive(folder) as archive:
        at = whole_second(archive.moment(moment))
        site = Sites(archive).of(url, after)
    if as_json:
        print_json(site_json(site, at))
    else:
        for line in site_lines(site, at):
            click.echo(line)
        say(summary(site, at))
    if site.next is not None:
        say(f"There are more addresses: --after {shlex.quote(site.next)}")
    return 0 if site.courses else 1
