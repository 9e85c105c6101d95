"""A capture as a row of the ledger's `captures` table, and back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from asof.clock import Instant
from asof.ledger import Ledger, translate
from asof.model import Capture, Location

# The columns of a row, in the order of the table. `segment` is missing: which segment a record
# lies in is known only to whoever enters it, and is the same for all rows entered together.
COLUMNS = (
    "surt",
    "at",
    "record_id",
    "url",
    "kind",
    "status",
    "media_type",
    "digest",
    "content",
    "size",
    "offset",
    "length",
    "etag",
    "last_modified",
    "redirect",
    "truncated",
    "profile",
    "refers_to_url",
    "refers_to_at",
    "anomalies",
)

Row = tuple[
    str,
    Instant,
    str,
    str,
    str,
    int | None,
    str | None,
    str | None,
    str | None,
    int,
    int,
    int,
    str | None,
    Instant | None,
    str | None,
    str | None,
    str | None,
    str | None,
    Instant | None,
    str | None,
]


def row_of(capture: Capture) -> Row:
    """The row that holds a capture."""
    where = capture.where
    return (
        capture.surt,
        capture.at,
        capture.record_id,
        capture.url,
        capture.kind,
        capture.status,
        capture.media_type,
        capture.digest,
        capture.content,
        capture.size,
        where.offset,
        where.length,
        capture.etag,
        capture.last_modified,
        capture.redirect,
        capture.truncated,
        capture.profile,
        capture.refers_to_url,
        capture.refers_to_at,
        " ".join(capture.anomalies) or None,
    )


def capture_of(row: Row | Sequence[Any], file: str, crawl: str | None = None) -> Capture:
    """The capture that a row holds; the file and crawl are those of its segment."""
    # fmt: off
    (surt, at, record_id, url, kind, status, media_type, digest, content, size, offset, length,
     etag, last_modified, redirect, truncated, profile, refers_to_url, refers_to_at,
     anomalies) = row
    # fmt: on
    # By position, in the order of the dataclass: half the time of keywords, and lists are long.
    return Capture(
        url,
        surt,
        at,
        kind,
        status,
        media_type,
        digest,
        content,
        size,
        record_id,
        Location(file, offset, length),
        crawl,
        etag,
        last_modified,
        redirect,
        truncated,
        profile,
        refers_to_url,
        refers_to_at,
        tuple(anomalies.split()) if anomalies else (),
    )


def fetch(ledger: Ledger, sql: str, values: Sequence[str | int] = ()) -> list[tuple[Any, ...]]:
    """The rows of a query, with SQLite's errors as ours."""
    with translated(ledger):
        return ledger.db.execute(sql, values).fetchall()


@contextmanager
def translated(ledger: Ledger) -> Iterator[None]:
    """SQLite's errors as ours, also inside a transaction that someone else opened."""
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, ledger.path) from error
