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

from asof.archive import OpenArchive
from asof.clock import Clock, SystemClock
from asof.errors import UsageError
from asof.web.access_log import AccessLog
from asof.web.app import create_library
from asof.web.connection import HEAD_LIMIT, MOST, Connection

# More processes gain little for the few who read an archive at once, and each takes 40 MB.
_MOST_PROCESSES = 4
# Threads of a process that make answers: nearly all they do needs the interpreter's one lock.
_THREADS = 6


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
    count = min(len(os.sched_getaffinity(0)), _MOST_PROCESSES) if _can_share() else 1
    listeners = listen(service.host, service.port, count)
    begun = service.clock.now()
    alive, ours = os.pipe()
    for listener in listeners[1:]:
        # Forked before any thread, connection or event loop is there.
        words = (service, listener, begun, (alive, ours))
        get_context("fork").Process(target=_beside, args=words, daemon=True).start()
    name = f"[{service.host}]" if ":" in service.host else service.host
    ready(f"http://{name}:{listeners[0].getsockname()[1]}/")
    _run(service, listeners[0], begun)


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
        config = uvicorn.Config(
            app, http=Connection, ws="none", lifespan="off", proxy_headers=False,
            log_level=logging.INFO if service.is_verbose else logging.ERROR, access_log=False,
            server_header=False, limit_concurrency=MOST, timeout_graceful_shutdown=3,
            h11_max_incomplete_event_size=HEAD_LIMIT,
        )  # fmt: skip
        _Server(config).run(sockets=[listener])


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        current_default_thread_limiter().total_tokens = _THREADS
        await super().startup(sockets)


def _can_share() -> bool:
    """Whether the system spreads connections over the processes that listen on one port."""
    return hasattr(socket, "SO_REUSEPORT") and hasattr(os, "sched_getaffinity")


def listen(host: str, port: int, count: int = 1) -> list[socket.socket]:
    """Sockets that listen on one address, for a process each."""
    try:
        first = _bound(host, port, shared=False)
        if count == 1:
            return [first]
        # Others may not listen where we do, which the first has shown by being alone.
        port = first.getsockname()[1]
        first.close()
        return [_bound(host, port, shared=True) for _ in range(count)]
    except OSError as error:
        raise UsageError(
            f"Cannot listen on {host} port {port}: {error.strerror or error}.",
            hint="Choose another with --port (0 takes any free one) or --host.",
        ) from error


def _bound(host: str, port: int, *, shared: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except OSError:
        listener.close()
        raise
    return listener
