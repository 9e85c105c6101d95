"""`asof export`: captures out, in other formats."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from itertools import chain
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

import click

from asof.archive import OpenArchive
from asof.archive.export import EXPORTERS, Selection
from asof.cli.key import Signing, sign_options
from asof.cli.options import (
    ADD_IT,
    archive_option,
    examples,
    file_option,
    json_option,
    moment_option,
    policy_option,
    refuse_given,
    require_empty_folder,
    require_place,
    selection_options,
)
from asof.cli.output import count_progress, open_archive, print_json, say
from asof.clock import SystemClock, iso
from asof.config import Config
from asof.errors import AsofError, NotCaptured, UsageError
from asof.files import scratch_folder, with_reserve
from asof.report.words import number

if TYPE_CHECKING:
    from asof.signing.keyring import Signer
    from asof.warc.foreign.wacz_write import Sign

_NAMES = {
    "warc": "export.warc.gz",
    "cdxj": "export.cdxj",
    "parquet": "export.parquet",
    "trec": "export.trec",
    "wacz": "export.wacz",
    "documents": "documents.jsonl",
}


def _export_documents(archive: OpenArchive, selection: Selection, out: Path) -> int:
    # Here, for it needs numpy, which takes longer to load than the rest.
    from asof.cover.documents.export_documents import export_documents

    return export_documents(archive, selection, out)


def _export_wacz(
    archive: OpenArchive, selection: Selection, out: Path, sign: Sign | None = None
) -> int:
    from asof.change.export_pages import export_with_texts
    from asof.cli.reading import read_texts

    if selection.everything:
        with suppress(AsofError):  # on a disk that takes nothing, say: then they are read below
            read_texts(archive)
    return export_with_texts(archive, selection, out, sign)


_EXPORTERS = {**EXPORTERS, "wacz": _export_wacz, "documents": _export_documents}


@click.command(
    "export",
    epilog=examples(
        "asof export --format wacz -o site.wacz",
        "asof export --format wacz -o site.wacz --sign   by your key (`asof key new`)",
        "asof export --format cdxj -o - | head",
        "asof export --format warc --prefix https://example.org/ --to 2026-03",
        "asof export --format warc --cover monthly       what a saved cover keeps",
        "asof export --format documents -o docs.jsonl    texts, for `asof cover --from` and others",
        "asof export --format documents -o docs.parquet  the same for Spark",
        "asof export --format files --at 2026-03 -o site  a mirror; open site/index.html",
    ),
)
@archive_option
@click.option("--format", "kind", required=True, type=click.Choice([*_EXPORTERS, "files"]))
@file_option(
    "-o",
    "--output",
    help="Where to; nothing is written over. - is stdout. [export.*, documents.jsonl, mirror]",
)
@click.option("--cover", metavar="NAME", help="Only what a saved cover keeps.")
@selection_options
@sign_options
@moment_option
@policy_option
@click.option("--scripts/--no-scripts", default=False, help="Of files: let archived scripts run.")
@json_option
def export_command(
    folder: Path,
    kind: str,
    output: Path | None,
    cover: str | None,
    signing: bool,
    key: str | None,
    moment: str,
    policy: str,
    scripts: bool,
    as_json: bool,
    **selected: str | None,
) -> int:
    """Write captures to a file: all of them, or those selected.

    A selected revisit takes along the record that holds its payload. A WACZ lists pages with their
    titles and texts. A CDXJ is of the archive's files as they are: a 304 that another tool or an
    earlier version wrote is an empty page in pywb, unless it has what --format warc writes.
    `documents` is a table of what documents say, with what is known of them.
    `files` is a new folder that a browser opens without a server: each page as of a moment (--at),
    with the parts of that moment, chosen by --policy. Nothing in it comes from the live web.
    """
    selection, said = Selection(**selected), print_json if as_json else _tell
    if kind != "wacz":
        refuse_given(("signing", "key"), "{} is for a WACZ: no other format has signatures.")
    if kind == "files":
        refuse_given(("cover", "since", "until"), "{} is for captures; files are as of --at.")
        said(_export_files(folder, output or Path("mirror"), selection, moment, policy, scripts))
        return 0
    refuse_given(("moment", "policy", "scripts"), "{} needs --format files.", ADD_IT)
    signer = Signing(signing, key).signer(SystemClock().now())
    with open_archive(folder) as archive:
        if cover is not None:
            selection = _of_cover(archive, selection, cover)
        if output == Path("-"):
            return _to_stdout(archive, selection, kind, signer)
        out = output or Path(_NAMES[kind])
        require_place(out)
        _require_any(archive, selection)
        count = _export(archive, selection, kind, out, signer)
    by = {} if signer is None else {"signed_by": signer.public.name}
    said({"file": str(out), "format": kind, "captures": count, **by})
    return 0


def _tell(done: dict[str, Any]) -> None:
    if "file" in done:
        by = f", signed by {done['signed_by']}" if "signed_by" in done else ""
        noun = "document" if done["format"] == "documents" else "capture"
        say(f"{number(done['captures'], noun)} written to {done['file']}{by}")
        return
    pages, files = number(done["pages"], "page"), number(done["files"], "file")
    say(f"{pages} ({files}) written to {done['folder']}: open {done['folder']}/index.html")


def _of_cover(archive: OpenArchive, selection: Selection, cover: str) -> Selection:
    from asof.cover.kept.export_cover import chosen_by_name
    from asof.cover.kept.saved_covers import load_cover

    if not selection.everything:
        raise UsageError(
            "A cover is a selection already.", hint="Leave out --url, --prefix, --from and --to."
        )
    return chosen_by_name(archive, load_cover(archive.folder, cover).kept)


def _export(
    archive: OpenArchive, selection: Selection, kind: str, out: Path, signer: Signer | None
) -> int:
    if kind == "documents":
        from asof.catalog.parquet import pyarrow
        from asof.cli.reading import read_texts
        from asof.cover.documents.export_documents import is_lines

        if not is_lines(out):
            pyarrow()  # if it is missing, that is said before all is read
        read_texts(archive)
    room = Config.load(archive.folder.root, os.environ).room
    with with_reserve(room), count_progress("exporting", None):
        if signer is not None:
            return _export_wacz(archive, selection, out, signer.texts)
        return _EXPORTERS[kind](archive, selection, out)


def _export_files(
    folder: Path, out: Path, selection: Selection, moment: str, policy: str, scripts: bool
) -> dict[str, Any]:
    # Here, for no other format needs readers and templates of pages.
    from asof.replay.choose import Policy
    from asof.report.mirror import Wanted, export_mirror

    require_empty_folder(out)
    config = Config.load(folder, os.environ)
    with open_archive(folder) as archive, count_progress("exporting", None) as advance:
        wanted = Wanted(selection, archive.moment(moment), Policy(policy), scripts)
        done = export_mirror(archive, archive.chooser, wanted, out, config, advance)
    return {
        "folder": str(out), "format": "files", "asked": iso(wanted.at), "policy": policy,
        "pages": len(done.pages), "files": done.files, "bytes": done.bytes,
        "missing": done.missing,
        "counts": done.counts,
    }  # fmt: skip


def _to_stdout(archive: OpenArchive, selection: Selection, kind: str, signer: Signer | None) -> int:
    _require_any(archive, selection)
    with scratch_folder(Path(gettempdir()) / "asof-export") as scratch:
        path = scratch / _NAMES[kind]
        _export(archive, selection, kind, path, signer)
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()
    return 0


def _require_any(archive: OpenArchive, selection: Selection) -> None:
    if next(chain(selection.captures(archive), selection.apart(archive)), None) is None:
        raise NotCaptured("Nothing in the archive matches.", hint="`asof list` shows what it has.")
