"""The crawl loop on virtual time, in a web that is a dictionary: turns, ends, orders, patience."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from asof.archive import OpenArchive
from asof.archive.journal import CommitGroup
from asof.archive.reindex import reindex
from asof.config import Config
from asof.crawl import CrawlRequest, audit, run_crawl
from asof.crawl import run as run_module
from asof.crawl.control import Act, Control, send_order
from asof.crawl.events import EventLog
from asof.crawl.loop import Crawler
from asof.crawl.monitor import Monitor
from asof.crawl.summary import Summary
from asof.crawl.writer import OwnWriter, Writer
from asof.errors import StorageError
from asof.fetch.http import Fetcher
from asof.fetch.reply import Judge
from asof.frontier.queue import Applied, Changes
from asof.model import CrawlState, Exchange, Failure, Headers, Target
from asof.testing import SimulatedClock
from asof.url import host_of
from support.exchanges import CRAWL, answer, failure

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"
# A turn that waits for nothing would never let virtual time pass: this many are a loop gone mad.
TOO_MANY_TURNS = 20_000
EXACT = 1e-6
Answer = Exchange | Failure | BaseException


@dataclass(frozen=True)
class Asked:
    """A request: what for, when it began, with which added headers."""

    url: str
    at: float
    headers: Headers = ()


Beside = Callable[["Rig"], Coroutine[None, None, None]]


class Web(Fetcher):
    """Answers by URL, each after some seconds; what is not there is a 404."""

    def __init__(self, clock: SimulatedClock, takes: float = 0.1) -> None:
        self.clock = clock
        self.takes = takes
        self.slow: dict[str, float] = {}
        self.pages: dict[str, Callable[[str], Answer]] = {}
        self.asked: list[Asked] = []
        self.ended: dict[str, list[float]] = {}
        self.busy: Counter[str] = Counter()
        self.most_at_once = 0

    def put(self, url: str, *links: str, **changes: Any) -> None:
        """A page with links."""
        body = "".join(f'<a href="{link}">x</a>' for link in links) + f"<p>This is {url}.</p>"
        said = changes.pop("body", body.encode())
        self.says(url, lambda asked: answer(asked, said, at=self.clock.now(), **changes))

    def says(self, url: str, what: Callable[[str], Answer]) -> None:
        self.pages[url] = what

    def fails(self, url: str, reason: str) -> None:
        self.says(url, lambda asked: failure(asked, reason, at=self.clock.now()))

    async def fetch(
        self, url: str, headers: Headers = (), judge: Judge | None = None
    ) -> Exchange | Failure:
        host = host_of(url)
        self.asked.append(Asked(url, self.clock.monotonic(), headers))
        self.busy[host] += 1
        self.most_at_once = max(self.most_at_once, *self.busy.values())
        try:
            await self.clock.sleep(self.slow.get(url, self.takes))
            found = self.pages.get(url)
            said = answer(url, status=404, at=self.clock.now()) if found is None else found(url)
        finally:
            self.busy[host] -= 1
            self.ended.setdefault(host, []).append(self.clock.monotonic())
        if isinstance(said, BaseException):
            raise said
        return said

    async def close(self) -> None:
        """Nothing is open."""

    def urls(self) -> list[str]:
        return [asked.url for asked in self.asked]

    def pauses(self, host: str) -> list[float]:
        """Seconds from the end of each answer of a host to the next request."""
        starts = [asked.at for asked in self.asked if host_of(asked.url) == host]
        return [a - b for a, b in zip(starts[1:], self.ended[host], strict=False)]


class Clock(SimulatedClock):
    """Virtual time that notices when somebody turns in circles."""

    def __init__(self) -> None:
        super().__init__(virtual=True)
        self.turns = 0

    async def sleep(self, seconds: float) -> None:
        self.turns += 1
        assert self.turns < TOO_MANY_TURNS, "the loop spins"
        await super().sleep(seconds)


@dataclass
class Rig:
    """A crawl of a made-up web in an archive of its own."""

    root: Path
    clock: Clock = field(default_factory=Clock)
    web: Web = field(init=False)
    archive: OpenArchive = field(init=False)
    crawler: Crawler = field(init=False)
    monitor: Monitor = field(init=False)
    snapshots: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.web = Web(self.clock)

    def run(
        self,
        *seeds: str,
        beside: Beside | None = None,
        writer: Callable[[Writer], Writer] = lambda own: own,
        controlled: bool = False,
        **settings: Any,
    ) -> Summary:
        """Crawl to the end; `beside` is a coroutine function that runs at the same time."""
        plain = {"robots": "ignore", "retries": 0, "disk_reserve": 0}
        config = Config().updated(plain | settings, source="a test")
        with self.opened(seeds, config, controlled) as own:
            return self.clock.run(self._crawl(seeds, config, writer(own), beside))

    @contextmanager
    def opened(self, seeds: Sequence[str], config: Config, controlled: bool) -> Iterator[Writer]:
        with OpenArchive.write(self.root, purpose="test", clock=self.clock) as self.archive:
            self.archive.catalog.put_crawl(CRAWL)
            folder = self.archive.folder
            events = EventLog(self.root / "events.jsonl", self.clock)
            control = Control(folder, self.clock, CRAWL.id) if controlled else None
            self.monitor = Monitor(events, lambda s: self.snapshots.append(s.state), control)
            own = OwnWriter(folder, self.archive.ledger, CRAWL, config)
            try:
                yield own
            finally:
                events.close()
                own.close()
                self.archive.ledger.rollback()

    async def _crawl(
        self,
        seeds: Sequence[str],
        config: Config,
        writer: Writer,
        beside: Beside | None,
    ) -> Summary:
        crawl = type(CRAWL)(CRAWL.id, tuple(seeds), CRAWL.started, CRAWL.state)
        self.crawler = Crawler(self.archive, crawl, config, self.web, writer, self.monitor)
        helper = asyncio.ensure_future(beside(self)) if beside else None
        try:
            self.crawler.funnel.put([Target(seed) for seed in seeds])
            with self.archive.ledger.transaction():
                self.crawler.frontier.flush()
            return await self.crawler.run()
        finally:
            if helper is not None:
                helper.cancel()
            self.crawler.close()

    def captured(self) -> list[str]:
        """The URLs in the archive, by any reader."""
        with OpenArchive.open(self.root, clock=self.clock) as archive:
            return [capture.url for capture in archive.captures()]

    def states(self) -> dict[str, tuple[str, str | None]]:
        with OpenArchive.open(self.root, clock=self.clock) as archive:
            rows = archive.ledger.db.execute("SELECT url, state, reason FROM targets")
            return {url: (state, reason) for url, state, reason in rows}

    def events(self) -> list[str]:
        lines = (self.root / "events.jsonl").read_text().splitlines()
        return [json.loads(line)["event"] for line in lines]


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "archive")


def fan(web: Web, base: str, count: int) -> list[str]:
    """A front page with so many pages behind it; all their URLs, the front page's first."""
    pages = [f"{base}{n}" for n in range(count)]
    web.put(base, *pages)
    for page in pages:
        web.put(page)
    return [base, *pages]


# -- The turns of hosts ---------------------------------------------------------------------------


def test_everything_is_asked_for_once_and_in_order(rig: Rig) -> None:
    rig.web.put(A, "b", "a", "b")
    rig.web.put(A + "b", "deep", "a", A)
    rig.web.put(A + "a", "deep")
    rig.web.put(A + "deep")
    summary = rig.run(A)
    assert rig.web.urls() == [A, A + "b", A + "a", A + "deep"]
    assert sorted(rig.captured()) == sorted(rig.web.urls())
    assert (summary.ended_by, summary.captured, summary.queued) == ("done", 4, 0)


def test_a_host_is_left_alone_between_two_answers(rig: Rig) -> None:
    """One second, or as long as the last answer took; and hosts do not wait for each other."""
    fan(rig.web, A, 5)
    fan(rig.web, B, 5)
    rig.web.slow[A + "2"] = 4.0
    rig.run(A, B, delay=1.0, delay_factor=1.0)
    assert min(rig.web.pauses("a.example")) >= 1.0 - EXACT
    assert max(rig.web.pauses("a.example")) == pytest.approx(4.0, abs=0.01)
    assert max(rig.web.pauses("b.example")) == pytest.approx(1.0, abs=0.01)
    assert rig.web.most_at_once == 1
    assert rig.web.ended["b.example"][-1] < 6.5, "not after a.example, but beside it"


def test_without_a_delay_a_host_is_asked_answer_by_answer(rig: Rig) -> None:
    """Still one at a time, and nobody waits for the next tick of a clock."""
    pages = fan(rig.web, A, 40)
    rig.run(A, delay=0)
    assert rig.web.most_at_once == 1
    assert len(rig.web.asked) == len(pages)
    assert rig.clock.monotonic() < 0.1 * len(pages) + 1.5


@pytest.mark.parametrize("delay", [0.2, 1.0])
def test_a_slow_host_does_not_hold_up_the_others(rig: Rig, delay: float) -> None:
    """While one answer takes a minute, the next host is asked when its delay is over, not later."""
    rig.web.put(A)
    rig.web.slow[A] = 60.0
    fan(rig.web, B, 12)
    rig.run(A, B, delay=delay)
    assert max(rig.web.pauses("b.example")) == pytest.approx(delay, abs=0.05)


@pytest.mark.parametrize("most", [1, 3])
def test_no_more_hosts_at_once_than_allowed(rig: Rig, most: int) -> None:
    seeds = [f"http://h{n}.example/" for n in range(8)]
    for seed in seeds:
        fan(rig.web, seed, 3)
    at_once: list[int] = []
    plain = rig.web.fetch

    async def fetch(url: str, headers: Headers = (), judge: Judge | None = None) -> object:
        at_once.append(sum(rig.web.busy.values()) + 1)
        return await plain(url, headers, judge)

    rig.web.fetch = fetch  # type: ignore[method-assign,assignment]
    summary = rig.run(*seeds, concurrency=most, delay=0)
    assert summary.captured == 8 * 4
    assert max(at_once) == most


def test_a_failure_that_may_pass_is_tried_again_later_and_later(rig: Rig) -> None:
    rig.web.fails(A, "tls")
    summary = rig.run(A, retries=3, retry_delay=2.0, delay=0)
    times = [asked.at for asked in rig.web.asked]
    waits = [b - a - 0.1 for a, b in pairwise(times)]
    assert waits == pytest.approx([2.0, 4.0, 8.0], abs=0.3)
    assert (summary.failed, summary.reasons) == (1, {"tls": 1})


@pytest.mark.parametrize("status", [429, 503])
def test_a_host_that_asks_for_patience_gets_it(rig: Rig, status: int) -> None:
    """All of it waits, not only the page; the answers are kept."""
    pages = fan(rig.web, A, 2)
    calls: list[str] = []

    def busy(url: str) -> Answer:
        calls.append(url)
        if len(calls) > 1:
            return answer(url, b"at last", at=rig.clock.now())
        headers = (("Retry-After", "30"),)
        return answer(url, status=status, headers=headers, at=rig.clock.now())

    rig.web.says(A + "0", busy)
    rig.run(A, retries=1, retry_delay=1.0, delay=0.5)
    assert rig.web.urls() == [A, A + "0", A + "1", A + "0"]
    assert rig.web.pauses("a.example") == pytest.approx([0.5, 30.0, 0.5], abs=0.01)
    assert sorted(rig.captured()) == sorted([*pages, A + "0"])


def test_an_answer_that_is_no_page_is_given_back_once(rig: Rig) -> None:
    """The assignment counts pages only; a busy server's answer is none, and is not taken either."""
    fan(rig.web, A, 6)
    rig.web.says(A + "0", lambda url: answer(url, status=503, media=None, at=rig.clock.now()))
    rig.run(A, preset="assignment", max_pages=3, retries=1, retry_delay=1.0)
    pages = [url for url in rig.captured() if url != A + "0"]
    assert len(pages) == 3


def test_a_crawl_goes_on_while_guesses_are_held_back(rig: Rig) -> None:
    """A host with a page that waits, guesses, and something found that is not committed yet."""
    script = (A + "s.js", b'fetch("/guess.json")', "text/javascript")
    rig.web.put(A, "busy", "late", body=b'<script src="s.js"></script><a href=busy><a href=late>')
    rig.web.put(script[0], body=script[1], media=script[2])
    rig.web.says(A + "busy", lambda url: answer(url, status=503, at=rig.clock.now()))
    rig.web.put(A + "late", "later", "busy")
    rig.web.put(A + "later", "last")
    rig.web.put(A + "last")
    summary = rig.run(A, retries=1, retry_delay=20.0, delay=0.0, group_seconds=5.0)
    assert (summary.ended_by, summary.queued) == ("done", 0)
    assert rig.web.urls()[-2:] == [A + "guess.json", A + "busy"]


# -- Ends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "reason", "at_most"),
    [
        ({"max_pages": 3}, "max-pages", 5.0),
        ({"max_bytes": 100}, "max-bytes", 2.0),
        ({"time_limit": 2.5}, "time-limit", 2.7),
    ],
    ids=["max_pages", "max_bytes", "time_limit"],
)
def test_a_limit_ends_the_crawl_at_once(
    rig: Rig, settings: dict[str, Any], reason: str, at_most: float
) -> None:
    """Whatever else is queued, and however long another host would have to be waited for."""
    fan(rig.web, A, 20)
    later = (("Retry-After", "59"),)
    rig.web.says(B, lambda url: answer(url, status=503, headers=later, at=rig.clock.now()))
    summary = rig.run(A, B, retries=2, **settings)
    assert summary.ended_by == reason
    assert rig.clock.monotonic() <= at_most
    assert summary.queued > 0
    assert rig.clock.turns < 200
    assert len(rig.captured()) == len(rig.web.asked), "what came is kept"


def test_as_many_pages_as_were_asked_for(rig: Rig) -> None:
    """Exactly: hosts that are asked at the same time do not take one too many."""
    seeds = [f"http://h{n}.example/" for n in range(6)]
    for seed in seeds:
        fan(rig.web, seed, 6)
    summary = rig.run(*seeds, max_pages=10, delay=0)
    assert (summary.captured, len(rig.web.asked)) == (10, 10)


def test_a_fetch_that_hangs_is_cut_off_after_a_grace(rig: Rig) -> None:
    """And is still queued, for the resumption."""
    fan(rig.web, A, 9)
    rig.web.slow[B] = 10_000.0
    rig.web.put(B)
    summary = rig.run(A, B, max_pages=4)
    assert summary.ended_by == "max-pages"
    assert rig.clock.monotonic() < 12
    assert rig.states()[B] == ("queued", None)
    assert len(rig.captured()) == 3


def test_a_stop_ends_the_crawl_and_keeps_what_is_in_flight(rig: Rig) -> None:
    fan(rig.web, A, 9)

    async def stop(rig: Rig) -> None:
        await rig.clock.sleep(2.3)
        rig.crawler.stop("interrupted")
        assert rig.crawler.stopping

    summary = rig.run(A, beside=stop, delay=1.0)
    assert summary.ended_by == "interrupted"
    assert len(rig.captured()) == len(rig.web.asked) == 3
    assert "stopping" in rig.events()


def test_a_run_goes_on_where_the_last_one_ended(rig: Rig) -> None:
    pages = fan(rig.web, A, 9)
    rig.run(A, max_pages=4)
    rig.run(A)
    assert Counter(rig.web.urls()) == Counter(pages)
    assert sorted(rig.captured()) == sorted(pages)


# -- Trouble --------------------------------------------------------------------------------------


def test_a_fetcher_that_raises_ends_the_crawl_with_its_error(rig: Rig) -> None:
    """Only a disk that fails makes it raise; what had come before is committed all the same."""
    fan(rig.web, A, 9)
    full = StorageError("The spool cannot be written.", hint="Make room.")
    rig.web.says(A + "3", lambda url: full)
    with pytest.raises(StorageError) as caught:
        rig.run(A, delay=0)
    assert caught.value is full
    assert rig.captured() == [A, A + "0", A + "1", A + "2"]
    assert rig.states()[A + "3"][0] == "queued"


def test_the_visits_beside_one_that_raises_are_given_up(rig: Rig) -> None:
    """At once, though a server keeps them waiting; their targets stay queued."""
    rig.web.says(A, lambda url: ValueError("a bug"))
    rig.web.put(B)
    rig.web.slow[B] = 600.0
    with pytest.raises(ValueError, match="a bug"):
        rig.run(A, B)
    assert rig.clock.monotonic() < 10
    assert rig.states()[B][0] == "queued"
    assert sum(rig.web.busy.values()) == 0


class Failing(Writer):
    """Commits so many groups, then fails; notes what it is asked for afterwards."""

    def __init__(self, own: Writer, after: int, clock: SimulatedClock) -> None:
        self.own = own
        self.left = after
        self.clock = clock
        self.refused: list[int] = []

    async def write(self, group: CommitGroup, changes: Changes) -> Applied:
        await self.clock.sleep(0.05)
        self.left -= 1
        if self.left < 0:
            self.refused.append(group.records)
            group.discard()
            raise StorageError("The disk is full.", hint="Make room.")
        return await self.own.write(group, changes)

    def close(self) -> None:
        self.own.close()


@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_nothing_is_written_after_a_commit_that_failed(rig: Rig, delay: float) -> None:
    """A later group may hold revisits of what was lost with this one."""
    seeds = [f"http://h{n}.example/" for n in range(6)]
    for seed in seeds:
        fan(rig.web, seed, 20)
    rig.web.takes = 0.01
    failing: list[Failing] = []

    def writer(own: Writer) -> Writer:
        failing.append(Failing(own, 2, rig.clock))
        return failing[0]

    with pytest.raises(StorageError, match="The disk is full"):
        rig.run(*seeds, writer=writer, group_records=3, delay=delay)
    assert len(failing[0].refused) == 1
    assert rig.clock.monotonic() < 5


def test_a_cancelled_run_lets_its_commit_end(rig: Rig) -> None:
    """Ctrl-C twice: what is being written is written, what is in flight is given up."""
    fan(rig.web, A, 9)
    rig.web.slow[A + "4"] = 600.0

    async def cancelled(rig: Rig) -> None:
        with rig.opened((A,), Config(robots="ignore", delay=0, disk_reserve=0), False) as writer:
            crawl = type(CRAWL)(CRAWL.id, (A,), CRAWL.started, CRAWL.state)
            config = Config(robots="ignore", delay=0, disk_reserve=0)
            crawler = Crawler(rig.archive, crawl, config, rig.web, writer, rig.monitor)
            crawler.funnel.put([Target(A)])
            with rig.archive.ledger.transaction():
                crawler.frontier.flush()
            task = asyncio.ensure_future(crawler.run())
            await rig.clock.sleep(3)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await crawler.finish()
            crawler.close()

    rig.clock.run(cancelled(rig))
    assert rig.captured() == [A, *(f"{A}{n}" for n in range(4))]
    assert rig.states()[A + "4"][0] == "queued"


# -- Orders ---------------------------------------------------------------------------------------


def test_a_paused_crawl_asks_for_nothing_until_it_is_resumed(rig: Rig) -> None:
    pages = fan(rig.web, A, 9)

    async def orders(rig: Rig) -> None:
        folder = rig.archive.folder
        await rig.clock.sleep(2.5)
        send_order(folder, rig.clock, Act.PAUSE)
        await rig.clock.sleep(100)
        send_order(folder, rig.clock, Act.RESUME)

    summary = rig.run(A, beside=orders, controlled=True, delay=1.0)
    times = [asked.at for asked in rig.web.asked]
    gap = [at for at in times if 3.2 < at < 102.5]
    assert gap == []
    assert summary.ended_by == "done"
    assert sorted(rig.captured()) == sorted(pages)
    assert [e for e in rig.events() if e in ("paused", "resumed")] == ["paused", "resumed"]
    assert "paused" in rig.snapshots
    assert rig.clock.turns < 2_000, "it looks for orders, and no oftener"


def test_what_is_in_flight_at_a_pause_is_kept(rig: Rig) -> None:
    rig.web.put(A)
    rig.web.slow[A] = 5.0

    async def orders(rig: Rig) -> None:
        await rig.clock.sleep(1)
        send_order(rig.archive.folder, rig.clock, Act.PAUSE)
        await rig.clock.sleep(30)
        assert rig.crawler.journal.pending == 0
        assert rig.captured() == [A]
        send_order(rig.archive.folder, rig.clock, Act.STOP)

    assert rig.run(A, beside=orders, controlled=True).ended_by == "interrupted"
    assert rig.captured() == [A]


def test_an_excluded_pattern_is_taken_out_of_the_queue(rig: Rig) -> None:
    fan(rig.web, A, 9)

    async def orders(rig: Rig) -> None:
        await rig.clock.sleep(1.5)
        send_order(rig.archive.folder, rig.clock, Act.EXCLUDE, "/[5-9]$")

    summary = rig.run(A, beside=orders, controlled=True, delay=1.0)
    assert sorted(rig.captured()) == [A, *(f"{A}{n}" for n in range(5))]
    assert summary.reasons == {"excluded by /[5-9]$": 4}
    assert rig.crawler.crawl.settings["exclude"] == ["/[5-9]$"]


# -- Hosts that say nothing -----------------------------------------------------------------------


@pytest.mark.parametrize("robots", ["ignore", "obey"])
def test_a_host_that_is_silent_is_given_up(rig: Rig, robots: str) -> None:
    """After five failures in a row; the others of its targets have the reason and are not asked."""
    pages = fan(rig.web, A, 12)
    for page in pages[3:]:
        rig.web.fails(page, "timeout")
    others = fan(rig.web, B, 12)
    summary = rig.run(A, B, robots=robots, delay=0.1)
    asked = [url for url in rig.web.urls() if url in pages]
    assert asked == pages[:8]
    assert summary.reasons == {"timeout": 10}
    assert set(others) <= set(rig.captured())


def test_an_answer_in_between_is_a_sign_of_life(rig: Rig) -> None:
    pages = fan(rig.web, A, 12)
    for n, page in enumerate(pages[1:]):
        if n % 5 != 4:
            rig.web.fails(page, "reset")
    summary = rig.run(A, delay=0.1)
    assert len(rig.web.asked) == len(pages)
    assert summary.reasons == {"reset": 10}


def test_a_refusal_of_one_page_is_no_silence(rig: Rig) -> None:
    pages = fan(rig.web, A, 9)
    for page in pages[1:]:
        rig.web.says(page, lambda url: answer(url, status=500, at=rig.clock.now()))
    rig.run(A, delay=0.1)
    assert len(rig.web.asked) == len(pages)


# -- 304 ------------------------------------------------------------------------------------------


def test_a_304_without_a_reason_is_an_answer_like_others(rig: Rig) -> None:
    """Nobody asked whether anything had changed; the crawl goes on."""
    rig.web.put(A, "odd", "b")
    rig.web.says(A + "odd", lambda url: answer(url, status=304, media=None, at=rig.clock.now()))
    rig.web.put(A + "b")
    summary = rig.run(A)
    assert (summary.captured, summary.failed) == (3, 0)
    with OpenArchive.open(rig.root, clock=rig.clock) as archive:
        [odd] = archive.captures(url=A + "odd")
        assert (odd.kind, odd.status) == ("response", 304)


def is_conditional(asked: Asked) -> bool:
    return any(name == "If-None-Match" for name, _ in asked.headers)


def test_a_measurable_crawl_no_longer_asks_a_liar_by_conditions(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three audits that found other content than a 304 spoke of are enough, as at a revisit."""
    monkeypatch.setattr(audit, "draw", lambda secret, url: 0)  # everything is audited
    pages = [A, *(f"{A}{number}" for number in range(8))]
    changed, large = False, "x" * audit.CHEAP

    def says(url: str) -> Answer:
        if changed and is_conditional(rig.web.asked[-1]):
            return answer(url, status=304, media=None, at=rig.clock.now())
        links = "".join(f'<a href="{page}">x</a>' for page in pages)
        body = f"{links}<p>{url} {changed}{large}".encode()
        return answer(url, body, headers=(("ETag", f'"{url}"'),), at=rig.clock.now())

    for page in pages:
        rig.web.says(page, says)
    rig.run(A)
    rig.web.asked.clear()
    changed = True
    with OpenArchive.write(rig.root, purpose="test") as archive:
        archive.ledger.db.execute("DELETE FROM targets")
    rig.run(A, coherence="measurable")
    assert set(rig.web.urls()) == set(pages)
    assert sum(map(is_conditional, rig.web.asked)) == 3


def test_a_304_is_believed_where_it_was_asked_for(rig: Rig) -> None:
    """The second crawl asks with the validator of the first, and follows what it has stored."""
    etag = (("ETag", '"1"'),)
    rig.web.put(A, "b", headers=etag)
    rig.web.put(A + "b")
    rig.run(A)
    first = len(rig.web.asked)
    rig.web.says(A, lambda url: answer(url, status=304, media=None, at=rig.clock.now()))
    with OpenArchive.write(rig.root, purpose="test") as archive:
        archive.ledger.db.execute("DELETE FROM targets")
    rig.run(A)
    again = rig.web.asked[first:]
    assert [asked.url for asked in again] == [A, A + "b"]
    assert again[0].headers == (("If-None-Match", '"1"'),)
    with OpenArchive.open(rig.root, clock=rig.clock) as archive:
        assert [c.kind for c in archive.captures(url=A)] == ["response", "revisit"]


# -- robots.txt -----------------------------------------------------------------------------------


def moved(web: Web, url: str, to: str) -> None:
    headers = (("Location", to),)
    web.says(url, lambda asked: answer(asked, status=301, headers=headers, at=web.clock.now()))


def rules(web: Web, base: str, text: str) -> None:
    web.put(base + "robots.txt", body=text.encode(), media="text/plain")


def test_robots_are_asked_for_first_and_obeyed(rig: Rig) -> None:
    fan(rig.web, A, 3)
    rules(rig.web, A, "User-agent: *\nDisallow: /1\nCrawl-delay: 3")
    summary = rig.run(A, robots="obey")
    assert rig.web.urls() == [A + "robots.txt", A, A + "0", A + "2"]
    assert summary.reasons == {"robots.txt": 1}
    assert rig.web.pauses("a.example")[1:] == pytest.approx([3.0, 3.0], abs=0.01)


def test_robots_on_another_host_wait_for_the_turn_of_that_host(rig: Rig) -> None:
    """It is one request more to a server that is being asked already."""
    moved(rig.web, A + "robots.txt", B + "robots.txt")
    rules(rig.web, B, "User-agent: *\nDisallow: /0")
    fan(rig.web, A, 2)
    fan(rig.web, B, 6)
    rig.web.slow[B] = 3.0
    rig.run(A, B, robots="obey", delay=1.0)
    assert rig.web.most_at_once == 1
    assert min(rig.web.pauses("b.example")) >= 1.0 - EXACT
    assert min(rig.web.pauses("a.example")) >= 1.0 - EXACT
    asked = rig.web.urls()
    assert asked.count(B + "robots.txt") == 2
    assert A + "0" not in asked, "the rules that it redirects to are its own"
    assert A + "1" in asked
    assert B + "0" not in asked
    assert {A, A + "1", B, *(f"{B}{n}" for n in range(1, 6))} <= set(rig.captured())


def test_robots_on_a_host_of_which_nothing_else_is_wanted(rig: Rig) -> None:
    moved(rig.web, A + "robots.txt", C + "robots.txt")
    rules(rig.web, C, "User-agent: *\nDisallow: /0")
    fan(rig.web, A, 2)
    rig.run(A, robots="obey")
    assert rig.web.urls() == [A + "robots.txt", C + "robots.txt", A, A + "1"]


def test_two_hosts_whose_robots_are_each_others_do_not_wait_for_ever(rig: Rig) -> None:
    """Each holds its own turn and wants that of the other; others go on meanwhile."""
    moved(rig.web, A + "robots.txt", B + "robots.txt")
    moved(rig.web, B + "robots.txt", A + "robots.txt")
    fan(rig.web, A, 2)
    fan(rig.web, B, 2)
    others = fan(rig.web, C, 5)
    summary = rig.run(A, B, C, robots="obey", retries=1)
    assert summary.ended_by == "done"
    assert summary.queued == 0
    assert rig.clock.monotonic() < 300
    assert rig.web.most_at_once == 1
    assert set(others) <= set(rig.captured())
    assert rig.web.ended["c.example"][-1] < 20
    for url in (A, B):
        assert rig.states()[url][0] != "queued"


def test_robots_that_move_in_a_circle_are_left_after_five(rig: Rig) -> None:
    """RFC 9309: then they are as good as none."""
    moved(rig.web, A + "robots.txt", B + "robots.txt")
    moved(rig.web, B + "robots.txt", A + "robots.txt")
    rig.web.put(A)
    rig.run(A, robots="obey")
    assert len(rig.web.asked) == 6 + 1
    assert rig.web.urls()[-1] == A
    assert min(rig.web.pauses("a.example")) >= 1.0 - EXACT
    assert min(rig.web.pauses("b.example")) >= 1.0 - EXACT


@pytest.mark.parametrize(
    ("retry_delay", "retry_after", "least"), [(0.1, None, 1.0), (0.1, "20", 20.0), (5.0, None, 5.0)]
)
def test_robots_that_are_not_to_be_had_are_not_asked_for_too_soon(
    rig: Rig, retry_delay: float, retry_after: str | None, least: float
) -> None:
    """The delay of the host and its own wish hold here as well."""
    headers = () if retry_after is None else (("Retry-After", retry_after),)
    robots = A + "robots.txt"
    rig.web.says(robots, lambda url: answer(url, status=503, headers=headers, at=rig.clock.now()))
    rig.web.put(A)
    summary = rig.run(A, robots="obey", retries=2, retry_delay=retry_delay, delay=1.0)
    assert rig.web.urls() == [robots] * 3
    assert summary.reasons == {"robots.txt unavailable": 1}
    assert min(rig.web.pauses("a.example")) >= least - EXACT


def test_two_origins_of_one_host_share_its_delay(rig: Rig) -> None:
    """http and https are one server to be polite to, also when one of them does not answer."""
    secure = A.replace("http:", "https:")
    rig.web.fails(secure + "robots.txt", "refused")
    rig.web.put(A)
    rig.run(secure, A, robots="obey", retries=1, retry_delay=0.1, delay=1.0)
    assert A in rig.captured()
    assert rig.states()[secure] == ("failed", "refused")
    assert min(rig.web.pauses("a.example")) >= 1.0 - EXACT


# -- From the outside -----------------------------------------------------------------------------


def test_a_run_from_the_outside_ends_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same through `run_crawl`: an error leaves a crawl that can be resumed, and is."""
    clock = Clock()
    web = Web(clock)
    pages = fan(web, A, 5)
    web.says(A + "3", lambda url: StorageError("The disk is full.", hint="Make room."))
    monkeypatch.setattr(run_module, "HttpClient", lambda *arguments: web)
    settings = {"robots": "ignore", "delay": 0.1, "disk_reserve": 0}
    request = CrawlRequest(tmp_path / "archive", (A,), settings)
    with pytest.raises(StorageError, match="The disk is full"):
        run_crawl(request, clock=clock)
    with OpenArchive.open(tmp_path / "archive", clock=clock) as archive:
        [crawl] = archive.crawls()
        assert crawl.state is CrawlState.INTERRUPTED
    web.put(A + "3")
    outcome = run_crawl(request, clock=clock)
    assert outcome.resumed
    assert outcome.crawl.state is CrawlState.FINISHED
    with OpenArchive.open(tmp_path / "archive", clock=clock) as archive:
        before = list(archive.captures())
        assert sorted(capture.url for capture in before) == sorted(pages)
        folder = archive.folder
    reindex(folder, spread=map, progress=lambda size: None)
    with OpenArchive.open(tmp_path / "archive", clock=clock) as archive:
        assert list(archive.captures()) == before
