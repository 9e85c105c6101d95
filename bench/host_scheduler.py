"""Many hosts at one request a second each: does the crawl loop keep up with them?

    python bench/host_scheduler.py [--hosts 2000] [--seconds 20] [--latency 0.05] [--virtual]

`run_crawl` with everything on, and a fetcher that opens no socket: it answers after `--latency`
seconds with a page of 2 KB and ten links to new pages of its host. The delay runs from the end of
one answer to the next request (Naumann 2011), so a host can be asked once in delay + latency
seconds: that is the ideal. All hosts are asked for robots.txt at once; those answers come at random
within that time, so that from then on hosts are due at all moments alike. Before `--warm-up`
seconds nothing is counted. No host may be asked inside its delay or twice at once; if one is, this
ends with 1.

On real time the rate says whether the machine keeps up. On virtual time (SimulatedClock) no work
takes any time, so the rate shows only whether the schedule is right, and the CPU seconds that one
second of it costs say how many such seconds fit into a real one.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from unittest.mock import patch

from asof.clock import SECOND, Clock, SystemClock
from asof.crawl import CrawlRequest
from asof.crawl import run as crawl_run
from asof.model import Body, Exchange, Headers, Timings
from asof.testing import SimulatedClock
from asof.url import host_of
from crawl_site import Prose

ROBOTS = "/robots.txt"
LINKS = 10
SENTENCES = 18
# What clocks may differ by: microseconds are cut off where instants become seconds and back.
SLACK = 0.000_01


class StillWeb:
    """A fetcher without sockets, which notes who was asked when."""

    def __init__(self, clock: Clock, latency: float, delay: float) -> None:
        self._clock = clock
        self._latency = latency
        self._delay = delay
        self._chance = random.Random(11)
        self._sentences = Prose(self._chance).sentences
        self._pages: dict[str, int] = defaultdict(int)
        self._released: dict[str, float] = {}
        self._asking: set[str] = set()
        self.asked: list[float] = []
        self.early: list[str] = []
        self.parallel: list[str] = []

    async def fetch(self, url: str, headers: Headers = (), judge: object = None) -> Exchange:
        """A page, or 404 for robots.txt; breaches of politeness are noted."""
        host = host_of(url)
        now, started = self._clock.monotonic(), self._clock.now()
        self.asked.append(now)
        if host in self._asking:
            self.parallel.append(url)
        if now < self._released.get(host, now) - SLACK:
            self.early.append(url)
        self._asking.add(host)
        await self._clock.sleep(self._takes(url))
        answer = self._answer(url, host, started)
        self._asking.discard(host)
        self._released[host] = self._clock.monotonic() + self._delay
        return answer

    def _takes(self, url: str) -> float:
        if url.endswith(ROBOTS):
            return self._latency + self._chance.uniform(0, self._delay + self._latency)
        return self._latency

    def _answer(self, url: str, host: str, started: int) -> Exchange:
        if url.endswith(ROBOTS):
            status, body = 404, b""
        else:
            first = self._pages[host]
            self._pages[host] += LINKS
            links = (f'<a href="/pages/{n}.html">on</a>\n' for n in range(first, first + LINKS))
            text = " ".join(self._chance.choices(self._sentences, k=SENTENCES))
            page = f"<title>{url}</title>{''.join(links)}<p>{text}</p>"
            status, body = 200, page.encode()
        fields = (("Content-Type", "text/html"), ("Content-Length", str(len(body))))
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
        head = f"HTTP/1.1 {status} Whatever\r\n{lines}\r\n".encode()
        took = int(self._latency * SECOND)
        return Exchange(
            url=url,
            request=f"GET {url} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode(),
            head=head,
            body=Body(len(body), body),
            status=status,
            headers=fields,
            started=started,
            timings=Timings(0, took, took),
            payload_digest=hashlib.sha256(body).digest(),
            peer="192.0.2.7",
        )

    async def close(self) -> None:
        """There is nothing to end."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--hosts", type=int, default=2_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--warm-up", type=float, default=5.0)
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--concurrency", type=int, help="as many as there are hosts")
    parser.add_argument("--virtual", action="store_true", help="on time that never waits")
    parser.add_argument("--grace", type=float, default=0.001, help="what threads get, virtually")
    options = parser.parse_args()
    clock: Clock = SimulatedClock(virtual=True) if options.virtual else SystemClock()
    web = StillWeb(clock, options.latency, options.delay)
    with tempfile.TemporaryDirectory(prefix="asof-bench-") as scratch:
        began = clock.monotonic()
        wall, cpu = time.perf_counter(), cpu_seconds()
        crawl(Path(scratch) / "archive", clock, web, options)
        wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    report(options, web, began, wall, cpu)


def crawl(place: Path, clock: Clock, web: StillWeb, options: argparse.Namespace) -> None:
    """A whole crawl with the web replaced; on virtual time, on the loop that its clock needs."""
    settings = {
        "delay": options.delay,
        "concurrency": options.concurrency or options.hosts,
        "time_limit": options.seconds,
    }
    seeds = tuple(f"http://www.host-{number:04}.example/" for number in range(options.hosts))
    with ExitStack() as replaced:
        client = patch.object(crawl_run, "HttpClient", lambda *given, **named: web)
        replaced.enter_context(client)
        if isinstance(clock, SimulatedClock):
            loop = partial(clock._exact_loop, options.grace)
            replaced.enter_context(patch.object(crawl_run, "_new_loop", loop))
        crawl_run.run_crawl(CrawlRequest(place, seeds, settings), clock=clock)


def cpu_seconds() -> float:
    """Of this process, its threads, and its children that have ended."""
    usages = getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def report(
    options: argparse.Namespace, web: StillWeb, began: float, wall: float, cpu: float
) -> None:
    counted = sum(options.warm_up <= at - began < options.seconds for at in web.asked)
    rate = counted / (options.seconds - options.warm_up)
    ideal = options.hosts / (options.delay + options.latency)
    kind = "virtual" if options.virtual else "real"
    each = cpu / len(web.asked) * 1e6
    print(
        f"{options.hosts:,} hosts, delay {options.delay:g} s, latency {options.latency:g} s, "
        f"{options.seconds:g} s of {kind} time\n"
        f"  {rate:,.0f} requests/s of an ideal {ideal:,.0f}: {rate / ideal:.1%}\n"
        f"  {len(web.asked):,} requests; {wall:.1f} s and {cpu:.1f} CPU s in all: "
        f"{cpu / options.seconds:.2f} CPU s a second, {each:,.0f} us a request\n"
        f"  inside a delay: {len(web.early)}, in parallel: {len(web.parallel)}; "
        f"peak {getrusage(RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
    )
    if web.early or web.parallel:
        sys.exit(f"IMPOLITE, such as {(web.early + web.parallel)[0]}")


if __name__ == "__main__":
    main()
