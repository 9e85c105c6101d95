"""From a question to a query of tantivy: where a word counts, and which contents may be found."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial

import tantivy
from tantivy import FieldType, Occur, Query

from asof.search.query import Asked, Every, Field, Some, Term, Without, terms
from asof.search.question import Question, When
from asof.search.schema import LANGUAGE, MAIN, PLACE, REST, TITLE, TYPE, WORTH
from asof.search.stems import beginning, forms
from asof.text.kinds.media import is_of_type
from asof.url import key_ranges

_OTHER_FORM = 0.5  # what one is worth beside the word itself
# Of a vocabulary, for one word; and for all words of a question.
_MOST_LOOKED_AT, _MOST_IN_ALL = 20_000, 60_000
_FIELDS = {None: (TITLE, MAIN, REST, PLACE), Field.TITLE: (TITLE,), Field.URL: (PLACE,)}


class Compiler:
    """For one index; `languages` and `types` are those of its documents."""

    def __init__(
        self,
        schema: tantivy.Schema,
        searcher: tantivy.Searcher,
        languages: Sequence[str],
        types: Sequence[str],
    ) -> None:
        self._searcher, self._languages, self._types = searcher, languages, types
        self._term = partial(Query.term_query, schema)
        self._terms = partial(Query.term_set_query, schema)
        self._phrase = partial(Query.phrase_query, schema)
        self._fuzzy = partial(Query.fuzzy_term_query, schema)
        self._patterns = partial(Query.regex_phrase_query, schema)
        self._range = partial(Query.range_query, schema)

    def said(self, asked: Asked) -> Query:
        """Contents that say what is asked; more of it, and nearer to the top, counts for more."""
        words = len([*terms(asked, excluded=True)])
        return self._said(asked, min(_MOST_LOOKED_AT, _MOST_IN_ALL // words))

    def _said(self, asked: Asked, most: int) -> Query:
        match asked:
            case Term():
                return _any(self._forms(asked, most))
            case Some(parts):
                return _any(self._said(part, most) for part in parts)
            case Every(parts):
                return self._all(parts, most)
            case Without():
                return self._all((asked,), most)

    def _all(self, parts: Iterable[Asked], most: int) -> Query:
        return Query.boolean_query(
            [
                (Occur.MustNot, self._said(part.part, most))
                if isinstance(part, Without)
                else (Occur.Must, self._said(part, most))
                for part in parts
            ]
        )

    def _forms(self, term: Term, most: int) -> Iterator[Query]:
        """A term in each of its fields, and where the language is known its other forms."""
        for field in _FIELDS[term.field]:
            yield Query.boost_query(self._in(field, term), WORTH[field])
        if len(term.words) > 1 or term.exact or term.prefix or term.fuzzy or term.field:
            return
        known = cache(partial(self._vocabulary, most))  # for all languages
        for language in self._languages:
            for field, others in self._other_forms(term.words[0], language, known):
                said = _any(self._term(field, other) for other in others)
                there = both(said, self._term(LANGUAGE, language, "basic"))
                yield Query.boost_query(there, _OTHER_FORM * WORTH[field])

    def _other_forms(
        self, word: str, language: str, known: Callable[[str, str], list[str]]
    ) -> Iterator[tuple[str, list[str]]]:
        start = beginning(word, language)
        if start is None:
            return
        for field in (TITLE, MAIN, REST):
            if others := forms(word, language, known(field, start)):
                yield field, others

    def _vocabulary(self, most: int, field: str, start: str) -> list[str]:
        return [word for word, _ in self._searcher.terms_with_prefix(field, start, limit=most)]

    def _in(self, field: str, term: Term) -> Query:
        word, *more = term.words
        if more and term.prefix:  # `phrase_prefix_query` knows 50 words that begin so, and no more
            return self._patterns(field, [*term.words[:-1], f"{term.words[-1]}.*"])
        if more:
            return self._phrase(field, list(term.words))
        if term.prefix or term.fuzzy:
            return self._fuzzy(field, word, distance=term.fuzzy, prefix=term.prefix)
        return self._term(field, word)

    def allowed(self, question: Question) -> list[Query]:
        """What a content has to be, whenever it was shown."""
        found = []
        if question.prefix is not None:
            found.append(_any(self._keys(*each) for each in key_ranges(question.prefix)))
        if question.media_type is not None:
            types = [each for each in self._types if is_of_type(each, question.media_type)]
            found.append(self._terms(TYPE, types))
        if question.language is not None:
            language = question.language.partition("-")[0].lower()
            found.append(self._term(LANGUAGE, language, "basic"))
        return found

    def _keys(self, low: str, high: str) -> Query:
        """A stretch of keys: one key, or all that begin alike. (A pattern has 1,000 signs.)"""
        if high == low + "\0":
            return self._term("surt", low, "basic")
        return self._fuzzy("surt", low, distance=0, prefix=True)

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


def _any(queries: Iterable[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, each) for each in queries])
