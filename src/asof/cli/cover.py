"""`asof cover`: the smallest set of documents that covers all others, by a rule of the user's."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Literal

import click

from asof.archive.covers import check_name
from asof.archive.folder import Folder
from asof.cli.cover_output import outcome_json, print_outcome, write_csv, write_page
from asof.cli.cover_saved import print_difference, print_estimate, save
from asof.cli.options import archive_option, examples, json_option, size
from asof.cli.output import count_progress, open_archive, print_json, say
from asof.errors import UsageError

if TYPE_CHECKING:
    from asof.cover.collection import Collection
    from asof.cover.run import Outcome, Wishes


@click.command(
    "cover",
    epilog=examples(
        "asof cover 'C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2)'",
        "asof cover 'J(d1,d2) >= 0.9 and hostname(d1) = hostname(d2)' --at-least '2 per hostname'",
        "asof cover 'C(d1,d2) >= 0.8' --from docs.jsonl --json",
        "asof cover 'C(d1,d2) >= 0.7 or url(d1) = url(d2)' --explain",
        "asof cover 'C(d1,d2) >= 0.7' --save may && asof cover --diff april may",
    ),
)
@click.argument("relation", required=False)
@archive_option
@click.option("--from", "table", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Documents of a table (JSON lines, Parquet), not of an archive.")  # fmt: skip
@click.option("--where", metavar="FILTER", help="Only documents d that meet this condition.")
@click.option("-k", type=click.IntRange(min=1), default=5, show_default=True, metavar="N",
              help="Words of a shingle.")  # fmt: skip
@click.option("--text", "which", type=click.Choice(["main", "full"]), default="main",
              show_default=True, help="Compare main content, or all text.")  # fmt: skip
@click.option("--at-least", metavar="'M per ATTR'", help="Keep M documents of each value.")
@click.option("--prefer", metavar="ATTR",
              help="Of the smallest sets, that of the highest sum (or `recency`).")  # fmt: skip
@click.option("--solver", type=click.Choice(["auto", "seed"]), default="auto", show_default=True,
              help="seed: brute force to ten documents, then greedy.")  # fmt: skip
@click.option("--time-limit", type=click.FloatRange(0, 1e9), default=60.0, show_default=True,
              metavar="S", help="Seconds for proving that nothing smaller exists.")  # fmt: skip
@click.option("--memory", type=size, metavar="N", help="Bytes (MB, GB) for the join, at most.")
@click.option("--csv", "csv_file", type=click.Path(path_type=Path, dir_okay=False),
              metavar="FILE", help="Write every document and what became of it.")  # fmt: skip
@click.option("--html", "page_file", type=click.Path(path_type=Path, dir_okay=False),
              metavar="FILE", help="Write a reading list, as one HTML page.")  # fmt: skip
@click.option("--save", "name", metavar="NAME", help="Save the answer in the archive by this name.")
@click.option("--diff", "names", nargs=2, metavar="A B",
              help="What is kept by one of two saved answers only; run nothing.")  # fmt: skip
@click.option("--estimate", "foretell", is_flag=True,
              help="Say about how long it takes and what comes; run nothing.")  # fmt: skip
@click.option("--explain", is_flag=True, help="Say how the relation will be used; run nothing.")
@json_option
def cover_command(
    relation: str | None,
    folder: Path,
    table: Path | None,
    where: str | None,
    k: int,
    which: str,
    at_least: str | None,
    prefer: str | None,
    solver: str,
    time_limit: float,
    memory: int | None,
    csv_file: Path | None,
    page_file: Path | None,
    name: str | None,
    names: tuple[str, str] | None,
    foretell: bool,
    explain: bool,
    as_json: bool,
) -> int:
    """The smallest set of documents that covers all others by RELATION.

    RELATION says when d2 covers d1, so that d1 need not be kept: bounds on the shingles they share
    (C containment of d1 in d2, J Jaccard, D Dice) and conditions on what is known of both
    (url, hostname, domain, timestamp, mime-type, title, length, language, crawl, or the columns of
    the table), with and, or, not. Nothing is deleted. Ctrl-C once: the best found so far.
    """
    if (relation is None) == (names is None):
        raise UsageError("Write a relation, or --diff A B.", hint="`asof cover --help` has some.")
    if relation is None:
        assert names is not None
        return print_difference(folder, names, as_json=as_json)
    if _explained(relation, where, explain=explain):
        return 0
    wishes = _wishes(at_least, prefer, solver, time_limit)
    _check_places(folder, name, csv_file, page_file)
    collection = _collection(folder, table, where, k, which)
    if foretell:
        return print_estimate(collection, relation, memory, as_json=as_json)
    outcome = _run(collection, relation, wishes, memory)
    if name is not None:
        save(folder, name, outcome)
    if as_json:
        print_json(outcome_json(outcome))
    else:
        print_outcome(outcome)
    if csv_file is not None:
        write_csv(outcome, csv_file)
    if page_file is not None:
        write_page(outcome, wishes, str(folder if table is None else table), page_file)
    return 0


def _explained(relation: str, where: str | None, *, explain: bool) -> bool:
    """Check what was written before documents are read; say how it is used if that is asked."""
    # Here, for all of this needs numpy, which takes longer to load than the rest.
    from asof.cover.analyse import parse_relation
    from asof.cover.explain import explain as explained
    from asof.cover.parse import parse_filter

    parsed = parse_relation(relation)
    if where is not None:
        parse_filter(where)
    if explain:
        click.echo(explained(parsed))
    return explain


def _check_places(folder: Path, name: str | None, *files: Path | None) -> None:
    """What is to be written can be: before the work, not after it."""
    if name is not None:
        check_name(name)
        Folder(folder).require()
    for out in files:
        if out is not None and not out.absolute().parent.is_dir():
            raise UsageError(f"There is no folder for {out}.", hint="Make it, or name another.")


def _wishes(at_least: str | None, prefer: str | None, solver: str, time_limit: float) -> Wishes:
    from asof.cover.run import Wishes

    least = None
    if at_least is not None:
        found = re.fullmatch(r"\s*(\d{1,9})\s+per\s+(\S+)\s*", at_least)
        if found is None or not int(found[1]):
            raise UsageError(
                f"--at-least {at_least!r} is not understood.", hint="Write '2 per hostname'."
            )
        least = (int(found[1]), found[2])
    return Wishes(least, prefer, "seed" if solver == "seed" else "auto", time_limit)


def _collection(
    folder: Path, table: Path | None, where: str | None, k: int, which: str
) -> Collection:
    from asof.cover.collection import chosen

    if table is not None:
        from asof.cover.tables import read_table

        read = read_table(table)
        found = read.collection(k)
        if where is not None:
            found = found.only(chosen(where, read.columns, read.texts))
    else:
        from asof.archive.shingle_cache import collected_or_kept, is_kept
        from asof.cli.similar import read_texts

        text: Literal["main", "full"] = "full" if which == "full" else "main"
        with open_archive(folder) as archive:
            if not is_kept(archive, text, k):
                read_texts(archive)
            with count_progress("gathering", archive.catalog.count()) as progress:
                found = collected_or_kept(archive, which=text, k=k, where=where, progress=progress)
    if not len(found):
        place = folder if table is None else table
        # No captures are asked for here, but documents to compare: exit 2, as issue 6 has it.
        raise UsageError(f"{place} holds no such documents.", hint="Widen --where, or crawl.")
    return found


def _run(collection: Collection, relation: str, wishes: Wishes, memory: int | None) -> Outcome:
    from asof.cover.pairs import Limits
    from asof.cover.run import thin_out

    with _stoppable() as stopped, _stages() as progress:
        limits = Limits(memory=memory, progress=progress, cancel=stopped)
        return thin_out(collection, relation, wishes, limits)


@contextmanager
def _stoppable() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed; pressed again it ends the command as always."""
    pressed = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        say("Stopping: the best that was found so far follows. Ctrl-C again to end at once.")

    before = signal.signal(signal.SIGINT, press)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _stages() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each stage, for those who watch."""
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress, TaskID

    with Progress(console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield show
