"""Catalog at a million rows: entry rate, and latencies of as_of, history and prefix scans.

    python bench/catalog_lookup.py [ROWS]

Rows look like those of a crawl that returns: 10 captures of each URL, 50 URLs of each host. They
are entered in batches of 5,000 in the order of a crawl (by time), one transaction a batch, which
is the unkind order for a table that is sorted by URL.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from uuid import UUID

from asof.catalog.captures import Catalog
from asof.catalog.rows import Row
from asof.catalog.validity import intervals
from asof.clock import DAY, SECOND
from asof.ledger import Ledger
from asof.model import Segment
from asof.url import surt

START = 1_600_000_000 * SECOND
VISITS = 10
PAGES = 50
BATCH = 5_000


def url_of(host: int, page: int) -> str:
    return f"https://www.host-{host:05}.example/section-{page % 7}/page-{page}.html?id={page}"


def rows(count: int) -> Iterator[Row]:
    chance = random.Random(1)
    pages = [(host, page) for host in range(count // VISITS // PAGES) for page in range(PAGES)]
    for visit in range(VISITS):
        chance.shuffle(pages)
        for number, (host, page) in enumerate(pages):
            url = url_of(host, page)
            version = (visit * (page % 3)) // 3
            digest = f"sha256:{chance.getrandbits(256):064X}"[:63]
            at = START + visit * 30 * DAY + number * 1000
            yield (
                surt(url), at, str(UUID(int=chance.getrandbits(128))), url, "response", 200,
                "text/html", digest, f"sha256:{host:08}{page:08}{version:040}", 20_000,
                number * 5000, 5000, f'"{version:x}-{page:x}"', START - DAY,
                None, None, None, None, None, None,
            )  # fmt: skip


def latency(name: str, ask: Callable[[], object], times: int) -> None:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        ask()
        taken.append((time.perf_counter() - started) * 1e3)
    cuts = statistics.quantiles(taken, n=100)
    print(f"{name:38} p50 {cuts[49]:7.3f} ms   p99 {cuts[98]:7.3f} ms   ({times} times)")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "asof.db", writable=True)
        catalog = Catalog(ledger)
        segment = catalog.put_segment(Segment("000001-bench.warc.gz", 0))
        source, entered, spent = rows(count), 0, 0.0
        while batch := list(islice(source, BATCH)):
            started = time.perf_counter()
            entered += catalog.add_rows(batch, segment)
            spent += time.perf_counter() - started
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        rate = f"{entered / spent:,.0f} rows/s"
        print(f"entered {entered:,} rows at {rate}, {size / entered:.0f} bytes a row")
        ledger.close()
        ask(Path(folder) / "asof.db", count)


def ask(path: Path, count: int) -> None:
    ledger = Ledger(path, writable=False)
    catalog = Catalog(ledger)
    chance = random.Random(2)
    hosts = count // VISITS // PAGES

    def some_url() -> str:
        return url_of(chance.randrange(hosts), chance.randrange(PAGES))

    def some_moment() -> int:
        return START + chance.randrange(VISITS * 30) * DAY

    latency("as_of(url, t)", lambda: catalog.as_of(some_url(), some_moment()), 20_000)
    latency("as_of, a URL never captured", lambda: catalog.as_of(some_url() + "x", START), 5_000)
    latency(
        "as_of, another URL of the same key",
        lambda: catalog.as_of("http" + some_url()[5:], 1 << 60),
        5_000,
    )
    latency("history(url), 10 captures", lambda: intervals(catalog.observations(some_url())), 5_000)
    latency(
        "captures(prefix=a host), 500 captures",
        lambda: sum(1 for _ in catalog.captures(prefix=some_url().partition("section")[0])),
        500,
    )
    started = time.perf_counter()
    total = sum(1 for _ in catalog.captures())
    print(f"captures(), all: {total / (time.perf_counter() - started):,.0f} rows/s")
    ledger.close()


if __name__ == "__main__":
    main()
