"""Compound files (OLE2, [MS-CFB]): the file system inside old Office documents.

Chains of sectors in foreign files have loops, ends outside the file and sizes that are lies. Every
chain is followed at most once around, and what is missing at its end is left out.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from asof.text.convert.found import Found, Refused, day_of

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADER = 512
_IN_HEADER = 109  # sectors of the allocation table that the header lists itself
_FREE = 0xFFFFFFFA  # this and above are marks, not sectors
_MAX_ENTRIES = 100_000
_MAX_STREAM = 256 << 20
_STORAGE, _STREAM, _ROOT = 1, 2, 5
_NONE = 0xFFFFFFFF
# 100 ns from 1601 to 1970 ([MS-DTYP] 2.3.3).
_TO_1970 = 116_444_736_000_000_000


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    kind: int
    left: int
    right: int
    child: int
    start: int
    size: int


class Compound:
    """An opened compound file; streams by their paths, `/` between names."""

    def __init__(self, data: bytes) -> None:
        if not data.startswith(MAGIC) or len(data) < _HEADER:
            raise Refused("is no compound file")
        self._data = data
        shift, mini_shift = struct.unpack_from("<HH", data, 30)
        if shift not in (9, 12) or mini_shift > shift:
            raise Refused("is a damaged compound file")
        self._size, self._mini_size = 1 << shift, 1 << mini_shift
        directory, _, self._cutoff, mini_table = struct.unpack_from("<4xIIII", data, 44)
        self._table = self._numbers(self._table_sectors())
        self._mini_table = self._numbers(self._chain(mini_table, self._table))
        entries = self._entries(directory)
        self._mini = b""
        if entries and entries[0].kind == _ROOT:
            self._mini = self._joined(entries[0].start, entries[0].size)
        self._streams = {name.lower(): entry for name, entry in _paths(entries)}
        self.names = tuple(self._streams)

    def has(self, name: str) -> bool:
        """Whether there is a stream of that path, in any case."""
        return name.lower() in self._streams

    def read(self, name: str) -> bytes:
        """The bytes of a stream; none if it is not there."""
        entry = self._streams.get(name.lower())
        if entry is None or not entry.size:
            return b""
        size = min(entry.size, _MAX_STREAM)
        if entry.size >= self._cutoff:
            return self._joined(entry.start, size)
        step = self._mini_size
        sectors = self._chain(entry.start, self._mini_table, most=size // step + 1)
        data = b"".join(self._mini[each * step : (each + 1) * step] for each in sectors)
        return data[:size]

    def _sector(self, number: int) -> bytes:
        start = (number + 1) * self._size
        return self._data[start : start + self._size]

    def _joined(self, start: int, size: int) -> bytes:
        sectors = self._chain(start, self._table, most=size // self._size + 1)
        return b"".join(map(self._sector, sectors))[:size]

    def _chain(self, start: int, table: list[int], most: int | None = None) -> list[int]:
        """The sectors of a chain: until it ends, leaves the table, or has gone around."""
        most = len(table) if most is None else min(most, len(table))
        found: list[int] = []
        while start < len(table) and start < _FREE and len(found) < most:
            found.append(start)
            start = table[start]
        return found

    def _numbers(self, sectors: list[int]) -> list[int]:
        data = b"".join(map(self._sector, sectors))
        return list(struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4]))

    def _table_sectors(self) -> list[int]:
        """Where the allocation table lies: by the header, then by a chain of its own."""
        listed = list(struct.unpack_from(f"<{_IN_HEADER}I", self._data, 76))
        following = int(struct.unpack_from("<I", self._data, 68)[0])
        most = len(self._data) // self._size + 1
        seen: set[int] = set()
        while following < most and following not in seen:
            seen.add(following)
            sector = self._sector(following)
            if len(sector) < self._size:
                break
            *numbers, following = struct.unpack(f"<{self._size // 4}I", sector)
            listed += numbers
        distinct = dict.fromkeys(number for number in listed if number < most)
        return list(distinct)

    def _entries(self, start: int) -> list[_Entry]:
        data = b"".join(map(self._sector, self._chain(start, self._table)))
        found: list[_Entry] = []
        for at in range(0, min(len(data), _MAX_ENTRIES * 128) - 127, 128):
            length, kind = struct.unpack_from("<HB", data, at + 64)
            name = data[at : at + max(0, min(length, 64) - 2)].decode("utf-16-le", "replace")
            left, right, child = struct.unpack_from("<III", data, at + 68)
            first, size = struct.unpack_from("<IQ", data, at + 116)
            if self._size == 512:  # the upper half is not used and holds anything
                size &= 0xFFFFFFFF
            found.append(_Entry(name, kind, left, right, child, first, size))
        return found


def _paths(entries: list[_Entry]) -> list[tuple[str, _Entry]]:
    """The streams with their paths; each entry is visited once, whatever the tree says."""
    found: list[tuple[str, _Entry]] = []
    seen = {0}
    waiting = [(entries[0].child, "")] if entries else []
    while waiting:
        number, folder = waiting.pop()
        if number == _NONE or number >= len(entries) or number in seen:
            continue
        seen.add(number)
        entry = entries[number]
        path = f"{folder}{entry.name}"
        waiting += [(entry.left, folder), (entry.right, folder)]
        if entry.kind == _STREAM:
            found.append((path, entry))
        elif entry.kind == _STORAGE:
            waiting.append((entry.child, f"{path}/"))
    for entry in entries:  # an entry that a damaged tree does not lead to
        if entry.kind == _STREAM and entry.name not in dict(found[:1000]) and len(seen) < 3:
            found.append((entry.name, entry))
    return found


def properties(compound: Compound, found: Found) -> None:
    """Title and date of the summary information ([MS-OLEPS], [MS-OSHARED] 2.3.3)."""
    data = compound.read("\x05SummaryInformation")
    if len(data) < 48:
        return
    offset = int(struct.unpack_from("<I", data, 44)[0])
    values = _property_set(data[offset:])
    title = values.get(2)
    found.title = found.title or (title if isinstance(title, str) else None)
    for number in (13, 12):  # last saved, then created
        moment = values.get(number)
        if isinstance(moment, int):
            found.date = found.date or _day(moment)


def _property_set(data: bytes) -> dict[int, str | int]:
    if len(data) < 8:
        return {}
    count = min(int(struct.unpack_from("<I", data, 4)[0]), (len(data) - 8) // 8, 1000)
    places = [struct.unpack_from("<II", data, 8 + 8 * each) for each in range(count)]
    codepage = "cp1252"
    values: dict[int, str | int] = {}
    for number, at in places:
        if at + 8 > len(data):
            continue
        kind = int(struct.unpack_from("<I", data, at)[0]) & 0xFFFF
        if number == 1:
            codepage = codec(int(struct.unpack_from("<H", data, at + 4)[0]))
        elif kind == 64 and at + 12 <= len(data):
            values[number] = int(struct.unpack_from("<Q", data, at + 4)[0])
        elif kind in (30, 31):
            size = int(struct.unpack_from("<I", data, at + 4)[0]) * (2 if kind == 31 else 1)
            text = data[at + 8 : at + 8 + min(size, 4000)]
            used = "utf-16-le" if kind == 31 else codepage
            values[number] = text.decode(used, "replace").partition("\0")[0]
    return values


def _day(moment: int) -> str | None:
    from datetime import UTC, datetime

    seconds = (moment - _TO_1970) // 10_000_000
    if not 0 < seconds < 4_102_444_800:  # from 1970 to 2100; all else is a clock never set
        return None
    return day_of(datetime.fromtimestamp(seconds, UTC).isoformat())


def codec(codepage: int) -> str:
    """The Python codec of a Windows code page, windows-1252 for unknown ones."""
    import codecs

    special = {1200: "utf-16-le", 1201: "utf-16-be", 65001: "utf-8", 10000: "mac-roman"}
    special |= {
        10006: "mac-greek",
        10007: "mac-cyrillic",
        10029: "mac-latin2",
        10081: "mac-turkish",
    }
    special |= {32768: "mac-roman", 367: "ascii", 1361: "johab", 21010: "utf-16-le"}
    name = special.get(codepage, f"cp{codepage}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"
