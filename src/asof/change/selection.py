"""Small values that stand for a document: the sum of its bytes, selected fingerprints.

Naumann 2011 (slides 79, 82, 83) and CS6200 2019 ("Detecting Exact Duplicates", "Fingerprint
Example").
"""

from __future__ import annotations

import numpy as np

from asof.change.shingles import Hashes, Unit, shingles


def checksum(data: bytes) -> int:
    """The sum of the bytes: equal for equal documents, and for the same bytes in another order.

    Both show it for its fault. Whoever wants to know whether bytes are equal takes a digest
    (digests.py).
    """
    return sum(data)


def selected(hashes: Hashes, p: int = 4) -> Hashes:
    """Those that are 0 mod p, in their order: the same of equal shingles in every document.

    About every p-th stays, so overlaps of selections estimate overlaps of the documents.
    """
    if p < 1:
        raise ValueError("p must be at least 1")
    kept: Hashes = hashes[hashes % np.uint64(p) == 0]
    return kept


def fingerprints(text: str, n: int = 3, p: int = 4, unit: Unit = "terms") -> Hashes:
    """The selected n-grams of a text, as a sorted set."""
    return selected(shingles(text, n, unit), p)
