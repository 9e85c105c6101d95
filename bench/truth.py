"""Every verdict against the truth, on servers of many kinds, honest and not.

    PYTHONPATH=tests python bench/truth.py [--history GITDIR [--branch B] [--under PATH]]
        [--pages 60] [--runs 3] [--kinds a,b] [--load 1.0] [--training 4]
        [--mode inducible|measurable] [--seed 1] [--even] [--no-returns] [--workers 2] [--json]
        [--wrong] [--check]

A site's history is served commit by commit on virtual time over real HTTP: that of a Git repository
of rendered HTML, or of the synthetic newspaper. Each run is another window of commits with other
pages; `--load` is how often a page changes on average while all pages are visited once. After some
plain crawls comes a coherent one, and each of its verdicts is compared with what stood at the
moment of reference. Some repositories have contents that come back: `--no-returns` leaves these to
the kinds that are made for it.

Columns: `5/1` are five verdicts of a grade of which one is false. C as it is measured; the share of
pages that truly *stayed* the same from the visit to the revisit, which is the most that bytes can
show; the share of pages of which some copy is *true* at the reference; C over what stayed (if each
page is visited once: over what is true); what the plan promised; in how many runs the host was
caught, of those in which it told a false 304; requests and kilobytes of the coherent crawl, each
run; and the intervals between captures that `asof show` calls unchanged. The bars of each group
follow; with `--check` the exit code is 1 if one of them is not met. Archives are made in the folder
for temporary files: TMPDIR=/dev/shm saves half of the time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from support.changing_web import scratch
from support.git_history import Repository, git_history
from support.page_history import History, synthetic, without_returns
from support.server_kinds import KINDS, Kind
from support.truth import Outcome, Trial, tried
from support.truth_table import as_json, bar_lines, bars, by_kind, table

# A history goes on for somewhat longer than it is crawled.
_AMPLE = 1.3


@dataclass(frozen=True)
class Task:
    """One kind of server in one run."""

    kind: str
    history: History
    trial: Trial


def main() -> int:
    given = _arguments()
    kinds = _kinds(given)
    start, tasks = time.monotonic(), list(_tasks(given, kinds))
    found: list[tuple[Kind, Outcome]] = []
    for task, outcome in zip(tasks, _outcomes(tasks, given.workers), strict=True):
        found.append((KINDS[task.kind], outcome))
        _say(f"{len(found)} of {len(tasks)}: {task.kind}, run {task.trial.run}", start)
        for words in outcome.wrong if given.wrong else ():
            print(f"    {words}", file=sys.stderr)
    rows = by_kind(found)
    judged = bars(rows)
    title = _title(given, [outcome.load for _, outcome in found])
    lines = [title, "", *table(rows), "", *bar_lines(judged)]
    print("\n".join(lines), file=sys.stderr if given.json else sys.stdout)
    if given.json:
        print(json.dumps(as_json(rows, judged), indent=1))
    return int(given.check and not all(bar.met for bar in judged))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--history", type=Path, metavar="GITDIR")
    parser.add_argument("--branch", default="HEAD")
    parser.add_argument("--under", default="", metavar="PATH")
    parser.add_argument("--still", type=float, help="share of pages at rest (default: as it is)")
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kinds", default="", help="some of: " + ", ".join(KINDS))
    parser.add_argument("--load", type=float, default=1.0)
    parser.add_argument("--training", type=int, default=4)
    parser.add_argument("--mode", choices=("inducible", "measurable"), default="inducible")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--even", action="store_true", help="commits come at equal gaps")
    parser.add_argument("--no-returns", action="store_true", help="no A-B-A in the history itself")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--wrong", action="store_true", help="tell of each false verdict")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    return parser.parse_args()


def _kinds(given: argparse.Namespace) -> list[Kind]:
    if given.kinds:
        return [KINDS[name] for name in given.kinds.split(",")]
    return [kind for kind in KINDS.values() if not (given.history and kind.family)]


def _title(given: argparse.Namespace, loads: list[float]) -> str:
    name = given.history or "synthetic newspaper"
    load = f"load {min(loads):.2f} to {max(loads):.2f}"
    runs = f"{given.runs} runs, {given.training} crawls before each"
    return f"{name}: {given.pages} pages, {load}, {given.mode}, {runs}"


def _tasks(given: argparse.Namespace, kinds: list[Kind]) -> Iterator[Task]:
    for run in range(1, given.runs + 1):
        trial = Trial(given.load, given.training, given.mode, given.even, run)
        laps, seed = trial.laps * _AMPLE, given.seed * 1000 + run

        @cache
        def made(family: str, seed: int = seed, laps: float = laps) -> History:
            return synthetic(seed, given.pages, given.load, laps, family)

        @cache
        def read(seed: int = seed, laps: float = laps) -> History:
            return git_history(
                Repository(given.history, given.branch, given.under.strip("/")),
                pages=given.pages,
                load=given.load,
                laps=laps,
                seed=str(seed),
                still=given.still,
            )

        for kind in kinds:
            history = read() if given.history and not kind.family else made(kind.family)
            yield Task(kind.name, without_returns(history) if given.no_returns else history, trial)


def _outcomes(tasks: list[Task], workers: int) -> Iterator[Outcome]:
    if workers < 2:
        yield from map(_run, tasks)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(_run, tasks)


def _run(task: Task) -> Outcome:
    with scratch() as folder:
        return tried(KINDS[task.kind], task.history, task.trial, folder / "archive")


def _say(words: str, start: float) -> None:
    print(f"{time.monotonic() - start:6.0f} s  {words}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
