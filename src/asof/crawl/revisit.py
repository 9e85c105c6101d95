"""The second look at a page: has it changed since the visit? (seed 001, section 3.3)

Asked by a conditional request where the visit brought validators, for a whole answer otherwise. A
304 is the server's word only. So some of them are audited: the page is asked for again at once,
without conditions, and the bytes tell whether the word was true (asof.coherence.trust). An audit
takes a request, which makes every slot after it longer. So audited are one in ten, by a hash of the
URL, and at least one of each host, in the second half of its revisits only: there are the pages
that changed most and were given up, too, on which a false word is found soonest.
"""

from __future__ import annotations

from zlib import crc32

from asof.config import Config
from asof.crawl.keep import Keeper
from asof.crawl.visit import Visitor, retry_after
from asof.frontier.queue import LAST_PLACE
from asof.model import Exchange, Failure, Target

_AUDITED = 10
_LATE = LAST_PLACE / 2


class Revisitor:
    """Brings targets of the queue of revisits one step further."""

    def __init__(self, visitor: Visitor, config: Config, keeper: Keeper) -> None:
        self._visitor = visitor
        self._config = config
        self._keeper = keeper
        self._audited_hosts: set[str] = set()
        self._auditing: set[str] = set()

    async def serve(self, target: Target, host: str) -> float:
        """One step for a target; how long to leave its host alone after it."""
        visitor = self._visitor
        if (wait := await visitor.await_gate(target, host)) is not None:
            return wait
        refusal = visitor.forbidden(target) or visitor.excluded(target, host)
        if refusal is not None:
            visitor.refuse(target, refusal)
            return 0.0
        last = self._keeper.last(target.url)
        asked = () if target.url in self._auditing else visitor.conditions(last)
        start, outcome = await visitor.fetch(target, asked)
        if isinstance(outcome, Failure):
            visitor.fail(target, host, outcome)
            return visitor.wait_after(host, start, None)
        if (unwanted := visitor.too_much(target, outcome)) is not None:
            outcome.body.discard()
            visitor.refuse(target, unwanted)
            return visitor.wait_after(host, start, None)
        kept = self._keeper.exchange(outcome, target, last, asked=bool(asked))
        visitor.tell(target, host, outcome, kept)
        if self._wants_audit(target, host, outcome, asked=bool(asked)):
            visitor.put_back(target)
        else:
            self._auditing.discard(target.url)
            visitor.take_in_again(target, outcome, kept)
        return visitor.wait_after(host, start, retry_after(outcome))

    def _wants_audit(self, target: Target, host: str, exchange: Exchange, *, asked: bool) -> bool:
        """Whether this 304 is to be checked by the next request to the host."""
        if not asked or exchange.status != 304 or not self._config.audit:
            return False
        if target.priority < _LATE:
            return False
        chosen = crc32(target.url.encode()) % _AUDITED == 0 or host not in self._audited_hosts
        if chosen:
            self._audited_hosts.add(host)
            self._auditing.add(target.url)
        return chosen
