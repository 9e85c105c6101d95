"""A document as the set, or bag, of its shingles: k terms or characters in a row (Spaniol 2010).

Shingles are 64-bit hashes, as sorted arrays: to compare two documents is to walk along two arrays.
Terms are lower-cased Unicode words. A text of fewer than k is one shingle, so that it can be equal
to another; a text without terms has none. There: "k = 5 is OK for short documents, k = 10 is
better for long documents" ("Shingles - k-grams", there of characters).

In C where there was a compiler (_shingles.c), else with numpy (fallback.py), with equal answers.
On pages of 500 words: 295 MB/s in C, 114 MB/s by numba with 2.7 s to import and compile itself.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from asof.errors import UsageError

try:
    import asof.change._shingles as _engine
except ImportError:
    from asof.change import fallback as _engine  # type: ignore[no-redef]

engine = _engine

Unit = Literal["terms", "characters"]
Hashes: TypeAlias = NDArray[np.uint64]
Counts: TypeAlias = NDArray[np.int64]

K = 5


def shingles(text: str, k: int = K, unit: Unit = "terms") -> Hashes:
    """The set of a text's shingles, sorted."""
    return shingles_of_all((text,), k, unit)[0]


def bag(text: str, k: int = K, unit: Unit = "terms") -> tuple[Hashes, Counts]:
    """The shingles, sorted, and how often each occurs (Spaniol 2010: 'count "ab" twice')."""
    hashes, counts = np.unique(shingles_in_order(text, k, unit), return_counts=True)
    return hashes, counts.astype(np.int64)


def shingles_in_order(text: str, k: int = K, unit: Unit = "terms") -> Hashes:
    """The shingles as they come in the text, repeated ones too."""
    return shingles_of_all((text,), k, unit, distinct=False)[0]


def shingles_of_all(
    texts: Sequence[str], k: int = K, unit: Unit = "terms", *, distinct: bool = True
) -> tuple[Hashes, Counts]:
    """The sets of many texts behind each other, and where each begins (and the last one ends)."""
    characters = unit == "characters"
    given = [spaced(text) for text in texts] if characters else texts
    hashes, starts = engine.shingles(given, checked(k), distinct, characters)
    return np.frombuffer(hashes, np.uint64), np.frombuffer(starts, np.int64)


def features(words: Iterable[str]) -> Hashes:
    """Any strings as a set that can be compared like shingles: the links of a page, its tags."""
    return np.unique(np.frombuffer(engine.features(list(words)), np.uint64))


def selected(hashes: Hashes, p: int = 4) -> Hashes:
    """Those that are 0 mod p, in their order: the same of equal shingles in every document.

    About every p-th stays, so overlaps of selections estimate overlaps of the documents (Naumann
    2011, slides 82 and 83; CS6200 2019, "Fingerprint Example").
    """
    if p < 1:
        raise ValueError("p must be at least 1")
    kept: Hashes = hashes[hashes % np.uint64(p) == 0]
    return kept


def fingerprints(text: str, n: int = 3, p: int = 4, unit: Unit = "terms") -> Hashes:
    """The selected n-grams of a text, as a sorted set."""
    return selected(shingles(text, n, unit), p)


def spaced(text: str) -> str:
    """The characters that shingles of characters are made of: lower case, white space as one space.

    As it is indented and broken into lines, a text is not another text.
    """
    return " ".join(text.lower().split())


def checked(k: int) -> int:
    """A number of terms or characters that shingles can have."""
    if k < 1:
        raise UsageError(f"Shingles of {k} terms do not exist.", hint="Give k as 1 or more.")
    return min(k, 1 << 31)
