"""Saved covers to look through: what stays, what it covers, each linked to how it was captured."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from asof.caret import suggestion
from asof.clock import parse_stamp
from asof.cover.kept.saved_covers import (
    DOCUMENT_NAME,
    CoverFacts,
    Gone,
    SavedCover,
    cover_names,
    cover_path,
    load_cover,
    saved_covers,
)
from asof.files import storage_errors
from asof.report import words
from asof.report.cover_words import Covered, Shown, beside
from asof.web import address
from asof.web.cover_runs import Run
from asof.web.pages import Pages, number_in
from asof.web.rules import fields_of

DOCUMENTS_A_PAGE = 50
COVERED_SHOWN = 4
COVERED_A_PAGE = 200
# Covers held in memory, and how large a file may be to be held: 75,000 documents take 20 MB of it.
READINGS_KEPT = 3
LARGEST = 256 << 20

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class KeptDocument:
    """A document that stays, some of those that it covers, and where all of them are."""

    shown: Shown
    covered: tuple[Covered, ...]
    count: int
    more: str


@dataclass(frozen=True, slots=True)
class ReadingOrder:
    """A cover as it is leafed through: first what covers the most, then what covers no other."""

    facts: CoverFacts
    order: tuple[str, ...]
    below: Mapping[str, Sequence[Gone]]


class Covers:
    """Renders covers. Its public methods are endpoints; they run in a thread."""

    def __init__(self, pages: Pages, last: Callable[[], Run]) -> None:
        self._pages = pages
        self._last = last
        self._folder = pages.archive.folder
        self._read: dict[str, tuple[tuple[int, int], ReadingOrder]] = {}
        # One at a time: many who ask for a large one at once would each hold all of it.
        self._turn = Lock()

    def all(self, request: Request) -> Response:
        run, covers = self._last(), saved_covers(self._folder)
        scripts = ["run.js"] if run.is_alive else []
        return self._pages.live("covers.html", scripts=scripts, covers=covers, run=run)

    def one(self, request: Request) -> Response:
        """A cover: a page of what stays, what was looked for, or all that one document covers."""
        name = request.path_params["name"]
        names = cover_names(self._folder)
        if name not in names:
            hint = suggestion(name[:80], names)
            return self._pages.render("message/no_cover.html", 404, name=name[:80], hint=hint)
        reading = self._reading(name)
        if reading is None:
            return self._pages.render("message/cover_too_large.html", 413, name=name, most=LARGEST)
        query, page = request.query_params, number_in(request.query_params, "page", 1)
        if of := query.get("of", ""):
            return self._document(reading, of, page)
        return self._list(reading, query.get("find", "").strip(), page)

    def _reading(self, name: str) -> ReadingOrder | None:
        """Kept for as long as its file stays the same; None if that is too large."""
        with storage_errors(self._folder.root):
            state = cover_path(self._folder, name).stat()
        if state.st_size > LARGEST:
            return None
        mark = (state.st_mtime_ns, state.st_size)
        with self._turn:
            known = self._read.get(name)
            if known is not None and known[0] == mark:
                return known[1]
            if len(self._read) >= READINGS_KEPT:
                self._read.clear()
            found = in_reading_order(load_cover(self._folder, name))
            self._read[name] = (mark, found)
        return found

    def _list(self, reading: ReadingOrder, find: str, number: int) -> Response:
        found = _found(reading, find.lower()) if find else [(one, None) for one in reading.order]
        part, page, last = _page(found, number, DOCUMENTS_A_PAGE)
        return self._pages.live(
            "cover.html",
            facts=reading.facts,
            again=fields_of(reading.facts.question) if reading.facts.question else {},
            entries=[_entry(reading, name, rows) for name, rows in part],
            covering=len(reading.below),
            find=find,
            count=len(found),
            start=(page - 1) * DOCUMENTS_A_PAGE,
            page=page,
            last=last,
            link=lambda page: address.cover_page(reading.facts.name, page=page, find=find),
        )

    def _document(self, reading: ReadingOrder, name: str, number: int) -> Response:
        covered = reading.below.get(name)
        if covered is None:
            return self._pages.render("message/covers_nothing.html", 404, name=reading.facts.name)
        part, page, last = _page(covered, number, COVERED_A_PAGE)
        shown = shown_as(reading.facts, name)
        return self._pages.render(
            "cover_document.html",
            facts=reading.facts,
            shown=shown,
            covered_rows=[*_covered(reading.facts, shown, part)],
            count=len(covered),
            page=page,
            last=last,
            link=lambda page: address.cover_page(reading.facts.name, page=page, of=name),
        )


def in_reading_order(cover: SavedCover) -> ReadingOrder:
    """The documents that stay in the order in which they are read."""
    below: dict[str, list[Gone]] = {}
    for gone in cover.dropped:
        below.setdefault(gone.by, []).append(gone)
    covering = sorted((name for name in cover.kept if name in below), key=lambda n: -len(below[n]))
    alone = (name for name in cover.kept if name not in below)
    return ReadingOrder(cover.facts, (*covering, *alone), below)


def _found(reading: ReadingOrder, find: str) -> list[tuple[str, list[Gone] | None]]:
    """What stays and has the words in its name; and what covers such, with these alone."""
    found: list[tuple[str, list[Gone] | None]] = []
    for name in reading.order:
        if find in name.lower():
            found.append((name, None))
        elif rows := [g for g in reading.below.get(name, ()) if find in g.document.lower()]:
            found.append((name, rows))
    return found


def _entry(reading: ReadingOrder, name: str, rows: list[Gone] | None) -> KeptDocument:
    every = reading.below.get(name, ())
    shown = shown_as(reading.facts, name)
    chosen = every if rows is None else rows
    covered = tuple(_covered(reading.facts, shown, chosen[:COVERED_SHOWN]))
    more = address.cover_page(reading.facts.name, of=name) if len(every) > len(covered) else ""
    return KeptDocument(shown, covered, len(every), more)


def _covered(facts: CoverFacts, by: Shown, gone: Iterable[Gone]) -> Iterator[Covered]:
    return (beside(by, shown_as(facts, each.document), each) for each in gone)


def shown_as(facts: CoverFacts, name: str) -> Shown:
    """A document of the archive by its address and time; one of a table by its id."""
    of_table = facts.question is not None and facts.question.table is not None
    found = None if of_table else DOCUMENT_NAME.fullmatch(name)
    at = None if found is None else parse_stamp(found[1])
    if found is None or at is None or not _is_text(found[2]):
        return Shown(words.clipped(name))
    url = found[2]
    name = words.clipped(words.readable(url))
    return Shown(name, address.replay(found[1], url), at, captures=address.listing(url))


def _is_text(url: str) -> bool:
    """Whether a URL can be written at all; half a surrogate pair cannot."""
    try:
        url.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _page(items: Sequence[Item], number: int, each: int) -> tuple[Sequence[Item], int, int]:
    """A page of items, the last one if there are not so many; which it is, and of how many."""
    last = max((len(items) + each - 1) // each, 1)
    number = min(max(number, 1), last)
    return items[(number - 1) * each : number * each], number, last
