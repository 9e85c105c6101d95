"""`5; url='next.html'`: the Refresh header and its like in a meta element."""

from __future__ import annotations

import re
from collections.abc import Callable

# HTML, section 4.2.5.3, "shared declarative refresh steps": a time, then anything like a URL.
_START = re.compile(
    r"""[\t\n\f\r ]*+[\d.]*+(?:[\t\n\f\r ]*+[;,]|[\t\n\f\r ])[\t\n\f\r ]*+"""
    r"""(?:url[\t\n\f\r ]*+=[\t\n\f\r ]*+)?(["']?)""",
    re.IGNORECASE,
)


def refresh_target(value: str) -> str:
    """The reference in a refresh, as written; empty when it only means the same page again."""
    parts = _split(value)
    return parts[1] if parts else ""


def rewrite_refresh(value: str, refer: Callable[[str], str | None]) -> str | None:
    """The value with another reference in it, or None when there is nothing to replace."""
    parts = _split(value)
    new = refer(parts[1]) if parts else None
    return None if parts is None or new is None else parts[0] + new + parts[2]


def _split(value: str) -> tuple[str, str, str] | None:
    start = _START.match(value)
    if start is None:
        return None
    rest = value[start.end() :]
    reference, quote, after = rest.partition(start[1]) if start[1] else (rest, "", "")
    return value[: start.end()], reference, quote + after
