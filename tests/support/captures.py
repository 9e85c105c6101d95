"""Rows of the catalog, of which a test says only what matters to it."""

from __future__ import annotations

from typing import Any

from asof.clock import Instant
from asof.model import Capture, Location
from asof.url import surt


def plain_capture(url: str, at: Instant, **fields: Any) -> Capture:
    """A page that was taken, but for what the fields say."""
    plain: dict[str, Any] = {
        "surt": surt(url), "kind": "response", "status": 200, "media_type": "text/html",
        "digest": "sha1:A", "content": "sha256:A", "size": 1, "record_id": f"{at}",
        "where": Location("file", 0, 1),
    }  # fmt: skip
    return Capture(url=url, at=at, **(plain | fields))
