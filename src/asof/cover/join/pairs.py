"""Who covers whom: the pairs that a relation holds for, found by the join and then checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from asof.cover.documents.collection import Collection
from asof.cover.documents.sets import Edges, Sets
from asof.cover.join.common_shingles import common_with
from asof.cover.join.join import join
from asof.cover.join.overlaps import overlaps
from asof.cover.join.pair_spool import MOST, ROOM, PairSpool, gathered
from asof.cover.join.pushdown import Pushdown, meetings, push_down
from asof.cover.join.ranking import KeptRanks
from asof.cover.language.analyse import Alternative, analyse
from asof.cover.language.evaluate import Pairs, Truth, prepared
from asof.cover.language.syntax import Relation

Progress = Callable[[str, int, int], None]

_BLOCK = 1 << 20
_PAIR = 60  # bytes that a pair takes in memory until the cover is found
_FEW = 1 << 14  # pairs that are gathered however short memory is: 1 MB
_LEAST = 16 << 20  # bytes of a spool


@dataclass(frozen=True, slots=True)
class JoinLimits:
    """What a run may use, and who watches it. `memory` is in bytes, beside the shingles."""

    memory: int | None = None
    threads: int | None = None
    progress: Progress = lambda stage, done, total: None
    cancel: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which pairs are asked for, and what is known for their sake."""

    fresh: Truth | None
    among: Sets | None
    ranks: KeptRanks | None


def found_pairs(
    collection: Collection,
    relation: Relation,
    limits: JoinLimits,
    *,
    fresh: Truth | None = None,
    ranks: KeptRanks | None = None,
    known: Edges | None = None,
) -> Edges | PairSpool:
    """All pairs (i, j), i != j, in which document j covers document i, each once, in order.

    The types of the relation must have been checked (language/kinds.py). With `fresh`, only pairs
    with at least one of these documents, and pairs `known` before. `ranks` may have been kept by an
    earlier run. Without a limit, 33 million pairs are gathered in memory; with one, as many as fit
    it. More are a spool, for the caller to close.
    """
    asked = _Asked(fresh, _among(collection, limits, fresh), ranks)
    blocks = _of_all(collection, relation, limits, asked)
    most, room = MOST, ROOM
    if limits.memory is not None:
        most, room = max(limits.memory // _PAIR, _FEW), max(limits.memory // 4, _LEAST)
    start = [] if known is None else [known]
    found = gathered(len(collection), chain(start, blocks), most=most, room=room)
    return found if isinstance(found, PairSpool) else ordered(len(collection), found)


def _among(collection: Collection, limits: JoinLimits, fresh: Truth | None) -> Sets | None:
    sets = collection.sets
    # What is shared is held in memory; where that is short, the join goes without.
    fits = limits.memory is None or sets.items.nbytes <= limits.memory
    return common_with(sets, fresh) if fresh is not None and fits else None


def _of_all(
    collection: Collection, relation: Relation, limits: JoinLimits, asked: _Asked
) -> Iterator[Edges]:
    for alternative in analyse(relation):
        yield from _of_alternative(collection, alternative, limits, asked)


def ordered(count: int, found: Sequence[Edges]) -> Edges:
    """The pairs of so many documents in the order of i and j, each once."""
    i = np.concatenate([np.empty(0, np.int32), *(edges.i for edges in found)])
    j = np.concatenate([np.empty(0, np.int32), *(edges.j for edges in found)])
    inter = np.concatenate([np.empty(0, np.int32), *(edges.inter for edges in found)])
    # Alternatives may both hold for a pair.
    _, first = np.unique(i.astype(np.int64) * max(count, 1) + j, return_index=True)
    return Edges(i[first], j[first], inter[first])


def _of_alternative(
    collection: Collection, alternative: Alternative, limits: JoinLimits, asked: _Asked
) -> Iterator[Edges]:
    pushdown = push_down(alternative, collection.columns, len(collection))
    sizes = collection.sets.sizes
    holds = None if pushdown.residual is None else prepared(pushdown.residual, collection.columns)
    parts = [pushdown] if asked.fresh is None else _with_a_fresh_one(pushdown, asked.fresh)
    for edges in chain.from_iterable(_candidates(collection, one, limits, asked) for one in parts):
        if holds is None:
            yield edges
            continue
        kept = holds(Pairs(edges.i, edges.j, edges.inter, sizes[edges.i], sizes[edges.j]))
        yield Edges(edges.i[kept], edges.j[kept], edges.inter[kept])


def _with_a_fresh_one(pushdown: Pushdown, fresh: Truth) -> list[Pushdown]:
    """The pairs of fresh documents with all, and those of the others with fresh ones."""
    every = np.ones_like(fresh)
    d1 = every if pushdown.d1 is None else pushdown.d1
    d2 = every if pushdown.d2 is None else pushdown.d2
    return [replace(pushdown, d1=d1 & fresh), replace(pushdown, d1=d1 & ~fresh, d2=d2 & fresh)]


def _candidates(
    collection: Collection, pushdown: Pushdown, limits: JoinLimits, asked: _Asked
) -> Iterator[Edges]:
    if (
        pushdown.bound.empty and pushdown.partition is None
    ):  # two different attributes must be equal
        for i, j in meetings(pushdown, _BLOCK):
            if limits.cancel():
                return
            other = i != j
            one, two = i[other].astype(np.int32), j[other].astype(np.int32)
            yield Edges(one, two, overlaps(collection.sets, one, two))
        return
    yield from join(
        collection.sets,
        pushdown.bound,
        partition=pushdown.partition,
        position=pushdown.position,
        window=pushdown.window,
        d1=pushdown.d1,
        d2=pushdown.d2,
        among=asked.among,
        ranks=asked.ranks,
        progress=limits.progress,
        cancel=limits.cancel,
        memory=limits.memory,
        threads=limits.threads,
    )
