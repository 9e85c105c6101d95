"""Freshness and age of a copy, for pages that change at a steady rate (a Poisson process).

Four quantities that are easily taken for each other, so each has its name (Naumann 2011,
"Freshness", "Freshness vs. Age", "Age"). Rates and lengths of time are in any one unit and its
inverse; all functions take numbers or arrays.

- `fresh_at`: the chance that a copy still is what the page is, some time after it was taken.
- `age_at`: how long, on average, the copy has been out of date by then: the paper's integral of
  l e^(-lx) (t-x) over 0..t.
- `freshness`: the share of time that the copy is fresh if the page is visited at a fixed interval.
- `mean_age`: `age_at` averaged over such an interval.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]

# Below this many expected changes the differences of the closed forms have lost more digits than
# the series leaves out: its first term not taken is r^8/10! or less.
_SMALL = 0.05


def fresh_at(rate: ArrayLike, after: ArrayLike) -> Numbers:
    """The chance that nothing has changed for so long."""
    return np.exp(-_expected(rate, after))


def age_at(rate: ArrayLike, after: ArrayLike) -> Numbers:
    """Age(l, t) = t - (1 - e^(-lt)) / l of Naumann 2011; 2.575 days a week after, at one a week."""
    r = _expected(rate, after)
    return np.asarray(after, np.float64) * _first(r)


def freshness(rate: ArrayLike, interval: ArrayLike) -> Numbers:
    """F = (1 - e^(-r)) / r with r changes expected between two visits."""
    return 1.0 - _first(_expected(rate, interval))


def mean_age(rate: ArrayLike, interval: ArrayLike) -> Numbers:
    """A = interval (1/2 - 1/r + (1 - e^(-r)) / r^2); 0.925 days for weekly visits and changes."""
    r = _expected(rate, interval)
    return np.asarray(interval, np.float64) * _second(r)


def _expected(rate: ArrayLike, length: ArrayLike) -> Numbers:
    """Changes expected; what never changes does not do so in endless time either."""
    rates, lengths = np.asarray(rate, np.float64), np.asarray(length, np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where((rates == 0) | (lengths == 0), 0.0, rates * lengths)


def _first(r: Numbers) -> Numbers:
    """1 - (1 - e^(-r)) / r = r/2! - r^2/3! + r^3/4! - ..."""
    large = np.maximum(r, _SMALL)
    return np.where(r < _SMALL, _series(r, 2), 1.0 + np.expm1(-large) / large)


def _second(r: Numbers) -> Numbers:
    """1/2 - 1/r + (1 - e^(-r)) / r^2 = r/3! - r^2/4! + r^3/5! - ..."""
    large = np.maximum(r, _SMALL)
    # Two divisions, not one by the square, which overflows first.
    closed = 0.5 - (1.0 + np.expm1(-large) / large) / large
    return np.where(r < _SMALL, _series(r, 3), closed)


def _series(r: Numbers, first: int) -> Numbers:
    """r/first! - r^2/(first+1)! + ..., seven terms, for small r."""
    small = np.minimum(r, _SMALL)
    factors = 1.0 / np.cumprod(np.arange(1.0, first + 7.0))[first - 1 :]
    total = np.zeros_like(small)
    for factor in factors[::-1]:
        total = factor - small * total
    return small * total
