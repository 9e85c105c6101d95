"""Laws of growth: whatever earlier runs left behind, a run answers as one from scratch does."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from asof.cover.documents.collection import Collection, merged
from asof.cover.documents.sets import Edges
from asof.cover.growth import Earlier, FoundPairs, KeptPairs, Schema, grown_pairs
from asof.cover.join.join import JoinLimits, join
from asof.cover.join.pairs import common_with, found_pairs
from asof.cover.join.ranking import KeptRanks, Ranking
from asof.cover.language.analyse import parse_relation
from asof.cover.language.bounds import Bound, Least
from asof.cover.language.implies import implies
from asof.cover.language.kinds import type_check
from asof.cover.language.syntax import Relation
from asof.cover.question import Question
from asof.cover.run import CoverOutcome, thin_out
from asof.cover.solve.proofs import Proofs
from asof.errors import UsageError
from support.brute_force import (
    CONDITIONS,
    OFTEN,
    PAPERS,
    RELATIONS,
    SAME,
    TIMES,
    About,
    Condition,
    Joined,
    Paper,
    all_pairs,
    collection_of,
)
from support.covered import containment, sets_of
from support.laws import examples


@dataclass
class Memory:
    """A store of pairs that forgets nothing, and tells how often something was kept."""

    kept: list[FoundPairs] = field(default_factory=list)
    all: list[KeptPairs] = field(default_factory=list)

    def entries(self) -> list[KeptPairs]:
        return self.all[::-1]

    def keep(self, relation: str, schema: Schema, found: FoundPairs) -> None:
        self.kept.append(found)
        ids, load = (lambda: found.document_ids), (lambda: found)
        self.all.append(KeptPairs(relation, schema, ids, load))


@dataclass
class RankMemory:
    """Ranks of the last documents that were ranked."""

    kept: tuple[list[bytes], Ranking] | None = None

    def of(self, document_ids: NDArray[np.bytes_]) -> KeptRanks:
        return KeptRanks(partial(self.load, document_ids), partial(self.keep, document_ids))

    def load(self, document_ids: NDArray[np.bytes_]) -> Ranking | None:
        if self.kept is None or not set(document_ids.tolist()) <= set(self.kept[0]):
            return None
        known, ranking = self.kept
        places = [known.index(each) for each in document_ids.tolist()]
        return replace(ranking, begins=ranking.begins[places], ends=ranking.ends[places])

    def keep(self, document_ids: NDArray[np.bytes_], ranking: Ranking) -> None:
        self.kept = document_ids.tolist(), ranking


def marked(universe: list[Paper], places: list[int], k: int) -> Collection:
    """These papers, each with an id that is of its place and of all that it says."""
    papers = [universe[at] for at in places]
    told = [repr((at, paper)).encode() for at, paper in zip(places, papers, strict=True)]
    document_ids = [blake2b(one, digest_size=15).digest() + b"." for one in told]
    return replace(collection_of(papers, k), document_ids=np.array(document_ids, "S16"))


def pairs_of(edges: Edges) -> list[tuple[int, int, int]]:
    return list(zip(edges.i.tolist(), edges.j.tolist(), edges.inter.tolist(), strict=True))


def assert_same(one: CoverOutcome, other: CoverOutcome) -> None:
    assert one.edges == other.edges
    assert one.cover.kept.tolist() == other.cover.kept.tolist()
    assert one.cover.by.tolist() == other.cover.by.tolist()
    assert one.dropped == other.dropped
    assert one.cover.components.part.tolist() == other.cover.components.part.tolist()
    assert (one.optimal, one.gap, one.complete) == (other.optimal, other.gap, other.complete)


@dataclass(frozen=True)
class Step:
    """A run: which documents there are, which of them were read anew, and by which rule."""

    there: list[bool]
    anew: int | None
    rule: int
    options: Question


MOST = 10
OPTIONS = st.sampled_from(
    [
        Question(""),
        Question(""),
        Question("", prefer="n"),
        Question("", prefer="t"),
        Question("", at_least=(2, "host")),
    ]
)
STEPS = st.lists(
    st.builds(
        Step,
        # Mostly there: growth by a few, and filters that leave most.
        st.lists(st.sampled_from([True, True, True, False]), min_size=MOST, max_size=MOST),
        st.none() | st.integers(0, MOST - 1),
        st.integers(0, 5),
        OPTIONS,
    ),
    min_size=2,
    max_size=5,
)


def stricter(relation: Condition, more: Condition) -> list[Condition]:
    """Rules that people change into each other."""
    return [
        relation,
        Joined("and", (relation, more)),
        Joined("and", (relation, SAME)),
        Joined("or", (relation, OFTEN)),
        Joined("and", (relation, About("J", 1, ">=", "2/3", behind=False))),
        OFTEN,
    ]


def checked(relation: Condition, collection: Collection) -> Relation:
    try:
        return type_check(parse_relation(relation.written), collection.columns)
    except UsageError as error:
        assume("alternatives" not in str(error))
        raise


@given(
    st.lists(PAPERS, min_size=MOST, max_size=MOST),
    RELATIONS,
    CONDITIONS,
    STEPS,
    st.sampled_from([1, 2]),
)
@example(
    [Paper("a b c d", "a", None, 1.0, None, day) for day in range(MOST)],
    Joined("and", (OFTEN, TIMES)),
    SAME,
    [
        Step([True] * 7 + [False] * 3, None, 0, Question("")),
        Step([True] * MOST, 3, 2, Question("", prefer="t")),
        Step([True] * MOST, None, 2, Question("")),
    ],
    1,
)
@settings(max_examples=examples(80), deadline=None)
def test_a_run_answers_as_one_from_scratch(
    universe: list[Paper], relation: Condition, more: Condition, steps: list[Step], k: int
) -> None:
    rules = stricter(relation, more)
    memory = Memory()
    earlier = Earlier(memory.entries, memory.keep, Proofs(), RankMemory().of)
    universe = list(universe)
    for step in steps:
        if step.anew is not None:
            universe[step.anew] = replace(universe[step.anew], text="a b c d e")
        places = [at for at, here in enumerate(step.there) if here]
        collection = marked(universe, places, k)
        rule = rules[step.rule]
        written = checked(rule, collection)
        fresh = found_pairs(collection, written, JoinLimits())
        assert isinstance(fresh, Edges)
        limits = JoinLimits(memory=1 if step.options.prefer else None)
        grown = grown_pairs(collection, written, limits, earlier)[0]
        assert pairs_of(grown) == pairs_of(fresh)  # type: ignore[arg-type]
        papers = [universe[at] for at in places]
        assert {(i, j) for i, j, _ in pairs_of(fresh)} == all_pairs(papers, rule, k)
        scratch = thin_out(collection, replace(step.options, relation=rule.written), JoinLimits())
        again = thin_out(
            collection, replace(step.options, relation=rule.written), JoinLimits(), earlier
        )
        assert again.known == len(collection), "the run before has compared them all"
        assert_same(again, scratch)


@given(st.lists(PAPERS, min_size=1, max_size=8), RELATIONS, st.integers(0, 8))
@settings(max_examples=examples(40), deadline=None)
def test_nothing_is_kept_of_a_run_that_was_stopped(
    papers: list[Paper], relation: Condition, after: int
) -> None:
    asked = 0

    def cancel() -> bool:
        nonlocal asked
        asked += 1
        return asked > after

    memory = Memory()
    collection = marked(papers, list(range(len(papers))), 2)
    written = checked(relation, collection)
    grown_pairs(
        collection,
        written,
        JoinLimits(cancel=cancel),
        Earlier(memory.entries, memory.keep, Proofs()),
    )
    found = found_pairs(collection, written, JoinLimits())
    assert isinstance(found, Edges)
    whole = pairs_of(found)
    assert [pairs_of(found.edges) for found in memory.kept] in ([], [whole])


@given(st.lists(PAPERS, max_size=8), RELATIONS, RELATIONS, CONDITIONS, st.integers(0, 5))
@settings(max_examples=examples(100), deadline=None)
def test_what_follows_has_no_other_pairs(
    papers: list[Paper], one: Condition, two: Condition, more: Condition, change: int
) -> None:
    collection = collection_of(papers, 2)
    for strict, loose in ((one, two), (stricter(one, more)[change], one)):
        if implies(checked(strict, collection), checked(loose, collection)):
            assert all_pairs(papers, strict, 2) <= all_pairs(papers, loose, 2)


SETS = st.lists(st.sets(st.integers(0, 40) | st.integers(0, 2**64 - 1), max_size=8), max_size=8)


@given(SETS, st.data())
@settings(max_examples=examples(100), deadline=None)
def test_what_is_shared_has_all_that_pairs_can_have_in_common(
    given_sets: list[set[int]], data: st.DataObject
) -> None:
    sets = sets_of(given_sets)
    flags = st.lists(st.booleans(), min_size=len(sets), max_size=len(sets))
    chosen = np.array(data.draw(flags), np.bool_)
    found = common_with(sets, chosen)
    wanted = set().union(*(one for one, picked in zip(given_sets, chosen, strict=True) if picked))
    through: set[int] = set().union(*(found[at].tolist() for at in range(len(found))))
    assert through >= wanted & set().union(*given_sets)
    for at, one in enumerate(given_sets):
        assert found[at].tolist() == sorted(one & through), "the same of each set"


@given(SETS, SETS, st.data())
@settings(max_examples=examples(100), deadline=None)
def test_merged_sets_are_those_of_both(
    old: list[set[int]], new: list[set[int]], data: st.DataObject
) -> None:
    places = data.draw(st.lists(st.integers(0, max(len(old) - 1, 0)), max_size=8)) if old else []
    for _ in new:
        places.insert(data.draw(st.integers(0, len(places))), -1)
    left = iter(new)
    wanted = [next(left) if at < 0 else old[at] for at in places]
    found = merged(sets_of(old), sets_of(new), places)
    assert [found[at].tolist() for at in range(len(found))] == [sorted(one) for one in wanted]


@given(SETS, st.data())
@settings(max_examples=examples(100), deadline=None)
def test_small_partitions_are_compared_with_the_same_outcome(
    given_sets: list[set[int]], data: st.DataObject
) -> None:
    """By ranks, without them, and with some of each; and so are pairs with some documents alone."""
    sets = sets_of(given_sets)
    count = len(sets)

    def drawn(values: st.SearchStrategy[int]) -> NDArray[np.int64]:
        return np.array(data.draw(st.lists(values, min_size=count, max_size=count)), np.int64)

    bound = data.draw(st.sampled_from([
        containment("0.5"), containment("0.3", strict=True), containment(1),
        Bound(containing=Least(Fraction(2, 3))), Bound(jaccard=Least(Fraction(1, 2))),
        Bound(dice=Least(Fraction(1, 2)), contained=Least(Fraction(1, 3))),
    ]))  # fmt: skip
    options: dict[str, Any] = {
        "partition": drawn(st.integers(-1, 2)),
        "position": drawn(st.integers(0, 3)),
        "window": data.draw(st.sampled_from([(None, None), (0, None), (-1, 1), (1, 2)])),
        "d1": drawn(st.integers(0, 3)) > 0,
        "d2": drawn(st.integers(0, 3)) > 0,
    }

    def found(few: int, *, plain: bool = False, **more: Any) -> set[tuple[int, int, int]]:
        blocks = join(sets, bound, JoinLimits(few=few, plain=plain), **{**options, **more})
        pairs = [pair for edges in blocks for pair in pairs_of(edges)]
        assert len(pairs) == len(set(pairs)), "each once"
        return set(pairs)

    by_ranks = found(few=0)
    for few in (1, 2, 24):
        assert found(few=few) == by_ranks
        assert found(few=few, plain=True) == by_ranks
    fresh = drawn(st.integers(0, 1)) > 0
    some: dict[str, Any] = {
        "among": common_with(sets, fresh), "few": data.draw(st.sampled_from([0, 2, 24]))
    }  # fmt: skip
    first = found(d1=options["d1"] & fresh, **some)
    second = found(d1=options["d1"] & ~fresh, d2=options["d2"] & fresh, **some)
    assert first | second == {pair for pair in by_ranks if fresh[pair[0]] or fresh[pair[1]]}
    assert not first & second
