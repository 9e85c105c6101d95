"""Two checkouts of asof, one beside the other: whether a change has cost speed.

    python bench/two_checkouts.py OTHER [--rounds 5] [--pages 1000] [--records 20000] [--scale 0.05]

OTHER is the folder of another checkout whose C is compiled in place (as `pip install -e` leaves
it). Crawl, import, check and the exact join run by turns on the same data with the interpreter and
the packages of this one, so that drift of the machine hits both alike.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from compileall import compile_dir
from functools import partial
from pathlib import Path

import cover_join
import spine
from crawl_site import free_port, serving, write_site
from measure import Cost, interleave, report, run

HERE = Path(__file__).resolve().parents[1]


def python(checkout: Path, *arguments: str | Path) -> list[str]:
    """A command line for the code of a checkout."""
    words = [str(word) for word in arguments]
    return ["env", f"PYTHONPATH={checkout / 'src'}", sys.executable, *words]


def crawl(checkout: Path, seeds: list[str], place: Path) -> Cost:
    shutil.rmtree(place, ignore_errors=True)
    os.sync()
    return run(python(checkout, "-m", "asof", "crawl", *seeds, "--delay", "0", "-q", "-a", place))


def take_in(checkout: Path, warc: Path, place: Path) -> Cost:
    shutil.rmtree(place, ignore_errors=True)
    os.sync()
    return run(python(checkout, "-m", "asof", "import", warc, "-a", place))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("other", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--scale", type=float, default=0.05)
    asked = parser.parse_args()
    os.environ["ASOF_ALLOW_PRIVATE"] = "1"
    sides = {"this": HERE, "other": asked.other.resolve()}
    for side in sides.values():  # else one may start with its bytecode, and the other without
        compile_dir(side / "src", quiet=2)
    with tempfile.TemporaryDirectory(prefix="asof-bench-") as scratch:
        place = Path(scratch)
        site = write_site(place / "site", asked.pages, free_port())
        with serving(site):
            jobs = {
                name: partial(crawl, side, list(site.seeds), place / name)
                for name, side in sides.items()
            }
            report("crawl", interleave(asked.rounds, jobs), asked.pages, "pages")
        for shape in spine.SHAPES:
            warc = spine.make_warc(place / f"{shape}.warc.gz", asked.records, shape)
            jobs = {
                name: partial(take_in, side, warc, place / name) for name, side in sides.items()
            }
            title = f"import + index, {shape}"
            report(title, interleave(asked.rounds, jobs), asked.records, "records")
            checks = {
                name: partial(run, python(side, "-m", "asof", "check", "-a", place / name))
                for name, side in sides.items()
            }
            report(f"check, {shape}", interleave(asked.rounds, checks), asked.records, "records")
        folder = place / "sets"
        folder.mkdir()
        cover_join.make(folder, "C", asked.scale)
        joins = {
            name: partial(
                run,
                python(side, side / "bench/cover_join.py", "--folder", folder, "--way", "ours"),
            )
            for name, side in sides.items()
        }
        count = (folder / "offsets.npy").stat().st_size // 8
        report("exact join", interleave(asked.rounds, joins), count, "documents")


if __name__ == "__main__":
    main()
