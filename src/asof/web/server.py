"""The server of `asof serve`: as many processes as there are cores, one address."""

import logging
import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import uvicorn
from anyio.to_thread import current_default_thread_limiter
from starlette.types import ASGIApp

from asof.archive import OpenArchive
from asof.archive.stocktaking import take_stock
from asof.clock import Clock, SystemClock
from asof.coherence.trust_file import learn_ahead
from asof.errors import UsageError
from asof.web import connection, wabac
from asof.web.access_log import AccessLog
from asof.web.app import create_app
from asof.web.connection import Connection, OneOfMany
from asof.web.forwarded import BehindProxy, Network
from asof.web.questions import leave, new_place
from asof.web.replay_site import LOOPBACK, ReplaySite
from asof.web.turns import Buckets, Turnstile

if TYPE_CHECKING:
    from asof.web.pictures.maker import Wishes

# More processes gain little for the few who read an archive at once, and each takes 40 MB.
_MOST_PROCESSES = 4
# Threads of a process that make answers: nearly all they do needs the interpreter's one lock.
_THREADS = 4
# These wait until a server can end as it should: Python's exception for them would be lost where it
# is raised in what some object does at its own end.
_ENDING = (signal.SIGINT, signal.SIGTERM)
# Seconds for answers that are under way when it ends.
_END_SECONDS = 3


@dataclass(frozen=True, slots=True)
class Service:
    """What is served, where, and what is told of it; `log` is a file's descriptor, or opens it.

    `has_files`: its WARC files as they are, too. Archived scripts run at another port, any free one
    if it is 0. Readers who come through other servers have other addresses: `origin` of our pages,
    `replay_origin` of where scripts run. `root` stands before all addresses of pages. `names` are
    those it answers to, besides those of this machine. `proxies` are servers whose word on who asks
    is believed. Others may read where `turns` says how much. Who has the `token` may change
    something; without one, nobody. `scratch` is a folder for all processes, gone at the end.
    Thumbnails are made, where a browser can, if it `pictures`.
    """

    folders: Sequence[Path]
    host: str
    port: int
    log: int | Callable[[], int | None] | None = None
    is_verbose: bool = False
    has_files: bool = False
    clock: Clock = field(default_factory=SystemClock)
    replay_port: int = 0
    replay_origin: str = ""
    origin: str = ""
    root: str = ""
    names: tuple[str, ...] = ()
    proxies: tuple[Network, ...] = ()
    turns: Buckets | None = None
    token: str = ""
    scratch: Path | None = None
    pictures: bool = False

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names it answers to; who can read everything needs no other site to do it."""
        if self.turns is not None and not self.names:
            return ("*",)
        urls = filter(None, (self.origin, self.replay_origin))
        return (self.host, *self.names, *(urlsplit(url).hostname or "" for url in urls))

    def with_log(self) -> "Service":
        """The same with its log open."""
        return replace(self, log=self.log()) if callable(self.log) else self


def serve(service: Service, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; `ready` gets the address once it answers."""
    scratch = new_place()
    try:
        _serve(replace(service, scratch=scratch), ready)
    finally:
        leave(scratch)


def _serve(service: Service, ready: Callable[[str], None]) -> None:
    if service.turns is None:
        _stay_here(service.host)
    for folder in service.folders:  # what is wrong with one is told before anything is promised
        OpenArchive.open(folder).close()
    begun, alive = service.clock.now(), os.pipe()
    beside: list[ForkProcess] = []
    ports = [service.port] + [service.replay_port] * (wabac.installed() is not None)
    own = [bound(service.host, port) for port in ports]
    ports = [listener.getsockname()[1] for listener in own]
    port, site = ports[0], _site(service, ports)
    service = service.with_log()  # now that nothing is in the way
    if (others := _cores() - 1) > 0:
        # That they could be bound alone has shown that nobody else listens there.
        for listener in own:
            listener.close()
    # Forked before any thread, connection or event loop is there.
    wishes = _thumbnails(service, own, alive, beside)
    for _ in range(others):
        shared = [bound(service.host, port, shared=True) for port in ports]
        words = (service, shared, site, begun, alive, wishes)
        beside.append(get_context("fork").Process(target=_beside, args=words, daemon=True))
        beside[-1].start()
        for listener in shared:
            listener.close()
    if others > 0:
        own = [bound(service.host, port, shared=True) for port in ports]
    name = f"[{service.host}]" if ":" in service.host else service.host
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    ready(f"http://{name}:{port}{service.root}/")
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:  # it would end before the others
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for folder in service.folders:  # of an archive of its own: this one may be closed meanwhile
            for ahead in (take_stock, learn_ahead):
                Thread(target=ahead, args=(folder.absolute(),), daemon=True).start()
        _run(service, own, site, begun, wishes)
    finally:
        os.close(alive[1])
        for process in beside:
            process.join(_END_SECONDS)


def _site(service: Service, ports: list[int]) -> ReplaySite | None:
    """Where archived scripts run, and who may frame them."""
    if len(ports) == 1:
        return None
    main = tuple(f"http://{name}:{ports[0]}" for name in LOOPBACK)
    return ReplaySite(
        ports[1], (service.origin,) if service.origin else main, service.replay_origin
    )


def _thumbnails(
    service: Service,
    listeners: list[socket.socket],
    alive: tuple[int, int],
    beside: list[ForkProcess],
) -> "Wishes | None":
    """Who makes thumbnails, and how to ask for them; nobody for strangers, or without a browser."""
    # Here, for what makes them is a server as well.
    from asof.web.pictures.browser import installed
    from asof.web.pictures.maker import Wishes, make_thumbnails

    if not service.pictures or service.turns is not None or installed() is None:
        return None
    wishes = Wishes(service.folders)
    words = (wishes, service.clock, listeners, alive)
    beside.append(get_context("fork").Process(target=make_thumbnails, args=words, daemon=True))
    beside[-1].start()
    return wishes


def _beside(
    service: Service,
    listeners: list[socket.socket],
    site: ReplaySite | None,
    begun: int,
    alive: tuple[int, int],
    wishes: "Wishes | None",
) -> None:
    """One of the other processes; it ends when the first does, however that ends."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    os.close(alive[1])

    def watch() -> None:
        os.read(alive[0], 1)
        if service.scratch is not None:
            leave(service.scratch)  # whoever made it may have been killed
        os.kill(os.getpid(), signal.SIGINT)

    Thread(target=watch, daemon=True).start()
    with suppress(KeyboardInterrupt):
        _run(service, listeners, site, begun, wishes)


def _run(
    service: Service,
    listeners: list[socket.socket],
    site: ReplaySite | None,
    begun: int,
    wishes: "Wishes | None",
) -> None:
    with ExitStack() as opened:
        archives = [
            opened.enter_context(OpenArchive.open(folder.absolute(), clock=service.clock))
            for folder in service.folders
        ]
        app = create_app(
            archives, service.clock, hosts=service.hosts, era=begun, files=service.has_files,
            scripts=site, root=service.root, token=service.token,
            scratch=service.scratch, ask=None if wishes is None else wishes.ask,
        )  # fmt: skip
        if service.turns is not None:
            app = Turnstile(app, service.turns)
        if service.proxies:
            app = BehindProxy(app, service.proxies)
        if isinstance(service.log, int):
            app = AccessLog(app, service.log, service.clock)
        is_open = service.turns is not None and not service.proxies
        config = configured(app, is_verbose=service.is_verbose, is_open=is_open)
        Server(config).run(sockets=listeners)


def configured(app: ASGIApp, *, is_verbose: bool = False, is_open: bool = False) -> uvicorn.Config:
    """`is_open` to strangers, each of whom has an address."""
    return uvicorn.Config(
        app, http=OneOfMany if is_open else Connection,
        ws="none", lifespan="off", proxy_headers=False,
        log_level=logging.INFO if is_verbose else logging.ERROR, access_log=False,
        server_header=False, use_colors=False, timeout_graceful_shutdown=_END_SECONDS,
        limit_concurrency=connection.MOST, h11_max_incomplete_event_size=connection.HEAD_LIMIT,
    )  # fmt: skip


class Server(uvicorn.Server):
    """One process."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        current_default_thread_limiter().total_tokens = _THREADS
        await super().startup(sockets)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)


def _cores() -> int:
    """How many processes serve: one where no system spreads connections over several."""
    if not hasattr(os, "sched_getaffinity") or not hasattr(socket, "SO_REUSEPORT"):
        return 1
    return min(len(os.sched_getaffinity(0)), _MOST_PROCESSES)


def _stay_here(host: str) -> None:
    """Nothing of an archive leaves this machine unless somebody has said so."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return  # binding it says why not
    if not all(ip_address(each[4][0]).is_loopback for each in found):
        raise UsageError(
            f"Others could read the archive at {host}.",
            hint="Add --public if they may, or leave --host out.",
        )


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
        other = "" if host in LOOPBACK else " or --host"
        raise UsageError(
            f"Cannot listen on {host} port {port}: {error.strerror or error}.",
            hint=f"Choose another with --port (0 takes any free one){other}.",
        ) from error
    return listener
