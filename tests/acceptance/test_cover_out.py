"""What `asof cover` leaves behind: a reading list, and an export of a saved cover."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from asof.archive import OpenArchive
from asof.cli import run as cli
from asof.cover.join.join import JoinLimits
from asof.cover.kept.saved_covers import save_cover
from asof.cover.question import Question
from asof.cover.run import thin_out
from support.boats import collected
from support.rig import ok, run

RELATION = "C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2) and url(d1) = url(d2)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, and a saved cover of it."""
    found = tmp_path_factory.mktemp("cover-out") / "archive"
    assert cli(["demo", "--no-serve", "-a", str(found)]) == 0
    with OpenArchive.open(found) as archive:
        outcome = thin_out(collected(archive), Question(RELATION), JoinLimits())
        assert 0 < len(outcome.kept) < len(outcome.collection)
        save_cover(archive.folder, "versions", outcome)
    return found


def test_a_reading_list_is_written(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "list.html"
    options = ["--at-least", "1 per crawl", "--prefer", "recency"]
    assert cli(["cover", RELATION, "-a", str(folder), *options, "--html", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert "Of each crawl at least 1 stay." in text
    assert "with the highest recency." in text
    assert "list.html: what stays, and what it covers" in capsys.readouterr().err
    nowhere = str(tmp_path / "none" / "list.html")
    assert cli(["cover", RELATION, "-a", str(folder), "--html", nowhere]) == 2
    assert "is not a folder" in capsys.readouterr().err


def test_a_saved_cover_is_exported_and_comes_back(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, again = tmp_path / "kept.warc.gz", str(tmp_path / "again")
    words = ["export", "--format", "warc", "-a", str(folder), "--cover"]
    assert cli([*words, "versions", "-o", str(out), "--json"]) == 0
    count = json.loads(capsys.readouterr().out)["captures"]
    assert cli(["import", str(out), "-a", again]) == 0
    capsys.readouterr()
    assert cli(["cover", RELATION, "-a", again, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["documents"] == count
    assert found["dropped"] == []
    assert cli([*words, "version", "-o", str(tmp_path / "x")]) == 2
    assert "Did you mean versions?" in capsys.readouterr().err
    assert cli([*words, "versions", "--url", "http://a.example/"]) == 2
    assert "A cover is a selection already." in capsys.readouterr().err


def test_covers_are_saved_by_name_and_compared(folder: Path, tmp_path: Path) -> None:
    strict, lax = "C(d1,d2) >= 0.95", "C(d1,d2) >= 0.5"
    first = ok("cover", strict, "-a", folder, "--save", "strict", "--json").json()
    second = ok("cover", lax, "-a", folder, "--save", "lax", "--json").json()
    told = ok("cover", "--diff", "strict", "lax", "-a", folder, "--json").json()
    assert {row["id"] for row in told["only_a"]} == set(first["kept"]) - set(second["kept"])
    assert {row["id"] for row in told["only_b"]} == set(second["kept"]) - set(first["kept"])
    assert set(first["kept"]) != set(second["kept"])


@pytest.mark.parametrize(
    "words",
    [
        ["--diff", "strict", "other"],
        ["--diff", "versions", "versions", RELATION],
        [RELATION, "--save", "../x"],
        [],
    ],
    ids=["unknown", "both", "a name that is none", "neither"],
)
def test_covers_that_cannot_be_saved_or_compared(
    folder: Path, words: list[Any] | list[str]
) -> None:
    assert run("cover", *words, "-a", folder).code == 2


def test_an_estimate_of_a_table(tmp_path: Path) -> None:
    table = tmp_path / "docs.jsonl"
    rows = [{"id": n, "text": f"one two three four five six {n // 2}"} for n in range(3)]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = ok("cover", "C(d1,d2) >= 0.5", "--from", table, "--estimate", "--json").json()
    assert told["documents"] == 3
    assert all(told[key][0] <= told[key][1] for key in ("seconds", "edges", "kept"))


def test_what_is_written_takes_the_place_of_nothing_else(tmp_path: Path) -> None:
    table = tmp_path / "docs.jsonl"
    table.write_text('{"id": 1, "text": "a b c"}\n')
    for words in (["--csv", table], ["--csv", tmp_path / "x", "--html", tmp_path / "x"]):
        assert cli(["cover", "J(d1,d2) = 1", "--from", str(table), *map(str, words)]) == 2
    assert table.read_text() == '{"id": 1, "text": "a b c"}\n'
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    link.symlink_to(real)
    assert cli(["cover", "J(d1,d2) = 1", "--from", str(table), "--csv", str(link)]) == 2
    assert link.is_symlink()
    assert not real.exists()
    assert cli(["cover", "J(d1,d2) = 1", "--from", str(table), "--csv", os.devnull]) == 0
    assert Path(os.devnull).is_char_device()
