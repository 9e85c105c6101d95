"""Replay: the memento of a URL as of a moment, rewritten to be looked at, or raw."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain

from starlette.concurrency import iterate_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from asof.catalog.memento import Memento
from asof.clock import Instant, http_date, parse_moment, stamp
from asof.model import Capture, find_header
from asof.replay.links import ReplayPlace
from asof.replay.rewrite import MAX_REWRITTEN, RewriteKind, kind_of, rewrite
from asof.replay.rewrite_html import About, about
from asof.text.kinds.media import ContentType, content_type, media_of
from asof.text.links.attribute_values import refresh_target
from asof.web import address, ranges
from asof.web.address import BELOW_BANNER, RAW, Wanted
from asof.web.kept import KeptDocuments
from asof.web.pages import Neighbours, Pages, leading
from asof.web.security import kept_headers, memento_policy, original_headers

# A decompression bomb streams through in pieces, but not for ever.
MAX_SERVED = 8 << 30
LENGTHS_KEPT = 4096
# So much is sent at once: each piece is a turn of another thread.
_AT_ONCE = 256 << 10
# As much of a page as its title and where it leads on are looked for in.
_HEAD_REACH = 64 << 10
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_VIEWED = frozenset(("document", "iframe", "frame", "embed", "object", "fencedframe"))
_VARIANTS = _VIEWED | {"style"}
# What browsers show and do not save, whatever is not markup left out.
_DISPLAYED = re.compile(
    r"text/(?!csv|calendar|v-?card|tab-|rtf).*|image/(?:png|jpeg|gif|webp|avif|bmp|x-icon|apng)"
    r"|(?:audio|video)/.*|.*[+/](?:xml|json)|application/(?:pdf|(?:java|ecma)script)"
)


class _Body(StreamingResponse):
    """An answer in pieces, of which some may not be wanted."""

    def __init__(self, pieces: Iterator[bytes], status: int) -> None:
        super().__init__(pieces, status)
        self.pieces = pieces

    def begun(self) -> Response:
        """The same, read until it ends or is long; what is short needs no pieces."""
        size, begun = 0, []
        for piece in self.pieces:
            begun.append(piece)
            size += len(piece)
            if size > _AT_ONCE:
                self.body_iterator = iterate_in_threadpool(chain(begun, self.pieces))
                return self
        response = Response(b"".join(begun), self.status_code)
        length = response.headers["content-length"]
        response.raw_headers = self.raw_headers
        response.headers.setdefault("content-length", length)
        return response


@dataclass(frozen=True, slots=True)
class _Opened:
    """A memento with the first bytes of its payload, from which all that is sent follows."""

    wanted: Wanted
    memento: Memento
    destination: str
    start: bytes
    payload: Iterator[bytes]

    @property
    def place(self) -> ReplayPlace:
        form = RAW if self.wanted.form == RAW else ""
        lead = partial(address.replay, self.wanted.stamp, form=form)
        return ReplayPlace(self.memento.capture.url, lead)

    @property
    def declared(self) -> ContentType | None:
        """What the answer said that it is, as browsers read it."""
        headers = self.memento.headers
        values = [value for name, value in headers if name.lower() == "content-type"]
        return content_type(values or (self.memento.media_type or "",))

    @property
    def type(self) -> ContentType:
        """What it is sent as: we send `nosniff`, so somebody has to look at what has no type."""
        if self.declared is not None:
            return self.declared
        if self.destination == "style":
            return ContentType("text/css")
        return ContentType(media_of(self.start, None, self.memento.capture.url))


class Mementos:
    """Answers requests for `/{stamp}/{url}`, in all forms."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._archive = pages.archive
        self._clock = pages.clock
        self._length = lru_cache(LENGTHS_KEPT)(self._counted)
        # Another version of this program may rewrite differently: what it made is not reused.
        self._era = format(pages.era, "x")
        self._kept = KeptDocuments()

    def answer(self, request: Request) -> Response:
        """The memento that the request's target names."""
        wanted = address.wanted(request.scope)
        if wanted is None:
            raise LookupError("routed here without a replay address")
        if not wanted.stamp.isdigit():
            return self._elsewhere(request, wanted)
        moment = parse_moment(wanted.stamp, self._clock.now())
        capture = self._archive.as_of(wanted.url, moment)
        if capture is None:
            return self._missing(wanted, moment)
        destination = _destination(request, wanted)
        if wanted.form == BELOW_BANNER and destination == "document":
            return leading(address.replay(wanted.stamp, wanted.url))
        # Seen and loaded are two variants: browsers validate one by the tag of the other.
        variant = destination if destination in _VARIANTS else "plain"
        tag = f'"{self._era}-{variant}-{wanted.stamp}{wanted.form}-{capture.record_id.strip("<>")}"'
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers={"etag": tag})
        opened = _open(wanted, self._archive.read(capture), destination)
        response = self._raw(opened) if wanted.form == RAW else self._shown(opened)
        if "memento-datetime" not in response.headers:
            return response  # a page of ours, about the memento
        around = self._pages.neighbours(wanted.url, capture)
        response.headers["link"] = _links(str(request.base_url), wanted, capture, around)
        response.headers["vary"] = "Sec-Fetch-Dest, Accept"
        if not isinstance(response, _Body):
            return response  # the page around it
        exact = address.exact(capture.at, capture.url, form=wanted.form)
        response.headers["content-location"] = exact
        response.headers["cache-control"] = "private, no-cache"
        response.headers["etag"] = tag
        self._cut(request, response, opened.memento)
        if request.method == "HEAD":
            response.body_iterator = iterate_in_threadpool(())
            return response
        return response.begun()

    def _elsewhere(self, request: Request, wanted: Wanted) -> Response:
        """What is asked for as of now, or as a list, has an address of its own."""
        now = self._clock.now()
        if wanted.stamp.endswith("*"):
            return leading(address.listing(wanted.url))
        if not wanted.stamp and self._archive.as_of(wanted.url, now) is None:
            return self._pages.not_found(request, LookupError(wanted.url))
        return leading(address.replay(stamp(now), wanted.url, form=wanted.form))

    def _missing(self, wanted: Wanted, moment: Instant) -> Response:
        later = next(self._pages.answers(wanted.url, since=moment), None)
        if later is None:
            return self._pages.not_captured(wanted.url)
        return self._pages.render(
            "message/not_yet.html", 404, url=wanted.url, asked=moment, first=later
        )

    def _raw(self, opened: _Opened) -> Response:
        sent = opened.declared or ContentType("application/octet-stream")
        if opened.destination in _VIEWED and "ml" in sent.media:
            # A person looks at it: show the source, for a preconnect in it no policy stops.
            sent = ContentType("text/plain", sent.charset)
        response = _describe(opened, sent, opened.payload, opened.memento.length)
        location = _location(opened.memento)
        if opened.memento.status in _REDIRECTS and (led := opened.place.refer(location)):
            response.headers["location"] = led
        return response

    def _shown(self, opened: _Opened) -> Response:
        wanted, memento, sent = opened.wanted, opened.memento, opened.type
        if memento.status in _REDIRECTS and _location(memento):
            return self._redirect(opened)
        kind = kind_of(sent.media)
        data = b"" if kind is None else _whole(opened.payload)
        if data is None:
            page = "message/too_large.html"
            return self._pages.render(page, 413, wanted=wanted, most=MAX_REWRITTEN)
        if wanted.form == "" and opened.destination == "document" and _is_page(opened):
            return self._framed(opened)
        if kind is None:
            return _describe(opened, sent, opened.payload, memento.length)
        below = wanted.form == BELOW_BANNER
        records = memento.capture.record_id, memento.source.record_id
        key = (*records, wanted, str(sent), below, address.prefix.get())
        made = partial(rewrite, data, kind, str(sent), opened.place, below=below)
        done = self._kept.get(key, made)
        sent = ContentType(sent.media, done.charset or sent.charset)
        return _describe(opened, sent, iter((done.data,)), len(done.data))

    def _framed(self, opened: _Opened) -> Response:
        """The page with the banner and, in a frame below it, the memento."""
        wanted, memento, kind = opened.wanted, opened.memento, kind_of(opened.type.media)
        said, place = About(), opened.place
        if kind in (RewriteKind.HTML, RewriteKind.XML):
            xml = kind is RewriteKind.XML
            said = about(opened.start, str(opened.type), place, xml=xml)
        refresh = refresh_target(find_header(memento.headers, "refresh") or "")
        said = About(said.title, said.refresh or place.resolve(refresh))
        boxed = _policy(opened, opened.type).startswith("sandbox")
        response = self._pages.framed(wanted, memento.capture, said, boxed=boxed)
        response.status_code = _status(memento.status)
        response.headers["memento-datetime"] = http_date(memento.capture.at)
        return response

    def _redirect(self, opened: _Opened) -> Response:
        wanted, memento, location = opened.wanted, opened.memento, _location(opened.memento)
        target = opened.place.resolve(location)
        if target is None or target == wanted.url:
            page, at = "message/only_redirect.html", memento.capture.at
            return self._pages.render(page, 404, wanted=wanted, at=at, location=location)
        response = _describe(opened, ContentType("text/plain"), iter(()), 0)
        response.headers["location"] = opened.place.refer(location) or ""
        return response

    def _cut(self, request: Request, response: _Body, memento: Memento) -> None:
        """Leave of a body what the request asks for (RFC 9110, section 14.2)."""
        wanted = ranges.asked(request.headers.get("range"))
        validator = request.headers.get("if-range", response.headers["etag"])
        if response.status_code != 200:
            return
        response.headers["accept-ranges"] = "bytes"
        if wanted is None or request.method != "GET" or validator != response.headers["etag"]:
            return
        known = response.headers.get("content-length")
        length = int(known) if known else self._length(memento.capture)
        part = ranges.satisfied(wanted, length)
        response.status_code = 206 if part else 416
        named = f"{part.start}-{part.stop - 1}" if part else "*"
        response.headers["content-range"] = f"bytes {named}/{length}"
        response.headers["content-length"] = str(len(part or ()))
        response.pieces = ranges.part(response.pieces, part) if part else iter(())

    def _counted(self, capture: Capture) -> int:
        """How long a payload is of which only decoding tells."""
        return sum(map(len, self._archive.read(capture).payload(MAX_SERVED)))


def _destination(request: Request, wanted: Wanted) -> str:
    """What the answer is for. Over plain HTTP browsers say so to this machine only."""
    said = request.headers.get("sec-fetch-dest")
    if said is None and "text/html" in request.headers.get("accept", ""):
        return "iframe" if wanted.form == BELOW_BANNER else "document"
    return said or ""


def _open(wanted: Wanted, memento: Memento, destination: str) -> _Opened:
    chunks = memento.payload(MAX_SERVED if memento.length is None else None)
    first, size = [], 0
    for chunk in chunks:
        first.append(chunk)
        size += len(chunk)
        if size >= _HEAD_REACH:
            break
    start = b"".join(first)[:_HEAD_REACH]
    return _Opened(wanted, memento, destination, start, chain(first, chunks))


def _is_page(opened: _Opened) -> bool:
    """Whether a browser shows it, and does not save it as a file."""
    saved = find_header(opened.memento.headers, "content-disposition") or ""
    attached = saved.strip().lower().startswith("attachment")
    return not attached and _DISPLAYED.fullmatch(opened.type.media) is not None


def _policy(opened: _Opened, sent: ContentType) -> str:
    return memento_policy(sent.media, opened.start, raw=opened.wanted.form == RAW)


def _describe(
    opened: _Opened, sent: ContentType, body: Iterator[bytes], length: int | None
) -> _Body:
    """The headers of a memento: what is kept of the archived ones, and RFC 7089."""
    memento = opened.memento
    response = _Body(body, _status(memento.status))
    for name, value in original_headers(memento.headers):
        response.headers.append(name, value)
    if memento.status is not None and memento.status != response.status_code:
        response.headers["x-archive-orig-status"] = str(memento.status)
    response.headers.update(dict(kept_headers(memento.headers)))
    # Never as the archived answer wrote it: of what is malformed, browsers make what they like.
    response.headers["content-type"] = str(sent)
    response.headers["content-security-policy"] = _policy(opened, sent)
    response.headers["memento-datetime"] = http_date(memento.capture.at)
    if length is not None:
        response.headers["content-length"] = str(length)
    return response


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
        where = origin.rstrip("/") + address.exact(at, wanted.url, form=wanted.form)
        relation = " ".join([*names, "memento"])
        links.append(f'<{where}>; rel="{relation}"; datetime="{http_date(at)}"')
    return ", ".join(links)


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


def _whole(payload: Iterator[bytes]) -> bytes | None:
    """All of a payload, or None when it is too large to be rewritten."""
    parts, size = [], 0
    for chunk in payload:
        size += len(chunk)
        if size > MAX_REWRITTEN:
            return None
        parts.append(chunk)
    return b"".join(parts)
