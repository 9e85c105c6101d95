"""Priors over sites and posteriors of pages: against quadrature, simulated sites and plans."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import gamma

from asof.coherence.plan import auto, bfs_lifo, expected_c, slots
from asof.coherence.survival import Expected, Poisson
from asof.coherence.verdict import Mode
from asof.freshness.history import Group, Observed
from asof.freshness.prior import DEFAULT, Posterior, Prior, fit, posterior

DAY = 86_400.0
Page = tuple[tuple[float, bool], ...]


def observed(*pages: Page) -> Observed:
    """Pages by their gaps."""
    every = [gap for page in pages for gap in page]
    return Observed(
        tuple(map(str, range(len(pages)))),
        np.cumsum([0, *map(len, pages)]),
        np.array([length for length, _ in every], np.float64),
        np.array([changed for _, changed in every], np.bool_),
        np.zeros(len(pages), np.int32),
        (Group("example.org", "/", "text/html"),),
    )


def simulated(rate: np.ndarray, lengths: np.ndarray, random: np.random.Generator) -> Observed:
    """Pages (rows) that change at rates, seen after gaps of lengths (columns)."""
    chance = -np.expm1(-rate[:, None] * lengths)
    pages, gaps = lengths.shape
    return Observed(
        ("",) * pages,
        np.arange(pages + 1) * gaps,
        lengths.ravel(),
        (random.random(lengths.shape) < chance).ravel(),
        np.zeros(pages, np.int32),
        (Group("example.org", "/", "text/html"),),
    )


def survival(found: Posterior, length: float) -> np.ndarray:
    return (found.rate / (found.rate + length)) ** found.shape


def exact(page: Page, prior: Prior, lengths: np.ndarray) -> np.ndarray:
    """Expected survival by fine quadrature over the logarithm of the rate."""
    u = np.arange(-45.0, 14.0, 0.01)
    rate = np.exp(u)
    logarithm = prior.shape * u - prior.rate * rate
    for length, changed in page:
        logarithm += np.log(-np.expm1(-rate * length)) if changed else -rate * length
    weight = np.exp(logarithm - logarithm.max())
    return (weight / weight.sum()) @ np.exp(-np.outer(rate, lengths))


def distance(page: Page, prior: Prior) -> float:
    """How far the survival of the posterior is from the exact one, over all lengths."""
    found = posterior(observed(page), prior)
    half = found.rate[0] * math.expm1(math.log(2) / found.shape[0])
    lengths = half * np.exp(np.linspace(-6, 6, 41))
    taken = np.exp(-found.shape[0] * np.log1p(lengths / found.rate[0]))
    return float(np.abs(taken - exact(page, prior, lengths)).max())


@pytest.mark.parametrize("pages", [[], [()], [(), (), ()]])
def test_a_first_crawl_has_the_default(pages: list[Page]) -> None:
    seen = observed(*pages)
    assert fit(seen) == DEFAULT
    found = posterior(seen, DEFAULT)
    assert found.shape.tolist() == [DEFAULT.shape] * len(pages)
    assert found.rate.tolist() == [DEFAULT.rate] * len(pages)


@pytest.mark.parametrize(
    ("days", "published"), [(1, 0.23), (7, 0.40), (365, 0.50)], ids=["day", "week", "year"]
)
def test_the_default_is_near_what_was_published(days: int, published: float) -> None:
    changed = 1 - (DEFAULT.rate / (DEFAULT.rate + days * DAY)) ** DEFAULT.shape
    assert changed == pytest.approx(published, abs=0.1)


def test_a_week_of_the_default_is_as_published() -> None:
    assert 1 - (1 + 7 * DAY / DEFAULT.rate) ** -DEFAULT.shape == pytest.approx(0.40, abs=0.005)


@pytest.mark.parametrize(
    ("shape", "rate"), [(0.1, 3600.0), (0.5, 1e5), (1.0, 0.5), (2.0, 1e6), (0.4, 1e8)]
)
def test_a_site_is_recovered(shape: float, rate: float) -> None:
    random = np.random.default_rng(11)
    pages = 4000
    lengths = np.exp(random.normal(math.log(rate / shape), 1, (pages, 3)))
    found = fit(simulated(random.gamma(shape, 1 / rate, pages), lengths, random))
    assert found.shape == pytest.approx(shape, rel=0.15)
    assert found.rate == pytest.approx(rate, rel=0.3)
    assert found.pace == {}


def test_twenty_pages_outweigh_the_default() -> None:
    random = np.random.default_rng(4)
    lengths = random.uniform(0.2, 3.0, (20, 4))
    found = fit(simulated(random.gamma(1.0, 1.0, 20), lengths, random))
    assert 0.3 < found.shape / found.rate < 3.0
    assert DEFAULT.rate / found.rate > 300


@pytest.mark.parametrize(
    "pages",
    [
        pytest.param([((DAY, False),)], id="one page, unchanged"),
        pytest.param([((DAY, True),)], id="one page, changed"),
        pytest.param([((DAY, False),)] * 2000, id="nothing changed"),
        pytest.param([((DAY, True),)] * 2000, id="everything changed"),
        pytest.param([((1.0, True), (1.0, True))] * 500, id="everything changed within a second"),
        pytest.param([((1e-6, True),)], id="a change within a microsecond"),
        pytest.param([((1e12, True), (1e12, False))], id="gaps of ages"),
        pytest.param([((3600.0, True),) * 1000] * 3, id="always changed, a thousand times"),
        pytest.param([((3600.0, False),) * 1000] * 3, id="never changed, a thousand times"),
        pytest.param([((0.05, True),), ((0.3, True), (0.05, False))] * 300, id="ten a second"),
        pytest.param([((3e8, True),), ((3e8, False),), (), ()] * 300, id="one in thirty years"),
    ],
)
def test_odd_sites_have_a_prior(pages: list[Page]) -> None:
    seen = observed(*pages)
    prior = fit(seen)
    found = posterior(seen, prior)
    for values in (found.shape, found.rate, found.shape / found.rate):
        assert np.isfinite(values).all()
        assert (values > 0).all()
    hour = survival(found, 3600.0)
    assert ((hour >= 0) & (hour <= 1)).all()


@pytest.mark.parametrize("prior", [Prior(0.1, 1e12), Prior(20.0, 1e-2), Prior(1e-4, 1e-2)])
@pytest.mark.parametrize("changes", [1, 30, 40, 400])
@pytest.mark.parametrize("length", [1e-3, 1.0, 1e9])
def test_pages_against_all_that_was_expected_of_them(
    prior: Prior, changes: int, length: float
) -> None:
    page = ((length, True),) * changes
    still = ((length, True), (length * 100, False))
    found = posterior(observed(page, still), prior)
    assert np.isfinite(found.shape).all()
    assert (found.shape > 0).all()
    assert (found.rate > 0).all()


def test_sites_without_changes_are_believed_to_be_slow_and_others_fast() -> None:
    def hour(*pages: Page) -> float:
        seen = observed(*pages)
        return float(survival(posterior(seen, fit(seen)), 3600.0)[0])

    default = (1 + 3600 / DEFAULT.rate) ** -DEFAULT.shape
    still = [hour(*[((DAY, False),)] * count) for count in (1, 10, 1000)]
    assert default < still[0] < still[1] < still[2]
    changed = [hour(*[((DAY, True),)] * count) for count in (1, 10, 1000)]
    assert default > changed[0] > changed[1] > changed[2]


def test_pages_without_changes_are_exact() -> None:
    page = ((100.0, False), (1e5, False), (0.25, False))
    found = posterior(observed(page, ()), Prior(0.3, 777.0))
    assert found.shape.tolist() == [0.3, 0.3]
    assert found.rate.tolist() == [pytest.approx(777 + 100 + 1e5 + 0.25, rel=1e-14), 777.0]


def test_survival_is_near_the_exact_one() -> None:
    random = np.random.default_rng(2)
    distances = []  # type: ignore[var-annotated]
    while len(distances) < 80:
        prior = Prior(math.exp(random.uniform(-3.5, 1.6)), math.exp(random.uniform(0, 16)))
        count = int(random.integers(1, 8))
        middle, spread = random.uniform(0, 18), random.choice([0.1, 2.0])
        lengths = np.exp(random.normal(middle, spread, count)).tolist()
        changed = (random.random(count) < random.choice([0.2, 0.5, 1.0])).tolist()
        if any(changed):
            distances.append(distance(tuple(zip(lengths, changed, strict=True)), prior))
    assert np.median(distances) < 0.002
    assert max(distances) < 0.08


@pytest.mark.parametrize(
    ("changes", "gaps"), [(40, 80), (41, 80), (80, 120), (100, 100), (150, 300), (500, 1000)]
)
def test_long_histories_are_near_the_exact_ones(changes: int, gaps: int) -> None:
    lengths = np.exp(np.random.default_rng(3).normal(7, 0.3, gaps)).tolist()
    page = tuple((length, k < changes) for k, length in enumerate(lengths))
    assert distance(page, DEFAULT) < 0.002


@pytest.mark.parametrize("visits", [1, 3, 8])
def test_beliefs_are_calibrated(visits: int) -> None:
    random = np.random.default_rng(visits)
    pages = 6000
    rate = random.gamma(0.5, 1 / DAY, pages)
    seen = simulated(rate, np.exp(random.normal(math.log(DAY), 2, (pages, visits))), random)
    found = posterior(seen, fit(seen))
    for length in (0.1 * DAY, DAY, 10 * DAY):
        believed, true = survival(found, length), np.exp(-rate * length)
        assert believed.mean() == pytest.approx(true.mean(), abs=0.03)
        # Also among those that are believed to be slow, or fast.
        for part in np.array_split(np.argsort(believed), 4):
            assert believed[part].mean() == pytest.approx(true[part].mean(), abs=0.045)
    low, high = (gamma.ppf(q, found.shape, scale=1 / found.rate) for q in (0.05, 0.95))
    assert ((low <= rate) & (rate <= high)).mean() == pytest.approx(0.9, abs=0.02)


def grouped(pages: int, factors: np.ndarray, groups: tuple[Group, ...], seed: int) -> Observed:
    """So many pages of each group, which change so many times as fast."""
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(groups)), pages).astype(np.int32)
    rate = random.gamma(2.0, 0.5e-5, len(group)) * factors[group]
    seen = simulated(rate, np.exp(random.normal(12, 1.5, (len(group), 3))), random)
    return replace(seen, group=group, groups=groups)


GROUPS = tuple(
    Group(host, directory, media_type)
    for host in ("a.org", "b.org", "c.org")
    for directory in ("/", "/news/", "/old/")
    for media_type in ("text/html", "image/png")
)


def test_groups_have_their_paces() -> None:
    spread = np.random.default_rng(1).normal(0, 1.5, len(GROUPS))
    seen = grouped(150, np.exp(spread), GROUPS, 2)
    found = fit(seen)
    pace = np.log([found.pace_of(group) for group in GROUPS])
    assert np.std(pace - spread) < 0.25
    # What groups explain does not widen the whole.
    assert found.shape == pytest.approx(2.0, rel=0.3)
    assert fit(replace(seen, groups=GROUPS[:1] * len(GROUPS))).shape < 0.75 * found.shape


def test_groups_that_do_not_differ_have_none() -> None:
    found = fit(grouped(150, np.ones(len(GROUPS)), GROUPS, 3))
    assert all(0.7 < pace < 1.4 for pace in found.pace.values())


def test_small_groups_are_taken_as_what_is_around_them() -> None:
    groups = (GROUPS[0], GROUPS[6], Group("a.org", "/rare/", "text/html"))
    seen = grouped(100, np.array([1.0, 50.0, 1.0]), groups, 5)
    few = seen.pages(np.arange(203))
    found = fit(few)
    assert Group("a.org", "/rare/") not in found.pace
    assert found.pace_of(groups[2]) == found.pace[Group("a.org")]
    assert found.pace[Group("b.org")] > 10 * found.pace[Group("a.org")]


def test_pages_never_seen_get_the_smallest_group_known() -> None:
    prior = Prior(
        0.5,
        100.0,
        {Group("a.org"): 2.0, Group("a.org", "/x/"): 4.0, Group("a.org", "/x/", "t"): 8.0},
    )
    assert prior.of("http://b.org/x/1") == (0.5, 100.0)
    assert prior.of("http://a.org/y/1", "t") == (0.5, 50.0)
    assert prior.of("http://a.org/x/1") == (0.5, 25.0)
    assert prior.of("http://a.org/x/1", "t") == (0.5, 12.5)
    assert prior.of("http://a.org/x/1", "u") == (0.5, 25.0)


def test_posteriors_of_fast_groups_are_those_of_slower_time() -> None:
    page = ((100.0, True), (5000.0, False), (300.0, True))
    fast = Group("fast.org", "/", "text/html")
    prior = Prior(0.5, 1000.0, {fast: 4.0})
    seen = replace(observed(page), groups=(fast,))
    slow = posterior(observed(tuple((4 * length, changed) for length, changed in page)), prior)
    found = posterior(seen, prior)
    assert found.shape == pytest.approx(slow.shape)
    assert found.rate == pytest.approx(slow.rate / 4)


FAMILIES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "uniform": lambda random, count: random.random(count),
    "exponential": lambda random, count: random.exponential(size=count),
    "lognormal": lambda random, count: random.lognormal(0, 2, count),
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("visits", [1, 5])
def test_plans_on_posteriors_are_not_below_blind_ones(family: str, visits: int) -> None:
    """Over loads and lengths of gaps that tell much or hardly anything; 20-coherence."""
    pages, gains = 150, []
    lengths = slots(pages, Mode.INDUCIBLE)
    for seed in range(2):
        for load in (1.0, 6.0):
            for gap in (0.5, 10.0):
                random = np.random.default_rng([seed, visits, int(load * 10)])
                rate = FAMILIES[family](random, pages)
                rate *= load / rate.sum()
                apart = gap * pages * np.exp(random.normal(0, 0.3, (pages, visits)))
                seen = simulated(rate, apart, random)
                found = posterior(seen, fit(seen))
                plan = auto(Expected(found.shape, found.rate), lengths)
                true = Poisson(rate)
                gains.append(expected_c(true, plan.order, lengths) - bfs_lifo(true, lengths))
    assert np.mean(gains) > 0.004
    # A plan is one order, blind ones are the mean over all: so far apart are they by chance.
    assert min(gains) > -0.03


def test_plans_promise_what_they_keep_where_most_pages_are_slow() -> None:
    """Four of five pages change thirty times slower than the fifth; changes are dated."""
    rng, pages, gap = np.random.default_rng(7), 300, 450.0
    slow = 1.2 / 0.8 / 6.8 / pages
    truth = np.where(np.arange(pages) % 5 == 0, 30 * slow, slow)

    def seen(rate: float) -> Page:
        ages = rng.exponential(1 / rate, 3)
        return tuple(
            part
            for age in ages.tolist()
            for part in (((1.0, True), (age, False)) if age < gap else ((gap, False),))
        )

    known, lengths = observed(*map(seen, truth.tolist())), slots(pages, Mode.INDUCIBLE)
    off = {}
    for name, prior in (("as found", fit(known)), ("gamma", replace(fit(known), masses=None))):
        found = posterior(known, prior)
        plan = auto(Expected(found.shape, found.rate), lengths)
        off[name] = plan.expected - expected_c(Poisson(truth), plan.order, lengths)
    assert abs(off["as found"]) < 0.02 < off["gamma"]
