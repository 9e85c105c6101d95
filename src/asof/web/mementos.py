"""Replay: the memento of a URL as of a moment, rewritten to be looked at, or raw."""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain

from starlette.concurrency import iterate_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from asof.catalog.memento import Memento
from asof.clock import Instant, http_date, parse_moment
from asof.model import Capture, find_header
from asof.replay.links import ReplayPlace
from asof.replay.rewrite import MAX_REWRITTEN, kind_of, rewrite
from asof.text.encoding.labels import encoding_named
from asof.text.encoding.prescan import declared_label
from asof.text.kinds.media import media_of
from asof.text.links.attribute_values import refresh as refresh_references
from asof.text.links.attribute_values import refresh_target, replaced
from asof.web import address
from asof.web.address import Wanted
from asof.web.kept import KeptDocuments
from asof.web.pages import Neighbours, Pages
from asof.web.security import PDF_POLICY, RAW_POLICY, REPLAY_POLICY, field_value, original_headers

# A decompression bomb streams through in pieces, but not for ever.
MAX_SERVED = 8 << 30
_AT_ONCE = 256 << 10
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_FRAMED = frozenset(("iframe", "frame", "embed", "object", "fencedframe"))
_VIEWED = _FRAMED | {"document"}
_KEPT = ("content-language", "content-disposition")
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+", re.ASCII)


class Mementos:
    """Answers requests for `/{stamp}/{url}` and `/{stamp}id_/{url}`."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._archive = pages.archive
        self._clock = pages.clock
        # Another version of this program may rewrite differently: what it made is not reused.
        self._era = format(pages.era, "x")
        self._kept = KeptDocuments()

    def answer(self, request: Request) -> Response:
        """The memento that the request's target names."""
        wanted = address.wanted(request.scope)
        if wanted is None:
            raise LookupError("routed here without a replay address")
        moment = parse_moment(wanted.stamp, self._clock.now())
        capture = self._archive.as_of(wanted.url, moment)
        if capture is None:
            return self._missing(wanted, moment)
        destination = request.headers.get("sec-fetch-dest", "")
        # With and without banner are two variants: browsers validate one by the tag of the other.
        variant = destination if destination in _VIEWED else "plain"
        tag = f'"{self._era}-{variant}-{wanted.stamp}-{capture.record_id.strip("<>")}"'
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers={"etag": tag})
        memento = self._archive.read(capture)
        make = self._raw if wanted.raw else self._shown
        response = make(wanted, memento, destination)
        if "memento-datetime" not in response.headers:
            return response  # a page of ours, about the memento
        response.headers["etag"] = tag
        response.headers["cache-control"] = "private, no-cache"
        exact = address.exact(capture.at, capture.url, raw=wanted.raw)
        response.headers["content-location"] = exact
        around = self._pages.neighbours(wanted.url, capture)
        response.headers["link"] = _links(str(request.base_url), wanted, capture, around)
        if request.method == "HEAD" and isinstance(response, StreamingResponse):
            response.body_iterator = iterate_in_threadpool(())
        return response

    def _missing(self, wanted: Wanted, moment: Instant) -> Response:
        later = next(self._pages.answers(wanted.url, since=moment), None)
        if later is None:
            return self._pages.not_captured(wanted.url)
        return self._pages.render(
            "message/not_yet.html", 404, url=wanted.url, asked=moment, first=later
        )

    def _raw(self, wanted: Wanted, memento: Memento, destination: str) -> Response:
        response = _sent(memento.payload(MAX_SERVED), memento.status)
        raw = partial(address.replay, wanted.stamp, raw=True)
        place = ReplayPlace(memento.capture.url, raw)
        location = place.refer(_location(memento)) if memento.status in _REDIRECTS else None
        if location is not None:
            response.headers["location"] = location
        declared = find_header(memento.headers, "content-type") or memento.media_type
        declared = declared or "application/octet-stream"
        response.headers["vary"] = "Sec-Fetch-Dest"
        if destination in _VIEWED and "ml" in declared:
            # A person looks at it: show the source, for a preconnect in it no policy stops.
            charset = encoding_named(declared_label(declared) or "")
            declared = f"text/plain; charset={charset}" if charset else "text/plain"
        _describe(response, memento, declared, RAW_POLICY)
        return response

    def _shown(self, wanted: Wanted, memento: Memento, destination: str) -> Response:
        place = ReplayPlace(memento.capture.url, partial(address.replay, wanted.stamp))
        if memento.status in _REDIRECTS and _location(memento):
            return self._redirect(wanted, memento, place)
        chunks = memento.payload(MAX_SERVED)
        first = next(filter(None, chunks), b"")
        declared, media = _declared(memento, first, destination)
        kind, payload = kind_of(media), chain([first], chunks)
        if kind is None:
            response = _sent(payload, memento.status)
            _describe(response, memento, declared, REPLAY_POLICY)
            return response
        data = _whole(payload)
        if data is None:
            page = "message/too_large.html"
            return self._pages.render(page, 413, wanted=wanted, most=MAX_REWRITTEN)
        refresh = find_header(memento.headers, "refresh") or ""
        onward = place.resolve(refresh_target(refresh))

        def banner(own_onward: str | None) -> str:
            if destination in _FRAMED:
                return ""
            source = address.banner(wanted, own_onward or onward)
            return self._pages.text("above.html", source=source)

        records = memento.capture.record_id, memento.source.record_id
        key = (*records, wanted, declared, destination in _FRAMED, address.prefix.get())
        made = partial(rewrite, data, kind, declared, place, banner=banner)
        done = self._kept.get(key, made)
        if done.charset is not None:
            declared = f"{media}; charset={done.charset}"
        response = Response(done.data, _status(memento.status), {"vary": "Sec-Fetch-Dest"})
        _describe(response, memento, declared, REPLAY_POLICY)
        rewritten = replaced(refresh, refresh_references(refresh), place.refer)
        if rewritten != refresh:
            response.headers["refresh"] = field_value(rewritten)
        return response

    def _redirect(self, wanted: Wanted, memento: Memento, place: ReplayPlace) -> Response:
        target = place.resolve(_location(memento))
        if target is None or target == wanted.url:
            page, at, location = (
                "message/only_redirect.html",
                memento.capture.at,
                _location(memento),
            )
            return self._pages.render(page, 404, wanted=wanted, at=at, location=location)
        response = Response(status_code=_status(memento.status))
        response.headers["location"] = place.refer(_location(memento)) or ""
        _describe(response, memento, "text/plain", REPLAY_POLICY)
        return response


def _describe(response: Response, memento: Memento, content_type: str, policy: str) -> None:
    """The headers of a memento: what is kept of the archived ones, and RFC 7089."""
    for name, value in original_headers(memento.headers):
        response.headers.append(name, value)
    if memento.status is not None and memento.status != response.status_code:
        response.headers["x-archive-orig-status"] = str(memento.status)
    for name in _KEPT:
        kept = find_header(memento.headers, name)
        if kept is not None:
            response.headers[name] = field_value(kept)
    response.headers["content-type"] = field_value(content_type)
    # Browsers show no PDF in a sandbox; it is a plain file to them, and nosniff keeps it one.
    is_pdf = content_type.partition(";")[0].strip().lower() == "application/pdf"
    response.headers["content-security-policy"] = PDF_POLICY if is_pdf else policy
    response.headers["memento-datetime"] = http_date(memento.capture.at)


def _links(origin: str, wanted: Wanted, capture: Capture, around: Neighbours) -> str:
    """The Link header (RFC 7089 section 2.2)."""
    relations: dict[int, list[str]] = {capture.at: []}
    for relation, other in (
        ("first", around.first),
        ("prev", around.previous),
        ("next", around.next),
        ("last", around.last),
    ):
        if other is not None:
            relations.setdefault(other.at, []).append(relation)
    links = [f'<{address.written(wanted.url)}>; rel="original"']
    for at, names in sorted(relations.items()):
        where = origin.rstrip("/") + address.exact(at, wanted.url, raw=wanted.raw)
        relation = " ".join([*names, "memento"])
        links.append(f'<{where}>; rel="{relation}"; datetime="{http_date(at)}"')
    return ", ".join(links)


def _sent(payload: Iterator[bytes], status: int | None) -> Response:
    """A payload as it is. Only what is long is sent in pieces: each is a turn of another thread."""
    size, begun = 0, []
    for chunk in payload:
        begun.append(chunk)
        size += len(chunk)
        if size > _AT_ONCE:
            return StreamingResponse(chain(begun, payload), _status(status))
    return Response(b"".join(begun), _status(status))


def _status(status: int | None) -> int:
    """The archived status, where it can be sent as the answer to a plain request.

    204 and 205 would leave the reader where he was, 206 is an answer to a question not asked, 304
    would send the browser to its cache and 407 to the password of a proxy.
    """
    if status is None or not 200 <= status <= 599:
        return 200
    return {204: 200, 205: 200, 206: 200, 304: 200, 407: 401}.get(status, status)


def _location(memento: Memento) -> str:
    """Where a redirect leads; servers write UTF-8 there, whatever RFC 9110 says."""
    value = find_header(memento.headers, "location") or ""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def _declared(memento: Memento, start: bytes, destination: str) -> tuple[str, str]:
    """The Content-Type to send, and the media type in it."""
    declared = find_header(memento.headers, "content-type") or memento.media_type or ""
    media = declared.partition(";")[0].strip().lower()
    if _MEDIA_TYPE.fullmatch(media):
        return declared, media
    # We send `nosniff`, so somebody has to look.
    seen = media_of(start, None, memento.capture.url)
    media = "text/css" if destination == "style" else seen
    return media, media


def _whole(payload: Iterable[bytes]) -> bytes | None:
    """All of a payload, or None when it is too large to be rewritten."""
    parts, size = [], 0
    for chunk in payload:
        size += len(chunk)
        if size > MAX_REWRITTEN:
            return None
        parts.append(chunk)
    return b"".join(parts)
