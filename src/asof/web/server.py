"""The server of `asof serve`: as many processes as there are cores, one address."""

import logging
import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from threading import Thread

import uvicorn
from anyio.to_thread import current_default_thread_limiter
from starlette.types import ASGIApp

from asof.archive import OpenArchive
from asof.clock import Clock, SystemClock
from asof.errors import UsageError
from asof.web import connection
from asof.web.access_log import AccessLog
from asof.web.app import create_library
from asof.web.connection import Connection

# More processes gain little for the few who read an archive at once, and each takes 40 MB.
_MOST_PROCESSES = 4
# Threads of a process that make answers: nearly all they do needs the interpreter's one lock.
_THREADS = 4
# Seconds for answers that are under way when it ends.
_END_SECONDS = 3


@dataclass(frozen=True, slots=True)
class Service:
    """What is served, where, and what is told of it; `log` is a file's descriptor."""

    folders: Sequence[Path]
    host: str
    port: int
    log: int | None = None
    is_verbose: bool = False
    clock: Clock = field(default_factory=SystemClock)


def serve(service: Service, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; `ready` gets the address once it answers."""
    for folder in service.folders:  # what is wrong with one is told before anything is promised
        OpenArchive.open(folder).close()
    begun, alive = service.clock.now(), os.pipe()
    own, beside = bound(service.host, service.port), []
    port = own.getsockname()[1]
    if (others := _cores() - 1) > 0:
        # That it could be bound alone has shown that nobody else listens there.
        own.close()
        for _ in range(others):
            with bound(service.host, port, shared=True) as listener:
                # Forked before any thread, connection or event loop is there.
                words = (service, listener, begun, alive)
                beside.append(get_context("fork").Process(target=_beside, args=words, daemon=True))
                beside[-1].start()
        own = bound(service.host, port, shared=True)
    name = f"[{service.host}]" if ":" in service.host else service.host
    ready(f"http://{name}:{port}/")
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:  # it would end before the others
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _run(service, own, begun)
    finally:
        os.close(alive[1])
        for process in beside:
            process.join(_END_SECONDS)


def _beside(service: Service, listener: socket.socket, begun: int, alive: tuple[int, int]) -> None:
    """One of the other processes; it ends when the first does, however that ends."""
    os.close(alive[1])

    def watch() -> None:
        os.read(alive[0], 1)
        os.kill(os.getpid(), signal.SIGINT)

    Thread(target=watch, daemon=True).start()
    with suppress(KeyboardInterrupt):
        _run(service, listener, begun)


def _run(service: Service, listener: socket.socket, begun: int) -> None:
    with ExitStack() as opened:
        archives = [
            opened.enter_context(OpenArchive.open(folder, clock=service.clock))
            for folder in service.folders
        ]
        app = create_library(archives, service.clock, hosts=(service.host,), era=begun)
        if service.log is not None:
            app = AccessLog(app, service.log, service.clock)
        Server(configured(app, is_verbose=service.is_verbose)).run(sockets=[listener])


def configured(app: ASGIApp, *, is_verbose: bool = False) -> uvicorn.Config:
    return uvicorn.Config(
        app, http=Connection, ws="none", lifespan="off", proxy_headers=False,
        log_level=logging.INFO if is_verbose else logging.ERROR, access_log=False,
        server_header=False, timeout_graceful_shutdown=_END_SECONDS,
        limit_concurrency=connection.MOST, h11_max_incomplete_event_size=connection.HEAD_LIMIT,
    )  # fmt: skip


class Server(uvicorn.Server):
    """One process."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        current_default_thread_limiter().total_tokens = _THREADS
        await super().startup(sockets)


def _cores() -> int:
    """How many processes serve: one where no system spreads connections over several."""
    if not hasattr(os, "sched_getaffinity") or not hasattr(socket, "SO_REUSEPORT"):
        return 1
    return min(len(os.sched_getaffinity(0)), _MOST_PROCESSES)


def bound(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A socket that listens; one of several processes' if it is shared."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise UsageError(
            f"Cannot listen on {host} port {port}: {error.strerror or error}.",
            hint="Choose another with --port (0 takes any free one) or --host.",
        ) from error
    return listener
