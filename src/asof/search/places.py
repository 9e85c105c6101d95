"""Where the words of a text stand in it: the folded words, and the letters that they were."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import add

import numpy as np

from asof.search.words import has_runs, is_indexed, is_unspaced, level, level_by_each, pieces_of

# Parts of a syllable of Hangul, and the marks of narrow katakana.
_PARTS = re.compile("[\u1160-\u11ff\u3131-\u318e\uff9e-\uffdc]")
_MARKS = ("Mn", "Mc", "Me", "Cf")


@dataclass(slots=True)
class Places:
    """The words of a text in their order. Those of a run in a script without spaces overlap."""

    words: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)


def places_of(text: str) -> Places:
    """All words of the text as `words_of(folded(text))` gives them, with their places."""
    plain, origins = (text.lower(), range(len(text) + 1)) if text.isascii() else _levelled(text)
    if not has_runs(plain):
        return _plainly(plain, origins)
    ends = _ends(origins)
    found = Places()
    for start, end in pieces_of(plain):
        word = plain[start:end]
        if is_unspaced(word[0]):
            found.words += [*map(add, word, word[1:]), word[-1]]
            found.starts += origins[start:end]
            found.ends += [*ends[start + 1 : end], ends[end - 1]]
        elif is_indexed(word):
            found.words.append(word)
            found.starts.append(origins[start])
            found.ends.append(ends[end - 1])
    return found


def _plainly(plain: str, origins: Sequence[int]) -> Places:
    """Of a text without runs, as most are: in one go."""
    spans = pieces_of(plain)
    words = [plain[start:end] for start, end in spans]
    if not all(map(is_indexed, words)):
        spans = [span for span, word in zip(spans, words, strict=True) if is_indexed(word)]
        words = [plain[start:end] for start, end in spans]
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    if isinstance(origins, range):  # each letter is where it was
        return Places(words, starts, ends)
    last = _ends(origins)
    return Places(words, [origins[at] for at in starts], [last[at - 1] for at in ends])


def _ends(origins: Sequence[int]) -> Sequence[int]:
    if isinstance(origins, range):
        return origins[1:]
    # What is left out after a letter (a mark, a hyphen that is not seen) belongs to it.
    of = np.array(origins)
    ends: list[int] = np.maximum(of[:-1] + 1, of[1:]).tolist()
    return ends


def _append(found: Places, word: str, start: int, end: int) -> None:
    if is_indexed(word):
        found.words.append(word)
        found.starts.append(start)
        found.ends.append(end)


def _levelled(text: str) -> tuple[str, Sequence[int]]:
    """The levelled text, and for each letter of it (and its end) which one of the text it was."""
    if (by_each := level_by_each(text)) is not None:
        whole, sizes = by_each
        if all(size == 1 for size in sizes.values()):
            return whole, range(len(text) + 1)
        repeats = [sizes[character] for character in text]
        return whole, [*np.repeat(np.arange(len(text)), repeats).tolist(), len(text)]
    known: dict[str, str] = {}
    letters: list[str] = []
    each: list[int] = []
    for start, end in _clusters(text):
        cluster = text[start:end]
        if cluster not in known:
            known[cluster] = level(cluster)
        plain = known[cluster]
        letters.append(plain)
        each += [start] * len(plain)
    return "".join(letters), [*each, len(text)]


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Letters with the marks that follow them: what can become one."""
    start = 0
    for at in range(1, len(text)):
        if text[at - 1].isspace() or not _goes_on(text[at]):
            yield start, at
            start = at
    if text:
        yield start, len(text)


def _goes_on(character: str) -> bool:
    return _PARTS.match(character) is not None or unicodedata.category(character) in _MARKS
