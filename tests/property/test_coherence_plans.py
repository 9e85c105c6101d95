"""Laws of plans: permutations, optimality against all orders, the threshold's definition."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from asof.coherence.plan import (
    bfs_lifo,
    by_threshold,
    expected_c,
    optimal,
    slots,
)
from asof.coherence.survival import Discrete, Expected, Poisson, Survival, chances
from asof.coherence.verdict import Mode
from support.plans import forced_visits, revisits_of

ROUNDING = 1e-10
modes = st.sampled_from([Mode.INDUCIBLE, Mode.MEASURABLE])
chance_of_change = st.one_of(st.sampled_from([0.0, 1.0, 0.5]), st.floats(0, 1), st.floats(0, 0.05))
rates = st.lists(chance_of_change, min_size=1, max_size=40).map(np.array)


@st.composite
def survivals(draw: st.DrawFn, most: int = 30) -> Survival:
    count = draw(st.integers(1, most))

    def column(low: float, high: float) -> np.ndarray:
        return np.array(draw(st.lists(st.floats(low, high), min_size=count, max_size=count)))

    kind = draw(st.sampled_from([Discrete, Poisson, Expected]))
    if kind is Expected:
        return Expected(column(0, 20), column(0.01, 1000))
    return kind(column(0, 1))


@st.composite
def sites(draw: st.DrawFn, most: int = 30) -> tuple[Survival, np.ndarray]:
    """Pages, and as many slots of ascending length, some of them perhaps never."""
    survival = draw(survivals(most))
    count = len(survival)
    gaps = draw(st.lists(st.floats(0, 10), min_size=count, max_size=count))
    lengths = np.cumsum(gaps)
    used = draw(st.integers(0, count))
    return survival, np.where(np.arange(count) < used, lengths, np.inf)


@given(sites(most=6))
def test_no_order_is_better_than_the_optimum(site: tuple[Any, ...]) -> None:
    survival, lengths = site
    count = len(survival)
    matrix = chances(survival, np.arange(count)[:, None], lengths)
    best = max(matrix[list(order), range(count)].sum() for order in permutations(range(count)))
    plan = optimal(survival, lengths)
    assert abs(plan.expected - best / count) <= ROUNDING


@given(sites(), st.floats(0, 1))
def test_the_optimum_is_an_order_and_never_below_the_others(
    site: tuple[Any, ...], eta: float
) -> None:
    survival, lengths = site
    count = len(survival)
    plan = optimal(survival, lengths)
    assert sorted(plan.order.tolist()) == list(range(count))
    assert abs(plan.expected - expected_c(survival, plan.order, lengths)) <= ROUNDING
    hottest = np.argsort(-survival.heat)
    for other in (
        bfs_lifo(survival, lengths),
        by_threshold(survival, lengths, eta).expected,
        expected_c(survival, hottest, lengths),
        expected_c(survival, hottest[::-1], lengths),
    ):
        assert plan.expected >= other - ROUNDING


@given(rates, modes, st.floats(0, 1))
def test_the_threshold_walks_as_the_seed_does(rates: NDArray[Any], mode: Mode, eta: float) -> None:
    survival, lengths = Discrete(rates), slots(len(rates), mode)
    promising, hopeless = [], []  # type: ignore[var-annotated]
    for page in np.argsort(-rates, kind="stable").tolist():
        conflict = 1 - (1 - rates[page]) ** lengths[len(promising)]
        assume(abs(conflict - eta) > ROUNDING or eta == 0)
        (promising if conflict < eta else hopeless).append(page)
    assert by_threshold(survival, lengths, eta).order.tolist() == promising + hopeless[::-1]


@given(survivals(), modes, st.integers(0, 30))
def test_another_revisit_never_harms(survival: Any, mode: Mode, revisits: int) -> None:
    lengths = slots(len(survival), mode)
    fewer = optimal(survival, lengths, revisits=revisits)
    more = optimal(survival, lengths, revisits=revisits + 1)
    assert len(revisits_of(fewer)) <= revisits
    assert fewer.expected <= more.expected + ROUNDING <= 1 + 2 * ROUNDING


@given(survivals(), st.floats(0.01, 100), st.randoms(use_true_random=False))
def test_revisits_after_forced_visits_never_fall_below_the_reverse_order(
    survival: Discrete | Expected, step: float, random: Random
) -> None:
    count = len(survival)
    visits = list(range(count))
    random.shuffle(visits)
    before = np.empty(count)
    before[visits] = np.arange(count)[::-1] * step
    plan = forced_visits(survival, before, step)
    assert sorted(plan.order.tolist()) == list(range(count))
    reverse = expected_c(survival, np.array(visits[::-1]), slots(count, Mode.INDUCIBLE, step))
    assert plan.expected >= reverse - ROUNDING


@given(sites())
def test_the_mean_over_all_orders_is_that_over_pages_and_slots(site: tuple[Any, ...]) -> None:
    survival, lengths = site
    count = len(survival)
    mean = chances(survival, np.arange(count)[:, None], lengths).mean()
    assert abs(bfs_lifo(survival, lengths) - mean) <= ROUNDING
