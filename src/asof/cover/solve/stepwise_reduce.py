"""The same reductions one row or column at a time, for components that need very many rounds.

A page of which each version covers only the one before is a chain: each round of `reduce` takes two
documents off its end. Here only what a step has touched is looked at again, so a chain of n
documents takes about n steps.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np

from asof.cover.documents.sets import Counts
from asof.cover.join.graph import CoverageGraph, Ids, Lists

# How many possible dominators of one row or column are looked at, as in `reduce`.
_TRIES = 64


def reduce_stepwise(coverage: CoverageGraph, quality: Counts) -> tuple[Ids, CoverageGraph]:
    """Documents that have to be chosen, and the problem left. `quality` is by document id."""
    steps = _Stepwise(coverage, quality[coverage.col_ids])
    steps.run()
    rows = np.array([row is None for row in steps.rows], np.bool_)
    cols = np.array([col is None for col in steps.cols], np.bool_)
    return coverage.col_ids[sorted(steps.chosen)], coverage.without(rows, cols)


class _Stepwise:
    def __init__(self, coverage: CoverageGraph, quality: Counts) -> None:
        self.rows = _sets(coverage.by_row())
        self.cols = _sets(coverage.by_col())
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
        for other in sorted(self.cols[rarest] or ())[:_TRIES]:
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
        for other in sorted(self.rows[rarest] or ())[:_TRIES]:
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
        for col in sorted(mine or ()):
            theirs = self.cols[col]
            if theirs is not None:
                theirs.discard(row)
                self._enqueue(self._height + col)

    def _drop_column(self, col: int) -> None:
        mine, self.cols[col] = self.cols[col], None
        for row in sorted(mine or ()):
            theirs = self.rows[row]
            if theirs is not None:
                theirs.discard(col)
                self._enqueue(row)

    def _enqueue(self, at: int) -> None:
        if not self._queued[at]:
            self._queued[at] = True
            self._queue.append(at)


def _sets(lists: Lists) -> list[set[int] | None]:
    items, starts = lists.items.tolist(), lists.starts.tolist()
    return [set(items[first:end]) for first, end in pairwise(starts)]
