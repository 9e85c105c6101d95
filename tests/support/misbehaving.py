"""A web that misbehaves: servers on loopback whose paths do what no server should.

Put `tests` on the path and import it. A `Stage` is a thread with an event loop; each `open` on it
is a server of its own port, which answers by a table of behaviours and remembers what it was asked.
Nothing here imports asof.
"""

from __future__ import annotations

import asyncio
import functools
import gzip
import itertools
import random
import socket
import ssl
import struct
import threading
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self, TypeVar

import trustme

T = TypeVar("T")
OK = "HTTP/1.1 200 OK\r\n"
HTML = OK + "Content-Type: text/html\r\n"
_GONE = (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, RuntimeError)
_TLS = b"\x16\x03"  # how a client begins that wants TLS
# What a request may be: a cookie flood makes them long.
_REQUEST_LIMIT = 1 << 22


@dataclass
class Talk:
    """One request, and the way to answer it. `keep`: another may follow on the connection."""

    path: str
    head: bytes
    server: Server
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    keep: bool = False

    @property
    def gone(self) -> bool:
        """Whether the client has gone away."""
        return self.writer.is_closing() or self.reader.at_eof()

    @property
    def number(self) -> int:
        """The number that the path ends in."""
        return int(self.path.rpartition("/")[2])

    async def send(self, data: bytes | str) -> None:
        """Send this and wait until the client takes it."""
        self.writer.write(data.encode("latin-1") if isinstance(data, str) else data)
        await self.writer.drain()

    def reset(self) -> None:
        """End the connection by RST, throwing away what is under way."""
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Behaviour = Callable[[Talk], Awaitable[None]]
Routes = Mapping[str, Behaviour]


@dataclass
class Server:
    """One listening port. A route that ends in `*` is for all paths that begin so."""

    routes: Routes
    host: str
    scheme: str
    asked: list[tuple[str, bytes]] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    listener: asyncio.Server | None = None
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def authority(self) -> str:
        """Host and port."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The origin, without a slash."""
        return f"{self.scheme}://{self.authority}"

    @property
    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [path for path, _ in self.asked]

    def vanish(self) -> None:
        """Stop listening and reset every connection, from inside the stage's thread."""
        if self.listener is not None:
            self.listener.close()
        for writer in self._writers:
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection until either side has enough."""
        self.connections += 1
        self._writers.add(writer)
        try:
            first = await reader.readexactly(3)
            if first.startswith(_TLS):
                writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\nThis port speaks plain HTTP.")
            while not first.startswith(_TLS):
                head = first + await reader.readuntil(b"\r\n\r\n")
                first = b""
                path = head.split(b" ", 2)[1].decode("latin-1")
                self.asked.append((path, head))
                talk = Talk(path, head, self, reader, writer)
                await self._behaviour(path)(talk)
                if not talk.keep:
                    break
        except _GONE:
            pass  # the client went away, as they do here
        finally:
            self._writers.discard(writer)
            writer.close()
            with suppress(*_GONE, OSError):
                await writer.wait_closed()

    def _behaviour(self, path: str) -> Behaviour:
        if path in self.routes:
            return self.routes[path]
        starts = [key for key in self.routes if key.endswith("*") and path.startswith(key[:-1])]
        return self.routes[max(starts, key=len)] if starts else page("<p>none</p>", "404 None")


class Stage:
    """The thread in which the servers run; closing it closes them all."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(lambda loop, context: None)  # failed handshakes are wanted
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._servers: list[Server] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def open(
        self, routes: Routes, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
    ) -> Server:
        """A new server on a port of its own."""
        server = Server(routes, host, "https" if tls else "http")
        self._run(self._listen(server, tls))
        self._servers.append(server)
        return server

    async def _listen(self, server: Server, tls: ssl.SSLContext | None) -> None:
        server.listener = await asyncio.start_server(
            server.serve, server.host, 0, ssl=tls, limit=_REQUEST_LIMIT
        )
        server.port = server.listener.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        for server in self._servers:
            server.vanish()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return future.result(30)


# --- behaviours ----------------------------------------------------------------------------------


def page(
    body: bytes | str, status: str = "200 OK", media: str = "text/html", **extra: str
) -> Behaviour:
    """An ordinary answer, after which the connection goes on."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {media}", f"Content-Length: {len(data)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in extra.items()]

    async def answer(talk: Talk) -> None:
        await talk.send("\r\n".join(lines) + "\r\n\r\n")
        await talk.send(data)
        talk.keep = True

    return answer


def links(*urls: str) -> str:
    """A page of links."""
    anchors = "".join(f'<p><a href="{url}">link</a></p>\n' for url in urls)
    return f"<!doctype html><title>links</title>\n{anchors}"


def sends(text: bytes | str) -> Behaviour:
    """These bytes, raw, and the end of the connection."""

    async def answer(talk: Talk) -> None:
        await talk.send(text)

    return answer


def redirect(to: str) -> Behaviour:
    """A redirect to a fixed place."""
    return page("", "302 Found", Location=to)


def redirect_on(most: int) -> Behaviour:
    """/x/7 leads to /x/8 and so on; at `most` it ends, so that a test does as well."""

    async def answer(talk: Talk) -> None:
        stem, number = talk.path.rpartition("/")[0], talk.number
        behaviour = page("the end") if number >= most else redirect(f"{stem}/{number + 1}")
        await behaviour(talk)

    return answer


def more(most: int, each: int = 3) -> Behaviour:
    """A page that always has new links to pages like itself, up to `most`."""

    async def answer(talk: Talk) -> None:
        stem, number = talk.path.rpartition("/")[0], talk.number
        new = [number * each + step for step in range(1, each + 1)]
        await page(links(*(f"{stem}/{n}" for n in new if n < most)))(talk)

    return answer


def endless(head: str, unit: bytes, pause: float = 0.0) -> Behaviour:
    """The head, then the unit again and again until the client goes away."""

    async def answer(talk: Talk) -> None:
        await talk.send(head)
        while not talk.gone:
            await talk.send(unit)
            await asyncio.sleep(pause)

    return answer


async def silence(talk: Talk) -> None:
    """Not one byte, ever."""
    await talk.reader.read()


async def hang_up(talk: Talk) -> None:
    """Close without an answer."""


async def reset_at_once(talk: Talk) -> None:
    """A reset instead of an answer."""
    talk.reset()


async def reset_in_body(talk: Talk) -> None:
    """Half of what was announced, then a reset."""
    await talk.send(HTML + "Content-Length: 100\r\n\r\n" + "half of it. " * 4)
    await asyncio.sleep(0.05)  # or the reset overtakes the bytes
    talk.reset()


def vanish_after(count: int) -> Behaviour:
    """Answers `count` pages, then the server is gone for good, in the middle of the next."""
    answered = itertools.count()

    async def answer(talk: Talk) -> None:
        if next(answered) < count:
            await page("still here")(talk)
        else:
            await talk.send(HTML + "Content-Length: 100\r\n\r\nhalf")
            talk.server.vanish()

    return answer


def cookies(count: int, size: int) -> Behaviour:
    """So many cookies of that size, for the whole site."""
    lines = "".join(f"Set-Cookie: c{n}={'x' * size}; Path=/\r\n" for n in range(count))
    return sends(HTML + lines + "Content-Length: 2\r\n\r\nok")


def bombed(megabytes: int, layers: int = 0, **extra: str) -> Behaviour:
    """Zeros in gzip, and that in more gzip; made when it is asked for, since it takes a while."""

    async def answer(talk: Talk) -> None:
        await page(wrapped(bomb(megabytes), layers), **extra)(talk)

    return answer


# --- certificates --------------------------------------------------------------------------------


class Certificates:
    """An authority of its own, `trust` being its PEM, and servers' contexts good and bad."""

    def __init__(self) -> None:
        self._authority = trustme.CA()
        self.trust = self._authority.cert_pem.bytes()

    def good(self) -> ssl.SSLContext:
        """What the authority vouches for."""
        return _context(self._authority.issue_cert("127.0.0.1"))

    def wrong_name(self) -> ssl.SSLContext:
        """For another host."""
        return _context(self._authority.issue_cert("other.invalid"))

    def expired(self) -> ssl.SSLContext:
        """Good for a month, long ago."""
        span = (datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 2, 1, tzinfo=UTC))
        return _context(
            self._authority.issue_cert("127.0.0.1", not_before=span[0], not_after=span[1])
        )

    def unknown(self) -> ssl.SSLContext:
        """By an authority that nobody knows."""
        return _context(trustme.CA().issue_cert("127.0.0.1"))


def _context(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


# --- payloads ------------------------------------------------------------------------------------


@functools.cache
def bomb(megabytes: int) -> bytes:
    """A gzip file of that many megabytes of zeros: one deflate block, over and over."""
    unit = bytes(1 << 20)
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(unit) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(megabytes):
        checksum = zlib.crc32(unit, checksum)
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
    tail = struct.pack("<II", checksum, megabytes << 20 & 0xFFFFFFFF)
    return head + block * megabytes + packer.flush() + tail


def wrapped(data: bytes, layers: int) -> bytes:
    """The data in more layers of gzip."""
    for _ in range(layers):
        data = gzip.compress(data, 9, mtime=0)
    return data


def noise(size: int) -> bytes:
    """Bytes without sense, the same each time."""
    return random.Random(size).randbytes(size)


def many_links(count: int, prefix: str) -> str:
    """A page of so many links to different pages."""
    return links(*(f"{prefix}{n}" for n in range(count)))


def header_lines(count: int) -> str:
    """So many different header fields."""
    return "".join(f"X-Flood-{n}: {'y' * 20}\r\n" for n in range(count))


def numbered(prefix: str, count: int) -> Iterator[str]:
    """prefix0, prefix1, ..."""
    return (f"{prefix}{n}" for n in range(count))
