"""From a stored document to the targets it leads to. Pure: bytes in, targets out.

How deep a target is, and when its turn comes (lower is sooner):

| found as                     | depth                        | priority                          |
|------------------------------|------------------------------|-----------------------------------|
| link                         | one deeper                   | its depth: breadth first          |
| requisite                    | that of its page             | half a step before pages as deep  |
| requisite of a listed page   | that of the listing          | half a step before that page      |
| redirect                     | that of what redirects       | the same                          |
| sitemap, feed (the document) | that of what names it        | a quarter of a step later         |
| entry of a sitemap, item     | as the links of a page there | its depth, moved a little by rank |
| guess                        | one deeper                   | its depth, after all the others   |

A sitemap or feed that was come upon by an ordinary link has cost a step already, which its entries
get back: they are as deep as the links of the page that linked to it.
"""

import re
from collections.abc import Iterator
from itertools import chain

from asof.model import Headers, Hop, Target, find_header
from asof.scope.traps import TOO_LONG
from asof.text.encoding.charset import charset_of, decoded
from asof.text.encoding.prescan import declared_label
from asof.text.kinds.media import PAGES, media_of
from asof.text.links.css import css_links
from asof.text.links.feeds import is_feed, read_feed
from asof.text.links.html_links import html_links
from asof.text.links.jsonld import jsonld_links
from asof.text.links.link import OF_LISTED, Link, Links
from asof.text.links.link_header import header_links
from asof.text.links.pdf_links import pdf_links
from asof.text.links.scripts import MAX_GUESSES, module_imports, script_links
from asof.text.links.sitemaps import MAX_NESTING, is_sitemap, read_sitemap
from asof.text.links.xml_stream import attributes_of, decode, root_of
from asof.url import resolve, unknown
from asof.url.whatwg import MAX_LENGTH

# A document larger than this is kept, but not searched for links.
MAX_DOCUMENT = 32 << 20
# Pages of one feed that are followed: `?page=2` may go on for ever.
MAX_FEED_PAGES = 50

_REQUISITE_STEP = -0.5
_LISTING_STEP = 0.25
# How far a sitemap's own ranking (0 to 1, 0.5 when it says none) moves an entry either way.
_RANK_STEP = 0.1

_SCRIPTS = frozenset(
    ("text/javascript", "application/javascript", "application/x-javascript",
     "application/ecmascript", "text/ecmascript")
)  # fmt: skip
_JSON = frozenset(("application/json", "text/json"))
_XML = frozenset(("application/xml", "text/xml"))
_PACKED = frozenset(("application/gzip", "application/x-gzip", "application/octet-stream"))
_SEARCHED = PAGES | _SCRIPTS | _JSON | _XML | {"text/css", "application/pdf", "text/plain"}
# How XML begins that is served as HTML: old pages do, and feeds of careless servers.
_LIKE_XML = (
    b"<?xml", b"<rss", b"<feed", b"<rdf:RDF", b"<urlset", b"<sitemap",
)  # fmt: skip
_BLANK = b"\xef\xbb\xbf\t\n\f\r "
_HEAD = 4096
_STYLE_SHEET = re.compile(r"<\?xml-stylesheet\s([^<>]{1,1000}?)\?>")

_DEEPER = frozenset((Hop.LINK, Hop.SITEMAP, Hop.FEED, Hop.GUESS))
# The ways to a sitemap or feed that have cost a step of depth.
_PAID = (Hop.LINK.value, Hop.GUESS.value)
_SHOWN = 200
NO_LINKS = Links(None, ())


def is_searched(media_type: str | None, url: str = "") -> bool:
    """Whether documents of this type are searched for links; packed ones if named like sitemaps.

    One without a type has to be looked at: browsers show such pages, and so does replay.
    """
    if media_type is None or media_type in _SEARCHED or media_type.endswith(("+xml", "+json")):
        return True
    return media_type in _PACKED and url.partition("?")[0].endswith(".gz")


def references(
    media_type: str | None, document: bytes, *, url: str = "", headers: Headers = ()
) -> Links:
    """The references of a document by its media type, and those of its headers."""
    charset = declared_label(find_header(headers, "Content-Type") or "")
    return _references(media_type, document, charset, url).after(tuple(header_links(headers)))


def follow(target: Target, reference: str, hop: Hop) -> Target | None:
    """The target that a reference found at `target` means, or None when it means none."""
    url = resolve(target.url, reference)
    return None if url is None else _onward(target, url, hop, target.depth)


def found_in(
    target: Target, links: Links, known: dict[str, None] | None = None
) -> Iterator[Target]:
    """The distinct targets a document leads to, in document order, but for URLs that are known."""
    base = target.url if links.base is None else resolve(target.url, links.base) or target.url
    level = target.depth
    if links.listing and target.hops.rstrip(Hop.REDIRECT)[-1:] in _PAID:
        level = max(0, level - 1)
    seen: set[tuple[str, Hop]] = set()
    known = known or {}
    early = unknown(target.url, links.early, known) if links.early else ()
    for url, (_, hop, hint, listing) in chain(early, unknown(base, links.found, known)):
        key = (url, hop)
        if url == target.url or key in seen:
            continue
        seen.add(key)
        if listing and not _may_list(target, hop):
            continue
        yield _onward(target, url, hop, level, hint, listing)


def overlong(target: Target, links: Links, location: str | None = None) -> list[tuple[Target, str]]:
    """What is too long to be a URL at all, with the reason, for the report of what was left."""
    every = (*links.early, *links.found)
    found = [(link.reference, link.hop) for link in every if len(link[0]) > MAX_LENGTH]
    if location is not None and len(location) > MAX_LENGTH:
        found.append((location, Hop.REDIRECT))
    # The beginning tells people where it led; the length tells it from others.
    shown = (follow(target, f"{r[:_SHOWN]}...{len(r)}-characters", hop) for r, hop in found)
    return [(left, TOO_LONG) for left in shown if left is not None]


def _onward(
    target: Target, url: str, hop: Hop, level: int, hint: float = 0.0, listing: bool = False
) -> Target:
    """`listing` says that the URL is a sitemap or another page of a feed."""
    path = target.hops
    if hop is Hop.SITEMAP and path.startswith(Hop.ROBOTS):
        # As near as the front page: what it lists is as deep as the links there.
        path, listing = "", True
    if hop is Hop.REDIRECT:
        return Target(url, level, target.url, path + hop.value, target.priority, guess=target.guess)
    if hop is Hop.REQUISITE:
        return Target(url, level, target.url, path + hop.value, level + _REQUISITE_STEP + hint)
    if listing:
        return Target(url, level, target.url, path + hop.value, level + _LISTING_STEP)
    depth = level + (hop in _DEEPER)
    guess = hop is Hop.GUESS
    return Target(url, depth, target.url, path + hop.value, depth + hint, guess=guess)


def _may_list(target: Target, hop: Hop) -> bool:
    """Whether the chain of sitemaps or of pages of a feed may go on; it costs no depth."""
    path = target.hops.replace(Hop.REDIRECT, "")
    length = len(path) - len(path.rstrip(hop))
    return length < (MAX_NESTING if hop is Hop.SITEMAP else MAX_FEED_PAGES)


def _references(media_type: str | None, document: bytes, charset: str | None, url: str) -> Links:
    if media_type == "text/html" and not document[:64].lstrip(_BLANK).startswith(_LIKE_XML):
        return html_links(document, charset)
    if media_type is None:
        return _references(media_of(document, None, url), document, charset, url)
    if not is_searched(media_type, url):
        return NO_LINKS
    if media_type in PAGES or media_type.endswith("xml"):
        return _from_xml(media_type, document, charset)
    if media_type == "text/css":
        text = decoded(document, charset_of(document, charset, sheet=True))
        return Links(None, tuple(css_links(text)))
    if media_type == "application/pdf":
        return Links(None, tuple(pdf_links(document)))
    if media_type == "text/plain" or media_type in _PACKED:
        listed = is_sitemap(url, media_type, document[:_HEAD])
        return _from_sitemap(document, charset) if listed else NO_LINKS
    return _from_script(media_type, document, charset)


def _from_xml(media_type: str, document: bytes, charset: str | None) -> Links:
    """By the root element: sitemaps, feeds, SVG, XHTML; of others, what they are shown with."""
    head = document[:_HEAD]
    root = root_of(head)
    links = NO_LINKS
    if root in ("urlset", "sitemapindex"):
        links = _from_sitemap(document, charset)
    elif is_feed(media_type, head):
        links = _from_feed(media_type, document, charset)
    elif root in ("html", "svg") or media_type in PAGES:
        links = html_links(document, charset, xml=media_type != "text/html")
    sheets = (attributes_of(match[1]) for match in _STYLE_SHEET.finditer(decode(head)))
    shown = tuple(Link(sheet["href"], Hop.REQUISITE) for sheet in sheets if sheet.get("href"))
    return links.after(shown)


def _from_sitemap(document: bytes, charset: str | None) -> Links:
    sitemap = read_sitemap(document, charset=charset)
    found = [Link(url, Hop.SITEMAP, listing=True) for url in sitemap.sitemaps]
    for entry in sitemap.entries:
        rank = 0.5 if entry.priority is None else entry.priority
        found.append(Link(entry.url, Hop.SITEMAP, (0.5 - rank) * _RANK_STEP))
    found += (Link(url, Hop.REQUISITE, OF_LISTED) for url in sitemap.media)
    return Links(None, tuple(found), listing=True)


def _from_feed(media_type: str, document: bytes, charset: str | None) -> Links:
    feed = read_feed(document, media_type, charset=charset)
    found = [Link(item.url, Hop.FEED) for item in feed.items]
    found += (Link(url, Hop.FEED, listing=True) for url in feed.pages)
    found += (Link(url, Hop.FEED) for url in feed.comments)
    found += (Link(url, Hop.REQUISITE, OF_LISTED) for url in feed.media)
    if feed.home is not None:
        found.append(Link(feed.home, Hop.LINK))
    return Links(None, tuple(found), listing=True)


def _from_script(media_type: str, document: bytes, charset: str | None) -> Links:
    if media_type not in _SCRIPTS and is_feed("application/json", document[:_HEAD]):
        return _from_feed(media_type, document, charset)
    text = decode(document, charset)
    if media_type == "application/ld+json":
        return Links(None, tuple(jsonld_links(text, MAX_GUESSES)))
    return Links(None, (*module_imports(text), *script_links(text)))
