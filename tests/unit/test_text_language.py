# ruff: noqa: RUF001 (letters of many scripts)
"""The language of a text, with what is declared as a hint."""

from __future__ import annotations

import time

import pytest

from asof.text.language import language_of, primary_tag

SENTENCES = {
    "ar": "في الصباح الباكر خرج الصياد إلى البحر ومعه شبكة قديمة وخبز قليل.",
    "cs": "Časně ráno vyrazil starý rybář na moře se svou lodí a vrátil se až večer.",
    "da": "Tidligt om morgenen sejlede den gamle fisker ud på havet og kom først hjem om aftenen.",
    "de": "Früh am Morgen fuhr der alte Fischer hinaus auf das Meer und kam erst am Abend zurück.",
    "el": "Νωρίς το πρωί ο γέρος ψαράς βγήκε στη θάλασσα με τη μικρή του βάρκα.",
    "en": "Early in the morning the old fisherman went out to sea and came back only at night.",
    "es": "Muy temprano el viejo pescador salió al mar con su barca y no volvió hasta la noche.",
    "fi": "Varhain aamulla vanha kalastaja lähti merelle veneellään ja palasi vasta illalla.",
    "fr": "Très tôt le matin, le vieux pêcheur est parti en mer et n'est revenu que le soir.",
    "he": "מוקדם בבוקר יצא הדייג הזקן אל הים עם סירתו הקטנה וחזר רק בערב.",
    "hu": "Kora reggel az öreg halász kihajózott a tengerre, és csak este tért vissza.",
    "it": "Di prima mattina il vecchio pescatore uscì in mare con la barca e tornò solo la sera.",
    "ja": "朝早く、年を取った漁師は小さな舟で海に出ました。",
    "ko": "이른 아침 늙은 어부는 작은 배를 타고 바다로 나갔습니다.",
    "nl": "Vroeg in de ochtend voer de oude visser met een boot de zee op en kwam pas laat terug.",
    "pl": "Wcześnie rano stary rybak wypłynął w morze swoją łodzią i wrócił dopiero wieczorem.",
    "pt": "De manhã cedo o velho pescador saiu para o mar com o seu barco e só voltou à noite.",
    "ru": "Рано утром старый рыбак вышел в море на своей лодке и вернулся только вечером.",
    "sv": "Tidigt på morgonen gav sig den gamle fiskaren ut på havet och kom hem först på kvällen.",
    "th": "ตอนเช้าตรู่ชายประมงชราออกเรือไปในทะเลและกลับมาในตอนเย็น",
    "tr": "Sabah erkenden yaşlı balıkçı küçük kayığıyla denize açıldı ve ancak akşam döndü.",
    "uk": "Рано-вранці старий рибалка вийшов у море на своєму човні й повернувся лише ввечері.",
    "vi": "Sáng sớm, ông lão đánh cá chèo thuyền ra khơi và đến tối mới trở về bến.",
    "zh": "清晨，老渔夫驾着小船出海，直到太阳落到山后才回到港口。",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_is_enough(language: str) -> None:
    assert language_of(SENTENCES[language]) == language


@pytest.mark.parametrize("language", [code for code in SENTENCES if code != "en"])
def test_a_template_that_says_english_of_everything_is_not_believed(language: str) -> None:
    assert language_of(SENTENCES[language] * 2, "en-US") == language


def test_a_hint_decides_between_close_languages() -> None:
    both = "Selo je blizu mora, a ljudi rade na brodu i prodaju ribu na trgu svaki dan."
    assert language_of(both, "hr") == "hr"
    assert language_of(both, "bs") == "bs"


@pytest.mark.parametrize("text", ["", "  \n", "12345 67890 " * 50, "Hi!", "<>&%$ " * 100, "海"])
def test_too_little_text_says_nothing(text: str) -> None:
    assert language_of(text) is None
    assert language_of(text, "fr-CA") == "fr"


def test_addresses_are_no_words() -> None:
    assert language_of("https://www.example.com/the/quick/brown/fox/jumps " * 20) is None


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("de", "de"),
        ("pt-BR", "pt"),
        ("EN_us", "en"),
        (" fr ", "fr"),
        ("iw", "he"),
        ("nb-NO", "no"),
        ("deu", "de"),
        ("haw", "haw"),
        ("zh-Hant-TW", "zh"),
        ("und", None),
        ("x-klingon", None),
        ("english", None),
        ("", None),
        (None, None),
        ("{{lang}}", None),
        ("d\u00e9", None),
    ],
)
def test_the_primary_tag(tag: str | None, language: str | None) -> None:
    assert primary_tag(tag) == language


def test_an_unknown_hint_does_no_harm() -> None:
    assert language_of(SENTENCES["de"], "qqq") == "de"
    assert language_of(SENTENCES["de"], "\0" * 100) == "de"


@pytest.mark.parametrize(
    "mess", ["\0", "\x01\x7f\x9f", "\ud800", "\ufffe", "\U0010ffff", "\ufdd0", "\u202e"]
)
def test_characters_that_are_none_do_no_harm(mess: str) -> None:
    assert language_of(mess.join(SENTENCES["fr"].split(" ")) + " " + SENTENCES["fr"]) == "fr"


@pytest.mark.parametrize("text", ["a" * 3_000_000, "ab " * 1_000_000, "https://" * 300_000])
def test_a_long_text_takes_no_longer_than_its_sample(text: str) -> None:
    start = time.process_time()
    language_of(text)
    assert time.process_time() - start < 1
