"""Which contents are called something by others, and how many lead to an address as of a moment.

A name counts for a content while both were shown: the content, and another that leads to its
address by that name.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

import tantivy
from tantivy import Occur, Query, Searcher

from asof.clock import Instant
from asof.search.clauses import Clauses, both
from asof.search.pointers import page_number
from asof.search.query import Term
from asof.search.question import When
from asof.search.schema import NAME

# Contents that lead somewhere by the names of a term, and those that stood there.
_MOST_SOURCES, _MOST_CONTENTS = 200_000, 100_000
# What each doubling of those that lead to an address adds to what it is worth.
_DOUBLING = 0.05

# From when to when something was shown; before the end of it.
Span = tuple[Instant, Instant]


class Called:
    """For one index and the names beside it."""

    def __init__(self, index: tantivy.Index, searcher: Searcher, names: tantivy.Index) -> None:
        self._searcher, self._names = searcher, names.searcher()
        self._clauses, self._wording = Clauses(index.schema), Clauses(names.schema)

    def contents(self, term: Term, when: When, most: int) -> Query:
        """Those that are called so when they have to be shown, by so many names at most."""
        found = self._names.search(self._wording.words(NAME, term), most, count=False)
        places = [place for _, place in found.hits]
        numbers, pages = (self._names.fast_field_values(name, places) for name in ("id", "page"))
        named = [(int(n or 0), int(p or 0)) for n, p in zip(numbers, pages, strict=True)]
        shown = self._clauses.shown(when)  # made once: most of the time goes into making queries
        if when.at is not None:
            there = {page for number, page in named if self._count(number, shown)}
            return self._clauses.terms("page", list(there))
        spans: dict[int, list[Span]] = {}
        left = _MOST_SOURCES
        for number, page in named:
            own = self._shown(self._leading(number, shown), ("since", "ended"), left)
            spans.setdefault(page, []).extend((since, ended) for since, ended in own)
            left -= len(own)
        return self._clauses.terms("id", [*self._meeting(spans, when)])

    def _meeting(self, spans: dict[int, list[Span]], when: When) -> Iterator[int]:
        """Contents of some addresses, shown at a moment of such a span that is asked for."""
        merged = {page: _merged(own) for page, own in spans.items() if own}
        first = -math.inf if when.since is None else when.since
        last = math.inf if when.until is None else when.until + 1
        query = both(self._clauses.terms("page", list(merged)), *self._clauses.shown(when))
        fields = ("id", "page", "since", "ended")
        for number, page, since, ended in self._shown(query, fields, _MOST_CONTENTS):
            start, end = max(since, first), min(ended, last)
            if any(max(start, begin) < min(end, stop) for begin, stop in merged[page]):
                yield number

    def inlinks(self, url: str, at: Instant) -> int:
        """How many other addresses led to one as of a moment: each shows one content then."""
        return self._count(page_number(url), self._clauses.shown(When(at)))

    def weight(self, url: str, at: Instant) -> float:
        """What the links to it make of the score of a content."""
        return 1 + _DOUBLING * math.log2(1 + self.inlinks(url, at))

    def _count(self, number: int, shown: Sequence[Query]) -> int:
        if not self._searcher.doc_freq("points", number):
            return 0
        return int(self._searcher.search(self._leading(number, shown), 1).count)  # type: ignore[attr-defined]  # its stub lacks it

    def _leading(self, number: int, shown: Sequence[Query]) -> Query:
        parts = (self._clauses.term("points", number), *shown)
        return Query.boolean_query([(Occur.Must, part) for part in parts])

    def _shown(self, query: Query, fields: Sequence[str], most: int) -> list[tuple[int, ...]]:
        searcher = self._searcher
        if most < 1:
            return []
        hits = searcher.search(query, min(most, searcher.num_docs + 1), count=False).hits
        places = [place for _, place in hits]
        columns = [searcher.fast_field_values(name, places) for name in fields]
        return [tuple(int(value or 0) for value in row) for row in zip(*columns, strict=True)]


def _merged(spans: Iterable[Span]) -> list[Span]:
    """The same moments, without overlaps."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((begin, end))
    return found
