"""What a pair must have in common to be an edge, in integers: thresholds without rounding.

A bound on containment, Jaccard or Dice says that x, the number of common shingles, is at least a
share of |i|, of |j| or of |i| + |j| (Paudel 2013, section 2):

    C(i, j) = x / |i| >= t     x >= t |i|
    C(j, i) = x / |j| >= t     x >= t |j|
    J = x / (|i| + |j| - x)    x >= t / (1 + t) (|i| + |j|)
    D = 2 x / (|i| + |j|)      x >= t / 2 (|i| + |j|)

Sizes are whole numbers up to a largest one, so of all thresholds only fractions with denominators
up to that can be met exactly. Each is replaced by the next such fraction above it: that answers the
same for all sets at hand, makes > a >=, and keeps every product within 64 bits, however long the
threshold that was written.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from asof.errors import UsageError

LARGEST_SET = 1 << 28  # shingles of one document: products of shares and sizes stay below 2**62


@dataclass(frozen=True, slots=True, order=True)
class Least:
    """A measure is at least (or, if strict, above) a threshold above 0, and at most 1."""

    threshold: Fraction
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """Lower bounds on measures, all to be met: C(i, j), C(j, i), Jaccard, Dice."""

    contained: Least | None = None
    containing: Least | None = None
    jaccard: Least | None = None
    dice: Least | None = None

    @property
    def empty(self) -> bool:
        return self == Bound()

    def turned(self) -> Bound:
        return Bound(self.containing, self.contained, self.jaccard, self.dice)

    def shares(self, largest: int) -> Shares:
        """The same for all sets of up to so many shingles, as whole numbers."""
        if largest > LARGEST_SET:
            raise UsageError(
                f"A document of {largest:,} shingles is too large to compare.",
                hint=f"Leave out documents of more than {LARGEST_SET:,}.",
            )
        zero, most = Fraction(0), max(4, 2 * largest)
        of_i = _next(self.contained, most) if self.contained else zero
        of_j = _next(self.containing, most) if self.containing else zero
        of_both = zero
        if self.jaccard:
            t = self.jaccard.threshold
            of_both = _next(Least(t / (1 + t), self.jaccard.strict), most)
        if self.dice:
            of_both = max(of_both, _next(Least(self.dice.threshold / 2, self.dice.strict), most))
        return Shares(of_i, of_j, of_both)


@dataclass(frozen=True, slots=True)
class Shares:
    """The least common part as shares of |i|, |j| and |i| + |j|; 0 where there is no bound."""

    of_i: Fraction
    of_j: Fraction
    of_both: Fraction

    @property
    def alone(self) -> Fraction:
        """The share of i that must be in any j, whatever the size of j.

        From x >= s (|i| + |j|) and |j| >= x follows x >= s / (1 - s) |i|.
        """
        return max(self.of_i, self.of_both / (1 - self.of_both))

    @property
    def of_equals(self) -> bool:
        """Whether two equal sets, also empty ones, are a pair: their measures are 1."""
        return self.of_i <= 1 and self.of_j <= 1 and self.of_both <= Fraction(1, 2)

    def numbers(self) -> tuple[int, int, int, int, int, int]:
        parts = (self.of_i, self.of_j, self.of_both)
        return tuple(n for part in parts for n in part.as_integer_ratio())  # type: ignore[return-value]

    def need(self, size_i: NDArray[np.int64], size_j: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many shingles pairs of such sizes must have in common."""
        needed = _share(self.of_i, size_i)
        np.maximum(needed, _share(self.of_j, size_j), out=needed)
        return np.maximum(needed, _share(self.of_both, size_i + size_j), out=needed)

    def need_alone(self, size: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many shingles of a set of such a size must be in any that covers it."""
        return _share(self.alone, size)


def _share(part: Fraction, size: NDArray[np.int64]) -> NDArray[np.int64]:
    p, q = part.as_integer_ratio()
    return -((-p * size) // q)


def _next(least: Least, most: int) -> Fraction:
    """The smallest fraction with a denominator up to `most` that meets the bound.

    A walk down the Stern-Brocot tree, in leaps: low never meets the bound, high always does, and
    they are neighbours among the fractions of their denominators. What they lie below and above the
    threshold, times all denominators, says how far each can leap towards the other.
    """
    n, d = least.threshold.as_integer_ratio()
    low_p, low_q = (n // d, 1) if least.strict or n < d else (n // d - 1, 1)
    high_p, high_q = low_p + 1, 1
    while low_q + high_q <= most:
        below, above = n * low_q - d * low_p, d * high_p - n * high_q
        if above - below > 0 or (above == below and not least.strict):  # their mediant meets it
            room = (most - high_q) // low_q
            reach = (above - least.strict) // below if below else room
            leaps = min(room, reach)
            high_p, high_q = high_p + leaps * low_p, high_q + leaps * low_q
        else:
            room = (most - low_q) // high_q
            reach = (below - (not least.strict)) // above if above else room
            leaps = min(room, reach)
            low_p, low_q = low_p + leaps * high_p, low_q + leaps * high_q
    return Fraction(high_p, high_q)
