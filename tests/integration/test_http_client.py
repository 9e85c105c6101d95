"""The client against servers that do exactly what a test tells them, on asyncio and uvloop."""

from __future__ import annotations

import asyncio
import hashlib
import os
import resource
import runpy
import socket
import ssl
import struct
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import trustme

from asof.clock import SystemClock
from asof.errors import ConfigError, StorageError, UsageError
from asof.fetch import dial
from asof.fetch.http import FetchSettings, HttpClient
from asof.model import Exchange, Failure

TABLE = runpy.run_path(str(Path(__file__).parents[1] / "odd_responses.py"))
ODD, PLAIN, BODY, OK = TABLE["ODD"], TABLE["PLAIN"], TABLE["BODY"], TABLE["OK"]
QUICK = FetchSettings(connect_timeout=5, idle_timeout=5, total_timeout=10)


# -- the stage ---------------------------------------------------------------------------------


@dataclass
class Reply:
    """What a server sends: pieces, a pause before each, and what it does then.

    after: keep (the connection), close, reset, or hang (say nothing more, ever).
    """

    pieces: tuple[bytes, ...] = (PLAIN,)
    pause: float = 0.0
    after: str = "keep"


@dataclass
class Server:
    """Answers by target; a list of replies is used up one by one. Remembers what it was asked."""

    replies: dict[str, Reply | list[Reply]] = field(default_factory=dict)
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    open: int = 0
    port: int = 0
    scheme: str = "http"
    host: str = "127.0.0.1"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    def reply_to(self, request: bytes) -> Reply:
        target = request.split(b" ", 2)[1].decode("latin-1")
        reply = self.replies.get(target, Reply())
        return (reply.pop(0) if len(reply) > 1 else reply[0]) if isinstance(reply, list) else reply

    async def serve(self, reader, writer):
        self.connections += 1
        self.open += 1
        try:
            await self._converse(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open -= 1
            writer.close()

    async def _converse(self, reader, writer):
        while True:
            request = await reader.readuntil(b"\r\n\r\n")
            self.requests.append(request)
            reply = self.reply_to(request)
            for piece in reply.pieces:
                if reply.pause:
                    await asyncio.sleep(reply.pause)
                writer.write(piece)
                await writer.drain()
            if reply.after == "hang":
                await reader.read()
            if reply.after == "reset":
                # Let the bytes arrive before the reset overtakes them.
                await asyncio.sleep(0.05)
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, linger
                )
                writer.transport.abort()
            if reply.after != "keep":
                return


@asynccontextmanager
async def serving(replies=None, *, tls=None, host="127.0.0.1", **options):
    server = Server(replies or {}, scheme="https" if tls else "http", **options)
    listener = await asyncio.start_server(server.serve, host, 0, ssl=tls, limit=1 << 20)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        await until(lambda: server.open == 0)


@asynccontextmanager
async def client(spool, settings=QUICK, **options):
    fetcher = HttpClient(settings, SystemClock(), spool, **options)
    try:
        yield fetcher
    finally:
        await fetcher.close()


async def until(condition, seconds=5.0):
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)


def sockets():
    """How many sockets this process has open."""
    count = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{name}").startswith("socket:")
        except OSError:
            continue
    return count


needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="counts sockets in /proc")


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request):
    """Runs a coroutine on either event loop, and fails when a callback failed."""
    factory = None
    if request.param == "uvloop":
        factory = pytest.importorskip("uvloop").new_event_loop

    def runner(coroutine):
        errors = []

        async def main():
            asyncio.get_running_loop().set_exception_handler(lambda _, what: errors.append(what))
            return await coroutine

        with asyncio.Runner(loop_factory=factory) as on:
            result = on.run(main())
        assert errors == []
        return result

    return runner


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(scope="module")
def trust(authority, tmp_path_factory):
    path = tmp_path_factory.mktemp("trust") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


def tls_server(authority, *names, **options):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*(names or ["127.0.0.1"]), **options).configure_cert(context)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


def digests_agree(exchange):
    body = b"".join(exchange.body.chunks())
    assert len(body) == exchange.body.size
    assert hashlib.sha256(body).digest() == exchange.payload_digest
    assert hashlib.sha256(exchange.head + body).digest() == exchange.block_digest
    return body


# -- every odd response, over a socket ----------------------------------------------------------


@pytest.mark.parametrize("odd", [o for o in ODD if o.method == "GET"], ids=lambda odd: odd.name)
def test_odd_responses_are_kept_byte_for_byte(run, tmp_path, odd):
    after = "hang" if odd.ends in ("length", "chunked") else "close"
    pieces = [(odd.stream,)]
    if len(odd.stream) < 1000:
        step = max(1, len(odd.stream) // 8)
        pieces.append(tuple(odd.stream[i : i + step] for i in range(0, len(odd.stream), step)))

    async def scene():
        for split in pieces:
            async with (
                serving({"/": Reply(split, 0.001, after)}) as server,
                client(tmp_path) as web,
            ):
                yield_ = await web.fetch(server.url + "/")
                assert isinstance(yield_, Exchange), yield_
                assert yield_.head == odd.head
                assert digests_agree(yield_) == odd.body
                assert yield_.status == odd.status
                assert yield_.head_start == odd.start
                assert yield_.truncated == odd.truncated
                assert [a for a in yield_.anomalies if a != "surplus-bytes"] == list(odd.anomalies)
                if len(split) == 1:
                    assert ("surplus-bytes" in yield_.anomalies) == bool(odd.surplus)

    run(scene())


# -- what is sent -------------------------------------------------------------------------------


def test_the_request_is_exactly_this(run, tmp_path):
    async def scene():
        async with serving() as server, client(tmp_path) as web:
            exchange = await web.fetch(
                f"http://user:secret@127.0.0.1:{server.port}/a%20b/?q=1&r#frag",
                (("If-None-Match", 'W/"caf\xe9"'),),
            )
            assert server.requests == [exchange.request]
            assert exchange.request == (
                b"GET /a%%20b/?q=1&r HTTP/1.1\r\n"
                b"Host: 127.0.0.1:%d\r\n"
                b"User-Agent: asof/0.1 (web archive)\r\n"
                b"Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n"
                b"Accept-Encoding: gzip\r\n"
                b"Connection: keep-alive\r\n"
                b'If-None-Match: W/"caf\xe9"\r\n\r\n' % server.port
            )

    run(scene())


def test_everything_about_the_exchange_is_known(run, tmp_path):
    async def scene():
        slow = Reply((OK + b"Content-Length: 4\r\n\r\n", b"ab", b"cd"), 0.02)
        async with serving({"/": slow}) as server, client(tmp_path) as web:
            before = SystemClock().now()
            exchange = await web.fetch(server.url + "/")
            assert before <= exchange.started <= SystemClock().now()
            assert exchange.peer == "127.0.0.1"
            assert exchange.tls is None
            assert exchange.url == server.url + "/"
            times = exchange.timings
            assert 0 <= times.connect < 20_000 <= times.first_byte
            assert times.first_byte + 30_000 < times.total < 5_000_000
            assert exchange.header("content-LENGTH") == "4"

    run(scene())


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1/", "http:///x", "//127.0.0.1/", "", "http://127.0.0.1:0/",
        "http://127.0.0.1:99999/", "http://127.0.0.1/\r\nX: y", "http://127.0.0.1/ x",
        "http://127.0.0.1/\x00", "http://127.0.0.1/\u00e9", "http://127.0.0.1\n/",
        "http://127.0.0.1/\n", "javascript:alert(1)", "http://[::1/", "http://a]b/",
    ],
)  # fmt: skip
def test_a_bad_url_is_a_failure_and_sends_nothing(run, tmp_path, url):
    async def scene():
        async with client(tmp_path) as web:
            failure = await web.fetch(url)
            assert isinstance(failure, Failure)
            assert (failure.reason, failure.transient, failure.request) == ("bad-url", False, b"")

    run(scene())


@pytest.mark.parametrize(
    "header",
    [
        ("X", "a\r\nEvil: b"), ("X", "a\nb"), ("X", "a\0"), ("X: a\r\nY", "b"), ("", "a"),
        ("X Y", "a"), ("X", "\u20ac"), ("Host", "evil"), ("content-length", "5"),
        ("Transfer-Encoding", "chunked"), ("Connection", "close"),
    ],
)  # fmt: skip
def test_headers_cannot_break_out_or_change_the_framing(run, tmp_path, header):
    async def scene():
        async with serving() as server, client(tmp_path) as web:
            with pytest.raises(UsageError):
                await web.fetch(server.url + "/", (header,))
            assert server.connections == 0

    run(scene())


def test_settings_cannot_break_out_either(tmp_path):
    for settings in (FetchSettings(user_agent="a\r\nX: y"), FetchSettings(accept="a\nb")):
        with pytest.raises(UsageError):
            HttpClient(settings, SystemClock(), tmp_path)


# -- connections --------------------------------------------------------------------------------


def test_connections_are_used_again(run, tmp_path):
    chunked = TABLE["OK"] + TABLE["CHUNKED"] + b"\r\n" + TABLE["CHUNKS"]

    async def scene():
        replies = {"/c": Reply((chunked,)), "/n": Reply((b"HTTP/1.1 304 Not\r\n\r\n",))}
        async with serving(replies) as server, client(tmp_path) as web:
            for path in ("/a", "/c", "/n", "/b", "/c"):
                assert isinstance(await web.fetch(server.url + path), Exchange)
            assert server.connections == 1
            await asyncio.gather(*[web.fetch(server.url + "/a") for _ in range(4)])
            assert server.connections == 4

    run(scene())


@pytest.mark.parametrize(
    "stream",
    [
        OK + b"Connection: close\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        PLAIN + b"surplus",
        PLAIN + PLAIN,
    ],
)
def test_connections_are_not_used_again_when_in_doubt(run, tmp_path, stream):
    async def scene():
        async with serving({"/": Reply((stream,))}) as server, client(tmp_path) as web:
            await web.fetch(server.url + "/")
            await web.fetch(server.url + "/next")
            assert server.connections == 2

    run(scene())


def test_a_late_rest_of_one_response_is_not_taken_for_the_next(run, tmp_path):
    async def scene():
        late = Reply((PLAIN, b"late rest"), 0.02)
        async with serving({"/": late}) as server, client(tmp_path) as web:
            await web.fetch(server.url + "/")
            # Asked at once, the rest comes after the second request; the server's loop also
            # answers that one, but only after the rest.
            second = await web.fetch(server.url + "/second")
            assert digests_agree(second) == BODY
            assert second.anomalies == ()
            assert server.connections == 2

    run(scene())


def test_an_idle_connection_that_gets_bytes_is_dropped(run, tmp_path):
    async def scene():
        late = Reply((PLAIN, b"late rest"), 0.02)
        async with serving({"/": late}) as server, client(tmp_path) as web:
            await web.fetch(server.url + "/")
            await until(lambda: server.open == 0)
            assert isinstance(await web.fetch(server.url + "/second"), Exchange)

    run(scene())


def test_a_stale_connection_costs_one_quiet_retry(run, tmp_path):
    async def scene():
        closing = [Reply(), Reply((), after="close"), Reply()]
        async with serving({"/": closing}) as server, client(tmp_path) as web:
            for _ in range(2):
                exchange = await web.fetch(server.url + "/")
                assert isinstance(exchange, Exchange)
                assert exchange.body.data == BODY
            assert len(server.requests) == 3
            assert server.connections == 2

    run(scene())


def test_a_fresh_connection_that_brings_nothing_is_not_tried_again(run, tmp_path):
    async def scene():
        for after, reason in (("close", "empty"), ("reset", "reset")):
            async with serving({"/": Reply((), after=after)}) as server, client(tmp_path) as web:
                failure = await web.fetch(server.url + "/")
                assert isinstance(failure, Failure)
                assert (failure.reason, failure.transient) == (reason, True)
                assert failure.request == server.requests[0]
                assert failure.peer == "127.0.0.1"
                assert server.connections == 1

    run(scene())


def test_a_stale_connection_is_retried_once_only(run, tmp_path):
    async def scene():
        replies = [Reply(), Reply((), after="close")]
        async with serving({"/": replies}) as server, client(tmp_path) as web:
            await web.fetch(server.url + "/")
            assert (await web.fetch(server.url + "/")).reason == "empty"
            assert len(server.requests) == 3

    run(scene())


def test_a_reset_in_the_body_keeps_what_came(run, tmp_path):
    async def scene():
        part = OK + b"Content-Length: 500\r\n\r\nabc"
        async with serving({"/": Reply((part,), after="reset")}) as server:
            async with client(tmp_path) as web:
                exchange = await web.fetch(server.url + "/")
                assert exchange.head + exchange.body.data == part
                assert exchange.truncated == "disconnect"

    run(scene())


def test_idle_connections_are_closed_after_a_while_and_when_too_many(run, tmp_path):
    async def scene():
        async with serving() as server:
            async with client(tmp_path, replace(QUICK, keep_idle=0.1)) as web:
                await web.fetch(server.url + "/")
                assert server.open == 1
                await until(lambda: server.open == 0)
            async with client(tmp_path, replace(QUICK, max_idle=2)) as web:
                await asyncio.gather(*[web.fetch(f"{server.url}/{n}") for n in range(5)])
                await until(lambda: server.open == 2)
            await until(lambda: server.open == 0)

    run(scene())


def test_many_fetches_at_once(run, tmp_path):
    async def scene():
        bodies = {
            f"/{n}": Reply((OK + b"Content-Length: 4\r\n\r\n%04d" % n,), 0.01) for n in range(100)
        }
        async with serving(bodies) as server, client(tmp_path) as web:
            exchanges = await asyncio.gather(*[web.fetch(server.url + path) for path in bodies])
            assert [e.body.data for e in exchanges] == [b"%04d" % n for n in range(100)]

    run(scene())


# -- names and addresses ------------------------------------------------------------------------


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_refused_connection(run, tmp_path):
    async def scene():
        async with client(tmp_path) as web:
            failure = await web.fetch(f"http://127.0.0.1:{closed_port()}/")
            assert (failure.reason, failure.transient) == ("refused", True)
            assert failure.peer == "127.0.0.1"
            assert failure.request == b""

    run(scene())


def test_a_name_that_cannot_be(run, tmp_path):
    async def scene():
        async with client(tmp_path) as web:
            for host in ("a" * 64 + ".invalid", "a..invalid"):
                failure = await web.fetch(f"http://{host}/")
                assert (failure.reason, failure.transient) == ("dns", False)
                assert host in failure.detail

    run(scene())


def test_names_are_looked_up(run, tmp_path):
    async def scene():
        async with serving(host="localhost") as server, client(tmp_path) as web:
            exchange = await web.fetch(f"http://localhost:{server.port}/")
            assert exchange.peer in ("127.0.0.1", "::1")
            assert b"Host: localhost:%d\r\n" % server.port in exchange.request

    run(scene())


def test_all_addresses_are_tried(run, tmp_path, monkeypatch):
    async def two(place):
        return ["127.0.0.2", "127.0.0.1"]

    monkeypatch.setattr(dial, "resolve", two)

    async def scene():
        async with serving() as server, client(tmp_path) as web:
            exchange = await web.fetch(f"http://two.invalid:{server.port}/")
            assert exchange.peer == "127.0.0.1"
            failure = await web.fetch(f"http://two.invalid:{closed_port()}/")
            assert failure.reason == "refused"

    run(scene())


def test_ipv6(run, tmp_path):
    async def scene():
        try:
            async with serving(host="::1") as server, client(tmp_path) as web:
                exchange = await web.fetch(f"http://[::1]:{server.port}/")
                assert exchange.peer == "::1"
                assert b"Host: [::1]:%d\r\n" % server.port in exchange.request
        except OSError as error:
            pytest.skip(f"no IPv6 here: {error}")

    run(scene())


def test_an_address_policy_refuses_before_connecting(run, tmp_path, monkeypatch):
    seen = []

    def policy(host, ip):
        seen.append((host, ip))
        return "a private address" if ip != "127.0.0.1" else None

    async def several(place):
        return ["127.0.0.2"] if place.host == "inside.invalid" else ["127.0.0.2", "127.0.0.1"]

    monkeypatch.setattr(dial, "resolve", several)

    async def scene():
        async with serving() as server, client(tmp_path, allow_address=policy) as web:
            failure = await web.fetch(f"http://inside.invalid:{server.port}/")
            assert (failure.reason, failure.transient) == ("refused-address", False)
            assert failure.detail == "inside.invalid is 127.0.0.2: a private address"
            assert server.connections == 0
            exchange = await web.fetch(f"http://both.invalid:{server.port}/")
            assert exchange.peer == "127.0.0.1"
            assert seen[0] == ("inside.invalid", "127.0.0.2")

    run(scene())


# -- time and size ------------------------------------------------------------------------------


def test_no_head_in_time_is_a_failure(run, tmp_path):
    async def scene():
        for pieces in ((), (OK + b"Content-Le",)):
            async with serving({"/": Reply(pieces, after="hang")}) as server:
                async with client(tmp_path, replace(QUICK, idle_timeout=0.15)) as web:
                    failure = await web.fetch(server.url + "/")
                    assert isinstance(failure, Failure)
                    assert (failure.reason, failure.transient) == ("timeout", True)
                    assert failure.request == server.requests[0]
                    await until(lambda server=server: server.open == 0)

    run(scene())


def test_a_body_that_stops_is_cut_by_time(run, tmp_path):
    async def scene():
        part = OK + b"Content-Length: 500\r\n\r\nabc"
        async with serving({"/": Reply((part,), after="hang")}) as server:
            async with client(tmp_path, replace(QUICK, idle_timeout=0.15)) as web:
                exchange = await web.fetch(server.url + "/")
                assert exchange.head + digests_agree(exchange) == part
                assert exchange.truncated == "time"
                await until(lambda: server.open == 0)

    run(scene())


def test_bytes_that_keep_coming_are_not_idle(run, tmp_path):
    async def scene():
        steady = Reply((OK + b"Content-Length: 10\r\n\r\n", *[b"x"] * 10), 0.05)
        async with serving({"/": steady}) as server:
            async with client(tmp_path, replace(QUICK, idle_timeout=0.3, min_rate=0)) as web:
                exchange = await web.fetch(server.url + "/")
                assert (exchange.truncated, exchange.body.data) == ("", b"x" * 10)

    run(scene())


def test_the_total_time_has_an_end(run, tmp_path):
    async def scene():
        endless = Reply((OK + b"\r\n", *[b"x"] * 200), 0.02)
        async with serving({"/": endless}) as server:
            async with client(tmp_path, replace(QUICK, total_timeout=0.3, min_rate=0)) as web:
                exchange = await web.fetch(server.url + "/")
                assert exchange.truncated == "time"
                assert 0 < exchange.body.size < 50
                assert exchange.timings.total < 1_000_000

    run(scene())


def test_a_slow_drip_is_cut_and_named(run, tmp_path):
    async def scene():
        drip = Reply((OK + b"\r\n", *[b"x"] * 200), 0.02)
        settings = replace(QUICK, min_rate=1000, rate_grace=0.2)
        async with serving({"/": drip}) as server, client(tmp_path, settings) as web:
            exchange = await web.fetch(server.url + "/")
            assert exchange.truncated == "time"
            assert exchange.anomalies == ("too-slow",)
            assert exchange.body.size > 0

    run(scene())


def test_a_server_that_accepts_and_says_nothing_to_tls(run, tmp_path):
    async def scene():
        async with (
            serving({}) as server,
            client(tmp_path, replace(QUICK, connect_timeout=0.2)) as web,
        ):
            failure = await web.fetch(f"https://127.0.0.1:{server.port}/")
            assert (failure.reason, failure.transient) == ("timeout", True)
            await until(lambda: server.open == 0)

    run(scene())


def test_sizes_have_limits(run, tmp_path):
    async def scene():
        big = OK + b"X: " + b"h" * 5000 + b"\r\nContent-Length: 9000\r\n\r\n" + b"b" * 9000
        async with serving({"/": Reply((big,), after="hang")}) as server:
            async with client(tmp_path, replace(QUICK, max_body=1000)) as web:
                exchange = await web.fetch(server.url + "/")
                assert (exchange.truncated, exchange.body.data) == ("length", b"b" * 1000)
            async with client(tmp_path, replace(QUICK, max_head=1000)) as web:
                exchange = await web.fetch(server.url + "/")
                assert (exchange.truncated, exchange.head) == ("length", big[:1000])
                assert exchange.body.size == 0
                assert exchange.anomalies == ("unfinished-head", "head-too-long")
            await until(lambda: server.open == 0)

    run(scene())


# -- spool --------------------------------------------------------------------------------------

LARGE = b"0123456789abcdef" * (1 << 17)  # 2 MiB
LARGE_REPLY = Reply((OK + b"Content-Length: %d\r\n\r\n" % len(LARGE), LARGE))


def test_large_bodies_go_to_a_file_and_small_ones_do_not(run, tmp_path):
    async def scene():
        async with serving({"/large": LARGE_REPLY}) as server, client(tmp_path) as web:
            small = await web.fetch(server.url + "/small")
            assert small.body.spool is None
            large = await web.fetch(server.url + "/large")
            assert large.body.data == b""
            assert large.body.spool.parent == tmp_path
            assert digests_agree(large) == LARGE
            large.body.discard()
            assert list(tmp_path.iterdir()) == []
            assert server.connections == 1

    run(scene())


def test_a_body_of_just_the_limit_stays_in_memory(run, tmp_path):
    async def scene():
        for over, spooled in ((16, False), (15, True)):
            async with (
                serving() as server,
                client(tmp_path, replace(QUICK, spool_over=over)) as web,
            ):
                exchange = await web.fetch(server.url + "/")
                assert (exchange.body.spool is not None) == spooled
                assert digests_agree(exchange) == BODY

    run(scene())


@needs_proc
def test_cancellation_leaves_no_socket_and_no_file(run, tmp_path):
    async def scene():
        half = Reply((OK + b"Content-Length: 9999999\r\n\r\n" + LARGE,), after="hang")
        async with serving({"/": half, "/quiet": Reply((), after="hang")}) as server:
            before = sockets()
            async with client(tmp_path) as web:
                for path in ("/", "/quiet"):
                    task = asyncio.create_task(web.fetch(server.url + path))
                    if path == "/":
                        await until(lambda: any(p.stat().st_size for p in tmp_path.iterdir()))
                    else:
                        await until(lambda: server.open == 1)
                    task.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await task
                    await until(lambda: server.open == 0)
                    assert list(tmp_path.iterdir()) == []
                # In the middle of connecting and of the TLS handshake, at many moments.
                for step in range(30):
                    scheme = "https" if step % 2 else "http"
                    task = asyncio.create_task(
                        web.fetch(f"{scheme}://127.0.0.1:{server.port}/quiet")
                    )
                    for _ in range(step // 2):
                        await asyncio.sleep(0)
                    task.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await task
            await until(lambda: server.open == 0 and sockets() == before)

    run(scene())


@needs_proc
def test_close_ends_busy_and_idle_connections(run, tmp_path):
    async def scene():
        async with serving({"/quiet": Reply((), after="hang")}) as server:
            before = sockets()
            web = HttpClient(QUICK, SystemClock(), tmp_path)
            await web.fetch(server.url + "/")
            waiting = asyncio.create_task(web.fetch(server.url + "/quiet"))
            other = asyncio.create_task(web.fetch(server.url + "/quiet"))
            await until(lambda: len(server.requests) == 3)
            await web.close()
            for task in (waiting, other):
                assert isinstance(await task, Failure)
            await until(lambda: server.open == 0 and sockets() == before)

    run(scene())


def test_a_missing_spool_folder_is_a_storage_error(run, tmp_path):
    async def scene():
        async with serving({"/": LARGE_REPLY}) as server, client(tmp_path / "none") as web:
            with pytest.raises(StorageError, match="cannot be written"):
                await web.fetch(server.url + "/")
            assert isinstance(await web.fetch(server.url + "/small"), Exchange)

    run(scene())


def test_a_disk_that_takes_no_more_is_a_storage_error(run, tmp_path):
    """A limit on file sizes stands in for a full disk: writes fail after some that did not."""

    async def scene():
        async with serving({"/": LARGE_REPLY}) as server, client(tmp_path) as web:
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 19, hard))
            try:
                with pytest.raises(StorageError, match="run the same command again"):
                    await web.fetch(server.url + "/")
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            assert list(tmp_path.iterdir()) == []

    run(scene())


# -- TLS ----------------------------------------------------------------------------------------


def test_a_trusted_certificate(run, tmp_path, authority, trust):
    async def scene():
        async with serving(tls=tls_server(authority)) as server:
            async with client(tmp_path, replace(QUICK, trust=trust)) as web:
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


def test_server_names_are_indicated_and_http_1_is_agreed_on(run, tmp_path, authority, trust):
    context = tls_server(authority, "localhost")
    asked = []
    context.sni_callback = lambda session, name, _: asked.append((session, name))

    async def scene():
        async with serving(tls=context) as server:
            async with client(tmp_path, replace(QUICK, trust=trust)) as web:
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
    run, tmp_path, authority, trust, names, trusted, problem
):
    from datetime import UTC, datetime

    options = {}
    if trusted == "expired":
        options = {"not_before": datetime(2020, 1, 1, tzinfo=UTC)}
        options["not_after"] = datetime(2020, 2, 1, tzinfo=UTC)
    context = tls_server(authority, *names, **options)
    settings = replace(QUICK, trust=trust if trusted else None)

    async def scene():
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
    run, tmp_path, authority, trust
):
    async def scene():
        async with serving(tls=tls_server(authority)) as server:
            async with client(tmp_path, replace(QUICK, trust=trust, verify_tls=False)) as web:
                exchange = await web.fetch(server.url + "/")
                assert exchange.tls.verified
                assert server.connections == 1

    run(scene())


def test_a_known_bad_certificate_is_known_again_and_a_new_one_is_judged_anew(
    run, tmp_path, authority, trust
):
    closing = Reply((OK + b"Connection: close\r\nContent-Length: 0\r\n\r\n",), after="close")
    handshakes = []

    async def scene():
        bad, good = tls_server(authority, "wrong.invalid"), tls_server(authority)
        current = [bad]

        def choose(session, name, _):
            handshakes.append(1)
            session.context = current[0]

        front = tls_server(authority, "wrong.invalid")
        front.sni_callback = choose
        async with serving({"/": closing}, tls=front) as server:
            async with client(tmp_path, replace(QUICK, trust=trust, verify_tls=False)) as web:
                for expected in (2, 3, 4):
                    assert not (await web.fetch(server.url + "/")).tls.verified
                    assert len(handshakes) == expected
                current[0] = good
                assert (await web.fetch(server.url + "/")).tls.verified

    run(scene())


def test_plain_http_on_a_tls_port_and_the_reverse(run, tmp_path, authority):
    async def scene():
        async with serving() as server, client(tmp_path) as web:
            server.replies["/"] = Reply((b"HTTP/1.1 400 Bad\r\n\r\n",), after="close")
            failure = await web.fetch(f"https://127.0.0.1:{server.port}/")
            assert failure.reason in ("tls", "reset", "timeout")
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

    async def serve(self, reader, writer):
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

    async def _tunnel(self, head, reader, writer):
        host, port = head.split(b" ")[1].decode().rsplit(":", 1)
        far_reader, far_writer = await asyncio.open_connection(host.strip("[]"), int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

        async def pump(source, sink):
            while data := await source.read(65536):
                sink.write(data)
            sink.close()

        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))


@asynccontextmanager
async def proxying(**options):
    proxy = Proxy(**options)
    listener = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = listener.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listener.close()


def test_http_through_a_proxy(run, tmp_path):
    async def scene():
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


def test_https_through_a_proxy(run, tmp_path, authority, trust):
    async def scene():
        async with proxying(password=b"dTpw") as proxy:
            async with serving(tls=tls_server(authority)) as server:
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


def test_a_proxy_that_does_not_help(run, tmp_path):
    busy = b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno"
    denied = b"HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno"

    async def scene():
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


def test_the_address_policy_sees_addresses_that_a_proxy_is_asked_for(run, tmp_path):
    async def scene():
        async with proxying() as proxy:
            settings = replace(QUICK, proxy=f"http://127.0.0.1:{proxy.port}")
            async with client(tmp_path, settings, allow_address=lambda host, ip: "private") as web:
                for url in ("http://10.0.0.1/", "https://10.0.0.1/"):
                    assert (await web.fetch(url)).reason == "refused-address"
                assert isinstance(await web.fetch("http://name.invalid/"), Exchange)
                assert (await web.fetch("http://10.0.0.1/")).reason == "refused-address"
                assert len(proxy.seen) == 1

    run(scene())


def test_a_bad_proxy_url_is_a_config_error_without_the_password(tmp_path):
    for proxy in ("socks5://user:hunter2@x:1", "http://user:hunter2@", "http://x:99999", "a b"):
        with pytest.raises(ConfigError) as caught:
            HttpClient(FetchSettings(proxy=proxy), SystemClock(), tmp_path)
        assert "hunter2" not in str(caught.value)


# -- cookies ------------------------------------------------------------------------------------

SETTING = Reply((OK + b"Set-Cookie: id=1; Path=/\r\nContent-Length: 0\r\n\r\n",))


def test_cookies_are_off_by_default_and_the_clients_own(run, tmp_path):
    async def scene():
        async with serving({"/set": SETTING}) as server:
            for cookies in (False, True):
                async with client(tmp_path, replace(QUICK, cookies=cookies)) as web:
                    await web.fetch(server.url + "/set")
                    exchange = await web.fetch(server.url + "/")
                    assert (b"Cookie: id=1\r\n" in exchange.request) == cookies
            async with client(tmp_path, replace(QUICK, cookies=True)) as web:
                assert b"Cookie" not in (await web.fetch(server.url + "/")).request

    run(scene())
