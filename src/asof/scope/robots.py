"""robots.txt: what a host allows, by the status rules of RFC 9309 section 2.3.1."""

from __future__ import annotations

from dataclasses import dataclass

from protego import Protego

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


ALLOW_ALL = Robots()
HOLD_OFF = Robots(hold_off=True)


def robots_from(status: int, body: bytes, truncated: str | None = None) -> Robots:
    """Successful: the file's rules. Unavailable (4xx): all allowed. Otherwise: hold off.

    Half a file may lack the very line that forbids, so it counts as unreachable (2.3.1.4); one
    that was cut at a limit of ours is longer than anybody must read (section 2.5).
    """
    if 200 <= status < 300:
        if truncated in ("disconnect", "time"):
            return HOLD_OFF
        return Robots(Protego.parse(body[:MAX_BYTES].decode("utf-8", "replace")))
    if 300 <= status < 500:
        # A redirect chain that did not end counts as unavailable (section 2.3.1.2).
        return ALLOW_ALL
    return HOLD_OFF
