"""Which payloads the archive has, by digest: so that none has to be stored twice.

A table of 60-bit keys: an index by digest would repeat the captures' own long key in every entry.
A key says only where to look; the record there says the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from asof.catalog.rows import COLUMNS, Row
from asof.ledger import Ledger, payload_key
from asof.model import Location

_KIND, _DIGEST, _SIZE = (COLUMNS.index(name) for name in ("kind", "digest", "size"))
_OFFSET, _TRUNCATED = (COLUMNS.index(name) for name in ("offset", "truncated"))
_BIT_WIDTH = 24
_BIT_MASK = (1 << _BIT_WIDTH) - 1


class PayloadFilter:
    """Which payloads the archive may have, by SHA-256: a Bloom filter of 2 MB, in memory.

    Most payloads are new, and a question to the database is a transaction of its own. By laws of
    chance 1 in 80 is asked in vain with a million payloads, half of them with ten millions: no
    answer depends on it.
    """

    def __init__(self, payloads: Payloads) -> None:
        self._bits = bytearray(1 << 21)
        for key in payloads.all_keys():
            self._put(key)

    def add(self, digest: bytes) -> None:
        self._put(int.from_bytes(digest[:8], "big") >> 4)

    def __contains__(self, digest: bytes) -> bool:
        key = int.from_bytes(digest[:8], "big") >> 4
        first, second = key & _BIT_MASK, key >> _BIT_WIDTH & _BIT_MASK
        bits = self._bits
        return bool(bits[first >> 3] & 1 << (first & 7) and bits[second >> 3] & 1 << (second & 7))

    def _put(self, key: int) -> None:
        first, second = key & _BIT_MASK, key >> _BIT_WIDTH & _BIT_MASK
        self._bits[first >> 3] |= 1 << (first & 7)
        self._bits[second >> 3] |= 1 << (second & 7)


class Payloads:
    """Where each stored payload was stored first."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, rows: Iterable[Row], segment_no: int) -> None:
        """Remember the payloads of captures, in the caller's transaction."""
        keys = [
            (key, row[_OFFSET])
            for row in rows
            if row[_KIND] == "response" and row[_SIZE] and not row[_TRUNCATED]
            if (key := payload_key(str(row[_DIGEST]))) is not None
        ]
        keys.sort()
        self._ledger.db.executemany(
            f"INSERT OR IGNORE INTO payloads VALUES (?, {segment_no:d}, ?)", keys
        )

    def all_keys(self) -> Iterator[int]:
        """The keys of all payloads, in no order."""
        return (key for (key,) in self._ledger.db.execute("SELECT key FROM payloads"))

    def find(self, digest: str) -> Location | None:
        """Where a payload with this digest may lie; the record must be asked."""
        db = self._ledger.db
        place = db.execute(
            "SELECT segment, offset FROM payloads WHERE key = ?", (payload_key(digest),)
        ).fetchone()
        if place is None:
            return None
        file = db.execute("SELECT file FROM segments WHERE no = ?", place[:1]).fetchone()
        return Location(file[0], place[1], 0) if file else None
