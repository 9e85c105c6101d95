"""Exchanges and failures as WARC 1.1 records, judged by our own reader and by the referees."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from asof.catalog.derive import derive
from asof.clock import SECOND
from asof.model import (
    Body,
    Capture,
    Crawl,
    CrawlState,
    Exchange,
    Failure,
    Location,
    Target,
    Timings,
    Tls,
)
from asof.warc.build import exchange_records, failure_record
from asof.warc.compose import new_record_id, parse_fields
from asof.warc.digest import digest_text
from asof.warc.info import crawl_record, import_info, read_crawl, warcinfo
from asof.warc.reader import scan
from asof.warc.record import Record, StoredRecord, WarcHeader
from asof.warc.revisit import block_of
from asof.warc.verify import judge, verify
from asof.warc.write import WarcFile
from support.resources import resource

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # fastwarc 1.1 warns of its own old names
    from fastwarc.warc import ArchiveIterator as FastIterator

NOON = 1_794_000_000 * SECOND + 123_456
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def exchange(head: bytes = HEAD, body: bytes = b"hello", **changes: Any) -> Exchange:
    made = Exchange(
        url="https://a.example/page?q=1",
        request=b"GET /page?q=1 HTTP/1.1\r\nHost: a.example\r\n\r\n",
        head=head,
        body=Body(len(body), body),
        status=200,
        headers=(),
        started=NOON,
        timings=Timings(1_000, 20_000, 33_333),
        payload_digest=sha256(body).digest(),
        peer="192.0.2.7",
    )
    return replace(made, **changes)


def capture_of(original: Exchange) -> Capture:
    return Capture(
        url=original.url,
        surt="example,a)/page?q=1",
        at=original.started,
        kind="response",
        status=200,
        media_type="text/plain",
        digest=digest_text(original.payload_digest),
        content=None,
        size=5,
        record_id="urn:uuid:11111111-1111-4111-8111-111111111111",
        where=Location("x", 0, 1),
    )


TARGET = Target("https://a.example/page?q=1", depth=2, via="https://a.example/", hops="LE", tries=1)


def field(record: Record, name: str) -> str | None:
    return WarcHeader("1.1", record.fields).get(name)


def block(record: Record) -> bytes:
    return b"".join(part.data for part in record.block)


def stored(tmp_path: Path, records: list[Record] | tuple[Record, ...]) -> list[StoredRecord]:
    """The records as a reader finds them, after both referees have found the same and no fault."""
    path = tmp_path / "built.warc.gz"
    path.unlink(missing_ok=True)
    with WarcFile.create(path) as file:
        file.append(records)
    found = [item for item in scan(path) if isinstance(item, StoredRecord)]
    assert [verify(item) for item in found] == [[]] * len(records)
    ids = [item.header.get("WARC-Record-ID") for item in found]
    with path.open("rb") as stream:
        checked = []
        for record in ArchiveIterator(stream, check_digests="raise"):
            record.content_stream().read()
            record.raw_stream.read()
            checked.append(record.rec_headers.get_header("WARC-Record-ID"))
    assert checked == ids
    with path.open("rb") as stream:
        fast = []
        for record in FastIterator(stream, parse_http=False):
            assert record.verify_block_digest()
            fast.append(record.record_id)
    assert [f"<{name}>" for name in fast] == ids or fast == ids
    return found


def test_an_exchange_is_a_request_a_response_and_metadata(tmp_path: Path) -> None:
    request, response, about = stored(tmp_path, exchange_records(exchange(), target=TARGET))
    assert [item.header.kind for item in (request, response, about)] == [
        "request",
        "response",
        "metadata",
    ]
    assert request.data == exchange().request
    assert response.data == HEAD + b"hello"
    for item in (request, response, about):
        assert item.header.get("WARC-Target-URI") == "https://a.example/page?q=1"
        assert item.header.get("WARC-Date") == "2026-11-06T21:20:00.123456Z"
        assert item.header.get("WARC-Block-Digest")
    assert response.header.get("Content-Type") == "application/http; msgtype=response"
    assert request.header.get("Content-Type") == "application/http; msgtype=request"
    assert response.header.get("WARC-Payload-Digest") == digest_text(sha256(b"hello").digest())
    response_id = response.header.get("WARC-Record-ID")
    assert request.header.get("WARC-Concurrent-To") == response_id
    assert about.header.get("WARC-Concurrent-To") == response_id
    assert response.header.get("WARC-IP-Address") == "192.0.2.7"
    assert response.header.get_all("WARC-Protocol") == ["http/1.1"]
    assert parse_fields(about.data or b"") == (
        ("via", "https://a.example/"),
        ("hopsFromSeed", "LE"),
        ("depth", "2"),
        ("tries", "1"),
        ("fetchTimeMs", "33"),
        ("connectTimeMs", "1"),
        ("firstByteMs", "20"),
    )


def test_the_digest_of_a_chunked_answer_is_that_of_the_stored_bytes(tmp_path: Path) -> None:
    body = b"5\r\nhello\r\n0\r\n\r\n"
    found = stored(tmp_path, exchange_records(exchange(CHUNKED, body), target=TARGET))[1]
    assert found.header.get("WARC-Payload-Digest") == digest_text(sha256(body).digest())
    assert judge(found).verified == 2


@pytest.mark.parametrize("head", [INTERIM + HEAD, b""])
def test_no_payload_digest_where_readers_would_look_elsewhere(tmp_path: Path, head: bytes) -> None:
    start = len(INTERIM) if head else 0
    made = exchange_records(exchange(head, head_start=start), target=TARGET)
    found = stored(tmp_path, made)[1]
    assert found.data == head + b"hello"
    assert found.header.get("WARC-Payload-Digest") is None
    assert found.header.get("WARC-Block-Digest") is not None
    assert found.header.get_all("WARC-Protocol") == ["http/1.1" if head else "http/0.9"]


def test_how_an_answer_came_is_on_its_record(tmp_path: Path) -> None:
    came = exchange(
        truncated="disconnect",
        anomalies=("lf-line-ends", "obs-fold"),
        tls=Tls("TLSv1.3", "TLS_AES_256_GCM_SHA384", verified=False, problem="self-signed"),
        peer="2001:db8::7%eth0",
    )
    header = stored(tmp_path, exchange_records(came, target=TARGET))[1].header
    assert header.get("WARC-Truncated") == "disconnect"
    assert header.get("WARC-Asof-Anomalies") == "lf-line-ends, obs-fold"
    assert header.get("WARC-Asof-TLS-Problem") == "self-signed"
    assert header.get_all("WARC-Protocol") == ["http/1.1", "tls/1.3"]
    assert header.get("WARC-Cipher-Suite") == "TLS_AES_256_GCM_SHA384"
    assert header.get("WARC-IP-Address") == "2001:db8::7"


@pytest.mark.parametrize(
    ("version", "written"), [("TLSv1", "tls/1.0"), ("TLSv1.2", "tls/1.2"), ("SSLv3", "ssl/3")]
)
def test_tls_versions_and_suites_have_their_registered_names(version: str, written: str) -> None:
    secure = exchange(tls=Tls(version, "ECDHE-RSA-AES128-GCM-SHA256"))
    header = WarcHeader("1.1", exchange_records(secure, target=TARGET)[1].fields)
    assert header.get_all("WARC-Protocol") == ["http/1.1", written]
    assert header.get("WARC-Cipher-Suite") == "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
    assert header.get("WARC-Asof-TLS-Problem") is None


@pytest.mark.parametrize("peer", ["", "proxy.example", "192.0.2.7\r\nWARC-Type: forged", "::g"])
def test_what_is_no_address_is_not_written_as_one(peer: str) -> None:
    records = exchange_records(exchange(peer=peer), target=TARGET)
    assert [field(record, "WARC-IP-Address") for record in records] == [None] * 3


EARLIER = replace(
    capture_of(exchange()),
    kind="revisit",
    refers_to_url="https://a.example/first",
    refers_to_at=NOON - SECOND,
)


def reference_of(record: StoredRecord) -> tuple[str | None, int | None]:
    """What asof reads that a revisit is about."""
    row = derive(record)
    assert row is not None
    return row.refers_to_url, row.refers_to_at


def test_an_equal_payload_becomes_a_revisit_with_the_head_only(tmp_path: Path) -> None:
    first = exchange()
    again = exchange(HEAD.replace(b"text", b"TEXT"), started=NOON + SECOND)
    made = exchange_records(again, target=TARGET, refers_to=capture_of(first))
    found = stored(tmp_path, made)[1]
    assert found.header.kind == "revisit"
    assert found.data == again.head
    assert found.header.get("WARC-Profile") == (
        "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    )
    assert found.header.get("WARC-Payload-Digest") == digest_text(first.payload_digest)
    assert found.header.get("WARC-Refers-To") == "<urn:uuid:11111111-1111-4111-8111-111111111111>"
    assert found.header.get("WARC-Refers-To-Target-URI") == first.url
    # Indexes by other tools know whole seconds only.
    assert found.header.get("WARC-Refers-To-Date") == "2026-11-06T21:20:00Z"
    assert reference_of(found) == (first.url, first.started)
    assert found.header.get("WARC-Truncated") is None


def test_a_payload_that_differs_in_a_byte_is_kept_whole() -> None:
    earlier = capture_of(exchange(body=b"jello"))
    made = exchange_records(exchange(), target=TARGET, refers_to=earlier)
    assert field(made[1], "WARC-Type") == "response"
    assert block(made[1]) == HEAD + b"hello"


def test_a_304_confirms_an_earlier_capture(tmp_path: Path) -> None:
    head = b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n'
    fresh = exchange(head, b"", status=304)
    made = exchange_records(fresh, target=TARGET, refers_to=capture_of(exchange()))
    found = stored(tmp_path, made)[1]
    assert found.header.kind == "revisit"
    # Others would show the head of the block: an empty page. It lies beside it, byte for byte.
    assert (found.data, block_of(found.header)) == (b"", head)
    assert found.header.get("WARC-Profile") == (
        "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    )
    assert found.header.get("WARC-Refers-To-Target-URI") == exchange().url
    assert found.header.get("WARC-Refers-To-Date") == "2026-11-06T21:20:00Z"
    assert reference_of(found) == (exchange().url, NOON)
    row = derive(found)
    assert row is not None
    assert (row.status, row.etag, row.size) == (304, '"1"', 0)
    assert found.header.get("WARC-Payload-Digest") == capture_of(exchange()).digest
    alone = exchange_records(fresh, target=TARGET)[1]
    assert field(alone, "WARC-Type") == "response"


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 304 100%\r\nX-Odd: \xff\x00 %0A\tcaf\xe9\r\n\r\n",
        INTERIM + b"HTTP/1.1 304 Not Modified\n\n",
        b" HTTP/1.1 304 ",
        b"HTTP/1.1 304 Not Modified\r\n" + b"X-Long: " + b"%" * 20_000 + b"\r\n\r\n",
    ],
)
def test_of_a_304_no_byte_is_lost(tmp_path: Path, head: bytes) -> None:
    fresh = exchange(head, b"", status=304)
    made = exchange_records(fresh, target=TARGET, refers_to=capture_of(exchange()))
    found = stored(tmp_path, made)[1]
    assert (found.data or b"") + block_of(found.header) == head


def test_a_304_refers_to_where_the_payload_lies_and_speaks_of_its_own_url(tmp_path: Path) -> None:
    """Neither pywb nor replayweb.page goes on from one revisit to another."""
    fresh = exchange(b"HTTP/1.1 304 Not Modified\r\n\r\n", b"", status=304)
    found = stored(tmp_path, exchange_records(fresh, target=TARGET, refers_to=EARLIER))[1]
    assert found.header.get("WARC-Refers-To-Target-URI") == "https://a.example/first"
    assert found.header.get("WARC-Refers-To-Date") == "2026-11-06T21:19:59Z"
    assert reference_of(found) == (exchange().url, NOON)


def test_a_revisit_of_a_revisit_refers_to_the_first(tmp_path: Path) -> None:
    found = stored(tmp_path, exchange_records(exchange(), target=TARGET, refers_to=EARLIER))[1]
    assert found.header.get("WARC-Refers-To") is None
    assert found.header.get("WARC-Refers-To-Target-URI") == "https://a.example/first"
    assert found.header.get("WARC-Refers-To-Date") == "2026-11-06T21:19:59Z"
    assert reference_of(found) == ("https://a.example/first", NOON - SECOND)


def test_a_failure_is_metadata_with_its_reason(tmp_path: Path) -> None:
    failure = Failure(
        "https://a.example/x", "tls", "expired\r\nWARC-Type: forged", NOON, tls=Tls("", "", False)
    )
    [found] = stored(tmp_path, [failure_record(failure, TARGET)])
    assert found.header.kind == "metadata"
    assert found.header.get("WARC-Target-URI") == "https://a.example/x"
    assert dict(parse_fields(found.data or b"")) == {
        "fetchFailure": "tls",
        "fetchFailureDetail": "expired WARC-Type: forged",
        "fetchFailureTransient": "no",
        "via": "https://a.example/",
        "hopsFromSeed": "LE",
        "depth": "2",
        "tries": "1",
    }


def test_a_resource_has_both_digests(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.write_bytes(b"from a file")
    made = [
        resource("urn:x:1", b"from memory", "text/plain", NOON, extra=(("X-More", "1"),)),
        resource("urn:x:2", Body(11, spool=spool), "text/plain", NOON),
    ]
    found = stored(tmp_path, made)
    assert [item.data for item in found] == [b"from memory", b"from a file"]
    assert [judge(item).verified for item in found] == [2, 2]
    assert found[0].header.get("X-More") == "1"


CRAWL = Crawl(
    id="20261115-abc",
    seeds=("https://a.example/", "https://ü.example/\n"),
    started=NOON,
    state=CrawlState.RUNNING,
    settings={"robots": "ignore", "delay": 0.5, "exclude": ["x\r\ny: z"]},
    note='{"pages": 3}',
)


def test_a_crawl_can_be_rebuilt_from_its_files(tmp_path: Path) -> None:
    done = replace(CRAWL, state=CrawlState.FINISHED, ended=NOON + SECOND)
    found = stored(
        tmp_path, [warcinfo(CRAWL, "000001-x.warc.gz", NOON), crawl_record(done, NOON + SECOND)]
    )
    start, end = (read_crawl(item) for item in found)
    assert start == replace(CRAWL, state=CrawlState.INTERRUPTED)
    assert end == done
    info = dict(parse_fields(found[0].data or b""))
    assert found[0].header.get("WARC-Filename") == "000001-x.warc.gz"
    assert info["format"] == "WARC File Format 1.1"
    assert info["isPartOf"] == CRAWL.id
    assert info["robots"] == "ignore"
    assert re.fullmatch(r"asof/\d+\.\S+", info["software"])


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "{}", '{"id": 1, "seeds": [], "started": "2026-11-15T00:00:00Z"}',
        '{"id": "x", "seeds": {}, "started": "2026-11-15T00:00:00Z"}',
        '{"id": "x", "seeds": [], "started": "whenever"}', "[" * 100_000,
        # Shown on terminals, and a part of file names when it is resumed.
        *(json.dumps({"id": name, "seeds": [], "started": "2026-11-15T00:00:00Z"})
          for name in ("\x1b[2J", "../../x", "-x", "", "a b", "a" * 101)),
    ],
)  # fmt: skip
def test_what_a_foreign_file_says_of_a_crawl_is_not_trusted(text: str) -> None:
    header = WarcHeader("1.1", (("WARC-Type", "warcinfo"), ("WARC-Asof-Crawl", "x")))
    data = f"asof-crawl: {text}\r\n".encode()
    record = StoredRecord(Path("x"), Location("x", 0, 1), header, len(data), data)
    assert read_crawl(record) is None


def test_only_records_of_ours_speak_of_a_crawl(tmp_path: Path) -> None:
    made = [import_info("old.arc.gz", "arc", NOON), *exchange_records(exchange(), target=TARGET)]
    found = stored(tmp_path, made)
    assert [read_crawl(item) for item in found] == [None] * 4
    assert b"Converted from old.arc.gz (arc)." in (found[0].data or b"")


def test_record_ids_are_random_uuids() -> None:
    ids = {new_record_id() for _ in range(5000)}
    assert len(ids) == 5000
    pattern = r"<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>"
    assert all(re.fullmatch(pattern, each) for each in ids)


def test_hostile_text_reaches_no_line_of_its_own(tmp_path: Path) -> None:
    evil = "x\r\n\r\nWARC/1.1\r\nWARC-Type: forged\x00\ud800"
    came = exchange(
        url=f"https://a.example/{evil}",
        anomalies=(evil,),
        truncated=evil,
        tls=Tls(evil, evil, verified=False, problem=evil),
    )
    target = Target(came.url, via=evil, hops=evil)
    found = stored(tmp_path, exchange_records(came, target=target))
    assert [item.header.kind for item in found] == ["request", "response", "metadata"]
    assert all("forged" not in item.header.get_all("WARC-Type") for item in found)
    assert [name for name, _ in parse_fields(found[2].data or b"")].count("WARC-Type") == 0


def test_what_is_built_is_what_is_read_back(tmp_path: Path) -> None:
    """The catalog's rows are made from the built record, and again from the stored one."""
    odd = exchange(url="https://a.example/\x01 ü", anomalies=(" spaced ", "ü"))
    made = exchange_records(odd, target=TARGET)
    for built, found in zip(made, stored(tmp_path, made), strict=True):
        assert WarcHeader("1.1", built.fields).fields == found.header.fields[:-1]
