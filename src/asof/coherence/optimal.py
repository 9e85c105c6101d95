"""The order of highest expected coherence: pages assigned to ascending slot lengths.

An exact assignment takes time cubic in the pages. Its shape is known (20-coherence.md): pages that
are kept take the short slots, hottest first; pages that are sacrificed take the long ones, the
hottest last; the coldest lie among the sacrificed. So three steps come close to it:

1. Representatives. At most `_MODELS` pages stand for cells of alike pages, alike in how they change
   over a short and over a long time: posteriors differ in both, plain rates in one.
2. Choice. A dynamic programme over the representatives, hottest first: keep (next short slot) or
   sacrifice (next long slot). It sees what no exchange of two pages does: that a page given up
   moves all others ahead.
3. Exchange. Two pages change places where the sum of their survivals rises, over all strides from
   half the site to neighbours; this merges the tail and mends what cells and sort key have blurred.
"""

import itertools
import math
from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from asof.coherence.survival import Floats, Pages, Survival, chances

_Number = TypeVar("_Number", bound=np.generic)

# Tuned on 170 sites (six families of rates, nine loads, uneven slots, budgets, posteriors) against
# exact assignment: at 1,000 pages C falls short of it by at most .00004. At 100,000 pages 1,000,
# 2,000 or 6,000 models made a difference of .000003 with plain rates and of .00005 with posteriors.
_MODELS = 2000
_FEW_MODELS = 128  # where only the worth of a number of slots is asked for
_EXACT = 400  # pages for which the exact optimum takes a tenth of a second
_FINE = 1.25  # ratio of strides among representatives
_COARSE = 2.0  # and among all pages: 1.3 was no better
_ROUNDS = 8
_AFFORDED = 1_000_000  # pages looked at by each stride, over all rounds
_ENOUGH = 1e-5  # of C gained by a round of exchanges: another is not worth its time
_NOISE = 1e-15  # a gain below it may be one of rounding, and could go round in circles
_NOISE_OF_RINGS = 1e-11  # the same for a path, which adds up many


def optimal_order(survival: Survival, lengths: Floats) -> Pages:
    """Pages by ascending slot length, such that the sum of survivals is as large as can be.

    Slots of infinite length (no revisit) are last, and take the pages that are given up.
    """
    seen = int(np.isfinite(lengths).sum())
    if seen == len(lengths) or (seen > 0 and len(lengths) <= _MODELS):
        return _placed(survival, lengths)
    likely = _likely(survival, lengths[:seen])
    given_up = np.ones(len(survival), dtype=np.bool_)
    given_up[likely] = False
    coldest = np.argsort(survival.heat, kind="stable")
    placed = _placed(_Some(survival, likely), lengths[: len(likely)])
    return np.concatenate([likely[placed], coldest[given_up[coldest]]])


def revisit_order(
    survival: Survival, before: Floats, step: float = 1.0, revisits: int | None = None
) -> Pages:
    """The best revisits after a first crawl, whose order of visits was forced by discovery.

    `before` is how long before the turning point each page was visited, `step` the time between
    requests. The page visited at the turning point (before 0), if there is one, is the joker and
    comes first; the others follow in the order of revisits, one each step after the turning point,
    only the first `revisits` of them if there is such a budget.

    The index w x^b (1-x), is what the next slot would lose. Taken greedily it fell short
    of exact assignment by .0002 of C, and by up to .0020, over 60 random sites of 50 to 500 pages;
    revisits in reverse order of the visits by .021. The planner's steps serve here as well, and
    so do exchanges that begin with the reverse order, which is the better start for many pages.
    """
    joker = np.flatnonzero(before == 0)[-1:]
    others = np.delete(np.arange(len(before)), joker)
    lengths = np.arange(1, len(others) + 1, dtype=np.float64) * step
    if revisits is not None:
        lengths[revisits:] = np.inf
    aged = _Some(survival, others, before[others])
    reverse = np.argsort(before[others], kind="stable")
    orders = optimal_order(aged, lengths), exchanged(aged, reverse, lengths, _COARSE)
    best = max(orders, key=lambda order: float(chances(aged, order, lengths).sum()))
    return np.concatenate([joker, others[best]])


class Worth:
    """How many pages of a host survive at most, by the number of its slots that are used.

    The curve is concave: the best of k pages on the k shortest slots gain less and less. It is
    known at a few points, and looked at closer where a budget may end; a large host is stood for
    by `_FEW_MODELS` pages.
    """

    def __init__(self, survival: Survival, lengths: Floats) -> None:
        self._count = len(lengths)
        self._size = _cell_size(self._count, _FEW_MODELS)
        cells, _ = _cells(survival, lengths, self._size)
        self._models = _Some(survival, cells[:, self._size // 2])
        self._lengths = lengths[_middles(len(cells), self._size, self._count)]
        self._known = {0: 0.0}
        for slots in np.linspace(0, len(cells), 9).astype(int).tolist():
            self._look(slots)

    def gains(self) -> Floats:
        """What each slot adds, from the shortest on, as far as it is known."""
        known = sorted(self._known)
        curve = np.interp(np.arange(len(self._lengths) + 1), known, [self._known[k] for k in known])
        gains = np.minimum.accumulate(np.repeat(np.diff(curve), self._size))
        return np.append(gains, np.zeros(self._count - len(gains)))

    def look_near(self, slots: int) -> None:
        """Look closer at the curve to both sides of this number of slots."""
        for low, high in itertools.pairwise(sorted(self._known)):
            if low <= slots / self._size <= high:
                self._look((low + high) // 2)

    def _look(self, slots: int) -> None:
        if slots not in self._known:
            lengths = np.where(np.arange(len(self._lengths)) < slots, self._lengths, np.inf)
            order = optimal_order(self._models, lengths)
            self._known[slots] = float(chances(self._models, order, lengths).sum())


def _likely(survival: Survival, lengths: Floats) -> Pages:
    """The pages that can be worth one of a few slots, out of very many.

    A page that survives better than another over every length is preferred in every slot, so that
    with plain rates these are the coldest, as many as there are slots. Other survivals may cross,
    so that the best over several lengths are all taken.
    """
    keys = [survival.heat]
    positive = lengths[lengths > 0]
    if len(positive):
        spans = positive[(np.array([0, 0.1, 0.5, 1]) * (len(positive) - 1)).astype(np.intp)]
        keys = [survival.hazard(np.arange(len(survival)), span) for span in spans[:, None]]
    coldest = [np.argsort(key, kind="stable")[: len(lengths)] for key in keys]
    return np.unique(np.concatenate(coldest))


def _placed(survival: Survival, lengths: Floats) -> Pages:
    if not len(survival):
        return np.zeros(0, dtype=np.intp)
    size = _cell_size(len(survival), _MODELS)
    cells, rest = _cells(survival, lengths, size)
    models = _Some(survival, cells[:, size // 2])
    chosen = _chosen(models, lengths[_middles(len(cells), size, len(lengths))])
    order = np.concatenate([cells[chosen].ravel(), rest])
    if len(order) <= _EXACT:
        return _rotated(survival, order, lengths)
    return exchanged(survival, order, lengths, _COARSE) if size > 1 else order


def _cell_size(count: int, models: int) -> int:
    return max(1, -(-count // models))


def _middles(cells: int, size: int, count: int) -> Pages:
    """The slots in the middle of each cell of slots."""
    return np.minimum(np.arange(cells) * size + size // 2, count - 1)


def _cells(survival: Survival, lengths: Floats, size: int) -> tuple[Pages, Pages]:
    """All pages in cells of alike ones, and the coldest few that fill no cell."""
    hottest = np.argsort(-survival.heat, kind="stable")
    whole = len(hottest) // size * size
    pages, rest = hottest[:whole], hottest[whole:]
    if size == 1:
        return pages.reshape(-1, 1), rest
    late = survival.hazard(pages, _longest(lengths))
    strip = math.isqrt(whole // size) * size
    for start in range(0, whole, strip):
        part = slice(start, start + strip)
        pages[part] = pages[part][np.argsort(-late[part], kind="stable")]
    return pages.reshape(-1, size), rest


def _longest(lengths: Floats) -> Floats:
    return lengths[np.isfinite(lengths)][-1:]


def _chosen(models: Survival, lengths: Floats) -> Pages:
    """Models by ascending length: the better of two sort keys, after exchanges."""
    best, most = np.arange(len(models)), -math.inf
    tried: set[bytes] = set()
    for key in (models.heat, models.hazard(best, _longest(lengths))):
        hottest = np.argsort(-key, kind="stable")
        if hottest.tobytes() in tried:
            continue
        tried.add(hottest.tobytes())
        kept = _choice(models, hottest, lengths)
        order = np.concatenate([hottest[kept], hottest[~kept][::-1]])
        order = exchanged(models, order, lengths, _FINE)
        total = float(chances(models, order, lengths).sum())
        if total > most:
            best, most = order, total
    return best


class _Some(Survival):
    """The survival of some pages, numbered by their places among them, of some age already."""

    def __init__(self, survival: Survival, pages: Pages, age: Floats | None = None) -> None:
        self._survival, self._pages, self._age = survival, pages, age
        self.heat = survival.heat[pages]

    def hazard(self, pages: Pages, lengths: Floats) -> Floats:
        whole = lengths if self._age is None else self._age[pages] + lengths
        return self._survival.hazard(self._pages[pages], whole)


def _choice(survival: Survival, hottest: Pages, lengths: Floats) -> NDArray[np.bool_]:
    """Which pages, hottest first, are kept: the best of all ways to keep or sacrifice each.

    `value[k]` is the most that the pages so far survive, k of them kept.
    """
    count = len(hottest)
    value = np.full(count + 1, -np.inf)
    value[0] = 0.0
    keeps = np.zeros((count, count + 1), dtype=np.bool_)
    for place in range(count):
        chance = chances(survival, hottest[place : place + 1], lengths)
        keep = value[: place + 1] + chance[: place + 1]
        value[: place + 1] += chance[count - 1 - place :]
        keeps[place, 1 : place + 2] = keep >= value[1 : place + 2]
        np.maximum(keep, value[1 : place + 2], out=value[1 : place + 2])
    kept = np.zeros(count, dtype=np.bool_)
    state = int(np.argmax(value))
    for place in range(count - 1, -1, -1):
        kept[place] = keeps[place, state]
        state -= int(kept[place])
    return kept


def exchanged(survival: Survival, order: Pages, lengths: Floats, ratio: float) -> Pages:
    """The order after exchanges of two pages wherever that raises the sum of their survivals."""
    order = order.copy()
    now = chances(survival, order, lengths)
    for turn in range(max(1, min(_ROUNDS, _AFFORDED // max(1, len(order))))):
        gain = 0.0
        for stride in _strides(len(order), ratio, turn):
            for start in (0, stride):
                parts = (_halves(values, stride, start) for values in (order, lengths, now))
                for pages, slots, chance in zip(*parts, strict=True):
                    gain += _exchange(survival, pages, slots, chance)
        if gain <= _ENOUGH * len(order):
            break
    return order


def _strides(count: int, ratio: float, turn: int) -> list[int]:
    """From half of all down to 1; other ones each turn, so that other pages meet."""
    strides = []
    stride = count / 2 / ratio ** (turn * 0.618 % 1)
    while stride > 1:
        strides.append(int(stride))
        stride = min(stride / ratio, math.ceil(stride) - 1)
    return [*strides, 1] if count > 1 else []


_Halves = tuple[NDArray[_Number], NDArray[_Number]]


def _halves(values: NDArray[_Number], stride: int, start: int) -> Iterator[_Halves[_Number]]:
    """Views of all values from `start` on, each against that one stride ahead, none twice."""
    whole = start + (len(values) - start) // (2 * stride) * 2 * stride
    if whole > start:
        blocks = values[start:whole].reshape(-1, 2, stride)
        yield blocks[:, 0], blocks[:, 1]
    if whole + stride < len(values):
        yield values[whole:-stride], values[whole + stride :]


def _exchange(
    survival: Survival, pages: _Halves[np.intp], slots: _Halves[np.float64],
    now: _Halves[np.float64],
) -> float:  # fmt: skip
    """Exchange pages of the two halves where it pays, in place; the gain."""
    ahead = chances(survival, pages[0], slots[1])
    back = chances(survival, pages[1], slots[0])
    gain = ahead + back
    gain -= now[0]
    gain -= now[1]
    better = gain > _NOISE
    if not better.any():
        return 0.0
    pages[0][better], pages[1][better] = pages[1][better], pages[0][better]
    now[0][better], now[1][better] = back[better], ahead[better]
    return float(gain[better].sum())


def _rotated(survival: Survival, order: Pages, lengths: Floats) -> Pages:
    """The exact optimum: pages move round in rings until no ring is left that would gain."""
    chance = chances(survival, order, lengths[:, None])  # of a page (column) at a place (row)
    # Between neighbours the way is known but for little: it is what the page ahead would lose.
    longest = np.cumsum(np.append(0.0, chance.diagonal(-1) - chance.diagonal()[:-1]))
    while True:
        comes_from = _rings(chance - chance.diagonal(), longest)
        if comes_from is None:
            return order
        order, chance = order[comes_from], chance[:, comes_from]


def _rings(gain: Floats, longest: Floats) -> Pages | None:
    """From where each place takes its page when all rings found turn at once; None: there are none.

    Longest paths by Bellman and Ford, where going from i to j is worth what the page of i gains
    at j. Places whose best ways come round to themselves are rings that gain, and no two of them
    share a place. When no path grows any more there is no such ring, and the order is optimal.
    `longest` is where the last search left off: any start will do, and a near one saves time.
    """
    count = len(gain)
    places = np.arange(count)
    before = np.full(count + 1, count)  # the last stands for "no way leads here", and stays there
    ways = np.empty_like(gain)
    while True:
        np.add(gain, longest, out=ways)
        best = ways.argmax(axis=1)
        length = ways[places, best]
        longer = length > longest + _NOISE_OF_RINGS
        if not longer.any():
            return None
        longest[longer] = length[longer]
        before[:-1][longer] = best[longer]
        far = before
        for _ in range(count.bit_length()):
            far = far[far]
        on_rings = np.unique(far)[:-1]
        if len(on_rings):
            comes_from = places.copy()
            comes_from[on_rings] = before[on_rings]
            return comes_from
