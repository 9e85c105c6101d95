"""The shingles that some documents have, out of all: what their pairs can have in common.

When a collection grows by a hundredth, only pairs with a new document are asked for, and what such
a pair has in common is in the new document. All other shingles are left out before anything is
ranked. A table of bits, addressed by a hash, decides: now and then it lets one more through, which
does no harm.
"""

from __future__ import annotations

import numpy as np

from asof.cover.documents.sets import Counts, Flags, Items, Sets, stretches

_AT_ONCE = 1 << 18  # shingles looked at in one step: what is made of them stays in the cache
_ROOM = 16  # places of the table for each shingle: one of 16 others is let through
# Bits of an address: 16 MB. With 1 % of scenario C new, 0.9 CPU s; 1.5 with 64 MB, which lets 2 %
# fewer through, and 0.9 with 4 MB, which lets 7 % more through (bench/cover_growth.py).
_MOST = 24
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 by the golden ratio, as in Fibonacci hashing


def common_with(sets: Sets, chosen: Flags) -> Sets:
    """Of every set the shingles that chosen sets have (and a few more, the same of each set)."""
    total = int(sets.sizes[chosen].sum())
    bits = min(max((_ROOM * total).bit_length(), 1), _MOST)
    table = np.zeros(1 << bits, np.bool_)
    for first, last in _neighbours(chosen):
        mine = sets.items[sets.offsets[first] : sets.offsets[last]]
        for at in range(0, mine.size, _AT_ONCE):
            table[_places(mine[at : at + _AT_ONCE], bits)] = True
    counts = np.zeros(len(sets), np.int64)
    parts: list[Items] = []
    for first, last in stretches(sets.sizes, _AT_ONCE):
        items = sets.items[sets.offsets[first] : sets.offsets[last]]
        hits = np.flatnonzero(table.take(_places(items, bits)))
        parts.append(items.take(hits))
        bounds = sets.offsets[first : last + 1] - sets.offsets[first]
        counts[first:last] = np.diff(np.searchsorted(hits, bounds))
    offsets = np.zeros(len(sets) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return Sets(offsets, np.concatenate([np.empty(0, np.uint64), *parts]))


def _places(items: Items, bits: int) -> Counts:
    return ((items * _SPREAD) >> np.uint64(64 - bits)).view(np.int64)


def _neighbours(chosen: Flags) -> list[list[int]]:
    """Where chosen ones follow each other: the first of them, and the first that is not."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8)))
    found: list[list[int]] = edges.reshape(-1, 2).tolist()
    return found
