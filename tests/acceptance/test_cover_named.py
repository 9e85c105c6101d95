"""`asof cover` with names: relations that have one, answers that are listed and asked again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from asof.cli import run as cli

ROWS = [
    {"id": 1, "site": "a", "day": "2026-05-01", "text": "one two three four five six"},
    {"id": 2, "site": "a", "day": "2026-06-01", "text": "one two three four five six seven"},
    {"id": 3, "site": "b", "day": "2026-07-01", "text": "One, two, three; four five six!"},
]
VERSIONS = "C(d1,d2) >= 0.9 and timestamp(d1) <= timestamp(d2) and url(d1) = url(d2)"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("named") / "archive"
    assert cli(["demo", "--no-serve", "-a", str(found)]) == 0
    return found


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "docs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return file


class Said:
    """A command that was run: its exit code and what it said."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *words: object) -> None:
        capsys.readouterr()
        self.code = cli(["cover", *map(str, words)])
        self.out, self.err = capsys.readouterr()

    def json(self) -> dict:
        assert self.code == 0, self.err
        return json.loads(self.out)


def test_a_relation_is_named_and_used_by_its_name(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = Said(capsys, VERSIONS, "-a", demo, "--name", "versions", "--json")
    assert "versions is a relation now" in plain.err
    named = Said(capsys, "versions", "-a", demo, "--json")
    assert {**named.json(), "seconds": 0} == {**plain.json(), "seconds": 0}
    assert (
        "d2 covers d1 if C(d1,d2) >= 0.9" in Said(capsys, "versions", "-a", demo, "--explain").out
    )
    wrong = Said(capsys, "version", "-a", demo)
    assert wrong.code == 2
    assert "Did you mean versions?" in wrong.err


def test_a_bad_relation_gets_no_name(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = Said(capsys, "C(d1,d2) >= 0.9 and host(d1) = url(d2)", "-a", demo, "--name", "bad")
    assert said.code == 2
    assert "no attribute is called 'host'" in said.err
    assert Said(capsys, "bad", "-a", demo).code == 2


def test_a_damaged_named_relation_is_told_with_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "asof.toml").write_text("[relations]\nbad = 'C(d1,d2) >= 7'\n")
    said = Said(capsys, "bad", "-a", tmp_path)
    assert said.code == 2
    assert "The relation bad of" in said.err
    assert "Column 13" in said.err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["C(d1,d2) >= 0.9 and urls(d1) = url(d2)"], "Did you mean url?"),
        (["C(d1,d2) >= 0.9 and length(d1) = url(d2)"], "cannot be compared"),
        (["C(d1,d2) >= 0.9", "--where", "sise(d) > 3"], "Did you mean size?"),
        (["C(d1,d2) >= 0.9", "--prefer", "title"], "title is a text, and no quality"),
        (["C(d1,d2) >= 0.9", "--prefer", "inlink"], "Did you mean inlinks?"),
        (["C(d1,d2) >= 0.9", "--at-least", "2 per host"], "Did you mean hostname?"),
    ],
)
@pytest.mark.parametrize("explain", [[], ["--explain"]], ids=["run", "explain"])
def test_what_no_archive_knows_is_told_before_it_is_read(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    complaint: str,
    explain: list[str],
) -> None:
    """There is nothing in this archive; it is not even opened."""
    (tmp_path / "warc").mkdir()
    said = Said(capsys, *words, *explain, "-a", tmp_path)
    assert said.code == 2
    assert complaint in said.err


def test_explain_knows_the_columns_of_a_table(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = ["C(d1,d2) >= 0.9 and day(d2) - day(d1) < 9d", "--from", table, "--explain"]
    assert "range" in Said(capsys, *good).out
    where = Said(capsys, *good, "--where", "day(d) < '2026-06-01'")
    assert "only those with day(d) < 2026-06-01" in where.out
    bad = Said(capsys, "C(d1,d2) >= 0.9 and day(d2) < site(d1)", "--from", table, "--explain")
    assert bad.code == 2
    assert "cannot be compared" in bad.err


@pytest.mark.parametrize("quality", ["inlinks", "coherence"])
def test_qualities_choose_among_the_smallest_covers(
    demo: Path, capsys: pytest.CaptureFixture[str], quality: str
) -> None:
    relation = "C(d1,d2) >= 0.3 and url(d1) = url(d2)"
    plain = Said(capsys, relation, "-a", demo, "--json").json()
    best = Said(capsys, relation, "-a", demo, "--prefer", quality, "--json").json()
    assert best["optimal"]
    assert len(best["kept"]) == len(plain["kept"])
    assert list((demo / "derived" / "qualities").glob(f"{quality}-*.npy"))


def test_an_answer_is_listed_and_asked_again(
    demo: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    relation = "C(d1,d2) >= 0.9 and day(d1) <= day(d2)"
    words = [relation, "--from", table, "--where", "site(d) != 'x'", "-k", 4, "-a", demo]
    first = Said(capsys, *words, "--prefer", "day", "--save", "first", "--json").json()
    (told,) = [
        one
        for one in Said(capsys, "--list", "-a", demo, "--json").json()["covers"]
        if one["name"] == "first"
    ]
    assert (told["relation"], told["documents"], told["kept"]) == (relation, 3, 2)
    assert (told["k"], told["where"], told["prefer"]) == (4, "site(d) != 'x'", "day")
    assert told["from"] == str(table)
    shown = Said(capsys, "--list", "-a", demo).out
    assert "first: 2 of 3 documents, proven, 20" in shown
    table.write_text(table.read_text() + json.dumps({**ROWS[1], "id": 4, "day": "2026-08-01"}))
    again = Said(capsys, "--again", "first", "-a", demo, "--save", "second", "--json").json()
    assert (first["kept"], again["kept"]) == ([2, 3], [4])
    difference = Said(capsys, "--diff", "first", "second", "-a", demo, "--json").json()
    assert difference["only_a"] == [
        {"id": 2, "other": "dropped", "by": 4},
        {"id": 3, "other": "dropped", "by": 4},
    ]
    assert difference["only_b"] == [{"id": 4, "other": "absent", "by": None}]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "Write one of these"),
        (["--list", "--again", "x"], "Write one of these"),
        ([VERSIONS, "--list"], "Write one of these"),
        (["--again", "nothing"], "There is no cover 'nothing'"),
        (["--again", "x", "-k", "5"], "-k would change it"),
        (["--again", "x", "--where", "url(d) = ''"], "--where would change it"),
        ([VERSIONS, "--name", "a b"], "cannot be the name of a relation"),
    ],
)
def test_what_cannot_be_asked(
    demo: Path, capsys: pytest.CaptureFixture[str], words: list[str], complaint: str
) -> None:
    said = Said(capsys, *words, "-a", demo)
    assert said.code == 2
    assert complaint in said.err


def test_nothing_to_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Said(capsys, "--list", "-a", tmp_path).code == 2
    (tmp_path / "warc").mkdir()
    assert "No cover was saved yet" in Said(capsys, "--list", "-a", tmp_path).out


def test_a_crawl_reads_past_relations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "asof.toml").write_text("[relations]\ncopies = 'J(d1,d2) = 1'\n")
    assert cli(["crawl", "http://127.0.0.1:9/", "-a", str(tmp_path), "--plan-only"]) in (0, 1)
    assert "relations" not in capsys.readouterr().err
