"""Near-duplicates: of one document (search), and of all (Naumann 2011, slide 81; CS6200 2019).

Search compares with every document, exactly: a walk along two arrays that stops when the threshold
is out of reach. Discovery takes as candidates the documents whose signatures agree in one of
several bands of slots, so many that a pair at the threshold is a candidate with .995 probability,
and compares those exactly, unless their whole signatures leave no hope. So whatever is reported is
true, and discovery may miss a few of the pairs that lie at the threshold.

Documents with equal shingles are kept once, under the first of their names. A thousand copies are
one group of `identical()`, and one document in `pairs()`; they would be half a million pairs. Of
documents that are merely alike, `pairs()` gives every pair, one by one; where a template makes them
alike by the thousand, `groups()` says who belongs together in linear size. Documents without any
terms are alike in nothing and are left out.
"""

import math
import os
from array import array
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from asof.change.fallback import STEP
from asof.change.measures import Overlap
from asof.change.minhash import signatures_of_sets, standard_error
from asof.change.shingles import Hashes, K, Unit, engine, shingles, shingles_of_all
from asof.errors import UsageError

Key = TypeVar("Key", bound=Hashable)
Given = TypeVar("Given")
Made = TypeVar("Made")
Measure = Literal["jaccard", "containment"]

THRESHOLD = 0.8
CHANCE = 0.995  # of a pair at the threshold to be a candidate; .99 is promised
_SLOTS = 128
_TEXTS = 256  # handed to a thread at a time
_LOOKS = 1 << 20  # comparisons before a thread gives back what it has: memory, and Ctrl-C
_ROWS = 1 << 14  # signatures at a time


@dataclass(frozen=True, slots=True)
class Near(Overlap, Generic[Key]):
    """Two documents that are alike, and how."""

    a: Key
    b: Key


@dataclass(frozen=True, slots=True)
class Banding:
    """Bands of rows of a signature: candidates agree in all rows of at least one band."""

    bands: int
    rows: int


def banding(threshold: float, chance: float = CHANCE) -> Banding:
    """As many rows a band as 128 slots allow, and as many bands as the threshold needs.

    More rows make fewer candidates in vain; with a threshold so low that even bands of one row
    need more slots, there are more.
    """
    _check(threshold)
    best = Banding(_bands(threshold, chance), 1)
    for rows in range(2, _SLOTS + 1):
        bands = _bands(threshold**rows, chance)
        if bands * rows <= _SLOTS:
            best = Banding(bands, rows)
    return best


def _bands(agree: float, chance: float) -> int:
    if agree >= 1:
        return 1
    if agree < 1e-9:
        return 1 << 31
    return math.ceil(math.log(1 - chance) / math.log1p(-agree))


def _check(threshold: float) -> None:
    if not 0.01 <= threshold <= 1:
        raise UsageError(
            f"A similarity of {threshold} is no threshold.", hint="Give one from 0.01 to 1."
        )


class NearIndex(Generic[Key]):
    """Documents by name, to be asked which are near each other.

    Takes about 8 bytes a term. Names may be anything that can be a key of a dictionary, and are
    not checked for repeats. Adding is not for two threads at once; inside, all cores are used.
    """

    def __init__(
        self, threshold: float = THRESHOLD, k: int = K, unit: Unit = "terms", seed: int = 1
    ) -> None:
        _check(threshold)
        self.threshold = threshold
        self.k = k
        self.unit: Unit = unit
        self.seed = seed
        self.without_terms: list[Key] = []
        self._names: list[list[Key]] = []  # of each different set
        self._hashes = bytearray()  # uint64: grows in place, where an array would be copied
        self._starts = array("q", [0])
        self._by_sum: dict[tuple[int, int], list[int]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, name: Key, text: str) -> None:
        self.add_shingles(name, shingles(text, self.k, self.unit))

    def add_shingles(self, name: Key, hashes: Hashes) -> None:
        """Add one document by its set of shingles, of the same k and unit."""
        self._keep([name], hashes, [0, hashes.size])

    def add_all(self, documents: Iterable[tuple[Key, str]]) -> None:
        """Add many documents, names with texts, on all cores; they are taken as they come."""

        def read(batch: list[tuple[Key, str]]) -> tuple[list[Key], Hashes, list[int]]:
            texts = [text for _, text in batch]
            hashes, starts = shingles_of_all(texts, self.k, self.unit)
            return [name for name, _ in batch], hashes, starts.tolist()

        for names, hashes, starts in _on_all_cores(read, _batches(documents, _TEXTS)):
            self._keep(names, hashes, starts)

    def _keep(self, names: list[Key], hashes: Hashes, starts: list[int]) -> None:
        for name, (start, end) in zip(names, pairwise(starts), strict=True):
            one = hashes[start:end]
            document = self._find(one)
            if not one.size:
                self.without_terms.append(name)
            elif document is not None:
                self._names[document].append(name)
            else:
                self._hashes += one.tobytes()  # first: it fails while pairs are being read
                self._starts.append(len(self._hashes) // 8)
                self._by_sum.setdefault(_sum(one), []).append(len(self._names))
                self._names.append([name])
            self._count += 1

    def _find(self, one: Hashes) -> int | None:
        """The document that has this set; sets of equal sums are told apart."""
        for document in self._by_sum.get(_sum(one), ()):
            if np.array_equal(self._set(document), one):
                return document
        return None

    def _set(self, document: int) -> Hashes:
        start, end = self._starts[document], self._starts[document + 1]
        return np.frombuffer(self._hashes, np.uint64, end - start, 8 * start)

    def search(
        self, name: Key, text: str, threshold: float | None = None, measure: Measure = "jaccard"
    ) -> list[Near[Key]]:
        """The documents near a text, nearest first, except one that has its name.

        By `containment` the smaller of two has to be in the larger as far as the threshold says:
        a quotation, or a page within a longer one.
        """
        t = self.threshold if threshold is None else threshold
        _check(t)
        asked = shingles(text, self.k, self.unit)
        form, bounds = int(measure == "containment"), self._bounds()

        def look(part: tuple[int, int]) -> bytes:
            return engine.scan(asked, self._hashes, bounds, *part, t, form)

        found = []
        for rows in _on_all_cores(look, _parts(len(self._names), _ROWS)):
            for document, common in np.frombuffer(rows, np.uint64).reshape(-1, 2).tolist():
                size = self._starts[document + 1] - self._starts[document]
                others = (other for other in self._names[document] if other != name)
                found += [Near(asked.size, size, common, name, other) for other in others]
        return sorted(found, key=lambda near: (-near.jaccard, -near.a_in_b))

    def identical(self) -> list[tuple[Key, ...]]:
        """The names of documents with equal shingles; the first stands for all in the rest."""
        return [tuple(names) for names in self._names if len(names) > 1]

    def pairs(self) -> Iterator[Near[Key]]:
        """Every pair of different documents as near as the threshold, as they are found."""
        hashes, starts, names = self.as_arrays()
        keys, sketches, least = self._sketches(hashes, starts)
        orders: dict[int, NDArray[np.int64]] = {}

        def look(step: tuple[int, int]) -> tuple[bytes, int]:
            band, at = step
            if band not in orders:
                orders[band] = np.argsort(keys[:, band], kind="stable")
            found = engine.pairs(
                hashes, starts, keys, sketches, orders[band], None, band, at, self.threshold,
                least, _LOOKS,
            )  # fmt: skip
            if found[1] == len(starts) - 1:
                del orders[band]
            return found

        def more(step: tuple[int, int], found: tuple[bytes, int]) -> tuple[int, int] | None:
            return (step[0], found[1]) if found[1] < len(starts) - 1 else None

        steps = ((band, 0) for band in range(keys.shape[1]))
        for rows, _ in _on_all_cores(look, steps, more):
            for i, j, common in np.frombuffer(rows, np.uint64).reshape(-1, 3).tolist():
                a, b = (int(starts[each + 1] - starts[each]) for each in (i, j))
                yield Near(a, b, common, names[i], names[j])

    def groups(self) -> list[tuple[Key, ...]]:
        """Documents joined by near pairs, and those equal to them: the names of each group.

        Two of a group need not be near each other; there is a way of near pairs between them.
        """
        hashes, starts, _ = self.as_arrays()
        keys, sketches, least = self._sketches(hashes, starts)
        parents = np.arange(len(self._names), dtype=np.int64)
        for band in range(keys.shape[1]):
            order, at = np.argsort(keys[:, band], kind="stable"), 0
            while at < len(self._names):
                _, at = engine.pairs(
                    hashes, starts, keys, sketches, order, parents, band, at, self.threshold,
                    least, _LOOKS,
                )  # fmt: skip
        groups: dict[int, list[Key]] = {}
        for document, names in enumerate(self._names):
            parents[document] = parents[parents[document]]  # parents lie before
            groups.setdefault(int(parents[document]), []).extend(names)
        return [tuple(names) for names in groups.values() if len(names) > 1]

    def as_arrays(self) -> tuple[Hashes, NDArray[np.int64], list[Key]]:
        """The different sets behind each other, where each begins, and each one's first name."""
        first = [names[0] for names in self._names]
        return np.frombuffer(self._hashes, np.uint64), self._bounds(), first

    def _bounds(self) -> NDArray[np.int64]:
        return np.array(self._starts, np.int64)

    def _sketches(
        self, hashes: Hashes, starts: NDArray[np.int64]
    ) -> tuple[Hashes, NDArray[np.uint8], int]:
        """For each document the keys of its bands, and a byte of each slot of its signature.

        And in how many slots a near pair agrees at least: five standard errors below the mean.
        """
        bands = banding(self.threshold)
        count, slots = len(starts) - 1, bands.bands * bands.rows
        keys = np.zeros((count, bands.bands), np.uint64)
        sketches = np.zeros((count, slots), np.uint8)

        def sketch(part: tuple[int, int]) -> None:
            first, last = part
            found = signatures_of_sets(hashes, starts[first : last + 1], slots, self.seed)
            cells = found.reshape(-1, bands.bands, bands.rows)
            folded = np.zeros(cells.shape[:2], np.uint64)
            for row in range(bands.rows):
                folded = (folded ^ cells[:, :, row]) * np.uint64(STEP)
                folded ^= folded >> np.uint64(32)
            keys[first:last] = folded
            sketches[first:last] = found & 0xFF

        for _ in _on_all_cores(sketch, _parts(count, _ROWS)):
            pass
        least = self.threshold - 5 * standard_error(self.threshold, slots)
        return keys, sketches, math.floor(slots * least)


def _sum(one: Hashes) -> tuple[int, int]:
    return int(one.sum()), one.size


def _batches(items: Iterable[Given], size: int) -> Iterator[list[Given]]:
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


def _parts(count: int, size: int) -> Iterator[tuple[int, int]]:
    for first in range(0, count, size):
        yield first, min(first + size, count)


def _on_all_cores(
    work: Callable[[Given], Made],
    items: Iterable[Given],
    more: Callable[[Given, Made], Given | None] = lambda item, made: None,
) -> Iterator[Made]:
    """What the work makes of each item, in their order, a few ahead of who asks for it.

    `more` says what is left of an item, which is done next: so one item that makes very much does
    not fill the memory. Threads are enough: the engine lets go of the interpreter while it works.
    """
    cores = os.cpu_count() or 1
    waiting: deque[tuple[Given, Future[Made]]] = deque()
    source = iter(items)
    with ThreadPoolExecutor(cores) as pool:
        while True:
            for item in islice(source, 2 * cores - len(waiting)):
                waiting.append((item, pool.submit(work, item)))
            if not waiting:
                return
            item, future = waiting.popleft()
            made = future.result()
            rest = more(item, made)
            if rest is not None:
                waiting.appendleft((rest, pool.submit(work, rest)))
            yield made
