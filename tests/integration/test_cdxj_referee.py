"""cdxj-indexer referees our CDXJ lines: the same bytes for the same WARC files."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from asof.catalog.captures import Catalog
from asof.catalog.cdxj import cdxj_lines
from asof.catalog.derive import derive
from asof.ledger import Ledger
from asof.model import Segment
from asof.warc.reader import scan
from asof.warc.record import StoredRecord
from support.catalog_entry import enter

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

INDEXER = Path(sys.executable).with_name("cdxj-indexer")
ODD_URLS = [
    "http://example.org/a b c",
    "http://Example.ORG:80/UPPER?b=2&a=1",
    "https://user:pw@www2.example.org:8443/x/../y//z/",
    "http://bücher.example/ä?ö=ü",
    "http://example.org/%7Euser/%2541?sid=0123456789abcdef0123456789abcdef&x",
    "http://example.org:notaport/",
    "http://[2001:db8::1]:8080/",
    "http://127.1/",
    "http://example.org/\u2603",
]


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[Callable[[Path], str]]:
    """Our index of a file: every record through the reader, the derivation and the catalog."""
    ledger = Ledger(tmp_path / "asof.db", writable=True)
    catalog = Catalog(ledger)

    def index(path: Path) -> str:
        number = catalog.put_segment(Segment(path.name, path.stat().st_size))
        records = [found for found in scan(path) if isinstance(found, StoredRecord)]
        captures = [capture for record in records if (capture := derive(record)) is not None]
        assert enter(catalog, captures, number) == len(captures)
        return "".join(cdxj_lines(catalog.captures()))

    yield index
    ledger.close()


def theirs(path: Path) -> str:
    done = subprocess.run(
        [INDEXER, "--sort", path], capture_output=True, check=True, timeout=60, encoding="utf-8"
    )
    # The status of a 304 would make replay tools show an empty page: we leave it out.
    revisit = '"mime": "warc/revisit", '
    lines = done.stdout.replace(f'{revisit}"status": "304", ', revisit).splitlines(keepends=True)
    return "".join(sorted(lines))


def write_with_warcio(path: Path, version: str, *, packed: bool) -> None:
    """One record of every kind and coding that warcio can write."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=packed, warc_version=version)
        writer.write_record(writer.create_warcinfo_record(path.name, {"software": "test"}))
        for number, url in enumerate(["http://example.org/", "https://example.org/s", *ODD_URLS]):
            writer.write_record(response(writer, url, b"body %d" % number, number))
        packed_body = gzip.compress(b"hello" * 50)
        chunked = b"5\r\nhello\r\n0\r\n\r\n"
        gzipped = [("Content-Encoding", "gzip"), ("Content-Type", "text/html;charset=x")]
        writer.write_record(response(writer, "http://example.org/gz", packed_body, 1, gzipped))
        in_chunks = [("Transfer-Encoding", "chunked"), ("Content-Type", "TEXT/HTML ; a=b")]
        writer.write_record(response(writer, "http://example.org/chunked", chunked, 2, in_chunks))
        moved = response(
            writer, "http://example.org/moved", b"", 3, [("Location", "/")], "301 Moved"
        )
        writer.write_record(moved)
        write_revisits(writer)
        write_others(writer)
        request = writer.create_warc_record(
            "http://example.org/post",
            "request",
            payload=io.BytesIO(b"a=1"),
            length=3,
            http_headers=StatusAndHeaders(
                "POST /post HTTP/1.1", [("Host", "x")], is_http_request=True
            ),
            warc_headers_dict={"WARC-Date": "2020-02-02T02:02:02Z"},
        )
        writer.write_request_response_pair(
            request, response(writer, "http://example.org/post", b"posted", 4)
        )


def response(
    writer: WARCWriter,
    url: str,
    body: bytes,
    second: int,
    headers: list[tuple[str, str]] | None = None,
    status: str = "200 OK",
) -> Any:
    return writer.create_warc_record(
        url,
        "response",
        payload=io.BytesIO(body),
        length=len(body),
        http_headers=StatusAndHeaders(
            status, headers or [("Content-Type", "text/html")], protocol="HTTP/1.1"
        ),
        warc_headers_dict={"WARC-Date": f"2020-01-02T03:04:{second:02}Z"},
    )


def write_revisits(writer: WARCWriter) -> None:
    date = {"WARC-Date": "2020-03-03T03:03:03.123456Z"}
    for headers in (
        None,
        StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1"),
        StatusAndHeaders("304 Not Modified", [("ETag", '"a"')], protocol="HTTP/1.1"),
    ):
        writer.write_record(
            writer.create_revisit_record(
                "http://example.org/",
                "sha1:B6QJ6BNJ3R4B23XXMRKZKHLPGJY2VE4O",
                "http://example.org/",
                "2020-01-02T03:04:00Z",
                http_headers=headers,
                warc_headers_dict=dict(date),
            )
        )


def write_others(writer: WARCWriter) -> None:
    date = {"WARC-Date": "2020-04-04T04:04:04Z"}
    for kind, url, media_type in (
        ("resource", "http://example.org/picture.png", "image/png"),
        ("resource", "urn:pageinfo:http://example.org/", "application/json; x=y"),
        ("resource", "file:///etc/passwd", "application/warc-fields"),
        ("metadata", "http://example.org/", "application/warc-fields"),
        ("metadata", "metadata://gnu.org/software/wget/warc/MANIFEST.txt", "text/plain"),
        ("response", "dns:example.org", "text/dns"),
        ("conversion", "http://example.org/", "text/plain"),
    ):
        writer.write_record(
            writer.create_warc_record(
                url,
                kind,
                payload=io.BytesIO(b"20200404040404\nsome bytes"),
                length=25,
                warc_content_type=media_type,
                warc_headers_dict=dict(date),
            )
        )


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize("packed", [True, False])
def test_files_by_warcio(
    tmp_path: Path, ours: Callable[[Path], str], version: str, packed: bool
) -> None:
    path = tmp_path / ("000001-test.warc.gz" if packed else "000001-test.warc")
    write_with_warcio(path, version, packed=packed)
    expected = theirs(path)
    assert len(expected.splitlines()) == 22
    assert ours(path) == expected


HEADS = [
    b"HTTP/1.1 200\r\nContent-Type: text/html\r\n\r\n",
    b"HTTP/1.0 404 Not Found\r\ncontent-type:text/plain\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type:\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: ; charset=x\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Type: c/d\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html,\r\n\tx/y\r\n\r\n",
    b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n",
    b"HTTP/1.1 200 OK\r\nno colon\r\nContent-Type : text/html\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: \xe9\r\nContent-Type: text/\xe9;x\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Type: text/é;x\r\n\r\n".encode(),
    b"HTTP/1.1 599 Odd\r\nContent-Type: Text/HTML\r\n\r\n",
]
URLS = ["http://example.org/%d", "<http://example.org/%d>", "http://example.org/%d a\u00e9"]
DATES = ["2008-04-16T14:30:15Z", "2020-01-02T03:04:05.123456789Z", "2020-01-02T03:04:05.5Z"]


def by_hand() -> bytes:
    """Records as other tools write them: no digests, brackets, odd heads, dates of every kind."""
    made = []
    for number, head in enumerate(HEADS):
        version = ("0.17", "1.0", "1.1")[number % 3]
        block = head + b"payload"
        fields = [
            ("WARC-Type", "response"),
            ("WARC-Target-URI", URLS[number % 3] % (number % 4)),
            ("WARC-Date", DATES[number % 3]),
            ("WARC-Record-ID", f"<urn:uuid:00000000-0000-0000-0000-{number:012}>"),
            ("Content-Type", "application/http; msgtype=response"),
            ("Content-Length", str(len(block))),
        ]
        if number % 2:
            fields.append(("WARC-Payload-Digest", "sha1:UOEZTJ4I3CGAQ6DNSY7ZFJ3BAVIHUMKD"))
        lines = [f"WARC/{version}", *(f"{name}: {value}" for name, value in fields), "", ""]
        record = "\r\n".join(lines).encode() + block + b"\r\n\r\n"
        made.append(gzip.compress(record, mtime=0))
    return b"".join(made)


def test_files_by_other_hands(tmp_path: Path, ours: Callable[[Path], str]) -> None:
    path = tmp_path / "000001-hand.warc.gz"
    path.write_bytes(by_hand())
    expected = theirs(path)
    assert len(expected.splitlines()) == len(HEADS)
    assert ours(path) == expected


def test_an_interim_response_is_where_we_differ(
    tmp_path: Path, ours: Callable[[Path], str]
) -> None:
    """The referee takes the 103 for the answer. We take what came after it, and say so."""
    early = b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: a/b\r\n\r\nhello"
    header = (
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/\r\n"
        "WARC-Date: 2020-01-02T03:04:05Z\r\nWARC-Record-ID: <urn:x:1>\r\n"
        f"Content-Type: application/http\r\nContent-Length: {len(early)}\r\n\r\n"
    )
    path = tmp_path / "000001-early.warc"
    path.write_bytes(header.encode() + early + b"\r\n\r\n")
    entries = [
        json.loads(line.partition("{")[1] + line.partition("{")[2])
        for line in (theirs(path), ours(path))
    ]
    assert [entry["status"] for entry in entries] == ["103", "200"]
    assert entries[1]["mime"] == "a/b"
