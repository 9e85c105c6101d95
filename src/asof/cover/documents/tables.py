"""Documents from a table: JSON lines or Parquet with an id, a text, and whatever else is known.

A folder of Parquet files, as Spark writes them, is one table: its *.parquet files in the order of
their names, but for those that begin with a dot or `_`, which are of no documents.

A column whose values are all numbers (true is 1) is one of numbers; one whose values are all dates
or moments (ISO 8601, with a month at least: 2010 alone may be any code) is one of times; every
other one is text. A missing or null value is not known. Documents are compared by the shingles of
their text. `length` is that of the text in characters, unless the table has a column of that name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from asof.caret import clipped
from asof.change.shingles import K, Unit, shingles_of_all
from asof.clock import DAY, Instant, iso, parse_iso
from asof.cover.documents.collection import Collection
from asof.cover.documents.sets import Sets
from asof.cover.language.columns import Column, ColumnKind, number_column, text_column, time_column
from asof.errors import InputError, missing_extra, why_no_json
from asof.files import input_file

_LONGEST_LINE = 64 << 20
_BATCH = 4096
_ID, _TEXT = "id", "text"
_WHOLE = 1 << 53

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Table:
    """Documents as they were read: names (all of them `numbers`?), texts, columns by name."""

    names: tuple[str, ...]
    texts: tuple[str, ...]
    columns: dict[str, Column]
    numbers: bool = False

    def collection(self, k: int = K, unit: Unit = "terms") -> Collection:
        """The same with shingles in the place of texts."""
        items, offsets = shingles_of_all(self.texts, k, unit)
        weights = np.fromiter((len(text.encode()) for text in self.texts), np.int64)
        return Collection(self.names, self.columns, Sets(offsets, items), weights, self.numbers)


def read_table(path: Path) -> Table:
    """The documents of a file, by its ending (.parquet, else JSON lines), or of a folder."""
    rows: Iterator[Row]
    if path.is_dir():
        rows = (row for part in _parts(path) for row in _parquet_rows(part))
    else:
        rows = _parquet_rows(path) if path.suffix == ".parquet" else _json_rows(path)
    names: list[str] = []
    texts: list[str] = []
    values: dict[str, list[object]] = {}
    numbers, texted = True, False
    for number, row in enumerate(rows, 1):
        texted |= _TEXT in row
        name, text = row.pop(_ID, None), row.pop(_TEXT, None)
        if name is None or isinstance(name, dict | list):
            raise InputError(f"{path}, document {number}: no id.", hint="Give each an `id`.")
        if text is not None and not isinstance(text, str):
            raise InputError(f"{path}, document {number}: its text is no text.", hint="Mend it.")
        for key, value in row.items():
            values.setdefault(key, [None] * len(names)).append(value)
        names.append(str(name))
        numbers &= type(name) is int
        texts.append(text or "")
        for column in values.values():
            if len(column) < len(names):
                column.append(None)
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise InputError(
            f"{path}: the id {clipped(twice)} stands there twice.", hint="Ids tell documents apart."
        )
    if names and not texted:
        raise InputError(f"{path}: no document has a text.", hint="Call the column `text`.")
    columns = {key: column_of(column) for key, column in values.items()}
    columns.setdefault("length", number_column([float(len(text)) for text in texts]))
    return Table(tuple(names), tuple(texts), columns, numbers)


@dataclass(frozen=True, slots=True)
class Traits:
    """What the values of a column, or of a part of it, have in common: that decides its kind."""

    known: bool  # there is a value at all
    numbers: bool  # all that there are, are numbers
    moments: bool  # or dates and moments

    @classmethod
    def of(cls, values: Sequence[object]) -> Traits:
        known = [value for value in values if value is not None]
        return cls(
            bool(known),
            # Floats, and whole numbers that they tell from their neighbours; ids may be larger.
            all(
                isinstance(value, float) or (isinstance(value, int) and abs(value) <= _WHOLE)
                for value in known
            ),
            all(_moment(value) is not None for value in known),
        )

    @property
    def kind(self) -> ColumnKind:
        if self.known and self.numbers:
            return "number"
        return "time" if self.known and self.moments else "text"


def column_of(values: Sequence[object]) -> Column:
    return column_as(Traits.of(values).kind, values)


def column_as(kind: ColumnKind, values: Sequence[object]) -> Column:
    if kind == "number":
        return number_column([float(v) if isinstance(v, int | float) else None for v in values])
    if kind == "time":
        return time_column(_moment(value) for value in values)
    told = partial(json.dumps, ensure_ascii=False, default=str)
    return text_column(v if v is None or isinstance(v, str) else told(v) for v in values)


def _moment(value: object) -> Instant | None:
    return parse_iso(value) if isinstance(value, str) and "-" in value else None


def _json_rows(path: Path) -> Iterator[Row]:
    try:
        with input_file(path) as file:
            lines = iter(partial(file.readline, _LONGEST_LINE + 1), b"")  # never more in memory
            for number, line in enumerate(lines, 1):
                if len(line) > _LONGEST_LINE:
                    raise InputError(
                        f"{path} has a line of more than {_LONGEST_LINE:,} bytes.",
                        hint="Give one document a line.",
                    )
                if line.strip():
                    yield _row(line, f"{path}, line {number}")
    except OSError as error:
        what = f"{path} cannot be read: {error.strerror}."
        raise InputError(what, hint="Check the path and its rights.") from error


def _row(line: bytes, where: str) -> Row:
    try:
        found = json.loads(line.strip())
        if b"\\ud" in line.lower():  # half of a pair, which is no character and cannot be written
            found = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        why = why_no_json(error)
        raise InputError(f"{where}: {why}.", hint="One object a line.") from error
    if not isinstance(found, dict):
        raise InputError(f"{where}: no object.", hint='Write {"id": ..., "text": ...}.')
    return found


def _parts(folder: Path) -> list[Path]:
    found = sorted(part for part in folder.glob("*.parquet") if part.name[0] not in "._")
    if not found:
        raise InputError(f"{folder} holds no Parquet files.", hint="Give a folder of *.parquet.")
    return found


def _parquet_rows(path: Path) -> Iterator[Row]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as pq
    except ImportError as error:
        raise missing_extra("Reading Parquet", "pyarrow", "parquet") from error
    try:
        for batch in pq.ParquetFile(path).iter_batches(batch_size=_BATCH):
            columns = [plain_values(column) for column in batch.columns]
            for row in zip(*columns, strict=True):
                yield dict(zip(batch.schema.names, row, strict=True))
    except (OSError, ValueError, OverflowError, arrow.ArrowException) as error:
        why = (getattr(error, "strerror", None) or str(error)).rstrip(".")
        raise InputError(f"{path} is no Parquet file: {why}.", hint="Check the file.") from error


def plain_values(column: Any) -> list[object]:  # noqa: ANN401, pyarrow has no types
    """A column of Parquet, as an Arrow array, as JSON would have it."""
    import pyarrow as arrow

    # Python's own dates have no nanoseconds, and no year 10,000.
    if arrow.types.is_timestamp(column.type):
        micros = column.cast(arrow.timestamp("us", column.type.tz), safe=False)
        return [_date(value) for value in micros.cast(arrow.int64()).to_pylist()]
    if arrow.types.is_date32(column.type):
        days = column.cast(arrow.int32()).to_pylist()
        return [_date(None if value is None else value * DAY) for value in days]
    return [_plain(value) for value in column.to_pylist()]


def _date(instant: Instant | None) -> str | None:
    try:
        return None if instant is None else iso(instant)
    except OverflowError:
        return None


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Decimal):  # without a fraction exact: it may be an identifier
        return float(value) if value.as_tuple().exponent else int(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if callable(isoformat) else value
