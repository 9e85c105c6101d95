"""The catalog: captures by URL and time, in the ledger's `captures` table.

The table is keyed by (SURT, time, record id). A SURT folds different URLs into one key (http and
https, with and without www), so a question about a URL prefers the rows of exactly that URL and
falls back to its neighbours under the key only when there are none.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from pathlib import Path

from asof.catalog.crawls import Runs
from asof.catalog.derive import derive
from asof.catalog.observe import Observation, Reader, observe
from asof.catalog.one_hash import comparable
from asof.catalog.payloads import Payloads
from asof.catalog.referents import ANSWERS, NOT_MODIFIED, last_instant
from asof.catalog.rows import COLUMNS, Row, capture_of, fetch, row_of, translated
from asof.clock import Instant
from asof.errors import AsofError
from asof.ledger import Ledger
from asof.model import Capture, Crawl, Segment
from asof.url import canonical, key_ranges, surt
from asof.warc.reader import read_record

# Rows fetched at a time. Each batch is a query of its own, so a long listing holds no read
# transaction open and goes on from its last key, whatever is written meanwhile.
BATCH = 1000

# CROSS JOIN keeps SQLite's planner to this order: captures by key, then the segment of each.
_SELECT = (
    f"SELECT {', '.join(f'c.{name}' for name in COLUMNS)}, s.file, k.id FROM captures c "
    "CROSS JOIN segments s ON s.no = c.segment LEFT JOIN crawls k ON k.no = s.crawl"
)
_INSERT = (
    f"INSERT OR IGNORE INTO captures ({', '.join(COLUMNS)}, segment) "
    f"VALUES ({', '.join('?' * len(COLUMNS))}, %d)"
)
# The columns from here on are empty in most rows, and sqlite3 takes 0.35 us to bind a None.
_RARE = COLUMNS.index("redirect")
_NO_RARE = (None,) * (len(COLUMNS) - _RARE)
_INSERT_PLAIN = (
    f"INSERT OR IGNORE INTO captures ({', '.join(COLUMNS[:_RARE])}, segment) "
    f"VALUES ({', '.join('?' * _RARE)}, %d)"
)
_ORDER = {False: "c.surt, c.at, c.record_id", True: "c.surt DESC, c.at DESC, c.record_id DESC"}
_WIDTH = len(COLUMNS)
_EVERYTHING = (("", "\U0010ffff"),)

# A condition in SQL, and the values for its question marks.
Condition = tuple[str, Sequence[str | int]]
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
        self._runs = Runs(ledger)
        self.payloads = Payloads(ledger)

    def add(self, captures: Iterable[Capture], segment_no: int) -> int:
        """Enter captures that lie in a segment; those known already are left. How many were new."""
        return self.add_rows([row_of(capture) for capture in captures], segment_no)

    def add_rows(self, rows: Sequence[Row], segment_no: int) -> int:
        """Like `add`, for rows as `derive.row` makes them."""
        if not rows:
            return 0
        # In the order of the key, so that neighbours fall into the same pages of the table.
        ordered = sorted(rows, key=itemgetter(0, 1, 2))
        added = 0
        with self._ledger.transaction() as db, translated(self._ledger):
            for plain, run in groupby(ordered, key=_is_plain):
                if plain:
                    short = [row[:_RARE] for row in run]
                    added += db.executemany(_INSERT_PLAIN % segment_no, short).rowcount
                else:
                    added += db.executemany(_INSERT % segment_no, run).rowcount
            self.payloads.add(ordered, segment_no)
        return added

    def as_of(self, url: str, at: Instant) -> Capture | None:
        """The latest capture at or before a moment; never one from its future."""
        for names in _names(url):
            found = self._answer(url, names, ("c.at <= ?", [at]), "DESC")
            if found is not None:
                return found
        return None

    def captures(
        self,
        *,
        url: str | None = None,
        prefix: str | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        crawl: str | None = None,
        kind: str | None = None,
        reverse: bool = False,
    ) -> Iterator[Capture]:
        """Captures that match, in the order of key and time, fetched as they are asked for.

        `prefix` is a URL, a key or a SURT prefix; see `asof.url.key_ranges`.
        """
        filters: list[tuple[str, str | int | None]] = [
            ("c.at >= ?", since),
            ("c.at <= ?", until),
            ("k.id = ?", crawl),
            ("c.kind = ?", kind),
        ]
        where: list[Condition] = [(sql, [value]) for sql, value in filters if value is not None]
        ranges = _EVERYTHING if prefix is None else key_ranges(prefix)
        if url is not None:
            key = surt(url)
            ranges = ((key, key + "\0"),)
            named = _any_of("c.url", _names(url)[0])
            if self._select([("c.surt = ?", [key]), named], "LIMIT 1"):
                where.append(named)
        for low, high in reversed(ranges) if reverse else ranges:
            yield from self._scan(low, high, where, reverse)

    def observations(self, url: str) -> list[Observation]:
        """What the captures of a URL show of it, by time."""
        key, names = surt(url), _names(url)[0]
        together = list(self._scan(key, key + "\0", [_ANSWER], False))
        if self._warc is not None:
            together = comparable(together, self._warc)
        own = {c.url for c in together if c.url in names} or {c.url for c in together}
        found = observe(together, urls=own, others=self)
        return sorted((each for seen in found.values() for each in seen), key=attrgetter("at"))

    def observation(self, capture: Capture) -> Observation:
        """What one capture shows."""
        return Reader(self).read(capture)

    def holds(self, capture: Capture) -> bool:
        """Whether a capture is in the catalog, here or as a copy in another segment."""
        sql = "SELECT 1 FROM captures WHERE surt = ? AND at = ? AND record_id = ?"
        return bool(fetch(self._ledger, sql, (capture.surt, capture.at, capture.record_id)))

    def is_empty(self) -> bool:
        """Whether there is no capture at all."""
        return not fetch(self._ledger, "SELECT 1 FROM captures LIMIT 1")

    def count(self) -> int:
        """How many captures there are."""
        return int(fetch(self._ledger, "SELECT count(*) FROM captures")[0][0])

    def count_urls(self) -> int:
        """How many different URLs have captures."""
        # Under one key there are few URLs, so this needs no room for all of them at once.
        sql = "SELECT sum(n) FROM (SELECT count(DISTINCT url) AS n FROM captures GROUP BY surt)"
        return int(fetch(self._ledger, sql)[0][0] or 0)

    def last_answers(self, crawl: str | None = None) -> dict[str, tuple[int | None, Instant]]:
        """Status and moment of the last answer of every URL, in all or in one crawl."""
        within = "AND s.crawl = (SELECT no FROM crawls WHERE id = ?)" if crawl is not None else ""
        # Of a bare column beside max(), SQLite gives the value in the row of the maximum.
        sql = (
            "SELECT c.url, c.status, max(c.at) FROM captures c CROSS JOIN segments s "
            f"ON s.no = c.segment WHERE {_ANSWER[0]} {within} GROUP BY c.url"
        )
        rows = fetch(self._ledger, sql, [*_ANSWER[1], *([] if crawl is None else [crawl])])
        return {url: (status, at) for url, status, at in rows}

    def offsets(self) -> dict[str, array[int]]:
        """Where captures lie, by file: what a check compares with the files."""
        files = dict(fetch(self._ledger, "SELECT no, file FROM segments"))
        found = {file: array("Q") for file in files.values()}
        with translated(self._ledger):
            for no, offset in self._ledger.db.execute("SELECT segment, offset FROM captures"):
                found[files[no]].append(offset)
        return found

    def crawls(self) -> list[Crawl]:
        """All crawls, oldest first."""
        return self._runs.crawls()

    def crawl(self, crawl_id: str) -> Crawl | None:
        """The crawl of that id."""
        return self._runs.crawl(crawl_id)

    def crawl_no(self, crawl_id: str) -> int:
        """The number of a crawl, by which the frontier knows it."""
        return self._runs.crawl_no(crawl_id)

    def put_crawl(self, crawl: Crawl) -> None:
        """Enter a crawl, or what has changed about it."""
        self._runs.put_crawl(crawl)

    def memory(self, crawl_id: str) -> str:
        """What an interrupted crawl wanted to remember."""
        return self._runs.memory(crawl_id)

    def put_memory(self, crawl_id: str, memory: str) -> None:
        """Leave a text for the resumption of a crawl."""
        self._runs.put_memory(crawl_id, memory)

    def segments(self) -> list[Segment]:
        """All segments, in the order of their numbers."""
        return self._runs.segments()

    def segment_no(self, file: str) -> int:
        """The number of a segment."""
        return self._runs.segment_no(file)

    def next_segment_no(self) -> int:
        """The number after the highest in use."""
        return self._runs.next_segment_no()

    def put_segment(self, segment: Segment) -> int:
        """Enter a segment, or what has changed about it; its number."""
        return self._runs.put_segment(segment)

    def _scan(
        self, low: str, high: str, where: Sequence[Condition], reverse: bool
    ) -> Iterator[Capture]:
        """The rows of a range of keys, batch by batch, each beyond the last row of the former."""
        bounds: list[Condition] = [("c.surt >= ?", [low]), ("c.surt < ?", [high])]
        while True:
            batch = self._select([*bounds, *where], f"ORDER BY {_ORDER[reverse]} LIMIT {BATCH}")
            yield from batch
            if len(batch) < BATCH:
                return
            last = batch[-1]
            key = (last.surt, last.at, last.record_id)
            edge = "c.surt >= ?" if reverse else "c.surt < ?"
            beyond = f"(c.surt, c.at, c.record_id) {'<' if reverse else '>'} (?, ?, ?)"
            bounds = [(edge, [low if reverse else high]), (beyond, key)]

    def _answer(
        self, url: str, names: Sequence[str], when: Condition, order: str
    ) -> Capture | None:
        """The first answer under the URL's key, by one of the names if there are any."""
        where = [("c.surt = ?", [surt(url)]), when, _ANSWER]
        if names:
            where.append(_any_of("c.url", names))
        found = self._select(where, f"ORDER BY c.at {order}, c.record_id {order} LIMIT 1")
        return found[0] if found else None

    def _select(self, where: Sequence[Condition], tail: str) -> list[Capture]:
        sql = f"{_SELECT} WHERE {' AND '.join(condition for condition, _ in where)} {tail}"
        values = [value for _, some in where for value in some]
        rows = fetch(self._ledger, sql, values)
        return [capture_of(row[:_WIDTH], row[_WIDTH], row[_WIDTH + 1]) for row in rows]

    def within(self, key: str, at: Instant) -> Sequence[Capture]:
        """Captures of an instant or its second, to which revisits may refer."""
        when: Condition = ("c.at BETWEEN ? AND ?", [at, last_instant(at)])
        return self._select([("c.surt = ?", [key]), when, _ANSWER], "")

    def holding(self, digest: str, key: str, at: Instant) -> Capture | None:
        """A capture that holds a payload: under the key the last by then, or the first after it."""
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
            found = derive(read_record(self._warc / place.file, place.offset))
        except AsofError:  # lost or damaged since
            return None
        return found if found is not None and found.digest == digest else None

    def before(self, capture: Capture) -> Sequence[Capture]:
        """The last answers of its URL that a 304 may be about, those of one instant."""
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


def _names(url: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What rows may be called to be exactly this URL; then none: any that shares its key."""
    known = canonical(url)
    return ((url,) if known in (None, url) else (url, str(known))), ()


def _any_of(column: str, values: Sequence[str]) -> Condition:
    return f"{column} IN ({', '.join('?' * len(values))})", values
