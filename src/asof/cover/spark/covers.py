"""The fourth stage: the smallest cover of each component, by the local solver (section 3.4).

What a component comes to depends on its own edges and the order of its ids alone, so components can
be solved anywhere, many of them in one bucket. Two options look farther than a component: a quality
is scaled by the range of the whole collection, so each bucket is told its ends; and `at least m of
each value` ties components together, so that graph is solved in one place, the driver, which then
holds all edges (8 bytes each) and a value for each document.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asof.cover.documents.sets import Counts, Flags
from asof.cover.question import Question
from asof.cover.run import wanted
from asof.cover.solve.solve import solve
from asof.cover.spark.attributes import Attributes
from asof.cover.spark.extras import F, Frame, Values, arrow
from asof.cover.spark.session import kept

BUCKET = 1 << 18  # edges of a bucket, on average
_SCHEMA = "n bigint, kept boolean, by bigint, root bigint, gap bigint, proven boolean"


@dataclass(frozen=True, slots=True)
class Solved:
    """Documents with an edge, each kept or covered (n, kept, by, root), and what is proven."""

    frame: Frame
    gap: int
    optimal: bool


def _scale(documents: Frame, place: str) -> tuple[float, ...]:
    """The ends of a quality in the whole collection, and a value between that is not whole."""
    value = F.col(place).cast("double")
    row = documents.select(
        F.min(value), F.max(value), F.min(F.when(value != F.rint(value), value))
    ).first()
    return tuple(found for found in row if found is not None)


def solved_apart(
    edges: Frame,
    labels: Frame,
    documents: Frame,
    question: Question,
    prefer: str | None,
    count: int,
) -> Solved:
    """Each component solved alone, on the cluster; `prefer` is the column of the quality."""
    rooted = edges.join(labels.withColumnRenamed("v", "i"), "i").select("root", "i", "j")
    scale = None
    if prefer is not None:
        scale = _scale(documents, prefer)
        worth = documents.select("n", F.col(prefer).cast("double").alias("worth"))
        of_i, of_j = worth.toDF("i", "worth_i"), worth.toDF("j", "worth_j")
        rooted = rooted.join(of_i, "i").join(of_j, "j")
    slots = int(edges.sparkSession.sparkContext.defaultParallelism)
    buckets = max(slots, -(-count // BUCKET))
    bucketed = rooted.withColumn("bucket", F.expr(f"pmod(xxhash64(root), {buckets}L)"))
    limit = question.time_limit * min(1.0, slots / buckets)
    # A lambda, since Spark takes annotations of a function for its own and trips over ours.
    work = lambda table: _solve_bucket(table, question, limit, scale)  # noqa: E731
    rows = kept(bucketed.groupBy("bucket").applyInArrow(work, _SCHEMA))
    proof = rows.where("n < 0").agg(F.sum("gap"), F.bool_and("proven")).first()
    gap, optimal = (0, True) if proof[0] is None else (int(proof[0]), bool(proof[1]))
    return Solved(rows.where("n >= 0").select("n", "kept", "by", "root"), gap, optimal)


def solved_together(
    edges: Frame,
    documents: Frame,
    attributes: Attributes,
    question: Question,
    names: tuple[str, str | None],
) -> Solved:
    """All of the graph solved on the driver; `names` are the value's and the quality's."""
    only = Attributes(tuple((n, k) for n, k in attributes.kinds if n in names))
    needed = [F.col(attributes.place(name)).alias(only.place(name)) for name, _ in only.kinds]
    table = documents.select("n", "chosen", *needed).orderBy("n").toArrow()
    # Values are numbered as they come in the whole table, as the local engine has it.
    chosen = table.column("chosen").to_numpy(zero_copy_only=False)
    every = only.columns([{at: table.column(at).combine_chunks() for at in only.places}])
    columns = {name: column.only(chosen) for name, column in every.items()}
    quality, least = wanted(columns, question)
    numbers = table.column("n").to_numpy()[chosen]
    pairs = edges.select("i", "j").toArrow()
    i, j = (np.searchsorted(numbers, pairs.column(name).to_numpy()) for name in ("i", "j"))
    cover = solve(
        numbers.size, i, j,
        quality=quality, at_least=least, solver=question.solver, time_limit=question.time_limit,
    )  # fmt: skip
    _, first = np.unique(cover.components.part, return_index=True)
    rows = _rows(numbers, cover.kept, cover.by, numbers[first[cover.components.part]])
    answer = edges.sparkSession.createDataFrame(arrow.table(rows))
    return Solved(answer.select("n", "kept", "by", "root"), cover.gap, cover.optimal)


def _solve_bucket(
    table: Values, question: Question, limit: float, scale: tuple[float, ...] | None
) -> Values:
    i, j, root = (table.column(name).to_numpy() for name in ("i", "j", "root"))
    numbers, places = np.unique(np.concatenate([i, j]), return_inverse=True)
    roots = np.empty(numbers.size, np.int64)
    roots[places] = np.concatenate([root, root])
    quality = None
    count = numbers.size
    if scale is not None:
        worth = np.empty(count, np.float64)
        columns = [table.column(name).combine_chunks() for name in ("worth_i", "worth_j")]
        nan = float("nan")
        worth[places] = np.concatenate([column.fill_null(nan).to_numpy() for column in columns])
        # Documents that nobody asked for, without edges: they only tell how far values reach.
        quality = np.concatenate([worth, scale])
        count = quality.size
    half = places.size // 2
    cover = solve(
        count, places[:half], places[half:],
        quality=quality, solver=question.solver, time_limit=limit,
    )  # fmt: skip
    mine = slice(0, numbers.size)
    rows = _rows(numbers, cover.kept[mine], cover.by[mine], roots)
    rows["gap"] = arrow.array(np.zeros(numbers.size, np.int64))
    rows["proven"] = arrow.array(np.ones(numbers.size, np.bool_))
    proof = [[-1], [True], [None], [-1], [cover.gap], [cover.optimal]]
    last = {name: arrow.array(v, rows[name].type) for name, v in zip(rows, proof, strict=True)}
    return arrow.concat_tables([arrow.table(rows), arrow.table(last)])


def _rows(numbers: Counts, stays: Flags, by: NDArray[np.int32], roots: Counts) -> dict[str, Values]:
    return {
        "n": arrow.array(numbers),
        "kept": arrow.array(np.ascontiguousarray(stays)),
        "by": arrow.array(numbers[np.maximum(by, 0)], mask=by < 0),
        "root": arrow.array(roots),
    }
