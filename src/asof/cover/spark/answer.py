"""Asking Spark: the answer, written as Parquet, read back in the order of its documents."""

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from asof.cover.answer import CoverAnswer, DocumentAnswer
from asof.cover.question import Question
from asof.cover.spark.extras import Session
from asof.cover.spark.run import cover_on_spark
from asof.cover.spark.session import LOCAL, spark_session
from asof.cover.spark.source import address_order
from asof.errors import UsageError


def answer_on_spark(
    question: Question,
    master: str | None = None,
    target: str | None = None,
    dropped: int | None = None,
) -> CoverAnswer:
    """Cover a table of Parquet on Spark; with all documents, or the first so many dropped ones.

    Without a `target` the answer is kept only as long as it is read, which needs a local master.
    """
    if question.table is None:
        raise UsageError("Spark covers a table of Parquet.", hint="Name it: --from FILE.")
    if target is None and not (master or LOCAL).startswith("local"):
        raise UsageError("On a cluster the answer needs a place.", hint="Name it: --to PATH.")
    with (
        _quiet(),
        tempfile.TemporaryDirectory(prefix="asof-cover-") as scratch,
        spark_session(master) as own,
    ):
        # With its scheme, for where Hadoop is set up, a bare path is one of its own files.
        place = target or Path(scratch, "answer").as_uri()
        summary = cover_on_spark(own, question, place)
        return CoverAnswer(question, summary, tuple(answers(own, place, dropped)))


def answers(session: Session, target: str, dropped: int | None = None) -> Iterator[DocumentAnswer]:
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
        measures = row["containment"], row["jaccard"], row["dice"]
        yield DocumentAnswer(_name(row["id"]), row["kept"], _name(row["by"]), *measures)


def _name(value: Any) -> Any:  # noqa: ANN401, whole numbers of 64 bits come as decimals
    return value if value is None or isinstance(value, str) else int(value)


@contextmanager
def _quiet() -> Iterator[None]:
    """PySpark logs what it raises, too, with all stacks: at Ctrl-C 49 lines."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
