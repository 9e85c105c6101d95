"""Who covers whom: the pairs that a relation holds for, found by the join and then checked."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from asof.cover.documents.collection import Collection
from asof.cover.documents.sets import Counts, Edges, Flags, Items, Sets, starts_of, stretches
from asof.cover.join.join import JoinLimits, join
from asof.cover.join.overlaps import overlaps
from asof.cover.join.pair_spool import MOST, ROOM, PairSpool, gathered
from asof.cover.join.pushdown import Pushdown, meetings, push_down
from asof.cover.join.ranking import KeptRanks
from asof.cover.language.analyse import analyse
from asof.cover.language.evaluate import Pairs, Truth, prepared
from asof.cover.language.syntax import Relation

_PAIR = 60  # bytes that a pair takes in memory until the cover is found
_FEW = 1 << 14  # pairs that are gathered however short memory is: 1 MB
_LEAST = 16 << 20  # bytes of a spool
_AT_ONCE = 1 << 18  # shingles looked at in one step: what is made of them stays in the cache
_ROOM = 16  # places of the table for each shingle: one of 16 others is let through
# Bits of an address: 16 MB. With 1 % of scenario C new, 0.9 CPU s; 1.5 with 64 MB, which lets 2 %
# fewer through, and 0.9 with 4 MB, which lets 7 % more through (bench/cover_growth.py).
_MOST = 24
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 by the golden ratio, as in Fibonacci hashing


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
    blocks = _blocks(collection, relation, limits, fresh, ranks)
    most, room = MOST, ROOM
    if limits.memory is not None:
        most, room = max(limits.memory // _PAIR, _FEW), max(limits.memory // 4, _LEAST)
    start = [] if known is None else [known]
    found = gathered(len(collection), chain(start, blocks), most=most, room=room)
    return found if isinstance(found, PairSpool) else ordered(len(collection), found)


def ordered(count: int, found: Sequence[Edges]) -> Edges:
    """The pairs of so many documents in the order of i and j, each once."""
    i = np.concatenate([np.empty(0, np.int32), *(edges.i for edges in found)])
    j = np.concatenate([np.empty(0, np.int32), *(edges.j for edges in found)])
    inter = np.concatenate([np.empty(0, np.int32), *(edges.inter for edges in found)])
    keys = i.astype(np.int64) * max(count, 1) + j
    if (keys[1:] > keys[:-1]).all():  # as kept ones nearly always are
        return Edges(i, j, inter)
    _, first = np.unique(keys, return_index=True)  # alternatives may both hold for a pair
    return Edges(i[first], j[first], inter[first])


def _blocks(
    collection: Collection,
    relation: Relation,
    limits: JoinLimits,
    fresh: Truth | None,
    ranks: KeptRanks | None,
) -> Iterator[Edges]:
    sets, sizes = collection.sets, collection.sets.sizes
    # What is shared is held in memory; where that is short, the join goes without.
    fits = limits.memory is None or sets.items.nbytes <= limits.memory
    among = common_with(sets, fresh) if fresh is not None and fits else None
    for alternative in analyse(relation):
        whole = push_down(alternative, collection.columns, len(collection))
        holds = None if whole.residual is None else prepared(whole.residual, collection.columns)
        for part in [whole] if fresh is None else _with_a_fresh_one(whole, fresh):
            for edges in _candidates(sets, part, limits, among, ranks):
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
    sets: Sets,
    pushdown: Pushdown,
    limits: JoinLimits,
    among: Sets | None,
    ranks: KeptRanks | None,
) -> Iterator[Edges]:
    if not pushdown.bound.empty or pushdown.partition is not None:
        yield from join(
            sets, pushdown.bound, limits, partition=pushdown.partition, position=pushdown.position,
            window=pushdown.window, d1=pushdown.d1, d2=pushdown.d2, among=among, ranks=ranks,
        )  # fmt: skip
        return
    for i, j in meetings(pushdown):  # two different attributes must be equal
        if limits.cancel():
            return
        yield Edges(i.astype(np.int32), j.astype(np.int32), overlaps(sets, i, j))


def common_with(sets: Sets, chosen: Flags) -> Sets:
    """Of every set the shingles that chosen sets have: what pairs with them can have in common.

    When a collection grows by a hundredth, only pairs with a new document are asked for. All
    shingles that none of these has are left out before anything is ranked. A table of bits,
    addressed by a hash, decides: now and then it lets one more through, which does no harm.
    """
    total = int(sets.sizes[chosen].sum())
    bits = min(max((_ROOM * total).bit_length(), 1), _MOST)
    table = np.zeros(1 << bits, np.bool_)
    for first, last in _neighbours(chosen):
        mine = sets.items[sets.offsets[first] : sets.offsets[last]]
        for at in range(0, mine.size, _AT_ONCE):
            table[_places(mine[at : at + _AT_ONCE], bits)] = True
    counts = np.zeros(len(sets), np.int64)
    parts: list[Items] = []
    for first, last in stretches(sets.sizes, _AT_ONCE):
        items = sets.items[sets.offsets[first] : sets.offsets[last]]
        hits = np.flatnonzero(table.take(_places(items, bits)))
        parts.append(items.take(hits))
        bounds = sets.offsets[first : last + 1] - sets.offsets[first]
        counts[first:last] = np.diff(np.searchsorted(hits, bounds))
    return Sets(starts_of(counts), np.concatenate([np.empty(0, np.uint64), *parts]))


def _places(items: Items, bits: int) -> Counts:
    return ((items * _SPREAD) >> np.uint64(64 - bits)).view(np.int64)


def _neighbours(chosen: Flags) -> list[list[int]]:
    """Where chosen ones follow each other: the first of them, and the first that is not."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8)))
    found: list[list[int]] = edges.reshape(-1, 2).tolist()
    return found
