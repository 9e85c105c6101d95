"""What was said, and when: the page of a search, and the same as JSON."""

from collections.abc import Mapping
from functools import cached_property, partial

from starlette.requests import Request
from starlette.responses import Response

from asof.clock import Instant, iso, stamp
from asof.errors import AsofError, NotCaptured, UsageError
from asof.report.search_words import led, near, search_json, shown_for
from asof.search.find import Finder
from asof.search.query import LONGEST_QUESTION
from asof.search.question import HITS, Answer, Hit, Order, Question, When, order_named, when
from asof.web import address
from asof.web.machine import json_answer, number
from asof.web.pages import Pages, status_of

# Of one answer, and before it: whoever wants more is better served by the terminal.
MOST, FARTHEST = 100, 10_000
# What a question is made of, as in an address, beside its words.
_PARTS = ("at", "from", "to", "prefix", "type", "language", "sort", "fold")


class Search:
    """Searches in one archive. Its public methods are endpoints; they run in a thread."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    @cached_property
    def _finder(self) -> Finder:
        return Finder(self._pages.archive)

    def page(self, request: Request) -> Response:
        asked = {name: request.query_params.get(name, "").strip() for name in ("q", *_PARTS)}
        problem: AsofError | None = None
        answer, status = None, 200
        try:
            answer = self._answer(request.query_params) if asked["q"] else None
        except (UsageError, NotCaptured) as error:  # it stays in the form, to be mended
            problem, status = error, status_of(error)
        return self._pages.render(
            "search.html", status, asked=asked, orders=tuple(Order),
            problem=problem and _parted(problem), answer=answer,
            most=max((each.contents for each in answer.presence), default=0) if answer else 0,
            near=near, shown_for=shown_for, led=led, lead=self._lead,
            leading=partial(_leading, asked=asked),
            narrowed=lambda **other: address.search(asked | other),
            onward=lambda at: address.search(asked | {"offset": str(at) if at else ""}),
        )  # fmt: skip

    def json(self, request: Request) -> Response:
        return json_answer(search_json(self._answer(request.query_params)))

    def _answer(self, query: Mapping[str, str]) -> Answer:
        at, since, until, prefix, media_type, language, order, fold = (
            query.get(name, "").strip() or None for name in _PARTS
        )
        asked = Question(
            query.get("q", ""), when(self._pages.archive, at, since, until), prefix, media_type,
            language, order_named(order or Order.RELEVANCE), fold != "no",
            number("limit", query.get("limit") or f"{HITS}", 1, MOST),
            number("offset", query.get("offset") or "0", 0, FARTHEST),
        )  # fmt: skip
        if not Finder.has_index(self._pages.archive):
            raise NotCaptured(
                "There is no index yet.", hint="Make it with `asof reindex --search`."
            )
        return self._finder.find(asked)

    @staticmethod
    def _lead(hit: Hit, at: Instant | None) -> str:
        """Where a hit is shown: as of the moment that was asked for, or when it was seen last."""
        return address.replay(stamp(hit.until if at is None else at), hit.url)


def _parted(problem: AsofError) -> tuple[str, str, str]:
    """What it says, where it points, what to do: a line that points must not be broken."""
    lines = str(problem).splitlines()
    pointing = [line for line in lines if line.startswith("  ")]
    first, *more = [line for line in lines if line not in pointing]
    return first, "\n".join(pointing), " ".join(more)


def _leading(hit: Hit, when: When, asked: Mapping[str, str]) -> str | None:
    """Where those are found that led to a hit; None if its address is too long for a question."""
    words = f'link:"{hit.url}"'
    last = when.until if when.at is None else when.at
    at = asked["at"] or asked["to"] or "now"
    if hit.ended is not None and (last is None or last >= hit.ended):
        at = iso(hit.ended - 1)
    found = address.search({"q": words, "at": at, "fold": "no"})
    return found if len(words) <= LONGEST_QUESTION else None
