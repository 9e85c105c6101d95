"""The coverage graph as arrays: which documents cover which, and its connected components.

An edge (i, j) says that document j covers document i; every document covers itself (Paudel 2013,
section 2). To cover is to choose columns (documents that cover) so that every row (documents to be
covered) has one. Components are independent problems (section 3.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from asof.cover.documents.sets import Counts, Flags, begins, starts_of
from asof.errors import UsageError

Ids = NDArray[np.int32]


def components(n: int, i: ArrayLike, j: ArrayLike) -> Ids:
    """For each document the smallest id of its connected component.

    Union-find for all edges at once: the larger root of an edge points to the smaller, then
    pointers jump until every document points to its root. Edges within one tree are dropped.
    """
    left, right = _checked(n, i, j)
    label = np.arange(n, dtype=np.int32)
    while left.size:
        low, high = np.minimum(left, right), np.maximum(left, right)
        apart = low != high
        low, high = low[apart], high[apart]
        np.minimum.at(label, high, low)
        while True:
            jumped = label[label]
            if np.array_equal(jumped, label):
                break
            label = jumped
        left, right = label[low], label[high]
    return label


def numbered(labels: Ids) -> tuple[Ids, int]:
    """Labels as 0, 1, 2... in the order of the smallest id, and how many there are."""
    roots = labels == np.arange(labels.size)
    number = np.cumsum(roots, dtype=np.int32) - np.int32(1)
    return number[labels], int(roots.sum())


@dataclass(frozen=True, slots=True)
class Lists:
    """Sorted lists behind each other: list x is items[starts[x]:starts[x + 1]]."""

    starts: Counts
    items: NDArray[np.signedinteger[Any]]

    @property
    def lengths(self) -> Counts:
        return np.diff(self.starts)

    def __getitem__(self, at: int) -> NDArray[np.signedinteger[Any]]:
        return self.items[self.starts[at] : self.starts[at + 1]]


@dataclass(frozen=True, slots=True)
class CoverageGraph:
    """A covering problem: entry e says that row rows[e] can be covered by column cols[e].

    Rows and columns are numbered from 0 without holes; `row_ids` and `col_ids` give the documents
    they stand for, ascending. Entries are sorted by row, then column, and are distinct.
    """

    rows: Ids
    cols: Ids
    row_ids: Ids
    col_ids: Ids

    @classmethod
    def of(cls, n: int, i: ArrayLike, j: ArrayLike) -> CoverageGraph:
        """The problem of all n documents; each covers itself, doubled edges count once."""
        left, right = _checked(n, i, j)
        own = np.arange(n, dtype=np.int64)
        keys = np.concatenate([left.astype(np.int64) * n + right, own * n + own])
        keys.sort()
        keys = keys[begins(keys)]
        rows = (keys // max(n, 1)).astype(np.int32)
        cols = (keys - rows.astype(np.int64) * n).astype(np.int32)
        return cls(rows, cols, own.astype(np.int32), own.astype(np.int32))

    @classmethod
    def joined(cls, parts: Sequence[CoverageGraph]) -> CoverageGraph:
        """Problems that share no row and no column as one."""
        if not parts:
            return cls.of(0, (), ())
        rows, row_ids = _renumbered([(part.rows, part.row_ids) for part in parts])
        cols, col_ids = _renumbered([(part.cols, part.col_ids) for part in parts])
        return cls(*in_order(rows, cols), row_ids, col_ids)

    def row_degrees(self) -> Counts:
        return np.bincount(self.rows, minlength=self.row_ids.size)

    def col_degrees(self) -> Counts:
        return np.bincount(self.cols, minlength=self.col_ids.size)

    def by_row(self) -> Lists:
        return Lists(starts_of(self.row_degrees()), self.cols)

    def by_col(self) -> Lists:
        return Lists(starts_of(self.col_degrees()), in_order(self.cols, self.rows)[1])

    def without(self, rows: Flags | None = None, cols: Flags | None = None) -> CoverageGraph:
        """The problem without the flagged rows and columns, and what then has no entry."""
        stays = np.ones(self.rows.size, np.bool_)
        if rows is not None:
            stays &= ~rows[self.rows]
        if cols is not None:
            stays &= ~cols[self.cols]
        left_rows, row_ids = _compacted(self.rows[stays], self.row_ids)
        left_cols, col_ids = _compacted(self.cols[stays], self.col_ids)
        return CoverageGraph(left_rows, left_cols, row_ids, col_ids)

    def chosen(self, cols: Flags) -> tuple[Ids, CoverageGraph]:
        """The documents of flagged columns, and the problem without the rows that they cover."""
        covered = np.zeros(self.row_ids.size, np.bool_)
        covered[self.rows[cols[self.cols]]] = True
        return self.col_ids[cols], self.without(rows=covered)

    def parts(self) -> tuple[Ids, Ids, int]:
        """The number of the component of each row and of each column, and how many there are."""
        height = self.row_ids.size
        labels = components(height + self.col_ids.size, self.rows, self.cols + np.int32(height))
        label, count = numbered(labels)
        return label[:height], label[height:], count

    def split(self, part: Ids, wanted: Counts) -> Iterator[CoverageGraph]:
        """The wanted components (numbers as for the rows in `part`), each as its own problem."""
        of_entry = part[self.rows]
        order = np.argsort(of_entry, kind="stable")
        ordered = of_entry[order]
        firsts = np.searchsorted(ordered, wanted, side="left")
        ends = np.searchsorted(ordered, wanted, side="right")
        for first, end in zip(firsts.tolist(), ends.tolist(), strict=True):
            mine = order[first:end]
            rows, at_row = np.unique(self.rows[mine], return_inverse=True)
            cols, at_col = np.unique(self.cols[mine], return_inverse=True)
            places = at_row.astype(np.int32), at_col.astype(np.int32)
            yield CoverageGraph(*places, self.row_ids[rows], self.col_ids[cols])


def in_order(one: NDArray[Any], other: NDArray[Any]) -> tuple[Ids, Ids]:
    """Pairs of ids, sorted."""
    keys = one.astype(np.int64) << 32 | other
    keys.sort()
    return (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)


def _renumbered(parts: list[tuple[Ids, Ids]]) -> tuple[Ids, Ids]:
    """The places of several problems as places in all of their ids, ascending."""
    ids = np.concatenate([mine for _, mine in parts])
    order = np.argsort(ids)
    rank = np.empty(ids.size, np.int32)
    rank[order] = np.arange(ids.size, dtype=np.int32)
    before = np.cumsum([0, *(mine.size for _, mine in parts)])
    places = [rank[places + start] for (places, _), start in zip(parts, before, strict=False)]
    return np.concatenate(places), ids[order]


def _compacted(places: Ids, ids: Ids) -> tuple[Ids, Ids]:
    used = np.zeros(ids.size, np.bool_)
    used[places] = True
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return number[places], ids[used]


def _checked(n: int, i: ArrayLike, j: ArrayLike) -> tuple[Ids, Ids]:
    left, right = np.asarray(i), np.asarray(j)
    if left.size != right.size:
        raise UsageError(
            f"{left.size} covered documents and {right.size} that cover them are no edges.",
            hint="Give both ends of every edge.",
        )
    for ends in (left, right):
        if ends.size and (ends.min() < 0 or ends.max() >= n):
            raise UsageError(
                f"An edge names a document that is not among the {n}.",
                hint="Documents are numbered from 0.",
            )
    return left.astype(np.int32), right.astype(np.int32)
