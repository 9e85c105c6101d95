"""Ranks of shingles that are kept between runs: in a file, and for whom they serve."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from asof.archive.folder import Folder
from asof.cover.documents.document_ids import DOCUMENT_ID, Shingling
from asof.cover.join.join import UNLIMITED, JoinLimits, join
from asof.cover.join.ranking import KeptRanks, Ranking
from asof.cover.kept import rank_cache
from asof.cover.kept.rank_cache import RankFile
from support.covered import containment, sets_of

IDS = np.array([b"a", b"b", b"c", b"d"], DOCUMENT_ID)


def forbid(*given: object) -> NoReturn:
    raise AssertionError("they are made again")


def some_ranks() -> Ranking:
    begins, ends = np.array([0, 2, 2, 5]), np.array([2, 5, 5, 9])
    return Ranking(begins, ends, np.arange(9, dtype=np.uint32), 9)


def test_ranks_serve_any_of_their_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rank_cache, "LEAST", 1)
    store = RankFile(Folder(tmp_path), Shingling("main", 5))
    document_ids = IDS
    assert store.load(document_ids) is None
    store.keep(document_ids, some_ranks())
    found = store.load(document_ids[[3, 1]])
    assert found is not None
    some, wanted = np.array([1, 0, 0]), np.array([True, False, True])
    index = found.of(some, wanted, lambda size: np.empty(size, np.uint32))
    assert index.ranks.tolist() == [2, 3, 4, 5, 6, 7, 8]
    assert (index.offsets.tolist(), index.distinct) == ([0, 3, 3, 7], 9)
    assert store.load(np.append(IDS, b"new")) is None, "one is new"
    assert RankFile(Folder(tmp_path), Shingling("main", 4)).load(document_ids) is None
    monkeypatch.setattr(rank_cache, "LEAST", 10)
    RankFile(Folder(tmp_path), Shingling("full", 5)).keep(document_ids, some_ranks())
    assert RankFile(Folder(tmp_path), Shingling("full", 5)).load(document_ids) is None, (
        "too few to be kept"
    )


@pytest.mark.parametrize("damage", ["cut", "empty", "ways", "bounds", "turned", "distinct", "bit"])
def test_damaged_ranks_are_not_there(
    tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rank_cache, "LEAST", 1)
    store = RankFile(Folder(tmp_path), Shingling("main", 5))
    document_ids, ranks = IDS, some_ranks()
    changed = {
        "bounds": replace(ranks, ends=ranks.ends + 1),
        "turned": replace(ranks, begins=ranks.ends, ends=ranks.begins),
        "distinct": replace(ranks, distinct=3),
    }
    store.keep(document_ids, changed.get(damage, ranks))
    path = tmp_path / "derived" / "cover" / "ranks-main-5.npy"
    content = path.read_bytes()
    if damage == "ways":
        path.write_bytes(content.replace(b'"main"', b'"mein"'))
    elif damage == "bit":
        at = content.rindex(b"\x93NUMPY") - 4
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    elif damage not in changed:
        path.write_bytes(content[:-4] if damage == "cut" else b"")
    assert store.load(document_ids) is None


class OneRanking:
    """A store of one ranking."""

    def __init__(self) -> None:
        self.made: list[Ranking] = []

    def load(self) -> Ranking | None:
        return self.made[0] if self.made else None


def all_pairs(
    store: OneRanking | None = None, limits: JoinLimits = UNLIMITED, **options: Any
) -> list[tuple[int, ...]]:
    """Of 80 documents, each of which is there twice."""
    chance = np.random.default_rng(6)
    sets = sets_of([set(chance.integers(0, 60, 30).tolist()) for _ in range(40)] * 2)
    ranks = None if store is None else KeptRanks(store.load, store.made.append)
    found = join(sets, containment("0.5"), limits, ranks=ranks, **options)
    rows = [zip(e.i.tolist(), e.j.tolist(), e.inter.tolist(), strict=True) for e in found]
    return sorted(row for block in rows for row in block)


def test_ranks_that_were_kept_are_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    store = OneRanking()
    some = np.arange(80) % 3 > 0
    position = np.arange(80)[::-1].copy()
    all_pairs(store, d1=some, d2=some)
    assert not store.made, "not of all documents"
    first = all_pairs(store)
    assert len(store.made) == 1
    monkeypatch.setattr("asof.cover.join.join.ranked", forbid)
    assert all_pairs(store) == first
    assert all_pairs(store, JoinLimits(memory=1)) == first
    later = [(i, j, x) for i, j, x in first if some[i] and some[j] and position[j] >= position[i]]
    assert all_pairs(store, d1=some, d2=some, position=position, window=(0, None)) == later


PARTITIONS = {
    "two": np.arange(80) % 2,
    "one and many": np.where(np.arange(80) < 60, 0, np.arange(80)),
    "many": np.arange(80) % 40,
    "some in none": np.arange(80) % 3 - 1,
}


@pytest.mark.parametrize("name", PARTITIONS)
@pytest.mark.parametrize("few", [0, 14, 24])
def test_kept_ranks_serve_partitions(name: str, few: int) -> None:
    """Those that were made without one, and those that a rule with one has left behind."""
    part, position = PARTITIONS[name], np.arange(80)[::-1].copy()
    options: dict[str, Any] = {"position": position, "window": (-40, 9)}
    whole = OneRanking()
    pairs = all_pairs(whole, **options)
    wanted = [(i, j, x) for i, j, x in pairs if part[i] == part[j] >= 0]
    assert all_pairs(whole, JoinLimits(few=few), partition=part, **options) == wanted
    own = OneRanking()
    assert all_pairs(own, JoinLimits(few=few), partition=part, **options) == wanted
    assert all_pairs(own, JoinLimits(few=few), partition=part, **options) == wanted
    assert all_pairs(own, **options) == pairs
    assert len(own.made) == 1
