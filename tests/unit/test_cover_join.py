"""The exact join: what pairs, what does not, and what it does at the edges of its inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asof.cover.documents.sets import Edges, Sets
from asof.cover.join import equal_sets as grouping
from asof.cover.join import fallback, ranking
from asof.cover.join import join as joining
from asof.cover.join import overlaps as verify
from asof.cover.join.join import JoinLimits, join
from asof.cover.join.overlaps import overlaps
from asof.cover.language.bounds import LARGEST_SET, Bound, Least
from asof.errors import StorageError, UsageError
from support.covered import containment, sets_of
from support.no_room import no_room_beyond

HALF = containment("0.5")


def found(blocks: Iterator[Any] | list[Edges]) -> dict[tuple[int, int], int]:
    """Edges by pair; a pair that comes twice is an error."""
    pairs: dict[tuple[int, int], int] = {}
    for block in blocks:
        for i, j, inter in zip(
            block.i.tolist(), block.j.tolist(), block.inter.tolist(), strict=True
        ):
            assert (i, j) not in pairs
            pairs[i, j] = inter
    return pairs


@pytest.fixture(params=["compiled", "plain"])
def limits(request: pytest.FixtureRequest) -> JoinLimits:
    if request.param == "compiled":
        assert ranking.compiled is not None, "the extension is not built"  # type: ignore[attr-defined]
    return JoinLimits(plain=request.param == "plain")


def numbers(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_containment_has_a_direction(limits: JoinLimits) -> None:
    """A page that took another in covers it, and is not covered by it."""
    sets = sets_of([range(10), range(40)])
    assert found(join(sets, containment("0.7"), limits)) == {(0, 1): 10}


def test_a_threshold_is_exact(limits: JoinLimits) -> None:
    """Seven of ten is 0.7, which a float is not; and is not above 0.7."""
    sets = sets_of([range(10), range(3, 100)])
    assert found(join(sets, containment("0.7"), limits)) == {(0, 1): 7}
    assert found(join(sets, containment("0.7", strict=True), limits=limits)) == {}
    long = "0.70000000000000000000000000000000000001"
    assert found(join(sets, containment(long), limits)) == {}


@pytest.mark.parametrize(
    ("bound", "pairs"),
    [
        (
            Bound(contained=Least(Fraction(1, 2))),
            {(0, 1): 2, (1, 0): 2, (1, 2): 2, (0, 2): 4, (2, 0): 4},
        ),
        (
            Bound(containing=Least(Fraction(1, 2))),
            {(0, 1): 2, (1, 0): 2, (2, 0): 4, (2, 1): 2, (0, 2): 4},
        ),
        (Bound(jaccard=Least(Fraction(1, 3))), {(0, 1): 2, (1, 0): 2, (0, 2): 4, (2, 0): 4}),
        (Bound(dice=Least(Fraction(2, 3))), {(0, 2): 4, (2, 0): 4}),
        (Bound(dice=Least(Fraction(2, 3), strict=True)), {}),
    ],
)
def test_measures(bound: Bound, pairs: dict[tuple[int, int], int], limits: JoinLimits) -> None:
    """Each measure at the value that a pair has: 2 of 4 and 4; 4 of 4 and 8, 2 of 4 and 8."""
    sets = sets_of([range(4), [2, 3, 8, 9], [0, 1, 2, 3, 20, 21, 22, 23]])
    assert found(join(sets, bound, limits)) == pairs


def test_empty_documents_pair_with_each_other_only(limits: JoinLimits) -> None:
    sets = sets_of([[], [1, 2], [], [1, 2]])
    pairs = {(0, 2): 0, (2, 0): 0, (1, 3): 2, (3, 1): 2}
    for bound in (HALF, Bound(jaccard=Least(Fraction(1))), Bound(dice=Least(Fraction(1, 9)))):
        assert found(join(sets, bound, limits)) == pairs
    assert found(join(sets, containment(1, strict=True), limits=limits)) == {}


def test_no_documents(limits: JoinLimits) -> None:
    assert found(join(sets_of([]), HALF, limits)) == {}
    assert found(join(sets_of([[]]), HALF, limits)) == {}


def test_copies_pair_with_each_other_and_with_all_that_cover_them(limits: JoinLimits) -> None:
    sets = sets_of([[1, 2], [1, 2], [1, 2, 3], [1, 2]])
    pairs = found(join(sets, containment(1), limits))
    copies = [0, 1, 3]
    assert pairs == {(i, j): 2 for i in copies for j in range(4) if i != j}


def test_more_copies_than_a_block_holds(
    monkeypatch: pytest.MonkeyPatch, limits: JoinLimits
) -> None:
    """A pair of groups whose edges are many comes in blocks of bounded size, and whole."""
    monkeypatch.setattr(grouping, "PAIRS", 7)
    sets = sets_of([[1, 2]] * 12 + [[1, 2, 3]] * 5)
    blocks = list(join(sets, containment(1), limits))
    assert max(map(len, blocks)) <= 12
    assert len(found(blocks)) == 12 * 11 + 5 * 4 + 12 * 5


def test_partitions(limits: JoinLimits) -> None:
    """Only equal codes pair; a missing one, -1, pairs with nothing."""
    sets = sets_of([[1, 2]] * 3 + [[1, 2, 3]] * 3)
    parts = numbers(0, 1, -1, 0, 1, -1)
    pairs = found(join(sets, containment(1), partition=parts, limits=limits))
    assert set(pairs) == {(0, 3), (1, 4)}


def test_windows(limits: JoinLimits) -> None:
    """The span from the covered to the covering document has to lie within, ends included."""
    sets = sets_of([[1, 2], [1, 2], [1, 2, 3]])
    when = numbers(5, 0, 7)

    def pairs(*window: Any) -> set[tuple[int, int]]:
        return set(found(join(sets, HALF, position=when, window=window, limits=limits)))

    assert pairs(0, None) == {(1, 0), (0, 2), (1, 2)}
    assert pairs(None, 0) == {(0, 1), (2, 0), (2, 1)}
    assert pairs(2, 5) == {(1, 0), (0, 2)}
    assert pairs(3, 2) == set()
    assert len(pairs(None, None)) == 6


def test_positions_far_away_and_missing(limits: JoinLimits) -> None:
    """No span overflows; what has no position pairs with nothing as soon as one is asked for."""
    sets = sets_of([[1, 2]] * 4)
    far, least = 2**61 - 1, np.iinfo(np.int64).min
    when = numbers(-far, far, least, 2**61)

    def pairs(*window: Any) -> set[tuple[int, int]]:
        return set(found(join(sets, HALF, position=when, window=window, limits=limits)))

    assert pairs(0, None) == {(0, 1)}
    assert pairs(None, None) == {(0, 1), (1, 0)}
    assert pairs(-(10**30), 10**30) == {(0, 1), (1, 0)}
    assert pairs(10**30, None) == set()


def test_sides(limits: JoinLimits) -> None:
    sets = sets_of([[1, 2]] * 4)
    d1, d2 = np.array([1, 1, 0, 0], np.bool_), np.array([0, 1, 1, 0], np.bool_)
    pairs = found(join(sets, HALF, d1=d1, d2=d2, limits=limits))
    assert set(pairs) == {(0, 1), (0, 2), (1, 2)}


def test_without_a_bound_all_pairs_of_a_partition(limits: JoinLimits) -> None:
    sets = sets_of([[1, 2], [2, 3], [5], [2]])
    pairs = found(join(sets, Bound(), partition=numbers(0, 0, 1, 0), limits=limits))
    assert pairs == {(0, 1): 1, (1, 0): 1, (0, 3): 1, (3, 0): 1, (1, 3): 1, (3, 1): 1}
    with pytest.raises(UsageError, match="every document would pair"):
        join(sets, Bound())


def test_no_room_for_ranks_is_told() -> None:
    sets = sets_of([range(n, n + 50) for n in range(0, 4000, 3)])
    with no_room_beyond(1000), pytest.raises(StorageError, match=r"No room .* Free some space"):
        list(join(sets, HALF, JoinLimits(memory=1000)))


def test_a_budget_of_memory_changes_nothing(limits: JoinLimits) -> None:
    """Ranks in a file, and postings of a few documents at a time."""
    rng = np.random.default_rng(1)
    base = rng.integers(0, 500, (40, 60))
    sets = sets_of([*base, *base[:, 10:], *base[:, 30:]])
    whole = found(join(sets, HALF, limits))
    assert len(whole) > 100
    assert found(join(sets, HALF, replace(limits, memory=1000))) == whole


def test_shingles_in_a_mapped_file(tmp_path: Path) -> None:
    sets = sets_of([range(30), range(5, 30), range(90, 99)])
    sets.items.tofile(tmp_path / "items")
    mapped = Sets(sets.offsets, np.memmap(tmp_path / "items", np.uint64, "r"))
    assert found(join(mapped, HALF)) == {(0, 1): 25, (1, 0): 25}


def test_ranges_of_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many ranges and threads rank as one range does, however the values lie."""
    monkeypatch.setattr(ranking, "_RANGE", 50)
    rng = np.random.default_rng(2)
    for spread in (1, 1 << 50):
        drawn = rng.integers(0, 400, (60, 40)).astype(np.uint64) * np.uint64(spread)
        sets = sets_of([*drawn, *drawn[:, :30], [2**64 - 1, 0], [2**64 - 1]])
        begins, ends = sets.offsets[:-1].copy(), sets.offsets[1:].copy()
        given = ranking.Stretches(
            sets.items,
            begins,
            ends,
            np.zeros(len(sets), np.uint32),
            np.ones(len(sets), np.bool_),
        )
        assert ranking._limits(given).size > 5
        one = ranking.ranked(given, 3, lambda count: np.empty(count, np.uint32))
        other = ranking.ranked(given, 1, lambda count: np.empty(count, np.uint32), plain=True)
        assert one.distinct == other.distinct
        assert one.offsets.tolist() == other.offsets.tolist()
        uses = np.bincount(one.ranks)
        assert uses.tolist() == sorted(uses.tolist()), "the rarest come first"
        assert uses.tolist() == np.bincount(other.ranks).tolist()


def test_progress_and_cancel(limits: JoinLimits) -> None:
    sets = sets_of([list(range(at, at + 20)) for at in range(200)])
    told: list[tuple[str, int, int]] = []
    whole = list(join(sets, HALF, replace(limits, progress=lambda *news: told.append(news))))
    assert told[0] == ("rank", 0, 1)
    assert told[-1][0] == "join"
    assert told[-1][1] == told[-1][2]
    assert sum(map(len, whole)) > 1000
    assert list(join(sets, HALF, replace(limits, cancel=lambda: True))) == []


def test_a_step_that_looks_at_much_comes_back_before_its_end(
    monkeypatch: pytest.MonkeyPatch, limits: JoinLimits
) -> None:
    sets = sets_of([list(range(at, at + 20)) for at in range(100)])
    whole = found(join(sets, HALF, limits))
    monkeypatch.setattr(joining, "_LOOKS", 10)
    monkeypatch.setattr(joining, "_STEPS", 2)
    assert found(join(sets, HALF, limits)) == whole


def test_sums_that_are_equal_by_chance(monkeypatch: pytest.MonkeyPatch, limits: JoinLimits) -> None:
    """Sets are only taken for equal when they are."""
    monkeypatch.setattr(fallback, "digests", lambda items, offsets: bytes(16 * (offsets.size - 1)))
    monkeypatch.setattr(grouping, "compiled", None)
    sets = sets_of([[1, 2], [3, 4], [1, 2], [3, 4]])
    assert set(found(join(sets, HALF, limits))) == {(0, 2), (2, 0), (1, 3), (3, 1)}


def test_overlaps(limits: JoinLimits) -> None:
    sets = sets_of([[1, 2, 3], [], [2, 3, 4, 2**64 - 1]])
    i, j = numbers(0, 0, 2, 1), numbers(2, 1, 2, 1)
    assert overlaps(sets, i, j, plain=limits.plain).tolist() == [2, 0, 4, 0]


def test_arrays_that_do_not_fit() -> None:
    sets = sets_of([[1], [2]])
    with pytest.raises(UsageError, match="3 values do not describe 2 documents"):
        join(sets, HALF, partition=numbers(1, 2, 3))
    with pytest.raises(UsageError, match="needs positions"):
        join(sets, HALF, window=(0, None))
    for offsets in (numbers(0, 3), numbers(1, 2), numbers(0, 2, 1, 2), numbers()):
        with pytest.raises(UsageError, match="do not fit"):
            Sets(offsets, np.zeros(2, np.uint64))
    with pytest.raises(UsageError, match="too large"):
        HALF.shares(LARGEST_SET + 1)


def test_compiled_code_refuses_what_does_not_fit() -> None:
    """Nothing is read beyond an array, whatever is given."""
    items, offsets = np.arange(4, dtype=np.uint64), numbers(0, 2, 4)
    ranks = np.arange(4, dtype=np.uint32)
    c = verify.compiled
    bits, yes = np.zeros(1, np.uint8), np.ones(2, np.bool_)
    bad = numbers(0, 9)
    starts, room = np.zeros(3, np.uint32), np.zeros(9, np.uint64)
    for call in (
        lambda: c.digests(items, bad),
        lambda: c.overlaps(items, offsets, numbers(-1), numbers(0)),
        lambda: c.overlaps(items, offsets, numbers(0), numbers(2)),
        lambda: c.overlaps(items, bad, numbers(0), numbers(0)),
        lambda: c.number(items, bad, numbers(0, 0), bad, ranks.copy(), ranks[:2], yes, room, 9),
        lambda: c.relabel(items, offsets[1:], numbers(0, 2), numbers(9, 9), ranks.copy(), ranks, 9),
        lambda: c.arrange(ranks.copy(), offsets, numbers(0, 0), 0, 3),
        lambda: c.pack(ranks.copy(), offsets, numbers(3, 0)),
        lambda: c.mark(np.full(4, 99, np.uint32), offsets, numbers(1, 1), bits),
        lambda: c.post(
            ranks, offsets, yes, np.full(1, 255, np.uint8), starts, ranks[:0].copy(), 0, 2
        ),
        lambda: c.post(
            ranks[:2].repeat(2),
            offsets,
            yes,
            np.full(1, 3, np.uint8),
            starts,
            ranks[:1].copy(),
            0,
            2,
        ),
        lambda: c.digests(np.zeros(3, np.uint8), offsets),
    ):
        with pytest.raises(ValueError, match="array"):
            call()


def test_edges_turn() -> None:
    edges = Edges(*(np.array([value], np.int32) for value in (1, 2, 3)))
    assert (edges.turned().i[0], edges.turned().j[0], len(edges)) == (2, 1, 1)
