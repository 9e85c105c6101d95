"""Laws of differences: nothing is lost, marks are true, common parts are longest."""

from __future__ import annotations

from itertools import pairwise
from typing import cast

from hypothesis import example, given
from hypothesis import strategies as st

from asof.caret import cells
from asof.change import alignment
from asof.change.alignment import common
from asof.change.difference import Difference, as_json, difference
from asof.change.noise import settled
from asof.change.passages import passages, words
from asof.change.shingles import K, shingles_in_order
from asof.report.difference_terminal import terminal
from asof.report.terminal import harmless, wrapped

items = st.lists(st.integers(0, 3), max_size=30)
# Few words, so that much is common; ends of sentences and lines, wide, joined and acting ones.
pieces = st.sampled_from(
    ["alpha", "beta", "gamma", " ", ". ", "\n", "\n\n", "! ", "漢", "字。", "e\u0301", "\x1b[2J",
     "👩\u200d👩\u200d👧", "\u202e", "1,234 views", ",", "\t", "\r\n", "¶"]
)  # fmt: skip
texts = st.one_of(st.lists(pieces, max_size=40).map("".join), st.text(max_size=60))


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, str]:
    """A text and what a few edits made of it."""
    parts = draw(st.lists(pieces, max_size=40))
    new = list(parts)
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(new)))
        new[start : start + draw(st.integers(0, 4))] = draw(st.lists(pieces, max_size=3))
    return "".join(parts), "".join(new)


pairs = st.one_of(edits(), st.tuples(texts, texts))


def longest(old: list[int], new: list[int]) -> int:
    """By the book: the length of a longest common subsequence."""
    table = [0] * (len(new) + 1)
    for item in old:
        before = 0
        for place, other in enumerate(new, 1):
            before, table[place] = (
                table[place],
                before + 1 if item == other else max(table[place], table[place - 1]),
            )
    return table[-1]


def both_texts(found: Difference) -> tuple[str, str]:
    """What was compared, put together again."""
    old = "".join(row.old.text for row in found.rows if row.old)
    return old[:-1], "".join(row.new.text for row in found.rows if row.new)[:-1]


@given(items, items)
def test_common_parts_are_common_and_in_order(old: list[int], new: list[int]) -> None:
    a = c = 0
    for i, j, length in common(old, new):
        assert i >= a
        assert j >= c
        assert length > 0
        assert old[i : i + length] == new[j : j + length]
        a, c = i + length, j + length


@given(items, items)
def test_without_anchors_the_common_part_is_longest(old: list[int], new: list[int]) -> None:
    found = list(alignment._without_anchors(old, new, alignment.LARGEST))
    assert len(found) == longest(old, new)


@given(items, items, st.sampled_from([1, 4, 64, 1 << 26]))
def test_without_anchors_pairs_are_equal_and_in_order(
    old: list[int], new: list[int], largest: int
) -> None:
    """In one table, or in pieces."""
    found = list(alignment._without_anchors(old, new, largest))
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(found))
    assert all(old[i] == new[j] for i, j in found)


@given(pairs)
@example(("a\r\n", "a\n"))
def test_both_texts_are_in_the_difference(pair: tuple[str, str]) -> None:
    old, new = pair
    found = difference(old, new)
    assert both_texts(found) == (old, new)


@given(pairs)
def test_what_is_not_marked_is_the_same_on_both_sides(pair: tuple[str, str]) -> None:
    for row in difference(*pair).rows:
        if row.old is None or row.new is None:
            assert not row.same
            line = row.old or row.new
            assert line is not None
            assert all(span.marked for span in line.spans)
            continue
        kept = ["".join(s.text for s in line.spans if not s.marked) for line in (row.old, row.new)]
        assert kept[0] == kept[1]
        assert row.same == (row.old.text == row.new.text)
        if row.same:
            assert not any(span.marked for span in (*row.old.spans, *row.new.spans))


@given(texts)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert all(row.same for row in difference(text, text).rows)


@given(pairs)
def test_applied_to_the_old_text_it_gives_the_new(pair: tuple[str, str]) -> None:
    """From the JSON alone, and what it removes is what the old text has there."""
    old, new = pair
    source = old + "\n"
    result = ""
    place = 0
    for part in cast("list[dict[str, object]]", as_json(difference(old, new))["parts"]):
        start, end = cast("list[int]", part["old"])
        assert start == place
        assert cast("list[int]", part["new"])[0] == len(result)
        place = end
        if part["kind"] == "same":
            result += source[start:end]
            continue
        words = cast("list[list[str]]", part["words"])
        assert "".join(text for kind, text in words if kind != "added") == source[start:end]
        result += "".join(text for kind, text in words if kind != "removed")
        assert cast("list[int]", part["new"])[1] == len(result)
    assert (place, result) == (len(source), new + "\n")


@given(pairs, st.integers(20, 140), st.booleans())
def test_every_line_fits_and_nothing_acts(pair: tuple[str, str], width: int, colour: bool) -> None:
    for line in terminal(difference(*pair), width, colour=colour):
        for code in ("\x1b[31m", "\x1b[32m", "\x1b[2m", "\x1b[1;7m", "\x1b[0m"):
            line = line.replace(code, "")
        assert line == harmless(line)
        assert cells(line) <= width


@given(st.lists(st.tuples(texts.map(harmless), st.booleans()), max_size=5), st.integers(2, 30))
def test_wrapping_loses_only_blanks(parts: list[tuple[str, bool]], width: int) -> None:
    lines = wrapped(parts, width)
    letters = "".join(text for line in lines for text, _ in line)
    assert "".join(letters.split()) == "".join("".join(text for text, _ in parts).split())
    assert all(sum(cells(text) for text, _ in line) <= width for line in lines)


@given(texts, texts)
def test_passages_are_measured_alike_from_both_sides(one: str, other: str) -> None:
    left, right = words(settled(one)), words(settled(other))
    there, back = passages(left, right), passages(right, left)
    assert there.similarity == back.similarity
    assert (there.added, there.kept) == (back.removed, back.known)
    assert 0 <= there.similarity <= 1
    assert passages(left, left).largest == 0


@given(texts)
def test_words_are_the_terms_of_shingles(text: str) -> None:
    """Each shingle has its place, so there must be as many as there are rows of words."""
    found = words(settled(text))
    count = shingles_in_order(" ".join(found)).size
    assert count == (max(len(found) - K + 1, 1) if found else 0)


@given(texts)
def test_settled_text_is_one_line_without_case(text: str) -> None:
    found = settled(text)
    assert found == " ".join(found.split())
    assert settled(text.upper()) == settled(text.upper().lower())
