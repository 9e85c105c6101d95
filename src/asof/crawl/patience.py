"""What a server that is busy asks for: to be left alone, and its page tried again."""

from __future__ import annotations

from asof.clock import SECOND, parse_http_date
from asof.model import Exchange

# RFC 9110 section 15.6.4, RFC 6585 section 4.
PATIENCE = (429, 503)


def retry_after(exchange: Exchange) -> float | None:
    """Seconds the host asks to be left alone, said as such or as a date (RFC 9110, 10.2.3)."""
    value = (exchange.header("Retry-After") or "").strip() if exchange.status in PATIENCE else ""
    if value.isascii() and value.isdigit():  # "²" is a digit, too
        return float(value)
    until = parse_http_date(value)
    return None if until is None else max(0.0, (until - exchange.started) / SECOND)
