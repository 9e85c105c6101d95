"""What `asof cover` prints and writes of an answer: sentences, JSON, CSV, a reading list."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asof.cli.output import human_bytes, say
from asof.cli.view import printable

if TYPE_CHECKING:
    from asof.cover.answer import DocumentAnswer, Figures
    from asof.cover.options import CoverOptions
from asof.cover.run import Outcome

SHOWN = 10  # documents that people are shown


def answer_json(figures: Figures, answers: Iterable[DocumentAnswer]) -> dict[str, object]:
    """The shape that `cover --json` prints."""
    kept, dropped = [], []
    for document in answers:
        if document.kept:
            kept.append(document.id)
        else:
            dropped.append(
                {
                    "id": document.id,
                    "by": document.by,
                    "containment": round(document.containment or 0.0, 6),
                    "jaccard": round(document.jaccard or 0.0, 6),
                    "dice": round(document.dice or 0.0, 6),
                }
            )
    return {
        "documents": figures.documents,
        "edges": figures.edges,
        "components": figures.components,
        "kept": kept,
        "dropped": dropped,
        "optimal": figures.optimal,
        "gap": figures.gap,
        "seconds": round(figures.seconds, 3),
    }


def print_answer(figures: Figures, answers: Iterable[DocumentAnswer]) -> None:
    """The answer for people: how many stay, how sure that is, and the first that are covered."""
    gone = figures.documents - figures.kept
    fewer = gone / figures.documents if figures.documents else 0.0
    lighter = 1 - figures.weight_kept / figures.weight if figures.weight else 0.0
    click.echo(
        f"{figures.kept:,} of {figures.documents:,} documents cover all of them: "
        f"{fewer:.1%} fewer, and {lighter:.1%} fewer bytes ({human_bytes(figures.weight)} in all)."
    )
    if not figures.complete:
        click.echo("It was stopped: not all pairs were compared, so fewer might do.")
    elif figures.optimal:
        click.echo("No smaller set does: proven.")
    else:
        click.echo(f"A smaller set could have up to {figures.gap:,} documents fewer; not proven.")
    counts = _counted(figures.edges, "pair"), _counted(figures.components, "component")
    click.echo(f"{', '.join(counts)}, {figures.seconds:.1f} s.")
    for document in islice((document for document in answers if not document.kept), SHOWN):
        click.echo(f"  {printable(str(document.id))}")
        click.echo(f"    {_percent(document.containment or 0.0)} in {printable(str(document.by))}")
    if gone > SHOWN:
        more = gone - SHOWN
        click.echo(f"  ... and {more:,} more that are covered (--json and --csv have all of them)")


def _percent(share: float) -> str:
    """To a tenth, rounded down: 100 % is said of nothing that misses a shingle."""
    return f"{int(share * 1000 + 1e-9) / 10:.1f}%"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def write_csv(answers: Iterable[DocumentAnswer], out: Path) -> None:
    """Every document, and what became of it."""
    from io import TextIOWrapper

    from asof.warc.atomic_file import whole_file

    with whole_file(out) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        rows = csv.writer(text)
        rows.writerow(("id", "kept", "by", "containment", "jaccard", "dice"))
        for document in answers:
            measures = document.by, document.containment, document.jaccard, document.dice
            rows.writerow(
                (document.id, 1, *[""] * 4) if document.kept else (document.id, 0, *measures)
            )
        text.detach()
    say(f"{out}: every document and what became of it")


def write_page(outcome: Outcome, options: CoverOptions, title: str, out: Path) -> None:
    """The reading list: what stays, and what it covers."""
    from asof.report.reading_list import page
    from asof.warc.atomic_file import whole_file

    notes = []
    if options.at_least is not None:
        notes.append(f"Of each {options.at_least[1]} at least {options.at_least[0]:,} stay.")
    if options.prefer is not None:
        notes.append(f"Of the smallest sets it is the one with the highest {options.prefer}.")
    with whole_file(out) as file:
        file.write(page(outcome, title=title, notes=notes).encode())
    say(f"{out}: what stays, and what it covers")
