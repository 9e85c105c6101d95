"""What every archive knows of its documents, and of which kind, before any of them is read."""

from __future__ import annotations

from collections.abc import Mapping

from asof.cover.language.columns import Column, ColumnKind, number_column, text_column, time_column


def _empty(kind: ColumnKind) -> Column:
    if kind == "number":
        return number_column([])
    return time_column([]) if kind == "time" else text_column([])


_KINDS: Mapping[str, ColumnKind] = {
    "url": "text",
    "hostname": "text",
    "domain": "text",
    "timestamp": "time",
    "mime-type": "text",
    "title": "text",
    "language": "text",
    "length": "number",
    "size": "number",
    "status": "number",
    "crawl": "text",
}

ARCHIVE_COLUMNS: Mapping[str, Column] = {name: _empty(kind) for name, kind in _KINDS.items()}
"""The columns of of_archive.py, of no document: a rule can be checked against them."""
