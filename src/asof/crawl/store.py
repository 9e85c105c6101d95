"""Keeping what came: records into the journal, and out of them what the crawl needs to go on.

Nothing is stored twice: a payload that the archive has, under this URL or another, becomes a
revisit record; and where the last capture of a URL has validators, the server is asked whether they
still hold (RFC 9110 section 13), so that it need not send the payload at all.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import NamedTuple

from asof.archive import OpenArchive
from asof.archive.journal import Draft, Journal
from asof.catalog.captures import Catalog
from asof.catalog.derive import as_utf8, derive, record_uri
from asof.catalog.memento import Memento, memento
from asof.catalog.payloads import PayloadFilter
from asof.clock import Instant, http_date
from asof.config import Config
from asof.crawl.discover import MAX_DOCUMENT, NO_LINKS, is_searched, references
from asof.errors import AsofError
from asof.http.entity import decode
from asof.ledger import Ledger
from asof.model import Body, Capture, Exchange, Failure, Headers, Hop, Location, Target, find_header
from asof.scope.robots import MAX_REDIRECTS, Robots, robots_from
from asof.text.links.link import Links
from asof.url import host_of, resolve
from asof.warc.build import failure_record, is_revisit
from asof.warc.compose import new_record_id
from asof.warc.digest import digest_of, digest_text
from asof.warc.file_names import path_of
from asof.warc.reader import behind, block_chunks, read_record
from asof.warc.revisit import may_revisit

# Payloads of records that may not be committed yet, by digest; the database knows the others.
_FRESH = 4_096
# Of another URL's payload a revisit is made only from this size on: for a small one the reference
# takes the room that it spares. Measured on text, packed: a revisit 567 bytes; a response of 128
# bytes 550, of 256 bytes 640, of 1,024 bytes 1,069.
_WORTH_IT = 256
# Parts and confirmations are no payloads (RFC 9110 sections 15.3.7, 15.4.5).
_NO_PAYLOAD = (206, 304)
_CODINGS = ("content-encoding", "transfer-encoding")
_CODING_LENGTHS = frozenset(map(len, _CODINGS))


class _Fresh(NamedTuple):
    """A response on its way into the archive."""

    url: str
    at: Instant
    record_id: str
    status: int
    media_type: str
    redirect: str | None
    is_coded: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """What a stored response means for the crawl. `document` is empty unless it is searched."""

    links: Links = NO_LINKS
    redirect: str | None = None
    document: bytes = b""
    media_type: str | None = None
    revisit: bool = False


class CaptureStore:
    """Stores outcomes of one crawl and reads stored ones back, what is committed, through `reader`:
    a connection of its own to the archive's database, which never waits for a commit.
    """

    def __init__(
        self, archive: OpenArchive, journal: Journal, crawl: str, reader: Ledger, config: Config
    ) -> None:
        self._folder = archive.folder
        self._clock = archive.clock
        self._catalog = Catalog(reader, archive.folder.warc)
        self._journal = journal
        self._crawl = crawl
        self._user_agent = config.user_agent
        self.has_history = not self._catalog.is_empty()
        self._held = PayloadFilter(self._catalog.payloads)
        self._fresh: dict[bytes, _Fresh] = {}
        wanted = {Hop.SITEMAP: config.sitemaps, Hop.FEED: config.feeds, Hop.GUESS: config.guesses}
        self._unwanted = frozenset(hop for hop, is_wanted in wanted.items() if not is_wanted)

    def last(self, url: str) -> Capture | None:
        """The last whole capture of exactly this URL whose payload can be read."""
        if not self.has_history:
            return None
        earlier = self._catalog.as_of(url, self._clock.now())
        if earlier is None or earlier.url != url or earlier.truncated:
            return None
        seen = self._catalog.observation(earlier)
        source = seen.source
        if source is None or self._at(source.where, source.digest) is None:
            return None
        # A 304 stands for what it confirmed, and that is what this URL said: its payload may lie
        # under another one, whose validators are not for this one.
        last = seen.answer if seen.confirms else earlier
        if last is None or last.url != url:
            return None
        # Where a 304 could not be shown elsewhere, the server is asked for the bytes.
        is_alike = may_revisit(last.status, last.media_type, last.redirect, source)
        return last if is_alike else replace(last, etag=None, last_modified=None)

    def exchange(
        self,
        exchange: Exchange,
        target: Target,
        last: Capture | None = None,
        *,
        asked: bool = False,
    ) -> Kept:
        """Store a response: as a revisit when its payload is in the archive already.

        `asked` says that the server was asked whether the last capture still holds.
        """
        confirmed = asked and exchange.status == 304
        same = last if confirmed else self._same_payload(exchange, last)
        if same is not None:  # the catalog leaves out `urn:uuid:`, a record must not
            same = replace(same, record_id=record_uri(same.record_id))
        record_id = new_record_id()
        if confirmed and last is not None:
            self._journal.draft(Draft(exchange, target, record_id, same))
            return replace(self.stored(last, target), revisit=True)
        kept = self._read(exchange, target)
        if same is not None and is_revisit(exchange, same):
            exchange.body.discard()  # in no record, so nobody else would
            bare = replace(exchange, body=Body(0))
            self._journal.draft(Draft(bare, target, record_id, same))
            return replace(kept, revisit=True)
        self._journal.draft(Draft(exchange, target, record_id, same))
        self._remember(exchange, record_id)
        return kept

    def failure(self, failure: Failure, target: Target) -> None:
        self._journal.put(failure_record(failure, target))

    def _same_payload(self, exchange: Exchange, last: Capture | None) -> Capture | None:
        """The capture that has the payload of this response, if the archive has one."""
        if exchange.truncated or not exchange.body.size or exchange.status in _NO_PAYLOAD:
            return None
        payload = exchange.payload_digest
        if last is not None and last.digest == digest_text(payload):
            source = self._sound_source(last)
            if source is not None and _may_revisit(exchange, source):
                return last
        if exchange.body.size < _WORTH_IT or payload not in self._held:
            return None
        digest = digest_text(payload)
        if payload in self._fresh:
            found: Capture | None = _capture(digest, self._fresh[payload])
        else:
            place = self._catalog.payloads.find(digest)
            found = None if place is None else self._at(place, digest, proven=True)
        if found is None or not _may_revisit(exchange, found):
            return None
        # The same bytes may be a packed file here and a packed page there: two contents.
        return found if _is_coded(exchange.headers) == (found.content != digest) else None

    def _sound_source(self, capture: Capture) -> Capture | None:
        """What has the payload that a capture says it has: ours do, of others nobody knows."""
        source = self._catalog.observation(capture).source
        if source is None or source.crawl is not None:
            return source
        return self._at(source.where, source.digest, proven=True)

    def _at(self, place: Location, digest: str | None, *, proven: bool = False) -> Capture | None:
        """The capture at a place, if it is there and has this digest.

        `proven`: has it, and does not only say so. Others digest a chunked body without its chunks,
        and who wants to can write any digest into a file that is imported.
        """
        try:
            record = read_record(path_of(self._folder.warc, place.file), place.offset)
            capture = derive(record)
            if capture is None or capture.digest != digest:
                return None
            payload = behind(block_chunks(record), record.size - capture.size)
            holds = not proven or digest_text(digest_of(sha256, payload)) == digest
        except AsofError:  # a file that was lost or damaged since: the payload is stored anew
            return None
        return capture if holds else None

    def _remember(self, exchange: Exchange, record_id: str) -> None:
        """That a response is stored now; one whose payload other readers find elsewhere is none."""
        if exchange.truncated or exchange.status in _NO_PAYLOAD or not exchange.body.size:
            return
        if exchange.head_start or not exchange.head:
            return
        if len(self._fresh) >= _FRESH:
            del self._fresh[next(iter(self._fresh))]
        self._fresh[exchange.payload_digest] = _Fresh(
            exchange.url, exchange.started, record_id, exchange.status,
            _media_type(exchange.headers), _redirect(exchange), _is_coded(exchange.headers),
        )  # fmt: skip
        self._held.add(exchange.payload_digest)

    def _read(self, exchange: Exchange, target: Target) -> Kept:
        url, headers, body = exchange.url, exchange.headers, exchange.body
        media_type, redirect = _media_type(headers) or None, _redirect(exchange)
        pieces = decode(headers, body.chunks(), limit=MAX_DOCUMENT)
        return self._searched(target, url, headers, media_type, body.size, pieces, redirect)

    def _searched(
        self,
        target: Target,
        url: str,
        headers: Headers,
        media_type: str | None,
        size: int,
        pieces: Iterable[bytes],
        redirect: str | None,
    ) -> Kept:
        """What an answer and its headers refer to, but for the kinds that are not wanted."""
        # Of a robots.txt that is too long, what comes first counts.
        rules = Hop.ROBOTS.value in target.hops
        wanted = rules or (is_searched(media_type, url) and size <= MAX_DOCUMENT)
        document = b"".join(pieces) if wanted else b""
        links = references(media_type, document, url=url, headers=headers)
        links = links.without(self._unwanted) if self._unwanted else links
        return Kept(links, redirect, document, media_type)

    def bytes_by_host(self) -> dict[str, int]:
        sizes: Counter[str] = Counter()
        for capture in self._catalog.captures(crawl=self._crawl):
            sizes[host_of(capture.url)] += capture.size
        return sizes

    def kept_robots(self, url: str) -> Robots | None:
        """The robots.txt that this crawl has stored already, so that a resumed one need not ask.

        None if the server was unable then: it is asked again.
        """
        for _ in range(MAX_REDIRECTS + 1):
            # Of this origin only: http and https, with and without www, share a key.
            found_here = self._catalog.captures(url=url, crawl=self._crawl)
            captures = [capture for capture in found_here if capture.url == url]
            if not captures:
                return None
            last = captures[-1]
            if last.redirect is None:
                found = self._memento(last)
                document = b"".join(found.payload(MAX_DOCUMENT))
                status, agent = found.status or 200, self._user_agent
                robots = robots_from(status, document, agent, last.truncated)
                return None if robots.hold_off else robots
            url = last.redirect
        return None

    def stored(self, capture: Capture, target: Target) -> Kept:
        """What a response that is already in the archive means for the crawl."""
        found = self._memento(capture)
        pieces, media_type = found.payload(MAX_DOCUMENT), found.media_type or None
        return self._searched(
            target, capture.url, found.headers, media_type, capture.size, pieces, capture.redirect
        )

    def _memento(self, capture: Capture) -> Memento:
        return memento(self._catalog, self._folder.warc, capture)


def conditions(last: Capture | None) -> Headers:
    """The headers that ask whether the last capture still holds."""
    if last is None or last.status != 200:
        return ()
    asked: list[tuple[str, str]] = []
    # `*` would mean: whatever you have (RFC 9110 section 13.1.2).
    if last.etag and last.etag != "*" and last.etag.isascii() and last.etag.isprintable():
        asked.append(("If-None-Match", last.etag))
    if last.last_modified is not None:
        asked.append(("If-Modified-Since", http_date(last.last_modified)))
    return tuple(asked)


def _is_coded(headers: Headers) -> bool:
    return any(len(name) in _CODING_LENGTHS and name.lower() in _CODINGS for name, _ in headers)


def _media_type(headers: Headers) -> str:
    return (find_header(headers, "Content-Type") or "").partition(";")[0].strip().lower()


def _redirect(exchange: Exchange) -> str | None:
    is_one = 300 <= exchange.status < 400
    location = find_header(exchange.headers, "Location") if is_one else None
    return None if location is None else resolve(exchange.url, as_utf8(location))


def _may_revisit(exchange: Exchange, source: Capture) -> bool:
    media_type = _media_type(exchange.headers)
    return may_revisit(exchange.status, media_type, _redirect(exchange), source)


def _capture(digest: str, fresh: _Fresh) -> Capture:
    """As much of a capture that is being stored as a revisit of it has to name."""
    return Capture(
        url=fresh.url, surt="", at=fresh.at, kind="response", status=fresh.status,
        media_type=fresh.media_type, digest=digest, content=None if fresh.is_coded else digest,
        size=0, record_id=fresh.record_id.strip("<>"), where=Location("", 0, 0),
        redirect=fresh.redirect,
    )  # fmt: skip
