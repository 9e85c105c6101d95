"""The first stage: documents with their shingles, attributes, and which roles they can play.

What conditions say of one document alone is decided here, once, where its attributes are at hand:
the filter of `where`, and whether it can be covered (d1) or cover (d2) by each alternative.
"""

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from asof.change.shingles import Unit, shingles_of_all
from asof.cover.documents.collection import chosen
from asof.cover.documents.tables import column_as, plain_values
from asof.cover.language.analyse import Alternative
from asof.cover.language.columns import Column, number_column
from asof.cover.language.evaluate import meets
from asof.cover.language.syntax import And
from asof.cover.spark.attributes import Attributes
from asof.cover.spark.extras import Frame, arrow
from asof.cover.spark.source import FILE, ROW, TableSource

_FIELDS = (
    "n bigint", "name string", "chosen boolean", "weight bigint", "size bigint", "digest binary",
    "shingles array<bigint>",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SparkReading:
    """What a task has to know to make documents of rows."""

    starts: Mapping[str, int]
    places: Mapping[str, str]  # of id, text and the attributes that the table has
    whole: bool  # ids are whole numbers
    attributes: Attributes
    alternatives: tuple[Alternative, ...]
    where: str | None
    k: int
    unit: Unit

    @property
    def schema(self) -> list[str]:
        """A row a document: its number, name, weight, shingles, attributes, roles."""
        roles = [f"d{of}_{at} boolean" for at in range(len(self.alternatives)) for of in (1, 2)]
        return [*_FIELDS, *self.attributes.schema, *roles]


def documents(source: TableSource, reading: SparkReading) -> Frame:
    """All documents, also those that `where` leaves out: not `chosen`, and without shingles."""
    rows = source.rows.select(FILE, ROW, *dict.fromkeys(reading.places.values()))
    return rows.mapInArrow(partial(_read, reading=reading), ", ".join(reading.schema))


def _read(batches: Iterable[Any], reading: SparkReading) -> Iterator[Any]:
    for batch in batches:
        table = dict(zip(batch.schema.names, batch.columns, strict=True))
        numbers = _numbers(table, reading)
        texts = _texts(table, reading, batch.num_rows)
        columns = _columns(table, reading, texts)
        meant = np.ones(len(texts), np.bool_)
        if reading.where is not None:
            meant = chosen(reading.where, columns, texts)
        kept = [text if stays else "" for text, stays in zip(texts, meant.tolist(), strict=True)]
        items, offsets = shingles_of_all(kept, reading.k, reading.unit)
        arrays = [
            arrow.array(numbers, arrow.int64()),
            arrow.array(_names(table, reading), arrow.string()),
            arrow.array(meant),
            arrow.array([len(text.encode()) for text in texts], arrow.int64()),
            arrow.array(np.diff(offsets), arrow.int64()),
            arrow.array(_digests(items, offsets), arrow.binary()),
            arrow.ListArray.from_arrays(
                arrow.array(offsets.astype(np.int32)), arrow.array(items.view(np.int64))
            ),
            *reading.attributes.arrays(columns),
            *(
                arrow.array(meets(And(conditions), columns, len(texts)))
                for alternative in reading.alternatives
                for conditions in (alternative.d1, alternative.d2)
            ),
        ]
        names = [field.split()[0] for field in reading.schema]
        yield arrow.RecordBatch.from_arrays(arrays, names)


def _numbers(table: Mapping[str, Any], reading: SparkReading) -> np.ndarray[Any, Any]:
    files = table[FILE].dictionary_encode()
    starts = np.array([reading.starts[file] for file in files.dictionary.to_pylist()], np.int64)
    places = files.indices.to_numpy(zero_copy_only=False)
    return np.asarray(starts[places] + table[ROW].to_numpy(zero_copy_only=False))


def _names(table: Mapping[str, Any], reading: SparkReading) -> list[str]:
    values = table[reading.places["id"]]
    if reading.whole:
        return [str(int(value)) for value in values.to_pylist()]
    return [str(value) for value in plain_values(values)]


def _texts(table: Mapping[str, Any], reading: SparkReading, count: int) -> list[str]:
    place = reading.places.get("text")
    if place is None:
        return [""] * count
    return [value if isinstance(value, str) else "" for value in plain_values(table[place])]


def _columns(
    table: Mapping[str, Any], reading: SparkReading, texts: list[str]
) -> dict[str, Column]:
    found = {}
    for name, kind in reading.attributes.kinds:
        if name in reading.places:
            found[name] = column_as(kind, plain_values(table[reading.places[name]]))
        else:  # only the length can be asked for without being in the table
            found[name] = number_column([float(len(text)) for text in texts])
    return found


def _digests(items: np.ndarray[Any, Any], offsets: np.ndarray[Any, Any]) -> list[bytes]:
    """Equal for equal sets, and for no others that anybody can find."""
    data = memoryview(items.tobytes())
    bounds = (8 * offsets).tolist()
    return [hashlib.sha256(data[start:end]).digest() for start, end in itertools.pairwise(bounds)]
