"""Keeping: what is stored of an answer, and what it means for the crawl."""

from __future__ import annotations

import asyncio
import gzip
import random
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from asof.archive import OpenArchive
from asof.archive.journal import Draft, Journal
from asof.archive.journal import records_of as records_of_unit
from asof.catalog.derive import derive
from asof.change.digests import bytes_digest
from asof.clock import DAY, http_date
from asof.coherence.history import history
from asof.config import Config
from asof.crawl.discover import MAX_DOCUMENT
from asof.crawl.store import CaptureStore, Kept, conditions
from asof.crawl.writer import OwnWriter
from asof.frontier.queue import Changes
from asof.ledger import Ledger
from asof.model import Body, Capture, Exchange, Hop, Segment, Target
from asof.testing import SimulatedClock
from asof.text.links.link import Link
from asof.warc.compose import new_record_id
from asof.warc.digest import digest_text
from asof.warc.reader import scan
from asof.warc.record import Record, StoredRecord
from support.catalog_entry import enter
from support.exchanges import CRAWL, START, answer, failure

ONE, OTHER = "http://a.example/one", "http://b.example/other"
PAGE = b'<p><a href="/next">next</a></p>' + b"<p>Some words.</p>" * 40
ETAG = (("ETag", '"1"'),)
PLAIN = Config()


class StoreOfOneCrawl:
    """An archive with the store of a crawl that is under way."""

    def __init__(self, root: Path, config: Config = PLAIN) -> None:
        self.config = config
        self.clock = SimulatedClock(virtual=True)
        self.archive = OpenArchive.write(root, purpose="test", clock=self.clock)
        self.archive.catalog.put_crawl(CRAWL)
        self.reader = Ledger(self.archive.folder.db, writable=False)
        self.journal = Journal(self.clock, config)
        self.writer = OwnWriter(self.archive.folder, self.archive.ledger, CRAWL, config)
        self.store = self.new_store()

    def new_store(self) -> CaptureStore:
        """As the next crawl has it: with nothing fresh, and with history if there is any."""
        self.clock.jump(days=1)
        self.store = CaptureStore(self.archive, self.journal, CRAWL.id, self.reader, self.config)
        return self.store

    def keep(self, exchange: Exchange, last: Capture | None = None, hops: str = "") -> Kept:
        asked = bool(conditions(last))
        target = Target(exchange.url, hops=hops)
        return self.store.exchange(exchange, target, last, asked=asked)

    def came(self, url: str, body: bytes = PAGE, **changes: Any) -> Exchange:
        """An answer of this moment."""
        return answer(url, body, at=self.clock.now(), **changes)

    def records(self) -> list[Record]:
        """What waits to be written: of each answer the record that is a capture."""
        units = map(records_of_unit, self.journal.take().units)
        return [unit[1] for unit in units if len(unit) == 3]

    def commit(self) -> None:
        asyncio.run(self.writer.write(self.journal.take(), Changes((), (), ())))

    def close(self) -> None:
        self.journal.take().discard()
        self.writer.close()
        self.reader.close()
        self.archive.close()


@pytest.fixture
def held(tmp_path: Path) -> Iterator[StoreOfOneCrawl]:
    made = StoreOfOneCrawl(tmp_path / "archive")
    yield made
    made.close()


def fields(record: Record) -> dict[str, str]:
    return dict(record.fields)


def records_of(held: StoreOfOneCrawl) -> list[StoredRecord]:
    """The responses and revisits in the archive's file."""
    [path] = held.archive.folder.segment_files()
    found = [item for item in scan(path) if isinstance(item, StoredRecord)]
    return [item for item in found if item.header.kind in ("response", "revisit")]


# -- What an answer means for the crawl -----------------------------------------------------------


def test_an_answer_is_stored_with_its_request_and_what_led_to_it(held: StoreOfOneCrawl) -> None:
    held.keep(held.came(ONE))
    assert held.journal.pending == 3
    [unit] = held.journal.take().units
    kinds = [record.kind for record in records_of_unit(unit)]
    assert kinds == ["request", "response", "metadata"]


def test_a_page_leads_on(held: StoreOfOneCrawl) -> None:
    kept = held.keep(held.came(ONE, media="Text/HTML; charset=utf-8"))
    assert kept.links.found == (Link("/next", Hop.LINK),)
    assert (kept.document, kept.media_type) == (PAGE, "text/html")
    assert (kept.redirect, kept.revisit) == (None, False)


def test_a_packed_page_is_read_unpacked(held: StoreOfOneCrawl) -> None:
    headers = (("Content-Encoding", "gzip"),)
    kept = held.keep(held.came(ONE, gzip.compress(PAGE), headers=headers))
    assert kept.document == PAGE
    assert kept.links.found == (Link("/next", Hop.LINK),)


@pytest.mark.parametrize("media", ["image/png", "video/mp4"])
def test_what_has_no_links_is_not_read(held: StoreOfOneCrawl, media: str) -> None:
    assert held.keep(held.came(ONE, media=media)) == Kept(media_type=media)


def test_a_page_without_a_type_leads_on(held: StoreOfOneCrawl) -> None:
    kept = held.keep(held.came(ONE, media=None))
    assert (kept.links.found, kept.media_type) == ((Link("/next", Hop.LINK),), None)


def test_a_page_that_is_too_large_is_kept_and_not_searched(
    held: StoreOfOneCrawl, tmp_path: Path
) -> None:
    body = PAGE + bytes(MAX_DOCUMENT)
    kept = held.keep(held.came(ONE, body, spool=tmp_path / "spool"))
    assert (kept.document, kept.links.found, kept.media_type) == (b"", (), "text/html")
    assert len(held.records()) == 1


def test_a_spooled_page_is_searched_where_it_lies(held: StoreOfOneCrawl, tmp_path: Path) -> None:
    kept = held.keep(held.came(ONE, spool=tmp_path / "spool"))
    assert kept.links.found == (Link("/next", Hop.LINK),)
    assert (tmp_path / "spool").exists(), "it is removed when it is written"


@pytest.mark.parametrize(
    ("status", "location", "redirect"),
    [
        (302, "/there", "http://a.example/there"),
        (301, OTHER, OTHER),
        (302, "http://[", None),
        (302, "mailto:a@b", None),
        (200, "/there", None),
        (302, "/caf\xc3\xa9", "http://a.example/caf%C3%A9"),
    ],
)
def test_where_a_redirect_leads(
    held: StoreOfOneCrawl, status: int, location: str, redirect: str | None
) -> None:
    """Only a status of 3xx leads anywhere; raw UTF-8 is what servers mean by it."""
    came = held.came(ONE, b"", status=status, headers=(("Location", location),))
    assert held.keep(came).redirect == redirect


@pytest.mark.parametrize("wanted", [True, False])
def test_what_is_not_wanted_is_not_found(tmp_path: Path, wanted: bool) -> None:
    """Guesses, feeds and sitemaps can be switched off; plain links cannot."""
    held = StoreOfOneCrawl(tmp_path / "archive", Config(guesses=wanted))
    found = held.keep(held.came(ONE, PAGE + b'<script>"/guess.html"</script>')).links.found
    held.close()
    guess = [Link("/guess.html", Hop.GUESS)] if wanted else []
    assert list(found) == [Link("/next", Hop.LINK), *guess]


def test_links_of_the_head_count_for_every_kind_of_document(held: StoreOfOneCrawl) -> None:
    headers = (("Link", "</style.css>; rel=stylesheet"),)
    kept = held.keep(held.came(ONE, media="image/png", headers=headers))
    assert [link.reference for link in kept.links.found] == ["/style.css"]


def test_a_robots_txt_is_read_whatever_it_is_called(held: StoreOfOneCrawl) -> None:
    kept = held.keep(held.came(ONE, b"User-agent: *", media="image/png"), hops="P")
    assert kept.document == b"User-agent: *"


def test_a_failure_is_written_down(held: StoreOfOneCrawl) -> None:
    held.store.failure(failure(ONE), Target(ONE))
    [[record]] = held.journal.take().units  # type: ignore[misc]
    assert record.kind == "metadata"
    assert b"fetchFailure: timeout" in record.block[0].data


# -- Nothing is stored twice ----------------------------------------------------------------------


def test_a_payload_of_another_url_is_not_stored_again(held: StoreOfOneCrawl) -> None:
    """While its record waits to be written, and when it is committed."""
    held.keep(held.came(ONE))
    kept = held.keep(held.came(OTHER))
    assert kept.revisit
    assert kept.links.found, "what it leads to is known all the same"
    first, second = held.records()
    assert (first.kind, second.kind) == ("response", "revisit")
    assert fields(second)["WARC-Refers-To-Target-URI"] == ONE
    assert fields(second)["WARC-Refers-To"] == fields(first)["WARC-Record-ID"]
    assert second.size < 200


def test_a_payload_of_an_earlier_crawl_is_not_stored_again(held: StoreOfOneCrawl) -> None:
    held.keep(held.came(ONE))
    held.commit()
    held.new_store()
    assert held.keep(held.came(OTHER)).revisit
    held.commit()
    first, second = records_of(held)
    assert second.header.get("WARC-Refers-To") == first.header.get("WARC-Record-ID")
    for url in (ONE, OTHER):
        capture = held.archive.as_of(url)
        assert capture is not None
        assert b"".join(held.archive.read(capture).payload()) == PAGE


@pytest.mark.parametrize("changes", [{"status": 404}, {"status": 302}, {"media": "text/plain"}])
@pytest.mark.parametrize("url", [ONE, OTHER])
@pytest.mark.parametrize("committed", [True, False])
def test_under_another_head_the_same_payload_is_stored_again(
    held: StoreOfOneCrawl, url: str, committed: bool, changes: dict[str, Any]
) -> None:
    """Other programs would show a revisit as the page that it refers to."""
    held.keep(held.came(ONE))
    if committed:
        held.commit()
        held.new_store()
    assert not held.keep(held.came(url, **changes), held.store.last(url)).revisit


def test_where_a_304_would_be_shown_wrongly_the_bytes_are_asked_for(held: StoreOfOneCrawl) -> None:
    """The payload lies under another head, as an earlier version stored it."""
    held.keep(held.came(ONE, status=404))
    held.commit()
    came = held.came(OTHER, headers=ETAG)
    [gone] = [c for c in held.archive.captures() if c.url == ONE]
    same = replace(gone, record_id=f"urn:uuid:{gone.record_id}")
    bare = replace(came, body=Body(0))
    held.journal.draft(Draft(bare, Target(OTHER), new_record_id(), same))
    held.commit()
    last = held.new_store().last(OTHER)
    assert last is not None
    assert (last.kind, last.status, conditions(last)) == ("revisit", 200, ())


def test_a_spooled_body_that_is_not_stored_again_is_removed(
    held: StoreOfOneCrawl, tmp_path: Path
) -> None:
    """It is in no record, so nobody would remove it when the group is written."""
    held.keep(held.came(ONE, spool=tmp_path / "first"))
    kept = held.keep(held.came(OTHER, spool=tmp_path / "second"))
    assert kept.revisit
    assert kept.links.found, "it is read before it is removed"
    held.commit()
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []


def test_a_small_payload_is_stored_again(held: StoreOfOneCrawl) -> None:
    """The reference would take more room; but not of the same URL, where it is evidence."""
    for size in (255, 256):
        body = b"x" * size
        held.keep(held.came(f"{ONE}/{size}", body))
        assert held.keep(held.came(f"{OTHER}/{size}", body)).revisit == (size == 256)
    held.commit()
    held.new_store()
    url = f"{ONE}/255"
    assert held.keep(held.came(url, b"x" * 255), held.store.last(url)).revisit


@pytest.mark.parametrize(
    "changes",
    [{"truncated": "length"}, {"status": 206}, {"status": 304}],
    ids=["truncated", "part", "confirmation"],
)
def test_what_is_no_whole_payload_stands_for_none(
    held: StoreOfOneCrawl, changes: dict[str, Any]
) -> None:
    """Neither may another refer to it, nor is it a revisit of another."""
    held.keep(held.came(ONE, **changes))
    assert not held.keep(held.came(OTHER)).revisit
    assert not held.keep(held.came(ONE + "/again", **changes)).revisit


def test_only_so_many_fresh_payloads_are_remembered(
    held: StoreOfOneCrawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("asof.crawl.store._FRESH", 10)
    for n in range(20):
        held.keep(held.came(f"{ONE}/{n}", PAGE + b"%d" % n))
    assert not held.keep(held.came(OTHER, PAGE + b"0")).revisit
    assert held.keep(held.came(OTHER + "/19", PAGE + b"19")).revisit
    assert len(held.store._fresh) == 10


@pytest.mark.parametrize("damage", ["gone", "torn"])
def test_a_payload_whose_file_is_lost_is_stored_anew(held: StoreOfOneCrawl, damage: str) -> None:
    held.keep(held.came(ONE))
    held.commit()
    held.writer.close()
    [path] = held.archive.folder.segment_files()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(bytes(path.stat().st_size))
    held.new_store()
    assert not held.keep(held.came(OTHER)).revisit


@pytest.mark.parametrize("page_first", [False, True], ids=["file first", "page first"])
def test_a_packed_file_here_and_a_packed_page_there_are_two_contents(
    held: StoreOfOneCrawl, page_first: bool
) -> None:
    """Equal bytes under another coding are another entity, and no change of either is made up."""
    document = PAGE + random.Random(1).randbytes(999).hex().encode()
    packed = gzip.compress(document, mtime=0)
    file: dict[str, Any] = {"media": "application/gzip"}
    page: dict[str, Any] = {"headers": (("Content-Encoding", "gzip"),)}
    held.keep(held.came(OTHER, document))  # the page as it came at first, not packed
    held.commit()
    held.new_store()
    for url, changes in ((OTHER, page), (ONE, file))[:: 1 if page_first else -1]:
        held.keep(held.came(url, packed, **changes), held.store.last(url))
    held.commit()
    contents = {}
    for url, entity in ((OTHER, document), (ONE, packed)):
        [validity] = history(held.archive, url)
        contents[url] = validity.content
        assert validity.content == bytes_digest(entity)
        capture = held.archive.as_of(url)
        assert capture is not None
        assert b"".join(held.archive.read(capture).payload()) == entity
    assert contents[ONE] != contents[OTHER]


def foreign(held: StoreOfOneCrawl, block: bytes, payload: bytes) -> None:
    """Import a response that declares the digest of some payload, whatever its block holds."""
    path = held.archive.folder.warc / "000009-import-foreign.warc.gz"
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {ONE}\r\n"
        "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>\r\n"
        "WARC-Date: 2020-01-01T00:00:00Z\r\nContent-Type: application/http;msgtype=response\r\n"
        f"WARC-Payload-Digest: {digest_text(sha256(payload).digest())}\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    path.write_bytes(gzip.compress(head.encode() + block + b"\r\n\r\n"))
    [record] = scan(path)
    assert isinstance(record, StoredRecord)
    capture = derive(record)
    assert capture is not None
    number = held.archive.catalog.put_segment(Segment(path.name, path.stat().st_size))
    enter(held.archive.catalog, [capture], number)


FOREIGN = {
    "another payload than it says": b"HTTP/1.1 200 OK\r\n\r\n" + b"forged" * 200,
    "its chunks, where others digest what is in them": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"%x\r\n%b\r\n0\r\n\r\n" % (len(PAGE), PAGE)
    ),
}


@pytest.mark.parametrize("block", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("url", [ONE, OTHER], ids=["the same URL", "another URL"])
def test_what_a_foreign_record_says_of_its_payload_is_not_enough(
    held: StoreOfOneCrawl, block: bytes, url: str
) -> None:
    """A revisit drops the bytes that came: those that it refers to must be the same ones."""
    foreign(held, block, PAGE)
    held.new_store()
    came = held.came(url)
    held.keep(came, held.store.last(url))
    held.commit()
    capture = held.archive.as_of(url)
    assert capture is not None
    assert capture.at == came.started
    assert b"".join(held.archive.read(capture).payload()) == PAGE


# -- Asking whether it still holds ----------------------------------------------------------------


def test_the_last_capture_gives_its_validators(held: StoreOfOneCrawl) -> None:
    held.keep(held.came(ONE, headers=(*ETAG, ("Last-Modified", http_date(START - DAY)))))
    held.commit()
    last = held.new_store().last(ONE)
    assert conditions(last) == (
        ("If-None-Match", '"1"'),
        ("If-Modified-Since", http_date(START - DAY)),
    )


@pytest.mark.parametrize("etag", ['"caf\xe9"', '"a\x7fb"', ""])
def test_a_validator_that_cannot_be_sent_is_not(held: StoreOfOneCrawl, etag: str) -> None:
    held.keep(held.came(ONE, headers=(("ETag", etag),)))
    held.commit()
    assert conditions(held.new_store().last(ONE)) == ()
    assert conditions(None) == ()


def test_an_archive_without_history_is_not_asked(
    held: StoreOfOneCrawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within one crawl every URL is fetched once."""
    store = held.new_store()
    held.keep(held.came(ONE, headers=ETAG))
    held.commit()
    assert store.last(ONE) is None


@pytest.mark.parametrize(
    "changes",
    [{"status": 404}, {"status": 302}, {"truncated": "length"}, {"status": 500}],
    ids=["404", "302", "truncated", "500"],
)
def test_only_a_whole_good_answer_can_be_confirmed(
    held: StoreOfOneCrawl, changes: dict[str, Any]
) -> None:
    held.keep(held.came(ONE, headers=ETAG, **changes))
    held.commit()
    assert conditions(held.new_store().last(ONE)) == ()


def test_a_neighbour_under_the_same_key_is_another_page(held: StoreOfOneCrawl) -> None:
    """https and http share a SURT; a validator of one is none of the other."""
    held.keep(held.came(ONE, headers=ETAG))
    held.commit()
    assert held.new_store().last(ONE.replace("http:", "https:")) is None


def confirm(held: StoreOfOneCrawl, url: str, **changes: Any) -> Kept:
    """The next crawl asks, and the server says that nothing has changed."""
    last = held.new_store().last(url)
    assert last is not None
    return held.keep(held.came(url, b"", status=304, media=None, **changes), last)


def test_a_304_is_a_revisit_that_leads_on_as_before(held: StoreOfOneCrawl) -> None:
    held.keep(held.came(ONE, headers=ETAG))
    held.commit()
    kept = confirm(held, ONE)
    assert kept.revisit
    assert kept.links.found == (Link("/next", Hop.LINK),)
    assert kept.document == PAGE
    [record] = held.records()
    assert record.kind == "revisit"
    assert fields(record)["WARC-Profile"].endswith("/server-not-modified")
    assert fields(record)["WARC-Refers-To-Target-URI"] == ONE


def test_a_304_confirms_the_kind_of_document_too(held: StoreOfOneCrawl) -> None:
    """A page that has not changed is a page of the crawl (URLsCrawled.txt, traps)."""
    held.keep(held.came(ONE, headers=ETAG))
    held.commit()
    assert confirm(held, ONE).media_type == "text/html"


def test_confirmations_follow_each_other(held: StoreOfOneCrawl) -> None:
    """The next crawl asks with what the server said last."""
    held.keep(held.came(ONE, headers=ETAG))
    held.commit()
    for _ in range(3):
        assert confirm(held, ONE).links.found
        held.commit()
    last = held.new_store().last(ONE)
    assert conditions(last) == (("If-None-Match", '"1"'),)
    [validity] = history(held.archive, ONE)
    assert len(validity.evidence) == 4


def test_a_url_is_asked_about_with_its_own_validators(held: StoreOfOneCrawl) -> None:
    """Its payload may lie under another URL; what that one's server said is not for this one."""
    held.keep(held.came(ONE, headers=(("ETag", '"of one"'),)))
    held.keep(held.came(OTHER, headers=(("ETag", '"of other"'),)))
    held.commit()
    for _ in range(2):
        last = held.new_store().last(OTHER)
        assert conditions(last) == (("If-None-Match", '"of other"'),)
        confirm(held, OTHER)
        held.commit()


def test_a_304_that_nobody_asked_for_confirms_nothing(held: StoreOfOneCrawl) -> None:
    """Without a validator there was no condition that could have failed (RFC 9110, 15.4.5)."""
    held.keep(held.came(ONE))
    held.commit()
    last = held.new_store().last(ONE)
    assert conditions(last) == ()
    kept = held.keep(held.came(ONE, b"", status=304, media=None), last)
    assert not kept.revisit
    [record] = held.records()
    assert record.kind == "response"


def test_a_304_to_a_url_that_was_never_seen_is_an_answer_like_others(held: StoreOfOneCrawl) -> None:
    kept = held.keep(held.came(ONE, b"", status=304, media=None))
    assert kept == Kept()
    [record] = held.records()
    assert record.kind == "response"


@pytest.mark.parametrize("damage", ["gone", "torn"])
def test_what_is_lost_since_is_asked_for_whole(held: StoreOfOneCrawl, damage: str) -> None:
    """A 304 would confirm what nobody can read any more."""
    held.keep(held.came(ONE, headers=ETAG))
    held.commit()
    held.writer.close()
    [path] = held.archive.folder.segment_files()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(bytes(path.stat().st_size))
    last = held.new_store().last(ONE)
    assert conditions(last) == ()
    assert not held.keep(held.came(ONE), last).revisit


def test_what_came_again_is_evidence(held: StoreOfOneCrawl) -> None:
    """The same bytes under the same URL, without validators."""
    held.keep(held.came(ONE))
    held.commit()
    last = held.new_store().last(ONE)
    assert held.keep(held.came(ONE), last).revisit
    held.commit()
    [validity] = history(held.archive, ONE)
    assert [str(e.proof) for e in validity.evidence] == ["download", "same-digest"]


# -- robots.txt -----------------------------------------------------------------------------------

ROBOTS = "http://a.example/robots.txt"


def test_a_robots_txt_of_this_crawl_is_remembered(held: StoreOfOneCrawl) -> None:
    held.keep(held.came(ROBOTS, b"User-agent: *\nDisallow: /no", media="text/plain"), hops="P")
    held.commit()
    robots = held.store.kept_robots(ROBOTS)
    assert robots is not None
    assert robots.allows("http://a.example/yes")
    assert not robots.allows("http://a.example/no")
    assert held.store.kept_robots("http://b.example/robots.txt") is None


def test_a_robots_txt_that_moved_is_followed_to_its_end(held: StoreOfOneCrawl) -> None:
    there = "http://a.example/there"
    moved = (("Location", "/there"),)
    held.keep(held.came(ROBOTS, b"", status=301, headers=moved), hops="P")
    held.commit()
    assert held.store.kept_robots(ROBOTS) is None, "its end is not known yet"
    held.keep(held.came(there, b"User-agent: *\nDisallow: /", media="text/plain"), hops="P")
    held.commit()
    robots = held.store.kept_robots(ROBOTS)
    assert robots is not None
    assert not robots.allows(ONE)


def test_a_robots_txt_that_is_too_long_is_obeyed_as_far_as_it_is_read(
    held: StoreOfOneCrawl,
) -> None:
    body = b"User-agent: *\nDisallow: /no\n" + b"#" * MAX_DOCUMENT
    kept = held.keep(held.came(ROBOTS, body, media="text/plain"), hops="P")
    assert kept.document.startswith(b"User-agent: *\nDisallow: /no\n")
    held.commit()
    robots = held.store.kept_robots(ROBOTS)
    assert robots is not None
    assert robots.cut
    assert not robots.allows("http://a.example/no")


def test_a_robots_txt_that_moves_in_a_circle_is_asked_for_again(held: StoreOfOneCrawl) -> None:
    moved = (("Location", "/robots.txt"),)
    held.keep(held.came(ROBOTS, b"", status=301, headers=moved), hops="P")
    held.commit()
    assert held.store.kept_robots(ROBOTS) is None


@pytest.mark.parametrize(
    "changes", [{"status": 503}, {"truncated": "disconnect"}], ids=["unavailable", "cut"]
)
def test_a_robots_txt_that_was_not_to_be_had_is_asked_for_again(
    held: StoreOfOneCrawl, changes: dict[str, Any]
) -> None:
    """A crawl that is resumed tomorrow should not hold off for what was the matter today."""
    held.keep(held.came(ROBOTS, b"sorry", media="text/plain", **changes), hops="P")
    held.commit()
    assert held.store.kept_robots(ROBOTS) is None
