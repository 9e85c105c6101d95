"""`asof export`: captures out, in other formats."""

from __future__ import annotations

from pathlib import Path

import click

from asof.archive import Archive
from asof.archive.export import EXPORTERS, Selection
from asof.cli.options import archive_option, examples, json_option, selection_options
from asof.cli.output import print_json, say
from asof.errors import UsageError

_NAMES = {
    "warc": "export.warc.gz",
    "cdxj": "export.cdxj",
    "parquet": "export.parquet",
    "trec": "export.trec",
    "wacz": "export.wacz",
}


@click.command(
    "export",
    epilog=examples(
        "asof export --format wacz -o site.wacz",
        "asof export --format warc --prefix https://example.org/ --to 2026-03",
    ),
)
@archive_option
@click.option("--format", "kind", required=True, type=click.Choice(list(EXPORTERS)))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="[export.*]")
@selection_options
@json_option
def export_command(
    folder: Path,
    kind: str,
    output: Path | None,
    url: str | None,
    prefix: str | None,
    since: str | None,
    until: str | None,
    as_json: bool,
) -> int:
    """Write captures to a file: all of them, or those selected.

    A selected revisit takes along the record that holds its payload.
    """
    out = output or Path(_NAMES[kind])
    if out.exists():
        raise UsageError(f"{out} exists.", hint="Remove it or name another file with -o.")
    if not out.parent.is_dir():
        raise UsageError(f"{out.parent} is not a folder.", hint="Make it first.")
    with Archive.open(folder) as archive:
        selection = Selection(url, prefix, since, until)
        exported = EXPORTERS[kind](archive, selection, out)
    if as_json:
        print_json({"file": exported.file, "format": kind, "captures": exported.captures})
    else:
        say(f"{exported.captures:,} captures written to {exported.file}")
    return 0
