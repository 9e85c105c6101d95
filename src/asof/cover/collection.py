"""Documents to be thinned out: what they are called, what is known of them, what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asof.cover.columns import Column
from asof.cover.evaluate import evaluate_filter
from asof.cover.kinds import type_check
from asof.cover.parse import parse_filter
from asof.cover.sets import Sets

Contains = Callable[[str], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Collection:
    """n documents in a fixed order. `names` are what people call them; `weights` their bytes.

    `numbers`: the names were whole numbers where they came from, and go back as such.
    """

    names: tuple[str, ...]
    columns: Mapping[str, Column]
    sets: Sets
    weights: NDArray[np.int64]
    numbers: bool = False

    def __len__(self) -> int:
        return len(self.names)

    def only(self, chosen: NDArray[np.bool_]) -> Collection:
        """The chosen documents, in the same order."""
        places = np.flatnonzero(chosen)
        sizes = self.sets.sizes[places]
        offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        within = np.repeat(chosen, self.sets.sizes)
        return Collection(
            tuple(self.names[place] for place in places.tolist()),
            {
                name: Column(column.kind, column.values[places], column.strings)
                for name, column in self.columns.items()
            },
            Sets(offsets.astype(np.int64), self.sets.items[within]),
            self.weights[places],
            self.numbers,
        )


def chosen(
    condition: str, columns: Mapping[str, Column], texts: Sequence[str]
) -> NDArray[np.bool_]:
    """Which documents a filter means; `texts` are what `text contains` looks into."""
    from asof.cover.terms import contains

    def with_phrase(phrase: str) -> NDArray[np.bool_]:
        return np.fromiter((contains(text, phrase) for text in texts), np.bool_, len(texts))

    written = type_check(parse_filter(condition), columns)
    return evaluate_filter(written, columns, len(texts), with_phrase)
