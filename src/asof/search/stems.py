"""Other forms of a word: those of the index that have the same stem in a language (Snowball), in
Arabic and Hebrew also those with an article, an "and" or a preposition written onto them.

Texts are indexed as they are written; which other forms there are is looked up when a word is
asked for, in the vocabulary of the index. Stems in the index would take a third of its time and a
tenth of its size, and `dies` would find each German page.
"""

import re
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
# What is written onto the words of a language, and no part of them. Who asks with it means it, but
# for the Arabic article, which goes with all that stands before it.
_ARTICLE = re.compile(r"\A[وف]?(?:[بك]?ال|لل)(?=.{3})")
_ONTO = {
    "ar": ("و", "ف", "ب", "ل", "ك", "ال", "وال", "فال", "بال", "كال", "لل", "ولل"),
    "he": tuple(
        first + second
        for first in ("", "ו", "ש", "וש", "כש", "וכש")  # noqa: RUF001
        for second in ("", "ה", "ב", "ל", "כ", "מ", "מה")
        if first or second
    ),
}
_VOCABULARY = 1 << 17
_MOST_FORMS = 50


def stems(words: Sequence[str], language: str | None) -> list[str]:
    """The stems of folded words in a language, a BCP 47 tag; the words where it has none."""
    name = _NAMES.get(_short(language))
    return list(words) if name is None else [*map(_stems(name).__getitem__, words)]


def forms(word: str, vocabulary: Sequence[str], language: str | None) -> list[str]:
    """The words of a vocabulary that are other forms of a word."""
    onto = {first + word for first in _onto(word, _short(language))}
    (stem,) = stems((word,), language)
    own = stems(vocabulary, language)
    found = [
        other
        for other, each in zip(vocabulary, own, strict=True)
        if (each == stem or other in onto) and other != word
    ]
    return found[:_MOST_FORMS]


def beginnings(word: str, language: str) -> list[str]:
    """How all other forms of a word begin; nothing where its language has none.

    Stems end otherwise than words now and then (`studi`), so the last letter does not count.
    """
    onto = _onto(word, language)
    if language not in _NAMES and not onto:
        return []
    (stem,) = stems((word,), language)
    bare = word[max(word.find(stem[:2]), 0) :] if onto else word
    shared = commonprefix((bare, stem))  # noqa: RUF071 (of words, and not of paths)
    if language in _NAMES:
        shared = shared[: max(len(stem) - 1, 2)] or word[:2]
    return [first + shared for first in ("", *onto)]


def _onto(word: str, language: str) -> tuple[str, ...]:
    return _ONTO.get(language, ()) if "\u0590" <= word[:1] <= "\u06ff" else ()


def _short(language: str | None) -> str:
    return (language or "").partition("-")[0].lower()


class _Stems(dict[str, str]):
    """Of words of one language: a look-up costs a fortieth of stemming."""

    def __init__(self, language: str) -> None:
        whole = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
        self._stemmer = whole.filter(tantivy.Filter.stemmer(language)).build()
        self._is_arabic = language == _NAMES["ar"]

    def __missing__(self, word: str) -> str:
        if len(self) >= _VOCABULARY:
            self.clear()
        bare = _ARTICLE.sub("", word, count=1) if self._is_arabic else word
        found = self[word] = "".join(self._stemmer.analyze(bare))
        return found


_stems = lru_cache(_Stems)
