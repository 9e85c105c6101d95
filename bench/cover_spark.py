"""The Spark engine beside the local one, on one machine: the same table, time, and that both agree.

    .venv/bin/python bench/cover_spark.py [--scenario C] [--scale 0.02] [--cores 2]

The table is a made-up archive of Paudel 2013's shape (cover_archive.py), each of its shingles a
word, so that k = 1 brings the same sets back. Spark is not for one machine: this shows what its
stages cost, and that the answer is the same at a size that tests do not have.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cover_archive
from asof.cover.documents.tables import read_table
from asof.cover.join.join import JoinLimits
from asof.cover.question import Question
from asof.cover.run import thin_out
from asof.cover.spark.answer import answers
from asof.cover.spark.run import cover_on_spark
from asof.cover.spark.session import spark_session

RELATION = "C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2)"
FILES = 8


def write_table(folder: Path, scenario: str, scale: float) -> Path:
    """The archive as Parquet: names, times, and words for shingles."""
    made, out = folder / "made", folder / "table"
    made.mkdir()
    cover_archive.make(made, scenario, scale)
    collection = cover_archive.load(made)
    out.mkdir()
    times = np.asarray(collection.columns["timestamp"].values)
    for part, places in enumerate(np.array_split(np.arange(len(collection)), FILES)):
        texts = [" ".join(map("{:x}".format, collection.sets[at].tolist())) for at in places]
        columns = {
            "id": pa.array(places),
            "text": pa.array(texts),
            "timestamp": pa.array(times[places], pa.timestamp("us", "UTC")),
        }
        pq.write_table(pa.table(columns), out / f"part-{part}.parquet")
    return out


def cpu_below(parent: int) -> float:
    """CPU seconds of a process and all that came of it."""
    total, tick = 0.0, os.sysconf("SC_CLK_TCK")
    children: dict[int, list[tuple[int, float]]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                cells = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:  # it has ended
                continue
            spent = sum(map(int, cells[11:15])) / tick
            children.setdefault(int(cells[1]), []).append((int(entry.name), spent))
            total += spent if int(entry.name) == parent else 0.0
    waiting = [parent]
    while waiting:
        for process, spent in children.get(waiting.pop(), []):
            total += spent
            waiting.append(process)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenario", default="C", choices=("A", "B", "C"))
    parser.add_argument("--scale", type=float, default=0.02)
    parser.add_argument("--cores", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        table = write_table(Path(scratch), given.scenario, given.scale)
        started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
        collection = read_table(table).collection(1)
        outcome = thin_out(collection, Question(RELATION), JoinLimits())
        after = resource.getrusage(resource.RUSAGE_SELF)
        print(f"{len(collection):,} documents, {collection.sets.items.size:,} shingles")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(
            f"local: {time.monotonic() - started:.1f} s, {cpu:.1f} CPU s, {outcome.edges:,} pairs"
        )
        with spark_session(f"local[{given.cores}]") as session:
            target = str(Path(scratch, "answer"))
            summary = cover_on_spark(session, Question(RELATION, str(table), k=1), target)
            cpu = cpu_below(session.sparkContext._gateway.proc.pid)
            print(f"spark: {summary.seconds:.1f} s, {cpu:.1f} CPU s, {summary.edges:,} pairs")
            rows = list(answers(session, target))
        names = collection.names
        by = {names[each.document]: names[each.by] for each in outcome.dropped}
        found = {str(row.id): str(row.by) for row in rows if not row.kept}
        same = found == by and summary.edges == outcome.edges
        print(f"{len(by):,} dropped; the same answer: {'yes' if same else 'NO'}")


if __name__ == "__main__":
    main()
