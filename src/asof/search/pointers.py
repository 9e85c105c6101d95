"""Who leads where, and by which words: links among contents, as the index holds them.

An entry holds as numbers (`points`) to which addresses its content leads, and by which name it
calls each. It knows from when to when that was shown, so who led to an address as of a moment is
asked like everything else, and ends with the content that did. The words of a name stand in an
index beside, without time, once for an address whoever uses it (ADR 21).
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import tantivy

from asof.search.schema import NAME
from asof.search.words import folded, has_words
from asof.text.document import Document
from asof.text.links.targets import address, targets
from asof.text.store import hashed

# Of one address, whoever calls it so.
MOST_NAMES = 1_000
# Bytes that tantivy holds before it writes a part of the index. With the least that it takes, 15
# MB, indexing takes a tenth longer: more parts have to be put together.
_HEAP = 64 << 20


class Name(NamedTuple):
    """What an address (by its number) is called; `words` are folded."""

    number: int
    page: int
    words: str


def page_number(url: str) -> int:
    return _number(address(url))


@lru_cache(maxsize=1 << 16)
def _number(target: str) -> int:
    return hashed(target)


@lru_cache(maxsize=1 << 16)  # menus come again on each page of a site
def _led(target: str, texts: str) -> tuple[tuple[int, ...], tuple[Name, ...]]:
    """What an entry holds of a link to an address, and how it calls it there."""
    page, each = _number(target), dict.fromkeys(map(folded, texts.split("\n")))
    names = tuple(Name(hashed(target, words), page, words) for words in each if has_words(words))
    return (page, *(name.number for name in names)), names


def pointers(url: str, document: Document) -> tuple[set[int], list[Name]]:
    """Where the document of a URL leads, as numbers, and what it calls these addresses."""
    numbers: set[int] = set()
    names: list[Name] = []
    texts = document.anchors or ("",) * len(document.links)
    for place, target in targets(url, document.links):
        own, called = _led(target, texts[place])
        numbers.update(own)
        names += called
    return numbers, names


def texts_of(document: Document, wanted: Container[str]) -> Iterator[str]:
    """The words by which a document leads to some addresses."""
    for link, texts in zip(document.links, document.anchors, strict=False):
        if address(link) in wanted:
            yield from texts.split("\n")


class NameWriter:
    """Adds names, each once: also after a run that was killed, for the index tells what it has."""

    def __init__(self, index: tantivy.Index) -> None:
        self._index = index
        self._writer = index.writer(_HEAP, 1)
        self._begin()

    def _begin(self) -> None:
        self._searcher = self._index.searcher()
        self._fresh: set[int] = set()
        self._counts: Counter[int] = Counter()

    def put(self, names: Iterable[Name]) -> None:
        known = self._searcher.doc_freq
        for number, page, words in names:
            if number in self._fresh or known("id", number):
                continue
            if page not in self._counts:
                self._counts[page] = known("page", page)
            if self._counts[page] < MOST_NAMES:
                self._fresh.add(number)
                self._counts[page] += 1
                self._add(number, page, words)

    def _add(self, number: int, page: int, words: str) -> None:
        made = tantivy.Document()
        made.add_integer("id", number)
        made.add_integer("page", page)
        made.add_text(NAME, words)
        self._writer.add_document(made)

    def commit(self) -> None:
        if self._fresh:
            self._writer.commit()
            self._index.reload()
            self._begin()

    def ended(self) -> None:
        self._writer.wait_merging_threads()
