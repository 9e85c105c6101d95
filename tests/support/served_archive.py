"""A small real archive and a real server around it, for tests of the web pages.

Records are written by hand, byte by byte, so that these tests do not
depend on how a crawl writes them; the catalog is derived from the file as a reindex does.
"""

from __future__ import annotations

import gzip
import http.client
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from starlette.types import ASGIApp

from asof.archive import OpenArchive
from asof.catalog.derive import derive
from asof.clock import Instant, SystemClock, iso, parse_iso
from asof.model import Crawl, CrawlState, Segment
from asof.warc.reader import scan
from asof.warc.record import StoredRecord
from asof.web.app import create_app
from asof.web.server import Server as WebServer
from asof.web.server import configured
from support.catalog_entry import enter

PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
CRAWL = "20260101000000-test"


@dataclass(frozen=True)
class Page:
    """An answer of a server at a moment (ISO 8601)."""

    url: str
    at: str
    body: bytes = b""
    media: str | None = "text/html"
    status: str = "200 OK"
    headers: tuple[tuple[str, str], ...] = ()
    same_as: tuple[str, str] | None = None
    """The URL and date of the capture that this one, a revisit, refers to."""

    @property
    def instant(self) -> Instant:
        found = parse_iso(self.at)
        assert found is not None
        return found

    def block(self) -> bytes:
        named = [("Content-Type", self.media)] if self.media is not None else []
        lines = [f"{name}: {value}" for name, value in (*named, *self.headers)]
        head = "\r\n".join([f"HTTP/1.1 {self.status}", *lines])
        return head.encode("latin-1") + b"\r\n\r\n" + self.body

    def record(self) -> bytes:
        block = self.block()
        name = uuid5(NAMESPACE_URL, f"{self.url} {self.at}")
        fields = [
            "WARC/1.1",
            f"WARC-Type: {'revisit' if self.same_as else 'response'}",
            f"WARC-Record-ID: <urn:uuid:{name}>",
            f"WARC-Date: {iso(self.instant)}",
            f"WARC-Target-URI: {self.url}",
            "Content-Type: application/http; msgtype=response",
            f"Content-Length: {len(block)}",
        ]
        if self.same_as is not None:
            fields += [
                f"WARC-Profile: {PROFILE}",
                f"WARC-Refers-To-Target-URI: {self.same_as[0]}",
                f"WARC-Refers-To-Date: {self.same_as[1]}",
            ]
        return "\r\n".join(fields).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def build(folder: Path, pages: Iterable[Page], *, seeds: tuple[str, ...] = ()) -> Path:
    """An archive of these pages."""
    with OpenArchive.write(folder, purpose="test") as archive:
        pages = list(pages)
        path = archive.folder.warc / f"000001-{CRAWL}.warc.gz"
        path.write_bytes(b"".join(gzip.compress(page.record(), 1) for page in pages))
        times = [page.instant for page in pages] or [0]
        with archive.ledger.transaction():
            archive.catalog.put_crawl(
                Crawl(CRAWL, seeds, min(times), CrawlState.FINISHED, max(times))
            )
            segment = Segment(path.name, path.stat().st_size, CRAWL, sealed=True)
            number = archive.catalog.put_segment(segment)
            records = [found for found in scan(path) if isinstance(found, StoredRecord)]
            captures = [derive(record) for record in records]
            assert None not in captures
            enter(archive.catalog, [c for c in captures if c is not None], number)
    return folder


@dataclass(frozen=True)
class Answer:
    """What the server said."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


@dataclass(frozen=True)
class Server:
    """A running server; `ask` sends a target exactly as given."""

    port: int
    connections: Callable[[], int] = lambda: 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, target: str, method: str = "GET", **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.putrequest(method, target, skip_host="Host" in named)
            for name, value in named.items():
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()


@contextmanager
def serving(
    folder: Path, hosts: Iterable[str] = (), *, files: bool = False, token: str = ""
) -> Iterator[Server]:
    """Serve an archive on a free port of loopback; `files`: its WARC files, too. Who has the
    `token` may order something.
    """
    clock = SystemClock()
    with OpenArchive.open(folder, clock=clock) as archive:
        app = create_app([archive], clock, hosts=hosts, files=files, token=token)
        with running(app) as server:
            yield server


@contextmanager
def running(app: ASGIApp) -> Iterator[Server]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # connections queue here until the server is up
        server = WebServer(configured(app))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield Server(listener.getsockname()[1], lambda: len(server.server_state.connections))
        finally:
            server.should_exit = True
            thread.join(10)
            assert not thread.is_alive()
