"""Who covers whom: the pairs that a relation holds for, found by the join and then checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from asof.cover.analyse import Alternative, analyse
from asof.cover.collection import Collection
from asof.cover.evaluate import Pairs, prepared
from asof.cover.join import join
from asof.cover.push import Pushed, meetings, push
from asof.cover.sets import Edges
from asof.cover.syntax import Relation
from asof.cover.verify import overlaps

Progress = Callable[[str, int, int], None]

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use, and who watches it. `memory` is in bytes, beside the shingles."""

    memory: int | None = None
    threads: int | None = None
    progress: Progress = lambda stage, done, total: None
    cancel: Callable[[], bool] = lambda: False


def covering_pairs(collection: Collection, relation: Relation, limits: Limits) -> Edges:
    """All pairs (i, j), i != j, in which document j covers document i, each once, in order.

    The types of the relation must have been checked (asof.cover.kinds).
    """
    found = [
        edges
        for alternative in analyse(relation).alternatives
        for edges in _of_alternative(collection, alternative, limits)
    ]
    i = np.concatenate([np.empty(0, np.int32), *(edges.i for edges in found)])
    j = np.concatenate([np.empty(0, np.int32), *(edges.j for edges in found)])
    inter = np.concatenate([np.empty(0, np.int32), *(edges.inter for edges in found)])
    # Alternatives may both hold for a pair.
    _, first = np.unique(i.astype(np.int64) * max(len(collection), 1) + j, return_index=True)
    return Edges(i[first], j[first], inter[first])


def _of_alternative(
    collection: Collection, alternative: Alternative, limits: Limits
) -> Iterator[Edges]:
    pushed = push(alternative, collection.columns, len(collection))
    sizes = collection.sets.sizes
    holds = None if pushed.residual is None else prepared(pushed.residual, collection.columns)
    for edges in _candidates(collection, pushed, limits):
        if holds is None:
            yield edges
            continue
        kept = holds(Pairs(edges.i, edges.j, edges.inter, sizes[edges.i], sizes[edges.j]))
        yield Edges(edges.i[kept], edges.j[kept], edges.inter[kept])


def _candidates(collection: Collection, pushed: Pushed, limits: Limits) -> Iterator[Edges]:
    if pushed.bound.empty and pushed.partition is None:  # two different attributes must be equal
        for i, j in meetings(pushed, _BLOCK):
            if limits.cancel():
                return
            other = i != j
            one, two = i[other].astype(np.int32), j[other].astype(np.int32)
            yield Edges(one, two, overlaps(collection.sets, one, two))
        return
    yield from join(
        collection.sets,
        pushed.bound,
        partition=pushed.partition,
        position=pushed.position,
        window=pushed.window,
        d1=pushed.d1,
        d2=pushed.d2,
        progress=limits.progress,
        cancel=limits.cancel,
        memory=limits.memory,
        threads=limits.threads,
    )
