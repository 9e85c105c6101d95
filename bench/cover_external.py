"""Covers of more pairs than memory holds: pairs a second, memory and disk.

    .venv/bin/python bench/cover_external.py [--documents 20000] [--shape later]
    .venv/bin/python bench/cover_external.py --documents 75000 --shape later      (11 GB of disk)
    .venv/bin/python bench/cover_external.py --texts 20000      texts that share 3 of 5 shingles,
    joined

Shapes: `all` documents cover each other; `later` ones cover all earlier ones; `cliques` of very
different sizes; `window`, in which a document is covered by the later ones of some time; `drift`,
the same with ids in any order, both ways. Blocks of pairs come in any order.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from asof.cover.documents.sets import Sets
from asof.cover.join.join import JoinLimits, join
from asof.cover.join.pair_spool import ROOM, PairSpool
from asof.cover.language.bounds import Bound, Least
from asof.cover.solve.external import solve_external

Ints = NDArray[np.int64]
BLOCK = 1 << 21


def spans(shape: str, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """For each document the first and last of those that cover it, in some order."""
    own = np.arange(n)
    if shape == "all":
        return np.zeros(n, np.int64), np.full(n, n - 1)
    if shape == "later":
        return own, np.full(n, n - 1)
    if shape == "cliques":
        cuts = np.unique(np.concatenate([[0], (n * rng.random(300) ** 3).astype(np.int64), [n]]))
        at = np.searchsorted(cuts, own, side="right") - 1
        return cuts[at], cuts[at + 1] - 1
    times = np.sort(rng.random(n))
    last = np.searchsorted(times, times + 0.15, side="right") - 1
    if shape == "window":
        return own, last
    return np.searchsorted(times, times - 0.15), last


def blocks(shape: str, n: int) -> Iterator[tuple[Ints, Ints]]:
    rng = np.random.default_rng(6)
    low, high = spans(shape, n, rng)
    names = rng.permutation(n) if shape in {"drift", "cliques"} else np.arange(n)
    rows = rng.permutation(n)
    counts = (high - low + 1)[rows]
    ends = np.cumsum(counts)
    at = 0
    while at < n:
        base = int(ends[at - 1]) if at else 0
        end = max(at + 1, int(np.searchsorted(ends, base + BLOCK, side="right")))
        mine, number = rows[at:end], counts[at:end]
        starts = np.cumsum(number) - number
        cols = np.arange(number.sum()) - np.repeat(starts - low[mine], number)
        yield names[np.repeat(mine, number)], names[cols]
        at = end


def joined(n: int) -> Iterator[tuple[Ints, Ints]]:
    """Texts of five shingles, three of which all have."""
    own = np.arange(n, dtype=np.uint64)[:, None] * np.uint64(2) + np.uint64(10)
    common = np.broadcast_to(np.arange(3, dtype=np.uint64), (n, 3))
    items = np.concatenate([common, own, own + np.uint64(1)], axis=1).reshape(-1)
    sets = Sets(np.arange(0, 5 * n + 1, 5, dtype=np.int64), items)
    for edges in join(sets, Bound(Least(Fraction(1, 2))), JoinLimits(memory=64 << 20)):
        yield edges.i.astype(np.int64), edges.j.astype(np.int64)


def peak() -> str:
    status = Path("/proc/self/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return f"{int(fields['VmHWM'].split()[0]) / 1024:,.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=20000)
    parser.add_argument("--shape", default="later")
    parser.add_argument("--texts", type=int, default=0)
    parser.add_argument("--room", type=int, default=ROOM >> 20, help="MB")
    args = parser.parse_args()
    n = args.texts or args.documents
    source = joined(n) if args.texts else blocks(args.shape, n)
    base = peak()
    said: set[str] = set()

    def tell(stage: str, done: int, total: int) -> None:
        if stage not in said:
            said.add(stage)
            print(f"  {time.perf_counter() - started:8.1f} s  {stage} of {total:,}  {peak()}")

    started, cpu = time.perf_counter(), time.process_time()
    with PairSpool(n, room=args.room << 20) as spool:
        for rows, cols in source:
            spool.add(rows, cols)
        added, wall, used = spool.added, time.perf_counter() - started, time.process_time() - cpu
        print(f"{added:,} pairs kept in {wall:.1f} s ({used:.1f} CPU s), {spool.written:,} bytes")
        found = solve_external(spool, limits=JoinLimits(progress=tell))
        written = spool.written
    wall, used = time.perf_counter() - started, time.process_time() - cpu
    cover = found.cover
    print(
        f"{n:,} documents, {found.pairs:,} pairs, {cover.components.count:,} components: "
        f"{int(cover.kept.sum()):,} kept, gap {cover.gap}, optimal {cover.optimal}\n"
        f"{wall:.1f} s, {used:.1f} CPU s, {added / wall / 1e6:.1f} million pairs a second, "
        f"peak {peak()} ({base} at the start), disk {written / 1e9:.2f} GB"
    )


if __name__ == "__main__":
    main()
