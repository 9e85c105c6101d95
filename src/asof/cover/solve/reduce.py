"""Reductions that leave a smallest cover of the rest: what has to be chosen, what need not be seen.

- essential: a row with one column left needs that column, and the column's rows are covered.
- dominated column: all its rows are also those of another, no worse one; it is never needed.
- dominated row: all columns of another row are also its own, so whatever covers that covers this.

All columns and rows of all components are looked at together, in rounds, with numpy: most
components are gone before anything looks at a single one. What a component comes to does not
depend on the others, so a component that is solved again alone comes to the same.

With a quality, a column is "no worse" when its quality is no lower: among smallest covers the one
of best total quality then survives, too. Ties are broken by the lower id.
"""

from collections import deque
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from asof.cover.documents.sets import Counts, Flags, begins, spread, stretches
from asof.cover.join.graph import CoverageGraph, Ids, Lists

# Pairs looked at together, to bound memory.
_SLICE = 1 << 21
# How many possible dominators of one row or column are compared in full in a round: bounds the work
# in dense components. What is overlooked costs time later, never the right answer.
_TRIES = 8
_TRIES_ALONE = 64  # the same in steps
# Rounds for all together, before what still changes is looked at piece by piece.
_ROUNDS = 16
_Items = set[int] | None  # of a list; None when it is gone


def settle_single(coverage: CoverageGraph, quality: Counts) -> tuple[Ids, CoverageGraph]:
    """Settles components that one document covers alone, and gives those and the problem left.

    Pairs, stars and cliques, and pages whose last version has everything: most components of an
    archive. Of several such documents the one of best quality, then of lowest id.
    """
    of_row, of_col, count = coverage.parts()
    sizes = np.bincount(of_row, minlength=count)
    full = np.flatnonzero(coverage.col_degrees() == sizes[of_col])
    order = full[np.lexsort((full, -quality[coverage.col_ids[full]], of_col[full]))]
    first = order[begins(of_col[order])]
    solved = np.zeros(count, np.bool_)
    solved[of_col[first]] = True
    return coverage.col_ids[first], coverage.without(rows=solved[of_row])


def reduce(coverage: CoverageGraph, quality: Counts) -> tuple[Ids, CoverageGraph]:
    """What must be chosen, and the problem that no rule makes smaller; `quality` by document id."""
    chosen: list[Ids] = []
    kernels: list[CoverageGraph] = []
    left = coverage
    for _ in range(_ROUNDS):
        if not left.row_ids.size:
            break
        before = left
        taken, left = _essential(left)
        chosen.extend(taken)
        if left.row_ids.size:
            left = left.without(cols=dominated_columns(left, quality[left.col_ids]))
            left = left.without(rows=dominated_rows(left))
        done, left = _at_rest(before, left)
        if done is not None:
            kernels.append(done)
    if left.row_ids.size:
        needed, left = reduce_stepwise(left, quality)
        chosen.append(needed)
        kernels.append(left)
    return np.concatenate([np.empty(0, np.int32), *chosen]), CoverageGraph.joined(kernels)


def _essential(coverage: CoverageGraph) -> tuple[list[Ids], CoverageGraph]:
    taken: list[Ids] = []
    while coverage.row_ids.size:
        lists = coverage.by_row()
        single = lists.lengths == 1
        if not single.any():
            break
        needed = np.zeros(coverage.col_ids.size, np.bool_)
        needed[lists.items[lists.starts[:-1][single]]] = True
        documents, coverage = coverage.chosen(needed)
        taken.append(documents)
    return taken, coverage


def _at_rest(
    before: CoverageGraph, after: CoverageGraph
) -> tuple[CoverageGraph | None, CoverageGraph]:
    """Parts the components that a round left as they were from those to go on with.

    Otherwise one component of a thousand rounds would have all others looked at a thousand times.
    """
    if after.rows.size == before.rows.size:
        return before, after.without(rows=np.ones(after.row_ids.size, np.bool_))
    of_row, of_col, count = before.parts()
    entries = np.bincount(of_row[before.rows], minlength=count)
    part = of_col[np.searchsorted(before.col_ids, after.col_ids)]
    now = np.bincount(part[after.cols], minlength=count)
    still = (entries == now)[of_row[np.searchsorted(before.row_ids, after.row_ids)]]
    if not still.any():
        return None, after
    return after.without(rows=~still), after.without(rows=still)


def dominated_columns(coverage: CoverageGraph, quality: Counts) -> Flags:
    """Columns whose rows are all those of another one, too, of no lower quality."""
    own, other = coverage.by_col(), coverage.by_row()
    degrees = own.lengths
    seen = _Subsets(own, other)
    gone = np.zeros(coverage.col_ids.size, np.bool_)
    for sub, sup in seen.pairs():
        larger, better = degrees[sup] - degrees[sub], quality[sup] - quality[sub]
        earlier = (better > 0) | (larger > 0) | (sup < sub)
        fits = (better >= 0) & earlier & (larger >= 0) & (sup != sub)
        sub, sup = seen.plausible(sub[fits], sup[fits])
        order = np.lexsort((sup, -degrees[sup], sub))
        seen.mark(gone, sub[order], sup[order], sub[order])
    return gone


def dominated_rows(coverage: CoverageGraph) -> Flags:
    """Rows that have all columns of another one; of equal ones all but the first."""
    own, other = coverage.by_row(), coverage.by_col()
    degrees = own.lengths
    seen = _Subsets(own, other)
    gone = np.zeros(coverage.row_ids.size, np.bool_)
    best = np.empty(0, np.int64), np.empty(0, np.int64)
    for sub, sup in seen.pairs():
        larger = degrees[sup] - degrees[sub]
        fits = (larger > 0) | ((larger == 0) & (sub < sup))
        sub, sup = seen.plausible(sub[fits], sup[fits])
        sub, sup = np.concatenate([best[0], sub]), np.concatenate([best[1], sup])
        order = np.lexsort((sub, degrees[sub], sup))
        sub, sup = sub[order], sup[order]
        first = _place(sup) < _TRIES  # a row's pairs are in many slices
        best = sub[first], sup[first]
    seen.mark(gone, *best, best[1])
    return gone


def _place(values: Counts) -> Counts:
    """For sorted values, the place of each among its equals, from 0."""
    at = np.arange(values.size)
    return at - np.maximum.accumulate(np.where(begins(values), at, 0))


class _Subsets:
    """Finds lists that hold all items of another one."""

    def __init__(self, own: Lists, other: Lists) -> None:
        """`own` has the items of each list, `other` the lists of each item."""
        self._own, self._other = own, other
        self._width = max(other.starts.size - 1, 1)
        lengths = own.lengths
        owners = np.repeat(np.arange(lengths.size, dtype=np.int64), lengths)
        self._keys = owners * self._width + own.items
        # Which of 64 classes of items occur in a list: a subset has no class of its own.
        bits = (own.items.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(58)
        self._classes = np.bitwise_or.reduceat(np.uint64(1) << bits, own.starts[:-1])

    def pairs(self) -> Iterator[tuple[Counts, Counts]]:
        """Each list with all that hold its rarest item, in slices: no other can hold all of it.

        All pairs of one list are in one slice.
        """
        degrees = self._other.lengths
        marked = degrees[self._own.items] << 32 | self._own.items
        least = np.minimum.reduceat(marked, self._own.starts[:-1])
        counts, pivots = least >> 32, least & 0xFFFFFFFF
        for first, end in stretches(counts, _SLICE):
            number = counts[first:end]
            sub = np.repeat(np.arange(first, end, dtype=np.int64), number)
            places = spread(self._other.starts[pivots[first:end]], number)
            yield sub, self._other.items[places].astype(np.int64)

    def plausible(self, sub: Counts, sup: Counts) -> tuple[Counts, Counts]:
        """The pairs of which the classes of items do not say already that they are none."""
        fits = (self._classes[sub] & ~self._classes[sup]) == 0
        return sub[fits], sup[fits]

    def mark(self, gone: Flags, sub: Counts, sup: Counts, marked: Counts) -> None:
        """Flags what is `marked` in true pairs, which are in its order, the best pair first."""
        place = _place(marked)
        for attempt in range(_TRIES):
            picked = np.flatnonzero((place == attempt) & ~gone[marked])
            gone[marked[picked[self._holds(sub[picked], sup[picked])]]] = True

    def _holds(self, sub: Counts, sup: Counts) -> Flags:
        lengths = self._own.lengths[sub]
        held = np.zeros(sub.size, np.bool_)
        for first, end in stretches(lengths, _SLICE):
            number = lengths[first:end]
            items = self._own.items[spread(self._own.starts[sub[first:end]], number)]
            wanted = np.repeat(sup[first:end], number) * self._width + items
            at = np.minimum(np.searchsorted(self._keys, wanted), self._keys.size - 1)
            starts = np.cumsum(number) - number
            held[first:end] = np.logical_and.reduceat(self._keys[at] == wanted, starts)
        return held


def reduce_stepwise(coverage: CoverageGraph, quality: Counts) -> tuple[Ids, CoverageGraph]:
    """The same one row or column at a time, for components that need very many rounds.

    A page of which each version covers only the one before is a chain: each round takes two
    documents off its end. Here only what a step has touched is looked at again, so a chain of n
    documents takes about n steps.
    """
    steps = _Stepwise(coverage, quality[coverage.col_ids])
    steps.run()
    rows = np.array([row is None for row in steps.rows], np.bool_)
    cols = np.array([col is None for col in steps.cols], np.bool_)
    return coverage.col_ids[sorted(steps.chosen)], coverage.without(rows, cols)


class _Stepwise:
    def __init__(self, coverage: CoverageGraph, quality: Counts) -> None:
        self.rows, self.cols = _sets(coverage.by_row()), _sets(coverage.by_col())
        self.chosen: list[int] = []
        self._quality = quality.tolist()
        self._height = len(self.rows)
        # Rows by their numbers, columns by theirs after the last row.
        self._queue = deque(range(self._height + len(self.cols)))
        self._queued = [True] * len(self._queue)

    def run(self) -> None:
        while self._queue:
            at = self._queue.popleft()
            self._queued[at] = False
            if at < self._height:
                self._look_at_row(at)
            else:
                self._look_at_column(at - self._height)

    def _look_at_row(self, row: int) -> None:
        """A row with few columns may need the last, or be inside others, which then can go."""
        mine = self.rows[row]
        if mine is None:
            return
        if len(mine) == 1:
            self._take(next(iter(mine)))
            return
        rarest = min(mine, key=lambda col: (len(self.cols[col] or ()), col))
        for other in sorted(self.cols[rarest] or ())[:_TRIES_ALONE]:
            theirs = self.rows[other]
            if other == row or theirs is None or not mine <= theirs:
                continue
            if len(mine) < len(theirs) or row < other:
                self._drop_row(other)

    def _look_at_column(self, col: int) -> None:
        """A column that lost rows may be inside another one that is no worse."""
        mine = self.cols[col]
        if mine is None:
            return
        if not mine:
            self._drop_column(col)
            return
        rarest = min(mine, key=lambda row: (len(self.rows[row] or ()), row))
        for other in sorted(self.rows[rarest] or ())[:_TRIES_ALONE]:
            theirs = self.cols[other]
            better = self._quality[other] - self._quality[col]
            if other == col or better < 0 or theirs is None or not mine <= theirs:
                continue
            if better > 0 or len(mine) < len(theirs) or other < col:
                self._drop_column(col)
                return

    def _take(self, col: int) -> None:
        self.chosen.append(col)
        for row in sorted(self.cols[col] or ()):
            self._drop_row(row)
        self._drop_column(col)

    def _drop_row(self, row: int) -> None:
        mine, self.rows[row] = self.rows[row], None
        self._forget(row, mine, self.cols, self._height)

    def _drop_column(self, col: int) -> None:
        mine, self.cols[col] = self.cols[col], None
        self._forget(col, mine, self.rows, 0)

    def _forget(self, gone: int, mine: _Items, lists: list[_Items], first: int) -> None:
        """Takes what is gone out of the lists that it was in, which are then looked at again."""
        for at in sorted(mine or ()):
            theirs = lists[at]
            if theirs is not None:
                theirs.discard(gone)
                if not self._queued[first + at]:
                    self._queued[first + at] = True
                    self._queue.append(first + at)


def _sets(lists: Lists) -> list[_Items]:
    items, starts = lists.items.tolist(), lists.starts.tolist()
    return [set(items[first:end]) for first, end in pairwise(starts)]
