"""The WARC files are the truth: the database can be lost, stale or foreign, and no row changes.

And: what is already in the archive is not added again, in whatever wrapping it comes.
"""

from __future__ import annotations

import gzip
import json
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import forge, rig
from support.forge import Rec, recs
from support.rig import (
    Server,
    crawl,
    links,
    ok,
    page,
    referees_agree,
    remove_database,
    rows_of,
    site,
    warcs,
)


def changing_site(version: int) -> dict[str, rig.Answer]:
    """Pages that stay, change, answer 304, redirect and vanish."""

    def conditional(head: bytes) -> rig.Reply:
        if b'if-none-match: "same"' in head.lower():
            return rig.Reply((b'HTTP/1.1 304 Not Modified\r\nETag: "same"\r\n\r\n',), "keep")
        return page("<p>the same</p>", ETag='"same"', Last_Modified="Mon, 02 Mar 2020 10:00:00 GMT")

    names = ["/same", "/changes", "/etag", "/moved", "/gone", "/gz", "/img.png"]
    return {
        "/": page(links(*names)),
        "/same": page("<p>always this</p>"),
        "/changes": page(f"<p>version {version}</p>"),
        "/etag": conditional,
        "/moved": page("", "302 Found", Location="/same"),
        "/gone": page("<p>was here</p>") if version == 1 else page("<p>no</p>", "410 Gone"),
        "/gz": page(gzip.compress(b"<p>packed</p>", mtime=0), Content_Encoding="gzip"),
        "/img.png": page(b"\x89PNG" + bytes(900), media="image/png"),
    }


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path, Path]]:
    """Two crawls of a changed site, an interrupted one, an import and a conversion."""
    root = tmp_path_factory.mktemp("rebuild")
    archive = root / "archive"
    with site(changing_site(1)) as server:
        crawl(archive, server.url + "/")
        shutil.copy(archive / "asof.db", root / "early.db")
        time.sleep(1.1)  # another second: stamps of 14 digits must differ
        server.pages = changing_site(2)
        crawl(archive, server.url + "/", "--new")
        server.pages["/slow"] = rig.Reply((b"HTTP/1.1 200 OK\r\n",), "hang")
        server.pages["/start"] = page(links("/a", "/b", "/slow", "/c"))
        running = rig.start("crawl", server.url + "/start", "-a", archive, "--delay", "0")
        with running.stdout, running.stderr:
            try:
                rig.wait_for(lambda: "/slow" in server.paths(), 30, "the crawl meets a slow page")
            finally:
                code = rig.end(running, signal.SIGINT)
        assert code == 130
        warc = root / "other.warc.gz"
        warc.write_bytes(b"".join(r.gz() for r in [forge.warcinfo(), *recs(25)]))
        arc = root / "old.arc.gz"
        arc.write_bytes(b"".join(forge.arc([forge.arc_rec("http://arc.example/", b"arc")])))
        ok("import", warc, arc, "-a", archive)
        yield server, archive, root


def listing(archive: Path, *args: object) -> bytes:
    return ok("list", "-a", archive, "--json", *args).out


def test_the_second_crawl_made_revisits_and_they_resolve(rich: tuple[Server, Path, Path]) -> None:
    server, archive, _ = rich
    rows = rows_of(archive, "--url", server.url + "/same")
    assert len(rows) == 2
    # The same bytes again are stored once; the second record only says so.
    assert [row["kind"] for row in rows] == ["response", "revisit"]
    assert rows[0]["digest"] == rows[1]["digest"]
    assert rows[1]["refers_to_url"] == rows[0]["url"]
    assert rows[1]["refers_to_at"] == rows[0]["at"]
    assert ok("get", server.url + "/same", "-a", archive).out == b"<p>always this</p>"
    etag = rows_of(archive, "--url", server.url + "/etag")
    assert len(etag) == 2
    assert ok("get", server.url + "/etag", "-a", archive).out == b"<p>the same</p>"
    changes = rows_of(archive, "--url", server.url + "/changes")
    assert [row["kind"] for row in changes] == ["response", "response"]
    for no, row in enumerate(changes, 1):
        got = ok("get", server.url + "/changes", "--at", row["timestamp"], "-a", archive)
        assert got.out == b"<p>version %d</p>" % no


def test_validity_merges_what_is_equal_and_parts_what_is_not(
    rich: tuple[Server, Path, Path],
) -> None:
    server, archive, _ = rich

    def validity(path: str) -> list[dict]:
        return ok("show", server.url + path, "-a", archive, "--json").json()["validity"]

    same = validity("/same")
    assert len(same) == 1
    assert same[0]["since"] < same[0]["until"]
    assert [e["proof"] for e in same[0]["evidence"]] == ["download", "same-digest"]
    changed = validity("/changes")
    assert len(changed) == 2
    assert changed[0]["until"] < changed[1]["since"]
    claimed = validity("/etag")
    assert len(claimed) == 1
    assert claimed[0]["claimed_since"].startswith("2020-03-02T10:00:00")
    assert claimed[0]["since"] > claimed[0]["claimed_since"]


def test_everything_passes_the_referees(rich: tuple[Server, Path, Path]) -> None:
    referees_agree(rich[1])


def test_reindex_reproduces_the_list_exactly(
    rich: tuple[Server, Path, Path], tmp_path: Path
) -> None:
    _, original, _ = rich
    archive = tmp_path / "archive"
    shutil.copytree(original, archive)
    before, files = listing(archive), {p.name: p.read_bytes() for p in warcs(archive)}
    assert len(before.splitlines()) > 40
    remove_database(archive)
    report = ok("reindex", "-a", archive, "--json").json()
    assert report["damage"] == []
    assert report["segments"] == len(files)
    assert report["captures"] == len(before.splitlines())
    assert listing(archive) == before
    assert {p.name: p.read_bytes() for p in warcs(archive)} == files, "reindex never writes a WARC"
    ok("reindex", "-a", archive)
    assert listing(archive) == before, "a second reindex changes nothing"
    referees_agree(archive)


def test_reindex_keeps_crawls_and_their_seeds(
    rich: tuple[Server, Path, Path], tmp_path: Path
) -> None:
    _, original, _ = rich
    archive = tmp_path / "archive"
    shutil.copytree(original, archive)
    before = ok("status", "-a", archive, "--json").json()
    remove_database(archive)
    ok("reindex", "-a", archive)
    after = ok("status", "-a", archive, "--json").json()

    def crawls(status: dict) -> list[tuple]:
        return sorted((c["crawl"], tuple(c["seeds"]), c["started"]) for c in status["crawls"])

    assert crawls(after) == crawls(before)
    for key in ("captures", "urls", "bytes", "segments"):
        assert after[key] == before[key], key


@pytest.mark.parametrize("how", ["list", "reindex", "crawl"])
def test_a_stale_database_loses_nothing(
    rich: tuple[Server, Path, Path], tmp_path: Path, how: str
) -> None:
    """A backup from before the second crawl is put back: the later WARC files are still there."""
    server, original, root = rich
    archive = tmp_path / "archive"
    shutil.copytree(original, archive)
    before = rows_of(archive)
    files = {p.name: p.read_bytes() for p in warcs(archive)}
    remove_database(archive)
    shutil.copy(root / "early.db", archive / "asof.db")
    if how == "reindex":
        ok("reindex", "-a", archive)
    elif how == "crawl":
        crawl(archive, server.url + "/same", "--scope", "page", "--new")
    else:
        result = rig.run("list", "-a", archive, "--json")
        if len(result.rows()) != len(before):
            # Reading may not repair, but then it must say that the list is not the whole truth.
            assert "reindex" in result.err, str(result)
        ok("reindex", "-a", archive)
    ids = {row["record_id"] for row in rows_of(archive)}
    assert {row["record_id"] for row in before} <= ids
    for name, data in files.items():
        assert (archive / "warc" / name).read_bytes().startswith(data), f"{name} was cut"


def test_a_damaged_database_is_one_sentence_and_reindex_mends_it(
    rich: tuple[Server, Path, Path], tmp_path: Path
) -> None:
    _, original, _ = rich
    archive = tmp_path / "archive"
    shutil.copytree(original, archive)
    before = listing(archive)
    for junk in (b"", b"this is not a database" * 300):
        for path in archive.glob("asof.db-*"):
            path.unlink()
        (archive / "asof.db").write_bytes(junk)
        result = rig.run("list", "-a", archive, "--json")
        assert result.code in {1, 2}, str(result)
        assert "reindex" in result.err
        assert len(result.err.strip().splitlines()) <= 3
        ok("reindex", "-a", archive)
        assert listing(archive) == before


def test_the_interrupted_crawl_can_be_resumed_after_reindex_or_says_why_not(
    rich: tuple[Server, Path, Path], tmp_path: Path
) -> None:
    server, original, _ = rich
    archive = tmp_path / "archive"
    shutil.copytree(original, archive)
    remove_database(archive)
    ok("reindex", "-a", archive)
    server.pages["/slow"] = page("not slow any more")
    seen = len(server.hits)
    result = crawl(archive, server.url + "/start").json()
    assert result["state"] == "finished"
    urls = {row["url"] for row in rows_of(archive)}
    assert {server.url + path for path in ("/start", "/a", "/b", "/c", "/slow")} <= urls
    asked = [hit.path for hit in server.hits[seen:]]
    assert len(asked) == len(set(asked))
    referees_agree(archive)


# --- import twice --------------------------------------------------------------------------------


@pytest.fixture
def imported(tmp_path: Path) -> tuple[Path, Path, list[Rec]]:
    """An archive of 30 imported records and the file they came from."""
    records = [forge.warcinfo(), *recs(30)]
    path = tmp_path / "first.warc.gz"
    path.write_bytes(b"".join(record.gz() for record in records))
    archive = tmp_path / "archive"
    report = ok("import", path, "-a", archive, "--json").json()
    assert report["added"] == 30
    assert report["files"][0]["stored"]
    return archive, path, records


def adds_nothing(archive: Path, *files: Any) -> dict:
    before, kept = listing(archive), [(p.name, p.stat().st_size) for p in warcs(archive)]
    report = ok("import", *files, "-a", archive, "--json").json()
    assert report["added"] == 0, report
    assert report["damaged"] == 0
    assert listing(archive) == before
    assert [(p.name, p.stat().st_size) for p in warcs(archive)] == kept, "nothing new is stored"
    assert not any(entry["stored"] for entry in report["files"])
    return report


def test_a_kept_file_is_byte_for_byte_the_original(imported: tuple[Path, Path, list[Rec]]) -> None:
    archive, path, _ = imported
    assert path.read_bytes() in [kept.read_bytes() for kept in warcs(archive)]


def test_same_file_same_name(imported: tuple[Path, Path, list[Rec]]) -> None:
    archive, path, _ = imported
    adds_nothing(archive, path)
    adds_nothing(archive, path, path)


def test_same_records_in_other_wrappings(
    imported: tuple[Path, Path, list[Rec]], tmp_path: Path
) -> None:
    archive, path, records = imported
    other = tmp_path / "another name.warc.gz"
    shutil.copy(path, other)
    harder = tmp_path / "recompressed.warc.gz"
    harder.write_bytes(b"".join(gzip.compress(r.plain(), 1, mtime=5) for r in records))
    plain = tmp_path / "plain.warc"
    plain.write_bytes(b"".join(record.plain() for record in records))
    single = tmp_path / "single-member.warc.gz"
    single.write_bytes(gzip.compress(plain.read_bytes()))
    packed = forge.wacz(tmp_path / "packed.wacz", {"archive/data.warc.gz": path.read_bytes()})
    reverse = tmp_path / "reverse.warc.gz"
    reverse.write_bytes(b"".join(record.gz() for record in reversed(records)))
    recompressed = tmp_path / "by-warcio.warc.gz"
    subprocess.run([rig.WARCIO, "recompress", path, recompressed], check=True, capture_output=True)
    for file in (other, harder, plain, single, packed, reverse, recompressed):
        adds_nothing(archive, file)


def test_some_new_among_the_old(imported: tuple[Path, Path, list[Rec]], tmp_path: Path) -> None:
    archive, _, records = imported
    mixed = tmp_path / "mixed.warc.gz"
    fresh = recs(4, host="fresh.example")
    mixed.write_bytes(b"".join(r.gz() for r in [*records[:10], *fresh, *records[10:]]))
    before = rows_of(archive)
    report = ok("import", mixed, "-a", archive, "--json").json()
    assert report["added"] == 4
    after = rows_of(archive)
    assert [row for row in after if "fresh" not in row["url"]] == before
    remove_database(archive)
    ok("reindex", "-a", archive)
    assert rows_of(archive) == after, "reindex must not find the old records a second time"
    adds_nothing(archive, mixed)
    rig.warcio_check(warcs(archive))
    assert ok("check", "-a", archive, "--json").json()["ok"]


def test_arc_and_trec_twice(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    arc = tmp_path / "a.arc.gz"
    arc.write_bytes(b"".join(forge.arc([forge.arc_rec(f"http://a/{i}", b"x") for i in range(5)])))
    trec = tmp_path / "t.trec"
    trec.write_bytes(b"".join(forge.trec_doc(no) for no in range(5)))
    first = ok("import", arc, trec, "-a", archive, "--json").json()
    assert first["added"] == 10
    adds_nothing(archive, arc, trec)
    before = listing(archive)
    remove_database(archive)
    ok("reindex", "-a", archive)
    assert listing(archive) == before
    adds_nothing(archive, arc, trec)


def test_import_after_the_database_was_lost(imported: tuple[Path, Path, list[Rec]]) -> None:
    """Without asof.db the archive must not take its own records for new ones."""
    archive, path, _ = imported
    before = [{**row} for row in rows_of(archive)]
    remove_database(archive)
    rig.run("import", path, "-a", archive, "--json")
    ok("reindex", "-a", archive)
    assert rows_of(archive) == before


def test_list_filters_agree_with_the_whole_list(rich: tuple[Server, Path, Path]) -> None:
    server, archive, _ = rich
    rows = rows_of(archive)
    keys = {
        "url", "surt", "timestamp", "at", "kind", "status", "media_type", "digest", "content",
        "size", "crawl", "file", "offset", "length", "record_id", "etag", "last_modified",
        "redirect", "truncated", "profile", "refers_to_url", "refers_to_at", "anomalies", "change",
    }  # fmt: skip
    assert all(set(row) == keys for row in rows)
    assert [(r["surt"], r["at"]) for r in rows] == sorted((r["surt"], r["at"]) for r in rows)
    prefix = rows_of(archive, "--prefix", "http://example.com/page/1")
    assert prefix == [r for r in rows if r["url"].startswith("http://example.com/page/1")]
    assert rows_of(archive, "--limit", "3") == rows[:3]
    for crawl_id in {row["crawl"] for row in rows if row["crawl"]}:
        part = rows_of(archive, "--crawl", crawl_id)
        assert part == [row for row in rows if row["crawl"] == crawl_id]
    old = rows_of(archive, "--to", "2021-12-31")
    assert old == [row for row in rows if row["timestamp"] < "2022"]
    new = rows_of(archive, "--from", "2022")
    assert new == [row for row in rows if row["timestamp"] >= "2022"]
    by_url = rows_of(archive, "--url", server.url + "/changes")
    assert by_url == [row for row in rows if row["url"] == server.url + "/changes"]
    assert json.loads(listing(archive).splitlines()[0]) == rows[0]


def test_every_row_points_at_its_record(rich: tuple[Server, Path, Path]) -> None:
    _, archive, _ = rich
    for row in rows_of(archive):
        with (archive / "warc" / row["file"]).open("rb") as file:
            file.seek(row["offset"])
            record = gzip.decompress(file.read(row["length"]))
        assert record.startswith(b"WARC/1.")
        assert rig.bare_id(row["record_id"]).encode() in record


def test_as_of_never_answers_from_the_future(rich: tuple[Server, Path, Path]) -> None:
    server, archive, _ = rich
    first = rows_of(archive, "--url", server.url + "/changes")[0]
    early = ok("get", server.url + "/changes", "--at", "2020", "-a", archive, code=1)
    assert early.out == b""
    assert early.err.strip()
    exact = ok("get", server.url + "/changes", "--at", first["at"], "-a", archive)
    assert exact.out == b"<p>version 1</p>"
    meta = ok("get", server.url + "/changes", "--at", first["at"], "--json", "-a", archive).json()
    assert meta["timestamp"] == first["timestamp"]


def test_record_ids_have_one_form_everywhere(
    rich: tuple[Server, Path, Path], tmp_path: Path
) -> None:
    """What `list`, `show` and `get` call a record is what `check` calls it, and what grep finds."""
    server, archive, _ = rich
    url = server.url + "/changes"
    row = rows_of(archive, "--url", url)[0]
    assert row["record_id"].startswith("urn:uuid:")
    shown = ok("show", url, "-a", archive, "--json").json()
    assert shown["captures"][0]["record_id"] == row["record_id"]
    assert shown["validity"][0]["evidence"][0]["record_id"] == row["record_id"]
    copy = tmp_path / "archive"
    shutil.copytree(archive, copy)
    broken = copy / "warc" / row["file"]
    data = bytearray(broken.read_bytes())
    record = gzip.decompress(bytes(data[row["offset"] : row["offset"] + row["length"]]))
    wrong = gzip.compress(record.replace(b"version 1", b"version 7"), mtime=0)
    data[row["offset"] : row["offset"] + row["length"]] = wrong
    broken.write_bytes(data)
    problems = ok("check", "-a", copy, "--json", code=1).json()["problems"]
    assert row["record_id"] in {problem["record_id"] for problem in problems}
    assert (row["file"], row["offset"]) in {(p["file"], p["offset"]) for p in problems}
