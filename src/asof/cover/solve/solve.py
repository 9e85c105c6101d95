"""The smallest set of documents that covers all, proven or with a proven gap (Paudel 2013).

`solve` goes from what is cheap to what is exact: components that one document covers, reductions,
all subsets of small problems, branch and bound, HiGHS where scipy is installed, and, when time is
up, the greedy algorithm with a lower bound. What a component comes to depends on its own edges and
the order of its ids alone (as long as time is not up), not on the order of edges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic

import numpy as np
from numpy.typing import ArrayLike, NDArray

from asof.cover.documents.sets import Counts
from asof.cover.join.graph import CoverageGraph, Ids, components, numbered
from asof.cover.question import TIME_LIMIT, Solver
from asof.cover.solve.branch_and_bound import COLUMNS, search
from asof.cover.solve.greedy import Answer, CoverProblem, dive, greedy, lower_bounds
from asof.cover.solve.milp import by_milp, installed
from asof.cover.solve.proofs import Proofs
from asof.cover.solve.reduce import reduce, settle_single
from asof.cover.solve.requirements import Cover, PartialCover, meet
from asof.cover.solve.small_problems import solve_small
from asof.errors import UsageError

Progress = Callable[[int, int], None]  # documents decided, and all
Cancel = Callable[[], bool]

_ENOUGH = 1.0  # seconds that one problem may take while there are any, if its share is smaller
_FEW_NODES = 300  # of the own search before HiGHS is asked
_BRUTE_FORCE_VERTICES = 10  # "at most ten vertices, we apply a brute-force approach" (section 3.4)
_STEPS = 1 << 53


@dataclass(slots=True)
class Budget:
    """The time that is left, whether somebody wants to stop, and what was proven before."""

    ends: float
    cancel: Cancel
    proofs: Proofs

    def over(self) -> bool:
        return monotonic() >= self.ends or self.cancel()

    def left(self) -> float:
        return max(self.ends - monotonic(), 0.0)

    def part(self, share: float) -> Budget:
        """A share of the time that is left."""
        return replace(self, ends=monotonic() + share * self.left())


def solve(
    n: int,
    i: ArrayLike,
    j: ArrayLike,
    *,
    quality: ArrayLike | None = None,
    at_least: tuple[int, ArrayLike] | None = None,
    solver: Solver = "auto",
    time_limit: float = TIME_LIMIT,
    progress: Progress = lambda done, total: None,
    cancel: Cancel = lambda: False,
    proofs: Proofs | None = None,
) -> Cover:
    """A smallest set that covers n documents; document j[e] covers document i[e] for every e.

    Of the smallest sets the one of highest total `quality`; where that is equal, too, rules decide
    that prefer lower ids. Qualities that are integers are compared exactly, others to 53 bits of
    their range; a missing one (nan) counts as the lowest known. `at_least` is (m, codes): of each
    code from 0 on at least m documents are kept, or all if there are fewer. `progress` is told how
    many of all documents are decided. When time is up or `cancel` says so, the answer is still a
    cover, with its gap. `seed` solves as section 3.4 has it: all subsets of components of at most
    ten documents, the greedy algorithm for others. Problems that `proofs` knows are not solved
    again; new proofs are added to it.
    """
    worth, minimum = whole_steps(quality, n), checked_minimum(at_least, n)
    if solver == "seed" and (quality is not None or at_least is not None):
        what = "The solver seed knows neither a quality nor a minimum for each value."
        raise UsageError(what, hint="Use the solver auto, or leave them out.")
    budget = Budget(monotonic() + time_limit, cancel, Proofs() if proofs is None else proofs)
    coverage = CoverageGraph.of(n, i, j)
    bare = PartialCover.bare(*numbered(components(n, coverage.rows, coverage.cols)))
    if solver == "seed":
        state = _brute_force_then_greedy(bare, coverage, worth)
    else:
        state = smallest(bare, coverage, worth, budget, progress)
    if minimum is not None:
        state = meet(state, coverage, worth, minimum, partial(best, budget=budget))
    progress(n, n)
    return _cover(state, coverage)


def best(problem: CoverProblem, known: Answer, budget: Budget, share: float = 1.0) -> Answer:
    """The best cover of one problem that is found in a share of the time left."""
    proven = budget.proofs.recall(problem, known)
    if proven is not None:
        return proven
    left = budget.left()
    mine = replace(budget, ends=monotonic() + max(left * share, min(left, _ENOUGH)))
    found = _searched(problem, known, mine)
    if not mine.over():  # else another one might have been found as well
        budget.proofs.learn(problem, known, found)
    return found


def _searched(problem: CoverProblem, known: Answer, budget: Budget) -> Answer:
    stop = budget.over
    found = search(problem, known, _FEW_NODES, stop)
    if found.proven:
        return found
    columns = found.columns
    if problem.needs.max() == 1:
        dived = dive(problem, stop)
        columns = dived if dived.size < columns.size else columns
    lower = max(int(lower_bounds(problem)[1].sum()), known.lower)
    found = Answer(columns, lower, columns.size <= lower and not problem.quality.any())
    if found.proven or stop():
        return found
    if installed():
        return by_milp(problem, found, budget.left(), budget.cancel)
    if problem.coverage.col_ids.size > COLUMNS:
        return found
    return search(problem, found, 1 << 62, stop)


def smallest(
    state: PartialCover, whole: CoverageGraph, quality: Counts, budget: Budget, progress: Progress
) -> PartialCover:
    """The cover without requirements; `state` is filled in."""
    taken, left = settle_single(whole, quality)
    state.kept[taken] = True
    progress(whole.row_ids.size - left.row_ids.size, whole.row_ids.size)
    if budget.cancel():
        _greedily(state, left, quality, budget.cancel)
        return state
    for stage in (reduce, settle_single, solve_small):
        taken, left = stage(left, quality)
        state.kept[taken] = True
    _one_by_one(state, left, quality, budget, progress)
    return state


def _one_by_one(
    state: PartialCover, left: CoverageGraph, quality: Counts, budget: Budget, progress: Progress
) -> None:
    """Solves components alone, small ones first, each with its share of the time left."""
    of_row, of_col, count = left.parts()
    sizes, heights = np.bincount(of_row[left.rows], minlength=count), np.bincount(of_row)
    order = np.argsort(sizes, kind="stable")
    plain = _fewest(state, left, of_row, of_col, count, budget) if quality.any() else None
    solved = np.zeros(count, np.bool_)
    total, still = state.kept.size, left.row_ids.size
    for at, (part, cut) in enumerate(zip(order.tolist(), left.split(of_row, order), strict=True)):
        if budget.over() and plain is None:
            break
        problem = CoverProblem.plain(cut, quality)
        if plain is None:
            known = Answer(greedy(problem), 2, False)  # what one document covers is settled
        else:
            columns = np.flatnonzero(plain.kept[cut.col_ids]).astype(np.int32)
            known = Answer(columns, columns.size - int(plain.gap[part]), False)
        share = 1 / (count - at)
        answer = known if budget.over() else best(problem, known, budget, share)
        where = state.part[cut.row_ids[0]]
        state.kept[answer.documents(problem)] = True
        state.gap[where] += answer.columns.size - answer.lower
        state.proven[where] &= answer.proven
        solved[part] = True
        still -= int(heights[part])
        progress(total - still, total)
    _greedily(state, left.without(rows=solved[of_row]), quality, budget.cancel)


def _fewest(
    state: PartialCover, left: CoverageGraph, of_row: Ids, of_col: Ids, count: int, budget: Budget
) -> PartialCover:
    """A smallest cover of any quality, by the components of what is left.

    Without a quality, reductions go much further. To know the number first settles most of what is
    asked for, and is what remains if time is up.
    """
    part = np.zeros(state.kept.size, np.int32)
    part[left.row_ids], part[left.col_ids] = of_row, of_col
    bare = PartialCover.bare(part, count)
    nothing = np.zeros(state.kept.size, np.int64)
    return smallest(bare, left, nothing, budget.part(0.5), lambda done, total: None)


def _greedily(
    state: PartialCover, left: CoverageGraph, quality: Counts, stop: Cancel, *, prune: bool = True
) -> None:
    """Covers what is left by the greedy algorithm, with a bound for each component."""
    problem = CoverProblem.plain(left, quality)
    columns = greedy(problem, prune=prune)
    if not columns.size:
        return
    documents = problem.coverage.col_ids
    state.kept[documents[columns]] = True
    of_col, lower = lower_bounds(problem, stop)
    gaps = np.bincount(of_col[columns], minlength=lower.size) - lower
    where = np.zeros(gaps.size, np.int32)
    where[of_col] = state.part[documents]
    np.add.at(state.gap, where, gaps)
    np.logical_and.at(state.proven, where, (gaps == 0) & (not problem.quality.any()))


def _brute_force_then_greedy(
    state: PartialCover, coverage: CoverageGraph, quality: Counts
) -> PartialCover:
    sizes = np.bincount(state.part, minlength=state.gap.size)
    large = (sizes > _BRUTE_FORCE_VERTICES)[state.part]
    taken, _ = solve_small(coverage.without(rows=large), quality)
    state.kept[taken] = True
    _greedily(state, coverage.without(rows=~large), quality, lambda: False, prune=False)
    return state


def _cover(state: PartialCover, coverage: CoverageGraph) -> Cover:
    by = np.full(state.kept.size, np.iinfo(np.int32).max, np.int32)
    used = state.kept[coverage.cols] & ~state.kept[coverage.rows]
    np.minimum.at(by, coverage.rows[used], coverage.cols[used])
    return state.finished(by)


def whole_steps(quality: ArrayLike | None, n: int) -> Counts:
    """Qualities as whole numbers from 0 on that add up without rounding."""
    if quality is None:
        return np.zeros(n, np.int64)
    values: NDArray[np.float64] = np.asarray(quality, np.float64)
    if values.size != n or np.isinf(values).any():
        raise UsageError(
            f"A quality for each of the {n} documents is needed, each of them finite.",
            hint="Prefer an attribute that is a number or a time for every document.",
        )
    known = values[~np.isnan(values)]
    low, high = known.min(initial=np.inf), known.max(initial=-np.inf)
    if not low < high:
        return np.zeros(n, np.int64)
    if max(-low, high) > 2.0**1022:  # their difference may be more than any float
        values, low, high = values / 4, low / 4, high / 4
    above: NDArray[np.float64] = np.where(np.isnan(values), 0.0, values - low)
    if np.array_equal(known, np.floor(known)) and max(-low, high) < _STEPS:
        return above.astype(np.int64)
    steps: Counts = np.rint(above / (high - low) * _STEPS).astype(np.int64)
    return steps


def checked_minimum(at_least: tuple[int, ArrayLike] | None, n: int) -> tuple[int, Ids] | None:
    if at_least is None:
        return None
    number, codes = at_least[0], np.asarray(at_least[1], np.int32)
    if number < 1 or codes.size != n:
        raise UsageError(
            f"At least {number} documents of each value cannot be asked for.",
            hint="Give a number of 1 or more and a value for each document.",
        )
    return number, codes
