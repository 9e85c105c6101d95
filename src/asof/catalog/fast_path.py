"""Rows straight from unpacked records that are written as most tools write them.

`derive.row` understands every record; this understands one shape of a response, gives exactly the
same row for it (a property test compares the two), and None for anything else. It spares the making
of values that only the row needs, for import and reindex go through here a million times over:
29 us a record by `derive.row`, 5 here, where there was a C compiler at installation (ADR 7).
"""

from __future__ import annotations

from asof.catalog.dates import modified, warc_date
from asof.catalog.rows import Row
from asof.native import compiled
from asof.url import surt


def fast_row(content: bytes | bytearray, offset: int, length: int) -> Row | tuple[()] | None:
    """The row of the one record that a member holds, if it is a plain response.

    Empty for a record that goes with one (a request, or metadata about it) and is no capture.
    """
    found = compiled.response(content) if compiled is not None else None
    if not found:
        return found
    date, record_id, url, status, media_type, digest, size, etag, changed, truncated = found
    at = warc_date(date)
    if at is None:
        return None
    return (
        surt(url), at, record_id, url, "response", status, media_type, digest, digest, size,
        offset, length, etag, None if changed is None else modified(changed, at),
        None, truncated, None, None, None, None,
    )  # fmt: skip
