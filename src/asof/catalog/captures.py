"""The catalog: captures by URL and time, the crawls they come from, and the files that hold them.

The table of captures is keyed by (SURT, time, record id). A SURT folds different URLs into one key
(http and https, with and without www), so a question about a URL prefers the rows of exactly that
URL and falls back to its neighbours under the key only when there are none.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter, itemgetter
from pathlib import Path

from asof.catalog.crawl_rows import ALL, PUT, crawl_of, row_of
from asof.catalog.derive import comparable, derive, says_other, twin_id
from asof.catalog.observe import Observation, Reader, observe
from asof.catalog.payloads import Payloads
from asof.catalog.referents import ANSWERS, NOT_MODIFIED, last_instant
from asof.catalog.rows import APART, COLUMNS, Row, capture_of
from asof.clock import Instant
from asof.errors import AsofError
from asof.ledger import Ledger, translated
from asof.model import Capture, Crawl, Segment
from asof.url import canonical, key_ranges, surt
from asof.warc.file_names import known_name, path_of
from asof.warc.reader import read_record
from asof.warc.record import Flag

# Rows fetched at a time. Each batch is a query of its own, so a long listing holds no read
# transaction open and goes on from its last key, whatever is written meanwhile.
BATCH = 1000
# Many want the first row and no more; of a URL with 1,000 captures, 5 ms for a page's neighbours.
_FIRST_BATCH = 8

# CROSS JOIN keeps SQLite's planner to this order: captures by key, then the segment of each.
_SELECT = (
    f"SELECT {', '.join(f'c.{name}' for name in COLUMNS)}, s.file, k.id FROM captures c "
    "CROSS JOIN segments s ON s.no = c.segment LEFT JOIN crawls k ON k.no = s.crawl"
)
_FLAGGED = " OR ".join(f"captures.anomalies LIKE '%%{flag}%%'" for flag in Flag)
# What is known already stays, unless it was flagged and comes again without a flag: whole.
_KNOWN = (
    f" ON CONFLICT DO UPDATE SET {', '.join(f'{n} = excluded.{n}' for n in (*COLUMNS, 'segment'))}"
    " WHERE excluded.anomalies IS NULL AND"
    f" ({_FLAGGED})"
)
_INSERT = (
    f"INSERT INTO captures ({', '.join(COLUMNS)}, segment) "
    f"VALUES ({', '.join('?' * len(COLUMNS))}, %d){_KNOWN}"
)
_NUMBERED = re.compile(r"([0-9]+)-")
# The columns from here on are empty in most rows, and sqlite3 takes 0.35 us to bind a None.
_RARE = COLUMNS.index("redirect")
_NO_RARE = (None,) * (len(COLUMNS) - _RARE)
_INSERT_PLAIN = (
    f"INSERT INTO captures ({', '.join(COLUMNS[:_RARE])}, segment) "
    f"VALUES ({', '.join('?' * _RARE)}, %d){_KNOWN}"
)
_TORN = {Flag.CUT_SHORT.value, Flag.WRONG_CHECKSUM.value}
_WIDTH = len(COLUMNS)
_EVERYTHING = (("", APART),)

# A condition in SQL, and the values for its question marks.
Condition = tuple[str, Sequence[str | int]]
# What rows are sorted by: SURT, instant, record id.
Key = tuple[str, int, str]
_ANSWER: Condition = (f"c.kind IN ({', '.join('?' * len(ANSWERS))})", ANSWERS)
_PAYLOAD: Condition = ("c.kind IN ('response', 'resource') AND c.status IS NOT 304", ())


def _is_plain(row: Row) -> bool:
    return row[_RARE:] == _NO_RARE


class Catalog:
    """Questions about captures, crawls and segments, and their entry.

    What is written joins the caller's transaction when one is open. `warc` is the folder of the
    files: only a record itself can say of which URL it is that holds a payload.
    """

    def __init__(self, ledger: Ledger, warc: Path | None = None) -> None:
        self._ledger = ledger
        self._warc = warc
        self.payloads = Payloads(ledger)

    def add_rows(
        self,
        rows: Sequence[Row],
        segment_no: int,
        twins: list[Row] | None = None,
        lies: Mapping[str, Path] | None = None,
    ) -> int:
        """Enter captures that lie in a segment; those known already are left, unless they were
        flagged and these are not. How many were new; `twins` gets those of another's name.

        `lies` says where files are that have not been put in their place yet.
        """
        if not rows:
            return 0
        # In the order of the key, so that neighbours fall into the same pages of the table.
        ordered = sorted(rows, key=itemgetter(0, 1, 2))
        added = 0
        with self._ledger.transaction() as db:
            for plain, run in groupby(ordered, key=_is_plain):
                if plain:
                    short = [row[:_RARE] for row in run]
                    added += db.executemany(_INSERT_PLAIN % segment_no, short).rowcount
                else:
                    added += db.executemany(_INSERT % segment_no, run).rowcount
            if added < len(ordered) and (others := list(self._contradicting(ordered, lies or {}))):
                added += db.executemany(_INSERT % segment_no, others).rowcount
                if twins is not None:
                    twins += others
            self.payloads.add(ordered, segment_no)
        return added

    def _contradicting(self, rows: Sequence[Row], lies: Mapping[str, Path]) -> Iterator[Row]:
        """Of rows those that say something else than a known one of the same name, under another:
        two contents that somebody gave one record id are both kept. A torn copy says nothing else.
        """
        noted = COLUMNS.index("anomalies")
        for row in rows:
            given = capture_of(row, "")
            key = given.surt, given.at, given.record_id
            (known,) = self._select([("c.surt = ? AND c.at = ? AND c.record_id = ?", key)], "")
            if not _TORN & {*given.anomalies} and says_other(known, given, self._warc, lies):
                other = twin_id(given)
                flagged = " ".join((*given.anomalies, Flag.SAME_ID))
                yield (*row[:2], other, *row[3:noted], flagged, *row[noted + 1 :])  # type: ignore[misc]

    def as_of(self, url: str, at: Instant) -> Capture | None:
        """The latest capture at or before a moment; never one from its future."""
        where: list[Condition] = [("c.surt = ?", [surt(url)]), ("c.at <= ?", [at]), _ANSWER]
        last = "ORDER BY c.at DESC, c.record_id DESC LIMIT 1"
        found = self._select([*where, _named(url)], last) or self._select(where, last)
        return found[0] if found else None

    def captures(
        self,
        *,
        url: str | None = None,
        prefix: str | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        crawl: str | None = None,
        backwards: bool = False,
        apart: bool = False,
    ) -> Iterator[Capture]:
        """Captures that match, in the order of key and time, fetched as they are asked for.

        `prefix` is a URL, a key or a SURT prefix; see `asof.url.key_ranges`. With `apart`, those
        that are set apart, and no others (`asof.catalog.asked`).
        """
        filters: list[tuple[str, str | int | None]] = [
            ("c.at >= ?", since),
            ("c.at <= ?", until),
            ("k.id = ?", crawl),
        ]
        where: list[Condition] = [(sql, [value]) for sql, value in filters if value is not None]
        ranges = _EVERYTHING if prefix is None else key_ranges(prefix)
        if url is not None:
            key = surt(url)
            ranges = ((key, key + "\0"),)
            where.append(("c.surt = ?", [key]))  # so that SQLite goes straight to the moment
            named = _named(url)
            if self._select([("c.surt = ?", [key]), named], "LIMIT 1"):
                where.append(named)
        if apart:
            ranges = tuple((APART + low, APART + high) for low, high in ranges)
        for low, high in reversed(ranges) if backwards else ranges:
            yield from self.scan(low, high, where, backwards=backwards)

    def observations(self, url: str) -> list[Observation]:
        """What the captures of a URL show of it, by time."""
        return sorted(chain.from_iterable(self.observed(url).values()), key=attrgetter("at"))

    def observed(self, url: str) -> dict[str, list[Observation]]:
        """The same of each of its names: where it has no captures, others under its key do."""
        key, names = surt(url), _names(url)
        found = self.shown(self.scan(key, key + "\0", [_ANSWER]))
        return {name: found[name] for name in names if name in found} or found

    def shown(self, together: Iterable[Capture]) -> dict[str, list[Observation]]:
        """The same of each URL, by all the captures of one key or of several."""
        own = list(together)
        return observe(own if self._warc is None else comparable(own, self._warc), others=self)

    def observation(self, capture: Capture) -> Observation:
        return Reader(self).read(capture)

    def anomalies(self, capture: Capture) -> tuple[str, ...] | None:
        """What is noted of a capture, here or of a copy in another segment; None: it is in none."""
        sql = (
            "SELECT anomalies FROM captures WHERE surt = ? AND at = ? AND record_id IN (?, ?) "
            "ORDER BY record_id"
        )
        # The twin of a record is before it, if there is one.
        name = capture.at, capture.record_id, twin_id(capture)
        found = self._ledger.fetch(sql, (capture.surt, *name))
        if not found:  # its record alone does not say that it is set apart
            low = APART + capture.surt.partition("?")[0] + "?"
            sql = sql.replace("surt = ?", "surt BETWEEN ? AND ?")
            found = self._ledger.fetch(sql, (low, low + APART, *name))
        return tuple((found[0][0] or "").split()) if found else None

    def flagged(self) -> Iterator[Capture]:
        """What was not whole, or not sure, as it came from others."""
        noted = ("c.anomalies IS NOT NULL", ())
        for low, high in (*_EVERYTHING, (APART, APART * 2)):
            found = self.scan(low, high, [noted])
            yield from (each for each in found if any(flag in each.anomalies for flag in Flag))

    def is_empty(self) -> bool:
        return not self._ledger.fetch("SELECT 1 FROM captures LIMIT 1")

    def count(self) -> int:
        return int(self._ledger.fetch("SELECT count(*) FROM captures")[0][0])

    def last_answers(self, crawl: str | None = None) -> dict[str, tuple[int | None, Instant]]:
        """Status and moment of the last answer of every URL, in all or in one crawl."""
        within = "AND s.crawl = (SELECT no FROM crawls WHERE id = ?)" if crawl is not None else ""
        # Of a bare column beside max(), SQLite gives the value in the row of the maximum.
        sql = (
            "SELECT c.url, c.status, max(c.at) FROM captures c CROSS JOIN segments s "
            f"ON s.no = c.segment WHERE c.surt < '{APART}' AND {_ANSWER[0]} {within} GROUP BY c.url"
        )
        rows = self._ledger.fetch(sql, [*_ANSWER[1], *([] if crawl is None else [crawl])])
        return {url: (status, at) for url, status, at in rows}

    def offsets(self) -> dict[str, array[int]]:
        """Where captures lie, by file: what a check compares with the files."""
        files = dict(self._ledger.fetch("SELECT no, file FROM segments"))
        found = {file: array("Q") for file in files.values()}
        with translated(self._ledger.path):
            for no, offset in self._ledger.db.execute("SELECT segment, offset FROM captures"):
                found[files[no]].append(offset)
        return found

    def crawls(self) -> list[Crawl]:
        """All crawls: first those of others, then ours, which have a file of ours or none yet;
        oldest first.
        """
        return [crawl_of(row) for row in self._ledger.fetch(ALL)]

    def crawl_no(self, crawl_id: str) -> int:
        """The number of a crawl in the ledger; a KeyError when it was never put."""
        found = self._ledger.fetch("SELECT no FROM crawls WHERE id = ?", [crawl_id])
        if not found:
            raise KeyError(crawl_id)
        return int(found[0][0])

    def put_crawl(self, crawl: Crawl) -> None:
        """Enter a crawl, or what has changed about it."""
        with self._ledger.transaction() as db:
            db.execute(PUT, row_of(crawl))

    def segments(self) -> list[Segment]:
        """All segments, in the order of their numbers."""
        rows = self._ledger.fetch(
            "SELECT s.file, s.committed, k.id, s.sealed FROM segments s "
            "LEFT JOIN crawls k ON k.no = s.crawl ORDER BY s.no"
        )
        return [Segment(known_name(f), size, crawl, bool(end)) for f, size, crawl, end in rows]

    def put_segment(self, segment: Segment) -> int:
        """Enter a segment, or what has changed about it; its number.

        A new segment takes the number that its file name begins with, if that is free. Its crawl
        has to be put before it (KeyError).
        """
        with self._ledger.transaction() as db:
            crawl = None if segment.crawl is None else self.crawl_no(segment.crawl)
            state = (crawl, segment.committed, segment.sealed, segment.file)
            update = "UPDATE segments SET crawl = ?, committed = ?, sealed = ? WHERE file = ?"
            if not db.execute(update, state).rowcount:
                insert = "INSERT INTO segments (crawl, committed, sealed, file, no)"
                db.execute(f"{insert} VALUES (?,?,?,?,?)", (*state, self._free_no(segment.file)))
            number = db.execute("SELECT no FROM segments WHERE file = ?", (segment.file,))
            return int(number.fetchone()[0])

    def _free_no(self, file: str) -> int:
        match = _NUMBERED.match(file)
        wanted = int(match[1]) if match else 0
        if wanted and not self._ledger.fetch("SELECT 1 FROM segments WHERE no = ?", [wanted]):
            return wanted
        return int(self._ledger.fetch("SELECT coalesce(max(no), 0) + 1 FROM segments")[0][0])

    def scan(
        self,
        low: str,
        high: str,
        where: Sequence[Condition] = (),
        *,
        beyond: Key | None = None,
        backwards: bool = False,
    ) -> Iterator[Capture]:
        """The rows of a range of keys, batch by batch, each beyond the last row of the former."""
        sign, order, start = ("<", " DESC", high) if backwards else (">", "", low)
        ordered = f"ORDER BY c.surt{order}, c.at{order}, c.record_id{order} LIMIT"
        end: Condition = ("c.surt >= ?", [low]) if backwards else ("c.surt < ?", [high])
        limit = _FIRST_BATCH
        while True:
            first: Condition = (f"c.surt {'<' if backwards else '>='} ?", [start])
            if beyond is not None:
                first = (f"(c.surt, c.at, c.record_id) {sign} (?, ?, ?)", beyond)
            within = [end, first, *where]
            batch = self._select(within, f"{ordered} {limit}")
            yield from batch
            if len(batch) < limit:
                return
            limit = BATCH
            beyond = key_of_row(batch[-1])

    def _select(self, where: Sequence[Condition], tail: str) -> list[Capture]:
        sql = f"{_SELECT} WHERE {' AND '.join(condition for condition, _ in where)} {tail}"
        values = [value for _, some in where for value in some]
        rows = self._ledger.fetch(sql, values)
        found: list[Capture] = []
        last: Capture | None = None
        for row in rows:
            last = capture_of(row[:_WIDTH], row[_WIDTH], row[_WIDTH + 1], last)
            found.append(last)
        return found

    def within(self, key: str, at: Instant) -> Sequence[Capture]:
        """As `Held.within`: what a revisit may name."""
        when: Condition = ("c.at BETWEEN ? AND ?", [at, last_instant(at)])
        return self._select([("c.surt = ?", [key]), when, _ANSWER], "")

    def holding(self, digest: str, key: str, at: Instant) -> Capture | None:
        """As `Held.holding`: what has the payload that a revisit declares."""
        where: list[Condition] = [("c.surt = ?", [key]), ("c.digest = ?", [digest]), _PAYLOAD]
        by_then: Condition = ("c.at <= ?", [at])
        found = self._select([*where, by_then], "ORDER BY c.at DESC, c.record_id DESC LIMIT 1")
        found = found or self._select(where, "ORDER BY c.at, c.record_id LIMIT 1")
        return found[0] if found else self.with_payload(digest)

    def with_payload(self, digest: str) -> Capture | None:
        """A capture of any URL that holds a payload."""
        place = None if self._warc is None else self.payloads.find(digest)
        if place is None or self._warc is None:
            return None
        try:
            found = derive(read_record(path_of(self._warc, place.file), place.offset))
        except AsofError:  # lost or damaged since
            return None
        return found if found is not None and found.digest == digest else None

    def before(self, capture: Capture) -> Sequence[Capture]:
        """As `Held.before`: what a 304 may be about that names nothing."""
        where: list[Condition] = [
            ("c.surt = ?", [capture.surt]),
            ("c.url = ?", [capture.url]),
            ("c.at <= ?", [capture.at]),
            ("ifnull(c.status BETWEEN 200 AND 399 AND c.status <> 304, 1)", []),
            ("c.profile IS NOT ?", [NOT_MODIFIED]),
            _ANSWER,
        ]
        last = self._select(where, "ORDER BY c.at DESC LIMIT 1")
        return self._select([*where, ("c.at = ?", [last[0].at])], "") if last else ()


def key_of_row(capture: Capture) -> Key:
    return capture.surt, capture.at, capture.record_id


def _names(url: str) -> tuple[str, ...]:
    """What rows may be called to be exactly this URL."""
    known = canonical(url)
    return (url,) if known in (None, url) else (url, str(known))


def _named(url: str) -> Condition:
    names = _names(url)
    return f"c.url IN ({', '.join('?' * len(names))})", names
