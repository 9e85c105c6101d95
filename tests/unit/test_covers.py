"""Covers saved by name: what comes back, what names can be, and how two of them differ."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.archive.folder import Folder
from asof.cover.documents.tables import Table
from asof.cover.join.join import JoinLimits
from asof.cover.kept.saved_covers import (
    CoverFacts,
    SavedCover,
    asked_again,
    check_name,
    cover_facts,
    cover_names,
    diff_covers,
    load_cover,
    save_cover,
    saved_covers,
)
from asof.cover.language.syntax import LENGTH
from asof.cover.question import Question
from asof.cover.run import CoverOutcome, thin_out
from asof.errors import ArchiveError, UsageError

TEXTS = {
    "short": "one two three four five six",
    "long": "one two three four five six seven eight",
    "same": "One, two; three four five SIX!",
    "apart": "nothing of all that is said in here",
    "\udc80 half\n": "",
}


def outcome(relation: str, leave_out: str = "") -> CoverOutcome:
    chosen = {name: text for name, text in TEXTS.items() if name != leave_out}
    found = Table(tuple(chosen), tuple(chosen.values()), {}).collection()
    return thin_out(found, Question(relation), JoinLimits())


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_cover_comes_back_as_it_was_saved(folder: Folder) -> None:
    found = outcome("C(d1,d2) >= 0.5")
    path = save_cover(folder, "first.1", found)
    assert path == folder.root / "derived" / "covers" / "first.1.json"
    saved = load_cover(folder, "first.1")
    facts = saved.facts
    assert facts.name == "first.1"
    assert facts.relation == "C(d1,d2) >= 0.5"
    assert list(saved.kept) == found.kept == ["short", "apart", "\udc80 half\n"]
    assert [(gone.document, gone.by) for gone in saved.dropped] == [
        ("long", "short"),
        ("same", "short"),
    ]
    assert [gone.containment for gone in saved.dropped] == [0.5, 1.0]
    assert (facts.documents, facts.kept) == (5, 3)
    assert (facts.edges, facts.optimal, facts.gap) == (found.edges, True, 0)
    assert (facts.complete, facts.components) == (True, found.cover.components.count)
    assert facts.size == sum(len(text.encode()) for text in TEXTS.values())
    assert facts.size_kept == sum(len(TEXTS[name].encode()) for name in found.kept)
    assert (facts.numbers, facts.at, facts.question) == (False, None, None)
    assert facts.seconds == found.seconds
    assert cover_facts(folder, "first.1") == facts


ASKED = Question(
    "C(d1,d2) >= 0.5", "docs.jsonl", 'text contains "ferry"', 3, "full", (2, "site"), "day",
    "seed", 1.5,
)  # fmt: skip


@pytest.mark.parametrize("question", [Question("C(d1,d2) >= 0.5"), ASKED])
def test_what_was_asked_can_be_asked_again(folder: Folder, question: Question) -> None:
    save_cover(folder, "x", outcome("C(d1,d2) >= 0.5"), question, at=12)
    assert load_cover(folder, "x").facts.question == question
    assert asked_again(folder, "x") == question
    assert cover_facts(folder, "x").at == 12


def test_what_is_not_recorded_cannot_be_asked_again(folder: Folder) -> None:
    save_cover(folder, "x", outcome("C(d1,d2) >= 0.5"))
    with pytest.raises(UsageError, match="is not recorded"):
        asked_again(folder, "x")
    with pytest.raises(UsageError, match="Did you mean x"):
        asked_again(folder, "X")


def test_all_covers_the_latest_first_and_damaged_ones_last(folder: Folder) -> None:
    for name, at in (("a", 1), ("b", 3), ("c", 2), ("bad", 9)):
        save_cover(folder, name, outcome("C(d1,d2) >= 0.5"), at=at)
    (folder.root / "derived" / "covers" / "bad.json").write_text("{}")
    found = saved_covers(folder)
    assert [name for name, _ in found] == ["b", "c", "a", "bad"]
    assert [facts is None for _, facts in found] == [False, False, False, True]


def test_a_list_reads_no_documents(folder: Folder) -> None:
    path = save_cover(folder, "x", outcome("C(d1,d2) >= 0.5"), ASKED)
    head = path.read_bytes().split(b"\n")[0]
    path.write_bytes(head + b"\n" + b'"names": damage')
    assert cover_facts(folder, "x").kept == 3
    with pytest.raises(ArchiveError, match="is damaged"):
        load_cover(folder, "x")


def test_whole_numbers_are_numbers_again(folder: Folder) -> None:
    rows = Table(("1", "2"), ("one two", "one two"), {}, numbers=True).collection()
    save_cover(folder, "x", thin_out(rows, Question("J(d1,d2) = 1"), JoinLimits()))
    assert load_cover(folder, "x").facts.numbers
    path = folder.root / "derived" / "covers" / "x.json"
    path.write_text(path.read_text().replace('"2"', '"two"'))
    with pytest.raises(ArchiveError, match="is damaged"):
        load_cover(folder, "x")


def test_a_second_cover_of_a_name_takes_its_place(folder: Folder) -> None:
    save_cover(folder, "x", outcome("C(d1,d2) >= 0.5"))
    save_cover(folder, "x", outcome("C(d1,d2) >= 0.9"))
    assert load_cover(folder, "x").facts.relation == "C(d1,d2) >= 0.9"
    assert [path.name for path in (folder.root / "derived" / "covers").iterdir()] == ["x.json"]


def test_names_of_covers(folder: Folder) -> None:
    assert cover_names(folder) == []
    for name in ("b", "a.json", "-x"):
        save_cover(folder, name, outcome("C(d1,d2) >= 0.5"))
    (folder.root / "derived" / "covers" / ".hidden.json").write_text("{}")
    assert cover_names(folder) == ["-x", "a.json", "b"]


HOSTILE = [
    "", ".", "..", ".x", "../x", "a/b", "a\\b", "a\0", "ä", "x" * 81, "a b", "a\n", "/x", "C:",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_cannot_lead_out_of_the_folder(folder: Folder, name: str) -> None:
    for use in (
        lambda: save_cover(folder, name, outcome("C(d1,d2) >= 0.5")),
        lambda: load_cover(folder, name),
    ):
        with pytest.raises(UsageError, match="cannot be the name"):
            use()
    assert list(folder.root.rglob("*")) == []


@given(name=st.text(max_size=90))
def test_whatever_is_a_name_is_a_plain_file_name(name: str) -> None:
    try:
        check_name(name)
    except UsageError:
        return
    assert Path("x", f"{name}.json").resolve().parent == Path("x").resolve()
    assert not name.startswith(".")


def test_an_unknown_name_is_answered_with_those_there_are(folder: Folder) -> None:
    with pytest.raises(UsageError, match="None was saved yet"):
        load_cover(folder, "autumn")
    save_cover(folder, "autumn", outcome("C(d1,d2) >= 0.5"))
    with pytest.raises(UsageError, match="Did you mean autumn"):
        load_cover(folder, "autum")
    with pytest.raises(UsageError, match="There are autumn"):
        load_cover(folder, "zzz")


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", "{}", "[" * 100_000, '{"format": 1}', "\udcff", "1" * 5000],
)
@pytest.mark.parametrize("read", [load_cover, cover_facts])
def test_a_damaged_file_is_told(
    folder: Folder, content: str, read: Callable[[Folder, str], object]
) -> None:
    path = save_cover(folder, "x", outcome("C(d1,d2) >= 0.5"))
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ArchiveError, match="is damaged"):
        read(folder, "x")


KEYS = ["relation", "edges", "kept", "names", "dropped", "gap", "seconds", "numbers", "optimal"]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", [None, [1], [["a"]], {"a": None}, -1])
def test_a_value_of_another_kind_is_damage(folder: Folder, key: str, value: object) -> None:
    path = save_cover(folder, "x", outcome("C(d1,d2) >= 0.5"))
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(ArchiveError, match="is damaged"):
        load_cover(folder, "x")


@pytest.mark.parametrize(
    "asked",
    [[], "x", {"relation": "x"}, {"k": 0}, {"k": True}, {"text": "none"}, {"solver": ""},
     {"at_least": [1]}, {"at_least": ["2", "x"]}, {"where": 1}, {"time_limit": "1"},
     {"time_limit": float("nan")}, {"time_limit": -1}, {"k": 1 << 70}],
)  # fmt: skip
def test_a_question_of_another_kind_is_damage(folder: Folder, asked: object) -> None:
    path = save_cover(folder, "x", outcome("C(d1,d2) >= 0.5"), ASKED)
    given = json.loads(path.read_text())
    if isinstance(asked, dict) and "relation" not in asked:
        asked = {**given["question"], **asked}
    path.write_text(json.dumps({**given, "question": asked}))
    with pytest.raises(ArchiveError, match="is damaged"):
        load_cover(folder, "x")


@pytest.mark.parametrize("share", [float("nan"), float("inf"), 10**400, -0.1, 1.1, "1", None])
@pytest.mark.parametrize("place", [2, 3, 4])
def test_a_measure_that_is_none_is_damage(folder: Folder, share: object, place: int) -> None:
    path = save_cover(folder, "x", outcome("C(d1,d2) >= 0.5"))
    given = json.loads(path.read_text())
    given["dropped"][0][place] = share
    path.write_text(json.dumps(given))
    with pytest.raises(ArchiveError, match="is damaged"):
        load_cover(folder, "x")


@pytest.mark.parametrize("key", ["documents", "size", "edges", "components", "gap", "seconds"])
def test_a_count_beyond_all_counts_is_damage(folder: Folder, key: str) -> None:
    path = save_cover(folder, "x", outcome("C(d1,d2) >= 0.5"))
    path.write_text(json.dumps({**json.loads(path.read_text()), key: 10**400}))
    with pytest.raises(ArchiveError, match="is damaged"):
        load_cover(folder, "x")


def test_the_longest_question_fits_the_first_line(folder: Folder) -> None:
    start = 'C(d1,d2) >= 0.5 and id(d1) != "'
    relation = start + "\U0001f600" * (LENGTH - len(start) - 1) + '"'
    where = 'text contains "' + "\U0001f600" * (LENGTH - 16) + '"'
    found = replace(outcome("C(d1,d2) >= 0.5"), relation=relation)
    save_cover(folder, "x", found, Question(relation, where=where))
    assert cover_facts(folder, "x").relation == relation


@pytest.mark.parametrize("at", [-1, 1 << 62, "now", 1.5])
def test_a_moment_that_is_none_is_damage(folder: Folder, at: object) -> None:
    path = save_cover(folder, "x", outcome("C(d1,d2) >= 0.5"))
    path.write_text(json.dumps({**json.loads(path.read_text()), "at": at}))
    with pytest.raises(ArchiveError, match="is damaged"):
        load_cover(folder, "x")


def saved(folder: Folder, name: str, *args: str) -> SavedCover:
    save_cover(folder, name, outcome(*args))
    return load_cover(folder, name)


def test_two_covers_differ_by_what_only_one_of_them_keeps(folder: Folder) -> None:
    """By 0.5 `short` covers `long`; by 0.9 it is `long` that covers both others."""
    wide, narrow = saved(folder, "a", "C(d1,d2) >= 0.5"), saved(folder, "b", "C(d1,d2) >= 0.9")
    found = diff_covers(wide, narrow)
    assert [(each.document, each.other, each.by) for each in found.only_a] == [
        ("short", "dropped", "long")
    ]
    assert [(each.document, each.other, each.by) for each in found.only_b] == [
        ("long", "dropped", "short")
    ]
    assert found.both == 2


def test_documents_that_were_not_there_are_told_from_dropped_ones(folder: Folder) -> None:
    before, now = saved(folder, "a", "J(d1,d2) = 1", "apart"), saved(folder, "b", "J(d1,d2) = 1")
    found = diff_covers(before, now)
    assert found.only_a == ()
    assert [(each.document, each.other, each.by) for each in found.only_b] == [
        ("apart", "absent", None)
    ]


def test_a_cover_does_not_differ_from_itself(folder: Folder) -> None:
    one = saved(folder, "a", "C(d1,d2) >= 0.5")
    found = diff_covers(one, one)
    assert (found.only_a, found.only_b, found.both) == ((), (), 3)


@given(kept_a=st.sets(st.integers(0, 9)), kept_b=st.sets(st.integers(0, 9)))
def test_the_difference_is_symmetric(kept_a: set[int], kept_b: set[int]) -> None:
    def cover(name: str, ids: set[int]) -> SavedCover:
        count = len(ids)
        facts = CoverFacts(
            name, "", count, count, 0, 0, 0, count, True, 0, True, 0.0, True, None, None
        )
        return SavedCover(facts, tuple(map(str, sorted(ids))), ())

    a, b = cover("a", kept_a), cover("b", kept_b)
    there, back = diff_covers(a, b), diff_covers(b, a)
    assert there.only_a == back.only_b
    assert there.only_b == back.only_a
    assert {int(each.document) for each in there.only_a} == kept_a - kept_b
    assert there.both == back.both == len(kept_a & kept_b)
