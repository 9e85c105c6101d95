"""How often a page changes, from gaps of which each says only "changed" or "not".

With a rate l a gap of length t stays unchanged with chance e^(-lt). Counting changed gaps as
changes would be wrong: it misses those that follow each other within a gap.

- `rates`: one number a page, by maximum likelihood with a term against bias (Cho and Garcia-Molina,
  "Estimating frequency of change", have it for regular visits; here for any).
- `Online`: the same in constant time and space a visit, with forgetting.
- `Histories`: the whole likelihood over a grid of rates, for those who need to know how sure an
  estimate is. Never plan on single numbers from a few visits (asof.freshness.prior).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asof.change.fallback import STEP as GOLDEN
from asof.change.fallback import mixed_all
from asof.freshness.history import Gap, Observed

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]

YEAR = 365.25 * 86_400.0

# Changes per second as natural logarithms, from 1e-13 to 1e4: wider than the rates that matter
# (1e-9 to 10) by what the tails of their likelihoods need. In a logarithm the likelihoods are
# smooth, so that sums over evenly spaced rates are nearly exact integrals.
STEP = 0.25
GRID: Numbers = np.arange(-30.0, 9.25, STEP)
# Lengths of gaps are rounded to this many steps an e-fold, so 1.6 % at most, which is little beside
# what a few gaps leave open. It lets pages of a site that was crawled as a whole share their sums.
_FINENESS = 32
_STRIDE = int(STEP * _FINENESS)
_LOWEST = -31.0  # of logarithms of lengths; 3e-14 seconds
_HIGHEST = 31.0


def rates(observed: Observed) -> Numbers:
    """Changes per second of each page: 0 where none was seen, nan for pages without gaps.

    The rate l solves: sum over changed gaps of t / (e^(lt) - 1) = sum over unchanged gaps of t,
    plus half a mean gap. For n gaps of one length with X changed that is -log((n-X+.5)/(n+.5)) a
    gap.
    """
    page, count = observed.page(), np.diff(observed.offsets)
    total = np.bincount(page, observed.lengths, len(observed))
    right = observed.still() + 0.5 * total / np.maximum(count, 1)
    found = _root(page[observed.changed], observed.lengths[observed.changed], right, 0.0)
    return np.where(count > 0, found, np.nan)


def peaks(observed: Observed, shape: float, rate: float) -> tuple[Numbers, Numbers]:
    """Of the logarithm of each page's rate under a gamma prior: the likeliest, as a rate, and how
    sharply its likelihood peaks there (the inverse of the variance).
    """
    page, lengths = observed.page()[observed.changed], observed.lengths[observed.changed]
    found = _root(page, lengths, observed.still() + rate, shape)
    half = np.minimum(0.5 * found[page] * lengths, 350.0)
    steep = (half / np.sinh(half)) ** 2
    sharpness: Numbers = np.bincount(page, steep, len(observed)).astype(np.float64)
    return found, sharpness + shape


def _root(page: Counts, lengths: Numbers, right: Numbers, shape: float) -> Numbers:
    """For each page the l at which shape / l + the sum of t / (e^(lt) - 1) is as large as `right`.

    `lengths` are those of changed gaps, and `page` whose they are.
    """
    pages = len(right)
    events = shape + np.bincount(page, minlength=pages)
    # t/(e^(lt)-1) >= 1/l - t/2, so this is at or below the root. The left side falls and is convex
    # in l (a sum of exponentials), so Newton's steps from there never pass the root.
    some = np.flatnonzero(events > 0)
    found: Numbers = np.zeros(pages)
    found[some] = events[some] / (right + 0.5 * np.bincount(page, lengths, pages))[some]
    for _ in range(100):
        # Beyond 700 a gap adds nothing, and the exponential is out of range soon after.
        grown = np.expm1(np.minimum(found[page] * lengths, 700.0))
        left = lengths / grown
        falls = np.bincount(page, left * left * (grown + 1.0), pages)[some]
        above = (np.bincount(page, left, pages) - right)[some] + shape / found[some]
        step = above / (falls + shape / found[some] ** 2)
        found[some] += step
        if not np.any(step > 1e-12 * found[some]):
            break
    return found


def rate_of(gaps: tuple[Gap, ...]) -> float:
    """The rate of one page, as `rates` gives it."""
    lengths = np.array([gap.length for gap in gaps], np.float64)
    changed = np.array([gap.changed for gap in gaps], np.bool_)
    bounds, group = np.array([0, len(gaps)], np.int64), np.zeros(1, np.int32)
    return float(rates(Observed(("",), bounds, lengths, changed, group, ()))[0])


@dataclass(frozen=True, slots=True)
class Online:
    """A rate that is kept up to date at each visit: `a` changes in `b` seconds, and a prior.

    What is older than the half-life counts less than half: rates learnt on a real site's past five
    years without forgetting did worse than visiting all pages alike (bench/change_rates.py).
    """

    prior_a: float
    prior_b: float
    a: float = 0.0
    b: float = 0.0

    @property
    def rate(self) -> float:
        """Changes per second."""
        return (self.a + self.prior_a) / (self.b + self.prior_b)

    def update(self, gap: float, changed: bool, half_life: float = YEAR) -> Online:
        """After one more gap. A changed one has l g / (1 - e^(-lg)) changes on average."""
        if gap <= 0:
            return self
        kept = 2.0 ** (-gap / half_life)
        expected = self.rate * gap
        seen = 0.0
        if changed:
            seen = 1.0 if expected == 0 else float(expected / -np.expm1(-expected))
        return Online(self.prior_a, self.prior_b, self.a * kept + seen, self.b * kept + gap)


@dataclass(frozen=True, slots=True)
class Histories:
    """The different histories among pages, each once.

    A history is the time without a change (`still`, seconds) and the changed gaps: `bins` from
    starts[k] to starts[k + 1], rounded logarithms. `pages` says how many pages have it, `of` which
    one each page has.
    """

    still: Numbers
    starts: Counts
    bins: NDArray[np.int32]
    pages: Counts
    of: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.still)

    @property
    def changes(self) -> Counts:
        return np.diff(self.starts)

    def likelihood(self, chosen: NDArray[np.intp]) -> Numbers:
        """Logarithms, for each rate of the grid, a history a row; the largest of each row is 0."""
        found = -self.still[chosen, None] * np.exp(GRID)
        columns = np.arange(len(GRID), dtype=np.int32) * _STRIDE
        changes = self.changes[chosen]
        # One changed gap of each at a time, so that no more is held than what is returned.
        for turn in range(int(changes.max(initial=0))):
            rows = np.flatnonzero(changes > turn)
            bins = self.bins[self.starts[chosen[rows]] + turn]
            found[rows] += _TABLE[bins[:, None] + columns]
        found -= found.max(axis=1, keepdims=True)
        return found


def histories(observed: Observed) -> Histories:
    pages, lengths = len(observed), observed.lengths
    page, still = observed.page(), observed.still()
    bins = np.zeros(len(lengths), np.int32)
    bins[observed.changed] = _bins(lengths[observed.changed])
    # Pages are compared by 64 bits: a sum over the gaps, which does not ask for their order. That
    # two different histories of a million meet in it has a chance of 3e-8.
    sums = np.zeros(len(lengths) + 1, np.uint64)
    np.cumsum(np.where(observed.changed, _mixed(bins + 1), np.uint64(0)), out=sums[1:])
    keys = sums[observed.offsets[1:]] - sums[observed.offsets[:-1]]
    keys += _mixed(-1 - np.where(still > 0, _bins(np.maximum(still, 1e-13)), -1))
    _, first, of, alike = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    changes = np.bincount(page[observed.changed], minlength=pages)[first]
    order = np.full(pages, -1)
    order[first] = np.arange(len(first))
    taken = observed.changed & (order[page] >= 0)
    by_history = np.argsort(order[page[taken]], kind="stable")
    return Histories(
        still=still[first],
        starts=np.concatenate(([0], np.cumsum(changes))).astype(np.int64),
        bins=bins[taken][by_history],
        pages=alike,
        of=of,
    )


def _bins(lengths: Numbers) -> NDArray[np.int32]:
    logarithms = np.clip(np.log(lengths), _LOWEST, _HIGHEST)
    return np.rint((logarithms - _LOWEST) * _FINENESS).astype(np.int32)


def _mixed(numbers: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Numbers as 64 bits that look random (splitmix64)."""
    return mixed_all(numbers.astype(np.int64).view(np.uint64) * np.uint64(GOLDEN))


# log(1 - e^(-x)): the chance of a change, for every rate of the grid times every length.
_SIZE = int((_HIGHEST - _LOWEST) * _FINENESS) + 1 + (len(GRID) - 1) * _STRIDE
_TABLE: Numbers = np.log(-np.expm1(-np.exp(_LOWEST + GRID[0] + np.arange(_SIZE) / _FINENESS)))
