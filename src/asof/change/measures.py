"""How alike two sets, or bags, of shingles are: Jaccard, containment, Dice.

All are made of three numbers: the sizes of both and what they have in common. Of bags, the common
part counts each shingle as often as it is in both; the union then as often as in either.
"""

from dataclasses import dataclass

import numpy as np

from asof.change.shingles import Counts, Hashes, engine

Bag = tuple[Hashes, Counts]


@dataclass(frozen=True, slots=True)
class Overlap:
    """What two documents, a and b, have in common, in shingles."""

    of_a: int
    of_b: int
    common: int

    @property
    def jaccard(self) -> float:
        """Common by union (Spaniol 2010, "Jaccard Similarity of Sets"); 1 if both are empty."""
        union = self.of_a + self.of_b - self.common
        return self.common / union if union else 1.0

    @property
    def a_in_b(self) -> float:
        """Which share of a is in b, too; 1 for an empty a, which is part of everything."""
        return self.common / self.of_a if self.of_a else 1.0

    @property
    def b_in_a(self) -> float:
        return self.common / self.of_b if self.of_b else 1.0

    @property
    def dice(self) -> float:
        """Twice the common part by both sizes; 1 if both are empty."""
        both = self.of_a + self.of_b
        return 2 * self.common / both if both else 1.0


def overlap(a: Hashes, b: Hashes) -> Overlap:
    """Of two sets: sorted arrays without repeats, as `shingles` and `features` give them."""
    return Overlap(a.size, b.size, engine.overlap(_whole(a), _whole(b)))


def bag_overlap(a: Bag, b: Bag) -> Overlap:
    _, in_a, in_b = np.intersect1d(a[0], b[0], assume_unique=True, return_indices=True)
    common = np.minimum(a[1][in_a], b[1][in_b]).sum()
    return Overlap(int(a[1].sum()), int(b[1].sum()), int(common))


def jaccard(a: Hashes, b: Hashes) -> float:
    """Of two sets: |a and b| / |a or b|."""
    return overlap(a, b).jaccard


def containment(a: Hashes, b: Hashes) -> float:
    """Which share of the set a is in the set b: |a and b| / |a|."""
    return overlap(a, b).a_in_b


def dice(a: Hashes, b: Hashes) -> float:
    """Of two sets: 2 |a and b| / (|a| + |b|)."""
    return overlap(a, b).dice


def _whole(hashes: Hashes) -> Hashes:
    """As an array without gaps; a copy only of one that has some, like a slice with steps."""
    return np.require(hashes, np.uint64, ("C_CONTIGUOUS", "ALIGNED"))
