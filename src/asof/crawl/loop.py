"""The crawl loop: take the next polite host, fetch its next target, keep what came, go on.

One task a host at a time (seed 002: no parallel requests to a server); the loop alone decides when
to stop and when to commit. Everything that touches the database or the WARC happens on this
thread, between awaits, so a group is never half written when it is committed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from asof.archive import Archive
from asof.archive.journal import Journal
from asof.clock import SECOND
from asof.config import Config
from asof.crawl.discover import follow, found_in, sort_by_scope
from asof.crawl.gate import MAX_REDIRECTS, Gates, Shut, robots_url
from asof.crawl.keep import Keeper
from asof.crawl.summary import Snapshot, Summary
from asof.fetch.http import Fetcher
from asof.frontier.hosts import Hosts, Pace
from asof.frontier.queue import Frontier
from asof.frontier.states import Event, State
from asof.model import Crawl, Exchange, Failure, Hop, Target
from asof.scope.robots import robots_from
from asof.scope.rules import Scope

# These ask for patience (RFC 9110 sections 15.6.4, RFC 6585 section 4): the host is left alone and
# the target tried again.
_PATIENCE = (429, 503)

# Most links of a page were on the page before: what was queued or left out lately is not decided
# again. The database has the last word; this only spares it the question.
_SEEN = 100_000
_FAR = 1 << 30
# Seconds that fetches in flight get to end after a stop; a target that is then cut off stays
# queued, and a server that hangs keeps nobody waiting.
_GRACE = 5.0

Watcher = Callable[[Snapshot], None]


class Crawler:
    """One run of a crawl, from where it stands to its end or a stop."""

    def __init__(
        self,
        archive: Archive,
        crawl: Crawl,
        config: Config,
        fetcher: Fetcher,
        watch: Watcher = lambda snapshot: None,
    ) -> None:
        self._archive = archive
        self._clock = archive.clock
        self._config = config
        self._fetcher = fetcher
        self._watch = watch
        self._scope = Scope(crawl.seeds, config)
        self.frontier = Frontier(archive.ledger, archive.catalog.crawl_no(crawl.id))
        self.journal = Journal(archive, crawl, config)
        self.keeper = Keeper(archive, self.journal, crawl.id)
        self._gates = Gates(config.user_agent)
        self._hosts = Hosts()
        self._pace = Pace(config.delay, config.delay_factor, config.max_crawl_delay)
        self._stop = asyncio.Event()
        self._ended_by = ""
        self._deadline = float("inf")
        self._started = 0.0
        self._seen: dict[str, int] = {}
        self._taken = 0
        self._before = 0
        self._bytes = 0
        self._current = ""

    def stop(self, reason: str) -> None:
        """Begin no more fetches; those in flight are finished and kept, if they end in time."""
        self._ended_by = self._ended_by or reason
        self._deadline = min(self._deadline, self._clock.monotonic() + _GRACE)
        self._stop.set()

    @property
    def stopping(self) -> bool:
        """Whether stop() was called, by a limit or by somebody."""
        return self._stop.is_set()

    async def run(self) -> Summary:
        """Crawl until the queue is empty, a limit is reached, or somebody calls stop()."""
        self._started = self._clock.monotonic()
        self._before = self.frontier.tally[State.DONE]
        self._taken = self.frontier.pages_done()
        for host, not_before in self.frontier.hosts():
            self._hosts.want(host, self._in_seconds(not_before))
        visits: set[asyncio.Task[None]] = set()
        try:
            while self._begin_visits(visits):
                visits = await self._wait(visits)
                if self.journal.due():
                    self.journal.commit()
                self._report()
                if self._out_of_time():
                    visits = await _abandoned(visits)
        except BaseException:
            await _abandoned(visits)
            raise
        return self.summary()

    def _begin_visits(self, visits: set[asyncio.Task[None]]) -> bool:
        """Start what may start now; False when there is nothing to wait for any more."""
        self._check_limits()
        while not self._stop.is_set() and len(visits) < self._config.concurrency:
            host = self._hosts.take(self._clock.monotonic())
            if host is None:
                break
            visits.add(asyncio.create_task(self._visit(host)))
        return bool(visits) or (not self._stop.is_set() and self._hosts.next_due() is not None)

    async def _wait(self, visits: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
        """Until a visit ends, a host becomes due, the group must be committed, or a stop."""
        alarm = asyncio.create_task(self._clock.sleep(self._patience(len(visits))))
        stopped = asyncio.create_task(self._stop.wait()) if not self._stop.is_set() else None
        others = {task for task in (alarm, stopped) if task is not None}
        done, _ = await asyncio.wait(visits | others, return_when=asyncio.FIRST_COMPLETED)
        for task in others - done:
            task.cancel()
        for task in done & visits:
            task.result()
        return visits - done

    def _patience(self, running: int) -> float:
        now = self._clock.monotonic()
        waits = [self._config.group_seconds if self.journal.pending else 1.0]
        due = self._hosts.next_due()
        if due is not None and running < self._config.concurrency:
            waits.append(due - now)
        if self._config.time_limit is not None and not self.stopping:
            waits.append(self._started + self._config.time_limit - now)
        return max(0.0, min(*waits, self._deadline - now))

    def _check_limits(self) -> None:
        config = self._config
        if config.max_bytes is not None and self._bytes >= config.max_bytes:
            self.stop("max-bytes")
        elapsed = self._clock.monotonic() - self._started
        if config.time_limit is not None and elapsed >= config.time_limit:
            self.stop("time-limit")

    def _out_of_time(self) -> bool:
        """Whether what was in flight at the stop has had its grace."""
        return self._clock.monotonic() >= self._deadline

    async def _visit(self, host: str) -> None:
        """One request to a host (or none, if its target may not be fetched), then let go of it."""
        start = self._clock.monotonic()
        wait = 0.0
        target = self.frontier.next(host, self._clock.now())
        try:
            if target is not None:
                wait = await self._serve(target, start)
        finally:
            now = self._clock.monotonic()
            self._hosts.release(host, now + wait)
            due = self.frontier.due(host)
            if due is not None:
                self._hosts.want(host, self._in_seconds(due))

    async def _serve(self, target: Target, start: float) -> float:
        """Bring a target one step further; gives how long to leave its host alone."""
        if self._config.robots == "obey":
            if not self._gates.known(target.url):
                self.frontier.put_back(target)
                return await self._settle_gate(target, start)
            verdict = self._gates.verdict(target.url)
            if verdict is not None:
                self._refuse(target, verdict)
                return 0.0
        if self._config.max_pages is not None and self._taken >= self._config.max_pages:
            self.frontier.put_back(target)
            self.stop("max-pages")
            return 0.0
        self._taken += 1
        self._current = target.url
        outcome = await self._fetcher.fetch(target.url)
        if isinstance(outcome, Failure):
            self._taken -= 1
            self._stumble(target, outcome.reason, transient=outcome.transient)
            self.keeper.failure(outcome, target)
            return self._wait_after(target, start, None)
        retry_after = _retry_after(outcome)
        self._take_in(target, outcome)
        return self._wait_after(target, start, retry_after)

    def _wait_after(self, target: Target, start: float, retry_after: float | None) -> float:
        took = self._clock.monotonic() - start
        return self._pace.wait(took, self._gates.crawl_delay(target.url), retry_after)

    def _take_in(self, target: Target, exchange: Exchange) -> None:
        """Keep a response, queue what it leads to, and settle its target."""
        self._bytes += len(exchange.head) + exchange.body.size
        kept = self.keeper.exchange(exchange, target)
        onward = list(found_in(target, kept.links))
        if kept.redirect is not None:
            hop = follow(target, kept.redirect, Hop.REDIRECT)
            onward.extend([hop] if hop is not None else [])
        self.queue(onward)
        if exchange.status in _PATIENCE and target.tries < self._config.retries:
            self._taken -= 1
            self._stumble(target, f"status {exchange.status}", transient=True)
        else:
            self._settle(target, Event.CAPTURED)

    def queue(self, targets: list[Target]) -> None:
        """Put new targets where they belong: in the queue, or in the report of what was left."""
        targets = [t for t in targets if t.depth < self._seen.get(t.url, _FAR)]
        if not targets:
            return
        if len(self._seen) > _SEEN:
            self._seen.clear()
        self._seen.update((target.url, target.depth) for target in targets)
        self.journal.begin()
        inside, outside = sort_by_scope(targets, self._scope)
        self.frontier.leave_out(outside)
        now = self._clock.monotonic()
        for host in self.frontier.add(inside):
            self._hosts.want(host, now)

    def _refuse(self, target: Target, verdict: Shut | str) -> None:
        if isinstance(verdict, Shut):
            self._settle(target, Event.GIVEN_UP, verdict.reason)
        else:
            self._settle(target, Event.REFUSED, verdict)

    def _stumble(self, target: Target, reason: str, *, transient: bool) -> None:
        """A failure: again later, twice as late each time, or give the target up."""
        if transient and target.tries < self._config.retries:
            pause = self._config.retry_delay * 2**target.tries
            not_before = self._clock.now() + int(pause * SECOND)
            self._settle(target, Event.STUMBLED, reason, not_before)
        else:
            self._settle(target, Event.GIVEN_UP, reason)

    def _settle(
        self, target: Target, event: Event, reason: str | None = None, not_before: int = 0
    ) -> None:
        self.journal.begin()
        self.frontier.settle(target, event, reason=reason, not_before=not_before)

    async def _settle_gate(self, target: Target, start: float) -> float:
        """Fetch robots.txt of the target's origin, following its redirects, and keep all of it."""
        url = robots_url(target.url)
        kept = self.keeper.kept_robots(url)
        if kept is not None:
            self._gates.open(target.url, kept)
            return 0.0
        outcome = await self._fetch_robots(url, target)
        if isinstance(outcome, Failure):
            return self._gate_failed(target, outcome.reason, outcome.transient)
        exchange, document = outcome
        robots = robots_from(exchange.status, document)
        if robots.hold_off and self._gates.stumbled(target.url) <= self._config.retries:
            return self._config.retry_delay
        self._gates.open(target.url, robots)
        return self._wait_after(target, start, _retry_after(exchange))

    async def _fetch_robots(self, url: str, target: Target) -> tuple[Exchange, bytes] | Failure:
        """The last answer of a chain of redirects, every one of them kept."""
        hops = 0
        while True:
            errand = Target(url, 0, target.url, Hop.ROBOTS.value)
            outcome = await self._fetcher.fetch(url)
            if isinstance(outcome, Failure):
                self.keeper.failure(outcome, errand)
                return outcome
            kept = self.keeper.exchange(outcome, errand)
            self._settle(errand, Event.CAPTURED)
            onward = kept.redirect and follow(errand, kept.redirect, Hop.REDIRECT)
            if not onward or hops == MAX_REDIRECTS:
                return outcome, kept.document
            url = onward.url
            hops += 1

    def _gate_failed(self, target: Target, reason: str, transient: bool) -> float:
        tries = self._gates.stumbled(target.url)
        if transient and tries <= self._config.retries:
            return float(self._config.retry_delay * 2 ** (tries - 1))
        self._gates.shut(target.url, reason)
        return 0.0

    def _in_seconds(self, instant: int) -> float:
        """A wall-clock instant as a time of the monotonic clock."""
        return self._clock.monotonic() + max(0.0, (instant - self._clock.now()) / SECOND)

    def _report(self) -> None:
        tally = self.frontier.tally
        self._watch(
            Snapshot(
                elapsed=self._clock.monotonic() - self._started,
                captured=tally[State.DONE] - self._before,
                failed=tally[State.FAILED],
                left_out=tally[State.LEFT_OUT],
                queued=tally[State.QUEUED],
                bytes=self._bytes,
                hosts=len(self._hosts),
                current=self._current,
            )
        )

    def summary(self) -> Summary:
        """How things stand, in full."""
        counts = self.frontier.tally
        return Summary(
            captured=counts[State.DONE],
            failed=counts[State.FAILED],
            left_out=counts[State.LEFT_OUT],
            queued=counts[State.QUEUED],
            bytes=self._bytes,
            seconds=round(self._clock.monotonic() - self._started, 3),
            ended_by=self._ended_by or "done",
            reasons=self.frontier.reasons(),
        )


async def _abandoned(visits: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
    """Cancel visits and wait until they have let go of their sockets; none is left."""
    for visit in visits:
        visit.cancel()
    await asyncio.gather(*visits, return_exceptions=True)
    return set()


def _retry_after(exchange: Exchange) -> float | None:
    """Seconds the host asks to be left alone (RFC 9110 section 10.2.3); dates are not worth it."""
    value = exchange.header("Retry-After") if exchange.status in _PATIENCE else None
    return float(value) if value is not None and value.strip().isdigit() else None
