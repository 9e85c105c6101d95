"""The ASGI application of `asof serve`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Match, Mount, Route, request_response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from asof.archive import OpenArchive
from asof.clock import Clock, Instant
from asof.errors import AsofError
from asof.web import address
from asof.web.covers import Covers
from asof.web.mementos import Mementos
from asof.web.pages import Pages
from asof.web.security import Gate

_UNNAMED = re.compile(r"[^A-Za-z0-9._~-]+")


class Replay(BaseRoute):
    """Takes what is addressed as a memento, by the raw target and not by the decoded path."""

    def __init__(self, mementos: Mementos) -> None:
        self._app = request_response(mementos.answer)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] == "http" and address.wanted(scope) is not None:
            return Match.FULL, {}
        return Match.NONE, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def create_app(
    archive: OpenArchive, clock: Clock, *, hosts: Iterable[str] = (), era: Instant | None = None
) -> ASGIApp:
    """The pages and mementos of an archive.

    `hosts` are names besides localhost that the server answers to (the one it is bound to); `*`
    means any, for a server that is meant to be seen by others. `era` is when it began to serve:
    another version of this program may show the same differently.
    """
    return Gate(_pages_of(Pages(archive, clock, era)), hosts)


def create_library(
    archives: Sequence[OpenArchive], clock: Clock, *, hosts: Iterable[str] = (), era: Instant
) -> ASGIApp:
    """Several archives, each below a short name; one alone is addressed without."""
    if len(archives) == 1:
        return create_app(archives[0], clock, hosts=hosts, era=era)
    names = short_names([archive.folder.root for archive in archives])
    shelves = dict(zip(names, (Pages(each, clock, era) for each in archives), strict=True))
    return Gate(Library(shelves), hosts)


class Library:
    """Sends a request to the archive that the first part of its path names."""

    def __init__(self, shelves: Mapping[str, Pages]) -> None:
        self._shelves = shelves
        self._apps = {name.encode(): _pages_of(pages) for name, pages in shelves.items()}
        for app in self._apps.values():
            app.router.redirect_slashes = False  # it knows nothing of the name before its paths
        first = next(iter(shelves.values()))
        self._own = _app([Route("/", self._home), _static()], first)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: ASGIApp = self._own
        if scope["type"] == "http":
            name, slash, rest = scope["raw_path"][1:].partition(b"/")
            found = self._apps.get(name)
            prefix = f"/{name.decode()}" if found is not None else ""
            address.prefix.set(prefix)  # always: a request may begin where another one ended
            if found is not None:
                app = found if slash else RedirectResponse(f"{prefix}/", 308)
                scope = {**scope, "raw_path": b"/" + rest, "path": scope["path"][len(prefix) :]}
        await app(scope, receive, send)

    def _home(self, request: Request) -> Response:
        pages = next(iter(self._shelves.values()))
        shelves = [(name, each.facts()) for name, each in self._shelves.items()]
        return pages.render("archives.html", shelves=shelves)


def short_names(folders: Sequence[Path]) -> list[str]:
    """A name for each folder that can stand in an address; a number where two have the same."""
    names: list[str] = []
    for folder in folders:
        own = _UNNAMED.sub("-", folder.resolve().name).strip("-.") or "archive"
        taken = (own if number == 1 else f"{own}-{number}" for number in range(1, len(folders) + 1))
        names.append(next(name for name in taken if name not in names))
    return names


def _pages_of(pages: Pages) -> Starlette:
    covers = Covers(pages)
    routes = [
        Route("/", pages.home),
        Route("/captures", pages.captures),
        Route("/covers", covers.all),
        Route("/covers/{name}", covers.one),
        Route("/-/go", pages.go),
        _static(),
        Replay(Mementos(pages)),
    ]
    return _app(routes, pages)


def _app(routes: Sequence[BaseRoute], pages: Pages) -> Starlette:
    return Starlette(
        routes=routes,
        exception_handlers={
            AsofError: pages.error,
            HTTPStatus.NOT_FOUND: pages.not_found,
            Exception: pages.broken,
        },
    )


def _static() -> Mount:
    return Mount("/-/static", StaticFiles(packages=[("asof.report", "static")]), name="static")
