"""One look at a page: what stands between a target and its record.

    robots.txt -> limits, patterns -> fetch -> keep -> onward targets, settled

Pure decisions are made elsewhere; here they are put in order. Everything between two awaits happens
at once, so a kept answer and what it led to are always in the same group.

A page may be looked at twice: at its visit, and at its revisit, which asks whether it has changed
since (Spaniol 2009, section 3.3). `Look` says what differs. Both ask by a conditional request where
an earlier answer brought validators, for a whole answer otherwise. A 304 is the server's word only,
so some of them are audited.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from zlib import crc32

from asof.coherence.verdict import MARGIN
from asof.crawl.equipment import Equipment
from asof.crawl.robots_errand import RobotsErrands
from asof.crawl.settle import Settlements, is_page
from asof.fetch.reply import Judge
from asof.http.head import Head
from asof.model import Capture, Exchange, Failure, Headers, Target, find_header
from asof.scope.robots import Shut

FULL = "max-pages"

ONE_IN = 10
AT_LEAST = 3
_ENOUGH = 3
# Where the second half of the places in a plan begins.
_LATE = 0.5


class Audits:
    """Chooses 304 answers to be checked: the page is asked for again at once, without conditions.

    The bytes tell whether the server's word was true (host_trust.py). An audit takes a request,
    which makes every slot after it longer. So audited are one in ten, by a hash of the URL, and the
    first three of each host, in the second half of its places only: there are the pages that
    changed most and were given up, too, on which a false word is found soonest.

    Other content than the 304 spoke of may be an honest change in between. So the host is a suspect
    then, of which every 304 is audited; after three such finds it is not asked by conditions again.
    """

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
        self._checked.discard(target.url)


@dataclass(frozen=True, slots=True)
class Look:
    """A first look at a page counts against the limits of pages, and its patterns are learnt. At a
    second one both know it already, and bytes decide of what may have changed at its visit.
    """

    first: bool
    audits: Audits


class Visitor:
    """Brings targets one step further, for one run of a crawl."""

    def __init__(self, equipment: Equipment) -> None:
        self._equipment = equipment
        self._config = equipment.config
        self._frontier = equipment.frontier
        self._limits = equipment.limits
        self._settlements = Settlements(equipment)
        self.robots = RobotsErrands(equipment)
        self.current = ""
        # Audited is the look on which all rests (definitions 3.4 and 3.5).
        audit, once = self._config.audit, self._config.coherence == "measurable"
        self._visits = Look(first=True, audits=Audits(wanted=audit and once))
        self._revisits = Look(first=False, audits=Audits(wanted=audit))

    async def serve(self, target: Target, host: str) -> float | None:
        """One step for a target; how long to leave its host alone, None when all is full."""
        if self.robots.are_due(target):
            self._frontier.put_back(target)
            return await self.robots.learn_rules(target, host)
        look = self._revisits if self._frontier.revisits else self._visits
        refusal = self._refusal(target, host, look)
        if refusal is not None:
            self._settlements.refuse(target, refusal)
            return 0.0
        if look.first:
            if self._limits.full:
                self._frontier.put_back(target)
                return None
            self._limits.take(host)
        return await self._look_at(target, host, look)

    async def _look_at(self, target: Target, host: str, look: Look) -> float:
        """Ask for a target, and keep what comes; how long to leave its host alone."""
        last = self._equipment.store.last(target.url)
        asked = self._equipment.conditions(last)
        if look.audits.checks(target) or (not look.first and _is_fresh(last)):
            asked = ()
        start = self._equipment.clock.monotonic()
        self.current = target.url
        outcome = await self._equipment.fetcher.fetch(target.url, asked, self._judge(target))
        if isinstance(outcome, Failure):
            taken = False
            self._settlements.fail(target, host, outcome)
        else:
            self._settlements.heard(host)
            taken = self._keep(target, host, outcome, last, asked, look)
        if look.first and not taken:
            self._limits.give_back(host)
        return self._equipment.wait_after(host, start, outcome)

    def _keep(
        self,
        target: Target,
        host: str,
        exchange: Exchange,
        last: Capture | None,
        asked: Headers,
        look: Look,
    ) -> bool:
        """Keep an answer, unless it is not wanted; whether it counts as one taken."""
        # It may not have said how long it would be.
        if (unwanted := self._unwanted(target, exchange, exchange.body.size)) is not None:
            exchange.body.discard()
            self._settlements.refuse(target, unwanted)
            return False
        kept = self._equipment.store.exchange(exchange, target, last, asked=bool(asked))
        self._limits.received(host, len(exchange.head) + exchange.body.size)
        page = is_page(exchange, kept)
        self._equipment.monitor.fetched(target, exchange, revisit=kept.revisit, page=page)
        if self._audit(target, host, exchange, look, asked=bool(asked), same=kept.revisit):
            self._frontier.put_back(target)
            return False
        learning = look.first and self._config.traps
        done = self._settlements.take_in(target, exchange, kept, learning=learning)
        # The assignment's Numpages are pages.
        return done and (page or self._config.preset != "assignment")

    def _audit(
        self, target: Target, host: str, exchange: Exchange, look: Look, *, asked: bool, same: bool
    ) -> bool:
        """Whether this answer is to be checked by another request; a check itself is judged."""
        audits = look.audits
        if audits.checks(target) and exchange.status == 200 and not same and audits.differed(host):
            self._equipment.disbelieved.add(host)
        placed = not look.first or self._equipment.funnel.newcomers is not None
        if asked and audits.choose(target, host, exchange, placed=placed):
            return True
        audits.done(target)
        return False

    def _refusal(self, target: Target, host: str, look: Look) -> Shut | str | None:
        """Why a target that is queued must not be fetched after all."""
        verdict = self._equipment.gates.verdict(target.url)
        if verdict is not None:
            return verdict
        if not look.first:  # a newer rule, a limit of bytes
            scope = self._equipment.funnel.scope
            against = scope.refusal(target) if scope.forbids(target) else None
            return against or self._limits.glut(host)
        against = self._limits.refusal(host)
        if against is None and self._config.traps:
            return self._equipment.patterns.allows(target)
        return against

    def _judge(self, target: Target) -> Judge | None:
        """Asked by the client when a head has come: why the rest is not wanted."""

        def judge(head: Head, received: int) -> str | None:
            length = find_header(head.headers, "Content-Length") or ""
            declared = int(length) if length.isascii() and length.isdigit() else 0
            return self._unwanted(target, head, max(declared, received))

        return judge if self._equipment.funnel.scope.judges_answers else None

    def _unwanted(self, target: Target, answer: Head | Exchange, size: int) -> str | None:
        scope = self._equipment.funnel.scope
        if not scope.judges_answers or not 200 <= answer.status < 300:
            return None
        return scope.judge(target, find_header(answer.headers, "Content-Type"), size)


def _is_fresh(last: Capture | None) -> bool:
    """Whether a page was visited within seconds of its change: its ETag may then be that of the
    next content as well (asof.coherence.credibility).
    """
    modified = None if last is None else last.last_modified
    return last is not None and modified is not None and modified + MARGIN > last.at
