"""Excel workbooks before XLSX: what the cells show, sheet by sheet (BIFF 2 to 8).

Own reader: xlrd builds a grid and python-calamine a dense range, both of which a sheet with two
cells in opposite corners makes as large as it likes (ADR 14). Records are streamed here, and text
boxes, comments and links are read too.
"""

import struct
from collections.abc import Callable
from functools import partial
from itertools import chain

from asof.text.convert.biff import CONTINUE, Segments, records, string
from asof.text.convert.cells import Style, Workbook, page_edge, rk, shown, style_of
from asof.text.convert.found import Found, Refused
from asof.text.convert.ole import Compound, codec, properties

_BOFS = {0x0009: 2, 0x0209: 3, 0x0409: 4}
_BOF, _EOF, _FILE_PASS = 0x0809, 0x0A, 0x2F
_SST, _TXO = 0xFC, 0x1B6
_URL_MONIKER = bytes.fromhex("e0c9ea79f9bace118c8200aa004ba90b")
_ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!"}
_ERRORS |= {42: "#N/A"}


def fill_xls(compound: Compound, found: Found) -> None:
    """The cells, comments and text boxes of all sheets, each under its name."""
    properties(compound, found)
    data = compound.read("Workbook") or compound.read("Book")
    if not data:
        raise Refused("is a damaged workbook")
    _Reading(found).read(data)


def fill_old_xls(data: bytes, found: Found) -> None:
    """The cells of a workbook of Excel 2 to 4, which is a file of its own."""
    _Reading(found).read(data)


class _Reading:
    """A workbook that is read record by record; each kind of record has its method below."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._version = 8
        self._codec = "cp1252"
        self._book = Workbook()
        self._names: dict[int, str] = {}
        self._codes: dict[int, str] = {}
        self._formats: list[int] = []
        self._row: list[str] = []
        self._at = -1
        self._awaits = False  # a formula whose string follows
        self._pending: list[bytes] = []
        self._pending_kind = 0

    def read(self, data: bytes) -> None:
        for place, kind, record in chain(records(data), [(-1, 0, b"")]):
            if kind == CONTINUE:
                if self._pending_kind:
                    self._pending.append(record)
                continue
            if self._pending_kind:
                self._continued()
            if kind == _BOF or kind in _BOFS:
                self._begin(place, kind, record)
            elif kind == _FILE_PASS:
                raise Refused("is encrypted")
            elif kind == _EOF:
                self._end_row()
                self._found.line()
            elif kind in (_SST, _TXO):
                self._pending, self._pending_kind = [record], kind
            elif kind in _METHODS:
                try:
                    _METHODS[kind](self, record)
                except (struct.error, IndexError):  # it is too short; the next is whole again
                    continue
        self._end_row()

    def _begin(self, place: int, kind: int, record: bytes) -> None:
        self._end_row()
        self._version = _BOFS.get(kind, 8)
        if kind == _BOF and len(record) >= 2:
            self._version = 8 if struct.unpack_from("<H", record)[0] >= 0x0600 else 5
        if place in self._names:
            self._found.line(self._names[place])

    def _continued(self) -> None:
        """A record that is over with all its continuations."""
        kind, self._pending_kind = self._pending_kind, 0
        if kind == _SST:
            segments = Segments([self._pending[0][8:], *self._pending[1:]])
            while segments.left():
                self._book.strings.append(segments.string())
        elif len(self._pending) > 1 and len(self._pending[0]) >= 12:
            length = int(struct.unpack_from("<H", self._pending[0], 10)[0])
            segments = Segments(self._pending[1:])
            flags = segments.take(1)
            if flags:
                self._end_row()
                self._found.line(segments.characters(length, flags[0]))
        self._pending = []

    # -- Cells --------------------------------------------------------------------------------

    def _put(self, row: int, text: str) -> None:
        self._book.count()
        if row != self._at:
            self._end_row()
            self._at = row
        if text:
            self._row.append(text)

    def _end_row(self) -> None:
        if self._row:
            self._found.line("\t".join(self._row))
            self._row = []
        self._at = -1

    def _number(self, row: int, style: int, value: float) -> None:
        dress = Style.BARE
        if style < len(self._formats):
            number = self._formats[style]
            dress = style_of(number, self._codes.get(number))
        self._put(row, shown(value, dress, since_1904=self._book.since_1904))

    def _head(self, record: bytes) -> tuple[int, int, int]:
        """Row and style of a cell, and where its value begins; BIFF2 has three bytes of style."""
        if self._version == 2:
            return int.from_bytes(record[:2], "little"), 1 << 16, 7
        row, _, style = struct.unpack_from("<HHH", record)
        return row, style, 6

    def label(self, record: bytes) -> None:
        row, _, at = self._head(record)
        self._put(row, self._string(record, at, short=self._version == 2))

    def shared(self, record: bytes) -> None:
        row, _, _, number = struct.unpack_from("<HHHI", record)
        self._put(row, self._book.string(number))

    def number(self, record: bytes, form: str = "<d") -> None:
        row, style, at = self._head(record)
        self._number(row, style, float(struct.unpack_from(form, record, at)[0]))

    def rk(self, record: bytes) -> None:
        row, _, style, value = struct.unpack_from("<HHHI", record)
        self._number(row, style, rk(value))

    def many_rk(self, record: bytes) -> None:
        row = int(struct.unpack_from("<H", record)[0])
        for at in range(4, len(record) - 7, 6):
            style, value = struct.unpack_from("<HI", record, at)
            self._number(row, style, rk(value))

    def formula(self, record: bytes) -> None:
        row, style, at = self._head(record)
        result = record[at : at + 8]
        if result[6:8] != b"\xff\xff":
            self._number(row, style, float(struct.unpack("<d", result)[0]))
        elif result[0] == 0:
            self._awaits = True
            self._put(row, "")
        elif result[0] in (1, 2):
            self._put(row, _truth(result[2], error=result[0] == 2))

    def result(self, record: bytes) -> None:
        """The string of the formula before."""
        if self._awaits:
            self._awaits = False
            self._put(self._at, self._string(record, 0, short=self._version == 2))

    def truth(self, record: bytes) -> None:
        row, _, at = self._head(record)
        self._put(row, _truth(record[at], error=bool(record[at + 1])))

    # -- The workbook and what else its sheets hold -------------------------------------------

    def _string(self, record: bytes, at: int, *, short: bool = False) -> str:
        return string(record, at, wide=self._version == 8, codec=self._codec, short=short)

    def codepage(self, record: bytes) -> None:
        self._codec = codec(int(struct.unpack_from("<H", record)[0]))

    def date_mode(self, record: bytes) -> None:
        self._book.since_1904 = record[:1] == b"\x01"

    def sheet(self, record: bytes) -> None:
        place = int(struct.unpack_from("<I", record)[0])
        self._names[place] = self._string(record, 6, short=True)

    def format(self, record: bytes) -> None:
        if self._version >= 5:
            number = int(struct.unpack_from("<H", record)[0])
            self._codes[number] = self._string(record, 2, short=self._version < 8)

    def style(self, record: bytes) -> None:
        if self._version >= 5:
            self._formats.append(int(struct.unpack_from("<H", record, 2)[0]))

    def edge(self, record: bytes) -> None:
        """A header or footer."""
        self._end_row()
        if record:
            self._found.line(page_edge(self._string(record, 0, short=self._version < 8)))

    def note(self, record: bytes) -> None:
        """A comment; since BIFF8 its text is that of a text box."""
        if self._version < 8:
            self._end_row()
            self._found.line(record[6:].decode(self._codec, "replace"))

    def series(self, record: bytes) -> None:
        """A text of a chart."""
        self._end_row()
        self._found.line(self._string(record, 2, short=True))

    def link(self, record: bytes) -> None:
        at = record.find(_URL_MONIKER)
        if at >= 0:
            self._found.link(record[at + 20 :].decode("utf-16-le", "replace").partition("\0")[0])


def _truth(value: int, *, error: bool) -> str:
    if error:
        return _ERRORS.get(value, "")
    return "TRUE" if value else "FALSE"


_METHODS: dict[int, Callable[[_Reading, bytes], None]] = {
    **dict.fromkeys((0x04, 0x0204, 0xD6), _Reading.label),
    **dict.fromkeys((0x03, 0x0203), _Reading.number),
    **dict.fromkeys((0x06, 0x0206, 0x0406), _Reading.formula),
    **dict.fromkeys((0x07, 0x0207), _Reading.result),
    **dict.fromkeys((0x05, 0x0205), _Reading.truth),
    **dict.fromkeys((0x14, 0x15), _Reading.edge),
    0x02: partial(_Reading.number, form="<H"),
    0xFD: _Reading.shared,
    0x027E: _Reading.rk,
    0xBD: _Reading.many_rk,
    0x42: _Reading.codepage,
    0x22: _Reading.date_mode,
    0x85: _Reading.sheet,
    0x041E: _Reading.format,
    0xE0: _Reading.style,
    0x1C: _Reading.note,
    0x100D: _Reading.series,
    0x01B8: _Reading.link,
}
