"""The difference of two texts, for people: what to show side by side, and which words to mark.

Lines (paragraphs) are aligned first, then the sentences of those that changed, then the words of
sentences that became others. Nothing is lost on the way: the old sides of all rows are the old
text, the new sides the new one, and what is not marked is the same on both sides.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from asof.change.alignment import Match, common

# Sentences end here; those of Chinese and Japanese need no space behind them.
_SENTENCE_END = re.compile(
    r"(?<=[.!?…])[\"'”’)\]]{0,3}\s+|(?<=[。！？])[”’」』）]{0,3}\n?"  # noqa: RUF001
)
# What is marked as one: a word with its accents, a character of a script without spaces, an emoji
# with all that is joined to it, blanks, and every other character by itself.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
    "\u3099\u309a\ufe00-\ufe0f"
)
_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
_PUNCTUATION = r"!-/:-@\[-^`{-\xbf\u2010-\u205e\u3000-\u303f\uff00-\uff0f"
_TOKEN = re.compile(
    rf"[{_UNSPACED}][{_MARKS}]*+|[^\s{_PUNCTUATION}{_UNSPACED}{_EMOJI}]+|\n|[^\S\n]+"
    rf"|[\U0001f1e6-\U0001f1ff]{{2}}"
    rf"|[{_EMOJI}](?:[\ufe0f\u20e3\U0001f3fb-\U0001f3ff]|\u200d[{_EMOJI}])*+|.",
    re.DOTALL,
)

# Two sentences are versions of one from this share of words in common on.
_ALIKE = 0.5
# How many sentences ahead a version of one is looked for.
_REACH = 6
# Words of one sentence: tables beyond this are cut (alignment.py), as nobody reads such marks.
_WORDS_LARGEST = 1 << 26
# From so many characters that stayed on, they are worth standing between two marks.
_ISLAND = 4


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line, marked if the other side does not have it."""

    text: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence or line of one side. `number` is the line it stands in, from 1.

    The text ends in a line feed if it is the end of its line, and that can be marked, too.
    """

    number: int
    spans: tuple[Span, ...]

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


@dataclass(frozen=True, slots=True)
class Row:
    """What stands side by side; one side is missing where something was added or removed."""

    old: Line | None
    new: Line | None
    same: bool = False

    @property
    def kind(self) -> str:
        """same, changed, removed or added."""
        if self.same:
            return "same"
        if self.old is None:
            return "added"
        return "removed" if self.new is None else "changed"


@dataclass(frozen=True, slots=True)
class Difference:
    """Two texts side by side."""

    rows: tuple[Row, ...]

    @property
    def is_change(self) -> bool:
        return not all(row.same for row in self.rows)

    def counts(self) -> dict[str, int]:
        counts = dict.fromkeys(("same", "changed", "removed", "added"), 0)
        for row in self.rows:
            counts[row.kind] += 1
        return counts


# Lines or sentences, each with the number of its line.
_Texts = Sequence[tuple[int, str]]


def difference(old: str, new: str) -> Difference:
    return Difference(tuple(_aligned(_lines(old), _lines(new), _closer)))


def _lines(text: str) -> _Texts:
    return [(number, line + "\n") for number, line in enumerate(text.split("\n"), 1)]


def _aligned(
    old: _Texts, new: _Texts, between: Callable[[_Texts, _Texts], Iterator[Row]]
) -> Iterator[Row]:
    """What both have as it is, and what `between` makes of the stretches that they do not."""
    a = c = 0
    matches = common([text for _, text in old], [text for _, text in new])
    for start, other, length in (*matches, Match(len(old), len(new), 0)):
        yield from between(old[a:start], new[c:other])
        a, c = start + length, other + length
        for (number, text), (now, _) in zip(old[start:a], new[other:c], strict=True):
            span = (Span(text),)
            yield Row(Line(number, span), Line(now, span), same=True)


def _closer(old: _Texts, new: _Texts) -> Iterator[Row]:
    """Lines that changed, by their sentences."""
    left, right = list(_sentences(old)), list(_sentences(new))
    return _aligned(left, right, _paired) if old and new else _unpaired(left, right)


def _sentences(lines: _Texts) -> Iterator[tuple[int, str]]:
    for number, line in lines:
        cuts = [0, *(end.end() for end in _SENTENCE_END.finditer(line)), len(line)]
        yield from ((number, line[a:b]) for a, b in pairwise(cuts) if a < b)


def _paired(old: _Texts, new: _Texts) -> Iterator[Row]:
    """Sentences that are not the same: those that are alike become one row, in order."""
    left, right = [_vocabulary(text) for _, text in old], [_vocabulary(text) for _, text in new]
    i = j = 0
    while i < len(old) and j < len(new):
        ahead = _next_alike(left, right, i, j)
        if ahead is None:
            yield from _unpaired(old[i : i + 1], new[j : j + 1])
            i, j = i + 1, j + 1
            continue
        yield from _unpaired(old[i : ahead[0]], new[j : ahead[1]])
        i, j = ahead
        yield _marked(old[i], new[j])
        i, j = i + 1, j + 1
    yield from _unpaired(old[i:], new[j:])


def _vocabulary(text: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(text.lower())) - {" ", "\n"}


def _next_alike(
    left: list[frozenset[str]], right: list[frozenset[str]], i: int, j: int
) -> tuple[int, int] | None:
    """The nearest two that are alike, the fewest skipped first."""
    for skipped in range(_REACH + 1):
        for down in range(skipped + 1):
            one, other = i + down, j + skipped - down
            if one < len(left) and other < len(right) and _alike(left[one], right[other]):
                return one, other
    return None


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return 2 * len(one & other) >= _ALIKE * (len(one) + len(other)) > 0


def _unpaired(old: _Texts, new: _Texts) -> Iterator[Row]:
    for number, text in old:
        yield Row(Line(number, (Span(text, True),)), None)
    for number, text in new:
        yield Row(None, Line(number, (Span(text, True),)))


def _marked(old: tuple[int, str], new: tuple[int, str]) -> Row:
    """Two versions of a sentence with the words marked that only one of them has."""
    left, right = _TOKEN.findall(old[1]), _TOKEN.findall(new[1])
    matches = _without_islands(left, common(left, right, _WORDS_LARGEST))
    return Row(
        Line(old[0], _spans(left, [(match.old, match.length) for match in matches])),
        Line(new[0], _spans(right, [(match.new, match.length) for match in matches])),
    )


def _without_islands(tokens: list[str], matches: list[Match]) -> list[Match]:
    """Leave out blanks and short words between two marks, which are chance and hard to read."""
    kept: list[Match] = []
    for place, match in enumerate(matches):
        inside = 0 < place < len(matches) - 1
        letters = "".join(tokens[match.old : match.old + match.length])
        if not inside or sum(map(str.isalnum, letters)) >= _ISLAND or "\n" in letters:
            kept.append(match)
    return kept


def _spans(tokens: list[str], same: list[tuple[int, int]]) -> tuple[Span, ...]:
    spans: list[Span] = []
    done = 0
    for start, length in (*same, (len(tokens), 0)):
        if done < start:
            spans.append(Span("".join(tokens[done:start]), True))
        if length:
            spans.append(Span("".join(tokens[start : start + length])))
        done = start + length
    return tuple(spans)


def as_json(found: Difference) -> dict[str, object]:
    """The difference as plain values: who has the old text can make the new one of it.

    `old` and `new` of each part are places of characters in the texts, to which a last line feed
    counts. Parts that are the same bring no text; others bring words: same, removed or added.
    """
    parts: list[dict[str, object]] = []
    a = c = 0
    same_since: tuple[int, int] | None = None

    def close() -> None:
        if same_since is not None and (a, c) != same_since:
            parts.append({"kind": "same", "old": [same_since[0], a], "new": [same_since[1], c]})

    for row in found.rows:
        b = a + len(row.old.text) if row.old else a
        d = c + len(row.new.text) if row.new else c
        if row.same:
            same_since = same_since or (a, c)
        else:
            close()
            same_since = None
            parts.append(_part(row, (a, b), (c, d)))
        a, c = b, d
    close()
    return {"counts": found.counts(), "parts": parts}


def _part(row: Row, old: tuple[int, int], new: tuple[int, int]) -> dict[str, object]:
    part: dict[str, object] = {"kind": row.kind, "old": list(old), "new": list(new)}
    if row.old is not None:
        part["old_line"] = row.old.number
    if row.new is not None:
        part["new_line"] = row.new.number
    part["words"] = _words(row)
    return part


def _words(row: Row) -> list[list[str]]:
    """What stayed, went and came, in order; what went before what came in its place."""
    old = list(row.old.spans) if row.old else []
    new = list(row.new.spans) if row.new else []
    words: list[list[str]] = []
    while old or new:
        if old and old[0].marked:
            words.append(["removed", old.pop(0).text])
        elif new and new[0].marked:
            words.append(["added", new.pop(0).text])
        else:
            words.append(["same", old.pop(0).text])
            new.pop(0)
    return words
