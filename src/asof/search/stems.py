"""Other forms of a word: those of the index that have the same stem in a language (Snowball).

Texts are indexed as they are written; which other forms there are is looked up when a word is
asked for, in the vocabulary of the index. Stems in the index would take a third of its time and a
tenth of its size, and `dies` would find each German page.
"""

from collections.abc import Sequence
from functools import lru_cache
from os.path import commonprefix

import tantivy

# Languages of tags and of tantivy's stemmers.
_NAMES = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian", "it": "italian",
    "nb": "norwegian", "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
_VOCABULARY = 1 << 17
_MOST_FORMS = 50


def stems(words: Sequence[str], language: str | None) -> list[str]:
    """The stems of folded words in a language, a BCP 47 tag; the words where it has none."""
    name = _NAMES.get((language or "").partition("-")[0].lower())
    return list(words) if name is None else [*map(_stems(name).__getitem__, words)]


def forms(word: str, language: str, vocabulary: Sequence[str]) -> list[str]:
    """The words of a vocabulary that have the stem of a word, and are another."""
    (stem,) = stems((word,), language)
    own = stems(vocabulary, language)
    found = [other for other, each in zip(vocabulary, own, strict=True) if each == stem]
    return [other for other in found if other != word][:_MOST_FORMS]


def beginning(word: str, language: str) -> str | None:
    """How all words with the stem of a word begin; None where the language has no stems.

    Stems end otherwise than words now and then (`studi`), so the last letter does not count.
    """
    if language not in _NAMES:
        return None
    (stem,) = stems((word,), language)
    shared = commonprefix((word, stem))  # noqa: RUF071 (of words, and not of paths)
    return shared[: max(len(stem) - 1, 2)] or word[:2]


class _Stems(dict[str, str]):
    """Of words of one language: a look-up costs a fortieth of stemming."""

    def __init__(self, language: str) -> None:
        whole = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
        self._stemmer = whole.filter(tantivy.Filter.stemmer(language)).build()

    def __missing__(self, word: str) -> str:
        if len(self) >= _VOCABULARY:
            self.clear()
        found = self[word] = "".join(self._stemmer.analyze(word))
        return found


_stems = lru_cache(_Stems)
