"""`asof cover --engine spark`: the same cover by Spark, from Parquet (docs/spark.md)."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from asof.cli.cover_output import SHOWN, answer_json, print_answer, write_csv
from asof.cli.output import print_json
from asof.errors import UsageError

if TYPE_CHECKING:
    from asof.cover.answer import Figures
    from asof.cover.kept.saved_covers import Question
    from asof.cover.options import CoverOptions
    from asof.cover.spark.run import Summary


def run_on_spark(
    question: Question,
    options: CoverOptions,
    master: str | None = None,
    target: str | None = None,
    csv_file: Path | None = None,
    *,
    as_json: bool = False,
) -> int:
    """Cover a table of Parquet on Spark and print the answer as `asof cover` does.

    Without a `target` the answer is kept only as long as it is printed, which needs a local master.
    """
    from asof.cover.spark.answer import answers
    from asof.cover.spark.run import cover_on_spark
    from asof.cover.spark.session import LOCAL, spark_session

    table = question.table
    if table is None:
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
        summary = cover_on_spark(
            own, table, place, question.relation, options,
            k=question.k, unit=question.unit, where=question.where,
        )  # fmt: skip
        whole = as_json or csv_file is not None
        rows = list(answers(own, place, dropped=None if whole else SHOWN))
    if as_json:
        print_json(answer_json(figures_of(summary), rows))
    else:
        print_answer(figures_of(summary), rows)
    if csv_file is not None:
        write_csv(rows, csv_file)
    return 0


@contextmanager
def _quiet() -> Iterator[None]:
    """PySpark logs what it raises, too, with all stacks: at Ctrl-C 49 lines."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def figures_of(summary: Summary) -> Figures:
    """What is told of an answer by Spark."""
    from asof.cover.answer import Figures

    return Figures(
        summary.documents, summary.edges, summary.components, summary.kept, summary.weight,
        summary.weight_kept, summary.optimal, summary.gap, summary.seconds,
    )  # fmt: skip
