"""TLS, proxies, cookies, redirects, another crawl: options of `asof crawl` as a user meets them."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
from pathlib import Path

import pytest
import trustme

from support import rig
from support.rig import Reply, crawl, links, ok, page, referees_agree, rows_of, site


class TlsServer(rig.Server):
    """The same server behind TLS with a certificate nobody trusts."""

    def _serve(self, connection: socket.socket, peer: tuple[str, int]) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
        try:
            connection.settimeout(5)
            wrapped = context.wrap_socket(connection, server_side=True)
        except (OSError, ssl.SSLError):
            connection.close()
            return
        super()._serve(wrapped, peer)


def test_untrusted_certificates_are_refused_and_tolerated_by_option(tmp_path: Path) -> None:
    with TlsServer({"/": page(links("/a")), "/a": page("secret")}) as server:
        url = f"https://127.0.0.1:{server.port}/"
        refused = rig.run("crawl", url, "-a", tmp_path / "no", "--delay", "0", "--json", timeout=60)
        assert refused.code in {0, 1}, str(refused)
        assert not [row for row in rows_of(tmp_path / "no") if row["status"] == 200]
        assert "tls" in refused.json()["reasons"], str(refused)
        crawl(tmp_path / "yes", url, "--insecure")
        assert ok("get", url + "a", "-a", tmp_path / "yes").out == b"secret"
        referees_agree(tmp_path / "yes")
        # Recorded either way: whoever reads the record learns that nobody vouched for it.
        for name in ("no", "yes"):
            text = b"".join(
                gzip.decompress(path.read_bytes()) for path in rig.warcs(tmp_path / name)
            ).lower()
            assert b"certificate" in text or b"self-signed" in text or b"verif" in text, name


def test_a_proxy_is_asked_with_the_full_address(tmp_path: Path) -> None:
    asked: list[bytes] = []

    def answer(head: bytes) -> Reply:
        asked.append(head.split(b"\r\n")[0])
        return page("<p>by proxy</p>")

    with site({}) as proxy:
        proxy.pages = {
            "http://site.example/": answer,
            "http://site.example/robots.txt": page("", "404 Not Found"),
        }
        crawl(tmp_path / "a", "http://site.example/", "--proxy", proxy.url)
        assert asked == [b"GET http://site.example/ HTTP/1.1"]
        assert ok("get", "http://site.example/", "-a", tmp_path / "a").out == b"<p>by proxy</p>"
        referees_agree(tmp_path / "a")


def test_a_dead_proxy_is_said_to_be_dead(tmp_path: Path) -> None:
    with site({}) as gone:
        dead = gone.url
    result = rig.run("crawl", "http://site.example/", "--proxy", dead, "-a", tmp_path / "a",
                     "--delay", "0", "--json", timeout=60)  # fmt: skip
    assert result.code in {0, 1}, str(result)
    assert "proxy" in result.json()["reasons"], str(result)


@pytest.mark.parametrize("cookies", [True, False])
def test_cookies_are_kept_only_when_asked_for(tmp_path: Path, cookies: bool) -> None:
    got: list[bool] = []

    def second(head: bytes) -> Reply:
        got.append(b"cookie: session=abc" in head.lower())
        return page("two")

    first = page(links("/second"), Set_Cookie="session=abc; Path=/")
    with site({"/": first, "/second": second}) as server:
        crawl(tmp_path / "a", server.url + "/", *(["--cookies"] if cookies else []))
    assert got == [cookies]


def test_one_record_per_redirect_hop_and_no_endless_loop(tmp_path: Path) -> None:
    pages: dict[str, rig.Answer] = {
        f"/hop/{no}": page("", "302 Found", Location=f"/hop/{no + 1}") for no in range(5)
    }
    pages |= {"/hop/5": page("there"), "/loop": page("", "301 Moved", Location="/loop")}
    pages |= {"/odd": page("", "302 Found", Location="http://[bad"), "/none": page("", "302 Found")}
    pages |= {"/": page(links("/hop/0", "/loop", "/odd", "/none"))}
    with site(pages) as server:
        crawl(tmp_path / "a", server.url + "/")
        rows = {row["url"].removeprefix(server.url): row for row in rows_of(tmp_path / "a")}
        assert set(pages) <= set(rows)
        assert rows["/hop/0"]["redirect"] == server.url + "/hop/1"
        assert server.paths().count("/loop") == 1
        referees_agree(tmp_path / "a")


def test_a_finished_crawl_and_another(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    with site({"/": page(links("/a")), "/a": page("a")}) as server:
        first = crawl(archive, server.url + "/").json()
        assert first["state"] == "finished"
        again = crawl(archive, server.url + "/").json()
        assert again["crawl"] != first["crawl"], "what is finished is not resumed"
        status = ok("status", "-a", archive, "--json").json()
        assert len(status["crawls"]) == 2
        assert len(rows_of(archive, "--url", server.url + "/a")) == 2
        # Nothing to go on with: say so.
        result = rig.run("crawl", "-a", archive, timeout=20)
        assert result.code == 2, str(result)


def test_hidden_links_are_found(tmp_path: Path) -> None:
    html = """<html><head><base href="/deep/"><link rel=stylesheet href=s.css>
      <meta http-equiv=refresh content="5; url=refresh"><style>@import 'inline.css';</style></head>
      <body background=bg.png><img srcset="one.png 1x, two.png 2x"><picture><source srcset=p.webp>
      </picture><video src=v.mp4 poster=poster.jpg></video><iframe src=frame></iframe>
      <script src=x.js></script><div style="background: url('style.png')">
      <a href=" spaced ">x</a><a href="&#47;entity&amp;x=1">y</a>
      <a href=//127.0.0.1:%d/slashes>z</a>
      <a href="javascript:void(0)">no</a><a href="mailto:a@b">no</a><a href="#top">no</a>
      <a href="data:text/html,x">no</a><a href="?q=1">query</a></body></html>"""
    css = "@import url(more.css); a { background: url( 'css.png' ) }"
    with site({}) as server:
        server.pages = {
            "/": page(html % server.port),
            "/deep/s.css": page(css, media="text/css"),
        }
        crawl(tmp_path / "a", server.url + "/", timeout=60)
        wanted = {
            "/deep/s.css", "/deep/refresh", "/deep/inline.css", "/deep/one.png", "/deep/two.png",
            "/deep/p.webp", "/deep/v.mp4", "/deep/poster.jpg", "/deep/frame", "/deep/x.js",
            "/deep/style.png", "/deep/spaced", "/entity&x=1", "/slashes", "/deep/?q=1",
            "/deep/more.css", "/deep/css.png",
        }  # fmt: skip
        assert wanted - set(server.paths()) == set()
        assert not [path for path in server.paths() if "javascript" in path or "mailto" in path]


def test_many_hosts_are_crawled_side_by_side(tmp_path: Path) -> None:
    """One slow host does not hold up the others."""
    slow = {"/": page(links(*(f"/{no}" for no in range(4))))}
    slow |= {f"/{no}": Reply(page("x").pieces, "keep", before=0.8) for no in range(4)}
    with site(slow) as one, site(dict(slow)) as two, site(dict(slow)) as three:
        seeds = [server.url + "/" for server in (one, two, three)]
        result = crawl(tmp_path / "a", *seeds, timeout=60)
        assert result.json()["captured"] >= 15
        assert result.json()["seconds"] < 8, "3 hosts of 3.2 s each: side by side, not in a row"
        assert threading.active_count() > 0
