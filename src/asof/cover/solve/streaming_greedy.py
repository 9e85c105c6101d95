"""Covers of what is too large to be solved, by passes over it, with a proven gap.

Only for a component that is larger than memory after all that is dispensable has gone, and for
whoever does not want to wait. The answer is a cover, and says how much smaller one could be.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from asof.cover.documents.sets import Counts, Flags
from asof.cover.join.graph import Ids
from asof.cover.join.pair_spool import PairSpool
from asof.cover.solve.dominance import Kind
from asof.cover.solve.requirements import PartialCover

# Each pass takes what covers at least this share of what the last pass asked for.
_FALL = 0.8
_SCALE = 1 << 32  # prices are whole numbers of this part of a document, so that bounds are exact


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a problem: lists (rows or columns) and their items, with their ids."""

    spool: PairSpool
    kind: Kind  # of the lists
    list_ids: Ids
    item_ids: Ids
    entries: int

    def pairs(self) -> Iterator[tuple[Ids, Ids]]:
        """Rows and columns by their ids, some at a time."""
        for block in self.spool.blocks(self.item_ids.size):
            for lists, items in block.slices():
                one, other = self.list_ids[lists + block.first], self.item_ids[items]
                yield (one, other) if self.kind == "rows" else (other, one)


def greedily(columns: Left, state: PartialCover, wanted: Flags, *, exact: bool) -> None:
    """Covers wanted components, of lists of columns, by the greedy algorithm with thresholds.

    As section 3.4 of Paudel 2013 has it, but a pass takes all that covers enough, and the next one
    asks for less. A row's price is one by the number of rows that were covered with it; no column
    is worth more than its rows' prices, so those together are a bound once they are divided by the
    most that any column's rows come to (dual fitting). With equal prices that is the number of rows
    by the most that one column covers, which proves the few documents that dense problems need.
    With `exact`, a cover as small as a bound is a proven answer.
    """
    part = state.part[columns.item_ids]
    open_: Flags = wanted[part].copy()
    price = np.zeros(part.size, np.int64)
    least = float(part.size)
    while open_.any():
        most = 0
        for block in columns.spool.blocks(part.size):
            gains = np.zeros(block.height, np.int64)
            for lists, rows in block.slices():
                gains += np.bincount(lists[open_[rows]], minlength=block.height)
            for at in np.flatnonzero(gains >= least).tolist():
                rows = block.row(at)
                rows = rows[open_[rows]]
                if rows.size < least:
                    gains[at] = rows.size
                    continue
                open_[rows] = False
                price[rows] = _SCALE // rows.size
                state.kept[columns.list_ids[block.first + at]] = True
                gains[at] = 0
            most = max(most, int(gains.max(initial=0)))
        least = max(1.0, min(least * _FALL, most))
    equal = np.ones(part.size, np.int64)
    lower = np.maximum(_bounds(columns, state, price), _bounds(columns, state, equal))
    gap = np.bincount(state.part[state.kept], minlength=wanted.size) - lower
    state.gap[wanted] = gap[wanted]
    state.proven[wanted] = exact & (gap == 0)[wanted]


def _bounds(columns: Left, state: PartialCover, price: Counts) -> Counts:
    """What prices of rows prove: so many documents each component needs, at least."""
    count = state.gap.size
    part = state.part[columns.item_ids]
    total = np.zeros(count, np.int64)
    np.add.at(total, part, price)
    dearest = np.ones(count, np.int64)
    for block in columns.spool.blocks(part.size):
        sums = np.zeros(block.height, np.int64)
        for lists, rows in block.slices():
            np.add.at(sums, lists, price[rows])
        ids = columns.list_ids[block.first : block.first + block.height]
        np.maximum.at(dearest, state.part[ids], sums)
    return -(-total // dearest)


def row_by_row(spool: PairSpool, state: PartialCover) -> None:
    """Covers all by what covers most, row by row, in one pass; `state` is filled in.

    Rows that share no column need a document each: so many are needed at least.
    """
    kept, part = state.kept, state.part
    covers = np.zeros(kept.size, np.int64)
    for _, keys in spool.raw():
        covers += np.bincount((keys % spool.width).astype(np.int64), minlength=kept.size)
    used = np.zeros(kept.size, np.bool_)
    lower = np.zeros(state.gap.size, np.int64)
    kept[:] = False
    for block in spool.blocks():
        for at in range(block.height):
            cols = block.row(at)
            if not used[cols].any():
                used[cols] = True
                lower[part[block.first + at]] += 1
            if not kept[cols].any():
                kept[cols[np.lexsort((cols, -covers[cols]))[0]]] = True
    state.gap[:] = np.bincount(part[kept], minlength=lower.size) - lower
    state.proven[:] = False
