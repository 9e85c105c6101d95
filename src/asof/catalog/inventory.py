"""What is held of each host: how many URLs and captures, from when to when, and how many a month.

A count reads all of the catalog, two seconds of a million captures: of a large archive it is kept
(asof.archive.stocktaking), so that nobody who opens a page waits for it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TypeVar

from asof.catalog.listing import HostKey, Listing
from asof.clock import DAY, Instant, SystemClock, to_datetime
from asof.ledger import DerivedDatabase, Form, Ledger

_SCHEMA = """
CREATE TABLE hosts (
  key TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  captures INTEGER NOT NULL,
  urls INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  months TEXT NOT NULL,
  days TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE counted (committed INTEGER, totals TEXT)
"""
_FORM = Form(
    _SCHEMA,
    ("hosts", "counted"),
    1,
    busy="What {} holds is being counted by another process.",
    anew="Delete it; it is counted again by itself.",
)
# Days from the first instant there is to 1970: what is divided by a day must not be negative.
_DAYS_BEFORE = 719_162
# Captures are told by day of what was captured within so many days.
MOST_DAYS = 62


Counts = tuple[tuple[int, int], ...]
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Holding(HostKey):
    """What is held of a host. `months` are those with captures, in their order, each as the number
    of months since the year 0, and how many captures; `days` the same by day since 1970, empty of
    what was captured over more than MOST_DAYS of them.
    """

    captures: int
    urls: int
    first: Instant
    last: Instant
    months: Counts
    days: Counts


@dataclass(frozen=True, slots=True)
class Totals:
    """The same of all hosts. What has no host (`dns:`, `urn:`) counts, but not as one."""

    captures: int = 0
    urls: int = 0
    hosts: int = 0
    first: Instant = 0
    last: Instant = 0


@dataclass(frozen=True, slots=True)
class Inventory:
    """What is held in all, and of some hosts, in the order of their keys."""

    totals: Totals
    holdings: tuple[Holding, ...]


def count(ledger: Ledger) -> Iterator[Holding]:
    """Host by host, in the order of their keys."""
    for host in Listing(ledger, SystemClock()).host_keys():
        low, high = host.range
        sql = (
            f"SELECT (at + {_DAYS_BEFORE * DAY}) / {DAY} - {_DAYS_BEFORE}, count(*), min(at),"
            " max(at) FROM captures WHERE surt >= ? AND surt < ? GROUP BY 1"
        )
        days = ledger.fetch(f"{sql} ORDER BY 1", [low, high])
        if not days:  # gone since: it was replaced by another content
            continue
        sql = (
            "SELECT sum(n) FROM (SELECT count(DISTINCT url) AS n FROM captures"
            " WHERE surt >= ? AND surt < ? GROUP BY surt)"
        )
        urls = int(ledger.fetch(sql, [low, high])[0][0])
        months: Counter[int] = Counter()
        for day, captures, _, _ in days:
            months[month_of(day * DAY)] += captures
        first, last = min(day[2] for day in days), max(day[3] for day in days)
        by_day = [(day, captures) for day, captures, _, _ in days]
        yield Holding(
            host.key, host.name, host.prefix, months.total(), urls, first, last,
            tuple(sorted(months.items())), tuple(by_day if is_short(first, last) else ()),
        )  # fmt: skip


def is_short(first: Instant, last: Instant) -> bool:
    """Whether captures between two moments are told by day."""
    return last // DAY - first // DAY < MOST_DAYS


def month_of(at: Instant) -> int:
    """Months since the year 0."""
    when = to_datetime(at)
    return when.year * 12 + when.month - 1


def totals_of(holdings: Iterable[Holding]) -> Totals:
    found = list(holdings)
    if not found:
        return Totals()
    return Totals(
        sum(each.captures for each in found),
        sum(each.urls for each in found),
        sum(each.is_host for each in found),
        min(each.first for each in found),
        max(each.last for each in found),
    )


class KeptInventory(DerivedDatabase):
    """The database of one that is kept, with the state of the archive that it is of."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        super().__init__(path, _FORM, writable=writable)

    def state(self) -> tuple[int, Totals] | None:
        """What was committed when it was counted, and how much that was; None: nothing is kept."""
        row = self.fetch("SELECT committed, totals FROM counted") if self.is_current else None
        return None if row is None else (int(row[0]), self._sound(_totals, row[1]))

    def holdings(self, after: str, limit: int) -> tuple[Holding, ...]:
        """Those beyond a key."""
        sql = "SELECT * FROM hosts WHERE key > ? ORDER BY key LIMIT ?"
        rows = self.fetch_all(sql, after, limit)
        return tuple(self._sound(_holding, *row) for row in rows)

    def _sound(self, read: Callable[..., _Read], *row: object) -> _Read:
        """What was written by us; a database may come from anywhere, as its archive."""
        try:
            return read(*row)
        except (ValueError, TypeError, OverflowError) as error:
            raise self.damaged(error) from error

    def keep(self, ledger: Ledger, committed: int) -> None:
        """Count anew, and put it in the place of what was kept, all or nothing."""
        found = list(count(ledger))
        with self.transaction() as db:
            db.execute("DELETE FROM hosts")
            db.execute("DELETE FROM counted")
            rows = (
                (*astuple(each)[:-2], json.dumps(each.months), json.dumps(each.days))
                for each in found
            )
            db.executemany("INSERT INTO hosts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            told = json.dumps(astuple(totals_of(found)))
            db.execute("INSERT INTO counted VALUES (?, ?)", (committed, told))


def _totals(text: str) -> Totals:
    captures, urls, hosts, first, last = map(int, json.loads(text))
    return Totals(captures, urls, hosts, *map(_instant, (first, last)))


def _holding(
    key: str, name: str, prefix: str, captures: int, urls: int, first: int, last: int,
    months: str, days: str,
) -> Holding:  # fmt: skip
    begin, end = _instant(first), _instant(last)
    by_month = _counts(months, month_of(begin), month_of(end))
    by_day = _counts(days, begin // DAY, end // DAY)
    return Holding(key, name, prefix, int(captures), int(urls), begin, end, by_month, by_day)


def _counts(text: str, first: int, last: int) -> Counts:
    found = tuple((int(number), int(captures)) for number, captures in json.loads(text))
    if any(not first <= number <= last or captures < 1 for number, captures in found):
        raise ValueError("counts that are none")
    return found


def _instant(value: int) -> Instant:
    to_datetime(value)  # an OverflowError where it is none
    return int(value)


def forget(path: Path) -> None:
    """Have it counted again: the catalog was made anew, of the same files perhaps."""
    if path.exists():
        with closing(KeptInventory(path, writable=True)) as kept, kept.transaction() as db:
            db.execute("DELETE FROM counted")
