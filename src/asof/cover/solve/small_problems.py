"""Smallest covers of many small problems at once: all subsets of their columns, fewest first.

The brute force of Paudel 2013 ("at most ten vertices ... enumerating all exponentially many
solutions", section 3.4), but one subset is tried on all problems of a size together, so that a
hundred thousand of them take as many steps as one.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from asof.cover.documents.sets import Counts, Flags, spread
from asof.cover.join.graph import CoverageGraph, Ids

COLUMNS = 10  # as in section 3.4; at most 1023 subsets
ROWS = 64  # the rows that a column covers are the bits of one word

Words = NDArray[np.uint64]


def solve_small(coverage: CoverageGraph, quality: Counts) -> tuple[Ids, CoverageGraph]:
    """The best covers of all components of at most ten columns, and the problem left.

    Fewest documents; then the best total quality; then the lowest ids, compared one by one.
    """
    of_row, of_col, count = coverage.parts()
    heights = np.bincount(of_row, minlength=count)
    widths = np.bincount(of_col, minlength=count)
    small = (heights <= ROWS) & (widths <= COLUMNS)
    number = np.cumsum(small) - 1
    masks = _masks(coverage, of_row, of_col, small)
    order = np.argsort(of_col, kind="stable")  # columns by component, ids ascending in each
    starts = np.cumsum(widths) - widths
    # For each problem the word with a bit for every row.
    full = np.uint64(0xFFFFFFFFFFFFFFFF) >> (ROWS - heights[small]).astype(np.uint64)
    chosen: list[Ids] = []
    for width in np.unique(widths[small]).tolist():
        parts = np.flatnonzero(small & (widths == width))
        places = order[spread(starts[parts], widths[parts])].reshape(-1, width)
        ids = coverage.col_ids[places]
        picked = _enumerated(masks[places].T.copy(), full[number[parts]], quality[ids].T.copy())
        chosen.append(ids[picked.T])
    taken = np.concatenate([np.empty(0, np.int32), *chosen])
    return taken, coverage.without(rows=small[of_row])


def _masks(coverage: CoverageGraph, of_row: Ids, of_col: Ids, small: Flags) -> Words:
    """For each column of the small problems the rows that it covers, as bits of one word."""
    order = np.argsort(of_row, kind="stable")
    sizes = np.bincount(of_row, minlength=small.size)
    bit = np.empty(of_row.size, np.int64)
    bit[order] = np.arange(of_row.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    mine = small[of_col[coverage.cols]]
    masks = np.zeros(coverage.col_ids.size, np.uint64)
    bits = np.uint64(1) << bit[coverage.rows[mine]].astype(np.uint64)
    np.bitwise_or.at(masks, coverage.cols[mine], bits)
    return masks


def _enumerated(masks: Words, full: Words, quality: Counts) -> Flags:
    """Which columns (first axis) the best cover of each problem (second axis) has."""
    width, count = masks.shape
    picked = np.zeros((width, count), np.bool_)
    open_ = np.arange(count)
    for number in range(1, width + 1):
        best = np.full(open_.size, -1, np.int64)
        total = np.full(open_.size, -1, np.int64)
        subsets = list(combinations(range(width), number))
        for at, subset in enumerate(subsets):
            columns = list(subset)
            covers = np.bitwise_or.reduce(masks[columns], axis=0) == full
            worth = quality[columns].sum(axis=0)
            better = covers & (worth > total)
            best[better] = at
            total[better] = worth[better]
        found = best >= 0
        members = np.zeros((len(subsets), width), np.bool_)
        members[np.repeat(np.arange(len(subsets)), number), np.ravel(subsets)] = True
        picked[:, open_[found]] = members[best[found]].T
        rest = ~found
        open_, masks, full = open_[rest], masks[:, rest], full[rest]
        quality = quality[:, rest]
        if not open_.size:
            break
    return picked
