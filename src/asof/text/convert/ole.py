"""Compound files (OLE2, [MS-CFB]), the file system inside old Office documents, by olefile.

Files that break off are the most frequent damage. olefile gives them up; with the missing sectors
made up as free ones it reads what is there.
"""

import codecs
import io
import struct
from datetime import UTC, datetime

from olefile import OleFileIO

from asof.text.convert.found import Found, Refused, day_of
from asof.text.kinds.containers import OLE_START

_HEADER = 512
_SECTOR_SIZES = (b"\x09\0", b"\x0c\0")  # as powers of two
# 100 ns from 1601 to 1970 ([MS-DTYP] 2.3.3).
_TO_1970 = 116_444_736_000_000_000
# By language; Chinese has two, by country.
_CODE_PAGES = {0x08: 1253, 0x0D: 1255, 0x11: 932, 0x12: 949, 0x1E: 874, 0x1F: 1254, 0x2A: 1258}
_CODE_PAGES |= dict.fromkeys((0x05, 0x0E, 0x15, 0x18, 0x1A, 0x1B, 0x1C, 0x24), 1250)
_CODE_PAGES |= dict.fromkeys((0x02, 0x19, 0x22, 0x23, 0x2F), 1251)
_CODE_PAGES |= dict.fromkeys((0x01, 0x20, 0x29), 1256)
_CODE_PAGES |= dict.fromkeys((0x25, 0x26, 0x27), 1257)
_CODE_PAGES |= {0x04: 936, 0x0404: 950, 0x0C04: 950, 0x1404: 950}
_CODECS = {1200: "utf-16-le", 1201: "utf-16-be", 21010: "utf-16-le", 65001: "utf-8", 367: "ascii"}
_CODECS |= {10000: "mac-roman", 32768: "mac-roman", 10006: "mac-greek", 10007: "mac-cyrillic"}
_CODECS |= {10029: "mac-latin2", 10081: "mac-turkish", 1361: "johab"}


class Compound:
    """An opened compound file; streams by their paths, `/` between names."""

    def __init__(self, data: bytes) -> None:
        if not data.startswith(OLE_START) or len(data) < _HEADER:
            raise Refused("is no compound file")
        if data[30:32] not in _SECTOR_SIZES:
            raise Refused("is a damaged compound file")
        self._file = OleFileIO(io.BytesIO(_filled(data)))
        self._streams = {"/".join(path).lower(): path for path in self._file.listdir()}
        self.names = tuple(self._streams)

    def has(self, name: str) -> bool:
        return name.lower() in self._streams

    def read(self, name: str) -> bytes:
        """The bytes of a stream; none if it is not there, or lies where nothing is."""
        path = self._streams.get(name.lower())
        try:
            return b"" if path is None else bytes(self._file.openstream(path).read())
        except OSError:
            return b""


def _filled(data: bytes) -> bytes:
    """A file with the sectors that its allocation table has room for, if it has less."""
    sector = 1 << data[30]
    tables = int.from_bytes(data[44:48], "little")
    whole = min((tables * (sector // 4) + 1) * sector, 2 * len(data) + (1 << 20))
    return data + b"\xff" * max(-len(data) % sector, whole - len(data))


def properties(compound: Compound, found: Found) -> None:
    """Title and date of the summary information ([MS-OLEPS], [MS-OSHARED] 2.3.3)."""
    data = compound.read("\x05SummaryInformation")
    if len(data) < 48:
        return
    values = _property_set(data[int.from_bytes(data[44:48], "little") :])
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
    seconds = (moment - _TO_1970) // 10_000_000
    if not 0 < seconds < 4_102_444_800:  # from 1970 to 2100; all else is a clock never set
        return None
    return day_of(datetime.fromtimestamp(seconds, UTC).isoformat())


def code_page(language: int) -> int:
    """The code page of a Windows in this language ([MS-LCID]), 1252 for most."""
    return _CODE_PAGES.get(language) or _CODE_PAGES.get(language & 0x3FF, 1252)


def codec(codepage: int) -> str:
    """The Python codec of a Windows code page, windows-1252 for unknown ones."""
    try:
        return codecs.lookup(_CODECS.get(codepage, f"cp{codepage}")).name
    except LookupError:
        return "cp1252"
