"""What became of documents, and what that comes to: an answer as it is told, by either engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from asof.cover.run import Outcome


@dataclass(frozen=True, slots=True)
class DocumentAnswer:
    """A document and what became of it; the measures are of its part in the one that covers it."""

    id: str | int
    kept: bool
    by: str | int | None = None
    containment: float | None = None
    jaccard: float | None = None
    dice: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """What an answer comes to. `weight` is in bytes; `complete`: all pairs were compared."""

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
    def of(cls, outcome: Outcome) -> Figures:
        """Those of a local run."""
        collection, stays = outcome.collection, outcome.cover.kept
        return cls(
            len(collection), outcome.edges, outcome.cover.components.count, int(stays.sum()),
            int(collection.weights.sum()), int(collection.weights[stays].sum()),
            outcome.optimal, outcome.gap, outcome.seconds, outcome.complete,
        )  # fmt: skip


def document_answers(outcome: Outcome) -> Iterator[DocumentAnswer]:
    """All documents of a local run, in their order."""
    names: Sequence[str | int] = outcome.collection.names
    if outcome.collection.numbers:
        names = [int(name) for name in names]
    dropped = {each.document: each for each in outcome.dropped}
    for place, name in enumerate(names):
        gone = dropped.get(place)
        if gone is None:
            yield DocumentAnswer(name, True)
        else:
            yield DocumentAnswer(
                name, False, names[gone.by], gone.containment, gone.jaccard, gone.dice
            )
