"""The ASGI application of `asof serve`."""

from collections.abc import Iterable
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Match, Mount, Route, request_response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from asof.archive import OpenArchive
from asof.clock import Clock
from asof.errors import AsofError
from asof.web.address import wanted
from asof.web.covers import Covers
from asof.web.mementos import Mementos
from asof.web.pages import Pages
from asof.web.security import Gate


class Replay(BaseRoute):
    """Takes what is addressed as a memento, by the raw target and not by the decoded path."""

    def __init__(self, mementos: Mementos) -> None:
        self._app = request_response(mementos.answer)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] == "http" and wanted(scope) is not None:
            return Match.FULL, {}
        return Match.NONE, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def create_app(archive: OpenArchive, clock: Clock, *, hosts: Iterable[str] = ()) -> Starlette:
    """The pages and mementos of an archive.

    `hosts` are names besides localhost that the server answers to (the one it is bound to); `*`
    means any, for a server that is meant to be seen by others.
    """
    pages = Pages(archive, clock)
    covers = Covers(pages)
    return Starlette(
        routes=[
            Route("/", pages.home),
            Route("/captures", pages.captures),
            Route("/covers", covers.all),
            Route("/covers/{name}", covers.one),
            Route("/-/go", pages.go),
            Mount("/-/static", StaticFiles(packages=[("asof.report", "static")]), name="static"),
            Replay(Mementos(pages)),
        ],
        middleware=[Middleware(Gate, hosts=tuple(hosts))],
        exception_handlers={AsofError: pages.error, HTTPStatus.NOT_FOUND: pages.not_found},
    )
