"""What `asof cover` prints and writes of an answer: sentences, JSON, CSV, a reading list."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asof.cli.output import human_bytes, say
from asof.cli.view import printable

if TYPE_CHECKING:
    from asof.cover.run import Outcome, Wishes

_SHOWN = 10


def outcome_json(outcome: Outcome) -> dict[str, object]:
    """The shape that `cover --json` prints."""
    names: Sequence[str | int] = outcome.collection.names
    if outcome.collection.numbers:
        names = [int(name) for name in names]
    return {
        "documents": len(outcome.collection),
        "edges": outcome.edges,
        "components": outcome.cover.components.count,
        "kept": [name for name, stays in zip(names, outcome.cover.kept, strict=True) if stays],
        "dropped": [
            {
                "id": names[each.document],
                "by": names[each.by],
                "containment": round(each.containment, 6),
                "jaccard": round(each.jaccard, 6),
                "dice": round(each.dice, 6),
            }
            for each in outcome.dropped
        ],
        "optimal": outcome.optimal,
        "gap": outcome.gap,
        "seconds": round(outcome.seconds, 3),
    }


def print_outcome(outcome: Outcome) -> None:
    """The answer for people: how many stay, how sure that is, and the first that are covered."""
    collection, parts = outcome.collection, outcome.cover.components
    documents, weight = outcome.saved
    kept = len(collection) - len(outcome.dropped)
    click.echo(
        f"{kept:,} of {len(collection):,} documents cover all of them: "
        f"{documents:.1%} fewer, and {weight:.1%} fewer bytes "
        f"({human_bytes(int(collection.weights.sum()))} in all)."
    )
    if not outcome.complete:
        click.echo("It was stopped: not all pairs were compared, so fewer might do.")
    elif outcome.optimal:
        click.echo("No smaller set does: proven.")
    else:
        click.echo(f"A smaller set could have up to {outcome.gap:,} documents fewer; not proven.")
    counts = _counted(outcome.edges, "pair"), _counted(parts.count, "component")
    click.echo(f"{', '.join(counts)}, {outcome.seconds:.1f} s.")
    for each in outcome.dropped[:_SHOWN]:
        click.echo(f"  {printable(collection.names[each.document])}")
        click.echo(f"    {percent(each.containment)} in {printable(collection.names[each.by])}")
    if len(outcome.dropped) > _SHOWN:
        more = len(outcome.dropped) - _SHOWN
        click.echo(f"  ... and {more:,} more that are covered (--json and --csv have all of them)")


def percent(share: float) -> str:
    """To a tenth, rounded down: 100 % is said of nothing that misses a shingle."""
    return f"{int(share * 1000 + 1e-9) / 10:.1f}%"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def write_csv(outcome: Outcome, out: Path) -> None:
    """Every document, and what became of it."""
    from io import TextIOWrapper

    from asof.warc.whole import whole_file

    names = outcome.collection.names
    by_document = {each.document: each for each in outcome.dropped}
    with whole_file(out) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        rows = csv.writer(text)
        rows.writerow(("id", "kept", "by", "containment", "jaccard", "dice"))
        for place, name in enumerate(names):
            gone = by_document.get(place)
            if gone is None:
                rows.writerow((name, 1, "", "", "", ""))
            else:
                rows.writerow((name, 0, names[gone.by], gone.containment, gone.jaccard, gone.dice))
        text.detach()
    say(f"{out}: every document and what became of it")


def write_page(outcome: Outcome, wishes: Wishes, title: str, out: Path) -> None:
    """The reading list: what stays, and what it covers."""
    from asof.cover.reading_list import page
    from asof.warc.whole import whole_file

    notes = []
    if wishes.at_least is not None:
        notes.append(f"Of each {wishes.at_least[1]} at least {wishes.at_least[0]:,} stay.")
    if wishes.prefer is not None:
        notes.append(f"Of the smallest sets it is the one with the highest {wishes.prefer}.")
    with whole_file(out) as file:
        file.write(page(outcome, title=title, notes=notes).encode())
    say(f"{out}: what stays, and what it covers")
