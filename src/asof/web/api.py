"""What the pages show, as JSON: the shapes of `--json` on the terminal (`openapi.json`)."""

import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from importlib.resources import files
from itertools import islice
from pathlib import PurePath
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from asof.catalog.listing import MANY, Known
from asof.change.arrivals import Arrival, arrivals
from asof.clock import Instant, iso
from asof.cover.kept.saved_covers import saved_covers
from asof.crawl.summary import crawl_json
from asof.crawl.watch import current_summary
from asof.errors import NotCaptured
from asof.report.json_shapes import (
    capture_json,
    categories,
    cover_json,
    holding_json,
    totals_json,
    validity_json,
)
from asof.web import address
from asof.web.machine import asked_url, json_answer, number
from asof.web.pages import Pages, whole

# Rows of an answer, without and with `limit`.
USUAL = 200
MOST = 1000
CRAWLS = 100
# Pieces of evidence that are told of one content: of a page that never changed there are as many
# as captures.
EVIDENCE = 100
# What is not known of a host while a large archive is counted for the first time.
UNCOUNTED: dict[str, object] = dict.fromkeys(("urls", "first", "last", "months"))


class Api:
    """Answers below `/-/api/`. Its public methods are endpoints."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._archive = pages.archive

    @cached_property
    def _description(self) -> Mapping[str, object]:
        text = files("asof.web").joinpath("openapi.json").read_text(encoding="utf-8")
        found: Mapping[str, object] = json.loads(text)
        return found

    def openapi(self, request: Request) -> Response:
        servers = [{"url": f"{str(request.base_url).rstrip('/')}{address.prefix.get()}"}]
        return json_answer({**self._description, "servers": servers})

    def archive(self, request: Request) -> Response:
        """How much there is, and the newest crawls."""
        facts = self._pages.facts(self._pages.stock.inventory())
        crawls = self._archive.crawls()[-CRAWLS:]
        told = {
            "archive": self._archive.folder.root.resolve().name,
            **totals_json(facts.totals),
            "captures": facts.captures,
            "bytes": facts.stored,
            "segments": facts.files,
        }
        summed = [crawl_json(each, current_summary(self._archive, each)) for each in crawls]
        return json_answer({**told, "crawls": summed})

    def hosts(self, request: Request) -> Response:
        """Hosts by their keys, with what is held of each by month once that is counted."""
        limit, after = _limit(request), request.query_params.get("after", "")
        inventory = self._pages.stock.inventory(after, limit + 1)
        if inventory is None:
            hosts = self._pages.listing.hosts(after, limit + 1)
            told = [{**asdict(host), "captures": min(host.captures, MANY),
                     "more": host.captures > MANY} | UNCOUNTED for host in hosts]  # fmt: skip
        else:
            told = [*map(holding_json, inventory.holdings)]
        end = str(told[limit - 1]["key"]) if len(told) > limit else None
        return json_answer({"hosts": told[:limit], "next": _next(request, end)})

    def urls(self, request: Request) -> Response:
        """The URLs under a prefix, with the first and the last capture of each."""
        limit, asked = _limit(request), request.query_params
        prefix = asked.get("prefix", "").strip()
        found = self._pages.listing.urls(prefix, asked.get("after", ""), limit + 1)
        shown = whole(found, limit, lambda known: known.key)
        after = shown[-1].key if len(found) > len(shown) else None
        return json_answer({"urls": [*map(_known_json, shown)], "next": _next(request, after)})

    def captures(self, request: Request) -> Response:
        """The captures of a URL by time."""
        limit, asked = _limit(request), request.query_params
        url = asked_url(request)
        since: Instant | str | None = asked.get("from") or None
        if after := asked.get("after", ""):
            since = self._archive.moment(after) + 1
        found = self._archive.captures(url=url, since=since, until=asked.get("to") or None)
        rows = list(islice(found, limit + 1))
        shown = whole(rows, limit, lambda capture: capture.at)
        if not shown and not after and next(self._archive.captures(url=url), None) is None:
            raise NotCaptured(f"{url} is not in this archive.")
        with categories(self._archive.folder, lambda line: None) as judged:
            told = [{**capture_json(each), "change": judged(each)} for each in shown]
        end = iso(shown[-1].at) if len(rows) > len(shown) else None
        return json_answer({"url": url, "captures": told, "next": _next(request, end)})

    def history(self, request: Request) -> Response:
        """The contents that a URL has had, and how far each is proven."""
        limit, url = _limit(request), asked_url(request)
        found = arrivals(self._archive.folder.texts, self._pages.history(url))
        if not found:
            raise NotCaptured(f"{url} is not in this archive.")
        if after := request.query_params.get("after", ""):
            start = self._archive.moment(after)
            found = found[bisect_right(found, start, key=_since) :]
        shown = whole(found[: limit + 1], limit, _since)
        end = iso(_since(shown[-1])) if len(found) > len(shown) else None
        told = [*map(_validity_json, shown)]
        return json_answer({"url": url, "validity": told, "next": _next(request, end)})

    def covers(self, request: Request) -> Response:
        """Saved covers; of a table that one was made from, its name and not where it lies."""
        told = [cover_json(*each) for each in saved_covers(self._archive.folder)]
        for cover in told:
            if source := cover.get("from"):
                cover["from"] = PurePath(str(source)).name
        return json_answer({"covers": told})


def _limit(request: Request) -> int:
    return number("limit", request.query_params.get("limit", f"{USUAL}"), 1, MOST)


def _next(request: Request, after: str | None) -> str | None:
    """The address of what follows, None where that is nothing."""
    if after is None:
        return None
    asked = {**dict(request.query_params), "after": after}
    return f"{address.prefix.get()}{request.url.path}?{urlencode(asked)}"


def _since(arrival: Arrival) -> Instant:
    return arrival.validity.since


def _validity_json(arrival: Arrival) -> dict[str, object]:
    """As everywhere, but of very much evidence the first and the last."""
    told, half, count = validity_json(arrival), EVIDENCE // 2, len(arrival.validity.evidence)
    if isinstance(evidence := told["evidence"], list) and count > EVIDENCE:
        told |= {"evidence": evidence[:half] + evidence[-half:], "left_out": count - EVIDENCE}
    return told


def _known_json(known: Known) -> dict[str, object]:
    counted = {"captures": min(known.captures, MANY), "more": known.captures > MANY}
    return {**asdict(known), "first": iso(known.first), "last": iso(known.last), **counted}
