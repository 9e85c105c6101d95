"""Where programs ask: Memento, the CDX server, the JSON API and, if wanted, the WARC files."""

from collections.abc import Iterator, Mapping
from functools import partial

from starlette.routing import BaseRoute

from asof.web.api import Api
from asof.web.cdx import Cdx
from asof.web.machine import Endpoint, route
from asof.web.pages import Pages
from asof.web.timegate import TimeGate
from asof.web.warc_files import WarcFiles


def protocols(pages: Pages, told: Mapping[str, Endpoint], *, files: bool) -> Iterator[BaseRoute]:
    """The addresses of one archive that are for programs; `openapi.json` describes each.

    `told` are what pages tell programs as well, by the names below `/-/api/`.
    """
    answered = partial(route, pages.inside)
    gate, cdx, api = TimeGate(pages), Cdx(pages), Api(pages)
    yield answered("/timegate/{url:rest}", gate.gate, packed=False)
    yield answered("/timemap/{kind}/{url:rest}", gate.map)
    yield answered("/cdx", cdx.pywb)
    yield answered("/cdx/", cdx.pywb)
    yield answered("/cdx/search/cdx", cdx.wayback)
    yield answered("/-/openapi.json", api.openapi)
    for one in (api.archive, api.hosts, api.urls, api.captures, api.history, api.covers):
        yield answered(f"/-/api/{one.__name__}", one)
    for name, endpoint in told.items():
        yield answered(f"/-/api/{name}", endpoint)
    if files:
        yield answered("/-/warc/{file:rest}", WarcFiles(pages).one, packed=False)
