"""Comparisons of text: equal strings by their codes, others by the order of their code points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asof.cover.language.columns import Array, Column
from asof.cover.language.syntax import FLIPPED, Attribute, Comparison, Operator, Text, Value

Truth = NDArray[np.bool_]
_COMPARE: dict[Operator, Callable[[Any, Any], Any]] = {
    "=": eq, "!=": ne, "<": lt, ">": gt, "<=": le, ">=": ge,
}  # fmt: skip


def text_comparison(
    found: Comparison, columns: Mapping[str, Column]
) -> Callable[[Array, Array], Truth]:
    """The comparison as a test of documents i and j; every distinct string is looked at once."""
    left, operator, right = found.left, found.operator, found.right
    if isinstance(left, Text):
        left, operator, right = right, FLIPPED[operator], left
    if not isinstance(left, Attribute):
        raise ValueError("types were not checked: text beside no text")
    if isinstance(right, Text):
        return _with_constant(left, columns[left.name], operator, right.value)
    return _of_two(left, operator, right, columns)


def _with_constant(
    attribute: Attribute, column: Column, operator: Operator, constant: str
) -> Callable[[Array, Array], Truth]:
    compare = _COMPARE[operator]
    # The last answer is that of the code -1, a missing value.
    answers = np.array([*(compare(s, constant) for s in column.strings), False], np.bool_)
    return lambda i, j: answers[column.values[i if attribute.of == 1 else j]]


def _of_two(
    left: Attribute, operator: Operator, right: Value, columns: Mapping[str, Column]
) -> Callable[[Array, Array], Truth]:
    if not isinstance(right, Attribute):
        raise ValueError("types were not checked: text beside no text")
    one, other = columns[left.name], columns[right.name]
    if one is other and operator in ("=", "!="):
        ranks_one = ranks_other = np.array([*range(len(one.strings)), -1], np.int64)
    else:
        ranks_one, ranks_other = ranks(one, other)
    compare = _COMPARE[operator]

    def test(i: Array, j: Array) -> Truth:
        a = ranks_one[one.values[i if left.of == 1 else j]]
        b = ranks_other[other.values[i if right.of == 1 else j]]
        return np.asarray(compare(a, b) & (a >= 0) & (b >= 0))

    return test


def ranks(one: Column, other: Column) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each code of either column its place among the strings of both; -1 for the code -1."""
    order = {s: place for place, s in enumerate(sorted({*one.strings, *other.strings}))}
    return (
        np.array([*(order[s] for s in one.strings), -1], np.int64),
        np.array([*(order[s] for s in other.strings), -1], np.int64),
    )
