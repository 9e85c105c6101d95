"""The srcset attribute: candidates of URL and descriptors (HTML, "parse a srcset attribute")."""

from __future__ import annotations

import re
from collections.abc import Callable

_URL = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)")
# Descriptors run to the next comma that is not inside parentheses.
_DESCRIPTORS = re.compile(r"(?:\([^)]*+\)?|[^,(]++)*+")


def rewrite_srcset(value: str, refer: Callable[[str], str | None]) -> str:
    """Replace the URLs; blanks, commas and descriptors stay as written."""
    out: list[str] = []
    position = 0
    while (match := _URL.match(value, position)) is not None:
        # A URL that ends in commas has no descriptors: the commas end the candidate.
        url = match[1].rstrip(",")
        end = match.start(1) + len(url)
        rest = _DESCRIPTORS.match(value, end) if end == match.end() else None
        stop = rest.end() if rest else match.end()
        out += (value[position : match.start(1)], refer(url) or url, value[end:stop])
        position = stop
    return "".join(out) + value[position:]
