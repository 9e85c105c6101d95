"""Reading captures back: payloads decoded, revisits followed, heads as the standards say."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from asof.catalog import memento as module
from asof.catalog.captures import Catalog
from asof.catalog.derive import derive
from asof.catalog.memento import Memento, memento
from asof.errors import DamageError, NotCaptured
from asof.ledger import Ledger
from asof.model import Capture, Segment
from asof.warc.reader import scan
from asof.warc.record import StoredRecord
from support.catalog_entry import enter

URL = "http://example.org/page"
PROFILES = "http://netpreserve.org/warc/1.1/revisit/"


class TextDatabase:
    """An archive of one growing WARC file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "000001-test.warc.gz"
        self.path.touch()
        self.ledger = Ledger(folder / "asof.db", writable=True)
        self.catalog = Catalog(self.ledger)
        self.catalog.put_segment(Segment(self.path.name, 0))

    def add(self, number: int, block: bytes, **fields: str) -> Capture:
        """Write a record and catalogue it."""
        header = {
            "WARC-Type": "response",
            "WARC-Record-ID": f"<urn:uuid:00000000-0000-0000-0000-{number:012}>",
            "WARC-Target-URI": URL,
            "WARC-Date": f"2020-01-{number:02}T00:00:00Z",
        } | {name.replace("_", "-"): value for name, value in fields.items()}
        lines = [f"{name}: {value}" for name, value in header.items()]
        head = "\r\n".join(["WARC/1.1", *lines, f"Content-Length: {len(block)}", "", ""])
        start = self.path.stat().st_size
        with self.path.open("ab") as file:
            file.write(gzip.compress(head.encode() + block + b"\r\n\r\n"))
        record = next(scan(self.path, start=start))
        assert isinstance(record, StoredRecord)
        capture = derive(record)
        assert capture is not None
        enter(self.catalog, [capture], 1)
        return capture

    def read(self, capture: Capture) -> Memento:
        return memento(self.catalog, self.folder, capture)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[TextDatabase]:
    made = TextDatabase(tmp_path)
    yield made
    made.ledger.close()


BLOCK = (
    b"HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\nContent-Encoding: gzip\r\n"
    b'ETag: "1"\r\nX-Age: 1\r\nContent-Length: 25\r\n\r\n' + gzip.compress(b"hello", mtime=0)
)


def test_a_response(database: TextDatabase) -> None:
    capture = database.add(1, BLOCK)
    found = database.read(capture)
    assert (found.capture, found.source) == (capture, capture)
    assert (found.status, found.media_type) == (200, "text/html")
    assert ("X-Age", "1") in found.headers
    assert b"".join(found.raw()) == BLOCK
    assert found.head == BLOCK[: -len(gzip.compress(b"hello", mtime=0))]
    assert b"".join(found.payload()) == b"hello"
    assert b"".join(found.payload(3)) == b"hel"


def test_a_large_response_is_read_in_pieces(
    database: TextDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture = database.add(1, BLOCK)

    def late(path: Path, offset: int, length: int) -> StoredRecord:
        record = next(scan(path, start=offset))
        assert isinstance(record, StoredRecord)
        return StoredRecord(path, record.where, record.header, record.size, None, record.skip)

    monkeypatch.setattr(module, "read_record", late)
    found = database.read(capture)
    assert b"".join(found.raw()) == BLOCK
    assert b"".join(found.payload()) == b"hello"
    assert found.status == 200


def test_a_resource_has_no_head(database: TextDatabase) -> None:
    found = database.read(
        database.add(1, b"hello", WARC_Type="resource", Content_Type="text/plain; a=b")
    )
    assert (found.status, found.headers, found.head) == (None, (), b"")
    assert found.media_type == "text/plain"
    assert b"".join(found.payload()) == b"hello"


def test_an_identical_payload_has_the_head_of_the_revisit(database: TextDatabase) -> None:
    origin = database.add(1, BLOCK)
    head = b"HTTP/1.1 203 Other\r\nContent-Type: text/x\r\nX-Age: 2\r\n\r\n"
    revisit = database.add(
        2,
        head,
        WARC_Type="revisit",
        WARC_Profile=PROFILES + "identical-payload-digest",
        WARC_Refers_To_Target_URI=URL,
        WARC_Refers_To_Date="2020-01-01T00:00:00Z",
    )
    found = database.read(revisit)
    assert (found.capture, found.source) == (revisit, origin)
    assert (found.status, found.media_type, found.head) == (203, "text/x", head)
    assert found.headers == (("Content-Type", "text/x"), ("X-Age", "2"))
    assert b"".join(found.payload()) == b"hello"
    assert b"".join(found.raw()) == head + BLOCK.partition(b"\r\n\r\n")[2]


def test_a_revisit_without_a_head_has_that_of_the_response(database: TextDatabase) -> None:
    database.add(1, BLOCK)
    revisit = database.add(
        2,
        b"",
        WARC_Type="revisit",
        WARC_Profile=PROFILES + "identical-payload-digest",
        WARC_Refers_To_Date="2020-01-01T00:00:00Z",
    )
    assert (database.read(revisit).status, database.read(revisit).media_type) == (200, "text/html")


def test_a_304_brings_the_stored_headers_up_to_date(database: TextDatabase) -> None:
    """RFC 9111 sections 3.2 and 4.3.4: replaced by name, save what belongs to the stored bytes."""
    database.add(1, BLOCK)
    revisit = database.add(
        2,
        b"HTTP/1.1 304 Not Modified\r\nx-age: 2\r\nX-Age: 3\r\nX-New: 4\r\nContent-Length: 0\r\n"
        b"Content-Encoding: br\r\nConnection: X-Hop\r\nX-Hop: 5\r\n\r\n",
        WARC_Type="revisit",
        WARC_Profile=PROFILES + "server-not-modified",
        WARC_Refers_To_Target_URI=URL,
        WARC_Refers_To_Date="2020-01-01T00:00:00Z",
    )
    found = database.read(revisit)
    assert found.status == 200
    assert found.headers == (
        ("Content-Type", "Text/HTML; charset=utf-8"),
        ("Content-Encoding", "gzip"),
        ("ETag", '"1"'),
        ("Content-Length", "25"),
        ("x-age", "2"),
        ("X-Age", "3"),
        ("X-New", "4"),
    )
    assert b"".join(found.payload()) == b"hello"


def test_a_payload_that_is_not_here_is_said_to_be_missing(database: TextDatabase) -> None:
    revisit = database.add(
        2,
        b"",
        WARC_Type="revisit",
        WARC_Refers_To_Target_URI="http://elsewhere.example/",
        WARC_Refers_To_Date="2019-01-01T00:00:00Z",
    )
    with pytest.raises(NotCaptured, match="Import the WARC file that holds http://elsewhere"):
        database.read(revisit)


def test_a_catalog_that_is_out_of_step_is_noticed(database: TextDatabase) -> None:
    first, second = database.add(1, BLOCK), database.add(2, BLOCK)
    database.path.write_bytes(database.path.read_bytes()[second.where.offset :])
    with pytest.raises(DamageError, match="reindex"):
        database.read(first)
