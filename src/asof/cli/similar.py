"""`asof similar`: near-duplicates, of one document or all of them."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asof.cli.options import archive_option, examples, json_option, moment_option
from asof.cli.output import open_archive, print_json, say
from asof.cli.reading import PATIENCE, read_first
from asof.errors import UsageError
from asof.report.words import number, percent

if TYPE_CHECKING:
    from asof.change.near import Measure, Near
    from asof.change.similar import Named, NearDuplicates


@click.command(
    "similar",
    epilog=examples(
        "asof similar https://example.org/article         what is near it, nearest first",
        "asof similar --all --threshold 0.9               all pairs that are near each other",
        "asof similar https://example.org/a --contained   also longer ones that quote it",
    ),
)
@click.argument("url", required=False)
@archive_option
@click.option("--all", "everything", is_flag=True, help="All pairs instead of one document.")
@moment_option
@click.option("--threshold", type=click.FloatRange(0, 1, min_open=True), default=0.8,
              show_default=True, metavar="X", help="How near: 1 is equal.")  # fmt: skip
@click.option("--contained", is_flag=True, help="By containment, not by Jaccard's coefficient.")
@click.option("--versions", is_flag=True, help="All versions of each URL, not the last alone.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, metavar="N",
              help="At most N of them on the terminal.")  # fmt: skip
@json_option
def similar_command(
    url: str | None,
    folder: Path,
    everything: bool,
    moment: str,
    threshold: float,
    contained: bool,
    versions: bool,
    limit: int,
    as_json: bool,
) -> int:
    """Near-duplicates of one document, or all there are.

    Compared are the main texts, by their shingles of five words; every result is verified, none is
    an estimate. Documents that were not read yet are read first: with --all every one, for a URL as
    many as ten seconds allow, and it is said if that leaves some. Ends with 1 if there are none.
    """
    if everything == (url is not None):
        raise UsageError("Name a URL, or give --all.", hint="`asof similar --help` has examples.")
    if everything and contained:
        raise UsageError("--all compares by Jaccard only.", hint="Leave --contained out.")
    # Here, for comparing needs numpy, which takes longer to load than the rest.
    from asof.change.similar import similar
    from asof.change.texts import Texts

    with open_archive(folder) as archive:
        late = read_first(archive, inf if everything else PATIENCE)
        if url is None:
            found = archive.near_duplicates(moment, threshold=threshold, versions=versions)
            return _print_all(found, threshold, limit, as_json=as_json)
        measure: Measure = "containment" if contained else "jaccard"
        with Texts(archive) as texts:
            near = similar(
                archive, texts, url, moment, threshold, measure, versions=versions, stop=late
            )
        return _print_near(near, limit, as_json=as_json)


def _print_near(near: list[Near[Named]], limit: int, *, as_json: bool) -> int:
    if as_json:
        for each in near:
            print_json({"url": each.b.url, "timestamp": each.b.timestamp, **_measures(each)})
    else:
        for each in near[:limit]:
            click.echo(f"{percent(each.jaccard):>7}  {each.b.timestamp}  {each.b.url}")
        _say_rest(len(near), limit)
        if not near:
            say("Nothing else in the archive is that near it; --threshold 0.5 asks for less.")
    return 0 if near else 1


def _measures(near: Near[Named]) -> dict[str, float]:
    names = {"jaccard": "jaccard", "containment": "a_in_b", "contained": "b_in_a", "dice": "dice"}
    return {name: round(getattr(near, field), 6) for name, field in names.items()}


def _print_all(found: NearDuplicates, threshold: float, limit: int, *, as_json: bool) -> int:
    identical, pairs = found.identical, found.pairs
    code = 0 if pairs or identical else 1
    if as_json:
        groups = [[name._asdict() for name in names] for names in identical]
        near_pairs = [
            {"a": near.a._asdict(), "b": near.b._asdict(), **_measures(near)} for near in pairs
        ]
        told = {"threshold": threshold, "documents": found.documents}
        print_json({**told, "identical": groups, "pairs": near_pairs})
        return code
    for names in identical[:limit]:
        click.echo(f"  equal  {names[0].url}")
        for other, _ in names[1:]:
            click.echo(f"         {other}")
    for near in pairs[:limit]:
        click.echo(f"{percent(near.jaccard):>7}  {near.a.url}\n         {near.b.url}")
    _say_rest(max(len(pairs), len(identical)), limit)
    say(
        f"{number(found.documents, 'document')}: "
        f"{number(len(identical), 'group')} of equal ones, {number(len(pairs), 'pair')}"
    )
    return code


def _say_rest(found: int, limit: int) -> None:
    if found > limit:
        say(f"... and {found - limit:,} more (--limit N, or --json for all)")
