"""nginx before `asof serve`, by the very configuration of the docs."""

from __future__ import annotations

import re
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPResponse, HTTPSConnection
from pathlib import Path

import pytest
import trustme

from support.rig import closed_port, wait_for
from support.serve_command import answers, served, serving
from support.served_archive import Page, build

pytestmark = pytest.mark.needs("nginx")

DOCS = Path(__file__).parents[2] / "docs" / "serve.md"
NAME, CLIENT = "archive.example.org", "127.0.0.2"
AT = "2026-01-01T00:00:00Z"
ODD = "http://a.example/x%2Fy//z/%E4?q=http://b.example//%2F&r=a+b"
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40
PAGES = [
    Page("http://a.example/", AT, b'<!doctype html><title>F</title><link rel=stylesheet href=s.css>'
         b'<img src=/i.png><a href="/x%2Fy//z/%E4?q=http://b.example//%2F&amp;r=a+b">odd</a>'),
    Page("http://a.example/s.css", AT, b"p { background: url(/i.png) }", "text/css"),
    Page("http://a.example/i.png", AT, PICTURE, "image/png"),
    Page(ODD, AT, b"<p>odd</p>"),
    Page("http://a.example/moved", AT, b"", status="302 Found", headers=(("Location", ODD),)),
]  # fmt: skip
AROUND = """
daemon off; master_process off; pid {dir}/nginx.pid; error_log {dir}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {dir}/t1; proxy_temp_path {dir}/t2; fastcgi_temp_path {dir}/t3;
  uwsgi_temp_path {dir}/t4; scgi_temp_path {dir}/t5;
{example}}}
"""


def block(kind: str, number: int = 0) -> str:
    """One of the blocks of the docs about nginx, of a kind."""
    part = DOCS.read_text(encoding="utf-8").partition("### Behind nginx")[2]
    found: list[str] = re.findall(rf"^```{kind}\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
    return found[number]


@contextmanager
def nginx(folder: Path, example: str, port: int) -> Iterator[None]:
    (folder / "conf").write_text(AROUND.format(dir=folder, example=example))
    words = ["nginx", "-e", f"{folder}/error.log", "-p", str(folder), "-c", f"{folder}/conf"]
    with subprocess.Popen(words) as child:
        try:
            wait_for(lambda: answers(f"http://127.0.0.1:{port}"), 15, "nginx answers")
            yield
        finally:
            child.terminate()


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


class Site:
    """What a reader of the docs has built, asked by its name."""

    def __init__(self, port: int, trust: ssl.SSLContext, log: Path) -> None:
        self.port, self.log, self._trust = port, log, trust

    def ask(self, target: str, name: str = NAME, **headers: str) -> tuple[HTTPResponse, bytes]:
        connection = HTTPSConnection(name, self.port, timeout=10, context=self._trust)
        # The name is that of the docs; the addresses are of this machine, another for the client.
        plain = socket.create_connection(("127.0.0.1", self.port), 10, (CLIENT, 0))
        connection.sock = self._trust.wrap_socket(plain, server_hostname=name)
        with connection.sock:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request("GET", target, headers=named)
            response = connection.getresponse()
            return response, response.read()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("nginx")
    authority, port, log = trustme.CA(), closed_port(), folder / "access.log"
    pem = folder / "archive.pem"
    authority.issue_cert(NAME).private_key_and_cert_chain_pem.write_to_path(str(pem))
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    archive = build(folder / "archive", PAGES)
    command = block("console").removeprefix("$ asof serve ").split()
    command[command.index("access.log")] = str(log)
    with served(archive, *command) as (base, _):
        example = replaced(
            block("nginx"),
            ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
            ("http://127.0.0.1:8080", base),
            ("/etc/nginx/archive.pem", str(pem)),
            ("/etc/nginx/archive.key", str(pem)),
        )
        with nginx(folder, example, port):
            yield Site(port, trust, log)


def test_a_walk_through_the_archive(site: Site) -> None:
    """Home, captures, a memento in its frame, its parts and its links."""
    origin = f"https://{NAME}:{site.port}"
    home, text = site.ask("/archive/")
    assert home.status == 200
    style = re.search(rb'rel="stylesheet" href="([^"]*)"', text)
    assert style is not None
    assert site.ask(style[1].decode())[0].status == 200
    led = re.search(rb'href="(/archive/captures[^"]*)"', text)
    assert led is not None
    listed, text = site.ask(led[1].decode().replace("&amp;", "&"))
    assert listed.status == 200
    listed, text = site.ask("/archive/captures?url=http://a.example/")
    exact = re.search(rb'class="when" href="([^"]*)"', text)
    assert exact is not None
    assert exact[1] == b"/archive/20260101000000/http://a.example/"
    framed, text = site.ask(exact[1].decode(), Sec_Fetch_Dest="document")
    frame = re.search(rb'iframe src="([^"]*)"', text)
    assert frame is not None
    assert f"<{origin}/archive/20260101000000/http://a.example/>" in framed.headers["Link"]
    shown, text = site.ask(frame[1].decode(), Sec_Fetch_Dest="iframe")
    assert shown.headers["Memento-Datetime"] == "Thu, 01 Jan 2026 00:00:00 GMT"
    parts = [each.decode() for each in re.findall(rb'(?:href|src)="?(/[^">\s]*)', text)]
    assert len(parts) == 3
    for part in parts:
        found, body = site.ask(part.replace("&amp;", "&"))
        assert found.status == 200, part
        if part.endswith(".css"):
            assert re.search(rb"/archive/2026\w+/http://a.example/i.png", body)
        if "x%2Fy" in part:
            assert b"odd" in body


def test_addresses_come_through_byte_for_byte(site: Site) -> None:
    found, body = site.ask(f"/archive/2026id_/{ODD}")
    assert (found.status, body) == (200, b"<p>odd</p>")
    assert found.headers["Content-Location"] == f"/archive/20260101000000id_/{ODD}"
    assert site.ask(f"/archive/2026/http://a.example/?{'x' * 20_000}")[0].status == 404


def test_redirects_lead_to_where_readers_are(site: Site) -> None:
    assert site.ask("/archive")[0].headers["Location"].endswith("/archive/")
    moved, _ = site.ask("/archive/2026/http://a.example/moved")
    assert (moved.status, moved.headers["Location"]) == (302, f"/archive/2026/{ODD}")
    go, _ = site.ask("/archive/-/go?url=http://a.example&at=2026")
    assert go.headers["Location"] == "/archive/2026/http://a.example/"


def test_a_range_is_a_range(site: Site) -> None:
    part, body = site.ask("/archive/2026id_/http://a.example/i.png", Range="bytes=100-299")
    assert (part.status, body) == (206, PICTURE[100:300])
    assert part.headers["Content-Range"] == f"bytes 100-299/{len(PICTURE)}"


def test_what_is_elsewhere_is_not_ours(site: Site) -> None:
    assert site.ask("/")[0].status == 404
    assert site.ask("/archives/")[0].status == 404


def test_the_log_has_the_client_and_no_forger_passes(site: Site) -> None:
    site.ask("/archive/forged", X_Forwarded_For="198.51.100.9", Forwarded="for=198.51.100.9")
    shown, text = site.ask(
        "/archive/2026/http://a.example/", X_Forwarded_Host="evil.example", X_Forwarded_Proto="http"
    )
    assert f"<https://{NAME}:{site.port}/archive/" in shown.headers["Link"]
    assert b"evil" not in text
    asked = '"GET /archive/forged HTTP/1.1" 404 '
    wait_for(lambda: asked in site.log.read_text(), 5, "the log has it")  # after the answer
    assert {each.split()[0] for each in site.log.read_text().splitlines()} == {CLIENT}


@pytest.mark.needs("scripts")
def test_scripts_run_at_a_name_of_their_own(tmp_path: Path) -> None:
    authority, port, replay_port = trustme.CA(), closed_port(), closed_port()
    pem, other = tmp_path / "archive.pem", "replay.example.net"
    authority.issue_cert(NAME, other).private_key_and_cert_chain_pem.write_to_path(str(pem))
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    command = replaced(block("console", 1), ("8081", str(replay_port)))
    words = command.removeprefix("$ asof serve ").split()
    with serving(build(tmp_path / "archive", PAGES), words=words) as base:
        example = replaced(
            block("nginx") + block("nginx", 1),
            ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
            ("http://127.0.0.1:8080", base),
            ("127.0.0.1:8081", f"127.0.0.1:{replay_port}"),
        )
        example = re.sub(r"/etc/nginx/\w+\.(?:pem|key)", str(pem), example)
        with nginx(tmp_path, example, port):
            site = Site(port, trust, tmp_path / "none")
            framed, text = site.ask("/archive/2026/http://a.example/", Sec_Fetch_Dest="document")
            assert f"frame-src https://{other};" in framed.headers["Content-Security-Policy"]
            assert b"https://replay.example.net/" in text
            worker, _ = site.ask("/sw.js?replayPrefix=w", other, Service_Worker="script")
            assert (worker.status, worker.headers["Content-Type"][:15]) == (200, "text/javascript")
            raw, body = site.ask(f"/w/coherent/20260201000000id_/{ODD}", other)
            assert (raw.status, body) == (200, b"<p>odd</p>")
            assert site.ask("/archive/", other)[0].status == 404
