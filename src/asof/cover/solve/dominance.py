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

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

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
class _Pool:
    """The largest lists of earlier blocks: as bits, or as the items in them."""

    lists: list[NDArray[Any]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    quality: list[int] = field(default_factory=list)

    def drop(self, gone: Flags, bits: Words, sizes: Counts, quality: Counts) -> None:
        """Flags lists that lie inside one of the pool."""
        for outer, size, worth in zip(self.lists, self.sizes, self.quality, strict=True):
            some = np.flatnonzero(~gone & (sizes <= size) & (quality <= worth))
            if some.size:
                gone[_inside(bits, some, outer)] = True

    def learn(
        self, taken: Callable[[int], NDArray[Any]], costs: Counts, sizes: Counts, quality: Counts,
        alive: Flags, room: int,
    ) -> None:  # fmt: skip
        """Takes the largest lists of a block; what they cost all together stays within `room`."""
        places = np.flatnonzero(alive)
        places = places[_largest(sizes[places], costs[places], room)]
        self.lists += [taken(place) for place in places.tolist()]
        self.sizes += sizes[places].tolist()
        self.quality += quality[places].tolist()
        costs = np.array([each.nbytes for each in self.lists], np.int64)
        best = _largest(np.array(self.sizes, np.int64), costs, room).tolist()
        self.lists = [self.lists[at] for at in best]
        self.sizes = [self.sizes[at] for at in best]
        self.quality = [self.quality[at] for at in best]


def _largest(sizes: Counts, costs: Counts, room: int) -> Counts:
    order = np.argsort(-sizes, kind="stable")[:_MANY]
    return order[np.cumsum(costs[order]) <= room]


@dataclass(slots=True)
class Sieve:
    """Finds dispensable lists of one pass: rows or columns, as complete lists in blocks.

    `room` is in bytes, for the pools and for what is compared, beside the block itself.
    """

    kind: Kind
    quality: Counts  # by list
    room: int
    _dense: _Pool = field(default_factory=_Pool)
    _sparse: _Pool = field(default_factory=_Pool)

    def gone(self, block: Rows) -> Flags:
        """Which lists of the block can go, those without an entry among them."""
        quality = self.quality[block.first : block.first + block.height]
        lengths, rows = block.lengths(), self.kind == "rows"
        known = block.width - lengths if rows else lengths, quality
        found: Flags = lengths == 0
        if block.table is None:
            found |= _dominated(self.kind, self._sparse, block, quality)
            self._sparse.learn(block.row, 8 * lengths, *known, ~found, self.room // 64)
            return found
        bits = _packed(block.table, turned=rows)
        self._dense.drop(found, bits, *known)
        _drop_inner(found, bits, *known)
        wide = 8 * bits.shape[1]
        costs = np.full(lengths.size, wide)
        room = max(self.room // 8, wide)
        self._dense.learn(lambda at: bits[at].copy(), costs, *known, ~found, room)
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


def _dominated(kind: Kind, pool: _Pool, block: Rows, quality: Counts) -> Flags:
    """Which lists of a block can go by the rules of `reduce`, also because of one of the pool."""
    rows = block.keys // block.width
    cols = block.keys - rows * block.width
    # Lists of the pool come first: of equal ones the first stays.
    before = len(pool.lists)
    own = np.repeat(np.arange(before), [items.size for items in pool.lists])
    worth = np.concatenate([np.array(pool.quality, np.int64), quality])
    found = np.zeros(worth.size, np.bool_)
    used, at_list = np.unique(np.concatenate([own, rows + before]), return_inverse=True)
    known, at_item = np.unique(np.concatenate([*pool.lists, cols]), return_inverse=True)
    if not used.size:
        return found[before:]
    if kind == "rows":
        arrays = at_list, at_item, used, known
    else:
        order = np.lexsort((at_list, at_item))
        arrays = at_item[order], at_list[order], known, used
    part = CoverageGraph(*(each.astype(np.int32) for each in arrays))
    found[used] = dominated_rows(part) if kind == "rows" else dominated_columns(part, worth[used])
    return found[before:]
