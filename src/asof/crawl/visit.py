"""One visit: what stands between a target and its record, and what follows from the answer.

    gate (robots.txt) -> limits -> patterns -> fetch -> keep -> onward targets, settled

Pure decisions are made elsewhere; here they are put in order. Everything between two awaits happens
at once, so a kept answer and what it led to are always in the same group.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import NamedTuple

from asof.clock import SECOND, Clock, parse_http_date
from asof.config import Config
from asof.crawl.audit import Audits
from asof.crawl.discover import follow, found_in, overlong
from asof.crawl.funnel import Funnel
from asof.crawl.gate import MAX_REDIRECTS, Gates, Shut, robots_url
from asof.crawl.limits import Limits
from asof.crawl.monitor import Monitor
from asof.crawl.store import Keeper, Kept, conditions
from asof.fetch.http import Fetcher, Judge
from asof.frontier.hosts import Hosts, Pace
from asof.frontier.queue import Frontier
from asof.frontier.states import Event
from asof.http.wire import Head
from asof.model import Capture, Exchange, Failure, Headers, Hop, Target, find_header
from asof.scope.patterns import Patterns
from asof.scope.robots import Robots, robots_from
from asof.text.html.fingerprint import text_fingerprint, visible_blocks
from asof.text.links.sitemaps import sitemaps_of
from asof.url import host_of

# These ask for patience (RFC 9110 sections 15.6.4, RFC 6585 section 4): the host is left alone and
# the target tried again.
PATIENCE = (429, 503)
# A host that brought nothing so many times in a row is not asked again in this run.
_SILENT = 5
_SILENCE = ("dns", "refused", "unreachable", "timeout", "reset", "empty")
# Seconds to wait for another host's turn when robots.txt redirects there.
_OTHER_HOST = 60.0
_POLL = 0.05
_HTML = ("text/html", "application/xhtml+xml")

FULL = "max-pages"


class _RobotsAnswer(NamedTuple):
    """What came of asking for robots.txt, and how long to leave the host alone after it.

    `status` is that of the document, also where a 304 has confirmed it.
    """

    outcome: Exchange | Failure
    status: int
    document: bytes
    wait: float


class Visitor:
    """Brings targets one step further, for one run of a crawl."""

    def __init__(
        self,
        config: Config,
        clock: Clock,
        fetcher: Fetcher,
        frontier: Frontier,
        keeper: Keeper,
        funnel: Funnel,
        hosts: Hosts,
        limits: Limits,
        monitor: Monitor,
    ) -> None:
        self._config = config
        self._clock = clock
        self._fetcher = fetcher
        self._frontier = frontier
        self._keeper = keeper
        self._funnel = funnel
        self._hosts = hosts
        self._limits = limits
        self._monitor = monitor
        self._gates = Gates(config.user_agent)
        self._pace = Pace(config.delay, config.delay_factor, config.max_crawl_delay)
        self._silences: Counter[str] = Counter()
        self.patterns = Patterns()
        self.current = ""
        self.disbelieved: set[str] = set()  # hosts whose 304 answers were false
        # Where all rests on one visit (definition 3.4).
        self._audits = Audits(wanted=config.audit and config.coherence == "measurable")

    def recall(self, memory: str) -> None:
        """Go on with what an earlier run of the crawl left by `memory`."""
        if memory:
            self.patterns.restore(json.loads(memory))
        else:  # at least how large the hosts are
            self.patterns.expect(self._frontier.done_by_host())

    @property
    def memory(self) -> str:
        """What the next run of this crawl should know, and the archive does not hold."""
        return json.dumps(self.patterns.snapshot())

    async def serve(self, target: Target, host: str) -> float | None:
        """One step for a target; how long to leave its host alone, None when all is full."""
        if (wait := await self.await_gate(target, host)) is not None:
            return wait
        refusal = self._refusal(target, host)
        if refusal is not None:
            self.refuse(target, refusal)
            return 0.0
        if self._limits.full:
            self.put_back(target)
            return None
        self._limits.take(host)
        last = self._keeper.last(target.url)
        asked = () if self._audits.checks(target) else self.conditions(last)
        start, outcome = await self.fetch(target, asked)
        if isinstance(outcome, Failure):
            self._limits.give_back(host)
            self.fail(target, host, outcome)
            return self.wait_after(host, start, None)
        unwanted = self.too_much(target, outcome)
        if unwanted is not None:
            outcome.body.discard()
            self._limits.give_back(host)
            self.refuse(target, unwanted)
        else:
            kept = self._keeper.exchange(outcome, target, last, asked=bool(asked))
            if asked and self._audits.choose(target, host, outcome, placed=self._funnel.is_planned):
                self.tell(target, host, outcome, kept)
                self._limits.give_back(host)
                self.put_back(target)
            else:
                self._audits.done(target)
                self._take_in(target, host, outcome, kept)
        return self.wait_after(host, start, retry_after(outcome))

    async def await_gate(self, target: Target, host: str) -> float | None:
        """None if the rules of a target's origin are known; else one step to know them."""
        if self._config.robots != "obey" or self._gates.known(target.url):
            return None
        self.put_back(target)
        return await self._settle_gate(target, host)

    async def fetch(self, target: Target, asked: Headers) -> tuple[float, Exchange | Failure]:
        """Ask for a target; gives when that was, too."""
        start = self._clock.monotonic()
        self.current = target.url
        outcome = await self._fetcher.fetch(target.url, asked, self._judge(target))
        if isinstance(outcome, Exchange):
            self._silences.pop(host_of(target.url), None)
        return start, outcome

    def put_back(self, target: Target) -> None:
        """A target is the next one of its host again."""
        self._frontier.put_back(target)

    def conditions(self, last: Capture | None) -> Headers:
        """The headers that ask whether the last capture still holds, if the answer is wanted."""
        is_wanted = last is not None and host_of(last.url) not in self.disbelieved
        return conditions(last) if is_wanted and self._config.conditional else ()

    def _refusal(self, target: Target, host: str) -> Shut | str | None:
        """Why a target that is queued must not be fetched after all."""
        verdict = self.forbidden(target) or self._limits.refusal(host)
        if verdict is None and self._config.traps:
            return self.patterns.allows(target)
        return verdict

    def forbidden(self, target: Target) -> Shut | str | None:
        """Why the rules of its origin are against a target, or None."""
        return self._gates.verdict(target.url)

    def excluded(self, target: Target, host: str) -> str | None:
        """Why a target that was taken must not be taken again: a newer rule, a limit of bytes."""
        scope = self._funnel.scope
        against = scope.refusal(target) if scope.forbids(target) else None
        return against or self._limits.glut(host)

    def refuse(self, target: Target, verdict: Shut | str) -> None:
        """Settle a target that must not be fetched."""
        if isinstance(verdict, Shut):
            self._frontier.settle(target, Event.GIVEN_UP, reason=verdict.reason)
        else:
            self._frontier.settle(target, Event.REFUSED, reason=verdict)

    def _judge(self, target: Target) -> Judge | None:
        """Asked by the client when a head has come: why the rest is not wanted."""
        scope = self._funnel.scope
        if not scope.judges_answers:
            return None

        def judge(head: Head, received: int) -> str | None:
            if not 200 <= head.status < 300:
                return None
            length = find_header(head.headers, "Content-Length") or ""
            declared = int(length) if length.isascii() and length.isdigit() else 0
            media_type = find_header(head.headers, "Content-Type")
            return scope.judge(target, media_type, max(declared, received))

        return judge

    def too_much(self, target: Target, exchange: Exchange) -> str | None:
        """Why an answer that did not say how long it would be is not wanted after all."""
        scope = self._funnel.scope
        if not scope.judges_answers or not 200 <= exchange.status < 300:
            return None
        return scope.judge(target, exchange.header("Content-Type"), exchange.body.size)

    def fail(self, target: Target, host: str, failure: Failure) -> None:
        """A fetch brought nothing: again later, or never."""
        if failure.reason == "unwanted":
            self._frontier.settle(target, Event.REFUSED, reason=failure.detail)
            return
        self._monitor.failed(target, failure)
        self._keeper.failure(failure, target)
        self._stumble(target, failure.reason, transient=failure.transient)
        if failure.reason in _SILENCE:
            self._silences[host] += 1
            if self._silences[host] >= _SILENT:
                self._gates.shut(target.url, failure.reason)

    def _stumble(self, target: Target, reason: str, *, transient: bool) -> None:
        """A failure: again later, twice as late each time, or give the target up."""
        if transient and target.tries < self._config.retries:
            pause = self._config.retry_delay * 2**target.tries
            later = self._clock.now() + int(pause * SECOND)
            self._frontier.settle(target, Event.STUMBLED, reason=reason, not_before=later)
        else:
            self._frontier.settle(target, Event.GIVEN_UP, reason=reason)

    def _take_in(self, target: Target, host: str, exchange: Exchange, kept: Kept) -> None:
        """Queue what a kept answer leads to, and settle its target."""
        page = self.tell(target, host, exchange, kept)
        if not page and self._config.preset == "assignment":
            self._limits.give_back(host)  # its Numpages are pages
        self._queue_onward(target, exchange, kept, learning=self._config.traps)
        if not self._settle(target, exchange):
            self._limits.give_back(host)

    def take_in_again(self, target: Target, exchange: Exchange, kept: Kept) -> None:
        """The same for a page that was visited before: limits and patterns know it already."""
        self._queue_onward(target, exchange, kept, learning=False)
        self._settle(target, exchange)

    def tell(self, target: Target, host: str, exchange: Exchange, kept: Kept) -> bool:
        """An answer was kept: tell those who count and watch; whether it is a page."""
        self._limits.received(host, len(exchange.head) + exchange.body.size)
        page = exchange.status in (200, 304) and kept.media_type in _HTML
        self._monitor.fetched(target, exchange, revisit=kept.revisit, page=page)
        return page

    def _settle(self, target: Target, exchange: Exchange) -> bool:
        """A target is done, unless its host asked for patience and it may be tried again."""
        if exchange.status in PATIENCE and target.tries < self._config.retries:
            self._stumble(target, f"status {exchange.status}", transient=True)
            return False
        self._frontier.settle(target, Event.CAPTURED)
        return True

    def _queue_onward(
        self, target: Target, exchange: Exchange, kept: Kept, *, learning: bool
    ) -> None:
        onward = list(found_in(target, kept.links, self._funnel.known))
        if kept.redirect is not None:
            hop = follow(target, kept.redirect, Hop.REDIRECT)
            onward.extend([hop] if hop is not None else [])
        new = self._funnel.put(onward)
        if learning and exchange.status in (200, 304) and kept.media_type in _HTML:
            self._learn(target, kept, new)
        too_long = overlong(target, kept.links, exchange.header("Location"))
        if too_long:
            self._frontier.leave_out(too_long)

    def _learn(self, target: Target, kept: Kept, new: list[Target]) -> None:
        """What a page tells about others like it: whether they bring anything new."""
        text = None
        if kept.document and self.patterns.wants_text(target.url, new):
            text = text_fingerprint(visible_blocks(kept.document))
        self.patterns.learn(target, text, found_in(target, kept.links), new)

    def wait_after(self, host: str, start: float, retry_after: float | None) -> float:
        """How long to leave a host alone after an answer that was asked for at `start`."""
        took = self._clock.monotonic() - start
        return self._pace.wait(took, self._gates.crawl_delay(host), retry_after)

    # -- robots.txt

    async def _settle_gate(self, target: Target, host: str) -> float:
        """Learn the rules of a target's origin: from the archive, or by asking for them."""
        url = robots_url(target.url)
        kept = self._keeper.kept_robots(url)
        if kept is not None:
            self._gates.open(target.url, kept)
            return 0.0
        answer = await self._fetch_robots(url, target, host)
        if isinstance(answer.outcome, Failure):
            return max(answer.wait, self._gate_failed(target, answer.outcome))
        robots = robots_from(answer.status, answer.document, answer.outcome.truncated)
        if robots.hold_off and self._gates.stumbled(target.url) <= self._config.retries:
            return max(answer.wait, self._config.retry_delay)
        self._open_gate(target, robots, answer)
        # What has just been learnt holds from now on.
        return max(answer.wait, self._pace.wait(0.0, self._gates.crawl_delay(host), None))

    def _open_gate(self, target: Target, robots: Robots, answer: _RobotsAnswer) -> None:
        url = answer.outcome.url
        for opened in {target.url, url} if robots_url(url) == url else {target.url}:
            self._gates.open(opened, robots)
        self._monitor.events.write("robots", url=url, status=answer.status)
        if answer.status == 200:
            self.list_sitemaps(target.url, url, answer.document)

    def list_sitemaps(self, via: str, url: str, document: bytes) -> None:
        """Queue the sitemaps that a robots.txt names."""
        if not self._config.sitemaps:
            return
        # As near as the front page itself: what a sitemap lists has the depth of its links.
        errand = Target(url, 0, via, Hop.ROBOTS.value)
        named = [follow(errand, each, Hop.SITEMAP) for each in sitemaps_of(document)]
        listed = [found for found in named if found is not None]
        if self._config.scope.startswith(("path", "surt:")):
            # A sitemap may well lie outside of the part of a host that it lists.
            host, forbids = host_of(via), self._funnel.scope.forbids
            here = [found for found in listed if host_of(found.url) == host]
            self._frontier.add([found for found in here if not forbids(found)])
        elif self._config.scope != "page":
            self._funnel.put(listed)

    async def _fetch_robots(self, url: str, target: Target, host: str) -> _RobotsAnswer:
        """The last answer of a chain of redirects, every one of them kept."""
        hops, wait = 0, 0.0
        while True:
            errand = Target(url, 0, target.url, Hop.ROBOTS.value)
            last = self._keeper.last(url)
            asked = self.conditions(last)
            there = host_of(url)
            if there == host:
                await self._clock.sleep(wait)
                start = self._clock.monotonic()
                outcome = await self._fetcher.fetch(url, asked)
            else:
                outcome, start = await self._fetch_elsewhere(url, there, asked)
            patience = None if isinstance(outcome, Failure) else retry_after(outcome)
            if there == host:
                wait = self.wait_after(host, start, patience)
            if isinstance(outcome, Failure):
                self._monitor.failed(errand, outcome)
                self._keeper.failure(outcome, errand)
                return _RobotsAnswer(outcome, 0, b"", wait)
            kept = self._keeper.exchange(outcome, errand, last, asked=bool(asked))
            self._frontier.settle(errand, Event.CAPTURED)
            onward = kept.redirect and follow(errand, kept.redirect, Hop.REDIRECT)
            if not onward or hops == MAX_REDIRECTS:
                status = 200 if asked and outcome.status == 304 else outcome.status
                return _RobotsAnswer(outcome, status, kept.document, wait)
            url = onward.url
            hops += 1

    async def _fetch_elsewhere(
        self, url: str, host: str, asked: Headers
    ) -> tuple[Exchange | Failure, float]:
        """Fetch of another host, in its turn; gives when it was asked, too."""
        start = self._clock.monotonic()
        while not self._hosts.claim(host, self._clock.monotonic()):
            if self._clock.monotonic() >= start + _OTHER_HOST:
                detail = f"{host} had no turn to spare"
                failure = Failure(url, "timeout", detail, self._clock.now(), transient=True)
                return failure, self._clock.monotonic()
            await self._clock.sleep(max(_POLL, self._pace.delay / 4))
        start, patience = self._clock.monotonic(), None
        try:
            outcome = await self._fetcher.fetch(url, asked)
            patience = None if isinstance(outcome, Failure) else retry_after(outcome)
            return outcome, start
        finally:
            now = self._clock.monotonic()
            self._hosts.release(host, now + self.wait_after(host, start, patience))
            if self._frontier.due(host, self._clock.now()) is not None:
                self._hosts.want(host, now)

    def _gate_failed(self, target: Target, failure: Failure) -> float:
        tries = self._gates.stumbled(target.url)
        if failure.transient and tries <= self._config.retries:
            return float(self._config.retry_delay * 2 ** (tries - 1))
        self._gates.shut(target.url, failure.reason)
        return 0.0


def retry_after(exchange: Exchange) -> float | None:
    """Seconds the host asks to be left alone, said as such or as a date (RFC 9110, 10.2.3)."""
    value = (exchange.header("Retry-After") or "").strip() if exchange.status in PATIENCE else ""
    if value.isascii() and value.isdigit():  # "²" is a digit, too
        return float(value)
    until = parse_http_date(value)
    return None if until is None else max(0.0, (until - exchange.started) / SECOND)
