"""Where the terms of a question are in a text."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rapidfuzz.distance import OSA

from asof.search.asked import Term
from asof.search.places import words_in
from asof.search.words import is_unspaced

Forms = Callable[[str, Sequence[str]], list[str]]
"""The other forms of a word, of some words."""


class Hit(NamedTuple):
    """A stretch of the text, and the term (by its number) that it answers."""

    start: int
    end: int
    term: int


def hits(text: str, terms: Sequence[Term], forms: Forms) -> list[Hit]:
    """All places that answer a term, in the order of the text."""
    words = words_in(text)
    found = []
    for number, term in enumerate(terms):
        slots = [_answering(term, at, words.distinct, forms) for at in range(len(term.words))]
        # A single character begins a pair: the other one was not asked for.
        halved = len(term.words[-1]) == 1 and is_unspaced(term.words[-1])
        found += [Hit(*span, number) for span in words.rows(slots, halved=halved)]
    return sorted(found)


def _may_be_inflected(term: Term) -> bool:
    return len(term.words) == 1 and not (term.exact or term.prefix or term.fuzzy)


def _answering(term: Term, at: int, distinct: list[str], forms: Forms) -> set[str]:
    """The words of the text that can stand for one word of a term."""
    word = term.words[at]
    if term.fuzzy:
        most = term.fuzzy
        return {
            other
            for other in distinct
            if abs(len(other) - len(word)) <= most
            and OSA.distance(word, other, score_cutoff=most) <= most
        }
    if term.prefix and at == len(term.words) - 1:
        return {other for other in distinct if other.startswith(word)}
    return {word, *(forms(word, distinct) if _may_be_inflected(term) else ())}
