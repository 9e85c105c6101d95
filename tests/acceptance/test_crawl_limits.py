"""Quotas and limits, graceful stops, the log of events and those who follow, end to end."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from support import rig
from support.rig import Reply, crawl, links, ok, page, rows_of, site, tmpfs, wait_for

SIZE = 10_000


def many(count: int, size: int = SIZE, prefix: str = "/p") -> dict[str, rig.Answer]:
    """A front page and so many others of that size, which differ."""
    names = [f"{prefix}/{no}" for no in range(count)]
    pages: dict[str, rig.Answer] = {"/": page(links(*names))}
    for name in names:
        pages[name] = page(f"<p>{name}</p>".ljust(size, name[-1]))
    return pages


def taken(archive: Path) -> list[dict[str, Any]]:
    """The captures but those of robots.txt."""
    return [row for row in rows_of(archive) if not row["url"].endswith("/robots.txt")]


def events(archive: Path) -> list[dict[str, Any]]:
    """The log of the one crawl: each line is JSON, and the last one is whole."""
    (log,) = (archive / "logs").glob("*.jsonl")
    text = log.read_bytes()
    assert text.endswith(b"\n")
    return [json.loads(line) for line in text.splitlines()]


def state(archive: Path) -> dict[str, Any]:
    (entry,) = ok("status", "-a", archive, "--json").json()["crawls"]
    assert isinstance(entry, dict)
    return entry


# -- Pages, bytes, time --------------------------------------------------------------------------


def test_so_many_pages_in_all_and_not_one_more(tmp_path: Path) -> None:
    """--max-pages N: N captures, with several hosts asked at once; robots.txt is none of them."""
    with ExitStack() as held:
        servers = [held.enter_context(site(many(30, 300))) for _ in range(5)]
        seeds = [server.url + "/" for server in servers]
        report = crawl(tmp_path / "a", *seeds, "--max-pages", 23).json()
        assert len(taken(tmp_path / "a")) == 23
        asked = [path for server in servers for path in server.paths() if "robots" not in path]
        assert len(asked) == 23
    assert report["ended_by"] == "max-pages"
    assert report["queued"] > 0


def test_a_limit_that_is_not_reached_changes_nothing(tmp_path: Path) -> None:
    with site(many(8, 300)) as server:
        report = crawl(tmp_path / "a", server.url + "/", "--max-pages", 9, "--max-bytes", 10**9,
                       "--time-limit", 60).json()  # fmt: skip
    assert len(taken(tmp_path / "a")) == 9
    assert (report["queued"], report["state"]) == (0, "finished")


def test_so_many_bytes_in_all(tmp_path: Path) -> None:
    """--max-bytes N: over N by no more than the last answer of each host that was in flight."""
    with ExitStack() as held:
        servers = [held.enter_context(site(many(60))) for _ in range(3)]
        seeds = [server.url + "/" for server in servers]
        report = crawl(tmp_path / "a", *seeds, "--max-bytes", "400kB").json()
    assert report["ended_by"] == "max-bytes"
    assert 400_000 <= report["bytes"] <= 400_000 + 3 * (SIZE + 500)
    assert report["queued"] > 0


def test_bytes_count_as_they_come_over_the_wire(tmp_path: Path) -> None:
    """Heads and bodies, packed as they are."""
    body = gzip.compress(b"<p>" + b"long " * 100_000)
    pages = {"/": page(body, Content_Encoding="gzip")}
    with site(pages) as server:
        report = crawl(tmp_path / "a", server.url + "/").json()
    assert len(body) < report["bytes"] < len(body) + 2_000


def test_so_much_time(tmp_path: Path) -> None:
    """--time-limit S: about S seconds, and what waits is still queued."""
    with site(many(200, 300)) as server:
        done = rig.crawl(tmp_path / "a", server.url + "/", "--time-limit", 1.5, delay=0.1)
        asked = len(server.hits)
    report = done.json()
    assert report["ended_by"] == "time-limit"
    assert 1.4 <= report["seconds"] <= 3
    assert 8 <= asked <= 17
    assert report["queued"] + report["captured"] >= 200


def test_a_server_that_hangs_does_not_outwit_the_time_limit(tmp_path: Path) -> None:
    """What is in flight gets a few seconds, and stays queued when it does not end."""
    hang = Reply((b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",), "hang")
    with site({"/": page(links("/hang", "/after")), "/hang": hang}) as server:
        done = rig.crawl(tmp_path / "a", server.url + "/", "--time-limit", 1)
    assert done.seconds < 10
    assert done.json()["queued"] == 2
    assert [row["url"] for row in taken(tmp_path / "a")] == [server.url + "/"]


def test_so_many_bytes_of_a_host(tmp_path: Path) -> None:
    """--max-bytes-per-host: each host has its own measure, the rest is left out and said to be."""
    with site(many(30)) as large, site(many(3, 300)) as small:
        report = crawl(
            tmp_path / "a", large.url + "/", small.url + "/", "--max-bytes-per-host", 60_000
        ).json()
        assert len([path for path in small.paths() if "robots" not in path]) == 4
        assert 5 <= len([path for path in large.paths() if "robots" not in path]) <= 7
    assert report["state"] == "finished"
    assert report["queued"] == 0
    assert [reason for reason in report["reasons"] if "bytes of one host" in reason]


@pytest.mark.parametrize(
    "words",
    [["--max-pages", "0"], ["--max-pages", "-3"], ["--max-bytes", "0"], ["--time-limit", "0"],
     ["--time-limit", "nan"], ["--time-limit", "inf"], ["--max-pages-per-host", "0"],
     ["--max-bytes-per-host", "-1"], ["--disk-reserve", "-1"], ["--max-pages", "ten"],
     ["--depth", "-1"], ["--delay", "-1"], ["--concurrency", "0"]],
    ids=lambda words: " ".join(words),
)  # fmt: skip
def test_limits_that_make_no_sense_are_refused(tmp_path: Path, words: list[str]) -> None:
    """Exit 2, nothing on stdout, a short word, and no archive."""
    refused = rig.run("crawl", "http://127.0.0.1:9/", *words, "-a", tmp_path / "a")
    assert (refused.code, refused.out) == (2, b""), str(refused)
    assert 0 < len(refused.err) < 500
    assert not (tmp_path / "a").exists()


# -- Over an interruption ------------------------------------------------------------------------


@contextmanager
def crawling(archive: Path, *words: object) -> Iterator[subprocess.Popen[bytes]]:
    """A crawl in the background, which is ended in any case."""
    process = rig.start("crawl", *words, "-a", archive)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.communicate()


def interrupted(archive: Path, server: rig.Server, hits: int, *words: object) -> str:
    """Crawl until so many requests have come, then Ctrl-C; gives what was said."""
    with crawling(archive, server.url + "/", *words) as process:
        wait_for(lambda: len(server.hits) >= hits, 30, "the crawl gets on")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err.decode()
    assert b"Traceback" not in err
    return err.decode()


def test_max_pages_counts_over_an_interruption(tmp_path: Path) -> None:
    with site(many(60, 300)) as server:
        interrupted(tmp_path / "a", server, 12, "--delay", 0.02, "--max-pages", 25)
        crawl(tmp_path / "a", server.url + "/")
        assert len([path for path in server.paths() if "robots" not in path]) == 25
    assert len(taken(tmp_path / "a")) == 25


@pytest.mark.parametrize("limit", ["--max-bytes", "--max-bytes-per-host"])
def test_bytes_count_over_an_interruption(tmp_path: Path, limit: str) -> None:
    """The limit is the crawl's, not one run's: ten interruptions are not ten times as much."""
    with site(many(60)) as server:
        interrupted(tmp_path / "a", server, 12, "--delay", 0.02, limit, 200_000)
        crawl(tmp_path / "a", server.url + "/")
        size = sum(row["size"] for row in taken(tmp_path / "a"))
    assert 190_000 <= size <= 200_000 + 2 * SIZE


# -- The disk ------------------------------------------------------------------------------------


def heavy() -> dict[str, rig.Answer]:
    """15 MB that do not compress."""
    names = [f"/{no}.bin" for no in range(150)]
    pages: dict[str, rig.Answer] = {"/": page(links(*names))}
    for no, name in enumerate(names):
        pages[name] = page(random.Random(no).randbytes(100_000), media="application/octet-stream")
    return pages


def test_the_disk_keeps_its_reserve(tmp_path: Path) -> None:
    """Stopped with a sentence while that much is free; the same command goes on when there is room.

    (What happens on a disk that is smaller than any reserve is told by tests/crash.)
    """
    size, reserve = 64_000_000, 40_000_000
    pages = heavy()
    with site(pages) as server, tmpfs(tmp_path / "disk", str(size)) as disk:
        archive, ballast = disk / "archive", disk / "ballast"
        ballast.write_bytes(bytes(size - reserve - 4_000_000))
        stopped = rig.run("crawl", server.url + "/", "-a", archive, "--delay", "0.03",
                          "--disk-reserve", reserve)  # fmt: skip
        free = shutil.disk_usage(disk).free
        assert stopped.code == 1, str(stopped)
        assert "disk" in stopped.err
        assert len([line for line in stopped.err.splitlines() if "asof:" in line]) == 1
        # There is a look at the disk every second only, and so much may come between two of them.
        assert free > reserve - 6_000_000, f"{free:,} left"
        assert state(archive)["state"] == "interrupted"
        assert events(archive)[-1]["event"] == "ended"
        assert ok("check", "-a", archive, "--json").json()["problems"] == []
        ballast.unlink()
        assert crawl(archive, server.url + "/").json()["state"] == "finished"
        assert len(taken(archive)) == len(pages)
        assert max(Counter(server.paths()).values()) == 1


def test_a_reserve_that_is_missing_from_the_start(tmp_path: Path) -> None:
    """Nothing is asked for when there is no room to begin with."""
    with site(many(5)) as server:
        stopped = rig.run(
            "crawl",
            server.url + "/",
            "-a",
            tmp_path / "a",
            "--disk-reserve",
            10**15,
            "--delay",
            "0",
        )
        assert stopped.code == 1, str(stopped)
        assert "disk" in stopped.err
        assert server.hits == []


# -- Ctrl-C --------------------------------------------------------------------------------------


def slow(seconds: float) -> Reply:
    body = b"<p>slow</p>"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
    return Reply((head.encode(), body), "keep", pause=seconds)


def test_ctrl_c_once_finishes_what_is_in_flight(tmp_path: Path) -> None:
    """The answer under way is kept, nothing new begins, exit 130; and it is not asked for again."""
    archive = tmp_path / "a"
    pages = many(10, 300) | {"/": page(links("/slow", *(f"/p/{no}" for no in range(10))))}
    with site(pages | {"/slow": slow(0.7)}) as server:
        with crawling(archive, server.url + "/", "--delay", 0) as process:
            wait_for(lambda: "/slow" in server.paths(), 20, "the slow page is asked for")
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=15)
        assert process.returncode == 130, err.decode()
        assert b"asof crawl" in err, "say how to go on"
        assert server.paths()[-1] == "/slow"
        assert server.url + "/slow" in {row["url"] for row in rows_of(archive)}
        assert state(archive)["state"] == "interrupted"
        before = Counter(server.paths())
        assert crawl(archive).json()["state"] == "finished"
        assert server.paths().count("/slow") == 1
        assert all(server.paths().count(path) == 1 for path in pages), before
    rig.referees_agree(archive)


def test_ctrl_c_twice_ends_now(tmp_path: Path) -> None:
    """An answer that would take long is given up, what had come is committed, all is resumable."""
    archive = tmp_path / "a"
    hang = Reply((b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",), "hang")
    names = [f"/p/{no}" for no in range(10)]
    pages = many(10, 300) | {"/": page(links(*names, "/hang")), "/hang": hang}
    with site(pages) as server:
        with crawling(archive, server.url + "/", "--delay", 0) as process:
            wait_for(lambda: "/hang" in server.paths(), 20, "the server hangs")
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
            assert process.poll() is None, "it waits for what is in flight"
            started = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=15)
        assert time.monotonic() - started < 2
        assert process.returncode == 130, err.decode()
        assert {row["url"] for row in taken(archive)} == {server.url + p for p in ("/", *names)}
        assert events(archive)[-1]["event"] == "ended"
        server.pages["/hang"] = page("<p>no more</p>")
        server.hits.clear()
        crawl(archive)
        assert server.paths() == ["/hang"]
    rig.referees_agree(archive)


def test_ctrl_c_before_anything_has_come(tmp_path: Path) -> None:
    """robots.txt hangs: the crawl ends all the same, and goes on later."""
    archive = tmp_path / "a"
    hang = Reply((b"",), "hang")
    with site(many(3, 300) | {"/robots.txt": hang}) as server:
        with crawling(archive, server.url + "/", "--delay", 0) as process:
            wait_for(lambda: bool(server.hits), 20, "robots.txt is asked for")
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=15)
        assert process.returncode == 130, err.decode()
        assert taken(archive) == []
        del server.pages["/robots.txt"]
        assert crawl(archive).json()["captured"] == 5


def test_a_crawl_that_waits_for_a_polite_moment_stops_at_once(tmp_path: Path) -> None:
    """Nothing is in flight during a delay, so there is nothing to wait for."""
    with site(many(5, 300)) as server:
        with crawling(tmp_path / "a", server.url + "/", "--delay", 30) as process:
            wait_for(lambda: bool(server.hits), 20, "robots.txt is asked for")
            time.sleep(0.3)
            started = time.monotonic()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=15)
        assert time.monotonic() - started < 2
        assert process.returncode == 130


# -- The log, and who follows --------------------------------------------------------------------


def test_the_log_tells_the_whole_story(tmp_path: Path) -> None:
    """started ... ended, in order of time, every fetch and failure, over an interruption too."""
    archive = tmp_path / "a"
    pages = many(30, 300) | {"/p/3": Reply((b"",), "reset"), "/p/4": page("n", "404 Not Found")}
    archive.mkdir()
    (archive / "asof.toml").write_text("retries = 0\n")
    with site(pages) as server:
        interrupted(archive, server, 10, "--delay", 0.02)
        crawl(archive)
        asked = Counter(server.paths())
        found = events(archive)
        names = [event["event"] for event in found]
        assert names[0] == "started"
        assert names[-1] == "ended"
        assert names.count("started") == names.count("ended") == 2
        assert names[names.index("ended") + 1] == "started"
        times = [datetime.fromisoformat(event["at"]) for event in found]
        assert times == sorted(times)
        assert found[0]["seeds"] == [server.url + "/"]
        fetched = [event for event in found if event["event"] == "fetched"]
        failed = [event for event in found if event["event"] == "failed"]
        assert {event["url"] for event in failed} == {server.url + "/p/3"}
        told = Counter(event["url"].removeprefix(server.url) for event in fetched + failed)
        del asked["/robots.txt"]
        told.pop("/robots.txt", None)
        # On a connection that had served before, a reset is no answer: that was one try.
        assert 1 == told.pop("/p/3") <= asked.pop("/p/3")
        assert told == asked
        (dead,) = [event for event in fetched if event["url"].endswith("/p/4")]
        assert dead["status"] == 404
        assert {"ms", "bytes", "hops", "depth", "via"} <= dead.keys()
        assert found[-1]["captured"] == state(archive)["captured"]


def test_the_log_says_when_a_crawl_goes_on(tmp_path: Path) -> None:
    """`started` has resumed true when the crawl goes on (asof.crawl.events)."""
    with site(many(30, 300)) as server:
        interrupted(tmp_path / "a", server, 10, "--delay", 0.02)
        crawl(tmp_path / "a")
    starts = [event for event in events(tmp_path / "a") if event["event"] == "started"]
    assert [bool(event.get("resumed")) for event in starts] == [False, True]


def test_the_log_says_which_limit_ended_a_crawl(tmp_path: Path) -> None:
    with site(many(30, 300)) as server:
        crawl(tmp_path / "a", server.url + "/", "--max-pages", 5)
    found = events(tmp_path / "a")
    assert found[-1]["ended_by"] == "max-pages"
    assert [event for event in found[:-1] if "max-pages" in event.values()]


def test_the_log_is_whole_after_a_kill(tmp_path: Path) -> None:
    """A torn line, if there is one, does not swallow what the next run writes."""
    archive = tmp_path / "a"
    with site(many(90, 300)) as server:
        with crawling(archive, server.url + "/", "--delay", 0.02) as process:
            wait_for(lambda: bool(list(archive.glob("logs/*.jsonl"))), 30, "there is a log")
            process.kill()
            process.wait(10)
        (log,) = (archive / "logs").glob("*.jsonl")
        with log.open("ab") as file:
            file.write(b'{"at": "2026-')
        crawl(archive, server.url + "/")
    lines = log.read_bytes().splitlines()
    torn = [line for line in lines if not line.endswith(b"}")]
    assert torn == [b'{"at": "2026-']
    assert json.loads(lines[-1])["event"] == "ended"


def test_following_a_crawl_that_is_interrupted(tmp_path: Path) -> None:
    """`status --follow --json` needs no --control: JSON lines that rise, and how it ended."""
    archive = tmp_path / "a"
    with (
        site(many(400, 300)) as server,
        crawling(archive, server.url + "/", "--delay", 0.02) as one,
    ):
        wait_for(lambda: len(server.hits) >= 20, 30, "the crawl gets on")
        follower = rig.start("status", "--follow", "--json", "-a", archive)
        try:
            assert follower.stdout is not None
            first = json.loads(follower.stdout.readline())
            assert first["state"] == "running"
            one.send_signal(signal.SIGINT)
            rest = [json.loads(line) for line in follower.stdout]
            assert follower.wait(15) == 0
        finally:
            rig.end(follower)
            follower.communicate()
        assert one.wait(15) == 130
    assert rest[-1]["state"] == "interrupted"
    assert rest[-1]["captured"] >= first["captured"]
    assert rest[-1]["captured"] == state(archive)["captured"]
