"""The index of an archive, brought up to date: beside a crawl, and after any interruption.

What was captured since the last time is looked at, and what waited for its text; of that, contents
that are new or that ended since are entered. How far the archive was looked at is noted last.
"""

import re
import shutil
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from urllib.parse import unquote

import tantivy

from asof.archive.archive import OpenArchive
from asof.catalog.listing import Listing
from asof.change.sketches import main_text
from asof.change.texts import Texts
from asof.errors import ArchiveError
from asof.files import refuse_link, storage_errors
from asof.model import Capture
from asof.search.contents import LOST, Content, contents
from asof.search.entries import Entries, Lack
from asof.search.pointers import NameWriter, page_number, pointers
from asof.search.schema import (
    HOST,
    LANGUAGE,
    MAIN,
    PARTS,
    PLACE,
    REST,
    TITLE,
    TYPE,
    IndexErrors,
    is_index,
    names_own_files,
    open_index,
    schema,
    schema_of_names,
)  # fmt: skip
from asof.search.sketch import sketches
from asof.search.words import folded
from asof.text.document import Document
from asof.url import host_of

# Contents that are looked at together, and after how many the index is committed.
_BATCH = 1 << 10
_COMMIT = 1 << 15
# Documents whose sketches are made in one go.
_AT_ONCE = 64
# Bytes that tantivy holds before it writes a part of the index.
_HEAP = 64 << 20
_WWW = re.compile("www[0-9]*")
_PUNYCODE = re.compile(r"\bxn--([a-z0-9-]+)")
# The end of what has not ended.
FOREVER = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Updated:
    """What was done: contents that were entered and taken out; keys that wait for their texts, and
    contents that the index holds now.
    """

    entered: int
    gone: int
    waiting: int
    indexed: int


def update(
    archive: OpenArchive,
    texts: Texts,
    progress: Callable[[int], None] = lambda count: None,
    stop: Callable[[], bool] = lambda: False,
) -> Updated:
    """Bring the index up to date, as far as texts have been read; `progress` is told of keys.

    `stop` is asked now and then; what was entered until then stays.
    """
    state = archive.committed()
    with _opened(archive.folder.search, state) as (entries, index, names):
        entries.draw_on(state)
        work = _Work(texts, entries, index, names)
        try:
            for keys, batch in _batches(archive, texts, entries):
                if stop():
                    break
                work.enter(keys, batch)
                progress(len(keys))
            else:
                work.commit()
                entries.saw(state)
        except KeyboardInterrupt:  # what is half done is found out by the next, as after a crash
            work.commit()
            raise
        return work.ended()


@contextmanager
def _opened(
    folder: Path, state: Mapping[str, int]
) -> Iterator[tuple[Entries, tantivy.Index, tantivy.Index]]:
    with storage_errors(folder), IndexErrors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with closing(Entries(folder, writable=True)) as entries:
            parts = None
            if not entries.is_new and is_index(folder) and not entries.holds_more(state):
                parts = _parts_in(folder)
            if parts is None:
                for part in PARTS:
                    shutil.rmtree(folder / part, ignore_errors=True)
                entries.make_anew()
                parts = _made_in(folder)
            yield entries, *parts


def _parts_in(folder: Path) -> tuple[tantivy.Index, tantivy.Index] | None:
    """What is said, and the names; None where they cannot be used: they are made anew then."""
    if not all(names_own_files(folder / part) for part in PARTS):
        return None
    try:
        with IndexErrors(folder):
            index, names = _made_in(folder)
            index.searcher(), names.searcher()
    except ArchiveError:
        return None
    return index, names


def _made_in(folder: Path) -> tuple[tantivy.Index, tantivy.Index]:
    for place in (folder / part for part in PARTS):
        refuse_link(place)
        place.mkdir(exist_ok=True)
        for file in place.iterdir():
            refuse_link(file)
    index, names = map(open_index, (folder / part for part in PARTS), (schema(), schema_of_names()))
    return index, names


def _batches(
    archive: OpenArchive, texts: Texts, entries: Entries
) -> Iterator[tuple[list[str], list[Content]]]:
    """Some keys at a time that were captured anew, or wait, with all of their contents."""
    keys: list[str] = []
    found: list[Content] = []
    for key, captures in _captured(archive, entries):
        keys.append(key)
        found += contents(archive.catalog, texts, captures)
        if len(found) >= _BATCH or len(keys) >= _BATCH:
            yield keys, found
            keys, found = [], []
    if keys:
        yield keys, found


def _captured(archive: OpenArchive, entries: Entries) -> Iterator[tuple[str, Iterable[Capture]]]:
    """Keys with all of their captures."""
    if not entries.seen:
        yield from groupby(archive.captures(), attrgetter("surt"))
        return
    fresh = {*Listing(archive.ledger, archive.clock).keys_since(entries.seen)}
    fresh.update(entries.waiting(Lack.TEXT))
    if (
        archive.committed().keys() - entries.seen.keys()
    ):  # a crawl itself keeps what its revisits name
        fresh.update(entries.waiting(Lack.PAYLOAD))
    for key in sorted(fresh):
        yield key, archive.catalog.scan(key, key + "\0")


class _Work:
    """One update, and what was given to the index since it was last committed."""

    def __init__(
        self, texts: Texts, entries: Entries, index: tantivy.Index, names: tantivy.Index
    ) -> None:
        self._texts = texts
        self._entries = entries
        self._writer = index.writer(_HEAP, 1)
        self._names = NameWriter(names)
        # A run that did not end may have entered what is not told.
        self._unsure = entries.begun
        self._entered: list[Content] = []
        self._gone: list[int] = []
        self._lacks: dict[str, Lack | None] = {}
        self._counted = Updated(0, 0, 0, len(entries))
        entries.begin()

    def enter(self, keys: Sequence[str], found: Sequence[Content]) -> None:
        """Enter what the index lacks of some keys, and take out what is there no more."""
        held = self._entries.of(keys)
        wanted = {each.id: each for each in found if each.key != LOST}
        gone = [number for number in held if number not in wanted]
        for number in gone:
            self._writer.delete_documents_by_term("id", number)
        self._gone += gone
        fresh = [each for each in wanted.values() if held.get(each.id, 0) != each.ended]
        self._lacks |= dict.fromkeys(keys)
        self._lacks |= {each.surt: Lack.PAYLOAD for each in found if each.key == LOST}
        self._lacks |= dict.fromkeys(self._add(fresh, held), Lack.TEXT)
        if len(self._entered) + len(self._gone) >= _COMMIT:
            self.commit()

    def _add(self, fresh: Sequence[Content], held: Container[int]) -> set[str]:
        """Those of the contents whose texts were read; the keys of the others."""
        by_text: dict[int, list[Content]] = {}
        for each in fresh:
            by_text.setdefault(each.key, []).append(each)
        documents = self._texts.kept(list(by_text))
        while some := list(islice(documents, _AT_ONCE)):
            own = sketches([main_text(document) for _, document in some])
            for (key, document), sketch in zip(some, own, strict=True):
                for content in by_text.pop(key):
                    if self._unsure or content.id in held:
                        self._writer.delete_documents_by_term("id", content.id)
                    leads, names = pointers(content.url, document)
                    self._names.put(names)
                    self._writer.add_document(_entry(content, document, sketch, leads))
                    self._entered.append(content)
        unread = {each.surt for rest in by_text.values() for each in rest}
        return set() if self._texts.is_complete else unread

    def commit(self) -> None:
        """First the index, its names before what points by them, then what it holds."""
        if self._entered or self._gone:
            self._names.commit()
            self._writer.commit()
        self._entries.put(self._entered, self._gone)
        self._entries.wait(self._lacks)
        before = self._counted
        self._counted = Updated(
            before.entered + len(self._entered),
            before.gone + len(self._gone),
            before.waiting + [*self._lacks.values()].count(Lack.TEXT),
            len(self._entries),
        )
        self._entered, self._gone, self._lacks = [], [], {}

    def ended(self) -> Updated:
        """Whatever was given is kept, and parts that are small are put together."""
        self.commit()
        self._names.ended()
        self._writer.wait_merging_threads()
        self._entries.begin(begun=False)
        return self._counted


def _entry(
    content: Content, document: Document, sketch: bytes, leads: Iterable[int]
) -> tantivy.Document:
    main, rest = _parts(document)
    made = tantivy.Document()
    made.add_integer("id", content.id)
    made.add_integer("key", content.key)
    made.add_integer("since", content.since)
    made.add_integer("ended", FOREVER if content.ended is None else content.ended)
    made.add_integer("page", page_number(content.url))
    for number in leads:
        made.add_integer("points", number)
    made.add_text("surt", content.surt)
    made.add_text("url", content.url)
    made.add_text(HOST, _site(content.url))
    made.add_text(TYPE, document.media_type)
    made.add_text(LANGUAGE, (document.language or "").partition("-")[0].lower())
    made.add_bytes("sketch", sketch)
    made.add_text(TITLE, folded(document.title or ""))
    made.add_text(MAIN, folded(main))
    made.add_text(REST, folded(rest))
    made.add_text(PLACE, folded(_place(content.url)))
    return made


def _site(url: str) -> str:
    """The host as keys have it, by which hits are narrowed down: with and without www are one."""
    host = host_of(url)
    first, _, rest = host.partition(".")
    return rest if rest and _WWW.fullmatch(first) else host


def _place(url: str) -> str:
    """An address as it is asked for, also by the name that its host has for readers."""
    place = unquote(url.partition("://")[2])
    return f"{place} {_PUNYCODE.sub(_letters, place)}" if "xn--" in place else place


def _letters(label: re.Match[str]) -> str:
    try:
        return label[1].encode("ascii").decode("punycode")
    except UnicodeError:
        return label[0]


def _parts(document: Document) -> tuple[str, str]:
    """The main content of a document, and the lines beside it."""
    main, text = document.main, document.text
    if not main or main == text:
        return text, ""
    own = set(main.splitlines())
    return main, "\n".join(line for line in text.splitlines() if line not in own)
