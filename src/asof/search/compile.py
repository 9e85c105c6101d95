"""From a question to a query of tantivy: where a word counts, and which contents may be found."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial

import tantivy
from tantivy import Occur, Query

from asof.search.called import Called
from asof.search.clauses import Clauses, both
from asof.search.pointers import page_number
from asof.search.query import Asked, Every, Field, Some, Term, Without, terms
from asof.search.question import Question, When
from asof.search.schema import LANGUAGE, MAIN, NAME, PLACE, REST, TITLE, TYPE, WORTH
from asof.search.stems import beginnings, forms
from asof.text.kinds.media import is_of_type
from asof.url import key_ranges

_OTHER_FORM = 0.5  # what one is worth beside the word itself
# Of a vocabulary, for one word; and for all words of a question.
_MOST_LOOKED_AT, _MOST_IN_ALL = 20_000, 60_000
# Names that are looked at for all of them, the shortest first: each is asked for by itself.
_MOST_NAMES = 1_000
_FIELDS = {None: (TITLE, MAIN, REST, PLACE), Field.TITLE: (TITLE,), Field.URL: (PLACE,)}


class Compiler:
    """For one index; `languages` and `types` are those of its documents."""

    def __init__(
        self,
        schema: tantivy.Schema,
        searcher: tantivy.Searcher,
        called: Called,
        languages: Sequence[str],
        types: Sequence[str],
    ) -> None:
        self._searcher, self._languages, self._types = searcher, languages, types
        self._called = called
        self._clauses = Clauses(schema)

    def said(self, asked: Asked, when: When) -> Query:
        """Contents that say what is asked, or of which it is said when they have to be shown; more
        of it, and nearer to the top, counts for more.
        """
        words = len([*terms(asked, excluded=True)])

        def said(asked: Asked) -> Query:
            match asked:
                case Term():
                    return self._one(asked, words, when)
                case Some(parts):
                    return _any(map(said, parts))
                case Every(parts):
                    return Query.boolean_query([*map(part_of, parts)])
                case Without():
                    return Query.boolean_query([part_of(asked)])

        def part_of(part: Asked) -> tuple[Occur, Query]:
            if isinstance(part, Without):
                return Occur.MustNot, said(part.part)
            return Occur.Must, said(part)

        return said(asked)

    def _one(self, term: Term, words: int, when: When) -> Query:
        """A term, one of so many."""
        match term.field:
            case Field.ANCHOR:
                called = self._called.contents(term, when, _MOST_NAMES // words)
                return Query.const_score_query(called, WORTH[NAME])
            case Field.LINK:
                leading = self._clauses.terms("points", [*map(page_number, term.words)])
                return Query.const_score_query(leading, WORTH[NAME])
            case _:
                return _any(self._forms(term, min(_MOST_LOOKED_AT, _MOST_IN_ALL // words)))

    def _forms(self, term: Term, most: int) -> Iterator[Query]:
        """A term in each of its fields, and where the language is known its other forms."""
        for field in _FIELDS[term.field]:
            yield Query.boost_query(self._clauses.words(field, term), WORTH[field])
        if len(term.words) > 1 or term.exact or term.prefix or term.fuzzy or term.field:
            return
        known = cache(partial(self._vocabulary, most))  # for all languages
        for language in self._languages:
            for field, others in self._other_forms(term.words[0], language, known):
                said = _any(self._clauses.term(field, other) for other in others)
                there = both(said, self._clauses.term(LANGUAGE, language, "basic"))
                yield Query.boost_query(there, _OTHER_FORM * WORTH[field])

    def _other_forms(
        self, word: str, language: str, known: Callable[[str, str], list[str]]
    ) -> Iterator[tuple[str, list[str]]]:
        starts = beginnings(word, language)
        for field in (TITLE, MAIN, REST):
            there = dict.fromkeys(each for start in starts for each in known(field, start))
            if others := forms(word, [*there], language):
                yield field, others

    def _vocabulary(self, most: int, field: str, start: str) -> list[str]:
        return [word for word, _ in self._searcher.terms_with_prefix(field, start, limit=most)]

    def allowed(self, question: Question) -> list[Query]:
        """What a content has to be, whenever it was shown."""
        found = []
        if question.prefix is not None:
            found.append(_any(self._keys(*each) for each in key_ranges(question.prefix)))
        if question.media_type is not None:
            types = [each for each in self._types if is_of_type(each, question.media_type)]
            found.append(self._clauses.terms(TYPE, types))
        if question.language is not None:
            language = question.language.partition("-")[0].lower()
            found.append(self._clauses.term(LANGUAGE, language, "basic"))
        return found

    def _keys(self, low: str, high: str) -> Query:
        """A stretch of keys: one key, or all that begin alike. (A pattern has 1,000 signs.)"""
        if high == low + "\0":
            return self._clauses.term("surt", low, "basic")
        return self._clauses.fuzzy("surt", low, distance=0, prefix=True)


def _any(queries: Iterable[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, each) for each in queries])
