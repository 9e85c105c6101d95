"""A reference and its kind: what every reader of documents in this room gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from asof.model import Hop

# Schemes that lead nowhere a crawl could go, dropped before anybody resolves them.
_NOWHERE = ("javascript:", "data:", "mailto:", "tel:", "about:", "blob:")
# What the URL parser takes away at both ends (WHATWG URL, "basic URL parser", step 1).
_EDGE = "".join(map(chr, range(0x21)))
# How references begin that have to be looked at: all others pass. (`"" in` a text is true, too.)
SUSPECT = _EDGE + "#" + "".join(f"{s[0]}{s[0].upper()}" for s in _NOWHERE)


# A named tuple: a page has a hundred of them, and a frozen dataclass costs three times as much.
class Link(NamedTuple):
    """A reference as written, and whether it leads on, belongs to the page, or is a guess.

    `hint` is added to the priority (below zero: sooner). `listing` says that it leads to a document
    that lists others (a sitemap, the next page of a feed), which costs no depth.
    """

    reference: str
    hop: Hop
    hint: float = 0.0
    listing: bool = False


@dataclass(frozen=True, slots=True)
class Links:
    """All references of a document and the base it declares (None: its own URL).

    `listing` says that the document is a sitemap or a feed: it stands for no page of its own.
    """

    base: str | None
    found: tuple[Link, ...]
    listing: bool = False


def bare(reference: str) -> str:
    """A reference without blanks around it; empty when it leads nowhere."""
    reference = reference.strip(_EDGE)
    if reference[:1] == "#" or reference[:11].lower().startswith(_NOWHERE):
        return ""
    return reference
