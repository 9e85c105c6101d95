"""Laws of covers of any number of pairs: the answer is that of solving them all in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import asof.cover.join.pair_spool
import asof.cover.solve.dominance
from asof.cover.join.join import JoinLimits
from asof.cover.join.pair_spool import PairSpool, Rows
from asof.cover.solve.dominance import Sieve
from asof.cover.solve.external import solve_external
from asof.cover.solve.requirements import Cover
from asof.cover.solve.solve import solve
from support.laws import examples

Pair = tuple[int, int]
_ROOMY = 1 << 22


@dataclass(frozen=True)
class Case:
    """Documents, pairs, and what is asked for."""

    n: int
    pairs: tuple[Pair, ...]
    quality: tuple[int, ...] | None = None
    at_least: tuple[int, tuple[int, ...]] | None = None
    room: int = 1 << 20

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        both = np.array(self.pairs, np.int64).reshape(-1, 2)
        return both[:, 0], both[:, 1]

    def spool(self) -> PairSpool:
        spool = PairSpool(self.n, room=self.room)
        i, j = self.arrays()
        for at in range(0, i.size, 7):
            spool.add(i[at : at + 7].astype(np.int32), j[at : at + 7].astype(np.int32))
        return spool


def _random(draw: st.DrawFn, n: int) -> list[Pair]:
    ends = st.integers(0, n - 1)
    return draw(st.lists(st.tuples(ends, ends), max_size=5 * n))


def _cliques(draw: st.DrawFn, n: int) -> list[Pair]:
    group = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    later = draw(st.booleans())
    everyone = [(i, j) for i in range(n) for j in range(n) if group[i] == group[j]]
    return [(i, j) for i, j in everyone if i <= j] if later else everyone


def _windows(draw: st.DrawFn, n: int) -> list[Pair]:
    times = draw(st.lists(st.integers(0, 30), min_size=n, max_size=n))
    back, ahead = draw(st.integers(0, 8)), draw(st.integers(0, 8))
    return [(i, j) for i in range(n) for j in range(n) if -back <= times[j] - times[i] <= ahead]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n = draw(st.integers(1, 24))
    make = draw(st.sampled_from([_random, _cliques, _windows]))
    pairs = draw(st.permutations(make(draw, n)))
    steps = st.lists(st.integers(0, 4), min_size=n, max_size=n).map(tuple)
    codes = st.lists(st.integers(-1, 3), min_size=n, max_size=n).map(tuple)
    return Case(
        n,
        tuple(pairs),
        draw(st.none() | steps),
        draw(st.none() | st.tuples(st.integers(1, 3), codes)),
        draw(st.sampled_from([64, 1 << 10, 1 << 16, 1 << 22])),
    )


def kept_by_component(cover: Cover) -> NDArray[np.int64]:
    return np.bincount(cover.components.part[cover.kept], minlength=cover.components.count)


def _checked_cover(case: Case, kept: NDArray[np.bool_], by: NDArray[np.int32]) -> None:
    """Every document is kept, or covered by the kept one of lowest id that covers it."""
    there = set(case.pairs)
    for document in range(case.n):
        if kept[document]:
            assert by[document] == -1
        else:
            able = [j for j in range(case.n) if kept[j] and (document, j) in there]
            assert by[document] == min(able)


@settings(max_examples=examples(150), deadline=None)
@given(cases())
@example(Case(1, ()))
@example(Case(3, ((0, 0), (1, 1), (0, 0))))
def test_the_answer_is_as_good_as_that_of_solving_all_pairs(case: Case) -> None:
    """As many documents of as much quality, proven; the same pairs and components."""
    i, j = case.arrays()
    with case.spool() as spool:
        found = solve_external(spool, quality=case.quality, at_least=case.at_least, memory=_ROOMY)
    plain = solve(case.n, i, j, quality=case.quality, at_least=case.at_least)
    cover = found.cover
    _checked_cover(case, cover.kept, cover.by)
    assert found.pairs == len({pair for pair in case.pairs if pair[0] != pair[1]})
    assert (cover.optimal, cover.gap) == (plain.optimal, plain.gap)
    assert cover.kept.sum() == plain.kept.sum()
    if case.quality is not None:
        worth = np.array(case.quality)
        assert worth[cover.kept].sum() == worth[plain.kept].sum()
    if case.at_least is None:  # else which components are tied depends on ties before
        assert np.array_equal(cover.components.part, plain.components.part)
        assert np.array_equal(kept_by_component(cover), kept_by_component(plain))
    else:
        number, codes = case.at_least
        for value in set(codes) - {-1}:
            mine = np.array(codes) == value
            assert cover.kept[mine].sum() >= min(number, mine.sum())


@settings(max_examples=examples(100), deadline=None)
@given(cases())
def test_components_that_one_document_covers_keep_the_very_same_one(case: Case) -> None:
    i, j = case.arrays()
    with case.spool() as spool:
        cover = solve_external(spool, quality=case.quality, memory=_ROOMY).cover
    plain = solve(case.n, i, j, quality=case.quality)
    alone = (kept_by_component(plain) == 1)[plain.components.part]
    assert np.array_equal(cover.kept[alone], plain.kept[alone])
    assert np.array_equal(cover.by[alone], plain.by[alone])


@settings(max_examples=examples(150), deadline=None)
@given(cases())
def test_a_cover_with_a_true_gap_where_nothing_fits(case: Case) -> None:
    """With hardly any memory for solving, what is left is covered greedily."""
    i, j = case.arrays()
    with case.spool() as spool:
        found = solve_external(spool, quality=case.quality, at_least=case.at_least, memory=64)
    best = solve(case.n, i, j, quality=case.quality, at_least=case.at_least)
    cover = found.cover
    _checked_cover(case, cover.kept, cover.by)
    assert cover.kept.sum() - cover.gap <= best.kept.sum() <= cover.kept.sum()
    if cover.optimal:
        assert cover.kept.sum() == best.kept.sum()
        worth = np.array(case.quality or [0] * case.n)
        assert worth[cover.kept].sum() == worth[best.kept].sum()
    if case.at_least is not None:
        number, codes = case.at_least
        for value in set(codes) - {-1}:
            mine = np.array(codes) == value
            assert cover.kept[mine].sum() >= min(number, mine.sum())


@settings(max_examples=examples(100), deadline=None)
@given(cases(), st.integers(0, 6))
def test_whoever_stops_it_gets_a_cover_still(case: Case, after: int) -> None:
    i, j = case.arrays()
    calls = iter(range(1000))
    limits = JoinLimits(cancel=lambda: next(calls) >= after)
    with case.spool() as spool:
        cover = solve_external(
            spool, quality=case.quality, at_least=case.at_least, limits=limits
        ).cover
    best = solve(case.n, i, j, quality=case.quality, at_least=case.at_least)
    _checked_cover(case, cover.kept, cover.by)
    assert cover.kept.sum() - cover.gap <= best.kept.sum() <= cover.kept.sum()


def _rows_of(blocks: list[Rows]) -> list[list[int]]:
    return [block.row(at).tolist() for block in blocks for at in range(block.height)]


@settings(max_examples=examples(100), deadline=None)
@given(cases(), st.sampled_from([1, 4, 1024]))
def test_rows_come_complete_and_in_order_whatever_the_room(case: Case, buckets: int) -> None:
    expected = [sorted({j for i, j in case.pairs if i == row}) for row in range(case.n)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asof.cover.join.pair_spool, "_BUCKETS", buckets)
        patch.setattr(asof.cover.join.pair_spool, "SLICE", 5)
        with case.spool() as spool:
            blocks = list(spool.blocks())
            assert _rows_of(blocks) == expected
            again = [
                (block.first + int(row), int(col))
                for block in spool.blocks()
                for rows, cols in block.slices()
                for row, col in zip(rows, cols, strict=True)
            ]
            assert again == [(row, col) for row, cols in enumerate(expected) for col in cols]
            lengths = np.concatenate([block.lengths() for block in blocks])
            assert lengths.tolist() == [len(cols) for cols in expected]
            raw = {
                (first + int(key) // spool.width, int(key) % spool.width)
                for first, keys in spool.raw()
                for key in keys
            }
            assert raw == set(case.pairs)


@settings(max_examples=examples(150), deadline=None)
@given(cases(), st.sampled_from(["rows", "columns"]), st.sampled_from([0, 1, 1 << 30]))
def test_whatever_goes_lies_behind_something_that_stays(case: Case, kind: str, dense: int) -> None:
    """Of lists that a sieve lets go, each has one that stays and makes it dispensable."""
    quality = np.array(case.quality or [0] * case.n, np.int64)
    worth = quality if kind == "columns" else np.zeros(case.n, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asof.cover.join.pair_spool, "_DENSE", dense)
        patch.setattr(asof.cover.solve.dominance, "_LOOK", 1)
        with case.spool() as spool:
            sieve = Sieve("rows" if kind == "rows" else "columns", worth, 1 << 16)
            gone = [sieve.gone(block) for block in spool.blocks()]
    lists = [{j for i, j in case.pairs if i == row} for row in range(case.n)]
    left = np.concatenate(gone)
    stays = [row for row in range(case.n) if not left[row]]
    for row in np.flatnonzero(left).tolist():
        if kind == "rows":
            assert not lists[row] or any(lists[one] <= lists[row] for one in stays)
        else:
            assert not lists[row] or any(
                lists[row] <= lists[one] and worth[row] <= worth[one] for one in stays
            )
