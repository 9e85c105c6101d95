"""From a stored document to the targets it leads to. Pure: bytes in, targets out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from asof.model import Hop, Target
from asof.scope.rules import Scope
from asof.text.links import Link, Links, css_links, html_links
from asof.url import resolve

# A document larger than this is kept, but not searched for links.
MAX_DOCUMENT = 32 << 20

_HTML = ("text/html", "application/xhtml+xml")


def is_searched(media_type: str | None) -> bool:
    """Whether documents of this type are searched for links."""
    return media_type in _HTML or media_type == "text/css"


def references(media_type: str | None, document: bytes) -> Links:
    """The references of a document by its media type."""
    if media_type in _HTML:
        return html_links(document)
    if media_type == "text/css":
        return Links(None, tuple(css_links(document.decode("utf-8", "replace"))))
    return Links(None, ())


def follow(target: Target, reference: str, hop: Hop, base: str | None = None) -> Target | None:
    """The target that a reference found at `target` means, or None when it means none.

    Only links lead deeper: what a page needs and where it redirects count as the page itself.
    Breadth-first: the priority is the depth.
    """
    url = resolve(base or target.url, reference)
    if url is None:
        return None
    depth = target.depth + (hop is Hop.LINK)
    return Target(url, depth, target.url, target.hops + hop.value, float(depth))


def found_in(target: Target, links: Links) -> Iterator[Target]:
    """The distinct targets a document leads to, in document order."""
    base = target.url if links.base is None else resolve(target.url, links.base) or target.url
    seen: set[tuple[str, Hop]] = set()
    for link in _distinct(links.found, seen):
        onward = follow(target, link.reference, link.hop, base)
        if onward is not None and onward.url != target.url:
            yield onward


def _distinct(links: Iterable[Link], seen: set[tuple[str, Hop]]) -> Iterator[Link]:
    for link in links:
        key = (link.reference, link.hop)
        if key not in seen:
            seen.add(key)
            yield link


def sort_by_scope(
    targets: Iterable[Target], scope: Scope
) -> tuple[list[Target], list[tuple[Target, str]]]:
    """What goes into the queue, and what is left out with its reason."""
    inside: list[Target] = []
    outside: list[tuple[Target, str]] = []
    for target in targets:
        decision = scope.decide(target)
        if decision.inside:
            inside.append(target)
        else:
            outside.append((target, decision.reason))
    return inside, outside
