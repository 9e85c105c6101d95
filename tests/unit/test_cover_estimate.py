"""Estimates before a run: what they are made of, and that what comes is within them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.cover.documents.collection import Collection
from asof.cover.documents.sets import Sets
from asof.cover.estimate import Estimate, EstimatedRange, estimate, sampled, stretch
from asof.cover.join.join import JoinLimits
from asof.cover.language.columns import text_column, time_column
from asof.cover.question import Question
from asof.cover.run import thin_out
from asof.errors import UsageError
from support.covered import sets_of

TIME_ORDER = "C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2)"


def versioned(count: int, size: int, seed: int = 1) -> Collection:
    """Pages of three versions, each with some shingles anew, below a header that all share."""
    rng = np.random.default_rng(seed)
    header = rng.integers(0, 1 << 63, size // 5, dtype=np.uint64)
    sets: list[np.ndarray] = []
    for number in range(count):
        if number % 3 == 0:
            text = rng.integers(0, 1 << 63, int(size * rng.uniform(0.3, 2)), dtype=np.uint64)
        else:
            text = text.copy()
            anew = int(text.size * rng.choice([0, 0.02, 0.1, 0.2, 0.6]))
            text[:anew] = rng.integers(0, 1 << 63, anew, dtype=np.uint64)
        sets.append(np.unique(np.concatenate([header, text])))
    offsets = np.cumsum([0, *(one.size for one in sets)], dtype=np.int64)
    columns = {
        "timestamp": time_column(range(count)),
        "host": text_column(str(number // 3 % 7) for number in range(count)),
    }
    names = tuple(map(str, range(count)))
    items = np.concatenate([np.empty(0, np.uint64), *sets])
    return Collection(names, columns, Sets(offsets, items), np.diff(offsets))


@pytest.fixture(scope="module")
def pages() -> Collection:
    return versioned(300, 600)


@pytest.mark.parametrize(
    "relation",
    [
        TIME_ORDER,
        "C(d1,d2) >= 0.95",
        "J(d1,d2) = 1",
        "D(d1,d2) >= 0.6 and host(d1) = host(d2)",
        "C(d1,d2) >= 0.8 or J(d1,d2) >= 0.6",
        "host(d1) = host(d2)",
    ],
)
def test_ranges_hold_in_nine_of_ten_runs(pages: Collection, relation: str) -> None:
    true = thin_out(pages, Question(relation), JoinLimits())
    found = [estimate(pages, relation, seed=seed) for seed in range(10)]
    assert all(each.documents == 300 for each in found)
    assert all(each.sample < 0.5 for each in found), "a part of the shingles only"
    assert sum(true.edges in each.edges for each in found) >= 9
    assert sum(float(true.cover.kept.mean()) in each.kept for each in found) >= 9
    assert all(0 <= each.kept.low <= each.kept.high <= 1 for each in found)
    assert all(0 < each.seconds.low < each.seconds.high for each in found)


def test_ranges_say_something(pages: Collection) -> None:
    found = estimate(pages, TIME_ORDER)
    assert found.edges.high < 3 * found.edges.low
    assert found.kept.high - found.kept.low < 0.3


def test_the_same_seed_gives_the_same_estimate(pages: Collection) -> None:
    def counted(seed: int) -> tuple[EstimatedRange, EstimatedRange]:
        found = estimate(pages, TIME_ORDER, seed=seed)
        return found.edges, found.kept

    assert counted(3) == counted(3)
    assert counted(3) != counted(4)


def test_more_shingles_are_taken_if_asked_for(pages: Collection) -> None:
    assert estimate(pages, TIME_ORDER, sample=0.3).sample == 0.3
    assert 0.05 < estimate(pages, TIME_ORDER, sample=0.001).sample < 0.15


def test_short_documents_are_taken_whole() -> None:
    """Then the estimate is the run, and what it counts is exact."""
    short = versioned(60, 20)
    found, true = (
        estimate(short, TIME_ORDER),
        thin_out(short, Question(TIME_ORDER), JoinLimits()),
    )
    assert found.sample == 1
    assert found.edges == EstimatedRange(true.edges, true.edges)
    assert found.kept.low == found.kept.high == float(true.cover.kept.mean())


def test_few_documents() -> None:
    def of(*sets: range) -> Estimate:
        found = sets_of(sets)
        names = tuple(map(str, range(len(sets))))
        return estimate(Collection(names, {}, found, found.sizes), "C(d1,d2) >= 0.5")

    nothing = of()
    assert (nothing.documents, nothing.edges) == (0, EstimatedRange(0, 0))
    assert of(range(0)).kept == EstimatedRange(1, 1)
    assert of(range(0), range(0)).edges == EstimatedRange(2, 2)
    assert 0 in of(range(1000), range(5000, 6000)).edges


@pytest.mark.parametrize("sample", [0, -1, 1.5, float("nan")])
def test_a_sample_is_a_share(pages: Collection, sample: float) -> None:
    with pytest.raises(UsageError, match="is none"):
        estimate(pages, TIME_ORDER, sample=sample)


def test_a_bad_relation_is_refused_before_anything_is_done(pages: Collection) -> None:
    for relation in ("hots(d1) = host(d2)", "C(d1,d2) >= 2", "(", ""):
        with pytest.raises(UsageError):
            estimate(pages, relation)


@given(
    sets=st.lists(st.sets(st.integers(0, (1 << 64) - 1), max_size=30), max_size=8),
    low=st.floats(0, 1),
    high=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_a_sample_is_the_same_part_of_every_document(
    sets: list[set[int]], low: float, high: float, seed: int
) -> None:
    whole = sets_of(sets)
    for few in (sampled(whole, (low, high), seed), stretch(whole, min(low, high), seed)):
        _is_one_part(few, sets)


def _is_one_part(few: Sets, sets: list[set[int]]) -> None:
    assert len(few) == len(sets)
    taken = [set(few[document].tolist()) for document in range(len(few))]
    for some, every in zip(taken, sets, strict=True):
        assert some <= every
        assert bool(some) == bool(every), "none becomes empty"
    several = [(some, every) for some, every in zip(taken, sets, strict=True) if len(some) > 1]
    for some, every in several:
        for other, others in several:
            assert some & others == other & every, "what is shared is taken from both, or neither"


def test_a_stretch_is_about_as_large_as_it_was_asked_for(pages: Collection) -> None:
    for share in (0.01, 0.1, 0.3):
        few = [stretch(pages.sets, share, seed).items.size for seed in range(10)]
        assert share / 2 < np.mean(few) / pages.sets.items.size < share * 2
