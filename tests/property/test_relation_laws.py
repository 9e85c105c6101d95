"""Laws of the relation language, against a slow reading of it: pair by pair, in exact fractions.

The oracle knows three answers, as a person does: yes, no, and not known (a missing value, a
division by zero). Only a yes is an edge.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asof.cover.join.pushdown import Pushdown, meetings, push_down
from asof.cover.language.analyse import Alternative, analyse, parse_relation
from asof.cover.language.bounds import Bound
from asof.cover.language.columns import Column, number_column, text_column, time_column
from asof.cover.language.evaluate import Pairs, content_test, prepared
from asof.cover.language.kinds import type_check
from asof.cover.language.parse import parse_condition, parse_filter
from asof.cover.language.syntax import (
    And,
    AttributeOf,
    CompareTest,
    Condition,
    ContentTest,
    Duration,
    Measure,
    Moment,
    Node,
    Not,
    Number,
    Or,
    Product,
    Relation,
    Sum,
    TextValue,
    upright,
)
from asof.cover.language.unparse import unparse
from asof.errors import UsageError
from support.laws import examples

COMPARE = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt,
    ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip
OPERATORS = st.sampled_from(sorted(COMPARE))
OF = st.sampled_from([1, 2])
Documents = list[dict[str, object]]
KINDS = {"h": "text", "u": "text", "n": "number", "x": "number", "t": "time", "s": "time"}
# Halves and powers of two: sums, products and quotients of few of them are exact in floats.
VALUES: dict[str, list[object]] = {
    "h": [None, "a", "b", "é"],
    "u": [None, "b", "c", ""],
    "n": [None, 0, 1, 2, 4, -2],
    "x": [None, 0.0, 0.5, 1.5, 2.0, -0.5],
    "t": [None, 0, 5, 1_000_000, 7_000_000, 253402300799999999],
    "s": [None, 5, 1_000_005, -62135596800000000],
}


def of_kind(kind: str) -> st.SearchStrategy[Node]:
    """Values of a kind, as high as two operators, without arithmetic of constants alone."""
    names = [name for name in KINDS if KINDS[name] == kind]
    return st.builds(AttributeOf, st.sampled_from(names), OF)


numbers = st.sampled_from([Fraction(n) for n in ("0", "1", "2", "4", "-1", "1/2", "3")]).map(Number)
divisors = st.sampled_from([Fraction(n) for n in ("1", "2", "-4", "1/2")]).map(Number)
spans = st.sampled_from([0, 1, 5, 1_000_000, -7_000_000, 604_800_000_000]).map(Duration)
moments = st.sampled_from([0, 5, 1_262_304_000_000_000]).map(Moment)
texts = st.sampled_from(["a", "b", "", 'say "é"', "2010-01-01"]).map(TextValue)
signs = st.sampled_from([1, -1])


def flat(node: Node, kind: type) -> tuple:
    """The parts of a chain that begins another: the parser makes one of both."""
    if not isinstance(node, kind):
        return ()
    return node.parts


def sums(first: st.SearchStrategy[Node], more: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    rest = st.lists(st.tuples(signs, more), min_size=1, max_size=2)
    return st.builds(lambda a, b: Sum((*(flat(a, Sum) or ((1, a),)), *b)), first, rest)


number_sums = sums(of_kind("number"), numbers | of_kind("number"))
products = st.builds(
    lambda a, power, b: Product(((1, a), (power, b))),
    of_kind("number") | number_sums,
    signs,
    divisors | of_kind("number"),
)
differences = st.builds(
    lambda a, b: Sum(((1, a), (-1, b))), of_kind("time"), of_kind("time") | moments
)
number_values = (
    of_kind("number")
    | number_sums
    | products
    | st.builds(lambda a: Sum(((-1, a),)), of_kind("number"))
)
time_values = of_kind("time") | sums(of_kind("time"), spans)
span_values = (
    differences
    | sums(differences, spans)
    | st.builds(lambda a, n: Product(((1, a), (1, n))), differences, of_kind("number"))
)


def compared(left: st.SearchStrategy[Node], right: st.SearchStrategy[Node]) -> Any:
    straight = st.builds(CompareTest, left, OPERATORS, right)
    return straight | st.builds(CompareTest, right, OPERATORS, left)


thresholds = st.fractions(Fraction(1, 9), 1, max_denominator=9) | st.sampled_from(
    [Fraction(10**29 + 1, 3 * 10**29), Fraction(5 * 10**29 - 1, 10**30)]
)
contents = st.builds(
    ContentTest,
    st.sampled_from([Measure("C", 1), Measure("C", 2), Measure("J", 1), Measure("D", 1)]),
    OPERATORS,
    thresholds,
).map(lambda found: replace(found, operator=">=") if found.threshold == 1 else found)
atoms = st.one_of(
    contents,
    compared(of_kind("text"), texts | of_kind("text")),
    compared(number_values, numbers | number_values),
    compared(time_values, moments | time_values),
    compared(span_values, spans | span_values),
    st.builds(
        lambda name, sign: CompareTest(AttributeOf(name, 1), sign, AttributeOf(name, 2)),
        st.sampled_from(sorted(KINDS)),
        OPERATORS,
    ),
)


def joined(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        several.map(lambda found: And((*(flat(found[0], And) or found[:1]), *found[1:]))),
        several.map(lambda found: Or((*(flat(found[0], Or) or found[:1]), *found[1:]))),
        parts.map(Not),
    )


conditions = st.recursive(atoms, joined, max_leaves=6)
documents = st.lists(
    st.fixed_dictionaries(
        {
            "set": st.frozensets(st.integers(0, 5)),
            **{name: st.sampled_from(values) for name, values in VALUES.items()},
        }
    ),
    min_size=1,
    max_size=6,
)


def columns_of(found: Documents) -> dict[str, Column]:
    make = {"text": text_column, "number": number_column, "time": time_column}
    return {name: make[kind]([d[name] for d in found]) for name, kind in KINDS.items()}  # type: ignore[arg-type]


def pairs_of(found: Documents) -> Pairs:
    each = list(product(range(len(found)), repeat=2))
    sets = [d["set"] for d in found]
    return Pairs(
        np.array([i for i, _ in each]),
        np.array([j for _, j in each]),
        np.array([len(sets[i] & sets[j]) for i, j in each], np.int32),  # type: ignore[operator]
        np.array([len(sets[i]) for i, _ in each], np.int32),  # type: ignore[arg-type]
        np.array([len(sets[j]) for _, j in each], np.int32),  # type: ignore[arg-type]
    )


def worth(value: Node, pair: tuple[dict, dict]) -> object:
    """A value as text or an exact fraction; None if it is not known."""
    match value:
        case AttributeOf():
            found = pair[value.of - 1][value.name]
            return found if found is None or isinstance(found, str) else Fraction(found)
        case TextValue():
            return value.value
        case Sum():
            terms = [(sign, worth(term, pair)) for sign, term in value.parts]
            return None if any(w is None for _, w in terms) else sum(s * w for s, w in terms)  # type: ignore[misc, operator]
        case Product():
            total = Fraction(1)
            for power, factor in value.parts:
                found = worth(factor, pair)
                if found is None or (power == -1 and not found):
                    return None
                total *= found**power  # type: ignore[operator]
            return total
    return Fraction(value.value)


def measured(measure: Measure, pair: tuple[dict, dict]) -> Fraction:
    a, b = (d["set"] for d in (pair if measure.first == 1 else pair[::-1]))
    if not a and not b:
        return Fraction(1)
    if measure.name == "C":
        return Fraction(len(a & b), len(a)) if a else Fraction(0)
    if measure.name == "J":
        return Fraction(len(a & b), len(a | b))
    return Fraction(2 * len(a & b), len(a) + len(b))


def answer(condition: Condition, pair: tuple[dict, dict]) -> bool | None:
    """Yes, no, or None: not known."""
    match condition:
        case ContentTest():
            return COMPARE[condition.operator](
                measured(condition.measure, pair), condition.threshold
            )
        case CompareTest():
            left, right = worth(condition.left, pair), worth(condition.right, pair)
            return None if None in (left, right) else COMPARE[condition.operator](left, right)  # type: ignore[arg-type]
        case Not():
            inner = answer(condition.part, pair)
            return None if inner is None else not inner
    answers = [answer(part, pair) for part in condition.parts]
    decides = isinstance(condition, Or)
    if decides in answers:
        return decides
    return None if None in answers else not decides


def expected(condition: Condition, found: Documents) -> list[bool]:
    return [answer(condition, pair) is True for pair in product(found, repeat=2)]  # type: ignore[arg-type]


@given(conditions, documents)
@settings(max_examples=examples(120), deadline=None)
def test_evaluation_says_what_a_slow_reading_says(condition: Condition, found: Documents) -> None:
    pairs = pairs_of(found)
    fields = (pairs.i, pairs.j, pairs.inter, pairs.size_i, pairs.size_j)
    assert prepared(condition, columns_of(found))(Pairs(*fields)).tolist() == expected(
        condition, found
    )


@given(conditions)
@settings(max_examples=examples(120), deadline=None)
def test_what_is_written_is_read_back(condition: Condition) -> None:
    checked = type_check(Relation(condition, ""), columns_of([])).condition
    again = parse_condition(unparse(checked))
    assert type_check(Relation(again, ""), columns_of([])).condition == checked


def met(bound: Bound, pair: tuple[dict, dict]) -> bool:
    for least, measure in (
        (bound.contained, Measure("C", 1)),
        (bound.containing, Measure("C", 2)),
        (bound.jaccard, Measure("J", 1)),
        (bound.dice, Measure("D", 1)),
    ):
        if least is not None:
            share = measured(measure, pair)
            if share < least.threshold or (least.strict and share == least.threshold):
                return False
    return True


def joined_pairs(pushdown: Pushdown, found: Documents) -> np.ndarray:
    """What a join gives: by its contract, without looking at any column."""
    pairs = pairs_of(found)
    i, j = pairs.i, pairs.j
    kept = np.array([met(pushdown.bound, pair) for pair in product(found, repeat=2)])  # type: ignore[arg-type]
    if pushdown.partition is not None:
        kept &= pushdown.partition[i] == pushdown.partition[j]
    if pushdown.position is not None and pushdown.window is not None:
        apart = pushdown.position[j] - pushdown.position[i]
        low, high = pushdown.window
        kept &= (apart >= low) if low is not None else True
        kept &= (apart <= high) if high is not None else True
    kept &= pushdown.d1[i] if pushdown.d1 is not None else True
    kept &= pushdown.d2[j] if pushdown.d2 is not None else True
    return kept


def met_pairs(pushdown: Pushdown) -> set[tuple[int, int]]:
    blocks = [list(zip(i.tolist(), j.tolist(), strict=True)) for i, j in meetings(pushdown, 3)]
    pairs = [pair for block in blocks for pair in block]
    assert len(pairs) == len(set(pairs))
    return set(pairs)


def answered(alternative: Alternative, found: Documents) -> np.ndarray:
    columns, pairs = columns_of(found), pairs_of(found)
    pushdown = push_down(alternative, columns, len(found))
    kept = joined_pairs(pushdown, found)
    if pushdown.bound.empty:
        assert pushdown.meet is not None
    if pushdown.meet is not None:
        apart = pushdown.meet[0][pairs.i] != pushdown.meet[1][pairs.j]
        holds = prepared(alternative.condition, columns)(pairs)
        assert not (apart & holds).any()
        assert met_pairs(pushdown) == {
            (i, j)
            for (i, j), fine in zip(
                product(range(len(found)), repeat=2),
                joined_pairs(replace(pushdown, bound=Bound()), found) & ~apart,
                strict=True,
            )
            if fine and i != j
        }
    if pushdown.residual is not None:
        kept &= prepared(pushdown.residual, columns)(pairs)
    return kept


@given(conditions, st.lists(atoms, max_size=3), documents)
@settings(max_examples=examples(150), deadline=None)
def test_the_join_and_what_it_leaves_are_the_relation(
    condition: Condition, more: list[Condition], found: Documents
) -> None:
    anchor = Or((ContentTest(Measure("J", 1), ">=", Fraction(1, 3)), same("h"), same("t")))
    whole = And((anchor, condition, *more))
    kept = np.zeros(len(found) ** 2, bool)
    for alternative in analyse(Relation(whole, "")):
        kept |= answered(alternative, found)
    assert kept.tolist() == expected(whole, found)


def same(name: str) -> CompareTest:
    return CompareTest(AttributeOf(name, 1), "=", AttributeOf(name, 2))


@given(conditions, documents)
@settings(max_examples=examples(60), deadline=None)
def test_not_is_the_same_turned_round(condition: Condition, found: Documents) -> None:
    assert expected(Not(condition), found) == expected(upright(Not(condition)), found)


@given(
    st.fractions(Fraction(1, 10**40), 1),
    OPERATORS,
    st.sampled_from([Measure("C", 1), Measure("C", 2), Measure("J", 1), Measure("D", 1)]),
    st.integers(0, 2**28),
    st.integers(0, 2**28),
    st.data(),
)
@settings(max_examples=examples(300), deadline=None)
def test_thresholds_are_exact_for_the_largest_documents(
    threshold: Fraction, sign: str, measure: Measure, a: int, b: int, data: st.DataObject
) -> None:
    inter = data.draw(st.integers(0, min(a, b)))
    share = {
        "C": Fraction(inter, (a if measure.first == 1 else b) or 1),
        "J": Fraction(inter, a + b - inter or 1),
        "D": Fraction(2 * inter, a + b or 1),
    }[measure.name]
    share = Fraction(1) if a == b == 0 else share
    # As near as can be: at the measure itself, a little above it, a little below.
    near = [share, share + Fraction(1, 10**40), share - Fraction(1, 10**40), threshold]
    chosen = data.draw(st.sampled_from([t for t in near if 0 < t <= 1]))
    one = [np.array([number]) for number in (0, 1, inter, a, b)]
    found = content_test(ContentTest(measure, sign, chosen))(Pairs(*one))  # type: ignore[arg-type]
    assert bool(found[0]) == COMPARE[sign](share, chosen)


WORDS = st.sampled_from(
    [
        *"()+-*/=<>,;'\"`.%!&\0 \n",
        *("and", "or", "not", "C", "J", "D", "sh", "d1", "d2", "d", "(d1)", "(d1,d2)", "C(d1,d2)"),
        *(">=", "<=", "!=", "0.7", "1e9", "7d", "2010-01-01", "'x'", "h", "t(d1)", "h(d1) = h(d2)"),
        *("text contains", "Cov(d1,d2) =", "∧", "¬", "≥", "\u0421", "\ud800", "\uff19"),
    ]
)


@given(st.lists(WORDS, max_size=12).map(" ".join) | st.lists(WORDS, max_size=12).map("".join))
@example("C(d1,")
@example("C(sh(")
@example("C(sh(d1")
@example("Cov(d1,d2)")
@example("Cov(d1,d2) = ;")
@settings(max_examples=examples(300), deadline=None)
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    for read, one in ((parse_relation, False), (parse_filter, True)):
        said = ""
        try:
            found = read(text)
        except UsageError as error:
            said = str(error)
        else:
            assert parse_condition(unparse(found.condition, one=one), one=one) == found.condition
        assert "olumn" in said or not said
        said.encode()
