"""Of `asof cover`: answers saved by name, listed and compared, and what to expect of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asof.archive.folder import Folder
from asof.cli.output import maybe_iso, print_json, say, when
from asof.cli.view import printable
from asof.clock import Clock, SystemClock
from asof.config import named_relations
from asof.cover.kept.saved_covers import (
    CoverDifference,
    CoverFacts,
    Moved,
    Question,
    SavedCover,
    cover_path,
    diff_covers,
    load_cover,
    save_cover,
    saved_covers,
)

if TYPE_CHECKING:
    from asof.cover.documents.collection import Collection
    from asof.cover.run import Outcome

_SHOWN = 10


def save(
    folder: Path,
    name: str,
    outcome: Outcome,
    question: Question | None = None,
    clock: Clock | None = None,
) -> None:
    """Save an answer in the archive, with what was asked."""
    if question is not None and question.table is not None:  # found again from anywhere
        question = replace(question, table=str(Path(question.table).absolute()))
    moment = (clock or SystemClock()).now()
    place = Folder(folder)
    before = cover_path(place, name).exists()
    if before and not outcome.complete:
        say(f"{name} stays as it was: this run was stopped. Save it by another name.")
        return
    path = save_cover(place, name, outcome, question, moment)
    say(f"{path}: the answer, saved as {name}{', in the place of an older one' if before else ''}")


# -- all of them -----------------------------------------------------------------------------------


def print_covers(folder: Path, *, as_json: bool) -> int:
    """The answers that were saved, the latest first, and the relations that have a name."""
    place = Folder(folder)
    covers = saved_covers(place)
    relations = named_relations(folder)
    if not covers and not relations:
        place.require()
    if as_json:
        told = [_cover_json(name, facts) for name, facts in covers]
        print_json({"covers": told, "relations": relations})
        return 0
    if not covers:
        click.echo("No cover was saved yet: `asof cover RELATION --save NAME`.")
    for name, facts in covers:
        _print_cover(name, facts)
    if relations:
        click.echo("Relations by name:")
    for name, relation in relations.items():
        click.echo(f"  {name}: {_line(relation)}")
    return 0


def _print_cover(name: str, facts: CoverFacts | None) -> None:
    if facts is None:
        click.echo(f"{name}: cannot be read; `asof cover RELATION --save {name}` makes it again")
        return
    moment = "" if facts.at is None else f", {when(facts.at)}"
    sure = "proven" if facts.optimal else "not proven"
    click.echo(f"{name}: {facts.kept:,} of {facts.documents:,} documents, {sure}{moment}")
    click.echo(f"  {_line(facts.relation)}")
    asked = facts.question
    if asked is None:
        return
    wished = [
        f"--from {asked.table}" if asked.table is not None else "",
        f"--where '{asked.where}'" if asked.where is not None else "",
        f"--at-least '{asked.at_least[0]} per {asked.at_least[1]}'" if asked.at_least else "",
        f"--prefer {asked.prefer}" if asked.prefer is not None else "",
    ]
    if any(wished):
        click.echo(f"  {_line(' '.join(filter(None, wished)))}")


def _line(text: str) -> str:
    return printable(text.replace("\n", " "))


def _cover_json(name: str, facts: CoverFacts | None) -> dict[str, object]:
    if facts is None:
        return {"name": name, "readable": False}
    asked = facts.question
    return {
        "name": name,
        "readable": True,
        "relation": facts.relation,
        "documents": facts.documents,
        "kept": facts.kept,
        "bytes": facts.size,
        "bytes_kept": facts.size_kept,
        "optimal": facts.optimal,
        "gap": facts.gap,
        "at": maybe_iso(facts.at),
        "from": None if asked is None else asked.table,
        "where": None if asked is None else asked.where,
        "k": None if asked is None else asked.k,
        "terms": None if asked is None else asked.terms,
        "text": None if asked is None else asked.text,
        "at_least": None if asked is None else asked.at_least,
        "prefer": None if asked is None else asked.prefer,
    }


# -- two of them -----------------------------------------------------------------------------------


def print_difference(folder: Path, names: tuple[str, str], *, as_json: bool) -> int:
    """What is kept by one of two saved answers only."""
    place = Folder(folder)
    place.require()
    found = diff_covers(load_cover(place, names[0]), load_cover(place, names[1]))
    if as_json:
        print_json(_difference_json(found))
        return 0
    a, b = found.a.facts, found.b.facts
    click.echo(
        f"{a.name} keeps {a.kept:,} of {a.documents:,} documents, "
        f"{b.name} {b.kept:,} of {b.documents:,}; both {found.both:,}."
    )
    _print_moved(f"Only {a.name} keeps", found.only_a, b.name)
    _print_moved(f"Only {b.name} keeps", found.only_b, a.name)
    return 0


def _print_moved(title: str, moved: tuple[Moved, ...], other: str) -> None:
    click.echo(f"{title} {len(moved):,}:" if moved else f"{title} none.")
    for each in moved[:_SHOWN]:
        click.echo(f"  {printable(each.document)}")
        if each.by is None:
            click.echo(f"    not a document of {other}")
        else:
            click.echo(f"    in {other} covered by {printable(each.by)}")
    if len(moved) > _SHOWN:
        click.echo(f"  ... and {len(moved) - _SHOWN:,} more (--json has all of them)")


def _difference_json(found: CoverDifference) -> dict[str, object]:
    def rows(
        moved: tuple[Moved, ...], here: SavedCover, there: SavedCover
    ) -> list[dict[str, object]]:
        return [
            {
                "id": _named(one.document, here),
                "other": one.other,
                "by": None if one.by is None else _named(one.by, there),
            }
            for one in moved
        ]

    return {
        "a": found.a.facts.name,
        "b": found.b.facts.name,
        "relations": [found.a.facts.relation, found.b.facts.relation],
        "only_a": rows(found.only_a, found.a, found.b),
        "only_b": rows(found.only_b, found.b, found.a),
        "both": found.both,
    }


def _named(document: str, cover: SavedCover) -> str | int:
    """The id of a document as it was in the table."""
    return int(document) if cover.facts.numbers else document


# -- before a run ----------------------------------------------------------------------------------


def print_estimate(
    collection: Collection, relation: str, memory: int | None, *, as_json: bool
) -> int:
    """What a run is expected to come to."""
    from asof.cover.estimate import estimate
    from asof.cover.join.pairs import Limits

    found = estimate(collection, relation, limits=Limits(memory=memory))
    seconds, edges, kept = found.seconds, found.edges, found.kept
    if as_json:
        print_json(
            {
                "documents": found.documents,
                "sample": round(found.sample, 6),
                "seconds": [round(seconds.low, 3), round(seconds.high, 3)],
                "edges": [int(edges.low), round(edges.high)],
                "kept": [round(kept.low, 6), round(kept.high, 6)],
            }
        )
        return 0
    click.echo(f"Expected of {found.documents:,} documents, by {found.sample:.1%} of shingles:")
    click.echo(f"  {seconds.low:,.1f} to {seconds.high:,.1f} s")
    click.echo(f"  {int(edges.low):,} to {round(edges.high):,} pairs")
    click.echo(f"  {kept.low:.1%} to {kept.high:.1%} of the documents stay")
    return 0
