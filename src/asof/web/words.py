"""Times, sizes and numbers as people read them: the filters of the templates."""

from __future__ import annotations

import re
from datetime import datetime
from urllib.parse import unquote_to_bytes

from asof.catalog.listing import MANY
from asof.clock import DAY, SECOND, Instant, to_datetime
from asof.report.terminal import harmless

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_ENCODED = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
_UNITS = (
    (365 * DAY, "year"),
    (30 * DAY, "month"),
    (DAY, "day"),
    (3600 * SECOND, "hour"),
    (60 * SECOND, "minute"),
    (SECOND, "second"),
)


def day(at: Instant) -> str:
    """`15 Nov 2026`, whatever the locale of the server."""
    return _day(to_datetime(at))


def moment(at: Instant) -> str:
    """`15 Nov 2026, 19:05:12`, UTC."""
    when = to_datetime(at)
    return f"{_day(when)}, {when:%H:%M:%S}"


def clock(at: Instant) -> str:
    """`19:05:12`, UTC."""
    return f"{to_datetime(at):%H:%M:%S}"


def span(length: Instant) -> str:
    """A length of time in its largest unit: `3 days`."""
    for unit, name in _UNITS:
        if length >= unit:
            count = length // unit
            return f"{count:,} {name}{'' if count == 1 else 's'}"
    return "less than a second"


def size(count: int) -> str:
    """`41 KB`: decimal units, three digits at most."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("KB", "MB", "GB"):
        value /= 1000
        if value < 999.5:
            return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"
    return f"{value / 1000:,.1f} TB"


def number(count: int) -> str:
    """`1,204,332`."""
    return f"{count:,}"


def plain(text: str) -> str:
    """A stranger's text on one line, of which nothing acts."""
    return harmless(text.replace("\n", " "))


def percent(share: float) -> str:
    """`99.9 %`: rounded down, so that 100 % is said of nothing that misses a part."""
    # The tiny addend keeps 0.29 from becoming 28.9: its nearest float lies below it.
    return f"{int(share * 1000 + 1e-9) / 10:.1f} %"


def bounded(count: int) -> str:
    """A count that was not carried on beyond MANY."""
    return f"{MANY:,}+" if count > MANY else f"{count:,}"


def readable(url: str) -> str:
    """A URL for the eye: percent-encoded letters as letters. What has a meaning stays encoded."""
    return _ENCODED.sub(_letters, url)


def _letters(match: re.Match[str]) -> str:
    try:
        text = unquote_to_bytes(match[0]).decode("utf-8")
    except UnicodeDecodeError:
        return match[0]
    # Not printable are the marks that turn the direction of writing, for one.
    return text if text.isprintable() else match[0]


def _day(when: datetime) -> str:
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}"
