"""The ASGI application of `asof serve`."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Match, Mount, Route, request_response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from asof.archive import OpenArchive
from asof.clock import Clock, Instant
from asof.errors import AsofError
from asof.web import address, wabac
from asof.web.captures import Captures
from asof.web.compare import Compare
from asof.web.compositions import Compositions
from asof.web.cover_desk import cover_desk
from asof.web.crawl_orders import CrawlOrders
from asof.web.crawls import Crawls
from asof.web.home import Home
from asof.web.machine import PACKED, Endpoint
from asof.web.mementos import Mementos
from asof.web.orders import PLACE
from asof.web.pages import Pages
from asof.web.pictures.thumbnails import PLACE as PICTURES
from asof.web.pictures.thumbnails import Ask
from asof.web.protocols import protocols
from asof.web.quality import Quality
from asof.web.questions import Questions
from asof.web.replay_origin import WORKER_TARGET, ReplayOrigin
from asof.web.replay_site import ReplaySite
from asof.web.search import Search
from asof.web.security import Gate
from asof.web.site import SiteMap

_UNNAMED = re.compile(r"[^A-Za-z0-9._~-]+")


class Replay(BaseRoute):
    """Takes what is addressed as a memento, by the raw target and not by the decoded path."""

    def __init__(self, answer: Callable[[Request], Response], *, composition: bool = False) -> None:
        self._app = request_response(answer)
        self._composition = composition

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        wanted = address.wanted(scope) if scope["type"] == "http" else None
        if wanted is not None and wanted.composition is self._composition:
            return Match.FULL, {}
        return Match.NONE, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def create_app(
    archives: Sequence[OpenArchive],
    clock: Clock,
    *,
    hosts: Iterable[str] = (),
    era: Instant | None = None,
    files: bool = False,
    scripts: ReplaySite | None = None,
    root: str = "",
    token: str = "",
    scratch: Path | None = None,
    ask: Ask | None = None,
) -> ASGIApp:
    """The pages and mementos of archives: each below a short name, one alone without.

    `hosts` are names besides localhost that the server answers to (the one it is bound to); `*`
    means any, for a server that is meant to be seen by others. `era` is when it began to serve:
    another version of this program may show the same differently. `files`: its WARC files, too.
    `scripts` is where archived scripts run; None is nowhere. `root` is what stands before all of
    its addresses. Who has the `token` may change something; without one, nobody. `scratch` is a
    folder for what all processes of a server keep beside the archives. `ask` has thumbnails
    made; without it none are.
    """
    hosts = tuple(hosts)
    own = [archive.folder.root.resolve().name for archive in archives]
    shelves = {}
    for name, short, archive in zip(own, short_names(own), archives, strict=True):
        # Folders are called what they are called; of two with one name the addresses differ.
        told = name if own.count(name) == 1 else short
        if len(archives) == 1:
            told = short = ""
        shelves[short] = Pages(archive, clock, era, told, scripts, token, scratch, ask)
    several = Library(shelves, files=files) if len(archives) > 1 else None
    places = [f"{root}/{short}{PLACE}" if short else f"{root}{PLACE}" for short in shelves]
    every = Below(root, several or _pages_of(shelves[""], files=files))
    pages = Gate(every, hosts, orders=places if token else ())
    program = wabac.installed() if scripts is not None else None
    if scripts is None or program is None:
        return pages
    replayed = ReplayOrigin(shelves, scripts, program)
    return ByPort(pages, {scripts.port: Gate(replayed, hosts, worker=WORKER_TARGET)})


class ByPort:
    """Sends a request to the application of the port that it came in by."""

    def __init__(self, app: ASGIApp, others: Mapping[int, ASGIApp]) -> None:
        self._app = app
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        port = (scope.get("server") or ("", 0))[1]
        await self._others.get(port, self._app)(scope, receive, send)


class Below:
    """All addresses below a path, as `/archive`: another server passes on what is asked there.

    It passes on the target as it came: one that takes the path off writes the rest anew, and of
    `//` and `%2F` in an archived URL nothing would be left.
    """

    def __init__(self, root: str, app: ASGIApp) -> None:
        self._root = root
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        root, app = self._root, self._app
        if scope["type"] == "http":
            address.root.set(root)  # always: a request may begin where another one ended
            address.prefix.set(root)
            target: bytes = scope["raw_path"]
            if root and target == root.encode():
                app = RedirectResponse(f"{root}/", 308)
            elif root and not target.startswith(f"{root}/".encode()):
                app = PlainTextResponse(f"The archive is below {root}/.\n", 404)
            elif root:
                cut = {"raw_path": target[len(root) :], "path": scope["path"][len(root) :]}
                scope = {**scope, **cut}
        await app(scope, receive, send)


class Library:
    """Sends a request to the archive that the first part of its path names."""

    def __init__(self, shelves: Mapping[str, Pages], *, files: bool) -> None:
        self._shelves = shelves
        self._apps = {n.encode(): _pages_of(pages, files=files) for n, pages in shelves.items()}
        first = next(iter(shelves.values()))
        self._own = _app([Route("/", self._home), Route("/-/about", first.about), _static()], first)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: ASGIApp = self._own
        if scope["type"] == "http":
            name, slash, rest = scope["raw_path"][1:].partition(b"/")
            found = self._apps.get(name)
            if found is not None:
                own = f"/{name.decode()}"
                address.prefix.set(address.root.get() + own)
                app = found if slash else RedirectResponse(f"{address.prefix.get()}/", 308)
                scope = {**scope, "raw_path": b"/" + rest, "path": scope["path"][len(own) :]}
        await app(scope, receive, send)

    def _home(self, request: Request) -> Response:
        pages = next(iter(self._shelves.values()))
        shelves = [
            (short, each.name, each.facts(each.stock.inventory()))
            for short, each in self._shelves.items()
        ]
        return pages.live("archives.html", shelves=shelves)


def short_names(folders: Sequence[str]) -> list[str]:
    """A name for each folder that can stand in an address; a number where two have the same."""
    names: list[str] = []
    for folder in folders:
        own = _UNNAMED.sub("-", folder).strip("-.") or "archive"
        taken = (own if number == 1 else f"{own}-{number}" for number in range(1, len(folders) + 1))
        names.append(next(name for name in taken if name not in names))
    return names


def _pages_of(pages: Pages, *, files: bool) -> Starlette:
    compositions, compare = Compositions(pages), Compare(pages)
    search, crawls, questions = Search(pages), Crawls(pages), Questions.of(pages)
    quality, site, captures = Quality(pages, questions), SiteMap(pages), Captures(pages)
    told: dict[str, Endpoint] = {
        "composition": compositions.json, "compare": compare.json, "search": search.json,
        "crawls": crawls.crawls, "crawl": crawls.crawl, "quality": quality.json,
        "site": site.json, "calendar": captures.calendar,
    }  # fmt: skip
    routes = [
        Route("/", Home(pages).page, middleware=PACKED),
        Route("/captures", captures.page, middleware=PACKED),
        *cover_desk(pages, questions),
        Route("/crawls", crawls.all),
        Route("/crawls/{name:rest}", crawls.one),
        *CrawlOrders(pages, crawls).routes(),
        Route("/quality", quality.page, middleware=PACKED),
        Route("/search", search.page, middleware=PACKED),
        Route("/site", site.page, middleware=PACKED),
        Route("/compare", compare.form),
        Route("/compare/{rest:rest}", compare.page),
        Route("/-/go", pages.go),
        Route("/-/about", pages.about),
        *protocols(pages, told, files=files),
        Route(f"{PICTURES}{{rest:rest}}", pages.thumbnails.one),
        _static(),
        Replay(compositions.page, composition=True),
        Replay(Mementos(pages, compositions).answer),
    ]
    return _app(routes, pages)


def _app(routes: Sequence[BaseRoute], pages: Pages) -> Starlette:
    app = Starlette(
        routes=routes,
        exception_handlers={
            AsofError: pages.error,
            HTTPStatus.NOT_FOUND: pages.not_found,
            Exception: pages.broken,
        },
    )
    app.router.redirect_slashes = False  # it knows nothing of what stands before its paths
    return app


def _static() -> Mount:
    files = StaticFiles(packages=[("asof.report", "static")])
    return Mount("/-/static", files, name="static", middleware=PACKED)
