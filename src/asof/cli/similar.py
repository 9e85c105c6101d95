"""`asof similar`: near-duplicates, of one document or all of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asof.archive import Archive
from asof.catalog.referents import ANSWERS
from asof.cli.options import archive_option, examples, json_option
from asof.cli.output import cores, count_progress, not_captured, open_archive, print_json, say
from asof.clock import stamp
from asof.errors import ArchiveError, AsofError, UsageError
from asof.model import Capture

if TYPE_CHECKING:
    from asof.change.near import Measure, Near, NearIndex
    from asof.change.texts import Reading, Texts

Name = tuple[str, str]  # URL and stamp of a capture


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
@click.option("--at", "moment", default="now", metavar="T", help="As of this moment [now].")
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
    """Near-duplicates: of one document, or all of them in the archive.

    Compared are the main texts, by their shingles of five words; every result is verified, none is
    an estimate. Documents that were not read yet are read first. Ends with 1 if there are none.
    """
    if everything == (url is not None):
        raise UsageError("Name a URL, or give --all.", hint="`asof similar --help` has examples.")
    if everything and contained:
        raise UsageError("--all compares by Jaccard only.", hint="Leave --contained out.")
    from asof.change.texts import Texts

    with open_archive(folder) as archive:
        try:
            read_texts(archive)
        except ArchiveError as error:  # a crawl is reading them: what it has not, is read here
            say(f"asof: {error}")
        with Texts(archive) as texts:
            index = _index(archive, texts, threshold, versions=versions, moment=moment)
            if everything:
                return _print_all(index, threshold, limit, as_json=as_json)
            assert url is not None
            measure: Measure = "containment" if contained else "jaccard"
            near = _near(archive, texts, index, url, moment, measure, versions=versions)
            return _print_near(near, limit, as_json=as_json)


def read_texts(archive: Archive) -> Reading:
    """Read what has not been read, with a bar for those who watch."""
    from asof.change.texts import Texts

    with Texts(archive, writable=True) as texts:
        total = texts.left() if sys.stderr.isatty() else 0
        with count_progress("reading", total) as progress:
            return texts.read_all(cores(), progress)


def _index(
    archive: Archive, texts: Texts, threshold: float, *, versions: bool, moment: str
) -> NearIndex[Name]:
    from asof.change.near import NearIndex

    index: NearIndex[Name] = NearIndex(threshold)
    index.add_all(_main_texts(archive, texts, versions=versions, moment=moment))
    return index


def _main_texts(
    archive: Archive, texts: Texts, *, versions: bool, moment: str
) -> Iterator[tuple[Name, str]]:
    """The main texts of each URL's last capture, or of all that brought a content of their own."""
    # URLs of one key, with and without www, come mixed.
    for _, captures in groupby(archive.captures(until=moment), key=lambda capture: capture.surt):
        last: dict[str, Capture] = {}
        for capture in captures:
            if versions and (capture.kind != "revisit" or capture.url not in last):
                yield from _main_text(texts, capture)
            if capture.kind in ANSWERS:
                last[capture.url] = capture
        if not versions:
            for capture in last.values():
                yield from _main_text(texts, capture)


def _main_text(texts: Texts, capture: Capture) -> Iterator[tuple[Name, str]]:
    document = texts.document(capture)
    if document is not None:
        yield (capture.url, stamp(capture.at)), document.main or document.text


def _near(
    archive: Archive,
    texts: Texts,
    index: NearIndex[Name],
    url: str,
    moment: str,
    measure: Measure,
    *,
    versions: bool,
) -> list[Near[Name]]:
    """What is near a document; other versions of it only if they were asked for."""
    capture = archive.as_of(url, moment)
    if capture is None:
        raise not_captured(archive, url, moment)
    document = texts.document(capture)
    if document is None or not (document.main or document.text).strip():
        raise AsofError(f"{url} has no text to compare.", hint="`asof text` shows what it has.")
    text = document.main or document.text
    name = (capture.url, stamp(capture.at))
    return [
        each
        for each in index.search(name, text, measure=measure)
        # Captures that confirmed the same content are the document itself.
        if each.b[0] != capture.url or (versions and each.overlap.jaccard < 1)
    ]


def _print_near(near: list[Near[Name]], limit: int, *, as_json: bool) -> int:
    if as_json:
        for each in near:
            print_json({"url": each.b[0], "timestamp": each.b[1], **_measures(each)})
    else:
        for each in near[:limit]:
            click.echo(f"{each.jaccard:6.1%}  {each.b[1]}  {each.b[0]}")
        _say_rest(len(near), limit)
    return 0 if near else 1


def _measures(near: Near[Name]) -> dict[str, float]:
    return {
        "jaccard": round(near.jaccard, 6),
        "containment": round(near.a_in_b, 6),
        "contained": round(near.b_in_a, 6),
        "dice": round(near.dice, 6),
    }


def _print_all(index: NearIndex[Name], threshold: float, limit: int, *, as_json: bool) -> int:
    identical = index.identical()
    pairs = sorted(index.pairs(), key=lambda near: (-near.jaccard, near.a, near.b))
    if as_json:
        print_json(
            {
                "threshold": threshold,
                "documents": len(index),
                "identical": [[_named(name) for name in names] for names in identical],
                "pairs": [
                    {"a": _named(near.a), "b": _named(near.b), **_measures(near)} for near in pairs
                ],
            }
        )
        return 0 if pairs or identical else 1
    for names in identical[:limit]:
        click.echo(f"  equal  {names[0][0]}")
        for other, _ in names[1:]:
            click.echo(f"         {other}")
    for near in pairs[:limit]:
        click.echo(f"{near.jaccard:7.1%}  {near.a[0]}\n         {near.b[0]}")
    _say_rest(max(len(pairs), len(identical)), limit)
    say(f"{len(index):,} documents: {len(identical):,} groups of equal ones, {len(pairs):,} pairs")
    return 0 if pairs or identical else 1


def _named(name: Name) -> dict[str, str]:
    return {"url": name[0], "timestamp": name[1]}


def _say_rest(found: int, limit: int) -> None:
    if found > limit:
        say(f"... and {found - limit:,} more (--limit N, or --json for all)")
