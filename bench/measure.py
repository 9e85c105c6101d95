"""Running commands side by side: CPU and wall time of each, interleaved, as ratios of medians."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    wall: float
    cpu: float
    peak_mb: float


def run(command: Sequence[str], *, okay: tuple[int, ...] = (0,)) -> Cost:
    """Run a command to its end; CPU includes its children."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert child.stderr is not None
    complaint = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in okay:
        sys.exit(f"{' '.join(command)} ended with {child.returncode}: {complaint.decode()[-500:]}")
    cpu = usage.ru_utime + usage.ru_stime
    return Cost(time.perf_counter() - start, cpu, usage.ru_maxrss / 1024)


@contextmanager
def one_core() -> Iterator[None]:
    """Let this process and what it starts use one core only."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def interleave(rounds: int, jobs: dict[str, Callable[[], Cost]]) -> dict[str, list[Cost]]:
    """Every job once a round, the order turned each round, so that drift hits all alike."""
    costs: dict[str, list[Cost]] = {name: [] for name in jobs}
    names = list(jobs)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            costs[name].append(jobs[name]())
    return costs


def median(costs: list[Cost], field: str) -> float:
    return statistics.median(getattr(cost, field) for cost in costs)


def spread(costs: list[Cost], field: str) -> str:
    values = sorted(getattr(cost, field) for cost in costs)
    return f"{values[0]:.2f}..{values[-1]:.2f}"


def report(title: str, costs: dict[str, list[Cost]], items: int, unit: str) -> None:
    """A table with the first job as the one that is compared with the others."""
    print(f"\n{title} ({items:,} {unit})")
    header = f"{unit}/s"
    print(f"  {'':24}{header:>14}{unit + '/CPU s':>16}{'wall s':>18}{'CPU s':>18}{'peak MB':>9}")
    for name, runs in costs.items():
        wall, cpu = median(runs, "wall"), median(runs, "cpu")
        print(
            f"  {name:24}{items / wall:>14,.0f}{items / cpu:>16,.0f}{spread(runs, 'wall'):>18}"
            f"{spread(runs, 'cpu'):>18}{median(runs, 'peak_mb'):>9.0f}"
        )
    ours, *peers = costs
    for peer in peers:
        by_cpu = median(costs[peer], "cpu") / median(costs[ours], "cpu")
        by_wall = median(costs[peer], "wall") / median(costs[ours], "wall")
        print(f"  {ours} against {peer}: {by_cpu:.2f}x per CPU second, {by_wall:.2f}x in wall time")
