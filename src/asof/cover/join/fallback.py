"""What `_join.c` does, with numpy: for where there was no C compiler, and to check it against.

Function for function the same answers; the order of ranks that are as rare may be another, which no
edge depends on. Ranges of items and cursors exist only for the memory's sake and are not repeated
here: `ranked` of this module does the whole of ranking at once.
"""

import numpy as np
from numpy.typing import NDArray

from asof.cover.documents.sets import Counts, Items, Ranks, spread, starts_of

Marks = NDArray[np.bool_] | NDArray[np.uint8]
_LOOKS = 1 << 22  # postings looked at in one step


def digests(items: Items, offsets: Counts) -> bytes:
    """Two uint64s of each set, equal for equal sets: sums of its items, and of their squares."""
    out = np.zeros((offsets.size - 1, 2), np.uint64)
    some = np.flatnonzero(np.diff(offsets))
    if some.size:
        out[some, 0] = np.add.reduceat(items, offsets[some])
        out[some, 1] = np.add.reduceat(items * items, offsets[some])
    return out.tobytes()


def overlaps(items: Items | Ranks, offsets: Counts, i: Counts, j: Counts) -> bytes:
    found = [
        np.intersect1d(
            items[offsets[x] : offsets[x + 1]], items[offsets[y] : offsets[y + 1]], True
        ).size
        for x, y in zip(i.tolist(), j.tolist(), strict=True)
    ]
    return np.array(found, np.int32).tobytes()


def ranked(
    items: Items, begins: Counts, ends: Counts, parts: Ranks, covers: Marks
) -> tuple[Counts, Ranks, int]:
    """Of each set the ranks of its items, ascending, without unique ones; and how many ranks."""
    sizes = ends - begins
    owner = np.repeat(np.arange(sizes.size), sizes)
    distinct, ids = np.unique(items[spread(begins, sizes)], return_inverse=True)
    keys = parts[owner].astype(np.int64) * max(1, distinct.size) + ids
    known, ids, counts = np.unique(keys, return_inverse=True, return_counts=True)
    covering = np.bincount(ids, weights=covers[owner] != 0, minlength=known.size)
    useful = np.flatnonzero((counts > 1) & (covering > 0))
    rank = np.full(known.size, -1, np.int64)
    rank[useful[np.argsort(covering[useful], kind="stable")]] = np.arange(useful.size)
    ranks = rank[ids]
    owner, ranks = owner[ranks >= 0], ranks[ranks >= 0]
    ranks = ranks[np.lexsort((ranks, owner))]
    offsets = starts_of(np.bincount(owner, minlength=sizes.size))
    return offsets, ranks.astype(np.uint32), useful.size


def mark(ranks: Ranks, offsets: Counts, prefixes: Counts, wanted: NDArray[np.uint8]) -> None:
    """Set a bit for each rank that will be asked for."""
    asked = np.unpackbits(wanted, bitorder="little")
    asked[ranks[_prefix(offsets, prefixes)[1]]] = 1
    wanted[:] = np.packbits(asked, bitorder="little")


def post(
    ranks: Ranks, offsets: Counts, covers: Marks, wanted: NDArray[np.uint8], starts: Ranks,
    postings: Ranks, first: int, last: int,
) -> int:  # fmt: skip
    """The postings of each rank, in the order of sets; starts are then where they begin.

    Without room for any it is told how many there are, and starts are one place further on.
    """
    owner = np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1]))
    rank = ranks[offsets[first] : offsets[last]]
    taken = np.unpackbits(wanted, bitorder="little")[rank].astype(np.bool_) & (covers[owner] != 0)
    owner, rank = owner[taken], rank[taken]
    counts = np.bincount(rank, minlength=starts.size - 1)
    if not postings.size:
        starts[0] = 0
        starts[1:] = np.cumsum(counts) - counts
        return int(rank.size)
    postings[: rank.size] = owner[np.argsort(rank, kind="stable")]
    starts[1:] += counts.astype(np.uint32)
    return 0


def probe(
    ranks: Ranks, offsets: Counts, sizes: Counts, prefixes: Counts, lows: Ranks, highs: Ranks,
    starts: Ranks, postings: Ranks, shares: tuple[int, int, int, int, int, int],
    first: int, last: int, most: int,
) -> tuple[bytes, int, int, int]:  # fmt: skip
    """Pairs of sets as int32 triples, where to go on, postings looked at, candidates compared."""
    begins = starts.astype(np.int64)
    lengths: Counts = np.diff(begins)
    last = _enough(ranks, offsets, prefixes, lengths, first, last, min(most, _LOOKS))
    asked = np.zeros_like(prefixes)
    asked[first:last] = prefixes[first:last]
    owner, places = _prefix(offsets, asked)
    rank = ranks[places]
    owner = np.repeat(owner, lengths[rank])
    other = postings[spread(begins[rank], lengths[rank])]
    fits = (other >= lows[owner]) & (other < highs[owner]) & (other != owner)
    pairs = np.unique(owner[fits] * np.int64(sizes.size) + other[fits])
    u, v = np.divmod(pairs, max(1, sizes.size))
    a, b = sizes[u], sizes[v]
    p_i, q_i, p_j, q_j, p_both, q_both = shares
    need = np.maximum(-(-p_i * a // q_i), -(-p_j * b // q_j))
    need = np.maximum(need, -(-p_both * (a + b) // q_both))
    u, v, need = (part[need <= np.minimum(a, b)] for part in (u, v, need))
    inter = np.frombuffer(overlaps(ranks, offsets, u, v), np.int32)
    found = np.stack([u, v, inter], axis=1)[inter >= need].astype(np.int32)
    return found.tobytes(), last, other.size, u.size


def _enough(
    ranks: Ranks, offsets: Counts, prefixes: Counts, lengths: Counts, first: int, last: int,
    most: int,
) -> int:  # fmt: skip
    """As many sets from the first on as look at so many postings, and at least one."""
    looked = 0
    for at in range(first, last):
        looked += int(lengths[ranks[offsets[at] : offsets[at] + prefixes[at]]].sum())
        if looked > most:
            return at + 1
    return last


def _prefix(offsets: Counts, prefixes: Counts) -> tuple[Counts, Counts]:
    """The set of each item of the prefixes, and its place."""
    return np.repeat(np.arange(prefixes.size), prefixes), spread(offsets[:-1], prefixes)
