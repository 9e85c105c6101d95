"""Of `asof cover`: answers saved by name and compared, and what to expect of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from asof.archive.covers import CoverDifference, Moved, diff_covers, load_cover, save_cover
from asof.archive.folder import Folder
from asof.cli.output import print_json, say
from asof.cli.view import printable

if TYPE_CHECKING:
    from asof.cover.collection import Collection
    from asof.cover.run import Outcome

_SHOWN = 10


def save(folder: Path, name: str, outcome: Outcome) -> None:
    """Save an answer in the archive."""
    say(f"{save_cover(Folder(folder), name, outcome)}: the answer, saved as {name}")


def print_difference(folder: Path, names: tuple[str, str], *, as_json: bool) -> int:
    """What is kept by one of two saved answers only."""
    place = Folder(folder)
    place.require()
    found = diff_covers(load_cover(place, names[0]), load_cover(place, names[1]))
    if as_json:
        print_json(_difference_json(found))
        return 0
    click.echo(
        f"{found.a.name} keeps {len(found.a.kept):,} of {found.a.documents:,} documents, "
        f"{found.b.name} {len(found.b.kept):,} of {found.b.documents:,}; both {found.both:,}."
    )
    _print_moved(f"Only {found.a.name} keeps", found.only_a, found.b.name)
    _print_moved(f"Only {found.b.name} keeps", found.only_b, found.a.name)
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
    def rows(moved: tuple[Moved, ...]) -> list[dict[str, object]]:
        return [{"id": one.document, "other": one.other, "by": one.by} for one in moved]

    return {
        "a": found.a.name,
        "b": found.b.name,
        "relations": [found.a.relation, found.b.relation],
        "only_a": rows(found.only_a),
        "only_b": rows(found.only_b),
        "both": found.both,
    }


def print_estimate(
    collection: Collection, relation: str, memory: int | None, *, as_json: bool
) -> int:
    """What a run is expected to come to."""
    from asof.cover.estimate import estimate
    from asof.cover.pairs import Limits

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
