"""Dates in records, read fast: there is one or more in every record of an import.

Both readers cut the usual form by a pattern and keep the start of each day they have met; all
other forms go to `asof.clock`, and a test holds them to what that says.
"""

import re
from functools import lru_cache

from asof.clock import DAY, SECOND, Instant, parse_foreign, parse_http_date, parse_iso

_WARC_DATE = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,9}))?Z"
)
_IMF_DATE = re.compile(
    r"[A-Z][a-z]{2}, ([0-9]{2} [A-Z][a-z]{2} [0-9]{4}) "
    r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]) GMT"
)
# Before the Web, so not the date of anything on it: clocks that were never set, epoch zero.
_WEB_BEGINS = 20 * 365 * DAY + 5 * DAY  # 1990-01-01

_iso_day = lru_cache(maxsize=4096)(parse_iso)


@lru_cache(maxsize=1024)  # records of one second stand side by side
def warc_date(text: str) -> Instant | None:
    """A WARC-Date in any form that occurs: see `parse_foreign`."""
    match = _WARC_DATE.fullmatch(text)
    day = _iso_day(match[1]) if match is not None else None
    if match is None or day is None:
        return parse_foreign(text)
    _, hour, minute, second, fraction = match.groups()
    at = day + ((int(hour) * 60 + int(minute)) * 60 + int(second)) * SECOND
    return at if fraction is None else at + int(fraction[:6].ljust(6, "0"))


def modified(text: str, captured: Instant) -> Instant | None:
    """A Last-Modified that can be true: since the Web began, and not after the capture.

    A day is forgiven, for clocks and zones that are wrong (RFC 9110 section 8.8.2.1 tells servers
    not to send a date in the future at all).
    """
    at = _http_date(text)
    return at if at is not None and _WEB_BEGINS <= at <= captured + DAY else None


@lru_cache(maxsize=1024)
def _http_date(text: str) -> Instant | None:
    match = _IMF_DATE.fullmatch(text)
    day = _imf_day(match[1]) if match is not None else None
    if match is None or day is None:
        return parse_http_date(text)
    return day + ((int(match[2]) * 60 + int(match[3])) * 60 + int(match[4])) * SECOND


@lru_cache(maxsize=4096)
def _imf_day(text: str) -> Instant | None:
    return parse_http_date(f"Thu, {text} 00:00:00 GMT")
