"""What the elements of HTML and SVG refer to, and whether that leads on or belongs to the page.

Pure tables and small functions: an element's name and its attributes in, references out. `links`
follows them, `replay` leads them into the archive; both find here what they are.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from asof.model import Hop
from asof.text.links.attribute_values import Reference, refresh, srcset
from asof.text.links.css import css_references
from asof.text.markup import WS, names

# Members of an enum are slow to look up, and pages are read by the thousand.
_LINK, _REQUISITE, _GUESS = Hop.LINK, Hop.REQUISITE, Hop.GUESS

# How an attribute holds what it refers to. A mention names something that no browser loads or leads
# to; late ones are for scripts, by names that are anybody's, so that the value must look right.
URL, SRCSET, CSS, REFRESH, MENTION, LATE, LATE_SRCSET = range(7)
# Attribute, form, and what a crawl does with it; None: nothing, but a replay leads it home.
Use = tuple[str, int, Hop | None]

# Whose elements are named below or custom ones, or a crawl leaves it alone.
_PARTS = {
    **dict.fromkeys(("src", "poster", "lowsrc", "dynsrc"), URL),
    **dict.fromkeys(("srcset", "imagesrcset"), SRCSET),
}
# On any element.
_ANYWHERE = {
    "background": URL,
    "style": CSS,
    **dict.fromkeys(("data-src", "data-lazy", "data-lazy-src", "data-original"), LATE),
    **dict.fromkeys(("data-poster", "data-bg", "data-background", "data-background-image"), LATE),
    **dict.fromkeys(("data-srcset", "data-lazy-srcset"), LATE_SRCSET),
}
# SVG presentation attributes hold CSS values: `fill="url(other.svg#id)"`.
_PAINTS = names("fill stroke filter mask clip-path cursor marker-start marker-mid marker-end")
_HREFS = frozenset(("href", "xlink:href"))
# What no crawl follows, on these elements.
_QUIET: dict[str, frozenset[str]] = {
    "formaction": frozenset(("button", "input")),
    "cite": frozenset(("blockquote", "q", "ins", "del")),
    "codebase": frozenset(("object", "applet")),
    "to": frozenset(("set", "animate")),
    "from": frozenset(("animate",)),
    "values": frozenset(("animate",)),  # several are taken for one, which leads to none of them
}
NAMES = names("longdesc data data-href action content value").union(
    _PARTS, _ANYWHERE, _PAINTS, _HREFS, _QUIET
)

# What an href means; elements of SVG draw what they refer to. Custom elements are taken for links.
_DRAWN = names(
    "image use script feimage pattern filter lineargradient radialgradient textpath mpath tref"
    " cursor"
)
_HREF_HOPS: dict[str, Hop] = {"a": _LINK, "area": _LINK} | dict.fromkeys(_DRAWN, _REQUISITE)
_MOVIES = names("movie src url filename data")

_PART_RELS = names(
    "stylesheet icon shortcut apple-touch-icon mask-icon fluid-icon apple-touch-icon-precomposed"
    " apple-touch-startup-image image_src preload modulepreload manifest"
)
_LINK_RELS = names(
    "alternate canonical next prev previous first last up start contents index archives author help"
    " license sitemap amphtml"
)
# In this order: `alternate stylesheet` is a part.
_RELS: tuple[tuple[frozenset[str], Hop], ...] = (
    (_PART_RELS, _REQUISITE),
    (_LINK_RELS, _LINK),
    (names("prefetch prerender"), _GUESS),
)
_PICTURES = names(
    "og:image og:image:url og:image:secure_url twitter:image twitter:image:src"
    " msapplication-tileimage"
)
_ADDRESSES = names("og:url twitter:url twitter:player")
_METAS: dict[str, Hop] = dict.fromkeys(_PICTURES, _REQUISITE) | dict.fromkeys(_ADDRESSES, _GUESS)

# Elements that show something by a URL of their own.
_SHOWING = names(
    "img image picture source video audio track input script link iframe frame object embed param"
    " applet bgsound use"
)
# Elements that may refer to something by other attributes than style and `data-...`.
ELEMENTS = _SHOWING | {"a", "area", "base", "meta", "form"}
_LIKE_URL = re.compile(r"""(?=[^?#]*[/.])[^\s{}<>"'`\\^\[\]|]++""")


def uses(name: str, attributes: Mapping[str, str], *, drawn: bool = False) -> Iterator[Use]:
    """What an element refers to by its attributes, in their order.

    `drawn` says that it stands in SVG, where more attributes may refer to something.
    """
    if name == "meta":
        yield from _of_meta(attributes)
    for attribute, value in attributes.items():
        if attribute not in NAMES:
            continue
        if attribute in _HREFS:
            yield _href(attribute, name, attributes)
        elif attribute in _PARTS:
            known = name in _SHOWING or "-" in name
            yield attribute, _PARTS[attribute], _REQUISITE if known else None
        elif attribute in _ANYWHERE:
            yield attribute, _ANYWHERE[attribute], _REQUISITE
        elif attribute in _PAINTS:
            if drawn and "(" in value:
                yield attribute, CSS, _REQUISITE
        else:
            yield from _of_some(attribute, name, attributes)


def references(form: int, value: str) -> Iterable[Reference]:
    if form in (URL, MENTION):
        return (Reference(0, len(value), value),)
    if form == CSS or (form == LATE and "url(" in value):
        return css_references(value) if "(" in value else ()
    if form == REFRESH:
        return refresh(value)
    if form == SRCSET:
        return srcset(value)
    found = srcset(value) if form == LATE_SRCSET else _stripped(value)
    return (each for each in found if _LIKE_URL.fullmatch(each.url))


def element_links(
    name: str, attributes: Mapping[str, str], *, drawn: bool = False
) -> Iterator[tuple[str, Hop]]:
    """The references of one element that a crawl may follow, as written."""
    for attribute, form, hop in uses(name, attributes, drawn=drawn):
        if hop is None:
            continue
        value = attributes[attribute]
        if attribute == "action":
            # The answers would replace the query (HTML, "mutate action URL").
            yield value.partition("#")[0].partition("?")[0], hop
        elif form == URL:
            yield value, hop
        else:
            for found in references(form, value):
                yield found.url, hop


@lru_cache(maxsize=1024)
def rel_hop(relations: str) -> Hop | None:
    """What a `rel` says of its target (HTML and RFC 8288 share the names); None: leave it alone."""
    names = relations.lower().split()
    return next((hop for known, hop in _RELS if not known.isdisjoint(names)), None)


def pragma(attributes: Mapping[str, str]) -> str:
    """What a meta element stands for a header of HTTP by."""
    return attributes.get("http-equiv", "").strip(WS).lower()


def _href(attribute: str, name: str, attributes: Mapping[str, str]) -> Use:
    if name == "link":
        rel = attributes.get("rel", "")
        return attribute, MENTION if rel.lower() == "canonical" else URL, rel_hop(rel)
    return attribute, URL, _HREF_HOPS.get(name) or (_LINK if "-" in name else None)


def _of_some(attribute: str, name: str, attributes: Mapping[str, str]) -> Iterator[Use]:
    """By attributes that refer to something on some elements, or only when others say so."""
    if attribute == "longdesc" or name in _QUIET.get(attribute, ()):
        # An SVG animation matters only when it changes where a link leads.
        moved = attributes.get("attributename", "").lower()
        if name not in ("set", "animate") or moved in _HREFS:
            yield attribute, URL, None
    elif attribute == "data-href":
        # A style sheet that a script switches on, or a row of a table that can be clicked.
        yield attribute, LATE, _REQUISITE if name in ("link", "use") else _LINK
    elif attribute == "data" and name == "object":
        yield attribute, URL, _REQUISITE
    elif attribute == "action" and name == "form":
        # What asks by GET leads to a page, which may say something without any answers.
        asks = attributes.get("method", "get").strip().lower() in ("", "get")
        yield attribute, URL, _GUESS if asks else None
    elif (attribute, name) == ("value", "param") and attributes.get("name", "").lower() in _MOVIES:
        yield attribute, LATE, _REQUISITE


def _of_meta(attributes: Mapping[str, str]) -> Iterator[Use]:
    if "content" not in attributes:
        return
    if pragma(attributes) == "refresh":
        yield "content", REFRESH, _LINK
        return
    name = (attributes.get("property") or attributes.get("name") or "").strip().lower()
    if name in _METAS:
        yield "content", MENTION, _METAS[name]


def _stripped(value: str) -> Iterator[Reference]:
    url = value.strip()
    if url:
        start = value.index(url)
        yield Reference(start, start + len(url), url)
