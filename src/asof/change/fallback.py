"""What `_shingles.c` does, with numpy: for where there was no C compiler, and to check it against.

Function for function the same answers, as bytes of uint64 (signatures: uint32). The definitions:

- A term is a run of `\\w` in the lower-cased text. Its hash takes its UTF-8 in chunks of eight
  bytes, the last filled up with zeros, and its length.
- A shingle is k terms in a row, as digits of a number to the base `BASE`, mixed. A text of fewer
  than k terms is one shingle of all it has; a text without any has none.
- A signature is defined in minhash.py, nearness in near.py.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Hashes: TypeAlias = NDArray[np.uint64]
Places: TypeAlias = NDArray[np.int64]
Sketches: TypeAlias = NDArray[np.uint8]
Array: TypeAlias = bytes | bytearray | memoryview | Hashes | Places

START = 0x51A5C0DE0A50F001
STEP = 0x9E3779B97F4A7C15
BASE = 0xD1342543DE82EF95
EMPTY = 0xFFFFFFFF
MOST_SLOTS = 65_536
_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_TURNS = (0x9E3779B1, 0x85EBCA77)
_ALL = (1 << 64) - 1
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_TERM = re.compile(r"\w+")


def mixed(x: int) -> int:
    """One number as another of which every bit depends on every bit (splitmix64's last steps)."""
    x = (x ^ x >> 30) * _MIX[0] & _ALL
    x = (x ^ x >> 27) * _MIX[1] & _ALL
    return x ^ x >> 31


def chunk(state: int, eight: int) -> int:
    """The state of a hash after eight more bytes."""
    state = (state ^ eight) * STEP & _ALL
    return state ^ state >> 32


def mixed_all(x: Hashes) -> Hashes:
    """The same for every number of an array."""
    x = (x ^ x >> np.uint64(30)) * np.uint64(_MIX[0])
    x = (x ^ x >> np.uint64(27)) * np.uint64(_MIX[1])
    return x ^ x >> np.uint64(31)


@lru_cache(maxsize=1 << 16)
def word_hash(word: str) -> int:
    """The hash of one string, of its UTF-8 (surrogates, which have none, as if they had)."""
    data = word.encode("utf-8", "surrogatepass")
    state = START
    for at in range(0, len(data), 8):
        state = chunk(state, int.from_bytes(data[at : at + 8], "little"))
    return chunk(state, len(data))


def _word_hashes(words: Sequence[str]) -> Hashes:
    return np.fromiter(map(word_hash, words), np.uint64, len(words))


def _rolled(digits: Hashes, k: int, distinct: bool) -> Hashes:
    if not digits.size:
        return digits
    width = min(k, digits.size)
    count = digits.size - width + 1
    window = np.zeros(count, np.uint64)
    for at in range(width):
        window = window * np.uint64(BASE) + digits[at : at + count]
    rolled = mixed_all(window)
    return np.unique(rolled) if distinct else rolled


def shingles(
    texts: Sequence[str], k: int, distinct: bool, characters: bool, /
) -> tuple[bytes, bytes]:
    """Hashes of every k terms in a row of all texts, and where each text's begin.

    They stand in their order, or sorted and once each; or are of every k characters.
    """
    if k < 1:
        raise ValueError("k must be at least 1")
    digits = map(_characters if characters else _terms, texts)
    found = [_rolled(each, k, distinct) for each in digits]
    starts = np.cumsum([0, *(hashes.size for hashes in found)], dtype=np.int64)
    return b"".join(hashes.tobytes() for hashes in found), starts.tobytes()


def _terms(text: str) -> Hashes:
    return _word_hashes(_TERM.findall(text.lower()))


def _characters(text: str) -> Hashes:
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    return mixed_all(points ^ np.uint64(START))


def features(words: Sequence[str], /) -> bytes:
    return _word_hashes(words).tobytes()


def sign(hashes: Array, starts: Array, m: int, seed: int, /) -> bytes:
    """Minhash signatures of m uint32s, one for each stretch of hashes."""
    flat, bounds = _documents(hashes, starts)
    return b"".join(_signature(flat[a:b], m, seed).tobytes() for a, b in pairwise(bounds))


def sign_each(items: Sequence[str | Sequence[str]], k: int, m: int, seed: int, /) -> bytes:
    """Minhash signatures of texts, or of lists of strings."""
    found = (
        _rolled(_terms(item), k, True) if isinstance(item, str) else _word_hashes(item)
        for item in items
    )
    return b"".join(_signature(hashes, m, seed).tobytes() for hashes in found)


def _signature(x: Hashes, m: int, seed: int) -> NDArray[np.uint32]:
    if not 1 <= m <= MOST_SLOTS:
        raise ValueError(f"m must be 1 to {MOST_SLOTS}")
    slots = np.full(m, EMPTY, np.uint64)
    if not x.size:
        return slots.astype(np.uint32)
    start = mixed(seed + STEP & _ALL)
    z = (x ^ np.uint64(start)) * np.uint64(STEP)
    rank = (z ^ z >> _HALF) & _LOW
    place = (z >> _HALF) * np.uint64(m)
    np.minimum.at(slots, (place >> _HALF).astype(np.int64), rank)
    for turn in _TURNS:
        place = (place & _LOW) * np.uint64(m)
        fresh = np.full(m, EMPTY, np.uint64)
        turned = rank * np.uint64(turn) & _LOW
        np.minimum.at(fresh, (place >> _HALF).astype(np.int64), turned)
        slots = np.where(slots == EMPTY, fresh, slots)
    for j in np.flatnonzero(slots == EMPTY).tolist():
        own = np.uint64(mixed(start + j + 1 & _ALL))
        slots[j] = ((x ^ own) * np.uint64(STEP) >> _HALF).min()
    return slots.astype(np.uint32)


def _documents(hashes: Array, starts: Array) -> tuple[Hashes, list[int]]:
    flat = np.frombuffer(hashes, np.uint64)
    bounds: list[int] = np.frombuffer(starts, np.int64).tolist()
    sound = bounds and bounds[0] >= 0 and bounds[-1] <= flat.size and bounds == sorted(bounds)
    if not sound:
        raise ValueError("arrays that do not fit together")
    return flat, bounds


def overlap(a: Array, b: Array, /) -> int:
    """How many values two sorted arrays share."""
    one, other = np.frombuffer(a, np.uint64), np.frombuffer(b, np.uint64)
    return int(np.intersect1d(one, other, assume_unique=True).size)


def least_shared(a: int, b: int, t: float, form: int) -> int:
    """The fewest that sets of these sizes must share to be as near as t.

    By the division that the answer is given with: a pair exactly at t is not lost to rounding.
    """
    small = min(a, b)

    def near(c: int) -> bool:
        return c / (small if form else a + b - c) >= t

    c = int(t * small if form else t * (a + b) / (1 + t))
    while c and near(c - 1):
        c -= 1
    while c <= small and not near(c):
        c += 1
    return c


def _near(a: Hashes, b: Hashes, t: float, form: int) -> int:
    """How many two sets share if they are as near as t, else 0."""
    if not a.size or not b.size:
        return 0
    least = least_shared(a.size, b.size, t, form)
    if least > min(a.size, b.size):
        return 0
    common = int(np.intersect1d(a, b, assume_unique=True).size)
    return common if common >= least else 0


def scan(
    query: Array, hashes: Array, starts: Array, first: int, last: int, t: float, form: int, /
) -> bytes:
    """Documents near the query: of each its place and how much they share."""
    _check_threshold(t)
    flat, bounds = _documents(hashes, starts)
    if not 0 <= first <= last < len(bounds):
        raise ValueError("arrays that do not fit together")
    asked = np.frombuffer(query, np.uint64)
    found: list[int] = []
    for i in range(first, last):
        common = _near(asked, flat[bounds[i] : bounds[i + 1]], t, form)
        if common:
            found += (i, common)
    return np.array(found, np.uint64).tobytes()


def _check_threshold(t: float) -> None:
    if not 0 < t <= 1:
        raise ValueError("t must be above 0, at most 1")


def _candidates(
    keys: Hashes, sketches: Sketches, order: Places, band: int, at: int, least: int
) -> Iterator[tuple[int, int]]:
    """Documents with equal keys in a band and in none before, and enough equal sketches."""
    column = keys[order, band].tolist()
    places = order.tolist()
    for p in range(at, len(places)):
        for q in range(p + 1, len(places)):
            if column[q] != column[p]:
                break
            i, j = sorted((places[p], places[q]))
            hopeful = np.count_nonzero(sketches[i] == sketches[j]) >= least
            if hopeful and not (keys[i, :band] == keys[j, :band]).any():
                yield i, j


def pairs(
    hashes: Array, starts: Array, keys: Hashes, sketches: Sketches, order: Places,
    parents: Places | None, band: int, at: int, t: float, least: int, most: int, /,
) -> tuple[bytes, int]:  # fmt: skip
    """Near pairs that share the key of a band: i, j, how much they share; and where to go on.

    With parents, the groups of near documents are joined instead.
    """
    _check_threshold(t)
    flat, bounds = _documents(hashes, starts)

    def root(i: int) -> int:
        while parents is not None and parents[i] != i:
            i = int(parents[i])
        return i

    found: list[int] = []
    for i, j in _candidates(keys, sketches, order, band, at, least):
        one, other = sorted((root(i), root(j)))
        if one == other:
            continue
        common = _near(flat[bounds[i] : bounds[i + 1]], flat[bounds[j] : bounds[j + 1]], t, 0)
        if common and parents is not None:
            parents[other] = one
        elif common:
            found += (i, j, common)
    return np.array(found, np.uint64).tobytes(), len(order)
