"""The documents of an archive as a collection to thin out: every capture that brought a text."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from asof.archive.archive import OpenArchive
from asof.change.shingles import shingles_of_all
from asof.change.texts import Texts, documents_of
from asof.clock import SECOND, stamp
from asof.cover.documents.collection import Collection, DocumentIds, merged
from asof.cover.documents.document_ids import (
    DOCUMENT_ID,
    DocumentIdentifier,
    Shingling,
    Which,
    texts_kept,
)
from asof.cover.documents.sets import Counts, Items, Sets
from asof.cover.language.columns import COLUMN_OF, ColumnKind
from asof.model import Capture
from asof.text.document import Document
from asof.url import host_of, registered_domain

_KINDS: Mapping[str, ColumnKind] = {
    "url": "text", "hostname": "text", "domain": "text", "timestamp": "time", "mime-type": "text",
    "title": "text", "language": "text", "length": "number", "size": "number", "status": "number",
    "crawl": "text",
}  # fmt: skip
ARCHIVE_COLUMNS = {name: COLUMN_OF[kind]([]) for name, kind in _KINDS.items()}
"""The columns of documents of all archives, of no document: a rule can be checked against them."""

IDENTIFIED = frozenset(ARCHIVE_COLUMNS)  # what a document's id vouches for
# Characters whose shingles are made at a time.
_AT_ONCE = 8 << 20
_PORT = re.compile(r":[0-9]+$")  # of [::1] no part


@dataclass(frozen=True, slots=True)
class GatheredDocuments:
    """The documents of an archive, with what the next gathering can take over.

    `blanks` are the document_ids of captures that were read and turned out to have no text. `known`
    is how many documents were taken over from the gathering before.
    """

    collection: Collection
    blanks: DocumentIds
    known: int = 0


@dataclass(slots=True)
class _Gathering:
    """Documents as they come, and their shingles batch by batch.

    `places` has for each document its place in the gathering before, or -1 if it is new; `known`
    what is known of it.
    """

    shingling: Shingling
    before: Collection | None = None
    captures: list[Capture] = field(default_factory=list)
    document_ids: list[bytes] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    known: list[tuple[object, ...]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    held: int = 0
    items: list[Items] = field(default_factory=list)
    sizes: list[Counts] = field(default_factory=list)

    def add(self, capture: Capture, document: Document, document_id: bytes) -> None:
        text = compared_text(document, self.shingling.which)
        self._note(capture, document_id, -1, document.title, document.language, len(text))
        self.texts.append(text)
        self.held += len(text)
        if self.held >= _AT_ONCE:
            self.flush()

    def take_over(self, capture: Capture, document_id: bytes, place: int) -> None:
        assert self.before is not None
        columns = self.before.columns
        title, language = (columns[name].text(place) for name in ("title", "language"))
        self._note(capture, document_id, place, title, language, columns["length"].values[place])

    def _note(self, capture: Capture, document_id: bytes, place: int, *read: Any) -> None:  # noqa: ANN401
        self.captures.append(capture)
        self.document_ids.append(document_id)
        self.places.append(place)
        self.known.append(known_of(capture, *read))

    def flush(self) -> None:
        items, offsets = shingles_of_all(self.texts, self.shingling.k, self.shingling.unit)
        self.items.append(items)
        self.sizes.append(np.diff(offsets))
        self.texts, self.held = [], 0

    def collection(self) -> Collection:
        self.flush()
        offsets = np.cumsum(np.concatenate([np.zeros(1, np.int64), *self.sizes]), dtype=np.int64)
        fresh = Sets(offsets, np.concatenate([np.empty(0, np.uint64), *self.items]))
        self.items, self.sizes = [], []
        return Collection(
            tuple(document_names(self.captures)),
            {
                name: COLUMN_OF[kind]([known[at] for known in self.known])
                for at, (name, kind) in enumerate(_KINDS.items())
            },
            fresh if self.before is None else merged(self.before.sets, fresh, self.places),
            np.array([capture.size for capture in self.captures], np.int64),
            document_ids=np.array(self.document_ids, DOCUMENT_ID),
            records=tuple(capture.record_id for capture in self.captures),
        )


def gathered(
    archive: OpenArchive,
    shingling: Shingling,
    before: GatheredDocuments | None = None,
    progress: Callable[[int], None] = lambda count: None,
) -> GatheredDocuments:
    """Every capture with a text of its own, in the order of URL and time.

    Confirmations of what was captured before (revisits) and captures without a text are no
    documents. Only texts are read that were not there `before`, which must have been gathered with
    the same shingling.
    """
    gathering = _Gathering(shingling, None if before is None else before.collection)
    places, blank = _known(before)
    blanks: list[bytes] = []
    with Texts(archive) as texts, texts_kept(archive) as database:
        identifier = DocumentIdentifier(database, shingling)
        for capture in documents_of(archive, archive.captures()):
            progress(1)
            document_id = identifier.id_of(capture)
            place = None if document_id is None else places.get(document_id)
            if document_id is not None and place is not None:
                gathering.take_over(capture, document_id, place)
                continue
            document = None if document_id in blank else texts.document(capture)
            if document is None or not document.text.strip():
                # Nothing to compare by: no redundancy is claimed of pictures.
                blanks += [] if document_id is None else [document_id]
                continue
            gathering.add(
                capture, document, document_id or identifier.id_as_read(capture, document)
            )
    known = sum(place >= 0 for place in gathering.places)
    return GatheredDocuments(gathering.collection(), np.array(blanks, DOCUMENT_ID), known)


def _known(before: GatheredDocuments | None) -> tuple[dict[bytes, int], frozenset[bytes]]:
    """Where the documents are that were there before, and which captures had no text."""
    if before is None or before.collection.document_ids is None:
        return {}, frozenset()
    document_ids: list[bytes] = before.collection.document_ids.tolist()
    places = {document_id: place for place, document_id in enumerate(document_ids)}
    return places, frozenset(before.blanks.tolist())


def with_text(texts: Texts, captures: Iterable[Capture]) -> Iterator[tuple[Capture, Document]]:
    """Those of the captures that brought a text, with what they say."""
    for capture in captures:
        document = texts.document(capture)
        if document is not None and document.text.strip():
            yield capture, document


def known_of(
    capture: Capture, title: str | None, language: str | None, length: float
) -> tuple[object, ...]:
    """What is known of a document, in the order of `ARCHIVE_COLUMNS`."""
    host = _PORT.sub("", host_of(capture.url))
    return (
        capture.url, host, registered_domain(host), capture.at, capture.media_type, title, language,
        length, capture.size, capture.status, capture.crawl,
    )  # fmt: skip


def compared_text(document: Document, which: Which) -> str:
    return document.main if which == "main" and document.main else document.text


def document_names(captures: Iterable[Capture]) -> Iterator[str]:
    """Stamp and URL, each once: a second capture in one second has its microseconds, too."""
    given: set[str] = set()
    for capture in captures:
        second, times = stamp(capture.at), 1
        name = f"{second}/{capture.url}"
        while name in given:
            fine = f"{second}.{capture.at % SECOND:06d}"
            name = f"{fine}{f'-{times}' if times > 1 else ''}/{capture.url}"
            times += 1
        given.add(name)
        yield name
