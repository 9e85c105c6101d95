"""`asof import`, `asof check` and `asof reindex`: whole files in, and proof that they are whole."""

import os
from dataclasses import asdict
from pathlib import Path

import click

from asof.archive import OpenArchive
from asof.archive.check import Problem, check
from asof.archive.folder import Folder
from asof.archive.intake import Intake, import_files
from asof.archive.reindex import reindex, total_bytes
from asof.cli.options import archive_option, examples, file_option, json_option
from asof.cli.output import heavy_work, open_archive, print_json, say
from asof.config import Config
from asof.errors import InputError
from asof.model import Damage
from asof.report.words import missing_audits, number

_MOST_DAMAGE = 20
_MOST_PROBLEMS = 50


@click.command("import", epilog=examples("asof import crawl-*.warc.gz old.arc.gz collection.wacz"))
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@archive_option
@json_option
def import_command(files: tuple[Path, ...], folder: Path, as_json: bool) -> int:
    """Take in WARC, ARC, WACZ and TREC-Web files by any tool.

    What can be read comes in, flagged where something is wrong with it; damaged stretches are
    reported by file and offset, and what the archive has already is not stored again.
    """
    if not any(path.is_file() for path in files):  # for which no archive is made
        raise InputError(f"{files[0]} is not a file.", hint="Name WARC, ARC, WACZ or TREC files.")
    total = sum(path.stat().st_size for path in files if path.is_file())
    config = Config.load(folder, os.environ)
    with heavy_work("importing", total) as (spread, progress):
        taken, refused = import_files(Folder(folder), files, spread, progress, config)
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
        click.echo(f"{item.file}: {item.captures:,} captures in {item.records:,} records, {new}")
        if item.stored and not item.captures:
            say(f"{item.file} holds no capture; it is kept as {', '.join(item.stored)}.")
        if item.damage:
            say(f"{len(item.damage):,} damaged stretches in {item.file}:")
            _print_damage(item.damage)
        if item.flagged:
            say(f"kept and flagged, {len(item.flagged):,} in {item.file}:")
            _print_damage(item.flagged)


def _print_damage(damages: tuple[Damage, ...]) -> None:
    for damage in damages[:_MOST_DAMAGE]:
        say(f"  {damage.file} at {damage.offset:,}: {damage.reason}")
    if len(damages) > _MOST_DAMAGE:
        say(f"  ... and {len(damages) - _MOST_DAMAGE:,} more (--json lists all)")


@click.command("check", epilog=examples("asof check --json", "asof check --certificate crawl.json"))
@archive_option
@file_option("--certificate", help="Verify this certificate of coherence instead, by the WARC files"
             " alone.")  # fmt: skip
@json_option
def check_command(folder: Path, certificate: Path | None, as_json: bool) -> int:
    """Verify every record and digest, and that the catalog agrees.

    With --certificate, make a certificate of `asof quality` anew from the files it names and say
    what differs, and what the archive holds that it should have named. The catalog is not asked,
    and may be gone.
    """
    place = Folder(folder)
    place.require()
    if certificate is not None:
        return _check_certificate(place, certificate, as_json=as_json)
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
        verdict = "all well" if result.ok else f"{len(result.problems):,} problems"
        if result.ok and result.as_it_came:
            verdict = "all is as it came"
        click.echo(
            f"{verdict}: {result.records:,} records, {result.captures:,} captures "
            f"in {result.files:,} files"
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


def _check_certificate(place: Folder, certificate: Path, *, as_json: bool) -> int:
    from asof.coherence.recheck import MOST_DIFFERENCES, load_certificate, recheck
    from asof.report.terminal import harmless

    claim = load_certificate(certificate)
    size = total_bytes(place) + 2 * sum(item.size for item in claim.files)
    with heavy_work("checking", size) as (spread, progress):
        result = recheck(place, claim, spread=spread, progress=progress)
    drawn, unaudited = result.audits
    if as_json:
        told = {"ok": result.ok, "certificate": click.format_filename(certificate)}
        told |= {"digest": claim.digest, "drawn": drawn, "unaudited": unaudited}
        print_json({**told, "differences": result.differences})
    elif result.ok:
        click.echo(f"the certificate holds: {result.summary}\n  sealed with {claim.digest}")
        if unaudited:
            click.echo(f"  {missing_audits(drawn, unaudited)}")
    else:
        count = len(result.differences)
        click.echo(f"the certificate does not hold: {number(count, 'difference')}")
        for line in result.differences[:_MOST_PROBLEMS]:
            click.echo(f"  {harmless(line)}")
        if count > _MOST_PROBLEMS:
            more = f"{count - _MOST_PROBLEMS:,} more (--json lists up to {MOST_DIFFERENCES:,})"
            click.echo(f"  ... and {more}")
    return 0 if result.ok else 1


@click.command(
    "reindex",
    epilog=examples(
        "asof reindex            the catalog, from the WARC files alone",
        "asof reindex --text     read the documents that have not been read yet",
    ),
)
@archive_option
@click.option("--text", is_flag=True, help="Read the texts of documents, and compare versions.")
@json_option
def reindex_command(folder: Path, text: bool, as_json: bool) -> int:
    """Rebuild the catalog from the WARC files; or read texts.

    The files are only read. What a crawl found and did not take is not in them: of earlier crawls,
    `asof quality` knows nothing any more. With --text the catalog stays as it is; what was read
    before is not read again, so that an interrupted reading goes on where it stood.
    """
    place = Folder(folder)
    place.require()
    if text:
        return _read_texts(folder, as_json=as_json)
    with heavy_work("reading", total_bytes(place)) as (spread, progress):
        result = reindex(place, spread=spread, progress=progress)
    if as_json:
        print_json(asdict(result))
    else:
        click.echo(
            f"{result.captures:,} captures of {result.crawls:,} crawls in {result.segments:,} files"
        )
        _print_damage(result.damage)
    return 1 if result.damage else 0


def _read_texts(folder: Path, *, as_json: bool) -> int:
    from asof.cli.similar import read_texts

    with open_archive(folder) as archive:
        reading = read_texts(archive)
    if as_json:
        print_json(asdict(reading))
    else:
        unread = f", {reading.failed:,} of those now without success" if reading.failed else ""
        click.echo(
            f"{reading.documents:,} documents are read{unread}; "
            f"{reading.judged:,} captures were compared with their predecessors"
        )
    return 0
