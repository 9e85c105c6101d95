"""The case study of Paudel 2013 on made-up archives: its scenarios beside its Tables 2 and 3.

    make bench-cover ARGS="--scale 0.1"
    .venv/bin/python bench/cover_case_study.py --scenarios A-1 --scale 1 --memory 1000
    .venv/bin/python bench/cover_case_study.py --curve 0.05,0.1,0.2,0.4 --scenarios A-1,C-1

Archives are those of bench/cover_archive.py, which says what is assumed. Every scenario is a
process of its own. Wall and CPU seconds go from mapped shingles to the answer with the measures of
all dropped documents, as `asof cover` gives it. The peak is the kernel's (VmHWM); beside it that of
what is not file pages (RssAnon, looked at ten times a second). File pages are the mapped shingles
and, with a budget, temporary files: the kernel takes them back when memory is short.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from cover_archive import SCENARIOS, Statistics, load, made, make, statistics

RULES = {
    "1": "C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2)",
    "2": "C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2) and hostname(d1) = hostname(d2)",
}
TABLE_3 = {  # the paper's reduction, % of documents and of bytes
    "A-1": (50.32, 55.46),
    "B-1": (49.49, 51.09),
    "B-2": (48.59, 50.94),
    "C-1": (58.99, 59.16),
}
TIMES = {"A-1": "about 8 h", "B-2": "about 1 h"}  # its coverage graphs; of others it says nothing


@dataclass(frozen=True)
class Archive:
    """A collection of Table 2, and what was made of it."""

    name: str
    scale: float
    made: Statistics


@dataclass(frozen=True)
class Result:
    """What one scenario came to, and what it cost."""

    scenario: str
    scale: float
    documents: int
    shingles: int
    edges: int
    components: int
    proven: float  # share of components
    gap: int
    less_documents: float
    less_bytes: float
    wall: float
    cpu: float
    stages: dict[str, float]  # wall seconds until each ended
    peak_mb: float
    anonymous_mb: float


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=0.1, help="1 is the paper's size")
    parser.add_argument("--scenarios", default=",".join(TABLE_3))
    parser.add_argument("--memory", type=int, help="budget of the join in MB, beside the shingles")
    parser.add_argument(
        "--folder", type=Path, help="keep archives here, and use those of an earlier run"
    )
    parser.add_argument("--curve", help="sizes, as in 0.05,0.1,0.2,0.4: how costs grow")
    parser.add_argument("--plot", type=Path, help="the curve as a picture (PNG)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        _one(asked.one, asked.scale, asked.folder, asked.memory)
        return
    names = asked.scenarios.split(",")
    unknown = [name for name in names if name not in TABLE_3]
    if unknown:
        parser.error(f"{unknown[0]} is none of {', '.join(TABLE_3)}")
    scales = [float(size) for size in asked.curve.split(",")] if asked.curve else [asked.scale]
    with ExitStack() as stack:
        root = asked.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        archives, runs = _run(names, scales, root, asked.memory, keep=asked.folder is not None)
    if asked.json:
        found = {
            "archives": [asdict(one) for one in archives],
            "runs": [asdict(one) for one in runs],
        }
        print(json.dumps(found))
    elif asked.curve:
        _print_curve(runs)
    else:
        _print_tables(archives, runs)
    if asked.plot:
        _plot(runs, asked.plot)


def _run(
    names: Sequence[str], scales: Sequence[float], root: Path, memory: int | None, *, keep: bool
) -> tuple[list[Archive], list[Result]]:
    archives: list[Archive] = []
    results: list[Result] = []
    for scale in scales:
        for letter in dict.fromkeys(name[0] for name in names):
            folder = root / f"{letter}-{scale:g}"
            archives.append(Archive(letter, scale, _archive(folder, letter, scale)))
            mine = [name for name in names if name[0] == letter]
            results += [_measured(name, scale, folder, memory) for name in mine]
            if not keep:
                for path in folder.iterdir():
                    path.unlink()
    return archives, results


def _archive(folder: Path, letter: str, scale: float) -> Statistics:
    """Make the archive, unless it is there, and count what is in it."""
    if not made(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _say(f"{letter}: writing an archive of {scale:g} of the paper's size")
        started = time.monotonic()
        make(folder, letter, scale, lambda done, total: _bar(f"{letter} written", done, total))
        _say(f"{letter}: written in {time.monotonic() - started:.0f} s")
    return statistics(folder)


def _measured(name: str, scale: float, folder: Path, memory: int | None) -> Result:
    """Run a scenario in a process of its own, and look at its memory meanwhile."""
    command = [sys.executable, __file__, "--one", name, "--scale", f"{scale}"]
    command += ["--folder", str(folder)] + (["--memory", f"{memory}"] if memory else [])
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    anonymous = 0.0
    while child.poll() is None:
        anonymous = max(anonymous, _status(child.pid).get("RssAnon", 0.0))
        time.sleep(0.1)
    answer = child.stdout.read()
    if child.returncode:
        sys.exit(f"{name} ended with {child.returncode}.")
    found = Result(**json.loads(answer), anonymous_mb=anonymous)
    _say(f"{name}: {found.wall:.1f} s, {found.cpu:.1f} CPU s, {found.peak_mb:,.0f} MB")
    return found


def _status(pid: int) -> dict[str, float]:
    """What the kernel says about the memory of a process, in MB."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:  # it has just ended
        return {}
    pairs = (line.split(":", 1) for line in lines if line.endswith(" kB"))
    return {name: int(value.split()[0]) / 1024 for name, value in pairs}


def _one(name: str, scale: float, folder: Path, memory: int | None) -> None:
    from asof.cover.join.join import JoinLimits
    from asof.cover.question import Question
    from asof.cover.run import thin_out

    collection = load(folder)
    started, cpu = time.perf_counter(), time.process_time()
    stages: dict[str, float] = {}

    def progress(stage: str, done: int, total: int) -> None:
        stages[stage] = time.perf_counter() - started
        _bar(f"{name} {stage}", done, total)

    limits = JoinLimits(memory=memory and memory * 1_000_000, progress=progress)
    outcome = thin_out(collection, Question(RULES[name[2]]), limits)
    wall, spent = time.perf_counter() - started, time.process_time() - cpu
    less_documents, less_bytes = outcome.saved
    found = Result(
        name, scale, len(collection), collection.sets.items.size, outcome.edges,
        outcome.cover.components.count, float(outcome.cover.components.proven.mean()), outcome.gap,
        less_documents, less_bytes, wall, spent, stages, _status(os.getpid())["VmHWM"], 0.0,
    )  # fmt: skip
    given = asdict(found)
    del given["anonymous_mb"]
    print(json.dumps(given))


def _print_tables(archives: list[Archive], results: list[Result]) -> None:
    print("Table 2 of the paper times the scale, and what was made of it:")
    print(f"  {'':2}{'documents':>20}{'shingles':>25}{'documents/URL':>15}{'deviation':>12}"
          f"{'hosts':>7}{'MB':>8}  from, to")  # fmt: skip
    for archive in archives:
        shape, have = SCENARIOS[archive.name], archive.made
        documents = f"{shape.documents * archive.scale:,.0f} {have.documents:,}"
        shingles = f"{shape.shingles * archive.scale:,.0f} {have.shingles:,}"
        print(
            f"  {archive.name:2}{documents:>20}{shingles:>25}"
            f"{f'{shape.versions} {have.versions:.2f}':>15}"
            f"{f'{shape.deviation} {have.deviation:.2f}':>12}"
            f"{have.hosts:>7,}{have.bytes / 1e6:>8,.0f}  {have.first} {have.last}"
        )
    print("\nTable 3 of the paper (reduction in %), ours, and its time for the coverage graph:")
    print(f"  {'':5}{'documents':>14}{'bytes':>14}{'pairs':>13}{'components':>12}{'proven':>10}"
          f"{'gap':>5}{'wall s':>9}{'CPU s':>9}{'peak MB':>9}{'not files':>10}  seed")  # fmt: skip
    for one in results:
        theirs = TABLE_3[one.scenario]
        print(
            f"  {one.scenario:5}{f'{theirs[0]} {100 * one.less_documents:.2f}':>14}"
            f"{f'{theirs[1]} {100 * one.less_bytes:.2f}':>14}{one.edges:>13,}{one.components:>12,}"
            f"{100 * one.proven:>9.3f}%{one.gap:>5}{one.wall:>9.1f}{one.cpu:>9.1f}"
            f"{one.peak_mb:>9,.0f}{one.anonymous_mb:>10,.0f}  {TIMES.get(one.scenario, '-')}"
        )
    print(
        "The seed ran on ten servers (section 4.1) beside other work. Its inverted index took less"
        "\nthan one hour on top, components and cover together less than another (section 4.4)."
    )


def _print_curve(results: list[Result]) -> None:
    print(f"  {'':5}{'size':>6}{'documents':>12}{'shingles':>14}{'pairs':>13}{'wall s':>9}"
          f"{'CPU s':>9}{'peak MB':>9}{'not files':>10}")  # fmt: skip
    for name in dict.fromkeys(one.scenario for one in results):
        mine = [one for one in results if one.scenario == name]
        for one in mine:
            print(
                f"  {name:5}{one.scale:>6g}{one.documents:>12,}{one.shingles:>14,}{one.edges:>13,}"
                f"{one.wall:>9.1f}{one.cpu:>9.1f}{one.peak_mb:>9,.0f}{one.anonymous_mb:>10,.0f}"
            )
        if len(mine) > 1:
            slopes = {what: _slope(mine, what) for what in ("wall", "cpu", "peak_mb", "edges")}
            print(
                f"  {name:5}grows as size to the power of: wall {slopes['wall']:.2f}, CPU "
                f"{slopes['cpu']:.2f}, peak {slopes['peak_mb']:.2f}, pairs {slopes['edges']:.2f}"
            )


def _slope(results: list[Result], what: str) -> float:
    """The slope of a straight line through the logarithms, by least squares."""
    sizes = np.log([one.shingles for one in results])
    return float(np.polyfit(sizes, np.log([getattr(one, what) for one in results]), 1)[0])


def _plot(results: list[Result], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for name in dict.fromkeys(one.scenario for one in results):
        mine = [one for one in results if one.scenario == name]
        sizes = [one.shingles / 1e6 for one in mine]
        axes[0].loglog(sizes, [one.cpu for one in mine], "o-", label=f"{name}, CPU")
        axes[0].loglog(sizes, [one.wall for one in mine], "o--", label=f"{name}, wall")
        axes[1].loglog(sizes, [one.peak_mb for one in mine], "o-", label=f"{name}, peak")
        axes[1].loglog(sizes, [one.anonymous_mb for one in mine], "o--", label=f"{name}, no files")
    for axis, title in zip(axes, ("seconds", "MB"), strict=True):
        axis.set(xlabel="million shingles", title=title)
        axis.grid(which="both", alpha=0.3)
        axis.legend()
    figure.savefig(path, dpi=120)


def _say(text: str) -> None:
    print(f"\r{text:70}" if sys.stderr.isatty() else text, file=sys.stderr, flush=True)


class _Bar:
    """How far it is: often to people, now and then to files."""

    def __init__(self) -> None:
        self.said = time.monotonic()

    def __call__(self, text: str, done: int, total: int) -> None:
        people = sys.stderr.isatty()
        if time.monotonic() - self.said < (0.2 if people else 15):
            return
        self.said = time.monotonic()
        line = f"{text} {done / total if total else 1:.0%}"
        print(f"\r{line:70}" if people else f"{line}\n", end="", file=sys.stderr, flush=True)


_bar = _Bar()


if __name__ == "__main__":
    main()
