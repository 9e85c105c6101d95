"""The exact coverage join on a made-up versioned archive of the shape of Paudel 2013, Table 2.

    .venv/bin/python bench/cover_join.py --scenario C --scale 0.1           # ours alone
    .venv/bin/python bench/cover_join.py --scale 0.02 --peers ENV/bin/python --rounds 3

The second compares with the same prefix join written for Polars and in SQL for DuckDB, and with
SetSimilaritySearch, as far as the interpreter given has them; all must find the same edges.
Relation (1) of the paper: C(d1, d2) >= 0.7 and timestamp(d1) <= timestamp(d2). Documents are those
of bench/cover_archive.py, in the order of time.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np

import cover_archive
from cover_archive import BLOCK, SCENARIOS
from measure import Cost, interleave, median, run, spread

THRESHOLD = (7, 10)


def make(folder: Path, scenario: str, scale: float) -> None:
    """Write offsets.npy and items.raw, documents in the order of time as every way takes them."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        cover_archive.make(Path(made), scenario, scale)
        offsets, items = load(Path(made), mapped=True)
        order = np.argsort(np.load(Path(made) / "moments.npy"), kind="stable")
        sizes = np.diff(offsets)
        with (folder / "items.raw").open("wb") as out:
            for some in np.array_split(order, max(1, items.size // BLOCK)):
                places = cover_archive.spread(offsets[some], sizes[some])
                items[places].tofile(out)
    np.save(folder / "offsets.npy", np.concatenate([[0], np.cumsum(sizes[order])]))


def load(folder: Path, *, mapped: bool = False) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.load(folder / "offsets.npy")
    if mapped:
        return offsets, np.memmap(folder / "items.raw", np.uint64, "r")
    return offsets, np.fromfile(folder / "items.raw", np.uint64)


def ours(folder: Path, memory: int | None = None) -> tuple[int, int]:
    from asof.cover.documents.sets import Sets
    from asof.cover.join.join import JoinLimits, join
    from asof.cover.language.bounds import Bound, Least

    offsets, items = load(folder, mapped=True)
    sets = Sets(offsets, items)
    found = total = 0
    position = np.arange(len(sets), dtype=np.int64)
    bound = Bound(Least(Fraction(7, 10)))
    limits = JoinLimits(memory=memory)
    for edges in join(sets, bound, limits, position=position, window=(0, None)):
        found += len(edges)
        total += int(edges.inter.sum())
    return found, total


def by_polars(folder: Path) -> tuple[int, int]:
    import polars as pl

    offsets, items = load(folder)
    sizes = np.diff(offsets)
    need = -(-THRESHOLD[0] * sizes // THRESHOLD[1])
    frame = pl.DataFrame(
        {"d": np.repeat(np.arange(sizes.size, dtype=np.int32), sizes), "s": items}
    ).lazy()
    of = pl.DataFrame({"d": np.arange(sizes.size, dtype=np.int32), "need": need}).lazy()
    shared = frame.with_columns(f=pl.len().over("s")).filter(pl.col("f") > 1).collect().lazy()
    asked = (
        shared.join(of, on="d")
        .sort("d", "f", "s")
        .filter(pl.int_range(pl.len()).over("d") < pl.len().over("d") - pl.col("need") + 1)
        .select("d", "s")
    )
    pairs = (
        asked.join(shared.select(e="d", s="s"), on="s")
        .filter(pl.col("d") < pl.col("e"))
        .select("d", "e")
        .unique()
        .collect()
        .lazy()
    )
    common = (
        pairs.join(shared.select("d", "s"), on="d")
        .join(shared.select(e="d", s="s"), on=["e", "s"], how="semi")
        .group_by("d", "e")
        .len("x")
    )
    found = common.join(of, on="d").filter(pl.col("x") >= pl.col("need")).collect()
    return found.height, int(found["x"].sum())


def by_duckdb(folder: Path) -> tuple[int, int]:
    import duckdb
    import pyarrow as pa

    offsets, items = load(folder)
    sizes = np.diff(offsets)
    need = -(-THRESHOLD[0] * sizes // THRESHOLD[1])
    shingle = pa.table({"d": np.repeat(np.arange(sizes.size, dtype=np.int32), sizes), "s": items})
    of = pa.table({"d": np.arange(sizes.size, dtype=np.int32), "need": need})
    base = duckdb.connect()
    base.register("shingle", shingle)
    base.register("need_of", of)
    base.execute(
        "create temp table shared as select d, s, f from "
        "(select d, s, f from shingle join (select s, count(*) f from shingle group by s "
        "having count(*) > 1) using (s))"
    )
    base.execute(
        "create temp table pairs as select distinct a.d d, b.d e from (select d, s from (select d,"
        " s, row_number() over (partition by d order by f, s) r, count(*) over (partition by d) k "
        "from shared) join need_of using (d) where r <= k - need + 1) a join shared b using (s) "
        "where a.d < b.d"
    )
    base.execute(  # by itself: the planner would join all shared shingles with each other first
        "create temp table sides as select p.d, p.e, a.s from pairs p join shared a on a.d = p.d"
    )
    row = base.execute(
        "select count(*), sum(x) from (select a.d, count(*) x from sides a join shared b on "
        "b.d = a.e and b.s = a.s group by a.d, a.e) c "
        "join need_of using (d) where x >= need"
    ).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def by_setsim(folder: Path) -> tuple[int, int]:
    from SetSimilaritySearch import SearchIndex

    offsets, items = load(folder)
    sets = [items[a:b].tolist() for a, b in pairwise(offsets)]
    index = SearchIndex(
        sets, similarity_func_name="containment", similarity_threshold=THRESHOLD[0] / THRESHOLD[1]
    )
    found = total = 0
    for i, one in enumerate(sets):
        later = [(j, round(share * len(one))) for j, share in index.query(one) if j > i]
        found += len(later)
        total += sum(common for _, common in later)
    return found, total


WAYS = {"ours": ours, "polars": by_polars, "duckdb": by_duckdb, "setsim": by_setsim}
MODULES = {"polars": "polars", "duckdb": "duckdb", "setsim": "SetSimilaritySearch"}


def compare(folder: Path, peers: str, rounds: int) -> None:
    def job(way: str) -> list[str]:
        python = sys.executable if way == "ours" else peers
        return [python, __file__, "--folder", str(folder), "--way", way]

    ways = ["ours"]
    for way, module in MODULES.items():
        known = subprocess.run([peers, "-c", f"import {module}"], capture_output=True, check=False)
        ways += [way] if known.returncode == 0 else []
    for way in ways:
        answer = subprocess.run(job(way), capture_output=True, text=True, check=True).stdout
        print(f"  {way:8}{answer.strip()}")
    costs = interleave(rounds, {way: (lambda way=way: run(job(way))) for way in ways})
    mine = costs["ours"]
    for way in ways:
        of = costs[way]
        times = (
            median(of, "cpu") / median(mine, "cpu"),
            median(of, "peak_mb") / median(mine, "peak_mb"),
        )
        print(
            f"  {way:8} CPU s {spread(of, 'cpu'):>16}  wall s {spread(of, 'wall'):>16}  peak MB "
            f"{median(of, 'peak_mb'):>6.0f}   {times[0]:.1f}x CPU, {times[1]:.1f}x memory of ours"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenario", choices=list(SCENARIOS), default="C")
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--peers", help="an interpreter with Polars, DuckDB, SetSimilaritySearch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the archive is, or is to be")
    parser.add_argument("--way", choices=list(WAYS), help="run one and print edges and their sum")
    parser.add_argument("--memory", type=int, help="budget of ours in MB")
    asked = parser.parse_args()
    if asked.way:
        print(
            *(f"{number:,}" for number in WAYS[asked.way](asked.folder)), "edges, common shingles"
        )
        return
    with tempfile.TemporaryDirectory() as made:
        folder = asked.folder or Path(made)
        folder.mkdir(exist_ok=True)
        if not (folder / "offsets.npy").exists():
            make(folder, asked.scenario, asked.scale)
        offsets = np.load(folder / "offsets.npy")
        print(f"{offsets.size - 1:,} documents, {offsets[-1]:,} shingles")
        if asked.peers:
            compare(folder, asked.peers, asked.rounds)
            return
        start, cpu = time.perf_counter(), time.process_time()
        memory = asked.memory and asked.memory << 20
        found, _ = ours(folder, memory)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        cost = Cost(time.perf_counter() - start, time.process_time() - cpu, peak)
        print(f"{found:,} edges: {cost.wall:.1f} s, {cost.cpu:.1f} CPU s, {peak:.0f} MB peak")


if __name__ == "__main__":
    main()
