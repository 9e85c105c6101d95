"""Manners: one request at a time per host, the delay kept, robots obeyed, scope and limits kept."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from support import rig
from support.rig import Reply, crawl, links, ok, page, referees_agree, rows_of, site


def small(count: int = 12) -> dict[str, rig.Answer]:
    names = [f"/p/{no}" for no in range(count)]
    return {"/": page(links(*names))} | {name: page(f"<p>{name}</p>") for name in names}  # type: ignore[return-value]


def gaps(server: rig.Server) -> list[float]:
    """Seconds from the end of an answer to the start of the next request."""
    hits = sorted(server.hits, key=lambda hit: hit.start)
    return [after.start - before.end for before, after in pairwise(hits)]


def test_never_two_at_once_and_never_too_early(tmp_path: Path) -> None:
    with site(small()) as server:
        crawl(tmp_path / "archive", server.url + "/", delay=0.15)
        assert len(server.hits) >= 13
        assert min(gaps(server)) >= 0.145, sorted(gaps(server))[:5]


def test_the_timer_starts_when_the_answer_ends(tmp_path: Path) -> None:
    """A slow answer does not eat the delay (Naumann 2011)."""
    pages = small(4)
    slow = pages["/p/1"]
    pages["/p/1"] = Reply(rig.split(slow.sent, [10, 40]), "keep", pause=0.3)
    with site(pages) as server:
        crawl(tmp_path / "archive", server.url + "/", delay=0.2)
        assert min(gaps(server)) >= 0.19


def test_without_delay_there_is_still_one_request_at_a_time(tmp_path: Path) -> None:
    pages = {path: Reply(answer.pieces, "keep", before=0.03) for path, answer in small(20).items()}
    with site(pages) as server:
        crawl(tmp_path / "archive", server.url + "/")
        assert min(gaps(server)) >= -0.001


def test_crawl_delay_and_retry_after_are_honoured(tmp_path: Path) -> None:
    robots = page("User-agent: *\nCrawl-delay: 0.3\n", media="text/plain")
    with site(small(4) | {"/robots.txt": robots}) as server:
        crawl(tmp_path / "a", server.url + "/", delay=0.05)
        assert min(gaps(server)[1:]) >= 0.29
    times = []

    def busy(_: bytes) -> Reply:
        times.append(time.monotonic())
        if len(times) == 1:
            return page("<p>busy</p>", "503 Service Unavailable", Retry_After="2")
        return page("<p>fine now</p>")

    with site({"/": page(links("/busy", "/x")), "/busy": busy, "/x": page("x")}) as server:
        crawl(tmp_path / "b", server.url + "/")
        assert len(times) == 2, "a 503 with Retry-After is worth a second try"
        assert times[1] - times[0] >= 1.95
        assert ok("get", server.url + "/busy", "-a", tmp_path / "b").out == b"<p>fine now</p>"


ROBOTS = """User-agent: *
Disallow: /private/
Allow: /private/open
Disallow: /*.pdf$
Disallow: /search?

User-agent: other
Disallow: /
"""


def test_robots_are_obeyed_and_archived(tmp_path: Path) -> None:
    paths = ["/private/secret", "/private/open", "/doc.pdf", "/doc.pdf?x", "/search?q=1", "/ok"]
    pages = {"/": page(links(*paths)), "/robots.txt": page(ROBOTS, media="text/plain")}
    with site(pages | {path: page(path) for path in paths}) as server:
        archive = tmp_path / "archive"
        report = crawl(archive, server.url + "/").json()
        asked = server.paths()
        assert asked[0] == "/robots.txt"
        assert set(asked) == {"/robots.txt", "/", "/private/open", "/doc.pdf?x", "/ok"} | (
            set(asked) & {"/sitemap.xml", "/favicon.ico"}
        )
        assert report["left_out"] == 3
        assert any("robots" in reason for reason in report["reasons"])
        assert ok("get", server.url + "/robots.txt", "-a", archive).out == ROBOTS.encode()
        referees_agree(archive)
        server.hits.clear()
        crawl(tmp_path / "ignore", server.url + "/", "--robots", "ignore")
        assert "/private/secret" in server.paths()


@pytest.mark.parametrize(("status", "allowed"), [("404 Not Found", True), ("403 No", True)])
def test_robots_status_rules(tmp_path: Path, status: str, allowed: bool) -> None:
    with site(small(2) | {"/robots.txt": page("Disallow: /", status)}) as server:
        crawl(tmp_path / "archive", server.url + "/")
        assert ("/p/1" in server.paths()) is allowed


def test_robots_that_fail_hold_the_crawl_off(tmp_path: Path) -> None:
    with site(small(2) | {"/robots.txt": page("oops", "500 Oops")}) as server:
        result = rig.run("crawl", server.url + "/", "-a", tmp_path / "archive", "--delay", "0",
                         "--time-limit", "3", "--json", timeout=60)  # fmt: skip
        assert "/p/1" not in server.paths(), str(result)
        assert "/" not in server.paths()


def test_seed_disallowed_by_robots_says_so(tmp_path: Path) -> None:
    robots = page("User-agent: *\nDisallow: /\n", media="text/plain")
    with site(small(2) | {"/robots.txt": robots}) as server:
        result = rig.run("crawl", server.url + "/", "-a", tmp_path / "archive", timeout=30)
        assert "robots" in result.err.lower(), str(result)
        assert set(server.paths()) == {"/robots.txt"}


def test_scopes(tmp_path: Path) -> None:
    inside = ["/a/", "/a/1", "/a/b/2"]
    outside = ["/b/3"]
    with site({"/x": page("x")}) as other:
        html = links(*inside, *outside, other.url + "/x")
        with site({path: page(html) for path in ["/", *inside, *outside]}) as server:
            crawl(tmp_path / "path", server.url + "/a/", "--scope", "path")
            assert set(server.paths()) & {"/b/3", "/"} == set()
            assert set(inside) <= set(server.paths())
            assert other.paths() == []
            server.hits.clear()
            crawl(tmp_path / "page", server.url + "/a/1", "--scope", "page")
            assert set(server.paths()) - {"/robots.txt"} == {"/a/1"}
            server.hits.clear()
            crawl(tmp_path / "exclude", server.url + "/", "--exclude", "/b/", "--exclude", r"/\d$")
            assert set(server.paths()) - {"/robots.txt"} == {"/", "/a/"}
            server.hits.clear()
            crawl(tmp_path / "depth", server.url + "/", "--depth", "0")
            assert set(server.paths()) - {"/robots.txt"} == {"/"}


def test_limits_stop_and_resume_goes_on(tmp_path: Path) -> None:
    with site(small(30)) as server:
        archive = tmp_path / "archive"
        report = crawl(archive, server.url + "/", "--max-pages", "10").json()
        pages = [row for row in rows_of(archive) if not row["url"].endswith("/robots.txt")]
        assert len(pages) == 10
        assert report["captured"] in {10, 11}
        assert report["queued"] + report["left_out"] >= 20
        server.hits.clear()
        report = rig.run("crawl", server.url + "/", "-a", tmp_path / "t", "--delay", "0.2",  # type: ignore[assignment]
                         "--time-limit", "1.5", "--json", timeout=30)  # fmt: skip
        assert report.seconds < 8  # type: ignore[attr-defined]
        assert 1 < len(server.hits) < 15


def test_the_same_address_in_other_spellings_is_asked_for_once(tmp_path: Path) -> None:
    with site({}) as server:
        port = server.port
        spellings = ["/page", "/page#part", "/a/../page", "/./page", f"http://127.0.0.1:{port}/page",
                     f"HTTP://127.0.0.1:{port}/page", "/%70age"]  # fmt: skip
        server.pages |= {"/": page(links(*spellings)), "/page": page("p"), "/%70age": page("p")}
        crawl(tmp_path / "archive", server.url + "/")
        assert server.paths().count("/page") == 1
        assert server.paths().count("/") == 1


def test_a_trap_of_endless_links_ends_by_limit(tmp_path: Path) -> None:
    class Endless(dict):
        def get(self, path: str, default: Any = None) -> Any:
            return (
                page(links(path.rstrip("/") + "/deeper", path + "?n=1"))
                if "robots" not in path
                else None
            )

    with site({}) as server:
        server.pages = Endless()
        result = crawl(tmp_path / "archive", server.url + "/", "--max-pages", "50", timeout=60)
        assert result.json()["captured"] <= 52


def test_dead_hosts_and_refused_connections_are_outcomes(tmp_path: Path) -> None:
    with site({}) as gone:
        dead = gone.url
    with site({"/": page(links("/ok")), "/ok": page("ok")}) as server:
        archive = tmp_path / "archive"
        report = crawl(archive, server.url + "/", dead + "/", timeout=60).json()
        assert {server.url + "/", server.url + "/ok"} <= {row["url"] for row in rows_of(archive)}
        assert report["state"] == "finished"
        assert report["failed"] >= 1
        assert "refused" in report["reasons"]
        referees_agree(archive)
    # All seeds dead: there is nothing to show, and the exit code may say so; no traceback, no hang.
    result = rig.run("crawl", dead + "/", "-a", tmp_path / "dead", "--delay", "0", timeout=60)
    assert result.code in {0, 1}, str(result)
    assert "refused" in result.err.lower(), str(result)


def test_the_agent_names_itself_and_asks_for_gzip_only(tmp_path: Path) -> None:
    with site(small(1)) as server:
        crawl(tmp_path / "a", server.url + "/")
        head = server.hits[-1].head.decode().lower()
        assert "user-agent: asof" in head
        assert "accept-encoding: gzip\r\n" in head
        server.hits.clear()
        crawl(tmp_path / "b", server.url + "/", "--user-agent", "mine/1.0 (+http://me)")
        assert b"mine/1.0 (+http://me)" in server.hits[-1].head


def test_progress_talks_to_stderr_only(tmp_path: Path) -> None:
    with site(small(3)) as server:
        result = ok("crawl", server.url + "/", "-a", tmp_path / "a", "--delay", "0")
        assert result.out == b"" or b"captured" in result.out.lower()
        assert "\x1b[" not in result.err, "no colours and cursor moves when nobody watches"
        quiet = ok("crawl", server.url + "/", "-a", tmp_path / "b", "--delay", "0", "--quiet")
        assert quiet.err == ""
        shaped = crawl(tmp_path / "c", server.url + "/").json()
        assert set(shaped) >= {"crawl", "state", "seeds", "started", "ended", "captured", "failed",
                               "left_out", "queued", "bytes", "seconds", "reasons",
                               "files"}  # fmt: skip
