"""Shingles ranked by rarity: each set as the sorted ranks of its shingles, the rarest first.

A rank is a number for a shingle (of a partition), the lower the fewer sets have it that may cover.
A shingle that no other set has can be in no common part and gets none: sets are shorter than their
documents, by their unique shingles.

The compiled way never holds more than a table of one range of values: the shingles of a document
are sorted, so the documents' shingles of a range are stretches that cursors walk along, range after
range; tables stay in the cache, and the shingles may lie in a file. Ranges are cut by a sample, so
that any distribution of values makes ranges of like size.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from asof.cover.documents.sets import Counts, Flags, Items, Ranks, searched, starts_of
from asof.cover.join import fallback
from asof.cover.join.overlaps import compiled

Room = Callable[[int], Ranks]  # gives an array for so many

_RANGE = 1 << 20  # shingles of a range: the cheapest of 2**16 to 2**21 (bench/cover_join.py)
_TABLE = 2 * _RANGE  # words of a table: a slot has two
_SAMPLE = 1 << 18
_STRETCH = 2  # shingles of a document in a range, on average, at least: cursors cost, too


@dataclass(frozen=True, slots=True)
class Ranked:
    """Sets as ascending ranks behind each other, and how many ranks there are."""

    offsets: Counts
    ranks: Ranks
    distinct: int


@dataclass(frozen=True, slots=True)
class Stretches:
    """Sets as parts of one array of items, with what matters for their ranks."""

    items: Items
    begins: Counts
    ends: Counts
    parts: Ranks  # only equal ones meet
    covers: Flags  # whether the set may cover others


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranks of documents without partitions: ranks[begins[d]:ends[d]], ascending.

    They serve for any part of these documents and any condition: what a prefix filter needs is that
    all sets are in the order of one ranking, and what one document alone has, it has alone in
    every part.
    """

    begins: Counts
    ends: Counts
    ranks: Ranks
    distinct: int

    def of(self, documents: Counts, wanted: Flags, room: Room) -> Ranked:
        """The ranks of these documents behind each other, of those that are not wanted none."""
        begins = self.begins[documents]
        sizes = np.where(wanted, self.ends[documents] - begins, 0)
        offsets = starts_of(sizes)
        found = room(int(offsets[-1]))
        ranks = np.asarray(self.ranks)
        for to, start, size in zip(offsets.tolist(), begins.tolist(), sizes.tolist(), strict=False):
            found[to : to + size] = ranks[start : start + size]
        return Ranked(offsets, found, self.distinct)


@dataclass(frozen=True, slots=True)
class KeptRanks:
    """Ranks of the documents that are joined, kept by an earlier run, and to be kept by this."""

    load: Callable[[], Ranking | None]  # of all of them
    keep: Callable[[Ranking], None]


def ranked(sets: Stretches, threads: int, room: Room, *, plain: bool = False) -> Ranked:
    if plain or compiled is None:
        return Ranked(*fallback.ranked(sets.items, sets.begins, sets.ends, sets.parts, sets.covers))
    offsets = starts_of(sets.ends - sets.begins)
    ids = room(int(offsets[-1]))
    with ThreadPoolExecutor(threads) as pool:
        distinct = _number(sets, offsets[1:], ids, pool, threads, room)
        kept = np.zeros(sets.begins.size, np.int64)
        cuts = np.searchsorted(offsets, np.linspace(0, offsets[-1], 8 * threads + 1)[1:-1])
        cuts = np.concatenate([[0], np.minimum(cuts, kept.size), [kept.size]])
        arrange = partial(compiled.arrange, ids, offsets, kept)
        list(pool.map(arrange, cuts[:-1].tolist(), cuts[1:].tolist()))
    compiled.pack(ids, offsets, kept)
    offsets = starts_of(kept)
    return Ranked(offsets, ids[: int(offsets[-1])], distinct)


def _number(
    sets: Stretches, places: Counts, ids: Ranks, pool: ThreadPoolExecutor, threads: int, room: Room
) -> int:
    """Write the rank of every item to its place; each thread has ranges that follow each other."""
    limits = _limits(sets)
    shares = [part for part in np.array_split(np.arange(limits.size), threads) if part.size]
    # Room for as many counts as there are items; what is not needed is never touched.
    table = room(ids.size)
    starts = np.zeros(limits.size + 1, np.int64)

    def count(mine: Counts) -> tuple[int, int]:
        cursors = _cursors(sets, limits, mine)
        first = at = int((cursors - sets.begins).sum())
        given = sets.items, sets.ends, cursors, places, ids, sets.parts, sets.covers
        scratch = np.empty(_TABLE, np.uint64)
        for each in mine:
            counts = np.frombuffer(compiled.number(*given, scratch, int(limits[each])), np.uint32)
            table[at : at + counts.size] = counts
            at += counts.size
            starts[each + 1] = counts.size
        return first, at

    filled = 0
    for first, last in pool.map(count, shares):
        filled = _moved(table, first, last, filled)
    np.cumsum(starts, out=starts)
    distinct = compiled.rank(table[:filled])

    def name(mine: Counts) -> None:
        given = sets.items, sets.ends, _cursors(sets, limits, mine), places, ids
        for at in mine:
            compiled.relabel(*given, table[starts[at] : starts[at + 1]], int(limits[at]))

    list(pool.map(name, shares))
    return distinct


def _cursors(sets: Stretches, limits: Items, mine: Counts) -> Counts:
    """Where in each set the first of these ranges begins."""
    if mine[0] == 0:
        return sets.begins.copy()
    return searched(sets.items, sets.begins, sets.ends, limits[mine[0] - 1], above=True)


def _moved(table: Ranks, first: int, last: int, to: int) -> int:
    """Move a stretch of the table down to a place, and say where it ends there."""
    if first == to:
        return last
    for at in range(first, last, _TABLE):
        end = min(at + _TABLE, last)
        table[to : to + end - at] = table[at:end]
        to += end - at
    return to


def _limits(sets: Stretches) -> Items:
    """The last value of each range, ascending; that of the last is the largest there is."""
    total = int((sets.ends - sets.begins).sum())
    many = max(1, min(total // _RANGE, total // (_STRETCH * max(1, sets.begins.size))))
    sample = np.sort(sets.items[:: max(1, sets.items.size // _SAMPLE)])
    cuts = sample[np.arange(1, many) * sample.size // many] if sample.size else sample
    largest = np.array([np.iinfo(np.uint64).max], np.uint64)
    return np.unique(np.concatenate([cuts, largest]))
