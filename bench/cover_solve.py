"""Smallest covers of a large coverage graph: time, memory, what is proven, and beside others.

    .venv/bin/python bench/cover_solve.py [--documents 2000000] [--quality] [--at-least 2]
    .venv/bin/python bench/cover_solve.py --peers        scipy's components, HiGHS and the paper
    .venv/bin/python bench/cover_solve.py --bound        how much of the optimum bounds prove
    .venv/bin/python bench/cover_solve.py --hard         random components of growing size

The graph is made of families of documents (pages with their versions and mirrors) of 2 to 40, with
edges from older to younger ones: cliques, versions that drift away from each other, appended pages
with a last version that has all, and families in which documents cover others at random.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

import asof.cover.solve.greedy
import asof.cover.solve.solve
from asof.cover.join.graph import CoverageGraph, components
from asof.cover.solve.greedy import Answer, CoverProblem, dive, greedy, lower_bounds
from asof.cover.solve.milp import by_milp
from asof.cover.solve.requirements import Cover
from asof.cover.solve.solve import solve

Ints = NDArray[np.int64]


def archive(n: int, seed: int = 6) -> tuple[Ints, Ints]:
    """Edges (i, j) of about n documents, 2.5 a document; ids are mixed between families."""
    rng = np.random.default_rng(seed)
    sizes = np.minimum(2 + rng.geometric(0.2, n // 4), 40)
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), n))]
    starts = np.cumsum(sizes) - sizes
    shape = rng.random(sizes.size)
    members = np.repeat(np.arange(sizes.size), sizes)
    first, size, kind = starts[members], sizes[members], shape[members]
    place = np.arange(members.size) - first
    left, right = [], []
    for ahead in range(1, 40):
        there = np.flatnonzero(place + ahead < size)
        mine, wide = kind[there], size[there]
        last = (mine >= 0.6) & (mine < 0.8) & (place[there] + ahead == wide - 1)
        chance = np.select(
            [mine < 0.4, mine < 0.6, mine < 0.8],
            [
                np.full(there.size, float(ahead <= 3)),  # drift: three versions on, another text
                np.where(wide <= 8, 1.0, 0.3),  # copies
                np.where(last, 1.0, 0.1),  # appended: the last one has all
            ],
            4.0 / wide,  # at random
        )
        drawn = there[rng.random(there.size) < chance]
        left.append(drawn)
        right.append(drawn + ahead)
        back = drawn[rng.random(drawn.size) < 0.15]  # as long, and of the same day
        left.append(back + ahead)
        right.append(back)
    mixed = rng.permutation(n)
    return mixed[np.concatenate(left)], mixed[np.concatenate(right)]


def random_component(n: int, degree: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    count = int(n * degree)
    return rng.integers(0, n, count), rng.integers(0, n, count)


def hosts(labels: NDArray[np.int32], rng: np.random.Generator) -> Ints:
    """A host for each document: about eight families each, and one document in twenty elsewhere."""
    number = np.unique(labels, return_inverse=True)[1]
    count = int(number.max()) // 8 + 1
    return np.where(
        rng.random(labels.size) < 0.05, rng.integers(0, count, labels.size), number // 8
    )


def cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


@contextmanager
def step(name: str) -> Iterator[None]:
    began, used = time.perf_counter(), cpu()
    yield
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name:44} {time.perf_counter() - began:8.2f} s {cpu() - used:8.2f} CPU s"
        f" {peak:7.0f} MB peak",
        flush=True,
    )


def told(cover: Cover) -> None:
    parts = cover.components
    print(
        f"  kept {int(cover.kept.sum()):,} of {cover.kept.size:,}; components {parts.count:,},"
        f" proven {100 * parts.proven.mean():.3f} %; gap {cover.gap}; optimal {cover.optimal}"
    )


def large(n: int, quality: bool, at_least: int) -> None:
    i, j = archive(n)
    labels = components(n, i, j)
    sizes = np.unique(labels, return_counts=True)[1]
    print(f"{n:,} documents, {i.size:,} edges, {sizes.size:,} components, largest {sizes.max():,}")
    with step("components"):
        components(n, i, j)
    rng = np.random.default_rng(7)
    worth = rng.integers(200, 100_000, n) if quality else None
    groups = (at_least, hosts(labels, rng)) if at_least else None
    with step("solve"):
        cover = solve(n, i, j, quality=worth, at_least=groups)
    told(cover)


def peers(n: int) -> None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    i, j = archive(n)
    graph = coo_array((np.ones(i.size, np.int8), (i, j)), shape=(n, n)).tocsr()
    for _ in range(2):
        with step("components, ours"):
            components(n, i, j)
        with step("components, scipy (graph already made)"):
            connected_components(graph, directed=False)
    with step("cover, ours"):
        ours = solve(n, i, j)
    told(ours)
    with step("cover, the paper's solver"):
        seed = solve(n, i, j, solver="seed")
    told(seed)
    some = min(n, 20_000)
    i, j = archive(some)
    with step(f"cover of {some:,}, ours"):
        told(solve(some, i, j))
    problem = CoverProblem.plain(CoverageGraph.of(some, i, j), np.zeros(some, np.int64))
    with step(f"cover of {some:,}, HiGHS on all at once"):
        answer = by_milp(problem, Answer(greedy(problem), 1, False), 600)
    print(f"  kept {answer.columns.size:,}, proven {answer.proven}")


def bound() -> None:
    rng = np.random.default_rng(8)
    problems = []
    for _ in range(10):
        i, j = random_component(200, 4.0, rng)
        problem = CoverProblem.plain(CoverageGraph.of(200, i, j), np.zeros(200, np.int64))
        optimum = by_milp(problem, Answer(greedy(problem), 1, False), 60)
        problems.append((problem, optimum))
    for rounds in (60, 200, 600):
        asof.cover.solve.greedy._ROUNDS = rounds
        with step(f"bounds, {rounds} rounds"):
            bounds = [lower_bounds(problem)[1] for problem, _ in problems]
        total = sum(optimum.columns.size for _, optimum in problems)
        proven = sum(int(found.sum()) for found in bounds)
        print(f"  {100 * proven / total:.1f} % of the optimum are proven")
    known = [greedy(problem) for problem, _ in problems]
    with step("dives"):
        dived = [dive(problem, lambda: False) for problem, _ in problems]
    for name, answers in (("greedy", known), ("dive", dived)):
        kept = sum(columns.size for columns in answers)
        print(f"  {name}: {100 * kept / total:.1f} % of the optimum are kept")


def hard() -> None:
    for has_scipy in (True, False):
        setattr(asof.cover.solve.solve, "installed", lambda has_scipy=has_scipy: has_scipy)  # noqa: B010
        for n in (50, 100, 200, 400, 800):
            rng = np.random.default_rng(n)
            i, j = random_component(n, 3.0, rng)
            with step(f"random, {n} documents, scipy {has_scipy}"):
                cover = solve(n, i, j, time_limit=20)
            told(cover)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=2_000_000)
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--at-least", type=int, default=0)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--bound", action="store_true")
    parser.add_argument("--hard", action="store_true")
    asked = parser.parse_args()
    if asked.peers:
        peers(asked.documents)
    elif asked.bound:
        bound()
    elif asked.hard:
        hard()
    else:
        large(asked.documents, asked.quality, asked.at_least)


if __name__ == "__main__":
    main()
