"""Hosts and URLs of an archive, page by page, by jumping from key to key.

The captures table is sorted by SURT and time, so the next host or URL is one descent away however
many captures lie between: a page costs the same in an archive of ten or of ten million captures.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from asof.catalog.captures import Key
from asof.catalog.rows import APART
from asof.clock import Clock, Instant
from asof.ledger import Ledger
from asof.url import LAST, key_ranges

# Counting stops here; "1,000+" tells as much as an exact number and costs a bounded time.
MANY = 1000
# A full count walks the whole table: once a minute is enough when it takes longer than this.
_SLOW_COUNT = 0.05
_RECOUNT_AFTER = 60.0


@dataclass(frozen=True, slots=True)
class HostKey:
    """A host: `key` is where its keys begin, `prefix` the URL of its root.

    What has no host (`dns:`, `urn:`) stands for itself.
    """

    key: str
    name: str
    prefix: str

    @property
    def is_host(self) -> bool:
        return self.name != self.prefix

    @property
    def range(self) -> tuple[str, str]:
        """Where its keys begin, and beyond their end."""
        return self.key, self.key + LAST


@dataclass(frozen=True, slots=True)
class Host(HostKey):
    """A host with captures, at most MANY + 1."""

    captures: int


@dataclass(frozen=True, slots=True)
class Known:
    """A URL with captures: how many (at most MANY + 1), the first and the last of them."""

    key: str
    url: str
    captures: int
    first: Instant
    last: Instant
    status: int | None
    media_type: str | None


class Listing:
    """Questions about which hosts and URLs there are."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock
        self._counted: tuple[int, int, float] | None = None

    def keys_since(self, committed: Mapping[str, int]) -> list[str]:
        """The keys of what is captured beyond these ends of files, and in others, in their order.

        The table is read through, as it lies, for a second of a million captures.
        """
        segments = self._ledger.fetch("SELECT no, file, committed FROM segments")
        ends = {no: committed.get(file, 0) for no, file, end in segments
                if end != committed.get(file)}  # fmt: skip
        sql = (
            "WITH ends AS MATERIALIZED (SELECT CAST(key AS INTEGER) AS no, value FROM json_each(?))"
            " SELECT DISTINCT c.surt FROM captures c CROSS JOIN ends ON ends.no = c.segment "
            f"WHERE c.offset >= ends.value AND c.surt < '{APART}'"
        )
        return [key for (key,) in self._ledger.fetch(sql, [json.dumps(ends)])] if ends else []

    def host_keys(self, after: str = "") -> Iterator[HostKey]:
        """Hosts in the order of their keys, beyond the key `after`."""
        start = after + LAST if after else ""
        sql = "SELECT surt, url FROM captures WHERE surt > ? AND surt < ? ORDER BY surt LIMIT 1"
        while rows := self._ledger.fetch(sql, [start, APART]):
            name, prefix = _host(rows[0][1])
            host, parenthesis, _ = rows[0][0].partition(")/")
            found = HostKey(host + parenthesis if name != prefix else rows[0][0], name, prefix)
            yield found
            start = found.range[1]

    def hosts(self, after: str = "", limit: int = 50) -> list[Host]:
        """The same with how many captures each has, as far as that is counted."""
        some = f"SELECT 1 FROM captures WHERE surt >= ? AND surt < ? LIMIT {MANY + 1}"
        sql = f"SELECT count(*) FROM ({some})"
        return [
            Host(each.key, each.name, each.prefix, int(self._ledger.fetch(sql, each.range)[0][0]))
            for each in islice(self.host_keys(after), limit)
        ]

    def urls(self, prefix: str, after: str = "", limit: int = 100) -> list[Known]:
        """URLs under a prefix (see `asof.url.key_ranges`), beyond the key `after`."""
        found: list[Known] = []
        for low, high in key_ranges(prefix) if prefix else (("", LAST),):
            key, beyond = (after, ">") if after >= low else (low, ">=")
            while len(found) < limit:
                sql = f"SELECT surt FROM captures WHERE surt {beyond} ? AND surt < ?"
                rows = self._ledger.fetch(f"{sql} ORDER BY surt LIMIT 1", [key, high])
                if not rows:
                    break
                key, beyond = rows[0][0], ">"
                found += self._under(key)
        return found

    def count(self, low: str, high: str) -> int:
        """How many captures lie in a range of keys."""
        sql = "SELECT count(*) FROM captures WHERE surt >= ? AND surt < ?"
        return int(self._ledger.fetch(sql, [low, high])[0][0])

    def nth(self, low: str, high: str, number: int) -> Key | None:
        """What one capture of a range is sorted by, counted from 0."""
        sql = "SELECT surt, at, record_id FROM captures WHERE surt >= ? AND surt < ?"
        found = self._ledger.fetch(f"{sql} ORDER BY 1, 2, 3 LIMIT 1 OFFSET ?", [low, high, number])
        return None if not found else (found[0][0], found[0][1], found[0][2])

    def captures(self) -> int:
        """How many captures there are; while an archive is written, at most a minute ago."""
        size, now = self.committed(), self._clock.monotonic()
        if self._counted is not None and (self._counted[0] == size or now < self._counted[2]):
            return self._counted[1]
        count = int(self._ledger.fetch("SELECT count(*) FROM captures")[0][0])
        slow = self._clock.monotonic() - now > _SLOW_COUNT
        self._counted = (size, count, now + _RECOUNT_AFTER if slow else now)
        return count

    def has_more_than(self, count: int) -> bool:
        """Whether there are more captures than so many."""
        sql = "SELECT count(*) FROM (SELECT 1 FROM captures LIMIT ?)"
        return int(self._ledger.fetch(sql, [count + 1])[0][0]) > count

    def committed(self) -> int:
        """How many bytes are stored: another number whenever something was captured."""
        sizes = self._ledger.fetch("SELECT coalesce(sum(committed), 0) FROM segments")
        return int(sizes[0][0])

    def _under(self, key: str) -> list[Known]:
        """The URLs that share a key (http and https, with and without www) with their captures."""
        rows = self._ledger.fetch(
            "SELECT url, count(*), min(at) FROM"
            " (SELECT url, at FROM captures WHERE surt = ? ORDER BY at LIMIT ?)"
            " GROUP BY url ORDER BY url",
            [key, MANY + 1],
        )
        latest = (
            "SELECT max(at), status, media_type FROM captures WHERE surt = ? AND url = ?"
            " GROUP BY status IS 304 ORDER BY status IS 304"
        )
        found: list[Known] = []
        for url, count, first in rows:
            ends = self._ledger.fetch(latest, [key, url])
            # A 304 says that it is still what the answer before it was.
            _, status, media_type = ends[0]
            last = max(at for at, *_ in ends)
            found.append(Known(key, url, count, first, last, status, media_type))
        return found


def _host(url: str) -> tuple[str, str]:
    """Host and port of a URL, and the URL of its root; the URL itself where it has none."""
    scheme, slashes, rest = url.partition("://")
    if not slashes:
        return url, url
    host = rest.partition("/")[0].partition("?")[0].rpartition("@")[2]
    return host, f"{scheme}://{host}/"
