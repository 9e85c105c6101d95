"""Politeness: which host may be asked next, and when. Pure: time comes in as numbers.

Naumann 2011, "Simple Crawler Thread": one queue per web server, no parallel requests, and the
politeness timer starts when the site is released. Hosts wait in a heap by the time they may be
asked, so thousands of them cost O(log n) a step.
"""

import heapq
from collections.abc import Collection
from dataclasses import dataclass

from asof.clock import SECOND, parse_http_date
from asof.model import Exchange, Failure

# How a server says that it is busy, and its page to be tried again: RFC 9110 section 15.6.4, RFC
# 6585 section 4.
PATIENCE = (429, 503)


def retry_after(outcome: Exchange | Failure | None) -> float | None:
    """Seconds the host asks to be left alone, said as such or as a date (RFC 9110, 10.2.3)."""
    if not isinstance(outcome, Exchange) or outcome.status not in PATIENCE:
        return None
    value = (outcome.header("Retry-After") or "").strip()
    if value.isascii() and value.isdigit():  # "²" is a digit, too
        return float(value)
    until = parse_http_date(value)
    return None if until is None else max(0.0, (until - outcome.started) / SECOND)


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to leave a host alone after an answer, in seconds."""

    delay: float
    factor: float = 1.0
    cap: float = 60.0

    def wait(self, took: float, crawl_delay: float | None, retry_after: float | None) -> float:
        """The longest of: the floor, what the last fetch suggests, and what the host asks for.

        A floor of 0 is a wish for no delay, so the factor does not apply then. A host's own
        wishes are kept up to the cap: a Crawl-delay of a day would be a refusal in disguise.
        """
        adaptive = self.factor * took if self.delay > 0 else 0.0
        wished = max(crawl_delay or 0.0, retry_after or 0.0)
        return max(self.delay, min(adaptive, self.cap), min(wished, self.cap))


class Hosts:
    """The hosts with something queued, by the time each may be asked next."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, str]] = []
        self._due: dict[str, float] = {}
        self._released: dict[str, float] = {}
        self._busy: set[str] = set()
        self._serial = 0

    def __len__(self) -> int:
        return len(self._due) + len(self._busy)

    def want(self, host: str, at: float) -> None:
        """A host has something to fetch from `at` on; earlier wishes and its delay still hold."""
        if host in self._busy:
            return
        due = max(at, self._released.get(host, at))
        if due < self._due.get(host, float("inf")):
            self._due[host] = due
            self._serial += 1
            heapq.heappush(self._heap, (due, self._serial, host))

    def postpone(self, host: str, at: float) -> None:
        """Ask a host at another time than was thought, unless it is being asked."""
        if host in self._busy:
            return
        self._released[host] = at
        if host in self._due:
            del self._due[host]
            self.want(host, at)

    @property
    def waiting(self) -> Collection[str]:
        """The hosts that something is to be fetched from, and that are not being asked."""
        return self._due.keys()

    def due(self, host: str, now: float) -> float:
        """When a host may be asked next, as far as is known."""
        return self._due.get(host, self._released.get(host, now))

    def next_due(self) -> float | None:
        """When the next host may be asked, or None when none waits."""
        while self._heap:
            due, _, host = self._heap[0]
            if self._due.get(host) == due:
                return due
            heapq.heappop(self._heap)
        return None

    def take(self, now: float) -> str | None:
        """The host that has waited longest past its time; it is busy until released."""
        due = self.next_due()
        if due is None or due > now:
            return None
        _, _, host = heapq.heappop(self._heap)
        del self._due[host]
        self._busy.add(host)
        return host

    def claim(self, host: str, now: float) -> bool:
        """Take one host out of turn, for an errand; False while it is busy or to be left alone."""
        if host in self._busy or self._released.get(host, now) > now:
            return False
        self._due.pop(host, None)
        self._busy.add(host)
        return True

    def release(self, host: str, not_before: float) -> None:
        """The answer has ended: leave the host alone until `not_before`."""
        self._busy.discard(host)
        self._released[host] = not_before
