"""Crawls: which there were, how one stands that runs now, and what became of one that has ended.

Pages, and the same as JSON, with the figures that `asof status` and `asof status --follow` tell.
"""

import os
from collections.abc import Mapping
from threading import Lock
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from asof.clock import iso
from asof.config import DEFAULTS, Config
from asof.crawl.control import running, writer
from asof.crawl.request import interrupted
from asof.crawl.summary import (
    Snapshot,
    crawl_json,
    report_json,
    snapshot_json,
)
from asof.crawl.watch import Watch
from asof.errors import ConfigError, NotCaptured, StorageError
from asof.model import Crawl, CrawlState
from asof.report import words
from asof.report.crawl_words import STATES, captured, to_go, why_not
from asof.scope.presets import load_config
from asof.web import address
from asof.web.crawl_counts import Counts, Told
from asof.web.machine import json_answer
from asof.web.pages import Pages

CRAWLS_A_PAGE = 20
# Reasons that are shown, and URLs of each: as many as on the terminal.
REASONS_SHOWN = 8
# Seconds that a page, and a program, wait for a count.
_MOMENT, _WHILE = 0.5, 20.0
# What the form of a new crawl may set, by the names of settings. All else is as for `asof crawl`.
SETTINGS = (
    "scope", "depth", "max_pages", "max_bytes", "time_limit", "delay", "coherence", "exclude",
)  # fmt: skip


class Crawls:
    """Answers about the crawls of one archive. Its public methods are endpoints."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._archive = pages.archive
        self._home = pages.archive.folder
        self._watch = Watch(self._home, pages.clock)
        self._looking = Lock()
        self._seen: tuple[str, Snapshot] | None = None
        self._counts = Counts(self._home, pages.clock)

    # -- pages

    def all(self, request: Request) -> Response:
        return self.listed(before=request.query_params.get("before", ""))

    def one(self, request: Request) -> Response:
        return self.page(self.named(request.path_params["name"]))

    def listed(
        self, status: int = 200, *, before: str = "", said: str = "", problem: str = "",
        lead: str = "No crawl has begun.", asked: Mapping[str, str] | None = None,
    ) -> Response:  # fmt: skip
        """The crawls, newest first; with what is wrong about the one that should begin."""
        shown, more = self._newest(before, _MOMENT)
        usual = DEFAULTS
        try:
            usual = self.usual() if self._pages.orders.are_taken else usual
        except ConfigError as error:
            problem, lead = self._pages.inside(str(error)), "No crawl can begin here."
        return self._pages.live(
            "crawls.html", status, crawls=shown, after=bool(before), more=more, captured=captured,
            busy=writer(self._home)[0], said=said, problem=problem, lead=lead, usual=usual,
            asked={name: (asked or {}).get(name, "") for name in ("seeds", "new", *SETTINGS)},
        )  # fmt: skip

    def page(
        self, crawl: Crawl, status: int = 200, *, problem: str = "", did: str = "",
        pattern: str = "",
    ) -> Response:  # fmt: skip
        """One crawl; with what it did about an order, or what is wrong about that."""
        now, (told,) = self._now(crawl), self._counts.of([crawl], _MOMENT)
        heard = running(self._home)
        state = STATES.get(now.state) if now else None
        return self._pages.live(
            "crawl.html", status, scripts=() if now is None else ("crawl.js",), crawl=crawl,
            now=now, told=told, summary=told.summary, mark=state[0] if state else "",
            word=state[1] if state else told.ending, heard=heard is not None and now is not None,
            goes_on=self.goes_on(crawl), problem=problem, did=did, pattern=pattern,
            most=REASONS_SHOWN, why_not=why_not, to_go=to_go, captured=captured,
            taken_of=words.taken_of, traps=words.likely_traps, duration=words.duration,
            length=words.length, shortened=words.shortened,
        )  # fmt: skip

    # -- the same as JSON

    def crawls(self, request: Request) -> Response:
        """The crawls, newest first."""
        shown, more = self._newest(request.query_params.get("before", ""), _WHILE)
        told = [_summed(each) for each in shown]
        onward = f"{address.prefix.get()}{request.url.path}?{urlencode({'before': more})}"
        return json_answer({"crawls": told, "next": onward if more else None})

    def crawl(self, request: Request) -> Response:
        """One crawl, the newest unless it is named: `now` is how it stands while it runs."""
        crawl = self.named(request.query_params.get("crawl", ""))
        (told,), now = self._counts.of([crawl], _WHILE), self._now(crawl)
        if told.report is None:
            raise _uncounted()
        at = {"at": iso(self._pages.clock.now()), "crawl": crawl.id}
        running_now = None if now is None else {**at, **snapshot_json(now)}
        both = {"summary": _summed(told), "now": running_now}
        return json_answer({"crawl": crawl.id, **report_json(told.report), **both})

    # -- what is known

    def named(self, name: str) -> Crawl:
        """The crawl of that id; without one the newest."""
        crawls = self._archive.crawls()
        found = next((each for each in crawls[::-1] if name in ("", each.id)), None)
        if found is None:
            raise NotCaptured(
                f"There is no crawl {name[:80]!r}." if name else "There is no crawl yet."
            )
        return found

    def usual(self) -> Config:
        """The settings that a crawl has here by itself."""
        return load_config(self._home.root, os.environ, ())

    def _newest(self, before: str, patience: float) -> tuple[list[Told], str]:
        """So many crawls before one, newest first, and before which the next ones are."""
        crawls = self._archive.crawls()[::-1]
        start = next((n for n, each in enumerate(crawls, 1) if each.id == before), 0)
        shown = crawls[start : start + CRAWLS_A_PAGE]
        more = shown[-1].id if len(crawls) > start + CRAWLS_A_PAGE else ""
        return self._counts.of(shown, patience), more

    def goes_on(self, crawl: Crawl) -> bool:
        """Whether it is the one that can be gone on with: nobody writes, and it is meant."""
        if crawl.state is not CrawlState.INTERRUPTED or self._home.is_locked():
            return False
        return interrupted(self._archive, crawl.seeds) == crawl

    def _now(self, crawl: Crawl) -> Snapshot | None:
        """How a crawl stands, if it runs; where that must be counted and others do, as before."""
        if crawl.state is not CrawlState.RUNNING:
            return None
        if self._looking.acquire(timeout=_MOMENT):
            try:
                self._seen = self._watch.look()
            finally:
                self._looking.release()
        found = self._seen
        return found[1] if found is not None and found[0] == crawl.id else None


def _summed(told: Told) -> dict[str, object]:
    if told.summary is None:
        raise _uncounted()
    return crawl_json(told.crawl, told.summary)


def _uncounted() -> StorageError:
    return StorageError("It is still being counted.", hint="Ask again in a while.")
