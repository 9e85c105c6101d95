"""What a cell of a spreadsheet shows: numbers as people write them, and dates as dates.

A date is a number of days with a format that has days, months or years in it (ECMA-376 part 1,
section 18.8.30), and a percentage is shown as one. Other formats (currency, thousands, colours)
only dress a number; it is shown bare, with 15 digits, which is all that spreadsheets keep.
"""

import re
import struct
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from math import isfinite

from asof.text.convert.found import Refused

# Shared strings are kept in memory; a workbook may have no more characters than any document.
MAX_CELLS = 1_000_000

# Numbers of built-in formats with a date or a time in them, East Asian ones included.
_DATES = frozenset([*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)])
_PERCENT = frozenset((9, 10))
_QUOTED = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_DATE = re.compile(r"[dmyhseg]|\[[hms]+\]", re.IGNORECASE)
_GENERAL = re.compile(r"general", re.IGNORECASE)
# 1900 was no leap year, but Lotus 1-2-3 thought so, and everyone after it kept the mistake.
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 (a cell has no time zone)
_EPOCH_1904 = datetime(1904, 1, 1)  # noqa: DTZ001
_CODE = re.compile(r'&(?:"[^"]*"|K[0-9A-Fa-f]{6}|\d+|[A-Za-z])')
_LAST = 2_958_466  # the first day after the year 9999


class Style(Enum):
    """How a format dresses a number, as far as it changes what is read."""

    BARE = 0
    DATE = 1
    PERCENT = 2


def style_of(number: int, code: str | None) -> Style:
    """The style of a format; `code` is None for a built-in one."""
    if code is None:
        percent, date = number in _PERCENT, number in _DATES
    else:
        bare = _QUOTED.sub("", code.split(";")[0])
        percent, date = "%" in bare, _DATE.search(_GENERAL.sub("", bare)) is not None
    return Style.DATE if date else Style.PERCENT if percent else Style.BARE


@dataclass(slots=True)
class Workbook:
    """What the cells of a workbook refer to, and how many of them may still come."""

    strings: list[str] = field(default_factory=list)
    styles: list[Style] = field(default_factory=list)
    since_1904: bool = False
    room: int = MAX_CELLS

    def count(self) -> None:
        """One more cell."""
        self.room -= 1
        if self.room < 0:
            raise Refused(f"has more than {MAX_CELLS:,} cells, the rest is left out")

    def string(self, number: str | int) -> str:
        """The shared string of that number; nothing where there is none."""
        try:
            index = int(number)
        except ValueError:
            return ""
        return self.strings[index] if 0 <= index < len(self.strings) else ""

    def style(self, number: int) -> Style:
        return self.styles[number] if number < len(self.styles) else Style.BARE

    def number(self, value: float, style: int) -> str:
        return shown(value, self.style(style), since_1904=self.since_1904)


def shown(value: float, style: Style = Style.BARE, *, since_1904: bool = False) -> str:
    """A number as text; a date in ISO 8601."""
    if style is Style.DATE and 0 <= value < _LAST:
        return _shown_date(value, _EPOCH_1904 if since_1904 else _EPOCH)
    if style is Style.PERCENT and isfinite(value):
        return f"{_bare(round(value * 100, 10))}%"
    return _bare(value)


def _bare(value: float) -> str:
    if isfinite(value) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.15g}"


def _shown_date(value: float, epoch: datetime) -> str:
    days, fraction = divmod(value, 1)
    seconds = round(fraction * 86_400)
    try:
        moment = epoch + timedelta(days=days, seconds=seconds)
    except OverflowError:
        return f"{value:.15g}"
    clock = moment.strftime("%H:%M:%S").removesuffix(":00")
    if value < 1:
        return clock
    return f"{moment:%Y-%m-%d} {clock}" if seconds else f"{moment:%Y-%m-%d}"


def rk(value: int) -> float:
    """A number in 30 bits: the first of a double, or an integer; maybe hundredths.

    [MS-XLSB] section 2.5.122.
    """
    if value & 2:
        whole = value >> 2
        number = float(whole - (1 << 30) if whole & (1 << 29) else whole)
    else:
        number = float(struct.unpack("<d", struct.pack("<Q", (value & 0xFFFFFFFC) << 32))[0])
    return number / 100 if value & 1 else number


def page_edge(text: str) -> str:
    """A header or footer without its codes for fonts, pages and dates (18.3.1.46)."""
    return " ".join(_CODE.sub(" ", text).replace("&&", "&").split())
