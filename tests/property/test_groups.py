"""The law of the catalog: what a crawl enters is what a rebuild from its files would enter."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from asof.archive import OpenArchive
from asof.archive.commit import Committer
from asof.archive.journal import Journal
from asof.archive.recovery import recover
from asof.archive.reindex import reindex
from asof.catalog.derive import record_uri
from asof.clock import SECOND
from asof.config import Config
from asof.http.head import parse_head
from asof.model import Capture, Exchange, Target, Tls
from asof.testing import SimulatedClock
from asof.warc.build import exchange_records, failure_record
from support.exchanges import CRAWL, START, answer, failure
from support.laws import examples
from support.resources import resource

URLS = [
    "http://a.example/",
    "http://a.example/page?q=1&r=%20",
    "https://www.a.example/page",
    "http://b.example:8080/caf%C3%A9",
    "http://[::1]/x",
]
BODIES = [
    b"",
    b"short",
    b"<p>words</p>" * 50,
    bytes(range(256)) * 9,
    b"\r\n\r\nHTTP/1.1 500 No\r\n\r\n",
]
HEADS = [
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nETag: \"1\"\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nLast-Modified: Wed, 31 Dec 2025 00:00:00 GMT\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nlast-modified: soon\r\nETag:\r\nContent-Type:\r\n\r\n",
    b"HTTP/1.0 404 Not Found\r\ncontent-type: TEXT/Plain\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: /there?a=b#c\r\n\r\n",
    b"HTTP/1.1 301 Moved\r\nLocation: http://caf\xc3\xa9.example/\r\nlocation: /second\r\n\r\n",
    b"HTTP/1.1 200\r\nContent-Type: image/png\r\n\r\n",
    b"HTTP/1.1 200 OK\nContent-Type: text/css\n\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n folded; x=y\r\nX-\xff: \xfe\r\n\r\n",
    b"HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-4/10\r\n\r\n",
    b"HTTP/1.1 503 Later\r\nRetry-After: 1\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n",
    b"HTTP/1.1 204 None\r\n\r\n",
    b"",
]  # fmt: skip
CODINGS = [
    (b"", lambda body: body),
    (b"Content-Encoding: gzip\r\n", lambda body: gzip.compress(body, mtime=0)),
    (b"Content-Encoding: gzip\r\n", lambda body: body),
    (b"Content-Encoding: unknown\r\n", lambda body: body),
    (
        b"Transfer-Encoding: chunked\r\n",
        lambda body: b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n",
    ),
]
# Every commit is synced: on a disk that takes most of the time.
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"


@dataclass(frozen=True)
class Event:
    """Something that a crawl puts into its journal."""

    kind: str
    url: str
    head: bytes
    body: bytes
    spooled: bool
    repeats: int | None
    truncated: str
    anomalies: tuple[str, ...]
    tls: bool
    ends_group: bool
    method: bytes


@st.composite
def events(draw: st.DrawFn) -> Event:
    added, code = draw(st.sampled_from(CODINGS))
    head = draw(st.sampled_from(HEADS))
    start, line, rest = head.partition(b"\r\n")
    if line:
        head = start + line + added + rest
        head = draw(st.sampled_from([b"", b"", INTERIM])) + head
    return Event(
        kind=draw(st.sampled_from(["exchange"] * 6 + ["failure", "resource"])),
        url=draw(st.sampled_from(URLS)),
        head=head,
        body=code(draw(st.sampled_from(BODIES) | st.binary(max_size=50))),
        spooled=draw(st.sampled_from([False, False, False, True])),
        repeats=draw(st.none() | st.integers(0, 5)),
        truncated=draw(st.sampled_from(["", "", "", "length", "time", "disconnect"])),
        anomalies=draw(st.sampled_from([(), (), ("bad-length", "surplus-bytes")])),
        tls=draw(st.booleans()),
        ends_group=draw(st.booleans()),
        method=draw(st.sampled_from([b"GET", b"GET", b"POST", b"HEAD"])),
    )


def exchange_of(event: Event, number: int, folder: Path) -> Exchange:
    spool = folder / f"body-{number}" if event.spooled else None
    at = START + number * SECOND + number
    made = answer(event.url, event.body, at=at, spool=spool)
    found = parse_head(event.head)
    return replace(
        made,
        request=made.request.replace(b"GET", event.method, 1),
        head=event.head,
        status=found.status,
        headers=found.headers,
        head_start=len(INTERIM) if event.head.startswith(INTERIM) else 0,
        truncated=event.truncated,
        anomalies=event.anomalies,
        tls=Tls("TLSv1.3", "TLS_AES_128_GCM_SHA256", False, "expired") if event.tls else None,
    )


class Desk:
    """A crawl that journals and commits, as the loop and its writer do."""

    def __init__(self, archive: OpenArchive, config: Config, spool: Path) -> None:
        self.archive = archive
        self.journal = Journal(archive.clock, config)
        self.committer = Committer(archive.folder, archive.ledger, CRAWL, config)
        self.spool = spool

    def take(self, events: list[Event]) -> None:
        for number, event in enumerate(events):
            self._put(event, number)
            if event.ends_group:
                self.commit()
        self.commit()
        self.committer.close()

    def _put(self, event: Event, number: int) -> None:
        target = Target(event.url, 1, URLS[0], "L", tries=number % 2)
        at = START + number * SECOND
        if event.kind == "failure":
            self.journal.put(failure_record(failure(event.url, at=at), target))
        elif event.kind == "resource":
            self.journal.put(resource(event.url, event.body, "text/x; a=b", at))
        else:
            exchange = exchange_of(event, number, self.spool)
            known = self._known(event.repeats)
            records = exchange_records(exchange, target=target, refers_to=known)
            self.journal.put(*records)
            if exchange.body not in records[1].block:
                exchange.body.discard()  # a revisit leaves it out, and the store removes it

    def _known(self, number: int | None) -> Capture | None:
        """A capture that is in the catalog already, to be referred to."""
        if number is None:
            return None
        captures = list(self.archive.captures())
        known = captures[number % len(captures)] if captures else None
        return known and replace(known, record_id=record_uri(known.record_id))

    def commit(self) -> None:
        self.committer.write(self.journal.take())


TABLES = {
    "captures": "SELECT c.*, s.file FROM captures c JOIN segments s ON c.segment = s.no",
    "segments": "SELECT s.file, s.committed, k.id FROM segments s JOIN crawls k ON s.crawl = k.no",
    "payloads": "SELECT key, offset, file FROM payloads p JOIN segments s ON p.segment = s.no",
    "crawls": "SELECT id, seeds, started, settings FROM crawls",
}


def catalog_of(archive: OpenArchive) -> dict[str, list[tuple[object, ...]]]:
    """Everything that is derived from the files, but for the numbers of segments."""
    number = archive.ledger.db.execute("SELECT * FROM captures").description
    column = [name for name, *_ in number].index("segment")
    tables = {
        name: sorted(archive.ledger.db.execute(sql), key=repr) for name, sql in TABLES.items()
    }
    tables["captures"] = [row[:column] + row[column + 1 :] for row in tables["captures"]]
    return tables


@contextmanager
def folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="asof-law-", dir=MEMORY) as name:
        yield Path(name)


def obeys_the_law(found: list[Event], config: Config) -> None:
    with folder() as root:
        clock = SimulatedClock(virtual=True)
        with OpenArchive.write(root / "archive", purpose="test", clock=clock) as archive:
            archive.ledger.db.execute("PRAGMA synchronous = OFF")
            archive.catalog.put_crawl(CRAWL)
            Desk(archive, config, root).take(found)
            assert not list(root.glob("body-*")), "spooled bodies are in the files now"
            assert recover(archive).adopted == 0
            entered = catalog_of(archive)
            files = archive.folder.segment_files()
            sizes = {path.name: path.stat().st_size for path in files}
            assert {file: size for file, size, _ in entered["segments"]} == sizes
        rebuilt = reindex(archive.folder, spread=map, progress=lambda size: None)
        assert (rebuilt.damage, rebuilt.segments) == ((), len(files))
        with OpenArchive.write(root / "archive", purpose="test", clock=clock) as archive:
            again = catalog_of(archive)
            assert again["captures"] == entered["captures"]
            if files:  # nothing was written: nothing is known of the crawl, either
                assert again == entered
            wanted = sum(event.kind != "failure" for event in found)
            assert len(entered["captures"]) == wanted
            apart = [e for e in found if e.kind == "exchange" and e.method != b"GET"]
            assert len(list(archive.catalog.captures(apart=True))) == len(apart)


@given(st.lists(events(), max_size=12))
def test_a_rebuilt_catalog_is_the_one_that_the_crawl_wrote(found: list[Event]) -> None:
    """Whatever came, in whatever groups: every column of every row, and every payload's place."""
    obeys_the_law(found, Config())


@settings(max_examples=examples(30))
@given(st.lists(events(), min_size=3, max_size=12), st.sampled_from([1, 3_000, 6_000]))
def test_the_same_where_files_fill_up(found: list[Event], most: int) -> None:
    """In the middle of a group, at its end, after every unit: the files say the same."""
    obeys_the_law(found, Config(segment_bytes=most))
