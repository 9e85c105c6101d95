"""Documents as sets of shingles behind each other, and the edges that a join finds between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asof.errors import UsageError

Items = NDArray[np.uint64]
Counts = NDArray[np.int64]
Ranks = NDArray[np.uint32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sets:
    """The shingles of document d: items[offsets[d]:offsets[d + 1]], ascending, each once.

    The items may be a file mapped into memory; nothing here needs them there all at once.
    """

    offsets: Counts
    items: Items

    def __post_init__(self) -> None:
        offsets = self.offsets
        fits = (
            offsets.ndim == 1
            and self.items.ndim == 1
            and offsets.size > 0
            and offsets.dtype == np.int64
            and self.items.dtype == np.uint64
            and offsets[0] == 0
            and offsets[-1] == self.items.size
            and not (offsets[1:] < offsets[:-1]).any()
            and offsets.flags.c_contiguous
            and self.items.flags.c_contiguous
        )
        if not fits:
            raise UsageError(
                "Offsets and shingles do not fit together.",
                hint="Offsets (int64) begin with 0, never fall, and end with the number of items.",
            )

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __getitem__(self, document: int) -> Items:
        return self.items[self.offsets[document] : self.offsets[document + 1]]

    @property
    def sizes(self) -> Counts:
        return np.diff(self.offsets)


@dataclass(frozen=True, slots=True)
class Edges:
    """Pairs in which document j covers document i, and how many shingles they have in common."""

    i: NDArray[np.int32]
    j: NDArray[np.int32]
    inter: NDArray[np.int32]

    def __len__(self) -> int:
        return self.i.size

    def turned(self) -> Edges:
        """The same pairs with the roles changed."""
        return Edges(self.j, self.i, self.inter)


def searched(
    items: Items, begins: Counts, ends: Counts, value: np.uint64, *, above: bool = False
) -> Counts:
    """Where in each stretch of ascending items those from a value on (or above it) begin.

    All searches go on side by side.
    """
    low, high = begins.copy(), ends.copy()
    open_ = np.flatnonzero(low < high)
    while open_.size:
        middle = (low[open_] + high[open_]) // 2
        below = items[middle] <= value if above else items[middle] < value
        low[open_[below]] = middle[below] + 1
        high[open_[~below]] = middle[~below]
        open_ = open_[low[open_] < high[open_]]
    return low


def starts_of(sizes: Counts) -> Counts:
    """Where things of these sizes begin behind each other, and where the last ends."""
    offsets = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def begins(ordered: NDArray[Any]) -> Flags:
    """Which of ordered values are not the same as the one before."""
    found = np.ones(ordered.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=found[1:])
    return found


def spread(starts: Counts, lengths: Counts) -> Counts:
    """The places start, start + 1, ... of many ranges, one range behind the other."""
    places: Counts = np.arange(int(lengths.sum()), dtype=np.int64)
    places += np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    return places


def stretches(sizes: Counts, most: int) -> Iterator[tuple[int, int]]:
    """From where to where things of these sizes come to so much at most; one thing at least."""
    done, first = np.cumsum(sizes), 0
    while first < sizes.size:
        base = int(done[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(done, base + most, "right")))
        yield first, last
        first = last
