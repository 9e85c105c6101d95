"""Rows and columns that a cover need not look at, found while they stream by.

- A row is dispensable if all columns of another row are its own, too: whatever covers that one
  covers this. The sets that cover are the same without it, so nothing is lost for any quality, and
  for any requirement.
- A column is dispensable if all its rows are also those of another one of no lower quality: as in
  `reduce`, a smallest cover of best quality remains.

In terms of sets both are one question: a column goes if its rows lie inside another's; a row goes
if the columns that it lacks lie inside those that another one lacks. Blocks of complete lists are
compared with each other, and with a pool of the largest that came before. What is overlooked stays,
which costs time later and never the right answer. A list only goes because of one that stays in
this pass, or that went because of another one such, never round in a circle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from asof.cover.documents.sets import Counts, Flags
from asof.cover.join.graph import CoverageGraph
from asof.cover.join.pair_spool import Rows
from asof.cover.solve.reduce import dominated_columns, dominated_rows

Kind = Literal["rows", "columns"]
Words = NDArray[np.uint64]

# Words of 64 items that are compared before all others are: a first look that most pairs fail.
_LOOK = 12
_CHECKED = 1 << 18  # words compared at a time, to bound memory
_MANY = 1024  # lists of a pool, at most: each is compared with each block


@dataclass(slots=True)
class Sieve:
    """Finds dispensable lists of one pass: rows or columns, as complete lists in blocks.

    `room` is in bytes, for the pool and for what is compared, beside the block itself.
    """

    kind: Kind
    quality: Counts  # by list
    room: int
    _dense: _Pool | None = None
    _sparse: _Lists | None = None

    def gone(self, block: Rows) -> Flags:
        """Which lists of the block can go, those without an entry among them."""
        quality = self.quality[block.first : block.first + block.height]
        lengths = block.lengths()
        if block.table is None:
            if self._sparse is None:
                self._sparse = _Lists(self.kind)
            return self._sparse.gone(block, lengths, quality, self.room // 512)
        if self._dense is None:
            self._dense = _Pool()
        bits = _packed(block.table, turned=self.kind == "rows")
        sizes = block.width - lengths if self.kind == "rows" else lengths
        found: Flags = lengths == 0
        self._dense.drop(found, bits, sizes, quality)
        _drop_inner(found, bits, sizes, quality)
        most = min(_MANY, max(1, self.room // 8 // max(bits.shape[1] * 8, 1)))
        self._dense.learn(~found, bits, sizes, quality, most)
        return found


def _packed(table: Flags, *, turned: bool) -> Words:
    """The flags of each list as bits; with `turned`, those of what it lacks."""
    height, width = table.shape
    padded = np.zeros((height, -(-width // 64) * 8), np.uint8)
    padded[:, : -(-width // 8)] = np.packbits(table, axis=1)
    if turned:
        np.invert(padded, out=padded)
        bits = np.zeros(padded.shape[1] * 8, np.bool_)
        bits[:width] = True
        padded &= np.packbits(bits)
    return padded.view(np.uint64)


def _spread(words: Counts) -> Counts:
    """Some of them, from the first to the last."""
    return words[:: words.size // _LOOK + 1]


def _inside(bits: Words, some: Counts, outer: Words) -> Counts:
    """Those of some lists that have nothing beside what `outer` has."""
    lacks = ~outer
    words = np.flatnonzero(lacks)
    if words.size > 2 * _LOOK:
        # Sets that are alike differ where one of them ends: in words neither full nor empty.
        ends = np.flatnonzero((lacks != 0) & (outer != 0))
        few = np.concatenate([_spread(ends), _spread(words)])
        some = some[~(bits[some[:, None], few] & lacks[few]).any(axis=1)]
    step = max(1, _CHECKED // max(words.size, 1))
    kept = []
    for at in range(0, some.size, step):
        mine = some[at : at + step]
        kept.append(mine[~(bits[mine] & lacks).any(axis=1)])
    return np.concatenate([np.empty(0, np.int64), *kept])


def _drop_inner(gone: Flags, bits: Words, sizes: Counts, quality: Counts) -> None:
    """Flags lists that lie inside another one of the block, of equal ones all but the first."""
    alive = np.flatnonzero(~gone)
    # Whatever a list can lie inside of comes before it.
    order = alive[np.lexsort((alive, -quality[alive], -sizes[alive]))]
    for at, outer in enumerate(order.tolist()):
        if gone[outer]:
            continue
        later = order[at + 1 :]
        later = later[~gone[later] & (quality[later] <= quality[outer])]
        gone[_inside(bits, later, bits[outer])] = True


@dataclass(slots=True)
class _Pool:
    """The largest lists of earlier blocks as bits."""

    bits: list[Words] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    quality: list[int] = field(default_factory=list)

    def drop(self, gone: Flags, bits: Words, sizes: Counts, quality: Counts) -> None:
        for outer, size, worth in zip(self.bits, self.sizes, self.quality, strict=True):
            some = np.flatnonzero(~gone & (sizes <= size) & (quality <= worth))
            if some.size:
                gone[_inside(bits, some, outer)] = True

    def learn(self, alive: Flags, bits: Words, sizes: Counts, quality: Counts, most: int) -> None:
        places = np.flatnonzero(alive)
        places = places[np.argsort(-sizes[places], kind="stable")][:most]
        self.bits += [bits[place].copy() for place in places.tolist()]
        self.sizes += sizes[places].tolist()
        self.quality += quality[places].tolist()
        best = np.argsort(-np.array(self.sizes, np.int64), kind="stable")[:most].tolist()
        self.bits = [self.bits[at] for at in best]
        self.sizes = [self.sizes[at] for at in best]
        self.quality = [self.quality[at] for at in best]


@dataclass(slots=True)
class _Lists:
    """The same for short lists: a pool of lists, and the rules of `reduce` on a block."""

    kind: Kind
    items: list[Counts] = field(default_factory=list)
    quality: list[int] = field(default_factory=list)

    def gone(self, block: Rows, lengths: Counts, quality: Counts, room: int) -> Flags:
        """`room` is how many entries the pool may have."""
        found: Flags = lengths == 0
        assert block.keys is not None
        rows = block.keys // block.width
        cols = block.keys - rows * block.width
        # Lists of the pool come first: of equal ones the first stays.
        before = len(self.items)
        sizes = [items.size for items in self.items]
        lists = np.concatenate([np.repeat(np.arange(before), sizes), rows + before])
        items = np.concatenate([*self.items, cols])
        worth = np.concatenate([np.array(self.quality, np.int64), quality])
        found |= _dominated(self.kind, lists, items, worth)[before:]
        self._learn(block, ~found, lengths, quality, room)
        return found

    def _learn(
        self, block: Rows, alive: Flags, lengths: Counts, quality: Counts, room: int
    ) -> None:
        places = np.flatnonzero(alive)
        sign = 1 if self.kind == "rows" else -1
        places = places[np.argsort(sign * lengths[places], kind="stable")][:_MANY]
        places = places[np.cumsum(lengths[places]) <= room]
        self.items += [block.row(place) for place in places.tolist()]
        self.quality += quality[places].tolist()
        sizes = np.array([items.size for items in self.items], np.int64)
        best = np.argsort(sign * sizes, kind="stable")[:_MANY]
        chosen = best[np.cumsum(sizes[best]) <= room].tolist()
        self.items = [self.items[at] for at in chosen]
        self.quality = [self.quality[at] for at in chosen]


def _dominated(kind: Kind, lists: Counts, items: Counts, quality: Counts) -> Flags:
    """Which lists can go by the rules of `reduce`; entries are sorted."""
    found = np.zeros(quality.size, np.bool_)
    if not lists.size:
        return found
    used, at_list = np.unique(lists, return_inverse=True)
    known, at_item = np.unique(items, return_inverse=True)
    if kind == "rows":
        rows, cols, row_ids, col_ids = at_list, at_item, used, known
    else:
        order = np.lexsort((at_list, at_item))
        rows, cols, row_ids, col_ids = at_item[order], at_list[order], known, used
    part = CoverageGraph(
        rows.astype(np.int32),
        cols.astype(np.int32),
        row_ids.astype(np.int32),
        col_ids.astype(np.int32),
    )
    if kind == "rows":
        found[used] = dominated_rows(part)
    else:
        found[used] = dominated_columns(part, quality[used])
    return found
