"""What the elements of HTML and SVG refer to, and whether that leads on or belongs to the page.

Pure tables and small functions: an element's name and its attributes in, references out. `links`
finds the elements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from asof.model import Hop
from asof.text.links.css import css_links

Reference = tuple[str, Hop]

# Members of an enum are slow to look up, and pages are read by the thousand.
_LINK, _REQUISITE, _GUESS = Hop.LINK, Hop.REQUISITE, Hop.GUESS

# What an attribute holds, on the elements below or custom ones; from _HREF on, on any.
_PART, _SRCSET, _DATA, _HREF, _BACKGROUND, _STYLE, _PAINT, *_LATE = range(10)
_LAZY, _LAZY_SRCSET, _LAZY_HREF = _LATE
_KINDS: dict[str, int] = {
    "href": _HREF,
    "xlink:href": _HREF,
    "src": _PART,
    "poster": _PART,
    "lowsrc": _PART,
    "dynsrc": _PART,
    "srcset": _SRCSET,
    "imagesrcset": _SRCSET,
    # Where scripts find what they load late. Anybody's names, so the value must look right.
    "data-src": _LAZY,
    "data-lazy": _LAZY,
    "data-lazy-src": _LAZY,
    "data-original": _LAZY,
    "data-poster": _LAZY,
    "data-bg": _LAZY,
    "data-background": _LAZY,
    "data-background-image": _LAZY,
    "data-srcset": _LAZY_SRCSET,
    "data-lazy-srcset": _LAZY_SRCSET,
    "data-href": _LAZY_HREF,
    "data": _DATA,
    "background": _BACKGROUND,
    "style": _STYLE,
    # SVG presentation attributes hold CSS values: `fill="url(other.svg#id)"`.
    "fill": _PAINT,
    "stroke": _PAINT,
    "filter": _PAINT,
    "mask": _PAINT,
    "clip-path": _PAINT,
    "cursor": _PAINT,
    "marker-start": _PAINT,
    "marker-mid": _PAINT,
    "marker-end": _PAINT,
}
# What an href means; elements of SVG draw what they refer to. Custom elements are taken for links.
_HREFS: dict[str, Hop] = {"a": _LINK, "area": _LINK} | dict.fromkeys(
    [
        "image",
        "use",
        "script",
        "feimage",
        "pattern",
        "filter",
        "lineargradient",
        "radialgradient",
        "textpath",
        "mpath",
        "tref",
        "cursor",
    ],
    _REQUISITE,
)
_MOVIES = frozenset(("movie", "src", "url", "filename", "data"))

_PART_RELS = frozenset(
    [
        "stylesheet",
        "icon",
        "shortcut",
        "apple-touch-icon",
        "apple-touch-icon-precomposed",
        "apple-touch-startup-image",
        "mask-icon",
        "fluid-icon",
        "image_src",
        "preload",
        "modulepreload",
        "manifest",
    ]
)
_PAGE_RELS = frozenset(
    [
        "alternate",
        "canonical",
        "next",
        "prev",
        "previous",
        "first",
        "last",
        "up",
        "start",
        "contents",
        "index",
        "archives",
        "author",
        "help",
        "license",
        "sitemap",
        "amphtml",
    ]
)
_GUESS_RELS = frozenset(("prefetch", "prerender"))

_META_PARTS = frozenset(
    [
        "og:image",
        "og:image:url",
        "og:image:secure_url",
        "twitter:image",
        "twitter:image:src",
        "msapplication-tileimage",
    ]
)
_META_GUESSES = frozenset(("og:url", "twitter:url", "twitter:player"))

# Elements that show something by a URL of their own.
_SHOWING = frozenset(
    [
        *(
            "img",
            "image",
            "picture",
            "source",
            "video",
            "audio",
            "track",
            "input",
            "script",
            "link",
        ),
        *("iframe", "frame", "object", "embed", "param", "applet", "bgsound", "use"),
    ]
)
# Elements that may refer to something by other attributes than style and `data-...`.
ELEMENTS = _SHOWING | {"a", "area", "base", "meta", "form"}

_URL = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)")
# Descriptors run to the next comma that is not inside parentheses.
_DESCRIPTORS = re.compile(r"(?:\([^)]*+\)?|[^,(]++)*+")
# HTML, "shared declarative refresh steps": a time, then anything like a URL.
_REFRESH = re.compile(
    r"""[\t\n\f\r ]*+[\d.]*+(?:[\t\n\f\r ]*+[;,]|[\t\n\f\r ])[\t\n\f\r ]*+"""
    r"""(?:url[\t\n\f\r ]*+=[\t\n\f\r ]*+)?(["']?)""",
    re.IGNORECASE,
)
_LIKE_URL = re.compile(r"""(?=[^?#]*[/.])[^\s{}<>"'`\\^\[\]|]++""")


def element_links(
    name: str, attributes: Mapping[str, str], *, drawn: bool = False
) -> Iterator[Reference]:
    """The references of one element in the order of its attributes, as written.

    `drawn` says that it stands in SVG, where more attributes may refer to something.
    """
    known = name in _SHOWING or "-" in name
    for attribute, value in attributes.items():
        kind = _KINDS.get(attribute)
        if kind is None or (kind < _HREF and not known):
            continue
        if kind in (_PART, _BACKGROUND):
            yield value, _REQUISITE
        elif kind == _HREF:
            hop = _href_hop(name, attributes)
            if hop is not None:
                yield value, hop
        elif kind == _SRCSET:
            yield from ((url, _REQUISITE) for url in srcset(value))
        elif kind in (_STYLE, _PAINT):
            if "(" in value and (drawn or kind == _STYLE):
                yield from _of_css(value)
        else:
            yield from _lazy(name, kind, value)
    if name in _BY_OTHERS:
        yield from _BY_OTHERS[name](attributes)


def _href_hop(name: str, attributes: Mapping[str, str]) -> Hop | None:
    if name == "link":
        return rel_hop(attributes.get("rel", ""))
    return _HREFS.get(name) or (_LINK if "-" in name else None)


@lru_cache(maxsize=1024)
def rel_hop(relations: str) -> Hop | None:
    """What a `rel` says of its target (HTML and RFC 8288 share the names); None: leave it alone."""
    names = relations.lower().split()
    for known, hop in (
        (_PART_RELS, _REQUISITE),
        (_PAGE_RELS, _LINK),
        (_GUESS_RELS, _GUESS),
    ):
        if not known.isdisjoint(names):
            # `alternate stylesheet` is a part, as the order here says.
            return hop
    return None


def srcset(value: str) -> Iterator[str]:
    """The URLs of a srcset attribute (HTML, "parse a srcset attribute")."""
    position = 0
    while (match := _URL.match(value, position)) is not None:
        # A URL that ends in commas has no descriptors: the commas end the candidate.
        url = match[1].rstrip(",")
        end = match.start(1) + len(url)
        rest = _DESCRIPTORS.match(value, end) if end == match.end() else None
        position = rest.end() if rest else match.end()
        if url:
            yield url


def refresh_target(value: str) -> str:
    """The reference in a refresh, as written; empty when it only means the same page again."""
    start = _REFRESH.match(value)
    if start is None:
        return ""
    rest = value[start.end() :]
    return rest.partition(start[1])[0] if start[1] else rest


def _of_css(value: str) -> Iterator[Reference]:
    return ((link.reference, link.hop) for link in css_links(value))


def _of_meta(attributes: Mapping[str, str]) -> Iterator[Reference]:
    content = attributes.get("content", "")
    if attributes.get("http-equiv", "").strip().lower() == "refresh":
        yield refresh_target(content), _LINK
        return
    name = (attributes.get("property") or attributes.get("name") or "").strip().lower()
    if name in _META_PARTS:
        yield content, _REQUISITE
    elif name in _META_GUESSES:
        yield content, _GUESS


def _of_form(attributes: Mapping[str, str]) -> Iterator[Reference]:
    """A form that asks by GET leads to a page, which may say something without any answers."""
    if attributes.get("method", "get").strip().lower() in ("", "get"):
        # The answers would replace the query (HTML, "mutate action URL").
        yield attributes.get("action", "").partition("#")[0].partition("?")[0], _GUESS


def _of_param(attributes: Mapping[str, str]) -> Iterator[Reference]:
    if attributes.get("name", "").lower() in _MOVIES:
        yield from _if_like_url(attributes.get("value", ""), _REQUISITE)


_BY_OTHERS = {"meta": _of_meta, "form": _of_form, "param": _of_param}


def _lazy(name: str, kind: int, value: str) -> Iterator[Reference]:
    if kind == _DATA:
        if name == "object":
            yield value, _REQUISITE
    elif kind == _LAZY_HREF:
        # A style sheet that a script switches on, or a row of a table that can be clicked.
        yield from _if_like_url(value, _REQUISITE if name in ("link", "use") else _LINK)
    elif kind == _LAZY_SRCSET:
        for url in srcset(value):
            yield from _if_like_url(url, _REQUISITE)
    elif "url(" in value:
        yield from _of_css(value)
    else:
        yield from _if_like_url(value, _REQUISITE)


def _if_like_url(value: str, hop: Hop) -> Iterator[Reference]:
    value = value.strip()
    if _LIKE_URL.fullmatch(value):
        yield value, hop
