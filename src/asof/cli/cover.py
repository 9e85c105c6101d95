"""`asof cover`: the smallest set of documents that covers all others, by a rule of the user's."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from asof.archive.folder import Folder
from asof.cli import cover_print
from asof.cli.options import (
    SERVED,
    archive_option,
    examples,
    file_option,
    json_option,
    refuse_given,
    require_place,
    size,
)
from asof.cli.output import count_progress, open_archive, print_json, say, stage_progress
from asof.clock import SystemClock
from asof.config import named_relations
from asof.cover.kept import saved_covers as saved
from asof.cover.question import Question, Solver, parse_at_least
from asof.errors import UsageError
from asof.report.cover_export import answer_json

if TYPE_CHECKING:
    from asof.cover.answer import CoverAnswer
    from asof.cover.ask import CoverWatch

# What --again takes from the saved answer: the options that say what is asked.
_ASKED = (
    "table", "where", "k", "terms", "text", "at_least", "prefer", "solver", "time_limit",
)  # fmt: skip
_WRITTEN = ("save", "csv", "html")
_TWICE = 1.0  # seconds: a key that is pressed again sooner was pressed once


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The command line."""

    relation: str | None
    folder: Path
    table: str | None
    engine: str
    master: str | None
    target: str | None
    where: str | None
    k: int
    terms: str
    text: str
    at_least: tuple[str, ...]
    prefer: str | None
    solver: Solver
    time_limit: float
    memory: int | None
    csv: Path | None
    html: Path | None
    links: str
    save: str | None
    name: str | None
    again: str | None
    listing: bool
    diff: tuple[str, str] | None
    estimate: bool
    explain: bool
    as_json: bool

    @property
    def question(self) -> Question:
        least = parse_at_least(self.at_least[0]) if self.at_least else None
        return Question(
            self.relation or "", self.table, self.where, self.k, self.text, least, self.prefer,
            self.solver, self.time_limit, self.terms,
        )  # fmt: skip


@click.command(
    "cover",
    epilog=examples(
        "asof cover 'C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2)'",
        "asof cover 'J(d1,d2) >= 0.9 and hostname(d1) = hostname(d2)' --at-least '2 per hostname'",
        "asof cover 'C(d1,d2) >= 0.8' --from docs.jsonl --json",
        "asof cover 'C(d1,d2) >= 0.7 or url(d1) = url(d2)' --explain",
        "asof cover 'C(d1,d2) >= 0.7' --save may && asof cover --diff april may",
        "asof cover 'J(d1,d2) >= 0.9' --name copies && asof cover copies",
    ),
)
@click.argument("relation", required=False)
@archive_option
@click.option("--from", "table", metavar="FILE",
              help="Documents of a table (JSON lines, Parquet, a folder of Parquet), not of an "
                   "archive.")  # fmt: skip
@click.option("--engine", type=click.Choice(["local", "spark"]), default="local",
              show_default=True, help="spark: covers a table of Parquet on Spark.")  # fmt: skip
@click.option("--master", metavar="URL", help="Spark's master, if it is not this machine.")
@click.option("--to", "target", metavar="PATH", help="Spark writes the answer here, as Parquet.")
@click.option("--where", metavar="FILTER", help="Only documents d that meet this condition.")
@click.option("-k", type=click.IntRange(1, 10_000), default=5, show_default=True, metavar="N",
              help="Terms of a shingle.")  # fmt: skip
@click.option("--terms", type=click.Choice(["words", "characters"]), default="words",
              show_default=True, help="Characters suit scripts without spaces.")  # fmt: skip
@click.option("--text", type=click.Choice(["main", "full"]), default="main",
              show_default=True, help="Compare main content, or all text.")  # fmt: skip
@click.option("--at-least", metavar="'M per ATTR'", multiple=True,
              help="Keep M documents of each value.")  # fmt: skip
@click.option("--prefer", metavar="ATTR",
              help="Of the smallest sets, that of the highest sum; also recency, and of an "
                   "archive inlinks, coherence.")  # fmt: skip
@click.option("--solver", type=click.Choice(["auto", "seed"]), default="auto", show_default=True,
              help="seed: brute force to ten documents, then greedy.")  # fmt: skip
@click.option("--time-limit", type=click.FloatRange(0, 1e9), default=60.0, show_default=True,
              metavar="S", help="Seconds for proving that nothing smaller exists.")  # fmt: skip
@click.option("--memory", type=size, metavar="N", help="Bytes (MB, GB) for the join, at most.")
@file_option("--csv", help="Write every document and what became of it.", dir_okay=False)
@file_option("--html", help="Write a reading list, as one HTML page.", dir_okay=False)
@click.option("--links", default=SERVED, show_default=True, metavar="URL",
              help="Where its links lead: to `asof serve` there, or `live`.")  # fmt: skip
@click.option("--save", metavar="NAME", help="Save the answer in the archive by this name.")
@click.option("--name", metavar="NAME", help="Give RELATION this name, in the archive's asof.toml.")
@click.option("--again", metavar="NAME", help="Ask once more what a saved answer was asked.")
@click.option("--list", "listing", is_flag=True, help="Saved answers and relations by name.")
@click.option("--diff", nargs=2, metavar="A B",
              help="What is kept by one of two saved answers only; run nothing.")  # fmt: skip
@click.option("--estimate", is_flag=True,
              help="Say about how long it takes and what comes; run nothing.")  # fmt: skip
@click.option("--explain", is_flag=True, help="Say how the relation will be used; run nothing.")
@json_option
def cover_command(**given: Any) -> int:  # noqa: ANN401, as CommandLine has them
    """The smallest set of documents that covers all others.

    RELATION says when d2 covers d1, so that d1 need not be kept: bounds on the shingles they share
    (C containment of d1 in d2, J Jaccard, D Dice) and conditions on what is known of both
    (url, hostname, domain, timestamp, mime-type, title, length, size, language, status, crawl, or
    the columns of the table), with and, or, not. Nothing is deleted. Ctrl-C once: the best found
    so far.
    """
    asked = CommandLine(**given)
    _check_alone(asked)
    if asked.listing or asked.diff is not None:
        return _show_saved(asked)
    return _on_spark(asked) if asked.engine == "spark" else _on_this_machine(asked)


def _show_saved(asked: CommandLine) -> int:
    place, as_json = Folder(asked.folder), asked.as_json
    if asked.diff is not None:
        place.require()
        a, b = (saved.load_cover(place, name) for name in asked.diff)
        cover_print.print_difference(saved.diff_covers(a, b), as_json=as_json)
        return 0
    covers, relations = saved.saved_covers(place), named_relations(asked.folder)
    if not covers and not relations:
        place.require()
    cover_print.print_covers(covers, relations, as_json=as_json)
    return 0


def _on_this_machine(asked: CommandLine) -> int:
    # Here, for it needs numpy, which takes longer to load than all the rest.
    from asof.cover.ask import ask, foretell, name_relation, prepare

    question, folder = asked.question, asked.folder
    if asked.master or asked.target:
        raise UsageError("--master and --to are for Spark.", hint="Add --engine spark.")
    prepared = prepare(folder, question, asked.again)
    question = prepared.question
    if asked.name is not None:
        path, before = name_relation(folder, asked.name, question.relation)
        was = f" (it was: {before})" if before not in (None, question.relation) else ""
        say(f"{path}: {asked.name} is a relation now: `asof cover {asked.name}`{was}")
    if asked.explain:
        from asof.report.relation_words import explain

        told, where = explain(prepared.relation, prepared.where), question.where
        if asked.as_json:
            print_json({"relation": question.relation, "where": where, "explained": told})
        else:
            click.echo(told)
        return 0
    _check_places(asked, question.table)
    if asked.estimate:
        expected = foretell(prepared, _watch(), asked.memory)
        cover_print.print_estimate(expected, as_json=asked.as_json)
        return 0
    answer = ask(prepared, _watch(), asked.memory)
    if asked.save is not None:
        _save(folder, asked.save, answer)
    return _tell(asked, answer)


def _on_spark(asked: CommandLine) -> int:
    from asof.cover.ask import meant
    from asof.cover.spark.answer import answer_on_spark

    question = meant(asked.folder, asked.question, asked.again)[0]
    local = asked.save, asked.name, asked.html, asked.estimate, asked.explain, asked.memory
    if any(local):
        raise UsageError(
            "--save, --name, --html, --estimate, --explain and --memory are for the local engine.",
            hint="Leave them out, or --engine spark.",
        )
    _check_places(asked, question.table)
    shown = None if asked.as_json or asked.csv is not None else cover_print.SHOWN
    return _tell(asked, answer_on_spark(question, asked.master, asked.target, shown))


def _tell(asked: CommandLine, answer: CoverAnswer) -> int:
    if asked.csv is not None:
        cover_print.write_csv(answer.documents, asked.csv)
        say(f"{asked.csv}: every document and what became of it")
    if asked.html is not None:
        title = answer.question.table or str(asked.folder)
        is_archive = answer.question.table is None and asked.links != "live"
        served = asked.links.rstrip("/") if is_archive else ""
        cover_print.write_page(answer, title, asked.html, served)
        say(f"{asked.html}: what stays, and what it covers")
    if asked.as_json:
        print_json(answer_json(answer.figures, answer.documents))
    else:
        cover_print.print_answer(answer)
    return 0 if answer.figures.complete else 130


def _save(folder: Path, name: str, answer: CoverAnswer) -> None:
    from asof.cover.ask import save

    before = saved.cover_path(Folder(folder), name).exists()
    path = save(folder, name, answer, SystemClock().now())
    if path is None:
        say(f"{name} stays as it was: this run was stopped. Save it by another name.")
        return
    instead = ", in the place of an older one" if before else ""
    say(f"{path}: the answer, saved as {name}{instead}")


# -- what does not go together ---------------------------------------------------------------------


def _check_alone(asked: CommandLine) -> None:
    """One thing is asked, and with what runs nothing no option that only a run heeds."""
    things = (asked.relation, asked.diff, asked.again, asked.listing or None)
    if sum(thing is not None for thing in things) != 1:
        raise UsageError(
            "Write one of these, and one only: a relation or its name, --again, --diff, --list.",
            hint="A relation is 'C(d1,d2) >= 0.8', for one; `asof cover --help` has more.",
        )
    if asked.listing or asked.diff is not None:
        what = "--list" if asked.listing else "--diff"
        refuse_given(_ASKED + _WRITTEN, f"{what} runs nothing that {{}} could be for.")
    if asked.explain or asked.estimate:
        what = "--explain" if asked.explain else "--estimate"
        refuse_given(_WRITTEN, f"{what} runs nothing that {{}} could be for.")
    if asked.again is not None:
        refuse_given(_ASKED, "--again asks what was asked; {} would change it.")
    if len(asked.at_least) > 1:
        raise UsageError("--at-least stands there twice.", hint="One is all that can be wished.")


def _check_places(asked: CommandLine, table: str | None) -> None:
    """What is to be written can be, and over nothing that is needed: before the work, not after."""
    if asked.save is not None:
        saved.check_name(asked.save)
        Folder(asked.folder).require()
    taken = {Path(table).resolve()} if table is not None else set()
    for out in filter(None, (asked.csv, asked.html)):
        if out.is_file() or not out.exists():
            if out.resolve() in taken:
                raise UsageError(f"{out} is named twice.", hint="Write to a file of its own.")
            taken.add(out.resolve())
        require_place(out)


# -- what is seen of a run, and how it is stopped --------------------------------------------------


def _watch() -> CoverWatch:
    from asof.cli.reading import read_texts
    from asof.cover.ask import CoverWatch

    return CoverWatch(say, count_progress, _running, open_archive, read_texts)


@contextmanager
def _running() -> Iterator[tuple[Callable[[str, int, int], None], Callable[[], bool]]]:
    """Bars, and whether Ctrl-C was pressed; pressed again it ends the command as always."""
    pressed: float | None = None

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed is not None and monotonic() - pressed > _TWICE:
            raise KeyboardInterrupt
        if pressed is not None:
            return
        pressed = monotonic()
        say("Stopping: the best that was found so far follows. Ctrl-C again to end at once.")

    before = signal.signal(signal.SIGINT, press)
    try:
        with stage_progress() as progress:
            yield progress, lambda: pressed is not None
    finally:
        signal.signal(signal.SIGINT, before)
