"""At least m documents of every host, or of any other attribute: covers that have to hold more.

The future work of Paudel 2013 ("retaining at least a minimum number of documents from every host").
Of each value at least m documents are kept, or all where there are fewer; documents without a value
are free. Such a rule ties components together, so it is met in three steps:

1. Covers without the rule are kept wherever they happen to meet it: they are the smallest still.
2. A value that every cover meets ties nothing: components whose documents all have that value hold
   a known number at least, and documents that only they themselves cover are in every cover.
3. Components that the other values tie together are one problem, in which a value is one more row
   that needs m columns. Where all of a value's components have that value alone, adding any of its
   documents is a smallest answer, since a cover with a document more is a cover.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from asof.cover.documents.sets import Counts, Flags
from asof.cover.join.graph import CoverageGraph, Ids, components, numbered
from asof.cover.solve.greedy import Answer, CoverProblem, greedy

Solver = Callable[[CoverProblem, Answer], Answer]


@dataclass(frozen=True, slots=True)
class Components:
    """What is known about each component. `part` numbers them in the order of their lowest ids.

    Components that a requirement (`at_least`) ties together are one here.
    """

    part: Ids  # by document
    gap: Counts  # documents kept less the proven lower bound
    proven: Flags  # the fewest documents, and the best total quality if one was given

    @property
    def count(self) -> int:
        """How many components there are; a document without edges is one."""
        return self.gap.size


@dataclass(frozen=True, slots=True)
class Cover:
    """Which documents stay, and by which of them each other one is covered."""

    kept: Flags
    by: Ids  # for a dropped document the kept one of lowest id that covers it; for a kept one -1
    components: Components
    optimal: bool  # proven for every component
    gap: int  # how many documents fewer a cover could have, at most


@dataclass(frozen=True, slots=True)
class PartialCover:
    """A cover by components: what is kept, and what is proven about each component."""

    kept: Flags  # by document
    part: Ids  # the component of each document
    gap: Counts  # by component: documents kept less the proven lower bound
    proven: Flags  # by component: no cover is better

    @classmethod
    def bare(cls, part: Ids, count: int) -> PartialCover:
        """Nothing is kept yet."""
        gap, proven = np.zeros(count, np.int64), np.ones(count, np.bool_)
        return cls(np.zeros(part.size, np.bool_), part, gap, proven)

    def finished(self, by: Ids) -> Cover:
        """The cover; `by` is what covers each dropped document."""
        by[self.kept] = -1
        found = Components(self.part, self.gap, self.proven)
        return Cover(self.kept, by, found, bool(self.proven.all()), int(self.gap.sum()))

    def lacking(self, at_least: tuple[int, Ids]) -> tuple[Counts, Counts]:
        """How many documents of each value are needed, and how many of them are not kept."""
        number, codes = at_least
        valued, values = codes >= 0, int(codes.max(initial=-1)) + 1
        needs = np.minimum(np.bincount(codes[valued], minlength=values), number)
        return needs, needs - np.bincount(codes[valued & self.kept], minlength=values)

    def topped_up(self, at_least: tuple[int, Ids], quality: Counts) -> PartialCover:
        """The cover with at least m documents of each value, by adding what is lacking."""
        kept = _topped_up(self.kept, at_least[1], self.lacking(at_least)[1], quality)
        more = np.bincount(self.part[kept & ~self.kept], minlength=self.gap.size)
        return PartialCover(kept, self.part, self.gap + more, self.proven & (more == 0))


def meet(
    state: PartialCover,
    coverage: CoverageGraph,
    quality: Counts,
    at_least: tuple[int, Ids],
    solver: Solver,
) -> PartialCover:
    """The cover with at least m documents of each value; components tied together are then one."""
    codes, valued = at_least[1], at_least[1] >= 0
    needs, lacking = state.lacking(at_least)
    if not (lacking > 0).any():
        return state
    binding = _held_by_all(state, coverage, codes, needs.size) < needs
    part, touched = _tied(state, codes, binding, lacking > 0)
    kept = _topped_up(state.kept, codes, lacking, quality)
    kept_before = np.bincount(state.part[state.kept], minlength=state.gap.size)
    count = touched.size
    lower = np.zeros(count, np.int64)
    first = np.zeros(state.gap.size, np.int32)
    first[state.part] = part
    np.add.at(lower, first, kept_before - state.gap)
    proven = np.ones(count, np.bool_)
    np.logical_and.at(proven, first, state.proven)
    simple = _of_one_value(part, codes, count) & (not quality.any())
    alone = touched & simple  # kept are as many as the value needs, which no cover goes below
    np.maximum.at(lower, part[valued], np.where(alone[part], needs[codes], 0)[valued])
    proven |= alone
    hard = np.flatnonzero(touched & ~simple)
    for at, cut in zip(hard.tolist(), coverage.split(part, hard), strict=True):
        problem = _problem(cut, codes, needs, binding, quality)
        known = _better(problem, np.flatnonzero(kept[cut.col_ids]), greedy(problem))
        answer = solver(problem, Answer(known, int(lower[at]), False))
        kept[cut.col_ids] = False
        kept[answer.documents(problem)] = True
        lower[at], proven[at] = answer.lower, answer.proven
    gap = np.bincount(part[kept], minlength=count) - lower
    return PartialCover(kept, part, gap, proven)


def _held_by_all(state: PartialCover, coverage: CoverageGraph, codes: Ids, values: int) -> Counts:
    """How many documents of each value every cover holds, at least."""
    count = state.gap.size
    pure = _of_one_value(state.part, codes, count)
    value = np.full(count, -1, np.int32)
    value[state.part] = codes
    least = np.bincount(state.part[state.kept], minlength=count) - state.gap
    held = np.zeros(values, np.int64)
    np.add.at(held, value[pure], least[pure])
    forced = (coverage.row_degrees() == 1) & ~pure[state.part] & (codes >= 0)
    return held + np.bincount(codes[forced], minlength=values)


def _of_one_value(part: Ids, codes: Ids, count: int) -> Flags:
    low, high = np.full(count, np.iinfo(np.int32).max), np.full(count, -1)
    np.minimum.at(low, part, codes)
    np.maximum.at(high, part, codes)
    pure: Flags = (low == high) & (low >= 0)
    return pure


def _tied(state: PartialCover, codes: Ids, binding: Flags, lacking: Flags) -> tuple[Ids, Flags]:
    """New numbers of components, and which of them have to be solved anew.

    Components are put together only where a value is lacking among those that bind them.
    """
    count = state.gap.size
    bound = np.flatnonzero((codes >= 0) & binding[codes])
    tied = components(count + binding.size, state.part[bound], codes[bound] + np.int32(count))
    touched = np.zeros(tied.size, np.bool_)
    short = np.flatnonzero((codes >= 0) & lacking[codes])
    touched[tied[state.part[short]]] = True
    own = np.arange(count, dtype=np.int32)
    labels = np.where(touched[tied[:count]], tied[:count], own)
    number, total = numbered(labels.astype(np.int32))
    again = np.zeros(total, np.bool_)
    again[number[touched[tied[:count]]]] = True
    return number[state.part], again


def _topped_up(kept: Flags, codes: Ids, lacking: Counts, quality: Counts) -> Flags:
    """Adds what values lack: documents of best quality, then of lowest ids."""
    free = np.flatnonzero(~kept & (codes >= 0))  # of no value: -1, and there may be no value at all
    free = free[lacking[codes[free]] > 0]
    order = free[np.lexsort((free, -quality[free], codes[free]))]
    groups = codes[order]
    place = np.arange(order.size) - np.searchsorted(groups, groups)
    filled = kept.copy()
    filled[order[place < lacking[groups]]] = True
    return filled


def _problem(
    cut: CoverageGraph, codes: Ids, needs: Counts, binding: Flags, quality: Counts
) -> CoverProblem:
    mine = codes[cut.col_ids]
    cols = np.flatnonzero(mine >= 0)
    cols = cols[binding[mine[cols]]]
    values, rows = np.unique(mine[cols], return_inverse=True)
    height = cut.row_ids.size
    order = np.lexsort((cols, rows))
    coverage = CoverageGraph(
        np.concatenate([cut.rows, (rows[order] + height).astype(np.int32)]),
        np.concatenate([cut.cols, cols[order].astype(np.int32)]),
        np.concatenate([cut.row_ids, (-1 - values).astype(np.int32)]),
        cut.col_ids,
    )
    wanted = np.concatenate([np.ones(height, np.int64), needs[values]])
    return CoverProblem(coverage, wanted, quality[cut.col_ids])


def _better(problem: CoverProblem, one: Counts, other: Ids) -> Ids:
    worth = [(-found.size, problem.worth(found)) for found in (one, other)]
    return one.astype(np.int32) if worth[0] >= worth[1] else other
