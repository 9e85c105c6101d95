"""`asof serve` while others write, replace and lose what it reads: a status and a sentence."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from support.rig import family, ok, wait_for
from support.serve_command import served
from support.served_archive import Page, Server, build, serving

AT = "2026-01-01T00:00:00Z"
PAGES = [Page(f"http://a.example/{number}", AT, b"<p>%d</p>" % number) for number in range(20)]
TARGETS = ["/", "/captures?prefix=a.example", "/captures?url=http://a.example/7",
           "/2026/http://a.example/7", "/2026id_/http://a.example/3"]  # fmt: skip


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return build(tmp_path / "archive", PAGES)


@contextmanager
def reading(server: Server) -> Iterator[Counter[tuple[str, int]]]:
    """Readers who ask for all of it, again and again; what they were answered."""
    seen: Counter[tuple[str, int]] = Counter()
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            for target in TARGETS:
                answer = server.ask(target)
                assert "Traceback" not in answer.text
                seen[target, answer.status] += 1

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        yield seen
    finally:
        over.set()
        for reader in readers:
            reader.join()


@contextmanager
def have_opened(pid: int, archive: Path) -> Iterator[None]:
    """Each of a server's processes has opened the archive: one that could not would have ended.

    One more, which makes thumbnails, opens it when somebody wants one.
    """

    def all_have() -> bool:
        most = min(len(os.sched_getaffinity(0)), 4)
        return sum(_reads(each, archive) for each in family(pid)) >= most

    wait_for(all_have, 20, "all processes read the archive")
    yield


def _reads(pid: int, archive: Path) -> bool:
    links = (os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink())
    return str(archive / "asof.db") in links


def test_a_writer_holds_nobody_up(archive: Path) -> None:
    """A transaction that is open, and all that a crawl may write in one."""
    with served(archive) as (base, child), closing(sqlite3.connect(archive / "asof.db")) as db:
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE captures SET status = 500")
        with reading(Server(int(base.rpartition(":")[2]))) as seen:
            while sum(seen.values()) < 30:
                assert child.poll() is None
        db.rollback()
    assert {status for _, status in seen} == {200}


def test_a_catalog_is_replaced_under_readers(archive: Path) -> None:
    with served(archive) as (base, _), reading(Server(int(base.rpartition(":")[2]))) as seen:
        for _ in range(3):
            ok("reindex", "-a", archive)
    assert {status for _, status in seen} == {200}


def test_a_catalog_that_was_lost_and_rebuilt_is_read_from_then_on(archive: Path) -> None:
    """Another file has its name now; the old one would be there as long as it is open."""
    with (
        served(archive) as (base, child),
        have_opened(child.pid, archive),
        reading(Server(int(base.rpartition(":")[2]))) as seen,
    ):
        server = Server(int(base.rpartition(":")[2]))
        for left in archive.glob("asof.db*"):
            left.unlink()
        assert server.ask("/-/api/archive").status == 200
        other = build(archive.parent / "other", [Page("http://b.example/", AT, b"<p>new")])
        [file] = (other / "warc").iterdir()
        file.rename(archive / "warc" / "000002-other.warc.gz")
        ok("reindex", "-a", archive)
        for _ in range(8):  # of whatever process
            assert json.loads(server.ask("/-/api/archive").text)["captures"] == len(PAGES) + 1
            assert server.ask("/2026/http://b.example/").status == 200
    assert {status for _, status in seen} == {200}


@pytest.mark.parametrize("how", ["missing", "a folder", "cut", "zeros", "another"])
def test_what_cannot_be_read_is_told_until_it_is_mended(archive: Path, how: str) -> None:
    (path,) = (archive / "warc").iterdir()
    whole = path.read_bytes()
    with served(archive) as (base, child):
        server = Server(int(base.rpartition(":")[2]))
        path.unlink()
        if how == "a folder":
            path.mkdir()
        elif how != "missing":
            made = {"cut": b"", "zeros": bytes(len(whole)), "another": whole[::-1]}[how]
            path.write_bytes(made)
        for target in TARGETS[-2:]:
            told = server.ask(target)
            assert told.status == 500
            assert "That cannot be shown" in told.text
            assert path.name in told.text
            assert "asof check" in told.text or "asof reindex" in told.text
            assert str(archive) not in told.text
        assert {server.ask(target).status for target in TARGETS[:-2]} == {200}
        if how == "a folder":
            path.rmdir()
        path.write_bytes(whole)
        assert {server.ask(target).status for target in TARGETS} == {200}
        child.terminate()
        assert child.communicate(timeout=15)[1] == b""


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("bytes=0-0", 206), ("bytes=-1", 206),
        ("bytes=8-", 416), ("bytes=9999999999999999999-", 200),
        ("bytes=0-0,2-3", 200), ("bytes=5-2", 200), ("lines=1-2", 200), ("bytes=a-b", 200),
        ("bytes=-0", 416), ("\x00", 400),
    ],
)  # fmt: skip
def test_ranges_that_are_none(archive: Path, asked: str, status: int) -> None:
    with serving(archive) as server:
        found = server.ask("/2026id_/http://a.example/7", Range=asked)
        assert found.status == status
        assert len(found.body) == {206: 1, 200: 8, 416: 0}.get(status, len(found.body))
