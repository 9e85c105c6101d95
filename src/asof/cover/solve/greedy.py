"""Greedy covers, and a proven lower bound on how small any cover can be.

For problems that are too hard to be solved, or that there is no time left for: any number of
components at once. The difference of both is the gap, by component.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from asof.cover.documents.sets import Counts, Flags
from asof.cover.join.graph import CoverageGraph, Ids
from asof.cover.solve.reduce import reduce

# Rounds in which the prices of the bound are adjusted. 60, 200 and 600 proved 94.1, 96.8 and 96.8 %
# of the optimum on random components of 200 documents (bench/cover_solve.py --bound).
_ROUNDS = 200
_SCALE = 1 << 20  # prices are whole numbers of this part of a document, so that bounds are exact


@dataclass(frozen=True, slots=True)
class CoverProblem:
    """A covering problem in which rows may need more than one column."""

    coverage: CoverageGraph
    needs: Counts  # by row
    quality: Counts  # by column, in whole steps, not negative

    @classmethod
    def plain(cls, coverage: CoverageGraph, quality: Counts) -> CoverProblem:
        """Every row needs one column; `quality` is by document id."""
        needs = np.ones(coverage.row_ids.size, np.int64)
        return cls(coverage, needs, quality[coverage.col_ids])

    def covered(self, chosen: Flags) -> Counts:
        """How many of the chosen columns each row has."""
        coverage = self.coverage
        return np.bincount(coverage.rows[chosen[coverage.cols]], minlength=coverage.row_ids.size)

    def worth(self, columns: Counts | Ids) -> int:
        """The quality of some columns together: of a thousand, it may be more than 64 bits hold."""
        return sum(self.quality[columns].tolist())


@dataclass(frozen=True, slots=True)
class Answer:
    """Columns that cover, a proven lower bound, and whether no cover is better, in quality too."""

    columns: Ids
    lower: int
    proven: bool

    def documents(self, problem: CoverProblem) -> Ids:
        return problem.coverage.col_ids[self.columns]


def greedy(problem: CoverProblem, *, prune: bool = True) -> Ids:
    """Columns in the order of marginal benefit (Paudel 2013, section 3.4), ascending.

    Ties: better quality, then lower id. With `prune`, columns that later ones made superfluous are
    dropped again: the worst quality first, then the one that was taken last.
    """
    rows, cols = problem.coverage.by_row(), problem.coverage.by_col()
    left = problem.needs.copy()
    gains = problem.coverage.col_degrees()
    worth = problem.quality.tolist()
    heap = [(-gain, -worth[col], col) for col, gain in enumerate(gains.tolist())]
    heapify(heap)
    taken: list[int] = []
    while heap:
        gain, value, col = heappop(heap)
        now = int(gains[col])
        if not now:
            continue
        if now != -gain:
            heappush(heap, (-now, value, col))
            continue
        taken.append(col)
        mine = cols[col]
        settled = mine[left[mine] == 1]
        left[mine] -= 1
        for row in settled.tolist():
            gains[rows[row]] -= 1
        gains[col] = 0
    if prune:
        taken = _pruned(problem, taken)
    return np.array(sorted(taken), np.int32)


def _pruned(problem: CoverProblem, taken: list[int]) -> list[int]:
    cols = problem.coverage.by_col()
    chosen = np.zeros(problem.coverage.col_ids.size, np.bool_)
    chosen[taken] = True
    covered = problem.covered(chosen)
    for at in sorted(range(len(taken)), key=lambda at: (problem.quality[taken[at]], -at)):
        col = taken[at]
        mine = cols[col]
        if (covered[mine] > problem.needs[mine]).all():
            covered[mine] -= 1
            chosen[col] = False
    return [col for col in taken if chosen[col]]


def lower_bounds(
    problem: CoverProblem, stop: Callable[[], bool] = lambda: False
) -> tuple[Ids, Counts]:
    """The component of each column, and how many columns each component needs at least.

    Every row is given a price. No cover can be cheaper than the prices of all rows together less
    what they exceed 1 by at any column (the Lagrangian dual). Prices rise where too few columns
    would pay and fall where too many would, with steps that shrink. Whoever wants to `stop` gets
    what the prices say by then.
    """
    coverage = problem.coverage
    of_row, of_col, count = coverage.parts()
    degrees = coverage.row_degrees()
    smallest = np.full(coverage.col_ids.size, np.inf)
    np.minimum.at(smallest, coverage.cols, 1 / coverage.col_degrees()[coverage.cols])
    prices = np.full(coverage.row_ids.size, np.inf)
    np.minimum.at(prices, coverage.rows, smallest[coverage.cols])
    needs = problem.needs.astype(np.float64)
    best, kept = np.full(count, -np.inf), prices.copy()
    pace = np.full(count, 0.5)
    for _ in range(_ROUNDS):
        if stop():
            break
        owed = 1 - np.bincount(coverage.cols, prices[coverage.rows], coverage.col_ids.size)
        value = _summed(of_row, needs * prices, count) + _summed(of_col, np.minimum(owed, 0), count)
        better = value > best
        best = np.maximum(best, value)
        kept = np.where(better[of_row], prices, kept)
        pace = np.where(better, pace, pace * 0.97)
        bought = (owed < 0).astype(np.float64)
        lacking = needs - np.bincount(coverage.rows, bought[coverage.cols], degrees.size)
        square = np.maximum(_summed(of_row, lacking * lacking, count), 1)
        step = pace * np.maximum(np.abs(best), 1) / square
        prices = np.maximum(prices + step[of_row] * lacking, 0)
    return of_col, _exact_value(problem, of_row, of_col, count, kept)


def dive(problem: CoverProblem, stop: Callable[[], bool]) -> Ids:
    """Columns that cover, by taking the best one of each component, reducing, and so on.

    For rows that need one column. When `stop` says so, the rest is left to the greedy algorithm.
    On random components of 200 documents it keeps 105.0 % of the optimum, the greedy algorithm
    112.8 % (bench/cover_solve.py --bound).
    """
    rows = np.arange(problem.coverage.row_ids.size, dtype=np.int32)
    cols = np.arange(problem.coverage.col_ids.size, dtype=np.int32)
    left = CoverageGraph(problem.coverage.rows, problem.coverage.cols, rows, cols)
    quality = problem.quality
    chosen: list[Ids] = []
    while left.row_ids.size:
        if stop():
            chosen.append(left.col_ids[greedy(CoverProblem.plain(left, quality))])
            break
        _, of_col, count = left.parts()
        order = np.lexsort((-quality[left.col_ids], -left.col_degrees(), of_col))
        taken = np.zeros(left.col_ids.size, np.bool_)
        taken[order[np.searchsorted(of_col[order], np.arange(count))]] = True
        documents, left = left.chosen(taken)
        needed, left = reduce(left, quality)
        chosen += [documents, needed]
    columns = np.concatenate([np.empty(0, np.int32), *chosen])
    return np.array(sorted(_pruned(problem, columns.tolist())), np.int32)


def _exact_value(
    problem: CoverProblem, of_row: Ids, of_col: Ids, count: int, prices: NDArray[np.float64]
) -> Counts:
    """What prices prove, in whole numbers: a bound that rounding cannot make too large."""
    whole = np.floor(prices * _SCALE).astype(np.int64)
    paid = np.zeros(problem.coverage.col_ids.size, np.int64)
    np.add.at(paid, problem.coverage.cols, whole[problem.coverage.rows])
    value = np.zeros(count, np.int64)
    np.add.at(value, of_row, whole * problem.needs)
    np.add.at(value, of_col, np.minimum(_SCALE - paid, 0))
    filled = np.bincount(of_row, minlength=count) > 0  # a column without rows is a component, too
    return np.maximum(-(-value // _SCALE), filled)


def _summed(part: Ids, values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    sums: NDArray[np.float64] = np.bincount(part, values, count).astype(np.float64)
    return sums
