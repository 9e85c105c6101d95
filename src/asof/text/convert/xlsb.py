"""Workbooks in the binary form of Office Open XML (XLSB): records instead of elements.

[MS-XLSB] section 2.1.4: a record is a number of one or two bytes, a size of one to four, and data.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from asof.text.convert.cells import Style, shown, style_of
from asof.text.convert.flow import Flow
from asof.text.convert.found import Found, Refused
from asof.text.convert.ooxml import Package, PartRelation
from asof.text.convert.xlsx import MAX_CELLS, Strings

_ROW, _RK, _ERROR, _BOOL, _REAL, _STRING, _SHARED = 0, 2, 3, 4, 5, 6, 7
_FORMULA_STRING, _FORMULA_NUMBER, _FORMULA_BOOL = 8, 9, 10
_SHARED_STRING, _FORMAT, _STYLE, _SHEET, _LINK = 19, 44, 47, 156, 494
_WORKBOOK, _BEGIN_STYLES, _END_STYLES = 153, 617, 618
_MAX_RECORD = 16 << 20


def records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The records of a part, until it ends or breaks off."""
    position = 0
    while position < len(data):
        kind = data[position]
        position += 1
        if kind & 0x80:
            if position >= len(data):
                return
            kind = kind & 0x7F | (data[position] & 0x7F) << 7
            position += 1
        size = shift = 0
        while position < len(data) and shift < 28:
            byte = data[position]
            position += 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
        if size > _MAX_RECORD or position + size > len(data):
            return
        yield kind, data[position : position + size]
        position += size


def fill_xlsb(package: Package, found: Found) -> None:
    """The cells of all sheets, each under its name."""
    package.properties(found)
    relations = package.relations(package.main)
    strings = Strings()
    dresses: list[Style] = []
    for relation in relations.values():
        part = package.open(relation) if relation.kind in ("sharedStrings", "styles") else None
        if part is not None and relation.kind == "sharedStrings":
            for kind, data in records(part.read()):
                if kind == _SHARED_STRING:
                    strings.add(_wide(data, 1))
        elif part is not None:
            dresses = _dresses(part.read())
    since_1904 = False
    sheets: list[tuple[str, PartRelation]] = []
    for kind, data in records(package.parts.read(package.main)):
        if kind == _WORKBOOK and data:
            since_1904 = bool(data[0] & 1)
        elif kind == _SHEET and len(data) > 12:
            key = _wide(data, 8)
            name = _wide(data, 12 + 2 * len(key))
            if key in relations:
                sheets.append((name, relations[key]))
    cells = _Cells(found, strings, dresses, since_1904)
    for name, relation in sheets:
        part = package.open(relation)
        if part is not None:
            found.line(name)
            cells.read(part.read(), package.relations(relation.target))
            _drawn(package, relation.target, found)
            found.line()


def _drawn(package: Package, sheet: str, found: Found) -> None:
    for relation in package.relations(sheet).values():
        part = package.open(relation) if relation.kind == "drawing" else None
        if part is not None:
            Flow(found).read(part, package.relations(relation.target))


def _wide(data: bytes, position: int) -> str:
    """A string with its length in four bytes before it ([MS-XLSB] 2.5.168)."""
    if position + 4 > len(data):
        return ""
    length = int(struct.unpack_from("<I", data, position)[0])
    if length > len(data) // 2:  # 0xFFFFFFFF: no string at all
        return ""
    return data[position + 4 : position + 4 + 2 * length].decode("utf-16-le", "replace")


def _dresses(data: bytes) -> list[Style]:
    """How cell styles show numbers."""
    codes: dict[int, str] = {}
    dresses: list[Style] = []
    styles = False
    for kind, record in records(data):
        if kind == _FORMAT and len(record) > 6:
            codes[int(struct.unpack_from("<H", record)[0])] = _wide(record, 2)
        elif kind in (_BEGIN_STYLES, _END_STYLES):
            styles = kind == _BEGIN_STYLES
        elif kind == _STYLE and styles and len(record) >= 4:
            number = int(struct.unpack_from("<H", record, 2)[0])
            dresses.append(style_of(number, codes.get(number)))
    return dresses


class _Cells:
    """The cells of sheets, a line for each row and a tab between cells."""

    def __init__(
        self, found: Found, strings: Strings, dresses: list[Style], since_1904: bool
    ) -> None:
        self._found = found
        self._strings = strings
        self._dresses = dresses
        self._since_1904 = since_1904
        self._room = MAX_CELLS

    def read(self, data: bytes, relations: dict[str, PartRelation]) -> None:
        row: list[str] = []
        for kind, record in records(data):
            if kind == _ROW:
                self._end(row)
            elif kind == _LINK and len(record) > 16:
                relation = relations.get(_wide(record, 16))
                if relation is not None and relation.external:
                    self._found.link(relation.target)
            elif kind <= _FORMULA_BOOL and len(record) > 8:
                row.append(self._cell(kind, record))
        self._end(row)

    def _end(self, row: list[str]) -> None:
        if any(row):
            self._found.line("\t".join(row))
        row.clear()

    def _cell(self, kind: int, record: bytes) -> str:
        self._room -= 1
        if self._room < 0:
            raise Refused(f"has more than {MAX_CELLS:,} cells, the rest is left out")
        style = int.from_bytes(record[4:7], "little")
        if kind in (_STRING, _FORMULA_STRING):
            return _wide(record, 8)
        if kind == _SHARED and len(record) >= 12:
            return self._strings.at(int(struct.unpack_from("<I", record, 8)[0]))
        if kind in (_BOOL, _FORMULA_BOOL):
            return "TRUE" if record[8] else "FALSE"
        if kind == _RK and len(record) >= 12:
            return self._number(rk(int(struct.unpack_from("<I", record, 8)[0])), style)
        if kind in (_REAL, _FORMULA_NUMBER) and len(record) >= 16:
            return self._number(float(struct.unpack_from("<d", record, 8)[0]), style)
        return ""

    def _number(self, value: float, style: int) -> str:
        dress = self._dresses[style] if style < len(self._dresses) else Style.BARE
        return shown(value, dress, since_1904=self._since_1904)


def rk(value: int) -> float:
    """A number in 30 bits: the first of a double, or an integer; maybe hundredths (2.5.122)."""
    if value & 2:
        whole = value >> 2
        number = float(whole - (1 << 30) if whole & (1 << 29) else whole)
    else:
        number = float(struct.unpack("<d", struct.pack("<Q", (value & 0xFFFFFFFC) << 32))[0])
    return number / 100 if value & 1 else number
