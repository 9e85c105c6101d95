"""What structured data in a page (JSON-LD, schema.org) says about where things are.

Pages that it names are links like others; identifiers and media are guesses, for many of them
stand for a thing and not for a document. Nothing here raises, whatever the text.
"""

import json
import re
from collections.abc import Iterator
from itertools import islice, repeat

from asof.model import Hop
from asof.text.links.link import Link
from asof.text.markup import names

# Properties of schema.org whose value, or whose value's @id or url, is the address of a page.
_PAGES = names("url item mainentityofpage relatedlink significantlink discussionurl")
_GUESSES = names(
    "@id image logo photo screenshot thumbnail thumbnailurl audio primaryimageofpage contenturl"
    " embedurl associatedmedia video"
)
# Deep or endless data is nobody's page; JSON takes ten times its size in memory.
_MAX_NODES = 20_000
_MAX_TEXT = 1 << 20
_ADDRESS = re.compile(r"(?:https?://|/(?!/))[^\s{}<>\"\\^`|]+", re.IGNORECASE)
# Where the data is broken (a comma too many is common), what its pairs say is still worth a guess.
_PAIR = re.compile(r'"([@A-Za-z]{2,24})"\s*:\s*"((?:[^"\\]|\\.){4,2000})"')


def jsonld_links(text: str, most: int) -> Iterator[Link]:
    seen: set[str] = set()
    for name, value in _pairs(text):
        reference = value.strip()
        hop = _hop(name)
        if hop is None or reference in seen or not _ADDRESS.fullmatch(reference):
            continue
        seen.add(reference)
        yield Link(reference, hop)
        if len(seen) >= most:
            return


def _hop(name: str) -> Hop | None:
    name = name.lower()
    if name in _PAGES:
        return Hop.LINK
    return Hop.GUESS if name in _GUESSES else None


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """All texts with the name of the property they belong to, in order."""
    try:
        # Comment marks around it are older than JSON-LD, but still there.
        data = json.loads(text[:_MAX_TEXT].strip().removeprefix("<!--").removesuffix("-->"))
    except (ValueError, RecursionError):
        yield from ((m[1], m[2].replace("\\/", "/")) for m in _PAIR.finditer(text[:_MAX_TEXT]))
        return
    yield from islice(_texts(data), _MAX_NODES)


def _texts(data: object) -> Iterator[tuple[str, str]]:
    """Depth first, with a stack of our own; numbers and the like count as empty texts."""
    stack: list[Iterator[tuple[str, object]]] = [iter((("", data),))]
    while stack:
        for inner_name, value in stack[-1]:
            if isinstance(value, dict):
                stack.append(_named(inner_name, value))
                break
            if isinstance(value, list):
                stack.append(zip(repeat(inner_name), value))
                break
            yield inner_name, value if isinstance(value, str) else ""
        else:
            stack.pop()


def _named(name: str, value: dict[str, object]) -> Iterator[tuple[str, object]]:
    """The properties of a thing; the url and @id of an image are an image."""
    medium = _hop(name) is Hop.GUESS
    for key, inner in value.items():
        yield (name if medium and key in ("url", "@id") else key), inner
