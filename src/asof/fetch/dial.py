"""Making connections: names, addresses, proxies, tunnels, TLS."""

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from socket import SOCK_STREAM

from asof.clock import Clock
from asof.fetch.addresses import AddressPolicy
from asof.fetch.connection import Connection
from asof.fetch.reply import Reply
from asof.fetch.request import Place, Proxy, is_address
from asof.fetch.settings import FetchSettings
from asof.fetch.spool import Spool
from asof.fetch.unfetched import Unfetched, no_connection, no_name
from asof.http.wire import Framer
from asof.model import Tls

# What a proxy may say when it refuses a tunnel.
_REFUSAL_LIMIT = 1 << 16
_WORTH_ANOTHER_TRY = (0, 502, 503, 504)


@dataclass(eq=False)
class Dialer:
    """Opens connections, one by each `dial`. Knows again a certificate that was not trusted."""

    _settings: FetchSettings
    _clock: Clock
    _proxy: Proxy | None
    _allow_address: AddressPolicy | None
    _on_lost: Callable[[Connection], None]
    _alive: set[Connection] = field(default_factory=set)
    _closed: bool = False
    _distrusted: dict[Place, tuple[bytes, str]] = field(default_factory=dict)

    async def dial(self, place: Place, deadline: float) -> Connection:
        """A connection ready for a request to this place, or Unfetched."""
        if self._closed:
            raise Unfetched("reset", "the client was closed meanwhile", transient=True)
        limit = min(deadline, asyncio.get_running_loop().time() + self._settings.connect_timeout)
        try:
            async with asyncio.timeout_at(limit):
                if place.scheme == "https":
                    return await self._dial_securely(place, limit)
                return await self._open(place, limit)
        except TimeoutError as error:
            detail = f"no connection within {self._settings.connect_timeout:g} s"
            raise Unfetched("timeout", detail, transient=True) from error

    async def close(self) -> None:
        """End all connections that were dialled; on return every socket is closed."""
        self._closed = True
        alive = list(self._alive)
        for connection in alive:
            connection.abort()
        await asyncio.gather(*(connection.lost for connection in alive))

    def permitted(self, place: Place, addresses: list[str]) -> list[str]:
        """The addresses that the policy leaves; Unfetched when it leaves none."""
        if self._allow_address is None or not addresses:
            return addresses
        refused = self._allow_address(place, addresses)
        left = [ip for ip in addresses if ip not in refused]
        if not left:
            ip, why = next(iter(refused.items()))
            way = "--allow-private lets the crawl go there"
            raise Unfetched("refused-address", f"{place.host} is {ip}: {why}; {way}")
        return left

    # -- the socket

    async def _open(self, place: Place, limit: float) -> Connection:
        """A plain connection: to the place itself, to the proxy, or through its tunnel."""
        if self._proxy is None:
            return await self._reach(place, self.permitted(place, await resolve(place)), limit)
        proxy = self._proxy.place
        try:
            connection = await self._reach(proxy, await resolve(proxy), limit)
        except Unfetched as why:
            detail = f"{proxy.host}:{proxy.port}: {why.detail}"
            raise Unfetched("proxy", detail, transient=True) from why
        connection.peer = ""  # the proxy's address is not where the answer comes from
        if place.scheme == "https":
            await self._tunnel(connection, place, limit)
        return connection

    async def _reach(self, place: Place, addresses: list[str], limit: float) -> Connection:
        """The first address that answers; each has an equal share of the time that is left."""
        loop = asyncio.get_running_loop()
        new = partial(Connection, loop, self._settings, self._forget)
        failed = Unfetched("dns", f"{place.host} has no address")
        for at, ip in enumerate(addresses):
            share = (limit - loop.time()) / (len(addresses) - at)
            try:
                async with asyncio.timeout(share):
                    _, connection = await loop.create_connection(new, ip, place.port)
            except OSError as error:
                failed = no_connection(error)
                failed.peer = ip
            else:
                connection.peer = ip
                self._alive.add(connection)
                return connection
        raise failed

    def _forget(self, connection: Connection) -> None:
        self._alive.discard(connection)
        self._on_lost(connection)

    async def _tunnel(self, connection: Connection, place: Place, limit: float) -> None:
        """Have the proxy connect us through (RFC 9110 section 9.3.6)."""
        assert self._proxy is not None
        framer = Framer("CONNECT", body_limit=_REFUSAL_LIMIT)
        reply = Reply(framer, self._clock, Spool(Path(), _REFUSAL_LIMIT))  # never more than that
        await connection.ask(self._proxy.tunnel_request(place), reply, limit)
        status = reply.head.status if reply.head else 0
        if not 200 <= status <= 299 or reply.notes:
            connection.abort()
            answer = f"answered {status} {reply.head.reason}" if reply.head else "closed"
            raise Unfetched(
                "proxy", f"the proxy {answer} to CONNECT", transient=status in _WORTH_ANOTHER_TRY
            )

    # -- TLS over it

    async def _dial_securely(self, place: Place, limit: float) -> Connection:
        """TLS as the settings want it; whether the certificate can be trusted is found out anyhow.

        Only a strict handshake tells that, so with `verify_tls` off a server with a bad
        certificate costs a second connection, once: the certificate is then known again.
        """
        known = self._distrusted.get(place)
        problem = known[1] if known else ""
        if known is None:
            try:
                return await self._secure(place, limit, self._strict)
            except Unfetched as why:
                if self._settings.verify_tls or why.reason != "tls":
                    raise
                problem = why.detail
        connection = await self._secure(place, limit, self._lenient, problem)
        session = _session_of(connection.transport)
        certificate = (session and session.getpeercert(binary_form=True)) or b""
        if known is not None and known[0] != certificate:
            connection.abort()
            del self._distrusted[place]
            return await self._dial_securely(place, limit)
        self._distrusted[place] = (certificate, problem)
        return connection

    async def _secure(
        self, place: Place, limit: float, context: ssl.SSLContext, problem: str = ""
    ) -> Connection:
        connection = await self._open(place, limit)
        try:
            transport = await asyncio.get_running_loop().start_tls(
                connection.transport,
                connection,
                context,
                server_hostname=place.host.rstrip("."),  # RFC 6066 section 3: no trailing dot
            )
        except BaseException as error:
            connection.abort()
            self._forget(connection)  # asyncio tells nobody of a connection lost in the handshake
            if isinstance(error, TimeoutError) or not isinstance(error, OSError | ValueError):
                raise
            why = no_connection(error)
            why.peer = connection.peer
            raise why from error
        session = _session_of(transport)
        if transport is None or session is None:
            connection.abort()
            raise Unfetched("reset", "the connection ended in the handshake", transient=True)
        connection.transport = transport
        cipher = session.cipher()
        name = cipher[0] if cipher else ""
        connection.tls = Tls(session.version() or "", name, not problem, problem)
        return connection

    @cached_property
    def _strict(self) -> ssl.SSLContext:
        """Certificates must verify against the system's authorities, or those in `trust`."""
        context = ssl.create_default_context()
        if self._settings.trust is not None:
            context.load_verify_locations(self._settings.trust)
        context.set_alpn_protocols(["http/1.1"])
        return context

    @cached_property
    def _lenient(self) -> ssl.SSLContext:
        """Any certificate, and the old versions and ciphers of servers that nobody looks after."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.options |= getattr(ssl, "OP_LEGACY_SERVER_CONNECT", 0x4)
        context.set_alpn_protocols(["http/1.1"])
        return context


def _session_of(transport: asyncio.Transport | None) -> ssl.SSLObject | None:
    session = transport.get_extra_info("ssl_object") if transport is not None else None
    return session if isinstance(session, ssl.SSLObject) else None


async def resolve(place: Place) -> list[str]:
    """The addresses of a host, in the order in which the system would try them (RFC 6724)."""
    if is_address(place.host):
        return [place.host]
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(place.host, place.port, type=SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # UnicodeError: a label that no name server knows
        raise no_name(place.host, error) from error
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))
