"""What is known of documents besides their content: one column an attribute (Paudel 2013, Table 1).

A value may be missing. No comparison with a missing value holds, neither = nor !=, and no `not`
makes it hold: whoever asks for another host asks for a host that is known to be another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

ColumnKind = Literal["number", "text", "time"]
Array: TypeAlias = NDArray[Any]

MISSING_TIME = int(np.iinfo(np.int64).min)
"""A time that is not known; numpy's own NaT is the same number."""

FARTHEST = 1 << 58
"""No time is farther from 1970 (9,133 years): sums of a few times and spans stay within 64 bits."""


_TYPES: dict[ColumnKind, type] = {"number": np.float64, "time": np.int64, "text": np.int32}


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """An attribute of all documents, in the order of their ids.

    number: float64, nan where missing. time: int64 microseconds since 1970, `MISSING_TIME` where
    missing. text: int32 codes into `strings`, which are distinct; -1 where missing.
    """

    kind: ColumnKind
    values: Array
    strings: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        wanted = _TYPES[self.kind]
        if self.values.dtype != wanted:
            raise ValueError(f"a column of {self.kind} is of {wanted.__name__}")
        if self.kind == "time":
            known = self.values[self.values != MISSING_TIME]
            if known.size and (known.max() > FARTHEST or known.min() < -FARTHEST):
                raise ValueError("a time is more than 9,000 years from 1970")
        codes = self.values if self.kind == "text" else self.values[:0]
        if codes.size and not -1 <= codes.min() <= codes.max() < len(self.strings):
            raise ValueError("a code stands for no string")

    @property
    def known(self) -> NDArray[np.bool_]:
        if self.kind == "number":
            return ~np.isnan(self.values)
        if self.kind == "time":
            return np.asarray(self.values != MISSING_TIME)
        return np.asarray(self.values >= 0)

    def only(self, chosen: Array) -> Column:
        return Column(self.kind, self.values[chosen], self.strings)

    def text(self, place: int) -> str | None:
        """Of a column of text: that of one document."""
        code = int(self.values[place])
        return None if code < 0 else self.strings[code]


def text_column(values: Iterable[str | None]) -> Column:
    """A column of strings; None where missing."""
    codes: dict[str, int] = {}
    coded = [-1 if value is None else codes.setdefault(value, len(codes)) for value in values]
    return Column("text", np.array(coded, np.int32), tuple(codes))


def number_column(values: Sequence[float | int | None] | Array) -> Column:
    """A column of numbers; missing where None, nan or infinite."""
    numbers = np.array(values, np.float64)  # None becomes nan
    numbers[~np.isfinite(numbers)] = np.nan
    return Column("number", numbers)


def time_column(values: Iterable[int | None]) -> Column:
    """A column of instants (microseconds since 1970); None where missing."""
    return Column("time", np.array([MISSING_TIME if v is None else v for v in values], np.int64))


COLUMN_OF: dict[ColumnKind, Callable[[list[Any]], Column]] = {
    "number": number_column, "text": text_column, "time": time_column,
}  # fmt: skip
