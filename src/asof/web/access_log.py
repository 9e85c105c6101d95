"""Who asked for what, in the Common Log Format that web servers have written since NCSA httpd."""

import logging
import os
import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from asof.clock import Clock, Instant, http_date

# What a client writes must neither end the line nor the quotes, nor act on a terminal.
_UNSAFE = re.compile(rb"[^ -!#-\[\]-~]")
_logger = logging.getLogger("uvicorn.error")


class AccessLog:
    """Writes a line for each answer. Lines of several processes do not mix: each is one write."""

    def __init__(self, app: ASGIApp, descriptor: int, clock: Clock) -> None:
        self.app = app
        self._descriptor = descriptor
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, status, size = self._clock.now(), "-", 0

        async def send_counted(message: Message) -> None:
            nonlocal status, size
            status = str(message.get("status", status))
            if scope["method"] != "HEAD":
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, send_counted)
        finally:
            query = b"?" + scope["query_string"] if scope["query_string"] else b""
            words = (scope["method"].encode(), scope["raw_path"] + query)
            request = b"%s %s HTTP/%s" % (*words, scope["http_version"].encode())
            self._write(scope["client"], begun, request, status, size)

    def refused(self, client: tuple[str, int] | None, status: int) -> None:
        """Note an answer to what was no request."""
        self._write(client, self._clock.now(), b"-", str(status), 0)

    def _write(self, client: tuple[str, int] | None, at: Instant, request: bytes, status: str,
               size: int) -> None:  # fmt: skip
        written = line(client[0] if client else "-", at, request, status, size)
        try:
            os.write(self._descriptor, written)
        except OSError as error:  # a full disk must not keep anyone from reading
            _logger.error("The access log cannot be written: %s.", error.strerror)


def line(client: str, at: Instant, request: bytes, status: str, size: int) -> bytes:
    """One answer, on one line in ASCII whatever the request held."""
    date = http_date(at)
    when = f"{date[5:7]}/{date[8:11]}/{date[12:16]}:{date[17:25]} +0000"
    safe = _UNSAFE.sub(lambda found: b"\\x%02x" % found[0][0], request).decode("ascii")
    return f'{client} - - [{when}] "{safe}" {status} {size or "-"}\n'.encode()
