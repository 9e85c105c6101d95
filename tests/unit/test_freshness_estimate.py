"""Rates of change from gaps: against closed forms, other solvers and simulated pages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq

from asof.freshness.estimate import GRID, YEAR, Online, histories, peaks, rate_of, rates
from asof.freshness.history import Gap, Observed

DAY = 86_400.0


def observed(*pages: list[tuple[float, bool]]) -> Observed:
    """Pages by their gaps."""
    every = [gap for page in pages for gap in page]
    return Observed(
        tuple(map(str, range(len(pages)))),
        np.cumsum([0, *map(len, pages)]),
        np.array([length for length, _ in every], np.float64),
        np.array([changed for _, changed in every], np.bool_),
        np.zeros(len(pages), np.int32),
        (),
    )


def simulated(rate: np.ndarray, lengths: np.ndarray, seed: int) -> Observed:
    """Pages (rows) that change at rates, seen after gaps of lengths (columns)."""
    chance = -np.expm1(-rate[:, None] * lengths)
    changed = np.random.default_rng(seed).random(lengths.shape) < chance
    pages, gaps = lengths.shape
    return Observed(
        ("",) * pages,
        np.arange(pages + 1) * gaps,
        lengths.ravel(),
        changed.ravel(),
        np.zeros(pages, np.int32),
        (),
    )


@pytest.mark.parametrize("length", [1e-3, 1.0, DAY, 1e9])
@pytest.mark.parametrize(("n", "changes"), [(1, 1), (2, 1), (5, 5), (10, 3), (400, 399), (400, 1)])
def test_regular_visits_have_a_closed_form(length: float, n: int, changes: int) -> None:
    page = [(length, k < changes) for k in range(n)]
    expected = -math.log((n - changes + 0.5) / (n + 0.5)) / length
    assert rate_of(tuple(Gap(*gap) for gap in page)) == pytest.approx(expected, rel=1e-10)


def test_irregular_visits_agree_with_a_bracketing_solver() -> None:
    random = np.random.default_rng(5)
    pages = []
    for _ in range(200):
        lengths = np.exp(random.normal(random.uniform(-2, 16), 2.5, random.integers(1, 30)))
        pages.append([(float(length), bool(random.random() < 0.5)) for length in lengths])
    found = rates(observed(*pages))
    for page, rate in zip(pages, found, strict=True):
        changed = np.array([length for length, differs in page if differs])
        if not len(changed):
            assert rate == 0
            continue
        total = sum(length for length, _ in page)
        right = total - changed.sum() + total / len(page) / 2

        def excess(u: float, changed: NDArray[Any] = changed, right: Any = right) -> float:
            x = np.minimum(np.exp(u) * changed, 700)
            return float((changed / np.expm1(x)).sum() / right - 1)

        root = math.exp(brentq(excess, -60, 40, xtol=1e-14, rtol=1e-14))
        assert rate == pytest.approx(root, rel=1e-8)


def test_pages_without_changes_and_without_gaps() -> None:
    found = rates(observed([(DAY, False)], [], [(DAY, True)]))
    assert found[0] == 0
    assert np.isnan(found[1])
    assert found[2] > 0
    assert len(rates(observed())) == 0
    assert np.isnan(rates(observed([], []))).all()


@pytest.mark.parametrize("per_gap", [0.1, 0.5, 1.0, 2.0])
def test_rates_of_simulated_pages_are_not_biased(per_gap: float) -> None:
    pages, visits = 4000, 40
    lengths = np.random.default_rng(1).uniform(0.5, 1.5, (pages, visits)) * DAY
    rate = per_gap / DAY
    found = rates(simulated(np.full(pages, rate), lengths, 2))
    counted = simulated(np.full(pages, rate), lengths, 2).changed.mean() / DAY
    assert found.mean() == pytest.approx(rate, rel=0.02)
    # Changed gaps over time, by contrast, miss changes.
    assert counted < rate * (1 - 0.3 * min(per_gap, 1.0))


def test_counting_is_what_maximum_likelihood_is_for_rare_changes() -> None:
    page = [(1.0, k < 3) for k in range(10_000)]
    assert rate_of(tuple(Gap(*gap) for gap in page)) == pytest.approx(3e-4, rel=1e-3)


def test_peaks_are_where_the_posterior_is_highest() -> None:
    random = np.random.default_rng(3)
    lengths = np.exp(random.normal(9, 1, (20, 60)))
    pages = simulated(np.exp(random.normal(-9, 1, 20)), lengths, 4)
    shape, rate = 0.7, 5000.0
    found, sharpness = peaks(pages, shape, rate)

    for page in range(20):

        def logarithm(u: float, page: int = page) -> Any:
            x = np.exp(u) * lengths[page]
            changed = pages.changed.reshape(20, 60)[page]
            chances = np.where(changed, np.log(-np.expm1(-x)), -x).sum()
            return shape * u - rate * np.exp(u) + chances

        u, h = math.log(found[page]), 1e-3
        around = [logarithm(u - h), logarithm(u), logarithm(u + h)]
        assert abs(around[2] - around[0]) / (2 * h) < 1e-3 * sharpness[page]
        bend = -(around[2] - 2 * around[1] + around[0]) / h**2
        assert sharpness[page] == pytest.approx(bend, rel=1e-3)


def test_online_is_the_rule_of_the_design() -> None:
    start = Online(0.5, 10.0, a=2.0, b=30.0)
    assert start.rate == pytest.approx(2.5 / 40)
    after = start.update(8.0, changed=True, half_life=16.0)
    expected = 2.5 / 40 * 8
    kept = 2**-0.5
    assert after.a == pytest.approx(2 * kept + expected / (1 - math.exp(-expected)))
    assert after.b == pytest.approx(30 * kept + 8)
    still = start.update(8.0, changed=False, half_life=16.0)
    assert (still.a, still.b) == (pytest.approx(2 * kept), pytest.approx(30 * kept + 8))  # type: ignore[comparison-overlap]


def test_online_finds_a_steady_rate() -> None:
    for rate in (0.2 / DAY, 1.5 / DAY):
        random = np.random.default_rng(9)
        learnt = []
        for _ in range(40):
            online = Online(0.1, DAY)
            for length in random.uniform(0.5, 1.5, 700) * DAY:
                online = online.update(length, bool(random.random() < -math.expm1(-rate * length)))
            learnt.append(online.rate)
        assert np.mean(learnt) == pytest.approx(rate, rel=0.05)


def test_online_forgets() -> None:
    online = Online(0.1, DAY)
    for _ in range(1000):
        online = online.update(DAY, changed=True)
    fast = online.rate
    for _ in range(400):
        online = online.update(5 * DAY, changed=False)
    assert online.rate < fast / 30
    stubborn = Online(0.1, DAY)
    for _ in range(1000):
        stubborn = stubborn.update(DAY, changed=True, half_life=1e6 * YEAR)
    for _ in range(400):
        stubborn = stubborn.update(5 * DAY, changed=False, half_life=1e6 * YEAR)
    assert stubborn.rate > 5 * online.rate


@pytest.mark.parametrize("changed", [True, False])
@pytest.mark.parametrize("gap", [0.0, -1.0, 1e-9, 1e12])
def test_online_survives_odd_gaps(gap: float, changed: bool) -> None:
    after = Online(0.1, 3600.0).update(gap, changed)
    assert math.isfinite(after.rate)
    assert after.rate > 0
    assert Online(0.0, 1.0).update(gap, changed).rate >= 0


def test_likelihoods_on_the_grid_are_those_of_the_gaps() -> None:
    page = [(3600.0, True), (DAY, False), (50_000.0, True), (600.0, False)]
    met = histories(observed(page, [(7.0, False)]))
    row = np.exp(met.likelihood(met.of[[0]])[0])
    rate = np.exp(GRID)
    exact = -rate * (DAY + 600) + np.log(np.expm1(-rate * 3600) * np.expm1(-rate * 50_000))
    assert row.max() == 1
    # Lengths are rounded to 1.6 %.
    assert np.abs(row - np.exp(exact - exact.max())).max() < 0.02


def test_pages_with_the_same_gaps_share_a_history() -> None:
    a = [(3600.0, True), (DAY, False), (7200.0, True)]
    b = [(7200.0, True), (DAY / 2, False), (3600.0, True), (DAY / 2, False)]
    others = [
        [(3600.0, True), (DAY, False)],
        [(3600.0, False), (DAY, False), (7200.0, True)],
        [(3600.0, True), (3600.0, True), (DAY, False)],
        [],
        [(3600.0, True)],
    ]
    met = histories(observed(a, *others, b, []))
    assert len(met) == 6
    assert met.of[0] == met.of[6]
    assert met.of[4] == met.of[7]
    assert met.pages[met.of].tolist() == [2, 1, 1, 1, 2, 1, 2, 2]
    assert met.changes[met.of].tolist() == [2, 1, 1, 2, 0, 1, 2, 0]
    assert met.still[met.of[2]] == pytest.approx(3600 + DAY)


def test_histories_of_many_pages_are_their_own() -> None:
    random = np.random.default_rng(8)
    lengths = np.exp(random.normal(8, 2, (500, 4)))
    pages = simulated(np.exp(random.normal(-8, 1, 500)), lengths, 3)
    met = histories(pages)
    grid = np.exp(met.likelihood(np.arange(len(met))))
    for page in range(0, 500, 25):
        alone = histories(pages.pages(np.array([page])))
        row = np.exp(alone.likelihood(np.array([0]))[0])
        assert np.abs(row - grid[met.of[page]]).max() < 0.03
