"""Minhash: a set as a small signature, of which two agree in as many slots as the sets are alike.

The form of Spaniol 2010 ("Minhashing") takes m permutations of all shingles and of each the first
that a document has: `minhash_of_matrix`. Its "good approximation" takes m hash functions, which
costs m steps a shingle. Here one hash puts each shingle into one of the m slots, and the smallest
in each stays: one step a shingle, and slots that are a sample without repeats, so the error is not
above that of m permutations. What stays empty is filled by two more such rounds, then by an order
of its own for each slot (Dahlgaard, Knudsen, Thorup: Fast Similarity Sketching, 2017). In every
slot each shingle of the union has the same chance to be the smallest, and so the chance of two
documents to agree there is their Jaccard similarity.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from asof.change.shingles import Hashes, K, Unit, checked, engine, shingles_of_all

Signature: TypeAlias = NDArray[np.uint32]
Signatures: TypeAlias = NDArray[np.uint32]  # one a row

SLOTS = 128
SEED = 1


def signature(hashes: Hashes, m: int = SLOTS, seed: int = SEED) -> Signature:
    """Of a set of shingles or other features, given as hashes; of no shingles, all slots equal."""
    return signatures_of_sets(hashes, np.array([0, hashes.size], np.int64), m, seed).reshape(m)


def signatures_of_sets(
    hashes: Hashes, starts: NDArray[np.int64], m: int = SLOTS, seed: int = SEED
) -> Signatures:
    """Of many sets behind each other, as `shingles_of_all` gives them."""
    whole = np.require(hashes, np.uint64, ("C_CONTIGUOUS", "ALIGNED"))
    bounds = np.require(starts, np.int64, ("C_CONTIGUOUS", "ALIGNED"))
    return _rows(engine.sign(whole, bounds, m, seed), m)


def signatures(
    texts: Sequence[str], k: int = K, unit: Unit = "terms", m: int = SLOTS, seed: int = SEED
) -> Signatures:
    """Of texts, without keeping their shingles."""
    if unit == "terms":
        return _rows(engine.sign_each(texts, checked(k), m, seed), m)
    return signatures_of_sets(*shingles_of_all(texts, k, unit), m, seed)


def signatures_of_words(
    lists: Sequence[Sequence[str]], m: int = SLOTS, seed: int = SEED
) -> Signatures:
    """Of any lists of strings, taken as sets."""
    return _rows(engine.sign_each(lists, K, m, seed), m)


def estimate(a: Signature, b: Signature) -> float:
    """The Jaccard similarity of two sets by their signatures: the share of slots that agree."""
    if a.shape != b.shape:
        raise ValueError("signatures of different lengths cannot be compared")
    return float(np.count_nonzero(a == b)) / a.size


def standard_error(jaccard: float, m: int = SLOTS) -> float:
    """How far estimates of a similarity lie from it, as one standard deviation."""
    return float(np.sqrt(jaccard * (1 - jaccard) / m))


def minhash_of_matrix(matrix: NDArray[np.bool_], orders: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows are shingles, columns documents (Spaniol 2010, "Implementation").

    `orders[i, r]` is the place of row r in permutation i. The answer has a row for each permutation
    and a column for each document, with the smallest place of any row where it has a 1; the number
    of rows plus one for a document that has none.
    """
    rows, columns = matrix.shape
    slots = np.full((len(orders), columns), rows + 1, np.int64)
    for r in range(rows):
        slots[:, matrix[r]] = np.minimum(slots[:, matrix[r]], orders[:, r, np.newaxis])
    return slots


def _rows(slots: bytes, m: int) -> Signatures:
    return np.frombuffer(slots, np.uint32).reshape(-1, m)
