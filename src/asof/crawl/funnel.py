"""What was found, into the queue or into the report of what was left out, each with its reason."""

from collections.abc import Iterable
from dataclasses import replace

from asof.clock import Clock
from asof.config import Config
from asof.frontier.queue import Frontier
from asof.model import Hop, Target
from asof.scope.rules import Scope, is_requisite
from asof.scope.traps import SESSION, calendar_trap, session_key, shape_trap

# Most links of a page were on the page before: what was queued or left out lately is not decided
# again. The database has the last word; this only spares it the question.
_REMEMBERED = 40_000
_FAR = 1 << 30
# What a plan did not know fits between two of its places, first by depth, then the guesses.
_BETWEEN = 1e-6
_DEEPEST = 1 << 12
# In a row, each to a new URL: more is no way to anywhere (Fetch standard, "HTTP-redirect fetch").
MAX_REDIRECTS = 20
_TOO_MANY = Hop.REDIRECT.value * (MAX_REDIRECTS + 1)


class Funnel:
    """Decides about targets as they are found."""

    def __init__(self, scope: Scope, frontier: Frontier, config: Config, clock: Clock) -> None:
        self.scope = scope
        self._frontier = frontier
        self._traps = config.traps
        self._clock = clock
        self.known: dict[str, None] = {}  # what was queued lately
        self._left: dict[tuple[str, bool], int] = {}
        self._sessions: dict[str, str] = {}
        # The place of what a plan did not know, among the places that it gave (asof.crawl.plan).
        self.newcomers: float | None = None
        self._recall()

    def _recall(self) -> None:
        """Go on with what earlier runs of this crawl knew: a page of theirs is not a new one."""
        for url in self._frontier.recall(_REMEMBERED):
            self.known[url] = None
            if (key := session_key(url)) is not None:
                self._sessions.setdefault(key, url)

    def put(self, targets: Iterable[Target]) -> list[Target]:
        """Queue what belongs to the crawl, note what does not; gives what was queued."""
        inside: list[Target] = []
        outside: list[tuple[Target, str]] = []
        known, left = self.known, self._left
        for target in targets:
            url = target.url
            if url in known:
                continue
            place = (url, is_requisite(target))
            if target.depth >= left.get(place, _FAR):
                continue
            reason = self._refusal(target)
            if reason is None:
                known[url] = None
                inside.append(target)
            else:
                # Of too many redirects the chain was refused, not the page at its end.
                if not target.hops.endswith(Hop.REDIRECT):
                    left[place] = target.depth
                outside.append((target, reason))
        if inside:
            self._frontier.add(inside if self.newcomers is None else map(self._placed, inside))
        if outside:
            self._frontier.leave_out(outside)
        _trim(known)
        _trim(left)
        return inside

    def _placed(self, target: Target) -> Target:
        """A target that was not planned, at its place; of several, in the usual order."""
        step = _BETWEEN * (target.priority / _DEEPEST + target.guess)
        return replace(target, priority=min((self.newcomers or 0.0) + step, 1.0), guess=False)

    def _refusal(self, target: Target) -> str | None:
        decision = self.scope.decide(target)
        if not decision.inside:
            return decision.reason
        if target.hops.endswith(_TOO_MANY):
            return f"more than {MAX_REDIRECTS} redirects"
        if not self._traps or not target.hops:
            return None
        url = target.url
        return shape_trap(url) or calendar_trap(url, self._clock.now()) or self._session(url)

    def _session(self, url: str) -> str | None:
        """Of URLs that differ by a session id only, the first stands for all."""
        key = session_key(url)
        if key is None:
            return None
        if key in self.known:
            return SESSION
        first = self._sessions.setdefault(key, url)
        _trim(self._sessions)
        return None if first == url else SESSION

    def forget(self) -> None:
        """The rules have changed: what was left out is to be decided anew. What was queued stays
        known, or all that the next pages lead to would look new, which is what traps look like.
        """
        self._left.clear()


def _trim(memory: dict[str, None] | dict[str, str] | dict[tuple[str, bool], int]) -> None:
    """Forget the older half of what is remembered, when it is much."""
    if len(memory) > _REMEMBERED:
        for key in list(memory)[: _REMEMBERED // 2]:
            del memory[key]  # type: ignore[arg-type]
