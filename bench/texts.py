"""Reading the texts of an archive, in two checkouts by turns: what a page costs.

    python bench/texts.py OTHER FOLDER [--pages 1000] [--rounds 3]

OTHER is the folder of another checkout (see bench/two_checkouts.py), FOLDER holds rendered HTML of
any site (see bench/text_pages.py). `asof reindex --text` reads the same records with the code of
each, in archives of their own; CPU seconds are those of all processes together.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from compileall import compile_dir
from functools import partial
from pathlib import Path

from measure import Cost, interleave, report, run
from text_pages import write_pages
from two_checkouts import HERE, python


def read_texts(checkout: Path, archive: Path) -> Cost:
    shutil.rmtree(archive / "derived", ignore_errors=True)
    return run(python(checkout, "-m", "asof", "reindex", "--text", "-a", archive))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("other", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    sides = {"this": HERE, "other": asked.other.resolve()}
    for side in sides.values():
        compile_dir(side / "src", quiet=2)
    with tempfile.TemporaryDirectory(prefix="asof-bench-") as scratch:
        warc = Path(scratch) / "pages.warc.gz"
        write_pages(asked.folder, warc, asked.pages)
        jobs = {}
        for name, side in sides.items():
            archive = Path(scratch) / name
            run(python(side, "-m", "asof", "import", warc, "-a", archive))
            jobs[name] = partial(read_texts, side, archive)
        report("texts of pages", interleave(asked.rounds, jobs), asked.pages, "pages")


if __name__ == "__main__":
    main()
