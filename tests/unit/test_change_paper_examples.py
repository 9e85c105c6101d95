"""The worked examples of the papers about alike documents, with their figures.

Spaniol 2010 (Web Archiving) is cited by the titles of its slides, Naumann 2011 (Search Engines,
chapter 3) by their numbers, CS6200 2019 (Acquiring Data) has the same examples as it.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from asof.change.digests import checksum
from asof.change.fallback import START, chunk
from asof.change.measures import Overlap, bag_overlap, jaccard, overlap
from asof.change.minhash import estimate, minhash_of_matrix
from asof.change.shingles import bag, features, selected, shingles, shingles_in_order
from asof.change.simhash import fingerprint, from_hashes, vector

SENTENCE = (
    "Tropical fish include fish found in tropical environments around the world, "
    "including both freshwater and salt water species."
)


class TestShingles:
    """Spaniol 2010, "Basic Data Model: Sets": the document abcab with k = 2."""

    def test_the_set_of_abcab(self) -> None:
        wanted = np.sort(
            np.concatenate([shingles(two, 2, "characters") for two in ("ab", "bc", "ca")])
        )
        assert shingles("abcab", 2, "characters").tolist() == wanted.tolist()

    def test_as_a_bag_ab_counts_twice(self) -> None:
        hashes, counts = bag("abcab", 2, "characters")
        (ab,) = shingles("ab", 2, "characters")
        assert {int(h): int(c) for h, c in zip(hashes, counts, strict=True)}[int(ab)] == 2
        assert counts.sum() == 4


class TestJaccard:
    def test_three_of_eight(self) -> None:
        """Spaniol 2010, "Jaccard Similarity of Sets": 3 in the intersection, 8 in the union."""
        one, other = features("abcdef"), features("defgh")
        assert overlap(one, other) == Overlap(6, 5, 3)
        assert jaccard(one, other) == 3 / 8

    def test_columns_of_a_matrix(self) -> None:
        """Spaniol 2010, "Row Types" and "Example": Sim(C1, C2) = a / (a + b + c) = 2/5."""
        c1, c2 = (0, 1, 1, 0, 1, 0), (1, 0, 1, 0, 1, 1)
        one, other = ([str(row) for row, has in enumerate(c) if has] for c in (c1, c2))
        assert jaccard(features(one), features(other)) == 2 / 5 == 0.4

    def test_bags_count_what_repeats(self) -> None:
        """abcab has ab twice, ab once: 1 in common of 4."""
        assert bag_overlap(
            bag("abcab", 2, "characters"), bag("ab", 2, "characters")
        ).jaccard == pytest.approx(1 / 4)


class TestMinhash:
    """Spaniol 2010, "Minhashing Example"."""

    ORDERS = np.array([(1, 3, 7, 6, 2, 5, 4), (4, 2, 1, 3, 6, 7, 5), (3, 4, 7, 6, 1, 2, 5)])
    COLUMNS = np.array(
        [
            (1, 0, 1, 0),
            (1, 0, 0, 1),
            (0, 1, 0, 1),
            (0, 1, 0, 1),
            (0, 1, 0, 1),
            (1, 0, 1, 0),
            (1, 0, 1, 0),
        ],
        dtype=np.bool_,
    )

    def test_the_signature_matrix(self) -> None:
        """The slide's lowest row is that of h1."""
        found = minhash_of_matrix(self.COLUMNS, self.ORDERS).tolist()
        assert found[::-1] == [[2, 1, 2, 1], [2, 1, 4, 1], [1, 2, 1, 2]]

    @pytest.mark.parametrize(
        ("a", "b", "columns", "signatures"),
        [(1, 3, 0.75, 0.67), (2, 4, 0.75, 1.00), (1, 2, 0, 0), (3, 4, 0, 0)],
    )
    def test_the_similarities(self, a: int, b: int, columns: float, signatures: float) -> None:
        rows = [features(np.flatnonzero(self.COLUMNS[:, c - 1]).astype(str)) for c in (a, b)]
        assert jaccard(*rows) == columns
        slots = minhash_of_matrix(self.COLUMNS, self.ORDERS).astype(np.uint32)
        assert round(estimate(slots[:, a - 1], slots[:, b - 1]), 2) == signatures

    def test_a_document_without_rows_has_a_place_behind_all(self) -> None:
        assert minhash_of_matrix(np.zeros((7, 1), np.bool_), self.ORDERS).tolist() == [[8]] * 3


class TestFingerprints:
    """Naumann 2011, slide 83; CS6200 2019, "Fingerprint Example (n=3; 2 word overlap)"."""

    THREES: ClassVar = [
        "tropical fish include",
        "fish include fish",
        "include fish found",
        "fish found in",
        "found in tropical",
        "in tropical environments",
        "tropical environments around",
        "environments around the",
        "around the world",
        "the world including",
        "world including both",
        "including both freshwater",
        "both freshwater and",
        "freshwater and salt",
        "and salt water",
        "salt water species",
    ]
    HASHES = (938, 664, 463, 822, 492, 798, 78, 969, 143, 236, 913, 908, 694, 553, 870, 779)

    def test_the_3_grams(self) -> None:
        found = shingles_in_order(SENTENCE, 3).tolist()
        assert found == [int(shingles(three, 3)[0]) for three in self.THREES]

    def test_those_that_are_0_mod_4(self) -> None:
        given = np.array(self.HASHES, np.uint64)
        assert len(given) == len(self.THREES)
        assert selected(given, 4).tolist() == [664, 492, 236, 908]


class TestSimhash:
    """Naumann 2011, slide 86; CS6200 2019, "Simhash Example"."""

    WORDS: ClassVar = {
        "tropical": (2, "01100001"),
        "fish": (2, "10101011"),
        "include": (1, "11100110"),
        "found": (1, "00011110"),
        "environments": (1, "00101101"),
        "around": (1, "10001011"),
        "world": (1, "00101010"),
        "including": (1, "11000000"),
        "both": (1, "10101110"),
        "freshwater": (1, "00111111"),
        "salt": (1, "10110101"),
        "water": (1, "00100101"),
        "species": (1, "11101110"),
    }

    def test_the_weights_are_how_often_words_occur(self) -> None:
        hashes, counts = bag(SENTENCE, 1)
        weights = dict(zip(hashes.tolist(), counts.tolist(), strict=True))
        for word, (weight, _) in self.WORDS.items():
            assert weights.pop(int(shingles(word, 1)[0])) == weight
        stop_words = [int(shingles(word, 1)[0]) for word in ("in", "the", "and")]
        assert sorted(weights) == sorted(stop_words)

    def test_the_vector_and_the_eight_bits(self) -> None:
        weights = np.array([weight for weight, _ in self.WORDS.values()])
        bits = np.array([[int(bit) for bit in bits] for _, bits in self.WORDS.values()], np.uint8)
        assert vector(bits, weights).tolist() == [1, -5, 9, -9, 3, 1, 3, 3]
        assert fingerprint(vector(bits, weights)) == 0b10101111

    def test_the_same_from_hash_values(self) -> None:
        """Hashes of 64 bits that begin with the slide's eight."""
        weights = np.array([weight for weight, _ in self.WORDS.values()])
        hashes = np.array([int(bits, 2) << 56 for _, bits in self.WORDS.values()], np.uint64)
        assert from_hashes(hashes, weights, bits=8) == 0b10101111


class TestBytes:
    def test_the_checksum_of_tropical_fish(self) -> None:
        """Naumann 2011, slide 79; in hexadecimal. Its fault: the same bytes in another order."""
        assert checksum(b"Tropical fish") == 0x508
        assert checksum(bytes(sorted(b"Tropical fish"))) == 0x508

    def test_pi_in_utf_8(self) -> None:
        """Naumann 2011, slide 64: symbol 960, encoded as CF80; of these bytes its hash is made."""
        assert chr(960).encode() == bytes((0b11001111, 0b10000000)) == bytes.fromhex("CF80")
        two = int.from_bytes(b"\xcf\x80", "little")
        assert features(["\N{GREEK SMALL LETTER PI}"]).tolist() == [chunk(chunk(START, two), 2)]
