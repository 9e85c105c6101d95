"""Sites as of a moment in an archive of a million captures, as pages of `asof serve`.

    python bench/site.py [--captures 1000000] [--questions 200] [--keep FOLDER]

One host has 5,000 pages, one 1,000 and all others 100, each seen ten times, month by month: a third
of the pages never changes, a third is answered by a 304 where it did not, some go. *Reading* is the
CPU time for which a site is read once, *first* what the first reader of a server waits for. Then
the page is asked for as of moments all over that time. *Data* is what its script colours by.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from urllib.parse import quote, urlsplit
from uuid import UUID

from asof.archive import OpenArchive
from asof.catalog.rows import Row
from asof.clock import DAY, SECOND, parse_stamp, stamp
from asof.model import Segment
from asof.replay.sites import Sites
from asof.url import surt

ASOF = str(Path(sys.executable).parent / "asof")
BEGAN = parse_stamp("20240101") or 0
VISITS, BATCH = 10, 5_000
SITES = {"large.example": 5_000, "middle.example": 1_000, "site7.example": 100}


def pages(captures: int) -> Iterator[str]:
    """Addresses: those of the large sites, and as many others as there is room for."""
    hosts = [*SITES.items(), *((f"site{n}.example", 100) for n in range(captures) if n != 7)]
    every = (
        f"https://{host}/part{page % 9}/section-{page % 40}/page-{page}.html"
        for host, count in hosts
        for page in range(count)
    )
    return islice(every, captures // VISITS)


def rows(captures: int) -> Iterator[Row]:
    chance = random.Random(3)
    known = list(pages(captures))
    for visit in range(VISITS):
        for number, url in enumerate(known):
            changes = 0 if number % 3 == 0 else visit // (1 + number % 4)
            at = BEGAN + visit * 30 * DAY + number * SECOND // 3
            is_same = number % 3 == 1 and visit > 0 and changes == (visit - 1) // (1 + number % 4)
            digest = f"sha256:{number:016}{changes:036}"
            before = at - 30 * DAY if is_same else None
            status = 404 if number % 29 == 0 and visit > 6 else 200
            yield (
                surt(url), at, str(UUID(int=chance.getrandbits(128))), url,
                "revisit" if is_same else "response", 304 if is_same else status, "text/html",
                None if is_same else digest, None if is_same else digest, 20_000, number * 5_000,
                5_000, f'"{changes:x}-{number:x}"', None, None, None,
                "server-not-modified" if is_same else None, url if is_same else None, before, None,
                None,
            )  # fmt: skip


def build(folder: Path, captures: int) -> None:
    with OpenArchive.write(folder, purpose="bench") as archive:
        segment = archive.catalog.put_segment(Segment("000001-bench.warc.gz", 1 << 40, sealed=True))
        source = rows(captures)
        while batch := list(islice(source, BATCH)):
            archive.catalog.add_rows(batch, segment)


def asked(connection: HTTPConnection, target: str) -> tuple[float, bytes]:
    begun = time.perf_counter()
    connection.request("GET", target)
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 200, (target, answer.status)
    return (time.perf_counter() - begun) * 1000, body


def row(folder: Path, host: str, questions: int, settle: float) -> str:
    """What one site takes, from a server of its own."""
    chance = random.Random(host)
    command = [ASOF, "serve", "-a", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        connection = HTTPConnection(urlsplit(child.stderr.readline().split()[-1]).netloc)
        time.sleep(settle)
        target = f"/site?url={quote(f'https://{host}/', safe='')}&at="
        try:
            first, body = asked(connection, f"{target}2024")
            for _ in range(20):  # each of its processes reads the site once
                asked(HTTPConnection(connection.host, connection.port), f"{target}2024")
            took = []
            for _ in range(questions):
                at = stamp(BEGAN + chance.randrange(VISITS * 30 * DAY))
                took.append(asked(connection, target + at)[0])
        finally:
            connection.close()
            child.send_signal(signal.SIGINT)
    data = re.search(rb'id="known">(.*?)</script>', body)
    assert data is not None
    cuts = statistics.quantiles(took, n=100)
    figures = (first, cuts[49], cuts[98], len(body) / 1000, len(data[1]) / 1000)
    return "".join(f"{figure:>10.1f}" for figure in figures)


def reading(folder: Path, host: str) -> float:
    with OpenArchive.open(folder) as archive:
        Sites(archive).of(f"https://{host}/")  # what is learnt of the host is kept
        (sites := Sites(archive)).of(f"https://{host}/part0/section-0/page-0")
        begun = time.process_time()
        sites.of(f"https://{host}/")
        return (time.process_time() - begun) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--captures", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=200)
    # A server learns of its hosts before somebody waits for it.
    parser.add_argument("--settle", type=float, default=15.0, metavar="SECONDS")
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="asof-bench-") as scratch:
        folder = (given.keep or Path(scratch)) / "archive"
        if not folder.exists():
            build(folder, given.captures)
        columns = ("reading", "first ms", "p50 ms", "p99 ms", "page KB", "data KB")
        print(f"{'pages':>7}" + "".join(f"{column:>10}" for column in columns))
        for host in reversed(SITES):
            told = row(folder, host, given.questions, given.settle)
            print(f"{SITES[host]:>7,}{reading(folder, host):>10.1f}{told}")


if __name__ == "__main__":
    main()
