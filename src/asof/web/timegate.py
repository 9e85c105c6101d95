"""TimeGate and TimeMaps of Memento (RFC 7089): which mementos there are, and which one is meant."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from starlette.requests import Request
from starlette.responses import Response

from asof.catalog.referents import ANSWERS
from asof.clock import SECOND, Instant, http_date, iso_second, parse_http_date, parse_stamp
from asof.errors import NotCaptured, UsageError
from asof.web import address, relations
from asof.web.machine import refusal, streamed
from asof.web.pages import END_OF_TIME, Pages

# Mementos in a page of a TimeMap: 600 KB. Of a URL with more, each page leads to those beside it.
PAGE = 5000
# Section 2.1.1.1: the one form of a date that RFC 1123 leaves.
_ACCEPTED = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    r" [1-9]\d{3} \d\d:\d\d:\d\d GMT",
    re.ASCII,
)
_VARY = {"vary": "accept-datetime"}


@dataclass(frozen=True, slots=True)
class _Page:
    """A page beside another: where it starts by its address, and its first and last memento."""

    at: Instant | None
    first: Instant
    last: Instant


@dataclass(frozen=True, slots=True)
class _TimeMap:
    """A page of mementos, by whole seconds, and those beside it."""

    url: str
    own: _Page
    shown: Sequence[Instant]
    previous: _Page | None
    following: _Page | None


class TimeGate:
    """Answers `/timegate/{url}` and `/timemap/{kind}/{url}`. Its methods are endpoints."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._archive = pages.archive

    def gate(self, request: Request) -> Response:
        """The memento as of Accept-Datetime; without it the latest, before the first the first."""
        url = address.typed(address.rest(request.scope, "/timegate/"))
        try:
            moment = _accepted(request.headers.get("accept-datetime"))
            capture = self._archive.as_of(url, moment) or next(self._pages.answers(url), None)
        except UsageError as error:
            return refusal(str(error), 400, **_VARY)
        if capture is None:
            return refusal(f"{url} is not in this archive.", 404, **_VARY)
        origin = str(request.base_url).rstrip("/")
        around = self._pages.neighbours(url, capture)
        headers = {
            "location": origin + address.exact(capture.at, url),
            "link": relations.link_header(origin, url, capture, around),
            "cache-control": "no-cache",
        }
        return Response(status_code=302, headers={**headers, **_VARY})

    def map(self, request: Request) -> Response:
        kind = request.path_params["kind"]
        if kind not in ("link", "json"):
            return refusal("A TimeMap is at /timemap/link/ or /timemap/json/.", 404)
        at, url = address.timemap_of(request.scope, kind)
        found = self._page(address.typed(url), None if at is None else _page_start(at))
        origin = str(request.base_url).rstrip("/")
        if kind == "json":
            return streamed(request, _as_json(origin, found), "application/json")
        return streamed(request, _as_links(origin, found), relations.LINK_FORMAT)

    def _page(self, url: str, at: Instant | None) -> _TimeMap:
        """PAGE mementos from a moment on. Where it starts and ends is told first, so they are held;
        they are few.
        """
        seen = list(islice(self._seconds(url, since=at), 2 * PAGE))
        if not seen:
            raise NotCaptured(f"{url} has no mementos here{'' if at is None else ' from then on'}.")
        shown, following = seen[:PAGE], seen[PAGE:]
        before: list[Instant] = []
        if at is not None:
            before = list(islice(self._seconds(url, until=at - 1, backwards=True), PAGE + 1))
        before, is_first = before[:PAGE][::-1], len(before) == PAGE
        return _TimeMap(
            url,
            _Page(at, shown[0], shown[-1]),
            shown,
            _Page(None if is_first else before[0], before[0], before[-1]) if before else None,
            _Page(following[0], following[0], following[-1]) if following else None,
        )

    def _seconds(
        self,
        url: str,
        since: Instant | None = None,
        until: Instant | None = None,
        *,
        backwards: bool = False,
    ) -> Iterator[Instant]:
        """The moments of mementos, each second once: a stamp cannot name less."""
        last = None
        found = self._archive.catalog.captures(
            url=self._archive.address(url), since=since, until=until, backwards=backwards
        )
        for capture in found:
            second = capture.at - capture.at % SECOND
            if capture.kind in ANSWERS and second != last:
                last = second
                yield second


def _accepted(text: str | None) -> Instant:
    """The end of the second that is asked for, for dates in HTTP know no less."""
    if text is None:
        return END_OF_TIME
    found = parse_http_date(text) if _ACCEPTED.fullmatch(text.strip()) else None
    if found is None:
        raise UsageError(
            f"Accept-Datetime {text[:80]!r} is not a date of RFC 1123.",
            hint="Write it as Thu, 01 Jan 2026 10:00:00 GMT.",
        )
    return found + SECOND - 1


def _page_start(text: str) -> Instant:
    found = parse_stamp(text)
    if found is None:
        raise UsageError(f"{text} is not a moment.", hint="Take the links of the first page.")
    return found


def _relation(number: int, found: _TimeMap) -> str:
    first = found.previous is None and number == 0
    last = found.following is None and number == len(found.shown) - 1
    return f"{'first ' if first else ''}{'last ' if last else ''}memento"


def _as_links(origin: str, found: _TimeMap) -> Iterator[str]:
    """Section 5, in the form of RFC 6690; a page among several by section 5.1.1."""

    def written(relation: str, page: _Page) -> str:
        where = relations.timemap(origin, found.url, "link", page.at)
        told = f'rel="{relation}"; type="{relations.LINK_FORMAT}"'
        return f'<{where}>; {told}; from="{http_date(page.first)}"; until="{http_date(page.last)}"'

    yield f"{relations.original(found.url)},\n"
    yield f'<{relations.timegate(origin, found.url)}>; rel="timegate",\n'
    yield written("self", found.own)
    for page in filter(None, (found.previous, found.following)):
        yield f",\n{written('timemap', page)}"
    for number, at in enumerate(found.shown):
        where = f"{origin}{address.exact(at, found.url)}"
        yield f",\n{relations.memento(where, at, _relation(number, found))}"
    yield "\n"


def _as_json(origin: str, found: _TimeMap) -> Iterator[str]:
    """The same under the names of the Time Travel service of mementoweb.org."""

    def one(at: Instant) -> dict[str, str]:
        return {"datetime": iso_second(at), "uri": origin + address.exact(at, found.url)}

    def written(page: _Page) -> dict[str, str]:
        first, last = map(iso_second, (page.first, page.last))
        where = relations.timemap(origin, found.url, "json", page.at)
        return {"from": first, "until": last, "uri": where}

    maps = {f"{k}_format": relations.timemap(origin, found.url, k) for k in ("link", "json")}
    head = {
        "original_uri": found.url,
        "self": relations.timemap(origin, found.url, "json", found.own.at),
        "timegate_uri": relations.timegate(origin, found.url),
        "timemap_uri": maps,
        "timemap_index": [written(page) for page in (found.previous, found.following) if page],
    }
    ends = {"first": one(found.shown[0])} if found.previous is None else {}
    ends |= {"last": one(found.shown[-1])} if found.following is None else {}
    mementos = "".join(f"{json.dumps(name)}: {json.dumps(value)}, " for name, value in ends.items())
    yield f'{json.dumps(head)[:-1]}, "mementos": {{{mementos}"list": [\n'
    for number, at in enumerate(found.shown):
        yield f"{',' if number else ''}{json.dumps(one(at))}\n"
    yield "]}}\n"
