"""Time: instants, stamps and dates, and the Clock that all of asof reads time from.

An `Instant` is an integer count of microseconds since 1970-01-01 UTC, everywhere inside asof.
Text appears only at the rim: ISO 8601 in JSON and WARC, 14 digits in URLs and CDX, RFC 9110
dates in HTTP.
"""

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
_STAMP = re.compile(r"\d{4}(\d{2}(\d{2}(\d{2}(\d{2}(\d{2})?)?)?)?)?", re.ASCII)
_ZONE_NAME = re.compile(r"\s*(?:UTC|GMT|z)$")
# A date of ClueWeb09: the day is that of the year, as `D` counts it for Java.
_DAY_OF_YEAR = re.compile(r"(\d{4})-(\d{2})-(\d{2,3})(?=[T ])", re.ASCII)
_ISO = re.compile(
    r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?)?)?"
    r"\s*(Z|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)


class Clock(Protocol):
    """Where time comes from. The crawl, the synthetic site and the tests share one."""

    def now(self) -> Instant:
        """The wall-clock instant, for dates that are kept."""

    def monotonic(self) -> float:
        """Seconds that never run backwards, for delays and limits."""

    async def sleep(self, seconds: float) -> None:
        """Let that many seconds of this clock pass."""


def nap(seconds: float) -> None:
    """Let the machine's time pass, for those who wait for another process."""
    time.sleep(seconds)


class SystemClock:
    """The machine's own clock."""

    def now(self) -> Instant:
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        import asyncio  # here, for most commands never sleep and asyncio is slow to load

        await asyncio.sleep(seconds)


def from_datetime(moment: datetime) -> Instant:
    """The instant of an aware datetime (exact: no float on the way)."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


_FIRST = from_datetime(datetime.min.replace(tzinfo=UTC))
_LAST = from_datetime(datetime.max.replace(tzinfo=UTC))


def to_datetime(instant: Instant) -> datetime:
    return _EPOCH + timedelta(microseconds=instant)


def iso(instant: Instant) -> str:
    """ISO 8601 with microseconds and Z: what WARC 1.1 dates and our JSON use."""
    # Not strftime: its %Y writes years before 1000 with fewer than four digits on Linux.
    return to_datetime(instant).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def iso_second(instant: Instant) -> str:
    """The same without a fraction, for formats and tools that know whole seconds."""
    return f"{iso(instant)[:19]}Z"


def when(instant: Instant) -> str:
    """An instant as people read it, to the second, UTC."""
    return iso(instant)[:19].replace("T", " ")


def maybe_iso(instant: Instant | None) -> str | None:
    return None if instant is None else iso(instant)


def stamp(instant: Instant) -> str:
    """The 14 digits of CDX files and replay URLs; whole seconds, rounded down."""
    moment = to_datetime(instant)
    return f"{moment.year:04d}{moment:%m%d%H%M%S}"


def whole_second(instant: Instant) -> Instant:
    """The end of the second that it lies in."""
    return instant - instant % SECOND + SECOND - 1


def http_date(instant: Instant) -> str:
    """An IMF-fixdate (RFC 9110 section 5.6.7)."""
    return formatdate(instant // SECOND, usegmt=True)


def parse_iso(text: str) -> Instant | None:
    """An ISO 8601 date as WARC files carry it, or None. Missing parts count as their start."""
    match = _ISO.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    if hour is None and zone not in (None, "Z"):
        return None  # 2026-1105 is a typing error, not the year 2026 eleven hours west
    try:
        moment = datetime(
            int(year), int(month or 1), int(day or 1),
            int(hour or 0), int(minute or 0), _without_leap(int(second or 0)), tzinfo=UTC,
        )  # fmt: skip
    except ValueError:
        return None
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    instant = from_datetime(moment) + micros - _zone_offset(zone)
    # A zone can push the first and last hours of the calendar out of what can be written again.
    return instant if _FIRST <= instant <= _LAST else None


def parse_foreign(text: str) -> Instant | None:
    """A date in whatever form tools have written it into archives; None when it is none."""
    text = text.strip()
    found = parse_stamp(text[:14]) if text.isdigit() else parse_iso(_month_day(text))
    if found is not None:
        return found
    plain = _ZONE_NAME.sub("Z", text.replace(",", ".").replace("/", "-"))
    return parse_iso(plain) if text[:4].isdigit() else parse_http_date(text)


def _month_day(text: str) -> str:
    """The same with the day of the month, where it has that of the year."""
    match = _DAY_OF_YEAR.match(text)
    if match is None:
        return text
    year, month, day = map(int, match.groups())
    try:
        first = datetime(year, 1, 1, tzinfo=UTC)
        moment = first + timedelta(days=day - 1)
        if day <= calendar.monthrange(year, month)[1] or (moment.year, moment.month) != (
            year,
            month,
        ):
            return text
    except (ValueError, OverflowError):  # IllegalMonthError is a ValueError
        return text
    return f"{moment:%Y-%m-%d}{text[match.end() :]}"


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
        year, month, day, hour, minute, second = fields[:6]
        moment = datetime(year, month, day, hour, minute, _without_leap(second), tzinfo=UTC)
        return from_datetime(moment - timedelta(seconds=fields[9] or 0))
    except (ValueError, OverflowError):
        return None


def parse_moment(text: str, now: Instant, *, start: bool = False) -> Instant:
    """What a person means by a moment: `now`, `2026`, `2026-11-15`, `20261115190512`, ISO 8601.

    A moment said to some precision means the END of the unit that was named, so that `as of
    2026-11-15` includes that day, and the 14-digit stamp of a capture finds that capture. Where a
    stretch of time begins (`from 2026`), it means the START of the unit.
    """
    text = text.strip()
    if text == "now":
        return now
    first = parse_stamp(text) if text.isdigit() else parse_iso(text)
    if first is None:
        raise UsageError(
            f"{text!r} is not a moment.",
            hint="Write it as 2026, 2026-11-15, 2026-11-15T19:05:12Z, 20261115190512 or now.",
        )
    match = None if text.isdigit() else _ISO.fullmatch(text)
    if start or (match and match[7]):
        return first
    if match is None:
        return _end_of_unit(first, (len(text) - 4) // 2)
    named = sum(part is not None for part in match.groups()[1:6])
    # A zone shifts the start; the length of the unit is that of the local calendar.
    offset = _zone_offset(match[8])
    return _end_of_unit(first + offset, named) - offset


def _end_of_unit(start: Instant, named: int) -> Instant:
    """`named` counts the parts after the year: 0 a year, 1 a month, 2 a day ... 5 a second."""
    moment = to_datetime(start)
    if named == 0:
        length = 366 if calendar.isleap(moment.year) else 365
        return start + length * DAY - 1
    if named == 1:
        return start + calendar.monthrange(moment.year, moment.month)[1] * DAY - 1
    return start + (DAY, 3600 * SECOND, 60 * SECOND, SECOND)[named - 2] - 1


def _without_leap(second: int) -> int:
    """A leap second counts as the second before it; datetime knows none."""
    return 59 if second == 60 else second


def _zone_offset(zone: str | None) -> Instant:
    if zone is None or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "")
    offset = (int(digits[:2]) * 60 + int(digits[2:])) * 60 * SECOND
    return -offset if zone[0] == "-" else offset
