"""The links of a document: what a crawl may go on to, and what a page needs to be shown.

HTML through selectolax (lexbor, a browser-grade parser), CSS by its url() and @import tokens.
References are given as written; the caller resolves them against `Links.base`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from asof.model import Hop

# One page may not flood the frontier (a hostile page has millions of links).
MAX_LINKS = 100_000
PIECE = 1 << 17

# Where each element keeps its references. Elements with rules of their own follow in _special.
_PLAIN: dict[str, tuple[tuple[str, Hop], ...]] = {
    "a": (("href", Hop.LINK),),
    "area": (("href", Hop.LINK),),
    "iframe": (("src", Hop.REQUISITE),),
    "frame": (("src", Hop.REQUISITE),),
    "img": (("src", Hop.REQUISITE),),
    "script": (("src", Hop.REQUISITE),),
    "source": (("src", Hop.REQUISITE),),
    "track": (("src", Hop.REQUISITE),),
    "embed": (("src", Hop.REQUISITE),),
    "input": (("src", Hop.REQUISITE),),
    "audio": (("src", Hop.REQUISITE),),
    "video": (("src", Hop.REQUISITE), ("poster", Hop.REQUISITE)),
    "object": (("data", Hop.REQUISITE),),
    "body": (("background", Hop.REQUISITE),),
    "table": (("background", Hop.REQUISITE),),
    "td": (("background", Hop.REQUISITE),),
    "image": (("href", Hop.REQUISITE), ("xlink:href", Hop.REQUISITE)),
    "use": (("href", Hop.REQUISITE), ("xlink:href", Hop.REQUISITE)),
}
_SPECIAL = ("link", "meta", "style")
_SELECTOR = ", ".join((*_PLAIN, *_SPECIAL, "[style]"))
_PART_RELS = frozenset(
    ("stylesheet", "icon", "shortcut", "apple-touch-icon", "preload", "modulepreload", "manifest")
)
_PAGE_RELS = frozenset(("alternate", "canonical", "next", "prev", "previous", "amphtml"))
_REFRESH = re.compile(r"""^\s*\d*[.\d]*\s*[;,]?\s*url\s*=\s*["']?([^"'>]+)""", re.IGNORECASE)
_CANDIDATE = re.compile(r"[\s,]*([^\s]+)([^,(]*(?:\([^)]*\))?[^,]*)")
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CSS_URL = re.compile(
    r"""url\(\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)'|([^\s"'()\\]+))\s*\)"""
    r"""|@import\s+(?:"([^"\\\n]+)"|'([^'\\\n]+)')""",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Link:
    """A reference as written, and whether it leads on or belongs to the page."""

    reference: str
    hop: Hop


@dataclass(frozen=True, slots=True)
class Links:
    """All references of a document and the base it declares (None: its own URL)."""

    base: str | None
    found: tuple[Link, ...]


def html_links(document: bytes | str) -> Links:
    """The references of an HTML document, in document order, at most MAX_LINKS."""
    base: str | None = None
    found: list[Link] = []
    for piece in _pieces(document):
        tree = LexborHTMLParser(piece)
        if base is None and (node := tree.css_first("base[href]")) is not None:
            base = node.attributes.get("href")
        found.extend(islice(_walk(tree), MAX_LINKS - len(found)))
        if len(found) == MAX_LINKS:
            break
    return Links(base, tuple(found))


def _pieces(document: bytes | str) -> Iterator[bytes]:
    """A page as it is, a huge one in parts that begin at a tag.

    A parser takes fifty times the document's size in memory, and quadratic time for elements that
    are nested (20,000 divs: 0.5 s; 100,000: 20 s). In parts, a link here and there may be misread.
    """
    data = document.encode("utf-8", "replace") if isinstance(document, str) else document
    start = 0
    while len(data) - start > PIECE:
        end = data.rfind(b"<", start + 1, start + PIECE)
        if end < 0:  # one enormous tag
            end = data.find(b"<", start + PIECE, start + 2 * PIECE)
        if end < 0:
            end = start + 2 * PIECE
        yield data[start:end]
        start = end
    yield data[start:]


def css_links(sheet: str) -> Iterator[Link]:
    """What a style sheet needs: imports, images, fonts."""
    for match in _CSS_URL.finditer(_CSS_COMMENT.sub(" ", sheet)):
        reference = next(group for group in match.groups() if group is not None)
        if reference:
            yield Link(reference, Hop.REQUISITE)


def _walk(tree: LexborHTMLParser) -> Iterator[Link]:
    for node in tree.css(_SELECTOR):
        attributes = node.attributes
        for name, hop in _PLAIN.get(node.tag or "", ()):
            yield from _link(attributes.get(name), hop)
        candidates, style = attributes.get("srcset"), attributes.get("style")
        if candidates:
            for reference in srcset(candidates):
                yield from _link(reference, Hop.REQUISITE)
        if style and "url(" in style:
            yield from css_links(style)
        if node.tag in _SPECIAL:
            yield from _special(node, attributes)


def _special(node: LexborNode, attributes: dict[str, str | None]) -> Iterator[Link]:
    if node.tag == "style":
        yield from css_links(node.text())
    elif node.tag == "link":
        rels = set((attributes.get("rel") or "").lower().split())
        if rels & _PART_RELS:
            yield from _link(attributes.get("href"), Hop.REQUISITE)
        elif rels & _PAGE_RELS:
            yield from _link(attributes.get("href"), Hop.LINK)
    elif (attributes.get("http-equiv") or "").lower() == "refresh":
        refresh = _REFRESH.match(attributes.get("content") or "")
        yield from _link(refresh[1] if refresh else None, Hop.LINK)


def srcset(value: str) -> Iterator[str]:
    """The URLs of a srcset attribute (HTML, "parse a srcset attribute")."""
    position = 0
    while (match := _CANDIDATE.match(value, position)) is not None:
        reference = match[1]
        # A URL that ends in a comma has no descriptors: the comma ends the candidate.
        stripped = reference.rstrip(",")
        position = match.end(1) if stripped != reference else match.end()
        if stripped:
            yield stripped


def _link(reference: str | None, hop: Hop) -> Iterator[Link]:
    """Drop what leads nowhere: empty, same-page, and schemes that are not fetched."""
    reference = (reference or "").strip()
    if not reference or reference.startswith("#"):
        return
    scheme = reference[:11].lower()
    if not scheme.startswith(("javascript:", "data:", "mailto:", "tel:", "about:", "blob:")):
        yield Link(reference, hop)
