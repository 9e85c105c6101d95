"""Documents to be thinned out: what they are called, what is known of them, what they say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from asof.cover.documents.sets import Counts, Flags, Sets, starts_of
from asof.cover.language.columns import Column
from asof.cover.language.evaluate import Truth, meets
from asof.cover.language.kinds import type_check
from asof.cover.language.lexer import contains
from asof.cover.language.parse import parse_filter
from asof.cover.language.syntax import Contains, nodes
from asof.errors import AsofError

DocumentIds = NDArray[np.bytes_]


@dataclass(frozen=True, slots=True)
class Collection:
    """n documents in a fixed order. `names` are what people call them; `weights` their bytes.

    `numbers`: the names were whole numbers where they came from, and go back as such.
    `document_ids` tell documents apart across runs: 16 bytes that are equal only for one document
    with the same content and the same values in all columns, so that what was found out about two
    documents holds wherever their ids are met again. `records` are the WARC records of an archive's
    documents.
    """

    names: tuple[str, ...]
    columns: Mapping[str, Column]
    sets: Sets
    weights: Counts
    numbers: bool = False
    document_ids: DocumentIds | None = None
    records: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.names)

    def only(self, chosen: Flags) -> Collection:
        places = np.flatnonzero(chosen)
        offsets = starts_of(self.sets.sizes[places])
        records = self.records
        return Collection(
            tuple(self.names[place] for place in places.tolist()),
            {name: column.only(places) for name, column in self.columns.items()},
            Sets(offsets, self.sets.items[np.repeat(chosen, self.sets.sizes)]),
            self.weights[places],
            self.numbers,
            None if self.document_ids is None else self.document_ids[places],
            None if records is None else tuple(records[place] for place in places.tolist()),
        )


def chosen(
    condition: str, columns: Mapping[str, Column], texts: Iterable[str], count: int | None = None
) -> Truth:
    """Which documents a filter means; `texts` are what `text contains` looks into.

    They are read only if the filter asks for them, and once; of an iterator, `count` says how many.
    """
    written = type_check(parse_filter(condition), columns)
    size = len(texts) if isinstance(texts, Sized) else count or 0
    seen: dict[str, Truth] = {}

    def with_phrase(phrase: str) -> Truth:
        if not seen:
            asked = (one for one in nodes(written.condition) if isinstance(one, Contains))
            wanted = list(dict.fromkeys(one.phrase for one in asked))
            rows = [[contains(text, one) for one in wanted] for text in texts]
            table = np.array(rows, np.bool_).reshape(-1, len(wanted))
            if len(table) != size:
                raise AsofError("The archive has changed meanwhile.", hint="Run it again.")
            seen.update(zip(wanted, table.T, strict=True))
        return seen[phrase]

    return meets(written.condition, columns, size, with_phrase)


def merged(before: Sets, fresh: Sets, places: Sequence[int]) -> Sets:
    """The sets at these places of `before`, and, where a place is -1, the next of `fresh`.

    Sets that were neighbours are copied together, so that a few new ones among many cost little.
    """
    at = np.array(places, np.int64)
    new = at < 0
    at[new] = len(before) + np.arange(int(new.sum()))
    begins = np.concatenate([before.offsets[:-1], fresh.offsets[:-1]])[at]
    sizes = np.concatenate([before.sizes, fresh.sizes])[at]
    offsets = starts_of(sizes)
    items = np.empty(int(offsets[-1]), np.uint64)
    breaks = np.flatnonzero((at[1:] != at[:-1] + 1) | (new[1:] != new[:-1])) + 1
    for first, last in pairwise([0, *breaks.tolist(), at.size] if at.size else []):
        source = fresh.items if new[first] else before.items
        size = int(offsets[last] - offsets[first])
        items[offsets[first] : offsets[last]] = source[begins[first] : begins[first] + size]
    return Sets(offsets, items)
