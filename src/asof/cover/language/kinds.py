"""Types: which values can be added and compared, and what comes of it.

    number + - * / number = number         time - time = duration
    time + - duration     = time           duration + - duration = duration
    duration * / number   = duration       duration / duration   = number

Only values of one kind are compared. A string beside a time or a duration is read as a date.
Without columns, an attribute may still be of any kind; with them, every kind is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from asof.clock import parse_iso
from asof.cover.language import syntax
from asof.cover.language.caret import Misread, Span, clipped, listed, pointing_into, suggestion
from asof.cover.language.columns import Column

Kind = Literal["number", "text", "time", "duration"]
Written = TypeVar("Written", syntax.Relation, syntax.Filter)

_PLAIN = {"number": "a number", "text": "text", "time": "a time", "duration": "a span of time"}
_Table = dict[tuple[Kind, int, Kind], Kind]
_SUMS: _Table = {
    ("number", 1, "number"): "number", ("number", -1, "number"): "number",
    ("duration", 1, "duration"): "duration", ("duration", -1, "duration"): "duration",
    ("time", 1, "duration"): "time", ("time", -1, "duration"): "time",
    ("duration", 1, "time"): "time", ("time", -1, "time"): "duration",
}  # fmt: skip
_PRODUCTS: _Table = {
    ("number", 1, "number"): "number", ("number", -1, "number"): "number",
    ("duration", 1, "number"): "duration", ("duration", -1, "number"): "duration",
    ("number", 1, "duration"): "duration", ("duration", -1, "duration"): "number",
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
        left, left_kind = self.value(found.left)
        right, right_kind = self.value(found.right)
        left, left_kind = self._beside(left, left_kind, right_kind)
        right, right_kind = self._beside(right, right_kind, left_kind)
        if None not in (left_kind, right_kind) and left_kind != right_kind:
            raise self._mismatch(
                found.span, "compared", (left, left_kind), (right, right_kind), found.operator
            )
        return syntax.CompareTest(left, found.operator, right, found.span)

    def value(self, value: syntax.Value) -> tuple[syntax.Value, Kind | None]:
        match value:
            case syntax.Number():
                return value, "number"
            case syntax.Duration():
                return value, "duration"
            case syntax.Moment():
                return value, "time"
            case syntax.TextValue():
                return value, "text"
            case syntax.AttributeOf():
                return value, self._attribute(value)
            case syntax.Sum():
                terms, kind = self._chain(value.terms, _SUMS, "+-", value.span)
                return syntax.Sum(terms, value.span), kind
            case syntax.Product():
                factors, kind = self._chain(value.factors, _PRODUCTS, "*/", value.span)
                return syntax.Product(factors, value.span), kind

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

    def _chain(
        self,
        parts: tuple[tuple[Literal[1, -1], syntax.Value], ...],
        table: _Table,
        signs: str,
        span: Span,
    ) -> tuple[tuple[tuple[Literal[1, -1], syntax.Value], ...], Kind | None]:
        """Left to right, as it is read: each part must fit what those before it came to."""
        found = [(sign, *self.value(part)) for sign, part in parts]
        timely = next((kind for _, _, kind in found if kind in ("time", "duration")), None)
        done: list[tuple[Literal[1, -1], syntax.Value]] = []
        total: Kind | None = None
        unknown = False
        for sign, part, kind in found:
            if (
                isinstance(part, syntax.TextValue) and table is _SUMS
            ):  # text is not added, so it is a date
                beside = timely or ("time" if parse_iso(part.value) is not None else None)
                part, kind = self._beside(part, kind, beside)
            operator = signs[0] if sign == 1 else signs[1]
            if kind == "text" or (not done and sign == -1 and kind == "time"):
                raise self._cannot(part, kind, operator)
            if kind is None or unknown:
                unknown = True
            elif done:
                assert total is not None
                result = table.get((total, sign, kind))
                if result is None:
                    so_far = (
                        done[0][1] if len(done) == 1 else syntax.Sum(tuple(done), span),
                        total,
                    )
                    raise self._mismatch(part.span, "joined", so_far, (part, kind), operator)
                total = result
            else:
                total = kind
            done.append((sign, part))
        return tuple(done), None if unknown else total

    def _beside(
        self, value: syntax.Value, kind: Kind | None, other: Kind | None
    ) -> tuple[syntax.Value, Kind | None]:
        if not isinstance(value, syntax.TextValue) or other not in ("time", "duration"):
            return value, kind
        instant = parse_iso(value.value)
        if instant is None:
            raise Misread(
                value.span,
                f"expected a date beside {_PLAIN[other]}, found the text {clipped(value.value)}",
                "Write a date as 2010-01-31 or 2010-01-31T12:00:00Z.",
            )
        return syntax.Moment(instant, value.span), "time"

    def _cannot(self, part: syntax.Value, kind: Kind | None, operator: str) -> Misread:
        what = f"expected a number or a time beside {operator}, found {_PLAIN[kind or 'text']}"
        if kind == "time":
            what = "a time cannot be taken from nothing"
        elif isinstance(part, syntax.AttributeOf):
            what += f": {part.name} is text"
        return Misread(part.span, what, "Text can only be compared.")

    def _mismatch(
        self,
        span: Span,
        how: str,
        left: tuple[syntax.Value, Kind | None],
        right: tuple[syntax.Value, Kind | None],
        operator: str,
    ) -> Misread:
        kinds = f"{_named(*left)} and {_named(*right)}"
        what = f"{kinds} cannot be {how} by {operator}"
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
