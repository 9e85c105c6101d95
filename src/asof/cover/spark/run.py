"""A cover of a table of Parquet by Spark: the same answer as the local engine's, as Parquet."""

from dataclasses import dataclass
from time import monotonic

import numpy as np

from asof.caret import clipped
from asof.change.shingles import checked
from asof.cover.answer import Figures
from asof.cover.documents.collection import Collection, chosen
from asof.cover.documents.sets import Sets
from asof.cover.join.join import JoinLimits
from asof.cover.language.analyse import Alternative, analyse, parse_relation
from asof.cover.language.columns import COLUMN_OF
from asof.cover.language.kinds import type_check
from asof.cover.language.parse import parse_filter
from asof.cover.language.syntax import attributes as attributes_of
from asof.cover.question import Question
from asof.cover.run import thin_out
from asof.cover.spark.attributes import Attributes
from asof.cover.spark.candidates import members
from asof.cover.spark.components import connected
from asof.cover.spark.covers import Solved, solved_apart, solved_together
from asof.cover.spark.documents import SparkReading, documents
from asof.cover.spark.edges import common_shingles, edges_of
from asof.cover.spark.extras import F, Frame, Session, Values
from asof.cover.spark.session import kept
from asof.cover.spark.source import TableSource, first_line, kinds_of, open_source
from asof.errors import InputError, UsageError

# Of the session that a run has for itself; the context, and so the cluster, is the caller's.
_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    # Documents, or pairs with their sets, that Python has at a time.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4096",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
}
_TASK = 1 << 21  # shingles of a task, as rows of 64 bytes


@dataclass(frozen=True, slots=True)
class SparkSummary(Figures):
    """What an answer comes to; the answer itself is where it was written.

    `whole`: ids are whole numbers. `rounds` is how often the graph had to be contracted.
    """

    whole: bool = False
    rounds: int = 0


def cover_on_spark(session: Session, question: Question, target: str) -> SparkSummary:
    """The smallest set that covers the documents of a table by a relation, written to `target`.

    The table is Parquet with id, text and any columns, `target` a folder that is not there yet;
    both are any path that Spark can reach. Each document is a row of (id, kept, by, containment,
    jaccard, dice, component) in the order of the table; `component` is the place of the first
    document of its component, from 0 on.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    started = monotonic()
    if question.table is None:
        raise UsageError("Spark covers a table of Parquet.", hint="Name it: --from FILE.")
    parse_relation(question.relation)
    if question.where is not None:
        parse_filter(question.where)
    own = session.newSession()
    for name, value in _SETTINGS.items():
        own.conf.set(name, value)
    try:
        _check_target(own, target)
        return _run(own, question, question.table, target, started)
    except (PySparkException, Py4JJavaError) as error:
        raise InputError(
            f"{question.table} could not be covered on Spark: {first_line(error)}.",
            hint="Check the Parquet files, the place to write to, and the memory of the executors.",
        ) from error


def _check_target(session: Session, target: str) -> None:
    java = session.sparkContext._jvm
    path = java.org.apache.hadoop.fs.Path(target)
    settings = session.sparkContext._jsc.hadoopConfiguration()
    if path.getFileSystem(settings).exists(path):
        raise UsageError(f"{target} is there already.", hint="Name a folder that is not.")


def _run(
    session: Session, question: Question, path: str, target: str, started: float
) -> SparkSummary:
    """The stages in their order, and what each hands on."""
    source = open_source(session, path)
    attributes, alternatives = _prepared(source, question)
    places = {name: source.place(name) for name in ("id", "text", *dict(attributes.kinds))}
    reading = SparkReading(
        source.starts, {name: place for name, place in places.items() if place is not None},
        bool(source.id_type), attributes, alternatives, question.where, checked(question.k),
        question.unit,
    )  # fmt: skip
    read = kept(documents(source, reading))
    count, largest, shingles, weight = _checked(read, path, question.where)
    parts = _share_out(session, shingles)
    numbered = kept(_with_sets(read))
    first = numbered.where("n = s").select("s")
    sets = kept(read.selectExpr("n as s", "shingles").join(first, "s"))
    able = [members(numbered, at, each, attributes) for at, each in enumerate(alternatives)]
    edges = kept(edges_of(able, sets, largest, parts))
    many = edges.count()
    solved, rounds = _solved(edges, many, read, attributes, question)
    rows = kept(_answer(numbered, solved))
    totals = rows.agg(
        F.count_if("kept"), F.sum(F.when(F.col("kept"), F.col("weight"))),
        F.countDistinct("component"),
    ).first()  # fmt: skip
    _write(_measured(rows, sets), target, source.id_type)
    return SparkSummary(
        count, many, totals[2], totals[0], weight, totals[1] or 0, solved.optimal, solved.gap,
        monotonic() - started, True, bool(source.id_type), rounds,
    )  # fmt: skip


def _prepared(
    source: TableSource, question: Question
) -> tuple[Attributes, tuple[Alternative, ...]]:
    """The attributes that are needed, and the alternatives of the relation, all of it checked."""
    written, where = parse_relation(question.relation), question.where
    prefer = "timestamp" if question.prefer == "recency" else question.prefer
    named = [found.name for found in attributes_of(written.condition)]
    if where is not None:
        named += [found.name for found in attributes_of(parse_filter(where).condition)]
    named += [] if prefer is None else [prefer]
    named += [] if question.at_least is None else [question.at_least[1]]
    wanted = [name for name in dict.fromkeys(named) if name in source.attributes]
    kinds = kinds_of(source, wanted)
    columns = {name: COLUMN_OF[kinds.get(name, "text")]([]) for name in source.attributes}
    # Whatever the local engine would object to: it is asked about a table without documents.
    nothing = Sets(np.zeros(1, np.int64), np.empty(0, np.uint64))
    none = Collection((), columns, nothing, np.empty(0, np.int64))
    if where is not None:
        chosen(where, columns, [])
    thin_out(none, question, JoinLimits())
    alternatives = analyse(type_check(written, columns))
    return Attributes(tuple((name, kinds[name]) for name in wanted)), alternatives


def _checked(read: Frame, path: str, where: str | None) -> tuple[int, int, int, int]:
    """How many documents are chosen, the shingles of the largest and of all, and all bytes."""
    row = read.agg(
        F.count_if("chosen"),
        F.max(F.when(F.col("chosen"), F.col("size"))),
        F.sum("size"),
        F.sum(F.when(F.col("chosen"), F.col("weight"))),
    ).first()
    named = read.groupBy("name").agg(F.count(F.lit(1)).alias("many"), F.min("n").alias("first"))
    twice = named.where("many > 1").orderBy("first").limit(1).collect()
    if twice:
        raise InputError(
            f"{path}: the id {clipped(twice[0]['name'])} stands there twice.",
            hint="Ids tell documents apart.",
        )
    if not row[0] and where is not None:
        raise UsageError(f"{path} holds no such documents.", hint="Widen --where.")
    if not row[0]:
        raise UsageError(f"{path} holds no documents.", hint="Check the file.")
    return int(row[0]), int(row[1]), int(row[2]), int(row[3])


def _share_out(session: Session, shingles: int) -> int:
    """Into how many tasks shuffles are cut: the caller's number, or one by the work there is."""
    name = "spark.sql.shuffle.partitions"
    if not session.sparkContext.getConf().contains(name):
        slots = int(session.sparkContext.defaultParallelism)
        session.conf.set(name, str(max(2 * slots, -(-shingles // _TASK))))
    return int(session.conf.get(name))


def _with_sets(read: Frame) -> Frame:
    """The chosen documents without shingles, with the first of those that have the same set (s)."""
    meant = read.where("chosen").drop("shingles", "chosen")
    first = meant.groupBy("digest").agg(F.min("n").alias("s"))
    return meant.join(first, "digest").drop("digest")


def _solved(
    edges: Frame, many: int, read: Frame, attributes: Attributes, question: Question
) -> tuple[Solved, int]:
    prefer = "timestamp" if question.prefer == "recency" else question.prefer
    if question.at_least is not None:
        names = (question.at_least[1], prefer)
        return solved_together(edges, read, attributes, question, names), 0
    labels = connected(edges)
    place = None if prefer is None else attributes.place(prefer)
    meant = read.where("chosen")
    return solved_apart(edges, labels.frame, meant, question, place, many), labels.rounds


def _answer(numbered: Frame, solved: Solved) -> Frame:
    """Every document and what became of it; one without an edge is kept, a component of its own."""
    rows = numbered.select("n", "name", "weight", "size", "s").join(solved.frame, "n", "left")
    return rows.select(
        "n", "name", "weight", "size", "s",
        F.coalesce("kept", F.lit(True)).alias("kept"),
        "by",
        F.coalesce("root", "n").alias("component"),
    )  # fmt: skip


def _measured(rows: Frame, sets: Frame) -> Frame:
    covering = rows.where("kept").selectExpr(
        "n as by", "name as by_name", "s as v", "size as size_v"
    )
    gone = rows.where("not kept").withColumnRenamed("s", "u").join(covering, "by")
    common = common_shingles(gone.select("u", "v"), sets)
    gone = gone.join(common, ["u", "v"], "left")
    x, one, two = F.coalesce("inter", "size"), F.col("size"), F.col("size_v")
    return rows.select("n", "name", "kept", "component").join(
        gone.select(
            "n",
            "by_name",
            _share(x, one).alias("containment"),
            _share(x, one + two - x).alias("jaccard"),
            _share(2 * x, one + two).alias("dice"),
        ),
        "n",
        "left",
    )


def _share(part: Values, whole: Values) -> Values:
    """A share as a float; two empty documents are equal, and measure 1."""
    both_empty = (F.col("size") == 0) & (F.col("size_v") == 0)
    share = F.when(whole > 0, part.cast("double") / whole.cast("double")).otherwise(F.lit(0.0))
    return F.when(both_empty, F.lit(1.0)).otherwise(share)


def _write(rows: Frame, target: str, id_type: str) -> None:
    def named(column: str, name: str) -> Values:
        found = F.col(column)
        return (found.cast(id_type) if id_type else found).alias(name)

    ordered = rows.repartitionByRange("n").sortWithinPartitions("n")
    ordered.select(
        named("name", "id"), "kept", named("by_name", "by"),
        "containment", "jaccard", "dice", "component",
    ).write.parquet(target)  # fmt: skip
