"""Laws of `cover`: pairs and covers equal brute force, by an evaluator that shares no code.

Relations are drawn as trees (`support.brute_force`), written out in the language, and answered
both by asof and by walking over all pairs with Python's sets, fractions and comparisons.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from asof.cover.answer import Figures
from asof.cover.documents.collection import Collection, chosen
from asof.cover.join.join import JoinLimits
from asof.cover.join.pairs import found_pairs
from asof.cover.language.analyse import parse_relation
from asof.cover.language.kinds import type_check
from asof.cover.question import Question
from asof.cover.run import CoverOutcome, thin_out
from asof.cover.solve.solve import solve
from asof.errors import UsageError
from support.brute_force import (
    EMPTY,
    OFTEN,
    RELATIONS,
    SAME,
    TIMES,
    Condition,
    Joined,
    Paper,
    all_pairs,
    collection_of,
    measure,
    several,
    shingles,
)
from support.laws import examples

LIMITS = st.sampled_from([JoinLimits(), JoinLimits(threads=1), JoinLimits(memory=1, threads=2)])


def ran(
    found: Collection, relation: Condition, options: Question, limits: JoinLimits
) -> CoverOutcome:
    try:
        return thin_out(found, replace(options, relation=relation.written), limits)
    except UsageError as error:
        assume("alternatives" not in str(error))
        raise


@given(several(9), RELATIONS, st.sampled_from([1, 2, 5]), LIMITS)
@example([], OFTEN, 5, JoinLimits())
@example([EMPTY, EMPTY, Paper("a", "a", None, 0.0, -0.5, 3)], OFTEN, 5, JoinLimits())
@example([EMPTY] * 3, Joined("and", (OFTEN, TIMES, SAME)), 2, JoinLimits())
@settings(max_examples=examples(120), deadline=None)
def test_covering_pairs_are_those_of_brute_force(
    papers: list[Paper], relation: Condition, k: int, limits: JoinLimits
) -> None:
    found = collection_of(papers, k)
    try:
        written = type_check(parse_relation(relation.written), found.columns)
    except UsageError as error:
        assume("alternatives" not in str(error))
        raise
    edges = found_pairs(found, written, limits)
    pairs = list(zip(edges.i.tolist(), edges.j.tolist(), strict=True))
    assert pairs == sorted(set(pairs)), "each once, in order"
    assert set(pairs) == all_pairs(papers, relation, k)
    sets = [shingles(paper, k) for paper in papers]
    common = [len(sets[i] & sets[j]) for i, j in pairs]
    assert edges.inter.tolist() == common


# --- covers ---------------------------------------------------------------------------------------


def coverers(count: int, pairs: set[tuple[int, int]]) -> list[int]:
    """For each document, as bits, those that cover it."""
    by = [1 << at for at in range(count)]
    for i, j in pairs:
        by[i] |= 1 << j
    return by


def covers(count: int, pairs: set[tuple[int, int]], groups: list[int], least: int) -> list[int]:
    """All smallest covers that hold `least` of each group, as bits."""
    by = coverers(count, pairs)
    members = [
        sum(1 << at for at, group in enumerate(groups) if group == each)
        for each in sorted({group for group in groups if group >= 0})
    ]
    for size in range(count + 1):
        found = [
            bits
            for some in combinations(range(count), size)
            for bits in [sum(1 << at for at in some)]
            if all(bits & mask for mask in by)
            and all((bits & m).bit_count() >= min(least, m.bit_count()) for m in members)
        ]
        if found:
            return found
    raise AssertionError("all documents cover all documents")


def components(count: int, pairs: set[tuple[int, int]]) -> int:
    label = list(range(count))
    for _ in range(count):
        for i, j in pairs:
            label[i] = label[j] = min(label[i], label[j])
    return len(set(label))


def sound(outcome: CoverOutcome, papers: list[Paper], pairs: set[tuple[int, int]], k: int) -> None:
    """Everything is covered by what stays, and dropped documents say by how much."""
    kept = np.flatnonzero(outcome.cover.kept).tolist()
    assert outcome.kept == [f"p{at}" for at in kept]
    assert outcome.edges == len(pairs)
    gone = [each.document for each in outcome.dropped]
    assert sorted([*kept, *gone]) == list(range(len(papers)))
    for each in outcome.dropped:
        assert each.by == min(j for j in kept if (each.document, j) in pairs)
        pair = papers[each.document], papers[each.by]
        assert each.containment == float(measure("C", 1, pair, k))
        assert each.jaccard == float(measure("J", 1, pair, k))
        assert each.dice == float(measure("D", 1, pair, k))
    sizes = [len(paper.text.encode()) for paper in papers]
    documents, weight = Figures.of(outcome).saved
    assert documents == (len(gone) / len(papers) if papers else 0)
    assert weight == (sum(sizes[at] for at in gone) / sum(sizes) if sum(sizes) else 0)
    assert outcome.complete


@given(several(8), RELATIONS, st.sampled_from([1, 2]))
@settings(max_examples=examples(60), deadline=None)
def test_a_cover_is_the_smallest_and_covers_everything(
    papers: list[Paper], relation: Condition, k: int
) -> None:
    outcome = ran(collection_of(papers, k), relation, Question(""), JoinLimits())
    pairs = all_pairs(papers, relation, k)
    sound(outcome, papers, pairs, k)
    best = covers(len(papers), pairs, [-1] * len(papers), 0)
    assert len(outcome.kept) == best[0].bit_count()
    assert outcome.cover.optimal
    assert outcome.cover.gap == 0
    assert outcome.cover.components.count == components(len(papers), pairs)
    seeds = ran(collection_of(papers, k), relation, Question("", solver="seed"), JoinLimits())
    sound(seeds, papers, pairs, k)
    assert len(seeds.kept) == len(outcome.kept), "up to ten documents, the paper's is brute force"


@given(several(7), RELATIONS, st.integers(1, 3), st.sampled_from(["host", "tag", "n", "t"]))
@settings(max_examples=examples(50), deadline=None)
def test_at_least_so_many_of_each_value_are_kept(
    papers: list[Paper], relation: Condition, least: int, attribute: str
) -> None:
    options = Question("", at_least=(least, attribute))
    outcome = ran(collection_of(papers, 2), relation, options, JoinLimits())
    pairs = all_pairs(papers, relation, 2)
    sound(outcome, papers, pairs, 2)
    values = [getattr(paper, attribute) for paper in papers]
    known = sorted({value for value in values if value is not None})
    groups = [-1 if value is None else known.index(value) for value in values]
    best = covers(len(papers), pairs, groups, least)
    assert sum(1 << at for at in np.flatnonzero(outcome.cover.kept).tolist()) in best
    assert outcome.cover.optimal


@given(several(7), RELATIONS, st.sampled_from(["n", "m", "t"]))
@settings(max_examples=examples(50), deadline=None)
def test_of_the_smallest_covers_the_best_is_taken(
    papers: list[Paper], relation: Condition, attribute: str
) -> None:
    outcome = ran(collection_of(papers, 2), relation, Question("", prefer=attribute), JoinLimits())
    pairs = all_pairs(papers, relation, 2)
    sound(outcome, papers, pairs, 2)
    values = [getattr(paper, attribute) for paper in papers]
    lowest = min((value for value in values if value is not None), default=0)
    worth = [lowest if value is None else value for value in values]

    def total(bits: int) -> float:
        return sum(each for at, each in enumerate(worth) if bits >> at & 1)

    best = covers(len(papers), pairs, [-1] * len(papers), 0)
    kept = sum(1 << at for at in np.flatnonzero(outcome.cover.kept).tolist())
    assert kept in best
    assert total(kept) == max(total(bits) for bits in best)


@given(several(9), RELATIONS, st.randoms(use_true_random=False))
@settings(max_examples=examples(40), deadline=None)
def test_neither_the_order_of_edges_nor_of_documents_changes_the_number(
    papers: list[Paper], relation: Condition, chance: object
) -> None:
    outcome = ran(collection_of(papers, 2), relation, Question(""), JoinLimits())
    pairs = sorted(all_pairs(papers, relation, 2))
    chance.shuffle(pairs)  # type: ignore[attr-defined]
    i, j = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    again = solve(len(papers), np.array(i, np.int32), np.array(j, np.int32))
    assert again.kept.tolist() == outcome.cover.kept.tolist()
    assert again.by.tolist() == outcome.cover.by.tolist()
    other = list(papers)
    chance.shuffle(other)  # type: ignore[attr-defined]
    moved = ran(collection_of(other, 2), relation, Question(""), JoinLimits())
    assert len(moved.kept) == len(outcome.kept)
    assert moved.edges == outcome.edges


@given(several(8), RELATIONS, st.sampled_from(["host", "tag"]), st.sampled_from(["a", "b", ""]))
@settings(max_examples=examples(40), deadline=None)
def test_a_filter_leaves_the_pairs_of_the_others_as_they_were(
    papers: list[Paper], relation: Condition, attribute: str, value: str
) -> None:
    whole = collection_of(papers, 2)
    texts = [paper.text for paper in papers]
    picked = chosen(f"{attribute}(d) = '{value}' or text contains 'c'", whole.columns, texts)
    wanted = [
        at
        for at, paper in enumerate(papers)
        if getattr(paper, attribute) == value or "c" in paper.text.lower().split()
    ]
    assert np.flatnonzero(picked).tolist() == [
        at for at in range(len(papers)) if at in wanted or "c!" in papers[at].text
    ]
    some = whole.only(picked)
    left = [paper for paper, keep in zip(papers, picked.tolist(), strict=True) if keep]
    outcome = ran(some, relation, Question(""), JoinLimits())
    assert outcome.edges == len(all_pairs(left, relation, 2))
    assert some.weights.tolist() == [len(paper.text.encode()) for paper in left]


@given(several(9), RELATIONS, st.integers(0, 6))
@settings(max_examples=examples(40), deadline=None)
def test_whoever_stops_it_gets_a_cover_all_the_same(
    papers: list[Paper], relation: Condition, after: int
) -> None:
    """Stopped at any moment: what is dropped is truly covered, and nothing is claimed as proven."""
    asked = 0

    def cancel() -> bool:
        nonlocal asked
        asked += 1
        return asked > after

    outcome = ran(collection_of(papers, 2), relation, Question(""), JoinLimits(cancel=cancel))
    pairs = all_pairs(papers, relation, 2)
    kept = set(np.flatnonzero(outcome.cover.kept).tolist())
    assert kept | {each.document for each in outcome.dropped} == set(range(len(papers)))
    for each in outcome.dropped:
        assert each.by in kept
        assert (each.document, each.by) in pairs
    best = covers(len(papers), pairs, [-1] * len(papers), 0)[0].bit_count()
    if not outcome.complete:
        assert not outcome.optimal
    assert len(kept) - outcome.gap <= best
