"""The sites of tests/data/replay: live on loopback, and as a WARC file of what was asked of them.

Pages below `probe.test` and `other.test` hold probes (`probe.js`): each says into its page whether
something works there. The names are led to this server by the browser's own rules
(`--host-resolver-rules`), so that addresses are the same in every run. What is no file is
made here: images of a size, redirects, answers to what was posted, odd charsets.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import re
import socket
import struct
import threading
import wave
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.parser import BytesParser
from email.utils import format_datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

SITES = Path(__file__).parents[1] / "data/replay"
SITE = "http://probe.test/"
# Every page with probes on it: where it is opened, which may not be where it ends up.
WAYS = (
    "link", "far", "form", "post", "assign", "href", "set", "document", "replace", "search", "meta",
    "top", "up", "quoted", "refresh", "reload", "push", "loop",
    "quiet",
)  # fmt: skip
PAGES = [
    *(SITE + name + ".html" for name in (
        "net", "workers", "modules", "markup", "drawings", "frames", "opens", "storage", "write",
        "media", "charsets", "base", "menus", "empty", "old",
    )),
    SITE + "location.html?x=1&y=%C3%A9#start",
    SITE + "gone/page.html",
    *(f"{SITE}go.html?{way}" for way in WAYS),
]  # fmt: skip
BEGUN = datetime(2026, 3, 1, 12, tzinfo=UTC)
STAMP = "20260301121000"
"""A moment after the last capture."""
_TYPES = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css",
    ".json": "application/json", ".txt": "text/plain", ".svg": "image/svg+xml",
    ".xml": "text/xml", ".ttf": "font/ttf", ".webm": "video/webm", ".vtt": "text/vtt",
    ".pdf": "application/pdf",
}  # fmt: skip
_MOVED = {
    "/moved/a.txt": (302, "/data/a.txt"), "/moved/said": (301, "/frames/said.html?moved"),
    "/moved/twice": (302, "/moved/once"), "/moved/once": (301, "/frames/said.html?twice"),
    "/moved/image": (302, "/img/44x4.png"), "/moved/script": (302, "/deep/folder/moved.js"),
    "/moved/style": (302, "/deep/folder/moved.css"), "/moved/307": (307, "/data/a.txt"),
    "/moved/leak": (302, "http://past-moved.leak.test/past-moved"),
    "/moved/far": (302, "http://other.test/data/c.txt"),
}  # fmt: skip
_RUSSIAN, _JAPANESE, _KOREAN, _MIXED = "Привет", "日本語表", "한국어", "Grüße 日本"
_CHARSETS = {  # of the page: its words, how they are written, what header and meta say
    "windows-1251-header": (_RUSSIAN, "windows-1251", "windows-1251", ""),
    "windows-1251-meta": (_RUSSIAN, "windows-1251", "", "windows-1251"),
    "shift_jis-meta": (_JAPANESE, "shift_jis", "", "shift_jis"),
    "euc-kr-header": (_KOREAN, "euc-kr", "euc-kr", ""),
    "utf-16le-bom": (_MIXED, "utf-16", "", ""),
    "utf-16be-header": (_MIXED, "utf-16-be", "utf-16be", ""),
    "utf-8-bom": (_MIXED, "utf-8-sig", "", "iso-8859-1"),
    "iso-8859-1-header": ("Grüße", "latin-1", "iso-8859-1", "utf-8"),
}


class _Writer(WARCWriter):  # type: ignore[misc]
    _create_temp_file = staticmethod(io.BytesIO)  # warcio never closes its own


@dataclass(frozen=True)
class Answer:
    """What the live site says."""

    body: bytes = b""
    kind: str = "text/plain"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Exchange:
    method: str
    url: str
    sent: tuple[tuple[str, str], ...]
    posted: bytes
    answer: Answer


@dataclass
class Live:
    """The running sites, and all that was asked of them."""

    port: int
    exchanges: list[Exchange] = field(default_factory=list)
    words: dict[bytes, bytes] = field(default_factory=dict)
    """What stands in files for addresses that are known only now."""

    @property
    def rules(self) -> str:
        """Lead a browser to these sites by their names, and nowhere else."""
        return f"MAP *.test 127.0.0.1:{self.port}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"

    def keep(self, url: str, host: str, path: str) -> None:
        """As if that had been asked for."""
        answer = self.said(answered(host, "GET", path, "", b""))
        sent = (("Host", urlsplit(url).netloc),)
        self.exchanges.append(Exchange("GET", url, sent, b"", answer))

    def said(self, answer: Answer) -> Answer:
        body = answer.body
        for word, meant in self.words.items():
            body = body.replace(word, meant)
        return replace(answer, body=body)

    def write(self, path: Path) -> None:
        """The WARC file of what was asked, each once, as a recording proxy would have it."""
        seen = set()
        with path.open("wb") as out:
            writer = _Writer(out, gzip=True)
            for number, each in enumerate(list(self.exchanges)):
                key = (each.method, each.url, each.posted)
                if key not in seen and each.method in ("GET", "POST", "PATCH"):
                    seen.add(key)
                    _record(writer, each, BEGUN + timedelta(milliseconds=20 * number))


def _record(writer: WARCWriter, each: Exchange, at: datetime) -> None:
    said, address = each.answer, urlsplit(each.url)
    dated = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    line = f"{said.status} {HTTPStatus(said.status).phrase}"
    heads = [("Date", format_datetime(at, usegmt=True)), ("Content-Type", said.kind), *said.headers]
    response = writer.create_warc_record(
        each.url, "response", io.BytesIO(said.body), warc_headers_dict={"WARC-Date": dated},
        http_headers=StatusAndHeaders(line, heads, protocol="HTTP/1.1"),
    )  # fmt: skip
    target = address.path + ("?" + address.query if address.query else "")
    request = writer.create_warc_record(
        each.url, "request", io.BytesIO(each.posted), warc_headers_dict={"WARC-Date": dated},
        http_headers=StatusAndHeaders(
            f"{each.method} {target} HTTP/1.1", list(each.sent), is_http_request=True
        ),
    )  # fmt: skip
    writer.write_request_response_pair(request, response)


def png(width: int, height: int) -> bytes:
    """A green image."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = (b"\0" + b"\0\x80\0" * width) * height
    data = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + data


def tone(seconds: int) -> bytes:
    """A sound that says nothing."""
    out = io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8000)
        sound.writeframes(b"\x80" * 8000 * seconds)
    return out.getvalue()


def answered(host: str, method: str, target: str, kind: str, posted: bytes) -> Answer:
    """What the site says to that."""
    path, _, query = target.partition("?")
    if path in _MOVED:
        status, to = _MOVED[path]
        return Answer(b"moved\n", status=status, headers=(("Location", to), *_SHARED))
    if size := re.search(r"/(\d+)x(\d+)\.png$", path):
        return Answer(png(int(size[1]), int(size[2])), "image/png")
    if path.startswith("/charset/"):
        return _in_charset(path.rpartition("/")[2])
    made = _made(path, query) if method == "GET" else _posted(method, path, query, kind, posted)
    return made or _file(host, path)


_SHARED = (("Access-Control-Allow-Origin", "*"),)
_SAID = (
    ("X-Twice", "one"), ("X-Twice", "two"), ("ETag", '"v1"'), ("Link", "</a>; rel=next"),
    ("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT"),
)  # fmt: skip


def _file(host: str, path: str) -> Answer:
    if path == "/gone/page.html":
        return Answer((SITES / host / "missing-page.html").read_bytes(), _TYPES[".html"], 404)
    if path == "/frames/missing.html":
        said = b"<script>parent.postMessage({said: 'missing'}, '*')</script>"
        return Answer(b"<!doctype html><title>no</title>" + said, _TYPES[".html"], 404)
    found = (SITES / host / path.strip("/")).resolve()
    if not found.is_relative_to(SITES) or not found.is_file():
        return Answer(b"no such page\n", status=404)
    body = re.sub(
        rb"INTEGRITY ([\w./]+)", lambda name: _integrity(host, name[1]), found.read_bytes()
    )
    headers: tuple[tuple[str, str], ...] = _SHARED
    if path == "/storage.html":
        headers += (("Set-Cookie", "served=yes; Path=/"), ("Set-Cookie", "hidden=1; HttpOnly"))
    return Answer(body, _TYPES[found.suffix], headers=headers)


def _integrity(host: str, name: bytes) -> bytes:
    digest = hashlib.sha256((SITES / host / name.decode()).read_bytes()).digest()
    return b"sha256-" + base64.b64encode(digest)


def _made(path: str, query: str) -> Answer | None:
    """What is no file."""
    if path == "/packed":
        headers = (("Content-Encoding", "gzip"),)
        return Answer(gzip.compress(b"x" * 5000, mtime=0), headers=headers)
    if path == "/jsonp":
        callback = query.partition("callback=")[2]
        return Answer(f'{callback}({{"ok": true}});'.encode(), "text/javascript")
    plain = {
        "/echo": Answer(f"GET {query}".encode()),
        "/header": Answer(b"header", headers=(("X-Probe", "seen"),)),
        "/headers": Answer(b"headers", headers=_SAID),
        "/empty": Answer(status=204),
        "/refresh": Answer(
            b"<!doctype html><title>refresh</title>",
            "text/html",
            headers=(("Refresh", "0; url=/arrived.html?by=refresh"),),
        ),
        "/events": Answer(b"data: one\n\n", "text/event-stream"),
        "/data/bytes.bin": Answer(bytes(range(256)) * 4, "application/octet-stream"),
        "/media/tone.wav": Answer(tone(30), "audio/wav", headers=(("Accept-Ranges", "bytes"),)),
    }
    return plain.get(path)


def _posted(method: str, path: str, query: str, kind: str, posted: bytes) -> Answer | None:
    words = posted.decode("utf-8", "replace")
    if kind.startswith("multipart/"):
        head = f"Content-Type: {kind}\r\n\r\n".encode()
        parts = BytesParser().parsebytes(head + posted).get_payload()
        words = "&".join(
            f"{part.get_param('name', header='content-disposition')}={part.get_payload().strip()}"
            for part in parts
        )
    shown = words.replace("&", "&amp;").replace('"', "&quot;")
    told = f'<!doctype html><title>posted</title><p id=words data-words="{shown}">'
    key = "parts" if path == "/form/parts" else "posted"
    says = f"<script>parent.postMessage({{{key}: words.dataset.words}}, '*')</script>"
    checks = (
        "<script src=/probe.js></script><script>probe('arrived by post', () => same("
        "[location.href, words.dataset.words], ['http://probe.test/form/arrived', 'by=post']));"
        "</script>"
    )
    pages = {
        "/echo": Answer(f"{method} {query + ' ' if query else ''}{words}".encode()),
        "/parts": Answer(f"parts {words}".encode()),
        "/picky": Answer(f"POST refused {words}".encode(), status=403),
        "/beacon": Answer(status=204),
        "/form/posted": Answer((told + says).encode(), "text/html"),
        "/form/parts": Answer((told + says).encode(), "text/html"),
        "/form/arrived": Answer((told + checks).encode(), "text/html"),
    }
    return pages.get(path)


def _in_charset(name: str) -> Answer:
    if name in _CHARSETS:
        words, codec, header, meta = _CHARSETS[name]
        head = f"<!doctype html>{f'<meta charset={meta}>' if meta else ''}<title>x</title>"
        script = f"<script>document.querySelector('p').dataset.script = '{words}'</script>"
        kind = f"text/html; charset={header}" if header else "text/html"
        return Answer(f"{head}<p>{words}</p>{script}".encode(codec), kind)
    others = {
        "script-bare": Answer(
            f"window.by_attribute = '{_RUSSIAN}';".encode("cp1251"), "text/javascript"
        ),
        "script-sjis": Answer(
            f"window.by_header = '{_JAPANESE}';".encode("shift_jis"),
            "text/javascript; charset=shift_jis",
        ),
        "style-1251": Answer(
            f"@charset \"windows-1251\"; h1::after {{ content: '{_RUSSIAN[:3]}' }}".encode(
                "cp1251"
            ),
            "text/css",
        ),
        "address-1251": Answer(
            f"<!doctype html><p><a href='/{_RUSSIAN[0]}?{_RUSSIAN[0]}'>a</a>".encode("cp1251"),
            "text/html; charset=windows-1251",
        ),
        "references-1251": Answer(
            b"<!doctype html><p title='&#1078;&mdash;&#151;&laquo;&amp;&#x416;'><form id=form "
            b"action=/form/result.html><input name=q value='&#1078; a'></form>",
            "text/html; charset=windows-1251",
        ),
        "text-1251": Answer(_RUSSIAN.encode("cp1251"), "text/plain; charset=windows-1251"),
    }
    return others.get(name, Answer(b"no such page\n", status=404))


_RANGE = re.compile(r"bytes=(\d*)-(\d*)$")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    live: Live

    def do_GET(self) -> None:
        host = self.headers.get("Host") or ""
        url = self.path if self.path.startswith("http://") else f"http://{host}{self.path}"
        if host == "naive.test":  # as a replay that rewrites nothing
            url = self.path.split("/", 2)[-1]
            url = (
                re.sub("^http:/+", "http://", url)
                if url.startswith("http:")
                else "http://none.test/"
            )
        address = urlsplit(url)
        posted = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        target = address.path + ("?" + address.query if address.query else "")
        kind = self.headers.get("Content-Type") or ""
        answer = self.live.said(
            answered(address.hostname or "", self.command, target, kind, posted)
        )
        if not self.headers.get("Upgrade"):
            sent = tuple(self.headers.items())
            self.live.exchanges.append(Exchange(self.command, url, sent, posted, answer))
        self._send(answer)

    do_POST = do_HEAD = do_OPTIONS = do_PUT = do_PATCH = do_GET

    def _send(self, answer: Answer) -> None:
        data, headers, status = answer.body, list(answer.headers), answer.status
        part = _RANGE.match(self.headers.get("Range") or "") if status == 200 else None
        if part:
            first = int(part[1]) if part[1] else len(data) - int(part[2])
            last = min(int(part[2] or len(data)) if part[1] else len(data), len(data) - 1)
            headers.append(("Content-Range", f"bytes {first}-{last}/{len(data)}"))
            status, data = 206, data[first : last + 1]
        self.send_response(status)
        if answer.kind:
            self.send_header("Content-Type", answer.kind)
        for name, value in headers:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD" and status != 204:
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def __init__(self, *words: Any) -> None:
        super().__init__(*words)
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Connections that a browser has left open."""
        for request in list(self._open):
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, *_: object) -> None:
        """A browser hangs up as it likes."""


@contextmanager
def live() -> Iterator[Live]:
    """The sites on loopback."""
    running = Live(0)
    handler = type("Handler", (_Handler,), {"live": running})
    with _Server(("127.0.0.1", 0), handler) as server:
        running.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield running
        finally:
            server.shutdown()
            server.hang_up()
            thread.join()
