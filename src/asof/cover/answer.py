"""An answer as it is told, by either engine: what became of documents, and what that comes to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asof.clock import Instant
from asof.cover.question import Question

if TYPE_CHECKING:
    from asof.cover.documents.collection import Collection
    from asof.cover.run import CoverOutcome


@dataclass(frozen=True, slots=True)
class DocumentAnswer:
    """A document and what became of it; the measures are of its part in the one that covers it.

    Of a document of an archive, `url`, `at` and `record_id` say which capture it is.
    """

    id: str | int
    kept: bool
    by: str | int | None = None
    containment: float | None = None
    jaccard: float | None = None
    dice: float | None = None
    url: str | None = None
    at: Instant | None = None
    record_id: str | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """What an answer comes to. `weight` is in bytes; `complete`: all pairs were compared.

    `optimal`: no smaller set does, proven; else one of up to `gap` documents fewer might.
    """

    documents: int
    edges: int
    components: int
    kept: int
    weight: int
    weight_kept: int
    optimal: bool
    gap: int
    seconds: float
    complete: bool = True

    @classmethod
    def of(cls, outcome: CoverOutcome) -> Figures:
        collection, stays = outcome.collection, outcome.cover.kept
        return cls(
            len(collection), outcome.edges, outcome.cover.components.count, int(stays.sum()),
            int(collection.weights.sum()), int(collection.weights[stays].sum()),
            outcome.optimal, outcome.gap, outcome.seconds, outcome.complete,
        )  # fmt: skip

    @property
    def saved(self) -> tuple[float, float]:
        """Which share of documents, and of bytes, is dropped."""
        gone, light = self.documents - self.kept, self.weight - self.weight_kept
        return gone / max(self.documents, 1), light / max(self.weight, 1)


@dataclass(frozen=True, slots=True)
class CoverAnswer:
    """The answer to a question. `documents` are all in their order, kept or covered.

    `outcome` has it as arrays; an answer by Spark has none, and may have only the first of the
    documents that are covered.
    """

    question: Question
    figures: Figures
    documents: tuple[DocumentAnswer, ...]
    outcome: CoverOutcome | None = None

    @property
    def kept(self) -> tuple[DocumentAnswer, ...]:
        """What stays."""
        return tuple(document for document in self.documents if document.kept)

    @property
    def proven(self) -> bool:
        """Whether no smaller set does."""
        return self.figures.optimal

    def covered_by(self, kept: DocumentAnswer) -> tuple[DocumentAnswer, ...]:
        """What need not be kept because of a document that is."""
        return tuple(document for document in self.documents if document.by == kept.id)


def document_answers(outcome: CoverOutcome) -> Iterator[DocumentAnswer]:
    """All documents of a local run, in their order."""
    collection = outcome.collection
    names = [int(name) if collection.numbers else name for name in collection.names]
    dropped = {each.document: each for each in outcome.dropped}
    captures = _captures(collection)
    for place, name in enumerate(names):
        gone, capture = dropped.get(place), captures[place] if captures else ()
        if gone is None:
            yield DocumentAnswer(name, True, None, None, None, None, *capture)
        else:
            measures = gone.containment, gone.jaccard, gone.dice
            yield DocumentAnswer(name, False, names[gone.by], *measures, *capture)


def _captures(collection: Collection) -> list[tuple[str, Instant, str]]:
    """URL, time and record of each document, if they are of an archive."""
    if collection.records is None:
        return []
    url, at = collection.columns["url"], collection.columns["timestamp"]
    urls = (url.strings[code] for code in url.values.tolist())
    return list(zip(urls, at.values.tolist(), collection.records, strict=True))
