"""Where a reference of a document leads inside the archive."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from asof.text.encoding.view import encode_query
from asof.text.links.link import EDGE
from asof.url import resolve

# WHATWG URL, "basic URL parser", step 3.
_BREAKS = re.compile(r"[\t\n\r]")
_DROPPED = str.maketrans("", "", "\t\n\r")
# WHATWG URL, "fragment percent-encode set"; `%` stays, for what is encoded already.
_FRAGMENT_SAFE = "!#$%&'()*+,-./:;=?@[\\]^_{|}~"
# What leads nowhere beyond the document, or to another program that is asked for.
_HARMLESS = re.compile(r"(?:data|blob|about|javascript|mailto|tel):", re.IGNORECASE)

NOWHERE = "about:blank"


@dataclass(frozen=True, slots=True)
class ReplayPlace:
    """Where a document stands: the base its references are relative to, and where they shall lead.

    `lead` is asked about absolute http(s) URLs without fragment, and gives ASCII; `lead_part` is
    asked about what is a part of the document, where that is another.
    `encoding` is the document's: the query of a reference is sent in it (WHATWG URL, "query
    state"), so that a search link of a Japanese page finds the capture its server was asked for.
    `on_disk` says that the document is to be opened as a file: where it leads is relative to that,
    and what could lead to other files (or machines: `file://host/`) leads nowhere. Where none of
    its scripts run (`unscripted`) the browser does not know it: `noscript` is taken away there.
    """

    base: str
    lead: Callable[[str], str]
    encoding: str = "utf-8"
    lead_part: Callable[[str], str] | None = None
    on_disk: bool = False
    unscripted: bool = False
    _known: dict[str, str | None] = field(default_factory=dict, repr=False, compare=False)

    def refer(self, reference: str) -> str | None:
        """The reference to write instead, or None for one that has to stay as it is."""
        try:
            return self._known[reference]
        except KeyError:
            led = self._known[reference] = self._refer(reference)
            return led

    def _refer(self, reference: str) -> str | None:
        url = self.resolve(reference)
        bare = _bare(reference)
        if url is None:
            stays = not self.on_disk or bare[:1] in ("", "#") or _HARMLESS.match(bare)
            return None if stays else NOWHERE
        _, hash_, fragment = bare.partition("#")
        led = self.lead(url)
        if "#" in led or led == NOWHERE:  # a place in a page of ours, or nothing
            return led
        return led + hash_ + quote(fragment, safe=_FRAGMENT_SAFE)

    def of_parts(self) -> ReplayPlace:
        """The same place for references to parts of the document."""
        lead = self.lead_part
        return self if lead is None else replace(self, lead=lead, lead_part=None, _known={})

    def resolve(self, reference: str) -> str | None:
        """The canonical URL of a reference to another document; None for all others."""
        reference = _bare(reference)
        if not reference or reference[0] == "#":
            return None
        if self.encoding != "utf-8" and not reference.isascii():
            reference = encode_query(reference, self.encoding)
        return resolve(self.base, reference)

    def at(self, base: str) -> ReplayPlace:
        """The same place after `<base href>`."""
        return replace(self, base=base, _known={})

    def reading(self, encoding: str) -> ReplayPlace:
        """The same place for a document in another encoding."""
        return self if encoding == self.encoding else replace(self, encoding=encoding, _known={})


def _bare(reference: str) -> str:
    """A reference without what the URL parser takes away before it looks."""
    bare = reference.strip(EDGE)
    return bare.translate(_DROPPED) if _BREAKS.search(bare) else bare
