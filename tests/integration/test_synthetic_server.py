from __future__ import annotations

import asyncio
import contextlib
import doctest
import gzip
import http.client
import importlib
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from asof.clock import DAY, SystemClock, parse_http_date, parse_iso
from asof.errors import UsageError
from asof.testing import (
    START,
    Kind,
    Limits,
    Rates,
    SimulatedClock,
    SiteSpec,
    SyntheticServer,
    SyntheticSite,
    serve,
    serve_in_thread,
)

SPEC = SiteSpec(seed=8, pages=30, rates=Rates.fixed(0.5), chunked=0.5, crawl_delay=0.5)


@pytest.fixture
def server(clock: SimulatedClock) -> Iterator[SyntheticServer]:
    with serve_in_thread(SPEC, clock=clock) as running:
        yield running


@pytest.fixture
def client(server: SyntheticServer) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=20)
    yield connection
    connection.close()


def ask(client: Any, path: str, method: str = "GET", **headers: Any) -> tuple[Any, bytes]:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    client.request(method, path, headers=names)
    response = client.getresponse()
    return response, response.read()


def talk(server: SyntheticServer, data: bytes, *, wait: float = 20) -> bytes:
    """Send raw bytes and read until the server ends the connection."""
    url = urlsplit(server.proxy)
    with socket.create_connection((url.hostname, url.port), timeout=wait) as raw:
        raw.sendall(data)
        received = b""
        while piece := raw.recv(65_536):
            received += piece
    return received


def test_every_answer_is_the_one_that_the_site_gives(
    server: SyntheticServer, client: Any, clock: SimulatedClock
) -> None:
    for path in sorted(server.site.expected(START) | server.site.forbidden()):
        response, body = ask(client, path)
        truth = server.site.respond("GET", path, (), clock.now())
        assert (response.status, body) == (truth.status, truth.body)
        assert set(truth.headers) <= set(response.getheaders())


def test_one_connection_serves_many_requests(server: SyntheticServer, client: Any) -> None:
    ask(client, "/")
    local = client.sock.getsockname()
    for path in server.site.paths(START)[:20]:
        assert ask(client, path)[0].status == 200
    assert client.sock.getsockname() == local


def test_chunked_and_plain_framing_carry_the_same_content(
    server: SyntheticServer, client: Any
) -> None:
    framings = set()
    for path in server.site.paths(START):
        response, body = ask(client, path)
        chunked = response.getheader("Transfer-Encoding") == "chunked"
        assert chunked is (response.getheader("Content-Length") is None)
        assert body == server.site.respond("GET", path, (), START).body
        framings.add(chunked)
    assert framings == {True, False}


def test_old_clients_get_no_chunks(server: SyntheticServer) -> None:
    chunked = next(
        path
        for path in server.site.paths(START)
        if server.site.respond("GET", path, (), START).chunked
    )
    answer = talk(server, f"GET {chunked} HTTP/1.0\r\n\r\n".encode())
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"Content-Length" in head
    assert b"chunked" not in head
    assert body == server.site.respond("GET", chunked, (), START).body


def test_head_has_the_headers_of_get_and_no_body(client: Any, server: SyntheticServer) -> None:
    for path in server.site.paths(START)[:10]:
        got, _ = ask(client, path)
        head, body = ask(client, path, "HEAD")
        assert head.getheaders() == got.getheaders()
        assert not body


def test_gzip_comes_only_when_asked_for(client: Any) -> None:
    plain, text = ask(client, "/")
    assert plain.getheader("Content-Encoding") is None
    zipped, packed = ask(client, "/", Accept_Encoding="br;q=1.0, gzip")
    assert zipped.getheader("Content-Encoding") == "gzip"
    assert zipped.getheader("Vary") == "Accept-Encoding"
    assert gzip.decompress(packed) == text
    refused, _ = ask(client, "/", Accept_Encoding="gzip;q=0")
    assert refused.getheader("Content-Encoding") is None
    picture, _ = ask(client, "/img/plate-2.png", Accept_Encoding="gzip")
    assert picture.getheader("Content-Encoding") is None


def test_conditional_requests_until_the_page_changes(
    client: Any, server: SyntheticServer, clock: SimulatedClock
) -> None:
    clock.jump(seconds=10)
    first, old = ask(client, "/")
    for validator in (
        {"If_None_Match": first.getheader("ETag")},
        {"If_Modified_Since": first.getheader("Last-Modified")},
    ):
        same, nothing = ask(client, "/", **validator)
        assert (same.status, nothing) == (304, b"")
        assert same.getheader("ETag") == first.getheader("ETag")
    (change, *_) = server.site.changes("/", clock.now(), clock.now() + 90 * DAY)
    clock.jump(seconds=(change - clock.now()) / 1_000_000 + 2)
    changed, new = ask(client, "/", If_None_Match=first.getheader("ETag"))
    assert changed.status == 200
    assert new != old
    assert parse_http_date(changed.getheader("Last-Modified")) == change // 10**6 * 10**6
    assert parse_http_date(changed.getheader("Date")) == clock.now() // 10**6 * 10**6


def test_redirects_and_errors_over_the_wire(client: Any, server: SyntheticServer) -> None:
    statuses = {}
    for path in server.site.expected(START):
        if server.site.kind(path) in (Kind.REDIRECT, Kind.ERROR):
            statuses[path] = ask(client, path)[0]
    assert {r.status for r in statuses.values()} == {301, 302, 307, 308, 404, 410, 500, 503}
    assert statuses["/lost/503"].getheader("Retry-After") == "1"
    assert all(r.getheader("Location") for r in statuses.values() if r.status < 400)


def test_robots_and_sitemap_name_this_server(client: Any, server: SyntheticServer) -> None:
    _, robots = ask(client, "/robots.txt")
    assert robots.decode().splitlines() == [
        "User-agent: *", "Disallow: /desk/", "Crawl-delay: 0.5", "",
        f"Sitemap: {server.url}sitemap.xml",
    ]  # fmt: skip
    _, sitemap = ask(client, "/sitemap.xml")
    for path in server.site.paths(START):
        assert f"<loc>{server.url.rstrip('/')}{path}</loc>".encode() in sitemap
    assert ask(client, "/desk/draft-1")[0].status == 200


def test_the_log_tells_what_was_asked(
    client: Any, server: SyntheticServer, clock: SimulatedClock
) -> None:
    ask(client, "/")
    clock.jump(days=1)
    ask(client, "/nothing", "HEAD", If_None_Match='"x"')
    first, second = server.log
    assert (first.at, first.method, first.path, first.status, first.conditional) == (
        START, "GET", "/", 200, False,
    )  # fmt: skip
    assert (second.at, second.method, second.status, second.conditional) == (
        START + DAY, "HEAD", 404, True,
    )  # fmt: skip
    assert server.log.asked() == {server.url: 1, f"{server.url}nothing": 1}
    assert server.log.total == len(server.log) == 2
    server.log.clear()
    assert not list(server.log)


def test_each_host_has_a_port_and_links_to_the_others() -> None:
    with serve_in_thread(SiteSpec(pages=30, hosts=3)) as server:
        assert len(set(server.urls)) == 3
        bodies = []
        for host, url in enumerate(server.urls):
            assert urlsplit(url).hostname == "127.0.0.1"
            connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
            _, body = ask(connection, "/")
            connection.close()
            assert body == server.site.respond("GET", "/", (), START, host=host).body
            assert all(other.encode() in body for other in server.urls if other != url)
            bodies.append(body)
        assert len(set(bodies)) == 3
        assert [entry.host for entry in server.log] == [0, 1, 2]


def test_names_are_served_through_one_port_as_through_a_proxy() -> None:
    with serve_in_thread(SiteSpec(pages=30, hosts=3), by_name=True) as server:
        assert server.urls[1] == "http://hill-courier.example/"
        truth = [server.site.respond("GET", "/", (), START, host=k).body for k in range(3)]
        client = http.client.HTTPConnection(urlsplit(server.proxy).netloc, timeout=20)
        assert ask(client, server.urls[1])[1] == truth[1]
        assert ask(client, "/", Host="mill-lane-herald.example")[1] == truth[2]
        assert ask(client, "/")[1] == truth[0]
        client.close()
        assert server.log.asked() == dict.fromkeys(server.urls, 1)


def test_pipelined_requests_are_answered_in_order(server: SyntheticServer) -> None:
    paths = server.site.paths(START)[:5]
    requests = "".join(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n" for path in paths)
    answer = talk(server, f"{requests}GET / HTTP/1.1\r\nConnection: close\r\n\r\n".encode())
    assert answer.count(b"HTTP/1.1 200 OK") == 6
    assert [entry.path for entry in server.log] == [*paths, "/"]


def test_a_request_in_single_bytes_is_understood(server: SyntheticServer) -> None:
    url = urlsplit(server.url)
    with socket.create_connection((url.hostname, url.port), timeout=20) as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in b"GET /robots.txt HTTP/1.1\r\nConnection: close\r\n\r\n":
            raw.sendall(bytes([byte]))
        assert b"200 OK" in raw.makefile("rb").read()


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nbad : space\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 431),
        (b"x" * 70_000, 431),
        (b"POST / HTTP/1.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi", 405),
    ],
)
def test_bad_requests_get_a_status_and_the_end(
    server: SyntheticServer, request_bytes: bytes, status: int
) -> None:
    assert talk(server, request_bytes).startswith(b"HTTP/1.1 %d " % status)


def test_a_body_that_is_not_wanted_is_read_past(server: SyntheticServer) -> None:
    first = b"POST / HTTP/1.1\r\nContent-Length: 20\r\n\r\nGET /x HTTP/1.1\r\n\r\n\n"
    answer = talk(server, first + b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert [entry.path for entry in server.log] == ["/", "/"]
    assert answer.count(b"HTTP/1.1") == 2


def test_connections_are_limited_and_idle_ones_end() -> None:
    limits = Limits(connections=2, idle=0.3)
    with serve_in_thread(SiteSpec(pages=5), limits=limits) as server:
        url = urlsplit(server.url)
        held = [socket.create_connection((url.hostname, url.port), timeout=20) for _ in range(2)]
        held[0].sendall(b"GET / HT")  # a head that never ends counts as idle, too
        time.sleep(0.05)
        assert talk(server, b"").startswith(b"HTTP/1.1 503 ")
        for connection in held:
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(65_536) == b""  # else it times out
            connection.close()
        assert b"200 OK" in talk(server, b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")


def test_a_port_in_use_is_said_in_one_sentence(server: SyntheticServer) -> None:
    port = urlsplit(server.url).port
    with pytest.raises(UsageError, match="Choose another port"), serve_in_thread(SPEC, port=port):  # type: ignore[arg-type]
        pass


def test_on_an_event_loop_with_virtual_time() -> None:
    clock = SimulatedClock(virtual=True)

    async def fetch(server: SyntheticServer) -> bytes:
        url = urlsplit(server.url)
        reader, writer = await asyncio.open_connection(url.hostname, url.port)
        writer.write(b"GET / HTTP/1.0\r\n\r\n")
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer.partition(b"\r\n\r\n")[2]

    async def main() -> None:
        site = SyntheticSite(SPEC)
        async with serve(site, clock=clock) as server:
            for day in range(20):
                assert clock.now() == START + day * DAY
                assert await fetch(server) == server.site.respond("GET", "/", (), clock.now()).body
                await clock.sleep(86_400)
            assert len(server.log) == 20

    clock.run(main())


def test_as_a_process_of_its_own(tmp_path: Path) -> None:
    log = tmp_path / "asked.jsonl"
    command = [sys.executable, "-m", "asof.testing", "--pages", "12", "--hosts", "2", "--seed", "3",
               "--rates", "none", "--log", str(log), "--prepare"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        urls = [process.stdout.readline().strip() for _ in range(2)]
        try:
            for url in urls:
                client = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
                assert ask(client, "/")[0].status == 200
                client.close()
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(entry["url"], entry["status"]) for entry in entries] == [(url, 200) for url in urls]
    assert abs(parse_iso(entries[0]["at"]) - SystemClock().now()) < DAY  # type: ignore[operator]


@pytest.mark.parametrize(
    "arguments",
    [["--pages", "0"], ["--rates", "often"], ["--start", "soon"], ["--errors", "x"],
     ["--log", "/nowhere/at/all"], ["--port", "99999"]],
)  # fmt: skip
def test_the_process_refuses_nonsense_with_code_2(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "asof.testing", *arguments],
        capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_example_in_the_docstring_holds() -> None:
    results = doctest.testmod(importlib.import_module("asof.testing"))
    assert results.attempted
    assert not results.failed


def test_it_answers_thousands_of_requests_a_second(server: SyntheticServer) -> None:
    """A floor far below what is measured (over 10,000/s on a quiet core), for busy machines."""
    url = urlsplit(server.url)
    request = b"GET /robots.txt HTTP/1.1\r\nHost: x\r\n\r\n"
    with socket.create_connection((url.hostname, url.port), timeout=20) as raw:
        size = len(server.site.respond("GET", "/robots.txt", (), START).wire())
        began = time.perf_counter()
        for _ in range(500):
            raw.sendall(request)
            received = 0
            while received < size:
                received += len(raw.recv(65_536))
        assert 500 / (time.perf_counter() - began) > 500
