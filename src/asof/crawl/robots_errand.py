"""Errands for robots.txt: the rules of an origin, before anything else is asked for there.

They are taken from the archive where this crawl has stored them, asked for otherwise, through
redirects to other hosts if need be, and kept like every answer.
"""

from typing import NamedTuple

from asof.crawl.discover import follow
from asof.crawl.equipment import Equipment
from asof.frontier.states import Event
from asof.model import Exchange, Failure, Headers, Hop, Target
from asof.scope.robots import MAX_REDIRECTS, Robots, robots_from, robots_url
from asof.text.links.sitemaps import sitemaps_of
from asof.url import host_of

# Seconds to wait for another host's turn when robots.txt redirects there.
_OTHER_HOST = 60.0
_POLL = 0.05


class _RobotsAnswer(NamedTuple):
    """What came of asking for robots.txt, and how long to leave the host alone after it.

    `status` is that of the document, also where a 304 has confirmed it.
    """

    outcome: Exchange | Failure
    status: int
    document: bytes
    wait: float


class RobotsErrands:
    """Learns what the origins of one run of a crawl allow."""

    def __init__(self, equipment: Equipment) -> None:
        self._equipment = equipment
        self._config = equipment.config
        self._clock = equipment.clock
        self._frontier = equipment.frontier
        self._gates = equipment.gates
        self._hosts = equipment.hosts

    def are_due(self, target: Target) -> bool:
        """Whether the rules of a target's origin have to be learnt first."""
        return self._config.robots == "obey" and not self._gates.known(target.url)

    async def learn_rules(self, target: Target, host: str) -> float:
        """One step to the rules of a target's origin; how long to leave its host alone after it."""
        url = robots_url(target.url)
        kept = self._equipment.store.kept_robots(url)
        if kept is not None:
            self._gates.open(target.url, kept)
            return 0.0
        answer = await self._fetch_robots(url, target, host)
        if isinstance(answer.outcome, Failure):
            tries = self._gates.stumbled(target.url)
            if answer.outcome.transient and tries <= self._config.retries:
                return max(answer.wait, self._config.retry_delay * 2.0 ** (tries - 1))
            self._gates.shut(target.url, answer.outcome.reason)
            return answer.wait
        agent, truncated = self._config.user_agent, answer.outcome.truncated
        robots = robots_from(answer.status, answer.document, agent, truncated)
        if robots.hold_off and self._gates.stumbled(target.url) <= self._config.retries:
            return max(answer.wait, self._config.retry_delay)
        self._open_gate(target, robots, answer)
        # What has just been learnt holds from now on.
        return max(answer.wait, self._equipment.pace.wait(0.0, self._gates.crawl_delay(host), None))

    def _open_gate(self, target: Target, robots: Robots, answer: _RobotsAnswer) -> None:
        url = answer.outcome.url
        for opened in {target.url, url} if robots_url(url) == url else {target.url}:
            self._gates.open(opened, robots)
        said = {"cut": True} if robots.cut else {}
        self._equipment.monitor.events.write("robots", url=url, status=answer.status, **said)
        if answer.status == 200:
            self.list_sitemaps(target.url, url, answer.document)

    def list_sitemaps(self, via: str, url: str, document: bytes) -> None:
        if not self._config.sitemaps:
            return
        # As near as the front page itself: what a sitemap lists has the depth of its links.
        errand = Target(url, 0, via, Hop.ROBOTS.value)
        named = [follow(errand, each, Hop.SITEMAP) for each in sitemaps_of(document)]
        listed = [found for found in named if found is not None]
        if self._config.scope.startswith(("path", "surt:")):
            # A sitemap may well lie outside of the part of a host that it lists.
            host, forbids = host_of(via), self._equipment.funnel.scope.forbids
            here = [found for found in listed if host_of(found.url) == host]
            self._frontier.add([found for found in here if not forbids(found)])
        elif self._config.scope != "page":
            self._equipment.funnel.put(listed)

    async def _fetch_robots(self, url: str, target: Target, host: str) -> _RobotsAnswer:
        """The last answer of a chain of redirects, every one of them kept."""
        hops, wait = 0, 0.0
        while True:
            errand = Target(url, 0, target.url, Hop.ROBOTS.value)
            last = self._equipment.store.last(url)
            asked = self._equipment.conditions(last)
            if (there := host_of(url)) == host:
                await self._clock.sleep(wait)
                start = self._clock.monotonic()
                outcome = await self._equipment.fetcher.fetch(url, asked)
                wait = self._equipment.wait_after(host, start, outcome)
            else:
                outcome = await self._fetch_elsewhere(url, there, asked)
            if isinstance(outcome, Failure):
                self._equipment.monitor.failed(errand, outcome)
                self._equipment.store.failure(outcome, errand)
                return _RobotsAnswer(outcome, 0, b"", wait)
            kept = self._equipment.store.exchange(outcome, errand, last, asked=bool(asked))
            self._frontier.settle(errand, Event.CAPTURED)
            onward = kept.redirect and follow(errand, kept.redirect, Hop.REDIRECT)
            if not onward or hops == MAX_REDIRECTS:
                status = 200 if asked and outcome.status == 304 else outcome.status
                return _RobotsAnswer(outcome, status, kept.document, wait)
            url = onward.url
            hops += 1

    async def _fetch_elsewhere(self, url: str, host: str, asked: Headers) -> Exchange | Failure:
        """Fetch of another host, in its turn."""
        start = self._clock.monotonic()
        while not self._hosts.claim(host, self._clock.monotonic()):
            if self._clock.monotonic() >= start + _OTHER_HOST:
                detail = f"{host} had no turn to spare"
                return Failure(url, "timeout", detail, self._clock.now(), transient=True)
            await self._clock.sleep(max(_POLL, self._equipment.pace.delay / 4))
        start, outcome = self._clock.monotonic(), None
        try:
            outcome = await self._equipment.fetcher.fetch(url, asked)
            return outcome
        finally:
            now = self._clock.monotonic()
            self._hosts.release(host, now + self._equipment.wait_after(host, start, outcome))
            if self._frontier.due(host, self._clock.now()) is not None:
                self._hosts.want(host, now)
