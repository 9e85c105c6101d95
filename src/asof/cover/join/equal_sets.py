"""Documents that are one for the join: equal sets of one partition; and pairs of them, unfolded.

A thousand copies of a page are one set to rank, to post and to compare. What differs between the
copies, their positions and sides, is kept as the widest that any of them needs; when a pair of
groups is found, its documents are paired and looked at one by one. So this is sound for any window.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from asof.cover.documents.sets import Counts, Edges, Flags, Ranks, Sets, begins, spread, stretches
from asof.cover.join import fallback
from asof.cover.join.graph import Lists
from asof.cover.join.overlaps import compiled, overlaps

Window = tuple[int | None, int | None]
PAIRS = 1 << 21  # pairs of documents in a block of edges, about: 24 bytes each when made
FAR = 1 << 61  # positions are smaller, in either direction; a larger one is none
_EVER = 1 << 62  # spans are smaller, and their sums with positions stay within 64 bits


@dataclass(frozen=True, slots=True)
class EqualSets:
    """Groups in the order of partitions and last positions; `first` stands for each of them.

    So a partition is a stretch of groups, and what a group's window can reach in it is one, too.
    """

    first: Counts
    parts: Ranks
    covered: Lists  # of each group the documents that may play the role
    covering: Lists
    position: Counts | None
    window: tuple[int, int]

    def __len__(self) -> int:
        return self.first.size

    def labels(self, count: int) -> Counts:
        """The group of each of so many documents; -1 for one that is in none."""
        found = np.full(count, -1, np.int64)
        for side in (self.covered, self.covering):
            found[side.items] = np.repeat(np.arange(len(self)), side.lengths)
        return found

    def reach(self) -> tuple[Ranks, Ranks]:
        """For each group, from which to before which group its partition and window may reach."""
        parts = self.parts
        starts, ends = np.searchsorted(parts, parts, "left"), np.searchsorted(parts, parts, "right")
        if self.position is None:
            return starts.astype(np.uint32), ends.astype(np.uint32)
        least, most = self._ends(self.covered)
        earliest, latest = self._ends(self.covering)
        values = np.unique(np.concatenate([earliest, latest]))
        # Places among all values, those of each partition above those of all before it: what is
        # accumulated over groups begins anew with each partition.
        floor = parts.astype(np.int64) * (values.size + 1)
        behind = np.maximum.accumulate(floor + np.searchsorted(values, latest))
        ahead = floor + np.searchsorted(values, earliest)  # the earliest from a group on
        ahead = np.minimum.accumulate(ahead[::-1])[::-1]
        first = floor + np.searchsorted(values, least + self.window[0], "left")
        last = floor + np.searchsorted(values, most + self.window[1], "right") - 1
        low = np.minimum(np.searchsorted(behind, first, "left"), ends)
        high = np.searchsorted(ahead, last, "right")
        return low.astype(np.uint32), high.astype(np.uint32)

    def _ends(self, side: Lists) -> tuple[Counts, Counts]:
        """The first and the last position of each group; out of reach where it has no documents."""
        assert self.position is not None
        low, high = np.full(len(self), FAR, np.int64), np.full(len(self), -FAR, np.int64)
        some = np.flatnonzero(side.lengths)
        if some.size:
            where = self.position[side.items]
            low[some] = np.minimum.reduceat(where, side.starts[some])
            high[some] = np.maximum.reduceat(where, side.starts[some])
        return low, high

    def edges(self, u: Counts, v: Counts, inter: Counts) -> Iterator[Edges]:
        """The pairs of documents of pairs of groups, those within the window, i never j."""
        many = self.covered.lengths[u] * self.covering.lengths[v]
        for at, end in stretches(many, PAIRS):
            if many[at] > PAIRS:
                yield from self._large(int(u[at]), int(v[at]), int(inter[at]))
            else:
                given = u[at:end], v[at:end], inter[at:end]
                yield from self._chosen(*_products(self.covered, self.covering, *given))

    def _large(self, u: int, v: int, inter: int) -> Iterator[Edges]:
        """One pair of groups that makes more edges than a block has."""
        mine, theirs = self.covered[u], self.covering[v]
        step = max(1, PAIRS // theirs.size)
        for at in range(0, mine.size, step):
            some = mine[at : at + step]
            i, j = np.repeat(some, theirs.size), np.tile(theirs, some.size)
            yield from self._chosen(i, j, np.full(i.size, inter, np.int64))

    def _chosen(self, i: Counts, j: Counts, inter: Counts) -> Iterator[Edges]:
        fits = i != j
        if self.position is not None:
            span = self.position[j] - self.position[i]
            fits &= (span >= self.window[0]) & (span <= self.window[1])
        if fits.any():
            yield Edges(*(one[fits].astype(np.int32) for one in (i, j, inter)))


def _products(
    covered: Lists, covering: Lists, u: Counts, v: Counts, inter: Counts
) -> tuple[Counts, Counts, Counts]:
    """All documents of u with all of v, for each pair of groups."""
    wide = covering.lengths[v]
    many = covered.lengths[u] * wide
    pair = np.repeat(np.arange(u.size), many)
    row, column = np.divmod(spread(np.zeros_like(many), many), wide[pair])
    i = covered.items[covered.starts[u][pair] + row]
    j = covering.items[covering.starts[v][pair] + column]
    return i, j, inter[pair]


def equal_sets(
    sets: Sets,
    parts: Counts,
    position: Counts | None,
    window: Window,
    d1: Flags,
    d2: Flags,
    *,
    by_content: bool = True,
    plain: bool = False,
) -> EqualSets:
    """Groups of equal sets and parts; or, not by content, of equal parts alone.

    Documents without a part, or without a position where one is asked for, are in none.
    """
    chosen = (d1 | d2) & (parts >= 0)
    if position is not None:
        chosen &= (position > -FAR) & (position < FAR)
    taken = np.flatnonzero(chosen)
    label = _labels(sets, taken, parts[taken], by_content=by_content, plain=plain)
    count = int(label.max()) + 1 if label.size else 0
    last = np.full(count, -FAR, np.int64)
    if position is not None:
        np.maximum.at(last, label, position[taken])
    first = np.full(count, len(sets), np.int64)
    np.minimum.at(first, label, taken)
    order = np.lexsort((first, last, parts[first]))
    new = np.empty(count, np.int64)
    new[order] = np.arange(count)
    covered, covering = (_side(new[label], taken, role[taken], count) for role in (d1, d2))
    low, high = window
    low, high = -_EVER if low is None else low, _EVER if high is None else high
    span = min(max(low, -_EVER), _EVER), min(max(high, -_EVER), _EVER)
    ordered = parts[first[order]].astype(np.uint32)
    return EqualSets(first[order], ordered, covered, covering, position, span)


def _side(label: Counts, taken: Counts, role: Flags, count: int) -> Lists:
    label, taken = label[role], taken[role]
    order = np.argsort(label, kind="stable")
    return Lists(np.searchsorted(label[order], np.arange(count + 1)), taken[order])


def _labels(sets: Sets, taken: Counts, parts: Counts, *, by_content: bool, plain: bool) -> Counts:
    """A number for each document taken, equal for those of one group."""
    if not by_content:
        return np.unique(parts, return_inverse=True)[1].astype(np.int64)
    engine = fallback if plain or compiled is None else compiled
    sums = np.frombuffer(engine.digests(sets.items, sets.offsets), np.uint64).reshape(-1, 2)[taken]
    sizes = sets.sizes[taken]
    order = np.lexsort((taken, sums[:, 1], sums[:, 0], sizes, parts))
    columns = (parts[order], sizes[order], sums[order, 0], sums[order, 1])
    alone = np.any([begins(one) for one in columns], axis=0)
    lead = np.maximum.accumulate(np.where(alone, np.arange(order.size), 0))
    copies = np.flatnonzero(~alone)
    # Sums can be equal by chance; what is not equal after all stands alone, which is sound, too.
    one, other = taken[order[copies]], taken[order[lead[copies]]]
    alike = overlaps(sets, one, other, plain=plain) == sets.sizes[one]
    alone[copies[~alike]] = True
    lead[copies[~alike]] = copies[~alike]
    label = np.empty(order.size, np.int64)
    label[order] = (np.cumsum(alone) - 1)[lead]
    return label
