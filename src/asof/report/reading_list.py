"""A cover as one HTML file to read along: what stays, and what each of it stands for.

Long lists are folded into pages and end where the file would become too large to open; counts are
of all documents in any case.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
from markupsafe import Markup

from asof.clock import Instant, stamp, to_datetime
from asof.cover.answer import Figures
from asof.cover.documents.collection import Collection
from asof.cover.kept.saved_covers import Gone
from asof.cover.language.columns import Column
from asof.cover.run import CoverOutcome, Dropped
from asof.report.cover_words import Shown, beside, proof
from asof.report.render import macros, render
from asof.report.words import clipped

# Bytes of documents in a page. 75,000 of them, in pairs of two versions, would take 25 MB.
ROOM = 8 << 20
_PAGE = 100  # documents that stay, in one fold
_FEW = 3  # so many covered documents need no fold of their own
_MOST = 50  # listed below one document
_ADDRESS = 2_000  # characters of a link: no browser needs more
Key = TypeVar("Key", int, str)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A document that stays, as it is written, and how many it covers."""

    html: Markup
    covers: int


@dataclass(frozen=True, slots=True)
class _Part:
    """A list of documents that stay; `left` had no room any more, and cover so many."""

    title: str
    meaning: str
    entries: Sequence[_Entry]
    left: int
    left_covers: int


@dataclass(frozen=True, slots=True)
class ReadingList:
    """What there is to say of an answer before its documents. `served` as in `page`."""

    title: str
    relation: str
    figures: Figures
    notes: Iterable[str] = ()
    served: str = ""


def page(
    outcome: CoverOutcome,
    *,
    title: str = "",
    notes: Iterable[str] = (),
    room: int = ROOM,
    served: str = "",
) -> str:
    """The whole file, to be written as UTF-8. `notes` are sentences about what was wished for.

    Links lead to each document as `asof serve` shows it, at the address `served`; without one to
    the http addresses of the column `url`. Documents take up to `room` bytes.
    """
    kept = np.flatnonzero(outcome.cover.kept).tolist()
    shown = _documents(outcome.collection, served)
    told = ReadingList(title, outcome.relation, Figures.of(outcome), notes, served)
    return written(told, kept, outcome.dropped, shown, room)


def written(
    told: ReadingList,
    kept: Sequence[Key],
    dropped: Iterable[Dropped | Gone],
    shown: Callable[[Key], Shown],
    room: int = ROOM,
) -> str:
    """The file of any answer whose documents are called by their places, or by their names."""
    return render(
        "reading_list.html",
        title=told.title,
        relation=told.relation,
        figures=told.figures,
        saved=told.figures.saved,
        notes=[proof(told.figures), *told.notes],
        parts=_parts(kept, dropped, shown, room),
        a_fold=_PAGE,
        served=told.served,
    )


def _parts(
    kept: Sequence[Key],
    dropped: Iterable[Dropped | Gone],
    shown: Callable[[Key], Shown],
    room: int,
) -> Iterator[_Part]:
    """First what covers the most, then what covers no other, in the room that is left."""
    below: dict[Key, list[Any]] = {}
    for each in dropped:
        below.setdefault(cast("Key", each.by), []).append(each)
    for title, meaning, documents in (
        (
            "What stays, and what it stands for",
            "Below each document those that it covers: how much of them is in it (C, the bar),"
            " and how alike both are (J, Jaccard; D, Dice). Those first that cover the most.",
            sorted((key for key in kept if key in below), key=lambda key: -len(below[key])),
        ),
        (
            "What stands alone",
            "These cover no other that is left out.",
            [key for key in kept if key not in below],
        ),
    ):
        entries: list[_Entry] = []
        for key in documents:
            entry = _entry(shown, key, below.get(key, []))
            room -= len(entry.html.encode())
            if room < 0:
                break
            entries.append(entry)
        left = documents[len(entries) :]
        covers = sum(len(below.get(key, ())) for key in left)
        if documents:
            yield _Part(title, meaning, entries, len(left), covers)


def _entry(shown: Callable[[Key], Shown], key: Key, below: Sequence[Any]) -> _Entry:
    by = shown(key)
    rows = [beside(by, shown(each.document), each) for each in below[:_MOST]]
    return _Entry(macros("cover_parts.html")["entry"](by, rows, len(below), _FEW), len(below))


def _documents(collection: Collection, served: str) -> Callable[[int], Shown]:
    """How each document is shown: name or address, title, time."""
    columns = collection.columns
    urls, titles = _texts(columns.get("url")), _texts(columns.get("title"))
    times = _times(columns.get("timestamp"))

    def shown(place: int) -> Shown:
        name, url = collection.names[place], urls(place)
        if url and name.endswith(url):  # an archive's names are a time and an address
            name = url
        at, href = times(place), _address(url)
        if served and href and at is not None:
            href = f"{served}/{stamp(at)}/{href}"
        return Shown(clipped(name), href, at, clipped(titles(place).strip()))

    return shown


def _texts(column: Column | None) -> Callable[[int], str]:
    if column is None or column.kind != "text":
        return lambda place: ""
    codes, strings = column.values, column.strings
    return lambda place: strings[codes[place]] if codes[place] >= 0 else ""


def _times(column: Column | None) -> Callable[[int], Instant | None]:
    if column is None or column.kind != "time":
        return lambda place: None
    values, known = column.values, column.known

    def at(place: int) -> Instant | None:
        try:
            to_datetime(int(values[place]))
        except OverflowError:  # no year between 1 and 9999
            return None
        return int(values[place]) if known[place] else None

    return at


def _address(url: str) -> str:
    """A link that leads to a page, from wherever the file is; whatever else would act is none."""
    leads = url.lower().startswith(("http://", "https://")) and url.isprintable()
    return url if leads and len(url) <= _ADDRESS else ""
