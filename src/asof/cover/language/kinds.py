"""Types: which values can be added and compared, and what comes of it.

    number + - * / number = number         time - time = duration
    time + - duration     = time           duration + - duration = duration
    duration * / number   = duration       duration / duration   = number

Only values of one kind are compared. A string beside a time or a duration is read as a date.
Without columns, an attribute may still be of any kind; with them, every kind is known.

Constants are worked out exactly, and while reading: 7/10 is seven tenths, 2 * 7d is two weeks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, TypeVar

from asof.caret import Misread, Span, clipped, listed, pointing_into, suggestion
from asof.clock import parse_iso
from asof.cover.language import syntax
from asof.cover.language.columns import FARTHEST, Column

Kind = Literal["number", "text", "time", "duration"]
Written = TypeVar("Written", syntax.Relation, syntax.Filter)

_KIND_OF: dict[type, Kind] = {
    syntax.Number: "number", syntax.Duration: "duration", syntax.Moment: "time",
    syntax.TextValue: "text",
}  # fmt: skip
_PLAIN = {"number": "a number", "text": "text", "time": "a time", "duration": "a span of time"}
_RESULTS: dict[type, dict[tuple[Kind | None, int, Kind | None], Kind]] = {syntax.Sum: {
    ("number", 1, "number"): "number", ("number", -1, "number"): "number",
    ("duration", 1, "duration"): "duration", ("duration", -1, "duration"): "duration",
    ("time", 1, "duration"): "time", ("time", -1, "duration"): "time",
    ("duration", 1, "time"): "time", ("time", -1, "time"): "duration",
}, syntax.Product: {
    ("number", 1, "number"): "number", ("number", -1, "number"): "number",
    ("duration", 1, "number"): "duration", ("duration", -1, "number"): "duration",
    ("number", 1, "duration"): "duration", ("duration", -1, "duration"): "number",
}}  # fmt: skip
_Typed = tuple[syntax.Value, Kind | None]

# Larger constants cannot be compared with columns.
_MOST: dict[Kind, Fraction | int] = {
    "number": syntax.LARGEST, "duration": syntax.LONGEST, "time": FARTHEST,
}  # fmt: skip


def type_check(written: Written, columns: Mapping[str, Column]) -> Written:
    """The relation or filter with strings read as dates where a time is meant; or a UsageError."""
    checked = checked_condition(written.condition, written.text, columns)
    return type(written)(checked, written.text)


def checked_condition(
    condition: syntax.Condition, text: str, columns: Mapping[str, Column] | None
) -> syntax.Condition:
    """The condition, every value of it of a kind that fits; without columns, as far as known."""
    with pointing_into(text):
        return _Check(columns).condition(condition)


@dataclass(frozen=True, slots=True)
class _Check:
    columns: Mapping[str, Column] | None

    def condition(self, condition: syntax.Condition) -> syntax.Condition:
        match condition:
            case syntax.And() | syntax.Or():
                parts = tuple(self.condition(part) for part in condition.parts)
                return type(condition)(parts, condition.span)
            case syntax.Not():
                return syntax.Not(self.condition(condition.part), condition.span)
            case syntax.CompareTest():
                return self.comparison(condition)
        return condition

    def comparison(self, found: syntax.CompareTest) -> syntax.CompareTest:
        left, right = self.value(found.left), self.value(found.right)
        left = _beside(left, right[1])
        right = _beside(right, left[1])
        if None not in (left[1], right[1]) and left[1] != right[1]:
            raise _mismatch(found.span, "compared", left, right, found.operator)
        return replace(found, left=left[0], right=right[0])

    def value(self, value: syntax.Value) -> _Typed:
        match value:
            case syntax.AttributeOf():
                return value, self._attribute(value)
            case syntax.Sum() | syntax.Product():
                return self._chain(value)
        return value, _KIND_OF[type(value)]

    def _attribute(self, attribute: syntax.AttributeOf) -> Kind | None:
        if self.columns is None:
            return None
        column = self.columns.get(attribute.name)
        if column is not None:
            return column.kind
        raise Misread(
            attribute.span,
            f"no attribute is called {clipped(attribute.name)}",
            f"{suggestion(attribute.name, self.columns)} "
            f"Known: {listed(self.columns) or 'none'}.".strip(),
        )

    def _chain(self, chain: syntax.Sum | syntax.Product) -> _Typed:
        """Left to right, as it is read: each part must fit what those before it came to."""
        found = [(sign, self.value(part)) for sign, part in chain.parts]
        timely = next((kind for _, (_, kind) in found if kind in ("time", "duration")), None)
        done: list[tuple[Literal[1, -1], syntax.Value]] = []
        total: Kind | None = None
        unknown = False
        for sign, typed in found:
            # Text is not added, so it is a date.
            if isinstance(typed[0], syntax.TextValue) and isinstance(chain, syntax.Sum):
                dated: Kind | None = "time" if parse_iso(typed[0].value) is not None else None
                typed = _beside(typed, timely or dated)
            part, kind = typed
            operator = syntax.SIGNS[type(chain)][sign]
            if kind == "text" or (not done and sign == -1 and kind == "time"):
                raise _cannot(part, kind, operator)
            unknown = unknown or kind is None
            if not unknown:
                fits = _RESULTS[type(chain)].get((total, sign, kind)) if done else kind
                if fits is None:
                    so_far = done[0][1] if len(done) == 1 else chain, total
                    raise _mismatch(part.span, "joined", so_far, typed, operator)
                total = fits
            done.append((sign, part))
        return replace(chain, parts=tuple(done)), None if unknown else total


def _beside(typed: _Typed, other: Kind | None) -> _Typed:
    value, _ = typed
    if not isinstance(value, syntax.TextValue) or other not in ("time", "duration"):
        return typed
    instant = parse_iso(value.value)
    if instant is None:
        raise Misread(
            value.span,
            f"expected a date beside {_PLAIN[other]}, found the text {clipped(value.value)}",
            "Write a date as 2010-01-31 or 2010-01-31T12:00:00Z.",
        )
    return syntax.Moment(instant, value.span), "time"


def _cannot(part: syntax.Value, kind: Kind | None, operator: str) -> Misread:
    what = f"expected a number or a time beside {operator}, found {_PLAIN[kind or 'text']}"
    if kind == "time":
        what = "a time cannot be taken from nothing"
    elif isinstance(part, syntax.AttributeOf):
        what += f": {part.name} is text"
    return Misread(part.span, what, "Text can only be compared.")


def _mismatch(span: Span, how: str, left: _Typed, right: _Typed, operator: str) -> Misread:
    what = f"{_named(*left)} and {_named(*right)} cannot be {how} by {operator}"
    both = {left[1], right[1]}
    hint = ""
    if "number" in both and both & {"time", "duration"}:
        hint = "A span of time has a unit: write 604800s or 7d."
        if how == "compared" and "time" in both:
            hint = "Write a date as 2010-01-31 or 2010-01-31T12:00:00Z."
    elif "number" in both and "text" in both:
        hint = "Write numbers without quotes, and text with them."
    elif both == {"time", "duration"} and how == "compared":
        hint = "Compare two times, or the difference of two times with a span."
    elif both == {"time"}:
        hint = "Add a span such as 7d to a time."
    elif "text" in both:
        hint = "Compare text with text."
    return Misread(span, what, hint)


def _named(value: syntax.Value, kind: Kind | None) -> str:
    plain = _PLAIN[kind or "text"]
    return f"{clipped(value.name)} ({plain})" if isinstance(value, syntax.AttributeOf) else plain


# -- constants, while reading ----------------------------------------------------------------------


def joined(
    whole: type[syntax.Sum | syntax.Product],
    left: syntax.Value,
    sign: Literal[1, -1],
    right: syntax.Value,
    span: Span,
) -> syntax.Value:
    """left + - right or left * / right; never divided by a constant zero."""
    dividing = whole is syntax.Product and sign == -1
    if dividing and isinstance(right, syntax.Number | syntax.Duration) and not right.value:
        raise Misread(right.span, "division by zero", "Divide by another number.")
    kind = _RESULTS[whole].get((_KIND_OF.get(type(left)), sign, _KIND_OF.get(type(right))))
    constant = syntax.Number | syntax.Duration | syntax.Moment
    if kind is None or not isinstance(left, constant) or not isinstance(right, constant):
        parts = left.parts if isinstance(left, whole) else ((1, left),)
        return whole((*parts, (sign, right)), span)
    one, other = Fraction(left.value), Fraction(right.value)
    exact = one + sign * other if whole is syntax.Sum else one * other**sign
    value: Any = exact if kind == "number" else round(exact)
    if abs(value) > _MOST[kind] or value.denominator > syntax.LARGEST:
        raise Misread(
            span,
            "what this comes to is too large or too fine",
            "Numbers go up to 1e30, spans and dates some thousand years.",
        )
    constants = {known: made for made, known in _KIND_OF.items()}
    found: syntax.Constant = constants[kind](value, span)
    return found


def negative(value: syntax.Value, span: Span) -> syntax.Value:
    match value:
        case syntax.Number():
            return syntax.Number(-value.value, span)
        case syntax.Duration():
            return syntax.Duration(-value.value, span)
    return syntax.Sum(((-1, value),), span)
