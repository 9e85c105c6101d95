"""Arithmetic of constants, exactly and while reading: 7/10 is seven tenths, 2 * 7d is two weeks."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from asof.cover.language.caret import Misread, Span
from asof.cover.language.columns import FARTHEST
from asof.cover.language.syntax import (
    LARGEST,
    LONGEST,
    Constant,
    Duration,
    Moment,
    Number,
    Product,
    Sum,
    Value,
)


def added(left: Value, sign: Literal[1, -1], right: Value, span: Span) -> Value:
    folded: Constant | None = None
    match left, right:
        case Number(), Number():
            folded = Number(left.value + sign * right.value, span)
        case Duration(), Duration():
            folded = Duration(left.value + sign * right.value, span)
        case Moment(), Duration():
            folded = Moment(left.value + sign * right.value, span)
        case Duration(), Moment() if sign == 1:
            folded = Moment(left.value + right.value, span)
        case Moment(), Moment() if sign == -1:
            folded = Duration(left.value - right.value, span)
    if folded is not None:
        return _within(folded)
    terms = left.terms if isinstance(left, Sum) else ((1, left),)
    return Sum((*terms, (sign, right)), span)


def multiplied(left: Value, power: Literal[1, -1], right: Value, span: Span) -> Value:
    """left * right or left / right; never by a constant zero."""
    if power == -1 and isinstance(right, Number | Duration) and not right.value:
        raise Misread(right.span, "division by zero", "Divide by another number.")
    folded: Constant | None = None
    match left, right:
        case Number(), Number():
            folded = Number(left.value * right.value**power, span)
        case Duration(), Number():
            folded = Duration(round(left.value * right.value**power), span)
        case Number(), Duration() if power == 1:
            folded = Duration(round(left.value * right.value), span)
        case Duration(), Duration() if power == -1:
            folded = Number(Fraction(left.value, right.value), span)
    if folded is not None:
        return _within(folded)
    factors = left.factors if isinstance(left, Product) else ((1, left),)
    return Product((*factors, (power, right)), span)


def negative(value: Value, span: Span) -> Value:
    match value:
        case Number():
            return Number(-value.value, span)
        case Duration():
            return Duration(-value.value, span)
    return Sum(((-1, value),), span)


def _within(value: Constant) -> Constant:
    """As it is, unless it is larger than columns can be compared with."""
    match value:
        case Number():
            fine = abs(value.value) <= LARGEST and value.value.denominator <= LARGEST
        case Duration():
            fine = abs(value.value) <= LONGEST
        case Moment():
            fine = abs(value.value) <= FARTHEST
        case _:
            fine = True
    if not fine:
        raise Misread(
            value.span,
            "what this comes to is too large or too fine",
            "Numbers go up to 1e30, spans and dates some thousand years.",
        )
    return value
