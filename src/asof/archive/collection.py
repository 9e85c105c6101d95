"""The documents of an archive as a collection to thin out: every capture that brought a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from asof.archive.archive import Archive
from asof.archive.texts import Texts, is_document
from asof.change.shingles import K, shingles_of_all
from asof.clock import SECOND, stamp
from asof.cover.collection import Collection, chosen
from asof.cover.columns import Column, number_column, text_column, time_column
from asof.cover.sets import Sets
from asof.model import Capture
from asof.text.document import Document
from asof.url import host_of

Which = Literal["main", "full"]
# Characters whose shingles are made at a time.
_AT_ONCE = 8 << 20
_PORT = re.compile(r":[0-9]+$")  # of [::1] no part
_ADDRESS = re.compile(r"\[.*\]|[0-9.]+")
# What many countries register names below, as in example.co.uk; not all of the Public Suffix List,
# which changes every week (as in catalog/parquet.py).
# fmt: off
_BELOW = frozenset({
    "ac", "co", "com", "edu", "gob", "gov", "govt", "ltd", "mil", "mod", "ne", "net", "nhs", "or",
    "org", "plc", "police", "sch",
})
# fmt: on


@dataclass(slots=True)
class _Gathering:
    """Documents as they come, and their shingles batch by batch."""

    which: Which
    k: int
    captures: list[Capture] = field(default_factory=list)
    titles: list[str | None] = field(default_factory=list)
    languages: list[str | None] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    held: int = 0
    items: list[np.ndarray[tuple[int], np.dtype[np.uint64]]] = field(default_factory=list)
    sizes: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = field(default_factory=list)

    def add(self, capture: Capture, document: Document) -> str:
        """Take in one document; gives the text that it is compared by."""
        text = document.main if self.which == "main" and document.main else document.text
        self.captures.append(capture)
        self.titles.append(document.title)
        self.languages.append(document.language)
        self.lengths.append(float(len(text)))
        self.texts.append(text)
        self.held += len(text)
        if self.held >= _AT_ONCE:
            self.flush()
        return text

    def flush(self) -> None:
        """Make shingles of the texts at hand."""
        items, offsets = shingles_of_all(self.texts, self.k)
        self.items.append(items)
        self.sizes.append(np.diff(offsets))
        self.texts, self.held = [], 0

    def collection(self) -> Collection:
        self.flush()
        offsets = np.cumsum(np.concatenate([np.zeros(1, np.int64), *self.sizes]), dtype=np.int64)
        return Collection(
            tuple(document_names(self.captures)),
            self._columns(),
            Sets(offsets, np.concatenate([np.empty(0, np.uint64), *self.items])),
            np.array([capture.size for capture in self.captures], np.int64),
        )

    def _columns(self) -> dict[str, Column]:
        captures = self.captures
        hosts = [_PORT.sub("", host_of(capture.url)) for capture in captures]
        return {
            "url": text_column(capture.url for capture in captures),
            "hostname": text_column(hosts),
            "domain": text_column(_domain(host) for host in hosts),
            "timestamp": time_column(capture.at for capture in captures),
            "mime-type": text_column(capture.media_type for capture in captures),
            "title": text_column(self.titles),
            "language": text_column(self.languages),
            "length": number_column(self.lengths),
            "size": number_column([float(capture.size) for capture in captures]),
            "status": number_column([capture.status for capture in captures]),
            "crawl": text_column(capture.crawl for capture in captures),
        }


def collected(
    archive: Archive,
    *,
    which: Which = "main",
    k: int = K,
    where: str | None = None,
    progress: Callable[[int], None] = lambda count: None,
) -> Collection:
    """Every capture with a text of its own, in the order of URL and time.

    Confirmations of what was captured before (revisits) and captures without a text are no
    documents. `where` is a filter in
    the language of relations, over one document.
    """
    gathering = _Gathering(which, k)
    texts: list[str] = []
    with Texts(archive) as shelf:
        for capture in _documents(archive.captures()):
            document = shelf.document(capture)
            progress(1)
            if document is None or not document.text.strip():
                continue  # nothing to compare by: no redundancy is claimed of pictures
            text = gathering.add(capture, document)
            if where is not None:
                texts.append(text)
    found = gathering.collection()
    return found if where is None else found.only(chosen(where, found.columns, texts))


def document_names(captures: Iterable[Capture]) -> Iterator[str]:
    """Stamp and URL, each once: a second capture in one second has its microseconds, too."""
    given: set[str] = set()
    for capture in captures:
        name, times = f"{stamp(capture.at)}/{capture.url}", 1
        fine = f"{stamp(capture.at)}.{capture.at % SECOND:06d}"
        while name in given:
            name = f"{fine}{f'-{times}' if times > 1 else ''}/{capture.url}"
            times += 1
        given.add(name)
        yield name


def _documents(captures: Iterable[Capture]) -> Iterable[Capture]:
    return (capture for capture in captures if is_document(capture))


def _domain(host: str) -> str:
    """The last two labels, or three below co.uk and the like: what most registries give out."""
    labels = host.split(".")
    if _ADDRESS.fullmatch(host) or len(labels) < 3:
        return host
    three = len(labels[-1]) == 2 and labels[-2] in _BELOW
    return ".".join(labels[-3 if three else -2 :])
