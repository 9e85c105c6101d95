"""Workbooks in the binary form of Office Open XML (XLSB): records instead of elements.

[MS-XLSB] section 2.1.4: a record is a number of one or two bytes, a size of one to four, and data.
"""

import struct
from collections.abc import Iterator
from itertools import chain

from asof.text.convert.cells import Style, Workbook, rk, style_of
from asof.text.convert.flow import Flow
from asof.text.convert.found import Found
from asof.text.convert.ooxml import Package, PartRelation, put_link

_ROW, _RK, _BOOL, _REAL, _STRING, _SHARED = 0, 2, 4, 5, 6, 7
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
    book = Workbook()
    for part in package.opened(package.main, "sharedStrings"):
        shared = records(part.read())
        book.strings += [_wide(data, 1) for kind, data in shared if kind == _SHARED_STRING]
    for part in package.opened(package.main, "styles"):
        book.styles = _styles(part.read())
    sheets: list[tuple[str, PartRelation]] = []
    for kind, data in records(package.parts.read(package.main)):
        if kind == _WORKBOOK and data:
            book.since_1904 = bool(data[0] & 1)
        elif kind == _SHEET and len(data) > 12:
            key = _wide(data, 8)
            if key in relations:
                sheets.append((_wide(data, 12 + 2 * len(key)), relations[key]))
    for name, sheet in sheets:
        opened = package.open(sheet)
        if opened is not None:
            found.line(name)
            inner = package.relations(sheet.target)
            _read_sheet(opened.read(), inner, book, found)
            Flow(found).follow(package, [each for each in inner.values() if each.kind == "drawing"])
            found.line()


def _wide(data: bytes, position: int) -> str:
    """A string with its length in four bytes before it ([MS-XLSB] 2.5.168)."""
    if position + 4 > len(data):
        return ""
    length = int(struct.unpack_from("<I", data, position)[0])
    if length > len(data) // 2:  # 0xFFFFFFFF: no string at all
        return ""
    return data[position + 4 : position + 4 + 2 * length].decode("utf-16-le", "replace")


def _styles(data: bytes) -> list[Style]:
    codes: dict[int, str] = {}
    found: list[Style] = []
    inside = False
    for kind, record in records(data):
        if kind == _FORMAT and len(record) > 6:
            codes[int.from_bytes(record[:2], "little")] = _wide(record, 2)
        elif kind in (_BEGIN_STYLES, _END_STYLES):
            inside = kind == _BEGIN_STYLES
        elif kind == _STYLE and inside and len(record) >= 4:
            number = int.from_bytes(record[2:4], "little")
            found.append(style_of(number, codes.get(number)))
    return found


def _read_sheet(
    data: bytes, relations: dict[str, PartRelation], book: Workbook, found: Found
) -> None:
    """The cells of a sheet, a line for each row and a tab between cells."""
    row: list[str] = []
    for kind, record in chain(records(data), [(_ROW, b"")]):
        if kind == _ROW:
            if any(row):
                found.line("\t".join(row))
            row.clear()
        elif kind == _LINK and len(record) > 16:
            put_link(relations, _wide(record, 16), found)
        elif kind <= _FORMULA_BOOL and len(record) > 8:
            book.count()
            row.append(_cell(kind, record, book))


def _cell(kind: int, record: bytes, book: Workbook) -> str:
    style = int.from_bytes(record[4:7], "little")
    if kind in (_STRING, _FORMULA_STRING):
        return _wide(record, 8)
    if kind in (_BOOL, _FORMULA_BOOL):
        return "TRUE" if record[8] else "FALSE"
    if kind == _SHARED and len(record) >= 12:
        return book.string(int.from_bytes(record[8:12], "little"))
    if kind == _RK and len(record) >= 12:
        return book.number(rk(int.from_bytes(record[8:12], "little")), style)
    if kind in (_REAL, _FORMULA_NUMBER) and len(record) >= 16:
        return book.number(float(struct.unpack_from("<d", record, 8)[0]), style)
    return ""
