"""Other forms of a word, and how they begin in the vocabulary of an index."""

from __future__ import annotations

import pytest

from asof.search.stems import beginnings, forms
from asof.search.words import folded


@pytest.mark.parametrize(
    ("language", "word", "others", "strangers"),
    [
        ("en", "ships", "ship shipping", "shop"),
        ("de-CH", "häfen", "hafen", "haft"),
        ("ar", "سفينة", "السفينة والسفينة بالسفينة للسفينة وسفينة", "سفر"),
        ("ar", "السفينة", "سفينة بالسفينة", "السفر"),
        ("ar", "كتاب", "الكتاب والكتاب بكتاب وكتاب كتابه", "كاتب"),
        ("ar", "أخبار", "الأخبار اخبار", "أخت"),
        ("he", "ספינה", "הספינה והספינה בספינה שהספינה", "ספינות"),
        ("he", "שלום", "השלום ושלום", "לום הלום"),
        ("xx", "word", "", "words"),
    ],
)
def test_other_forms_are_known_and_are_looked_up(
    language: str, word: str, others: str, strangers: str
) -> None:
    asked, same = folded(word), folded(others).split()
    vocabulary = [asked, *same, *folded(strangers).split()]
    assert set(forms(asked, vocabulary, language)) == set(same) - {asked}
    short = language.partition("-")[0]
    starts = tuple(beginnings(asked, short))
    assert all(other.startswith(starts) for other in same)
    assert bool(starts) is bool(others)
