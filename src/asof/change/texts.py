"""What the documents of an archive say, and how each capture differs from the one before it.

Texts are read once, in child processes that no document can harm, and kept in `derived/text.db`;
what has not been read yet is read when it is asked for. Nothing here writes to the archive itself,
so it may go on beside a crawl, and may be interrupted: what was read stays read.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Self

from asof.archive.archive import OpenArchive
from asof.catalog.observe import Observation
from asof.catalog.referents import ANSWERS, is_304
from asof.change.cascade import compare
from asof.change.categories import Change
from asof.change.judgements import ChangeStore
from asof.change.sketches import SketchStore
from asof.change.version import Version, version_of
from asof.errors import AsofError, NotCaptured
from asof.model import Capture, find_header
from asof.text.database import TextDatabase
from asof.text.document import Document, Method
from asof.text.markup import names
from asof.text.sandbox import DocumentSource, ReadingLimits, SandboxedReader, read_many
from asof.text.store import TextStore, hashed, key_of

# More of a document is not read.
MAX_DOCUMENT = 64 << 20
# How main content is found. The best method takes ten times the fast one's time for a page in all,
# and a comparison of two versions or documents needs the same of both rather than the best.
_METHOD: Method = "fast"
# Seconds by the clock for a document, which has its ten of the processor all the same: on a busy
# machine a harmless one would be lost for good.
_PATIENCE = 60.0
# Documents that are kept at once, characters of them at most about, and captures judged at once.
_BATCH = 64
_BATCH_SIZE = 8 << 20
_BATCH_JUDGED = 500
# What is done for a state of the archive.
_READ, _JUDGED = "documents", "changes"
# What has no text, by its type; the rest may have some, whatever it calls itself.
_NO_TEXT = ("image/", "audio/", "video/", "font/")
_NO_DOCUMENTS = names(
    "text/css text/javascript application/javascript application/x-javascript application/font-woff"
    " application/vnd.ms-fontobject application/wasm"
)


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    """How far the reading of an archive has come."""

    documents: int  # that are read now
    failed: int  # of those read this time: with a reason instead of a text
    judged: int  # captures compared with their predecessors this time


class Texts:
    """The texts of one archive. `writable` keeps what is read."""

    def __init__(
        self, archive: OpenArchive, *, writable: bool = False, limits: ReadingLimits | None = None
    ) -> None:
        self._archive = archive
        self._limits = limits or ReadingLimits(patience=_PATIENCE)
        self._held = ExitStack()
        self._apart: SandboxedReader | None = None
        self._database: TextDatabase | None = None
        self._store: TextStore | None = None
        path = archive.folder.texts
        if writable or path.exists():
            database = TextDatabase(path, writable=writable)
            self._held.callback(database.close)
            if database.is_current:
                self._database, self._store = database, TextStore(database)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    def __len__(self) -> int:
        """How many documents have been read."""
        return 0 if self._store is None else len(self._store)

    @property
    def is_complete(self) -> bool:
        """Whether all documents of the archive have been read."""
        kept = self._database
        return kept is not None and kept.is_complete(_READ, _state(self._archive))

    @property
    def sketches(self) -> SketchStore | None:
        """Those of the documents that have been read, if any was."""
        return None if self._database is None else SketchStore(self._database)

    # -- one document

    def document(self, capture: Capture) -> Document | None:
        """What a capture says; None if it holds no document, or its payload is lost."""
        try:
            return self.read(capture)
        except AsofError:
            return None

    def read(self, capture: Capture) -> Document | None:
        """The same, and a DamageError where its record cannot be read back."""
        key = self.key(capture)
        if key is None:
            return None
        kept = None if self._store is None else self._store.get(key)
        if kept is not None:
            return kept
        if self._apart is None:
            self._apart = self._held.enter_context(SandboxedReader(self._limits))
        try:
            source = source_of(self._archive, capture)
        except NotCaptured:  # the payload that it stands for
            return None
        return self._apart.read(source.data, source.declared, source.url, method=source.method)

    def version(self, capture: Capture) -> Version:
        """A capture as a version to compare; its text is read only if that is needed."""
        seen = self._archive.catalog.observation(capture)
        return version_of(seen, read=partial(self.document, capture))

    def key(self, capture: Capture) -> int | None:
        """Of the document that a capture shows; None where there is nothing to read."""
        answer: Capture | None = capture
        if capture.kind == "revisit":
            answer = _stands_for(self._archive.catalog.observation(capture))
        return None if answer is None or not is_document(answer) else key_of(answer)

    # -- all of them

    def unread(
        self,
        stop: Callable[[], bool] = lambda: False,
        progress: Callable[[int], None] = lambda count: None,
    ) -> Iterator[tuple[int, Capture]]:
        """Captures with a document that has not been read, one for each."""
        if self.is_complete:
            return
        seen: set[int] = set()
        fresh = not len(self)  # then nothing is kept but what was seen here
        for capture in self._archive.captures():
            if stop():
                return
            key = self.key(capture)
            if key is not None and key not in seen and (fresh or not self.is_kept(key)):
                seen.add(key)
                yield key, capture
            progress(1)

    def is_kept(self, key: int) -> bool:
        """Whether the document of this key has been read."""
        return self._store is not None and key in self._store

    def kept(self, keys: Sequence[int]) -> Iterator[tuple[int, Document]]:
        """Those of the documents that have been read, in any order."""
        return iter(()) if self._store is None else self._store.get_all(keys)

    def read_all(
        self,
        workers: int,
        progress: Callable[[int], None] = lambda count: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> ReadingProgress:
        """Read what has not been read, and compare what has not been compared.

        `stop` is asked now and then; what was read until then is kept. `progress` is told of
        captures: each is looked at twice.
        """
        failed = self.read_documents(workers, progress, stop)
        judged = 0 if stop() else self._judge_all(progress, stop)
        return ReadingProgress(len(self), failed, judged)

    def read_documents(
        self,
        workers: int,
        progress: Callable[[int], None] = lambda count: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> int:
        """Read what has not been read; how many documents gave a reason instead of a text."""
        assert self._database is not None
        failed = held = 0
        state = _state(self._archive)
        batch: list[tuple[int, str, Document]] = []
        taken: deque[tuple[int, str]] = deque()
        sources = self._sources(taken, stop, progress)
        for document in read_many(sources, workers, self._limits):
            batch.append((*taken.popleft(), document))
            failed += document.error is not None and not document.text
            held += len(document.text) + len(document.main)
            if len(batch) >= _BATCH or held >= _BATCH_SIZE:
                self._keep(batch)
                batch.clear()
                held = 0
        self._keep(batch)
        if not stop():
            self._database.completed(_READ, state)
        return failed

    def _keep(self, batch: list[tuple[int, str, Document]]) -> None:
        assert self._database is not None
        assert self._store is not None
        with self._database.transaction():
            self._store.put([(key, document) for key, _, document in batch])
            SketchStore(self._database).put(batch)

    def _sources(
        self,
        taken: deque[tuple[int, str]],
        stop: Callable[[], bool],
        progress: Callable[[int], None],
    ) -> Iterator[DocumentSource]:
        for key, capture in self.unread(stop, progress):
            try:
                source = source_of(self._archive, capture)
            except AsofError:  # damaged, or its payload is not here: nothing to read
                continue
            taken.append((key, capture.url))
            yield source

    def _judge_all(self, progress: Callable[[int], None], stop: Callable[[], bool]) -> int:
        assert self._database is not None
        changes, state = ChangeStore(self._database), _state(self._archive)
        if self._database.is_complete(_JUDGED, state):
            return 0
        judged = 0
        batch: list[tuple[Capture, Capture | None, Change]] = []
        for capture, version, before, old in self._successions():
            if stop():
                break
            progress(1)
            if changes.is_settled(capture, before):
                continue
            batch.append((capture, before, compare(old, version)))
            judged += 1
            if len(batch) >= _BATCH_JUDGED:
                changes.put(batch)
                batch.clear()
        changes.put(batch)
        if not stop():
            self._database.completed(_JUDGED, state)
        return judged

    def _successions(self) -> Iterator[tuple[Capture, Version, Capture | None, Version | None]]:
        """Every capture, with the last before it of its URL that said anything."""
        for _, captures in groupby(self._archive.captures(), key=lambda capture: capture.surt):
            before: dict[str, tuple[Capture, Version]] = {}
            for capture in captures:
                if capture.kind not in ANSWERS:  # what somebody noted about a URL is no version
                    continue
                version = self.version(capture)
                yield capture, version, *before.get(capture.url, (None, None))
                if version.tells:
                    before[capture.url] = capture, version


def _state(archive: OpenArchive) -> int:
    """Another number whenever there may be captures that were not there before."""
    return hashed(*(f"{each.file} {each.committed}" for each in archive.segments()))


def source_of(archive: OpenArchive, capture: Capture) -> DocumentSource:
    found = archive.read(capture)
    declared = find_header(found.headers, "Content-Type") or found.media_type
    data = b"".join(found.payload(MAX_DOCUMENT))
    return DocumentSource(data, declared, capture.url, method=_METHOD)


def documents_of(archive: OpenArchive, captures: Iterable[Capture]) -> Iterator[Capture]:
    """Those of the captures, which are in the order of URL and time, that may be documents.

    A revisit says that a document was still there, and is none itself. But one whose payload is
    kept under another address, and that its own address never had before, is all there is of a
    document: a copy on a mirror. It is given with what is known of the answer it stands for.
    """
    surt: str | None = None
    had: set[tuple[str, str | None]] = set()
    for capture in captures:
        if capture.surt != surt:
            surt, had = capture.surt, set()
        found = capture if is_document(capture) else _copy(archive, capture)
        if found is None:
            continue
        content = (found.url, found.content or found.digest)
        if found is capture or content not in had:
            yield found
        had.add(content)


def _copy(archive: OpenArchive, capture: Capture) -> Capture | None:
    """A revisit of what is kept under another address, as the answer that it stands for."""
    if capture.kind != "revisit" or is_304(capture) or capture.refers_to_url == capture.url:
        return None
    seen = archive.catalog.observation(capture)
    answer = _stands_for(seen)
    if answer is None or seen.source is None or seen.source.url == capture.url:
        return None
    return replace(answer, kind=capture.kind) if is_document(answer) else None


def _stands_for(seen: Observation) -> Capture | None:
    """The answer that a revisit stands for: what its URL said, with the payload that is kept.

    As in `asof.catalog.memento`: the same bytes may be an error there, and a page here.
    """
    source, said = seen.source, seen.answer or seen.capture
    if source is None:
        return None
    return replace(
        seen.capture,
        kind=source.kind,
        status=source.status if said.status is None else said.status,
        media_type=said.media_type or source.media_type,
        content=seen.content,
        digest=source.digest,
        size=source.size,
    )


def is_document(capture: Capture) -> bool:
    """Whether a capture may have a text: an answer with content, and no picture or the like."""
    if capture.status is not None and not 200 <= capture.status <= 299:
        return False
    if capture.kind not in ("response", "resource"):
        return False
    media_type = capture.media_type or ""
    if media_type == "image/svg+xml":
        return True
    return bool(capture.size) and not (
        media_type.startswith(_NO_TEXT) or media_type in _NO_DOCUMENTS
    )
