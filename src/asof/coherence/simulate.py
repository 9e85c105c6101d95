"""Crawls of made-up sites: Figure 9 of Spaniol 2009, with what full knowledge could have reached.

The model is the paper's: one download a slot, and in each slot page i changes with probability
lambda_i just before the download. Every pair of visit and revisit holds the turning point, so of a
page's whole history only two numbers matter: how many slots it was quiet before the turn, and how
many after it. Both are geometric and independent of each other. Two draws a page therefore give the
exact joint outcome of all strategies on one shared history; nothing is approximated, and a history
of 2n - 1 slots need not be written down.

Best and worst possible are the paper's baselines "obtained from full knowledge about changes". They
are taken over all pairs of a visit order and a revisit order, also those that do not mirror each
other: FIFO does not, and a limit must hold for every strategy that is drawn under it.
"""

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from heapq import heappop, heappush
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from asof.coherence.plan import bfs_fifo, bfs_lifo, by_threshold, optimal, slots
from asof.coherence.survival import Discrete, Floats, Pages
from asof.coherence.verdict import Mode

Slots = NDArray[np.int64]


# -- Sites ----------------------------------------------------------------------------------------


class Family(StrEnum):
    """How the change probabilities of a site's pages are spread."""

    UNIFORM = "uniform"
    EXPONENTIAL = "exponential"
    LOGNORMAL = "lognormal"  # a few pages change all the time, most hardly ever


def change_rates(family: Family, pages: int, load: float) -> Floats:
    """Change probabilities with mean load / pages, coldest first: a grid of quantiles.

    Without random numbers, so that expected values can be compared to the last digit. Page k has
    the quantile (k + 0.5) / pages; what goes over 1 is cut to 1 after the mean was set.
    """
    quantiles = (np.arange(pages) + 0.5) / pages
    if family is Family.UNIFORM:
        shape = 2.0 * quantiles
    elif family is Family.EXPONENTIAL:
        shape = -np.log1p(-quantiles)
    else:
        shape = np.exp(2.0 * np.array(list(map(NormalDist().inv_cdf, quantiles.tolist()))))
    if family is not Family.UNIFORM:  # whose grid has the mean by itself
        shape = shape / shape.mean()
    return np.clip(shape * (load / pages), 0.0, 1.0)


# -- Histories ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SimulatedHistory:
    """For each page, how many slots in a row it did not change before the turn, and after it.

    Never more than the number of pages, for no visit is farther away. Where coherence is measured
    (definition 3.4) the turn is the start of the crawl, and nothing before it matters.
    """

    before: Slots
    after: Slots


def draw(rates: Floats, mode: Mode, generator: np.random.Generator) -> SimulatedHistory:
    """A history of a site whose pages have these change probabilities."""
    after = _quiet(rates, generator)
    if mode is Mode.MEASURABLE:
        return SimulatedHistory(np.full_like(after, len(rates)), after)
    return SimulatedHistory(_quiet(rates, generator), after)


def _quiet(rates: Floats, generator: np.random.Generator) -> Slots:
    # P(quiet >= k) = (1 - lambda)^k = P(E >= -k log(1 - lambda)) for a standard exponential E.
    drawn = generator.standard_exponential(len(rates))
    with np.errstate(divide="ignore", invalid="ignore"):  # lambda 1: at once; lambda 0: never
        lasted = drawn / -np.log1p(-rates)
    lasted[rates == 0.0] = np.inf
    return np.minimum(lasted, len(rates)).astype(np.int64)  # whole slots: cut, not rounded


# -- Schedules ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Schedule:
    """For each page, how many slots before the turn it is visited, and after it revisited."""

    before: Slots
    after: Slots

    def share(self, history: SimulatedHistory) -> float:
        """C: the share of pages that did not change between visit and revisit."""
        quiet = (history.before >= self.before) & (history.after >= self.after)
        return float(np.count_nonzero(quiet)) / len(quiet)


def mirrored(order: Pages, mode: Mode) -> Schedule:
    """Page order[k] k slots from the turn: on both sides of it, or after it alone (measurable)."""
    distance = np.empty(len(order), dtype=np.int64)
    distance[order] = np.arange(len(order))
    return Schedule(np.zeros_like(distance) if mode is Mode.MEASURABLE else distance, distance)


def in_turn(order: Pages) -> Schedule:
    """BFS-FIFO: revisited in the order of visits, so that all but the joker wait for n slots."""
    count = len(order)
    before, after = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    before[order] = np.arange(count - 1, -1, -1)
    after[order] = np.arange(1, count + 1)
    after[order[-1]] = 0  # the joker, visited last, is its own revisit
    return Schedule(before, after)


# -- What full knowledge could reach --------------------------------------------------------------


def best_possible(history: SimulatedHistory) -> float:
    """The highest C of all pairs of orders, had all changes been known.

    A page is coherent iff its visit and its revisit are no farther from the turn than it was quiet:
    two deadlines. The visits are filled from the farthest, each with a page that was quiet for so
    long, and of those with the one that is quiet longest afterwards. This greedy choice leaves, for
    every t at once, as many pages quiet for more than t slots after the turn as any choice could
    (visits with deadlines are a matroid), so what the revisits can take of it is the optimum of
    both sides. The joker comes on top: it is free, and with n - 1 other places one page is left.
    """
    last = len(history.after) - 1
    kept = _chosen(history.before, history.after)
    return (1 + _placed(history.after[kept], last)) / (last + 1)


def worst_possible(history: SimulatedHistory) -> float:
    """The lowest C of all pairs of orders, had all changes been known.

    A page is spoilt if its visit or its revisit is farther away than it was quiet. This is the same
    task seen from the far end: each visit spoils the page that revisits can spoil least, and the
    revisits spoil what they can of the rest. The joker cannot be spoilt.
    """
    last = len(history.after) - 1
    spoilt = _chosen(last - history.before, history.after)
    rest = np.delete(last - history.after, spoilt)
    return 1 - min(last, len(spoilt) + _placed(rest, last)) / (last + 1)


def _chosen(reach: Slots, value: Slots) -> Pages:
    """Pages for the places n - 1 to 1, none beyond its reach: each time the most valuable one."""
    count = len(reach)
    order = np.argsort(-reach, kind="stable")
    reaches = reach[order].tolist()
    keys = (-value[order] * count + order).tolist()  # the most valuable first, then the first
    waiting: list[int] = []
    chosen, arrived = [], 0
    for place in range(count - 1, 0, -1):
        while arrived < count and reaches[arrived] >= place:
            heappush(waiting, keys[arrived])
            arrived += 1
        if waiting:
            chosen.append(heappop(waiting) % count)
    return np.array(chosen, dtype=np.intp)


def _placed(reach: Slots, last: int) -> int:
    """How many pages find a place of their own among 1 to `last`, none beyond its reach.

    By Hall's theorem: the least, over all t, of t places and the pages that reach beyond them.
    """
    reaching = np.bincount(np.clip(reach, 0, last), minlength=last + 1)
    beyond = len(reach) - np.cumsum(reaching)
    return int((np.arange(last + 1) + beyond).min())


# -- Strategies and what they reach ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to crawl a site, with the C to be expected of it.

    `order[k]` is the page k places from the turn. Breadth-first search (fifo, lifo) meets the pages
    in an order that has nothing to do with their changes: its expectation is the mean over all
    orders, and it has none of its own. Where each page is taken once (measurable), both are one.
    """

    name: str
    expected: float
    eta: float | None = None
    order: Pages | None = None


def strategies(rates: Floats, mode: Mode, etas: Sequence[float]) -> Iterator[Strategy]:
    """The strategies of Figure 9 and the optimum, each planned when it is asked for."""
    survival = Discrete(rates)
    lengths = slots(len(rates), mode)
    once = mode is Mode.MEASURABLE
    yield Strategy("fifo", bfs_lifo(survival, lengths) if once else bfs_fifo(survival))
    yield Strategy("lifo", bfs_lifo(survival, lengths))
    for eta in etas:
        plan = by_threshold(survival, lengths, eta)
        yield Strategy("threshold", plan.expected, eta, plan.order)
    plan = optimal(survival, lengths)
    yield Strategy("optimal", plan.expected, None, plan.order)


@dataclass(frozen=True, slots=True)
class SimulatedOutcome:
    """What one strategy reached in each of the runs; best and worst possible expect nothing."""

    name: str
    eta: float | None
    expected: float | None
    shares: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.shares))

    @property
    def error(self) -> float:
        """The standard error of that mean."""
        return standard_error(np.array(self.shares))


def standard_error(values: Floats) -> float:
    """That of a mean; 0 for a single value, which knows nothing of it."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


@dataclass(frozen=True, slots=True)
class Point:
    """One site of Figure 9: a family of change rates at one load, and what became of it."""

    family: Family
    load: float
    outcomes: tuple[SimulatedOutcome, ...]

    def named(self, name: str, eta: float | None = None) -> SimulatedOutcome:
        return next(each for each in self.outcomes if (each.name, each.eta) == (name, eta))

    @property
    def conventional(self) -> SimulatedOutcome:
        """The better one of the two orders that know nothing of changes."""
        return max(self.named("fifo"), self.named("lifo"), key=lambda each: each.mean)

    @property
    def thresholds(self) -> tuple[SimulatedOutcome, ...]:
        """The outcomes of the paper's strategy, by ascending eta."""
        found = (each for each in self.outcomes if each.name == "threshold")
        return tuple(sorted(found, key=lambda each: each.eta or 0.0))


@dataclass(frozen=True, slots=True)
class Setting:
    """What all points of a figure have in common."""

    pages: int
    mode: Mode
    etas: tuple[float, ...]
    runs: int
    seed: int


def simulate(
    setting: Setting, family: Family, load: float,
    progress: Callable[[int], None] = lambda done: None,
) -> Point:  # fmt: skip
    """All strategies on the same histories; `progress` is told of each of runs + 1 steps.

    The random numbers depend on the seed, the family and the load alone, so that a point stays the
    same whatever is simulated beside it.
    """
    rates = change_rates(family, setting.pages, load)
    known = tuple(strategies(rates, setting.mode, setting.etas))
    planned = [mirrored(each.order, setting.mode) for each in known if each.order is not None]
    progress(1)
    (bits,) = struct.unpack(">Q", struct.pack(">d", load))
    generator = np.random.default_rng([setting.seed, list(Family).index(family), bits])
    rows: list[list[float]] = []
    for _ in range(setting.runs):
        history = draw(rates, setting.mode, generator)
        met = generator.permutation(setting.pages)  # by one breadth-first search, for both orders
        lifo = mirrored(met, setting.mode)
        fifo = lifo if setting.mode is Mode.MEASURABLE else in_turn(met)
        reached = [schedule.share(history) for schedule in (fifo, lifo, *planned)]
        rows.append([*reached, worst_possible(history), best_possible(history)])
        progress(1)
    *columns, worst, best = zip(*rows, strict=True)
    outcomes = [
        SimulatedOutcome(each.name, each.eta, each.expected, shares)
        for each, shares in zip(known, columns, strict=True)
    ]
    for name, limit in (("worst", worst), ("best", best)):
        outcomes.append(SimulatedOutcome(name, None, None, limit))
    return Point(family, load, tuple(outcomes))
