"""Captures put into a catalog as they are, without records that they come from."""

from __future__ import annotations

from collections.abc import Iterable

from asof.catalog.captures import Catalog
from asof.catalog.rows import Row
from asof.model import Capture


def row_of(capture: Capture) -> Row:
    """The row that holds a capture."""
    c, where = capture, capture.where
    return (
        c.surt, c.at, c.record_id, c.url, c.kind, c.status, c.media_type, c.digest, c.content,
        c.size, where.offset, where.length, c.etag, c.last_modified, c.redirect, c.truncated,
        c.profile, c.refers_to_url, c.refers_to_at, " ".join(c.anomalies) or None, c.age,
    )  # fmt: skip


def enter(catalog: Catalog, captures: Iterable[Capture], segment_no: int) -> int:
    """Enter captures that lie in a segment; how many were new."""
    return catalog.add_rows([row_of(capture) for capture in captures], segment_no)
