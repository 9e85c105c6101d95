"""How long choosing a memento takes, warm and cold, also for URLs with many captures.

    PYTHONPATH=tests python bench/choose.py [--captures 20000] [--resources 200] [--rounds 5]

An archive is made of rows alone: a page's worth of resources with ten captures each, and four with
many (equal bytes, bytes that change, 304 answers, and dates). Each is asked for as of moments drawn
over all its time, and before and after it. Then the same while a crawl commits twice a second.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from asof.archive import OpenArchive
from asof.clock import SECOND, Instant
from asof.model import Capture, Location, Segment
from asof.replay.choose import Chooser, Policy
from asof.url import surt
from support.catalog_entry import enter

START = 1_700_000_000 * SECOND
STEP = 600 * SECOND
SITE = "http://example.org/"


def main() -> int:
    given = _arguments()
    many = ("equal", "changing", "confirmed", "dated")
    urls = [f"{SITE}part/{number}.png" for number in range(given.resources)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [row for url in urls for row in _captures(url, "dated", 10)]
        rows += [row for kind in many for row in _captures(SITE + kind, kind, given.captures)]
        _put(folder, rows, 1)
        with OpenArchive.open(folder) as archive:
            chooser = Chooser(archive)
            begun = time.perf_counter()
            chooser.choose(urls[0], START)
            print(f"host trust, learnt of {len(rows):,}: {time.perf_counter() - begun:6.2f} s")
            with OpenArchive.open(folder) as again:
                [first] = _times(Chooser(again), urls[:1], 10, 1)
            print(f"the same, learnt ahead by another process: {1000 * first:6.1f} ms")
            _report("10 captures each, cold", _times(chooser, urls[1:], 10, 1))
            _report("10 captures each, warm", _times(chooser, urls[1:], 10, given.rounds))
            for kind in many:
                [cold] = _times(chooser, [SITE + kind], given.captures, 1)
                print(f"{given.captures:,} {kind}, cold: {1000 * cold:8.1f} ms")
                warm = _times(chooser, [SITE + kind] * 200, given.captures, given.rounds)
                _report(f"{given.captures:,} {kind}, warm", warm)
            with _writing(folder):
                busy = _times(chooser, urls[1:], 10, given.rounds * 10)
            _report("10 captures each, while a crawl writes", busy)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name, default in (("captures", 20_000), ("resources", 200), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_args()


def _captures(url: str, kind: str, count: int) -> Iterator[Capture]:
    for number in range(count):
        at = START + number * STEP
        letter = "ABCDEFGH"[0 if kind in ("equal", "confirmed") else number // 3 % 8]
        again = kind == "confirmed" and number > 0
        yield Capture(
            url, surt(url), at, "revisit" if again else "response", 304 if again else 200,
            "image/png", f"sha1:{letter * 32}", None if again else f"sha1:{letter * 32}", 1,
            f"{kind}-{number:06}-{url[-12:]}", Location("f.warc.gz", 0, 1), None, '"x"' if again or
            kind == "confirmed" else None, at - STEP // 2 if kind == "dated" else None, None, None,
            "server-not-modified" if again else None, url if again else None,
            START if again else None,
        )  # fmt: skip


def _put(folder: Path, captures: list[Capture], committed: int) -> None:
    with OpenArchive.write(folder, purpose="bench") as archive, archive.ledger.transaction():
        number = archive.catalog.put_segment(Segment("f.warc.gz", committed))
        enter(archive.catalog, captures, number)


def _times(chooser: Chooser, urls: list[str], captures: int, rounds: int) -> list[float]:
    random, took = Random(1), []
    for _ in range(rounds):
        for url in urls:
            at: Instant = START + random.randrange(-2 * STEP, (captures + 2) * STEP)
            begun = time.perf_counter()
            chooser.choose(url, at, Policy.COHERENT)
            took.append(time.perf_counter() - begun)
    return took


def _report(name: str, took: list[float]) -> None:
    ordered = sorted(took)
    p99 = ordered[len(ordered) * 99 // 100]
    print(f"{name}: p50 {1000 * statistics.median(took):.3f} ms, p99 {1000 * p99:.3f} ms")


class _writing:
    """A crawl of another host that commits twice a second."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._over = folder, threading.Event()
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> None:
        self._thread.start()
        time.sleep(0.6)

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _write(self) -> None:
        for committed in range(2, 10_000):
            _put(self._folder, [], committed)
            if self._over.wait(0.5):
                return


if __name__ == "__main__":
    sys.exit(main())
