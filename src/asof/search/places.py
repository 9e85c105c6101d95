"""Where the words of a text stand in it: the folded words, and the letters that they were."""

import re
import unicodedata
from collections.abc import Iterator, Sequence, Set
from functools import cached_property
from operator import add

import numpy as np

from asof.caret import Span
from asof.search.words import (
    PLAIN_WORD,
    is_indexed,
    is_plain,
    is_unspaced,
    level,
    level_by_each,
    pieces_of,
    words_of,
)

# Parts of a syllable of Hangul, and the marks of narrow katakana.
_PARTS = re.compile("[\u1160-\u11ff\u3131-\u318e\uff9e-\uffdc]")
_MARKS = ("Mn", "Mc", "Me", "Cf")


class Words:
    """The words of a text, and where those that follow each other stand in it."""

    def __init__(self, plain: str, origins: Sequence[int]) -> None:
        self._plain = plain
        self._origins = origins

    @cached_property
    def distinct(self) -> list[str]:
        return list(dict.fromkeys(words_of(self._plain)))

    def rows(self, wanted: Sequence[Set[str]], *, halved: bool = False) -> Iterator[Span]:
        """Where words of these sets stand, one of each, in a row; of a last one that is a pair of
        characters the first, if `halved`.
        """
        plain, (first, *rest) = self._plain, wanted
        for word in first:
            at = plain.find(word)
            while at >= 0:
                end = at + len(word)
                alone = not plain[at - 1 : at].isalnum() and not plain[end : end + 1].isalnum()
                last = self._followed(end, rest) if alone else None
                if last is not None:
                    # What is left out after a letter (a hyphen that is not seen) belongs to it.
                    origins = self._origins
                    yield origins[at], max(origins[last - 1] + 1, origins[last])
                at = plain.find(word, end)

    def _followed(self, end: int, rest: Sequence[Set[str]]) -> int | None:
        """Where the last of the words that should follow ends; None if others do."""
        for words in rest:
            while True:
                found = PLAIN_WORD.search(self._plain, end)
                if found is None:
                    return None
                end = found.end()
                if is_indexed(found[0]):
                    break
            if found[0] not in words:
                return None
        return end


class Places(Words):
    """The same of any script. Words of a run in a script without spaces overlap."""

    def __init__(self, plain: str, origins: Sequence[int]) -> None:
        super().__init__(plain, origins)
        self.words: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        ends = _ends(origins)
        for start, end in pieces_of(plain):
            word = plain[start:end]
            if is_unspaced(word[0]):
                self.words += [*map(add, word, word[1:]), word[-1]]
                self.starts += origins[start:end]
                self.ends += [*ends[start + 1 : end], ends[end - 1]]
            elif is_indexed(word):
                self.words.append(word)
                self.starts.append(origins[start])
                self.ends.append(ends[end - 1])

    @cached_property
    def distinct(self) -> list[str]:
        return list(dict.fromkeys(self.words))

    def rows(self, wanted: Sequence[Set[str]], *, halved: bool = False) -> Iterator[Span]:
        first, *rest = wanted
        for at, word in enumerate(self.words):
            last = at + len(rest)
            if word in first and last < len(self.words):
                following = self.words[at + 1 : last + 1]
                if all(each in words for each, words in zip(following, rest, strict=True)):
                    end = self.ends[last]
                    if halved and last + 1 < len(self.starts):
                        end = min(end, self.starts[last + 1])
                    yield self.starts[at], end


def words_in(text: str) -> Words:
    """The words of the text as `words_of(folded(text))` gives them."""
    plain, origins = levelled(text)
    return (Words if is_plain(plain) else Places)(plain, origins)


def _ends(origins: Sequence[int]) -> Sequence[int]:
    if isinstance(origins, range):
        return origins[1:]
    of = np.array(origins)
    ends: list[int] = np.maximum(of[:-1] + 1, of[1:]).tolist()
    return ends


def levelled(text: str) -> tuple[str, Sequence[int]]:
    """The levelled text, and for each letter of it (and its end) which one of the text it was."""
    if text.isascii():
        return text.lower(), range(len(text) + 1)
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
