"""TLS, proxies and cookies, with certificates made for the test."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trustme

from asof.clock import SystemClock
from asof.errors import ConfigError
from asof.fetch.addresses import policy
from asof.fetch.http import HttpClient
from asof.fetch.settings import FetchSettings
from asof.model import Exchange, Failure
from support.odd_responses import BODY, OK
from support.raw_server import QUICK, Reply, Run, client, serving
from support.rig import closed_port


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def trust(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trust") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


def tls_server(authority: trustme.CA, *names: Any, **options: Any) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*(names or ["127.0.0.1"]), **options).configure_cert(context)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


# -- TLS ----------------------------------------------------------------------------------------


def test_a_trusted_certificate(
    run: Run, tmp_path: Path, authority: trustme.CA, trust: Path
) -> None:
    async def scene() -> None:
        async with (
            serving(tls=tls_server(authority)) as server,
            client(tmp_path, replace(QUICK, trust=trust)) as web,
        ):
            for _ in range(2):
                exchange = await web.fetch(server.url + "/")
                assert exchange.body.data == BODY
                assert exchange.tls.verified
                assert exchange.tls.problem == ""
                assert exchange.tls.version == "TLSv1.3"
                assert "AES" in exchange.tls.cipher or "CHACHA" in exchange.tls.cipher
                assert exchange.peer == "127.0.0.1"
            assert server.connections == 1

    run(scene())


def test_server_names_are_indicated_and_http_1_is_agreed_on(
    run: Run, tmp_path: Path, authority: trustme.CA, trust: Path
) -> None:
    context = tls_server(authority, "localhost")
    asked = []
    context.sni_callback = lambda session, name, _: asked.append((session, name))

    async def scene() -> None:
        async with (
            serving(tls=context) as server,
            client(tmp_path, replace(QUICK, trust=trust)) as web,
        ):
            assert isinstance(await web.fetch(f"https://localhost:{server.port}/"), Exchange)
        ((session, name),) = asked
        assert name == "localhost"
        assert session.selected_alpn_protocol() == "http/1.1"

    run(scene())


@pytest.mark.parametrize(
    ("names", "trusted", "problem"),
    [
        (["127.0.0.1"], False, "unable to get local issuer certificate"),
        (["wrong.invalid"], True, "IP address mismatch"),
        (["127.0.0.1"], "expired", "certificate has expired"),
    ],
)
def test_a_bad_certificate_is_refused_or_tolerated_and_recorded(
    run: Run,
    tmp_path: Path,
    authority: trustme.CA,
    trust: Path,
    names: list[str],
    trusted: bool | str,
    problem: str,
) -> None:
    options = {}
    if trusted == "expired":
        options = {"not_before": datetime(2020, 1, 1, tzinfo=UTC)}
        options["not_after"] = datetime(2020, 2, 1, tzinfo=UTC)
    context = tls_server(authority, *names, **options)
    settings = replace(QUICK, trust=trust if trusted else None)

    async def scene() -> None:
        async with serving(tls=context) as server:
            async with client(tmp_path, settings) as web:
                failure = await web.fetch(server.url + "/")
                assert isinstance(failure, Failure)
                assert (failure.reason, failure.transient) == ("tls", False)
                assert problem in failure.detail
                assert problem in failure.tls.problem
                assert not failure.tls.verified
                assert failure.peer == "127.0.0.1"
                assert server.requests == []
            async with client(tmp_path, replace(settings, verify_tls=False)) as web:
                exchange = await web.fetch(server.url + "/")
                assert exchange.body.data == BODY
                assert not exchange.tls.verified
                assert problem in exchange.tls.problem
                assert exchange.tls.version == "TLSv1.3"

    run(scene())


def test_with_verification_off_a_good_certificate_is_still_said_to_be_good(
    run: Run, tmp_path: Path, authority: trustme.CA, trust: Path
) -> None:
    async def scene() -> None:
        async with (
            serving(tls=tls_server(authority)) as server,
            client(tmp_path, replace(QUICK, trust=trust, verify_tls=False)) as web,
        ):
            exchange = await web.fetch(server.url + "/")
            assert exchange.tls.verified
            assert server.connections == 1

    run(scene())


def test_a_known_bad_certificate_is_known_again_and_a_new_one_is_judged_anew(
    run: Run, tmp_path: Path, authority: trustme.CA, trust: Path
) -> None:
    closing = Reply((OK + b"Connection: close\r\nContent-Length: 0\r\n\r\n",), after="close")
    handshakes = []

    async def scene() -> None:
        bad, good = tls_server(authority, "wrong.invalid"), tls_server(authority)
        current = [bad]

        def choose(session: ssl.SSLObject, name: None, _: ssl.SSLContext) -> None:
            handshakes.append(1)
            session.context = current[0]

        front = tls_server(authority, "wrong.invalid")
        front.sni_callback = choose  # type: ignore[assignment]
        async with (
            serving({"/": closing}, tls=front) as server,
            client(tmp_path, replace(QUICK, trust=trust, verify_tls=False)) as web,
        ):
            for expected in (2, 3, 4):
                assert not (await web.fetch(server.url + "/")).tls.verified
                assert len(handshakes) == expected
            current[0] = good
            assert (await web.fetch(server.url + "/")).tls.verified

    run(scene())


def test_plain_http_on_a_tls_port_and_the_reverse(
    run: Run, tmp_path: Path, authority: trustme.CA
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        await reader.read(1000)
        writer.close()

    async def scene() -> None:
        listener = await asyncio.start_server(refuse, "127.0.0.1", 0)
        async with listener, client(tmp_path) as web:
            port = listener.sockets[0].getsockname()[1]
            failure = await web.fetch(f"https://127.0.0.1:{port}/")
            assert (failure.reason, failure.transient) == ("tls", False)
            assert failure.detail == "WRONG VERSION NUMBER"
        async with serving(tls=tls_server(authority)) as server, client(tmp_path) as web:
            outcome = await web.fetch(f"http://127.0.0.1:{server.port}/")
            # The server answers with a TLS alert, which has no HTTP head, or with nothing.
            assert isinstance(outcome, Failure) or "http-0.9" in outcome.anomalies

    run(scene())


# -- proxies ------------------------------------------------------------------------------------


@dataclass
class Proxy:
    """A forward proxy with a password: passes absolute-form requests on, and opens tunnels."""

    password: bytes | None = None
    refusal: bytes = b""
    seen: list[bytes] = field(default_factory=list)
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.seen.append(head)
                if self.password and b"Basic " + self.password not in head:
                    writer.write(b"HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n")
                elif self.refusal:
                    writer.write(self.refusal)
                elif head.startswith(b"CONNECT"):
                    await self._tunnel(head, reader, writer)
                    return
                else:
                    body = head.split(b" ")[1]
                    writer.write(OK + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _tunnel(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        host, port = head.split(b" ")[1].decode().rsplit(":", 1)
        far_reader, far_writer = await asyncio.open_connection(host.strip("[]"), int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(65536):
                sink.write(data)
            sink.close()

        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))


@asynccontextmanager
async def proxying(**options: Any) -> AsyncIterator[Proxy]:
    proxy = Proxy(**options)
    listener = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = listener.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listener.close()


def test_http_through_a_proxy(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        async with proxying(password=b"dTpwQDE=") as proxy:
            settings = replace(QUICK, proxy=f"http://u:p%401@127.0.0.1:{proxy.port}")
            async with client(tmp_path, settings) as web:
                for host in ("one.invalid", "two.invalid:8080"):
                    exchange = await web.fetch(f"http://{host}/a?b")
                    assert exchange.body.data == f"http://{host}/a?b".encode()
                    assert f"Host: {host}\r\n".encode() in exchange.request
                    # The archive must not learn the password; where the answer came from is
                    # not known.
                    assert b"Proxy-Authorization" not in exchange.request
                    assert exchange.peer == ""
                assert b"Proxy-Authorization: Basic dTpwQDE=\r\n" in proxy.seen[0]

    run(scene())


def test_https_through_a_proxy(
    run: Run, tmp_path: Path, authority: trustme.CA, trust: Path
) -> None:
    async def scene() -> None:
        async with (
            proxying(password=b"dTpw") as proxy,
            serving(tls=tls_server(authority)) as server,
        ):
            settings = replace(QUICK, trust=trust, proxy=f"u:p@127.0.0.1:{proxy.port}")
            async with client(tmp_path, settings) as web:
                for _ in range(2):
                    exchange = await web.fetch(server.url + "/")
                    assert exchange.body.data == BODY
                    assert exchange.tls.verified
                    assert exchange.request.startswith(b"GET / HTTP/1.1\r\n")
                assert server.connections == 1
                assert len(proxy.seen) == 1
                assert proxy.seen[0].startswith(b"CONNECT 127.0.0.1:%d HTTP/1.1" % server.port)
                assert b"Proxy-Authorization" not in server.requests[0]

    run(scene())


def test_a_proxy_that_does_not_help(run: Run, tmp_path: Path) -> None:
    busy = b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno"
    denied = b"HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno"

    async def scene() -> None:
        for options, url, transient in (
            ({"refusal": busy}, "https://one.invalid/", True),
            ({"refusal": denied}, "https://one.invalid/", False),
            ({"password": b"xxx"}, "https://one.invalid/", False),
            ({"password": b"xxx"}, "http://one.invalid/", False),
        ):
            async with proxying(**options) as proxy:
                settings = replace(QUICK, proxy=f"http://127.0.0.1:{proxy.port}")
                async with client(tmp_path, settings) as web:
                    failure = await web.fetch(url)
                    assert (failure.reason, failure.transient) == ("proxy", transient)
        settings = replace(QUICK, proxy=f"http://127.0.0.1:{closed_port()}")
        async with client(tmp_path, settings) as web:
            failure = await web.fetch("http://one.invalid/")
            assert (failure.reason, failure.transient) == ("proxy", True)

    run(scene())


def test_the_address_policy_sees_what_a_proxy_is_asked_for(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        async with proxying() as proxy:
            settings = replace(QUICK, proxy=f"http://127.0.0.1:{proxy.port}")
            async with client(tmp_path, settings, allow_address=policy((), False)) as web:
                for url in ("http://127.0.0.9/", "https://127.0.0.9/", "http://localhost/"):
                    assert (await web.fetch(url)).reason == "refused-address"
                assert isinstance(await web.fetch("http://name.invalid/"), Exchange)
                assert (await web.fetch("http://127.0.0.9/")).reason == "refused-address"
                assert len(proxy.seen) == 1

    run(scene())


def test_a_bad_proxy_url_is_a_config_error_without_the_password(tmp_path: Path) -> None:
    for proxy in ("socks5://user:hunter2@x:1", "http://user:hunter2@", "http://x:99999", "a b"):
        with pytest.raises(ConfigError) as caught:
            HttpClient(FetchSettings(proxy=proxy), SystemClock(), tmp_path)
        assert "hunter2" not in str(caught.value)


# -- cookies ------------------------------------------------------------------------------------

SETTING = Reply((OK + b"Set-Cookie: id=1; Path=/\r\nContent-Length: 0\r\n\r\n",))


def test_cookies_are_off_by_default_and_the_clients_own(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        async with serving({"/set": SETTING}) as server:
            for cookies in (False, True):
                async with client(tmp_path, replace(QUICK, cookies=cookies)) as web:
                    await web.fetch(server.url + "/set")
                    exchange = await web.fetch(server.url + "/")
                    assert (b"Cookie: id=1\r\n" in exchange.request) == cookies
            async with client(tmp_path, replace(QUICK, cookies=True)) as web:
                assert b"Cookie" not in (await web.fetch(server.url + "/")).request

    run(scene())
