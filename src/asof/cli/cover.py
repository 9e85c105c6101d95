"""`asof cover`: the smallest set of documents that covers all others, by a rule of the user's."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from asof.archive.folder import Folder
from asof.cli.cover_checks import check_alone, check_engine, check_places, least_of
from asof.cli.cover_named import Rule, checked, columns_of_archive, name_relation, rule_of
from asof.cli.cover_output import answer_json, print_answer, write_csv, write_page
from asof.cli.cover_progress import stages, stoppable
from asof.cli.cover_saved import print_covers, print_difference, print_estimate, save
from asof.cli.cover_spark import run_on_spark
from asof.cli.options import archive_option, examples, json_option, size
from asof.cli.output import count_progress, open_archive, print_json, say
from asof.cover.kept.saved_covers import Question, asked_again
from asof.errors import AsofError, UsageError

if TYPE_CHECKING:
    from asof.archive.archive import Archive
    from asof.cover.documents.collection import Collection
    from asof.cover.documents.tables import Table
    from asof.cover.options import CoverOptions
from asof.cover.run import Outcome


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
@click.option("--text", "which", type=click.Choice(["main", "full"]), default="main",
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
@click.option("--csv", "csv_file", type=click.Path(path_type=Path, dir_okay=False),
              metavar="FILE", help="Write every document and what became of it.")  # fmt: skip
@click.option("--html", "page_file", type=click.Path(path_type=Path, dir_okay=False),
              metavar="FILE", help="Write a reading list, as one HTML page.")  # fmt: skip
@click.option("--save", "name", metavar="NAME", help="Save the answer in the archive by this name.")
@click.option("--name", "called", metavar="NAME",
              help="Give RELATION this name, in the archive's asof.toml.")  # fmt: skip
@click.option("--again", metavar="NAME", help="Ask once more what a saved answer was asked.")
@click.option("--list", "listing", is_flag=True, help="Saved answers and relations by name.")
@click.option("--diff", "names", nargs=2, metavar="A B",
              help="What is kept by one of two saved answers only; run nothing.")  # fmt: skip
@click.option("--estimate", "foretell", is_flag=True,
              help="Say about how long it takes and what comes; run nothing.")  # fmt: skip
@click.option("--explain", is_flag=True, help="Say how the relation will be used; run nothing.")
@json_option
def cover_command(
    relation: str | None,
    folder: Path,
    table: str | None,
    engine: str,
    master: str | None,
    target: str | None,
    where: str | None,
    k: int,
    terms: str,
    which: str,
    at_least: tuple[str, ...],
    prefer: str | None,
    solver: str,
    time_limit: float,
    memory: int | None,
    csv_file: Path | None,
    page_file: Path | None,
    name: str | None,
    called: str | None,
    again: str | None,
    listing: bool,
    names: tuple[str, str] | None,
    foretell: bool,
    explain: bool,
    as_json: bool,
) -> int:
    """The smallest set of documents that covers all others by RELATION.

    RELATION says when d2 covers d1, so that d1 need not be kept: bounds on the shingles they share
    (C containment of d1 in d2, J Jaccard, D Dice) and conditions on what is known of both
    (url, hostname, domain, timestamp, mime-type, title, length, size, language, status, crawl, or
    the columns of the table), with and, or, not. Nothing is deleted. Ctrl-C once: the best found
    so far.
    """
    check_alone(relation, again, names, listing=listing, explain=explain, foretell=foretell)
    if listing:
        return print_covers(folder, as_json=as_json)
    if names is not None:
        return print_difference(folder, names, as_json=as_json)
    asked = Question(relation or "", table, where, k, which, least_of(at_least), prefer, solver,
                     time_limit, terms)  # fmt: skip
    rule, question = _meant(folder, asked, again)
    options = _options(question)
    check_engine(engine, (master, target), (name, called, page_file, foretell, explain, memory))
    if engine == "spark":
        check_places(folder, None, question.table, csv_file)
        return run_on_spark(question, options, master, target, csv_file, as_json=as_json)
    table_read = _checked(folder, rule, question, options, called, explain, as_json)
    if explain:
        return 0
    check_places(folder, name, question.table, csv_file, page_file)
    collection = _collection(folder, table_read, question)
    if foretell:
        return print_estimate(collection, rule.text, memory, as_json=as_json)
    outcome = _run(folder, collection, question, options, memory)
    from asof.cover.answer import Figures, document_answers  # here, for it needs numpy

    if name is not None:
        save(folder, name, outcome, question)
    if as_json:
        print_json(answer_json(Figures.of(outcome), document_answers(outcome)))
    else:
        print_answer(Figures.of(outcome), document_answers(outcome))
    if csv_file is not None:
        write_csv(document_answers(outcome), csv_file)
    if page_file is not None:
        write_page(outcome, options, question.table or str(folder), page_file)
    return 0 if outcome.complete else 130


def _meant(folder: Path, asked: Question, again: str | None) -> tuple[Rule, Question]:
    """What is asked, by this command line or by that of a saved answer; its relation in full."""
    if again is None:
        rule = rule_of(folder, asked.relation)
        return rule, replace(asked, relation=rule.text)
    place = Folder(folder)
    place.require()
    question = asked_again(place, again)
    return Rule(question.relation), question


def _options(question: Question) -> CoverOptions:
    from asof.cover.options import CoverOptions

    solver: Literal["auto", "seed"] = "seed" if question.solver == "seed" else "auto"
    return CoverOptions(question.at_least, question.prefer, solver, question.time_limit)


def _checked(
    folder: Path,
    rule: Rule,
    question: Question,
    options: CoverOptions,
    called: str | None,
    explain: bool,
    as_json: bool,
) -> Table | None:
    """Check what was written before documents are read, as a table has to be; gives the table."""
    # Here, for all of this needs numpy, which takes longer to load than the rest.
    from asof.cover.documents.preferences import QUALITIES
    from asof.cover.documents.tables import read_table
    from asof.cover.language.explain import explain as explained
    from asof.cover.language.kinds import type_check
    from asof.cover.language.parse import parse_filter

    relation = checked(rule, question.where, options, None)
    table = None if question.table is None else read_table(Path(question.table))
    columns = table.columns if table is not None else columns_of_archive(folder)
    if columns is not None:
        qualities = QUALITIES if table is None else ()
        relation = checked(rule, question.where, options, columns, qualities)
    if called is not None:
        name_relation(folder, called, rule)
    if explain:
        chosen = None if question.where is None else parse_filter(question.where)
        if chosen is not None and columns is not None:
            chosen = type_check(chosen, columns)
        said = explained(relation, chosen)
        if as_json:
            print_json({"relation": rule.text, "where": question.where, "explained": said})
        else:
            click.echo(said)
    return table


def _collection(folder: Path, table: Table | None, question: Question) -> Collection:
    from asof.cover.documents.collection import chosen

    where, k, unit = question.where, question.k, question.unit
    if table is not None:
        found = table.collection(k, unit)
        if where is not None:
            found = found.only(chosen(where, table.columns, table.texts))
    else:
        from asof.cover.documents.preferences import with_quality
        from asof.cover.kept.shingle_cache import collected_or_kept, is_kept

        text = _text(question)
        with open_archive(folder) as archive:
            if not is_kept(archive, text, k, unit):
                _read_texts(archive)
            count = archive.catalog.count()
            with count_progress("gathering", count) as progress:
                found = collected_or_kept(
                    archive,
                    which=text,
                    k=k,
                    unit=unit,
                    where=where,
                    progress=progress,
                    grown=_say_growth,
                )
            if question.prefer is not None:
                with count_progress(question.prefer, count) as progress:
                    found = with_quality(archive, found, question.prefer, progress)
    if not len(found):
        place = folder if table is None else question.table
        # No captures are asked for here, but documents to compare: exit 2, as issue 6 has it.
        if question.where is not None:
            raise UsageError(f"{place} holds no such documents.", hint="Widen --where.")
        more = "Crawl or import some." if table is None else "Check the file."
        raise UsageError(f"{place} holds no documents.", hint=more)
    return found


def _read_texts(archive: Archive) -> None:
    """Read what has not been read, to be kept.

    Where it cannot be kept (a medium that is read only, a full disk, or another process reads, as
    beside a crawl), what is missing is read for this run alone.
    """
    from asof.cli.similar import read_texts

    try:
        read_texts(archive)
    except OSError as error:
        say(f"No texts are kept: {error.filename}: {error.strerror}.")
    except AsofError as error:
        say(f"No texts are kept: {error.what}")


def _text(question: Question) -> Literal["main", "full"]:
    return "full" if question.text == "full" else "main"


def _say_growth(known: int, new: int) -> None:
    """What a later run is spared; of a first one there is nothing to say."""
    if known:
        say(f"{known:,} documents were known, {new:,} {'is' if new == 1 else 'are'} new")


def _run(
    folder: Path,
    collection: Collection,
    question: Question,
    options: CoverOptions,
    memory: int | None,
) -> Outcome:
    """The answer; over an archive, what earlier runs found is used, and what is found is kept."""
    from asof.cover.join.pairs import Limits
    from asof.cover.kept.pair_cache import earlier_runs
    from asof.cover.run import thin_out

    with ExitStack() as held:
        earlier = None
        if question.table is None:
            place = Folder(folder)
            cut = _text(question), question.k, question.unit
            earlier = held.enter_context(earlier_runs(place, *cut))
        stopped, progress = held.enter_context(stoppable()), held.enter_context(stages())
        limits = Limits(memory=memory, progress=progress, cancel=stopped)
        outcome = thin_out(collection, question.relation, options, limits, earlier)
    if outcome.known:
        say(f"{outcome.known:,} of {len(collection):,} documents had been compared before")
    return outcome
