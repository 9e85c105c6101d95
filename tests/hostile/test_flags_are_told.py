"""What import flagged is told by every later look: nothing that is doubtful passes for sound."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

import pytest

from asof import Archive
from support import rig, served_archive
from support.forge import Rec, recs
from support.rig import ok

URL = "http://example.com/same"


def packed(path: Path, *records: Rec) -> Path:
    plain = path.suffix == ".warc"
    path.write_bytes(b"".join(each.plain() if plain else each.gz() for each in records))
    return path


@pytest.mark.parametrize("suffix", [".warc", ".warc.gz"])
@pytest.mark.parametrize("apart", [True, False])
def test_two_contents_of_one_record_id_are_both_kept(
    tmp_path: Path, suffix: str, apart: bool
) -> None:
    """Whoever gets a file in first does not decide what the second one said."""
    first, second = Rec(URL, b"<p>one"), Rec(URL, b"<p>another")
    archive = tmp_path / "archive"
    if apart:
        for number, each in enumerate((first, second, second)):
            path = packed(tmp_path / f"{number}{suffix}", each)
            told = ok("import", path, "-a", archive, code=min(number, 1)).err
            assert ("says something else" in told) == (each is second)
    else:
        path = packed(tmp_path / f"both{suffix}", first, first, second)
        assert "says something else" in ok("import", path, "-a", archive, code=1).err
    for _ in range(2):
        assert ok("get", URL, "-a", archive).out == b"<p>one"
        rows = ok("list", "-a", archive, "--json").rows()
        assert sorted(row["size"] for row in rows) == [6, 10]
        assert [row["anomalies"] for row in rows].count(["same-record-id"]) == 1
        assert "[same-record-id]" in ok("list", "-a", archive).out.decode()
        checked = ok("check", "-a", archive, "--json").json()
        assert "says something else" in checked["as_it_came"][0]["problem"]
        ok("reindex", "-a", archive)


def test_both_contents_of_one_record_id_are_read(tmp_path: Path) -> None:
    """Served, exported and found; what was known first is what was there then."""
    archive = tmp_path / "archive"
    first, second = Rec(URL, b"<p>one harbour"), Rec(URL, b"<p>another harbour")
    for number, each in enumerate((first, second)):
        rig.run("import", packed(tmp_path / f"{number}.warc.gz", each), "-a", archive)
    rows = ok("list", "-a", archive, "--json").rows()
    assert len({row["record_id"] for row in rows}) == 1
    assert rows[0]["record_id"].startswith("urn:uuid:")
    assert b"another harbour" in ok("search", "another", "-a", archive).out
    with Archive.open(archive) as opened:
        bodies = [b"".join(opened.read(each).payload()) for each in opened.captures(url=URL)]
    assert sorted(bodies) == [second.body, first.body]
    with served_archive.serving(archive) as server:
        assert server.ask(f"/2022id_/{URL}").body == first.body
    for form in ("warc", "wacz"):
        out, again = tmp_path / f"out.{form}", tmp_path / form
        ok("export", "--format", form, "--url", URL, "-o", out, "-a", archive)
        rig.run("import", out, "-a", again)
        assert len(ok("list", "-a", again, "--json").rows()) == 2
        assert ok("get", URL, "-a", again).out == first.body


def sha256(body: bytes) -> str:
    return "sha256:" + base64.b32encode(hashlib.sha256(body).digest()).decode()


@pytest.mark.parametrize("apart", [True, False])
def test_digests_of_two_kinds_hide_no_content(tmp_path: Path, apart: bool) -> None:
    """What they cannot say, size and bytes do; the same under another digest is nothing new."""
    archive = tmp_path / "archive"
    bodies = b"<p>one", b"<p>one", b"<p>two", b"<p>another"
    known, *later = (
        Rec(URL, body, digests=not at, extra=(("WARC-Payload-Digest", sha256(body)),) if at else ())
        for at, body in enumerate(bodies)
    )
    groups = [[known], *([each] for each in later)] if apart else [[known, *later]]
    for number, group in enumerate(groups):
        rig.run("import", packed(tmp_path / f"{number}.warc.gz", *group), "-a", archive)
    for _ in range(2):
        rows = ok("list", "-a", archive, "--json").rows()
        assert sorted(row["size"] for row in rows) == [6, 6, 10]
        assert [row["anomalies"] for row in rows].count([]) == 1
        assert ok("get", URL, "-a", archive).out == known.body
        ok("reindex", "-a", archive)


def test_a_crawl_is_certified_beside_a_second_content(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    with rig.site({"/": rig.page("a page of text that goes on for some words")}) as server:
        rig.crawl(archive, f"{server.url}/")
    row = next(row for row in rig.rows_of(archive) if row["url"] == f"{server.url}/")
    name = row["record_id"].removeprefix("urn:uuid:")
    twin = Rec(row["url"], b"<p>other", date=row["at"], version="WARC/1.1", record_id=name)
    ok("import", packed(tmp_path / "twin.warc.gz", twin), "-a", archive, code=1)
    ok("quality", "--certificate", tmp_path / "c.json", "-a", archive)
    ok("check", tmp_path / "c.json", "-a", archive)


def test_a_check_tells_what_was_cut_short_or_may_be_forged(tmp_path: Path) -> None:
    forged = Rec("http://bank.example/", b"<p>pay here")
    outer = Rec("http://example.com/outer", b"<p>" + forged.plain(), declared=-1)
    path = tmp_path / "odd.warc"
    path.write_bytes(recs(1)[0].plain() + outer.plain() + recs(2)[1].plain())
    rig.run("import", path, "-a", tmp_path / "archive")
    told = ok("check", "-a", tmp_path / "archive").out.decode()
    assert told.startswith("all is as it came")
    assert "found after damage, may be forged (http://bank.example/)" in told
    assert "cut short (http://example.com/outer)" in told
    assert (
        "http://bank.example/  [after-damage]"
        in ok("list", "-a", tmp_path / "archive").out.decode()
    )


def test_a_payload_digest_that_is_none_is_flagged(tmp_path: Path) -> None:
    odd = Rec(URL, digests=False, extra=(("WARC-Payload-Digest", "bogus"),))
    for suffix in (".warc", ".warc.gz"):
        archive = tmp_path / f"archive{suffix}"
        path = packed(tmp_path / f"odd{suffix}", odd)
        assert rig.run("import", path, "-a", archive).code == 1
        assert ok("check", "-a", archive, "--json").json()["as_it_came"]


def test_a_pipe_among_the_files_is_told_and_the_others_are_indexed(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    ok("import", packed(tmp_path / "x.warc.gz", *recs(3)), "-a", archive)
    os.mkfifo(archive / "warc" / "000009-pipe.warc")
    result = rig.run("check", "-a", archive, timeout=30)
    assert (result.code, b"000009-pipe.warc at 0: is no file" in result.out) == (1, True)
    result = rig.run("reindex", "-a", archive, timeout=30)
    assert (result.code, "000009-pipe.warc" in result.err) == (1, True), str(result)
    assert len(ok("list", "-a", archive, "--json").rows()) == 3


def test_a_file_that_begins_with_damage_gives_its_whole_records(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    first, second = (record.plain() for record in recs(2))
    path.write_bytes(bytes(5000) + first + b"\xff" * 3000 + second)
    rig.run("import", path, "-a", tmp_path / "archive")
    assert len(ok("list", "-a", tmp_path / "archive", "--json").rows()) == 2
