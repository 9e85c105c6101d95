"""HTTP semantics without sockets: from a rendering and a request's headers to a response."""

import gzip
from dataclasses import dataclass
from functools import cached_property, lru_cache
from http import HTTPStatus

from asof.clock import SECOND, Instant, http_date, parse_http_date
from asof.model import Headers, find_header

_CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class Response:
    """An answer of the synthetic web. `body` is as sent, content coding included.

    `headers` lack the framing (Content-Length, Transfer-Encoding), which `wire` adds: it depends
    on what the client can read.
    """

    status: int
    headers: Headers
    body: bytes = b""
    chunked: bool = False

    def header(self, name: str) -> str | None:
        """The first value of a header, by case-insensitive name."""
        return find_header(self.headers, name)

    @property
    def content(self) -> bytes:
        """The body without its content coding."""
        gzipped = self.header("Content-Encoding") == "gzip" and self.body
        return gzip.decompress(self.body) if gzipped else self.body

    def wire(self, *, method: str = "GET", http10: bool = False, close: bool = False) -> bytes:
        """The bytes on the wire of the answer to that method."""
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        chunked = self.chunked and not http10
        if self.status != 304:
            length = f"Content-Length: {len(self.body)}"
            lines.append("Transfer-Encoding: chunked" if chunked else length)
        if close:
            lines.append("Connection: close")
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        # RFC 9110 sections 9.3.2 and 15.4.5: neither has content, whatever its headers say.
        if method == "HEAD" or self.status == 304:
            return head
        return head + (_in_chunks(self.body) if chunked else self.body)


@dataclass(frozen=True)
class Rendering:
    """One version of one resource, ready to be sent: kept in the site's cache."""

    media_type: str
    body: bytes
    etag: str
    modified: Instant | None
    chunked: bool = False

    @property
    def size(self) -> int:
        """Bytes it holds in memory, roughly; the gzip that is made on demand is reckoned in."""
        return 3 * len(self.body) // 2 + 300

    @cached_property
    def zipped(self) -> bytes:
        """The body in gzip; level 1 and no time, so it is fast and always the same."""
        return gzip.compress(self.body, 1, mtime=0)


def answer(
    rendering: Rendering, asked: dict[str, str], t: Instant, *, conditional: bool, zip_it: bool
) -> Response:
    """200 or 304 for a rendering. `asked` are the request's headers by lower-case name."""
    zip_it = zip_it and rendering.media_type != "image/png"
    coded = zip_it and _accepts_gzip(asked.get("accept-encoding", ""))
    etag = rendering.etag
    if coded and etag.endswith('"'):
        # RFC 9110 section 8.8.3.3: representations that differ in coding need different tags.
        etag = f'{etag[:-1]}-gzip"'
    headers = [("Date", date_header(t // SECOND))]
    if etag:
        headers.append(("ETag", etag))
    # RFC 9110 section 8.8.2.2: a Last-Modified of the very second of the answer proves nothing,
    # since the page may change again within it. Left out, it is a strong validator.
    modified = rendering.modified
    if modified is not None and modified // SECOND < t // SECOND:
        headers.append(("Last-Modified", http_date(modified)))
    if zip_it:
        headers.append(("Vary", "Accept-Encoding"))
    if conditional and _not_modified(asked, etag, modified):
        return Response(304, tuple(headers))
    headers.append(("Content-Type", rendering.media_type))
    if coded:
        headers.append(("Content-Encoding", "gzip"))
    body = rendering.zipped if coded else rendering.body
    return Response(200, tuple(headers), body, rendering.chunked)


def plain(
    status: int, t: Instant, body: bytes, *extra: tuple[str, str], media_type: str = "text/html"
) -> Response:
    """An answer without validators: errors, redirects."""
    date, kind = date_header(t // SECOND), f"{media_type}; charset=utf-8"
    return Response(status, (("Date", date), ("Content-Type", kind), *extra), body)


@lru_cache(maxsize=64)
def date_header(second: int) -> str:
    return http_date(second * SECOND)


def _not_modified(asked: dict[str, str], etag: str, modified: Instant | None) -> bool:
    """RFC 9110 section 13.2.2: If-None-Match decides alone where it is given."""
    tags = asked.get("if-none-match")
    if tags is not None:
        if tags.strip() == "*":
            return True
        known = {tag.strip().removeprefix("W/") for tag in tags.split(",")}
        return bool(etag) and etag.removeprefix("W/") in known
    since = parse_http_date(asked.get("if-modified-since", ""))
    return since is not None and modified is not None and modified // SECOND <= since // SECOND


def _accepts_gzip(text: str) -> bool:
    """RFC 9110 section 12.5.3, as far as gzip goes: named (or *), and not with q=0."""
    for item in text.lower().split(","):
        name, _, weight = item.partition(";")
        if name.strip() in ("gzip", "x-gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _in_chunks(body: bytes) -> bytes:
    """RFC 9112 section 7.1."""
    pieces = [body[k : k + _CHUNK] for k in range(0, len(body), _CHUNK)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
