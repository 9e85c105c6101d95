"""Orders about crawls: to the one that runs, to one that should begin, and to one that goes on.

What they may be is what people can order on the terminal, by the same functions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from threading import BoundedSemaphore

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from asof.config import Config
from asof.crawl.control import Act, running, writer
from asof.crawl.detached import Begun, begin
from asof.crawl.request import interrupted
from asof.crawl.watch import give_order
from asof.errors import AsofError, UsageError
from asof.report.crawl_words import obeyed
from asof.report.words import printable
from asof.scope.rule_text import expression
from asof.web import address
from asof.web.crawls import SETTINGS, Crawls
from asof.web.orders import PLACE, Refused, needed
from asof.web.pages import Pages, leading, status_of

# Each waits for a crawl, seconds perhaps, in a thread of the few that answer all who read.
AT_ONCE = 2
_turns = BoundedSemaphore(AT_ONCE)
_Order = Callable[[Mapping[str, str]], Response]


class CrawlOrders:
    """Carries out orders about the crawls of one archive."""

    def __init__(self, pages: Pages, crawls: Crawls) -> None:
        self._pages = pages
        self._crawls = crawls
        self._home = pages.archive.folder

    def routes(self) -> Iterator[Route]:
        """Where they are given: nowhere, unless this server takes orders."""
        if not self._pages.orders.are_taken:
            return
        orders: dict[str, _Order] = {act.value: partial(self._steer, act) for act in Act}
        orders |= {"crawl": self._begin, "continue": self._go_on}
        for name, order in orders.items():
            place = self._pages.orders.endpoint(partial(_in_turn, order))
            yield Route(f"{PLACE}{name}", place, methods=["POST"])

    def _steer(self, act: Act, fields: Mapping[str, str]) -> Response:
        """Give an order to the crawl whose page it was ordered on, and to no other."""
        crawl = self._crawls.named(needed(fields, "crawl"))
        pattern = fields.get("pattern", "").strip() if act is Act.EXCLUDE else ""
        try:
            status = running(self._home)
            if status is not None and status.crawl != crawl.id:
                raise UsageError("This crawl has ended, and another one runs.")
            given = give_order(self._home, self._pages.clock, act, pattern)
        except UsageError as error:
            told = self._pages.inside(str(error))
            return self._crawls.page(crawl, 400, problem=told, pattern=pattern)
        return self._crawls.page(self._crawls.named(crawl.id), did=obeyed(given))

    def _begin(self, fields: Mapping[str, str]) -> Response:
        try:
            self._require_nobody()
            seeds, settings = _asked(fields, self._crawls.usual())
            new = bool(fields.get("new"))
            begun = begin(self._home, self._pages.clock, seeds, settings, new=new)
        except AsofError as error:
            return self._not_begun(status_of(error), str(error), fields, "No crawl has begun.")
        return self._begun(begun, fields)

    def _go_on(self, fields: Mapping[str, str]) -> Response:
        crawl = self._crawls.named(needed(fields, "crawl"))
        try:
            self._require_nobody()
            if not self._crawls.goes_on(crawl):
                raise Refused(409, "It cannot be gone on with: it has ended, or a later one would.")
            # Without its seeds, which may be many, where it is the one that is meant then.
            meant = interrupted(self._pages.archive, ()) == crawl
            begun = begin(self._home, self._pages.clock, () if meant else crawl.seeds, {})
        except AsofError as error:
            told = self._pages.inside(str(error))
            return self._crawls.page(crawl, status_of(error), problem=told)
        return self._begun(begun, {})

    def _require_nobody(self) -> None:
        if who := writer(self._home)[0]:
            raise Refused(
                409,
                f"`asof {who}` is at work in this archive.",
                hint="Wait for its end, or stop it.",
            )

    def _begun(self, begun: Begun, fields: Mapping[str, str]) -> Response:
        """To the crawl that runs, or has ended well already; else what it said."""
        if begun.crawl or begun.code == 0:
            ended = max(self._pages.archive.crawls(), key=lambda each: each.ended or 0)
            return leading(address.crawl_page(begun.crawl or ended.id), 303)
        if begun.code is None:
            return self._crawls.listed(202, said="The crawl is beginning: look again in a moment.")
        return self._not_begun(409, begun.said, fields, "The crawl has ended at once.")

    def _not_begun(self, status: int, told: str, fields: Mapping[str, str], lead: str) -> Response:
        told = "\n".join(map(printable, self._pages.inside(told).strip().splitlines()))
        return self._crawls.listed(status, problem=told, lead=lead, asked=fields)


def _in_turn(order: _Order, request: Request, fields: Mapping[str, str]) -> Response:
    if not _turns.acquire(blocking=False):
        raise Refused(429, "Other orders are being carried out.", hint="Send it again.")
    try:
        return order(fields)
    finally:
        _turns.release()


def _asked(
    fields: Mapping[str, str], usual: Config
) -> tuple[tuple[str, ...], dict[str, str | Sequence[str]]]:
    """The seeds and settings of a form; what is empty, or as it is anyhow, is not set: a crawl that
    was interrupted goes on with what it was begun with.
    """
    seeds = _lines(needed(fields, "seeds"))
    given = {name: fields.get(name, "").strip() for name in SETTINGS}
    settings: dict[str, str | Sequence[str]] = {
        name: value for name, value in given.items() if value and value != getattr(usual, name)
    }
    if "exclude" in settings:
        settings["exclude"] = patterns = _lines(given["exclude"])
        for pattern in patterns:
            expression(pattern)
    Config().updated(settings, source="The form")
    return seeds, settings


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
