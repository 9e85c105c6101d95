"""When the hosts of a planned crawl begin, so that their visits end together.

A host with less to visit begins later (20-coherence.md). How long each takes is a guess, by the
pace of the last crawl, until it was asked some times: then its own pace counts, and those that wait
begin earlier or later than was thought. While nobody is asked, nobody waits. Pure: time comes in as
numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from operator import itemgetter

# So many visits tell the pace of a host.
_ENOUGH = 3


@dataclass(slots=True)
class _HostVisits:
    """The visits of one host: how many are to come, and how long one takes."""

    left: int
    step: float
    done: int = 0
    first: float = 0.0

    @property
    def seconds(self) -> float:
        return self.left * self.step


@dataclass(slots=True, eq=False)
class Starts:
    """The hosts of a plan. All of them are to end by `end`, a time of the same clock."""

    hosts: dict[str, _HostVisits] = field(default_factory=dict)
    end: float = float("inf")
    _next: tuple[str, float] = ("", 0.0)  # who begins next, and when

    @classmethod
    def planned(cls, needs: Mapping[str, tuple[int, float]], end: float) -> Starts:
        """By how many visits each host needs, and the seconds of each."""
        return cls({host: _HostVisits(*need) for host, need in needs.items()}, end)

    def visited(self, host: str, now: float) -> None:
        """A visit has ended."""
        own = self.hosts.get(host)
        if own is None:
            return
        own.first = own.first if own.done else now
        own.done, own.left = own.done + 1, max(own.left - 1, 0)
        if own.done >= _ENOUGH:
            own.step = (now - own.first) / (own.done - 1)

    def waits(self, now: float, others: Collection[str] | None) -> dict[str, float]:
        """After how many seconds those begin that were not asked yet.

        `others` are the hosts that will be asked anyhow; None if somebody is being asked.
        """
        begun = [each.seconds for each in self.hosts.values() if each.done]
        waiting = {host: each.seconds for host, each in self.hosts.items() if not each.done}
        longest = min(max([*begun, *waiting.values()], default=0.0), max(self.end - now, 0.0))
        found = {host: max(0.0, longest - seconds) for host, seconds in waiting.items()}
        if found and others is not None and not set(others) - found.keys():
            soonest = min(found.values())
            found = {host: wait - soonest for host, wait in found.items()}
        host, wait = min(found.items(), key=itemgetter(1), default=("", 0.0))
        self._next = host, now + wait
        return found

    @property
    def is_over(self) -> bool:
        """Whether nobody waits, as far as was known at the last question."""
        return not self._next[0]

    def awaited(self, now: float) -> str:
        """Which host begins next, and when, if one is held back."""
        host, at = self._next
        return f"waiting for {host} to begin in {at - now:.0f} s" if host and at > now + 1 else ""
