"""`asof cover --engine spark`: the same cover by Spark, from Parquet (docs/spark.md)."""

from __future__ import annotations

import csv
import logging
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asof.cli.cover_output import percent
from asof.cli.output import human_bytes, print_json, say
from asof.cli.view import printable
from asof.errors import UsageError

if TYPE_CHECKING:
    from asof.archive.covers import Question
    from asof.cover.run import Wishes
    from asof.cover.spark.answer import Fate
    from asof.cover.spark.run import Summary

_SHOWN = 10


def run_on_spark(
    question: Question,
    wishes: Wishes,
    master: str | None = None,
    target: str | None = None,
    csv_file: Path | None = None,
    *,
    as_json: bool = False,
) -> int:
    """Cover a table of Parquet on Spark and print the answer as `asof cover` does.

    Without a `target` the answer is kept only as long as it is printed, which needs a local master.
    """
    from asof.cover.spark.answer import fates
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
            own, table, place, question.relation, wishes,
            k=question.k, unit=question.unit, where=question.where,
        )  # fmt: skip
        whole = as_json or csv_file is not None
        rows = list(fates(own, place, dropped=None if whole else _SHOWN))
    if as_json:
        print_json(summary_json(summary, rows))
    else:
        print_summary(summary, [row for row in rows if not row.kept][:_SHOWN])
    if csv_file is not None:
        _write_csv(rows, csv_file)
    if target is not None:
        say(f"{target}: every document and what became of it")
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


def summary_json(summary: Summary, rows: Sequence[Fate]) -> dict[str, object]:
    """The shape that `cover --json` prints."""
    return {
        "documents": summary.documents,
        "edges": summary.edges,
        "components": summary.components,
        "kept": [row.id for row in rows if row.kept],
        "dropped": [
            {
                "id": row.id,
                "by": row.by,
                "containment": round(row.containment or 0.0, 6),
                "jaccard": round(row.jaccard or 0.0, 6),
                "dice": round(row.dice or 0.0, 6),
            }
            for row in rows
            if not row.kept
        ],
        "optimal": summary.optimal,
        "gap": summary.gap,
        "seconds": round(summary.seconds, 3),
    }


def print_summary(summary: Summary, dropped: Sequence[Fate]) -> None:
    """The answer for people, as `asof cover` says it, with the first that are covered."""
    fewer = summary.dropped / summary.documents
    lighter = 1 - summary.weight_kept / summary.weight if summary.weight else 0.0
    click.echo(
        f"{summary.kept:,} of {summary.documents:,} documents cover all of them: "
        f"{fewer:.1%} fewer, and {lighter:.1%} fewer bytes ({human_bytes(summary.weight)} in all)."
    )
    if summary.optimal:
        click.echo("No smaller set does: proven.")
    else:
        click.echo(f"A smaller set could have up to {summary.gap:,} documents fewer; not proven.")
    pairs = f"{summary.edges:,} pair{'' if summary.edges == 1 else 's'}"
    parts = f"{summary.components:,} component{'' if summary.components == 1 else 's'}"
    click.echo(f"{pairs}, {parts}, {summary.seconds:.1f} s.")
    for row in dropped:
        click.echo(f"  {printable(str(row.id))}")
        click.echo(f"    {percent(row.containment or 0.0)} in {printable(str(row.by))}")
    if summary.dropped > len(dropped):
        more = summary.dropped - len(dropped)
        click.echo(f"  ... and {more:,} more that are covered (--json and --csv have all of them)")


def _write_csv(rows: Sequence[Fate], out: Path) -> None:
    from io import TextIOWrapper

    from asof.warc.whole import whole_file

    with whole_file(out) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        lines = csv.writer(text)
        lines.writerow(("id", "kept", "by", "containment", "jaccard", "dice"))
        for row in rows:
            if row.kept:
                lines.writerow((row.id, 1, "", "", "", ""))
            else:
                lines.writerow((row.id, 0, row.by, row.containment, row.jaccard, row.dice))
        text.detach()
    say(f"{out}: every document and what became of it")
