"""Which 304 answers are checked: the page is asked for again at once, without conditions.

A 304 is the server's word only; the bytes tell whether it was true (host_trust.py). An audit
takes a request, which makes every slot after it longer. So audited are one in ten, by a hash of the
URL, and the first three of each host, in the second half of its places only: there are the pages
that changed most and were given up, too, on which a false word is found soonest.

Other content than the 304 spoke of may be an honest change in between. So the host is a suspect
then, of which every 304 is audited; after three such finds it is not asked by conditions any more.
"""

from __future__ import annotations

from collections import Counter
from zlib import crc32

from asof.model import Exchange, Target

ONE_IN = 10
AT_LEAST = 3
_ENOUGH = 3
# Where the second half of the places in a plan begins.
_LATE = 0.5


class Audits:
    """Chooses among the answers of one phase of a crawl, and remembers what is being checked."""

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted
        self._chosen_of: Counter[str] = Counter()
        self._found_of: Counter[str] = Counter()
        self._checked: set[str] = set()

    def checks(self, target: Target) -> bool:
        """Whether the next request for a target is an audit, which has no conditions."""
        return target.url in self._checked

    def choose(self, target: Target, host: str, exchange: Exchange, *, placed: bool) -> bool:
        """Whether this answer to a conditional request is to be checked by the next request.

        `placed` says that the priority of targets is their place in a plan.
        """
        if not self._wanted or exchange.status != 304 or self.checks(target):
            return False
        suspect = self._found_of[host] > 0
        if placed and target.priority < _LATE and not suspect:
            return False
        by_lot = crc32(target.url.encode()) % ONE_IN == 0
        chosen = suspect or by_lot or self._chosen_of[host] < AT_LEAST
        if chosen:
            self._chosen_of[host] += 1
            self._checked.add(target.url)
        return chosen

    def differed(self, host: str) -> bool:
        """An audit found other content; whether that happened often enough to ask no more."""
        self._found_of[host] += 1
        return self._found_of[host] >= _ENOUGH

    def done(self, target: Target) -> None:
        """The target was asked for as often as was wanted."""
        self._checked.discard(target.url)
