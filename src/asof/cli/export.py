"""`asof export`: captures out, in other formats."""

import shutil
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir

import click

from asof.archive import OpenArchive
from asof.archive.export import EXPORTERS, Selection
from asof.cli.options import (
    archive_option,
    examples,
    file_option,
    json_option,
    require_folder,
    selection_options,
)
from asof.cli.output import count_progress, open_archive, print_json, say
from asof.errors import AsofError, NotCaptured, UsageError
from asof.files import scratch_folder

_NAMES = {
    "warc": "export.warc.gz",
    "cdxj": "export.cdxj",
    "parquet": "export.parquet",
    "trec": "export.trec",
    "wacz": "export.wacz",
    "documents": "documents.parquet",
}


def _export_documents(archive: OpenArchive, selection: Selection, out: Path) -> int:
    # Here, for it needs numpy, which takes longer to load than the rest.
    from asof.cover.documents.export_documents import export_documents

    return export_documents(archive, selection, out)


def _export_wacz(archive: OpenArchive, selection: Selection, out: Path) -> int:
    from asof.change.export_pages import export_with_texts
    from asof.cli.similar import read_texts

    if selection.everything:
        with suppress(AsofError):  # on a disk that takes nothing, say: then they are read below
            read_texts(archive)
    return export_with_texts(archive, selection, out)


_EXPORTERS = {**EXPORTERS, "wacz": _export_wacz, "documents": _export_documents}


@click.command(
    "export",
    epilog=examples(
        "asof export --format wacz -o site.wacz",
        "asof export --format cdxj -o - | head",
        "asof export --format warc --prefix https://example.org/ --to 2026-03",
        "asof export --format warc --cover monthly       what a saved cover keeps",
        "asof export --format documents -o docs.jsonl    texts, for `asof cover --from` and others",
        "asof export --format documents -o docs.parquet  the same for Spark",
    ),
)
@archive_option
@click.option("--format", "kind", required=True, type=click.Choice(list(_EXPORTERS)))
@file_option("-o", "--output", help="Where to [export.*]; - is stdout.")
@click.option("--cover", metavar="NAME", help="Only what a saved cover keeps.")
@selection_options
@json_option
def export_command(
    folder: Path,
    kind: str,
    output: Path | None,
    cover: str | None,
    as_json: bool,
    **selected: str | None,
) -> int:
    """Write captures to a file: all of them, or those selected.

    A selected revisit takes along the record that holds its payload. A WACZ lists pages with their
    titles and texts. `documents` is a table of what documents say, with what is known of them.
    """
    selection = Selection(**selected)
    if cover is not None and not selection.everything:
        raise UsageError(
            "A cover is a selection already.", hint="Leave out --url, --prefix, --from and --to."
        )
    with open_archive(folder) as archive:
        if cover is not None:
            from asof.cover.kept.export_cover import chosen_by_name
            from asof.cover.kept.saved_covers import load_cover

            selection = chosen_by_name(archive, load_cover(archive.folder, cover).kept)
        if output == Path("-"):
            return _to_stdout(archive, selection, kind)
        out = output or Path(_NAMES[kind])
        if out.exists():
            raise UsageError(f"{out} exists.", hint="Name another file with -o.")
        require_folder(out)
        _require_any(archive, selection)
        count = _export(archive, selection, kind, out)
    if as_json:
        print_json({"file": str(out), "format": kind, "captures": count})
    else:
        say(f"{count:,} captures written to {out}")
    return 0


def _export(archive: OpenArchive, selection: Selection, kind: str, out: Path) -> int:
    if kind == "documents":
        from asof.catalog.parquet import pyarrow
        from asof.cli.similar import read_texts
        from asof.cover.documents.export_documents import is_lines

        if not is_lines(out):
            pyarrow()  # if it is missing, that is said before all is read
        read_texts(archive)
    with count_progress("exporting", None):
        return _EXPORTERS[kind](archive, selection, out)


def _to_stdout(archive: OpenArchive, selection: Selection, kind: str) -> int:
    _require_any(archive, selection)
    with scratch_folder(Path(gettempdir()) / "asof-export") as scratch:
        path = scratch / _NAMES[kind]
        _export(archive, selection, kind, path)
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()
    return 0


def _require_any(archive: OpenArchive, selection: Selection) -> None:
    if next(selection.captures(archive), None) is None:
        raise NotCaptured("Nothing in the archive matches.", hint="`asof list` shows what it has.")
