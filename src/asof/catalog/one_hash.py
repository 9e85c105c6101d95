"""Contents by one hash: tools hash differently, and equal contents show only under one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from asof.catalog.derive import sha256_content
from asof.errors import DamageError, InputError
from asof.model import Capture
from asof.warc.reader import read_record


def comparable(captures: Sequence[Capture], warc: Path) -> list[Capture]:
    """The captures in the same order, with the contents of each URL known by one hash."""
    hashes: dict[str, set[str]] = defaultdict(set)
    for capture in captures:
        if capture.content is not None:
            hashes[capture.url].add(capture.content.partition(":")[0])
    return [_rehashed(c, warc) if len(hashes[c.url]) > 1 else c for c in captures]


def _rehashed(capture: Capture, warc: Path) -> Capture:
    if capture.content is None or capture.content.startswith("sha256:"):
        return capture
    if capture.kind == "revisit":
        return replace(capture, content=None)  # what it refers to is rehashed
    try:
        record = read_record(warc / capture.where.file, capture.where.offset)
    except (DamageError, InputError):
        return capture
    return replace(capture, content=sha256_content(record, capture))
