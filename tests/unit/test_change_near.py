"""Search and discovery of near-duplicates: what is reported, and how."""

from __future__ import annotations

import random
import threading
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from asof.change import fallback as plain
from asof.change.measures import Overlap
from asof.change.near import Near, NearIndex, banding
from asof.change.shingles import Hashes, engine, shingles
from asof.errors import UsageError

Many = tuple[bytes, bytes, Hashes, NDArray[np.uint8], NDArray[np.int64]]

WORDS = [f"word{number}" for number in range(5_000)]


def document(rng: random.Random, size: int = 200) -> list[str]:
    return rng.choices(WORDS, k=size)


def changed(rng: random.Random, words: list[str], places: int) -> str:
    words = list(words)
    for place in rng.sample(range(len(words)), places):
        words[place] = rng.choice(WORDS)
    return " ".join(words)


@pytest.fixture
def index() -> NearIndex[str]:
    """Thirty documents; 0 to 9 also with two words changed; 20 three times; two without terms."""
    rng = random.Random(1)
    texts = [document(rng) for _ in range(30)]
    index: NearIndex[str] = NearIndex(0.7)
    index.add_all((f"d{number}", " ".join(text)) for number, text in enumerate(texts))
    for number in range(10):
        index.add(f"e{number}", changed(rng, texts[number], 2))
    index.add("copy", " ".join(texts[20]).upper())
    index.add("copy of a copy", ", ".join(texts[20]))
    index.add("nothing", "")
    index.add("no words", "...")
    return index


class TestDiscovery:
    def test_pairs_are_found_with_all_measures(self, index: NearIndex[str]) -> None:
        found = {(near.a, near.b): near for near in index.pairs()}
        assert set(found) == {(f"d{number}", f"e{number}") for number in range(10)}
        for near in found.values():
            shared, union = near.common, near.of_a + near.of_b
            assert near.jaccard == shared / (union - shared)
            assert near.a_in_b == shared / near.of_a
            assert near.b_in_a == shared / near.of_b
            assert near.dice == 2 * shared / union
            assert 0.7 <= near.jaccard <= near.dice < 1

    def test_copies_are_a_group_and_no_pairs(self, index: NearIndex[str]) -> None:
        assert index.identical() == [("d20", "copy", "copy of a copy")]

    def test_groups_have_near_ones_and_copies(self, index: NearIndex[str]) -> None:
        wanted = {(f"d{number}", f"e{number}") for number in range(10)}
        assert set(index.groups()) == wanted | {("d20", "copy", "copy of a copy")}

    def test_documents_without_terms_are_alike_in_nothing(self, index: NearIndex[str]) -> None:
        assert index.without_terms == ["nothing", "no words"]
        assert len(index) == 44
        assert index.search("nothing", "") == []

    def test_an_empty_index_has_no_answers(self) -> None:
        index: NearIndex[str] = NearIndex()
        assert (list(index.pairs()), index.groups(), index.identical()) == ([], [], [])
        assert index.search("x", "some words") == []
        index.add("x", "one alone")
        assert (list(index.pairs()), index.groups()) == ([], [])

    def test_ten_thousand_copies_are_one_group(self) -> None:
        index: NearIndex[int] = NearIndex()
        index.add_all((number, "the same few words on every page") for number in range(10_000))
        assert list(index.pairs()) == []
        assert index.identical() == index.groups() == [tuple(range(10_000))]

    def test_a_template_gives_every_pair_or_one_group(self) -> None:
        """300 pages that differ in a number: 44,850 pairs; as a group, 300 names."""
        rng = random.Random(2)
        frame = " ".join(document(rng, 100))
        index: NearIndex[int] = NearIndex(0.9)
        index.add_all((number, f"{frame} {number}") for number in range(300))
        assert sum(1 for _ in index.pairs()) == 300 * 299 // 2
        assert index.groups() == [tuple(range(300))]

    def test_a_group_may_be_a_chain(self) -> None:
        """Each is near the next, the first and the last have nothing in common."""
        words = WORDS[:400]
        index: NearIndex[int] = NearIndex(0.8)
        for number in range(0, 200, 10):
            index.add(number, " ".join(words[number : number + 200]))
        assert index.groups() == [tuple(range(0, 200, 10))]
        assert (0, 190) not in {(near.a, near.b) for near in index.pairs()}

    def test_answers_are_the_same_every_time(self, index: NearIndex[str]) -> None:
        assert list(index.pairs()) == list(index.pairs())

    def test_characters_as_the_unit(self) -> None:
        index: NearIndex[str] = NearIndex(0.6, k=4, unit="characters")
        index.add_all([("a", "color of the harbour"), ("b", "colour of the harbour"), ("c", "x")])
        assert [(near.a, near.b) for near in index.pairs()] == [("a", "b")]


class TestSearch:
    def test_what_is_found_is_nearest_first_and_not_itself(self, index: NearIndex[str]) -> None:
        rng = random.Random(1)
        texts = [document(rng) for _ in range(30)]
        found = index.search("d3", " ".join(texts[3]))
        assert [(near.a, near.b) for near in found] == [("d3", "e3")]
        assert [near.b for near in index.search("?", " ".join(texts[3]))] == ["d3", "e3"]
        copies = [near.b for near in index.search("copy", " ".join(texts[20]))]
        assert copies == ["d20", "copy of a copy"]

    def test_a_lower_threshold_finds_more(self, index: NearIndex[str]) -> None:
        rng = random.Random(1)
        half = document(rng)[:100] + document(random.Random(9), 100)
        assert index.search("?", " ".join(half)) == []
        assert {near.b for near in index.search("?", " ".join(half), 0.25)} == {"d0", "e0"}

    def test_a_quotation_is_found_by_containment(self, index: NearIndex[str]) -> None:
        quotation = " ".join(document(random.Random(1))[50:80])
        assert index.search("?", quotation) == []
        found = index.search("?", quotation, 0.9, "containment")
        assert found[0].b == "d0"
        assert (found[0].a_in_b, found[0].common) == (1, 26)

    def test_two_may_search_at_once(self, index: NearIndex[str]) -> None:
        texts = [" ".join(document(random.Random(1))) for _ in range(8)]
        found: list[list[Near[str]]] = []
        threads = [
            threading.Thread(target=lambda text=text: found.append(index.search("?", text)))
            for text in texts
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 8
        assert all(one == found[0] for one in found)


class TestUsage:
    @pytest.mark.parametrize("threshold", [0, -1, 1.01, 80, float("nan")])
    def test_thresholds_that_make_no_sense(self, threshold: float) -> None:
        with pytest.raises(UsageError, match=r"from 0\.01 to 1"):
            NearIndex(threshold)
        with pytest.raises(UsageError):
            banding(threshold)
        with pytest.raises(UsageError):
            NearIndex[str]().search("?", "text", threshold or -1)

    def test_bands_of_the_default(self) -> None:
        """6 rows: a pair at .5, which is not wanted, is a candidate in one of four cases."""
        assert (banding(0.8).bands, banding(0.8).rows) == (18, 6)

    def test_an_index_cannot_grow_while_it_is_read(self, index: NearIndex[str]) -> None:
        pairs = index.pairs()
        next(pairs)
        with pytest.raises(BufferError):
            index.add("late", "some words that are new")
        del pairs
        index.add("late", "some words that are new")


class TestTheEngine:
    """Compiled and plain comparison, side by side; and what is not an array is refused."""

    @pytest.fixture
    def many(self) -> Many:
        rng = random.Random(3)
        frame = document(rng, 60)
        texts = [changed(rng, frame, rng.randrange(12)) for _ in range(60)]
        hashes, starts = engine.shingles([*texts, ""], 3, True, False)
        keys = np.random.default_rng(1).integers(0, 4, (61, 3), dtype=np.uint64)
        sketches = np.random.default_rng(2).integers(0, 3, (61, 150), dtype=np.uint8)
        return hashes, starts, keys, sketches, np.argsort(keys[:, 1], kind="stable")

    @pytest.mark.parametrize("t", [0.01, 0.3, 0.5, 2 / 3, 0.8, 1.0])
    @pytest.mark.parametrize("least", [-1, 0, 50, 151])
    def test_equal_answers(self, many: Many, t: float, least: int) -> None:
        hashes, starts, keys, sketches, order = many
        for form in (0, 1):
            query = shingles("a b c word1 word2 word3 word4", 3)
            for asked in (query, hashes[:400], b""):
                scan = engine.scan(asked, hashes, starts, 0, 61, t, form)
                assert scan == plain.scan(asked, hashes, starts, 0, 61, t, form)
        pairs = engine.pairs(hashes, starts, keys, sketches, order, None, 1, 0, t, least, 1 << 30)
        assert pairs == plain.pairs(
            hashes, starts, keys, sketches, order, None, 1, 0, t, least, 1 << 30
        )
        parents, others = np.arange(61), np.arange(61)
        for band in range(3):
            order = np.argsort(keys[:, band], kind="stable")
            engine.pairs(hashes, starts, keys, sketches, order, parents, band, 0, t, least, 1 << 30)
            plain.pairs(hashes, starts, keys, sketches, order, others, band, 0, t, least, 1 << 30)
        for group in (parents, others):
            for document in range(61):
                group[document] = group[group[document]]
        assert parents.tolist() == others.tolist()

    def test_work_in_pieces_is_the_same_work(self, many: Many) -> None:
        hashes, starts, keys, sketches, order = many
        whole, end = engine.pairs(
            hashes, starts, keys, sketches, order, None, 1, 0, 0.3, 0, 1 << 30
        )
        pieces, at = b"", 0
        while at < end:
            piece, at = engine.pairs(hashes, starts, keys, sketches, order, None, 1, at, 0.3, 0, 1)
            pieces += piece
        assert pieces == whole != b""

    @pytest.mark.parametrize("sizes", [(1, 1), (3, 7), (10, 10), (333, 777), (1000, 1000)])
    def test_the_least_that_must_be_shared(self, sizes: tuple[int, int]) -> None:
        a, b = sizes
        for t in (0.01, 0.1, 1 / 3, 0.5, 0.7, 0.8, 0.9, 1.0):
            for form in (0, 1):
                least = plain.least_shared(a, b, t, form)
                for common in range(min(a, b) + 1):
                    both = Overlap(a, b, common)
                    measure = max(both.a_in_b, both.b_in_a) if form else both.jaccard
                    assert (measure >= t) == (common >= least)

    @pytest.mark.parametrize("ours", [engine, plain], ids=["engine", "plain"])
    def test_what_does_not_fit_is_refused(self, ours: ModuleType) -> None:
        hashes, starts = engine.shingles(["a b c", "d e f"], 1, True, False)
        for bad in ([0, 3, 7], [0, 4, 3], [-1, 3, 6], []):
            with pytest.raises(ValueError, match=r"arrays|buffer"):
                ours.sign(hashes, np.array(bad, np.int64), 8, 1)
        with pytest.raises(ValueError, match="arrays"):
            ours.scan(b"", hashes, starts, 0, 3, 0.5, 0)
        with pytest.raises(ValueError, match="t must"):
            ours.scan(b"", hashes, starts, 0, 2, 0.0, 0)
        for k, characters in ((0, True), (0, False), (-5, False)):
            with pytest.raises(ValueError, match="k must"):
                ours.shingles(["a"], k, True, characters)
        for m in (0, -1, 65_537):
            with pytest.raises(ValueError, match="m must"):
                ours.sign(hashes, starts, m, 1)
