"""Plans: in which order pages are fetched, over which lengths they must stay unchanged, expected C.

Revisiting in the reverse order of the visits is best for any convex falling survival (exchange of
two revisits), so a plan is pages on ascending slot lengths, and its expected C the mean survival.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev

from asof.coherence.optimal import Worth, optimal_order
from asof.coherence.survival import Discrete, Floats, Pages, Poisson, Survival, chances
from asof.coherence.threshold import threshold_order
from asof.coherence.verdict import Mode

ETAS = (0.45, 0.5, 0.55, 0.6, 0.65, 0.7)  # the range that did well in Figure 9
_LOOKS = 8  # at what each host gains, closer each time
_MANY = 100_000  # pages: so many that a threshold that is tried in vain takes its time
_FEW = 2_000  # pages: so few that every other strategy is tried as well


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Pages on slots: `order[k]` has the k-th shortest, of `lengths[k]`; `expected` is C, 0 to 1.

    Inducible: pages are visited in reversed order, and revisited in order; the first one, of
    length 0, is the joker and fetched once. An infinite length is no revisit. Measurable: `order`
    is the order of downloads. `eta` is the threshold's, where there is one.
    """

    name: str
    order: Pages
    lengths: Floats
    expected: float
    eta: float | None = None

    @property
    def visits(self) -> Pages:
        """Inducible: the pages in the order of the first phase."""
        return self.order[::-1]


def slots(count: int, mode: Mode, step: float = 1.0) -> Floats:
    """Slot lengths of a site with one request each `step`: Figure 5 (measurable), 6 (inducible)."""
    apart = 2 * step if mode is Mode.INDUCIBLE else step
    return np.arange(count, dtype=np.float64) * apart


def expected_c(survival: Survival, order: Pages, lengths: Floats) -> float:
    """The expected C of an order: the mean survival; a page that is not seen again counts 0."""
    return float(chances(survival, order, lengths).sum()) / len(order) if len(order) else 1.0


def bfs_fifo(survival: Survival, step: float = 1.0, revisits: int | None = None) -> float:
    """The expected C of breadth-first visits and revisits in the same order: mean over all orders.

    All but the joker, which may be any page, must last as many steps as there are pages; those
    beyond the budget of revisits are not seen again.
    """
    count = len(survival)
    if not count:
        return 1.0
    once = float(survival.at(np.arange(count), np.array([count * step])).sum())
    again = count - 1 if revisits is None else min(revisits, count - 1)
    return (1 + once * again / count) / count


def bfs_lifo(survival: Survival, lengths: Floats) -> float:
    """The expected C of a breadth-first order, which knows nothing of rates: mean over all orders.

    That is the mean over all pages and all slots.
    """
    count = len(survival)
    if not count:
        return 1.0
    lengths = lengths[np.isfinite(lengths)]
    apart = np.diff(lengths[:2])
    even = len(apart) and np.array_equal(lengths, np.arange(len(lengths)) * apart[0])
    if even and isinstance(survival, Discrete | Poisson):
        each = _geometric(survival.hazard(np.arange(count), apart), len(lengths))
        return float(each.sum()) / (count * count)
    return _mean_total(survival, lengths) / count


def _geometric(hazard: Floats, count: int) -> Floats:
    """The sum of e^(-hazard * k) over k = 0 .. count - 1."""
    still = hazard == 0
    sums: Floats = np.expm1(-hazard * count) / np.where(still, -1.0, np.expm1(-hazard))
    return np.where(still, float(count), sums)


def _mean_total(survival: Survival, lengths: Floats) -> float:
    """The sum over lengths of the mean survival of all pages.

    The mean survival is analytic in the logarithm of the length, in a strip of pi/2 to both sides,
    for every mixture of exponentials, and bounded by 1 there. So its Chebyshev series falls by a
    known factor a term (the ellipse of Bernstein that fits into the strip), and a few hundred
    lengths tell all.
    """
    pages = np.arange(len(survival))
    positive = lengths[lengths > 0]
    total = float(len(lengths) - len(positive))  # nothing changes in no time
    if not len(positive):
        return total
    low, high = np.log(positive[0]), np.log(positive[-1])
    half = max((high - low) / 2, 1e-9)
    terms = math.ceil(30 / math.asinh(math.pi / 2 / half)) + 2  # e^-30 is 1e-13
    if terms >= len(positive):
        return total + sum(float(survival.at(pages, each).mean()) for each in positive[:, None])
    middle = (low + high) / 2
    means = [
        float(survival.at(pages, np.exp(middle + half * np.array([node]))).mean())
        for node in chebyshev.chebpts1(terms)
    ]
    series = chebyshev.chebfit(chebyshev.chebpts1(terms), means, terms - 1)
    return total + float(chebyshev.chebval((np.log(positive) - middle) / half, series).sum())


def by_threshold(survival: Survival, lengths: Floats, eta: float) -> Plan:
    """Figure 7 or 8, by the slot lengths."""
    order = threshold_order(survival, eta, lengths)
    return Plan("threshold", order, lengths, expected_c(survival, order, lengths), eta)


def optimal(survival: Survival, lengths: Floats, *, revisits: int | None = None) -> Plan:
    """The order of highest expected C on any ascending slot lengths.

    With a budget, slots beyond `revisits` do not exist, and hopeless pages are fetched only once.
    """
    lengths = _within(lengths, revisits)
    hottest = np.argsort(-survival.heat, kind="stable")
    orders = [optimal_order(survival, lengths), hottest, hottest[::-1]]
    if len(survival) <= _FEW:
        orders += [threshold_order(survival, eta, lengths) for eta in ETAS]
    scored = [(expected_c(survival, order, lengths), order) for order in orders]
    expected, order = max(scored, key=lambda pair: pair[0])
    return Plan("optimal", order, lengths, expected)


def optimal_hosts(
    hosts: Sequence[tuple[Survival, Floats]], revisits: int | None = None
) -> list[Plan]:
    """A plan for each host, all around one turning point, with one budget of revisits for all.

    The next revisit goes to the host whose coherent pages it raises most. That is the best split,
    as what a host gains by each further slot never rises.
    """
    if revisits is not None and revisits < 0:
        raise ValueError("a budget of revisits is not negative")
    if revisits is None or not hosts:
        return [optimal(survival, lengths) for survival, lengths in hosts]
    shares = zip(hosts, _shares(hosts, revisits), strict=True)
    return [optimal(survival, lengths, revisits=share) for (survival, lengths), share in shares]


def _shares(hosts: Sequence[tuple[Survival, Floats]], revisits: int) -> list[int]:
    worths = [Worth(survival, lengths) for survival, lengths in hosts]
    jokers = [_jokers(lengths) for _, lengths in hosts]
    asked = [len(each) - free for (_, each), free in zip(hosts, jokers, strict=True)]
    whose = np.repeat(np.arange(len(hosts)), asked)
    shares = [0] * len(hosts)
    for _ in range(_LOOKS):
        gains = [worth.gains()[free:] for worth, free in zip(worths, jokers, strict=True)]
        first = np.argsort(-np.concatenate(gains), kind="stable")[:revisits]
        shares = np.bincount(whose[first], minlength=len(hosts)).tolist()
        for worth, share, free in zip(worths, shares, jokers, strict=True):
            worth.look_near(share + free)
    return shares


def auto(survival: Survival, lengths: Floats, eta: float = 0.6) -> Plan:
    """The best of several plans under a survival, which should be that of the posterior.

    Candidates are the optimum and the threshold at `eta` and the range of Figure 9 (on very large
    sites at `eta` only).
    """
    etas = {eta, *ETAS} if len(survival) <= _MANY else {eta}
    thresholds = (by_threshold(survival, lengths, each) for each in sorted(etas))
    return max((optimal(survival, lengths), *thresholds), key=lambda plan: plan.expected)


def _jokers(lengths: Floats) -> int:
    """How many slots need no revisit: the one of length 0."""
    return int(len(lengths) > 0 and lengths[0] == 0)


def _within(lengths: Floats, revisits: int | None) -> Floats:
    if revisits is None:
        return lengths
    if revisits < 0:
        raise ValueError("a budget of revisits is not negative")
    return np.where(np.arange(len(lengths)) < revisits + _jokers(lengths), lengths, np.inf)
