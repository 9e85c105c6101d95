"""What `asof cover` prints and writes: answers, saved ones, their difference, estimates."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asof.cli.output import completed, print_json
from asof.clock import when
from asof.files import output_file
from asof.report.cover_export import HEADER, notes, rows
from asof.report.cover_words import estimate_json, estimate_lines, proof
from asof.report.json_shapes import cover_json
from asof.report.words import human_bytes, number, percent, printable

if TYPE_CHECKING:
    from asof.cover.answer import CoverAnswer, DocumentAnswer
    from asof.cover.estimate import Estimate
    from asof.cover.kept.saved_covers import CoverDifference, CoverFacts, Moved, SavedCover

SHOWN = 10  # documents that people are shown


def print_answer(answer: CoverAnswer) -> None:
    """The answer for people: how many stay, how sure that is, and the first that are covered."""
    figures = answer.figures
    fewer, lighter = figures.saved
    click.echo(
        f"{figures.kept:,} of {number(figures.documents, 'document')} "
        f"{'covers' if figures.kept == 1 else 'cover'} all of them: "
        f"{percent(fewer)} fewer, and {percent(lighter)} fewer bytes "
        f"({human_bytes(figures.weight)} in all)."
    )
    click.echo(proof(figures))
    counts = number(figures.edges, "pair"), number(figures.components, "component")
    click.echo(f"{', '.join(counts)}, {figures.seconds:.1f} s.")
    for document in islice((each for each in answer.documents if not each.kept), SHOWN):
        click.echo(f"  {printable(str(document.id))}")
        click.echo(f"    {percent(document.containment or 0.0)} in {printable(str(document.by))}")
    if (more := figures.documents - figures.kept - SHOWN) > 0:
        click.echo(f"  ... and {more:,} more that are covered (--json and --csv have all of them)")


def write_csv(documents: Iterable[DocumentAnswer], out: Path) -> None:
    """Every document, and what became of it."""
    with output_file(out) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        table = csv.writer(text)
        table.writerow(HEADER)
        table.writerows(rows(documents))
        text.detach()


def write_page(answer: CoverAnswer, title: str, out: Path, served: str) -> None:
    """The reading list: what stays, and what it covers."""
    from asof.report.reading_list import page

    assert answer.outcome is not None
    wished = notes(answer.question)
    with output_file(out) as file:
        file.write(page(answer.outcome, title=title, notes=wished, served=served).encode())


def print_covers(
    covers: Sequence[tuple[str, CoverFacts | None]], relations: Mapping[str, str], *, as_json: bool
) -> None:
    """The answers that were saved, the latest first, and the relations that have a name."""
    if as_json:
        told = [cover_json(name, facts) for name, facts in covers]
        print_json({"covers": told, "relations": relations})
        return
    if not covers:
        click.echo(completed("No cover was saved yet: `asof cover RELATION --save NAME`."))
    for name, facts in covers:
        _print_cover(name, facts)
    if relations:
        click.echo("Relations by name:")
    for name, relation in relations.items():
        click.echo(f"  {name}: {_line(relation)}")


def _print_cover(name: str, facts: CoverFacts | None) -> None:
    if facts is None:
        click.echo(f"{name}: cannot be read; `asof cover RELATION --save {name}` makes it again")
        return
    moment = "" if facts.at is None else f", {when(facts.at)}"
    sure = "proven" if facts.optimal else "not proven"
    click.echo(f"{name}: {facts.kept:,} of {number(facts.documents, 'document')}, {sure}{moment}")
    click.echo(f"  {_line(facts.relation)}")
    asked = facts.question
    if asked is None:
        return
    options = [
        f"--from {asked.table}" if asked.table is not None else "",
        f"--where '{asked.where}'" if asked.where is not None else "",
        f"--at-least '{asked.at_least[0]} per {asked.at_least[1]}'" if asked.at_least else "",
        f"--prefer {asked.prefer}" if asked.prefer is not None else "",
    ]
    if any(options):
        click.echo(f"  {_line(' '.join(filter(None, options)))}")


def _line(text: str) -> str:
    return printable(text.replace("\n", " "))


def print_difference(found: CoverDifference, *, as_json: bool) -> None:
    """What is kept by one of two saved answers only."""
    a, b = found.a.facts, found.b.facts
    if as_json:
        told: dict[str, object] = {"a": a.name, "b": b.name}
        told["relations"] = [a.relation, b.relation]
        told["only_a"] = _moved_json(found.only_a, found.a, found.b)
        told["only_b"] = _moved_json(found.only_b, found.b, found.a)
        print_json({**told, "both": found.both})
        return
    click.echo(
        f"{a.name} keeps {a.kept:,} of {number(a.documents, 'document')}, "
        f"{b.name} {b.kept:,} of {b.documents:,}; both {found.both:,}."
    )
    _print_moved(f"Only {a.name} keeps", found.only_a, b.name)
    _print_moved(f"Only {b.name} keeps", found.only_b, a.name)


def _moved_json(
    moved: Iterable[Moved], here: SavedCover, there: SavedCover
) -> list[dict[str, object]]:
    id_here, id_there = (int if cover.facts.numbers else str for cover in (here, there))
    return [
        {"id": id_here(one.document), "other": one.other}
        | {"by": None if one.by is None else id_there(one.by)}
        for one in moved
    ]


def _print_moved(title: str, moved: tuple[Moved, ...], other: str) -> None:
    click.echo(f"{title} {len(moved):,}:" if moved else f"{title} none.")
    for each in moved[:SHOWN]:
        click.echo(f"  {printable(each.document)}")
        if each.by is None:
            click.echo(f"    not a document of {other}")
        else:
            click.echo(f"    in {other} covered by {printable(each.by)}")
    if len(moved) > SHOWN:
        click.echo(f"  ... and {len(moved) - SHOWN:,} more (--json has all of them)")


def print_estimate(found: Estimate, *, as_json: bool) -> None:
    told = estimate_json(found)
    if as_json:
        print_json(told)
        return
    for line in estimate_lines(told):
        click.echo(line)
