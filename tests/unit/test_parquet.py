"""The Parquet index: columns of the Common Crawl, and what is known without a network."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from asof.catalog import parquet as module
from asof.catalog.parquet import write_parquet
from asof.clock import to_datetime
from asof.errors import UsageError
from asof.model import Capture, Location
from support.captures import plain_capture

AT = 1_600_000_000_123_456


def capture(url: str, number: int = 0) -> Capture:
    return plain_capture(
        url,
        AT,
        content="sha256:B",
        record_id=f"id-{number}",
        where=Location("000001-x.warc.gz", 1 << 40, 7),
        crawl="crawl-1",
        etag='"e"',
        last_modified=AT - 1,
        truncated="length",
    )


@pytest.mark.needs("module:pyarrow")
def test_a_row_in_full(tmp_path: Path) -> None:
    import pyarrow.parquet

    out = tmp_path / "index.parquet"
    assert write_parquet([capture("https://www.example.org:8443/a?b=c")], out) == 1
    assert pyarrow.parquet.read_table(out).to_pylist() == [
        {
            "url_surtkey": "org,example:8443)/a?b=c",
            "url": "https://www.example.org:8443/a?b=c",
            "url_host_name": "www.example.org",
            "url_host_tld": "org",
            "url_host_registered_domain": "example.org",
            "url_protocol": "https",
            "url_port": 8443,
            "url_path": "/a",
            "url_query": "b=c",
            "fetch_time": to_datetime(AT),
            "fetch_status": 200,
            "content_digest": "sha1:A",
            "content_mime_type": "text/html",
            "content_truncated": "length",
            "warc_filename": "000001-x.warc.gz",
            "warc_record_offset": 1 << 40,
            "warc_record_length": 7,
            "kind": "response",
            "entity_digest": "sha256:B",
            "record_id": "id-0",
            "crawl": "crawl-1",
            "last_modified": to_datetime(AT - 1),
            "etag": '"e"',
        }
    ]
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.needs("module:pyarrow")
@pytest.mark.parametrize(
    ("url", "host", "tld", "domain", "port", "path"),
    [
        ("http://www.example.co.uk/", "www.example.co.uk", "uk", "example.co.uk", None, "/"),
        ("http://a.github.io/", "a.github.io", "io", "github.io", None, "/"),
        ("http://192.0.2.7/x", "192.0.2.7", None, None, None, "/x"),
        ("http://[::1]:8080/", "[::1]", None, None, 8080, "/"),
        ("http://localhost/", "localhost", None, None, None, "/"),
        ("dns:example.org", None, None, None, None, "example.org"),
        ("http://a b/", None, None, None, None, None),
    ],
)
def test_what_is_not_known_is_null(
    tmp_path: Path, url: str, host: str, tld: str, domain: str, port: int, path: str
) -> None:
    import pyarrow.parquet

    write_parquet([capture(url)], tmp_path / "index.parquet")
    (row,) = pyarrow.parquet.read_table(tmp_path / "index.parquet").to_pylist()
    assert (row["url_host_name"], row["url_host_tld"]) == (host, tld)
    assert (row["url_host_registered_domain"], row["url_port"]) == (domain, port)
    assert row["url_path"] == path


@pytest.mark.needs("module:pyarrow")
def test_rows_go_out_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet

    monkeypatch.setattr(module, "ROW_GROUP", 10)
    out = tmp_path / "index.parquet"
    assert write_parquet((capture("http://x/", n) for n in range(25)), out) == 25
    found = pyarrow.parquet.ParquetFile(out)
    assert found.num_row_groups == 3
    assert found.read().column("record_id").to_pylist() == [f"id-{n}" for n in range(25)]
    assert write_parquet([], tmp_path / "empty.parquet") == 0
    assert pyarrow.parquet.read_table(tmp_path / "empty.parquet").num_rows == 0


@pytest.mark.needs("module:pyarrow")
def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        write_parquet([], tmp_path / "nowhere" / "index.parquet")


def test_without_pyarrow_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install pyarrow"):
        write_parquet([], tmp_path / "index.parquet")
    assert list(tmp_path.iterdir()) == []
