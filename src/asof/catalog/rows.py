"""A row of the ledger's `captures` table, and the capture that it holds."""

from collections.abc import Sequence
from sys import intern
from typing import Any, TypeVar

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


# What the keys of answers to other methods than GET begin with (asof.catalog.asked). It sorts
# behind all others, so that no range of keys has them.
APART = "\U0010ffff"

# Of a status or size not an integer of its own in each row.
_SMALL: dict[Any, Any] = {number: number for number in range(1 << 14)}
_Value = TypeVar("_Value", str | None, Instant | None)


def capture_of(
    row: Row | Sequence[Any], file: str, crawl: str | None = None, like: Capture | None = None
) -> Capture:
    """The capture that a row holds; the file and crawl are those of its segment.

    What it says with the words of a neighbour (`like`) is not kept twice: lists are long.
    """
    (surt, at, record_id, url, kind, status, media_type, digest, content, size, offset, length,
     etag, last_modified, redirect, truncated, profile, refers_to_url, refers_to_at,
     anomalies, age) = row  # fmt: skip
    if like is not None and like.surt == surt:
        surt = like.surt
        url, digest, etag = _one(url, like.url), _one(digest, like.digest), _one(etag, like.etag)
        last_modified = _one(last_modified, like.last_modified)
        refers_to_at = _one(refers_to_at, like.at)
    content, refers_to_url = _one(content, digest), _one(refers_to_url, url)
    status = _SMALL.get(status, status)
    size, length = _SMALL.get(size, size), _SMALL.get(length, length)
    # By position, in the order of the dataclass: half the time of keywords, and lists are long.
    return Capture(
        url, surt, at, intern(kind), status, media_type and intern(media_type), digest, content,
        size, record_id, Location(intern(file), offset, length), crawl and intern(crawl), etag,
        last_modified, redirect, truncated, profile and intern(profile), refers_to_url,
        refers_to_at, tuple(anomalies.split()) if anomalies else (), age,
    )  # fmt: skip


def _one(value: _Value, known: _Value) -> _Value:
    """One of two equal values, always the same."""
    return known if value == known else value
