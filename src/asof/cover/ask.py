"""The front door of covers: a question in, an answer out, of an archive or of a table.

    answer = ask(prepare(folder, Question("C(d1,d2) >= 0.7", prefer="recency")))
    answer = ask(prepare(folder, Question("C(d1,d2) >= 0.7", table="docs.jsonl")))

`prepare` checks all that can be checked before a document is read; `ask` reads and answers.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from asof.archive.archive import OpenArchive
from asof.archive.folder import Folder
from asof.caret import listed, suggestion
from asof.change.texts import Texts
from asof.clock import Instant
from asof.config import FILE, is_relation_name, named_relations
from asof.cover.answer import CoverAnswer, Figures, document_answers
from asof.cover.documents.collection import Collection, chosen
from asof.cover.documents.document_ids import Shingling
from asof.cover.documents.of_archive import ARCHIVE_COLUMNS
from asof.cover.documents.tables import Table, read_table
from asof.cover.estimate import Estimate, estimate
from asof.cover.join.join import UNLIMITED, JoinLimits, Progress
from asof.cover.kept.named_relations import check_relation_name, save_relation
from asof.cover.kept.pair_cache import earlier_runs
from asof.cover.kept.preferences import QUALITIES, with_quality
from asof.cover.kept.saved_covers import asked_again, cover_path, save_cover
from asof.cover.kept.shingle_cache import collected_or_kept, is_kept
from asof.cover.language.analyse import parse_relation
from asof.cover.language.columns import Column
from asof.cover.language.kinds import type_check
from asof.cover.language.parse import parse_filter
from asof.cover.language.syntax import Filter, Relation
from asof.cover.question import Question, check_options
from asof.cover.run import thin_out
from asof.errors import AsofError, UsageError

Counting = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
Running = AbstractContextManager[tuple[Progress, Callable[[], bool]]]


def _read_texts(archive: OpenArchive) -> object:
    with Texts(archive, writable=True) as texts:
        return texts.read_all(len(os.sched_getaffinity(0)))


@dataclass(frozen=True, slots=True)
class CoverWatch:
    """Who watches a run: what it is told, how things are counted, and how it is stopped."""

    say: Callable[[str], None] = lambda line: None
    counting: Counting = lambda what, total: nullcontext(lambda done: None)
    running: Callable[[], Running] = lambda: nullcontext((UNLIMITED.progress, UNLIMITED.cancel))
    open_archive: Callable[[Path], OpenArchive] = OpenArchive.open
    read_texts: Callable[[OpenArchive], object] = _read_texts


UNWATCHED = CoverWatch()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question that can be asked: its relation in full, parsed, and the table, if it is of one.

    Types are checked if the columns are known, which they are not where there is no archive.
    """

    folder: Path
    question: Question
    relation: Relation
    where: Filter | None
    table: Table | None


# -- relations, as they are written and by their names ---------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedRule:
    """A relation as text, and the name and file that it has been found by, if it has."""

    text: str
    name: str | None = None
    file: Path | None = None

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Errors of the relation say where it stands: its columns are those of that line."""
        try:
            yield
        except UsageError as error:
            if self.name is None:
                raise
            what = f"The relation {self.name} of {self.file}:\n{error.what}"
            raise UsageError(what, hint=error.hint) from error


def rule_of(folder: Path, text: str) -> NamedRule:
    """The relation that is meant: by its name in the archive's asof.toml, or as it is written.

    No relation is a single name, so a single name is never one.
    """
    if not is_relation_name(text):
        return NamedRule(text)
    known = named_relations(folder)
    if text in known:
        return NamedRule(known[text], text, folder / FILE)
    there = f"There are {listed(known)}." if known else ""
    how = "Write a relation such as 'C(d1,d2) >= 0.7'; --name NAME gives it a name."
    what = f"{folder / FILE} has no relation {text!r}."
    raise UsageError(what, hint=suggestion(text, known) or there or how)


def name_relation(folder: Path, name: str, relation: str) -> tuple[Path, str | None]:
    """Name a good relation in the archive's asof.toml; gives the file, and what it was before."""
    check_relation_name(name)
    before = named_relations(folder).get(name)
    return save_relation(folder, name, relation), before


# -- before documents are read ---------------------------------------------------------------------


def meant(folder: Path, question: Question, again: str | None) -> tuple[Question, NamedRule]:
    """The question with its relation in full, or that of a saved answer, `again`."""
    if again is None:
        rule = rule_of(folder, question.relation)
        return replace(question, relation=rule.text), rule
    Folder(folder).require()
    question = asked_again(Folder(folder), again)
    return question, NamedRule(question.relation)


def prepare(folder: Path, question: Question, again: str | None = None) -> Prepared:
    """Check what is asked, or what the saved answer `again` was asked, as far as can be seen."""
    question, rule = meant(folder, question, again)
    relation, where = checked(rule, question, None)
    table = None if question.table is None else read_table(Path(question.table))
    if table is not None:
        relation, where = checked(rule, question, table.columns)
    elif Folder(folder).exists():  # the columns of all archives are the same, so none is opened
        relation, where = checked(rule, question, ARCHIVE_COLUMNS, QUALITIES)
    return Prepared(folder, question, relation, where, table)


def checked(
    rule: NamedRule,
    question: Question,
    columns: Mapping[str, Column] | None,
    qualities: Iterable[str] = (),
) -> tuple[Relation, Filter | None]:
    """Relation and filter, if all that is asked can be: parsed, and of kinds that fit.

    Without `columns`, as far as can be seen without them. `qualities` can be preferred, too.
    """
    with rule.blamed():
        relation = parse_relation(rule.text)
        if columns is not None:
            relation = type_check(relation, columns)
    chosen = None if question.where is None else parse_filter(question.where)
    if columns is not None:
        chosen = None if chosen is None else type_check(chosen, columns)
        check_options(columns, question, qualities)
    return relation, chosen


# -- answers ---------------------------------------------------------------------------------------


def collect(prepared: Prepared, watch: CoverWatch = UNWATCHED) -> Collection:
    """The documents that are asked about; there is at least one."""
    question, table = prepared.question, prepared.table
    if table is None:
        found = _of_archive(prepared, watch)
    else:
        found = table.collection(question.k, question.unit)
        if question.where is not None:
            found = found.only(chosen(question.where, table.columns, table.texts))
    if len(found):
        return found
    place = prepared.folder if table is None else question.table
    # No captures are asked for here, but documents to compare: bad usage, exit 2.
    if question.where is not None:
        raise UsageError(f"{place} holds no such documents.", hint="Widen --where.")
    more = "Crawl or import some." if table is None else "Check the file."
    raise UsageError(f"{place} holds no documents.", hint=more)


def _of_archive(prepared: Prepared, watch: CoverWatch) -> Collection:
    question, shingling = prepared.question, Shingling.of(prepared.question)

    def grown(known: int, new: int) -> None:  # of a first run there is nothing to say
        if known:
            were = "document was" if known == 1 else "documents were"
            watch.say(f"{known:,} {were} known, {new:,} {'is' if new == 1 else 'are'} new")

    with watch.open_archive(prepared.folder) as archive:
        if not is_kept(archive, shingling):
            _keep_texts(archive, watch)
        count = archive.catalog.count()
        with watch.counting("gathering", count) as progress:
            found = collected_or_kept(archive, shingling, question.where, progress, grown)
        if question.prefer is None:
            return found
        with watch.counting(question.prefer, count) as progress:
            return with_quality(archive, found, question.prefer, progress)


def _keep_texts(archive: OpenArchive, watch: CoverWatch) -> None:
    """Read what has not been read, to be kept.

    Where it cannot be kept (a medium that is read only, a full disk, or another process reads, as
    beside a crawl), what is missing is read for this run alone.
    """
    try:
        watch.read_texts(archive)
    except OSError as error:
        watch.say(f"No texts are kept: {error.filename}: {error.strerror}.")
    except AsofError as error:
        watch.say(f"No texts are kept: {error.what}")


def foretell(
    prepared: Prepared, watch: CoverWatch = UNWATCHED, memory: int | None = None
) -> Estimate:
    found = collect(prepared, watch)
    return estimate(found, prepared.question.relation, limits=JoinLimits(memory=memory))


def ask(
    prepared: Prepared, watch: CoverWatch = UNWATCHED, memory: int | None = None
) -> CoverAnswer:
    """The answer; over an archive, what earlier runs found is used, and what is found is kept."""
    question, collection = prepared.question, collect(prepared, watch)
    with ExitStack() as held:
        earlier = None
        if prepared.table is None:
            runs = earlier_runs(Folder(prepared.folder), Shingling.of(question))
            earlier = held.enter_context(runs)
        progress, cancel = held.enter_context(watch.running())
        limits = JoinLimits(memory=memory, progress=progress, cancel=cancel)
        outcome = thin_out(collection, question, limits, earlier)
    if outcome.known:
        known, count = f"{outcome.known:,}", f"{len(collection):,}"
        watch.say(f"{known} of {count} documents had been compared before")
    return CoverAnswer(question, Figures.of(outcome), tuple(document_answers(outcome)), outcome)


def save(folder: Path, name: str, answer: CoverAnswer, at: Instant) -> Path | None:
    """Save an answer with what was asked; None if it was stopped and would replace another one."""
    question, place = answer.question, Folder(folder)
    assert answer.outcome is not None
    if question.table is not None:  # found again from anywhere
        question = replace(question, table=str(Path(question.table).absolute()))
    if cover_path(place, name).exists() and not answer.figures.complete:
        return None
    return save_cover(place, name, answer.outcome, question, at)
