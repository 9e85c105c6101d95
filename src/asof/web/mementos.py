"""Replay: the memento of a URL as of a moment, rewritten to be looked at, or raw."""

import re
from collections.abc import Callable, Iterator
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from asof.clock import Instant, http_date, parse_moment, stamp
from asof.model import Capture, find_header
from asof.replay.choose import Choice
from asof.replay.rewrite import (
    MAX_REWRITTEN,
    RewriteKind,
    Rewritten,
    is_xml,
    kind_of,
    rewrite,
    rewrite_xml,
)
from asof.replay.rewrite_html import About, about
from asof.text.kinds.media import ContentType
from asof.text.links.attribute_values import refresh_target
from asof.web import address
from asof.web.address import BELOW_BANNER, RAW, STILL, Wanted
from asof.web.compositions import Compositions, counts_header, verdict_header
from asof.web.kept import KeptDocuments
from asof.web.opened import (
    PAGES,
    REDIRECTS,
    Body,
    Opened,
    Parts,
    lengths,
    location_of,
    open_memento,
    status_of,
)
from asof.web.pages import Framed, Pages, leading
from asof.web.relations import link_header
from asof.web.replay_site import SCRIPTED_TYPES, Scripted, scripted
from asof.web.security import OWN_CONNECTIONS, kept_headers, memento_policy, original_headers

_FRAMED = frozenset(("", STILL))
_VIEWED = frozenset(("document", "iframe", "frame", "embed", "object", "fencedframe"))
_VARIANTS = _VIEWED | {"style"}
# What browsers show and do not save, whatever is not markup left out.
_DISPLAYED = re.compile(
    r"text/(?!csv|calendar|v-?card|tab-|rtf).*|image/(?:png|jpeg|gif|webp|avif|bmp|x-icon|apng)"
    r"|(?:audio|video)/.*|.*[+/](?:xml|json)|application/(?:pdf|(?:java|ecma)script)"
)


class Mementos:
    """Answers requests for `/{stamp}/{url}`, in all forms."""

    def __init__(self, pages: Pages, compositions: Compositions) -> None:
        self._pages = pages
        self._compositions = compositions
        self._archive = pages.archive
        self._clock = pages.clock
        self._length, self._parts = lengths(self._archive), Parts(self._archive)
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
        choice = self._choice(request, wanted, moment)
        capture = choice.capture
        if capture is None:
            response = self._missing(wanted, choice)
            response.headers["asof-verdict"] = verdict_header(choice)
            return response
        destination = _destination(request, wanted)
        if wanted.form == BELOW_BANNER and destination == "document":
            return leading(address.replay(wanted.stamp, wanted.url, policy=wanted.policy))
        # Seen and loaded are two variants: browsers validate one by the tag of the other.
        variant = destination if destination in _VARIANTS else "plain"
        shown = wanted.stamp if choice.at == moment else stamp(choice.at)
        chosen = f"{wanted.policy}-{wanted.stamp}{wanted.form}-{shown}-{choice.verdict}"
        tag = f'"{self._era}-{variant}-{chosen}-{capture.record_id.strip("<>")}"'
        said = {"etag": tag, "asof-verdict": verdict_header(choice)}
        succeeds = 200 <= (capture.status or 200) <= 299  # else RFC 9110, section 13.2.1
        if succeeds and tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=said)
        opened = open_memento(wanted, choice, shown, self._archive.read(capture), destination)
        response = self._raw(opened) if wanted.form == RAW else self._shown(request, opened)
        response.headers["asof-verdict"] = said["asof-verdict"]
        if "memento-datetime" not in response.headers:
            return response  # a page of ours, about the memento
        response.headers["link"] = self._relations(request, wanted, capture)
        response.headers["vary"] = "Sec-Fetch-Dest, Accept"
        if not isinstance(response, Body):
            return response  # the page around it
        exact = address.exact(capture.at, capture.url, form=wanted.form, policy=wanted.policy)
        response.headers["content-location"] = exact
        response.headers["cache-control"] = "private, no-cache"
        response.headers["etag"] = tag
        return response.answer(request, partial(self._length, capture))

    def _choice(self, request: Request, wanted: Wanted, moment: Instant) -> Choice:
        """A page as of when it is known; a part of one as of the very moment, its page's."""
        said = _said(request) or "document"
        is_part = wanted.form not in PAGES or (said != "document" and wanted.form != BELOW_BANNER)
        chooser = self._pages.chooser
        choose = chooser.choose if is_part else chooser.page
        return choose(wanted.url, moment, wanted.policy, self._parts.having(request))

    def _missing(self, wanted: Wanted, choice: Choice) -> Response:
        if (known := self._archive.as_of(choice.url, choice.at)) is None:
            return self._pages.missing(wanted, choice.at)
        self._archive.read(known)  # says what it refers to, if that is not here
        return self._pages.render("message/doubtful.html", 404, choice=choice)

    def _relations(self, request: Request, wanted: Wanted, capture: Capture) -> str:
        around, origin = self._pages.neighbours(wanted.url, capture), str(request.base_url)
        ways = (wanted.form, wanted.policy)
        return link_header(origin.rstrip("/"), wanted.url, capture, around, *ways)

    def _elsewhere(self, request: Request, wanted: Wanted) -> Response:
        """What is asked for as of now, or as a list, has an address of its own."""
        now = self._clock.now()
        if wanted.stamp.endswith("*"):
            return leading(address.listing(wanted.url))
        if not wanted.stamp and self._archive.as_of(wanted.url, now) is None:
            return self._pages.not_found(request, LookupError(wanted.url))
        where = address.replay(stamp(now), wanted.url, form=wanted.form, policy=wanted.policy)
        return leading(where)

    def _raw(self, opened: Opened) -> Response:
        sent = opened.declared or ContentType("application/octet-stream")
        if opened.destination in _VIEWED and "ml" in sent.media:
            # A person looks at it: show the source, for a preconnect in it no policy stops.
            sent = ContentType("text/plain", sent.charset)
        response = _describe(opened, sent)
        location = location_of(opened.memento)
        if opened.memento.status in REDIRECTS and (led := opened.onward.refer(location)):
            response.headers["location"] = led
        return response

    def _shown(self, request: Request, opened: Opened) -> Response:
        wanted, memento, sent = opened.wanted, opened.memento, opened.type
        if memento.status in REDIRECTS and location_of(memento):
            return self._redirect(opened)
        kind = kind_of(sent.media)
        read = kind is not None and kind is not RewriteKind.XML
        data = whole(opened.payload) if read else b""
        if data is None:
            page = "message/too_large.html"
            return self._pages.render(page, 413, wanted=wanted, most=MAX_REWRITTEN)
        if wanted.form in _FRAMED and opened.destination == "document" and _is_page(opened):
            return self._framed(request, opened)
        if is_xml(sent.media):
            return self._xml(opened)
        if kind is None:
            return _describe(opened, sent)
        done = self._made(opened, partial(rewrite, data, kind))
        return _describe(opened, sent.coded(done.charset), done.data)

    def _xml(self, opened: Opened) -> Response:
        """XML; to a person its source, if no parser reads it or it leads out of the archive."""
        sent, done = opened.type, None
        data = whole(opened.memento.payload(MAX_REWRITTEN + 1))
        if data is not None:
            done = self._made(opened, partial(rewrite_xml, data, sent.media))
        if opened.destination in _VIEWED and (done is None or not done.is_quiet):
            sent, done = ContentType("text/plain", sent.charset), None
        if done is None:
            return _describe(opened, sent)
        return _describe(opened, sent.coded(done.charset), done.data)

    def _made(self, opened: Opened, make: Callable[..., Rewritten]) -> Rewritten:
        """A document rewritten, now or for the reader before."""
        wanted, memento, sent = opened.wanted, opened.memento, str(opened.type)
        below = wanted.form == BELOW_BANNER
        records = memento.capture.record_id, memento.source.record_id
        key = (*records, wanted, opened.shown, sent, below, address.prefix.get())
        return self._kept.get(key, partial(make, sent, opened.place, below=below))

    def _framed(self, request: Request, opened: Opened) -> Response:
        """The page with the banner and, in a frame below it, the memento."""
        wanted, memento, kind = opened.wanted, opened.memento, kind_of(opened.type.media)
        said, place = About(), opened.place
        if kind in (RewriteKind.HTML, RewriteKind.XML):
            xml = kind is RewriteKind.XML
            said = about(opened.start, str(opened.type), place, xml=xml)
        refresh = refresh_target(find_header(memento.headers, "refresh") or "")
        said = About(said.title, said.refresh or place.resolve(refresh))
        boxed = _policy(opened, opened.type).startswith("sandbox")
        scripted = self._scripted(request, opened)
        moment = parse_moment(wanted.stamp, self._clock.now())
        made = self._compositions.of(wanted.url, moment, wanted.policy)
        response = self._pages.framed(
            Framed(wanted, memento.capture, opened.choice, made, said, scripted, boxed)
        )
        response.headers["asof-composition"] = counts_header(made)
        response.status_code = status_of(memento.status)
        response.headers["memento-datetime"] = http_date(memento.capture.at)
        return response

    def _scripted(self, request: Request, opened: Opened) -> Scripted:
        """Whether the page is replayed with its scripts; where it is not, why."""
        if opened.type.media not in SCRIPTED_TYPES:
            return Scripted()
        if opened.wanted.form == STILL:
            return Scripted(why="still")
        host, policy = request.headers.get("host", ""), opened.wanted.policy
        return scripted(self._pages.scripts, host, address.shelf(), policy)

    def _redirect(self, opened: Opened) -> Response:
        wanted, memento, location = opened.wanted, opened.memento, location_of(opened.memento)
        target = opened.place.resolve(location)
        if target is None or target == wanted.url:
            return self._pages.render(
                "message/only_redirect.html", 404, url=wanted.url, at=wanted.stamp, wanted=wanted,
                capture=memento.capture, location=location,
            )  # fmt: skip
        response = _describe(opened, ContentType("text/plain"), b"")
        response.headers["location"] = opened.onward.refer(location) or ""
        return response


def _destination(request: Request, wanted: Wanted) -> str:
    """What the answer is for. Over plain HTTP browsers say so to this machine only."""
    said = _said(request)
    if not said and "text/html" in request.headers.get("accept", ""):
        return "iframe" if wanted.form == BELOW_BANNER else "document"
    return said


def _said(request: Request) -> str:
    """What the browser says that it is for. Our own script asks for pages to take banners from."""
    said = request.headers.get("sec-fetch-dest", "")
    is_ours = said == "empty" and "text/html" in request.headers.get("accept", "")
    return "document" if is_ours else said


def _is_page(opened: Opened) -> bool:
    """Whether a browser shows it, and does not save it as a file."""
    saved = find_header(opened.memento.headers, "content-disposition") or ""
    attached = saved.strip().lower().startswith("attachment")
    return not attached and _DISPLAYED.fullmatch(opened.type.media) is not None


def _policy(opened: Opened, sent: ContentType) -> str:
    return memento_policy(sent.media, opened.start, raw=opened.wanted.form == RAW)


def _describe(opened: Opened, sent: ContentType, made: bytes | None = None) -> Body:
    """A memento with its headers: what is kept of the archived ones, and RFC 7089. Its body is what
    was `made` of it, or as it is stored.
    """
    memento = opened.memento
    response = Body(opened.payload if made is None else iter((made,)), status_of(memento.status))
    response.place = opened.part if made is None else None
    length = memento.length if made is None else len(made)
    for name, value in original_headers(memento.headers):
        response.headers.append(name, value)
    if memento.status is not None and memento.status != response.status_code:
        response.headers["x-archive-orig-status"] = str(memento.status)
    response.headers.update(dict(kept_headers(memento.headers)))
    # Never as the archived answer wrote it: of what is malformed, browsers make what they like.
    response.headers["content-type"] = str(sent)
    response.headers["content-security-policy"] = _policy(opened, sent)
    response.headers["connection-allowlist"] = OWN_CONNECTIONS
    response.headers["memento-datetime"] = http_date(memento.capture.at)
    if length is not None:
        response.headers["content-length"] = str(length)
    return response


def whole(payload: Iterator[bytes]) -> bytes | None:
    """All of a payload, or None when it is too large to be rewritten."""
    parts, size = [], 0
    for chunk in payload:
        size += len(chunk)
        if size > MAX_REWRITTEN:
            return None
        parts.append(chunk)
    return b"".join(parts)
