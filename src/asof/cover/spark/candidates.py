"""The second stage, first half: which sets of shingles may cover which (Paudel 2013, section 3.2).

The prefix filter of join/join.py as joins of Spark: of the |i| shingles of a covered set, the
|i| - need + 1 rarest are asked about; shingles that no other set has use that budget up. Equal sets
of a partition are one. What comes out are candidates: every pair that meets the bound is among
them, and whoever measures them (edges.py) drops the others. So partitions may be told apart by a
hash, and windows of time be those of whole groups.

Skew. A shingle that very many sets have is rarely asked about, for it is the last in every prefix;
but where it is (short texts, boilerplate alone), its postings are cut into cells of at most `CELL`
sets, and whoever asks is sent to each of them: no task has more than its share of the pairs.
"""

from dataclasses import dataclass
from fractions import Fraction

from asof.cover.language.analyse import Alternative, AttributeRange
from asof.cover.language.bounds import Shares
from asof.cover.spark.attributes import Attributes
from asof.cover.spark.extras import F, Frame
from asof.cover.spark.session import kept

CELL = 1000  # postings of a shingle in one cell


@dataclass(frozen=True, slots=True)
class Members:
    """The documents that an alternative can pair, each with its set, partition and roles.

    Columns: n, s (the set), size, part, asks, covers, and the attributes.
    """

    frame: Frame
    alternative: Alternative
    attributes: Attributes
    ranges: tuple[AttributeRange, ...]  # those that whole groups can be held against


def members(
    documents: Frame, place: int, alternative: Alternative, attributes: Attributes
) -> Members:
    """Who can play a role in an alternative: the place-th of the relation."""
    same = [attributes.place(key.d1) for key in alternative.keys if key.same]
    d1, d2 = F.col(f"d1_{place}"), F.col(f"d2_{place}")
    compared = [(key.d1, key.d2) for key in alternative.keys]
    compared += [(limit.attribute, limit.attribute) for limit in alternative.ranges]
    for one, other in dict.fromkeys(compared):  # no comparison with a missing value holds
        d1 = d1 & F.col(attributes.place(one)).isNotNull()
        d2 = d2 & F.col(attributes.place(other)).isNotNull()
    part = F.xxhash64(*same) if same else F.lit(0).cast("bigint")
    frame = documents.select(
        "n", "s", "size", part.alias("part"), d1.alias("asks"), d2.alias("covers"),
        *attributes.places,
    ).where("asks or covers")  # fmt: skip
    ranges = tuple(
        limit
        for limit in alternative.ranges
        if limit.plain or attributes.kind(limit.attribute) == "time"
    )
    return Members(frame, alternative, attributes, ranges)


def candidates(found: Members, sets: Frame, largest: int, parts: int) -> Frame:
    """Pairs of sets (part, u, v), v of which may cover u, by an alternative with a bound.

    `sets` has s and shingles; no document has more than `largest` of them; `parts` is how many
    tasks the work is cut into.
    """
    bound = found.alternative.bound
    shares, other = bound.shares(largest), bound.turned().shares(largest)
    turned = other.alone > shares.alone  # the side of d2 has shorter prefixes, and is asked from
    groups = kept(_groups(found))
    pairs = _different(groups, sets, other if turned else shares, found, turned, parts)
    if shares.of_equals:
        equals = groups.where("asks and covers")
        pairs = pairs.union(equals.selectExpr("part", "s as u", "s as v"))
    return pairs


def need(share: Fraction, size: str) -> str:
    """The least whole number that is such a share of a size, exactly, as Spark computes it."""
    p, q = share.as_integer_ratio()
    return f"(({p}L * ({size}) + {q - 1}L) div {q}L)"


def cells(many: str) -> str:
    """How many cells so many are cut into, as Spark computes it."""
    return f"(({many} - 1L) div {CELL}L + 1L)"


def enough(shares: Shares, common: str, u: str, v: str) -> str:
    """That sets of such sizes have so many shingles in common as they must."""
    return " and ".join(
        f"{common} >= {need(share, size)}"
        for share, size in ((shares.of_i, u), (shares.of_j, v), (shares.of_both, f"{u} + {v}"))
    )


def _groups(found: Members) -> Frame:
    """Equal sets of a partition as one, with the first and last value that a range looks at."""
    ends = []
    for at, limit in enumerate(found.ranges):
        value = F.col(found.attributes.place(limit.attribute))
        for role in ("asks", "covers"):
            mine = F.when(F.col(role), value)
            ends += [F.min(mine).alias(f"{role}_low{at}"), F.max(mine).alias(f"{role}_high{at}")]
    return found.frame.groupBy("part", "s").agg(
        F.first("size").alias("size"),
        F.bool_or("asks").alias("asks"),
        F.bool_or("covers").alias("covers"),
        *ends,
    )


def _different(
    groups: Frame, sets: Frame, shares: Shares, found: Members, turned: bool, parts: int
) -> Frame:
    from pyspark.sql import Window

    ask, answer = ("covers", "asks") if turned else ("asks", "covers")
    roles = groups.select("part", "s", "size", F.col(ask).alias("ask"), F.col(answer).alias("post"))
    items = roles.join(sets.select("s", "shingles"), "s").select(
        "part", "s", "size", "ask", "post", F.explode("shingles").alias("shingle")
    )
    counts = items.groupBy("part", "shingle").agg(
        F.count(F.lit(1)).alias("many"), F.count_if("post").alias("posted")
    )
    counts = counts.where("many > 1 and posted > 0").drop("many")
    useful = kept(items.join(counts, ["part", "shingle"]))
    own = Window.partitionBy("part", "s")
    asked = (
        useful.where("ask")
        .withColumn("kept", F.count(F.lit(1)).over(own))
        .withColumn("rank", F.row_number().over(own.orderBy("posted", "shingle")))
        .where(f"rank <= kept - {need(shares.alone, 'size')} + 1")
        .selectExpr(
            "part", "shingle", "s as u", "size as size_u",
            f"explode(sequence(0L, {cells('posted')} - 1)) as cell",
        )
    )  # fmt: skip
    posted = useful.where("post").selectExpr(
        "part", "shingle", "s as v", "size as size_v",
        f"pmod(xxhash64(s), {cells('posted')}) as cell",
    )  # fmt: skip
    on = ["part", "shingle", "cell"]
    # By all three, or else Spark would leave all cells of a shingle where its postings are.
    met = asked.repartition(parts, *on).join(posted.repartition(parts, *on), on)
    fits = enough(shares, "least(size_u, size_v)", "size_u", "size_v")
    met = met.where("u != v").where(fits).select("part", "u", "v").distinct()
    if turned:
        met = met.selectExpr("part", "v as u", "u as v")
    return _within(met, groups, found)


def _within(pairs: Frame, groups: Frame, found: Members) -> Frame:
    """Those whose documents can be so far apart as the ranges ask for."""
    if not found.ranges:
        return pairs
    tests = []
    d1, d2 = ["part", "s as u"], ["part", "s as v"]
    for at, limit in enumerate(found.ranges):
        d1 += [f"asks_low{at}", f"asks_high{at}"]
        d2 += [f"covers_low{at}", f"covers_high{at}"]
        timed = found.attributes.kind(limit.attribute) == "time"
        low, high = limit.low, limit.high
        if low is not None:
            tests.append(_after(f"covers_high{at}", f"asks_low{at}", low if timed else None))
        if high is not None:
            tests.append(_after(f"asks_high{at}", f"covers_low{at}", -high if timed else None))
    near = pairs.join(groups.where("asks").selectExpr(*d1), ["part", "u"])
    near = near.join(groups.where("covers").selectExpr(*d2), ["part", "v"])
    return near.where(" and ".join(tests)).select("part", "u", "v")


def _after(later: str, earlier: str, span: int | None) -> str:
    """later - earlier >= span; times are below 2**58, and a span is at most 2**61."""
    if span is None:
        return f"{later} >= {earlier}"
    return f"{later} - {earlier} >= {span}L"
