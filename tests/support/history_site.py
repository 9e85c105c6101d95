"""A site that serves a history at the moment of each request, by a server of some kind.

Put `tests` on the path and import it. What the server has on its disk is a `History`
(support.page_history); `Server` says how it tells of it: by which validators, as seen when, and
with which lies (support.lying_web). The kinds that are known are in support.server_kinds.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from hashlib import sha256
from html import escape
from typing import Literal, Self

from asof.clock import SECOND, Instant, http_date, parse_http_date
from asof.model import Headers
from asof.testing import Response, SiteSpec, SyntheticSite
from asof.testing.answer import _accepts_gzip, _not_modified, plain
from support.late_answers import LateResponse
from support.lying_web import Lie, Question
from support.page_history import History, Version

ORIGIN = "http://history.example"
ROBOTS = b"User-agent: *\nDisallow:\n"


@dataclass(frozen=True, slots=True)
class Validators:
    """What answers carry. A `file` tag is nginx's: date and size of the file, as hexadecimals.

    `gzip` is as nginx does it: what is compressed has a weak tag. `exact`: If-Modified-Since must
    be the very date, not that or a later one.
    """

    tag: Literal["strong", "weak", "file", "none"] = "strong"
    dates: bool = True
    gzip: bool = False
    exact: bool = False

    def etag(self, version: Version) -> str:
        content = version.content or b""
        if self.tag == "none":
            return ""
        if self.tag == "file":
            return f'"{version.dated // SECOND:x}-{len(content):x}"'
        return f'{"W/" if self.tag == "weak" else ""}"{sha256(content).hexdigest()[:20]}"'


@dataclass(frozen=True, slots=True)
class Ask:
    """A request as a server counts it: its running number, and its place in a round over all."""

    path: str
    at: Instant
    number: int
    place: float


@dataclass(frozen=True, slots=True)
class View:
    """As of when an answer is: what it holds, what time it tells, how old it says that it is.

    `late` are the seconds until it leaves; `status` another than that of the page.
    """

    content: Instant
    date: Instant
    age: int | None = None
    late: float = 0.0
    cut: bool = False
    status: int | None = None


def at_once(ask: Ask) -> View:
    return View(ask.at, ask.at)


@dataclass(frozen=True)
class Server:
    """How a server tells what it has. `plain` gives a page without what is only noise."""

    validators: Validators = field(default_factory=Validators)
    view: Callable[[Ask], View] = at_once
    lies: tuple[Lie, ...] = ()
    remake: Callable[[History], History] = lambda history: history
    plain: Callable[[bytes], bytes] = lambda content: content


class HistorySite(SyntheticSite):
    """The site of a history. `sent` counts the bytes of its answers, `lied` its false 304."""

    def __init__(self, history: History, server: Server) -> None:
        super().__init__(SiteSpec(pages=1, start=history.begin))
        self.history = _with_front_page(server.remake(history))
        self.server = server
        self.origins = (ORIGIN,)
        self.sent = 0
        self.lied = 0
        self._given: dict[tuple[str, str], bytes] = {}
        self._number = 0
        self._round: list[str] = []

    def at(self, origins: Sequence[str]) -> Self:
        twin = copy(self)
        twin.origins = tuple(origins)
        return twin

    def respond(
        self, method: str, path: str, headers: Headers, t: Instant, *, host: int = 0
    ) -> Response:
        asked = {name.lower(): value for name, value in headers}
        ask = self._counted(path, t)
        view = self.server.view(ask)
        response = self._answer(path, asked, view)
        if response.status in (200, 304) and path != "/robots.txt":
            whole = self._answer(path, _without_conditions(asked), view)
            question = Question(path, asked, view.date, whole, ask.number, ask.place)
            for lie in self.server.lies:
                response = lie(question, response)
            self.lied += self._is_false(question, response)
        self.sent += len(response.wire(method=method))
        late = (view.late, view.cut)
        return LateResponse(
            response.status, response.headers, response.body, response.chunked, *late
        )

    def _is_false(self, question: Question, response: Response) -> bool:
        """Whether "not modified" is said of another content than was given by this validator."""
        path, asked, body = question.path, question.asked, self.server.plain(question.whole.body)
        if response.status != 304:
            for name in ("ETag", "Last-Modified"):
                self._given[path, response.header(name) or ""] = body
            return False
        by = asked.get("if-none-match") or asked.get("if-modified-since", "")
        return self._given.get((path, by), body) != body

    def _counted(self, path: str, t: Instant) -> Ask:
        """A round ends when something is asked for again, unless that is the last page at once."""
        self._number += 1
        if path in self._round and path != self._round[-1]:
            self._round = []
        if path != "/robots.txt" and path not in self._round:
            self._round.append(path)
        place = len(self._round) / len(self.history.pages)
        return Ask(path, t, self._number, min(1.0, place))

    def _answer(self, path: str, asked: dict[str, str], view: View) -> Response:
        if path == "/robots.txt":
            return plain(200, view.date, ROBOTS, media_type="text/plain")
        if view.status is not None:
            return plain(view.status, view.date, b"<p>Try again later.</p>")
        version = self.history.version(path, view.content)
        if version is None or version.content is None:
            return plain(404, view.date, b"<p>Nothing is here.</p>")
        response = answer(path, version, self.server.validators, asked, view.date)
        if view.age is None:
            return response
        return replace(response, headers=(*response.headers, ("Age", str(view.age))))


def answer(
    path: str, version: Version, validators: Validators, asked: dict[str, str], t: Instant
) -> Response:
    """200 or 304 for a version, as servers of files do it: with a date also of this very second."""
    tag, dated = validators.etag(version), version.dated if validators.dates else None
    headers = [("Date", http_date(t))]
    if dated is not None:
        headers.append(("Last-Modified", http_date(dated)))
    if _is_unchanged(asked, tag, dated, exact=validators.exact):
        # nginx compresses no 304, and leaves its tag as it is.
        return Response(304, (*headers, ("ETag", tag)) if tag else tuple(headers))
    body = version.content or b""
    zipped = validators.gzip and _accepts_gzip(asked.get("accept-encoding", ""))
    if validators.gzip:
        headers.append(("Vary", "Accept-Encoding"))
    if zipped:
        headers.append(("Content-Encoding", "gzip"))
        body = gzip.compress(body, 1, mtime=0)
        tag = tag if tag.startswith("W/") else f"W/{tag}"
    if tag:
        headers.append(("ETag", tag))
    media = "text/css" if path.endswith(".css") else "text/html; charset=utf-8"
    return Response(200, (*headers, ("Content-Type", media)), body)


def _is_unchanged(asked: dict[str, str], tag: str, dated: Instant | None, *, exact: bool) -> bool:
    if "if-none-match" not in asked and exact and dated is not None:
        since = parse_http_date(asked.get("if-modified-since", ""))
        return since is not None and since // SECOND == dated // SECOND
    return _not_modified(asked, tag, dated)


def _without_conditions(asked: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in asked.items() if not name.startswith("if-")}


def _with_front_page(history: History) -> History:
    """With a page that names all others and never changes, unless the site has a front page."""
    if "/" in history.pages:
        return history
    links = "".join(f'<li><a href="{escape(p)}">{escape(p)}</a>' for p in sorted(history.pages))
    content = f"<!DOCTYPE html><title>All pages</title><ul>{links}</ul>".encode()
    first = Version(history.begin, content, history.begin - SECOND)
    return replace(history, pages={"/": (first,), **history.pages})
