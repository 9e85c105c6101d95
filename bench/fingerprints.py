"""Shingles and minhash signatures: asof beside rensa and datasketch, in one interleaved run.

    .venv/bin/pip install rensa datasketch
    .venv/bin/python bench/fingerprints.py [--documents 1000] [--rounds 9] [--alphabet ascii]

The same work on every side: 5-term shingles of lower-cased words, signatures of 128 slots,
tokenising included where the work begins with text. One core; CPU time, medians of the rounds, and
the ratios. datasketch is given every tenth document (it is the slowest); its rate is per document.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Callable

import numpy as np

from asof.change import fallback as plain
from asof.change.minhash import estimate, signatures, signatures_of_sets, signatures_of_words
from asof.change.shingles import engine, shingles, shingles_of_all
from measure import Cost, interleave, median, one_core, spread

try:
    from datasketch import MinHash
    from rensa import CMinHash, RMinHash
except ImportError as missing:
    sys.exit(f"{missing.name} is not installed: .venv/bin/pip install rensa datasketch")

M, K = 128, 5
LETTERS = {
    "ascii": "etaoinshrdlucmfwypvbgkjqxz",
    "latin": "etaoinshrdluécmäfwöypüvbgkjßqxz",
    "cyrillic": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщ",
}


def documents(rng: random.Random, count: int, alphabet: str) -> list[str]:
    """Pages of 500 words, common ones more often, with some capitals and punctuation."""
    letters = LETTERS[alphabet]
    falling = [1 / (place + 3) for place in range(len(letters))]
    lengths = rng.choices(range(1, 13), (2, 9, 11, 10, 9, 8, 7, 6, 4, 3, 2, 1), k=20_000)
    words = ["".join(rng.choices(letters, falling, k=length)) for length in lengths]
    frequencies = [1 / (place + 2) for place in range(len(words))]
    made = []
    for _ in range(count):
        text = rng.choices(words, frequencies, k=500)
        for place in range(0, 500, 12):
            text[place] = text[place].capitalize()
            text[place - 1] += ". " if place % 5 else ","
        made.append(" ".join(text))
    return made


def tokens(text: str) -> list[str]:
    """The shingles as strings, which the peers want; the fastest way in Python that was found."""
    words = re.findall(r"\w+", text.lower())
    return list(map(" ".join, zip(words, words[1:], words[2:], words[3:], words[4:], strict=False)))


def timed(work: Callable[[], object]) -> Callable[[], Cost]:
    def run() -> Cost:
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        return Cost(time.perf_counter() - wall, time.process_time() - cpu, 0)

    return run


def table(
    title: str, rounds: int, megabytes: float, count: int, jobs: dict[str, Callable[[], object]]
) -> None:
    costs = interleave(rounds, {name: timed(job) for name, job in jobs.items()})
    print(f"\n{title}")
    print(f"  {'':34}{'us a document':>14}{'MB/s':>8}{'spread, CPU ms':>20}{'asof is':>10}")
    ours = median(next(iter(costs.values())), "cpu")
    for name, runs in costs.items():
        part = 0.1 if name.startswith("datasketch") else 1
        cpu = median(runs, "cpu") / part
        in_ms = [Cost(0, 1000 * cost.cpu, 0) for cost in runs]
        print(
            f"  {name:34}{1e6 * cpu / count:>14.2f}{megabytes / cpu:>8.0f}"
            f"{spread(in_ms, 'cpu'):>20}{cpu / ours:>9.2f}x"
        )


def accuracy(rng: random.Random, pairs: int = 300) -> None:
    """How far estimates are from the truth, for sets of 400 that share half of their union."""
    mine: list[float] = []
    theirs: list[float] = []
    circulant: list[float] = []
    classic: list[float] = []
    for seed in range(pairs):
        words = [str(rng.getrandbits(64)) for _ in range(534)]
        a, b = words[:400], words[134:]
        true = 266 / 534
        one, other = signatures_of_words([a, b], M, seed)
        mine.append(estimate(one, other) - true)
        for kind, errors in ((RMinHash, theirs), (CMinHash, circulant)):
            x, y = kind.from_token_sets([a, b], num_perm=M, seed=seed)
            errors.append(x.jaccard(y) - true)
        x, y = MinHash.bulk([[w.encode() for w in s] for s in (a, b)], num_perm=M, seed=seed + 1)
        classic.append(x.jaccard(y) - true)
    print("\nstandard error of estimates at Jaccard 0.498 (128 permutations: 0.0442)")
    for name, errors in (
        ("asof", mine), ("rensa RMinHash", theirs), ("rensa CMinHash", circulant),
        ("datasketch", classic),
    ):  # fmt: skip
        print(f"  {name:34}{np.std(errors):.4f}   mean error {np.mean(errors):+.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--alphabet", choices=LETTERS, default="ascii")
    asked = parser.parse_args()
    rng = random.Random(4)
    texts = documents(rng, asked.documents, asked.alphabet)
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    sets = [tokens(text) for text in texts]
    tenth = [[token.encode() for token in one] for one in sets[::10]]
    hashes, starts = shingles_of_all(texts, K)
    unsigned = starts.astype(np.uint64)
    for text, one in zip(texts[:50], sets, strict=False):
        assert len(shingles(text)) == len(set(one)), "not the same work"
    print(
        f"{len(texts):,} pages of {len(sets[0]) + 4} words, {megabytes:.1f} MB of {asked.alphabet} "
        f"text; engine: {'numpy' if engine is plain else 'C'}; one core"
    )
    with one_core():
        size = (asked.rounds, megabytes, len(texts))
        table(
            "text -> sorted distinct shingles", *size,
            {
                "asof shingles": lambda: [shingles(text) for text in texts],
                "asof shingles_of_all": lambda: shingles_of_all(texts),
                "asof, numpy": lambda: [plain.shingles(text, K, True) for text in texts],
                "re, join, rensa hash, np.unique": lambda: [
                    np.unique(np.array(one, np.uint64))
                    for one in RMinHash.hash_token_sets([tokens(text) for text in texts])
                ],
            },
        )  # fmt: skip
        table(
            f"text -> signature of {M}", *size,
            {
                "asof": lambda: signatures(texts, K, m=M),
                "re, join, rensa RMinHash": lambda: RMinHash.digest_matrix_from_token_sets(
                    [tokens(text) for text in texts], M, 42
                ),
                "re, join, rensa CMinHash": lambda: CMinHash.digests_from_token_sets(
                    [tokens(text) for text in texts], M, 42
                ),
                "datasketch": lambda: MinHash.bulk(
                    [[one.encode() for one in tokens(text)] for text in texts[::10]], num_perm=M
                ),
            },
        )  # fmt: skip
        table(
            f"given strings -> signature of {M}", *size,
            {
                "asof": lambda: signatures_of_words(sets, M),
                "rensa RMinHash": lambda: RMinHash.digest_matrix_from_token_sets(sets, M, 42),
                "rensa CMinHash": lambda: CMinHash.digests_from_token_sets(sets, M, 42),
                "datasketch": lambda: MinHash.bulk(tenth, num_perm=M),
            },
        )  # fmt: skip
        table(
            f"given hashes -> signature of {M}", *size,
            {
                "asof": lambda: signatures_of_sets(hashes, starts, M),
                "rensa RMinHash": lambda: RMinHash.digest_matrix_from_flat_token_hashes(
                    hashes, unsigned, M, 42
                ),
            },
        )  # fmt: skip
    accuracy(rng)


if __name__ == "__main__":
    main()
