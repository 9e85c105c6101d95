"""A Parquet index with the columns of the Common Crawl's, for DuckDB, Spark, pandas and the like.

Columns of the same name mean the same, with these differences: times are in microseconds, and
digests carry their algorithm. The columns from `kind` on are our own.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

import ada_url

from asof.errors import missing_extra
from asof.files import output_file
from asof.model import Capture
from asof.url import registered_domain

# A row group of captures takes about 100 MB while it is built, and scans well.
ROW_GROUP = 50_000

_COLUMNS = {
    "url_surtkey": "string", "url": "string", "url_host_name": "string", "url_host_tld": "string",
    "url_host_registered_domain": "string", "url_protocol": "string", "url_port": "int32",
    "url_path": "string", "url_query": "string", "fetch_time": "timestamp", "fetch_status": "int16",
    "content_digest": "string", "content_mime_type": "string", "content_truncated": "string",
    "warc_filename": "string", "warc_record_offset": "int64", "warc_record_length": "int64",
    "kind": "string", "entity_digest": "string", "record_id": "string", "crawl": "string",
    "last_modified": "timestamp", "etag": "string",
}  # fmt: skip
# What fills the columns from `fetch_time` on.
_VALUES = attrgetter(
    "at", "status", "digest", "media_type", "truncated", "where.file", "where.offset",
    "where.length", "kind", "content", "record_id", "crawl", "last_modified", "etag",
)  # fmt: skip
_DOMAIN = 0  # ada's HostType of a name, as against an IPv4 or IPv6 address


def write_parquet(captures: Iterable[Capture], out: Path) -> int:
    """Write an index of the captures, a row group at a time; how many there were."""
    rows = ((c.surt, c.url, *_place(c.url), *_VALUES(c)) for c in captures)
    return write_rows(_COLUMNS, rows, out, ROW_GROUP)


def write_rows(
    columns: Mapping[str, str], rows: Iterable[tuple[object, ...]], out: Path, group: int
) -> int:
    """Write rows of such columns (names and types), so many at a time; how many there were.

    The file gets its name when it is whole and on the disk. Needs the extra `asof[parquet]`.
    """
    arrow, parquet = pyarrow()
    types = {"timestamp": arrow.timestamp("us", tz="UTC")}
    schema = arrow.schema(
        [(name, types.get(kind) or getattr(arrow, kind)()) for name, kind in columns.items()]
    )
    source, count = iter(rows), 0
    with output_file(out) as file, parquet.ParquetWriter(file, schema, compression="zstd") as table:
        while some := list(islice(source, group)):
            values = [list(column) for column in zip(*some, strict=True)]
            table.write_table(arrow.table(values, schema=schema))
            count += len(some)
    return count


def pyarrow() -> tuple[Any, Any]:
    """The one place where pyarrow is imported: it is large, and few need it."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise missing_extra("Writing Parquet", "pyarrow", "parquet") from error
    return arrow, parquet


def _place(url: str) -> tuple[str | int | None, ...]:
    """Host name, TLD, registered domain, protocol, port, path and query of a URL."""
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        scheme, colon, _ = url.partition(":")
        return None, None, None, scheme if colon else None, None, None, None
    host = parsed.hostname or None
    named = host if host and parsed.host_type == _DOMAIN and "." in host else None
    return (
        host,
        named and named.rpartition(".")[2],
        named and registered_domain(named),
        parsed.protocol.removesuffix(":"),
        int(parsed.port) if parsed.port else None,
        parsed.pathname,
        parsed.search.removeprefix("?") or None,
    )
