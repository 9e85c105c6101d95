"""How good a crawl is: the page of `asof quality --html` among ours, and its JSON."""

import re
from collections.abc import Iterator
from typing import BinaryIO

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from asof.clock import iso, stamp
from asof.coherence.certificate import Choice
from asof.coherence.quality import chosen
from asof.errors import AsofError, NotCaptured, UsageError
from asof.web import address
from asof.web.home import CRAWLS_SHOWN
from asof.web.machine import Pieces
from asof.web.pages import Pages, leading
from asof.web.questions import Answered, Questions, Waiting
from asof.web.security import STYLED_POLICY

_AT_ONCE = 256 << 10
_CRAWLS = 20  # in one question
_MAIN = re.compile(r'id="main">(.*)<[/]main>', re.DOTALL)
_AGAIN = 2  # seconds until a page that waits is asked for again


class Quality:
    """Its public methods are endpoints; they run in a thread, and what they ask in a child."""

    def __init__(self, pages: Pages, questions: Questions) -> None:
        self._pages = pages
        self._questions = questions

    def page(self, request: Request) -> Response:
        query = request.query_params
        asked = {name: query.get(name, "").strip() for name in ("crawl", "prefix", "at")}
        problem: AsofError | None = None
        found: Answered | Waiting | None = None
        status = 200
        try:
            choice = self._choice(request)
            if asked["at"] == "now" and choice.reference is not None:  # a question that stays
                return leading(address.quality({**asked, "at": stamp(choice.reference)}), 303)
            found = self._ask(choice, page=True)
        except (NotCaptured, UsageError) as error:  # it stays in the form, to be mended
            problem, status = error, 400 if isinstance(error, UsageError) else 404
            if not self._pages.archive.crawls() and not any(asked.values()):
                status = 200  # that there is nothing to say is an answer
        crawls = [crawl.id for crawl in self._pages.archive.crawls()]
        response = self._pages.render(
            "quality_live.html", status, policy=STYLED_POLICY, asked=asked,
            offered=crawls[: -CRAWLS_SHOWN - 1 : -1],
            problem=problem and self._pages.inside(str(problem)),
            waits=found.said if isinstance(found, Waiting) else "",
            report=_main(found.text()) if isinstance(found, Answered) else "",
            measured=found.at if isinstance(found, Answered) else None,
            json=f"{address.prefix.get()}/-/api/quality?{request.url.query}".rstrip("?"),
        )  # fmt: skip
        if isinstance(found, Waiting):
            response.headers["refresh"] = str(_AGAIN)
        return response

    def json(self, request: Request) -> Response:
        found = self._ask(self._choice(request), page=False)
        if isinstance(found, Waiting):
            raise found.refusal()
        if request.method == "HEAD":
            found.file.close()
            return Response(media_type="application/json")
        headers = {"cache-control": "no-cache"}
        return Pieces(_pieces(found.file), 200, headers, "application/json")

    def _choice(self, request: Request) -> Choice:
        query = request.query_params
        crawls = [name for each in query.getlist("crawl") if (name := each.strip())]
        prefix, at = (query.get(name, "").strip() or None for name in ("prefix", "at"))
        if len(crawls) > _CRAWLS or (prefix is not None and not prefix.isprintable()):
            raise UsageError("That cannot be asked.", hint=f"At most {_CRAWLS} crawls, or a URL.")
        choice = chosen(self._pages.archive, crawls, prefix, at)
        if prefix is not None and not self._pages.listing.urls(prefix, limit=1):
            raise NotCaptured(
                "Nothing was captured that coherence could be measured of.",
                hint="Choose another crawl or part of the web.",
            )
        return choice

    def _ask(self, choice: Choice, *, page: bool) -> Answered | Waiting:
        words = [*_words(choice)] if page else ["--json", *_words(choice)]
        mark = self._pages.listing.committed()
        return self._questions.ask(["quality", *words], mark, page=page)


def _words(choice: Choice) -> Iterator[str]:
    """A choice as the terminal is told; no value can be taken for an option."""
    if choice.prefix is not None:
        yield f"--url={choice.prefix}"
    if choice.reference is not None:
        yield f"--at={iso(choice.reference)}"
    yield "--"
    yield from choice.crawls


def _main(text: str) -> Markup:
    """The report of a page that is a file, without the frame that files have."""
    found = _MAIN.search(text)
    assert found is not None
    return Markup(found[1])  # rendered from a template of ours


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while piece := file.read(_AT_ONCE):
            yield piece
