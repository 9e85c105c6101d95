"""Ids by which the documents of an archive are known again, without reading their texts.

A document_id says which record a document is (file, offset, id), what the catalog knows of it, and
by what it was read: the place of its text in the text database. As long as all of that is the same,
so are its shingles and its columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal

import numpy as np

from asof.archive.archive import OpenArchive
from asof.change.shingles import K, Unit, shingles
from asof.cover.question import Question
from asof.ledger import SCHEMA_VERSION
from asof.model import Capture
from asof.text.database import VERSION as TEXT_VERSION
from asof.text.database import TextDatabase
from asof.text.document import Document
from asof.text.store import key_of

Which = Literal["main", "full"]

# One up whenever a collection of the same captures and texts comes out otherwise.
FORMAT = 4
DOCUMENT_ID = np.dtype("S16")
# A hash of a text that never changes: whoever hashes shingles otherwise has other collections.
_PROBE = "What can be kept between two runs is kept between them"


@dataclass(frozen=True, slots=True)
class Shingling:
    """Which text of a document is compared, and what its shingles are."""

    which: Which = "main"
    k: int = K
    unit: Unit = "terms"

    @classmethod
    def of(cls, question: Question) -> Shingling:
        return cls(question.which, question.k, question.unit)

    @property
    def ways(self) -> tuple[object, ...]:
        """How documents are read and cut: what one way gives is of no use to another."""
        probe = shingles(_PROBE, self.k, self.unit).tolist()
        return FORMAT, SCHEMA_VERSION, TEXT_VERSION, self.which, self.k, self.unit, probe

    def __str__(self) -> str:
        """As files are named by it."""
        return f"{self.which}-{self.k}{'c' if self.unit == 'characters' else ''}"


@contextmanager
def texts_kept(archive: OpenArchive) -> Iterator[TextDatabase | None]:
    """The texts that were read as they would be now; None if none were."""
    if not archive.folder.texts.exists():
        yield None
        return
    with closing(TextDatabase(archive.folder.texts, writable=False)) as database:
        yield database if database.is_current else None


def texts_read(archive: OpenArchive) -> tuple[Any, ...] | None:
    """How many documents are read, of how many bytes, and how many could not be.

    Read again, a document that took too long the first time may have a text.
    """
    with texts_kept(archive) as database:
        count = "SELECT count(*), sum(size), count(error) FROM documents"
        return None if database is None else database.fetch(count)


class DocumentIdentifier:
    """DocumentIds for the captures of one archive, of whose texts these are kept."""

    def __init__(self, database: TextDatabase | None, shingling: Shingling) -> None:
        self._database = database
        self._ways = json.dumps(shingling.ways).encode()

    def id_of(self, capture: Capture) -> bytes | None:
        """The id of a capture whose text was read and kept; None where it would have to be read."""
        key = key_of(capture)
        if key is None or self._database is None:
            return None
        row = self._database.fetch(
            "SELECT key, block, start, size, title, language, error FROM documents WHERE key = ?",
            key,
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
