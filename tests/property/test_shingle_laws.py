"""Laws of shingles and what is made of them; and that C and numpy give the same answers."""

from __future__ import annotations

import random
import re
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asof.change import fallback as plain
from asof.change.measures import Overlap, bag_overlap, containment, dice, jaccard, overlap
from asof.change.minhash import (
    estimate,
    signature,
    signatures,
    signatures_of_words,
    standard_error,
)
from asof.change.near import NearIndex, banding
from asof.change.shingles import (
    Hashes,
    Unit,
    bag,
    engine,
    features,
    selected,
    shingles,
    shingles_in_order,
    spaced,
)
from asof.change.simhash import agreement, from_hashes, simhash
from support.laws import examples

# What lower-casing and words are difficult with: a final sigma and one that is not, a dotted I, the
# Kelvin sign, letters that combine, of two code units, without case, digits that are not 0-9.
ODD = [
    "\u03a3\u0391\u03a3", "\u03a3\u0391\u03a3.", "\u0391\u03a3\u0301 \u0391", "\u0130stanbul",
    "I", "\u0131", "\u017f", "\u212a", "\u212b", "ß", "\u1e9e", "\u01c5", "\ufb01", "\u00e9",
    "e\u0301", "\U00010400\U00010428", "\U0001d7d8", "\U0001f600", "漢字かな", "한국어", "العربية",
    "हिन्दी", "\u00b2\u2460\u2167", "\ud800", "\udfff\ud800", "\0", "_", "__init__", "\u200d",
    "\u03a3", "\u00ad", "\u00aa", "\u1e9e\u0130\u03a3",
]  # fmt: skip
LENGTHS = [
    "abcdefg",
    "abcdefgh",
    "ABCDEFGHI",
    "é" * 4,
    "é" * 5,
    "x" * 15,
    "x" * 16,
    "x" * 17,
    "漢" * 9,
]
SEPARATORS = [" ", "  ", "\n", ", ", "-", "\u00a0", "\u3000", "", ".\t", " " * 9]

anything = st.text(st.characters(exclude_categories=()), max_size=60)
words = st.sampled_from(ODD + LENGTHS + list("abcXYZ19")) | anything
texts = st.lists(st.tuples(words, st.sampled_from(SEPARATORS)), max_size=40).map(
    lambda parts: "".join(word + separator for word, separator in parts)
)
sizes = st.integers(1, 8)
sets = st.frozensets(st.integers(0, 40), max_size=30).map(lambda s: features(map(str, s)))


class TestTheEngine:
    """Compiled or not, the answers are those of the definitions in fallback.py."""

    @given(st.lists(texts, max_size=5), sizes, st.booleans(), st.booleans())
    def test_shingles(self, many: list[str], k: int, distinct: bool, characters: bool) -> None:
        asked = many, k, distinct, characters
        assert engine.shingles(*asked) == plain.shingles(*asked)

    @given(st.lists(words, max_size=20))
    def test_strings(self, many: list[str]) -> None:
        assert engine.features(many) == plain.features(many)

    @given(st.lists(texts, max_size=3), sizes, st.integers(1, 300), st.integers(0, 2**64 - 1))
    def test_signatures(self, many: list[str], k: int, m: int, seed: int) -> None:
        signed = engine.sign(*engine.shingles(many, k, True, False), m, seed)
        assert signed == plain.sign(*plain.shingles(many, k, True, False), m, seed)
        assert signed == engine.sign(*engine.shingles(many, k, False, False), m, seed)
        assert signed == engine.sign_each(many, k, m, seed) == plain.sign_each(many, k, m, seed)
        assert engine.sign_each([many], k, m, seed) == plain.sign_each([many], k, m, seed)
        by_words = signatures_of_words([many, []], m, seed)
        assert by_words.tolist() == [
            signature(features(each), m, seed).tolist() for each in (many, [])
        ]

    @given(sets, sets)
    def test_overlaps(self, a: Hashes, b: Hashes) -> None:
        assert engine.overlap(a, b) == plain.overlap(a, b)

    @pytest.mark.parametrize("size", range(2040, 2057))
    @pytest.mark.parametrize("letter", ["e", "é", "ж", "漢", "\U00010400"])
    def test_words_across_the_blocks_that_c_reads(self, size: int, letter: str) -> None:
        for text in ("a " * (size // 2) + letter * 20, letter * (2 * size), letter * size + " a"):
            assert engine.shingles([text], 2, False, False) == plain.shingles(
                [text], 2, False, False
            )

    def test_every_character_there_is(self) -> None:
        """Alone behind a letter: one of the word or not, and in lower case as str.lower says."""
        for start in range(0, sys.maxunicode + 1, 1 << 12):
            text = " ".join(f"a{chr(c)}" for c in range(start, start + (1 << 12)))
            assert engine.shingles([text], 1, False, False) == plain.shingles(
                [text], 1, False, False
            ), hex(start)

    def test_long_texts_of_few_and_of_many_words(self) -> None:
        rng = random.Random(4)
        for vocabulary in (1, 2, 50, 30_000):
            text = " ".join(str(rng.randrange(vocabulary)) for _ in range(20_000))
            assert engine.shingles([text], 3, True, False) == plain.shingles([text], 3, True, False)


class TestShingles:
    @given(texts, sizes)
    def test_terms_are_the_words_of_the_lower_case_text(self, text: str, k: int) -> None:
        terms = re.findall(r"\w+", text.lower())
        expected = {" ".join(terms[i : i + k]) for i in range(max(1, len(terms) - k + 1))}
        found = shingles(text, k)
        assert len(found) == (len(expected) if terms else 0)
        assert found.tolist() == sorted(set(found.tolist()))
        # Each shingle is a text of its own; but a sigma that ends one is final there.
        if terms and "\u03c3" not in text.lower():
            assert set(found.tolist()) == {int(shingles(one, k)[0]) for one in expected}

    @given(texts, sizes)
    def test_characters_are_those_of_the_spaced_text(self, text: str, k: int) -> None:
        plain_text = spaced(text)
        expected = {plain_text[i : i + k] for i in range(max(1, len(plain_text) - k + 1))} - {""}
        assert len(shingles(text, k, "characters")) == len(expected)

    @given(texts, sizes, st.sampled_from(["terms", "characters"]))
    def test_a_bag_is_a_set_with_counts(self, text: str, k: int, unit: Unit) -> None:
        hashes, counts = bag(text, k, unit)
        assert hashes.tolist() == shingles(text, k, unit).tolist()
        assert counts.sum() == len(shingles_in_order(text, k, unit))
        assert (counts > 0).all()

    @given(texts, texts)
    def test_another_storage_of_the_same_text_is_the_same_text(self, a: str, b: str) -> None:
        """What stands beside it decides whether Python keeps one, two or four bytes a letter."""
        terms = set(shingles(a, 1).tolist())
        assert terms <= set(shingles(f"{a} . \U0001f600 {b}", 1).tolist()) or "\u03c3" in a.lower()

    @given(texts, st.integers(1, 9))
    def test_a_selection_is_the_same_part_of_every_document(self, text: str, p: int) -> None:
        hashes = shingles(text, 3)
        assert selected(hashes, p).tolist() == [h for h in hashes.tolist() if h % p == 0]


class TestMeasures:
    @given(sets, sets)
    def test_of_sets(self, a: Hashes, b: Hashes) -> None:
        one, other = set(a.tolist()), set(b.tolist())
        assert overlap(a, b).common == len(one & other)
        assert (
            jaccard(a, b)
            == jaccard(b, a)
            == (len(one & other) / len(one | other) if one | other else 1)
        )
        assert 0 <= jaccard(a, b) <= dice(a, b) == dice(b, a) <= 1
        assert jaccard(a, b) <= min(containment(a, b), containment(b, a))
        assert (containment(a, b) == 1) == (one <= other)
        assert (jaccard(a, b) == 1) == (dice(a, b) == 1) == (one == other)

    @given(texts, texts, sizes)
    def test_of_bags(self, a: str, b: str, k: int) -> None:
        one, other = bag(a, k), bag(b, k)
        both = bag_overlap(one, other)
        assert bag_overlap(other, one).jaccard == both.jaccard
        assert 0 <= both.jaccard <= both.dice <= 1
        assert bag_overlap(one, one).jaccard == 1 == bag_overlap(one, one).a_in_b
        counts = dict(zip(other[0].tolist(), other[1].tolist(), strict=True))
        common = sum(
            min(n, counts.get(h, 0)) for h, n in zip(one[0].tolist(), one[1].tolist(), strict=True)
        )
        assert both.common == common
        if (one[1] == 1).all() and (other[1] == 1).all():
            assert both == overlap(one[0], other[0])


def alike(rng: np.random.Generator, size: int, common: int) -> tuple[Hashes, Hashes]:
    """Two sets of a size with some in common."""
    values = rng.integers(0, 2**64, 2 * size - common, dtype=np.uint64)
    return np.sort(values[:size]), np.sort(values[size - common :])


class TestMinhash:
    @given(sets, sets)
    def test_the_signature_of_a_union_is_the_agreement_of_its_parts(
        self, a: Hashes, b: Hashes
    ) -> None:
        """Where both agree, the union has the same; equal sets have equal signatures."""
        one, other, both = signature(a, 64), signature(b, 64), signature(np.union1d(a, b), 64)
        assert (both[one == other] == one[one == other]).all()
        assert ((both == one) | (both == other)).all() or not a.size or not b.size
        assert estimate(one, one) == 1
        assert estimate(one, other) == estimate(other, one)

    @given(texts)
    def test_repeats_and_order_do_not_matter(self, text: str) -> None:
        hashes = shingles_in_order(text, 2)
        assert (signature(hashes[::-1]) == signature(shingles(text, 2))).all()
        assert (signatures([text], 2)[0] == signature(hashes)).all()

    @pytest.mark.parametrize(
        ("size", "common"),
        [
            (1, 1),
            (1, 0),
            (3, 2),
            (10, 5),
            (40, 10),
            (100, 80),
            (300, 200),
            (900, 450),
            (4000, 1000),
        ],
    )
    def test_estimates_lie_where_they_should(self, size: int, common: int) -> None:
        """Unbiased, and spread at most as m permutations are; sets smaller and larger than m."""
        rng = np.random.default_rng(size)
        true = common / (2 * size - common)
        found = np.array(
            [
                estimate(signature(a, 128, seed), signature(b, 128, seed))
                for seed in range(400)
                for a, b in [alike(rng, size, common)]
            ]
        )
        error = standard_error(true, 128)
        assert abs(found.mean() - true) <= 4 * error / 20
        assert found.std() <= 1.12 * error + 1e-9


class TestSimhash:
    @given(texts, st.integers(1, 300))
    def test_a_fingerprint_has_its_bits_and_agrees_with_itself(self, text: str, bits: int) -> None:
        found = simhash(text, bits=bits)
        assert 0 <= found < 1 << bits
        assert agreement(found, found, bits) == 1
        assert agreement(found, found ^ ((1 << bits) - 1), bits) == 0

    @given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(1, 9)), max_size=30))
    def test_weights_are_repeats(self, features: list[tuple[int, int]]) -> None:
        hashes = np.array([h for h, _ in features], np.uint64)
        weights = np.array([w for _, w in features], np.int64)
        assert from_hashes(hashes, weights, 96) == from_hashes(np.repeat(hashes, weights), None, 96)


class TestNear:
    @pytest.mark.parametrize("threshold", [0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1])
    def test_bands_find_what_is_at_the_threshold(self, threshold: float) -> None:
        bands = banding(threshold)
        assert 1 - (1 - threshold**bands.rows) ** bands.bands >= 0.99
        assert bands.bands * bands.rows <= 128 or bands.rows == 1

    @pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8, 0.9])
    @pytest.mark.parametrize("size", [24, 60, 400])
    def test_recall_at_the_threshold_itself(self, threshold: float, size: int) -> None:
        """The hardest there is: every pair just as near as it must be."""
        common = next(c for c in range(size + 1) if c / (2 * size - c) >= threshold)
        rng = np.random.default_rng(7)
        index: NearIndex[tuple[int, str]] = NearIndex(threshold)
        for number in range(600):
            for side, hashes in zip("ab", alike(rng, size, common), strict=True):
                index.add_shingles((number, side), hashes)
        found = {near.a[0] for near in index.pairs() if near.a[0] == near.b[0]}
        assert len(found) >= 0.98 * 600  # .99 is the mean; 600 draws spread by .004

    @settings(max_examples=examples(40))
    @given(
        st.lists(st.lists(st.integers(0, 5), max_size=12), max_size=14),
        st.sampled_from([0.1, 0.34, 0.5, 0.75, 1.0]),
    )
    def test_the_index_against_comparing_all(
        self, documents: list[list[int]], threshold: float
    ) -> None:
        """Small sets: bands of them agree almost always, so hardly a pair may be missed."""
        many = [" ".join(map(str, document)) for document in documents]
        index: NearIndex[int] = NearIndex(threshold, k=2)
        index.add_all(enumerate(many))
        sets = [shingles(text, 2) for text in many]
        first = {s.tobytes(): i for i, s in reversed(list(enumerate(sets)))}
        different = sorted(i for data, i in first.items() if data)
        wanted = {
            (i, j)
            for i in different
            for j in different
            if i < j and jaccard(sets[i], sets[j]) >= threshold
        }
        found = [(near.a, near.b) for near in index.pairs()]
        assert len(found) == len(set(found))
        assert set(found) <= wanted
        assert len(wanted) - len(found) <= 1 + len(wanted) // 10
        for near in index.pairs():
            shared = Overlap(near.of_a, near.of_b, near.common)
            assert shared == overlap(sets[near.a], sets[near.b])
        for i, text in enumerate(many):
            near_i = {j for j in range(len(many)) if j != i and sets[i].size and sets[j].size
                      and jaccard(sets[i], sets[j]) >= threshold}  # fmt: skip
            assert {near.b for near in index.search(i, text)} == near_i
        assert len(index) == len(many)
