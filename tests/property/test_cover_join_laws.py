"""Laws of the exact join: whatever is asked, it finds what a comparison of all pairs finds."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from asof.cover.join.join import JoinLimits, join
from asof.cover.language.bounds import Bound, Least, _next
from support.covered import containment, sets_of
from support.laws import examples

THRESHOLDS = st.one_of(
    st.sampled_from([Fraction(7, 10), Fraction(1, 2), Fraction(2, 3), Fraction(1)]),
    st.fractions(min_value=Fraction(1, 30), max_value=1),
    st.integers(1, 10**40).map(lambda part: Fraction(part, 10**40)),
)
LEAST = st.one_of(st.none(), st.builds(Least, THRESHOLDS, st.booleans()))
BOUNDS = st.builds(Bound, LEAST, LEAST, LEAST, LEAST)
SHINGLE = st.one_of(st.integers(0, 30), st.sampled_from([2**63, 2**64 - 1, 1 << 40]))


@st.composite
def collections(draw: st.DrawFn) -> list[frozenset[int]]:
    """Documents, many of them made of others: copies, parts, and with something added."""
    texts = draw(st.lists(st.frozensets(SHINGLE, max_size=14), max_size=5))
    for _ in range(draw(st.integers(0, 14)) if texts else 0):
        text = draw(st.sampled_from(texts))
        less = draw(st.frozensets(SHINGLE, max_size=4))
        more = draw(st.frozensets(SHINGLE, max_size=3))
        texts.append((text - less) | more)
    return texts


def measures(a: frozenset[int], b: frozenset[int]) -> tuple[Fraction, ...]:
    """C(a, b), C(b, a), Jaccard and Dice; 1 of two empty sets, 0 of one and another."""
    if not a and not b:
        return (Fraction(1),) * 4
    common = len(a & b)
    parts = [
        (common, len(a)),
        (common, len(b)),
        (common, len(a | b)),
        (2 * common, len(a) + len(b)),
    ]
    return tuple(Fraction(n, d) if d else Fraction(0) for n, d in parts)


def met(bound: Bound, values: tuple[Fraction, ...]) -> bool:
    wanted = (bound.contained, bound.containing, bound.jaccard, bound.dice)
    return all(
        least is None or (value > least.threshold if least.strict else value >= least.threshold)
        for least, value in zip(wanted, values, strict=True)
    )


@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_the_join_finds_what_comparing_all_pairs_finds(data: st.DataObject) -> None:
    texts = data.draw(collections())
    bound = data.draw(BOUNDS)
    count = len(texts)

    def column(values: Any) -> Any:
        return st.lists(values, min_size=count, max_size=count)

    parts = data.draw(
        column(st.integers(-1, 1)) if bound.empty else st.none() | column(st.integers(-1, 1))
    )
    when = data.draw(st.none() | column(st.integers(-4, 4)))
    ends = st.none() | st.integers(-4, 4)
    window = data.draw(st.tuples(ends, ends)) if when is not None else None
    d1, d2 = (data.draw(st.none() | column(st.booleans())) for _ in range(2))
    wanted = {}
    for i, a in enumerate(texts):
        for j, b in enumerate(texts):
            span = when[j] - when[i] if when is not None else 0
            low, high = window or (None, None)
            if (
                i != j
                and (parts is None or parts[i] == parts[j] >= 0)
                and (low is None or low <= span)
                and (high is None or span <= high)
                and (d1 is None or d1[i])
                and (d2 is None or d2[j])
                and met(bound, measures(a, b))
            ):
                wanted[i, j] = len(a & b)
    for plain, memory in ((False, None), (True, None), (False, 64)):
        found: list[tuple[tuple[int, int], int]] = []
        for edges in join(
            sets_of(texts),
            bound,
            JoinLimits(memory, 2, plain=plain),
            partition=None if parts is None else np.array(parts, np.int64),
            position=None if when is None else np.array(when, np.int64),
            window=window,
            d1=None if d1 is None else np.array(d1, np.bool_),
            d2=None if d2 is None else np.array(d2, np.bool_),
        ):
            pairs = zip(edges.i.tolist(), edges.j.tolist(), strict=True)
            found += zip(pairs, edges.inter.tolist(), strict=True)
        assert dict(found) == wanted
        assert len(found) == len(wanted)


@given(st.builds(Least, THRESHOLDS, st.booleans()), st.integers(1, 60))
def test_a_threshold_and_its_next_fraction_say_the_same_of_all_sizes(
    least: Least, most: int
) -> None:
    """For every x of n, n up to the largest size."""
    following = _next(least, most)
    assert following.denominator <= most
    for n in range(1, most + 1):
        for x in range(n + 1):
            value = Fraction(x, n)
            above = value > least.threshold if least.strict else value >= least.threshold
            assert above == (value >= following)


@settings(max_examples=examples(60), deadline=None)
@given(collections(), THRESHOLDS, st.randoms(use_true_random=False))
def test_the_order_of_documents_does_not_matter(
    texts: list[frozenset[int]], threshold: Fraction, random: Random
) -> None:
    bound = containment(threshold)
    order = list(range(len(texts)))
    random.shuffle(order)

    def pairs(some: list[frozenset[int]]) -> set[tuple[int, int]]:
        return {
            pair
            for edges in join(sets_of(some), bound, JoinLimits(threads=1))
            for pair in zip(edges.i.tolist(), edges.j.tolist(), strict=True)
        }

    assert {(order[i], order[j]) for i, j in pairs([texts[at] for at in order])} == pairs(texts)
