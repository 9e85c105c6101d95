"""The best cover of one problem by branch and bound, on rows and columns as bits of whole numbers.

Exact in count and in total quality: the cost of a column is one integer in which a document weighs
more than any difference in quality. The bound is a packing: rows that share no column need a
column each.
"""

from collections.abc import Callable

import numpy as np

from asof.cover.solve.greedy import Answer, CoverProblem

COLUMNS = 400  # beyond that, the search cannot end and its recursion could be too deep

Row = tuple[int, int]  # the columns that can cover it, and how many of them it needs


def search(
    problem: CoverProblem, known: Answer, nodes: int, stop: Callable[[], bool] = lambda: False
) -> Answer:
    """The best cover, or the best found when `nodes` were visited or `stop` says so.

    `known` is a cover to start with and a bound on all; the answer is no worse.
    """
    if problem.coverage.col_ids.size > COLUMNS:
        return known
    started = _Search(problem, known, nodes, stop)
    finished = started.visit(started.rows, (1 << problem.coverage.col_ids.size) - 1, [], 0)
    columns = np.array(sorted(started.best), np.int32)
    lower = columns.size if finished else known.lower
    return Answer(columns, lower, finished)


class _Search:
    def __init__(
        self, problem: CoverProblem, known: Answer, nodes: int, stop: Callable[[], bool]
    ) -> None:
        quality = problem.quality.tolist()
        top = max(quality)
        lost = [top - value for value in quality]
        document = sum(lost) + 1
        self._costs = [document + value for value in lost]
        self._left = nodes
        self._stop = stop
        masks = [0] * problem.coverage.row_ids.size
        entries = problem.coverage.rows.tolist(), problem.coverage.cols.tolist()
        for row, col in zip(*entries, strict=True):
            masks[row] |= 1 << col
        self.rows = list(zip(masks, problem.needs.tolist(), strict=True))
        self.best: list[int] = known.columns.tolist()
        self._cost = sum(self._costs[col] for col in self.best)
        # No cover of `lower` documents is cheaper than the best `lower` columns.
        self._least = sum(sorted(self._costs)[: known.lower])

    def visit(self, rows: list[Row], allowed: int, chosen: list[int], cost: int) -> bool:
        if self._cost <= self._least:
            return True
        if self._left <= 0 or self._stop():
            return False
        self._left -= 1
        settled = self._settled(rows, allowed, chosen, cost)
        if settled is None:
            return True
        rows, allowed, chosen, cost = settled
        if not rows:
            if cost < self._cost:
                self.best, self._cost = chosen, cost
            return True
        if cost + self._packing(rows) >= self._cost:
            return True
        narrow = min(rows, key=lambda row: (row[0].bit_count(), row[0]))[0]
        counts = {col: sum(mask >> col & 1 for mask, _ in rows) for col in _bits(narrow)}
        for col in sorted(counts, key=lambda col: (-counts[col], self._costs[col], col)):
            bit = 1 << col
            rest = [
                (mask & ~bit, need - (mask >> col & 1))
                for mask, need in rows
                if need > (mask >> col & 1)
            ]
            allowed &= ~bit
            if not self.visit(rest, allowed, [*chosen, col], cost + self._costs[col]):
                return False
        return True

    def _settled(
        self, rows: list[Row], allowed: int, chosen: list[int], cost: int
    ) -> tuple[list[Row], int, list[int], int] | None:
        """Applies the reductions until none does; None when no cover is left here."""
        while True:
            rows = [(mask & allowed, need) for mask, need in rows]
            forced = 0
            for mask, need in rows:
                width = mask.bit_count()
                if width < need:
                    return None
                if width == need:
                    forced |= mask
            if forced:
                taken = _bits(forced)
                chosen = chosen + taken
                cost += sum(self._costs[col] for col in taken)
                if cost >= self._cost:
                    return None
                allowed &= ~forced
                rows = [
                    (mask, need - (mask & forced).bit_count())
                    for mask, need in rows
                    if need > (mask & forced).bit_count()
                ]
                continue
            rows = _without_dominated(rows)
            useless = self._dominated(rows)
            if not useless:
                return rows, allowed, chosen, cost
            allowed &= ~useless

    def _dominated(self, rows: list[Row]) -> int:
        """Columns that another one can stand for. Not in rows that may need both of them."""
        covers: dict[int, int] = {}
        several = 0
        for at, (mask, need) in enumerate(rows):
            if need > 1:
                several |= mask
            for col in _bits(mask):
                covers[col] = covers.get(col, 0) | 1 << at
        gone = 0
        for col, mine in covers.items():
            if several >> col & 1:
                continue
            rarest = rows[(mine & -mine).bit_length() - 1][0]
            for other in _bits(rarest):
                if other == col or mine & ~covers[other]:
                    continue
                dearer = self._costs[other] - self._costs[col]
                if dearer < 0 or (dearer == 0 and (covers[other] != mine or other < col)):
                    gone |= 1 << col
                    break
        return gone

    def _packing(self, rows: list[Row]) -> int:
        used = bound = 0
        for mask, need in sorted(rows, key=lambda row: (row[0].bit_count(), row[0])):
            if not mask & used:
                used |= mask
                bound += sum(sorted(self._costs[col] for col in _bits(mask))[:need])
        return bound


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def _without_dominated(rows: list[Row]) -> list[Row]:
    """Rows that are not covered anyway when another one is. The fewest columns come first."""
    kept: list[Row] = []
    for mask, need in sorted(set(rows), key=lambda row: (row[0].bit_count(), -row[1], row[0])):
        if not any(not inner & ~mask and least >= need for inner, least in kept):
            kept.append((mask, need))
    return kept
