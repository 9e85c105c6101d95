"""The synthetic newspaper with answers that were tampered with, and the audits that may show it.

Put `tests` on the path and import it. What the site honestly would have said is always known:
`ChangingWeb.truth` (tests/changing_web.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from zlib import crc32

from asof.clock import Instant, http_date, parse_http_date
from asof.model import Headers
from asof.testing import Response, SiteSpec, SyntheticSite
from support.changing_web import Crawled


@dataclass(frozen=True)
class Question:
    """What was asked when, and the whole honest answer to it.

    Of a server that counts: the running `number` of the request, and its `place` in a round over
    all pages, 0 to 1.
    """

    path: str
    asked: dict[str, str]
    at: Instant
    whole: Response
    number: int = 0
    place: float = 0.0

    @property
    def is_conditional(self) -> bool:
        return "if-none-match" in self.asked or "if-modified-since" in self.asked

    def chance(self, purpose: str) -> float:
        """A number from 0 to 1, by path and moment."""
        return crc32(f"{purpose} {self.path} {self.at}".encode()) / 0xFFFFFFFF


Lie = Callable[[Question, Response], Response]


class LyingSite(SyntheticSite):
    """A site whose answers are tampered with, one lie after the other."""

    def __init__(self, spec: SiteSpec, *lies: Lie) -> None:
        super().__init__(spec)
        self._lies = lies

    def respond(
        self, method: str, path: str, headers: Headers, t: Instant, *, host: int = 0
    ) -> Response:
        response = super().respond(method, path, headers, t, host=host)
        if response.status not in (200, 304):
            return response
        whole = super().respond(method, path, (), t, host=host)
        question = Question(path, {k.lower(): v for k, v in headers}, t, whole)
        for lie in self._lies:
            response = lie(question, response)
        return response


def with_header(response: Response, name: str, value: str | None) -> Response:
    kept = tuple(field for field in response.headers if field[0] != name)
    return replace(response, headers=kept if value is None else (*kept, (name, value)))


def dated(when: Callable[[Question, Instant | None], Instant]) -> Lie:
    """Last-Modified as told, by the question and the true date; 304 by ETag as before."""

    def lie(question: Question, response: Response) -> Response:
        true = parse_http_date(response.header("Last-Modified") or "")
        return with_header(response, "Last-Modified", http_date(when(question, true)))

    return lie


def date_off(by: Callable[[Question], Instant], *names: str) -> Lie:
    """A clock that is wrong by so much, in these headers."""

    def lie(question: Question, response: Response) -> Response:
        for name in names:
            true = parse_http_date(response.header(name) or "")
            if true is not None:
                response = with_header(response, name, http_date(true + by(question)))
        return response

    return lie


def random_tags(question: Question, response: Response) -> Response:
    """A new ETag in each answer, so that no condition ever holds."""
    return with_header(question.whole, "ETag", f'"{question.chance("tag")}"')


def one_tag(question: Question, response: Response) -> Response:
    """The same strong ETag whatever the content, and what follows from it."""
    tag = f'"{crc32(question.path.encode()):x}"'
    if question.asked.get("if-none-match") == tag:
        return with_header(replace(response, status=304, body=b""), "ETag", tag)
    return with_header(question.whole, "ETag", tag)


def not_modified(share: float) -> Lie:
    """304 for that share of conditional requests, whatever has changed; as a stale cache would."""
    return not_modified_where(lambda question: question.chance("304") < share)


def not_modified_where(lies: Callable[[Question], bool]) -> Lie:
    """304 to these conditional requests, with the validators that were told."""

    def lie(question: Question, response: Response) -> Response:
        if question.is_conditional and lies(question):
            told = question.asked.get("if-none-match")
            response = with_header(replace(response, status=304, body=b""), "ETag", told)
            return with_header(response, "Last-Modified", question.asked.get("if-modified-since"))
        return response

    return lie


def no_dates(question: Question, response: Response) -> Response:
    return with_header(response, "Last-Modified", None)


def no_clock(question: Question, response: Response) -> Response:
    return with_header(response, "Date", None)


def advertisement(question: Question, response: Response) -> Response:
    """Other bytes on every request, under the ETag and the date of the article."""
    if response.status != 200 or b"</body>" not in response.body:
        return response
    number = question.chance("advertisement")
    ad = f'<script>show("{number}")</script><!-- served to {number} --></body>'.encode()
    return replace(response, body=response.body.replace(b"</body>", ad))


# -- audits ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Audit:
    """A 304 that was checked at once: of which page, and what it spoke of was how old by then."""

    url: str
    since: Instant
    until: Instant


def audits(crawled: Crawled) -> list[Audit]:
    found: list[Audit] = []
    visited: dict[str, Instant] = {}
    for before, after in pairwise(crawled.log):
        visited.setdefault(before.url, before.at)
        if before.url == after.url and before.status == 304:
            assert not after.conditional
            found.append(Audit(after.url, visited[after.url], after.at))
    return found
