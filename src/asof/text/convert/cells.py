"""What a cell of a spreadsheet shows: numbers as people write them, and dates as dates.

A date is a number of days with a format that has days, months or years in it (ECMA-376 part 1,
section 18.8.30), and a percentage is shown as one. Other formats (currency, thousands, colours)
only dress a number; it is shown bare, with 15 digits, which is all that spreadsheets keep.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from enum import Enum
from math import isfinite

# Numbers of built-in formats with a date or a time in them, East Asian ones included.
_BUILT_IN = frozenset([*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)])
_PERCENT = frozenset((9, 10))
_QUOTED = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_DATE = re.compile(r"[dmyhseg]|\[[hms]+\]", re.IGNORECASE)
_GENERAL = re.compile(r"general", re.IGNORECASE)
# 1900 was no leap year, but Lotus 1-2-3 thought so, and everyone after it kept the mistake.
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 (a cell has no time zone)
_EPOCH_1904 = datetime(1904, 1, 1)  # noqa: DTZ001
_LAST = 2_958_466  # the first day after the year 9999


def is_date(number: int, code: str | None) -> bool:
    """Whether a format shows a date or a time; `code` is None for a built-in one."""
    if code is None:
        return number in _BUILT_IN
    bare = _GENERAL.sub("", _QUOTED.sub("", code.split(";")[0]))
    return _DATE.search(bare) is not None


class Style(Enum):
    """How a format dresses a number, as far as it changes what is read."""

    BARE = 0
    DATE = 1
    PERCENT = 2


def style_of(number: int, code: str | None) -> Style:
    """The style of a format; `code` is None for a built-in one."""
    if is_date(number, code):
        return Style.DATE
    percent = number in _PERCENT if code is None else "%" in _QUOTED.sub("", code.split(";")[0])
    return Style.PERCENT if percent else Style.BARE


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
