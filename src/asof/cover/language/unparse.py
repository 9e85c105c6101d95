"""Conditions written out again, in the plain ASCII spelling that the parser reads back."""

import re
from fractions import Fraction

from asof.clock import iso
from asof.cover.language import syntax
from asof.cover.language.lexer import NAME, UNITS

_OWN = re.compile(r"(?i:and|or|not|contains)|[CJD]|Cov|text")


def unparse(node: syntax.Node, *, one: bool = False) -> str:
    """The node as text; `one` for a filter, whose document is d."""
    match node:
        case syntax.Number():
            return number(node.value)
        case syntax.Duration():
            return span(node.value)
        case syntax.Moment():
            return iso(node.value).removesuffix("T00:00:00.000000Z").replace(".000000Z", "Z")
        case syntax.TextValue():
            return '"' + node.value.replace('"', '""') + '"'
        case syntax.AttributeOf():
            plain = NAME.fullmatch(node.name) and not _OWN.fullmatch(node.name)
            name = node.name if plain else f"`{node.name}`"
            return f"{name}(d)" if one else f"{name}(d{node.of})"
        case syntax.Measure():
            return f"{node.name}(d{node.first},d{3 - node.first})"
        case syntax.Contains():
            return f"text contains {unparse(syntax.TextValue(node.phrase))}"
        case syntax.ContentTest():
            return f"{unparse(node.measure)} {node.operator} {number(node.threshold)}"
        case syntax.CompareTest():
            left, right = unparse(node.left, one=one), unparse(node.right, one=one)
            return f"{left} {node.operator} {right}"
        case syntax.Not():
            return f"not ({unparse(node.part, one=one)})"
        case syntax.And() | syntax.Or():
            parts = [(part, unparse(part, one=one)) for part in node.parts]
            return (" and " if isinstance(node, syntax.And) else " or ").join(
                f"({text})" if isinstance(part, syntax.And | syntax.Or) else text
                for part, text in parts
            )
    return _chain(node, one=one)


def _chain(node: syntax.Sum | syntax.Product, *, one: bool) -> str:
    text = ""
    for sign, part in node.parts:
        inner, operator = unparse(part, one=one), syntax.SIGNS[type(node)][sign]
        # A negative or broken constant (-1, 1/3) needs them as much as a sum does.
        plain = isinstance(part, syntax.TextValue | syntax.AttributeOf)
        if not plain and (
            isinstance(part, syntax.Sum | syntax.Product) or re.search("^-|/", inner)
        ):
            inner = f"({inner})"
        if text:
            text += f" {operator} {inner}"
        else:
            text = f"{operator}{inner}" if sign == -1 else inner
    return text


def number(value: Fraction) -> str:
    """A number, as a decimal if it is one, else as a quotient."""
    whole, rest = divmod(abs(value), 1)
    sign = "-" if value < 0 else ""
    if not rest:
        return f"{sign}{whole}"
    for digits in range(1, 31):
        if (rest * 10**digits).denominator == 1:
            return f"{sign}{whole}.{int(rest * 10**digits):0{digits}}"
    return f"{value.numerator}/{value.denominator}"


def span(microseconds: int) -> str:
    """A span of time in the largest unit that measures it."""
    for unit, size in UNITS.items():
        if microseconds and microseconds % size == 0:
            return f"{microseconds // size}{unit}"
    return f"{number(Fraction(microseconds, UNITS['s']))}s"
