"""Smallest covers: shapes with known answers, ties, limits, requirements, and bad arguments."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import asof.cover.solve.milp
import asof.cover.solve.solve
from asof.cover.join.graph import CoverageGraph, components
from asof.cover.solve.greedy import Answer, CoverProblem, dive, greedy, lower_bounds
from asof.cover.solve.reduce import reduce, settle_single
from asof.cover.solve.requirements import Cover
from asof.cover.solve.solve import solve
from asof.errors import UsageError


def kept(cover: Cover) -> list[int]:
    return np.flatnonzero(cover.kept).tolist()


def random_graph(n: int, edges: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, n, edges), rng.integers(0, n, edges)


def test_nothing_is_covered_by_nothing() -> None:
    cover = solve(0, [], [])
    assert cover.kept.size == 0
    assert cover.optimal
    assert cover.components.count == 0


def test_documents_without_edges_all_stay() -> None:
    cover = solve(3, [], [])
    assert kept(cover) == [0, 1, 2]
    assert cover.by.tolist() == [-1, -1, -1]
    assert cover.components.count == 3


@pytest.mark.parametrize(
    ("n", "edges", "expected"),
    [
        (2, [(0, 1)], [1]),
        (2, [(0, 1), (1, 0)], [0]),  # a pair of copies: the lower id
        (4, [(1, 0), (2, 0), (3, 0)], [0]),  # a star inwards
        (4, [(0, 1), (0, 2), (0, 3)], [1, 2, 3]),  # outwards: only the middle one is covered
        (5, [(0, 1), (1, 2), (2, 3), (3, 4)], [1, 2, 4]),  # coverage is not transitive
        (6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)], [0, 1, 3, 4]),
    ],
)
def test_small_shapes(n: int, edges: list[tuple[int, int]], expected: list[int]) -> None:
    cover = solve(n, [i for i, _ in edges], [j for _, j in edges])
    assert kept(cover) == expected
    assert cover.optimal


def test_a_long_chain_is_peeled() -> None:
    n = 3001
    cover = solve(n, np.arange(n - 1), np.arange(1, n))
    assert cover.kept.sum() == 1501
    assert cover.optimal


def test_a_chain_with_a_quality_still_has_the_fewest() -> None:
    n = 600
    worth = np.random.default_rng(1).integers(0, 100, n)
    cover = solve(n, np.arange(n - 1), np.arange(1, n), quality=worth, time_limit=0)
    assert cover.kept.sum() == 300
    assert cover.gap == 0


def test_components_are_named_by_their_lowest_id_and_numbered_in_that_order() -> None:
    assert components(6, [5, 4, 1], [1, 2, 3]).tolist() == [0, 1, 2, 1, 2, 1]
    assert solve(6, [5, 4, 1], [1, 2, 3]).components.part.tolist() == [0, 1, 2, 1, 2, 1]


def test_one_covers_all_of_its_component() -> None:
    chosen, left = settle_single(CoverageGraph.of(5, [0, 1, 3], [2, 2, 4]), np.zeros(5, np.int64))
    assert chosen.tolist() == [2, 4]
    assert left.row_ids.size == 0


def test_reductions_leave_a_cycle_alone() -> None:
    ring = CoverageGraph.of(5, [0, 1, 2, 3, 4], [1, 2, 3, 4, 0])
    chosen, kernel = reduce(ring, np.zeros(5, np.int64))
    assert chosen.size == 0
    assert kernel.rows.size == 10


def test_quality_decides_between_smallest_covers_and_missing_ones_are_the_lowest() -> None:
    copies = [0, 1, 0, 2, 1, 2], [1, 0, 2, 0, 2, 1]
    assert kept(solve(3, *copies, quality=[1, 5, 3])) == [1]
    assert kept(solve(3, *copies, quality=[np.nan, -2.5, np.nan])) == [0]  # all equal
    assert kept(solve(3, *copies, quality=[np.nan, -2.5, -2.4])) == [2]
    assert kept(solve(3, *copies, quality=[np.nan] * 3)) == [0]
    assert kept(solve(3, *copies, quality=[0.1, 0.2, 0.3])) == [2]


def test_qualities_as_far_apart_as_floats_can_be() -> None:
    copies = [0, 1, 0, 2, 1, 2], [1, 0, 2, 0, 2, 1]
    assert kept(solve(4, *copies, quality=[-1.7e308, -1e308, -1.2e308, 1.7e308])) == [1, 3]
    assert kept(solve(3, *copies, quality=[-1.7e308, np.nan, 0.5])) == [2]
    assert kept(solve(3, *copies, quality=[0.0, 5e-324, np.nan])) == [1]


def test_the_quality_of_very_many_adds_up() -> None:
    """A step is up to 2**53: beyond 1,023 of them a sum of 64 bits turns negative."""
    n = 3000
    problem = CoverProblem.plain(CoverageGraph.of(n, [], []), np.repeat([1 << 53, 1], n // 2))
    half = np.arange(n // 2)
    assert problem.worth(half) > problem.worth(half + n // 2)


def test_two_of_each_host_stay() -> None:
    # All of host 0 are copies; host 1 has one document; the last has no host.
    edges = [(i, j) for i in range(4) for j in range(4)]
    hosts = [0, 0, 0, 0, 1, -1]
    cover = solve(6, *zip(*edges, strict=True), at_least=(2, hosts))
    assert kept(cover) == [0, 1, 4, 5]
    assert cover.by.tolist() == [-1, -1, 0, 0, -1, -1]
    assert cover.optimal


def test_what_has_to_be_added_makes_room_for_better_documents() -> None:
    # 0 covers all alone; of two that are needed anyway, 1 and 2 are better than 0 and 1.
    cover = solve(3, [1, 2, 0], [0, 0, 1], quality=[0, 5, 5], at_least=(2, [0, 0, 0]))
    assert kept(cover) == [1, 2]
    assert cover.optimal


def test_a_cover_that_serves_two_hosts_is_found() -> None:
    # 0 or 1 covers both; only 1 is of the host that lacks one, so nothing has to be added.
    cover = solve(4, [0, 1], [1, 0], at_least=(1, [0, 1, 0, 0]))
    assert kept(cover) == [1, 2, 3]
    assert cover.optimal


def test_tied_components_are_one_in_the_report() -> None:
    edges = [(0, 1), (1, 0), (2, 3), (3, 2)]
    cover = solve(4, *zip(*edges, strict=True), at_least=(1, [0, 1, 0, 1]))
    assert cover.kept.sum() == 2
    assert cover.components.count == 1
    assert cover.components.part.tolist() == [0, 0, 0, 0]


def test_time_that_is_up_leaves_a_cover_with_a_proven_gap() -> None:
    i, j = random_graph(120, 400, 3)
    best, quick = solve(120, i, j), solve(120, i, j, time_limit=0)
    assert best.optimal
    least = quick.kept.sum() - quick.gap
    assert least <= best.kept.sum() <= quick.kept.sum()
    covered = quick.kept.copy()
    covered[i[quick.kept[j]]] = True
    assert covered.all()


def test_a_cancelled_run_still_covers() -> None:
    i, j = random_graph(120, 400, 3)
    cover = solve(120, i, j, cancel=lambda: True)
    covered = cover.kept.copy()
    covered[i[cover.kept[j]]] = True
    assert covered.all()


def test_progress_ends_with_all_documents() -> None:
    i, j = random_graph(120, 400, 3)
    told: list[tuple[int, int]] = []
    solve(120, i, j, progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1] == (120, 120)


@pytest.mark.parametrize("quality", [None, "random"])
def test_without_scipy_the_answer_is_as_good(
    monkeypatch: pytest.MonkeyPatch, quality: str | None
) -> None:
    i, j = random_graph(60, 180, 5)
    worth = np.random.default_rng(6).integers(0, 50, 60) if quality else None
    monkeypatch.setattr(asof.cover.solve.solve, "_FEW_NODES", 1)
    one = solve(60, i, j, quality=worth)
    asof.cover.solve.milp.installed.cache_clear()
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    other = solve(60, i, j, quality=worth)
    assert not asof.cover.solve.milp.installed()
    asof.cover.solve.milp.installed.cache_clear()
    assert one.optimal
    assert other.optimal
    assert one.kept.sum() == other.kept.sum()
    if worth is not None:
        assert worth[one.kept].sum() == worth[other.kept].sum()


def test_the_seeds_solver_is_greedy_beyond_ten() -> None:
    # Greedy takes 0 first, which covers most, and then needs both others all the same.
    inner = list(range(3, 11))
    edges = [(d, 0) for d in inner[1:7]]
    edges += [(d, 1) for d in [0, *inner[:4]]] + [(d, 2) for d in inner[4:]]
    both = tuple(zip(*edges, strict=True))
    seed, best = solve(11, *both, solver="seed"), solve(11, *both)
    assert kept(best) == [1, 2]
    assert kept(seed) == [0, 1, 2]
    assert seed.gap == 1
    assert not seed.optimal


def test_bounds_and_dives_are_near_the_optimum() -> None:
    """Floors a little under what bench/cover_solve.py --bound measured."""
    i, j = random_graph(200, 600, 7)
    problem = CoverProblem.plain(CoverageGraph.of(200, i, j), np.zeros(200, np.int64))
    optimum = solve(200, i, j).kept.sum()
    assert lower_bounds(problem)[1].sum() >= 0.93 * optimum
    assert dive(problem, lambda: False).size <= 1.08 * optimum
    assert greedy(problem).size <= 1.2 * optimum


def test_huge_problems_are_not_given_to_highs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asof.cover.solve.milp, "ENTRIES", 3)
    problem = CoverProblem.plain(CoverageGraph.of(3, [0, 1], [1, 0]), np.zeros(3, np.int64))
    known = Answer(np.arange(3, dtype=np.int32), 1, False)
    assert asof.cover.solve.milp.by_milp(problem, known, 1.0) is known


@pytest.mark.parametrize(
    "arguments",
    [
        {"i": [0], "j": [2]},
        {"i": [-1], "j": [0]},
        {"i": [0, 1], "j": [0]},
        {"i": [], "j": [], "quality": [1.0]},
        {"i": [], "j": [], "quality": [1.0, np.inf]},
        {"i": [], "j": [], "at_least": (0, [0, 0])},
        {"i": [], "j": [], "at_least": (1, [0])},
        {"i": [], "j": [], "solver": "seed", "at_least": (1, [0, 0])},
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(UsageError) as refused:
        solve(2, **arguments)  # type: ignore[arg-type]
    assert refused.value.hint
