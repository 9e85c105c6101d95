"""A web that is a dictionary, crawled for real on virtual time: who was asked when, for what.

`run_crawl` is the real one, records, database and all; only its client is replaced by one that
opens no socket. `happens` is called before each answer, so that a test can change the web, stop the
crawl, or copy the archive's folder in its middle: a copy is what a kill at that moment would leave.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

from asof.archive import OpenArchive
from asof.clock import SECOND, Instant
from asof.crawl import CrawlRequest
from asof.crawl import run as crawl_run
from asof.crawl.loop import INTERRUPTED, Crawler
from asof.crawl.monitor import Watcher
from asof.crawl.run import CrawlOutcome
from asof.crawl.summary import Summary
from asof.http.head import parse_head
from asof.model import Body, Capture, CoherencePlan, Exchange, Failure, Headers, Timings
from asof.testing import SimulatedClock
from asof.url import host_of

A, B = "http://a.example/", "http://b.example/"
FILL = "<p>" + "Words that make a page long enough to be worth a reference. " * 5 + "</p>"


@dataclass(frozen=True)
class Odd:
    """An answer that is not the page: another status (0: none at all), maybe with patience."""

    status: int
    retry_after: int | None = None


@dataclass(frozen=True)
class Asked:
    """One request as the web saw it, and the status that it answered."""

    url: str
    start: float
    end: float
    headers: Headers
    status: int

    @property
    def path(self) -> str:
        """`/` and what follows the host."""
        return "/" + self.url.split("/", 3)[3]

    @property
    def conditional(self) -> bool:
        """Whether it asked for what has changed only."""
        return any(name.startswith("If-") for name, _ in self.headers)


class Web:
    """Pages by URL, with strong validators unless `tags` says otherwise; the rest is a 404."""

    def __init__(self, takes: float = 0.1) -> None:
        self.clock = SimulatedClock(virtual=True)
        self.takes = takes
        self.pages: dict[str, str] = {}
        self.tags: Callable[[str], bool] = lambda url: True
        self.odd: dict[str, list[Odd]] = {}
        self.liars: set[str] = set()
        self.asked: list[Asked] = []
        self.happens: Callable[[str], None] = lambda url: None
        self.later: tuple[float, Callable[[], object]] | None = None
        self.watch: Watcher | None = None
        self.crawler: Crawler | None = None
        self.task: asyncio.Task[object] | None = None

    # -- what there is

    def put(self, url: str, *links: str, text: str = "") -> None:
        """A page with links."""
        anchors = "".join(f'<a href="{link}">x</a>' for link in links)
        self.pages[url] = f"{anchors}<p>This is {url}. {text}</p>{FILL}"

    def fan(self, base: str, count: int) -> list[str]:
        """A front page and so many pages behind it, all their paths."""
        names = [f"{base}{number}" for number in range(1, count + 1)]
        self.put(base, *names)
        for name in names:
            self.put(name)
        return ["/", *(f"/{number}" for number in range(1, count + 1))]

    def robots(self, base: str, text: str) -> None:
        """The rules of a host."""
        self.pages[f"{base}robots.txt"] = text

    def tag(self, url: str) -> str:
        """The validator of what a page says now."""
        return f'"{sha256(self.pages[url].encode()).hexdigest()[:12]}"'

    # -- the client

    async def fetch(
        self, url: str, headers: Headers = (), judge: object = None
    ) -> Exchange | Failure:
        """Take a while, then answer."""
        self.happens(url)
        start, started = self.clock.monotonic(), self.clock.now()
        status, extra, body = self._said(url, headers)
        await self.clock.sleep(self.takes)
        self.asked.append(Asked(url, start, self.clock.monotonic(), headers, status))
        if not status:
            return Failure(url, "reset", "as told", started, transient=True)
        media = "text/plain" if url.endswith("robots.txt") else "text/html"
        lines = {"Content-Type": media, "Content-Length": str(len(body)), **extra}
        fields = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        head = f"HTTP/1.1 {status} So\r\n{fields}\r\n".encode()
        took = int(self.takes * SECOND)
        return Exchange(
            url, f"GET {url} HTTP/1.1\r\n\r\n".encode(), head, Body(len(body), body), status,
            parse_head(head).headers, started, Timings(0, took, took), sha256(body).digest(),
            peer="192.0.2.7",
        )  # fmt: skip

    def _said(self, url: str, headers: Headers) -> tuple[int, dict[str, str], bytes]:
        if self.odd.get(url):
            odd = self.odd[url].pop(0)
            wish = {} if odd.retry_after is None else {"Retry-After": str(odd.retry_after)}
            return odd.status, wish, b"not now"
        if url not in self.pages:
            return 404, {}, b"not here"
        if url.endswith("robots.txt") or not self.tags(url):
            return 200, {}, self.pages[url].encode()
        asked = dict(headers).get("If-None-Match")
        if asked == self.tag(url) or (asked and url in self.liars):
            return 304, {"ETag": asked}, b""
        return 200, {"ETag": self.tag(url)}, self.pages[url].encode()

    async def close(self) -> None:
        """There is nothing to end."""

    # -- crawling

    def crawl(
        self, folder: Path, *seeds: str, control: bool = False, **settings: Any
    ) -> CrawlOutcome:
        """A whole crawl on this web's clock; one second of delay, in phases, unless told so."""
        told = {"coherence": "inducible", "delay": 1.0, "disk_reserve": 0, **settings}
        with ExitStack() as replaced:
            # No power is cut in here, and the tests of a file wait for one disk.
            replaced.enter_context(patch("os.fdatasync", lambda file: None))
            replaced.enter_context(patch.object(crawl_run, "HttpClient", lambda *given: self))
            loop = partial(self.clock._exact_loop, 0.0)
            replaced.enter_context(patch.object(crawl_run, "_new_loop", loop))
            replaced.enter_context(
                patch.object(crawl_run._Interruption, "may_end", self._watching())
            )
            request = CrawlRequest(folder, seeds, told, control=control)
            return crawl_run.run_crawl(request, clock=self.clock, watch=self.watch)

    def _watching(self) -> Callable[..., Coroutine[None, None, Summary]]:
        may_end = crawl_run._Interruption.may_end

        async def watched(
            interruption: crawl_run._Interruption, crawler: Crawler, work: Any
        ) -> Summary:
            self.crawler, self.task = crawler, asyncio.current_task()
            self._later = asyncio.ensure_future(self._do_later()) if self.later else None
            return await may_end(interruption, crawler, work)

        return watched

    async def _do_later(self) -> None:
        seconds, act = self.later or (0.0, lambda: None)
        await self.clock.sleep(seconds)
        act()

    def stop(self) -> None:
        """As Ctrl-C does it: once gently, the second time at once."""
        assert self.crawler is not None
        assert self.task is not None
        if self.crawler.stopping:
            self.task.cancel()
        else:
            self.crawler.stop(INTERRUPTED)

    # -- what was seen

    def paths(self, host: str = A, since: int = 0) -> list[str]:
        """Paths that a host was asked for, in order, robots.txt not counted."""
        mine = [each for each in self.asked[since:] if host_of(each.url) == host_of(host)]
        return [each.path for each in mine if each.path != "/robots.txt"]

    def gaps(self, host: str = A) -> list[float]:
        """Seconds from the end of each answer of a host to the next request there."""
        mine = sorted(
            (each for each in self.asked if host_of(each.url) == host_of(host)),
            key=lambda each: each.start,
        )
        return [after.start - before.end for before, after in pairwise(mine)]


@dataclass
class Copies:
    """Copies of an archive's folder, made at chosen requests: what kills would have left."""

    web: Web
    archive: Path
    into: Path
    at: Callable[[int, str], bool]
    made: list[Path] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)

    def __call__(self, url: str) -> None:
        """Copy now, if this is a moment to do so."""
        if self.at(len(self.web.asked), url):
            copy = self.into / f"copy-{len(self.made)}"
            shutil.copytree(self.archive, copy, ignore=shutil.ignore_patterns(".lock"))
            self.made.append(copy)
            self.asked.append(len(self.web.asked))


def captures(folder: Path, crawl: str | None = None) -> list[Capture]:
    """Answers in the order of their moments, robots.txt left out."""
    with OpenArchive.open(folder) as archive:
        found = [c for c in archive.catalog.captures(crawl=crawl) if "robots.txt" not in c.url]
    return sorted(found, key=lambda capture: capture.at)


def coherence_plan(folder: Path) -> CoherencePlan:
    """How the last crawl of an archive went."""
    with OpenArchive.open(folder) as archive:
        found = archive.crawls()[-1].coherence_plan
    assert found is not None
    return found


def turn(folder: Path) -> Instant:
    """The turning point of the last crawl."""
    found = coherence_plan(folder).turn
    assert found is not None
    return found


def seen_twice(folder: Path) -> tuple[list[str], list[str]]:
    """Paths captured up to the turning point, and after it, in order."""
    moment = turn(folder)
    with OpenArchive.open(folder) as archive:
        crawl = archive.crawls()[-1].id
    before: list[str] = []
    after: list[str] = []
    for capture in captures(folder, crawl):
        found = before if capture.at <= moment else after
        found.append("/" + capture.url.split("/", 3)[3])
    return before, after
