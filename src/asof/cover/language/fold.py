"""Arithmetic of constants, exactly and while reading: 7/10 is seven tenths, 2 * 7d is two weeks."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from asof.cover.language.caret import Misread, Span
from asof.cover.language.columns import FARTHEST
from asof.cover.language.kinds import KIND_OF, RESULTS, Kind
from asof.cover.language.syntax import (
    LARGEST,
    LONGEST,
    Duration,
    Moment,
    Number,
    Product,
    Sum,
    Value,
)

# More cannot be compared with columns.
_MOST: dict[Kind, Fraction | int] = {"number": LARGEST, "duration": LONGEST, "time": FARTHEST}


def joined(
    whole: type[Sum | Product], left: Value, sign: Literal[1, -1], right: Value, span: Span
) -> Value:
    """left + - right or left * / right; never divided by a constant zero."""
    dividing = whole is Product and sign == -1
    if dividing and isinstance(right, Number | Duration) and not right.value:
        raise Misread(right.span, "division by zero", "Divide by another number.")
    kind = RESULTS[whole].get((KIND_OF.get(type(left)), sign, KIND_OF.get(type(right))))
    constant = Number | Duration | Moment
    if kind is None or not isinstance(left, constant) or not isinstance(right, constant):
        parts = left.parts if isinstance(left, whole) else ((1, left),)
        return whole((*parts, (sign, right)), span)
    one, other = Fraction(left.value), Fraction(right.value)
    value = one + sign * other if whole is Sum else one * other**sign
    value = value if kind == "number" else Fraction(round(value))
    if abs(value) > _MOST[kind] or value.denominator > LARGEST:
        raise Misread(
            span,
            "what this comes to is too large or too fine",
            "Numbers go up to 1e30, spans and dates some thousand years.",
        )
    if kind == "number":
        return Number(value, span)
    return Duration(int(value), span) if kind == "duration" else Moment(int(value), span)


def negative(value: Value, span: Span) -> Value:
    match value:
        case Number():
            return Number(-value.value, span)
        case Duration():
            return Duration(-value.value, span)
    return Sum(((-1, value),), span)
