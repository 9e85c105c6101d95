"""The frontier from ten thousand to a million queued URLs: operations a second, and memory.

    python bench/frontier_scale.py [--up-to 1000000] [--seconds 10]

The queue of a real archive over 1,000 hosts is filled as a crawl fills it: 50 targets a page, most
of them of the page's own host, in transactions as large as a group commit. At each size it measures

    new      targets that are not known yet, in groups of 50
    known    the same with targets that are there already, which most links of a crawl are
    visits   the next target of a host is taken and settled

Then `asof crawl` goes on with that archive for some seconds, through a proxy on loopback that has
a page with 50 new links for every URL, and the peak memory of that process is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import md5
from itertools import islice
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

from asof.archive import OpenArchive
from asof.config import Config
from asof.frontier.queue import Frontier
from asof.frontier.states import Event
from asof.ledger import Ledger
from asof.model import Crawl, CrawlState, Target
from asof.url import host_of
from crawl import watched_memory
from measure import run

BIN = Path(sys.executable).parent
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
HOSTS = 1_000
PAGE = 50
SEED = "http://example/"
# A group commit holds 64 records (Config.group_records), and a page makes three.
GROUP = 64 // 3
# What is timed at each size: pages that are added, and hosts that are visited some times each.
SAMPLE = 200
VISITED, VISITS = 100, 20


def url_of(number: int) -> str:
    """The URL with that number: of the host of its page, every fifth of another, in no order."""
    page, place = divmod(number, PAGE)
    mixed = md5(str(number).encode(), usedforsecurity=False).hexdigest()
    host = int(mixed[:6], 16) % HOSTS if place % 5 == 4 else page % HOSTS
    section = ("news", "articles", "people", "archive")[number % 4]
    return f"http://www.host-{host:04}.example/{section}/{mixed[8:20]}-a-headline-{number}.html"


def targets(page: int) -> list[Target]:
    """The links of one page."""
    via = url_of(page)
    numbers = range(page * PAGE, (page + 1) * PAGE)
    depth = min(9, 1 + page // 1000)
    return [Target(url_of(n), depth, via, "L" * depth, float(depth)) for n in numbers]


class Bench:
    """A frontier that grows, and the stopwatch."""

    def __init__(self, archive: OpenArchive, reader: Ledger) -> None:
        self._archive = archive
        started = archive.clock.now()
        settings = Config(scope="domain").as_dict()
        crawl = Crawl("bench", (SEED,), started, CrawlState.RUNNING, settings=settings)
        with archive.ledger.transaction():
            archive.catalog.put_crawl(crawl)
        self._frontier = Frontier(archive.ledger, archive.catalog.crawl_no(crawl.id), reader)
        self._pages = 0
        self.settled = 0
        self._chance = random.Random(7)

    def fill(self, size: int) -> float:
        """Queue new targets until there are `size`; gives the rate over the last ones."""
        while (self._pages + SAMPLE) * PAGE < size:
            self._add(range(self._pages, self._pages + GROUP))
            self._pages += GROUP
        last = range(self._pages, self._pages + SAMPLE)
        self._pages += SAMPLE
        return self._timed_adds(last)

    def known(self) -> float:
        """The rate for targets that are there already."""
        return self._timed_adds(self._chance.choices(range(self._pages), k=SAMPLE))

    def _timed_adds(self, pages: range | list[int]) -> float:
        found = [targets(page) for page in pages]
        began = time.perf_counter()
        for start in range(0, len(found), GROUP):
            with self._group():
                for links in found[start : start + GROUP]:
                    self._frontier.add(links)
        return len(pages) * PAGE / (time.perf_counter() - began)

    def _add(self, pages: range) -> None:
        with self._group():
            for page in pages:
                self._frontier.add(targets(page))

    @contextmanager
    def _group(self) -> Iterator[None]:
        """What is learnt inside is committed at the end."""
        yield
        with self._archive.ledger.transaction():
            self._frontier.flush()

    def visits(self) -> float:
        """Take and settle targets of hosts in turn, as the loop does."""
        hosts = self._chance.sample(range(min(HOSTS, self._pages)), k=VISITED)
        turns = iter([host_of(url_of(page * PAGE)) for page in hosts] * VISITS)
        now = self._archive.clock.now()
        before = self.settled
        began = time.perf_counter()
        while group := list(islice(turns, GROUP)):
            with self._group():
                for host in group:
                    target = self._frontier.next(host, now)
                    if target is not None:
                        self._frontier.settle(target, Event.CAPTURED)
                        self._frontier.due(host, now)
                        self.settled += 1
        return (self.settled - before) / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--up-to", type=int, default=SIZES[-1])
    parser.add_argument("--seconds", type=float, default=10.0, help="how long asof crawl goes on")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="asof-bench-") as scratch:
        place = Path(scratch) / "archive"
        with OpenArchive.write(place, purpose="bench") as archive:
            settled = curve(archive, options.up_to)
        go_on(place, options.seconds, settled)


def curve(archive: OpenArchive, up_to: int) -> int:
    """One line a size. The peak is that of the process so far. Gives how many were settled."""
    print(f"{'queued':>10}{'new/s':>10}{'known/s':>10}{'visits/s':>10}{'db MB':>8}{'peak MB':>9}")
    reader = Ledger(archive.folder.db, writable=False)
    bench = Bench(archive, reader)
    for size in (*(size for size in SIZES if size < up_to), up_to):
        rates = bench.fill(size), bench.known(), bench.visits()
        peak = getrusage(RUSAGE_SELF).ru_maxrss / 1024
        stored = sum(file.stat().st_size for file in archive.folder.db.parent.glob("asof.db*"))
        columns = "".join(f"{rate:>10,.0f}" for rate in rates)
        print(f"{size:>10,}{columns}{stored / 1e6:>8.0f}{peak:>9.0f}", flush=True)
    reader.close()
    return bench.settled


def go_on(place: Path, seconds: float, settled: int) -> None:
    """Let `asof crawl` take up the queue; prints what it did and its peak memory."""
    with endless_web() as port:
        limits = ["--delay", "0", "--time-limit", str(seconds), "-q"]
        proxy = ["--proxy", f"http://127.0.0.1:{port}", "-a", str(place)]
        with watched_memory() as seen:
            cost = run([str(BIN / "asof"), "crawl", *limits, *proxy])
    status = subprocess.run(
        [str(BIN / "asof"), "status", "--json", "-a", str(place)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    crawl = json.loads(status.stdout)["crawls"][0]
    taken = crawl["captured"] - settled
    print(
        f"asof crawl with {crawl['queued']:,} queued at its end: {taken:,} captured "
        f"in {crawl['seconds']:.1f} s, {cost.wall:.1f} s with start and end, "
        f"{cost.cpu:.1f} CPU s, peak {max(seen):.0f} MB"
    )


class EndlessWeb(asyncio.Protocol):
    """A proxy that answers for every host: no robots.txt, and pages with 50 new links each."""

    pages = iter(range(1 << 20, 1 << 40))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A crawler has connected."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._read = b""

    def data_received(self, data: bytes) -> None:
        """Answer each whole request; a GET ends with its head."""
        *requests, self._read = (self._read + data).split(b"\r\n\r\n")
        for request in requests:
            if b"/robots.txt " in request[:200]:
                self._transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                continue
            links = targets(next(self.pages))
            body = "".join(f'<p><a href="{link.url}">{link.url}</a></p>\n' for link in links)
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}"
            self._transport.write(f"{head}\r\n\r\n{body}".encode())


@contextmanager
def endless_web() -> Iterator[int]:
    """The proxy on a thread of its own; gives its port."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(loop.create_server(EndlessWeb, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        loop.close()


if __name__ == "__main__":
    main()
