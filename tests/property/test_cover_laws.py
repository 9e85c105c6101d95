"""Laws of covers: everything is covered, nothing smaller exists, order does not matter."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import asof.cover.solve.reduce
import asof.cover.solve.solve
from asof.cover.documents.sets import Counts
from asof.cover.join.graph import CoverageGraph, Ids, components
from asof.cover.solve.branch_and_bound import search
from asof.cover.solve.greedy import Answer, CoverProblem, dive, greedy, lower_bounds
from asof.cover.solve.milp import by_milp
from asof.cover.solve.reduce import reduce, reduce_stepwise
from asof.cover.solve.requirements import Cover
from asof.cover.solve.solve import solve
from support.laws import examples

Edges = tuple[int, list[tuple[int, int]]]
Rule = Callable[[CoverageGraph, Counts], tuple[Ids, CoverageGraph]]


@st.composite
def graphs(draw: st.DrawFn, most: int = 9) -> Edges:
    """Up to `most` documents with any edges, loops and doubled ones too."""
    n = draw(st.integers(1, most))
    ends = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(ends, ends), max_size=3 * n))


def split(edges: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [i for i, _ in edges], [j for _, j in edges]


def covers(n: int, edges: list[tuple[int, int]], kept: set[int]) -> bool:
    covered = kept | {i for i, j in edges if j in kept}
    return len(covered) == n


def exhaustive(
    n: int,
    edges: list[tuple[int, int]],
    quality: list[int],
    at_least: tuple[int, list[int]] | None = None,
) -> tuple[int, int]:
    """Size and total quality of the best cover, from all subsets."""
    number, codes = at_least or (0, [0] * n)
    needs = {code: min(number, codes.count(code)) for code in codes if code >= 0}
    for size in range(n + 1):
        found = [
            sum(quality[d] for d in kept)
            for kept in combinations(range(n), size)
            if covers(n, edges, set(kept))
            and all(sum(codes[d] == code for d in kept) >= need for code, need in needs.items())
        ]
        if found:
            return size, max(found)
    raise AssertionError("all documents cover themselves")


def check_answer(n: int, edges: list[tuple[int, int]], cover: Cover) -> None:
    kept = set(np.flatnonzero(cover.kept).tolist())
    assert covers(n, edges, kept)
    for document, by in enumerate(cover.by.tolist()):
        if document in kept:
            assert by == -1
        else:
            assert by == min(j for i, j in edges if i == document and j in kept)
    parts = cover.components
    assert parts.part.size == n
    assert np.unique(parts.part).tolist() == list(range(parts.count))
    assert parts.gap.sum() == cover.gap
    assert (parts.gap >= 0).all()
    assert parts.proven.all() == cover.optimal


@given(graphs())
def test_a_cover_is_as_small_as_any(graph: Edges) -> None:
    n, edges = graph
    cover = solve(n, *split(edges))
    check_answer(n, edges, cover)
    assert cover.optimal
    assert cover.gap == 0
    assert cover.kept.sum() == exhaustive(n, edges, [0] * n)[0]


@given(graphs(), st.data())
def test_of_the_smallest_covers_it_is_the_one_of_best_quality(
    graph: Edges, data: st.DataObject
) -> None:
    n, edges = graph
    quality = data.draw(st.lists(st.integers(-3, 6), min_size=n, max_size=n))
    cover = solve(n, *split(edges), quality=quality)
    check_answer(n, edges, cover)
    assert cover.optimal
    total = sum(quality[d] for d in np.flatnonzero(cover.kept))
    assert (cover.kept.sum(), total) == exhaustive(n, edges, quality)


@given(graphs(8), st.integers(1, 3), st.booleans(), st.data())
def test_at_least_some_of_each_value_stay_and_no_more_than_must(
    graph: Edges, number: int, plain: bool, data: st.DataObject
) -> None:
    n, edges = graph
    codes = data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n))
    quality = [0] * n if plain else data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    cover = solve(n, *split(edges), quality=quality, at_least=(number, codes))
    check_answer(n, edges, cover)
    assert cover.optimal
    assert cover.gap == 0
    total = sum(quality[d] for d in np.flatnonzero(cover.kept))
    assert (cover.kept.sum(), total) == exhaustive(n, edges, quality, (number, codes))


@given(graphs(30), st.randoms(use_true_random=False))
def test_neither_order_nor_doubled_edges_matter(graph: Edges, random: object) -> None:
    n, edges = graph
    shuffled = edges + edges[: len(edges) // 2]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = solve(n, *split(edges)), solve(n, *split(shuffled))
    assert np.array_equal(one.kept, other.kept)
    assert np.array_equal(one.by, other.by)


@given(graphs(12), graphs(12), st.data())
def test_a_component_is_solved_as_if_it_were_alone(
    one: Edges, other: Edges, data: st.DataObject
) -> None:
    """The documents of both take turns, in their own order."""
    total = one[0] + other[0]
    order = data.draw(st.permutations(range(total)))
    first, second = sorted(order[: one[0]]), sorted(order[one[0] :])
    edges = [(first[i], first[j]) for i, j in one[1]]
    edges += [(second[i], second[j]) for i, j in other[1]]
    quality = data.draw(st.lists(st.integers(0, 3), min_size=total, max_size=total))
    both = solve(total, *split(edges), quality=quality)
    for (n, own), places in ((one, first), (other, second)):
        alone = solve(n, *split(own), quality=[quality[place] for place in places])
        assert np.array_equal(both.kept[places], alone.kept)


@given(graphs(12))
def test_the_seeds_solver_covers_and_is_exact_up_to_ten(graph: Edges) -> None:
    n, edges = graph
    cover = solve(n, *split(edges), solver="seed")
    check_answer(n, edges, cover)
    exact = solve(n, *split(edges))
    assert cover.kept.sum() >= exact.kept.sum() >= cover.kept.sum() - cover.gap
    if n <= 10:
        assert cover.optimal


@given(graphs(), st.booleans(), st.data())
def test_bounds_are_bounds_and_greedy_covers(
    graph: Edges, prune: bool, data: st.DataObject
) -> None:
    n, edges = graph
    problem = CoverProblem.plain(CoverageGraph.of(n, *split(edges)), np.zeros(n, np.int64))
    columns = greedy(problem, prune=prune)
    assert covers(n, edges, set(columns.tolist()))
    dived = dive(problem, data.draw(st.sampled_from([lambda: False, lambda: True])))
    assert covers(n, edges, set(dived.tolist()))
    optimum = exhaustive(n, edges, [0] * n)[0]
    assert lower_bounds(problem)[1].sum() <= optimum <= min(columns.size, dived.size)


@given(graphs(40))
def test_components_are_those_of_a_search(graph: Edges) -> None:
    n, edges = graph
    labels = components(n, *split(edges)).tolist()
    near: dict[int, set[int]] = {d: {d} for d in range(n)}
    for i, j in edges:
        near[i].add(j)
        near[j].add(i)
    for start in range(n):
        seen, todo = {start}, [start]
        while todo:
            for document in near[todo.pop()] - seen:
                seen.add(document)
                todo.append(document)
        assert labels[start] == min(seen)


@given(graphs(7), st.sampled_from([reduce_stepwise, reduce]), st.data())
def test_reductions_leave_a_best_cover(graph: Edges, rule: Rule, data: st.DataObject) -> None:
    """What is chosen and the best cover of what is left are together a best one."""
    n, edges = graph
    quality = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    chosen, kernel = rule(CoverageGraph.of(n, *split(edges)), np.array(quality, np.int64))
    rest = (0, 0)
    if kernel.row_ids.size:
        problem = CoverProblem.plain(kernel, np.array(quality, np.int64))
        every = np.arange(kernel.col_ids.size, dtype=np.int32)
        kept = search(problem, Answer(every, 1, False), 10_000).documents(problem).tolist()
        rest = len(kept), sum(quality[d] for d in kept)
    total = sum(quality[d] for d in chosen.tolist())
    assert (chosen.size + rest[0], total + rest[1]) == exhaustive(n, edges, quality)


def nothing_small(coverage: CoverageGraph, quality: object) -> tuple[object, CoverageGraph]:
    return np.empty(0, np.int32), coverage


@pytest.mark.parametrize("scipy", [True, False])
@pytest.mark.parametrize("nodes", [0, 300])
@settings(max_examples=examples(40))
@given(graph=graphs(), data=st.data())
def test_each_searcher_alone_is_exact(
    scipy: bool, nodes: int, graph: Edges, data: st.DataObject
) -> None:
    """Without brute force and reductions, by branch and bound and by HiGHS."""
    n, edges = graph
    quality = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asof.cover.solve.solve, "solve_small", nothing_small)
        patch.setattr(asof.cover.solve.solve, "settle_single", nothing_small)
        patch.setattr(asof.cover.solve.solve, "_FEW_NODES", nodes)
        patch.setattr(asof.cover.solve.solve, "installed", lambda: scipy)
        patch.setattr(asof.cover.solve.reduce, "_TRIES", data.draw(st.integers(0, 2)))
        patch.setattr(asof.cover.solve.reduce, "_ROUNDS", data.draw(st.integers(0, 2)))
        patch.setattr(asof.cover.solve.reduce, "_SLICE", data.draw(st.integers(1, 20)))
        cover = solve(n, *split(edges), quality=quality)
    check_answer(n, edges, cover)
    assert cover.optimal
    total = sum(quality[d] for d in np.flatnonzero(cover.kept))
    assert (cover.kept.sum(), total) == exhaustive(n, edges, quality)


@st.composite
def problems(draw: st.DrawFn) -> CoverProblem:
    """Rows that need up to three of up to seven columns, of different quality."""
    width = draw(st.integers(1, 7))
    columns = st.sets(st.integers(0, width - 1), min_size=1)
    rows = draw(st.lists(columns, min_size=1, max_size=8))
    needs = [draw(st.integers(1, min(3, len(row)))) for row in rows]
    entries = [(at, col) for at, row in enumerate(rows) for col in sorted(row)]
    height, every = np.arange(len(rows), dtype=np.int32), np.arange(width, dtype=np.int32)
    at_row, at_col = np.array(entries, np.int32).T
    quality = draw(st.lists(st.integers(0, 5), min_size=width, max_size=width))
    coverage = CoverageGraph(at_row, at_col, height, every)
    return CoverProblem(coverage, np.array(needs), np.array(quality, np.int64))


@pytest.mark.parametrize("searcher", ["branch and bound", "HiGHS"])
@given(problem=problems())
def test_searches_know_rows_that_need_several(searcher: str, problem: CoverProblem) -> None:
    coverage = problem.coverage
    width = coverage.col_ids.size

    def value(kept: tuple[int, ...]) -> tuple[int, int] | None:
        chosen = np.isin(coverage.cols, kept)
        covered = np.bincount(coverage.rows[chosen], minlength=coverage.row_ids.size)
        if (covered < problem.needs).any():
            return None
        return len(kept), -int(problem.quality[list(kept)].sum())

    subsets = [kept for size in range(1, width + 1) for kept in combinations(range(width), size)]
    optimum = min(found for kept in subsets if (found := value(kept)) is not None)
    assert value(tuple(greedy(problem).tolist())) is not None
    assert lower_bounds(problem)[1].sum() <= optimum[0]
    worst = Answer(np.arange(width, dtype=np.int32), 1, False)
    highs = searcher == "HiGHS"
    answer = by_milp(problem, worst, 10) if highs else search(problem, worst, 10_000)
    assert answer.proven
    assert answer.lower == optimum[0]
    assert value(tuple(answer.columns.tolist())) == optimum
