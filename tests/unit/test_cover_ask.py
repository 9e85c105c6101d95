"""The front door of covers: what is asked of an archive or of a table, and what comes back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from asof import Archive
from asof.cover.ask import CoverWatch, ask, foretell, prepare, save
from asof.cover.kept.named_relations import save_relation
from asof.cover.kept.saved_covers import load_cover
from asof.cover.question import Question
from asof.errors import UsageError
from support.boats import BOATS, URLS, add
from support.exchanges import START

RULE = "C(d1,d2) >= 0.7"
DAY = 86_400_000_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three versions of a page, each with more than the one before, and another page."""
    found = tmp_path_factory.mktemp("asked") / "archive"
    for number in range(3):
        more = " ".join(f"News of day {day}." for day in range(number))
        add(found, URLS[0], f"{BOATS} {more}", at=START + number * DAY)
    add(found, URLS[1], "Quite another thing is told here, of mountains and of their goats.")
    return found


def test_an_archive_says_what_stays_and_what_it_covers(folder: Path) -> None:
    with Archive.open(folder) as archive:
        answer = archive.cover(RULE, prefer="recency")
        captures = {capture.record_id: capture for capture in archive.captures()}
    assert [(kept.url, kept.at) for kept in answer.kept] == [
        (URLS[0], START + 2 * DAY),
        (URLS[1], START),
    ]
    for document in answer.documents:
        capture = captures[document.record_id or ""]
        assert (capture.url, capture.at) == (document.url, document.at)
    last, other = answer.kept
    assert [(each.at, each.containment) for each in answer.covered_by(last)] == [
        (START, 1.0),
        (START + DAY, 1.0),
    ]
    assert answer.covered_by(other) == ()
    assert answer.proven
    figures = answer.figures
    assert (figures.documents, figures.kept, figures.gap, figures.complete) == (4, 2, 0, True)
    assert 0 < figures.weight_kept < figures.weight


def test_options_are_those_of_the_command(folder: Path) -> None:
    with Archive.open(folder) as archive:
        one = Question(RULE, where=f"url(d) = '{URLS[0]}'", k=2, text="full")
        assert len(ask(prepare(folder, one)).documents) == 3
        for least in ("2 per hostname", (2, "hostname")):
            assert len(archive.cover(RULE, at_least=least).kept) == 3
        with pytest.raises(UsageError, match="'2 hostnames' is not understood"):
            archive.cover(RULE, at_least="2 hostnames")
        with pytest.raises(UsageError, match="no attribute is called 'hosst'"):
            archive.cover(f"{RULE} and hosst(d1) = hosst(d2)")
        with pytest.raises(UsageError, match="holds no such documents"):
            archive.cover(RULE, where="length(d) < 0")


def test_a_relation_by_its_name_and_an_answer_asked_again(folder: Path) -> None:
    save_relation(folder, "versions", RULE)
    answer = ask(prepare(folder, Question("versions", prefer="recency")))
    assert answer.question.relation == RULE
    path = save(folder, "mine", answer, START)
    assert path is not None
    with Archive.open(folder) as archive:
        assert load_cover(archive.folder, "mine").kept == tuple(kept.id for kept in answer.kept)
    again = prepare(folder, Question(""), again="mine")
    assert again.question == answer.question
    assert ask(again).documents == answer.documents


def test_who_watches_is_told(folder: Path) -> None:
    said: list[str] = []
    prepared = prepare(folder, Question("C(d1,d2) >= 0.65"))
    first = ask(prepared)
    assert ask(prepared, CoverWatch(say=said.append)).documents == first.documents
    assert said == ["4 of 4 documents had been compared before"]
    expected = foretell(prepared)
    assert expected.documents == 4
    assert first.figures.edges in expected.edges


def test_a_table_has_ids_and_no_captures(tmp_path: Path) -> None:
    table = tmp_path / "docs.jsonl"
    rows = [{"id": number, "text": "one two three " * 3} for number in (7, 8)]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answer = ask(prepare(tmp_path, Question(RULE, table=str(table))))
    (kept,) = answer.kept
    (gone,) = answer.covered_by(kept)
    assert (kept.id, gone.id, gone.by) == (7, 8, 7)
    assert (kept.url, kept.at, kept.record_id) == (None, None, None)


def test_the_example_of_the_guide_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "cover.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python run\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(folder.parent)
    capsys.readouterr()
    exec(compile(example, "docs/cover.md", "exec"), {})
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 4
    assert told[-1].startswith("True 0 ")
