"""What the client gives up, cuts and spools, and that it leaves nothing behind."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from asof.clock import SystemClock
from asof.errors import StorageError
from asof.fetch.http import HttpClient
from asof.model import Exchange, Failure
from support.no_room import no_room_beyond
from support.odd_responses import BODY, OK
from support.raw_server import QUICK, Reply, Run, client, digests_agree, serving, sockets, until

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="counts sockets in /proc")


# -- time and size ------------------------------------------------------------------------------


def test_no_head_in_time_is_a_failure(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        for pieces in ((), (OK + b"Content-Le",)):
            async with (
                serving({"/": Reply(pieces, after="hang")}) as server,
                client(tmp_path, replace(QUICK, idle_timeout=0.15)) as web,
            ):
                failure = await web.fetch(server.url + "/")
                assert isinstance(failure, Failure)
                assert (failure.reason, failure.transient) == ("timeout", True)
                assert failure.request == server.requests[0]
                await until(lambda server=server: server.open == 0)  # type: ignore[misc]

    run(scene())


def test_a_body_that_stops_is_cut_by_time(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        part = OK + b"Content-Length: 500\r\n\r\nabc"
        async with (
            serving({"/": Reply((part,), after="hang")}) as server,
            client(tmp_path, replace(QUICK, idle_timeout=0.15)) as web,
        ):
            exchange = await web.fetch(server.url + "/")
            assert exchange.head + digests_agree(exchange) == part
            assert exchange.truncated == "time"
            await until(lambda: server.open == 0)

    run(scene())


def test_bytes_that_keep_coming_are_not_idle(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        steady = Reply((OK + b"Content-Length: 10\r\n\r\n", *[b"x"] * 10), 0.05)
        async with (
            serving({"/": steady}) as server,
            client(tmp_path, replace(QUICK, idle_timeout=0.3, min_rate=0)) as web,
        ):
            exchange = await web.fetch(server.url + "/")
            assert (exchange.truncated, exchange.body.data) == ("", b"x" * 10)

    run(scene())


def test_the_total_time_has_an_end(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        endless = Reply((OK + b"\r\n", *[b"x"] * 200), 0.02)
        async with (
            serving({"/": endless}) as server,
            client(tmp_path, replace(QUICK, total_timeout=0.3, min_rate=0)) as web,
        ):
            exchange = await web.fetch(server.url + "/")
            assert exchange.truncated == "time"
            assert 0 < exchange.body.size < 50
            assert exchange.timings.total < 1_000_000

    run(scene())


def test_a_slow_drip_is_cut_and_named(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        drip = Reply((OK + b"\r\n", *[b"x"] * 200), 0.02)
        settings = replace(QUICK, min_rate=1000, rate_grace=0.2)
        async with serving({"/": drip}) as server, client(tmp_path, settings) as web:
            exchange = await web.fetch(server.url + "/")
            assert exchange.truncated == "time"
            assert exchange.anomalies == ("too-slow",)
            assert exchange.body.size > 0

    run(scene())


def test_a_server_that_accepts_and_says_nothing_to_tls(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        async with (
            serving({}) as server,
            client(tmp_path, replace(QUICK, connect_timeout=0.2)) as web,
        ):
            failure = await web.fetch(f"https://127.0.0.1:{server.port}/")
            assert (failure.reason, failure.transient) == ("timeout", True)
            await until(lambda: server.connections == 1 and server.open == 0)

    run(scene())


def test_sizes_have_limits(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        big = OK + b"X: " + b"h" * 5000 + b"\r\nContent-Length: 9000\r\n\r\n" + b"b" * 9000
        async with serving({"/": Reply((big,), after="hang")}) as server:
            async with client(tmp_path, replace(QUICK, max_body=1000)) as web:
                exchange = await web.fetch(server.url + "/")
                assert (exchange.truncated, exchange.body.data) == ("length", b"b" * 1000)
                assert exchange.anomalies == ()
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


def test_large_bodies_go_to_a_file_and_small_ones_do_not(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
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


def test_a_body_of_just_the_limit_stays_in_memory(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
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
def test_cancellation_leaves_no_socket_and_no_file(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
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
def test_close_ends_busy_and_idle_connections(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
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


def test_a_missing_spool_folder_is_a_storage_error(run: Run, tmp_path: Path) -> None:
    async def scene() -> None:
        async with serving({"/": LARGE_REPLY}) as server, client(tmp_path / "none") as web:
            with pytest.raises(StorageError, match="cannot be written"):
                await web.fetch(server.url + "/")
            assert isinstance(await web.fetch(server.url + "/small"), Exchange)

    run(scene())


def test_a_disk_that_takes_no_more_is_a_storage_error(run: Run, tmp_path: Path) -> None:
    """A limit on file sizes stands in for a full disk: writes fail after some that did not."""

    async def scene() -> None:
        async with serving({"/": LARGE_REPLY}) as server, client(tmp_path) as web:
            refused = pytest.raises(StorageError, match="run the same command again")
            with no_room_beyond(3 << 19), refused:
                await web.fetch(server.url + "/")
            assert list(tmp_path.iterdir()) == []

    run(scene())
