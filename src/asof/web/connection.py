"""One connection of `asof serve`: its patience with others has an end, and its answers are clear.

Who sends a request byte by byte, or does not read what was asked for, holds a place that others
could have. Once a second each connection looks how long it has waited without getting on.
"""

import asyncio
from http import HTTPStatus
from operator import attrgetter
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from asof.web.access_log import AccessLog
from asof.web.turns import reader

# Connections of a process that are answered. Of more, those make room that let it wait; if nobody
# does, it says that it cannot answer, to up to twice as many.
MOST = 512
# To one client of a server for all, where clients have addresses of their own: browsers take 6.
MOST_OF_ONE = 128
# Seconds for a request, from when it could have come; uvicorn ends idle ones after 5.
HEAD_SECONDS = 10
# Seconds in which a reader must have taken some of what is sent, and how much of it.
READ_SECONDS = 30
READ_LEAST = 16 << 10
# Seconds for who is refused to read why, and after which who does not read makes room for others.
GRACE_SECONDS = 1
# Bytes of a request's head, its first line included.
HEAD_LIMIT = 64 << 10

TOLD = {
    HTTPStatus.BAD_REQUEST: "This is no HTTP request.\n",
    HTTPStatus.REQUEST_TIMEOUT: "The request did not come to its end.\n",
    HTTPStatus.REQUEST_URI_TOO_LONG: "The address is too long.\n",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: "The head of the request is too long.\n",
}


class Connection(H11Protocol):
    """uvicorn's, with an end to waiting: it has none for heads, bodies and readers."""

    # So many may one client have, if all that it has are its own.
    of_one: int | None = None
    connections: set["Connection"]  # type: ignore[assignment]
    _who = ""
    _since = 0.0  # when it got on last
    _unread = 0
    _is_refused = False
    _tick: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        self._who = reader(self.client[0]) if self.client else ""
        if self._has_place():
            self._tick = self.loop.call_later(1, self._look)
        else:
            transport.abort()

    def _has_place(self) -> bool:
        """Whether there is room for it. Of too many, who has let us wait longest makes room."""
        everybody, most_of_one = self.connections, self.of_one or 2 * MOST
        own = [each for each in everybody if each._who == self._who] if self.of_one else []
        crowd = own if len(own) > most_of_one else everybody if len(everybody) >= MOST else ()
        waiting = [each for each in crowd if each is not self and each._is_waiting()]
        if waiting:
            longest = min(waiting, key=attrgetter("_since"))
            longest.transport.abort()
            everybody.discard(longest)
            return True
        return len(everybody) <= 2 * MOST and len(own) <= most_of_one

    def connection_lost(self, exc: Exception | None) -> None:
        if self._tick is not None:
            self._tick.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._is_refused:
            super().data_received(data)

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()

    def resume_writing(self) -> None:
        self._since = self.loop.time()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        written = self.conn.trailing_data[0]
        if len(written) <= HEAD_LIMIT:
            self._refuse(HTTPStatus.BAD_REQUEST)
        elif b"\n" in written:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        else:
            self._refuse(HTTPStatus.REQUEST_URI_TOO_LONG)

    def _is_answering(self) -> bool:
        is_begun = self.cycle is not None and not self.cycle.response_complete
        return is_begun and not self._is_refused

    def _is_at_work(self) -> bool:
        """Whether nothing is missing that a request needs for its answer."""
        return self._is_answering() and (self.cycle.response_started or not self.cycle.more_body)

    def _is_waiting(self) -> bool:
        """Whether it is the client who has to do something, and has not done it yet."""
        is_unread = self.loop.time() - self._since > GRACE_SECONDS and self._unread
        return not self._is_at_work() or bool(is_unread)

    def _look(self) -> None:
        self._tick = self.loop.call_later(1, self._look)
        now, unread = self.loop.time(), self.transport.get_write_buffer_size()
        if unread <= self._unread - READ_LEAST or (self._is_at_work() and not unread):
            self._since = now
        self._unread = unread if self._since == now else max(unread, self._unread)
        patience = READ_SECONDS if unread else HEAD_SECONDS
        if now - self._since <= (GRACE_SECONDS if self._is_refused else patience):
            return
        is_begun = self.conn.trailing_data[0] or self._is_answering()
        if is_begun and not unread and not self._is_refused:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
        else:
            self.logger.info("Let go of one who neither asks nor reads.")
            self.transport.abort()

    def _refuse(self, status: HTTPStatus) -> None:
        """Answer what has become no request; what still comes is read and thrown away.

        A connection that is closed while something comes in takes the answer with it.
        """
        self.logger.info("Refused a request: %d %s.", status, status.phrase)
        if is_answering := self._is_answering():
            if self.cycle.response_started:
                self.transport.abort()
                return
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        told = TOLD[status].encode()
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-length: {len(told)}\r\n"
            "content-type: text/plain; charset=utf-8\r\nx-content-type-options: nosniff\r\n"
            "connection: close\r\n\r\n"
        )
        self.conn.send_failed()
        self.transport.write(head.encode() + told)
        self.transport.write_eof()
        self._is_refused, self._since = True, self.loop.time()
        app: Any = self.app
        if isinstance(app, AccessLog) and not is_answering:
            app.refused(self.client, status)


class OneOfMany(Connection):
    """That of a stranger, who may not take the places of all others."""

    of_one = MOST_OF_ONE
