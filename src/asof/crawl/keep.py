"""Keeping what came: records into the journal, and out of them what the crawl needs to go on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from asof.archive import Archive
from asof.archive.journal import Journal
from asof.catalog.derive import content_digest
from asof.crawl.discover import MAX_DOCUMENT, is_searched, references
from asof.crawl.gate import MAX_REDIRECTS
from asof.fetch.entity import decode
from asof.model import Capture, Exchange, Failure, Headers, Hop, Target
from asof.scope.robots import Robots, robots_from
from asof.text.links import Links
from asof.warc.build import exchange_records, failure_record

_NO_LINKS = Links(None, ())


@dataclass(frozen=True, slots=True)
class Kept:
    """What a stored response means for the crawl. `document` is empty unless it is searched."""

    links: Links = _NO_LINKS
    redirect: str | None = None
    document: bytes = b""


class Keeper:
    """Stores outcomes of one crawl and reads stored ones back."""

    def __init__(self, archive: Archive, journal: Journal, crawl: str) -> None:
        self._archive = archive
        self._journal = journal
        self._crawl = crawl

    def exchange(self, exchange: Exchange, target: Target) -> Kept:
        """Store a response; as a revisit when the URL's last capture had the same content."""
        try:
            records = exchange_records(exchange, target=target, refers_to=self._same_as(exchange))
            captures = self._journal.write(records)
            capture = captures[0]
            chunks = exchange.body.chunks()
            return read_document(capture, target, exchange.headers, chunks)
        finally:
            exchange.body.discard()

    def failure(self, failure: Failure, target: Target) -> None:
        """Store that a fetch brought nothing, and why."""
        self._journal.write([failure_record(failure, target)])

    def _same_as(self, exchange: Exchange) -> Capture | None:
        """The capture whose payload this response repeats, if the archive has one for its URL."""
        if exchange.status != 200 or exchange.truncated:
            return None
        earlier = self._archive.catalog.as_of(exchange.url, exchange.started)
        if earlier is not None and earlier.kind == "revisit":
            earlier = self._archive.catalog.resolve(earlier)
        if earlier is None or earlier.content is None or earlier.truncated or earlier.status != 200:
            return None
        same = content_digest(exchange.headers, exchange.body.chunks()) == earlier.content
        return earlier if same else None

    def kept_robots(self, url: str) -> Robots | None:
        """The robots.txt that this crawl has stored already, so that a resumed one need not ask."""
        for _ in range(MAX_REDIRECTS + 1):
            captures = list(self._archive.catalog.captures(url=url, crawl=self._crawl))
            if not captures:
                return None
            last = captures[-1]
            if last.redirect is None:
                memento = self._archive.read(last)
                return robots_from(memento.status or 200, b"".join(memento.payload(MAX_DOCUMENT)))
            url = last.redirect
        return None

    def stored(self, capture: Capture, target: Target) -> Kept:
        """What a response that is already in the archive means for the crawl."""
        memento = self._archive.read(capture)
        return read_document(capture, target, (), memento.payload(MAX_DOCUMENT))


def read_document(
    capture: Capture, target: Target, coding: Headers, chunks: Iterable[bytes]
) -> Kept:
    """Search a document for what it leads to; `coding` are the headers it must be decoded by."""
    searched = is_searched(capture.media_type) or Hop.ROBOTS.value in target.hops
    if not searched or capture.size > MAX_DOCUMENT:
        return Kept(redirect=capture.redirect)
    document = b"".join(decode(coding, chunks, limit=MAX_DOCUMENT))
    return Kept(references(capture.media_type, document), capture.redirect, document)
