"""The pages of `asof serve` over a million captures: how long each takes, as a browser asks for it.

    python bench/pages.py [--captures 1000000] [--times 200] [--keep PLACE]

An archive of 300 hosts of very different sizes, ten captures of most URLs over 25 years, one URL
with 20,000 of them, and one host with pages of no end. Its rows are entered without records, for
these pages show none; of the long history the categories of changes are kept, as reading keeps
them. Once asked for what nobody has asked for yet, then again and again, over HTTP, each time
another one of its kind.
"""

from __future__ import annotations

import argparse
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from urllib.parse import quote, urlsplit

from asof.archive import OpenArchive
from asof.catalog.rows import Row
from asof.change.categories import Category, Change, Stage
from asof.change.judgements import ChangeStore
from asof.clock import DAY, Instant, parse_stamp
from asof.model import Crawl, CrawlState, Segment
from asof.text.database import TextDatabase
from asof.url import surt
from serve import spent

ASOF = str(Path(sys.executable).parent / "asof")
HOSTS, VISITS, LONG = 300, 10, 20_000
BEGAN, ENDED = parse_stamp("2001") or 0, parse_stamp("2026") or 0
CRAWL = "20010101000000-page"
BATCH = 50_000
OFTEN = "https://www.often.example/"
KINDS = [Category.INSIGNIFICANT] * 5 + [Category.MINOR] * 3 + [Category.STRUCTURE, Category.MAJOR]


def row(url: str, at: Instant, number: int, version: int, status: int = 200) -> Row:
    return (
        surt(url), at, f"urn:uuid:{number:036x}", url, "response", status, "text/html",
        f"sha1:{number:032x}", f"sha256:{version:064x}", 20_000, number * 5000, 5000,
        None, None, None, None, None, None, None, None, None,
    )  # fmt: skip


def url_of(host: int, page: int) -> str:
    return f"https://www.host-{host:03}.example/section-{page % 7}/page-{page}.html"


def pages_of(count: int) -> list[int]:
    """How many pages each host has: the largest a tenth of all, the least a few."""
    weights = [1 / (host + 2) for host in range(HOSTS)]
    return [max(1, int(count / VISITS * each / sum(weights))) for each in weights]


def rows(count: int) -> Iterator[Row]:
    chance, number = random.Random(1), 0
    for host, pages in enumerate(pages_of(count - LONG)):
        first = chance.randrange(BEGAN, ENDED - 2_000 * DAY)
        for page in range(pages):
            for visit in range(VISITS):
                number += 1
                at = first + visit * 190 * DAY + chance.randrange(DAY)
                yield row(url_of(host, page), at, number, page * 100 + visit // 3)
    step = (ENDED - BEGAN) // LONG
    for visit in range(LONG):
        status = 404 if visit % 5_000 > 4_950 else 200
        yield row(OFTEN, BEGAN + visit * step, number + visit + 1, visit // 20 % 400, status)


def make(folder: Path, count: int) -> None:
    began = time.perf_counter()
    with OpenArchive.write(folder, purpose="bench") as archive:
        crawl = Crawl(CRAWL, (OFTEN,), BEGAN, CrawlState.FINISHED, ENDED)
        archive.catalog.put_crawl(crawl)
        segment = Segment(f"000001-{CRAWL}.warc.gz", count * 5_000, CRAWL, sealed=True)
        number = archive.catalog.put_segment(segment)
        source = rows(count)
        while batch := list(islice(source, BATCH)):
            archive.catalog.add_rows(batch, number)
        archive.ledger.db.execute("PRAGMA optimize")
        judge(archive)
    print(f"made in {time.perf_counter() - began:.0f} s")


def judge(archive: OpenArchive) -> None:
    """What became of the URL with the long history, as reading would have kept it."""
    chance, found = random.Random(2), list(archive.captures(url=OFTEN))
    database = TextDatabase(archive.folder.texts, writable=True)
    before = [None, *found]
    changes = (
        (each, last, Change(_category(each.content, last and last.content, chance), Stage.SHINGLES))
        for each, last in zip(found, before, strict=False)
    )
    ChangeStore(database).put(changes)
    database.close()


def _category(content: str | None, last: str | None, chance: random.Random) -> Category:
    if last is None:
        return Category.APPEARED
    return Category.UNCHANGED if content == last else chance.choice(KINDS)


def asked(count: int, times: int) -> dict[str, list[str]]:
    """Targets by their kind, each with many of its own."""
    chance, sizes = random.Random(3), pages_of(count - LONG)
    some = [(host, chance.randrange(sizes[host])) for host in chance.choices(range(HOSTS), k=times)]
    often, years = quote(OFTEN, safe=""), [chance.randint(2001, 2025) for _ in range(times)]
    urls = [quote(url_of(*each), safe="") for each in some]
    return {
        "home": ["/"] * times,
        "home, further on": [f"/?after=example,host-{host:03})" for host, _ in some],
        "URL page, 10 captures": [f"/captures?url={url}" for url in urls],
        "URL page, 20,000 captures": [f"/captures?url={often}"] * times,
        "the same, one year of it": [f"/captures?url={often}&on={year}" for year in years],
        "prefix page, a host": [
            f"/captures?prefix={quote(url_of(host, 0)[:28], safe='')}" for host, _ in some
        ],
        "prefix page, all": ["/captures?prefix="] * times,
    }


@contextmanager
def served(folder: Path) -> Iterator[tuple[HTTPConnection, int]]:
    """A connection to a server, and the process that it begins with."""
    command = [ASOF, "serve", "-a", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        connection = HTTPConnection(urlsplit(child.stderr.readline().split()[-1]).netloc)
        try:
            yield connection, child.pid
        finally:
            connection.close()
            child.send_signal(signal.SIGINT)


def took(connection: HTTPConnection, target: str) -> tuple[float, int]:
    """Milliseconds of one page, and its bytes."""
    begun = time.perf_counter()
    connection.request("GET", target)
    answer = connection.getresponse()
    size = len(answer.read())
    assert answer.status == 200, target
    return (time.perf_counter() - begun) * 1000, size


def rest(pid: int) -> None:
    """Wait until a server has learnt what it learns ahead, of hosts and how far to believe them."""
    last = -1.0
    while (now := spent(pid)) - last > 0.05:
        last = now
        time.sleep(1)


def measure(folder: Path, count: int, times: int) -> None:
    kinds = asked(count, times)
    with served(folder) as (connection, pid):
        firsts = {name: took(connection, targets[0]) for name, targets in kinds.items()}
        rest(pid)
        connection.close()  # a server closes what is idle; another one is opened by itself
        for name, targets in kinds.items():
            before = spent(pid)
            found = sorted(took(connection, target)[0] for target in targets)
            cpu = (spent(pid) - before) / len(targets) * 1000
            p50, p99 = statistics.median(found), found[int(len(found) * 0.99)]
            first, size = firsts[name]
            print(f"  {name:28} p50 {p50:6.1f} ms  p99 {p99:6.1f} ms  CPU {cpu:5.1f} ms"
                  f"  the first {first:7.1f} ms  {size / 1000:4.0f} kB")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--captures", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--keep", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="asof-bench-") as scratch:
        folder = (chosen.keep or Path(scratch)) / "archive"
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            make(folder, chosen.captures)
        print(f"{chosen.captures:,} captures, {chosen.times} times each")
        measure(folder, chosen.captures, chosen.times)


if __name__ == "__main__":
    main()
