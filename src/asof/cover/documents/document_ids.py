"""Ids by which the documents of an archive are known again, without reading their texts.

A document_id says which record a document is (file, offset, id), what the catalog knows of it, and
by what it was read: the place of its text in the text database. As long as all of that is the same,
so are its shingles and its columns.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any, Literal, Self

import numpy as np

from asof.archive.archive import OpenArchive
from asof.change.shingles import Unit, shingles
from asof.ledger import SCHEMA_VERSION
from asof.model import Capture
from asof.text.database import VERSION as TEXT_VERSION
from asof.text.database import TextDatabase
from asof.text.document import Document
from asof.text.store import document_key

Which = Literal["main", "full"]

# One up whenever a collection of the same captures and texts comes out otherwise.
FORMAT = 4
DOCUMENT_ID = np.dtype("S16")
# A hash of a text that never changes: whoever hashes shingles otherwise has other collections.
_PROBE = "What can be kept between two runs is kept between them"


def ways(which: Which, k: int, unit: Unit) -> tuple[object, ...]:
    """How documents are read and cut into shingles: what one way gives is of no use to another."""
    return FORMAT, SCHEMA_VERSION, TEXT_VERSION, which, k, unit, shingles(_PROBE, k, unit).tolist()


def kind_of(which: Which, k: int, unit: Unit) -> str:
    """A choice of text and shingles, as files are named by it."""
    return f"{which}-{k}{'c' if unit == 'characters' else ''}"


def texts_read(archive: OpenArchive) -> tuple[Any, ...] | None:
    """How many documents are read, of how many bytes, and how many could not be.

    Read again, a document that took too long the first time may have a text.
    """
    path = archive.folder.texts
    if not path.exists():
        return None
    database = TextDatabase(path, writable=False)
    try:
        if not database.is_current:
            return None
        return database.fetch("SELECT count(*), sum(size), count(error) FROM documents")
    finally:
        database.close()


class DocumentIdentifier:
    """DocumentIds for the captures of one archive."""

    def __init__(self, archive: OpenArchive, which: Which, k: int, unit: Unit) -> None:
        self._ways = json.dumps(ways(which, k, unit)).encode()
        path = archive.folder.texts
        self._database = TextDatabase(path, writable=False) if path.exists() else None
        self._is_current = self._database is not None and self._database.is_current

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._database is not None:
            self._database.close()

    def id_of(self, capture: Capture) -> bytes | None:
        """The id of a capture whose text was read and kept; None where it would have to be read."""
        content = capture.content or capture.digest
        if not content or self._database is None or not self._is_current:
            return None
        row = self._database.fetch(
            "SELECT key, block, start, size, title, language, error FROM documents WHERE key = ?",
            document_key(capture.url, content, capture.media_type),
        )
        return None if row is None else self._digest(capture, *row)

    def id_as_read(self, capture: Capture, document: Document) -> bytes:
        """The id of a capture whose text is not kept: by what it says."""
        return self._digest(
            capture, "apart", document.title, document.language, document.main, document.text
        )

    def _digest(self, capture: Capture, *read: object) -> bytes:
        where = capture.where
        facts = (
            where.file, where.offset, capture.record_id, capture.surt, capture.url, capture.at,
            capture.status, capture.media_type, capture.size, capture.crawl,
            capture.content, capture.digest, *read,
        )  # fmt: skip
        # In ASCII, so that half a surrogate pair in a URL is no error. numpy drops zeros at the end
        # of such strings: so the last byte is none.
        found = blake2b(self._ways, digest_size=15)
        found.update(json.dumps(facts).encode())
        return found.digest() + b"."
