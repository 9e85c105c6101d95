"""Crawls of a web that changes, over real HTTP and on virtual time; and the truth to judge them by.

Put `tests` on the path and import it. The server runs on the crawl's own event loop, under a clock
that moves only when nobody has anything to do: no answer is ever late, however busy the machine is.
Hosts have names (the server is asked as a proxy), so that URLs do not depend on a port, and a
crawl comes out the same whenever it is repeated.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from asof.archive import OpenArchive
from asof.clock import Instant
from asof.coherence.certificate import Choice
from asof.coherence.gather import Catalogued, GatheredCaptures, gather, measured
from asof.coherence.verdict import HostTrust, Measurement, PageVerdict
from asof.crawl import CrawlRequest
from asof.crawl import run as crawl_run
from asof.model import Capture, CoherencePlan, Crawl, Evidence, Grade
from asof.testing import (
    LoggedRequest,
    Rates,
    SimulatedClock,
    SiteSpec,
    SyntheticServer,
    SyntheticSite,
    serve,
)
from support.late_answers import late_answers

DELAY = 1.0
PLANS = ("auto", "lifo", "fifo")


@dataclass(frozen=True)
class Crawled:
    """A crawl, what `asof quality` measures of it, and what the server was asked during it."""

    crawl: Crawl
    gathered: GatheredCaptures
    measurement: Measurement
    log: tuple[LoggedRequest, ...]

    @property
    def coherence_plan(self) -> CoherencePlan:
        assert self.crawl.coherence_plan is not None
        return self.crawl.coherence_plan

    @property
    def c(self) -> float:
        assert self.measurement.c is not None
        return self.measurement.c

    @property
    def expected(self) -> float:
        """What the plan promised."""
        assert self.coherence_plan.expected is not None
        return self.coherence_plan.expected

    @property
    def reference(self) -> Instant:
        return self.measurement.reference

    @property
    def trust(self) -> HostTrust:
        """Of the only host."""
        (trust,) = self.measurement.host_trust.values()
        return trust

    def having(self, *grades: Grade) -> list[PageVerdict]:
        return [page for page in self.measurement.pages if page.grade in grades]


class ChangingWeb:
    """A site, an archive of it, and the time. `branch` is the same world again from this moment."""

    def __init__(
        self,
        site: SyntheticSite,
        folder: Path,
        now: Instant | None = None,
        secret: str = "a secret",
    ) -> None:
        self.site = site
        self.secret = secret  # by which crawls draw what they check: not the same for all webs
        self.truth = SyntheticSite(site.spec)
        self.folder = folder
        self.clock = SimulatedClock(now or site.spec.start, virtual=True)

    def branch(self, folder: Path) -> ChangingWeb:
        shutil.copytree(self.folder, folder)
        return ChangingWeb(self.site, folder, self.clock.now(), self.secret)

    def train(self, times: int, pause: float) -> None:
        """Plain crawls, so many seconds apart, by which rates and hosts become known."""
        for _ in range(times):
            self._run({})
            self.clock.jump(seconds=pause)

    def crawl(self, **settings: Any) -> Crawled:
        """Crawl the site from its front page on, and measure."""
        crawl, log = self._run(settings)
        with OpenArchive.open(self.folder, clock=self.clock) as archive:
            gathered = gather(Catalogued(archive), Choice(crawls=(crawl.id,)))
        return Crawled(crawl, gathered, measured(gathered), log)

    def _run(self, settings: dict[str, object]) -> tuple[Crawl, tuple[LoggedRequest, ...]]:
        given = {"delay": DELAY, "text": False, "group_seconds": 30.0} | settings
        with self._served() as server:
            request = CrawlRequest(
                self.folder, (f"{self.site.origins[0]}/",), given | {"proxy": server.proxy}
            )
            with patch.object(crawl_run, "token_hex", lambda size: self.secret):
                outcome = crawl_run.run_crawl(request, clock=self.clock)
        assert outcome.summary.ended_by == "done", outcome.summary
        return outcome.crawl, tuple(server.log)

    @contextmanager
    def _served(self) -> Iterator[SyntheticServer]:
        """The site on the loop that the next crawl gets, which ends with that crawl."""
        loop = self.clock._exact_loop(0.0)
        started: asyncio.Future[SyntheticServer] = loop.create_future()

        async def run() -> None:
            with late_answers():
                async with serve(self.site, clock=self.clock, by_name=True) as server:
                    started.set_result(server)
                    await asyncio.Event().wait()  # until the crawl's runner cancels what is left

        task = loop.create_task(run())
        try:
            server = loop.run_until_complete(started)
            with patch.object(crawl_run, "_new_loop", lambda: loop):
                yield server
        finally:
            self.clock._exact = None
            if not loop.is_closed():
                task.cancel()
                loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
                loop.close()

    # -- the truth

    def answer(self, url: str, at: Instant) -> tuple[int, str | None, bytes]:
        """What a URL honestly says at a moment: status, where it leads, content."""
        response = self.truth.respond("GET", urlsplit(url).path, (), at)
        return response.status, response.header("Location"), response.content

    def same(self, url: str, one: Instant, other: Instant) -> bool:
        """Whether a URL says the same at two moments (contents never come back)."""
        return self.answer(url, one) == self.answer(url, other)

    def is_true(self, page: PageVerdict, reference: Instant) -> bool:
        """Whether the copy that a verdict speaks of was there at the moment."""
        return self.same(page.url, copy_of(page).at, reference)

    def lies(self, crawled: Crawled, *grades: Grade) -> list[PageVerdict]:
        """The pages of these grades whose copy was not there at the moment of reference."""
        pages = crawled.having(*grades)
        return [page for page in pages if not self.is_true(page, crawled.reference)]


def copy_of(page: PageVerdict) -> Evidence:
    """The evidence of what was there: of a claim, what was taken later."""
    found = page.after if page.grade is Grade.CLAIMED else page.before
    assert found is not None
    return found


def by_record(gathered: GatheredCaptures) -> dict[str, Capture]:
    """All captures by the record that evidence names."""
    return {capture.record_id: capture for capture in gathered.everything}


def newspaper(
    seed: int, pages: int, load: float, family: str = "exponential", static: float = 0.0
) -> SiteSpec:
    """A site whose pages change `load` times on average while all of them are visited once.

    Some of them never do. Without dates, so that C is what Spaniol 2009 means by it: the same at
    the visit and at the revisit.
    """
    rate = load / (pages * DELAY) * 86_400
    rates: Rates = getattr(Rates, family)(rate)
    return SiteSpec(
        seed=seed, pages=pages, rates=rates, static=static, last_modified=False, links=4,
        words=40, css=1, images=0, scripts=0, redirects=0, errors=(), disallowed=0, sitemap="none",
    )  # fmt: skip


def compared(
    spec: SiteSpec, folder: Path, training: int, pause: float
) -> dict[str, tuple[ChangingWeb, Crawled]]:
    """The same site at the same moment, crawled by each plan after the same training."""
    web = ChangingWeb(SyntheticSite(spec), folder / "trained")
    web.train(training, pause)
    found = {}
    for plan in PLANS:
        branch = web.branch(folder / plan)
        found[plan] = branch, branch.crawl(coherence="inducible", plan=plan)
    return found


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for as long as the block runs."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)
