"""The second look at a page: has it changed since the visit? (seed 001, section 3.3)

Asked by a conditional request where the visit brought validators, for a whole answer otherwise. A
304 is the server's word only, so some of them are audited (asof.crawl.audit).
"""

from __future__ import annotations

from asof.coherence.verdict import MARGIN
from asof.config import Config
from asof.crawl.audit import Audits
from asof.crawl.store import Keeper
from asof.crawl.visit import Visitor, retry_after
from asof.model import Capture, Failure, Target


class Revisitor:
    """Brings targets of the queue of revisits one step further."""

    def __init__(self, visitor: Visitor, config: Config, keeper: Keeper) -> None:
        self._visitor = visitor
        self._keeper = keeper
        self._audits = Audits(wanted=config.audit)

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
        audited = self._audits.checks(target)
        asked = () if audited or _is_fresh(last) else visitor.conditions(last)
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
        if audited and outcome.status == 200 and not kept.revisit and self._audits.differed(host):
            visitor.disbelieved.add(host)
        if asked and self._audits.choose(target, host, outcome, placed=True):
            visitor.put_back(target)
        else:
            self._audits.done(target)
            visitor.take_in_again(target, outcome, kept)
        return visitor.wait_after(host, start, retry_after(outcome))


def _is_fresh(last: Capture | None) -> bool:
    """Whether a page was visited within seconds of its change.

    Its ETag may then be that of the next content as well (coherence/credibility.py): bytes decide.
    """
    modified = None if last is None else last.last_modified
    return last is not None and modified is not None and modified + MARGIN > last.at
