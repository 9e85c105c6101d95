"""Questions to the index of an archive, answered."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import tantivy
from tantivy import Query, Searcher

from asof.archive.archive import OpenArchive
from asof.change.sketches import main_text
from asof.change.texts import Texts
from asof.clock import Instant
from asof.errors import ArchiveError
from asof.model import State
from asof.search.called import Called
from asof.search.clauses import Clauses, both
from asof.search.compile import Compiler
from asof.search.entries import Entries, Lack
from asof.search.index import FOREVER
from asof.search.pointers import texts_of
from asof.search.presence import earliest, presence
from asof.search.query import Asked, Field, Term, parse, terms
from asof.search.question import Also, Answer, Count, Hit, Order, Question, When, checked
from asof.search.schema import (
    HOST,
    LANGUAGE,
    PARTS,
    TYPE,
    IndexErrors,
    is_index,
    open_for_reading,
    schema,
    schema_of_names,
)  # fmt: skip
from asof.search.sketch import first_like
from asof.search.snippet import Piece, extract
from asof.search.stems import forms
from asof.search.words import folded, words_of
from asof.text.document import Document

# Contents that are looked at for one answer where near ones are folded: so many times those that
# are wanted, and at most.
_MORE, _MOST = 5, 500
# The first contents by their words, among which links decide as well.
_WEIGHED = 50
_VALUES = 10  # of each facet
_LOOKED_AT = 50  # errors at the end of an interval
_MOST_READ = 1_000_000  # characters for all extracts of an answer: a second, at the worst
_MOST_KNOWN = 1000  # languages and types of an index


@dataclass(frozen=True, slots=True)
class _Found:
    """An entry of the index, and its place among all that were found."""

    place: int
    url: str
    key: int
    since: Instant
    ended: Instant | None
    score: float | None
    sketch: bytes


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of the index as a whole; `first` is when its first content was seen."""

    version: int
    searcher: Searcher
    called: Called
    compiler: Compiler
    shown: Callable[[When], list[Query]]
    first: Instant


class Finder:
    """Answers by the index of one archive, as it stands with each question."""

    def __init__(self, archive: OpenArchive) -> None:
        self._archive = archive
        self._folder = archive.folder.search
        self._known: _Known | None = None

    @staticmethod
    def has_index(archive: OpenArchive) -> bool:
        folder = archive.folder.search
        return is_index(folder) and (folder / "entries.db").exists()

    def find(self, question: Question) -> Answer:
        question = checked(question)
        asked = parse(question.words)
        with IndexErrors(self._folder):
            return self._find(question, asked)

    def _find(self, question: Question, asked: Asked) -> Answer:
        if not self.has_index(self._archive):
            raise _no_index()
        complete = self._is_complete()
        known = self._current()
        searcher = known.searcher
        compiler, when = known.compiler, question.when
        said, allowed = compiler.said(asked, when), compiler.allowed(question)
        query = both(said, *allowed, *known.shown(when))
        count, groups, after = _page(known, query, question)
        hosts, types, languages = _values(searcher, query, (HOST, TYPE, LANGUAGE), _VALUES)
        now = self._archive.clock.now()
        is_called = any(term.field is Field.ANCHOR for term in terms(asked, excluded=True))
        ever = compiler.said(asked, When()) if is_called and when != When() else said
        return Answer(
            question,
            tuple(self._hits(known.called, groups, tuple(terms(asked)), when)),
            count,
            after,
            hosts,
            types,
            languages,
            presence(searcher, both(ever, *allowed), known.first, now),
            searcher.num_docs,
            complete,
        )

    def _current(self) -> _Known:
        """As the index is now; what is known of all of it is looked up when it changed."""
        try:
            version = (self._folder / "index" / "meta.json").stat().st_mtime_ns
        except FileNotFoundError:  # deleted since
            raise _no_index() from None
        if self._known is None or self._known.version != version:
            forms = (schema(), schema_of_names())
            index, names = (
                open_for_reading(self._folder / part, own)
                for part, own in zip(PARTS, forms, strict=True)
            )
            every, searcher = Query.all_query(), index.searcher()
            types, languages = (
                [each.value for each in values]
                for values in _values(searcher, every, (TYPE, LANGUAGE), _MOST_KNOWN)
            )
            called = Called(index, searcher, names)
            compiler = Compiler(index.schema, searcher, called, languages, types)
            shown = Clauses(index.schema).shown
            self._known = _Known(version, searcher, called, compiler, shown, earliest(searcher))
        return self._known

    def _is_complete(self) -> bool:
        """Whether the index holds all that it could; an error if it may hold more than that."""
        with closing(Entries(self._folder, writable=False)) as entries:
            if entries.holds_more(self._archive.committed()):
                raise ArchiveError(
                    f"{self._folder} speaks of files that {self._archive.folder.root} has no more.",
                    hint="Make it anew with `asof reindex --search`.",
                )
            return entries.seen == self._archive.committed() and not entries.waiting(Lack.TEXT)

    def _hits(
        self,
        called: Called,
        groups: Sequence[Sequence[_Found]],
        asked: Sequence[Term],
        when: When,
    ) -> Iterator[Hit]:
        with Texts(self._archive) as texts:
            documents = dict(texts.kept([group[0].key for group in groups]))
        most = _MOST_READ // max(len(groups), 1)
        for first, *near in groups:
            document = documents.get(first.key, Document())
            yield Hit(
                first.url, first.since, self._until(first), first.ended, document.title,
                document.media_type, document.language,
                None if first.score is None else round(first.score, 4),
                _extract(document, asked, most), called.inlinks(first.url, _moment(first, when)),
                tuple(Also(each.url, each.since) for each in near),
            )  # fmt: skip

    def _until(self, found: _Found) -> Instant:
        """The last moment at which a content was seen: that of the last that tells anything."""
        last = None if found.ended is None else found.ended - 1
        captures = self._archive.catalog.captures(url=found.url, until=last, backwards=True)
        for capture in islice(captures, _LOOKED_AT):
            seen = self._archive.catalog.observation(capture)
            if seen.state is not State.SILENT:
                return max(capture.at, found.since)
        return found.since


def _no_index() -> ArchiveError:
    return ArchiveError(
        "There is no index to search in yet.", hint="Make it with `asof reindex --search`."
    )


def _page(
    known: _Known, query: Query, question: Question
) -> tuple[int, list[list[_Found]], int | None]:
    """How many there are, groups of near ones from an offset on, and the offset after them.

    What is near one that an earlier page told is folded there, as far as that is looked back.
    """
    offset = question.offset
    start = 0 if question.fold and offset <= _MOST else offset
    wanted = question.limit * _MORE if question.fold else question.limit
    while True:
        found, count = _ranked(known, query, question, start, offset - start + wanted)
        leaders = (
            first_like([each.sketch for each in found]) if question.fold else range(len(found))
        )
        groups: dict[int, list[_Found]] = {}
        after = None
        for leader, each in zip(leaders, found, strict=True):
            if leader in groups:
                groups[leader].append(each)
            elif each is not found[leader] or each.place < offset:
                continue
            elif len(groups) < question.limit:
                groups[leader] = [each]
            elif after is None:
                after = each.place
        end = start + len(found)
        if after is None and end < count:
            if len(groups) < question.limit and wanted < _MOST:
                wanted = min(wanted * _MORE, _MOST)
                continue
            after = end
        return count, [*groups.values()], after


def _ranked(
    known: _Known, query: Query, question: Question, offset: int, limit: int
) -> tuple[list[_Found], int]:
    """So many from an offset on; of the first by relevance links change the order."""
    if question.order is not Order.RELEVANCE or offset >= _WEIGHED:
        return _fetched(known.searcher, query, question.order, offset, limit)
    found, count = _fetched(known.searcher, query, question.order, 0, max(offset + limit, _WEIGHED))
    first = [
        replace(each, score=(each.score or 0.0) * known.called.weight(each.url, at))
        for each in found[:_WEIGHED]
        for at in (_moment(each, question.when),)
    ]
    first.sort(key=lambda each: -(each.score or 0.0))
    ranked = [replace(each, place=place) for place, each in enumerate(first)] + found[_WEIGHED:]
    return ranked[offset : offset + limit], count


def _moment(found: _Found, when: When) -> Instant:
    """The last at which a content was shown, of those that are asked for."""
    asked = when.until if when.at is None else when.at
    ended = FOREVER if found.ended is None else found.ended
    return ended - 1 if asked is None else min(asked, ended - 1)


def _fetched(
    searcher: Searcher, query: Query, by: Order, offset: int, limit: int
) -> tuple[list[_Found], int]:
    order: dict[str, Any] = {}
    if by is not Order.RELEVANCE:
        order = {
            "order_by_field": "since",
            "order": tantivy.Order.Desc if by is Order.NEWEST else tantivy.Order.Asc,
        }
    every = searcher.num_docs  # room is made for as many as are asked for
    result = searcher.search(query, min(limit, every + 1), offset=min(offset, every), **order)
    places = [place for _, place in result.hits]
    since, ended = (searcher.fast_field_values(name, places) for name in ("since", "ended"))
    found = []
    for number, (score, place) in enumerate(result.hits):
        entry, end = searcher.doc(place), int(ended[number] or 0)
        found.append(
            _Found(
                offset + number,
                str(entry.get_first("url")),
                int(entry.get_first("key") or 0),
                int(since[number] or 0),
                None if end == FOREVER else end,
                None if order else score,
                bytes(entry.get_first("sketch") or b""),
            )
        )
    return found, int(result.count)  # type: ignore[attr-defined]  # its stub lacks it


def _values(
    searcher: Searcher, query: Query, fields: Sequence[str], most: int
) -> list[tuple[Count, ...]]:
    """Of some fields the values that most contents have."""
    asked = {field: {"terms": {"field": field, "size": most}} for field in fields}
    found = searcher.aggregate(query, asked)
    return [
        tuple(Count(str(each["key"]), int(each["doc_count"])) for each in found[field]["buckets"])
        for field in fields
    ]


def _extract(document: Document, asked: Sequence[Term], most: int) -> tuple[Piece, ...]:
    """Where the beginning says what was asked: of its main content, else of all of it."""

    own, asked = partial(forms, language=document.language), [*_stated(document, asked)]
    found = extract(main_text(document)[:most], asked, own)
    if any(piece.marked for piece in found) or not document.main:
        return found
    beside = extract(document.text[:most], asked, own)
    return beside if any(piece.marked for piece in beside) else found


def _stated(document: Document, asked: Sequence[Term]) -> Iterator[Term]:
    """What a document can say of what was asked: of a link the words that lead on."""
    for term in asked:
        if term.field is not Field.LINK:
            yield term
            continue
        for text in texts_of(document, term.words):
            if words := words_of(folded(text)):
                yield Term(tuple(words), None, True, False, 0, term.span)
