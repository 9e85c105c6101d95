"""The true change history of one resource: a Poisson process that is a function of its seed."""

import math
import threading
from array import array
from bisect import bisect_right

from asof.clock import DAY, Instant
from asof.errors import UsageError
from asof.testing.chance import uniform

_NEVER: Instant = (1 << 63) - 1
# 8 bytes each: a history that needs more than this was most likely asked for by mistake.
_MOST_CHANGES = 2_000_000


class History:
    """The instants at which one resource changes, made as far as somebody asks and then kept.

    Gap number n is a function of (key, n), so the history is the same whatever was asked first.
    `fixed` instants (birth, death, links that come and go) are merged in. Own changes happen in
    (`since`, `until`) only.
    """

    __slots__ = ("_fixed", "_key", "_known", "_lock", "_next", "_nth", "_rate", "_times", "_until")

    def __init__(
        self, key: int, rate: float, since: Instant, until: Instant | None = None, *fixed: Instant
    ) -> None:
        self._key = key
        self._rate = rate
        self._until = _NEVER if until is None else until
        self._fixed = sorted(set(fixed), reverse=True)
        self._times = array("q")
        self._known = since - 1
        self._nth = 0
        self._next = self._after(since)
        # The server may run in one thread while a test asks for the truth in another.
        self._lock = threading.Lock()

    def count(self, t: Instant) -> int:
        """How many changes happened until `t`, that instant included."""
        self._extend(t)
        return bisect_right(self._times, t)

    def between(self, t0: Instant, t1: Instant) -> list[Instant]:
        """The changes after `t0` and until `t1`."""
        self._extend(t1)
        return self._times[bisect_right(self._times, t0) : bisect_right(self._times, t1)].tolist()

    def at(self, n: int) -> Instant:
        """When change number `n` happened (1 is the first); it must have been counted before."""
        return self._times[n - 1]

    def _after(self, moment: Instant) -> Instant:
        if self._rate <= 0:
            return _NEVER
        level = uniform(self._nth, after=self._key)
        self._nth += 1
        # Two changes in one microsecond would be one change that counts twice.
        moment += max(1, round(-math.log(level) * DAY / self._rate))
        return moment if moment < self._until else _NEVER

    def _extend(self, t: Instant) -> None:
        if t <= self._known:
            return
        ahead = self._rate * (min(t, self._until) - self._known) / DAY
        if len(self._times) + ahead > _MOST_CHANGES:
            raise UsageError(
                f"A synthetic page would have more than {_MOST_CHANGES:,} changes.",
                hint="Start the site later (SiteSpec.start) or lower its rates.",
            )
        with self._lock:
            while True:
                fixed = self._fixed[-1] if self._fixed else _NEVER
                moment = min(fixed, self._next)
                if moment > t:
                    break
                self._times.append(moment)
                if moment == fixed:
                    self._fixed.pop()
                if moment == self._next:
                    self._next = self._after(moment)
            self._known = max(self._known, t)
