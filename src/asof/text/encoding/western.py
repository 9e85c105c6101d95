# ruff: noqa: RUF001, RUF003 (the signs are meant)
"""Whether a text reads as one in a Western language, so that a few bytes need no detective.

Browsers fall back on windows-1252 where a page says nothing and its few bytes beyond ASCII prove
nothing; statistics of letters take `£5` for Polish and `déjà vu` for Russian.
"""

import re

WESTERN = "windows-1252"

# French, German, Spanish, Portuguese, Italian, Swedish, Danish, Icelandic, Dutch, Catalan.
_LETTERS = """
àâæçèéêëîïôùûüÿœ äöüß áéíñóúü àáâãçéêíóôõúü àèéìòù åäöé æøåéö áðéíóúýþæö ëïéèöüóá àçèéíïòóúü
"""
_ALPHABETS = tuple(frozenset(each + each.upper()) for each in _LETTERS.split())
_LETTER = "[A-Za-zÀ-ÖØ-öø-ÿŒœ]"
_IN_PLACE = re.compile(
    rf"(?<={_LETTER})[‘’–—·](?={_LETTER})"  # l’été
    rf"|(?<!{_LETTER})[‘’“”„«»‹›–—…•·©®™°£€¥¢§¶ºª×\xa0]"  # £5, 20 °C
    rf"|[’”»›…–—™®°ºª\xa0](?!{_LETTER})"  # late…
    rf"|(?:(?<!{_LETTER})[½¼¾¹]|(?:(?<!{_LETTER})|(?<=[Mm]))[²³])(?!{_LETTER})"  # ½ cup, 5 m²
    rf"|(?<!{_LETTER})[¿¡](?={_LETTER})"
)
# A capital inside of a word, letters in a row, and a ligature where French has none.
_OUT_OF_PLACE = re.compile("(?<=[a-zß-öø-ÿ])[À-ÖØ-Þ]|[À-ÖØ-öø-ÿ]{3}|œ(?![uit])")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]")


def looks_western(text: str) -> bool:
    """Whether the letters beyond ASCII are those of one language, and the signs in their places."""
    letters = set(_BEYOND_ASCII.findall(_IN_PLACE.sub("", text)))
    return any(letters <= each for each in _ALPHABETS) and _OUT_OF_PLACE.search(text) is None
