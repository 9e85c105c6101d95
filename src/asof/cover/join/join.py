"""The exact join: every pair of documents in which one covers the other as far as a bound says.

Never approximate. If i must have `need` of its |i| shingles in common with j, then of any
|i| - need + 1 shingles of i at least one is in j, too; the rarest are taken, as they are in the
fewest documents (prefix filter). Shingles that only i has use that budget up, so that many
documents need no question at all. For the others, postings say which documents have a shingle, and
how many of the asked ones: the rest of both is compared by a walk along two sorted arrays that ends
as soon as the bound is out of reach.

What the metadata says is used before anything is compared: partitions have ranks of their own;
postings are in the order of positions, so that a window of time is a range of each; documents that
can only cover are not asked about, documents that cannot are not posted. Equal documents are one
(equal_sets.py). Two empty documents are equal, and measure 1; an empty one and another measure 0.

Memory: 4 bytes a shingle for ranks, and less for postings. With a budget (`memory`), ranks lie in a
temporary file, postings are made for one block of covering documents after the other, and with
shingles in a mapped file only what is being worked on has to be in memory.
"""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asof.cover.documents.sets import Counts, Edges, Flags, Sets, spread, stretches
from asof.cover.join import fallback
from asof.cover.join.equal_sets import EqualSets, Window, equal_sets
from asof.cover.join.overlaps import compiled, overlaps
from asof.cover.join.ranking import KeptRanks, Ranked, Ranking, Room, Stretches, ranked
from asof.cover.language.bounds import Bound, Shares
from asof.errors import StorageError, UsageError

Progress = Callable[[str, int, int], None]  # the stage, how much of it is done, of how much
_Triples = Iterator[NDArray[np.int32]]
_Found = tuple[bytes, int, int, int]  # triples; where to go on; postings and candidates looked at

# Postings looked at in one step of a thread. All may be pairs: of 20,000 texts of which each covers
# each, 1 << 26 took 665 MB and 53 CPU s, this 114 MB and 34 (bench/cover_external.py --texts).
_LOOKS = 1 << 22
_STEPS = 64  # steps of a block of postings, at least: for progress, and for threads to share
_POSTINGS = (1 << 32) - 1  # of one block
_COMPARED = 1 << 16  # pairs of sets compared in one step
# Sets of a partition up to which each is compared with each: a shingle takes some 3 ns of a
# comparison, and 60 to 130 ns to be ranked. Scenario C with partitions of 2.3, 9 and 19 documents
# on average: 0.5, 2.8 and 6.4 CPU s, with ranks alone 12, 10.6 and 10.1.
FEW = 24


@dataclass(frozen=True, slots=True)
class JoinLimits:
    """What a join may use, whom it tells, and who may stop it."""

    memory: int | None = None  # in bytes, beside the shingles
    threads: int = os.cpu_count() or 1
    progress: Progress = lambda stage, done, total: None
    cancel: Callable[[], bool] = lambda: False
    plain: bool = compiled is None  # without compiled code
    few: int = FEW  # different documents of a partition that are compared without ranks


UNLIMITED = JoinLimits()


def join(
    sets: Sets,
    bound: Bound,
    limits: JoinLimits = UNLIMITED,
    *,
    partition: Counts | None = None,
    position: Counts | None = None,
    window: Window | None = None,
    d1: Flags | None = None,
    d2: Flags | None = None,
    among: Sets | None = None,
    ranks: KeptRanks | None = None,
) -> Iterator[Edges]:
    """All pairs i != j that meet the bound, each once, in blocks, with their common shingles.

    Only documents of equal `partition` pair (a negative one means none), only i in `d1` with j in
    `d2`, and with a `window` only those with low <= position[j] - position[i] <= high (a position
    of 2**61 or more, in either direction, means that there is none, and pairs with nothing). An
    empty bound gives all pairs of a partition. When `cancel` says so, the blocks end: what came is
    true but not all. `among` has of each set the shingles that a pair asked for can have in common.
    Ranks of all sets that were kept are taken (`ranks`), and kept if they had to be made.
    """
    if window is not None and position is None:
        raise UsageError("A window needs positions.", hint="Give the position of each document.")
    if bound.empty and partition is None:
        raise UsageError(
            "Without a bound on content, every document would pair with every other.",
            hint="Add C, J or D with a threshold, or an equality such as hostname.",
        )
    every, nothing = np.ones(len(sets), np.bool_), np.zeros(len(sets), np.int64)
    where = None if window is None else _fitting(position, nothing)
    grouped = partial(equal_sets, sets, _fitting(partition, nothing), where, plain=limits.plain)
    roles = _fitting(d1, every), _fitting(d2, every)
    few = 0 if partition is None else limits.few
    limits = replace(limits, few=few, plain=limits.plain or compiled is None)
    joined = _Join(sets, *((sets, ranks) if among is None else (among, None)), limits)
    return joined.pairs(bound, grouped, window or (None, None), *roles)


def _fitting(given: NDArray[Any] | None, otherwise: NDArray[Any]) -> NDArray[Any]:
    if given is None or given.shape == otherwise.shape:
        return otherwise if given is None else given
    raise UsageError(
        f"{given.size} values do not describe {otherwise.size} documents.",
        hint="Give one value for each document.",
    )


@dataclass(frozen=True, slots=True)
class _Join:
    """The sets, what they can have `common` with others, and how they are joined."""

    sets: Sets
    common: Sets
    ranks: KeptRanks | None
    limits: JoinLimits

    def pairs(
        self, bound: Bound, grouped: Callable[..., EqualSets], window: Window, *roles: Flags
    ) -> Iterator[Edges]:
        if bound.empty:
            return self._within_parts(grouped(window, *roles, by_content=False))
        covered, covering = roles
        largest = int(self.sets.sizes.max(initial=0))
        shares, other = bound.shares(largest), bound.turned().shares(largest)
        if other.alone <= shares.alone:
            return self._edges(grouped(window, covered & self._enough(shares), covering), shares)
        # C(j, i) asks for more than C(i, j): ask from the side of j, whose prefixes are shorter.
        low, high = window
        back = (None if high is None else -high, None if low is None else -low)
        groups = grouped(back, covering & self._enough(other), covered)
        return (edges.turned() for edges in self._edges(groups, other))

    def _enough(self, shares: Shares) -> Flags:
        """Which sets have as many shingles among the common ones as any that covers them must have.

        Of a hundredth of new documents most others have few, from templates, and need no ranks.
        """
        found: Flags = self.common.sizes >= shares.need_alone(self.sets.sizes)
        return found

    def _within_parts(self, groups: EqualSets) -> Iterator[Edges]:
        """All pairs of each partition, of many partitions at a time.

        One by one, 75,000 documents in 37,500 partitions took 8.2 s; so they take 0.1 s.
        """
        sets, limits = self.sets, self.limits
        every = np.arange(len(groups))
        total = int((groups.covered.lengths * groups.covering.lengths).sum())
        done = 0
        for edges in groups.edges(every, every, np.zeros(every.size, np.int64)):
            if limits.cancel():
                return
            yield Edges(edges.i, edges.j, overlaps(sets, edges.i, edges.j, plain=limits.plain))
            done += len(edges)
            limits.progress("join", done, total)
        limits.progress("join", total, total)  # a document and itself are no pair

    def _edges(self, groups: EqualSets, shares: Shares) -> Iterator[Edges]:
        """Pairs of equal documents, then those of different ones."""
        limits, sizes = self.limits, self.sets.sizes[groups.first]
        if shares.of_equals:
            several = np.flatnonzero((groups.covered.lengths > 0) & (groups.covering.lengths > 0))
            for edges in groups.edges(several, several, sizes[several]):
                if limits.cancel():
                    return
                yield edges
        few = np.bincount(groups.parts)[groups.parts] <= limits.few
        yield from self._compared(groups, np.flatnonzero(few & (sizes > 0)), shares)
        if few.all():
            return
        space = _Space(limits.memory)
        limits.progress("rank", 0, 1)
        index = self._index(groups, few, space)
        limits.progress("rank", 1, 1)
        for found in self._pairs(groups, index, shares, space.room):
            u, v, inter = found.reshape(-1, 3).astype(np.int64).T
            yield from groups.edges(u, v, inter)

    def _index(self, groups: EqualSets, few: Flags, space: _Space) -> Ranked:
        """The ranks of all groups but those that are compared: kept ones, or new ones.

        Ranks that are to be kept are made without partitions, which are stretches of postings all
        the same (EqualSets.reach). That takes no longer (scenario C, 82 partitions: 7.0 CPU s with
        ranks for each, 2.9 with those that were kept), unless most documents need none.
        """
        kept = None if self.ranks is None else self.ranks.load()
        if kept is not None:
            return kept.of(groups.first, ~few, space.room)
        offsets = self.common.offsets
        begins, ends = offsets[groups.first], offsets[groups.first + 1]
        asked = np.where(few, begins, ends)
        covers = groups.covering.lengths > 0
        label = groups.labels(len(self.sets))
        most = 2 * (asked - begins).sum() >= (ends - begins).sum()
        whole = self.ranks is not None and most and covers.all() and (label >= 0).all()
        parts = np.zeros_like(groups.parts) if whole else groups.parts
        mine = Stretches(self.common.items, begins, ends if whole else asked, parts, covers)
        index = ranked(mine, self.limits.threads, space.room, plain=self.limits.plain)
        if self.ranks is None or not whole:
            return index
        begins, ends = index.offsets[label], index.offsets[label + 1]
        kept = Ranking(begins, ends, index.ranks, index.distinct)
        self.ranks.keep(kept)
        return kept.of(groups.first, ~few, space.room) if few.any() else index

    def _compared(self, groups: EqualSets, few: Counts, shares: Shares) -> Iterator[Edges]:
        """Pairs of small partitions: each set is compared with each, without any ranks."""
        if not few.size:
            return
        sets, limits = self.sets, self.limits
        few = few[np.argsort(groups.parts[few], kind="stable")]
        parts = groups.parts[few]
        ends = np.searchsorted(parts, parts, "right")
        after = ends - np.arange(few.size) - 1  # sets of the partition that come after each
        sizes = sets.sizes[groups.first]
        for at, end in stretches(after, _COMPARED):
            if limits.cancel():
                return
            limits.progress("compare", at, few.size)
            place, many = np.arange(at, end), after[at:end]
            a, b = few[np.repeat(place, many)], few[spread(place + 1, many)]
            inter = overlaps(sets, groups.first[a], groups.first[b], plain=limits.plain)
            for u, v in ((a, b), (b, a)):
                enough = inter >= shares.need(sizes[u], sizes[v])
                yield from groups.edges(u[enough], v[enough], inter[enough].astype(np.int64))
        limits.progress("compare", few.size, few.size)

    def _pairs(self, groups: EqualSets, index: Ranked, shares: Shares, room: Room) -> _Triples:
        """Groups, covered and covering, and what they have in common."""
        sizes = self.sets.sizes[groups.first]
        limits, engine = self.limits, fallback if self.limits.plain else compiled
        kept = np.diff(index.offsets)
        # |i| - need + 1 shingles are enough; those that no other document has are asked first.
        prefixes = np.clip(kept - shares.need_alone(sizes) + 1, 0, kept)
        prefixes[(groups.covered.lengths == 0) | (sizes == 0)] = 0
        covers = groups.covering.lengths > 0
        wanted = np.zeros((index.distinct + 7) // 8, np.uint8)
        engine.mark(index.ranks, index.offsets, prefixes, wanted)
        starts = room(index.distinct + 1)
        lows, highs = groups.reach()
        # Postings of a block of sets fit a quarter of the memory; it has one set at least.
        memory = _POSTINGS if limits.memory is None else max(1, limits.memory // 16)
        blocks = list(stretches(kept, min(_POSTINGS, memory)))
        for block, (first, last) in enumerate(blocks):
            some = index.ranks, index.offsets, covers, wanted, starts
            postings = np.empty(0, np.uint32)
            postings = np.empty(engine.post(*some, postings, first, last), np.uint32)
            engine.post(*some, postings, first, last)
            given = index.ranks, index.offsets, sizes, prefixes, lows, highs, starts, postings
            look = partial(engine.probe, *given, shares.numbers())
            for done, found in _stepped(look, _steps(prefixes), limits):
                if limits.cancel():
                    return
                limits.progress("join", block * sizes.size + done, len(blocks) * sizes.size)
                if found.size:
                    yield found


class _Space:
    """Arrays of ranks: in memory as long as they fit three quarters of it, else in files.

    The rest is for postings. Files have no name, and are gone with their arrays.
    """

    def __init__(self, memory: int | None) -> None:
        self.left = None if memory is None else memory * 3 // 4

    def room(self, count: int) -> NDArray[np.uint32]:
        if count == 0 or self.left is None:
            return np.empty(count, np.uint32)
        if 4 * count <= self.left:
            self.left -= 4 * count
            return np.empty(count, np.uint32)
        try:
            with tempfile.TemporaryFile() as scratch:
                # Reserved, for to write a mapped file on a full disk is the end of the process.
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(scratch.fileno(), 0, 4 * count)
                return np.memmap(scratch, np.uint32, "w+", shape=(count,))
        except OSError as error:
            raise StorageError(
                f"No room for {4 * count:,} bytes of ranks: {error.strerror}.",
                hint="Free some space, set TMPDIR to a larger disk, or raise --memory.",
            ) from error


def _steps(prefixes: Counts) -> list[tuple[int, int]]:
    asked = np.cumsum(prefixes)
    cuts = np.searchsorted(asked, np.linspace(0, asked[-1] if asked.size else 0, _STEPS + 1)[1:-1])
    bounds = np.unique(np.concatenate([[0], cuts, [prefixes.size]])).tolist()
    return list(pairwise(bounds))


def _stepped(
    look: Callable[..., _Found], steps: list[tuple[int, int]], limits: JoinLimits
) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """What every step finds, in their order, by threads that are a few steps ahead.

    A step that has looked at enough comes back unfinished, and is gone on with at once: so one that
    finds very much does not fill the memory, and whoever wants to stop is heard.
    """
    waiting: deque[tuple[tuple[int, int], Future[_Found]]] = deque()
    left = deque(steps)
    with ThreadPoolExecutor(limits.threads) as pool:
        try:
            while left or waiting:
                while left and len(waiting) < 2 * limits.threads:
                    step = left.popleft()
                    waiting.append((step, pool.submit(look, *step, _LOOKS)))
                step, future = waiting.popleft()
                found, at, _, _ = future.result()
                if at < step[1]:
                    rest = at, step[1]
                    waiting.appendleft((rest, pool.submit(look, *rest, _LOOKS)))
                yield at, np.frombuffer(found, np.int32)
        finally:
            pool.shutdown(cancel_futures=True)
