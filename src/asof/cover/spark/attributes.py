"""Attributes of documents as columns of Spark's tables, and back as the columns of conditions.

A number is a double, a time a bigint of microseconds since 1970, a text a string; what is missing
is null, which equals nothing in a join either. Attribute x of a run is the column a<x>: names of a
table's own columns can be anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from asof.cover.language.columns import MISSING_TIME, Column, ColumnKind
from asof.cover.spark.extras import Values, arrow

_TYPES: dict[ColumnKind, str] = {"number": "double", "time": "bigint", "text": "string"}


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes that a run needs, with their kinds, in a fixed order."""

    kinds: tuple[tuple[str, ColumnKind], ...]

    def place(self, name: str) -> str:
        return self.places[[own for own, _ in self.kinds].index(name)]

    def kind(self, name: str) -> ColumnKind:
        return dict(self.kinds)[name]

    @property
    def places(self) -> list[str]:
        return [f"a{at}" for at in range(len(self.kinds))]

    @property
    def schema(self) -> list[str]:
        return [f"a{at} {_TYPES[kind]}" for at, (_, kind) in enumerate(self.kinds)]

    def arrays(self, columns: Mapping[str, Column]) -> list[Values]:
        return [_array(columns[name]) for name, _ in self.kinds]

    def columns(self, tables: Sequence[Mapping[str, Values]]) -> dict[str, Column]:
        """Arrow arrays by their places, of one table of documents or of more behind each other."""
        return {
            name: _column(kind, [table[f"a{at}"] for table in tables])
            for at, (name, kind) in enumerate(self.kinds)
        }


def _array(column: Column) -> Values:
    missing = ~column.known
    if column.kind == "number":
        return arrow.array(column.values + 0.0, arrow.float64(), mask=missing)  # -0 joins with 0
    if column.kind == "time":
        return arrow.array(column.values, arrow.int64(), mask=missing)
    strings = arrow.array(column.strings, arrow.string())
    return strings.take(arrow.array(column.values, arrow.int32(), mask=missing))


def _column(kind: ColumnKind, arrays: list[Values]) -> Column:
    whole = arrow.concat_arrays(arrays)
    if kind != "text":
        missing = float("nan") if kind == "number" else MISSING_TIME
        return Column(kind, whole.fill_null(missing).to_numpy(zero_copy_only=False))
    coded = whole.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return Column(kind, codes, tuple(coded.dictionary.to_pylist()))
