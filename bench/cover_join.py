"""The exact coverage join on a made-up versioned archive of the shape of seed 004, Table 2.

    .venv/bin/python bench/cover_join.py --scenario C --scale 0.1           # ours alone
    .venv/bin/python bench/cover_join.py --scale 0.02 --peers ENV/bin/python --rounds 3

The second compares with the same prefix join written for Polars and in SQL for DuckDB, and with
SetSimilaritySearch, as far as the interpreter given has them; all must find the same edges.
Relation (1) of the seed: C(d1, d2) >= 0.7 and timestamp(d1) <= timestamp(d2). Documents are in the
order of time; each has a header that all pages share, the template of its section (none to 0.7 of
the page, a third of it new each year), phrases that others use, and text of its own, which versions
change, add to, or leave as it is.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from measure import Cost, interleave, median, run, spread

THRESHOLD = (7, 10)
BOILERPLATE = 0.35  # of a page, on average: from none of it to 0.7


@dataclass(frozen=True)
class Scenario:
    """A row of Table 2: documents, shingles, documents a URL and their deviation."""

    documents: int
    shingles: int
    versions: float
    spread: float


SCENARIOS = {
    "A": Scenario(1_667_654, 812_331_426, 2.24, 1.24),
    "B": Scenario(348_778, 240_464_783, 2.07, 1.24),
    "C": Scenario(75_299, 94_143_006, 2.32, 0.47),
}


def mixed(x: np.ndarray) -> np.ndarray:
    """Splitmix64: numbers as good as hashes of shingles."""
    x = x * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def shingles(kind: int, owner: int, edition: int, first: int, last: int) -> np.ndarray:
    base = (kind << 60) | (owner << 34) | (edition << 24)
    return mixed(np.arange(base + first, base + last, dtype=np.uint64))


def version_counts(rng: np.random.Generator, shape: Scenario, documents: int) -> np.ndarray:
    """Versions of each URL: two, three, or with a large deviation a long tail."""
    if shape.spread < 1:
        drawn = 2 + (rng.random(documents) < shape.versions - 2)
    else:
        many = rng.random(documents) < 0.06
        drawn = 2 + many * (1 + rng.geometric(0.25, documents))
    total = np.cumsum(drawn)
    return drawn[: int(np.searchsorted(total, documents)) + 1]


def document(
    url: int, version: int, size: int, year: int, rng: np.random.Generator, fates: list[float]
) -> np.ndarray:
    """The shingles of one version; `fates` say what each version did to the text before it."""
    section = int(40 * ((url * 0.6180339887) % 1) ** 2)
    template = int(size * BOILERPLATE * 2 * ((url * 0.7548776662) % 1))
    stable = template * 2 // 3
    parts = [
        shingles(1, 0, 0, 0, size // 20),
        shingles(2, section, 0, 0, stable),
        shingles(2, section, 1 + year, 0, template - stable),
    ]
    text = size - template - size // 20
    edition = np.zeros(text, np.int64)
    for number in range(1, version + 1):
        changed = fates[number]
        if changed > 0:
            at = int(url * 7919 + number * 104729) % text
            edition[at : at + int(changed * text)] = number
        else:  # the text grows
            edition = np.concatenate([edition, np.full(int(-changed * text), number)])
    for number in np.unique(edition).tolist():
        places = np.flatnonzero(edition == number)
        base = (3 << 60) | (url << 34) | (number << 24)
        parts.append(mixed(np.uint64(base) + places.astype(np.uint64)))
    phrases = (2_000_000 * np.random.default_rng(url).random(size // 20) ** 4).astype(np.uint64)
    parts.append(mixed((np.uint64(4) << np.uint64(60)) + phrases))
    return np.unique(np.concatenate(parts))


def make(folder: Path, scenario: str, scale: float) -> None:
    """Write offsets.npy and items.npy."""
    shape = SCENARIOS[scenario]
    rng = np.random.default_rng(4)
    documents = max(10, int(shape.documents * scale))
    mean = shape.shingles / shape.documents * 0.97  # versions grow
    counts = version_counts(rng, shape, documents)
    sizes = np.maximum(20, rng.lognormal(np.log(mean) - 0.32, 0.8, counts.size)).astype(int)
    rows = []
    for url, versions in enumerate(counts.tolist()):
        moments = np.sort(rng.random(versions)) * 3
        kinds, amounts = rng.random(versions), rng.random(versions)
        fates = np.where(kinds < 0.45, 1e-9, np.where(kinds < 0.75, amounts * 0.15, 0.0))
        fates = np.where(kinds >= 0.75, np.where(kinds < 0.9, amounts, -amounts * 0.3), fates)
        rows += [(moments[v], url, v, fates[: v + 1].tolist()) for v in range(versions)]
    rows.sort(key=lambda row: row[0])
    rows = rows[:documents]
    offsets = np.zeros(len(rows) + 1, np.int64)
    with (folder / "items.raw").open("wb") as out:
        for at, (moment, url, version, fates) in enumerate(rows):
            one = document(url, version, int(sizes[url]), int(moment), rng, fates)
            out.write(one.tobytes())
            offsets[at + 1] = offsets[at] + one.size
    np.save(folder / "offsets.npy", offsets)


def load(folder: Path, *, mapped: bool = False) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.load(folder / "offsets.npy")
    if mapped:
        return offsets, np.memmap(folder / "items.raw", np.uint64, "r")
    return offsets, np.fromfile(folder / "items.raw", np.uint64)


def ours(folder: Path, memory: int | None = None) -> tuple[int, int]:
    from asof.cover.bounds import Bound
    from asof.cover.join import join
    from asof.cover.sets import Sets

    offsets, items = load(folder, mapped=True)
    sets = Sets(offsets, items)
    found = total = 0
    position = np.arange(len(sets), dtype=np.int64)
    bound = Bound.containment("0.7")
    for edges in join(sets, bound, position=position, window=(0, None), memory=memory):
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
