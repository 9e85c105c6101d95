"""What a relation is made of, as values: the tree that the parser builds and all others walk.

Conditions: `CompareTest` of values, `ContentTest` (a measure and its threshold), `Contains` (only
in filters), joined by `And`, `Or`, `Not`. Values: constants, attributes, sums, products.
Each knows where it was written; two are equal that say the same, wherever they stand.

A tree is at most `DEPTH` high (chains of one operator are flat), so that walks may be recursive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from asof.caret import Span

LENGTH = 10_000
DEPTH = 100
LARGEST = Fraction(10) ** 30  # of a number, and of one over the smallest
LONGEST = 1 << 61  # microseconds of a span of time: 73,000 years, and two fit in 64 bits

Operator = Literal["=", "!=", "<", ">", "<=", ">="]
MeasureName = Literal["C", "J", "D"]
Document = Literal[1, 2]

NOWHERE: Span = (0, 0)
FLIPPED: dict[Operator, Operator] = {
    "=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<=",
}  # fmt: skip
NEGATED: dict[Operator, Operator] = {
    "=": "!=", "!=": "=", "<": ">=", ">": "<=", "<=": ">", ">=": "<",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Number:
    """An exact number: 0.7 is seven tenths."""

    value: Fraction
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Duration:
    """A span of time in whole microseconds."""

    value: int
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or an instant, in microseconds since 1970; a date is its first moment, in UTC."""

    value: int
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TextValue:
    """A string. Where a time is compared with it, it is read as a date."""

    value: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AttributeOf:
    """What is known of a document: hostname(d1). In a filter, the one document counts as d1."""

    name: str
    of: Document
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms, each to be added (1) or taken away (-1)."""

    parts: Signed
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Product:
    """Factors, each to multiply by (1) or to divide by (-1)."""

    parts: Signed
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Measure:
    """Containment, Jaccard or Dice of the two documents; `first` is the one named first.

    C(d1,d2) is the share of d1's shingles that d2 has (Paudel 2013, section 2). J and D are the
    same both ways, and always have d1 first.
    """

    name: MeasureName
    first: Document
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CompareTest:
    """Two values, compared."""

    left: Value
    operator: Operator
    right: Value
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ContentTest:
    """A measure of content, compared with a threshold."""

    measure: Measure
    operator: Operator
    threshold: Fraction
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Contains:
    """The document's text has these terms in a row (filters only)."""

    phrase: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class And:
    """All of the parts."""

    parts: tuple[Condition, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Or:
    """Any of the parts."""

    parts: tuple[Condition, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    """The contrary: each comparison inside is turned round, so missing values still fail it."""

    part: Condition
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Constant: TypeAlias = Number | Duration | Moment | TextValue
Value: TypeAlias = Constant | AttributeOf | Sum | Product
Signed: TypeAlias = tuple[tuple[Literal[1, -1], Value], ...]
Atom: TypeAlias = CompareTest | ContentTest | Contains
Condition: TypeAlias = Atom | And | Or | Not
Node: TypeAlias = Value | Measure | Condition
SIGNS = {Sum: {1: "+", -1: "-"}, Product: {1: "*", -1: "/"}}


@dataclass(frozen=True, slots=True)
class Relation:
    """When d2 covers d1. Every document covers itself, whatever the condition says."""

    condition: Condition
    text: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents are meant, by what each one is."""

    condition: Condition
    text: str = field(compare=False)


def nodes(node: Node) -> Iterator[Node]:
    """A value or condition, and all that it is made of, as they come."""
    yield node
    below: tuple[Node, ...] = ()
    match node:
        case CompareTest():
            below = node.left, node.right
        case Sum() | Product():
            below = tuple(part for _, part in node.parts)
        case And() | Or():
            below = node.parts
        case Not():
            below = (node.part,)
    for part in below:
        yield from nodes(part)


def attributes(node: Node) -> list[AttributeOf]:
    return [found for found in nodes(node) if isinstance(found, AttributeOf)]


def upright(condition: Condition, *, negated: bool = False) -> Condition:
    """The same condition without `not`: each comparison under one is turned round instead."""
    match condition:
        case Not():
            return upright(condition.part, negated=not negated)
        case And() | Or():
            parts = tuple(upright(part, negated=negated) for part in condition.parts)
            joined = Or if isinstance(condition, And) == negated else And
            return joined(parts, condition.span)
        case CompareTest() | ContentTest() if negated:
            return replace(condition, operator=NEGATED[condition.operator])
        case Contains() if negated:
            return Not(condition, condition.span)
    return condition
