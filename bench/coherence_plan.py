"""Planning for coherence: time, memory, and how far from exact assignment.

    python bench/coherence_plan.py [PAGES]

A million pages by default, of several families of change rates and of posteriors, each planned in a
process of its own so that its peak memory is its own; the processor's time is that of the plan
alone. Then the planner against exact assignment (scipy) on sites of 1,000 pages.
"""

from __future__ import annotations

import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import ndtri

from asof.coherence.optimal import revisit_order
from asof.coherence.plan import auto, bfs_lifo, by_threshold, expected_c, optimal, slots
from asof.coherence.survival import Discrete, Expected, Survival
from asof.coherence.verdict import Mode

SITES = (
    ("uniform", 1.0),
    ("exponential", 3.0),
    ("lognormal", 1.0),
    ("lognormal", 10.0),
    ("posterior", 3.0),
)
STRATEGIES = ("lifo", "threshold", "optimal", "half the revisits", "forced visits", "auto")
REFEREED = 1_000


def site(family: str, load: float, count: int) -> Survival:
    chance = np.random.default_rng(1)
    if family == "posterior":
        shape = chance.lognormal(0, 1.5, count)
        return Expected(shape, chance.lognormal(0, 1.5, count) * count / load)
    u = (np.arange(count) + 0.5) / count
    rates = {"uniform": u, "exponential": -np.log1p(-u), "lognormal": np.exp(2 * ndtri(u))}[family]
    return Discrete(chance.permutation(np.clip(rates * load / count / rates.mean(), 0, 1)))


def planned(
    family: str, load: float, count: int, strategy: str
) -> tuple[float, float, float, float]:
    """Expected C, seconds of processor and clock, and the peak of memory in MB."""
    survival, lengths = site(family, load, count), slots(count, Mode.INDUCIBLE)
    wall, cpu = time.perf_counter(), time.process_time()
    if strategy == "lifo":
        expected = bfs_lifo(survival, lengths)
    elif strategy == "threshold":
        expected = by_threshold(survival, lengths, 0.6).expected
    elif strategy == "optimal":
        expected = optimal(survival, lengths).expected
    elif strategy == "half the revisits":
        expected = optimal(survival, lengths, revisits=count // 2).expected
    elif strategy == "forced visits":
        before = slots(count, Mode.MEASURABLE)
        order = revisit_order(survival, before)
        expected = expected_c(survival, order, before[order] + before)
    else:
        expected = auto(survival, lengths).expected
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return expected, cpu, wall, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def shortfall(family: str, load: float, mode: Mode) -> float:
    survival, lengths = site(family, load, REFEREED), slots(REFEREED, mode)
    matrix = survival.at(np.arange(REFEREED)[:, None], lengths)
    exact = matrix[linear_sum_assignment(-matrix)].sum() / REFEREED
    return float(exact - optimal(survival, lengths).expected)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(
        f"{count:,} pages, inducible\n{'site':16} {'strategy':18} {'C':>7} {'CPU s':>6} {'s':>6} MB"
    )
    for family, load in SITES:
        for strategy in STRATEGIES:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                found = process.submit(planned, family, load, count, strategy).result()
            expected, cpu, wall, peak = found
            name = f"{family} {load:g}"
            print(f"{name:16} {strategy:18} {expected:7.4f} {cpu:6.2f} {wall:6.2f} {peak:.0f}")
    print(f"\nC below exact assignment, {REFEREED:,} pages: inducible, measurable")
    for family, load in SITES:
        short = [shortfall(family, load, mode) for mode in (Mode.INDUCIBLE, Mode.MEASURABLE)]
        print(f"{family} {load:g}".ljust(16), *(f"{each:.6f}" for each in short))


if __name__ == "__main__":
    main()
