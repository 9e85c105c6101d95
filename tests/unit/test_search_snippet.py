"""Passages that answer a question, with the words marked that do."""

# ruff: noqa: RUF001 (texts in many scripts)
from __future__ import annotations

from collections.abc import Sequence

import pytest

from asof.search.query import parse, terms
from asof.search.snippet import ELLIPSIS, extract


def plural(word: str, words: Sequence[str]) -> list[str]:
    return [other for other in words if other.rstrip("s") == word.rstrip("s")]


def shown(text: str, question: str, width: int = 280) -> str:
    pieces = extract(text, list(terms(parse(question))), plural, width)
    return "".join(f"[{piece.text}]" if piece.marked else piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("text", "question", "passage"),
    [
        ("The  quick\nbrown Foxes", "fox", "The quick brown Foxes"),
        ("Lazy Dogs sleep", "dog", "Lazy [Dogs] sleep"),
        ("Lazy Dogs sleep", '"dog"', "Lazy Dogs sleep"),
        ("Merger or merging", "merg*", "[Merger] or [merging]"),
        ("the quikc way", "quick~", "the [quikc] way"),
        ("e-mail, e mail, mail e", "e-mail", "[e-mail], [e mail], mail e"),
        ("„Straße“ in Zürich", "STRASSE zurich", "„[Straße]“ in [Zürich]"),
        ("L’été à Paris", "ete", "L’[été] à Paris"),
        ("Новая ёлка", "ЕЛКА", "Новая [ёлка]"),
        ("Ο Ὀδυσσεύς", "οδυσσευς", "Ο [Ὀδυσσεύς]"),
        ("قال مُحَمَّدٌ نعم", "محمد", "قال [مُحَمَّدٌ] نعم"),
        ("אמר שָׁלוֹם לך", "שלום", "אמר [שָׁלוֹם] לך"),
        ("यह हिन्दी है", "हिन्दी", "यह [हिन्दी] है"),
        ("ประเทศไทยที่รัก", "ไทย", "ประเทศ[ไทย]ที่รัก"),
        ("我爱北京天安门", "北京", "我爱[北京]天安门"),
        ("日本の東京都庁です", "東京都", "日本の[東京都]庁です"),
        ("2020年度", "年", "2020[年]度"),
        ("한국어 검색", "검색", "한국어 [검색]"),
        ("soft\u00adware", "software", "[soft\u00adware]"),
        ("a \u202e\x00b\x1b c", "b", "a [b] c"),
        ("one two", "three", "one two"),
        ("", "a", ""),
    ],
    ids=ascii,
)
def test_what_was_asked_for_is_marked_as_it_was_spelt(
    text: str, question: str, passage: str
) -> None:
    assert shown(text, question) == passage


def test_the_passage_with_most_terms_close_together_is_taken() -> None:
    text = "alpha " + "x " * 200 + "alpha y beta " + "x " * 200 + "alpha beta " + "x " * 200
    assert "[alpha] [beta]" in shown(text, "alpha beta")


def test_of_equal_passages_the_first_is_taken() -> None:
    text = "x " * 100 + "first alpha " + "x " * 200 + "second alpha"
    assert "first [alpha]" in shown(text, "alpha", 60)


def test_terms_far_apart_are_shown_by_two_passages() -> None:
    text = "one alpha " + "x " * 400 + "two beta " + "x " * 100
    passage = shown(text, "alpha beta", 60)
    first, second = passage.split(ELLIPSIS)
    assert "one [alpha]" in first
    assert "two [beta]" in second
    assert len(passage) < 80


def test_passages_start_and_end_between_words() -> None:
    words = " ".join(f"word{n:03}" for n in range(200))
    passage = shown(words, "word100", 50)
    assert "[word100]" in passage
    assert all(len(word.strip("[]")) == 7 for word in passage.split())
    assert len(passage) <= 52


def test_without_a_match_the_beginning_is_shown_unmarked() -> None:
    passage = shown("Once upon a time " * 50, "nothing", 40)
    assert passage.startswith("Once upon a time")
    assert len(passage) <= 40
    assert "[" not in passage


def test_only_words_that_may_be_inflected_have_other_forms() -> None:
    asked: list[str] = []

    def forms(word: str, words: Sequence[str]) -> list[str]:
        asked.append(word)
        return []

    extract("a b a", list(terms(parse('a b "a" ab* "b"'))), forms)
    assert asked == ["a", "b"]


def test_only_the_beginning_of_a_long_text_is_looked_at() -> None:
    assert "[end]" not in shown("x " * 100_000 + "end", "end")
