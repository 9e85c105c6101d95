"""The second stage, second half: candidates are measured, unfolded and held against the relation.

What is asked of a pair is asked by the local engine's own code (language/evaluate.py), of many
pairs at a time, in Spark's tasks. Common shingles are counted once for each pair of sets.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from asof.cover.documents.sets import Sets
from asof.cover.join.overlaps import overlaps
from asof.cover.language.evaluate import Pairs, prepared
from asof.cover.language.syntax import Condition, ContentTest
from asof.cover.spark.attributes import Attributes
from asof.cover.spark.candidates import Members, candidates, cells, enough
from asof.cover.spark.extras import F, Frame, arrow
from asof.cover.spark.session import kept


def edges_of(alternatives: list[Members], sets: Frame, largest: int, parts: int) -> Frame:
    """All pairs (i, j) of different documents in which j covers i, each once."""
    found = [(members, _pairs(members, sets, largest, parts)) for members in alternatives]
    counted = [pairs.select("u", "v") for members, pairs in found if _by_content(members)]
    common = None if not counted else kept(common_shingles(reduce(_union, counted), sets))
    edges = [_held(members, pairs, common, largest) for members, pairs in found]
    return reduce(_union, edges).distinct() if len(edges) > 1 else edges[0]


def common_shingles(pairs: Frame, sets: Frame) -> Frame:
    """For pairs of sets (u, v), each once: how many shingles they have in common (u, v, inter)."""
    asked = pairs.where("u != v").distinct()
    one = sets.selectExpr("s as u", "shingles as one")
    two = sets.selectExpr("s as v", "shingles as two")
    both = asked.join(one, "u").join(two, "v").select("u", "v", "one", "two")
    return both.mapInArrow(_common, "u bigint, v bigint, inter bigint")


def _common(batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        count = batch.num_rows
        lists = arrow.concat_arrays([batch.column("one"), batch.column("two")])
        lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        items = np.ascontiguousarray(lists.flatten().to_numpy(zero_copy_only=False))
        every = np.arange(count)
        shared = overlaps(Sets(offsets, items.view(np.uint64)), every, every + count)
        columns = [batch.column("u"), batch.column("v"), arrow.array(shared, arrow.int64())]
        yield arrow.RecordBatch.from_arrays(columns, ["u", "v", "inter"])


def _union(one: Frame, other: Frame) -> Frame:
    return one.union(other)


def _by_content(members: Members) -> bool:
    """Whether common shingles decide anything."""
    return any(isinstance(atom, ContentTest) for atom in members.alternative.atoms)


def _pairs(members: Members, sets: Frame, largest: int, parts: int) -> Frame:
    """Candidates of an alternative: of sets (part, u, v), or, without a bound, of documents."""
    by_key = members.alternative.bound.empty
    return kept(_meetings(members, parts) if by_key else candidates(members, sets, largest, parts))


def _meetings(members: Members, parts: int) -> Frame:
    """Pairs of documents whose attributes are equal as they must be, for rules without a bound.

    A value that very many documents have is cut into cells, as a shingle is.
    """
    keys = members.alternative.keys
    d1 = _side(members, "asks", [key.d1 for key in keys])
    d2 = _side(members, "covers", [key.d2 for key in keys])
    on = [f"k{at}" for at in range(len(keys))]
    many = d2.groupBy(*on).agg(F.count(F.lit(1)).alias("many"))
    d1 = d1.join(many, on).withColumn("cell", F.expr(f"explode(sequence(0L, {cells('many')} - 1))"))
    d2 = d2.join(many, on).withColumn("cell", F.expr(f"pmod(xxhash64(j), {cells('many')})"))
    on.append("cell")
    met = d1.drop("many").repartition(parts, *on).join(d2.drop("many").repartition(parts, *on), on)
    return met.where("i != j").drop(*on)


def _side(members: Members, role: str, keys: Sequence[str] = ()) -> Frame:
    """The documents of a role, with their attributes, and the keys that they are joined by."""
    number, of_set, side = ("i", "u", "x") if role == "asks" else ("j", "v", "y")
    places = members.attributes.places
    return members.frame.where(role).select(
        *([] if keys else ["part"]),
        *(F.col(members.attributes.place(key)).alias(f"k{at}") for at, key in enumerate(keys)),
        F.col("n").alias(number), F.col("s").alias(of_set), F.col("size").alias(f"size_{of_set}"),
        *(F.col(place).alias(f"{side}{place}") for place in places),
    )  # fmt: skip


def _held(members: Members, pairs: Frame, common: Frame | None, largest: int) -> Frame:
    alternative = members.alternative
    if _by_content(members):
        pairs = pairs.join(common, ["u", "v"], "left")
    else:
        pairs = pairs.withColumn("inter", F.lit(0).cast("bigint"))
    if not alternative.bound.empty:
        pairs = _unfolded(members, pairs, largest)
    elif _by_content(members):
        pairs = pairs.withColumn("inter", F.coalesce("inter", "size_u"))
    alone = alternative.d1 or alternative.d2
    if not (alternative.keys or alternative.ranges or alone or alternative.residual):
        return pairs.select("i", "j")
    test = partial(_tested, condition=alternative.condition, attributes=members.attributes)
    return pairs.mapInArrow(test, "i bigint, j bigint")


def _unfolded(members: Members, pairs: Frame, largest: int) -> Frame:
    """Pairs of documents of those pairs of sets that have enough in common."""
    shares = members.alternative.bound.shares(largest)
    d1, d2 = _side(members, "asks"), _side(members, "covers")
    met = pairs.join(d1, ["part", "u"]).withColumn("inter", F.coalesce("inter", "size_u"))
    met = met.join(d2, ["part", "v"])
    # Two empty documents are equal, and are here only if equals are a pair.
    return met.where(f"i != j and {enough(shares, 'inter', 'size_u', 'size_v')}")


def _tested(batches: Iterable[Any], condition: Condition, attributes: Attributes) -> Iterator[Any]:
    for batch in batches:
        count = batch.num_rows
        sides = [
            {place: batch.column(f"{side}{place}") for place in attributes.places} for side in "xy"
        ]
        holds = prepared(condition, attributes.columns(sides))
        every = np.arange(count)
        inter, one, two = (
            batch.column(name).to_numpy(zero_copy_only=False)
            for name in ("inter", "size_u", "size_v")
        )
        holding = arrow.array(
            np.ascontiguousarray(holds(Pairs(every, every + count, inter, one, two)))
        )
        yield batch.select(["i", "j"]).filter(holding)
