"""Parts of queries that every index takes: words in one of its fields, and when it was shown."""

from functools import partial

import tantivy
from tantivy import FieldType, Occur, Query

from asof.search.query import Term
from asof.search.question import When


class Clauses:
    """For the fields of one schema."""

    def __init__(self, schema: tantivy.Schema) -> None:
        self.term = partial(Query.term_query, schema)
        self.terms = partial(Query.term_set_query, schema)
        self.fuzzy = partial(Query.fuzzy_term_query, schema)
        self._phrase = partial(Query.phrase_query, schema)
        self._patterns = partial(Query.regex_phrase_query, schema)
        self._range = partial(Query.range_query, schema)

    def words(self, field: str, term: Term) -> Query:
        """Where a field says what is asked for."""
        word, *more = term.words
        if more and term.prefix:  # `phrase_prefix_query` knows 50 words that begin so, and no more
            return self._patterns(field, [*term.words[:-1], f"{term.words[-1]}.*"])
        if more:
            return self._phrase(field, list(term.words))
        if term.prefix or term.fuzzy:
            return self.fuzzy(field, word, distance=term.fuzzy, prefix=term.prefix)
        return self.term(field, word)

    def shown(self, when: When) -> list[Query]:
        """When a content has to be shown."""
        found = []
        for first, last in ((when.at, when.at), (when.since, when.until)):
            if last is not None:
                found.append(self._range("since", FieldType.Integer, None, last))
            if first is not None:
                found.append(self._range("ended", FieldType.Integer, first + 1, None))
        return found


def both(said: Query, *filters: Query) -> Query:
    """What is said, of what is allowed; that counts for nothing."""
    unweighed = (Query.const_score_query(each, 0.0) for each in filters)
    return Query.boolean_query([(Occur.Must, each) for each in (said, *unweighed)])
