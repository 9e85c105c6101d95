"""`asof import`, `asof check` and `asof reindex`: whole files in, and proof that they are whole."""

import os
from dataclasses import asdict
from pathlib import Path

import click

from asof.archive import OpenArchive
from asof.archive.check import Problem, check
from asof.archive.folder import Folder
from asof.archive.intake import Intake, files_of, import_files, no_file
from asof.archive.reindex import reindex, total_bytes
from asof.cli.options import (
    archive_option,
    examples,
    file_option,
    json_option,
    no_archive,
    refuse_given,
)
from asof.cli.output import heavy_work, open_archive, print_json, say
from asof.config import Config
from asof.errors import UsageError
from asof.model import Damage
from asof.report.words import ARE, WERE, number

_MOST_DAMAGE = 20
_MOST_PROBLEMS = 50


@click.command(
    "import",
    epilog=examples(
        "asof import crawl-*.warc.gz old.arc.gz collection.wacz", "asof import folder/"
    ),
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@archive_option
@json_option
def import_command(files: tuple[Path, ...], folder: Path, as_json: bool) -> int:
    """Take in WARC, ARC, WACZ and TREC-Web files by any tool.

    Of a folder all WARC, ARC and WACZ files in it and below it, in order; links are not followed.
    What can be read comes in, flagged where something is wrong with it; damaged stretches are
    reported by file and offset, and what the archive has already is not stored again.
    """
    found = files_of(files)
    if not any(path.is_file() for path in found):  # for which no archive is made
        raise no_file(files[0])
    total = sum(path.stat().st_size for path in found if path.is_file())
    config = Config.load(folder, os.environ)
    with heavy_work("importing", total) as (spread, progress):
        taken, refused = import_files(Folder(folder), found, spread, progress, config)
    _report_import(taken, as_json)
    for refusal in refused:
        say(f"asof: {refusal}")
    if refused:
        return 2
    return 1 if any(item.damage or item.flagged for item in taken) else 0


def _report_import(taken: list[Intake], as_json: bool) -> None:
    if as_json:
        added = sum(item.added for item in taken)
        damaged = sum(len(item.damage) for item in taken)
        files = [asdict(item) for item in taken]
        print_json({"files": files, "added": added, "damaged": damaged})
        return
    for item in taken:
        new = f"{item.added:,} new" if item.added or item.stored else "nothing new"
        held = f"{number(item.captures, 'capture')} in {number(item.records, 'record')}"
        click.echo(f"{item.file}: {held}, {new}")
        if item.stored and not item.captures:
            say(f"{item.file} holds no capture; it is kept as {', '.join(item.stored)}.")
        if item.damage:
            say(f"{number(len(item.damage), 'damaged stretch')} in {item.file}:")
            _print_damage(item.damage)
        if item.flagged:
            say(f"kept and flagged, {len(item.flagged):,} in {item.file}:")
            _print_damage(item.flagged)


def _print_damage(damages: tuple[Damage, ...]) -> None:
    for damage in damages[:_MOST_DAMAGE]:
        say(f"  {damage.file} at {damage.offset:,}: {damage.reason}")
    if len(damages) > _MOST_DAMAGE:
        say(f"  ... and {len(damages) - _MOST_DAMAGE:,} more (--json lists all)")


@click.command(
    "check",
    epilog=examples(
        "asof check                        every record of the archive",
        "asof check site.wacz              a WACZ, and by whom it is signed",
        "asof check certificate.json       a certificate, by the archive's files",
        "asof check site.wacz --signed     not without a signature",
        "asof check site.wacz --key archive.pem",
    ),
)
@click.argument("file", required=False, type=click.Path(path_type=Path), callback=no_archive)
@archive_option
@file_option("--certificate", help="The same as FILE.")
@click.option("--signed", is_flag=True, help="Ask for a signature.")
@click.option(
    "--key", metavar="KEY", help="Ask for this signature: a public key's FILE, or its fingerprint."
)
@json_option
def check_command(
    file: Path | None, folder: Path, certificate: Path | None, signed: bool, key: str | None,
    as_json: bool,
) -> int:  # fmt: skip
    """Verify every record and digest, and that the catalog agrees.

    With FILE, a certificate of `asof quality`: make it anew from the WARC files it names and say
    what differs, and what the archive holds that it should have named; the catalog is not asked,
    and may be gone. Or a WACZ: verify the digests of all it holds. If FILE is signed, say by whom.

    Ends with 0 if all holds and a signature is of a key you know, 1 if something was changed, 3 if
    the key is not one you trust, 4 if it was not valid at that moment, 5 if a signature is asked
    for and missing, 6 if it cannot be read.
    """
    if (wanted := file or certificate) is not None:
        from asof.cli.check_file import check_file

        if file is not None and certificate is not None:
            raise UsageError("FILE and --certificate are the same.", hint="Give one of them.")
        return check_file(wanted, folder, key, signed=signed, as_json=as_json)
    refuse_given(("signed", "key"), "{} is about a certificate or a WACZ, and none is named.")
    place = Folder(folder)
    place.require()
    with (
        heavy_work("checking", total_bytes(place)) as (spread, progress),
        OpenArchive.open(folder) as archive,
    ):
        result = check(archive, spread=spread, progress=progress)
    if as_json:
        told = {"problems": result.problems, "as_it_came": result.as_it_came}
        lists = {name: [_problem_json(each) for each in found] for name, found in told.items()}
        print_json({"ok": result.ok, **asdict(result), **lists})
    else:
        verdict = "all well" if result.ok else number(len(result.problems), "problem")
        if result.ok and result.as_it_came:
            verdict = "all is as it came"
        click.echo(
            f"{verdict}: {number(result.records, 'record')}, {number(result.captures, 'capture')} "
            f"in {number(result.files, 'file')}"
        )
        _print_problems(result.problems)
        if result.as_it_came:
            count = number(len(result.as_it_came), "record")
            click.echo(f"not whole, or not sure, in the files as they came, not since: {count}")
            _print_problems(result.as_it_came)
    return 0 if result.ok else 1


def _problem_json(problem: Problem) -> dict[str, object]:
    return {**asdict(problem), "record_id": problem.record_id and problem.record_id.strip("<>")}


def _print_problems(problems: tuple[Problem, ...]) -> None:
    for problem in problems[:_MOST_PROBLEMS]:
        click.echo(f"  {problem.file} at {problem.offset:,}: {problem.problem}")
    if len(problems) > _MOST_PROBLEMS:
        click.echo(f"  ... and {len(problems) - _MOST_PROBLEMS:,} more (--json lists all)")


@click.command(
    "reindex",
    epilog=examples(
        "asof reindex            the catalog, from the WARC files alone",
        "asof reindex --text     read the documents that have not been read yet",
        "asof reindex --search   read them, and bring the index of `asof search` up to date",
    ),
)
@archive_option
@click.option("--text", is_flag=True, help="Read the texts of documents, and compare versions.")
@click.option("--search", is_flag=True, help="Read them, and index their words.")
@json_option
def reindex_command(folder: Path, text: bool, search: bool, as_json: bool) -> int:
    """Rebuild the catalog from the files; read, or index, texts.

    The files are only read. What a crawl found and did not take is not in them: of earlier crawls,
    `asof quality` knows nothing any more. With --text or --search the catalog stays as it is; what
    was read or indexed before is not again, so that what is interrupted goes on where it stood.
    """
    place = Folder(folder)
    place.require()
    if text:
        _read_texts(folder, as_json=as_json)
    if search:
        _index_texts(folder, as_json=as_json)
    if text or search:
        return 0
    with heavy_work("reading", total_bytes(place)) as (spread, progress):
        result = reindex(place, spread=spread, progress=progress)
    if as_json:
        print_json(asdict(result))
    else:
        click.echo(
            f"{number(result.captures, 'capture')} of {number(result.crawls, 'crawl')} "
            f"in {number(result.segments, 'file')}"
        )
        _print_damage(result.damage)
        if result.forgotten:
            gone = number(result.forgotten, "URL", ARE)
            say(f"{gone} forgotten that crawls had found and not taken: WARC files hold captures.")
    return 1 if result.damage else 0


def _index_texts(folder: Path, *, as_json: bool) -> None:
    from asof.cli.reading import index_texts

    with open_archive(folder) as archive:
        updated = index_texts(archive)
    if as_json:
        print_json(asdict(updated))
    else:
        click.echo(
            f"{number(updated.entered, 'content', WERE)} entered into the index, "
            f"{number(updated.gone, 'content')} taken out; it holds {updated.indexed:,}"
        )


def _read_texts(folder: Path, *, as_json: bool) -> None:
    from asof.cli.reading import read_texts

    with open_archive(folder) as archive:
        reading = read_texts(archive)
    if as_json:
        print_json(asdict(reading))
    else:
        unread = f", {reading.failed:,} of those now without success" if reading.failed else ""
        click.echo(
            f"{number(reading.documents, 'document', ARE)} read{unread}; "
            f"{number(reading.judged, 'capture', WERE)} compared with what was there before"
        )
