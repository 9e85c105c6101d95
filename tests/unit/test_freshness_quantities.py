"""Freshness and age of copies: the anchors of Naumann 2011, and figures known from elsewhere."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.integrate import quad

from asof.freshness.quantities import age_at, fresh_at, freshness, mean_age

RATES = np.arange(1.0, 6.0)  # a day


def test_a_week_after_a_weekly_page_was_taken_its_copy_is_two_and_a_half_days_old() -> None:
    assert float(age_at(1 / 7, 7)) == pytest.approx(7 / np.e, rel=1e-12)
    assert round(float(age_at(1 / 7, 7)), 3) == 2.575


def test_weekly_visits_of_a_weekly_page() -> None:
    assert round(float(mean_age(1 / 7, 7)), 3) == 0.925
    assert round(float(freshness(1 / 7, 7)), 3) == 0.632
    assert float(fresh_at(1 / 7, 7)) == pytest.approx(1 / np.e)


def test_budget_spent_evenly() -> None:
    assert round(float(freshness(RATES, 1.0).mean()), 4) == 0.3651
    assert round(float(mean_age(RATES, 1.0).mean()), 4) == 0.2543


def test_budget_spent_in_proportion_to_the_rates_is_worse() -> None:
    interval = 3.0 / RATES
    assert round(float(freshness(RATES, interval).mean()), 4) == 0.3167
    assert round(float(mean_age(RATES, interval).mean()), 3) == 0.373


@pytest.mark.parametrize(
    ("visits", "expected"),
    [([1.150, 1.358, 1.354, 1.138], 0.3739)],
)
def test_freshest_budget_gives_up_the_fastest_page(visits: list[float], expected: float) -> None:
    fresh = freshness(RATES[:4], 1.0 / np.array(visits))
    assert round(float(fresh.sum()) / 5, 4) == expected


def test_youngest_budget_visits_the_fastest_page_most() -> None:
    visits = np.array([0.835, 0.968, 1.034, 1.071, 1.093])
    assert round(float(mean_age(RATES, 1.0 / visits).mean()), 4) == 0.2503


@pytest.mark.parametrize("rate", [1e-9, 1e-4, 0.03, 0.7, 20.0])
@pytest.mark.parametrize("length", [0.5, 30.0])
def test_integrals_of_the_seed(rate: float, length: float) -> None:
    age = quad(lambda x: rate * np.exp(-rate * x) * (length - x), 0, length, limit=500)[0]
    assert float(age_at(rate, length)) == pytest.approx(age, rel=1e-7)
    fresh = quad(lambda x: float(fresh_at(rate, x)), 0, length, limit=500)[0] / length
    assert float(freshness(rate, length)) == pytest.approx(fresh, rel=1e-7)
    mean = quad(lambda x: float(age_at(rate, x)), 0, length, limit=500)[0] / length
    assert float(mean_age(rate, length)) == pytest.approx(mean, rel=1e-7)


@pytest.mark.parametrize(
    "r", ["1e-300", "1e-12", "1e-5", "0.003", "0.0499999", "0.05", "0.0500001", "1", "40", "900"]
)
def test_no_digits_are_lost(r: str) -> None:
    with localcontext() as context:
        context.prec = 700
        exact = Decimal(r)
        decay = (1 - (-exact).exp()) / exact
        first = float(1 - decay)
        second = float(Decimal("0.5") - (1 - decay) / exact)
    assert float(age_at(float(r), 1.0)) == pytest.approx(first, rel=1e-11)
    assert float(mean_age(float(r), 1.0)) == pytest.approx(second, rel=1e-11)
    assert float(freshness(float(r), 1.0)) == pytest.approx(1.0 - first, rel=1e-12)


def test_pages_that_never_change_stay_fresh_and_young() -> None:
    assert float(fresh_at(0.0, np.inf)) == 1.0
    assert float(freshness(0.0, 7.0)) == 1.0
    assert float(age_at(0.0, 7.0)) == 0.0
    assert float(mean_age(0.0, 7.0)) == 0.0


def test_pages_that_always_change_are_never_fresh() -> None:
    assert float(fresh_at(1e300, 1e10)) == 0.0
    assert float(freshness(1e300, 1e10)) == pytest.approx(0.0, abs=1e-300)
    assert float(age_at(1e300, 1e10)) == pytest.approx(1e10)
    assert float(mean_age(1e300, 1e10)) == pytest.approx(5e9)


def test_arrays_are_taken_element_by_element() -> None:
    rates, after = np.array([0.0, 1.0]), np.array([[1.0], [2.0]])
    assert age_at(rates, after).shape == (2, 2)
    assert age_at(rates, after)[1, 1] == pytest.approx(2 - (1 - np.exp(-2)))
