"""The best cover of one problem by HiGHS, where scipy is installed (the extra `cover`).

Twice: for the fewest columns, then with that many for the best total quality. HiGHS computes with
floating point: its answers are checked here to be covers and its bounds are rounded with care, but
the total quality is the best only as far as its tolerance of about a millionth goes.
"""

from collections.abc import Callable
from functools import cache
from math import ceil
from threading import Thread
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asof.cover.solve.greedy import Answer, CoverProblem

# Entries of a problem beyond which HiGHS is not asked. With 0.8 million the process took 0.66 GB
# (bench/cover_solve.py --at-least 20 --documents 200000).
ENTRIES = 4_000_000
_SLACK = 1e-6  # HiGHS's own tolerance
_LOOK_EVERY = 0.05


@cache
def installed() -> bool:
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        return False
    return True


def by_milp(
    problem: CoverProblem, known: Answer, seconds: float, stop: Callable[[], bool] = lambda: False
) -> Answer:
    """The best cover, or the better of `known` and what was found in time.

    HiGHS cannot be interrupted, and Ctrl-C is not heard while the main thread waits in it: so it
    runs in a thread that is left to itself when `stop` says so.
    """
    if problem.coverage.rows.size > ENTRIES:
        return known
    found: list[Answer] = []
    work = Thread(target=lambda: found.append(_solved(problem, known, seconds)), daemon=True)
    work.start()
    while work.is_alive() and not stop():
        work.join(_LOOK_EVERY)
    return found[0] if found else known


def _solved(problem: CoverProblem, known: Answer, seconds: float) -> Answer:
    ends = monotonic() + seconds
    best = _fewest(problem, known, seconds) if known.columns.size > known.lower else known
    if best.columns.size > best.lower or not problem.quality.any():
        return Answer(best.columns, best.lower, best.columns.size <= best.lower)
    return _best(problem, best, ends - monotonic())


def _fewest(problem: CoverProblem, known: Answer, seconds: float) -> Answer:
    found = _run(problem, np.ones(problem.coverage.col_ids.size), None, seconds)
    lower = known.lower
    if found.mip_dual_bound is not None and np.isfinite(found.mip_dual_bound):
        lower = max(lower, ceil(found.mip_dual_bound - _SLACK))
    columns = _cover(problem, found.x)
    if columns is None or columns.size >= known.columns.size:
        return Answer(known.columns, lower, False)
    return Answer(columns, lower, False)


def _best(problem: CoverProblem, known: Answer, seconds: float) -> Answer:
    """Of the covers of as many columns the one of best quality."""
    if seconds <= 0:
        return Answer(known.columns, known.lower, False)
    low, top = int(problem.quality.min()), int(problem.quality.max())
    worth = (problem.quality - low) / max(top - low, 1)
    found = _run(problem, -worth, known.columns.size, seconds)
    columns = _cover(problem, found.x)
    if columns is None or columns.size > known.columns.size:
        return Answer(known.columns, known.lower, False)
    better = problem.worth(columns) > problem.worth(known.columns)
    return Answer(columns if better else known.columns, known.lower, found.status == 0)


def _run(
    problem: CoverProblem, costs: NDArray[np.float64], number: int | None, seconds: float
) -> Any:  # noqa: ANN401
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    coverage = problem.coverage
    shape = (coverage.row_ids.size, coverage.col_ids.size)
    matrix = csr_array((np.ones(coverage.rows.size), (coverage.rows, coverage.cols)), shape=shape)
    rules = [LinearConstraint(matrix, lb=problem.needs)]
    if number is not None:
        rules.append(LinearConstraint(np.ones((1, shape[1])), ub=number))
    return milp(
        costs,
        integrality=np.ones(shape[1]),
        bounds=Bounds(0, 1),
        constraints=rules,
        options={"time_limit": max(seconds, 0.01), "mip_rel_gap": 0.0},
    )


def _cover(problem: CoverProblem, values: NDArray[np.float64] | None) -> NDArray[np.int32] | None:
    """The columns that the solver chose, if they do cover."""
    if values is None:
        return None
    chosen = values > 0.5
    fine = (problem.covered(chosen) >= problem.needs).all()
    return np.flatnonzero(chosen).astype(np.int32) if fine else None
