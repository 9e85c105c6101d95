"""The gate of each origin: what its robots.txt lets through, once robots_errand.py has brought it.

An origin is unknown, open (with rules), or shut (nothing there can be fetched, and why).
"""

from __future__ import annotations

from dataclasses import dataclass

from asof import url as urls
from asof.scope.robots import Robots

ROBOTS_PATH = "/robots.txt"
# RFC 9309 section 2.3.1.2: at least five consecutive redirects should be followed.
MAX_REDIRECTS = 5


def origin(url: str) -> str:
    """The origin of a target's URL, which is canonical and so has one."""
    return urls.origin(url) or url


@dataclass(frozen=True, slots=True)
class Shut:
    """Nothing of an origin can be had; the reason goes to each of its targets."""

    reason: str


class Gates:
    """What is known of each origin during a run."""

    def __init__(self, user_agent: str) -> None:
        self._user_agent = user_agent
        self._known: dict[str, Robots | Shut] = {}
        self._tries: dict[str, int] = {}
        self._delays: dict[str, float] = {}

    def known(self, url: str) -> bool:
        """Whether the origin's robots.txt has been settled."""
        return origin(url) in self._known

    def open(self, url: str, robots: Robots) -> None:
        """The origin answered; these are its rules."""
        self._known[origin(url)] = robots
        delay = robots.crawl_delay(self._user_agent)
        if delay is not None:
            # http and https of a name are one host to be polite to.
            host = urls.host_of(url)
            self._delays[host] = max(delay, self._delays.get(host, 0.0))

    def shut(self, url: str, reason: str) -> None:
        """The origin did not answer, after all tries."""
        self._known[origin(url)] = Shut(reason)

    def stumbled(self, url: str) -> int:
        """Count a failed try; gives how many there have been."""
        key = origin(url)
        self._tries[key] = self._tries.get(key, 0) + 1
        return self._tries[key]

    def verdict(self, url: str) -> Shut | str | None:
        """None: go. A text: robots.txt refuses, for that reason. Shut: nothing can be had."""
        gate = self._known.get(origin(url))
        if gate is None or isinstance(gate, Shut):
            return gate
        if gate.hold_off:
            return "robots.txt unavailable"
        return None if gate.allows(url, self._user_agent) else "robots.txt"

    def crawl_delay(self, host: str) -> float | None:
        """The longest Crawl-delay that a host has named, if any is known."""
        return self._delays.get(host)


def robots_url(url: str) -> str:
    """Where the rules for a URL are."""
    return origin(url) + ROBOTS_PATH
