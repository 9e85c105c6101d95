"""What becomes of a target after it was tried, and what its answer leads to."""

from collections import Counter

from asof.clock import SECOND
from asof.crawl.discover import follow, found_in, overlong
from asof.crawl.equipment import Equipment
from asof.crawl.store import Kept
from asof.frontier.hosts import PATIENCE
from asof.frontier.states import Event, error_of
from asof.model import SILENCE, Exchange, Failure, Hop, Target
from asof.scope.robots import Shut
from asof.text.html.fingerprint import text_fingerprint, visible_blocks
from asof.text.kinds.media import PAGES

# A host that brought nothing so many times in a row is not asked again in this run.
_SILENT = 5


def is_page(status: int | None, kept: Kept) -> bool:
    """Whether an answer is a page, or says that it is still what it was."""
    return status in (200, 304) and kept.media_type in PAGES


def _onward(target: Target, kept: Kept, known: dict[str, None]) -> list[Target]:
    """What a kept answer leads to, but for URLs that are known."""
    found = list(found_in(target, kept.links, known))
    if kept.redirect is not None and (hop := follow(target, kept.redirect, Hop.REDIRECT)):
        found.append(hop)
    return found


class Settlements:
    """Settles the targets of one run of a crawl."""

    def __init__(self, equipment: Equipment) -> None:
        self._config = equipment.config
        self._equipment = equipment
        self._frontier = equipment.frontier
        self._silences: Counter[str] = Counter()

    def refuse(self, target: Target, verdict: Shut | str) -> None:
        if isinstance(verdict, Shut):
            self._frontier.settle(target, Event.GIVEN_UP, reason=verdict.reason)
        else:
            self._frontier.settle(target, Event.REFUSED, reason=verdict)

    def fail(self, target: Target, host: str, failure: Failure) -> None:
        """A fetch brought nothing: again later, or never."""
        if failure.reason == "unwanted":
            self.refuse(target, failure.detail)
            return
        self._equipment.monitor.failed(target, failure)
        self._equipment.store.failure(failure, target)
        self._stumble(target, failure.reason, transient=failure.transient)
        if failure.reason in SILENCE:
            self._silences[host] += 1
            if self._silences[host] >= _SILENT:
                self._equipment.gates.shut(target.url, failure.reason)

    def heard(self, host: str) -> None:
        self._silences.pop(host, None)

    def take_in(self, target: Target, exchange: Exchange, kept: Kept, *, learning: bool) -> bool:
        """Queue what a kept answer leads to; whether its target is done with it.

        It is, unless its host asked for patience and it may be tried again.
        """
        self.lead_on(target, kept, learning=learning and is_page(exchange.status, kept))
        if too_long := overlong(target, kept.links, exchange.header("Location")):
            self._frontier.leave_out(too_long)
        error = error_of(exchange.status)
        if error and exchange.status in PATIENCE and target.tries < self._config.retries:
            self._stumble(target, error, transient=True)
            return False
        self._frontier.settle(target, Event.CAPTURED, reason=error)
        return True

    def lead_on(self, target: Target, kept: Kept, *, learning: bool) -> None:
        """Queue what an answer leads to; of a page, learn whether others like it bring anything."""
        funnel = self._equipment.funnel
        new = funnel.put(_onward(target, kept, funnel.known))
        if learning and self._config.traps:
            self._learn(target, kept, new)

    def _stumble(self, target: Target, reason: str, *, transient: bool) -> None:
        """A failure: again later, twice as late each time, or give the target up."""
        if transient and target.tries < self._config.retries:
            pause = self._config.retry_delay * 2**target.tries
            later = self._equipment.clock.now() + int(pause * SECOND)
            self._frontier.settle(target, Event.STUMBLED, reason=reason, not_before=later)
        else:
            self._frontier.settle(target, Event.GIVEN_UP, reason=reason)

    def _learn(self, target: Target, kept: Kept, new: list[Target]) -> None:
        """What a page tells about others like it: whether they bring anything new."""
        patterns = self._frontier.patterns
        text = None
        if kept.document and patterns.wants_text(target.url, new):
            text = text_fingerprint(visible_blocks(kept.document))
        patterns.learn(target, text, found_in(target, kept.links), new)
