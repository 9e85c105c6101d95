"""Programs that ask while things go wrong: files that are gone, a catalog that is written anew."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from asof.archive import OpenArchive
from asof.clock import SystemClock
from asof.web.app import create_app
from support import many_captures, rig, served_archive
from support.many_captures import capture
from support.served_archive import CRAWL, Page

HOME = "http://site.example/"
FILE = f"000001-{CRAWL}.warc.gz"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    pages = [Page(HOME, f"2026-01-0{day}T00:00:00Z", b"<p>%d" % day) for day in range(1, 5)]
    return served_archive.build(tmp_path / "archive", pages)


def message(answer: Any) -> str:
    told = json.loads(answer.body)["message"]
    assert "Traceback" not in told
    return str(told)


class TestWarcFiles:
    def test_are_not_served_unless_told_to(self, archive: Path) -> None:
        with served_archive.serving(archive) as server:
            assert server.ask(f"/-/warc/{FILE}").status == 404

    def test_parts_by_their_bytes(self, archive: Path) -> None:
        whole = (archive / "warc" / FILE).read_bytes()
        with served_archive.serving(archive, files=True) as server:
            answer = server.ask(f"/-/warc/{FILE}")
            assert (answer.status, answer.body) == (200, whole)
            tag = answer.headers["ETag"]
            head = server.ask(f"/-/warc/{FILE}", "HEAD", Range="bytes=0-9")
            assert (head.status, head.body) == (200, b"")
            assert head.headers["Content-Length"] == str(len(whole))
            for asked, start, stop in (
                ("bytes=0-9", 0, 10),
                ("bytes=10-", 10, len(whole)),
                ("bytes=-7", len(whole) - 7, len(whole)),
                (f"bytes=5-{1 << 40}", 5, len(whole)),
            ):
                part = server.ask(f"/-/warc/{FILE}", Range=asked)
                assert (part.status, part.body) == (206, whole[start:stop])
                named = f"bytes {start}-{stop - 1}/{len(whole)}"
                assert part.headers["Content-Range"] == named
            for asked in ("bytes=x-y", "lines=1-2", "bytes=9-1", "bytes=0-1,4-5"):
                assert server.ask(f"/-/warc/{FILE}", Range=asked).status == 200
            beyond = server.ask(f"/-/warc/{FILE}", Range=f"bytes={len(whole)}-")
            assert (beyond.status, beyond.body) == (416, b"")
            assert beyond.headers["Content-Range"] == f"bytes */{len(whole)}"
            stale = server.ask(f"/-/warc/{FILE}", Range="bytes=0-1", If_Range='"old"')
            assert stale.status == 200
            assert server.ask(f"/-/warc/{FILE}", If_None_Match=tag).status == 304
            assert server.ask(f"/-/warc/{FILE}", "PUT").status == 405

    def test_what_is_not_committed_is_not_served(self, archive: Path) -> None:
        path = archive / "warc" / FILE
        size = path.stat().st_size
        with path.open("ab") as file:
            file.write(b"half a record")
        with served_archive.serving(archive, files=True) as server:
            assert len(server.ask(f"/-/warc/{FILE}").body) == size

    @pytest.mark.parametrize(
        "name",
        ["none.warc.gz", "..%2fasof.db", "../asof.db", "%2e%2e/asof.db", "", "a%00b", "x" * 5000],
    )
    def test_only_what_the_catalog_names(self, archive: Path, name: str) -> None:
        with served_archive.serving(archive, files=True) as server:
            assert server.ask(f"/-/warc/{name}").status == 404

    def test_a_catalog_of_others_leads_nowhere_else(self, archive: Path, tmp_path: Path) -> None:
        """An archive may come from anywhere, its database too."""
        (tmp_path / "secret.warc.gz").write_bytes(b"secret")
        (archive / "warc/link.warc.gz").symlink_to(tmp_path / "secret.warc.gz")
        with sqlite3.connect(archive / "asof.db") as db:
            for number, name in enumerate(
                ("../../secret.warc.gz", "link.warc.gz", "../asof.db"), 7
            ):
                db.execute(
                    "INSERT INTO segments (no, file, committed, sealed) VALUES (?, ?, 99, 1)",
                    (number, name),
                )
        db.close()
        with served_archive.serving(archive, files=True) as server:
            for name in ("../../secret.warc.gz", "..%2f..%2fsecret.warc.gz", "link.warc.gz"):
                answer = server.ask(f"/-/warc/{name}")
                assert answer.status in (404, 500)
                assert b"secret" not in answer.body.replace(b"secret.warc.gz", b"")

    def test_a_file_that_is_gone(self, archive: Path) -> None:
        (archive / "warc" / FILE).unlink()
        with served_archive.serving(archive, files=True) as server:
            answer = server.ask(f"/-/warc/{FILE}")
            assert answer.status == 404
            assert "No such file" in message(answer)
            assert server.ask(f"/cdx?url={HOME}").status == 200
            assert server.ask(f"/timegate/{HOME}").status == 302
            assert server.ask(f"/timemap/link/{HOME}").status == 200
            assert server.ask(f"/-/api/history?url={HOME}").status in (200, 500)
            assert server.ask(f"/2026id_/{HOME}").status in (404, 500)

    def test_one_that_becomes_shorter_is_not_taken_for_whole(self, archive: Path) -> None:
        path = archive / "warc" / FILE
        length = 64 << 20
        os.truncate(path, length)
        with sqlite3.connect(archive / "asof.db") as db:
            db.execute("UPDATE segments SET committed = ?", [length])
        db.close()
        with served_archive.serving(archive, files=True) as server:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
            connection.request("GET", f"/-/warc/{FILE}")
            answer = connection.getresponse()
            assert (answer.status, answer.headers["Content-Length"]) == (200, str(length))
            assert answer.read(1000)
            os.truncate(path, length // 2)
            with pytest.raises(http.client.IncompleteRead):
                answer.read()
            connection.close()
            assert server.ask("/cdx?url=" + HOME).status == 200


class TestCatalog:
    def test_a_damaged_one_is_told(self, archive: Path) -> None:
        with served_archive.serving(archive) as server:
            assert server.ask(f"/cdx?url={HOME}").status == 200
            with sqlite3.connect(archive / "asof.db") as db:
                db.execute("DROP TABLE captures")
            db.close()
            for target in (
                f"/cdx?url={HOME}", f"/cdx?url={HOME}&showNumPages=1", f"/timegate/{HOME}",
                f"/timemap/link/{HOME}", f"/-/api/captures?url={HOME}", "/-/api/hosts",
            ):  # fmt: skip
                answer = server.ask(target)
                assert answer.status == 500
                assert "asof.db" in message(answer)

    def test_one_that_breaks_off_is_not_taken_for_whole(self, tmp_path: Path) -> None:
        """The answer has begun: the connection is cut before its end."""
        rows = (capture(HOME, number) for number in range(50_000))
        folder = many_captures.build(tmp_path / "archive", rows)
        with served_archive.serving(folder) as server:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
            connection.request("GET", f"/cdx?url={HOME}")
            answer = connection.getresponse()
            assert answer.status == 200
            assert answer.read(1000)
            with sqlite3.connect(folder / "asof.db") as db:
                db.execute("DROP TABLE captures")
            db.close()
            with pytest.raises(http.client.IncompleteRead):
                answer.read()
            connection.close()

    def test_one_that_is_rebuilt_meanwhile_answers_on(self, archive: Path) -> None:
        with served_archive.serving(archive, files=True) as server:
            before = server.ask(f"/cdx?url={HOME}").body
            ended = threading.Event()
            seen: list[tuple[int, bytes]] = []

            def ask() -> None:
                while not ended.is_set():
                    answer = server.ask(f"/cdx?url={HOME}")
                    seen.append((answer.status, answer.body))

            asking = threading.Thread(target=ask)
            asking.start()
            try:
                rig.ok("reindex", "-a", archive)
            finally:
                ended.set()
                asking.join(20)
            assert set(seen) == {(200, before)}
            assert server.ask(f"/cdx?url={HOME}").body == before

    def test_what_is_written_meanwhile_is_seen(self, archive: Path, tmp_path: Path) -> None:
        more = served_archive.build(tmp_path / "more", [Page(HOME, "2026-02-01T00:00:00Z", b"new")])
        with served_archive.serving(archive) as server:
            rig.ok("import", *rig.warcs(more), "-a", archive)
            assert server.ask(f"/cdx?url={HOME}&limit=-1").text.split(" ")[1] == "20260201000000"
            gate = server.ask(f"/timegate/{HOME}")
            assert gate.headers["Location"].endswith(f"/20260201000000/{HOME}")


def test_each_of_several_archives_has_its_own(archive: Path, tmp_path: Path) -> None:
    """Addresses that an answer holds lead back into the same archive."""
    shutil.copytree(archive, tmp_path / "other")
    with OpenArchive.open(archive) as one, OpenArchive.open(tmp_path / "other") as two:
        library = create_app([one, two], SystemClock(), era=0, files=True)
        with served_archive.running(library) as server:
            place = f"{server.url}/other"
            gate = server.ask(f"/other/timegate/{HOME}")
            assert gate.headers["Location"] == f"{place}/20260104000000/{HOME}"
            assert f"<{place}/timemap/link/{HOME}>" in gate.headers["Link"]
            assert (
                f"<{place}/20260101000000/{HOME}>" in server.ask(f"/other/timemap/link/{HOME}").text
            )
            told = json.loads(server.ask(f"/other/-/api/captures?url={HOME}&limit=1").body)
            following = json.loads(server.ask(told["next"]).body)
            assert following["captures"][0]["timestamp"] == "20260102000000"
            described = json.loads(server.ask("/other/-/openapi.json").body)
            assert described["servers"] == [{"url": place}]
            assert server.ask(f"/other/cdx?url={HOME}").status == 200
            assert server.ask(f"/other/-/warc/{FILE}").status == 200
            assert server.ask(f"/cdx?url={HOME}").status == 404
