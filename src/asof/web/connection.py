"""One connection of `asof serve`: its patience with others has an end, and its answers are clear.

Who sends a request byte by byte, or does not read what was asked for, holds a place that others
could have. Once a second each connection looks how long it has waited without getting on.
"""

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from asof.web.access_log import AccessLog

# Connections of a process that are answered; to more of them it says so, up to twice as many.
MOST = 512
# Seconds for the head of a request, from when it could have come; uvicorn ends idle ones after 5.
HEAD_SECONDS = 10
# Seconds in which a reader must have taken some of what is sent, and how much of it.
READ_SECONDS = 30
READ_LEAST = 16 << 10
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

    _waited = 0
    _unread = 0
    _is_refused = False
    _tick: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > 2 * MOST:
            transport.abort()
        else:
            self._tick = self.loop.call_later(1, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._tick is not None:
            self._tick.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._is_refused:
            super().data_received(data)

    def on_response_complete(self) -> None:
        self._waited = 0
        super().on_response_complete()

    def resume_writing(self) -> None:
        self._waited = 0
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
        return self.cycle is not None and not self.cycle.response_complete

    def _look(self) -> None:
        self._tick = self.loop.call_later(1, self._look)
        unread: int = self.transport.get_write_buffer_size()
        if unread <= self._unread - READ_LEAST or (self._is_answering() and not unread):
            self._waited = 0
        self._unread = unread if self._waited == 0 else max(unread, self._unread)
        self._waited += 1
        if self._waited <= (READ_SECONDS if unread else HEAD_SECONDS):
            return
        if not unread and not self._is_refused and self.conn.trailing_data[0]:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
        else:
            self.logger.info("Let go of one who neither asks nor reads.")
            self.transport.abort()

    def _refuse(self, status: HTTPStatus) -> None:
        """Answer what has become no request; what still comes is read and thrown away.

        A connection that is closed while something comes in takes the answer with it.
        """
        self.logger.info("Refused a request: %d %s.", status, status.phrase)
        if self._is_answering():
            self.transport.abort()
            return
        told = TOLD[status].encode()
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-length: {len(told)}\r\n"
            "content-type: text/plain; charset=utf-8\r\nx-content-type-options: nosniff\r\n"
            "connection: close\r\n\r\n"
        )
        self.conn.send_failed()
        self.transport.write(head.encode() + told)
        self.transport.write_eof()
        self._is_refused, self._waited = True, 0
        app: Any = self.app
        if isinstance(app, AccessLog):
            app.refused(self.client, status)
