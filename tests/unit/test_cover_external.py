"""Pairs beyond memory: what is written, what is told, what happens when the disk is full."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from asof.cover.documents.sets import Edges
from asof.cover.join.join import JoinLimits
from asof.cover.join.pair_spool import PairSpool, gathered
from asof.cover.solve.external import solve_external
from asof.cover.solve.solve import solve
from asof.errors import StorageError, UsageError
from support.no_room import no_room_beyond


def complete(n: int, *, later: bool = False) -> tuple[np.ndarray, np.ndarray]:
    i, j = np.nonzero(np.triu(np.ones((n, n), bool)) if later else np.ones((n, n), bool))
    mixed = np.random.default_rng(5).permutation(i.size)
    return i[mixed].astype(np.int32), j[mixed].astype(np.int32)


def edges(i: np.ndarray, j: np.ndarray) -> Edges:
    return Edges(i.astype(np.int32), j.astype(np.int32), np.zeros(i.size, np.int32))


def told(n: int, i: np.ndarray, j: np.ndarray, room: int) -> tuple[int, int, dict[str, int]]:
    """Documents kept, pairs, and how much of each stage there was to do."""
    stages: dict[str, int] = {}
    with PairSpool(n, room=room) as spool:
        spool.add(i, j)
        limits = JoinLimits(progress=lambda stage, done, total: stages.update({stage: total}))
        found = solve_external(spool, limits=limits)
    assert found.cover.optimal
    return int(found.cover.kept.sum()), found.pairs, stages


def test_nothing_is_written_while_there_is_room() -> None:
    i, j = complete(100)
    with PairSpool(100) as spool:
        spool.add(i, j)
        assert sum(int(block.lengths().sum()) for block in spool.blocks()) == 10_000
        assert spool.written == 0


def test_a_pair_takes_four_bytes_of_disk() -> None:
    i, j = complete(600)
    with PairSpool(600, room=1 << 16) as spool:
        spool.add(i, j)
        assert 4 * i.size - (1 << 16) <= spool.written <= 4 * i.size


def test_a_pair_of_very_many_documents_takes_eight() -> None:
    n = 5_000_000
    i = np.array([0, n - 1, 17, n - 1, 17], np.int32)
    j = np.array([n - 1, 0, 4_999_998, 0, 3], np.int32)
    with PairSpool(n, room=1 << 20) as spool:
        spool.add(i, j)
        assert spool._kind.itemsize == 8
        rows = {
            block.first + at: block.row(at).tolist()
            for block in spool.blocks()
            for at in np.flatnonzero(block.lengths()).tolist()
        }
    assert rows == {0: [n - 1], 17: [3, 4_999_998], n - 1: [0]}


def test_a_few_long_rows_among_short_ones_take_no_more_than_the_room() -> None:
    """Neither as a table, which the short ones make large, nor as keys, which the long ones do."""
    n, room = 1 << 18, 1 << 20
    with PairSpool(n, room=room) as spool:
        for row in (5, 70, 150, 220):
            spool.add(np.full(n // 4, row), np.arange(n // 4))
        blocks = [block for block in spool.blocks() if block.first < 256]
    assert sum(block.height for block in blocks) == 256
    assert sum(int(block.lengths().sum()) for block in blocks) == n
    for block in blocks:
        size = 0 if block.table is None else block.table.nbytes
        size += 0 if block.keys is None else 4 * block.keys.nbytes  # with what sorting takes
        assert size <= room // 4 or block.height == 1


def test_a_full_disk_is_told_with_what_to_do() -> None:
    i, j = complete(600)
    with (
        PairSpool(600, room=1 << 16) as spool,
        no_room_beyond(1 << 17),
        pytest.raises(StorageError, match=r"do not fit the disk after 131,072 bytes.*TMPDIR"),
    ):
        spool.add(i, j)


def test_a_full_disk_while_rows_are_left_out_gives_all_back() -> None:
    """The first turn writes a second file; that it cannot leaves no file open."""
    rng = np.random.default_rng(3)
    i, j = rng.integers(0, 400, (2, 60_000))
    with PairSpool(400, room=1 << 16) as spool:
        spool.add(i, j)
        with no_room_beyond(1 << 17), pytest.raises(StorageError, match="do not fit"):
            solve_external(spool)


@pytest.mark.parametrize("later", [False, True])
def test_a_complete_graph_comes_down_to_hardly_a_row(later: bool) -> None:
    """One row for each block of rows at most: what is left needs a turn at most."""
    i, j = complete(700, later=later)
    kept, pairs, stages = told(700, i, j, 1 << 18)
    assert kept == 1
    assert pairs == i.size - 700
    assert "turn 2" not in stages


def test_cliques_of_all_sizes_come_down_to_a_row_each() -> None:
    group = np.sort((np.random.default_rng(2).random(600) ** 3 * 12).astype(int))
    i, j = np.nonzero(group[:, None] == group[None, :])
    kept, _, stages = told(600, i, j, 1 << 18)
    assert kept == np.unique(group).size
    assert stages["cover"] <= 2 * kept


@pytest.mark.parametrize("back", [0, 40])
def test_windows_of_time_go_by_turns(back: int) -> None:
    """No row lies inside another one here, until columns are left out as well."""
    times = np.random.default_rng(4).permutation(600)
    span = times[None, :] - times[:, None]
    i, j = np.nonzero((span >= -back) & (span <= 40))
    kept, _, stages = told(600, i, j, 1 << 18)
    assert kept == int(solve(600, i, j).kept.sum())
    assert "turn 2" in stages


def test_large_problems_are_solved_component_by_component() -> None:
    """Random components that no rule makes smaller, more than fit together."""
    rng = np.random.default_rng(8)
    i, j = rng.integers(0, 8, (2, 600)) + 8 * rng.integers(0, 30, 600)
    with PairSpool(240, room=1 << 14) as spool:
        spool.add(i, j)
        cover = solve_external(spool, memory=60 * 256).cover
    best = solve(240, i, j)
    assert cover.optimal
    kept = [np.bincount(one.components.part[one.kept]).tolist() for one in (cover, best)]
    assert kept[0] == kept[1]


def test_one_component_beyond_memory_is_covered_and_its_gap_is_said() -> None:
    rng = np.random.default_rng(9)
    i, j = rng.integers(0, 90, (2, 450))
    with PairSpool(90, room=1 << 14) as spool:
        spool.add(i, j)
        cover = solve_external(spool, memory=1 << 13).cover
    best = int(solve(90, i, j).kept.sum())
    assert not cover.optimal
    assert cover.kept.sum() - cover.gap <= best <= cover.kept.sum()
    assert cover.kept.sum() < 1.3 * best


def test_two_documents_of_a_dense_problem_are_proven_without_solving() -> None:
    """Whoever is covered by all of other hosts: no rule takes away anything, and two will do."""
    host = np.arange(200) % 5
    i, j = np.nonzero(host[:, None] != host[None, :])
    with PairSpool(200, room=1 << 16) as spool:
        spool.add(i, j)
        cover = solve_external(spool, memory=1 << 16).cover
    assert (int(cover.kept.sum()), cover.gap, cover.optimal) == (2, 0, True)


def test_few_pairs_stay_in_memory_and_many_are_spooled() -> None:
    i, j = complete(40)
    blocks = [edges(i[at : at + 100], j[at : at + 100]) for at in range(0, i.size, 100)]
    few = gathered(40, blocks, most=i.size)
    assert isinstance(few, list)
    assert [block.i.size for block in few] == [100] * 16
    many = gathered(40, blocks, most=i.size - 1, room=1 << 12)
    assert isinstance(many, PairSpool)
    with many:
        assert many.added == i.size
        assert solve_external(many).pairs == i.size - 40


def test_nobody_is_left_with_a_spool_of_a_join_that_failed() -> None:
    i, j = complete(40)
    spools: list[PairSpool] = []

    def failing() -> Iterator[Edges]:
        yield edges(i, j)
        raise UsageError("the join failed")

    close = PairSpool.close

    def watched(spool: PairSpool) -> None:
        spools.append(spool)
        close(spool)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PairSpool, "close", watched)
        with pytest.raises(UsageError):
            gathered(40, failing(), most=10)
    assert len(spools) == 1


def test_no_documents() -> None:
    with PairSpool(0) as spool:
        found = solve_external(spool)
    assert (found.pairs, found.cover.components.count, found.cover.optimal) == (0, 0, True)


def test_qualities_are_checked() -> None:
    with PairSpool(2) as spool, pytest.raises(UsageError, match="for each of the 2"):
        solve_external(spool, quality=[1.0])
