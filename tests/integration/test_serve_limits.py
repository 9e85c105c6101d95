"""What `asof serve` does with those who are slow, many, or write no requests."""

from __future__ import annotations

import gzip
import os
import socket
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import uvicorn
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from asof.web import connection
from asof.web.server import configured
from support import served_archive
from support.rig import wait_for
from support.served_archive import Page, Server, build, serving

AT = "2026-01-01T00:00:00Z"
LONG = bytes(16 << 20)
PAGE = b"<p>" + b"words " * (2 << 20) + b"</p>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = [
        Page("http://a.example/", AT, b"<p>front</p>"),
        Page("http://a.example/long.bin", AT, LONG, "application/octet-stream"),
        Page("http://a.example/long.html", AT, PAGE),
    ]
    return build(tmp_path_factory.mktemp("limits") / "archive", pages)


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "HEAD_SECONDS", 1)
        patch.setattr(connection, "READ_SECONDS", 1)
        patch.setattr(connection, "MOST", 12)
        with serving(folder) as running:
            yield running


def connect(server: Server, *, window: int = 0) -> socket.socket:
    client = socket.socket()
    if window:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    client.settimeout(10)
    client.connect(("127.0.0.1", server.port))
    return client


def rest(client: socket.socket) -> bytes:
    said = b""
    try:
        while data := client.recv(1 << 16):
            said += data
    except ConnectionResetError:
        pass
    return said


def status(said: bytes) -> int:
    return int(said.split(b" ", 2)[1])


def drip(client: socket.socket, data: bytes, seconds: float = 8) -> bytes:
    """Send byte by byte until the server has something to say."""
    client.settimeout(0.1)
    until = time.monotonic() + seconds
    for byte in data:
        try:
            client.sendall(bytes([byte]))
            if (said := client.recv(1 << 16)) or time.monotonic() > until:
                client.settimeout(10)
                return said + rest(client)
            return b""
        except TimeoutError:
            continue
        except (ConnectionResetError, BrokenPipeError):
            return b""
    raise AssertionError("the server waits for ever")


def test_who_sends_the_head_byte_by_byte_is_told_to_hurry(server: Server) -> None:
    with connect(server) as client:
        said = drip(client, b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"a" * 200)
        assert status(said) == 408
        assert b"did not come to its end" in said
    wait_for(lambda: server.connections() == 0, 5, "the connection ends")


def test_who_says_nothing_is_let_go(server: Server) -> None:
    with connect(server) as client:
        assert rest(client) == b""
    # After an answer, too, and after half of a second request.
    with connect(server) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT")
        said = rest(client)
        assert status(said) == 200
        assert b"HTTP/1.1 408 " in said
    wait_for(lambda: server.connections() == 0, 5, "the connections end")


def test_who_sends_a_body_byte_by_byte_has_his_answer_and_is_let_go(server: Server) -> None:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
    with connect(server) as client:
        client.sendall(head)
        assert status(drip(client, b"b" * 200)) == 405
    wait_for(lambda: server.connections() == 0, 5, "the connection ends")


@pytest.mark.parametrize("name", ["long.bin", "long.html"])
def test_who_does_not_read_is_let_go(server: Server, name: str) -> None:
    with connect(server, window=4096) as client:
        target = f"/2026/http://a.example/{name}"
        client.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert client.recv(12) == b"HTTP/1.1 200"
        assert server.connections() == 1
        wait_for(lambda: server.connections() == 0, 8, "the connection ends")
    assert server.ask("/").status == 200


@pytest.mark.parametrize(("name", "size"), [("long.bin", len(LONG)), ("long.html", len(PAGE))])
def test_who_reads_slowly_but_goes_on_gets_it_all(server: Server, name: str, size: int) -> None:
    with connect(server, window=1 << 18) as client:
        target = f"/2026/http://a.example/{name}"
        client.sendall(f"GET {target}".encode() + END)
        said, next_pause = 0, 0
        while data := client.recv(1 << 18):
            said += len(data)
            if said > next_pause:
                next_pause += 4 << 20
                time.sleep(0.5)
    assert said > size


def test_more_than_can_be_answered_are_told_so_and_later_come_in(server: Server) -> None:
    long = b"GET /2026/http://a.example/long.bin HTTP/1.1\r\nHost: localhost\r\n\r\n"
    clients = [connect(server, window=4096) for _ in range(connection.MOST - 1)]
    try:
        for client in clients:  # all are at work
            client.sendall(long)
            assert client.recv(12)[9:] == b"200"
        with connect(server) as late:
            late.sendall(b"GET /" + END)
            assert status(rest(late)) == 503
    finally:
        for client in clients:
            client.close()
    wait_for(lambda: server.connections() == 0, 5, "the connections end")
    assert server.ask("/").status == 200


@pytest.mark.parametrize(
    "begun",
    [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", b"hello\r\n\r\n",
     b"POST /w/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc"],
)  # fmt: skip
def test_who_has_asked_for_nothing_yet_makes_room(server: Server, begun: bytes) -> None:
    clients = []
    try:
        for _ in range(connection.MOST * 3):
            clients.append(connect(server))
            clients[-1].sendall(begun)
        assert server.ask("/").status == 200
        assert server.connections() <= connection.MOST
    finally:
        for client in clients:
            client.close()
    wait_for(lambda: server.connections() == 0, 5, "the connections end")


def test_one_client_of_many_has_no_more_than_its_own_places(folder: Path) -> None:
    class Of3(connection.OneOfMany):
        of_one = 3

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "READ_SECONDS", 30)
        patch.setattr(served_archive, "configured", lambda app: replaced(configured(app), Of3))
        with serving(folder) as few:
            clients = [connect(few, window=4096) for _ in range(3)]
            for client in clients:
                client.sendall(b"GET /2026/http://a.example/long.bin" + END)
                assert client.recv(12)[9:] == b"200"
            with connect(few) as late:
                assert rest(late) == b""
            time.sleep(connection.GRACE_SECONDS + 1.5)
            assert few.ask("/").status == 200  # by now they have had their time
            for client in clients:
                client.close()


def replaced(config: uvicorn.Config, http: type[connection.Connection]) -> uvicorn.Config:
    config.http = http
    return config


def test_a_body_without_an_end_is_told_so(server: Server) -> None:
    async def reads(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(ClientDisconnect):
            await PlainTextResponse(await Request(scope, receive).body())(scope, receive, send)

    head = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
    with served_archive.running(reads) as reading:
        for more in (b"Content-Length: 100\r\n\r\nabc",
                     b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"):  # fmt: skip
            with connect(reading) as client:
                client.sendall(head + more)
                assert status(rest(client)) == 408
        with connect(reading) as client:
            client.sendall(head + b"Connection: close\r\nContent-Length: 3\r\n\r\nabc")
            assert rest(client).endswith(b"abc")
        wait_for(lambda: reading.connections() == 0, 5, "the connections end")


def test_a_refused_connection_ends_soon(server: Server) -> None:
    with pytest.MonkeyPatch.context() as patch, connect(server) as client:
        patch.setattr(connection, "HEAD_SECONDS", 30)
        client.sendall(b"hello\r\n\r\n")
        assert client.recv(12)[9:] == b"400"
        wait_for(lambda: server.connections() == 0, 4, "the connection ends")


def test_who_does_not_read_holds_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 3 << 20
    monkeypatch.setattr(connection, "MOST", 100)
    monkeypatch.setattr(connection, "READ_SECONDS", 30)
    pages = [
        Page("http://b.example/plain", AT, os.urandom(size), "video/mp4"),
        Page("http://b.example/zip", AT, gzip.compress(os.urandom(size), 0), "video/mp4",
             headers=(("Content-Encoding", "gzip"),)),
    ]  # fmt: skip
    with serving(build(tmp_path / "archive", pages)) as server:
        for name in ("plain", "zip"):
            assert len(server.ask(f"/2026/http://b.example/{name}").body) == size
        tracemalloc.start()
        clients = [connect(server, window=4096) for _ in range(40)]
        try:
            for place, client in enumerate(clients):
                name = ("plain", "zip")[place % 2]
                client.sendall(f"GET /2026/http://b.example/{name}".encode() + END)
                assert client.recv(12) == b"HTTP/1.1 200"
            time.sleep(0.5)
            held = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
            for client in clients:
                client.close()
        assert held < (8 << 20) + 40 * (450 << 10), held


END = b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
BAD: list[tuple[bytes, int]] = [
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50) + b"\r\n\r\n", 400),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    (b"hello\r\n\r\n", 400),
    (b"GET /\xff\xfe" + END, 400),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nBad Name: x\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: minus\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\n\r\n", 400),
    (b"GET / HTTP/1.0\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400),
    (b"GET /" + b"a" * (200 << 10) + END, 414),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * (200 << 10) + b"\r\n\r\n", 431),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 40_000 + b"\r\n", 431),
    # What comes in one piece has the same limits as what comes in many.
    (b"GET /" + b"a" * 70_000 + END, 414),
    (b"GET /2026/http://a.example/?" + b"a" * 70_000 + END, 414),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", 431),
    (b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 40_000
     + b"\r\n\r\n", 431),
    (b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", 505),
    (b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", 505),
    (b"GET / HTTP/0.9\r\nHost: localhost\r\n\r\n", 505),
    (b"GET / HTTP/1.9\r\nHost: localhost\r\nConnection: close\r\n\r\n", 200),
    (b"OPTIONS *" + END, 405),
    (b"CONNECT a.example:443" + END, 405),
    (b"TRACE /" + END, 405),
    (b"BREW /" + END, 405),
    (b"GET http://a.example/" + END, 404),
    (b"GET /%00" + END, 404),
    (b"GET /covers/%ff" + END, 404),
    (b"GET /captures?url=%00" + END, 400),
    (b"GET /captures?url=http://[" + END, 400),
    (b"GET /captures?url=http://a.example/&at=never" + END, 400),
    (b"GET /captures?prefix=%ed%a0%80" + END, 200),
    (b"GET /-/banner" + END, 404),
    (b"GET /-/static/../../secret" + END, 404),
    (b"GET /20261399/http://a.example/" + END, 400),
    (b"GET /-/go?url=x.example&at=%f0%9f" + END, 400),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "wanted"), BAD)
def test_what_cannot_be_answered_is_told_so(
    server: Server, request_: bytes, wanted: int, capfd: pytest.CaptureFixture[str]
) -> None:
    with connect(server) as client:
        client.sendall(request_)
        said = rest(client)
    assert status(said) == wanted, said[:300]
    assert b"Traceback" not in said
    assert capfd.readouterr().err == ""
