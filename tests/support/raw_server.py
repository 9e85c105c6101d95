"""A server that sends exactly what a test tells it, and a client, on either event loop."""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from asof.clock import SystemClock
from asof.fetch.http import HttpClient
from asof.fetch.settings import FetchSettings
from asof.model import Exchange, Failure
from support.odd_responses import PLAIN

Result = TypeVar("Result")
QUICK = FetchSettings(connect_timeout=5, idle_timeout=5, total_timeout=10)


class Run(Protocol):
    """The fixture `run`: runs a coroutine on the event loop that is tested."""

    def __call__(self, coroutine: Coroutine[Any, Any, Result]) -> Result: ...


@dataclass
class Reply:
    """What a server sends: pieces, a pause before each, and what it does then.

    after: keep (the connection), close, reset, or hang (say nothing more, ever).
    """

    pieces: tuple[bytes, ...] = (PLAIN,)
    pause: float = 0.0
    after: str = "keep"


@dataclass
class Server:
    """Answers by target; a list of replies is used up one by one. Remembers what it was asked."""

    replies: dict[str, Reply | list[Reply]] = field(default_factory=dict)
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    open: int = 0
    port: int = 0
    scheme: str = "http"
    host: str = "127.0.0.1"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    def reply_to(self, request: bytes) -> Reply:
        target = request.split(b" ", 2)[1].decode("latin-1")
        reply = self.replies.get(target, Reply())
        return (reply.pop(0) if len(reply) > 1 else reply[0]) if isinstance(reply, list) else reply

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        try:
            await self._converse(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, RuntimeError):
            pass  # the client went away; RuntimeError is how uvloop says so
        finally:
            self.open -= 1
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            request = await reader.readuntil(b"\r\n\r\n")
            self.requests.append(request)
            reply = self.reply_to(request)
            for piece in reply.pieces:
                if reply.pause:
                    await asyncio.sleep(reply.pause)
                writer.write(piece)
                await writer.drain()
            if reply.after == "hang":
                await reader.read()
            if reply.after == "reset":
                # Let the bytes arrive before the reset overtakes them.
                await asyncio.sleep(0.05)
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, linger
                )
                writer.transport.abort()
            if reply.after != "keep":
                return


@asynccontextmanager
async def serving(
    replies: Mapping[str, Reply | list[Reply]] | None = None,
    *,
    tls: ssl.SSLContext | None = None,
    host: str = "127.0.0.1",
    **options: Any,
) -> AsyncIterator[Server]:
    server = Server(dict(replies or {}), scheme="https" if tls else "http", **options)
    listener = await asyncio.start_server(server.serve, host, 0, ssl=tls, limit=1 << 20)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        await until(lambda: server.open == 0)


@asynccontextmanager
async def client(
    spool: Path, settings: FetchSettings = QUICK, **options: Any
) -> AsyncIterator[HttpClient]:
    fetcher = HttpClient(settings, SystemClock(), spool, **options)
    try:
        yield fetcher
    finally:
        await fetcher.close()


async def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 (what happens is outside of this program's events)
            await asyncio.sleep(0.005)


def sockets() -> int:
    """How many sockets this process has open."""
    count = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{name}").startswith("socket:")
        except OSError:
            continue
    return count


def digests_agree(exchange: Exchange | Failure) -> bytes:
    assert isinstance(exchange, Exchange)
    body = b"".join(exchange.body.chunks())
    assert len(body) == exchange.body.size
    assert hashlib.sha256(body).digest() == exchange.payload_digest
    return body
