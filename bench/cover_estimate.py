"""How often the ranges of `asof.cover.estimate` hold, and what an estimate costs beside the run.

    .venv/bin/python bench/cover_estimate.py --scale 0.05 --seeds 5

Collections are those of bench/cover_join.py (versioned archives of the shape of Paudel 2013, Table
2) with a host for each document; relations are those of the paper and some that are harder to
sample: high and low thresholds, equality, Jaccard, Dice, a host or a window of time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from asof.cover.documents.collection import Collection
from asof.cover.documents.sets import Sets
from asof.cover.estimate import Estimate, estimate
from asof.cover.join.join import JoinLimits
from asof.cover.language.columns import text_column, time_column
from asof.cover.question import Question
from asof.cover.run import CoverOutcome, thin_out
from cover_join import SCENARIOS, load, make

RELATIONS = (
    "C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2)",
    "C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2) and host(d1) = host(d2)",
    "C(d1,d2) >= 0.5",
    "C(d1,d2) >= 0.95",
    "J(d1,d2) = 1",
    "J(d1,d2) >= 0.9",
    "D(d1,d2) >= 0.6 and timestamp(d2) - timestamp(d1) < 90d",
    "C(d1,d2) >= 0.8 or J(d1,d2) >= 0.6",
)
DAY = 86_400_000_000


def collection(scenario: str, scale: float) -> Collection:
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), scenario, scale)
        offsets, items = load(Path(folder))
    count = offsets.size - 1
    hosts = np.random.default_rng(1).zipf(1.5, count) % 50
    moments = np.linspace(0, 3 * 365 * DAY, count).astype(np.int64).tolist()
    columns = {"host": text_column(map(str, hosts.tolist())), "timestamp": time_column(moments)}
    weights = np.diff(offsets)
    return Collection(tuple(map(str, range(count))), columns, Sets(offsets, items), weights)


def held(found: Estimate, true: CoverOutcome) -> tuple[bool, bool, bool]:
    kept = float(true.cover.kept.mean())
    return true.seconds in found.seconds, true.edges in found.edges, kept in found.kept


def row(name: str, found: Estimate, true: CoverOutcome, cost: float) -> str:
    signs = "".join(" *"[one] for one in held(found, true))
    seconds, edges, kept = found.seconds, found.edges, found.kept
    return (
        f"{name:12} {signs} {seconds.low:6.2f} {true.seconds:6.2f} {seconds.high:6.2f}"
        f" {edges.low:9.0f} {true.edges:8} {edges.high:9.0f}"
        f" {kept.low:.3f} {true.cover.kept.mean():.3f} {kept.high:.3f} {cost:6.2f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scenarios", default="BC", help="of " + "".join(SCENARIOS))
    parser.add_argument("--scale", type=float, default=0.05)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    results: list[tuple[bool, bool, bool]] = []
    costs, runs = 0.0, 0.0
    for scenario in given.scenarios:
        documents = collection(scenario, given.scale)
        print(f"{scenario}: {len(documents):,} documents, {documents.sets.items.size:,} shingles")
        print(f"{'':12} held    seconds: low, true, high; edges; kept share; time of the estimate")
        for number, relation in enumerate(RELATIONS):
            true = thin_out(documents, Question(relation), JoinLimits())
            print(relation)
            for seed in range(given.seeds):
                started = time.monotonic()
                found = estimate(documents, relation, seed=1000 * number + seed)
                cost = time.monotonic() - started
                costs, runs = costs + cost, runs + true.seconds
                results.append(held(found, true))
                print(row(f"  seed {seed}", found, true, cost), flush=True)
    shares = np.array(results).mean(axis=0)
    print(f"held: seconds {shares[0]:.1%}, edges {shares[1]:.1%}, kept {shares[2]:.1%}")
    print(f"all three at once {np.array(results).all(axis=1).mean():.1%} of {len(results)}")
    print(f"an estimate took {costs / runs:.2f} of the time of its run")


if __name__ == "__main__":
    main()
