"""A reference and its kind: what every reader of documents in this room gives."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import NamedTuple

from asof.model import Hop

# Schemes that lead nowhere a crawl could go, dropped before anybody resolves them.
_NOWHERE = ("javascript:", "data:", "mailto:", "tel:", "about:", "blob:")
# What the URL parser takes away at both ends (WHATWG URL, "basic URL parser", step 1).
EDGE = "".join(map(chr, range(0x21)))
# The hint of what a listed page needs: its turn is right before that page's.
OF_LISTED = 1.0
# How references begin that have to be looked at: all others pass. (`"" in` a text is true, too.)
SUSPECT = EDGE + "#" + "".join(f"{s[0]}{s[0].upper()}" for s in _NOWHERE)


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
    `early` are relative to the document all the same: links of its HTTP header, and what a page
    needs and names before it declares its base.
    """

    base: str | None
    found: tuple[Link, ...]
    listing: bool = False
    early: tuple[Link, ...] = ()

    def after(self, links: tuple[Link, ...]) -> Links:
        """With others in front that no base of the document counts for."""
        if self.base is None:
            return replace(self, found=links + self.found) if links else self
        return replace(self, early=links + self.early)

    def without(self, hops: Container[Hop]) -> Links:
        found = tuple(link for link in self.found if link.hop not in hops)
        if self.listing and len(found) < len(self.found):  # nor what the pages show that it lists
            found = tuple(link for link in found if link.hint != OF_LISTED)
        early = tuple(link for link in self.early if link.hop not in hops)
        return replace(self, found=found, early=early)


def bare(reference: str) -> str:
    """A reference without blanks around it; empty when it leads nowhere."""
    reference = reference.strip(EDGE)
    if reference[:1] == "#" or reference[:11].lower().startswith(_NOWHERE):
        return ""
    return reference
