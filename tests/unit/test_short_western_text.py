# ruff: noqa: RUF001 (the signs are meant)
"""A few words in a Western language without a label are read as browsers read them."""

from __future__ import annotations

import pytest

from asof.text.encoding.charset import charset_of, decoded

WESTERN = (
    "café",
    "naïve",
    "£5",
    "£9.99 or €12",
    "10 °C",
    "50 €",
    "½ cup",
    "5 m²",
    "© 2004 Acme™ Inc.",
    "• First item",
    "“Hello,” she said",
    "It’s 5 o’clock – don’t be late…",
    "déjà vu",
    "résumé",
    "Il a mangé une pêche.",
    "le maître",
    "Le cœur a ses raisons",
    "qu'à la",
    "Málaga",
    "mañana",
    "¿Qué pasó?",
    "Página principal",
    "São Paulo",
    "à procura",
    "Straße",
    "Müller",
    "Übersicht",
    "Così è la vita",
    "La città è più bella",
    "Giovedì andrò lì.",
    "på sida",
    "Västerås",
    "Rødgrød med fløde",
    "Tromsø",
    "Ævintýri",
    "Góðan daginn!",
    "geïnteresseerd",
    "België",
    "Què és això?",
    "Hyvää päivää!",
    "1999–2003",
    "jalapeño",
)
# Of sufficient length, and shorter than a sentence where the script leaves no doubt.
OTHERS = {
    "utf-8": "Il a mangé une pêche à l’école, déjà très fatigué.",
    "shift_jis": "早朝、年老いた漁師は小さな舟で海に出た。",
    "windows-1251": "Рано утром старый рыбак вышел в море на своей лодке.",
    "koi8-r": "Рано утром старый рыбак вышел в море на своей лодке.",
    "gbk": "清晨，老渔夫划着小船出海，直到太阳下山才回来。",
    "windows-1250": "Časně ráno vyrazil starý rybář na moře se svou lodí.",
    "windows-1253": "Νωρίς το πρωί ο γέρος ψαράς βγήκε στη θάλασσα.",
    "windows-1254": "Yaşlı balıkçı sabah erkenden denize açıldı ve güneş batınca döndü.",
}


@pytest.mark.parametrize("text", WESTERN)
@pytest.mark.parametrize("form", ["{}", "<title>x</title><p>{}</p>", "<a title='{}' href=/>"])
def test_a_few_western_words_are_windows_1252(text: str, form: str) -> None:
    data = form.format(text).encode("cp1252")
    found = charset_of(data, "text/html")
    assert (found.name, decoded(data, found)) == ("windows-1252", form.format(text))


@pytest.mark.parametrize(("name", "text"), OTHERS.items())
def test_other_texts_are_what_they_were(name: str, text: str) -> None:
    data = f"<title>x</title><p>{text}</p>".encode(name)
    assert text in decoded(data, charset_of(data, "text/html"))


def test_one_torn_letter_makes_no_utf_8_but_where_that_is_said() -> None:
    assert charset_of(b"caf\xe9", "text/html; charset=iso-8859-1").name == "windows-1252"
    assert charset_of(b"caf\xc3", "text/html; charset=utf-8").name == "utf-8"
    assert charset_of("naïve café".encode()[:-1]).name == "utf-8", "it has a whole one beside"
