"""Smallest covers of more pairs than memory holds (lax rules: see pair_spool.py).

The pairs stream by some times. The first time, dispensable rows are left out (dominance.py): a set
of documents that all cover each other comes down to one row, and so does one in which each is
covered by all that are younger. If what is left fits, it is solved as ever (solve.py); else columns
and rows are left out by turns until it does. Components are known by then, and solved in groups
that fit. One that no rule makes small enough is covered greedily (streaming_greedy.py), with its
gap. The last time, each dropped document gets the kept one of lowest id that covers it.

Two spools are open at a time beside the first, so that disk is at most three times what that one
takes (where nothing is dispensable at once), and memory some two and a half times a spool's room.

The number of documents kept, their quality, components, gap and proof are those of `solve`, and so
are the documents wherever one alone covers its component, or only one set is best. Of several sets
that are equally good another one may be kept.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from time import monotonic

import numpy as np
from numpy.typing import ArrayLike

from asof.cover.documents.sets import Counts, Flags
from asof.cover.join.graph import CoverageGraph, Ids, components, in_order, numbered
from asof.cover.join.join import UNLIMITED, JoinLimits, Progress
from asof.cover.join.pair_spool import PairSpool, Rows
from asof.cover.question import TIME_LIMIT
from asof.cover.solve.dominance import Kind, Sieve
from asof.cover.solve.proofs import Proofs
from asof.cover.solve.requirements import Cover, PartialCover, meet
from asof.cover.solve.solve import Budget, best, checked_minimum, smallest, whole_steps
from asof.cover.solve.streaming_greedy import Left, greedily, row_by_row

# Bytes that solving takes for an entry of the problem: about 180 where rows overlap without end, as
# in bench/cover_external.py --shape drift, and less elsewhere.
_ENTRY = 256
# Turns go on for more entries than this as long as each halves them: of drift's million, solving
# took 13 s, and two turns more before that 0.1 s.
_HALVED = 1 << 16
# A turn that leaves out less than this share is followed by one more, and then by none.
_WORTH = 0.01


@dataclass(frozen=True, slots=True)
class ExternalCover:
    """The cover, and how many different pairs of different documents there were."""

    cover: Cover
    pairs: int


def solve_external(
    spool: PairSpool,
    *,
    quality: ArrayLike | None = None,
    at_least: tuple[int, ArrayLike] | None = None,
    time_limit: float = TIME_LIMIT,
    limits: JoinLimits = UNLIMITED,
    proofs: Proofs | None = None,
    memory: int | None = None,
) -> ExternalCover:
    """A smallest set that covers the documents of a spool of pairs (i, j): j covers i.

    Everything else is as `solve` has it. `memory` is in bytes, for solving what is left: four times
    the spool's room unless it is given.
    """
    n = spool.height
    most = (4 * spool.room if memory is None else memory) // _ENTRY
    worth, minimum = whole_steps(quality, n), checked_minimum(at_least, n)
    own = np.arange(n, dtype=np.int32)
    spool.add(own, own)
    seen, every = _FirstPass(n), Left(spool, "rows", own, own, 0)
    left = _turned(every, Sieve("rows", np.zeros(n, np.int64), spool.room), "rows", limits, seen)
    state = PartialCover.bare(*numbered(seen.label))
    budget = Budget(monotonic() + time_limit, limits.cancel, Proofs() if proofs is None else proofs)
    try:
        if left is not None:
            left = _shrunk(left, worth, minimum is None, most, limits)
        if left is None:  # somebody wants to stop
            row_by_row(spool, state)
            state = state if minimum is None else state.topped_up(minimum, worth)
        else:
            state = _solved(left, state, worth, minimum, budget, most, limits.progress)
    finally:
        if left is not None:
            left.spool.close()
    by = _covered_by(spool, state.kept, limits.progress)
    return ExternalCover(state.finished(by), seen.entries - n)


class _FirstPass:
    """What the first sight of all rows tells: components, and how many pairs there are."""

    def __init__(self, n: int) -> None:
        self.label = np.arange(n, dtype=np.int32)
        self.entries = 0
        self._whole = n <= 1

    def see(self, block: Rows) -> None:
        self.entries += int(block.lengths().sum())
        if self._whole:
            return
        for rows, cols in block.slices():
            one, other = self.label[rows + block.first], self.label[cols]
            apart = one != other
            if apart.any():
                found = components(self.label.size, one[apart], other[apart])
                self.label = found[self.label]
        self._whole = not self.label.any()


def _turned(
    left: Left, sieve: Sieve | None, stage: str, limits: JoinLimits, seen: _FirstPass | None = None
) -> Left | None:
    """The lists that stay, by their items: rows become columns, and columns rows.

    None if cancelled; whatever `seen` is to see, it has seen then, too.
    """
    ids: list[Ids] = []
    stopped = False
    with ExitStack() as unfinished:
        turned = PairSpool(left.item_ids.size, left.list_ids.size, room=left.spool.room)
        unfinished.enter_context(turned)
        for block in left.spool.blocks(left.item_ids.size):
            if seen is not None:
                seen.see(block)
            stopped = stopped or limits.cancel()
            if stopped:
                if seen is None:
                    break
                continue
            gone = block.lengths() == 0 if sieve is None else sieve.gone(block)
            number = sum(mine.size for mine in ids) + np.cumsum(~gone) - 1
            for lists, items in block.slices(~gone):
                turned.add(items, number[lists])
            ids.append(left.list_ids[block.first : block.first + block.height][~gone])
            limits.progress(stage, block.first + block.height, left.list_ids.size)
        if stopped:
            return None
        unfinished.pop_all()
    kind: Kind = "columns" if left.kind == "rows" else "rows"
    found = np.concatenate([np.empty(0, np.int32), *ids])
    return Left(turned, kind, left.item_ids, found, turned.added)


def _shrunk(left: Left, worth: Counts, columns: bool, most: int, limits: JoinLimits) -> Left | None:
    """Leaves columns and rows out by turns until the entries are few enough, or nothing helps."""
    idle = turn = 0
    halved = False
    while (left.entries > most and idle < 2) or (left.entries > _HALVED and halved):
        turn += 1
        sieve = None
        if left.kind == "rows":
            sieve = Sieve("rows", np.zeros(left.list_ids.size, np.int64), left.spool.room)
        elif columns:
            sieve = Sieve("columns", worth[left.list_ids], left.spool.room)
        with left.spool:
            found = _turned(left, sieve, f"turn {turn}", limits)
        if found is None:
            return None
        idle = 0 if found.entries < (1 - _WORTH) * left.entries else idle + 1
        halved = 2 * found.entries < left.entries
        left = found
    return left


def _solved(
    left: Left,
    state: PartialCover,
    worth: Counts,
    minimum: tuple[int, Ids] | None,
    budget: Budget,
    most: int,
    progress: Progress,
) -> PartialCover:
    n = state.kept.size
    rows = left.list_ids if left.kind == "rows" else left.item_ids
    stays = np.zeros(n, np.bool_)
    stays[rows] = True
    if left.entries <= most:
        one, other = _gathered(left.pairs())
        coverage = _problem(state.part, stays, np.ones(n, np.bool_), one, other)
        state = smallest(state, coverage.without(), worth, budget, partial(progress, "cover"))
        if minimum is not None:
            state = meet(state, coverage, worth, minimum, partial(best, budget=budget))
        return state
    large = _component_by_component(left, state, stays, worth, budget, most, progress)
    if large.any():
        _covered_greedily(left, state, large, exact=not worth.any())
    return state if minimum is None else state.topped_up(minimum, worth)


def _covered_greedily(left: Left, state: PartialCover, large: Flags, *, exact: bool) -> None:
    if left.kind == "columns":
        greedily(left, state, large, exact=exact)
        return
    turned = _turned(left, None, "", UNLIMITED)
    assert turned is not None
    with turned.spool:
        greedily(turned, state, large, exact=exact)


def _gathered(pairs: Iterable[tuple[Ids, Ids]]) -> tuple[Ids, Ids]:
    nothing = np.empty(0, np.int32)
    rows, cols = zip((nothing, nothing), *pairs, strict=True)
    return np.concatenate(rows), np.concatenate(cols)


def _problem(part: Ids, stays: Flags, mine: Flags, rows: Ids, cols: Ids) -> CoverageGraph:
    """The problem of `mine` documents, rows and columns by their ids; others have no entry.

    Each component that lost rows gets one that all of its documents cover, in the place of the
    first it lost. That asks for nothing new, but keeps components together, and documents known
    that a requirement may want.
    """
    n = part.size
    lost = np.flatnonzero(~stays & mine)
    place = np.full(int(part.max(initial=-1)) + 1, n, np.int64)
    np.minimum.at(place, part[lost], lost)
    members = np.flatnonzero(mine & (place[part] < n))
    rows, cols = in_order(
        np.concatenate([rows, place[part[members]]]), np.concatenate([cols, members])
    )
    every = np.arange(n, dtype=np.int32)
    return CoverageGraph(rows, cols, every, every)


def _component_by_component(
    left: Left,
    state: PartialCover,
    stays: Flags,
    worth: Counts,
    budget: Budget,
    most: int,
    progress: Progress,
) -> Flags:
    """Solves components in groups of so many entries; gives those that have more."""
    count = state.gap.size
    entries = np.zeros(count, np.int64)
    for rows, _ in left.pairs():
        entries += np.bincount(state.part[rows], minlength=count)
    large = entries > most
    still = int(entries[~large].sum())
    for rows, cols in _stretches(left, state.part, large, most):
        mine = np.zeros(count, np.bool_)
        mine[state.part[rows]] = True
        coverage = _problem(state.part, stays, mine[state.part], rows, cols).without()
        share = budget.part(rows.size / max(still, 1))
        smallest(state, coverage, worth, share, lambda *_: None)
        still -= rows.size
        progress("cover", left.entries - still, left.entries)
    return large


def _stretches(left: Left, part: Ids, large: Flags, most: int) -> Iterator[tuple[Ids, Ids]]:
    """The entries of all components that are not large, whole components, some at a time."""
    # Rows in the order of their components, so that some components are a stretch of them.
    order = np.argsort(part, kind="stable").astype(np.int32)
    rank = np.empty(order.size, np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    held: list[tuple[Ids, Ids]] = []
    with PairSpool(order.size, room=left.spool.room) as by_part:
        for rows, cols in left.pairs():
            small = ~large[part[rows]]
            by_part.add(rank[rows[small]], cols[small])
        for block in by_part.blocks():
            for places, items in block.slices():
                if not places.size:
                    continue
                held.append((order[places + block.first], items.astype(np.int32)))
                if sum(mine.size for mine, _ in held) < most:
                    continue
                i, j = _gathered(held)
                whole = part[i] < part[i[-1]]
                if whole.any():
                    yield i[whole], j[whole]
                held = [(i[~whole], j[~whole])]
    if held:
        yield _gathered(held)


def _covered_by(spool: PairSpool, kept: Flags, progress: Progress) -> Ids:
    """For each dropped document the kept one of lowest id that covers it, else -1."""
    by = np.full(kept.size, np.iinfo(np.int32).max, np.int32)
    for first, keys in spool.raw():
        rows = keys // spool.width
        cols = keys - rows * spool.width
        used = kept[cols]
        np.minimum.at(by, rows[used].astype(np.int64) + first, cols[used].astype(np.int32))
        progress("covered by", first, kept.size)
    return by
