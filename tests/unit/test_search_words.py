"""Words for the index: one form for the spellings that a reader takes as equal."""

# ruff: noqa: RUF001 (texts in many scripts)
from __future__ import annotations

import pytest

from asof.search.words import LONGEST_WORD, folded, is_unspaced, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Quick-Brown fox_1", ["the", "quick", "brown", "fox", "1"]),
        ("don’t don't", ["don", "t", "don", "t"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("L’été à Tromsø, Łódź", ["l", "ete", "a", "tromso", "lodz"]),
        ("ISPARTA ısparta İstanbul", ["isparta", "isparta", "istanbul"]),
        ("Ёлка, мой за\u0301мок", ["елка", "мой", "замок"]),
        ("Ὀδυσσεύς ΟΔΥΣΣΕΥΣ", ["οδυσσευσ", "οδυσσευσ"]),
        ("مُحَمَّدٌ كتـاب", ["محمد", "كتاب"]),
        ("שָׁלוֹם שלום", ["שלום", "שלום"]),
        ("한국어 \u1112\u1161\u11ab", ["한국", "국어", "어", "한"]),
        ("أخبار الإمارة على", ["اخبار", "الاماره", "علي"]),
        ("हिन्दी", ["हिन", "दी"]),
        ("東京都", ["東京", "京都", "都"]),
        ("2020年", ["2020", "年"]),
        ("ｶﾞｽ ＡＢＣ", ["ガス", "ス", "abc"]),
        ("ไทย น้ำ", ["ไท", "ทย", "ย", "นํ", "ํา", "า"]),
        ("soft\u00adhyphen zero\u200bwidth", ["softhyphen", "zerowidth"]),
        ("Brand™ ﬁne m²", ["brand", "fine", "m2"]),
        ("--- & …", []),
        ("", []),
    ],
    ids=ascii,
)
def test_texts_become_words(text: str, words: list[str]) -> None:
    assert words_of(folded(text)) == words


def test_words_too_long_for_the_index_are_left_out() -> None:
    assert words_of(f"a {'b' * LONGEST_WORD} c") == ["a", "b" * LONGEST_WORD, "c"]
    assert words_of(f"a {'b' * (LONGEST_WORD + 1)} c") == ["a", "c"]
    assert words_of(f"a {'я' * 51} c") == ["a", "c"]


def test_scripts_without_spaces_are_known_by_their_letters() -> None:
    assert is_unspaced("東京")
    assert is_unspaced("ย")
    assert is_unspaced("한국")
    assert not any(map(is_unspaced, ["", "a", "कु", "سف", "i18n", "१"]))
