"""robots.txt: what an origin allows, by the status rules of RFC 9309 section 2.3.1.

An origin is unknown, open (with rules), or shut (nothing there can be fetched, and why).
"""

from collections import Counter
from dataclasses import dataclass

from protego import Protego

from asof.url import host_of, origin

# RFC 9309 section 2.3.1.2: at least five consecutive redirects should be followed.
MAX_REDIRECTS = 5
# RFC 9309 section 2.5: a crawler may stop parsing, but not before 500 kibibytes.
MAX_BYTES = 512 * 1024


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of one host for one user agent. `hold_off` means: do not crawl for now, at all."""

    rules: Protego | None = None
    hold_off: bool = False

    def allows(self, url: str, user_agent: str) -> bool:
        allowed = self.rules is None or bool(self.rules.can_fetch(url, user_agent))
        return allowed and not self.hold_off

    def crawl_delay(self, user_agent: str) -> float | None:
        delay = None if self.rules is None else self.rules.crawl_delay(user_agent)
        return None if delay is None else float(delay)


def robots_from(status: int, body: bytes, truncated: str | None = None) -> Robots:
    """Successful: the file's rules. Unavailable (4xx): all allowed. Otherwise: hold off.

    Half a file may lack the very line that forbids, so it counts as unreachable (2.3.1.4); one
    that was cut at a limit of ours is longer than anybody must read (section 2.5).
    """
    if 200 <= status < 300:
        if truncated in ("disconnect", "time"):
            return Robots(hold_off=True)
        return Robots(Protego.parse(body[:MAX_BYTES].decode("utf-8", "replace")))
    if 300 <= status < 500:
        # A redirect chain that did not end counts as unavailable (section 2.3.1.2).
        return Robots()
    return Robots(hold_off=True)


@dataclass(frozen=True, slots=True)
class Shut:
    """Nothing of an origin can be had; the reason goes to each of its targets."""

    reason: str


class Gates:
    """What is known of each origin during a run."""

    def __init__(self, user_agent: str) -> None:
        self._user_agent = user_agent
        self._known: dict[str, Robots | Shut] = {}
        self._tries: Counter[str] = Counter()
        self._delays: dict[str, float] = {}

    def known(self, url: str) -> bool:
        return _origin(url) in self._known

    def open(self, url: str, robots: Robots) -> None:
        self._known[_origin(url)] = robots
        delay = robots.crawl_delay(self._user_agent)
        if delay is not None:
            # http and https of a name are one host to be polite to.
            host = host_of(url)
            self._delays[host] = max(delay, self._delays.get(host, 0.0))

    def shut(self, url: str, reason: str) -> None:
        """The origin did not answer, after all tries."""
        self._known[_origin(url)] = Shut(reason)

    def stumbled(self, url: str) -> int:
        """Count a failed try; gives how many there have been."""
        self._tries[_origin(url)] += 1
        return self._tries[_origin(url)]

    def verdict(self, url: str) -> Shut | str | None:
        """None: go. A text: robots.txt refuses, for that reason. Shut: nothing can be had."""
        gate = self._known.get(_origin(url))
        if gate is None or isinstance(gate, Shut):
            return gate
        if gate.hold_off:
            return "robots.txt unavailable"
        return None if gate.allows(url, self._user_agent) else "robots.txt"

    def crawl_delay(self, host: str) -> float | None:
        return self._delays.get(host)


def robots_url(url: str) -> str:
    return _origin(url) + "/robots.txt"


def _origin(url: str) -> str:
    """The origin of a target's URL, which is canonical and so has one."""
    return origin(url) or url
