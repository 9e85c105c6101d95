"""A row of the ledger's `captures` table, and the capture that it holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from asof.clock import Instant
from asof.model import Capture, Location

# The columns of a row, in the order of the table, and their types. `segment` is missing: which
# segment a record lies in is known only to whoever enters it, and is the same for all rows entered
# together.
COLUMNS = (
    "surt", "at", "record_id", "url", "kind", "status", "media_type",
    "digest", "content", "size", "offset", "length",
    "etag", "last_modified", "redirect", "truncated",
    "profile", "refers_to_url", "refers_to_at", "anomalies", "age",
)  # fmt: skip
Row = tuple[
    str, Instant, str, str, str, int | None, str | None,
    str | None, str | None, int, int, int,
    str | None, Instant | None, str | None, str | None,
    str | None, str | None, Instant | None, str | None, int | None,
]  # fmt: skip


def capture_of(row: Row | Sequence[Any], file: str, crawl: str | None = None) -> Capture:
    """The capture that a row holds; the file and crawl are those of its segment."""
    (surt, at, record_id, url, kind, status, media_type, digest, content, size, offset, length,
     etag, last_modified, redirect, truncated, profile, refers_to_url, refers_to_at,
     anomalies, age) = row  # fmt: skip
    # By position, in the order of the dataclass: half the time of keywords, and lists are long.
    return Capture(
        url, surt, at, kind, status, media_type, digest, content, size, record_id,
        Location(file, offset, length), crawl, etag, last_modified, redirect, truncated, profile,
        refers_to_url, refers_to_at, tuple(anomalies.split()) if anomalies else (), age,
    )  # fmt: skip
