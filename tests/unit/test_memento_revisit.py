"""Revisits read back: a head of their own before a body that lies elsewhere."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asof.catalog import memento as module
from asof.catalog.captures import Catalog
from asof.catalog.derive import derive
from asof.catalog.memento import Memento, memento
from asof.clock import SECOND
from asof.errors import NotCaptured
from asof.http.head import parse_head
from asof.ledger import Ledger
from asof.model import Body, Capture, Exchange, Location, Segment, Target
from asof.warc.build import exchange_records
from asof.warc.reader import read_record, scan
from asof.warc.record import StoredRecord
from asof.warc.write import WarcFile
from support.catalog_entry import enter
from support.exchanges import START, answer

ONE, OTHER = "http://a.example/one", "http://b.example/other"
PAGE = b"<p>hello, world</p>" * 100
PACKED = gzip.compress(PAGE, mtime=0)
GZIP = (("Content-Encoding", "gzip"),)


class TextDatabase:
    """An archive of one WARC file, written as a crawl writes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ledger = Ledger(folder / "asof.db", writable=True)
        self.catalog = Catalog(self.ledger)
        self._file = WarcFile.create(folder / "000001-test.warc.gz")
        self._segment = self.catalog.put_segment(Segment(self._file.path.name, 0))

    def add(self, exchange: Exchange, refers_to: Capture | None = None) -> Capture:
        records = exchange_records(exchange, target=Target(exchange.url), refers_to=refers_to)
        start = self._file.size
        self._file.append(records)
        stored = [s for s in scan(self._file.path, start=start) if isinstance(s, StoredRecord)]
        [capture] = [found for item in stored if (found := derive(item)) is not None]
        enter(self.catalog, [capture], self._segment)
        return capture

    def read(self, capture: Capture) -> Memento:
        return memento(self.catalog, self.folder, capture)

    def close(self) -> None:
        self._file.close()
        self.ledger.close()


@pytest.fixture(params=["held", "in pieces"])
def database(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TextDatabase]:
    """With blocks in memory, and with blocks that are too large for that."""

    def unheld(path: Path, offset: int, length: int) -> StoredRecord:
        record = read_record(path, offset, length)
        return StoredRecord(path, record.where, record.header, record.size, None, record.skip)

    if request.param == "in pieces":
        monkeypatch.setattr(module, "read_record", unheld)
    made = TextDatabase(tmp_path)
    yield made
    made.close()


def later(url: str, body: bytes, seconds: int = 60, **changes: Any) -> Exchange:
    return answer(url, body, at=START + seconds * SECOND, **changes)


def as_it_came(exchange: Exchange) -> bytes:
    return exchange.head + b"".join(exchange.body.chunks())


@pytest.mark.parametrize("url", [ONE, OTHER], ids=["the same URL", "another URL"])
def test_a_revisit_is_read_as_it_came(database: TextDatabase, url: str) -> None:
    """Byte for byte what was on the wire: its own head, and the body that was not stored again."""
    source = database.add(answer(ONE, PAGE, headers=(("X-Age", "1"),)))
    came = later(url, PAGE, headers=(("X-Age", "2"), ("X-New", "longer than before")))
    revisit = database.add(came, source)
    assert revisit.kind == "revisit"
    found = database.read(revisit)
    assert (found.capture, found.source) == (revisit, source)
    assert b"".join(found.raw()) == as_it_came(came)
    assert b"".join(found.payload()) == PAGE
    assert b"".join(found.payload(10)) == PAGE[:10]
    assert found.head == came.head
    assert (found.status, found.media_type) == (200, "text/html")
    assert found.headers == came.headers


def test_the_source_is_not_changed_by_its_revisits(database: TextDatabase) -> None:
    first = answer(ONE, PAGE)
    source = database.add(first)
    database.add(later(OTHER, PAGE, status=404, media="text/plain"), source)
    found = database.read(source)
    assert b"".join(found.raw()) == as_it_came(first)
    assert (found.status, found.media_type) == (200, "text/html")


def test_a_revisit_of_a_revisit_is_followed_to_the_payload(database: TextDatabase) -> None:
    source = database.add(answer(ONE, PAGE))
    second = database.add(later(OTHER, PAGE, 60), source)
    came = later(ONE, PAGE, 120, headers=(("X-Age", "3"),))
    third = database.add(came, second)
    found = database.read(third)
    assert found.source == source
    assert b"".join(found.raw()) == as_it_came(came)


def test_an_empty_body_leaves_the_head(database: TextDatabase) -> None:
    source = database.add(answer(ONE, b""))
    came = later(OTHER, b"", headers=(("X-Age", "2"),))
    found = database.read(database.add(came, source))
    assert b"".join(found.raw()) == came.head
    assert b"".join(found.payload()) == b""


# -- The same bytes, said to be different things --------------------------------------------------


def test_a_packed_file_here_and_a_packed_page_there(database: TextDatabase) -> None:
    """`Content-Encoding: gzip` belongs to the URL that said so, and the page is unpacked for it."""
    file = answer(ONE, PACKED, media="application/gzip")
    page = later(OTHER, PACKED, headers=GZIP)
    source = database.add(file)
    revisit = database.add(page, source)
    assert revisit.kind == "revisit"
    assert b"".join(database.read(source).payload()) == PACKED
    assert b"".join(database.read(revisit).payload()) == PAGE
    assert b"".join(database.read(source).raw()) == as_it_came(file)
    assert b"".join(database.read(revisit).raw()) == as_it_came(page)


def test_a_packed_page_here_and_a_packed_file_there(database: TextDatabase) -> None:
    """The other way round: what is a file of its own is given as it is."""
    page = answer(ONE, PACKED, headers=GZIP)
    file = later(OTHER, PACKED, media="application/gzip")
    source = database.add(page)
    revisit = database.add(file, source)
    assert b"".join(database.read(source).payload()) == PAGE
    assert b"".join(database.read(revisit).payload()) == PACKED
    assert b"".join(database.read(revisit).raw()) == as_it_came(file)


def test_a_chunked_body_is_joined_by_the_head_that_says_so(database: TextDatabase) -> None:
    """The chunk sizes are part of the payload as it is stored (ADR 5)."""
    chunked = (("Transfer-Encoding", "chunked"),)
    body = b"5\r\nhello\r\n6\r\n, more\r\n0\r\n\r\n"
    source = database.add(answer(ONE, body, headers=chunked))
    came = later(OTHER, body, headers=chunked)
    found = database.read(database.add(came, source))
    assert b"".join(found.payload()) == b"hello, more"
    assert b"".join(found.raw()) == as_it_came(came)


def test_interim_heads_of_the_source_are_not_its_body(database: TextDatabase) -> None:
    """A record may begin with several heads; the body is behind the last of them."""
    plain = answer(ONE, PAGE)
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
    source = database.add(_with_head(plain, interim + plain.head, len(interim)))
    assert b"".join(database.read(source).payload()) == PAGE
    assert b"".join(database.read(source).raw()) == interim + plain.head + PAGE


def _with_head(exchange: Exchange, head: bytes, start: int) -> Exchange:
    return Exchange(
        exchange.url, exchange.request, head, Body(exchange.body.size, exchange.body.data),
        exchange.status, parse_head(head).headers, exchange.started, exchange.timings,
        exchange.payload_digest, head_start=start,
    )  # fmt: skip


# -- 304 ------------------------------------------------------------------------------------------


def test_a_304_is_read_as_the_response_that_it_confirms(database: TextDatabase) -> None:
    """Bytes and codings are those of the response; only its headers are brought up to date."""
    first = answer(ONE, PACKED, headers=(*GZIP, ("ETag", '"1"'), ("X-Age", "1")))
    source = database.add(first)
    said = later(ONE, b"", status=304, media=None, headers=(("ETag", '"1"'), ("X-Age", "2")))
    revisit = database.add(said, source)
    found = database.read(revisit)
    assert revisit.profile == "server-not-modified"
    assert b"".join(found.raw()) == as_it_came(first)
    assert b"".join(found.payload()) == PAGE
    assert found.status == 200
    assert dict(found.headers)["X-Age"] == "2"
    assert found.head == said.head


def test_a_304_of_a_revisit_has_the_head_of_the_revisit(database: TextDatabase) -> None:
    """What was confirmed is what this URL said last, not what the other one did."""
    source = database.add(answer(ONE, PACKED, media="application/gzip"))
    revisit = database.add(later(OTHER, PACKED, 60, headers=(*GZIP, ("ETag", '"2"'))), source)
    said = later(OTHER, b"", 120, status=304, media=None, headers=(("ETag", '"2"'),))
    found = database.read(database.add(said, revisit))
    assert found.media_type == "text/html"
    assert b"".join(found.payload()) == PAGE


def test_a_revisit_whose_source_is_lost_says_what_is_missing(database: TextDatabase) -> None:
    elsewhere = Capture(
        ONE, "example,a)/one", START, "response", 200, None,
        "sha256:" + "A" * 52 + "====", None, 5, "lost", Location("", 0, 0),
    )  # fmt: skip
    came = later(OTHER, b"", status=304, media=None)
    revisit = database.add(came, elsewhere)
    with pytest.raises(NotCaptured, match=f"Import the WARC file that holds {ONE}"):
        database.read(revisit)
