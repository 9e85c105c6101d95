"""Near-duplicates in an archive: of one document, or all of them; every result is verified."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from asof.archive.archive import Moment, OpenArchive
from asof.catalog.referents import ANSWERS
from asof.change.near import Measure, Near, NearIndex
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
    """All pairs of the archive as of a moment whose Jaccard coefficient reaches the threshold."""
    index = _index(archive, texts, moment, threshold, versions=versions)
    pairs = sorted(index.pairs(), key=lambda near: (-near.jaccard, near.a, near.b))
    return NearDuplicates(len(index), tuple(map(tuple, index.identical())), tuple(pairs))


def similar(
    archive: OpenArchive,
    texts: Texts,
    url: str,
    moment: Moment,
    threshold: float,
    measure: Measure,
    *,
    versions: bool,
) -> list[Near[Named]]:
    """What is near one document; other versions of it only if they were asked for."""
    capture = archive.captured(url, moment)
    document = texts.document(capture)
    if document is None or not (document.main or document.text).strip():
        raise AsofError(f"{url} has no text to compare.", hint="`asof text` shows what it has.")
    index = _index(archive, texts, moment, threshold, versions=versions)
    name = Named(capture.url, stamp(capture.at))
    return [
        each
        for each in index.search(name, document.main or document.text, measure=measure)
        # Captures that confirmed the same content are the document itself.
        if each.b.url != capture.url or (versions and each.jaccard < 1)
    ]


def _index(
    archive: OpenArchive, texts: Texts, moment: Moment, threshold: float, *, versions: bool
) -> NearIndex[Named]:
    index: NearIndex[Named] = NearIndex(threshold)
    index.add_all(_main_texts(archive, texts, moment, versions=versions))
    return index


def _main_texts(
    archive: OpenArchive, texts: Texts, moment: Moment, *, versions: bool
) -> Iterator[tuple[Named, str]]:
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


def _main_text(texts: Texts, capture: Capture) -> Iterator[tuple[Named, str]]:
    document = texts.document(capture)
    if document is not None:
        yield Named(capture.url, stamp(capture.at)), document.main or document.text
