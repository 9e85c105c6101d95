"""A relation explained: what each part of it does for the join, and what is left for each pair."""

from asof.cover.language.analyse import Alternative, AttributeRange, analyse
from asof.cover.language.bounds import Least
from asof.cover.language.syntax import CompareTest, Duration, Filter, Relation, Sum, Value
from asof.cover.language.unparse import number, span, unparse

_LABEL = 16


def explain(relation: Relation, chosen: Filter | None = None) -> str:
    """What the relation says and how it is answered, in lines for a person.

    `chosen` says of which documents, if not of all. Both are explained better if their kinds have
    been checked (`kinds.type_check`): a date in quotes is a date then.
    """
    alternatives = analyse(relation)
    lines = [f"d2 covers d1 if {unparse(relation.condition)}", "(and every document covers itself)"]
    if chosen is not None:
        lines.append(f"Of all documents d only those with {unparse(chosen.condition, one=True)}")
    for place, alternative in enumerate(alternatives, 1):
        lines.append("")
        if len(alternatives) > 1:
            lines.append(f"Way {place} of {len(alternatives)}: {unparse(alternative.condition)}")
        lines += _lines(alternative)
    return "\n".join(lines)


def _lines(alternative: Alternative) -> list[str]:
    same = [key.d1 for key in alternative.keys if key.same]
    other = [key for key in alternative.keys if not key.same]
    parts: list[tuple[str, list[str]]] = [
        ("bounds the join", _bounds(alternative)),
        ("partition key", [f"{name}: only documents of one {name} are compared" for name in same]),
        ("joined by", [f"{key.d1} of d1 and {key.d2} of d2, which are equal" for key in other]),
        ("range", [_range(limit) for limit in alternative.ranges]),
        ("d1 alone", [unparse(condition) for condition in alternative.d1]),
        ("d2 alone", [unparse(condition) for condition in alternative.d2]),
        ("pair by pair", [unparse(atom) for atom in alternative.residual]),
    ]
    return [
        f"  {label if not row else '':<{_LABEL}} {text}"
        for label, texts in parts
        for row, text in enumerate(texts or ["-"])
        if texts or label == "pair by pair"
    ]


def _bounds(alternative: Alternative) -> list[str]:
    bound = alternative.bound
    if bound.empty:
        return ["nothing in their content: all that meet are compared"]
    named = [
        ("C(d1,d2)", bound.contained, "of d1's shingles are in d2"),
        ("C(d2,d1)", bound.containing, "of d2's shingles are in d1"),
        ("J(d1,d2)", bound.jaccard, "of all shingles of both are in both"),
        ("D(d1,d2)", bound.dice, "of their shingles, on average, are in both"),
    ]
    return [_bound(name, least, meaning) for name, least, meaning in named if least is not None]


def _bound(name: str, least: Least, meaning: str) -> str:
    share = number(least.threshold * 100)
    if "/" in share:
        share = f"about {float(least.threshold * 100):.4g}"
    how = "more than" if least.strict else "at least"
    how = "all" if least.threshold == 1 else f"{how} {share} %"
    return f"{name} {'>' if least.strict else '>='} {number(least.threshold)}: {how} {meaning}"


def _range(limit: AttributeRange) -> str:
    """In words of time where a span is named or the attribute is called so, else of numbers."""
    if limit.plain:
        return f"{limit.attribute}: that of d2 is {_sign(limit)} that of d1"
    timely = _has_span(limit.source.left) or _has_span(limit.source.right)
    at = limit.low if limit.low is not None else limit.high or 0
    shown = span(at) if timely else str(at)
    return f"{limit.attribute}: that of d2 less that of d1 is {_sign(limit)} {shown}"


def _sign(limit: AttributeRange) -> str:
    if limit.low is not None and limit.high is not None:
        return "="
    if limit.low is not None:
        return ">" if limit.low_strict else ">="
    return "<" if limit.high_strict else "<="


def _has_span(value: Value | CompareTest) -> bool:
    if isinstance(value, Sum):
        return any(_has_span(term) for _, term in value.parts)
    return isinstance(value, Duration)
