"""`asof quality`: how complete a crawl is, and how far it holds together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.archive.reindex import total_bytes
from asof.cli.key import Signing, sign_options
from asof.cli.options import (
    archive_option,
    examples,
    file_option,
    json_option,
    no_archive,
    refuse_given,
    require_place,
)
from asof.cli.output import all_kept, count_progress, heavy_work, open_archive, say, where
from asof.cli.screen import data
from asof.clock import SystemClock
from asof.errors import NotCaptured
from asof.files import output_file
from asof.frontier.completeness import Completeness, completeness_json
from asof.report.words import likely_traps, missing_audits, percent, printable, taken_of

if TYPE_CHECKING:
    from asof.coherence.certificate import Choice
    from asof.coherence.quality import Quality
    from asof.coherence.quality_report import Report
    from asof.signing.keyring import Signer

_MOST_HOSTS = 10


@click.command(
    "quality",
    epilog=examples(
        "asof quality                                    of the newest crawl",
        "asof quality --html report.html                 with pictures, in one file",
        "asof quality --url https://example.org/news/    of a part of a site, over all crawls",
        "asof quality 20260301120000-ab12 --json",
        "asof quality --certificate crawl.json",
        "asof quality --certificate crawl.json --sign    by your key (`asof key new`)",
    ),
)
@click.argument("crawls", nargs=-1, metavar="[CRAWL...]", callback=no_archive)
@archive_option
@click.option("--url", "prefix", metavar="PREFIX", help="Only URLs that begin so, of all crawls.")
@click.option("--at", "moment", metavar="T", help="As of this moment, not the crawl's own.")
@file_option(
    "--html",
    "page_file",
    help="Write all as one page, over an older one.",
    dir_okay=False,
)
@file_option(
    "--certificate",
    help="Write a certificate of coherence, which `asof check FILE` verifies.",
    dir_okay=False,
)
@sign_options
@json_option
def quality_command(
    crawls: tuple[str, ...],
    folder: Path,
    prefix: str | None,
    moment: str | None,
    page_file: Path | None,
    certificate: Path | None,
    signing: bool,
    key: str | None,
    as_json: bool,
) -> int:
    """How complete a crawl is, and how far it holds together.

    Of CRAWL..., or of the newest one. C is the share of pages that are known to have been, at one
    moment of reference, what was captured; each page that was not is listed with the reason.
    Vertical completeness: of the URLs found that belong to the crawl, those captured. Horizontal:
    of the hosts that links lead to, in scope or not, those of which something was captured.
    """
    # Here, for measuring needs numpy, which takes longer to load than the rest.
    from asof.coherence.quality import chosen, quality

    if certificate is None:
        refuse_given(("signing", "key"), "{} is for a certificate, and none is asked for.")
    for out in filter(None, (page_file, certificate)):
        require_place(out)
    signer = Signing(signing, key).signer(SystemClock().now())
    with open_archive(folder) as archive, all_kept():
        choice = chosen(archive, crawls, prefix, moment)
        found = quality(archive, choice, where(folder), count_progress)
    if certificate is not None:
        _certify(folder, choice, certificate, signer)
    if page_file is not None:
        _write_page(found.report, page_file)
    if as_json:
        _print_json(found)
    else:
        _print_text(found)
    return 0


def _print_json(found: Quality) -> None:
    from asof.report.quality_json import page_json, report_json

    report, part = found.report, found.completeness
    said: dict[str, object] = {"crawl": found.name, "coherence": None}
    said |= {**report_json(report), "pages": []} if report else {}
    unknown = {"vertical": None, "horizontal": None}
    said["completeness"] = unknown if part is None else completeness_json(part)
    # Page by page: a million of them as values take more room than all else.
    head, mark, tail = json.dumps(said, ensure_ascii=False).rpartition('"pages": [')
    out = data()
    click.echo(head + mark, nl=False, file=out)
    for place, page in enumerate(report.measurement.pages if report else ()):
        out.write(", " * (place > 0) + json.dumps(page_json(page), ensure_ascii=False))
    click.echo(tail, file=out)


def _print_text(found: Quality) -> None:
    if found.report is not None:
        from asof.report.quality_text import report_text

        width = min(shutil.get_terminal_size().columns, 110)
        click.echo("\n".join(report_text(found.report, width)))
    elif found.completeness is not None:
        click.echo(f"Crawl {found.name}")
        print_completeness(found.completeness)
    if found.completeness is not None:
        _print_hosts(found.completeness)


def _write_page(report: Report | None, out: Path) -> None:
    if report is None:
        raise NotCaptured("Nothing was captured, so there is nothing to report.", hint="Crawl on.")
    from asof.report.quality_page import page

    with output_file(out) as file:
        file.write(page(report).encode())
    say(f"{out}: the report; open it in a browser")


def _certify(folder: Path, choice: Choice, out: Path, signer: Signer | None) -> None:
    from asof.coherence.certificate import drawn_audits
    from asof.coherence.certify import certify, write_certificate

    size = 2 * total_bytes(Folder(folder))
    with heavy_work("certifying", size) as (spread, progress), OpenArchive.open(folder) as archive:
        document = certify(archive, choice, spread=spread, progress=progress)
    by = ""
    if signer is not None:
        from asof.coherence.signed import sign

        document, by = sign(document, signer, archive.clock.now()), f" by {signer.public.name}"
    write_certificate(document, out)
    say(f"{out}: the certificate, sealed with {document['digest']}{by and ', signed'}{by}")
    drawn, unaudited = drawn_audits(document)
    if unaudited:
        say(missing_audits(drawn, unaudited))
    if document["unsound"]:
        say("Records that do not hold to their digests count for nothing: "
            f"{document['unsound']:,}; `asof check` lists them.")  # fmt: skip


def print_completeness(value: Completeness) -> None:
    for name, share, noun in (
        ("vertical", value.vertical, "URL"),
        ("horizontal", value.horizontal, "host"),
    ):
        told = f"{percent(share.share):>7}  {taken_of(share.taken, share.found, noun)}"
        click.echo(f"  {name + ' completeness':<23}  {told}")
    if value.traps.count:
        click.echo(f"  {likely_traps(value.traps.count, value.traps.example)}")


def _print_hosts(value: Completeness) -> None:
    missing = [(host, share) for host, share in value.hosts if share.missing]
    if missing:
        click.echo("  hosts that miss most")
    for host, share in missing[:_MOST_HOSTS]:
        click.echo(f"    {percent(share.share):>7}  {share.missing:>9,} missing  {printable(host)}")
    if len(missing) > _MOST_HOSTS:
        click.echo(f"    ... and {len(missing) - _MOST_HOSTS:,} more (--json lists up to 100)")
