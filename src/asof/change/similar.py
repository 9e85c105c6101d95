"""Near-duplicates in an archive: of one document, or all of them; every result is verified."""

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import NamedTuple

import numpy as np

from asof.archive.archive import Moment, OpenArchive
from asof.catalog.referents import ANSWERS
from asof.change.near import Measure, Near, NearIndex
from asof.change.shingles import shingles
from asof.change.sketches import main_text
from asof.change.texts import Texts
from asof.clock import stamp
from asof.errors import AsofError
from asof.model import Capture


class Named(NamedTuple):
    """Which capture a text is of."""

    url: str
    timestamp: str  # 14 digits


@dataclass(frozen=True, slots=True)
class NearDuplicates:
    """All documents of an archive that are near each other, the nearest first."""

    documents: int
    identical: tuple[tuple[Named, ...], ...]
    pairs: tuple[Near[Named], ...]


def near_duplicates(
    archive: OpenArchive, texts: Texts, moment: Moment, threshold: float, *, versions: bool
) -> NearDuplicates:
    """All pairs of the archive as of a moment whose Jaccard coefficient reaches the threshold.

    What no sketch is like is only counted; of the others the texts are compared.
    """
    index: NearIndex[Named] = NearIndex(threshold)
    wanted = array("q")
    if texts.sketches is not None:
        for _, key in _documents(archive, texts, moment, versions=versions):
            wanted.append(key)
        mates = texts.sketches.with_mates(np.array(wanted, np.int64), threshold)
        alone = set(wanted).difference(mates.tolist())
    else:
        alone = set()
    count = 0

    def compared() -> Iterator[tuple[Named, str]]:
        nonlocal count
        for capture, key in _documents(archive, texts, moment, versions=versions):
            if key in alone and texts.is_kept(key):
                count += 1
            else:
                yield from _main_text(texts, capture)

    index.add_all(compared())
    pairs = sorted(index.pairs(), key=lambda near: (-near.jaccard, near.a, near.b))
    identical = tuple(map(tuple, index.identical()))
    return NearDuplicates(count + len(index), identical, tuple(pairs))


def similar(
    archive: OpenArchive,
    texts: Texts,
    url: str,
    moment: Moment,
    threshold: float,
    measure: Measure,
    *,
    versions: bool,
    stop: Callable[[], bool] = lambda: False,
) -> list[Near[Named]]:
    """What is near one document; other versions of it only if they were asked for.

    Of documents that have been read the sketches say which to compare. The others are read for
    this answer alone, until `stop` says that they are to be left out.
    """
    capture = archive.captured(url, moment)
    document = texts.document(capture)
    if document is None or not (text := main_text(document)).strip():
        raise AsofError(f"{url} has no text to compare.", hint="`asof text` shows what it has.")
    index: NearIndex[Named] = NearIndex(threshold)
    if texts.sketches is not None:
        near = texts.sketches.near(shingles(text), threshold, measure)
        found = _kept(archive, texts, moment, near, versions=versions)
        index.add_all(named for each in found for named in _main_text(texts, each))
    if not texts.is_complete:
        every = _documents(archive, texts, moment, versions=versions)
        index.add_all(
            named
            for each, key in takewhile(lambda _: not stop(), every)
            if not texts.is_kept(key)
            for named in _main_text(texts, each)
        )
    name = Named(capture.url, stamp(capture.at))
    return [
        each
        for each in index.search(name, text, measure=measure)
        # Captures that confirmed the same content are the document itself.
        if each.b.url != capture.url or (versions and each.jaccard < 1)
    ]


def _kept(
    archive: OpenArchive,
    texts: Texts,
    moment: Moment,
    found: Iterable[tuple[int, str]],
    *,
    versions: bool,
) -> Iterator[Capture]:
    """The captures as of a moment that have the documents of these keys, at these addresses."""
    keys: dict[str, set[int]] = {}
    for key, url in found:
        keys.setdefault(url, set()).add(key)
    for url, some in keys.items():
        own = (each for each in archive.captures(url=url, until=moment) if each.url == url)
        yield from (each for each in _chosen(own, versions=versions) if texts.key(each) in some)


def _documents(
    archive: OpenArchive, texts: Texts, moment: Moment, *, versions: bool
) -> Iterator[tuple[Capture, int]]:
    """The captures that may be near others, with the keys of their documents."""
    for capture in _chosen(archive.captures(until=moment), versions=versions):
        key = texts.key(capture)
        if key is not None:
            yield capture, key


def _chosen(captures: Iterable[Capture], *, versions: bool) -> Iterator[Capture]:
    """The last capture of each URL, or all that brought a content of their own."""
    # URLs of one key, with and without www, come mixed.
    for _, together in groupby(captures, key=lambda capture: capture.surt):
        last: dict[str, Capture] = {}
        for capture in together:
            if versions and (capture.kind != "revisit" or capture.url not in last):
                yield capture
            if capture.kind in ANSWERS:
                last[capture.url] = capture
        if not versions:
            yield from last.values()


def _main_text(texts: Texts, capture: Capture) -> Iterator[tuple[Named, str]]:
    document = texts.document(capture)
    if document is not None:
        yield Named(capture.url, stamp(capture.at)), main_text(document)
