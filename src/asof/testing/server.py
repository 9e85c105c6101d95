"""The synthetic web over real HTTP/1.1, on loopback only."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from asof.clock import Clock
from asof.errors import UsageError
from asof.model import Headers
from asof.testing.answer import plain
from asof.testing.request_log import LoggedRequest, RequestLog
from asof.testing.simclock import SimulatedClock
from asof.testing.site import SyntheticSite
from asof.testing.spec import SiteSpec

_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a client may use up. `idle` is in real seconds, for a request's head as well."""

    head: int = 65_536
    body: int = 1 << 20
    connections: int = 512
    idle: float = 60.0


@dataclass(slots=True)
class SyntheticServer:
    """A served web. `urls` has the front page of each host, `url` that of the first.

    `proxy` is the address that listens for the first host; with `by_name` all hosts are asked
    for through it, as through an HTTP proxy. `hosts` are their numbers by authority.
    """

    site: SyntheticSite
    clock: Clock
    log: RequestLog
    limits: Limits
    proxy: str = ""
    hosts: dict[str, int] = field(default_factory=dict)

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(f"{origin}/" for origin in self.site.origins)

    @property
    def url(self) -> str:
        return self.urls[0]


@asynccontextmanager
async def serve(
    site: SyntheticSite | SiteSpec,
    *,
    clock: Clock | None = None,
    port: int = 0,
    by_name: bool = False,
    log: Path | None = None,
    limits: Limits | None = None,
) -> AsyncIterator[SyntheticServer]:
    """Serve a web on 127.0.0.1 for as long as the block runs.

    Each host listens on a port of its own (`port`, `port + 1`, ...; 0: any free ones). With
    `by_name`, one port serves all hosts under their own names (http://harbour-gazette.example)
    by the Host header or the absolute form of the request: use `server.proxy` as HTTP proxy.
    The clock stands at the site's start unless one is given.
    """
    site = SyntheticSite(site) if isinstance(site, SiteSpec) else site
    requests = RequestLog(log)
    clock = clock or SimulatedClock(site.spec.start)
    server = SyntheticServer(site, clock, requests, limits or Limits())
    ports = [port + host if port else 0 for host in range(1 if by_name else site.spec.hosts)]
    try:
        async with _listening(server, ports) as addresses:
            server.proxy = addresses[0]
            # The site's final origins are known only when every port is.
            server.site = site if by_name else site.at(addresses)
            origins = enumerate(server.site.origins)
            server.hosts = {origin.partition("//")[2]: host for host, origin in origins}
            yield server
    finally:
        requests.close()


@asynccontextmanager
async def _listening(server: SyntheticServer, ports: list[int]) -> AsyncIterator[list[str]]:
    """Addresses at which connections are answered, until the end of the block ends them all."""
    connections: set[_Connection] = set()
    listeners: list[asyncio.Server] = []
    sweeper = asyncio.create_task(_sweep(connections, server.limits.idle))
    try:
        for host, port in enumerate(ports):
            listeners.append(await _listen(partial(_Connection, server, host, connections), port))
        yield [f"http://{_LOOPBACK}:{each.sockets[0].getsockname()[1]}" for each in listeners]
    finally:
        sweeper.cancel()
        for listener in listeners:
            listener.close()
        for connection in list(connections):
            connection.abort()
        for listener in listeners:
            await listener.wait_closed()
        with suppress(asyncio.CancelledError):
            await sweeper


@contextmanager
def serve_in_thread(
    site: SyntheticSite | SiteSpec,
    *,
    clock: Clock | None = None,
    port: int = 0,
    by_name: bool = False,
    log: Path | None = None,
    limits: Limits | None = None,
) -> Iterator[SyntheticServer]:
    """`serve` for code that is not asynchronous: an event loop in a thread of its own."""
    started: Future[tuple[SyntheticServer, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def main() -> None:
        stop = asyncio.Event()
        async with serve(
            site, clock=clock, port=port, by_name=by_name, log=log, limits=limits
        ) as server:
            started.set_result((server, asyncio.get_running_loop(), stop))
            await stop.wait()

    def body() -> None:
        try:
            asyncio.run(main())
        except (UsageError, OSError) as error:
            if started.done():
                raise
            started.set_exception(error)

    thread = threading.Thread(target=body, name="synthetic-web", daemon=True)
    thread.start()
    try:
        server, loop, stop = started.result(timeout=60)
        try:
            yield server
        finally:
            loop.call_soon_threadsafe(stop.set)
    finally:
        thread.join(timeout=60)


class _Refused(Exception):
    """A request that cannot be read on from: answered with this status, then the end."""


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    host: int
    path: str
    fields: dict[str, str]
    http10: bool
    body: int

    @property
    def conditional(self) -> bool:
        return "if-none-match" in self.fields or "if-modified-since" in self.fields

    @property
    def last(self) -> bool:
        """Whether the connection ends with its answer (RFC 9112 section 9.3)."""
        wish = self.fields.get("connection", "").lower()
        # After Expect: 100-continue nobody knows whether the body will still come.
        return self.http10 or "close" in wish or "expect" in self.fields


class _Connection(asyncio.Protocol):
    """One client: a buffer, a loop over the requests in it, and the limits."""

    _transport: asyncio.Transport

    def __init__(self, server: SyntheticServer, host: int, others: set[_Connection]) -> None:
        self._server = server
        self._host = host
        self._others = others
        self._buffer = bytearray()
        self._skip = 0
        self._full = False
        self.waiting_since = asyncio.get_running_loop().time()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._others.add(self)
        if len(self._others) > self._server.limits.connections:
            self._refuse(503)

    def connection_lost(self, exc: Exception | None) -> None:
        self._others.discard(self)

    def abort(self) -> None:
        self._transport.abort()

    def pause_writing(self) -> None:
        self._full = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._full = False
        self._transport.resume_reading()
        self._answer_all()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._answer_all()

    def _answer_all(self) -> None:
        """Answer every whole request in the buffer, in order (pipelining included)."""
        while not self._full and not self._transport.is_closing():
            skipped = min(self._skip, len(self._buffer))
            del self._buffer[:skipped]
            self._skip -= skipped
            end = self._buffer.find(b"\r\n\r\n")
            try:
                if max(end, 0 if end >= 0 else len(self._buffer)) > self._server.limits.head:
                    raise _Refused(431)
                if end < 0:
                    return
                request = self._parse(self._buffer[:end].decode("latin-1"))
            except _Refused as refused:
                self._refuse(*refused.args)
                return
            del self._buffer[: end + 4]
            self._skip = request.body
            self._answer(request)

    def _answer(self, request: _Request) -> None:
        server, transport = self._server, self._transport
        now = server.clock.now()
        fields: Headers = tuple(request.fields.items())
        response = server.site.respond(request.method, request.path, fields, now, host=request.host)
        url = server.site.origins[request.host] + request.path
        asked = url, request.host, request.method, request.path
        server.log.add(LoggedRequest(now, *asked, response.status, request.conditional))
        last = request.last
        transport.write(response.wire(method=request.method, http10=request.http10, close=last))
        if last:
            transport.close()
        self.waiting_since = asyncio.get_running_loop().time()

    def _parse(self, head: str) -> _Request:
        first, *lines = head.lstrip("\r\n").split("\r\n")
        match first.split(" "):
            case [method, target, ("HTTP/1.1" | "HTTP/1.0") as version] if method and target:
                pass
            case _:
                raise _Refused(400)
        fields: dict[str, str] = {}
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon or not name or name != name.strip():
                raise _Refused(400)
            fields.setdefault(name.lower(), value.strip())
        authority = fields.get("host", "")
        if target.startswith("http://"):
            # RFC 9112 section 3.2.2: the absolute form outweighs the Host header.
            authority, slash, rest = target[7:].partition("/")
            target = slash + rest or "/"
        if "transfer-encoding" in fields:
            raise _Refused(411)
        length = fields.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            raise _Refused(400)
        if len(length) > 10 or int(length) > self._server.limits.body:
            raise _Refused(413)
        host = self._server.hosts.get(authority.lower(), self._host)
        return _Request(method, host, target, fields, version == "HTTP/1.0", int(length))

    def _refuse(self, status: int) -> None:
        answer = plain(status, self._server.clock.now(), b"", media_type="text/plain")
        self._transport.write(answer.wire(close=True))
        self._transport.close()


async def _listen(factory: Callable[[], asyncio.Protocol], port: int) -> asyncio.Server:
    try:
        return await asyncio.get_running_loop().create_server(factory, _LOOPBACK, port, backlog=256)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"The synthetic web cannot listen on {_LOOPBACK}:{port}: {error}.",
            hint="Choose another port, or 0 for any free one.",
        ) from error


async def _sweep(connections: set[_Connection], idle: float) -> None:
    """End connections that have waited too long for a request, or for a client that reads."""
    while True:
        await asyncio.sleep(max(0.05, idle / 4))
        limit = asyncio.get_running_loop().time() - idle
        for connection in list(connections):
            if connection.waiting_since < limit:
                connection.abort()
