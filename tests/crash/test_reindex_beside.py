"""`asof reindex` beside others, and killed: who reads sees the old catalog or the new one.

The old one lacks a capture, so the two can be told apart; the last rows of it lie in the
write-ahead log, which nothing may lose.
"""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from support import rig
from support.forge import recs
from support.rig import crawl, links, ok, page, rows_of, site

RECORDS = 2000
# Opens the archive again and again, and keeps one open all along, until its input is closed.
_READER = """
import os, sys
from asof.archive import OpenArchive
os.set_blocking(0, False)
kept = OpenArchive.open(sys.argv[1])
while sys.stdin.buffer.read(1) is None:
    with OpenArchive.open(sys.argv[1]) as again:
        for archive in (kept, again):
            found = [capture.url for capture in archive.captures()]
            last = archive.as_of(found[-1])
            print(len(found), len(set(found)), last.url == found[-1], flush=True)
"""


@pytest.fixture
def behind(tmp_path: Path) -> Path:
    """An archive whose catalog lacks a capture, by a transaction that is in its log alone."""
    path = tmp_path / "some.warc.gz"
    path.write_bytes(b"".join(record.gz() for record in recs(RECORDS)))
    archive = tmp_path / "archive"
    ok("import", path, "-a", archive)
    killed = (
        "import os, sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "db.execute('DELETE FROM captures WHERE surt = (SELECT max(surt) FROM captures)');"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", killed, archive / "asof.db"], check=False)
    assert (archive / "asof.db-wal").stat().st_size > 0
    return archive


def counts(archive: Path) -> int:
    with closing(sqlite3.connect(archive / "asof.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return int(db.execute("SELECT count(*) FROM captures").fetchone()[0])


def test_readers_go_on_with_the_old_or_the_new_one(behind: Path) -> None:
    words = [sys.executable, "-c", _READER, behind]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, text=True, **pipes) as reader:  # type: ignore[call-overload]
        first = reader.stdout.readline()
        for _ in range(3):
            ok("reindex", "-a", behind)
        told, complaint = reader.communicate(timeout=60)
    assert complaint == ""
    seen = Counter((first + told).splitlines())
    old, new = (f"{count} {count} True" for count in (RECORDS - 1, RECORDS))
    assert set(seen) == {old, new}, seen
    # The one that was open all along sees the new one as well.
    assert told.splitlines()[-2:] == [new, new]
    assert counts(behind) == RECORDS


def test_four_at_once_do_no_harm(behind: Path) -> None:
    for _ in range(3):
        running = [rig.start("reindex", "-a", behind) for _ in range(4)]
        ended = [(child.communicate(timeout=60)[1], child.returncode) for child in running]
        assert any(code == 0 for _, code in ended), ended
        for said, code in ended:
            assert code == 0 or b"is in use by `asof reindex`" in said, said
            assert b"Traceback" not in said
        assert counts(behind) == RECORDS
        assert ok("check", "-a", behind, "--json").json()["ok"]
        assert not list(behind.glob("asof.db.new*"))


def test_killed_in_the_middle_it_leaves_the_old_or_the_new_one(behind: Path) -> None:
    chance = random.Random(14)
    seen = []
    for _ in range(8):
        running = rig.start("reindex", "-a", behind)
        fresh = behind / "asof.db.new"
        deadline = time.monotonic() + 10
        while not fresh.exists() and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.15))
        running.send_signal(signal.SIGKILL)
        running.communicate()
        seen.append(counts(behind))
    assert set(seen) <= {RECORDS - 1, RECORDS}
    assert seen == sorted(seen)
    ok("reindex", "-a", behind)
    assert counts(behind) == RECORDS
    assert not list(behind.glob("asof.db.new*"))


def test_a_crawl_and_an_import_are_not_disturbed(tmp_path: Path) -> None:
    archive, path = tmp_path / "archive", tmp_path / "more.warc.gz"
    path.write_bytes(b"".join(record.gz() for record in recs(RECORDS)))
    pages = {f"/{number}": page(f"<p>{number}</p>") for number in range(40)}
    with site({"/": page(links(*pages)), **pages}) as server:
        running = rig.start("crawl", server.url + "/", "-a", archive, "--delay", "0.1")
        rig.wait_for(lambda: len(server.hits) > 5, 30, "the crawl has begun")
        refused = rig.run("reindex", "-a", archive)
        assert refused.code == 2
        assert "is in use by `asof crawl`" in refused.err
        running.communicate(timeout=60)
        assert running.returncode == 0
        assert len(rows_of(archive)) == len(pages) + 2  # robots.txt too
        crawl(archive, server.url + "/", "--new")
    captured = len(rows_of(archive))
    both = [rig.start("import", path, "-a", archive), rig.start("reindex", "-a", archive)]
    for child in both:
        said = child.communicate(timeout=60)[1]
        assert child.returncode == 0 or b"is in use by" in said, said
    ok("import", path, "-a", archive)
    assert len(rows_of(archive)) == captured + RECORDS
    assert ok("check", "-a", archive, "--json").json()["ok"]


def test_a_damaged_database_gives_way_to_the_new_one(behind: Path) -> None:
    (behind / "asof.db").write_bytes(b"no database" * 500)
    ok("reindex", "-a", behind)
    assert counts(behind) == RECORDS
