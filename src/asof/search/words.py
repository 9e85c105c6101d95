"""Words as they are indexed and asked for: one form for all spellings that a reader takes as equal.

The index splits what is folded here at all that is no letter and no number. Scripts written without
spaces have no words to split, and Korean writes what English has as words of their own onto a word:
their runs are indexed as overlapping pairs of characters, so that each part of a run is a phrase of
pairs, and a single character is the beginning of one.
"""

import re
import unicodedata
from functools import lru_cache
from operator import add

import regex

from asof.caret import Span

LONGEST_WORD = 100  # bytes of UTF-8; longer ones are encoded files and keys, which nobody asks for

_WORD = regex.compile(r"[\p{Alphabetic}\p{N}]+")  # what Rust's char::is_alphanumeric is true of
# The same where no marks are letters, and where nothing is but ASCII: in two thirds of the time,
# and in a third.
PLAIN_WORD = re.compile(r"[^\W_]+")
_WITH_MARKS = re.compile("[\u0345\u0590-\U0010ffff]")
_BETWEEN = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
UNSPACED = rf"[{_UNSPACED}&&\p{{Alphabetic}}]"  # as a set of the module regex, version 1
_RUN = regex.compile(rf"{UNSPACED}+", regex.V1)
_RUN_OR_WORD = regex.compile(rf"{UNSPACED}+|[[\p{{Alphabetic}}\p{{N}}]--{UNSPACED}]+", regex.V1)
_BEYOND = re.compile("[\u0e01-\u17ff\u3005-\U0010ffff]")  # where runs are: cheaper to look for
_ONE_UNSPACED = regex.compile(UNSPACED, regex.V1)

# Marks that a reader leaves out when asking: accents, points, vowel signs of Hebrew and Arabic.
_LEFT_OUT = regex.compile(
    r"[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe2f\U000e0100-\U000e01ef]"
    r"|[\u0591-\u05c7\u0610-\u06ed\u0898-\u08ff&&\p{Mn}]"
    # The index would split the scripts without spaces at their tone marks and stacking signs.
    r"|[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f&&\p{M}--\p{Alphabetic}]"
    r"|[\p{Cf}\u0640]",
    regex.V1,
)
_ACCENTED = regex.compile(r"[\p{Latin}\p{Greek}]")
_STROKES = str.maketrans(
    dict(zip("øłđħŧıðё", "oldhtidе", strict=True))  # noqa: RUF001 (the last is Cyrillic)
    | {"æ": "ae", "œ": "oe", "þ": "th"}
    # Letters of the Arabic script that are written for each other.
    | dict(zip("أإآٱىیکة", "ااااييكه", strict=True))
)
_SIGNS = dict.fromkeys("‘’‛ʻʼ", "'") | dict.fromkeys("™℠", " ")  # noqa: RUF001 ("Brand™", not brandtm)


class _Folding(dict[int, str]):
    """What each character becomes, found out when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = found = _fold_one(chr(code))
        return found


def _fold_one(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    if character > "\x7f" and unicodedata.category(character)[0] in _SEPARATES:
        return " "  # as the index takes it, and most texts are ASCII then
    plain = unicodedata.normalize("NFKC", character).casefold().translate(_STROKES)
    if _ACCENTED.match(plain):
        plain = unicodedata.normalize("NFKD", plain).translate(_STROKES)
    plain = unicodedata.normalize("NFKC", _LEFT_OUT.sub("", plain))
    return plain if plain == character or not plain else plain.translate(_FOLDING)


_FOLDING = _Folding()
_BEYOND_ASCII = re.compile("[^\0-\x7f]+")
_MOST_RUNS = 1 << 17
_SEPARATES = frozenset("PSZ")  # categories: punctuation, symbols, separators


def folded(text: str) -> str:
    """The form in which texts are indexed and questions are asked."""
    if text.isascii():
        return text.lower()
    plain = level(text)
    return _RUN.sub(_pairs, plain) if has_runs(plain) else plain


def level(text: str) -> str:
    """The text without what readers take as equal, its runs as they are."""
    # Composed before: й is a letter, и with a mark would lose it. And after: what was left out may
    # have stood between parts of one letter.
    plain = _BEYOND_ASCII.sub(_run, unicodedata.normalize("NFC", text).lower())
    return plain if plain.isascii() else unicodedata.normalize("NFC", plain)


def _run(found: re.Match[str]) -> str:
    return _runs[found[0]]


class _Runs(dict[str, str]):
    """What stretches without ASCII become: words come again, and so do dashes and quotes."""

    def __missing__(self, run: str) -> str:
        if len(self) >= _MOST_RUNS:
            self.clear()
        self[run] = found = run.translate(_FOLDING)
        return found


_runs = _Runs()


def level_by_each(text: str) -> tuple[str, dict[str, int]] | None:
    """The level text, and how much becomes of each character, if it depends on that one alone."""
    plain = text.translate(_FOLDING)
    if unicodedata.is_normalized("NFC", text) and unicodedata.is_normalized("NFC", plain):
        return plain, {character: len(_FOLDING[ord(character)]) for character in set(text)}
    return None


def _pairs(run: "regex.Match[str]") -> str:
    text = run[0]
    return f" {' '.join(map(add, text, text[1:]))} {text[-1]} "


def words_of(folded: str) -> list[str]:
    """The words of a folded text, as the index splits it; those too long for it are left out."""
    if folded.isascii():
        words = folded.translate(_BETWEEN).split()
    else:
        words = _pattern(folded).findall(folded)
    if max(map(len, words), default=0) * 4 <= LONGEST_WORD:
        return words
    return [word for word in words if is_indexed(word)]


def has_words(folded: str) -> bool:
    return _pattern(folded).search(folded) is not None


def _pattern(text: str) -> "re.Pattern[str] | regex.Pattern[str]":
    return _WORD if _WITH_MARKS.search(text) else PLAIN_WORD


def has_runs(level: str) -> bool:
    """Whether the text may have runs without spaces; to look for them costs more."""
    return not level.isascii() and _BEYOND.search(level) is not None


def is_plain(level: str) -> bool:
    """Whether the words of the text are the stretches of which each letter `isalnum`."""
    return level.isascii() or not (_WITH_MARKS.search(level) or has_runs(level))


def pieces_of(level: str) -> list[Span]:
    """Where the words of a level text are, and the runs from which pairs are made."""
    found = (_RUN_OR_WORD if has_runs(level) else _pattern(level)).finditer(level)
    return [match.span() for match in found]


def is_indexed(word: str) -> bool:
    return len(word) * 4 <= LONGEST_WORD or len(word.encode()) <= LONGEST_WORD


@lru_cache(maxsize=4096)
def is_unspaced(word: str) -> bool:
    """Whether a word is a pair, or a single character, of a script that is indexed by pairs."""
    return len(word) <= 2 and bool(word) and _ONE_UNSPACED.match(word[0]) is not None
