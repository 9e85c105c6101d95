"""What people do to an archive behind its back: delete, truncate, move, copy, kill."""

from __future__ import annotations

import gzip
import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import forge, rig
from support.forge import Rec, recs
from support.rig import Server, crawl, links, ok, page, rows_of, site, warcs


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Server]]:
    root = tmp_path_factory.mktemp("mishaps")
    pages = {"/": page(links("/a", "/b")), "/a": page("aaa"), "/b": page("bbb")}
    with site(pages) as server:
        crawl(root / "archive", server.url + "/")
        path = root / "more.warc.gz"
        path.write_bytes(b"".join(r.gz() for r in recs(20)))
        ok("import", path, "-a", root / "archive")
        yield root / "archive", server


@pytest.fixture
def archive(original: tuple[Path, Server], tmp_path: Path) -> Path:
    shutil.copytree(original[0], tmp_path / "archive")
    return tmp_path / "archive"


def says_no(result: rig.Result, *words: str) -> None:
    assert result.code == 1, str(result)
    said = result.err.strip()
    assert said, str(result)
    assert len(said.splitlines()) <= 3, str(result)
    for word in words:
        assert word in said, str(result)


def test_a_moved_archive_is_the_same_archive(archive: Path, tmp_path: Path) -> None:
    before = ok("list", "-a", archive, "--json").out
    archive.rename(tmp_path / "elsewhere")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert ok("list", "-a", tmp_path / "elsewhere", "--json").out == before
    assert ok("list", "-a", tmp_path / "link", "--json").out == before
    assert ok("get", "http://example.com/page/1", "-a", tmp_path / "link").out
    ok("check", "-a", tmp_path / "link")


def test_a_warc_file_was_deleted(archive: Path) -> None:
    victim = next(path for path in warcs(archive) if "import" in path.name)
    victim.unlink()
    says_no(rig.run("get", "http://example.com/page/1", "-a", archive), victim.name)
    checked = rig.run("check", "-a", archive, "--json")
    assert checked.code == 1, str(checked)
    assert victim.name in {problem["file"] for problem in checked.json()["problems"]}
    ok("list", "-a", archive)
    rig.run("export", "--format", "warc", "-o", archive.parent / "x.warc.gz", "-a", archive)
    ok("reindex", "-a", archive)
    assert not [row for row in rows_of(archive) if "example.com" in row["url"]]


def test_a_warc_file_was_cut_or_overwritten(archive: Path, original: tuple[Path, Server]) -> None:
    victim = next(path for path in warcs(archive) if "import" in path.name)
    whole = victim.read_bytes()
    rows = [row for row in rows_of(archive) if row["file"] == victim.name]
    last = max(rows, key=lambda row: row["offset"])
    first = min(rows, key=lambda row: row["offset"])
    for data in (
        whole[: last["offset"] + 20],
        whole[: last["offset"]] + bytes(len(whole) - last["offset"]),
    ):
        victim.write_bytes(data)
        says_no(rig.run("get", last["url"], "-a", archive), victim.name)
        assert ok("get", first["url"], "-a", archive).out
        checked = rig.run("check", "-a", archive, "--json")
        assert checked.code == 1, str(checked)
        problems = checked.json()["problems"]
        assert (victim.name, last["offset"]) in {(p["file"], p["offset"]) for p in problems}
        # Writing goes on elsewhere; what is damaged is not made worse.
        crawl(archive, original[1].url + "/a", "--scope", "page", "--new")
        assert victim.read_bytes() == data
        result = rig.run("reindex", "-a", archive, "--json")
        assert result.code == 1, str(result)
        damage = result.json()["damage"]
        assert (victim.name, last["offset"]) in {(d["file"], d["offset"]) for d in damage}
        assert last["url"] not in {row["url"] for row in rows_of(archive)}
        assert first["url"] in {row["url"] for row in rows_of(archive)}
        victim.write_bytes(whole)
        ok("reindex", "-a", archive)
        assert last["url"] in {row["url"] for row in rows_of(archive)}


def test_every_flipped_byte_is_found_by_check(archive: Path) -> None:
    """Any byte of any record may rot; `check` must say where."""
    chance = random.Random(5)
    for victim in warcs(archive):
        whole = victim.read_bytes()
        for _ in range(6):
            data = bytearray(whole)
            at = chance.randrange(len(data))
            data[at] ^= 1 << chance.randrange(8)
            victim.write_bytes(data)
            # Bytes 4 to 9 of a gzip header (time, flags, system) mean nothing to the content.
            starts = [row["offset"] for row in rows_of(archive) if row["file"] == victim.name]
            if any(4 <= at - start < 10 for start in starts):
                continue
            checked = rig.run("check", "-a", archive, "--json")
            if checked.code == 0:
                same = gzip_content(bytes(data)) == gzip_content(whole)
                assert same, f"byte {at} of {victim.name} rotted unnoticed"
            else:
                assert checked.code == 1, str(checked)
                assert victim.name in {p["file"] for p in checked.json()["problems"]}
        victim.write_bytes(whole)


def gzip_content(data: bytes) -> bytes | None:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, ValueError):
        return None


def test_strangers_in_the_warc_folder(archive: Path) -> None:
    before = rows_of(archive)
    (archive / "warc" / "notes.txt").write_text("my notes")
    (archive / "warc" / ".hidden").write_text("x")
    (archive / "warc" / "folder").mkdir()
    ok("list", "-a", archive)
    rig.run("check", "-a", archive, "--json")
    result = rig.run("reindex", "-a", archive, "--json")
    assert result.code in {0, 1}, str(result)
    assert rows_of(archive) == before
    assert (archive / "warc" / "notes.txt").read_text() == "my notes"


def test_a_warc_dropped_into_the_folder_is_taken_by_reindex(archive: Path) -> None:
    extra = recs(3, host="dropped.example")
    (archive / "warc" / "dropped.warc.gz").write_bytes(b"".join(r.gz() for r in extra))
    ok("reindex", "-a", archive)
    urls = {row["url"] for row in rows_of(archive)}
    assert {record.url for record in extra} <= urls
    ok("check", "-a", archive)


def test_killed_while_importing(tmp_path: Path) -> None:
    chance = random.Random(8)
    records = recs(1500)
    for record in records:
        record.body += chance.randbytes(3000)
    path = tmp_path / "big.warc.gz"
    path.write_bytes(b"".join(r.gz() for r in [forge.warcinfo(), *records]))
    arc = tmp_path / "old.arc.gz"
    arc.write_bytes(
        b"".join(
            forge.arc([forge.arc_rec(f"http://arc.example/{i}", b"x" * i) for i in range(800)])
        )
    )
    archive = tmp_path / "archive"
    for _ in range(8):
        running = rig.start("import", path, arc, "-a", archive)
        time.sleep(chance.uniform(0.1, 0.9))
        running.send_signal(signal.SIGKILL)
        running.communicate()
    ok("import", path, arc, "-a", archive)
    assert len(rows_of(archive)) == 2300
    once = {row["record_id"] for row in rows_of(archive)}
    assert len(once) == 2300
    size = sum(file.stat().st_size for file in warcs(archive))
    assert size < path.stat().st_size * 2, "each killed import left a copy behind"
    rig.referees_agree(archive)
    rig.remove_database(archive)
    ok("reindex", "-a", archive)
    assert len(rows_of(archive)) == 2300


def test_killed_while_reindexing(tmp_path: Path) -> None:
    path = tmp_path / "big.warc.gz"
    path.write_bytes(b"".join(r.gz() for r in recs(3000)))
    archive = tmp_path / "archive"
    ok("import", path, "-a", archive)
    before = ok("list", "-a", archive, "--json").out
    chance = random.Random(9)
    for _ in range(6):
        running = rig.start("reindex", "-a", archive)
        time.sleep(chance.uniform(0.1, 0.8))
        running.send_signal(signal.SIGKILL)
        running.communicate()
        result = rig.run("list", "-a", archive, "--json")
        # Either the old list or the new one, or a sentence that says what to do; never half of it.
        assert result.out == before or "reindex" in result.err, str(result)
    ok("reindex", "-a", archive)
    assert ok("list", "-a", archive, "--json").out == before


def test_reading_while_writing(tmp_path: Path) -> None:
    """Lists taken during a crawl are prefixes of the truth, and never wrong."""
    names = [f"/p/{no}" for no in range(60)]
    pages = {"/": page(links(*names))} | {name: page(f"<p>{name}</p>") for name in names}
    with site(pages) as server:
        archive = tmp_path / "archive"
        running = rig.start("crawl", server.url + "/", "-a", archive, "--delay", "0.03", "--quiet")
        try:
            rig.wait_for((archive / "asof.db").exists, 20, "an archive")
            seen: set[str] = set()
            while running.poll() is None:
                rows = rows_of(archive)
                now = {row["record_id"] for row in rows}
                assert seen <= now
                seen = now
                for row in rows[-1:]:
                    ok("get", row["url"], "-a", archive)
        finally:
            rig.end(running)
            with running.stdout, running.stderr:
                pass
        assert len(rows_of(archive)) >= 61


def test_the_far_future_does_not_hide_the_present(tmp_path: Path) -> None:
    records = [
        Rec("http://example.com/", b"now", "2021-01-01T00:00:00Z"),
        Rec("http://example.com/", b"future", "2999-01-01T00:00:00Z"),
    ]
    path = tmp_path / "f.warc.gz"
    path.write_bytes(b"".join(r.gz() for r in records))
    ok("import", path, "-a", tmp_path / "a")
    assert ok("get", "http://example.com/", "--at", "now", "-a", tmp_path / "a").out == b"now"
    assert ok("get", "http://example.com/", "--at", "2999", "-a", tmp_path / "a").out == b"future"


def test_the_exact_url_wins_over_its_surt_neighbours(tmp_path: Path) -> None:
    """SURT folds case, www and scheme; the catalog must still give the page that was named."""
    urls = ["http://www.example.com/Page", "http://example.com/page", "https://example.com/page",
            "http://example.com/page?b=2&a=1", "http://example.com/page?a=1&b=2",
            "http://example.com/page/"]  # fmt: skip
    records = [Rec(url, url.encode(), f"2021-01-01T00:00:0{no}Z") for no, url in enumerate(urls)]
    path = tmp_path / "s.warc.gz"
    path.write_bytes(b"".join(r.gz() for r in records))
    ok("import", path, "-a", tmp_path / "a")
    for url in urls:
        assert ok("get", url, "-a", tmp_path / "a").out == url.encode()
        assert [row["url"] for row in rows_of(tmp_path / "a", "--url", url)] == [url]
