"""The client against servers that do exactly what a test tells them, on asyncio and uvloop."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from asof.clock import SystemClock
from asof.errors import UsageError
from asof.fetch import dial
from asof.fetch.http import HttpClient
from asof.fetch.request import Place
from asof.fetch.settings import FetchSettings
from asof.model import Exchange, Failure
from support import odd_responses
from support.odd_responses import BODY, ODD, OK, PLAIN, Odd
from support.raw_server import QUICK, Reply, Run, client, digests_agree, serving, until
from support.rig import closed_port

# -- every odd response, over a socket ----------------------------------------------------------


@pytest.mark.parametrize("odd", [o for o in ODD if o.method == "GET"], ids=lambda odd: odd.name)
def test_odd_responses_are_kept_byte_for_byte(run: Run, tmp_path: Path, odd: Odd) -> None:
    after = "hang" if odd.ends in ("length", "chunked") else "close"
    pieces = [(odd.stream,)]
    if len(odd.stream) < 1000:
        step = max(1, len(odd.stream) // 8)
        pieces.append(tuple(odd.stream[i : i + step] for i in range(0, len(odd.stream), step)))  # type: ignore[arg-type]

    async def scene() -> None:
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


def test_the_request_is_exactly_this(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
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


def test_everything_about_the_exchange_is_known(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        slow = Reply((OK + b"Content-Length: 4\r\n\r\n", b"ab", b"cd"), 0.02)
        async with serving({"/": slow}) as server, client(tmp_path) as web:
            before = SystemClock().now()
            exchange = await web.fetch(server.url + "/")
            assert before <= exchange.started <= SystemClock().now()
            assert exchange.peer == "127.0.0.1"
            assert exchange.tls is None
            assert exchange.url == server.url + "/"
            times = exchange.timings
            assert 0 <= times.connect <= times.first_byte - 19_000
            assert times.first_byte + 38_000 <= times.total < 5_000_000
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
def test_a_bad_url_is_a_failure_and_sends_nothing(run: Run, tmp_path: Path, url: str) -> None:
    async def scene() -> None:
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
def test_headers_cannot_break_out_or_change_the_framing(
    run: Run, tmp_path: Path, header: tuple[str, str]
) -> None:
    async def scene() -> None:
        async with serving() as server, client(tmp_path) as web:
            with pytest.raises(UsageError):
                await web.fetch(server.url + "/", (header,))
            assert server.connections == 0

    run(scene())


def test_settings_cannot_break_out_either(tmp_path: Path) -> None:
    for settings in (FetchSettings(user_agent="a\r\nX: y"), FetchSettings(accept="a\nb")):
        with pytest.raises(UsageError):
            HttpClient(settings, SystemClock(), tmp_path)


# -- connections --------------------------------------------------------------------------------


def test_connections_are_used_again(run: Run, tmp_path: Path) -> None:
    chunked = odd_responses.OK + odd_responses.CHUNKED + b"\r\n" + odd_responses.CHUNKS

    async def scene() -> None:
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
def test_connections_are_not_used_again_when_in_doubt(
    run: Run, tmp_path: Path, stream: bytes
) -> None:
    async def scene() -> None:
        async with serving({"/": Reply((stream,))}) as server, client(tmp_path) as web:
            await web.fetch(server.url + "/")
            await web.fetch(server.url + "/next")
            assert server.connections == 2

    run(scene())


def test_a_late_rest_of_one_response_is_not_taken_for_the_next(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
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


def test_an_idle_connection_that_gets_bytes_is_dropped(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        late = Reply((PLAIN, b"late rest"), 0.02)
        async with serving({"/": late}) as server, client(tmp_path) as web:
            await web.fetch(server.url + "/")
            await until(lambda: server.open == 0)
            assert isinstance(await web.fetch(server.url + "/second"), Exchange)

    run(scene())


def test_a_stale_connection_costs_one_quiet_retry(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        closing = [Reply(), Reply((), after="close"), Reply()]
        async with serving({"/": closing}) as server, client(tmp_path) as web:
            for _ in range(2):
                exchange = await web.fetch(server.url + "/")
                assert isinstance(exchange, Exchange)
                assert exchange.body.data == BODY
            assert len(server.requests) == 3
            assert server.connections == 2

    run(scene())


def test_a_fresh_connection_that_brings_nothing_is_not_tried_again(
    run: Run, tmp_path: Path
) -> None:
    async def scene() -> None:
        for after, reason in (("close", "empty"), ("reset", "reset")):
            async with serving({"/": Reply((), after=after)}) as server, client(tmp_path) as web:
                failure = await web.fetch(server.url + "/")
                assert isinstance(failure, Failure)
                assert (failure.reason, failure.transient) == (reason, True)
                assert failure.request == server.requests[0]
                assert failure.peer == "127.0.0.1"
                assert server.connections == 1

    run(scene())


def test_a_server_that_hangs_up_at_once(run: Run, tmp_path: Path) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    async def scene() -> None:
        listener = await asyncio.start_server(hang_up, "127.0.0.1", 0)
        async with listener, client(tmp_path) as web:
            port = listener.sockets[0].getsockname()[1]
            for url in (f"http://127.0.0.1:{port}/", f"https://127.0.0.1:{port}/") * 10:
                failure = await web.fetch(url)
                assert failure.reason in ("empty", "reset")
                assert failure.transient

    run(scene())


def test_a_stale_connection_is_retried_once_only(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        replies = [Reply(), Reply((), after="close")]
        async with serving({"/": replies}) as server, client(tmp_path) as web:
            await web.fetch(server.url + "/")
            assert (await web.fetch(server.url + "/")).reason == "empty"
            assert len(server.requests) == 3

    run(scene())


def test_a_reset_in_the_body_keeps_what_came(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        part = OK + b"Content-Length: 500\r\n\r\nabc"
        async with serving({"/": Reply((part,), after="reset")}) as server, client(tmp_path) as web:
            exchange = await web.fetch(server.url + "/")
            assert exchange.head + exchange.body.data == part
            assert exchange.truncated == "disconnect"

    run(scene())


def test_idle_connections_are_closed_after_a_while_and_when_too_many(
    run: Run, tmp_path: Path
) -> None:
    async def scene() -> None:
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


def test_many_fetches_at_once(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        bodies = {
            f"/{n}": Reply((OK + b"Content-Length: 4\r\n\r\n%04d" % n,), 0.01) for n in range(100)
        }
        async with serving(bodies) as server, client(tmp_path) as web:
            exchanges = await asyncio.gather(*[web.fetch(server.url + path) for path in bodies])
            assert [e.body.data for e in exchanges] == [b"%04d" % n for n in range(100)]

    run(scene())


# -- names and addresses ------------------------------------------------------------------------


def test_a_refused_connection(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        async with client(tmp_path) as web:
            failure = await web.fetch(f"http://127.0.0.1:{closed_port()}/")
            assert (failure.reason, failure.transient) == ("refused", True)
            assert failure.peer == "127.0.0.1"
            assert failure.request == b""

    run(scene())


def test_a_name_that_cannot_be(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        async with client(tmp_path) as web:
            for host in ("a" * 64 + ".invalid", "a..invalid"):
                failure = await web.fetch(f"http://{host}/")
                assert (failure.reason, failure.transient) == ("dns", False)
                assert host in failure.detail

    run(scene())


def test_names_are_looked_up(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        async with serving(host="localhost") as server, client(tmp_path) as web:
            exchange = await web.fetch(f"http://localhost:{server.port}/")
            assert exchange.peer in ("127.0.0.1", "::1")
            assert b"Host: localhost:%d\r\n" % server.port in exchange.request

    run(scene())


def test_all_addresses_are_tried(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def two(place: Place) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]

    monkeypatch.setattr(dial, "resolve", two)

    async def scene() -> None:
        async with serving() as server, client(tmp_path) as web:
            exchange = await web.fetch(f"http://two.invalid:{server.port}/")
            assert exchange.peer == "127.0.0.1"
            failure = await web.fetch(f"http://two.invalid:{closed_port()}/")
            assert failure.reason == "refused"

    run(scene())


def test_ipv6(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        try:
            async with serving(host="::1") as server, client(tmp_path) as web:
                exchange = await web.fetch(f"http://[::1]:{server.port}/")
                assert exchange.peer == "::1"
                assert b"Host: [::1]:%d\r\n" % server.port in exchange.request
        except OSError as error:
            pytest.skip(f"no IPv6 here: {error}")

    run(scene())


def test_an_address_policy_refuses_before_connecting(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def policy(place: Place, addresses: list[str]) -> dict[str, str]:
        seen.append((place.host, place.port, *addresses))
        return {ip: "a private address" for ip in addresses if ip != "127.0.0.1"}

    async def several(place: Place) -> list[str]:
        return ["127.0.0.2"] if place.host == "inside.invalid" else ["127.0.0.2", "127.0.0.1"]

    monkeypatch.setattr(dial, "resolve", several)

    async def scene() -> None:
        async with serving() as server, client(tmp_path, allow_address=policy) as web:
            failure = await web.fetch(f"http://inside.invalid:{server.port}/")
            assert (failure.reason, failure.transient) == ("refused-address", False)
            assert failure.detail.startswith("inside.invalid is 127.0.0.2: a private address; ")
            assert server.connections == 0
            exchange = await web.fetch(f"http://both.invalid:{server.port}/")
            assert exchange.peer == "127.0.0.1"
            assert seen[0] == ("inside.invalid", server.port, "127.0.0.2")

    run(scene())
