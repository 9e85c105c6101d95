"""Where the terms of a question are in a text."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rapidfuzz.distance import OSA

from asof.search.asked import Term
from asof.search.places import Places
from asof.search.words import is_unspaced

Stems = Callable[[Sequence[str]], list[str]]


class Hit(NamedTuple):
    """A stretch of the text, and the term (by its number) that it answers."""

    start: int
    end: int
    term: int


def hits(places: Places, terms: Sequence[Term], stems: Stems) -> list[Hit]:
    """All places that answer a term, in the order of the text."""
    distinct = list(dict.fromkeys(places.words))
    same_stem = _by_stem(distinct, terms, stems)
    slots = [
        [_answering(term, at, distinct, same_stem) for at in range(len(term.words))]
        for term in terms
    ]
    begun: dict[str, list[int]] = {}
    for number, term in enumerate(slots):
        for word in term[0]:
            begun.setdefault(word, []).append(number)
    found: list[Hit] = []
    words = places.words
    for at, word in enumerate(words):
        for number in begun.get(word, ()):
            slot = slots[number]
            stop = at + len(slot)
            if len(slot) == 1 or _in_a_row(slot, words[at:stop]):
                found.append(_hit(places, terms[number], at, stop - 1, number))
    return sorted(found)


def _in_a_row(slot: list[set[str]], words: list[str]) -> bool:
    return len(slot) == len(words) and all(map(set.__contains__, slot, words))


def _hit(places: Places, term: Term, first: int, last: int, number: int) -> Hit:
    end = places.ends[last]
    following = places.starts[last + 1] if last + 1 < len(places.starts) else end
    # A single character that begins a pair: the other one was not asked for.
    if len(term.words[-1]) == 1 and is_unspaced(term.words[-1]):
        end = min(end, following)
    return Hit(places.starts[first], end, number)


def _by_stem(distinct: list[str], terms: Sequence[Term], stems: Stems) -> dict[str, set[str]]:
    """For each word of a term that may be inflected, the words of the text with its stem."""
    wanted = [term.words[0] for term in terms if _may_be_inflected(term)]
    if not wanted:
        return {}
    every = distinct + wanted
    stemmed = stems(every)
    words: dict[str, set[str]] = {stem: set() for stem in stemmed[len(distinct) :]}
    for word, stem in zip(distinct, stemmed, strict=False):
        if stem in words:
            words[stem].add(word)
    return {word: words[stem] for word, stem in zip(wanted, stemmed[len(distinct) :], strict=True)}


def _may_be_inflected(term: Term) -> bool:
    return len(term.words) == 1 and not (term.exact or term.prefix or term.fuzzy)


def _answering(
    term: Term, at: int, distinct: list[str], same_stem: dict[str, set[str]]
) -> set[str]:
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
    return {word} | (same_stem.get(word, set()) if _may_be_inflected(term) else set())
