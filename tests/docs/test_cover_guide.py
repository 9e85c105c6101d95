"""The guide to `asof cover`: what it shows is what its commands say, and its definitions hold."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from asof.cli import run as cli
from support.boats import collected

GUIDE = (Path(__file__).parents[2] / "docs" / "cover.md").read_text(encoding="utf-8")
_BLOCK = "^```{}\n(.*?)^```$"


def blocks(mark: str) -> list[str]:
    return re.findall(_BLOCK.format(mark), GUIDE, re.MULTILINE | re.DOTALL)


def shown() -> Iterator[tuple[str, str]]:
    """Each command that is to be run, with what it is said to print."""
    for body in blocks("console run"):
        for part in body.split("$ ")[1:]:
            command, _, output = part.partition("\n")
            yield command, output


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the table of the guide lies, as the current folder."""
    (table,) = blocks("json docs.jsonl")
    (tmp_path / "docs.jsonl").write_text(table, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("command", "output"), list(shown()))
def test_the_guide_shows_what_its_commands_say(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, output: str
) -> None:
    """Letter by letter, but for seconds and the ends of lines."""
    program, *words = shlex.split(command)
    assert program == "asof"
    cli(words)
    told = capsys.readouterr()
    assert timeless(told.out + told.err) == timeless(output)


def timeless(text: str) -> list[str]:
    text = re.sub(r"[0-9.]+ s\.$", "S s.", text, flags=re.MULTILINE)
    return [line.rstrip() for line in re.sub(r'"seconds": [0-9.]+', "S", text).splitlines()]


ROWS = {
    "one": "ferry today",
    "quoting": "no ferry today or tomorrow as far as anyone knows",
    "shouted": "FERRY, today!",
    "none": "",
    "dots": "... !",
}


@pytest.mark.parametrize("measure", ["C(d1,d2)", "C(d2,d1)", "J(d1,d2)", "D(d1,d2)"])
def test_short_empty_and_identical_documents_are_as_the_guide_defines_them(
    folder: Path, capsys: pytest.CaptureFixture[str], measure: str
) -> None:
    lines = (json.dumps({"id": name, "text": text}) for name, text in ROWS.items())
    Path("rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert cli(["cover", f"{measure} >= 0.01", "--from", "rows.jsonl", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kept"] == ["one", "quoting", "none"]
    assert [(each["id"], each["by"], each["jaccard"]) for each in found["dropped"]] == [
        ("shouted", "one", 1.0),
        ("dots", "none", 1.0),
    ]


def test_the_guide_names_every_attribute_of_an_archive(tmp_path: Path) -> None:
    from asof.archive import OpenArchive

    assert cli(["demo", "--no-serve", "-a", str(tmp_path / "archive")]) == 0
    with OpenArchive.open(tmp_path / "archive") as archive:
        columns = set(collected(archive).columns)
    part = GUIDE.split("- Attributes of an archive: ")[1].split("\n- ")[0]
    assert set(re.findall(r"`([\w-]+)`", part.split("Those of a table")[0])) == columns
