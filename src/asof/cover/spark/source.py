"""Parquet files as one table of documents in a fixed order, with the kinds of their columns.

The order is that of the local engine: files by their names, rows as they stand in them. Spark
says of each row which file it is of and where it stands there (`_metadata`), however the files are
cut into tasks. Columns have the kind that all of their values have, as the local engine has it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import unquote

from asof.cover.documents.tables import Traits, plain_values
from asof.cover.language.columns import ColumnKind
from asof.cover.spark.extras import F, Frame, Session, Values, arrow
from asof.errors import InputError

FILE, ROW = "file", "row"
_ID, _TEXT, _LENGTH = "id", "text", "length"
_NESTED = ("struct", "array", "map", "variant")


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table: its `rows` have column x as c<x>, and the file and row that each stands in."""

    rows: Frame
    names: tuple[str, ...]
    types: tuple[str, ...]  # as Spark calls them
    starts: dict[str, int]  # by file: the number of its first document

    def place(self, name: str) -> str | None:
        return f"c{self.names.index(name)}" if name in self.names else None

    @property
    def attributes(self) -> list[str]:
        """What can be asked of a document, in the order of the local engine."""
        found = [name for name in self.names if name not in (_ID, _TEXT)]
        return found if _LENGTH in found else [*found, _LENGTH]

    @property
    def id_type(self) -> str:
        """The type that ids go back as: whole numbers stay such, all others are strings."""
        found = self.types[self.names.index(_ID)]
        # 64 bits without a sign are a decimal to Spark.
        plain = found.startswith("decimal") and found.endswith(",0)")
        return found if plain or found in ("tinyint", "smallint", "int", "bigint") else ""


def open_source(session: Session, path: str) -> TableSource:
    """The table at a path that Spark can reach: a file, or a folder of *.parquet."""
    frame = _read(session, path)
    names = tuple(frame.columns)
    types = tuple(field.dataType.simpleString() for field in frame.schema.fields)
    metadata = frame.metadataColumn("_metadata")
    columns = [frame[f"`{name.replace('`', '``')}`"] for name in names]
    rows = frame.select(
        *(column.alias(f"c{at}") for at, column in enumerate(columns)),
        metadata["file_path"].alias(FILE),
        metadata["row_index"].alias(ROW),
    )
    known = F.col(f"c{names.index(_ID)}").isNotNull() if _ID in names else F.lit(False)
    texts = _texts(names, types)
    counted = rows.groupBy(FILE).agg(
        F.count(F.lit(1)).alias("rows"),
        F.min(F.when(~known, F.col(ROW))).alias("nameless"),
        F.min(F.when(texts, F.col(ROW))).alias("odd"),
    )
    files = sorted(counted.collect(), key=lambda row: address_order(row[FILE]))
    nested = _ID in names and types[names.index(_ID)].startswith(_NESTED)
    starts, count = {}, 0
    for row in files:
        bare = 0 if nested else row["nameless"]
        if bare is not None:
            place = f"{path}, document {count + bare + 1}"
            raise InputError(f"{place}: no id.", hint="Give each an `id`.")
        if row["odd"] is not None:
            place = f"{path}, document {count + row['odd'] + 1}"
            raise InputError(f"{place}: its text is no text.", hint="Mend it.")
        starts[row[FILE]] = count
        count += row["rows"]
    if count and _TEXT not in names:
        raise InputError(f"{path}: no document has a text.", hint="Call the column `text`.")
    return TableSource(rows, names, types, starts)


def kinds_of(source: TableSource, wanted: Iterable[str]) -> dict[str, ColumnKind]:
    """Length, which a table need not have, is a number; of no documents, all others are text."""
    names = [name for name in wanted if name in source.names]
    kinds: dict[str, ColumnKind] = {name: "text" if name in names else "number" for name in wanted}
    if not names:
        return kinds
    columns = source.rows.select(*map(source.place, names))
    traits = columns.mapInArrow(
        _traits, "at bigint, known boolean, numbers boolean, moments boolean"
    )
    every = traits.groupBy("at").agg(
        F.bool_or("known").alias("known"),
        F.bool_and("numbers").alias("numbers"),
        F.bool_and("moments").alias("moments"),
    )
    for at, *traits in every.collect():
        kinds[names[at]] = Traits(*traits).kind
    return kinds


def _traits(batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        found = [Traits.of(plain_values(column)) for column in batch.columns]
        rows = [{"at": at, **asdict(traits)} for at, traits in enumerate(found)]
        yield arrow.RecordBatch.from_pylist(rows)


def _read(session: Session, path: str) -> Frame:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    reader = session.read.option("mergeSchema", "true").option("pathGlobFilter", "*.parquet")
    reader = reader.option("datetimeRebaseMode", "CORRECTED").option("int96RebaseMode", "CORRECTED")
    try:
        frame = reader.parquet(path)
    except (PySparkException, Py4JJavaError) as error:
        raise InputError(
            f"{path} cannot be read as Parquet: {first_line(error)}.",
            hint="Give a .parquet file or a folder of such, all with the same columns and types.",
        ) from error
    if not frame.columns:
        raise InputError(f"{path} has no columns.", hint="Give each document an `id`.")
    return frame


def first_line(error: Exception) -> str:
    """What Spark says, without its stack; of a failure in Java the innermost cause."""
    text = str(error)
    java = getattr(error, "java_exception", None)
    while java is not None:
        text = java.getMessage() or java.toString()
        java = java.getCause()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__).rstrip(".")[:300]


def _texts(names: tuple[str, ...], types: tuple[str, ...]) -> Values:
    """Where a text is given that is none."""
    plain = ("string", "binary", "void", "date", "timestamp")  # as tables.plain_values has them
    if _TEXT not in names or types[names.index(_TEXT)].startswith(plain):
        return F.lit(False)
    return F.col(f"c{names.index(_TEXT)}").isNotNull()


def address_order(address: str) -> tuple[str, ...]:
    """Files as their names are ordered: addresses have them in percent signs."""
    return tuple(unquote(part) for part in address.split("/"))
