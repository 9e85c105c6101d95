"""The third stage: connected components in rounds that do not grow with the diameter (section 3.3).

Paudel 2013 passes the largest id along the edges, which takes as many jobs as the longest path has
steps. Here graphs are contracted. In each round every vertex tosses a coin; one that shows tails
goes to a neighbour that shows heads, if it has any, and edges are led between those that their
ends went to (random mates: Reif 1985; contraction at this scale: Lacki, Mirrokni, Wlodarczyk 2018;
others are hash-to-min, Rastogi et al. 2013, and large-star/small-star, Kiveris et al. 2014). A
vertex that has an edge goes with a chance of a quarter at least, whatever the graph. So after a
round three quarters are left on average, at most, and n vertices take about log n / log(4/3)
rounds, be they one path or one star. The coins are hashes: the same graph takes the same rounds.

Before that, each task replaces its edges by a forest that connects the same (the union-find of the
local engine), and as soon as what is left fits one task, that finishes. So common graphs, which
are many small components, take no round at all.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asof.cover.join.graph import components
from asof.cover.spark.extras import F, Frame, arrow
from asof.cover.spark.session import kept

Ends = NDArray[np.int64]

ENOUGH = 1 << 22  # edges that one task takes on: about half a gigabyte while it works
_WAITING = 1 << 20  # edges of a task that wait until they are made a forest
_BATCH = 1 << 16


@dataclass(frozen=True, slots=True)
class Labels:
    """The smallest number of its component for each vertex with an edge (v, root)."""

    frame: Frame
    rounds: int  # of contraction, before the rest fitted one task


def connected(edges: Frame, *, enough: int = ENOUGH) -> Labels:
    """The components of a graph with edges (i, j)."""
    forest = kept(edges.selectExpr("i as a", "j as b").mapInArrow(_forest, "a bigint, b bigint"))
    contractions: list[Frame] = []
    while forest.count() > enough:
        moves = kept(_moves(forest, len(contractions)))
        contractions.append(moves)
        forest = kept(_led(forest, moves).mapInArrow(_forest, "a bigint, b bigint"))
    last = forest.coalesce(1).mapInArrow(_forest, "a bigint, b bigint")
    labels = last.selectExpr("a as v", "b as root")
    for moves in reversed(contractions):
        # Where a vertex went, and where that went from there on; what ended there stayed.
        gone = labels.withColumnRenamed("v", "to").withColumnRenamed("root", "end")
        later = moves.join(gone, "to", "left").select("v", F.coalesce("end", "to").alias("root"))
        labels = later
    labels = labels.union(labels.selectExpr("root as v", "root").distinct()).distinct()
    lowest = labels.groupBy("root").agg(F.min("v").alias("low"))
    found = labels.join(lowest, "root").selectExpr("v", "low as root")
    return Labels(found, len(contractions))


def _moves(edges: Frame, number: int) -> Frame:
    """Where each vertex goes in this round: to a neighbour, or it stays."""
    heads = f"(xxhash64({{}}, {number}) & 1) = 0"
    both = edges.union(edges.selectExpr("b", "a"))
    mates = both.groupBy(F.col("a").alias("v")).agg(
        F.min(F.expr(f"case when {heads.format('b')} then b end")).alias("mate")
    )
    goes = f"case when {heads.format('v')} then v else nvl(mate, v) end"
    return mates.selectExpr("v", f"{goes} as to")


def _led(edges: Frame, moves: Frame) -> Frame:
    """The edges between those that their ends went to, each once."""
    one = moves.selectExpr("v as a", "to as c")
    two = moves.selectExpr("v as b", "to as d")
    led = edges.join(one, "a").join(two, "b").where("c != d")
    return led.selectExpr("least(c, d) as a", "greatest(c, d) as b").distinct()


def _forest(batches: Iterable[Any]) -> Iterator[Any]:
    """The edges of a task as stars: each vertex with the lowest one that it is connected to."""
    a = b = np.empty(0, np.int64)
    waiting: list[tuple[Ends, Ends]] = []
    size = 0
    for batch in batches:
        waiting.append((batch.column("a").to_numpy(), batch.column("b").to_numpy()))
        size += batch.num_rows
        if size > max(_WAITING, a.size):  # of the order of the forest: each edge is sorted seldom
            a, b = _stars([(a, b), *waiting])
            waiting, size = [], 0
    a, b = _stars([(a, b), *waiting])
    found = arrow.RecordBatch.from_arrays([arrow.array(a), arrow.array(b)], ["a", "b"])
    for at in range(0, found.num_rows, _BATCH):
        yield found.slice(at, _BATCH)


def _stars(edges: list[tuple[Ends, Ends]]) -> tuple[Ends, Ends]:
    ends = [one for one, _ in edges] + [other for _, other in edges]
    vertices, places = np.unique(np.concatenate(ends), return_inverse=True)
    half = places.size // 2
    label = components(vertices.size, places[:half], places[half:])
    moved = np.flatnonzero(label != np.arange(label.size))
    return vertices[moved], vertices[label[moved]]
