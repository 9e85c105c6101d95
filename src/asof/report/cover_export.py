"""An answer to be taken along: as JSON, as a table, as a page; of a run, or as it was saved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from asof.cover.answer import DocumentAnswer, Figures

if TYPE_CHECKING:
    from asof.cover.kept.saved_covers import SavedCover
    from asof.cover.question import Question

_MEASURES = ("containment", "jaccard", "dice")
HEADER = ("id", "kept", "by", *_MEASURES)


def answer_json(figures: Figures, documents: Sequence[DocumentAnswer]) -> dict[str, object]:
    """The shape of an answer in every JSON output."""
    dropped = [
        {"id": document.id, "by": document.by}
        | {name: round(getattr(document, name) or 0.0, 6) for name in _MEASURES}
        for document in documents
        if not document.kept
    ]
    return {
        "documents": figures.documents,
        "edges": figures.edges,
        "components": figures.components,
        "kept": [document.id for document in documents if document.kept],
        "dropped": dropped,
        "optimal": figures.optimal,
        "gap": figures.gap,
        "seconds": round(figures.seconds, 3),
    }


def rows(documents: Iterable[DocumentAnswer]) -> Iterator[tuple[object, ...]]:
    """Every document, and what became of it, below `HEADER`."""
    for each in documents:
        measures = each.by, each.containment, each.jaccard, each.dice
        yield (each.id, 1, *[""] * 4) if each.kept else (each.id, 0, *measures)


def notes(asked: Question) -> list[str]:
    """Sentences about what was wished for besides few documents."""
    found = []
    if asked.at_least is not None:
        found.append(f"Of each {asked.at_least[1]} at least {asked.at_least[0]:,} stay.")
    if asked.prefer is not None:
        found.append(f"Of the smallest sets it is the one with the highest {asked.prefer}.")
    return found


def saved_figures(cover: SavedCover) -> Figures:
    facts = cover.facts
    return Figures(
        facts.documents, facts.edges, facts.components, facts.kept, facts.size, facts.size_kept,
        facts.optimal, facts.gap, facts.seconds, facts.complete,
    )  # fmt: skip


def saved_documents(cover: SavedCover) -> list[DocumentAnswer]:
    """The documents of a saved answer: those that stay, then the others, each in their order."""
    id_of = int if cover.facts.numbers else str
    kept = [DocumentAnswer(id_of(name), True) for name in cover.kept]
    return kept + [
        DocumentAnswer(
            id_of(gone.document), False, id_of(gone.by), gone.containment, gone.jaccard, gone.dice
        )
        for gone in cover.dropped
    ]
