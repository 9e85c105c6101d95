"""Sitemaps (sitemaps.org): which pages a site says it has, when they changed, how it ranks them.

All forms of the protocol are read: `urlset` and `sitemapindex`, gzipped or not, plain text with one
URL a line, and feeds in the place of sitemaps. Broken files are read as far as they can be; nothing
is raised for any bytes. What a sitemap claims is a hint: its dates are not evidence of anything.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from asof.clock import Instant
from asof.http.inflate import BROKEN, DECODERS, Cut
from asof.scope.robots import records
from asof.text.links.feeds import is_feed, read_date, read_feed
from asof.text.links.xml_stream import XmlElement, attributes_of, decode, elements, root_of
from asof.text.markup import names

# The limits of the protocol, for each file.
MAX_ENTRIES = 50_000
MAX_BYTES = 50 << 20
# Indexes of indexes: the protocol knows one level, some sites have two, a trap has any number.
MAX_NESTING = 3
# A robots.txt of half a megabyte could name ten thousand.
_MOST_IN_ROBOTS = 1_000

_ROOTS = frozenset(("urlset", "sitemapindex"))
_RECORDS = frozenset(("url", "sitemap"))
_FIELDS = frozenset(("loc", "lastmod", "changefreq", "priority"))
# Google's extensions: what a listed page shows. A player is a frame of it.
_MEDIA = {"image": names("loc"), "video": names("thumbnail_loc content_loc player_loc")}
_LEAVES = _FIELDS.union(*_MEDIA.values())
_GZIP = b"\x1f\x8b"
_PIECE = 1 << 18
_HEAD = 4096
_CHANGES = frozenset(("always", "hourly", "daily", "weekly", "monthly", "yearly", "never"))
_LINE = re.compile(r"https?://\S+", re.IGNORECASE)
_NAMED = re.compile(r"site-?_?map|urllist", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """A page that a sitemap lists, with what it says about it."""

    url: str
    lastmod: Instant | None = None
    changefreq: str | None = None
    priority: float | None = None


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The pages of a sitemap and what they show, or the sitemaps of an index; URLs as written."""

    entries: tuple[SitemapEntry, ...] = ()
    sitemaps: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    media: tuple[str, ...] = ()


def sitemaps_of(robots_body: bytes) -> tuple[str, ...]:
    """The sitemaps that a robots.txt names, for all user agents (RFC 9309 section 2.2.4)."""
    lines = records(robots_body)
    found = dict.fromkeys(value.split()[0] for kind, value in lines if kind == "sitemap" and value)
    return tuple(found)[:_MOST_IN_ROBOTS]


def is_sitemap(url: str, media_type: str | None, head: bytes) -> bool:
    """Whether a document is a sitemap, by its beginning; by its name, too, where that is vague."""
    name = url.partition("?")[0].rpartition("/")[2]
    if head.startswith(_GZIP):
        return _NAMED.search(name) is not None or name.endswith(".xml.gz")
    if root_of(head) in _ROOTS:
        return True
    if media_type != "text/plain":
        return False
    lines = decode(head[:_HEAD]).split("\n")
    whole = [line.strip() for line in (lines[:-1] if len(head) >= _HEAD else lines)]
    urls = [line for line in whole if line]
    if not urls or not all(_LINE.fullmatch(line) for line in urls):
        return False
    return len(urls) > 1 or _NAMED.search(name) is not None


def read_sitemap(data: bytes, *, charset: str | None = None) -> Sitemap:
    """A sitemap of any form, at most 50,000 entries and 50 MB of it."""
    reading = _Reading()
    if data.startswith(_GZIP):
        chunks: Iterator[bytes] = _unpacked(data, reading.problems)
    else:
        chunks = (data[at : at + _PIECE] for at in range(0, min(len(data), MAX_BYTES), _PIECE))
        if len(data) > MAX_BYTES:
            reading.problems.append("more than 50 MB")
    first = next(chunks, b"")
    root = root_of(first)
    if root is None and b"<" not in first[:_HEAD]:
        reading.add_all(_listed(decode(b"".join((first, *chunks)), charset)))
    elif is_feed(None, first[:_HEAD]):
        feed = read_feed(b"".join((first, *chunks)), charset=charset)
        reading.problems.extend(feed.problems)
        reading.media.update(dict.fromkeys(feed.media))
        reading.add_all(SitemapEntry(it.url, it.updated or it.published) for it in feed.items)
    elif root == "html":
        reading.problems.append("a web page")
    else:
        reading.read(chain((first,), chunks), charset)
    return reading.sitemap()


def _unpacked(data: bytes, problems: list[str]) -> Iterator[bytes]:
    """The members of a gzip file in pieces, at most MAX_BYTES in all, up to where it is broken."""
    room = MAX_BYTES
    try:
        for piece in filter(None, DECODERS["gzip"][0]((data,))):
            yield piece[:room]
            room -= len(piece)
            if room < 0:
                problems.append("more than 50 MB")
                return
    except Cut:
        problems.append("cut")
    except BROKEN:
        problems.append("broken gzip")


def _listed(text: str) -> Iterator[SitemapEntry]:
    for line in text.splitlines():
        url = line.strip()
        if _LINE.fullmatch(url):
            yield SitemapEntry(url)


@dataclass(slots=True)
class _Reading:
    """What has been seen of a sitemap so far, and the fields of the record that is open."""

    entries: list[SitemapEntry] = field(default_factory=list)
    sitemaps: dict[str, None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    media: dict[str, None] = field(default_factory=dict)
    _fields: dict[str, str] = field(default_factory=dict)
    _alternates: list[str] = field(default_factory=list)

    def sitemap(self) -> Sitemap:
        problems, media = tuple(self.problems), tuple(self.media)
        return Sitemap(tuple(self.entries), tuple(self.sitemaps), problems, media)

    def add_all(self, entries: Iterable[SitemapEntry]) -> bool:
        """Take entries; False when there is room for no more."""
        for entry in entries:
            if len(self.entries) >= MAX_ENTRIES:
                self.problems.append(f"more than {MAX_ENTRIES} entries")
                return False
            self.entries.append(entry)
        return True

    def read(self, chunks: Iterator[bytes], charset: str | None) -> None:
        for element in elements(chunks, records=_RECORDS, leaves=_LEAVES, charset=charset):
            if element.parent in _RECORDS:
                self._field(element)
            elif element.name in _MEDIA.get(element.parent, ()):
                if element.text and len(self.media) < MAX_ENTRIES:
                    self.media[element.text] = None
            elif element.name in _RECORDS and not self._flush(element.name):
                return

    def _field(self, element: XmlElement) -> None:
        if element.name in _FIELDS:
            self._fields.setdefault(element.name, element.text)
        elif element.name == "link":  # xhtml:link: the same page in another language
            href = attributes_of(element.attributes).get("href", "").strip()
            if href and len(self._alternates) < MAX_ENTRIES:
                self._alternates.append(href)

    def _flush(self, name: str) -> bool:
        fields, alternates = self._fields, self._alternates
        self._fields, self._alternates = {}, []
        url = fields.get("loc", "")
        if name == "sitemap":
            if url and len(self.sitemaps) < MAX_ENTRIES:
                self.sitemaps[url] = None
            return True
        if not url:
            return True
        often = fields.get("changefreq", "").lower()
        entry = SitemapEntry(
            url,
            read_date(fields.get("lastmod", "")),
            often if often in _CHANGES else None,
            _rank(fields.get("priority", "")),
        )
        others = (SitemapEntry(each) for each in dict.fromkeys(alternates) if each != url)
        return self.add_all(chain((entry,), others))


def _rank(text: str) -> float | None:
    """A priority from 0 to 1; some write a comma."""
    try:
        rank = float(text.replace(",", "."))
    except ValueError:
        return None
    return rank if 0.0 <= rank <= 1.0 else None
