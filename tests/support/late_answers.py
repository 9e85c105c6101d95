"""Answers of the synthetic server that take a while, or are cut off; on the clock's time.

Put `tests` on the path and import it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

from asof.testing import LoggedRequest, Response
from asof.testing import server as synthetic_server
from asof.testing.server import _Connection, _Request


@dataclass(frozen=True, slots=True)
class LateResponse(Response):
    """An answer that leaves after so many seconds; if `cut`, half of it and nothing more."""

    seconds: float = 0.0
    cut: bool = False


@contextmanager
def late_answers() -> Iterator[None]:
    """What is served from here on can be late."""
    with patch.object(synthetic_server, "_Connection", LateConnection):
        yield


class LateConnection(_Connection):
    """One client, which waits for what is late. It asks for one thing after the other."""

    def _answer(self, request: _Request) -> None:
        server = self._server
        now = server.clock.now()
        headers = tuple(request.fields.items())
        response = server.site.respond(
            request.method, request.path, headers, now, host=request.host
        )
        url = server.site.origins[request.host] + request.path
        server.log.add(
            LoggedRequest(
                now, url, request.host, request.method, request.path,
                response.status, request.conditional,
            )
        )  # fmt: skip
        if isinstance(response, LateResponse) and response.seconds > 0:
            self._late = asyncio.ensure_future(self._send_late(request, response))
        else:
            self._send(request, response)

    async def _send_late(self, request: _Request, response: LateResponse) -> None:
        await self._server.clock.sleep(response.seconds)
        self._send(request, response)

    def _send(self, request: _Request, response: Response) -> None:
        if self._transport.is_closing():
            return
        wire = response.wire(method=request.method, http10=request.http10, close=request.last)
        cut = isinstance(response, LateResponse) and response.cut
        self._transport.write(wire[: len(wire) // 2] if cut else wire)
        if cut or request.last:
            self._transport.close()
        self.waiting_since = asyncio.get_running_loop().time()
