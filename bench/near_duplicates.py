"""Discovery of near-duplicates among 100,000 documents: time, memory, and recall.

    .venv/bin/python bench/near_duplicates.py [--documents 100000] [--threshold 0.8] [--sample 1000]

Documents of about 500 words, a third of them made from others: copies, and versions with words
changed here and there or a part replaced, at many similarities. The truth about a sample of those
is found by an inverted index over all shingles in numpy, which shares nothing with the measured.
"""

from __future__ import annotations

import argparse
import random
import resource
import time

import numpy as np
from numpy.typing import NDArray

from asof.change import fallback as plain
from asof.change.near import NearIndex, banding
from asof.change.shingles import Hashes, engine

WORDS = 30_000
SLICE = 1 << 22  # shingles that the truth looks at, at a time


def vocabulary(rng: random.Random) -> list[str]:
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    return ["".join(rng.choices(letters, k=rng.randint(2, 10))) for _ in range(WORDS)]


def corpus(count: int) -> tuple[list[str], list[int]]:
    """Texts, and which of them were made from earlier ones."""
    rng = np.random.default_rng(4)
    words = np.array(vocabulary(random.Random(4)), dtype=object)
    falling = 1 / np.arange(2, WORDS + 2)
    chances = np.cumsum(falling / falling.sum())
    texts: list[str] = []
    kept: list[NDArray[np.int64]] = []
    made: list[int] = []

    def draw(size: int) -> NDArray[np.int64]:
        return np.searchsorted(chances, rng.random(size)).clip(0, WORDS - 1)

    while len(texts) < count:
        document = rng.random()
        if document > 1 / 3 or not kept:
            picked = draw(int(rng.integers(350, 650)))
            if len(kept) < 20_000:
                kept.append(picked)
        else:
            made.append(len(texts))
            picked = kept[int(rng.integers(len(kept)))].copy()
            if document > 0.28:  # a part of it is another
                size = int(rng.integers(1, len(picked)))
                picked[:size] = draw(size)
            elif document > 0.03:  # words here and there are others; below, it is a copy
                places = rng.integers(0, len(picked), int(rng.integers(1, 80)))
                picked[places] = draw(len(places))
        texts.append(" ".join(words[picked]))
    return texts, made


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Step:
    """Prints what a step took."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), cpu()

    def __exit__(self, *_: object) -> None:
        wall, spent = time.perf_counter() - self.wall, cpu() - self.cpu
        print(f"  {self.name:46}{wall:>8.2f} s{spent:>8.2f} CPU s{peak_mb():>8.0f} MB peak")


def truth(
    hashes: Hashes, starts: NDArray[np.int64], sample: NDArray[np.int64], threshold: float
) -> set[tuple[int, int]]:
    """Every pair of a document of the sample with any other that is as near as the threshold."""
    owned = [hashes[starts[i] : starts[i + 1]] for i in sample]
    sought = np.concatenate(owned)
    owner = np.repeat(sample, [len(one) for one in owned])
    order = np.argsort(sought, kind="stable")
    sought, owner = sought[order], owner[order]
    documents = len(starts) - 1
    document = np.repeat(np.arange(documents), np.diff(starts))
    counted = []
    for at in range(0, len(hashes), SLICE):
        part = hashes[at : at + SLICE]
        first = np.searchsorted(sought, part, "left")
        counts = np.searchsorted(sought, part, "right") - first
        behind = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        mine = owner[np.repeat(first, counts) + behind]
        counted.append(mine * documents + np.repeat(document[at : at + SLICE], counts))
    both, common = np.unique(np.concatenate(counted), return_counts=True)
    i, j = np.divmod(both, documents)
    sizes = np.diff(starts)
    near = (common / (sizes[i] + sizes[j] - common) >= threshold) & (i != j)
    return {(min(a, b), max(a, b)) for a, b in zip(i[near].tolist(), j[near].tolist(), strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--sample", type=int, default=3_000)
    asked = parser.parse_args()
    texts, made = corpus(asked.documents)
    size = sum(map(len, texts))
    bands = banding(asked.threshold)
    print(
        f"{len(texts):,} documents, {size / 1e6:.0f} MB, {len(made):,} made from others; threshold "
        f"{asked.threshold}: {bands.bands} bands of {bands.rows}; engine: "
        f"{'numpy' if engine is plain else 'C'}; {peak_mb():.0f} MB with the texts"
    )
    index: NearIndex[int] = NearIndex(asked.threshold)
    start = time.perf_counter()
    with Step("texts to shingles, into the index"):
        index.add_all(enumerate(texts))
    with Step("all near pairs"):
        pairs = list(index.pairs())
    print(f"  {'discovery, from texts to pairs':46}{time.perf_counter() - start:>8.2f} s")
    with Step("groups"):
        groups = index.groups()
    copies = index.identical()
    print(
        f"  {len(pairs):,} pairs, {len(copies):,} sets of copies with {sum(map(len, copies)):,} "
        f"documents, {len(groups):,} groups with {sum(map(len, groups)):,}"
    )
    some = random.Random(1).sample(range(len(texts)), 200)
    with Step("200 searches, one after the other"):
        for number in some:
            index.search(number, texts[number])
    hashes, starts, names = index.as_arrays()
    place = {name: at for at, name in enumerate(names)}
    planted = [place[number] for number in made if number in place]
    sample = np.array(random.Random(1).sample(planted, min(asked.sample, len(planted))))
    with Step(f"the truth about {len(sample):,} documents"):
        wanted = truth(hashes, starts, sample, asked.threshold)
    chosen = set(sample.tolist())
    found = {(place[near.a], place[near.b]) for near in pairs}
    found = {pair for pair in found if chosen & set(pair)}
    assert found <= wanted, "a pair that is not near was reported"
    print(f"  recall {len(found) / max(1, len(wanted)):.4f} of {len(wanted):,} pairs of the sample")


if __name__ == "__main__":
    main()
