"""Links in HTTP headers: `Link` (RFC 8288) and `Refresh`, for documents of any type."""

import re
from collections.abc import Iterator
from itertools import chain, islice

from asof.model import Headers, Hop
from asof.text.links.attribute_values import refresh_target, srcset
from asof.text.links.elements import rel_hop
from asof.text.links.link import Link, bare

# A header of a million links is an attack, not a hint.
_MOST = 1000
_TARGET = re.compile(r"[\s,;]*+<([^>]*+)>")
# RFC 8288 section 3: a parameter's value is a token or a quoted string; anything else is skipped.
_PARAMETER = re.compile(
    r"""\s*+;\s*+([\w*-]*+)\s*+(?:=\s*+(?:"((?:[^"\\]|\\.)*+)"?|([^\s;,"]*+)))?+\s*+"""
)
_QUOTED_PAIR = re.compile(r"\\(.)", re.DOTALL)


def header_links(headers: Headers) -> Iterator[Link]:
    """What the headers of a response lead to: Link, as far as it says something, and Refresh."""
    for name, value in headers:
        if name.lower() == "refresh" and (reference := bare(refresh_target(value))):
            yield Link(reference, Hop.LINK)
    links = (_links(value) for name, value in headers if name.lower() == "link")
    yield from islice(chain.from_iterable(links), _MOST)


def _links(value: str) -> Iterator[Link]:
    position = 0
    while (target := _TARGET.match(value, position)) is not None:
        position = target.end()
        parameters: dict[str, str] = {}
        while (parameter := _PARAMETER.match(value, position)) is not None:
            position = parameter.end()
            name, quoted, token = parameter.groups()
            text = _QUOTED_PAIR.sub(r"\1", quoted) if quoted is not None else token or ""
            # Only the first of a name counts (section 3.3).
            parameters.setdefault(name.lower(), text)
        hop = rel_hop(parameters.get("rel", ""))
        if hop is not None:
            images = srcset(parameters.get("imagesrcset", ""))
            references = (target[1], *(image.url for image in images))
            yield from (Link(bare(each), hop) for each in references if bare(each))
        # Whatever is left of a broken link ends at the next comma.
        comma = value.find(",", position)
        position = len(value) if comma < 0 else comma
