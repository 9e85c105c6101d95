"""Feeds: RSS 0.9 to 2.0, Atom and JSON Feed. Their items lead to pages, with dates.

Broken feeds are read as far as they can be; nothing is raised for any bytes.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from asof.clock import Instant, parse_http_date, parse_iso
from asof.text.links.xml_stream import XmlElement, attributes_of, decode, elements, root_of
from asof.text.markup import names
from asof.url import resolve

MAX_ITEMS = 10_000
_LONGEST_DATE = 80
# JSON takes ten times its size in memory.
_MAX_JSON = 8 << 20

_ROOTS = frozenset(("rss", "feed", "rdf"))
_JSON_FEED = re.compile(rb'"version"\s*:\s*"https?:\\?/\\?/(?:www\.)?jsonfeed\.org\\?/version')
_RSS_IN_RDF = re.compile(rb"purl\.org/(?:rss|net/rss)|my\.netscape\.com/(?:rdf|publish)")

_RECORDS = frozenset(("item", "entry"))
_PUBLISHED = frozenset(("pubdate", "published", "issued", "created", "date"))
_UPDATED = frozenset(("updated", "modified"))
# What is shown with an item or a feed: by an attribute (Media RSS, iTunes), or as text.
_MEDIA = names("content enclosure image player thumbnail")
_PICTURES = names("icon logo")
_LEAVES = _PUBLISHED | _UPDATED | _PICTURES | names("link guid id url comments commentrss")
_CHANNELS = frozenset(("channel", "feed", "rdf", "rss"))
_PAGE_RELS = names("next prev previous first last prev-archive next-archive current")
_HTTP = re.compile(r"https?://\S+", re.IGNORECASE)
_ISO = re.compile(
    r"(\d{4}(?:-\d{2}(?:-\d{2})?)?)(?:[Tt ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?))?\s*(.*)"
)
_ZONE = re.compile(r"[Zz]|([+-]\d{2})(?::?(\d{2}))?|", re.ASCII)


@dataclass(frozen=True, slots=True)
class Item:
    """What a feed says about one page."""

    url: str
    published: Instant | None = None
    updated: Instant | None = None


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed. `pages` are the other pages of the same feed, and feeds of comments; `comments` are
    pages of them; `media` is what is shown with it: enclosures, players, pictures.

    URLs are as written, but for those with an xml:base of their own.
    """

    items: tuple[Item, ...] = ()
    home: str | None = None
    pages: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()


def is_feed(media_type: str | None, head: bytes) -> bool:
    """Whether a document is a feed, by the beginning of it; its type may say anything."""
    if media_type in ("application/json", "application/feed+json", "text/json"):
        return _JSON_FEED.search(head) is not None
    root = root_of(head)
    if root == "rdf":
        return _RSS_IN_RDF.search(head) is not None
    return root in _ROOTS


def read_feed(data: bytes, media_type: str | None = None, *, charset: str | None = None) -> Feed:
    begins = data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if begins == b"{" or (begins != b"<" and (media_type or "").endswith("json")):
        return _read_json(data)
    reading = _Reading()
    for element in elements([data], records=_RECORDS, leaves=_LEAVES, charset=charset):
        reading.see(element)
        if len(reading.items) >= MAX_ITEMS:
            reading.problems.append(f"more than {MAX_ITEMS} items")
            break
    return reading.feed()


def read_date(text: str) -> Instant | None:
    """A date as feeds and sitemaps have it: W3C (ISO 8601) of any precision, or RFC 822."""
    return _read_date(text.strip()[:_LONGEST_DATE]) if text else None


@lru_cache(maxsize=4096)  # many entries of a sitemap share a date
def _read_date(text: str) -> Instant | None:
    match = _ISO.fullmatch(text)
    if match is not None:
        date, time, rest = match.groups()
        zone = _ZONE.fullmatch(rest)
        if zone is None:
            return None
        offset = f"{zone[1]}:{zone[2] or '00'}" if zone[1] and time else ""
        whole, dot, fraction = (time or "").replace(",", ".").partition(".")
        clock = f"T{whole}{dot}{fraction[:9]}" if time else ""
        return parse_iso(f"{date}{clock}{offset}")
    try:
        return parse_http_date(text)
    except (ValueError, IndexError, OverflowError):  # email.utils trips over some odd texts
        return None


@dataclass(slots=True)
class _Reading:
    """What has been seen of a feed so far; the fields of the open item are flushed at its end."""

    items: list[Item] = field(default_factory=list)
    home: str | None = None
    pages: list[str] = field(default_factory=list)
    media: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    _url: str = ""
    _other: str = ""
    _published: Instant | None = None
    _updated: Instant | None = None

    def feed(self) -> Feed:
        found = (self.pages, self.media, self.problems, self.comments)
        return Feed(tuple(self.items), self.home, *(tuple(dict.fromkeys(each)) for each in found))

    def see(self, element: XmlElement) -> None:
        name, parent = element.name, element.parent
        if name in _RECORDS and parent not in _RECORDS:
            self._flush(element)
        elif name in _MEDIA:
            attributes = attributes_of(element.attributes)
            self._medium(
                next(filter(None, map(attributes.get, ("url", "src", "href"))), ""), element
            )
        elif (name == "url" and parent == "image") or (name in _PICTURES and parent in _CHANNELS):
            self._medium(element.text, element)
        elif parent in _RECORDS:
            self._field(element)
        elif name == "link" and parent in _CHANNELS:
            self._channel_link(element)

    def _field(self, element: XmlElement) -> None:
        name, text = element.name, element.text
        if name == "link":
            self._item_link(element)
        elif name in _PUBLISHED:
            self._published = self._published or read_date(text)
        elif name in _UPDATED:
            self._updated = self._updated or read_date(text)
        elif name == "guid":
            permanent = attributes_of(element.attributes).get("ispermalink", "true")
            if permanent.lower() != "false" and _HTTP.fullmatch(text):
                self._other = text
        elif name == "id":
            if _HTTP.fullmatch(text):
                self._other = text
        elif name == "commentrss":
            self._add(self.pages, text, element)
        elif name == "comments" and _HTTP.fullmatch(text):  # slash:comments is a number
            self._add(self.comments, text, element)

    def _item_link(self, element: XmlElement) -> None:
        attributes = attributes_of(element.attributes)
        href = attributes.get("href")
        if href is None:
            self._url = self._url or _joined(element.base, element.text)
            return
        rel = attributes.get("rel", "alternate").lower()
        if rel in _MEDIA:  # itunes:link has rel="image"
            self._medium(href, element)
        elif rel == "replies":  # RFC 4685
            is_feed = "xml" in attributes.get("type", "atom+xml")
            self._add(self.pages if is_feed else self.comments, href, element)
        elif rel == "alternate":
            self._url = self._url or _joined(element.base, href)

    def _channel_link(self, element: XmlElement) -> None:
        attributes = attributes_of(element.attributes)
        href = attributes.get("href")
        if href is None:
            self.home = self.home or _joined(element.base, element.text) or None
            return
        rel = attributes.get("rel", "alternate").lower()
        if rel in _PAGE_RELS:
            self.pages.append(_joined(element.base, href))
        elif rel in _MEDIA:
            self._medium(href, element)
        elif rel == "alternate" and "html" in attributes.get("type", "html"):
            self.home = self.home or _joined(element.base, href)

    def _medium(self, url: str, element: XmlElement) -> None:
        self._add(self.media, url, element)

    def _add(self, to: list[str], url: str, element: XmlElement) -> None:
        if url and len(to) < MAX_ITEMS:
            to.append(_joined(element.base, url))

    def _flush(self, element: XmlElement) -> None:
        url = self._url or self._other or _about(element.attributes)
        if url:
            self.items.append(Item(url, self._published, self._updated))
        self._url = self._other = ""
        self._published = self._updated = None


def _about(attributes: str) -> str:
    """The rdf:about of an item, whatever the prefix."""
    named = attributes_of(attributes).items() if "about" in attributes else ()
    return next((value for name, value in named if name.rpartition(":")[2] == "about"), "")


def _joined(base: str | None, reference: str) -> str:
    reference = reference.strip()
    return (resolve(base, reference) or reference) if base and reference else reference


def _read_json(data: bytes) -> Feed:
    """JSON Feed (version 1 and 1.1)."""
    if len(data) > _MAX_JSON:
        return Feed(problems=(f"more than {_MAX_JSON} bytes of JSON",))
    try:
        feed = json.loads(decode(data))
    except (ValueError, RecursionError):
        return Feed(problems=("not JSON",))
    if not isinstance(feed, dict):
        return Feed(problems=("not a feed",))
    rows = [row for row in _list(feed.get("items")) if isinstance(row, dict)]
    items = [item for item in map(_json_item, rows[:MAX_ITEMS]) if item is not None]
    media = [_str(feed.get("icon")), _str(feed.get("favicon"))]
    for row in rows[:MAX_ITEMS]:
        attached = [each for each in _list(row.get("attachments")) if isinstance(each, dict)]
        media += (_str(row.get("image")), _str(row.get("banner_image")))
        media += (_str(each.get("url")) for each in attached)
    following = _str(feed.get("next_url"))
    return Feed(
        tuple(items),
        _str(feed.get("home_page_url")) or None,
        (following,) if following else (),
        tuple(filter(None, dict.fromkeys(media))),
        (f"more than {MAX_ITEMS} items",) if len(rows) > MAX_ITEMS else (),
    )


def _json_item(row: dict[str, object]) -> Item | None:
    identifier = _str(row.get("id"))
    url = _str(row.get("url")) or (identifier if _HTTP.fullmatch(identifier) else "")
    if not url:
        return None
    published = read_date(_str(row.get("date_published")))
    return Item(url, published, read_date(_str(row.get("date_modified"))))


def _str(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _list(value: object) -> Iterator[object]:
    return iter(value) if isinstance(value, list) else iter(())
