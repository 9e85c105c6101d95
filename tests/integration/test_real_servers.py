"""The client against the servers that run most of the web: what it keeps is what they send.

Each server is a child process on 127.0.0.1 with a configuration in a temporary folder, serves the
same small site, and is compared with a plain socket that sends the very same request.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import trustme

from asof.clock import SystemClock
from asof.fetch.connection import Connection
from asof.fetch.http import HttpClient
from asof.fetch.request import Place
from asof.fetch.settings import FetchSettings
from asof.http.entity import decode
from asof.model import Exchange
from support.raw_server import Run
from support.rig import closed_port

PAGE = b"<html><body>" + b"<p>A page of about ten kilobytes.</p>\n" * 270 + b"</body></html>"
LARGE = bytes(range(256)) * (3 << 12)  # 3 MiB
SETTINGS = FetchSettings(connect_timeout=10, idle_timeout=10, total_timeout=30)


# -- the servers --------------------------------------------------------------------------------

NGINX = """
daemon off; master_process off; pid {dir}/nginx.pid; error_log {dir}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; types {{ text/html html; application/octet-stream bin; }}
  client_body_temp_path {dir}/t1; proxy_temp_path {dir}/t2; fastcgi_temp_path {dir}/t3;
  uwsgi_temp_path {dir}/t4; scgi_temp_path {dir}/t5;
  gzip on; gzip_min_length 100;
  server {{
    listen 127.0.0.1:{port}; {tls} root {dir}/site;
    location = /old {{ return 301 /page.html; }}
    location = /empty {{ return 204; }}
  }}
}}
"""

APACHE = """
ServerName localhost
ServerRoot {dir}
PidFile {dir}/apache.pid
Listen 127.0.0.1:{port}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule mime_module {modules}/mod_mime.so
LoadModule filter_module {modules}/mod_filter.so
LoadModule deflate_module {modules}/mod_deflate.so
LoadModule alias_module {modules}/mod_alias.so
{user}
TypesConfig /dev/null
AddType text/html .html
ErrorLog {dir}/error.log
DocumentRoot {dir}/site
KeepAlive On
AddOutputFilterByType DEFLATE text/html
Redirect permanent /old /page.html
"""

LIGHTTPD = """
server.document-root = "{dir}/site"
server.bind = "127.0.0.1"
server.port = {port}
server.errorlog = "{dir}/error.log"
server.modules = ( "mod_redirect" )
url.redirect = ( "^/old$" => "/page.html" )
mimetype.assign = ( ".html" => "text/html", ".bin" => "application/octet-stream" )
"""

NODE = r"""
const fs = require('fs'), zlib = require('zlib'), dir = __dirname + '/site';
const tag = '"fixed"';
require('http').createServer((ask, answer) => {
  const name = ask.url.slice(1);
  if (name === 'old') { answer.writeHead(301, {Location: '/page.html'}); return answer.end(); }
  if (name === 'empty') { answer.writeHead(204); return answer.end(); }
  if (name === 'hints') {
    answer.writeEarlyHints({link: '</a.css>; rel=preload'});
    answer.writeHead(200, {'Content-Length': 2}); return answer.end('hi');
  }
  if (!fs.existsSync(dir + '/' + name)) { answer.writeHead(404); return answer.end('none'); }
  if (ask.headers['if-none-match'] === tag) {
    answer.writeHead(304, {ETag: tag}); return answer.end();
  }
  const body = fs.readFileSync(dir + '/' + name);
  if (name === 'page.html') {
    answer.writeHead(200, {ETag: tag, 'Content-Type': 'text/html', 'Content-Encoding': 'gzip'});
    const packed = zlib.gzipSync(body);
    answer.write(packed.subarray(0, 100)); answer.end(packed.subarray(100));
  } else { answer.writeHead(200, {'Content-Length': body.length}); answer.end(body); }
}).listen(+process.argv[2], '127.0.0.1');
"""

UVICORN = """
import gzip, pathlib
SITE, TAG = pathlib.Path(__file__).parent / "site", b'"fixed"'

async def app(scope, receive, send):
    async def answer(status, headers=(), *parts):
        await send({"type": "http.response.start", "status": status, "headers": list(headers)})
        for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body"})

    if scope["type"] != "http":
        return
    name, asked = scope["path"][1:], dict(scope["headers"])
    if name == "old":
        await answer(301, [(b"location", b"/page.html")])
    elif name == "empty":
        await answer(204)
    elif not (SITE / name).is_file():
        await answer(404, [(b"content-length", b"4")], b"none")
    elif asked.get(b"if-none-match") == TAG:
        await answer(304, [(b"etag", TAG)])
    elif name == "page.html":
        packed = gzip.compress((SITE / name).read_bytes(), mtime=0)
        headers = [(b"etag", TAG), (b"content-encoding", b"gzip"), (b"content-type", b"text/html")]
        await answer(200, headers, packed[:100], packed[100:])
    else:
        body = (SITE / name).read_bytes()
        await answer(200, [(b"content-length", b"%d" % len(body))], body)
"""


def command(name: str, folder: Path, port: int) -> list[str]:
    """Write a server's configuration and say how it is started."""
    values = {"dir": folder, "port": port, "tls": "", "modules": "/usr/lib/apache2/modules"}
    values["user"] = "User www-data\nGroup www-data" if os.geteuid() == 0 else ""
    if name == "nginx":
        (folder / "conf").write_text(NGINX.format(**values))
        return ["nginx", "-e", f"{folder}/error.log", "-p", str(folder), "-c", f"{folder}/conf"]
    if name == "apache2":
        (folder / "conf").write_text(APACHE.format(**values))
        return ["apache2", "-D", "FOREGROUND", "-f", f"{folder}/conf"]
    if name == "lighttpd":
        (folder / "conf").write_text(LIGHTTPD.format(**values))
        return ["lighttpd", "-D", "-f", f"{folder}/conf"]
    if name == "node":
        (folder / "server.js").write_text(NODE)
        return ["node", f"{folder}/server.js", str(port)]
    (folder / "served.py").write_text(UVICORN)
    return [sys.executable, "-m", "uvicorn", "served:app", "--app-dir", str(folder), "--host",
            "127.0.0.1", "--port", str(port), "--log-level", "warning"]  # fmt: skip


@contextmanager
def started(arguments: list[str], port: int) -> Iterator[Any]:
    """A child process that listens on a port, for as long as the block lasts."""
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(arguments, stdout=log, stderr=log)
        try:
            until = time.monotonic() + 15
            while True:
                if server.poll() is not None or time.monotonic() > until:
                    log.seek(0)
                    pytest.fail(f"{arguments[0]} did not start: {log.read().decode()[-2000:]}")
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield
        finally:
            server.terminate()
            server.wait(10)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that servers which give up their rights can still read."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        (path / "site").mkdir()
        (path / "site" / "page.html").write_bytes(PAGE)
        (path / "site" / "large.bin").write_bytes(LARGE)
        yield path


SERVERS = [
    pytest.param(name, marks=pytest.mark.needs(name))
    for name in ("nginx", "apache2", "lighttpd", "node")
]


@pytest.fixture(scope="module", params=[*SERVERS, "uvicorn"])
def server(request: pytest.FixtureRequest, folder: Path) -> Iterator[tuple[str, str]]:
    port = closed_port()
    with started(command(request.param, folder, port), port):
        yield request.param, f"http://127.0.0.1:{port}"


# -- a plain socket, for comparison -------------------------------------------------------------


def read_plainly(exchange: Exchange, port: int, context: ssl.SSLContext | None = None) -> bytes:
    """What the same request brings over a blocking socket: as many bytes, and no more."""
    wanted = len(exchange.head) + exchange.body.size
    with socket.create_connection(("127.0.0.1", port), 10) as plain:
        stream = context.wrap_socket(plain, server_hostname="localhost") if context else plain
        with stream:
            stream.sendall(exchange.request)
            got = b""
            while len(got) < wanted and (data := stream.recv(1 << 16)):
                got += data
            stream.settimeout(0.1)
            with suppress(TimeoutError):
                got += stream.recv(1 << 16)
    return got


def without_date(response: bytes) -> bytes:
    return re.sub(rb"(?i)^date: [^\r\n]*", b"date:", response, count=1, flags=re.MULTILINE)


def same_as_a_plain_socket(exchange: Exchange, url: str) -> None:
    kept = exchange.head + b"".join(exchange.body.chunks())
    port = int(url.rsplit(":", 1)[1])
    assert without_date(kept) == without_date(read_plainly(exchange, port))


def entity(exchange: Exchange) -> bytes:
    return b"".join(decode(exchange.headers, exchange.body.chunks(), limit=1 << 30))


def fetched(
    run: Run,
    spool: Path,
    urls: list[str],
    settings: FetchSettings = SETTINGS,
    headers: tuple[tuple[str, str], ...] = (),
) -> list[Exchange]:
    """Fetch one after another with one client; all must be exchanges without anything odd."""

    async def scene() -> list[Exchange]:
        web = HttpClient(settings, SystemClock(), spool)
        try:
            exchanges = [await web.fetch(url, headers) for url in urls]
        finally:
            await web.close()
        for exchange in exchanges:
            assert isinstance(exchange, Exchange), exchange
            assert exchange.anomalies == ()
            assert exchange.truncated == ""
        return exchanges  # type: ignore[return-value]

    return run(scene())


# -- the tests ----------------------------------------------------------------------------------


def test_a_page_is_kept_as_it_was_sent(run: Run, tmp_path: Path, server: tuple[str, str]) -> None:
    name, url = server
    (exchange,) = fetched(run, tmp_path, [url + "/page.html"])
    assert exchange.status == 200
    assert entity(exchange) == PAGE
    same_as_a_plain_socket(exchange, url)
    if name != "lighttpd":  # its module for that is not in the package
        assert exchange.header("Content-Encoding") == "gzip"
        assert exchange.body.size < len(PAGE) // 5
    if name in ("nginx", "node", "uvicorn"):
        assert exchange.header("Transfer-Encoding") == "chunked"


def test_a_large_file_is_spooled(run: Run, tmp_path: Path, server: tuple[str, str]) -> None:
    _, url = server
    (exchange,) = fetched(run, tmp_path, [url + "/large.bin"])
    assert exchange.body.spool is not None
    assert b"".join(exchange.body.chunks()) == LARGE
    same_as_a_plain_socket(exchange, url)


def test_an_unchanged_page_is_a_304_without_a_body(
    run: Run, tmp_path: Path, server: tuple[str, str]
) -> None:
    _, url = server
    (first,) = fetched(run, tmp_path, [url + "/page.html"])
    tag = first.header("ETag")
    assert tag
    (second,) = fetched(run, tmp_path, [url + "/page.html"], headers=(("If-None-Match", tag),))
    if second.status == 200:  # Apache marks the tag of a gzipped page and then does not know it
        tag = tag.replace("-gzip", "")
        (second,) = fetched(run, tmp_path, [url + "/page.html"], headers=(("If-None-Match", tag),))
    assert (second.status, second.body.size) == (304, 0)
    same_as_a_plain_socket(second, url)


def test_a_redirect_is_one_exchange_and_not_followed(
    run: Run, tmp_path: Path, server: tuple[str, str]
) -> None:
    _, url = server
    (exchange,) = fetched(run, tmp_path, [url + "/old"])
    assert exchange.status == 301
    assert exchange.header("Location").removeprefix(url) == "/page.html"
    same_as_a_plain_socket(exchange, url)


def test_a_missing_page_is_an_exchange(run: Run, tmp_path: Path, server: tuple[str, str]) -> None:
    _, url = server
    (exchange,) = fetched(run, tmp_path, [url + "/missing"])
    assert exchange.status == 404
    same_as_a_plain_socket(exchange, url)


def test_one_connection_serves_them_all(run: Run, tmp_path: Path, server: tuple[str, str]) -> None:
    """One after another they need one connection; eight at once need seven more."""
    _, url = server
    paths = ["/page.html", "/old", "/large.bin", "/missing", "/page.html"]

    async def scene() -> int:
        web = HttpClient(SETTINGS, SystemClock(), tmp_path)
        dialled = []
        dial = web._dialer.dial

        async def counted(place: Place, deadline: float) -> Connection:
            dialled.append(place)
            return await dial(place, deadline)

        web._dialer.dial = counted  # type: ignore[method-assign]
        try:
            for path in paths:
                assert isinstance(await web.fetch(url + path), Exchange)
            await asyncio.gather(*[web.fetch(url + "/page.html") for _ in range(8)])
        finally:
            await web.close()
        return len(dialled)

    assert run(scene()) == 8


@pytest.mark.needs("node")
def test_early_hints_are_kept_before_the_response(run: Run, tmp_path: Path, folder: Path) -> None:
    port = closed_port()
    with started(command("node", folder, port), port):
        (exchange,) = fetched(run, tmp_path, [f"http://127.0.0.1:{port}/hints"])
        assert exchange.head.startswith(b"HTTP/1.1 103 Early Hints\r\n")
        assert exchange.head[exchange.head_start :].startswith(b"HTTP/1.1 200 OK\r\n")
        assert (exchange.status, exchange.body.data) == (200, b"hi")
        same_as_a_plain_socket(exchange, f"http://127.0.0.1:{port}")


@pytest.mark.needs("nginx")
def test_tls_on_nginx(run: Run, tmp_path: Path, folder: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    authority.issue_cert("localhost", "127.0.0.1").private_key_and_cert_chain_pem.write_to_path(
        str(tmp_path / "server.pem")
    )
    port = closed_port()
    tls = (
        f"ssl on; ssl_certificate {tmp_path}/server.pem; ssl_certificate_key {tmp_path}/server.pem;"
    )
    values = {"dir": folder, "port": f"{port} ssl", "tls": tls.removeprefix("ssl on; ")}
    (folder / "tls.conf").write_text(NGINX.format(**values))
    arguments = [
        "nginx",
        "-e",
        f"{folder}/error.log",
        "-p",
        str(folder),
        "-c",
        f"{folder}/tls.conf",
    ]
    urls = [f"https://127.0.0.1:{port}/page.html", f"https://127.0.0.1:{port}/large.bin"]
    with started(arguments, port):
        spool = tmp_path / "spool"
        spool.mkdir()
        settings = FetchSettings(trust=tmp_path / "ca.pem")
        page, large = fetched(run, spool, urls, settings)
        assert entity(page) == PAGE
        assert entity(large) == LARGE
        assert page.tls.verified
        assert page.tls.version in ("TLSv1.2", "TLSv1.3")
        context = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
        for exchange in (page, large):
            kept = exchange.head + b"".join(exchange.body.chunks())
            assert without_date(kept) == without_date(read_plainly(exchange, port, context))
