"""A memento opened to be sent: its first bytes, what it is, and as much of it as is asked for."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain

from starlette.concurrency import iterate_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from asof.archive import OpenArchive
from asof.catalog.memento import Memento
from asof.catalog.observe import Observation
from asof.errors import AsofError
from asof.http.head import content_range
from asof.model import PARTIAL, Capture, find_header
from asof.replay.choose import Choice
from asof.replay.links import ReplayPlace
from asof.text.kinds.media import ContentType, content_type, media_of
from asof.web import address, lent, ranges
from asof.web.address import ALONE, BELOW_BANNER, PART, RAW, STILL, Wanted

# A decompression bomb streams through in pieces, but not for ever.
MAX_SERVED = 8 << 30
# So much is sent at once, and waits for who reads it: each piece is a turn of another thread.
_AT_ONCE = 64 << 10
Place = tuple[int, int, int | None]
# As much of a page as its title and where it leads on are looked for in.
_HEAD_REACH = 64 << 10
REDIRECTS = frozenset((301, 302, 303, 307, 308))
# The forms in which a page is asked for by itself.
PAGES = frozenset(("", RAW, ALONE, BELOW_BANNER, STILL))
LENGTHS_KEPT = 4096


class Body(StreamingResponse):
    """An answer in pieces, of which some may not be wanted."""

    def __init__(self, pieces: Iterator[bytes], status: int) -> None:
        super().__init__(pieces, status)
        self.pieces = _sliced(pieces)
        # Of a part that was captured: its place in what it is a part of.
        self.place: Place | None = None

    def _begun(self) -> Response:
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

    def answer(self, request: Request, length: Callable[[], int]) -> Response:
        """What the request asks for of it: a part, or its headers (RFC 9110, section 14.2)."""
        self._cut(request, length)
        if request.method == "HEAD":
            self.body_iterator = iterate_in_threadpool(())
            return self
        return self._begun()

    def _cut(self, request: Request, length: Callable[[], int]) -> None:
        wanted = ranges.asked(request.headers.get("range"))
        validator = request.headers.get("if-range", self.headers["etag"])
        if self.status_code != 200:
            return
        self.headers["accept-ranges"] = "bytes"
        if request.method != "GET" or validator != self.headers["etag"]:
            wanted = None
        if wanted is None and self.place is None:
            return
        size = int(self.headers.get("content-length") or length())
        first, last, whole = self.place or (0, size - 1, size)
        held = range(first, min(first + size, last + 1))
        if wanted is None and len(held) == whole:
            return
        part = held if wanted is None else ranges.satisfied(wanted, held, whole)
        self.status_code = 206 if part else 416
        named = f"{part.start}-{part.stop - 1}" if part else "*"
        self.headers["content-range"] = f"bytes {named}/{'*' if whole is None else whole}"
        self.headers["content-length"] = str(len(part or ()))
        own = range(part.start - first, part.stop - first) if part else range(0)
        self.pieces = ranges.part(self.pieces, own) if own else iter(())


@dataclass(frozen=True, slots=True)
class Opened:
    """A memento with the first bytes of its payload, from which all that is sent follows."""

    wanted: Wanted
    choice: Choice
    shown: str
    memento: Memento
    destination: str
    start: bytes
    payload: Iterator[bytes]

    @property
    def place(self) -> ReplayPlace:
        """Links lead to the moment that was asked for, parts to the one that is `shown`.

        These say so by their form: off this machine, browsers do not tell what they ask for.
        """
        raw = self.wanted.form == RAW
        lead = partial(address.replay, policy=self.wanted.policy)
        return ReplayPlace(
            self.memento.capture.url,
            partial(lead, self.wanted.stamp, form=RAW if raw else ""),
            lead_part=partial(lead, self.shown, form=RAW if raw else PART),
        )

    @property
    def onward(self) -> ReplayPlace:
        """Where a redirect leads: that of a part to a part."""
        return self.place if self.wanted.form in PAGES else self.place.of_parts()

    @property
    def part(self) -> Place | None:
        """The place of a part in its whole, if its bytes can be counted."""
        return place_of(self.memento)

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


def open_memento(
    wanted: Wanted, choice: Choice, shown: str, memento: Memento, destination: str
) -> Opened:
    most = MAX_SERVED if memento.length is None else None
    chunks = memento.payload(most, lent.block)
    first, size = [], 0
    for chunk in chunks:
        first.append(chunk)
        size += len(chunk)
        if size >= _HEAD_REACH:
            break
    start = b"".join(first)[:_HEAD_REACH]
    return Opened(wanted, choice, shown, memento, destination, start, chain(first, chunks))


def _sliced(pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        if len(piece) <= _AT_ONCE:
            yield piece
        else:
            yield from (piece[at : at + _AT_ONCE] for at in range(0, len(piece), _AT_ONCE))


def place_of(memento: Memento) -> Place | None:
    """Of a part that was captured, and that no coding lies on, its place in the whole."""
    headers = memento.headers
    if memento.status != PARTIAL or find_header(headers, "content-encoding"):
        return None
    return content_range(find_header(headers, "content-range"))


class Parts:
    """What the captured parts of one archive hold."""

    def __init__(self, archive: OpenArchive) -> None:
        self._archive = archive
        self._place = lru_cache(LENGTHS_KEPT)(self._read)

    def having(self, request: Request) -> Callable[[Observation], bool]:
        """Whether a capture has the first byte that is asked for."""
        wanted = ranges.asked(request.headers.get("range")) or ("0", "")

        def has(sight: Observation) -> bool:
            if sight.status != PARTIAL:
                return True
            place = self._place(sight.capture)
            held = range(0) if place is None else range(place[0], place[1] + 1)
            return place is not None and ranges.satisfied(wanted, held, place[2]) is not None

        return has

    def _read(self, capture: Capture) -> Place | None:
        try:
            return place_of(self._archive.read(capture))
        except AsofError:
            return None


def lengths(archive: OpenArchive) -> Callable[[Capture], int]:
    """How long payloads are of which only decoding tells."""

    def counted(capture: Capture) -> int:
        return sum(map(len, archive.read(capture).payload(MAX_SERVED)))

    return lru_cache(LENGTHS_KEPT)(counted)


def status_of(status: int | None) -> int:
    """The archived status, where it can be sent as the answer to a plain request.

    204 and 205 would leave the reader where he was, 206 is an answer to a question not asked, 304
    would send the browser to its cache and 407 to the password of a proxy.
    """
    if status is None or not 200 <= status <= 599:
        return 200
    return {204: 200, 205: 200, 206: 200, 304: 200, 407: 401}.get(status, status)


def location_of(memento: Memento) -> str:
    """Where a redirect leads; servers write UTF-8 there, whatever RFC 9110 says."""
    value = find_header(memento.headers, "location") or ""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
