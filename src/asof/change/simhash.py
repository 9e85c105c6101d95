"""Simhash: a document as b bits, of which near ones share most (Naumann 2011, slides 84-86).

Features are words weighted by their frequency, unless others are given. Each adds its weight to
every component whose bit in the feature's hash is 1, and subtracts it where it is 0; the signs are
the fingerprint. The share of equal bits is 1 - angle / pi between the documents as vectors.
"""

import math

import numpy as np
from numpy.typing import NDArray

from asof.change.fallback import STEP, mixed_all
from asof.change.shingles import Counts, Hashes, Unit, bag

BITS = 64
_BLOCK = 4_096  # features at a time: each takes a byte a bit meanwhile


def simhash(text: str, k: int = 1, unit: Unit = "terms", bits: int = BITS) -> int:
    """Of a text, its features runs of k terms (one: words) weighted by how often they occur."""
    hashes, counts = bag(text, k, unit)
    return from_hashes(hashes, counts, bits)


def from_hashes(hashes: Hashes, weights: Counts | None = None, bits: int = BITS) -> int:
    """Of features given as hashes with weights; hashes of 64 bits are stretched to more.

    The first component of the vector is the highest bit of the number.
    """
    if bits < 1:
        raise ValueError("a fingerprint has at least one bit")
    given = weights if weights is not None else np.ones(hashes.size, np.int64)
    sums = np.zeros(bits, np.int64)
    for at in range(0, hashes.size, _BLOCK):
        part = slice(at, at + _BLOCK)
        sums += vector(_bits_of(hashes[part], bits), given[part])
    return fingerprint(sums)


def vector(rows: NDArray[np.uint8], weights: Counts) -> NDArray[np.int64]:
    """The sums of the weights, added where a row has a 1 and subtracted where it has a 0."""
    sums: NDArray[np.int64] = 2 * (weights @ rows.astype(np.int64)) - weights.sum()
    return sums


def fingerprint(sums: NDArray[np.int64]) -> int:
    """The bits of a vector: 1 where it is positive, 0 otherwise; the first is the highest."""
    packed = np.packbits(sums > 0).tobytes()
    return int.from_bytes(packed, "big") >> (-sums.size % 8)


def agreement(a: int, b: int, bits: int = BITS) -> float:
    """The share of bits that agree: both call documents duplicates if it is high."""
    return 1 - (a ^ b).bit_count() / bits


def cosine(a: int, b: int, bits: int = BITS) -> float:
    """The cosine of two documents as vectors of weights, as far as their fingerprints tell."""
    return math.cos(math.pi * (1 - agreement(a, b, bits)))


def _bits_of(hashes: Hashes, bits: int) -> NDArray[np.uint8]:
    """A row of bits for each hash: its own 64, then those of hashes made from it."""
    words = -(-bits // 64)
    steps = np.arange(words, dtype=np.uint64) * np.uint64(STEP)
    wide = hashes[:, np.newaxis] + steps
    wide[:, 1:] = mixed_all(wide[:, 1:])
    return np.unpackbits(wide.astype(">u8").view(np.uint8), axis=1)[:, :bits]
