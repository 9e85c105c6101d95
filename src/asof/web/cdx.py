"""The CDX server: `/cdx` as pywb's, `/cdx/search/cdx` as that of the Wayback Machine."""

from itertools import chain

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from asof.catalog.cdx_answer import CdxSearch, pages, written
from asof.catalog.cdx_query import PYWB, WAYBACK, CdxQuery, Dialect, cdx_query
from asof.web.machine import json_answer, refusal, streamed
from asof.web.pages import Pages

_MEDIA = {"text": "text/plain", "cdxj": "text/x-cdxj", "json": "text/x-ndjson"}


class Cdx:
    """Answers questions about which captures there are. Its methods are endpoints."""

    def __init__(self, served: Pages) -> None:
        self._listing = served.listing
        self._catalog = served.archive.catalog
        self._clock = served.clock

    def pywb(self, request: Request) -> Response:
        return self._answer(request, PYWB)

    def wayback(self, request: Request) -> Response:
        return self._answer(request, WAYBACK)

    def _answer(self, request: Request, dialect: Dialect) -> Response:
        asked: dict[str, list[str]] = {}
        for name, value in request.query_params.multi_items():
            asked.setdefault(name, []).append(value)
        query = cdx_query(asked, dialect)
        if query.wants_count:
            count = pages(self._listing, query)
            if dialect.has_arrays:
                return PlainTextResponse(f"{count['pages']}\n")
            return json_answer(count)
        lines = written(CdxSearch(self._catalog, self._listing, query, self._clock), query)
        first = next(lines, None)
        if first is None and query.output == "json":  # no line of JSON is no JSON
            return refusal(f"No captures found for: {query.url}", 404)
        media = "application/json" if _is_array(query) else _MEDIA[query.output]
        return streamed(request, chain([first or ""], lines), media)


def _is_array(query: CdxQuery) -> bool:
    return query.output == "json" and query.dialect.has_arrays
