"""What is kept between runs of `cover`: pairs and proofs, in files; and an archive that grows."""

from __future__ import annotations

import io
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.clock import SECOND
from asof.cover import growth
from asof.cover.documents.document_ids import DOCUMENT_ID, Shingling
from asof.cover.documents.sets import Edges
from asof.cover.documents.tables import Table
from asof.cover.growth import FoundPairs, KeptPairs
from asof.cover.join.join import JoinLimits
from asof.cover.join.pairs import found_pairs
from asof.cover.kept import pair_cache
from asof.cover.kept.pair_cache import PairFiles, earlier_runs, keep_proofs, load_proofs
from asof.cover.kept.shingle_cache import collected_or_kept
from asof.cover.language.analyse import parse_relation
from asof.cover.language.columns import number_column
from asof.cover.language.evaluate import Pairs
from asof.cover.language.kinds import type_check
from asof.cover.language.unparse import unparse
from asof.cover.question import Question
from asof.cover.run import CoverOutcome, thin_out
from asof.cover.solve.proofs import Proofs
from asof.cover.solve.solve import solve as solved
from support.boats import BOATS, add, assert_equal, collected, read_all
from support.exchanges import START

SCHEMA = (("length", "number"),)
RULE = "C(d1,d2) >= 0.5"


def some_pairs(count: int = 4, seed: int = 0) -> FoundPairs:
    chance = np.random.default_rng(seed)
    document_ids = np.array([f"{seed}-{at}".encode() for at in range(count)], DOCUMENT_ID)
    i, j = (chance.integers(0, count, 6).astype(np.int32) for _ in range(2))
    return FoundPairs(document_ids, Edges(i, j, np.ones(6, np.int32)))


def assert_found(found: FoundPairs | None, wanted: FoundPairs) -> None:
    assert found is not None
    assert found.document_ids.tolist() == wanted.document_ids.tolist()
    assert found.edges.i.tolist() == wanted.edges.i.tolist()
    assert found.edges.j.tolist() == wanted.edges.j.tolist()
    assert found.edges.inter.tolist() == wanted.edges.inter.tolist()


def files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "derived" / "cover" / "pairs").glob("*"))


# --- files of pairs -------------------------------------------------------------------------------


def test_pairs_come_back_as_they_were(tmp_path: Path) -> None:
    store = PairFiles(Folder(tmp_path), Shingling("main", 5))
    assert list(store.entries()) == []
    store.keep(RULE, SCHEMA, some_pairs())
    (entry,) = store.entries()
    assert (entry.relation, entry.schema) == (RULE, SCHEMA)
    assert_found(entry.load(), some_pairs())
    assert list(PairFiles(Folder(tmp_path), Shingling("full", 5)).entries()) == []
    assert list(PairFiles(Folder(tmp_path), Shingling("main", 4)).entries()) == []


def test_pairs_of_fewer_documents_make_way(tmp_path: Path) -> None:
    store = PairFiles(Folder(tmp_path), Shingling("main", 5))
    store.keep(RULE, SCHEMA, some_pairs(4))
    store.keep("D(d1,d2) >= 0.5", SCHEMA, some_pairs(4))
    store.keep(RULE, SCHEMA, some_pairs(5))
    kept = {entry.relation: entry.load() for entry in store.entries()}
    assert len(kept) == len(files(tmp_path)) == 2
    assert_found(kept[RULE], some_pairs(5))
    store.keep(RULE, SCHEMA, some_pairs(3, seed=1))
    assert len(list(store.entries())) == 3, "of other documents"


def test_the_least_used_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_cache, "ENTRIES", 2)
    store = PairFiles(Folder(tmp_path), Shingling("main", 5))
    for at, rule in enumerate(("a", "b")):
        store.keep(rule, SCHEMA, some_pairs())
        for path in files(tmp_path):
            os.utime(path, ns=(at, path.stat().st_mtime_ns if at else 1))
    first = next(entry for entry in store.entries() if entry.relation == "a")
    assert first.load() is not None, "used now"
    store.keep("c", SCHEMA, some_pairs())
    assert {entry.relation for entry in store.entries()} == {"a", "c"}


def test_there_is_room_for_so_many_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 2000
    monkeypatch.setattr(pair_cache, "BYTES", size)
    store = PairFiles(Folder(tmp_path), Shingling("main", 5))
    store.keep("too large", SCHEMA, some_pairs(size // 16))
    assert files(tmp_path) == []
    for rule in "abcdef":
        store.keep(rule, SCHEMA, some_pairs())
    left = list(store.entries())
    assert 0 < len(left) < 6
    assert sum(path.stat().st_size for path in files(tmp_path)) <= size


DAMAGES = ["cut", "empty", "noise", "pickle", "range", "short", "head", "nested", "huge", "bit"]


def claimed(kind: str, shape: tuple[int, ...]) -> bytes:
    """The beginning of a file that claims to hold so much."""
    header = io.BytesIO()
    what = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, what)
    return header.getvalue()


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_pairs_are_not_there(tmp_path: Path, damage: str) -> None:
    store = PairFiles(Folder(tmp_path), Shingling("main", 5))
    found = some_pairs()
    if damage == "range":
        edges = replace(found.edges, i=found.edges.i + np.int32(4))
        found = FoundPairs(found.document_ids, edges)
    if damage == "short":
        found = FoundPairs(found.document_ids, replace(found.edges, j=found.edges.j[:-1]))
    store.keep(RULE, SCHEMA, found)
    (path,) = files(tmp_path)
    content = path.read_bytes()
    if damage == "pickle":
        with path.open("wb") as out:
            np.save(out, np.frombuffer(b"{}", np.uint8))
            np.save(out, np.array([{}], object), allow_pickle=True)
    elif damage == "head":
        path.write_bytes(content.replace(b'"relation"', b'"relatiom"'))
    elif damage == "nested":
        with path.open("wb") as out:
            np.save(out, np.frombuffer(b"[" * 100_000, np.uint8))
    elif damage == "huge":
        path.write_bytes(claimed("<i4", (1 << 50,)))
    elif damage == "bit":  # of the last document of the last pair but one
        at = content.rindex(b"\x93NUMPY", 0, content.rindex(b"\x93NUMPY")) - 8
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    elif damage not in ("range", "short"):
        path.write_bytes({"cut": content[:-9], "empty": b"", "noise": b"noise" * 99}[damage])
    assert [entry.load() for entry in store.entries()] in ([], [None])
    store.keep(RULE, SCHEMA, some_pairs())
    assert any(entry.load() is not None for entry in store.entries())


def test_what_was_begun_and_left_is_removed(tmp_path: Path) -> None:
    store = PairFiles(Folder(tmp_path), Shingling("main", 5))
    store.keep(RULE, SCHEMA, some_pairs())
    (path,) = files(tmp_path)
    left, going_on = (path.with_name(f".{path.name}.{end}") for end in ("left", "going_on"))
    left.write_bytes(b"half")
    os.utime(left, (1, 1))
    going_on.write_bytes(b"half")
    store.keep("D(d1,d2) >= 0.5", SCHEMA, some_pairs())
    assert not left.exists()
    assert going_on.exists(), "somebody may be writing it"


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "derived").write_text("a file")
    store = PairFiles(Folder(tmp_path), Shingling("main", 5))
    store.keep(RULE, SCHEMA, some_pairs())
    assert list(store.entries()) == []
    proofs = Proofs({b"x": np.zeros(1, np.int32)}, changed=True)
    keep_proofs(Folder(tmp_path), proofs)
    assert load_proofs(Folder(tmp_path)).answers == {}


# --- proofs ---------------------------------------------------------------------------------------


def hard(seed: int, count: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Edges of a random graph that reductions do not solve."""
    chance = np.random.default_rng(seed)
    i = np.repeat(np.arange(count, dtype=np.int32), 4)
    return i, chance.integers(0, count, i.size).astype(np.int32)


def forbid(*given: object) -> NoReturn:
    raise AssertionError("it is solved again")


@pytest.mark.parametrize("prefer", [False, True])
@pytest.mark.parametrize("least", [False, True])
def test_what_was_proven_is_not_solved_again(
    prefer: bool, least: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    i, j = hard(1)
    quality = np.arange(60, dtype=np.float64) % 7 if prefer else None
    at_least = (9, np.arange(60, dtype=np.int32) % 3) if least else None
    proofs = Proofs()
    first = solved(60, i, j, quality=quality, at_least=at_least, proofs=proofs)
    assert first.optimal
    assert proofs.changed
    keep_proofs(Folder(tmp_path), proofs)
    monkeypatch.setattr("asof.cover.solve.solve._searched", forbid)
    known = load_proofs(Folder(tmp_path))
    again = solved(60, i, j, quality=quality, at_least=at_least, proofs=known)
    assert again.kept.tolist() == first.kept.tolist()
    assert again.optimal
    assert not known.changed
    with pytest.raises(AssertionError, match="solved again"):
        solved(60, *hard(2), proofs=known)


def test_an_untouched_component_is_known_wherever_it_lies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Documents that come before it change its ids, and nothing else."""
    i, j = hard(3)
    proofs = Proofs()
    first = solved(60, i, j, proofs=proofs)
    monkeypatch.setattr("asof.cover.solve.solve._searched", forbid)
    moved = solved(75, i + np.int32(10), j + np.int32(10), proofs=proofs)
    assert moved.kept[10:70].tolist() == first.kept.tolist()


def test_what_was_not_proven_is_not_remembered() -> None:
    proofs = Proofs()
    found = solved(60, *hard(4), time_limit=0.0, proofs=proofs)
    assert not found.optimal
    assert not proofs.answers


def test_proofs_that_prove_nothing_are_not_believed(tmp_path: Path) -> None:
    i, j = hard(5)
    proofs = Proofs()
    first = solved(60, i, j, proofs=proofs)
    for wrong in (np.empty(0, np.int32), np.array([999], np.int32), np.array([-1], np.int32)):
        bad = Proofs(dict.fromkeys(proofs.answers, wrong))
        assert solved(60, i, j, proofs=bad).kept.tolist() == first.kept.tolist()
    keep_proofs(Folder(tmp_path), proofs)
    path = tmp_path / "derived" / "cover" / "proofs.npy"
    path.write_bytes(path.read_bytes()[:-5])
    assert load_proofs(Folder(tmp_path)).answers == {}


def test_only_the_last_used_proofs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    many = Proofs({str(at).encode(): np.arange(3, dtype=np.int32) for at in range(9)})
    monkeypatch.setattr("asof.cover.solve.proofs.PROBLEMS", 4)
    keys, sizes, columns = many.packed()
    assert keys.tolist() == [b"5", b"6", b"7", b"8"]
    assert (sizes.tolist(), columns.size) == ([3] * 4, 12)
    monkeypatch.setattr("asof.cover.solve.proofs.COLUMNS", 7)
    assert many.packed()[0].tolist() == [b"7", b"8"]
    with pytest.raises(ValueError, match="proofs"):
        Proofs.unpacked(keys, sizes + 1, columns)
    with pytest.raises(ValueError, match="proofs"):
        Proofs.unpacked(keys, sizes, columns.astype(np.int64))


# --- runs -----------------------------------------------------------------------------------------


def test_a_table_without_marks_is_compared_each_time(tmp_path: Path) -> None:
    table = Table(("a", "b"), ("one two three", "one two three"), {}).collection(2)
    with earlier_runs(Folder(tmp_path), Shingling("main", 2)) as earlier:
        assert thin_out(table, Question(RULE), JoinLimits(), earlier).known == 0
        assert thin_out(table, Question(RULE), JoinLimits(), earlier).known == 0
    assert files(tmp_path) == []


def test_what_marks_do_not_vouch_for_is_compared_each_time(tmp_path: Path) -> None:
    """A column that was added for one run, as a quality is, may have other values in the next."""
    texts = ("one two three", "one two three", "four five six")
    table = Table(("a", "b", "c"), texts, {}).collection(2)
    found = replace(
        table,
        columns={**table.columns, "inlinks": number_column([1, 2, 3])},
        document_ids=np.array([b"a", b"b", b"c"], DOCUMENT_ID),
    )
    by_quality = f"{RULE} and inlinks(d1) < inlinks(d2)"
    with earlier_runs(Folder(tmp_path), Shingling("main", 2)) as earlier:
        for known in (0, 3):
            assert thin_out(found, Question(by_quality), JoinLimits(), earlier).known == 0
            assert thin_out(found, Question(RULE), JoinLimits(), earlier).known == known
        other = replace(found, columns={**table.columns, "inlinks": number_column([2, 1, 3])})
        assert thin_out(other, Question(by_quality), JoinLimits(), earlier).kept == ["a", "c"]
        assert thin_out(other, Question(RULE, prefer="inlinks"), JoinLimits(), earlier).known == 3
    assert len(files(tmp_path)) == 1


def test_of_many_that_fit_the_one_that_knows_most_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of pairs may be half a gigabyte, and there are up to 16 of them."""
    texts = tuple(f"one two three {number}" for number in range(9))
    table = Table(tuple("abcdefghi"), texts, {}).collection(1)
    found = replace(table, document_ids=np.array(list("abcdefghi"), DOCUMENT_ID))
    store = PairFiles(Folder(tmp_path), Shingling("main", 1))
    loaded: list[str] = []
    for rule, count in ((RULE, 5), ("C(d1,d2) >= 0.4", 8), ("C(d1,d2) >= 0.3", 7)):
        part = found.only(np.arange(9) < count)
        relation = type_check(parse_relation(rule), part.columns)
        edges = found_pairs(part, relation, JoinLimits())
        assert part.document_ids is not None
        assert isinstance(edges, Edges)
        store.keep(unparse(relation.condition), (), FoundPairs(part.document_ids, edges))

    def noted(entry: KeptPairs) -> KeptPairs:
        def load() -> FoundPairs | None:
            loaded.append(entry.relation)
            return entry.load()

        return replace(entry, load=load)

    earlier = growth.Earlier(lambda: map(noted, store.entries()), store.keep, Proofs())
    outcome = thin_out(found, Question(RULE), JoinLimits(), earlier)
    assert (outcome.known, loaded[0]) == (8, "C(d1,d2) >= 0.4")
    assert loaded.count("C(d1,d2) >= 0.3") == 0
    assert told(outcome) == told(thin_out(found, Question(RULE), JoinLimits()))


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_pairs_of_a_looser_rule_are_tested_block_by_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    words = [f"w{number}" for number in range(20)]
    texts = tuple(" ".join(words[at : at + 12]) for at in range(8))
    table = Table(tuple("abcdefgh"), texts, {}).collection(1)
    found = replace(table, document_ids=np.array(list("abcdefgh"), DOCUMENT_ID))
    sizes: list[int] = []
    monkeypatch.setattr(growth, "_BLOCK", block)
    monkeypatch.setattr(
        growth,
        "Pairs",
        lambda *given: sizes.append(given[0].size) or Pairs(*given),
    )
    with earlier_runs(Folder(tmp_path), Shingling("main", 1)) as earlier:
        looser = thin_out(found, Question(RULE), JoinLimits(), earlier)
        stricter = thin_out(found, Question("C(d1,d2) >= 0.8"), JoinLimits(), earlier)
    assert stricter.known == 8
    assert told(stricter) == told(thin_out(found, Question("C(d1,d2) >= 0.8"), JoinLimits()))
    assert sum(sizes) == looser.edges
    assert max(sizes) == min(block, looser.edges)


def told(outcome: CoverOutcome) -> tuple[object, ...]:
    return outcome.kept, outcome.dropped, outcome.edges, outcome.optimal, outcome.gap


RULES = [
    "C(d1,d2) >= 0.5 and timestamp(d1) <= timestamp(d2)",
    "C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2) and hostname(d1) = hostname(d2)",
    "J(d1,d2) >= 0.4 or url(d1) = url(d2)",
]
STEPS = [
    [
        ("http://b.example/one", ""),
        ("http://b.example/two", "And so on."),
        ("http://c.example/", "X"),
    ],
    [("http://a.example/one", ""), ("http://b.example/one", "Later it said this as well.")],
    [("http://b.example/mid", "Nothing of it is new.")],
]


def test_an_archive_that_grows_answers_as_one_that_is_compared_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Step by step with all that is kept; after each, beside a copy without any of it."""
    folder = tmp_path / "archive"
    pages = 0
    for step in STEPS:
        for url, more in step:
            add(
                folder,
                url,
                f"{BOATS} {more}" if url[-1] != "/" else more,
                at=START + pages * SECOND,
            )
            pages += 1
        read_all(folder)
        shutil.copytree(folder, tmp_path / "bare", ignore=shutil.ignore_patterns("cover"))
        with OpenArchive.open(tmp_path / "bare") as bare:
            scratch, filtered = (
                collected(bare, where=where) for where in (None, 'text contains "harbour"')
            )
        shutil.rmtree(tmp_path / "bare")
        for rule in (*RULES, *RULES):
            with (
                OpenArchive.open(folder) as archive,
                earlier_runs(archive.folder, Shingling("main", 5)) as earlier,
            ):
                found = collected_or_kept(archive, Shingling())
                assert_equal(found, scratch)
                assert set(found.columns) == earlier.attributes  # type: ignore[comparison-overlap]
                outcome = thin_out(found, Question(rule), JoinLimits(), earlier)
                part = collected_or_kept(archive, Shingling(), where='text contains "harbour"')
                some = thin_out(part, Question(rule, prefer="recency"), JoinLimits(), earlier)
            assert told(outcome) == told(thin_out(scratch, Question(rule), JoinLimits()))
            alone = thin_out(filtered, Question(rule, prefer="recency"), JoinLimits())
            assert told(some) == told(alone)
            assert some.known == len(part), "the whole was compared"
    monkeypatch.setattr(growth, "found_pairs", forbid)
    with (
        OpenArchive.open(folder) as archive,
        earlier_runs(archive.folder, Shingling("main", 5)) as earlier,
    ):
        found = collected_or_kept(archive, Shingling())
        for rule in RULES:
            thin_out(found, Question(rule), JoinLimits(), earlier)
        more = f"{RULES[0]} and length(d1) > 10"
        stricter = thin_out(found, Question(more), JoinLimits(), earlier)
        assert stricter.known == len(found)
    left = {one.relation for one in PairFiles(Folder(folder), Shingling("main", 5)).entries()}
    assert left == {RULES[0], RULES[2]}, "of the looser ones; the second follows from the first"
