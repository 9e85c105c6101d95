"""References where they stand: links take what they say, replay puts others in their place."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

_CANDIDATE = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)")
# Descriptors run to the next comma that is not inside parentheses.
_DESCRIPTORS = re.compile(r"(?:\([^)]*+\)?|[^,(]++)*+")
# HTML, section 4.2.5.3, "shared declarative refresh steps": a time, then anything like a URL.
_REFRESH = re.compile(
    r"""[\t\n\f\r ]*+[\d.]*+(?:[\t\n\f\r ]*+[;,]|[\t\n\f\r ])[\t\n\f\r ]*+"""
    r"""(?:url[\t\n\f\r ]*+=[\t\n\f\r ]*+)?(["']?)""",
    re.IGNORECASE,
)
_UNSAFE_BARE = re.compile(r"[\"'()\\\s]")
Refer = Callable[[str], str | None]


class Reference(NamedTuple):
    """What a text refers to, and from where to where that is written in it.

    `quote` says how another one has to be written: "" as it is, a quote as a string of CSS (whose
    quotes are part of it), a parenthesis as the inside of a `url()`.
    """

    start: int
    end: int
    url: str
    quote: str = ""


def srcset(value: str) -> Iterator[Reference]:
    """The URLs of a srcset attribute (HTML, "parse a srcset attribute")."""
    position = 0
    while (match := _CANDIDATE.match(value, position)) is not None:
        # A URL that ends in commas has no descriptors: the commas end the candidate.
        url = match[1].rstrip(",")
        end = match.start(1) + len(url)
        rest = _DESCRIPTORS.match(value, end) if end == match.end() else None
        position = rest.end() if rest else match.end()
        if url:
            yield Reference(match.start(1), end, url)


def refresh(value: str) -> Iterator[Reference]:
    """The reference of a Refresh header or its like in a meta element: `5; url='next.html'`."""
    start = _REFRESH.match(value)
    if start is not None:
        at = start.end()
        url = value[at:].partition(start[1])[0] if start[1] else value[at:]
        if url:
            yield Reference(at, at + len(url), url)


def refresh_target(value: str) -> str:
    """The reference in a refresh, as written; empty when it only means the same page again."""
    return next((found.url for found in refresh(value)), "")


def replaced(text: str, references: Iterable[Reference], refer: Refer) -> str:
    """A text with other references in it; those that `refer` gives None for stay as written."""
    out: list[str] = []
    done = 0
    for start, end, url, quote in references:
        new = refer(url)
        if new is not None:
            out += (text[done:start], _written(new, quote))
            done = end
    return "".join(out) + text[done:]


def _written(url: str, quote: str) -> str:
    """URLs hold no line ends; in a string of CSS quotes and backslashes are escaped."""
    if not quote or (quote == ")" and _UNSAFE_BARE.search(url) is None):
        return url
    quote = '"' if quote == ")" else quote
    escaped = url.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return f"{quote}{escaped}{quote}"
