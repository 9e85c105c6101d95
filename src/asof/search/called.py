"""Which contents are called something by others, and how many lead to an address as of a moment.

A name counts for a content while both were shown: the content, and another that leads to its
address by that name.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

import tantivy
from tantivy import Query, Searcher

from asof.clock import Instant
from asof.search.clauses import Clauses, both
from asof.search.pointers import page_number
from asof.search.query import Term
from asof.search.question import When
from asof.search.schema import NAME

# Names that are looked at for one term, the shortest first: each is asked for by itself.
_MOST_NAMES = 10_000
# Contents that lead to one address by one name, and those that stood there.
_MOST_SOURCES, _MOST_CONTENTS = 20_000, 100_000
# What each doubling of those that lead to an address adds to what it is worth.
_DOUBLING = 0.05

# From when to when something was shown; before the end of it.
Span = tuple[Instant, Instant]


class Called:
    """For one index and the names beside it."""

    def __init__(self, index: tantivy.Index, searcher: Searcher, names: tantivy.Index) -> None:
        self._searcher, self._names = searcher, names.searcher()
        self._clauses, self._wording = Clauses(index.schema), Clauses(names.schema)

    def contents(self, term: Term, when: When) -> Query:
        """Those that are called so when they have to be shown."""
        found = self._names.search(self._wording.words(NAME, term), _MOST_NAMES, count=False)
        places = [place for _, place in found.hits]
        numbers, pages = (self._names.fast_field_values(name, places) for name in ("id", "page"))
        named = [(int(n or 0), int(p or 0)) for n, p in zip(numbers, pages, strict=True)]
        if when.at is not None:
            shown = [page for number, page in named if self._count(number, when)]
            return self._clauses.terms("page", shown)
        spans: dict[int, list[Span]] = {}
        for number, page in named:
            query = self._leading(number, when)
            own = self._shown(query, ("since", "ended"), _MOST_SOURCES)
            spans.setdefault(page, []).extend((since, ended) for since, ended in own)
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
        return self._count(page_number(url), When(at))

    def weight(self, url: str, at: Instant) -> float:
        """What the links to it make of the score of a content."""
        return 1 + _DOUBLING * math.log2(1 + self.inlinks(url, at))

    def _count(self, number: int, when: When) -> int:
        if not self._searcher.doc_freq("points", number):
            return 0
        return int(self._searcher.search(self._leading(number, when), 1).count)  # type: ignore[attr-defined]  # its stub lacks it

    def _leading(self, number: int, when: When) -> Query:
        return both(self._clauses.term("points", number), *self._clauses.shown(when))

    def _shown(self, query: Query, fields: Sequence[str], most: int) -> Iterable[tuple[int, ...]]:
        searcher = self._searcher
        hits = searcher.search(query, min(most, searcher.num_docs + 1), count=False).hits
        places = [place for _, place in hits]
        columns = [searcher.fast_field_values(name, places) for name in fields]
        return ((*(int(value or 0) for value in row),) for row in zip(*columns, strict=True))


def _merged(spans: Iterable[Span]) -> list[Span]:
    """The same moments, without overlaps."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((begin, end))
    return found
