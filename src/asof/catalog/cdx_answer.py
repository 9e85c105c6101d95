"""Answers of the CDX server: the captures that a question asks for, written as lines or as JSON.

Nothing is held that was sent already. An answer ends after so many rows and so much work; it then
says where to go on, to those who asked for that, and breaks off for others: a part is never taken
for the whole.
"""

import heapq
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from urllib.parse import quote

from asof.catalog.captures import Catalog, key_of_row
from asof.catalog.cdx_query import BLOCK, ORIGINALS, CdxQuery, Resume, Row, field_of
from asof.catalog.cdxj import entry
from asof.catalog.listing import Listing
from asof.catalog.observe import Reader
from asof.clock import SECOND, Clock, stamp
from asof.errors import UsageError
from asof.model import Capture

# Seconds of work, the waiting of the reader not counted.
SECONDS = 20.0
_BLANK = re.compile(r"[^!-~]+")
_OF_LINE = ("urlkey", "timestamp")
# Names that were asked for, and what they stand for.
Fields = Sequence[tuple[str, str]]


def row_of(capture: Capture, reader: Reader | None = None) -> Row:
    """A capture as indexes tell of it (one answer with `asof export --format cdxj`); if revisits
    are read, with type and status of what they stand for, and where that lies.
    """
    moved = {} if capture.redirect is None else {"redirect": capture.redirect}
    row = {"urlkey": capture.surt, "timestamp": stamp(capture.at), **entry(capture), **moved}
    if reader is None:
        return row
    source = reader.read(capture).source if capture.kind == "revisit" else None
    found = {} if source is None else entry(source)
    row |= {name: found[name] for name in ("mime", "status") if name in row and name in found}
    return row | {name: found.get(name.removeprefix("orig."), "-") for name in ORIGINALS}


def pages(listing: Listing, query: CdxQuery) -> Mapping[str, int]:
    """How many pages and blocks a question has, by the keys that it looks through."""
    blocks = -(-listing.count(*query.range) // BLOCK)
    count = -(-blocks // query.page_blocks)
    return {"pages": count, "pageSize": query.page_blocks, "blocks": blocks}


class CdxSearch:
    """One question while it is answered: iterate for rows; then `resume` says if there are more."""

    def __init__(self, catalog: Catalog, listing: Listing, query: CdxQuery, clock: Clock) -> None:
        self._catalog = catalog
        self._listing = listing
        self._query = query
        self._clock = clock
        self._reader = Reader(catalog) if query.resolves else None
        self._end = clock.monotonic() + SECONDS
        self._collapsed: list[str | None] = [None] * len(query.collapses)
        if query.resume is not None:
            self._collapsed = list(query.resume.collapsed)
        self.resume: Resume | None = None

    def __iter__(self) -> Iterator[Row]:
        query = self._query
        if query.sort == "":
            for row in self._in_order():
                waited = self._clock.monotonic()
                yield row
                self._end += self._clock.monotonic() - waited
            return
        wanted = query.offset + query.limit
        found: Iterable[Row]
        if query.sort == "closest":
            found = self._closest(wanted)
        elif query.collapses:  # what the first of equal ones is, only the way forwards tells
            last = deque((row for _, row in self._chosen(self._source())), maxlen=wanted)
            found = reversed(last)
        else:
            found = (row for _, row in self._chosen(self._source(backwards=True)))
        rows = islice(found, query.offset, wanted)
        yield from reversed(list(rows)) if query.sort == "last" else rows

    def _in_order(self) -> Iterator[Row]:
        """As the index goes; one row beyond the last is looked for, to know if there are more."""
        query = self._query
        last: tuple[Capture, tuple[str | None, ...]] | None = None
        for number, (capture, row) in enumerate(self._chosen(self._source())):
            if number == query.offset + query.limit:
                self.resume = last and Resume(key_of_row(last[0]), last[1])
                return
            if number >= query.offset:
                last = capture, tuple(self._collapsed)
                yield row

    def _closest(self, wanted: int) -> Iterator[Row]:
        """By the distance in whole seconds; of two as far, the earlier (as pywb)."""
        query = self._query
        second = query.closest // SECOND

        def distance(capture: Capture) -> int:
            return abs(capture.at // SECOND - second)

        if query.match == "exact" and not query.collapses and query.page is None:
            low, high = query.range
            here = (low, second * SECOND, "")
            before = self._catalog.scan(low, high, beyond=here, backwards=True)
            after = self._catalog.scan(low, high, beyond=here)
            merged = heapq.merge(before, after, key=distance)
            return (row for _, row in self._chosen(merged))
        pairs = self._chosen(self._source())
        near = heapq.nsmallest(wanted, pairs, key=lambda pair: distance(pair[0]))
        return (row for _, row in near)

    def _source(self, *, backwards: bool = False) -> Iterator[Capture]:
        query = self._query
        low, high = query.range
        beyond = None if query.resume is None else query.resume.key
        if beyond is not None and not low <= beyond[0] < high:
            raise UsageError("That resume key is not one of this question.")
        if query.page is None:
            return self._catalog.scan(low, high, beyond=beyond, backwards=backwards)
        size, count = query.page_blocks * BLOCK, pages(self._listing, query)["pages"]
        if query.page >= max(count, 1):  # an empty answer instead has clients ask for ever
            last = f"The last one is {count - 1}." if count else "There is none."
            raise UsageError(f"There is no page {query.page}.", hint=last)
        before = self._listing.nth(low, high, query.page * size - 1) if query.page else None
        page: Iterator[Capture] = islice(self._catalog.scan(low, high, beyond=before), size)
        if beyond is not None:
            page = (each for each in page if key_of_row(each) > beyond)
        return reversed(list(page)) if backwards else page

    def _chosen(self, captures: Iterable[Capture]) -> Iterator[tuple[Capture, Row]]:
        query = self._query
        before: Capture | None = None
        for capture in captures:
            if before is not None and self._clock.monotonic() > self._end:
                return self._over(before)
            row, before = row_of(capture, self._reader), capture
            if not query.since <= row["timestamp"] <= query.until:
                continue
            if all(each.accepts(row) for each in query.filters) and self._is_new(row):
                yield capture, row

    def _is_new(self, row: Row) -> bool:
        """Whether each of the collapsed fields differs from that of the row before."""
        for number, collapse in enumerate(self._query.collapses):
            value = collapse.of(row)
            if value == self._collapsed[number]:
                return False
            self._collapsed[number] = value
        return True

    def _over(self, before: Capture) -> None:
        """It took too long: go on behind the last one another time."""
        if not self._query.wants_key:
            raise UsageError(
                f"That question takes more than {SECONDS:.0f} seconds.",
                hint="Ask by pages (page=0), or with showResumeKey=true.",
            )
        self.resume = Resume(key_of_row(before), tuple(self._collapsed))


def written(search: CdxSearch, query: CdxQuery) -> Iterator[str]:
    """The answer in pieces of text, one for each row."""
    names = query.dialect.text if query.output == "text" else query.dialect.json
    names = query.named or (names + ORIGINALS if query.resolves else names)
    fields = [(name, field_of(name)) for name in names]
    if query.output == "json" and query.dialect.has_arrays:
        yield from _arrays(search, query, fields)
        return
    if query.output == "cdxj":
        fields = [each for each in fields if each[1] not in _OF_LINE]
    write = {"text": _line, "cdxj": _cdxj, "json": _object}[query.output]
    for row in search:
        yield write(row, fields)
    if query.wants_key and search.resume is not None:
        token = search.resume.token()
        yield f"{json.dumps({'resumeKey': token})}\n" if query.output == "json" else f"\n{token}\n"


def _arrays(search: CdxSearch, query: CdxQuery, fields: Fields) -> Iterator[str]:
    """A row of names and rows of values; nothing at all is an empty array (Wayback Machine)."""
    before = f"[{json.dumps([name for name, _ in fields])}"
    for row in search:
        yield f"{before},\n{json.dumps([row.get(field, '-') for _, field in fields])}"
        before = ""
    if query.wants_key and search.resume is not None:
        yield f"{before},\n[],\n{json.dumps([search.resume.token()])}"
        before = ""
    yield "[]\n" if before else "]\n"


def _line(row: Row, fields: Fields) -> str:
    """Values between blanks: none may hold one."""
    values = (row.get(field) or "-" for _, field in fields)
    return " ".join(_BLANK.sub(lambda odd: quote(odd[0]), value) for value in values) + "\n"


def _cdxj(row: Row, fields: Fields) -> str:
    return f"{row['urlkey']} {row['timestamp']} {_object(row, fields)}"


def _object(row: Row, fields: Fields) -> str:
    return json.dumps({name: row[field] for name, field in fields if field in row}) + "\n"
