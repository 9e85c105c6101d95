"""Time: instants, stamps and dates, and the Clock that all of asof reads time from.

An `Instant` is an integer count of microseconds since 1970-01-01 UTC, everywhere inside asof.
Text appears only at the rim: ISO 8601 in JSON and WARC, 14 digits in URLs and CDX, RFC 9110
dates in HTTP.
"""

from __future__ import annotations

import asyncio
import calendar
import re
import time
from datetime import UTC, datetime, timedelta
from email.utils import formatdate, parsedate_tz
from typing import Protocol

from asof.errors import UsageError

Instant = int
SECOND: Instant = 1_000_000
DAY: Instant = 86_400 * SECOND

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STAMP = re.compile(r"\d{4}(\d{2}(\d{2}(\d{2}(\d{2}(\d{2})?)?)?)?)?")
_ISO = re.compile(
    r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?)?)?"
    r"\s*(Z|[+-]\d{2}:?\d{2})?"
)


class Clock(Protocol):
    """Where time comes from. The crawl, the synthetic site and the tests share one."""

    def now(self) -> Instant:
        """The wall-clock instant, for dates that are kept."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards, for delays and limits."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let that many seconds of this clock pass."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> Instant:
        """The wall-clock instant."""
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        """The monotonic clock, in seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Sleep on the event loop."""
        await asyncio.sleep(seconds)


def from_datetime(moment: datetime) -> Instant:
    """The instant of an aware datetime (exact: no float on the way)."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def to_datetime(instant: Instant) -> datetime:
    """The aware UTC datetime of an instant."""
    return _EPOCH + timedelta(microseconds=instant)


def iso(instant: Instant) -> str:
    """ISO 8601 with microseconds and Z: what WARC 1.1 dates and our JSON use."""
    return to_datetime(instant).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def stamp(instant: Instant) -> str:
    """The 14 digits of CDX files and replay URLs; whole seconds, rounded down."""
    return to_datetime(instant).strftime("%Y%m%d%H%M%S")


def http_date(instant: Instant) -> str:
    """An IMF-fixdate (RFC 9110 section 5.6.7)."""
    return formatdate(instant // SECOND, usegmt=True)


def parse_iso(text: str) -> Instant | None:
    """An ISO 8601 date as WARC files carry it, or None. Missing parts count as their start."""
    match = _ISO.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        moment = datetime(
            int(year), int(month or 1), int(day or 1),
            int(hour or 0), int(minute or 0), min(int(second or 0), 59), tzinfo=UTC,
        )  # fmt: skip
    except ValueError:
        return None
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    return from_datetime(moment) + micros - _zone_offset(zone)


def parse_stamp(text: str) -> Instant | None:
    """The start of a stamp of 4 to 14 digits, or None."""
    if _STAMP.fullmatch(text) is None:
        return None
    padded = text + "00000101000000"[len(text) :]
    try:
        return from_datetime(datetime.strptime(padded, "%Y%m%d%H%M%S").replace(tzinfo=UTC))
    except ValueError:
        return None


def parse_http_date(text: str) -> Instant | None:
    """Any of the date forms of RFC 9110 section 5.6.7, leniently; None when it is not one."""
    fields = parsedate_tz(text)
    if fields is None:
        return None
    try:
        seconds = calendar.timegm((*fields[:6], 0, 0, 0)) - (fields[9] or 0)
        return from_datetime(_EPOCH + timedelta(seconds=seconds))
    except (ValueError, OverflowError):
        return None


def parse_moment(text: str, now: Instant) -> Instant:
    """What a person means by a moment: `now`, `2026`, `2026-11-15`, `20261115190512`, ISO 8601.

    A moment said to some precision means the END of the unit that was named, so that `as of
    2026-11-15` includes that day, and the 14-digit stamp of a capture finds that capture.
    """
    text = text.strip()
    if text == "now":
        return now
    unit_end = _end_of_stamp(text) if text.isdigit() else _end_of_iso(text)
    if unit_end is None:
        raise UsageError(
            f"{text!r} is not a moment.",
            hint="Write it as 2026, 2026-11-15, 2026-11-15T19:05:12Z, 20261115190512 or now.",
        )
    return unit_end


def _end_of_stamp(digits: str) -> Instant | None:
    start = parse_stamp(digits)
    return None if start is None else _end_of_unit(start, (len(digits) - 4) // 2)


def _end_of_iso(text: str) -> Instant | None:
    start, match = parse_iso(text), _ISO.fullmatch(text)
    if start is None or match is None:
        return None
    if match[7] is not None:
        return start
    named = sum(part is not None for part in match.groups()[1:6])
    # A zone shifts the start; the length of the unit is that of the local calendar.
    offset = _zone_offset(match[8])
    return _end_of_unit(start + offset, named) - offset


def _end_of_unit(start: Instant, named: int) -> Instant:
    """`named` counts the parts after the year: 0 a year, 1 a month, 2 a day ... 5 a second."""
    moment = to_datetime(start)
    if named == 0:
        length = 366 if calendar.isleap(moment.year) else 365
        return start + length * DAY - 1
    if named == 1:
        return start + calendar.monthrange(moment.year, moment.month)[1] * DAY - 1
    return start + (DAY, 3600 * SECOND, 60 * SECOND, SECOND)[named - 2] - 1


def _zone_offset(zone: str | None) -> Instant:
    if zone is None or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "")
    offset = (int(digits[:2]) * 60 + int(digits[2:])) * 60 * SECOND
    return -offset if zone[0] == "-" else offset
