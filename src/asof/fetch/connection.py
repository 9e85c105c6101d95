"""Connections: each carries one exchange at a time and watches the clock meanwhile, or waits in the
pool for its next request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from asof.errors import StorageError
from asof.fetch.reply import Reply
from asof.fetch.request import Place
from asof.fetch.settings import FetchSettings
from asof.fetch.unfetched import Unfetched
from asof.model import Tls

# How often the rate of a slow body is looked at.
_RATE_INTERVAL = 1.0
# More than this in one go is a flood: the sender is faster than we are.
_FLOOD = 1 << 16


@dataclass(slots=True, eq=False)
class Connection(asyncio.BaseProtocol):
    """A socket, in its two moods: idle (no reply wanted) and busy (a reply on its way).

    A timer is not set anew for every request: the one that is there runs out, sees that there is
    time left, and sets itself again. So an exchange costs no timer at all.
    """

    _loop: asyncio.AbstractEventLoop
    _settings: FetchSettings
    _on_lost: Callable[[Connection], None]
    peer: str = ""
    tls: Tls | None = None
    error: Exception | None = None  # that ended the connection, if one did
    lost: asyncio.Future[None] = field(init=False)  # done when the socket is closed
    _transport: asyncio.Transport | None = None
    _reply: Reply | None = None
    _waiter: asyncio.Future[None] | None = None
    _asked: float = 0.0
    _heard: float = 0.0
    _deadline: float = 0.0
    _timer: asyncio.TimerHandle | None = None
    _timer_at: float = 0.0

    def __post_init__(self) -> None:
        self.lost = self._loop.create_future()

    # -- for the client

    @property
    def transport(self) -> asyncio.Transport:
        if self._transport is None:
            raise Unfetched("reset", "the connection ended before it began", transient=True)
        return self._transport

    @transport.setter
    def transport(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    @property
    def open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    async def ask(self, request: bytes, reply: Reply, deadline: float) -> None:
        """Send a request and let `reply` take what comes, until it is over or time has run out.

        `deadline` is in the loop's time. Without a whole head by then: Unfetched. A connection
        that ends without a byte leaves the reply without a head, and `error` says why.
        """
        if not self.open:
            return
        self._reply = reply
        self._waiter = self._loop.create_future()
        self._asked = self._heard = now = self._loop.time()
        self._deadline = deadline
        self.transport.write(request)
        self._watch(self._due(now))
        try:
            await self._waiter
        except BaseException:
            self.abort()
            raise
        finally:
            self._reply = None

    def rest(self) -> None:
        self._watch(self._due(self._heard))

    def abort(self) -> None:
        """Close at once. A polite TLS goodbye is not worth waiting for."""
        self._stop_watching()
        if self._transport is not None:
            self._transport.abort()

    # -- for the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A cast, for the transports of uvloop are not of this class.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._reply is None:
            # Nobody asked: what follows a request now could be taken for its answer.
            self.abort()
            return
        self._heard = self._loop.time()
        try:
            if self._reply.feed(data):
                self._finish()
            elif len(data) >= _FLOOD:
                self._give_way()
        except StorageError as error:
            self._finish(error)

    def eof_received(self) -> None:
        self._end()  # the transport closes itself

    def connection_lost(self, exc: Exception | None) -> None:
        self.error = exc
        self._end()
        self._stop_watching()
        if not self.lost.done():
            self.lost.set_result(None)
        self._on_lost(self)

    # -- inside

    def _give_way(self) -> None:
        """Let others have a turn before more is read.

        libuv reads a socket up to 32 times in a row. Where a server sends as fast as it can, and
        what takes long to read (a byte a chunk: 0.1 s for 256 KiB), nothing else would run for
        seconds: no timer, no signal, no other host.
        """
        if self.open:
            self.transport.pause_reading()
            self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        if self.open:
            self.transport.resume_reading()

    def _end(self) -> None:
        if self._reply is None or self._waiter is None or self._waiter.done():
            return
        try:
            self._reply.eof()
        except StorageError as error:
            self._finish(error)
        else:
            self._finish()

    def _finish(self, error: Exception | None = None) -> None:
        if self._waiter is None or self._waiter.done():
            return
        if error is None:
            self._waiter.set_result(None)
        else:
            self._waiter.set_exception(error)

    def _due(self, now: float) -> float:
        if self._reply is None:
            return self._heard + self._settings.keep_idle
        due = min(self._heard + self._settings.idle_timeout, self._deadline)
        if self._settings.min_rate:
            due = min(due, max(self._asked + self._settings.rate_grace, now + _RATE_INTERVAL))
        return due

    def _watch(self, when: float) -> None:
        if self._timer is not None:
            if self._timer_at <= when:
                return
            self._timer.cancel()
        self._timer_at = when
        self._timer = self._loop.call_at(when, self._look)

    def _stop_watching(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        """The timer ran out: is there anything to give up?"""
        self._timer = None
        now, settings = self._loop.time(), self._settings
        if self._reply is None:
            if now >= self._heard + settings.keep_idle:
                self.abort()
                return
        elif now >= self._deadline:
            self._give_up(f"not done within {settings.total_timeout:g} s")
        elif now >= self._heard + settings.idle_timeout:
            self._give_up(f"nothing came for {settings.idle_timeout:g} s")
        elif (
            self._reply.head is not None
            and (elapsed := now - self._asked) >= settings.rate_grace
            and self._reply.body.size < elapsed * settings.min_rate
        ):
            self._give_up(f"less than {settings.min_rate:g} bytes a second", "too-slow")
        self._watch(self._due(now))

    def _give_up(self, detail: str, note: str = "") -> None:
        reply = self._reply
        if reply is None or self._waiter is None or self._waiter.done():
            return
        if reply.head is None:
            self._finish(Unfetched("timeout", detail, transient=True))
        else:
            reply.cut("time", note)
            self._finish()


class Pool:
    """Idle connections by place. The one used last goes first: it is the least likely stale."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._idle: dict[Place, list[Connection]] = {}
        # Which waits where, the longest waiting first.
        self._order: dict[Connection, Place] = {}

    def take(self, place: Place) -> Connection | None:
        """An open connection to this place, no longer in the pool; None when there is none."""
        waiting = self._idle.get(place)
        while waiting:
            connection = waiting.pop()
            del self._order[connection]
            if connection.open:
                return connection
        return None

    def give(self, place: Place, connection: Connection) -> None:
        self._idle.setdefault(place, []).append(connection)
        self._order[connection] = place
        connection.rest()
        if len(self._order) > self._most:
            oldest = next(iter(self._order))
            self.drop(oldest)
            oldest.abort()

    def drop(self, connection: Connection) -> None:
        place = self._order.pop(connection, None)
        if place is None:
            return
        waiting = self._idle[place]
        waiting.remove(connection)
        if not waiting:
            del self._idle[place]
