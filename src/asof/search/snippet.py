"""The passage of a document that answers a question best, with the words that do marked."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import regex

from asof.caret import Span
from asof.search.asked import Term
from asof.search.match import Forms, Hit, hits
from asof.search.words import UNSPACED

LOOKED_AT = 200_000  # characters; further down is hardly ever the best passage
ELLIPSIS = " … "

_SPACES = re.compile(r"\s+")
# What could turn the text around it, or a terminal; white space among it is folded instead.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_BEGINNING = regex.compile(rf"(?<!\S)\S|{UNSPACED}(?<!\p{{M}})", regex.V1)
_ENDING = regex.compile(rf"(?r)\S(?!\S)|{UNSPACED}(?![\p{{M}}\p{{Cf}}])", regex.V1)


class Piece(NamedTuple):
    """A part of a passage; marked if it is what was asked for."""

    text: str
    marked: bool


class _Passage(NamedTuple):
    """A part of the text that holds hits close together."""

    start: int
    end: int
    terms: frozenset[int]


def extract(text: str, terms: Sequence[Term], forms: Forms, width: int = 280) -> tuple[Piece, ...]:
    """The passage, or two with an ellipsis between, that shows most of the terms."""
    text = text[:LOOKED_AT]
    found = hits(text, terms, forms)
    spans = _grown(text, _chosen(found, width), width)
    marks = _merged(found)
    pieces: list[Piece] = []
    for span in spans:
        if pieces:
            pieces.append(Piece(ELLIPSIS, False))
        pieces += _pieces(text, span, marks)
    return tuple(pieces)


def _chosen(found: list[Hit], width: int) -> list[_Passage]:
    """One passage where it shows as many terms as two of half the width would."""
    one = _best(found, width)
    if one is None:
        return []
    if len(one.terms) == len({hit.term for hit in found}):
        return [one]
    first = _best(found, width // 2) or one
    rest = [hit for hit in found if hit.term not in first.terms]
    second = _best(rest, width // 2)
    if second is None or len(first.terms) + len(second.terms) <= len(one.terms):
        return [one]
    return sorted([first, second])


def _best(found: list[Hit], width: int) -> _Passage | None:
    """The passage with most terms, then the closest, then the first."""
    best: _Passage | None = None
    rank = (0, 0)
    count: Counter[int] = Counter()
    left = end = shown = 0
    for right, hit in enumerate(found):
        shown += not count[hit.term]
        count[hit.term] += 1
        end = max(end, hit.end)
        while left < right and (count[found[left].term] > 1 or end - found[left].start > width):
            count[found[left].term] -= 1
            shown -= not count[found[left].term]
            left += 1
        here = (shown, found[left].start - end)
        if here > rank or best is None:
            rank = here
            best = _Passage(found[left].start, end, frozenset(+count))
    return best


def _grown(text: str, chosen: list[_Passage], width: int) -> list[Span]:
    """The passages with what stands around them, from a border of words to another."""
    if not chosen:
        return [_around(text, 0, 0, width)]
    share = width // len(chosen)
    spans = [_around(text, passage.start, passage.end, share) for passage in chosen]
    if len(spans) == 2 and not text[spans[0][1] : spans[1][0]].strip():
        return [(spans[0][0], max(end for _, end in spans))]
    return spans


def _around(text: str, start: int, end: int, width: int) -> Span:
    """A third of the room before what was found, the rest after it."""
    room = max(width - (end - start), 0)
    first = max(start - room // 3, 0)
    if first:
        beginning = _BEGINNING.search(text, first, start + 1)
        first = beginning.start() if beginning else start
    last = first + max(width, end - first)
    if last >= len(text):
        return first, len(text)
    endings = (match.end() for match in _ENDING.finditer(text, end, last + 1))
    return first, next((at for at in endings if end <= at <= last), end) or last


def _merged(found: list[Hit]) -> list[Span]:
    """Where something is marked, without overlaps."""
    spans: list[Span] = []
    for start, end, _ in found:
        if spans and start < spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
    return spans


def _pieces(text: str, span: Span, marks: list[Span]) -> Iterator[Piece]:
    first, last = span
    inside = [(max(start, first), min(end, last)) for start, end in marks if start < last]
    inside = [(start, end) for start, end in inside if start < end]
    borders = [first, *(at for mark in inside for at in mark), last]
    for number, (start, end) in enumerate(pairwise(borders)):
        shown = _SPACES.sub(" ", _UNSEEN.sub("", text[start:end]))
        if number == 0:
            shown = shown.lstrip()
        if end == last:
            shown = shown.rstrip()
        if shown:
            yield Piece(shown, number % 2 == 1)
