"""Conditions, held against many pairs of documents at once.

Content is decided in whole numbers: C(d1,d2) >= p/q is inter * q >= p * |d1|, without rounding.
Times and spans are whole microseconds. Numbers are floats, as their columns are; 0.1 in a
relation is then the same 0.1 as in a column. A division by zero is as good as a missing value: the
comparison does not hold. Equal strings are told by their codes, others by their code points.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import eq, ge, gt, le, lt, ne
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asof.cover.language import syntax
from asof.cover.language.columns import FARTHEST, MISSING_TIME, Array, Column

Truth = NDArray[np.bool_]
_COMPARE: dict[syntax.Operator, Callable[[Any, Any], Any]] = {
    "=": eq, "!=": ne, "<": lt, ">": gt, "<=": le, ">=": ge,
}  # fmt: skip
_SIZES = 1 << 30  # shingles of two documents together; times as much again fits in 64 bits
_UNCHECKED = "types were not checked: text beside no text"
_EXACT = 1 << 62  # sums that may be larger than this are floats


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of documents, and how many shingles they have and share."""

    i: Array
    j: Array
    inter: Array
    size_i: Array
    size_j: Array


@dataclass(frozen=True, slots=True)
class _Amount:
    """Numbers of pairs, where they are known (None: everywhere), and how large they can be."""

    values: Array
    known: Truth | None
    most: int | None  # of whole numbers; None for floats


Test = Callable[[Pairs], Truth]
_Measured = Callable[[Pairs], _Amount]


def meets(
    condition: syntax.Condition,
    columns: Mapping[str, Column],
    n: int,
    contains: Callable[[str], Truth] | None = None,
) -> Truth:
    """Which of n documents meet a condition on one; `contains` says whose text has a phrase."""
    every, none = np.arange(n), np.zeros(n, np.int64)
    test = _Preparation(columns, contains).condition(syntax.upright(condition))
    return np.full(n, test(Pairs(every, every, none, none, none)))  # for an `and` of nothing, too


def prepared(condition: syntax.Condition | syntax.Relation, columns: Mapping[str, Column]) -> Test:
    """The condition as a test of pairs: what columns alone decide is done once, for all blocks."""
    if isinstance(condition, syntax.Relation):
        condition = condition.condition
    return _Preparation(columns, None).condition(syntax.upright(condition))


@dataclass(frozen=True, slots=True)
class _Preparation:
    columns: Mapping[str, Column]
    contains: Callable[[str], Truth] | None

    def condition(self, condition: syntax.Condition) -> Test:
        match condition:
            case syntax.And() | syntax.Or():
                parts = [self.condition(part) for part in condition.parts]
                every = isinstance(condition, syntax.And)
                join = np.logical_and if every else np.logical_or
                return lambda pairs: join.reduce([part(pairs) for part in parts])
            case syntax.Not():
                inner = self.condition(condition.part)
                return lambda pairs: ~inner(pairs)
            case syntax.ContentTest():
                return content_test(condition)
            case syntax.Contains():
                if self.contains is None:
                    raise ValueError("only a filter can ask what a text contains")
                found = self.contains(condition.phrase)
                return lambda pairs: found[pairs.i]
            case syntax.CompareTest():
                return self._comparison(condition)

    def _comparison(self, found: syntax.CompareTest) -> Test:
        if self._is_text(found.left) or self._is_text(found.right):
            return _text_comparison(found, self.columns)
        left, right = self._value(found.left), self._value(found.right)
        compare = _COMPARE[found.operator]

        def test_values(pairs: Pairs) -> Truth:
            with np.errstate(all="ignore"):
                a, b = left(pairs), right(pairs)
                holds = np.broadcast_to(compare(a.values, b.values), pairs.i.shape)
                if found.operator == "!=":  # nan differs from all, but is not known to
                    holds = holds & (a.values == a.values) & (b.values == b.values)
            for known in (a.known, b.known):
                holds = holds if known is None else holds & known
            return np.asarray(holds)

        return test_values

    def _is_text(self, value: syntax.Value) -> bool:
        if isinstance(value, syntax.AttributeOf):
            return self.columns[value.name].kind == "text"
        return isinstance(value, syntax.TextValue)

    def _value(self, value: syntax.Value) -> _Measured:
        match value:
            case syntax.Number():
                number = _Amount(np.array(float(value.value)), None, None)
                return lambda pairs: number
            case syntax.Duration() | syntax.Moment():
                whole = _Amount(np.array(value.value, np.int64), None, abs(value.value))
                return lambda pairs: whole
            case syntax.AttributeOf():
                return self._attribute(value)
            case syntax.Sum() | syntax.Product():
                parts = [(sign, self._value(part)) for sign, part in value.parts]
                join = _sum if isinstance(value, syntax.Sum) else _product
                return lambda pairs: join([(sign, get(pairs)) for sign, get in parts])
        raise ValueError("types were not checked: text in arithmetic")

    def _attribute(self, attribute: syntax.AttributeOf) -> _Measured:
        column = self.columns[attribute.name]
        first = attribute.of == 1
        if column.kind == "number":
            return lambda pairs: _Amount(column.values[pairs.i if first else pairs.j], None, None)

        def instants(pairs: Pairs) -> _Amount:
            values = column.values[pairs.i if first else pairs.j]
            known = values != MISSING_TIME
            return _Amount(np.where(known, values, 0), known, FARTHEST)

        return instants


def _sum(terms: list[tuple[int, _Amount]]) -> _Amount:
    """Whole as long as all terms are and the sum surely fits, else in floats."""
    limits = [term.most for _, term in terms if term.most is not None]
    most = sum(limits) if len(limits) == len(terms) and sum(limits) <= _EXACT else None
    kind = np.float64 if most is None else np.int64
    total: Array = np.zeros((), kind)
    for sign, term in terms:
        values = term.values.astype(kind)
        total = total + values if sign == 1 else total - values
    return _Amount(total, _all_known(terms), most)


def _product(factors: list[tuple[int, _Amount]]) -> _Amount:
    total: Array = np.ones((), np.float64)
    known = _all_known(factors)
    for power, factor in factors:
        values = factor.values.astype(np.float64)
        if power == 1:
            total = total * values
            continue
        total = total / values
        whole = values != 0
        known = whole if known is None else known & whole
    return _Amount(total, known, None)


def _all_known(parts: list[tuple[int, _Amount]]) -> Truth | None:
    known = [part.known for _, part in parts if part.known is not None]
    return reduce(np.logical_and, known) if known else None


def content_test(found: syntax.ContentTest) -> Test:
    """A measure against its threshold, exactly; of two empty documents every measure is 1."""
    p, q, operator = _within_sizes(found.threshold, found.operator)
    if operator is None:
        return lambda pairs: np.full(pairs.i.shape, found.operator == "!=")
    compare = _COMPARE[operator]

    def test(pairs: Pairs) -> Truth:
        part, whole = _ratio(found, pairs)
        alike = (pairs.size_i == 0) & (pairs.size_j == 0)
        part = np.where(whole == 0, alike, part)
        return np.asarray(compare(part * q, np.maximum(whole, 1) * p))

    return test


def _ratio(found: syntax.ContentTest, pairs: Pairs) -> tuple[Array, Array]:
    inter = pairs.inter.astype(np.int64)
    size_i, size_j = pairs.size_i.astype(np.int64), pairs.size_j.astype(np.int64)
    if found.measure.name == "C":
        return inter, size_i if found.measure.first == 1 else size_j
    if found.measure.name == "J":
        return inter, size_i + size_j - inter
    return 2 * inter, size_i + size_j


def _within_sizes(
    threshold: Fraction, operator: syntax.Operator
) -> tuple[int, int, syntax.Operator | None]:
    """The threshold in numbers whose products with sizes fit in 64 bits, answering the same.

    No measure of such documents equals a threshold of a larger denominator, so the next fraction
    above it that one can equal takes its place, and only < and >= remain.
    """
    if threshold.denominator <= _SIZES:
        return threshold.numerator, threshold.denominator, operator
    if operator in ("=", "!="):
        return 0, 1, None
    near = threshold.limit_denominator(_SIZES)
    if near < threshold:  # its right neighbour in the Farey sequence: b * c - a * d = 1, d maximal
        a, b = near.as_integer_ratio()
        d = _SIZES - (_SIZES + pow(a, -1, b)) % b if b > 1 else _SIZES
        near = Fraction(1 + a * d, b * d)
    return near.numerator, near.denominator, ">=" if operator in (">", ">=") else "<"


# -- text ------------------------------------------------------------------------------------------


def _text_comparison(found: syntax.CompareTest, columns: Mapping[str, Column]) -> Test:
    """The comparison as a test of pairs; every distinct string is looked at once."""
    left, operator, right = found.left, found.operator, found.right
    if isinstance(left, syntax.TextValue):
        left, operator, right = right, syntax.FLIPPED[operator], left
    if not isinstance(left, syntax.AttributeOf):
        raise ValueError(_UNCHECKED)
    compare, one, first = _COMPARE[operator], columns[left.name], left.of == 1
    if isinstance(right, syntax.TextValue):
        # The last answer is that of the code -1, a missing value.
        answers = np.array([*(compare(s, right.value) for s in one.strings), False], np.bool_)
        return lambda pairs: answers[one.values[pairs.i if first else pairs.j]]
    if not isinstance(right, syntax.AttributeOf):
        raise ValueError(_UNCHECKED)
    other, second = columns[right.name], right.of == 1
    if one is other and operator in ("=", "!="):
        ranks_one = ranks_other = np.array([*range(len(one.strings)), -1], np.int64)
    else:
        ranks_one, ranks_other = ranks(one, other)

    def test(pairs: Pairs) -> Truth:
        a = ranks_one[one.values[pairs.i if first else pairs.j]]
        b = ranks_other[other.values[pairs.i if second else pairs.j]]
        return np.asarray(compare(a, b) & (a >= 0) & (b >= 0))

    return test


def ranks(one: Column, other: Column) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each code of either column its place among the strings of both; -1 for the code -1."""
    order = {s: place for place, s in enumerate(sorted({*one.strings, *other.strings}))}
    return (
        np.array([*(order[s] for s in one.strings), -1], np.int64),
        np.array([*(order[s] for s in other.strings), -1], np.int64),
    )
