"""What a run costs when others were before it: same rule, other rules, and an archive that grew.

    .venv/bin/python bench/cover_growth.py --scale 1

Documents are those of scenario C (bench/cover_archive.py), kept as `asof cover` keeps them. Every
line is a process of its own that loads the kept collection and answers one rule; wall and CPU
seconds are those of the process, with its start. `--plain` runs each without what earlier ones
left, for comparison. Growth: the last hundredth of documents by time is new; merging them into
the kept collection and writing that is part of the time, reading their texts is not.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import cover_archive
from measure import Cost, run

if TYPE_CHECKING:
    from asof.cover.documents.collection import Collection
    from asof.cover.documents.of_archive import GatheredDocuments

LATER = "timestamp(d1) <= timestamp(d2)"
FIRST = f"C(d1,d2) >= 0.7 and {LATER}"
STEPS = {
    "first run": ("old", FIRST),
    "the same rule again": ("old", FIRST),
    "a higher threshold": ("old", f"C(d1,d2) >= 0.8 and {LATER}"),
    "one condition more": ("old", f"{FIRST} and url(d1) = url(d2)"),
    "Jaccard instead": ("old", f"J(d1,d2) >= 0.75 and {LATER}"),
    "a lower threshold": ("old", f"C(d1,d2) >= 0.6 and {LATER}"),
    "no order of time": ("old", "C(d1,d2) >= 0.7"),
    "looser, within URLs": ("old", "C(d1,d2) >= 0.5 and url(d1) = url(d2)"),
    "looser, within hosts": ("old", "C(d1,d2) >= 0.6 and hostname(d1) = hostname(d2)"),
    "1 % new documents": ("new", FIRST),
    "the same rule again ": ("new", FIRST),
}


def documents(folder: Path) -> Collection:
    """Scenario C with the columns, names and document_ids of archived pages."""
    from asof.clock import stamp
    from asof.cover.documents.of_archive import ARCHIVE_COLUMNS
    from asof.cover.language.columns import Column, number_column, text_column

    found = cover_archive.load(folder)
    urls = np.load(folder / "urls.npy").tolist()
    times = found.columns["timestamp"]
    hosts = text_column(f"host{url // 400}.example" for url in urls)  # 80 of them, not one as in C
    names = [f"http://{hosts.strings[hosts.values[at]]}/pages/of/{url}/index.html"
             for at, url in enumerate(urls)]  # fmt: skip
    titles = [f"Page {url} of the made-up archive" for url in urls]
    document_ids = [
        blake2b(str(at).encode(), digest_size=15).digest() + b"." for at in range(len(urls))
    ]
    columns: dict[str, Column] = {
        "timestamp": times, "hostname": hosts,
        "url": text_column(names), "title": text_column(titles),
    }  # fmt: skip
    for name, column in ARCHIVE_COLUMNS.items():  # what no rule here asks for is not known
        made = number_column if column.kind == "number" else text_column
        columns.setdefault(name, made([None] * len(urls)))
    return replace(
        found,
        names=tuple(
            f"{stamp(at)}/{url}" for at, url in zip(times.values.tolist(), names, strict=True)
        ),
        columns=columns,
        document_ids=np.array(document_ids, "S16"),
        records=tuple(map(str, range(len(urls)))),
    )


def prepare(source: Path, place: Path) -> None:
    """Keep all documents but the latest hundredth, and leave those in a folder of their own."""
    from asof.cover.documents.of_archive import GatheredDocuments
    from asof.cover.documents.sets import Sets
    from asof.cover.kept.shingle_cache import keep

    found = documents(source)
    times = found.columns["timestamp"].values
    late = times > np.quantile(times, 0.99)
    none = np.zeros(0, "S16")
    keep(place / "derived" / "cover" / "main-5-old", GatheredDocuments(found.only(~late), none))
    keep(place / "fresh" / "main-5-fresh", GatheredDocuments(found.only(late), none))
    np.save(place / "late.npy", late)
    nothing = Sets(np.zeros(len(found) + 1, np.int64), np.zeros(0, np.uint64))
    keep(place / "fresh" / "facts-5-whole", GatheredDocuments(replace(found, sets=nothing), none))


def grown(place: Path) -> GatheredDocuments:
    """The kept collection with the new documents in their places, kept in its turn."""
    from asof.cover.documents.collection import merged
    from asof.cover.documents.of_archive import GatheredDocuments
    from asof.cover.kept.shingle_cache import keep, kept

    new = place / "derived" / "cover" / "main-5-new"
    found = kept(new)
    if found is not None:
        return found
    old = kept(place / "derived" / "cover" / "main-5-old")
    fresh = kept(place / "fresh" / "main-5-fresh")
    facts = kept(place / "fresh" / "facts-5-whole")
    if old is None or fresh is None or facts is None:
        sys.exit("what was prepared is gone")
    late = np.load(place / "late.npy")
    places = np.where(late, -1, np.cumsum(~late) - 1).tolist()
    sets = merged(old.collection.sets, fresh.collection.sets, places)
    made = GatheredDocuments(replace(facts.collection, sets=sets), old.blanks)
    keep(new, made)
    return made


def answer(place: Path, step: str, out: Path, *, plain: bool) -> None:
    """One run, as `asof cover` has it; writes what came out."""
    from asof.archive.folder import Folder
    from asof.cover.documents.document_ids import Shingling
    from asof.cover.join.join import JoinLimits
    from asof.cover.kept.pair_cache import earlier_runs
    from asof.cover.kept.shingle_cache import kept
    from asof.cover.question import Question
    from asof.cover.run import thin_out

    state, rule = STEPS[step]
    found = grown(place) if state == "new" else kept(place / "derived" / "cover" / "main-5-old")
    assert found is not None
    with earlier_runs(Folder(place), Shingling()) as earlier:
        outcome = thin_out(
            found.collection, Question(rule), JoinLimits(), None if plain else earlier
        )
    kept_by_it = blake2b(np.packbits(outcome.cover.kept).tobytes(), digest_size=8).hexdigest()
    out.write_text(json.dumps([outcome.edges, outcome.known, kept_by_it]))


def show(place: Path, *, plain: bool) -> None:
    """Every step, in order: what came out, and what it cost with and without earlier runs."""
    for step in STEPS:
        (edges, known, kept), cost = _run(place, step)
        line = f"  {step:22}{cost.cpu:6.1f} CPU s {cost.wall:6.1f} s {cost.peak_mb:6.0f} MB"
        print(f"{line}   {edges:,} pairs; {known:,} documents known", flush=True)
        if plain:
            (alone, _, same), cost = _run(place, step, "--plain")
            line = f"  {'  by itself':22}{cost.cpu:6.1f} CPU s {cost.wall:6.1f} s"
            print(f"{line} {cost.peak_mb:6.0f} MB", flush=True)
            assert (alone, same) == (edges, kept), "another answer"


def _run(place: Path, step: str, *more: str) -> tuple[tuple[int, int, str], Cost]:
    out = place / "answer.json"
    job = [sys.executable, __file__, "--place", str(place), "--step", step, "--out", str(out)]
    cost = run([*job, *more])
    edges, known, kept = json.loads(out.read_text())
    return (edges, known, kept), cost


def main() -> None:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--folder", type=Path, help="where the documents are, or are to be")
    parser.add_argument("--plain", action="store_true", help="also without earlier runs")
    parser.add_argument("--place", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--step", choices=list(STEPS), help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.step:
        answer(asked.place, asked.step, asked.out, plain=asked.plain)
        return
    if asked.place:
        prepare(asked.folder, asked.place)
        return
    with tempfile.TemporaryDirectory() as made:
        folder = asked.folder or Path(made) / "documents"
        if not cover_archive.made(folder):
            cover_archive.make(folder, "C", asked.scale)
        place = Path(made) / "archive"
        # In a process of its own: a child's peak of memory is at least what its parent has.
        run([sys.executable, __file__, "--folder", str(folder), "--place", str(place)])
        print(cover_archive.statistics(folder))
        show(place, plain=asked.plain)


if __name__ == "__main__":
    main()
