"""Servers that mean harm or are broken: the crawl ends, stays small, keeps the bytes, says why."""

from __future__ import annotations

import gzip
import random
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from support import forge, rig
from support.rig import Reply, crawl, links, ok, page, referees_agree, rows_of, site, warcs

MB = 1 << 20
PEAK = 350 * MB
OK = b"HTTP/1.1 200 OK\r\n"


class Endless(rig.Server):
    """Sends `unit` again and again until the client goes away; other paths as usual."""

    unit = b""
    head = b""
    pause = 0.0

    def _answer(self, connection: socket.socket, head: bytes, peer: tuple[str, int]) -> bool:
        path = head.split(b" ", 2)[1].decode("latin-1")
        if not path.startswith("/endless"):
            return super()._answer(connection, head, peer)
        self.hits.append(rig.Hit(path, 0.0, 0.0, head, peer))
        try:
            connection.settimeout(5)
            connection.sendall(self.head)
            while not self._stop.is_set():
                connection.sendall(self.unit)
                if self.pause:
                    self._stop.wait(self.pause)
        except OSError:
            pass
        return False


@pytest.mark.parametrize(
    ("head", "unit", "pause"),
    [
        (OK + b"Content-Type: text/html\r\n\r\n", b"<p>more</p>" * 5000, 0.0),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\nhello\r\n" * 5000, 0.0),
        (OK, b"X-More: of these\r\n" * 500, 0.0),
        (OK + b"X-Long: ", b"a" * 65536, 0.0),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100, 0.0),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5;", b"x" * 65536, 0.0),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X-Trailer: y\r\n" * 500, 0.0),
        (OK + b"Content-Length: 100000\r\n\r\n", b".", 0.2),
        (b"", b"H", 0.2),
    ],
    ids=[
        "body",
        "chunks",
        "headers",
        "header",
        "interim",
        "extension",
        "trailers",
        "drip",
        "slow-head",
    ],
)
def test_answers_without_end(tmp_path: Path, head: bytes, unit: bytes, pause: float) -> None:
    """A time limit holds whatever the server does; other pages are captured all the same."""
    server = Endless({"/": page(links("/a", "/endless", "/b")), "/a": page("a"), "/b": page("b")})
    server.head, server.unit, server.pause = head, unit, pause
    with server:
        archive = tmp_path / "archive"
        words = ["crawl", server.url + "/", "-a", archive, "--delay", "0", "--time-limit", "2"]
        result = rig.run(*words, "--json", timeout=15, limits={"AS": 3 << 30})
        assert result.code in {0, 1}, str(result)
        assert result.peak_rss < PEAK, f"{result.peak_rss // MB} MB"
        rows = {row["url"].removeprefix(server.url): row for row in rows_of(archive)}
        assert {"/", "/a"} <= set(rows)
        if "/endless" in rows:
            assert rows["/endless"]["truncated"] in {"time", "length"}, rows["/endless"]
        rig.warcio_check(warcs(archive))
        checked = ok("check", "-a", archive, fresh=True)
        assert checked.peak_rss < PEAK, f"{checked.peak_rss // MB} MB"
        assert not list(archive.glob("spool/*"))


LINES = {
    "length-huge": b"Content-Length: 999999999999999999999999\r\n\r\nabc",
    "length-negative": b"Content-Length: -5\r\n\r\nabc",
    "length-plus": b"Content-Length: +3\r\n\r\nabc",
    "length-list": b"Content-Length: 3, 3\r\n\r\nabc",
    "length-list-differs": b"Content-Length: 3, 4\r\n\r\nabc",
    "length-hex": b"Content-Length: 0x3\r\n\r\nabc",
    "length-word": b"Content-Length: three\r\n\r\nabc",
    "length-empty": b"Content-Length:\r\n\r\nabc",
    "chunk-huge": b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFFFF\r\nabc",
    "chunk-negative": b"Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n",
    "chunk-word": b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
    "chunk-missing": b"Transfer-Encoding: chunked\r\n\r\n<html>not chunked at all</html>",
    "te-unknown": b"Transfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "te-identity": b"Transfer-Encoding: identity\r\nContent-Length: 3\r\n\r\nabc",
    "type-odd": b"Content-Type: ;;;=\xff\r\nContent-Length: 3\r\n\r\nabc",
    "type-binary": b"Content-Type: \x00\x01\x02\r\nContent-Length: 3\r\n\r\nabc",
    "charset-odd": b"Content-Type: text/html; charset=klingon\r\nContent-Length: 3\r\n\r\nabc",
    "encoding-odd": b"Content-Encoding: rot13, br\r\nContent-Length: 3\r\n\r\nabc",
    "location-odd": b"Location: http://\xff\xfe/\x00\r\nContent-Length: 3\r\n\r\nabc",
    "date-odd": b"Last-Modified: in the year 99999999999999\r\nContent-Length: 3\r\n\r\nabc",
    "etag-odd": b'ETag: "\xff\x00unclosed\r\nContent-Length: 3\r\n\r\nabc',
    "cr-only": b"X-A: 1\rX-B: 2\r\nContent-Length: 3\r\n\r\nabc",
    "nul": b"X-A: \x00\r\nContent-Length: 3\r\n\r\nabc",
}


def test_nonsense_in_headers_is_kept_byte_for_byte(tmp_path: Path) -> None:
    pages: dict[str, rig.Answer] = {f"/{name}": Reply((OK + tail,)) for name, tail in LINES.items()}
    pages |= {
        "/ssh": Reply((b"SSH-2.0-OpenSSH_9.6\r\n",)),
        "/smtp": Reply((b"220 mail.example ESMTP\r\n",)),
        "/h2": Reply((b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80",)),
        "/status-odd": Reply((b"HTTP/1.1 abc Odd\r\nContent-Length: 3\r\n\r\nabc",)),
        "/status-long": Reply((b"HTTP/1.1 20000 OK\r\nContent-Length: 3\r\n\r\nabc",)),
        "/version-odd": Reply((b"HTTP/9.9 200 OK\r\nContent-Length: 3\r\n\r\nabc",)),
        "/icy": Reply((b"ICY 200 OK\r\nContent-Length: 3\r\n\r\nabc",)),
        "/blank-first": Reply((b"\r\n\r\n" + OK + b"Content-Length: 3\r\n\r\nabc",)),
    }
    with site(pages | {"/": page(links(*pages))}) as server:
        archive = tmp_path / "archive"
        crawl(archive, server.url + "/", timeout=90)
        blocks: dict[str, set[bytes]] = {}
        for path in warcs(archive):
            for seen in rig.by_fastwarc(path):
                if seen.kind in {"response", "resource", "metadata"}:
                    blocks.setdefault(seen.url.removeprefix(server.url), set()).add(seen.block)
        lost = {
            path: blocks.get(path)
            for path, reply in pages.items()
            if reply.sent not in blocks.get(path, set())
        }
        assert not lost, f"{len(lost)} of {len(pages)}: {lost}"
        referees_agree(archive)
        before = rows_of(archive)
        rig.remove_database(archive)
        ok("reindex", "-a", archive)
        assert rows_of(archive) == before


NASTY = {
    "deep": page("<div>" * 100_000 + "<a href=/after>x</a>"),
    "many": page("".join(f"<a href=/n/{no}>x</a>" for no in range(60_000)) + "<a href=/after>"),
    "long": page(f"<a href=/{'y' * 1_000_000}>x</a><a href=/after>x</a>"),
    "noise": page(random.Random(4).randbytes(300_000) + b"<a href=/after>x</a>"),
    "nul": page(b"<a href='/a\0b'>x</a><a href='/c%00d'>x</a><a href=/after>x</a>"),
    "attributes": page("<a " + " ".join(f"a{n}=1" for n in range(30_000)) + " href=/after>"),
    "comments": page("<!-- -->" * 100_000 + "<a href=/after>x</a>"),
    "tables": page("<table><tr><td>" * 3_000 + "<a href=/after>x</a>"),
    "formats": page("<b><i><a href=/after>" * 1_000),
    "entities": page("&amp;" * 300_000 + "<a href=/after>x</a>"),
    "css": page("<link rel=stylesheet href=/s.css><a href=/after>x</a>"),
    "targets": page(
        "<a href='http://user:pw@127.0.0.1:1/'>u</a><a href='http://127.0.0.1:0/'>0</a>"
        "<a href='http://xn--/'>i</a><a href='http://a..b/'>d</a><a href='http://%zz/'>p</a>"
        "<a href='http://[::1]:9/'>6</a><a href='http://256.256.256.256/'>4</a>"
        "<a href='file:///etc/passwd'>f</a><a href=/after>l</a>"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NASTY)
def test_pages_that_want_to_hurt_the_parser(tmp_path: Path, name: str) -> None:
    """Pages of about a megabyte: read within seconds, in little memory, links found."""
    css = page("url(" * 200_000 + "@import " * 50_000, media="text/css")
    with site({"/": NASTY[name], "/s.css": css, "/after": page("after")}) as server:
        result = crawl(tmp_path / "a", server.url + "/", "--exclude", "/n/", timeout=20, fresh=True)
        assert "/after" in server.paths()
        assert result.peak_rss < PEAK, f"{result.peak_rss // MB} MB"
        assert result.json()["seconds"] < 8, "one page keeps all other hosts waiting"
        ok("check", "-a", tmp_path / "a")


def test_a_page_that_inflates_to_300_megabytes(tmp_path: Path) -> None:
    """600 kB on the wire: kept as they came; what is decoded for links has a bound."""
    forge.bomb(tmp_path / "bomb", b"<html><a href=/early>", b"<a href=/x>" * 1_400_000, 20)
    data = (tmp_path / "bomb").read_bytes()
    with site({"/": page(data, Content_Encoding="gzip"), "/early": page("early")}) as server:
        result = crawl(tmp_path / "a", server.url + "/", timeout=40, fresh=True)
        assert "/early" in server.paths()
        assert result.peak_rss < PEAK, f"{result.peak_rss // MB} MB"
        assert ok("get", server.url + "/", "--raw", "-a", tmp_path / "a").out.endswith(data)


@pytest.mark.parametrize(
    "robots",
    [
        page(b"\xff\xfe\x00\x01" * 2000, media="text/plain"),
        page(b"User-agent: *\nDisallow: /secret\n" + b"# filler\n" * 3_000_000, media="text/plain"),
        page("", "301 Moved", Location="/robots.txt"),
        page("<html>a web page</html>"),
        Reply((b"",)),
        page("User-agent: *\nCrawl-delay: 99999999\nDisallow: /secret\n", media="text/plain"),
        page("User-agent: *\nDisallow: /" + "*" * 3000 + "$\n", media="text/plain"),
    ],
    ids=["binary", "huge", "loop", "html", "empty", "delay", "stars"],
)  # fmt: skip
def test_robots_that_mean_harm(tmp_path: Path, robots: Any) -> None:
    paths = {"/": page(links("/" + "a" * 60, "/ok")), "/ok": page("ok")}
    with site(paths | {"/robots.txt": robots}) as server:
        result = rig.run("crawl", server.url + "/", "-a", tmp_path / "a", "--delay", "0",
                         "--time-limit", "6", "--json", timeout=40, fresh=True)  # fmt: skip
        assert result.code in {0, 1}, str(result)
        assert result.peak_rss < PEAK
        assert "/secret" not in server.paths()


def test_a_dozen_hosts_that_never_answer(tmp_path: Path) -> None:
    """Silence on many hosts at once: the time limit ends it."""
    servers = [
        site({"/": Reply((b"",), "hang"), "/robots.txt": page("", "404 No")}) for _ in range(12)
    ]
    try:
        seeds = [server.url + "/" for server in servers]
        words = ["-a", tmp_path / "a", "--time-limit", "3", "--json"]
        result = rig.run("crawl", *seeds, *words, timeout=15)
        assert result.code in {0, 1}, str(result)
    finally:
        closers = [threading.Thread(target=server.close) for server in servers]
        for closer in closers:
            closer.start()
        for closer in closers:
            closer.join()


def test_gzip_in_odd_states(tmp_path: Path) -> None:
    whole = gzip.compress(b"<a href=/found>x</a>" + b"." * 5000)
    pages = {
        "/cut": page(whole[: len(whole) // 2], Content_Encoding="gzip"),
        "/junk-after": page(whole + b"JUNK", Content_Encoding="gzip"),
        "/two": page(whole + gzip.compress(b"<a href=/second>y</a>"), Content_Encoding="gzip"),
        "/not": page(b"<a href=/plain>x</a>", Content_Encoding="gzip"),
        "/x-gzip": page(whole, Content_Encoding="x-gzip"),
        "/upper": page(whole, Content_Encoding="GZIP"),
        "/deflate-raw": page(whole[10:-8], Content_Encoding="deflate"),
        "/empty": page(b"", Content_Encoding="gzip"),
    }
    with site({"/": page(links(*pages))} | pages) as server:
        crawl(tmp_path / "a", server.url + "/", timeout=60)
        assert "/found" in server.paths()
        assert "/plain" in server.paths()
        for name in ("/junk-after", "/x-gzip", "/upper", "/deflate-raw"):
            got = ok("get", server.url + name, "-a", tmp_path / "a").out
            assert got.startswith(b"<a href=/found>"), name
        assert ok("get", server.url + "/two", "-a", tmp_path / "a").out.endswith(
            b"<a href=/second>y</a>"
        )
        referees_agree(tmp_path / "a")
