"""Intervals of time, as arrays: where they meet, where the most of them hold, how much they cover.

Intervals are closed and their ends are instants, integers of microseconds. Those of one URL must
not overlap, or it counts twice; what `asof.catalog.validity` gives does not, but for single shared
instants, which `coverage` takes care of.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from asof.clock import SECOND, Instant
from asof.coherence.verdict import Best, Coverage

Instants = NDArray[np.int64]
Floats = NDArray[np.float64]

# Below it 1 - e^(-x) has lost its digits to the smallest numbers that there are.
_TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Intervals of many pages: those of one page stand together, by time."""

    urls: Sequence[str]
    since: Instants
    until: Instants

    @classmethod
    def of(cls, urls: Sequence[str], since: ArrayLike, until: ArrayLike) -> Self:
        return cls(urls, *_ends(since, until))

    def among(self, pages: Set[str]) -> Self:
        """Those of some pages."""
        kept = [place for place, url in enumerate(self.urls) if url in pages]
        if len(kept) == len(self.urls):
            return self
        return type(self)([self.urls[place] for place in kept], self.since[kept], self.until[kept])

    def __len__(self) -> int:
        return len(self.urls)


def coherence(intervals: Iterable[tuple[Instant, Instant]]) -> tuple[Instant, Instant] | None:
    """Where all intervals hold (definition 3.1), None where they do not meet, or there is none."""
    found: tuple[Instant, Instant] | None = None
    for since, until in intervals:
        found = (since, until) if found is None else (max(found[0], since), min(found[1], until))
    return None if found is None or found[0] > found[1] else found


def observable(pages: Iterable[tuple[Instant | None, Instant]]) -> tuple[Instant, Instant] | None:
    """Where pages cohere by what a crawler sees (definition 3.2): Last-Modified to download.

    A page without a date, or with one after its download, is known at its download only.
    """
    return coherence((at if modified is None else min(modified, at), at) for modified, at in pages)


def stab(since: ArrayLike, until: ArrayLike) -> Best:
    """The stretch over which the most intervals hold; of several the longest, then the latest.

    The count can reach its greatest value only where an interval begins, and keeps it until the
    first of those that hold ends: two sorts and two searches, O(m log m). Without intervals the
    count is 0.
    """
    starts, ends = _ends(since, until)
    if not len(starts):
        return Best(0, 0, 0)
    starts, ends = np.sort(starts), np.sort(ends)
    begun = np.arange(1, len(starts) + 1)
    # Of equal starts only the last has them all counted; the others count fewer, and lose.
    ended = np.searchsorted(ends, starts, side="left")
    counts = begun - ended
    most = int(counts.max())
    places = np.flatnonzero(counts == most)
    first, last = starts[places], ends[ended[places]]
    lengths = last - first
    longest = np.flatnonzero(lengths == lengths.max())[-1]
    return Best(int(first[longest]), int(last[longest]), most)


def curve(since: ArrayLike, until: ArrayLike) -> tuple[Instants, Instants]:
    """How many intervals hold when: from `moments[i]` to just before the next, `counts[i]` do.

    The last count is 0. An interval that ends at t still holds at t, so it drops out one
    microsecond later.
    """
    starts, ends = _ends(since, until)
    starts, ends = np.sort(starts), np.sort(ends)
    moments = np.sort(np.concatenate((starts, ends + 1)))
    if len(moments):  # np.unique takes many times as long
        moments = moments[np.concatenate(([True], np.diff(moments) > 0))]
    begun = np.searchsorted(starts, moments, side="right")
    ended = np.searchsorted(ends, moments, side="left")
    return moments, (begun - ended).astype(np.int64)


def thinned(moments: Instants, counts: Instants, most: int) -> tuple[Instants, Instants]:
    """A curve of at most `most` points (at least 4) that looks the same when drawn.

    Time is cut into equal parts; of each the lowest and the highest count stay, in their order, so
    no peak is lost. The first and the last point stay as well.
    """
    if most < 4:
        raise ValueError(f"a curve of {most} points shows nothing")
    if len(moments) <= most:
        return moments, counts
    parts = (most - 2) // 2
    span = max(int(moments[-1]) - int(moments[0]), 1)
    place = (moments - moments[0]).astype(np.float64) / span * parts
    part = np.minimum(place, parts - 1).astype(np.int64)
    order = np.lexsort((counts, part))
    bounds = np.flatnonzero(np.diff(part[order])) + 1
    lowest = order[np.concatenate(([0], bounds))]
    highest = order[np.concatenate((bounds - 1, [len(order) - 1]))]
    kept = np.unique(np.concatenate(([0], lowest, highest, [len(moments) - 1])))
    return moments[kept], counts[kept]


def expected_valid(elapsed: ArrayLike, gap: ArrayLike, rate: ArrayLike) -> Floats:
    """The probability that what was seen last is still there, `elapsed` seconds later.

    `gap` is how long after that sight something else was seen, inf if nothing was. Changes are
    Poisson of `rate` a second; given at least one of them within the gap,

        P = (e^(-l t) - e^(-l g)) / (1 - e^(-l g)),  and  e^(-l t)  for an endless gap.

    Written with expm1 that stays right for rates so small that the powers are nearly 1: the limit
    is 1 - t/g. A gap of 0 has nothing in it: the answer is the later one.
    """
    t, g, r = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (elapsed, gap, rate)))
    if not all(np.all(each >= 0) for each in (t, g, r)):  # so is NaN
        raise ValueError("times and rates are numbers, and not negative")
    endless = np.isinf(g)
    g = np.where(endless, 0.0, g)
    left = np.where(endless, 0.0, g - np.minimum(t, g))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        still = np.exp(-_product(r, t))
        # e^(-lt) - e^(-lg) = e^(-lt) (1 - e^(-l(g-t))): no difference of nearly equal powers.
        between = still * np.expm1(-_product(r, left)) / np.expm1(-_product(r, g))
        # Where l g is too small for a power, or the rate 0, the limit; where g is 0, nothing.
        limit = np.where(g > 0, left / np.where(g > 0, g, 1.0), 0.0)
        between = np.where(_product(r, g) > _TINY, between, limit)
    return np.clip(np.where(endless, still, between), 0.0, 1.0)


def coverage(
    known: Stretches, rates: ArrayLike, moments: Sequence[Instant], pages: int
) -> list[Coverage]:
    """At each moment the share of `pages` whose as-of answer is known, and that expected right.

    `known` are intervals of answers that say something (no errors of servers). `rates` are the
    changes a second of their pages; one whose rate is endless is right only where it is known.
    Before its first sight a URL is never right: as-of answers do not come from the future. Pages of
    which nothing is ever known have no interval, and count all the same.
    """
    if not known:
        return [Coverage(at, 0.0, 0.0) for at in moments]
    same = np.array([one == two for one, two in pairwise(known.urls)], dtype=bool)
    starts, ends = known.since, known.until
    # Two different sights of one instant make two intervals that share it.
    shifted = starts.copy()
    shifted[1:] += same & (starts[1:] <= ends[:-1])
    real = shifted <= ends
    begun, ended = np.sort(shifted[real]), np.sort(ends[real])
    gap = np.full(len(known), np.inf)
    gap[:-1][same] = (starts[1:] - ends[:-1])[same] / SECOND
    rate = np.asarray(rates, dtype=np.float64)
    until_next = np.full(len(known), np.iinfo(np.int64).max)
    until_next[:-1][same] = starts[1:][same]
    found = []
    for at in moments:
        proven = int(np.searchsorted(begun, at, side="right") - np.searchsorted(ended, at))
        open_ = np.flatnonzero((ends < at) & (until_next > at))
        likely = expected_valid((at - ends[open_]) / SECOND, gap[open_], rate[open_]).sum()
        found.append(Coverage(at, proven / pages, min((proven + float(likely)) / pages, 1.0)))
    return found


def _ends(since: ArrayLike, until: ArrayLike) -> tuple[Instants, Instants]:
    starts, ends = np.asarray(since, dtype=np.int64), np.asarray(until, dtype=np.int64)
    if starts.shape != ends.shape or starts.ndim != 1:
        raise ValueError("as many beginnings as ends, please")
    if np.any(starts > ends):
        raise ValueError("an interval ends before it begins")
    return starts, ends


def _product(rate: Floats, length: Floats) -> Floats:
    """Rate times length, where no time or no changes are 0 even if the other is endless."""
    return np.where((rate == 0) | (length == 0), 0.0, rate * length)
