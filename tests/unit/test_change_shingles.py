"""Shingles, signatures and fingerprints at their edges."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from asof.change import fallback as plain
from asof.change import minhash, shingles
from asof.change.measures import Overlap, bag_overlap, containment, dice, jaccard
from asof.change.shingles import fingerprints, selected
from asof.change.simhash import agreement, cosine, from_hashes, simhash
from asof.errors import UsageError

NONE = np.empty(0, np.uint64)


def test_ci_has_the_compiled_engine() -> None:
    """Where the tests must be whole, both are tried."""
    assert shingles.engine is not plain or os.environ.get("CI") != "true"


class TestShingles:
    @pytest.mark.parametrize("text", ["", " ", "...", "\n-\u2014!", "\U0001f600", "\ud800"])
    def test_a_text_without_terms_has_none(self, text: str) -> None:
        assert shingles.shingles(text).tolist() == []
        assert shingles.bag(text)[1].tolist() == []

    @pytest.mark.parametrize("text", ["", " \n\t\u3000"])
    def test_a_text_without_characters_has_none(self, text: str) -> None:
        assert shingles.shingles(text, 3, "characters").tolist() == []

    def test_a_short_text_is_one_shingle_of_all_it_has(self) -> None:
        one = shingles.shingles("Too short")
        assert one.tolist() == shingles.shingles("too, SHORT!").tolist()
        assert len(one) == 1
        assert one[0] != shingles.shingles("short too")[0]
        assert len(shingles.shingles("ab", 3, "characters")) == 1

    def test_exactly_k_terms_are_one_shingle_and_k_plus_one_are_two(self) -> None:
        assert len(shingles.shingles("a b c d e", 5)) == 1
        assert len(shingles.shingles("a b c d e f", 5)) == 2

    def test_order_counts_within_a_shingle_and_not_among_them(self) -> None:
        assert jaccard(shingles.shingles("a b", 2), shingles.shingles("b a", 2)) == 0
        one, other = "a b c. d e f", "d e f. a b c"
        assert jaccard(shingles.shingles(one, 3), shingles.shingles(other, 3)) == pytest.approx(
            1 / 3
        )

    def test_k_may_be_larger_than_any_text(self) -> None:
        assert len(shingles.shingles("a b c", 10**30)) == 1

    @pytest.mark.parametrize("k", [0, -1])
    def test_k_of_nothing_is_refused(self, k: int) -> None:
        for ask in (shingles.shingles, shingles.bag):
            with pytest.raises(UsageError, match="1 or more"):
                ask("some text", k)
        with pytest.raises(UsageError):
            shingles.shingles_of_all(["a"], k)
        with pytest.raises(UsageError):
            minhash.signatures(["a"], k)

    def test_arrays_cannot_be_changed(self) -> None:
        with pytest.raises(ValueError, match="read-only"):
            shingles.shingles("some words")[0] = 1

    @pytest.mark.parametrize("unit", ["terms", "characters"])
    def test_many_at_once_are_as_one_by_one(self, unit: shingles.Unit) -> None:
        texts = ["one two three four five six", "", "Ä ö ü", "ΣΑΣ σας", "one two"]
        hashes, starts = shingles.shingles_of_all(texts, 2, unit)
        assert len(starts) == 6
        for at, text in enumerate(texts):
            one = hashes[starts[at] : starts[at + 1]]
            assert one.tolist() == shingles.shingles(text, 2, unit).tolist()

    def test_no_texts_have_no_shingles(self) -> None:
        hashes, starts = shingles.shingles_of_all([])
        assert (hashes.tolist(), starts.tolist()) == ([], [0])
        assert minhash.signatures([]).shape == (0, 128)

    def test_white_space_and_case_are_no_characters(self) -> None:
        one, other = "Some  text\n here", " some text here "
        assert (
            shingles.shingles(one, 4, "characters").tolist()
            == shingles.shingles(other, 4, "characters").tolist()
        )

    def test_hashes_spread_and_do_not_meet(self) -> None:
        """A million words: no two alike, every 256th of the range with its share."""
        hashes = shingles.features(map(str, range(1_000_000)))
        assert len(hashes) == 1_000_000
        counts = np.bincount((hashes >> np.uint64(56)).astype(np.int64), minlength=256)
        assert counts.min() > 3_600
        assert counts.max() < 4_250

    def test_only_texts_are_taken(self) -> None:
        for wrong in (b"bytes", None, 7):
            with pytest.raises((TypeError, AttributeError)):
                shingles.shingles(wrong)  # type: ignore[arg-type]
            with pytest.raises((TypeError, AttributeError)):
                shingles.shingles_of_all(["fine", wrong])  # type: ignore[list-item]

    def test_hostile_repetition_takes_no_time(self) -> None:
        """Two million equal shingles, or two kinds that differ in their last bits only."""
        assert len(shingles.shingles("a " * 2_000_000)) == 1
        assert len(shingles.shingles("a b " * 1_000_000, 1)) == 2


class TestMeasures:
    def test_nothing_is_like_nothing_and_part_of_everything(self) -> None:
        some = shingles.features(["a"])
        assert (jaccard(NONE, NONE), dice(NONE, NONE), containment(NONE, NONE)) == (1, 1, 1)
        assert (jaccard(NONE, some), dice(NONE, some)) == (0, 0)
        assert (containment(NONE, some), containment(some, NONE)) == (1, 0)

    def test_parts_of_arrays_are_arrays(self) -> None:
        hashes = shingles.features(map(str, range(100)))
        assert containment(hashes[::3], hashes) == 1
        assert jaccard(hashes[10:60], hashes[35:]) == 25 / 90

    def test_bags(self) -> None:
        one, other = shingles.bag("a a a b", 1), shingles.bag("a b b c", 1)
        assert bag_overlap(one, other) == Overlap(4, 4, 2)
        assert bag_overlap(one, other).jaccard == 2 / 6


class TestSelection:
    def test_about_every_pth_stays(self) -> None:
        hashes = shingles.features(map(str, range(10_000)))
        assert 2_300 < len(selected(hashes, 4)) < 2_700
        assert selected(hashes, 1).tolist() == hashes.tolist()
        with pytest.raises(ValueError, match="at least 1"):
            selected(hashes, 0)

    def test_selections_estimate_the_whole(self) -> None:
        rng = random.Random(5)
        words = [f"w{rng.randrange(3000)}" for _ in range(4_000)]
        one, other = " ".join(words), " ".join(words[:3_000] + words[:500][::-1])
        true = jaccard(shingles.shingles(one, 3), shingles.shingles(other, 3))
        assert abs(jaccard(fingerprints(one), fingerprints(other)) - true) < 0.05


class TestMinhash:
    def test_empty_sets_are_like_each_other_only(self) -> None:
        nothing, some = minhash.signature(NONE), minhash.signature(shingles.features(["a"]))
        assert minhash.estimate(nothing, nothing) == 1
        assert minhash.estimate(nothing, some) == 0

    def test_seeds_give_other_signatures(self) -> None:
        hashes = shingles.features("abcdefgh")
        assert minhash.estimate(minhash.signature(hashes), minhash.signature(hashes, seed=2)) < 0.1

    def test_it_stays_the_same_from_version_to_version(self) -> None:
        """Stored signatures must stay comparable: this one is part of the format."""
        found = minhash.signatures(
            ["Tropical fish include fish found in tropical environments"], m=4
        )
        assert found.tolist() == [[4205616717, 3228098445, 3730176748, 201464915]]
        assert shingles.shingles("Tropical fish", 2).tolist() == [15138612567231210951]

    def test_lengths_must_agree(self) -> None:
        with pytest.raises(ValueError, match="lengths"):
            minhash.estimate(minhash.signature(NONE, 8), minhash.signature(NONE, 16))

    def test_words_are_sets(self) -> None:
        a, b = minhash.signatures_of_words([["x", "y", "x"], ["y", "x"]])
        assert minhash.estimate(a, b) == 1
        with pytest.raises((TypeError, AttributeError)):
            minhash.signatures_of_words([["x", 5]])  # type: ignore[list-item]

    @pytest.mark.parametrize("m", [1, 2, 127, 1024, 5000, 65_536])
    def test_any_number_of_slots(self, m: int) -> None:
        found = minhash.signatures(["some words of a text"], 1, m=m)
        assert found.shape == (1, m)
        assert (found != plain.EMPTY).all()


class TestSimhash:
    def test_near_texts_share_most_bits_and_others_half(self) -> None:
        rng = random.Random(6)
        words = [f"w{rng.randrange(2000)}" for _ in range(500)]
        other = [f"v{rng.randrange(2000)}" for _ in range(500)]
        one, near = simhash(" ".join(words), bits=256), simhash(" ".join(words[:480]), bits=256)
        assert agreement(one, near, 256) > 0.9
        assert 0.35 < agreement(one, simhash(" ".join(other), bits=256), 256) < 0.65
        assert cosine(one, near, 256) > 0.9
        assert abs(cosine(one, simhash(" ".join(other), bits=256), 256)) < 0.45

    def test_nothing_has_no_bit(self) -> None:
        assert simhash("") == 0 == from_hashes(NONE)
        with pytest.raises(ValueError, match="one bit"):
            simhash("a", bits=0)

    def test_more_features_than_are_taken_at_a_time(self) -> None:
        hashes = shingles.features(map(str, range(9_000)))
        bits = ((hashes[:, None] >> np.arange(63, -1, -1, dtype=np.uint64)) & np.uint64(1)).astype(
            int
        )
        wanted = "".join("1" if column * 2 > 9_000 else "0" for column in bits.sum(axis=0))
        assert from_hashes(hashes) == int(wanted, 2)
