"""Laws of rates of change, on histories made at random."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from asof.catalog.validity import validities
from asof.clock import SECOND
from asof.freshness.estimate import Online, rate_of
from asof.freshness.history import Gap, Observed, gaps, gather
from asof.freshness.prior import Posterior, Prior, posterior
from asof.freshness.quantities import age_at, fresh_at, freshness, mean_age
from asof.model import Capture
from support.captures import plain_capture
from support.freshness import gaps_of

START = 1_700_000_000 * SECOND
NUMBERS = st.floats(1e-9, 1e9)
GAPS = st.builds(Gap, st.floats(1e-3, 1e10), st.booleans())
HISTORIES = st.lists(GAPS, min_size=1, max_size=12).map(tuple)
PRIORS = st.builds(
    Prior,
    st.floats(-3.5, 1.6).map(lambda x: float(np.exp(x))),
    st.floats(0, 16).map(lambda x: float(np.exp(x))),
)


def observed(*pages: tuple[Gap, ...]) -> Observed:
    every = [gap for page in pages for gap in page]
    return Observed(
        tuple(map(str, range(len(pages)))),
        np.cumsum([0, *map(len, pages)]),
        np.array([gap.length for gap in every], np.float64),
        np.array([gap.changed for gap in every], np.bool_),
        np.zeros(len(pages), np.int32),
        (),
    )


def survival(found: Posterior, lengths: np.ndarray) -> np.ndarray:
    """Of pages (rows) over lengths (columns)."""
    return np.exp(-found.shape[:, None] * np.log1p(lengths / found.rate[:, None]))


@st.composite
def captures(draw: st.DrawFn) -> list[Capture]:
    """Of a few pages, in the order of keys and times, as the catalog gives them."""
    made = []
    for page in range(draw(st.integers(1, 3))):
        moments = draw(st.lists(st.integers(0, 10**7), max_size=6, unique=draw(st.booleans())))
        for number, moment in enumerate(sorted(moments)):
            letter = draw(st.sampled_from("AAB"))
            made.append(
                plain_capture(
                    f"http://example.org/{page}",
                    START + moment,
                    status=draw(st.sampled_from([200, 200, 200, 404])),
                    digest=letter,
                    content=letter,
                    record_id=f"{page}-{number}",
                    truncated=draw(st.sampled_from([None] * 9 + ["length"])),
                )
            )
    return made


@given(captures())
def test_gathering_is_what_intervals_say(made: list[Capture]) -> None:
    whole = [each for each in made if each.truncated is None]
    expected = {}
    for url in sorted({each.url for each in whole}):
        intervals = validities(each for each in whole if each.url == url)
        if any(each.status == 200 for each in intervals):
            expected[url] = gaps(intervals)
    seen = gather(made)
    assert {url: gaps_of(seen, page) for page, url in enumerate(seen.urls)} == expected


@given(captures())
def test_gaps_cover_the_time_between_the_first_and_the_last_sight(made: list[Capture]) -> None:
    seen = gather(made)
    for page, url in enumerate(seen.urls):
        good = [each for each in made if each.url == url and each.status == 200]
        moments = [each.at for each in good if each.truncated is None]
        if all(earlier < later for earlier, later in pairwise(moments)):
            total = sum(gap.length for gap in gaps_of(seen, page))
            assert abs(total - (moments[-1] - moments[0]) / SECOND) < 1e-6
            assert len(gaps_of(seen, page)) == len(moments) - 1


@given(HISTORIES, st.data())
def test_one_more_changed_gap_means_a_higher_rate(
    history: tuple[Gap, ...], data: st.DataObject
) -> None:
    flipped = data.draw(st.integers(0, len(history) - 1))
    still = tuple(Gap(gap.length, gap.changed and k != flipped) for k, gap in enumerate(history))
    changed = tuple(Gap(gap.length, gap.changed or k == flipped) for k, gap in enumerate(history))
    assert rate_of(still) < rate_of(changed)


@given(HISTORIES, st.floats(1e-3, 1e3))
def test_rates_do_not_depend_on_the_unit_of_time(history: tuple[Gap, ...], unit: float) -> None:
    scaled = tuple(Gap(gap.length * unit, gap.changed) for gap in history)
    assert np.isclose(rate_of(scaled) * unit, rate_of(history), rtol=1e-9, atol=0)


@given(HISTORIES, st.randoms(use_true_random=False))
def test_the_order_of_gaps_does_not_matter(history: tuple[Gap, ...], random: Random) -> None:
    shuffled = list(history)
    random.shuffle(shuffled)
    assert np.isclose(rate_of(tuple(shuffled)), rate_of(history), rtol=1e-9, atol=0)
    found = posterior(observed(history, tuple(shuffled)), Prior(0.1, 3600.0))
    assert np.isclose(found.rate[0], found.rate[1], rtol=1e-9)


@given(HISTORIES, GAPS, PRIORS)
def test_a_gap_without_a_change_is_reassuring_and_one_with_a_change_is_not(
    history: tuple[Gap, ...], gap: Gap, prior: Prior
) -> None:
    still, changed = Gap(gap.length, False), Gap(gap.length, True)
    found = posterior(observed(history, (*history, still), (*history, changed)), prior)
    lengths = np.exp(np.linspace(-5, 25, 40))
    plain, reassured, warned = survival(found, lengths)
    # As exact as survivals are: each within 0.08 of its true one, and lengths rounded to 1.6 %.
    assert (reassured >= plain - 0.171).all()
    assert (warned <= plain + 0.171).all()
    assert reassured.mean() >= plain.mean() - 0.02
    assert warned.mean() <= plain.mean() + 0.02


@given(st.lists(HISTORIES, min_size=1, max_size=5), PRIORS)
def test_pages_do_not_depend_on_their_neighbours(histories: list[Any], prior: Prior) -> None:
    together = posterior(observed(*histories), prior)
    lengths = np.exp(np.linspace(-5, 25, 40))
    for page, history in enumerate(histories):
        alone = posterior(observed(history), prior)
        # Histories that are alike to 1.6 % are taken for one.
        difference = survival(alone, lengths)[0] - survival(together, lengths)[page]
        assert np.abs(difference).max() < 0.03


@given(st.lists(GAPS, max_size=30), st.floats(1.0, 1e9))
def test_online_rates_stay_within_reason(history: list[Gap], half_life: float) -> None:
    online = Online(0.1, 3600.0)
    for gap in history:
        after = online.update(gap.length, gap.changed, half_life)
        assert np.isfinite(after.rate)
        assert after.rate > 0
        if not gap.changed:
            # Forgetting pulls towards the prior, time without a change downwards.
            assert after.rate <= max(online.rate, 0.1 / 3600.0)
        online = after


@given(NUMBERS, NUMBERS, st.floats(1.0, 100.0))
def test_copies_grow_old_and_stale(rate: float, length: float, longer: float) -> None:
    assert 0 <= float(age_at(rate, length)) <= length
    assert 0 <= float(mean_age(rate, length)) <= 0.5 * length * (1 + 1e-12)
    assert 0 <= float(freshness(rate, length)) <= 1
    assert float(mean_age(rate, length)) <= float(age_at(rate, length)) * (1 + 1e-9)
    assert float(fresh_at(rate, length)) <= float(freshness(rate, length)) * (1 + 1e-9)
    assert float(age_at(rate, length)) <= float(age_at(rate, length * longer)) * (1 + 1e-9)
    assert float(freshness(rate, length * longer)) <= float(freshness(rate, length)) * (1 + 1e-9)


@given(NUMBERS, NUMBERS)
def test_age_is_what_is_left_of_the_time_a_copy_was_fresh(rate: float, length: float) -> None:
    fresh = float(freshness(rate, length)) * length
    assert np.isclose(fresh + float(age_at(rate, length)), length, rtol=1e-12)
