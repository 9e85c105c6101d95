"""One look at a page: what stands between a target and its record.

    robots.txt -> limits, patterns -> fetch -> keep -> onward targets, settled

Pure decisions are made elsewhere; here they are put in order. Everything between two awaits happens
at once, so a kept answer and what it led to are always in the same group.

A page may be looked at twice: at its visit, and at its revisit, which asks whether it has changed
since (Spaniol 2009, section 3.3). `Look` says what differs. A visit asks by a conditional request
where an earlier answer brought validators. The look on which all rests (definitions 3.4 and 3.5)
asks for bytes wherever they are cheap or a 304 would be no firm word (asof.crawl.audit).
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

from asof.catalog.observe import is_strong
from asof.clock import parse_http_date
from asof.crawl.audit import PROBED_EARLY, Audits, is_outdated, wants_bytes
from asof.crawl.equipment import Equipment
from asof.crawl.robots_errand import RobotsErrands
from asof.crawl.settle import Settlements, is_page
from asof.crawl.store import Kept, conditions
from asof.fetch.reply import Judge
from asof.http.head import Head
from asof.model import Capture, Exchange, Failure, Headers, Target, find_header
from asof.scope.robots import Shut
from asof.warc.digest import digest_text

FULL = "max-pages"
_LONG = 1.0
# What a cache has is evidence of the time before, and of no use here (RFC 9111 section 5.2.1.4).
_FROM_THE_ORIGIN: Headers = (("Cache-Control", "no-cache"),)


@dataclass(frozen=True, slots=True)
class Look:
    """A first look at a page counts against the limits of pages, and its patterns are learnt; at a
    second one both know it already. All rests on what a `decisive` one brings.
    """

    first: bool
    decisive: bool
    audits: Audits


class Visitor:
    """Brings targets one step further, for one run of a crawl."""

    def __init__(self, equipment: Equipment) -> None:
        self._equipment = equipment
        self._config = equipment.config
        self._frontier = equipment.frontier
        self._limits = equipment.limits
        self.settlements = Settlements(equipment)
        self.robots = RobotsErrands(equipment)
        self.current = ""
        # What an answer that took long brought may be younger than it; some 304 are no firm word.
        self.unsure: set[str] = set()
        self.gone: set[str] = set()  # where a probe found nothing to ask about
        self.unseen: set[str] = set()  # what is probed before it is visited
        self.probed: Counter[str] = Counter()  # how often, of each host
        self._probed_pages: dict[str, set[str]] = defaultdict(set)  # which
        self._replaced: dict[str, tuple[Target, Capture]] = {}  # of a host, just now
        audit, once = self._config.audit, self._config.coherence == "measurable"
        self._probes = audit and self._config.coherence != "off"
        self._visits = Look(True, once, Audits(equipment.secret, wanted=audit and once))
        self._revisits = Look(False, True, Audits(equipment.secret, wanted=audit))

    async def serve(self, target: Target, host: str) -> float | None:
        """One step for a target; how long to leave its host alone, None when all is full."""
        if self.robots.are_due(target):
            self._frontier.put_back(target)
            return await self.robots.learn_rules(target, host)
        look = self._revisits if self._frontier.revisits else self._visits
        if (replaced := self._replaced.pop(host, None)) is not None:
            self._frontier.put_back(target)
            return await self.probe(replaced[0], host, replaced[1])
        refusal = self._refusal(target, host, look)
        if refusal is not None:
            self.settlements.refuse(target, refusal)
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
        by_bytes = look.decisive and wants_bytes(last, audit=self._config.audit)
        if by_bytes or look.audits.checks(target):
            asked = ()
        start = self._equipment.clock.monotonic()
        self.current = target.url
        headers = (*asked, *_FROM_THE_ORIGIN) if look.decisive else asked
        outcome = await self._equipment.fetcher.fetch(target.url, headers, self._judge(target))
        is_weak = isinstance(outcome, Exchange) and outcome.status == 304 and wants_bytes(last)
        if is_weak or self._equipment.clock.monotonic() - start > _LONG:
            self.unsure.add(target.url)
        if isinstance(outcome, Failure):
            taken = False
            self.settlements.fail(target, host, outcome)
        else:
            self.settlements.heard(host)
            taken = self._keep(target, host, outcome, last, asked, look)
        if look.first and not taken:
            self._limits.give_back(host)
        if taken and isinstance(outcome, Exchange):
            self._note_replaced(target, host, last, outcome)
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
            self.settlements.refuse(target, unwanted)
            return False
        kept = self._store(target, host, exchange, last, asked)
        if self._audit(target, host, exchange, look, last if asked else None, same=kept.revisit):
            self._frontier.put_back(target)
            return False
        done = self.settlements.take_in(target, exchange, kept, learning=look.first)
        # The assignment's Numpages are pages.
        return done and (is_page(exchange.status, kept) or self._config.preset != "assignment")

    def _store(
        self, target: Target, host: str, exchange: Exchange, last: Capture | None, asked: Headers
    ) -> Kept:
        """Put an answer into the archive, count its bytes, and tell of it."""
        kept = self._equipment.store.exchange(exchange, target, last, asked=bool(asked))
        self._limits.received(host, len(exchange.head) + exchange.body.size)
        page = is_page(exchange.status, kept)
        self._equipment.monitor.fetched(target, exchange, revisit=kept.revisit, page=page)
        return kept

    def _audit(
        self,
        target: Target,
        host: str,
        exchange: Exchange,
        look: Look,
        asked: Capture | None,
        *,
        same: bool,
    ) -> bool:
        """Whether this answer is to be checked by another request; a check itself is judged."""
        audits = look.audits
        if audits.checks(target) and exchange.status == 200 and not same and audits.differed(host):
            self._equipment.disbelieve(host)
        if asked is not None:
            said = parse_http_date(exchange.header("Last-Modified") or "")
            firm = is_strong(asked.etag) or said == asked.last_modified
            if audits.choose(target, host, exchange, firm=firm):
                return True
        audits.done(target)
        return False

    def _note_replaced(
        self, target: Target, host: str, last: Capture | None, exchange: Exchange
    ) -> None:
        """The next request to a host is about what it has just replaced, for the first pages."""
        if not self._probes or last is None or not self._equipment.conditions(last):
            return
        if exchange.status != 200 or digest_text(exchange.payload_digest) == last.digest:
            return
        tag, said = exchange.header("ETag"), exchange.header("Last-Modified") or ""
        probed = self._probed_pages[host]
        is_wanted = len(probed) < PROBED_EARLY and target.url not in probed
        if is_wanted and is_outdated(last, tag, parse_http_date(said)):
            self._replaced[host] = target, last

    async def probe(self, target: Target, host: str, outdated: Capture) -> float:
        """Ask by a validator that is out of date; how long to leave the host alone.

        After a 304 bytes are asked for, and before the first one if this crawl has not seen any of
        the page, so that what is stored shows whether it was true.
        """
        if self.robots.are_due(target):
            return await self.robots.learn_rules(target, host)
        wait, self.current = 0.0, target.url
        is_unseen = target.url in self.unseen
        self.unseen.discard(target.url)
        self.probed[host] += not is_unseen
        self._probed_pages[host].add(target.url)
        for asked in ((),) if is_unseen else (conditions(outdated), ()):
            await self._equipment.clock.sleep(wait)
            if self._refusal(target, host, self._revisits) is not None:
                break
            start = self._equipment.clock.monotonic()
            outcome = await self._equipment.fetcher.fetch(target.url, asked, None)
            if isinstance(outcome, Failure):
                return self._equipment.wait_after(host, start, outcome)
            wait = self._equipment.wait_after(host, start, outcome)
            is_other = digest_text(outcome.payload_digest) != outdated.digest
            self._store(target, host, outcome, outdated, asked)
            if outcome.status not in (200, 304) or (is_unseen and not is_other):
                self.gone.add(target.url)
            if asked and outcome.status != 304:
                break
            if not asked and outcome.status == 200 and is_other and not is_unseen:
                self._equipment.disbelieve(host)
        return wait

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
            return self._frontier.patterns.allows(target)
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
