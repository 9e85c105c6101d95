"""Full, failing and read-only disks, and polite interruptions: one sentence, nothing lost."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support import rig
from support.rig import crawl, links, ok, page, referees_agree, rows_of, site, tmpfs, wait_for

COUNT = 400
SIZE = 25_000


def big_site() -> dict[str, rig.Answer]:
    """10 MB that do not compress, and pages that lead to them."""
    names = [f"/file/{no}.bin" for no in range(COUNT)]
    pages: dict[str, rig.Answer] = {
        name: page(random.Random(no).randbytes(SIZE), media="application/octet-stream")
        for no, name in enumerate(names)
    }
    groups = [names[at : at + 40] for at in range(0, COUNT, 40)]
    for no, group in enumerate(groups):
        pages[f"/list/{no}"] = page(links(*group))
    pages["/"] = page(links(*(f"/list/{no}" for no in range(len(groups)))))
    return pages


def remount(path: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(path)], check=True)


def one_sentence(result: rig.Result) -> None:
    said = result.err.strip()
    assert said, str(result)
    assert "\n\n" not in said, str(result)
    assert len(said.splitlines()) <= 3, str(result)
    assert "Errno" not in said
    assert "sqlite3" not in said


def complete_and_once(archive: Path, server: rig.Server, pages: Any) -> None:
    """Every page is captured exactly once, with the bytes that were sent, in sound files."""
    rows = [row for row in rows_of(archive) if row["kind"] in {"response", "revisit"}]
    count = Counter(row["url"].removeprefix(server.url) for row in rows)
    count.pop("/robots.txt", None)
    assert {path: count[path] for path in pages if count[path] != 1} == {}
    assert set(count) == set(pages)
    for name in ("/file/0.bin", "/file/199.bin", f"/file/{COUNT - 1}.bin"):
        assert ok("get", server.url + name, "--raw", "-a", archive).out == pages[name].sent
    referees_agree(archive)


@pytest.mark.parametrize("size", ["5m", "1m", "300k"])
def test_a_full_tmpfs(tmp_path: Path, size: str) -> None:
    pages = big_site()
    with site(pages) as server, tmpfs(tmp_path / "small", size) as small:
        archive = small / "archive"
        words = ["crawl", server.url + "/", "-a", archive, "--delay", "0", "--quiet"]
        result = rig.run(*words, timeout=60)
        assert result.code == 1, str(result)
        one_sentence(result)
        assert any(word in result.err.lower() for word in ("full", "space", "room")), str(result)
        asked_before = len(server.paths())
        held = {row["url"] for row in ok("list", "-a", archive, "--json").rows()}
        # Still full: the same again, no harm done, however often it is tried.
        for _ in range(2):
            again = rig.run(*words, timeout=60)
            assert again.code == 1, str(again)
            one_sentence(again)
        # What is there is whole and readable although the disk is full.
        rows = ok("list", "-a", archive, "--json").rows()
        if size == "5m":
            assert len(rows) > 50
            status = ok("status", "-a", archive, "--json").json()
            assert [entry["state"] for entry in status["crawls"]] == ["interrupted"]
            assert ok("check", "-a", archive, "--json").json()["problems"] == []
        remount(small, "size=64m")
        assert crawl(archive, server.url + "/", timeout=60).json()["state"] == "finished"
        complete_and_once(archive, server, pages)
        # A page whose record could not be written is asked for again; no other one is.
        again_asked = {server.url + path for path in server.paths()[asked_before:]}
        assert held & again_asked == set()


def test_a_disk_that_fills_and_empties_by_turns(tmp_path: Path) -> None:
    """Room is made bit by bit; each life gets a little further."""
    pages = big_site()
    with site(pages) as server, tmpfs(tmp_path / "small", "2m") as small:
        archive = small / "archive"
        codes = []
        for size in range(2, 40, 2):
            remount(small, f"size={size}m")
            result = rig.run("crawl", server.url + "/", "-a", archive, "--delay", "0", timeout=60)
            codes.append(result.code)
            if result.code == 0:
                break
            assert result.code == 1, str(result)
        assert len(codes) > 3
        assert codes[-1] == 0
        complete_and_once(archive, server, pages)


@pytest.mark.parametrize("limit", [40_000, 500_000, 3_000_000])
def test_a_file_size_limit(tmp_path: Path, limit: int) -> None:
    """EFBIG, and for SQLite an I/O error: the same clean end."""
    pages = big_site()
    archive = tmp_path / "archive"
    with site(pages) as server:
        words = ["crawl", server.url + "/", "-a", archive, "--delay", "0", "--quiet"]
        result = rig.run(*words, timeout=60, limits={"FSIZE": limit})
        assert result.code == 1, str(result)
        one_sentence(result)
        assert crawl(archive, server.url + "/", timeout=60).json()["state"] == "finished"
        complete_and_once(archive, server, pages)


def test_a_read_only_archive_can_be_read_and_not_written(tmp_path: Path) -> None:
    with (
        site({"/": page(links("/a")), "/a": page("a")}) as server,
        tmpfs(tmp_path / "ro", "20m") as small,
    ):
        archive = small / "archive"
        crawl(archive, server.url + "/")
        before = ok("list", "-a", archive, "--json").out
        remount(small, "ro")
        result = rig.run("crawl", server.url + "/", "--new", "-a", archive, timeout=30)
        assert result.code in {1, 2}, str(result)
        one_sentence(result)
        result = rig.run("crawl", server.url + "/", "-a", small / "new", timeout=30)
        assert result.code in {1, 2}, str(result)
        one_sentence(result)
        assert ok("list", "-a", archive, "--json").out == before
        assert ok("get", server.url + "/a", "-a", archive).out == b"a"
        ok("check", "-a", archive)
        ok("show", server.url + "/a", "-a", archive)


def test_import_on_a_full_disk_is_all_or_resumable(tmp_path: Path) -> None:
    from support import forge

    records = forge.recs(60)
    for no, record in enumerate(records):
        record.body = random.Random(no).randbytes(50_000)
    path = tmp_path / "big.warc.gz"
    path.write_bytes(b"".join(record.gz() for record in records))
    with tmpfs(tmp_path / "small", "1m") as small:
        archive = small / "archive"
        result = rig.run("import", path, "-a", archive)
        assert result.code == 1, str(result)
        one_sentence(result)
        remount(small, "size=32m")
        ok("import", path, "-a", archive)
        assert [row["url"] for row in rows_of(archive)] == sorted(r.url for r in records) or {
            row["url"] for row in rows_of(archive)
        } == {record.url for record in records}
        assert len(rows_of(archive)) == 60
        assert sum(f.stat().st_size for f in rig.warcs(archive)) < path.stat().st_size * 1.2
        referees_agree(archive)


# --- polite interruptions ------------------------------------------------------------------------


def slow_pages(count: int) -> dict[str, rig.Answer]:
    names = [f"/p/{no}" for no in range(count)]
    return {"/": page(links(*names))} | {name: page(f"<p>{name}</p>") for name in names}  # type: ignore[return-value]


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_a_crawl_with_130_and_keep_its_state(tmp_path: Path, sig: Any) -> None:
    pages = slow_pages(120)
    archive = tmp_path / "archive"
    with site(pages) as server:
        lives = 0
        for stop_at in (5, 30, 70):
            running = rig.start("crawl", server.url + "/", "-a", archive, "--delay", "0.02")
            wait_for(lambda n=stop_at: len(server.hits) >= n, 30, "the crawl gets on")  # type: ignore[misc]
            running.send_signal(sig)
            _, err = running.communicate(timeout=20)
            assert running.returncode == 130, err.decode()
            assert b"Traceback" not in err
            assert err.strip(), "say how to go on"
            lives += 1
            status = ok("status", "-a", archive, "--json").json()
            assert [entry["state"] for entry in status["crawls"]] == ["interrupted"]
            ok("check", "-a", archive)
        result = ok("crawl", "-a", archive, "--delay", "0", "--json").json()
        assert result["state"] == "finished"
        asked = Counter(server.paths())
        asked.pop("/robots.txt", None)
        twice = {path: n for path, n in asked.items() if n != 1}
        assert not twice, f"after {lives} polite interruptions asked for again: {twice}"
        rows = Counter(row["url"].removeprefix(server.url) for row in rows_of(archive))
        assert {path: rows[path] for path in pages if rows[path] != 1} == {}
        assert len(ok("status", "-a", archive, "--json").json()["crawls"]) == 1
        referees_agree(archive)


def test_sigterm_is_not_kept_waiting_by_a_server_that_hangs(tmp_path: Path) -> None:
    """Whoever stops a machine or a container gives a process about ten seconds."""
    hang = rig.Reply((b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",), "hang")
    with site({"/": page(links("/hang", "/a")), "/hang": hang, "/a": page("a")}) as server:
        running = rig.start("crawl", server.url + "/", "-a", tmp_path / "archive", "--delay", "0")
        try:
            wait_for(lambda: "/hang" in server.paths(), 30, "the crawl hangs")
            running.send_signal(signal.SIGTERM)
            _, err = running.communicate(timeout=12)
        finally:
            if running.poll() is None:
                running.kill()
                running.communicate()
        assert running.returncode == 130, err.decode()


def test_a_killed_crawl_is_not_said_to_be_running(tmp_path: Path) -> None:
    """Nobody holds the archive any more: the crawl is interrupted, whatever it last wrote."""
    pages = slow_pages(40)
    archive = tmp_path / "archive"
    with site(pages) as server:
        running = rig.start("crawl", server.url + "/", "-a", archive, "--delay", "0.1")
        wait_for(lambda: len(server.hits) >= 5, 30, "the crawl gets on")
        alive = ok("status", "-a", archive, "--json").json()
        running.kill()
        running.communicate()
        assert [entry["state"] for entry in alive["crawls"]] == ["running"]
        dead = ok("status", "-a", archive, "--json").json()
        assert [entry["state"] for entry in dead["crawls"]] == ["interrupted"]


def test_a_second_signal_ends_at_once_and_nothing_breaks(tmp_path: Path) -> None:
    hang = rig.Reply((b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",), "hang")
    with site({"/": page(links("/hang", "/a")), "/hang": hang, "/a": page("a")}) as server:
        archive = tmp_path / "archive"
        running = rig.start("crawl", server.url + "/", "-a", archive, "--delay", "0")
        wait_for(lambda: "/hang" in server.paths(), 30, "the crawl hangs")
        running.send_signal(signal.SIGINT)
        time.sleep(0.1)
        if running.poll() is None:
            running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=20)
        assert running.returncode == 130, err.decode()
        assert b"Traceback" not in err
        server.pages["/hang"] = page("no longer")
        crawl(archive, server.url + "/")
        assert {row["url"] for row in rows_of(archive)} >= {
            server.url + p for p in ("/", "/hang", "/a")
        }
        referees_agree(archive)


@pytest.mark.parametrize("verb", ["import", "reindex", "check"])
def test_sigint_during_other_verbs(tmp_path: Path, verb: str) -> None:
    from support import forge

    path = tmp_path / "big.warc.gz"
    path.write_bytes(b"".join(r.gz() for r in forge.recs(2000)) * 1)
    archive = tmp_path / "archive"
    if verb != "import":
        ok("import", path, "-a", archive)
    for wait in (0.1, 0.3, 0.5, 0.8):
        words = [verb, *([path] if verb == "import" else []), "-a", archive]
        running = rig.start(*words)
        time.sleep(wait)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=20)
        assert running.returncode in {0, 130, -signal.SIGINT}, err.decode()
        if wait > 0.3:
            assert b"Traceback" not in err, err.decode()
    ok("import", path, "-a", archive)
    if verb == "reindex":
        ok("reindex", "-a", archive)
    assert len(rows_of(archive)) == 2000
    assert sum(f.stat().st_size for f in rig.warcs(archive)) < path.stat().st_size * 1.2
