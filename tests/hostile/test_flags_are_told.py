"""What import flagged is told by every later look: nothing that is doubtful passes for sound."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support import rig
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
            ok("import", packed(tmp_path / f"{number}{suffix}", each), "-a", archive)
    else:
        ok("import", packed(tmp_path / f"both{suffix}", first, first, second), "-a", archive)
    for _ in range(2):
        rows = ok("list", "-a", archive, "--json").rows()
        assert sorted(row["size"] for row in rows) == [6, 10]
        assert [row["anomalies"] for row in rows].count(["same-record-id"]) == 1
        assert "[same-record-id]" in ok("list", "-a", archive).out.decode()
        checked = ok("check", "-a", archive, "--json").json()
        assert "says something else" in checked["as_it_came"][0]["problem"]
        ok("reindex", "-a", archive)


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
