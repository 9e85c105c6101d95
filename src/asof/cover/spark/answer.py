"""An answer that was written as Parquet, read back in the order of its documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from asof.cover.answer import DocumentAnswer
from asof.cover.spark.source import address_order


def answers(session: Any, target: str, *, dropped: int | None = None) -> Iterator[DocumentAnswer]:  # noqa: ANN401
    """All documents of an answer; or the first so many that were dropped."""
    frame = session.read.parquet(target)
    metadata = frame.metadataColumn("_metadata")
    rows = frame.select(
        "*", metadata["file_path"].alias("_file"), metadata["row_index"].alias("_row")
    )
    if dropped is not None:  # files have the order of the documents in their names
        rows = rows.where("not kept").orderBy("_file", "_row").limit(dropped)
    found = rows.toArrow().to_pylist()
    found.sort(key=lambda row: (address_order(row["_file"]), row["_row"]))
    for row in found:
        yield DocumentAnswer(
            _name(row["id"]), row["kept"], _name(row["by"]), row["containment"],
            row["jaccard"], row["dice"],
        )  # fmt: skip


def _name(value: Any) -> Any:  # noqa: ANN401, whole numbers of 64 bits come as decimals
    return value if value is None or isinstance(value, str) else int(value)
