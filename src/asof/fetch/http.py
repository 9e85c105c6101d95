"""The client: a URL in, an Exchange or a Failure out, over connections that are used again.

One `fetch` is one request and one response: redirects are not followed, so that every hop is an
exchange of its own. The web's failures are values; only a failing disk raises (StorageError).
"""

import asyncio
from pathlib import Path
from typing import Protocol

from asof.clock import SECOND, Clock
from asof.fetch.addresses import AddressPolicy
from asof.fetch.connection import Connection, Pool
from asof.fetch.cookies import CookieJar
from asof.fetch.dial import Dialer
from asof.fetch.reply import Judge, Reply
from asof.fetch.request import Request, added_lines, parse_proxy, prepare, split_url, standing_lines
from asof.fetch.settings import FetchSettings
from asof.fetch.spool import Spool
from asof.fetch.unfetched import Unfetched
from asof.http.head import Head
from asof.http.wire import End, Framer
from asof.model import Body, Exchange, Failure, Headers, Timings


class Fetcher(Protocol):
    """Whatever can get a URL."""

    async def fetch(
        self, url: str, headers: Headers = (), judge: Judge | None = None
    ) -> Exchange | Failure:
        """One request for a canonical URL, with added headers, and what came of it.

        An answer that `judge` does not want is a Failure "unwanted", with its words as the detail.
        """
        ...

    async def close(self) -> None: ...


class HttpClient(Fetcher):
    """HTTP/1.1 over sockets of its own. One client per crawl: cookies and connections are its.

    Bodies over `settings.spool_over` bytes are files in `spool`, which belong to the caller.
    `allow_address` can keep a crawl out of private networks. It sees every address before it is
    connected to; behind a proxy, which looks names up itself, it sees the host as it is written.
    """

    def __init__(
        self,
        settings: FetchSettings,
        clock: Clock,
        spool: Path,
        allow_address: AddressPolicy | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._spool = spool
        self._proxy = parse_proxy(settings.proxy) if settings.proxy else None
        self._jar = CookieJar(clock) if settings.cookies else None
        self._trust = standing_lines(settings.user_agent, settings.accept)
        self._pool = Pool(settings.max_idle)
        self._dialer = Dialer(settings, clock, self._proxy, allow_address, self._pool.drop)

    async def fetch(
        self, url: str, headers: Headers = (), judge: Judge | None = None
    ) -> Exchange | Failure:
        started, began = self._clock.now(), self._clock.monotonic()
        deadline = asyncio.get_running_loop().time() + self._settings.total_timeout
        try:
            request = self._prepare(url, headers)
            connection, reply, head, end = await self._converse(request, deadline, judge)
        except Unfetched as why:
            return Failure(
                url, why.reason, why.detail, started, why.transient, why.request, why.peer, why.tls
            )
        body = self._release(connection, request, reply)
        times = (reply.asked, reply.first_byte, self._clock.monotonic())
        return Exchange(
            url=url,
            request=request.kept,
            head=head.raw,
            body=body,
            status=head.status,
            headers=head.headers,
            started=started,
            timings=Timings(*[int((time - began) * SECOND) for time in times]),
            payload_digest=reply.digest(),
            head_start=head.start,
            truncated=end.truncated,
            anomalies=(*end.anomalies, *reply.notes),
            peer=connection.peer,
            tls=connection.tls,
        )

    async def close(self) -> None:
        await self._dialer.close()

    def _prepare(self, url: str, headers: Headers) -> Request:
        place, target = split_url(url)
        if self._proxy is not None:
            self._dialer.permitted(place, [place.host])
        lines = self._trust + (added_lines(headers) if headers else "")
        if self._jar is not None:
            lines += self._jar.line_for(place, target)
        return prepare(place, target, lines, self._proxy)

    async def _converse(
        self, request: Request, deadline: float, judge: Judge | None
    ) -> tuple[Connection, Reply, Head, End]:
        """Send the request, on a connection that is there or on a new one, and take the answer."""
        connection = self._pool.take(request.via)
        if connection is not None:
            reply = await self._ask(connection, request, deadline, judge, reused=True)
            if reply.head is not None and reply.end is not None and not reply.stale:
                return connection, reply, reply.head, reply.end
            # A GET may be asked once more (RFC 9112 section 9.3.1).
            reply.body.discard()
            connection.abort()
        connection = await self._dialer.dial(request.place, deadline)
        reply = await self._ask(connection, request, deadline, judge)
        if reply.head is None or reply.end is None:
            connection.abort()
            error = connection.error
            why = (
                Unfetched("empty", "the server closed without an answer", transient=True)
                if error is None
                else Unfetched("reset", str(error) or "the connection was reset", transient=True)
            )
            raise _explained(why, request, connection)
        return connection, reply, reply.head, reply.end

    async def _ask(
        self,
        connection: Connection,
        request: Request,
        deadline: float,
        judge: Judge | None,
        *,
        reused: bool = False,
    ) -> Reply:
        settings = self._settings
        framer = Framer(head_limit=settings.max_head, body_limit=settings.max_body)
        body = Spool(self._spool, settings.spool_over)
        reply = Reply(framer, self._clock, body, judge, reused)
        try:
            await connection.ask(request.wire, reply, deadline)
        except BaseException as error:
            reply.body.discard()
            if isinstance(error, Unfetched):
                _explained(error, request, connection)
            raise
        why = Unfetched("unwanted", reply.unwanted) if reply.unwanted else None
        if self._proxy is not None and reply.head is not None and reply.head.status == 407:
            why = why or Unfetched("proxy", "the proxy wants a password")
        if why is not None:
            reply.body.discard()
            connection.abort()
            raise _explained(why, request, connection)
        return reply

    def _release(self, connection: Connection, request: Request, reply: Reply) -> Body:
        """Take the body, keep the cookies, and let the connection wait if it can be used again."""
        if reply.reusable and connection.open:
            self._pool.give(request.via, connection)
        else:
            connection.abort()
        if self._jar is not None and reply.head is not None:
            self._jar.keep(request.place, request.target, reply.head.headers)
        return reply.body.finish()


def _explained(why: Unfetched, request: Request, connection: Connection) -> Unfetched:
    why.request, why.peer, why.tls = request.kept, connection.peer, connection.tls
    return why
