# ruff: noqa: RUF001 (letters of many scripts)
"""Which characters bytes stand for: tables, the prescan, claims, detection, decoding."""

from __future__ import annotations

import codecs

import pytest
from webencodings import LABELS

from asof.text.encoding.charset import Charset, charset_of, decoded
from asof.text.encoding.decoders import decode_as
from asof.text.encoding.detection import passages
from asof.text.encoding.labels import CODECS, encoding_named
from asof.text.encoding.prescan import declared_label, pragma_label, prescan, xml_encoding

# One paragraph each, written for these tests: an old harbour, a market, a winter.
TEXTS = {
    "ar": (
        "في الصباح الباكر خرج الصياد إلى البحر ومعه شبكة قديمة وخبز قليل، ولم يعد إلا "
        "مع غروب الشمس."
    ),
    "bg": (
        "Рано сутринта старият рибар излезе в морето с лодката си и се върна чак "
        "когато слънцето залезе."
    ),
    "cs": (
        "Časně ráno vyrazil starý rybář na moře se svou lodí a vrátil se, až když "
        "slunce zapadlo za kopce. Příště prý vezme i vnuka, který už umí vázat uzly a "
        "řídit člun."
    ),
    "da": (
        "Tidligt om morgenen sejlede den gamle fisker ud på søen, og først da solen "
        "gik ned, så vi båden igen nær øen med måger omkring."
    ),
    "de": (
        "Früh am Morgen fuhr der alte Fischer hinaus, und erst als die Sonne "
        "unterging, kam er mit müden Händen und einem großen Korb zurück. Später aßen "
        "wir süße Äpfel."
    ),
    "el": (
        "Νωρίς το πρωί ο γέρος ψαράς βγήκε στη θάλασσα με τη βάρκα του και γύρισε μόνο "
        "όταν έδυσε ο ήλιος."
    ),
    "es": (
        "Muy temprano el viejo pescador salió al mar con su pequeña barca y no volvió "
        "hasta la puesta del sol; mañana irá también su niño."
    ),
    "fr": (
        "Très tôt le matin, le vieux pêcheur est parti en mer, et il n'est revenu qu'à "
        "la tombée de la nuit, épuisé mais content de sa journée là-bas."
    ),
    "he": ("מוקדם בבוקר יצא הדייג הזקן אל הים עם סירתו הקטנה וחזר רק כאשר השמש שקעה מאחורי ההרים."),
    "hu": (
        "Kora reggel az öreg halász kihajózott a tengerre, és csak akkor tért vissza, "
        "amikor a nap már lenyugodott a hegyek mögött. Az őszi szőlőt is ő szüretelte."
    ),
    "ja": (
        "朝早く、年を取った漁師は小さな舟で海に出ました。夕日が山の向こうに沈むころ、や"
        "っと港に帰ってきました。"
    ),
    "ko": (
        "이른 아침 늙은 어부는 작은 배를 타고 바다로 나갔다가 해가 산 너머로 질 때에야 "
        "항구로 돌아왔습니다."
    ),
    "pl": (
        "Wcześnie rano stary rybak wypłynął w morze swoją łodzią i wrócił dopiero, gdy "
        "słońce zaszło za wzgórza. Później jedliśmy świeże śledzie."
    ),
    "ru": (
        "Рано утром старый рыбак вышел в море на своей лодке и вернулся только тогда, "
        "когда солнце село за горы."
    ),
    "th": ("ตอนเช้าตรู่ชายประมงชราออกเรือไปในทะเลและกลับมาเมื่อดวงอาทิตย์ตกหลังภูเขา"),
    "tr": (
        "Sabah erkenden yaşlı balıkçı küçük kayığıyla denize açıldı ve ancak güneş "
        "dağların ardında batınca döndü. Çocuklar onu iskelede bekliyordu, ışıklar "
        "yanıyordu."
    ),
    "uk": (
        "Рано-вранці старий рибалка вийшов у море на своєму човні й повернувся лише "
        "тоді, коли сонце сіло за гори. Їхній онук уже вміє в'язати вузли."
    ),
    "zh-hans": (
        "清晨，老渔夫驾着小船出海，直到太阳落到山后才回到港口。市场上的人们都在等他带回来的鱼。"
    ),
    "zh-hant": (
        "清晨，老漁夫駕著小船出海，直到太陽落到山後才回到港口。市場上的人們都在等他帶回來的魚。"
    ),
}
LEGACY = [
    ("ar", "windows-1256"),
    ("ar", "iso-8859-6"),
    ("bg", "windows-1251"),
    ("cs", "windows-1250"),
    ("cs", "iso-8859-2"),
    ("de", "windows-1252"),
    ("el", "windows-1253"),
    ("el", "iso-8859-7"),
    ("fr", "windows-1252"),
    ("he", "windows-1255"),
    ("hu", "iso-8859-2"),
    ("ja", "shift_jis"),
    ("ja", "euc-jp"),
    ("ja", "iso-2022-jp"),
    ("ko", "euc-kr"),
    ("pl", "windows-1250"),
    ("pl", "iso-8859-2"),
    ("ru", "windows-1251"),
    ("ru", "koi8-r"),
    ("ru", "iso-8859-5"),
    ("ru", "ibm866"),
    ("ru", "x-mac-cyrillic"),
    ("th", "windows-874"),
    ("tr", "windows-1254"),
    ("uk", "koi8-u"),
    ("uk", "windows-1251"),
    ("zh-hans", "gbk"),
    ("zh-hans", "gb18030"),
    ("zh-hant", "big5"),
]
PAGE = (
    b"<!DOCTYPE html><html><head><title>x</title><script>var a = function (b) { return b + 1 }"
    b"</script></head><body>%s<p>%%s</p></body></html>"
    % b"".join(b'<li><a href="/page/%d.html">Item %d</a></li>\n' % (i, i) for i in range(150))
)


def encoded(language: str, name: str) -> bytes:
    return TEXTS[language].replace("\u2019", "'").encode(CODECS[name])


def test_all_labels_of_the_standard_are_known() -> None:
    assert len(LABELS) == 228
    assert len(set(LABELS.values())) == 40


def test_every_encoding_has_a_codec_that_python_knows_by_that_name() -> None:
    for name, codec in CODECS.items():
        assert codecs.lookup(codec).name == codec, name


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("ISO-8859-1", "windows-1252"),
        ("  latin1\t", "windows-1252"),
        ("us-ascii", "windows-1252"),
        ("x-sjis", "shift_jis"),
        ("ks_c_5601-1987", "euc-kr"),
        ("GB2312", "gbk"),
        ("unicode", "utf-16le"),
        ("hz-gb-2312", "replacement"),
        ("logical", "iso-8859-8-i"),
        ("utf-7", None),
        ("utf-32", None),
        ("\xa0utf-8", None),
        ("\u212aoi8-r", None),
        ("", None),
    ],
)
def test_a_label_means_what_it_means_to_a_browser(label: str, name: str | None) -> None:
    assert encoding_named(label) == name


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("windows-1252", b"\x80\x81\x8d\x9f", "\u20ac\x81\x8d\u0178"),
        ("windows-1253", b"\xaa\xd2", "\ufffd\ufffd"),
        ("windows-1255", b"\xca\xd9", "\u05ba\ufffd"),
        ("windows-874", b"\x80\x81\xdb", "\u20ac\x81\ufffd"),
        ("koi8-u", b"\xae\xbe\xa4", "\u045e\u040e\u0454"),
        ("macintosh", b"\xdb\xf0", "\u20ac\uf8ff"),
        ("x-mac-cyrillic", b"\xa2\xff", "\u0490\u20ac"),
        ("iso-8859-8-i", b"\xe0\xa1", "\u05d0\ufffd"),
        ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
        ("replacement", b"anything", "\ufffd"),
        ("replacement", b"", ""),
        ("shift_jis", b"\x81\x60\x5c\xb1\xf0\x40", "\uff5e\\\uff71\ue000"),
        ("shift_jis", b"\x80\xa0\xfd\xff", "\x80\ufffd\ufffd\ufffd"),
        ("euc-jp", b"\xad\xa1\xa1\xc1\x8e\xb1", "\u2460\uff5e\uff71"),
        ("euc-jp", b"\x8f\xa2\xb7~\x8f\xb0\xa1", "\uff5e~\u4e02"),
        ("iso-2022-jp", b'\x1b$B$"\x1b(J\\~\x1b(I1\x1b(Ba', "\u3042\xa5\u203e\uff71a"),
        ("iso-2022-jp", b"\x1b$B\x1b(Ba\x0e", "\ufffda\ufffd"),
        ("iso-2022-jp", b"\x1b$B$", "\ufffd"),
        ("euc-kr", b"\xb0\xa1\x81\x41", "\uac00\uac02"),
        ("gbk", b"\x80\xa3\xa0\xa8\xbc", "\u20ac\u3000\u1e3f"),
        ("gb18030", b"\x81\x35\xf4\x37\x90\x30\x81\x30", "\ue7c7\U00010000"),
        ("gb18030", b"\x84\x31\xa5\x30<", "\ufffd<"),
        ("big5", b"\xa3\xe1\x87\x7a\xa1\x45", "\u20ac\u3875\u2027"),
        ("big5", b"\x88\x62\x88\xa5", "\xca\u0304\xea\u030c"),
        ("utf-16le", b"a\0\x00\xd8b\0c", "a\ufffdb\ufffd"),
    ],
)
def test_bytes_are_read_as_browsers_read_them(name: str, data: bytes, text: str) -> None:
    assert decode_as(data, name) == text


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("big5", b"\xa4\x22", '\ufffd"'),
        ("shift_jis", b"\x81<b>", "\ufffd<b>"),
        ("euc-kr", b"\xb0\n", "\ufffd\n"),
        ("gbk", b"\xb0\xff<", "\ufffd<"),
        ("gb18030", b"\x81\x30", "\ufffd"),
        ("gb18030", b"\x81\x30<", "\ufffd0<"),
        ("euc-jp", b"\x8f\xa1<", "\ufffd<"),
        ("euc-jp", b"\xb0", "\ufffd"),
    ],
)
def test_an_error_swallows_no_ascii(name: str, data: bytes, text: str) -> None:
    """A lead byte before markup must not eat it: pages were attacked that way."""
    assert decode_as(data, name) == text


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b'<meta charset="koi8-r">', "koi8-r"),
        (b"<META CHARSET=koi8-r >", "koi8-r"),
        (b"<meta/charset='koi8-r'/>", "koi8-r"),
        (b"<metacharset=koi8-r>", None),
        (b"<meta charset=koi8-r", None),
        (b"<meta charset='koi8-r>", None),
        (b'<meta content="text/html; charset=koi8-r">', None),
        (b'<meta content="text/html; charset=koi8-r" http-equiv=Content-Type>', "koi8-r"),
        (b"<meta http-equiv=content-type content='charset = \"koi8-r\"'>", "koi8-r"),
        (b"<meta http-equiv=content-type content='x; charset=\"koi8-r; charset=big5'>", None),
        (b"<meta charset=nonsense http-equiv=content-type content='charset=big5'>", None),
        (b"<meta charset=koi8-r charset=big5>", "koi8-r"),
        (b"<!-- <meta charset=big5> --><meta charset=koi8-r>", "koi8-r"),
        (b"<!--><meta charset=koi8-r>", "koi8-r"),
        (b"<p title='<meta charset=big5>'><meta charset=koi8-r>", "koi8-r"),
        (b"<a <meta charset=big5>><meta charset=koi8-r>", "koi8-r"),
        (b"<!doctype html><?pi <meta charset=big5><meta charset=koi8-r>", "koi8-r"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta charset=bogus><meta charset=koi8-r>", "koi8-r"),
        (b'<?xml version="1.0" encoding="koi8-r"?><p>', "koi8-r"),
        (b'<?xml encoding="koi8-r"?><meta charset=big5>', "big5"),
        (b'<?xml version="1.0" encoding="utf-16"?>', "utf-8"),
        (b"<\0?\0x\0m\0l\0", "utf-16le"),
        (b"\0<\0?\0x\0m\0l", "utf-16be"),
        (b"", None),
    ],
)
def test_the_prescan_finds_what_the_standard_finds(head: bytes, name: str | None) -> None:
    assert prescan(head) == name


def test_a_label_far_from_the_begin_is_not_looked_for() -> None:
    assert prescan(b" " * 9000 + b"<meta charset=koi8-r>") is None
    assert prescan(b" " * 2000 + b"<meta charset=koi8-r>") == "koi8-r"


def test_the_xml_declaration_has_to_stand_first() -> None:
    assert xml_encoding(b"<?xml version='1.0' encoding = 'big5' ?>") == "big5"
    assert xml_encoding(b" <?xml version='1.0' encoding='big5'?>") is None


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("text/html; charset=utf-8", "utf-8"),
        ('text/html;charset="Big5" ; q=1', "Big5"),
        ("text/html; CHARSET='koi8-r'", "koi8-r"),
        ("text/html; x=charset; charset=a; charset=b", "a"),
        ("text/html", None),
        ("text/html; charset=", None),
        ("charset=utf-8", "utf-8"),
        ("koi8-r", "koi8-r"),
        (" ", None),
        ("text/html; charset=" + "x" * 2000, None),
    ],
)
def test_the_charset_of_a_content_type(value: str, label: str | None) -> None:
    assert declared_label(value) == label


def test_a_pragma_without_a_charset_says_nothing() -> None:
    assert pragma_label("text/html") is None
    assert pragma_label("text/html; charset") is None
    assert pragma_label("charsetx=1; charset=big5; more") == "big5"


@pytest.mark.parametrize(
    ("bom", "codec", "name"),
    [
        (codecs.BOM_UTF8, "utf-8", "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16le"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16be"),
        (codecs.BOM_UTF32_LE, "utf-32-le", "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be", "utf-32-be"),
    ],
)
def test_a_mark_outweighs_what_is_declared(bom: bytes, codec: str, name: str) -> None:
    data = bom + TEXTS["cs"].encode(codec)
    found = charset_of(data, "text/html; charset=koi8-r")
    assert (found.name, found.source, found.confidence) == (name, "bom", 1.0)
    assert decoded(data, found) == TEXTS["cs"]


@pytest.mark.parametrize(("language", "name"), LEGACY, ids=lambda value: str(value))
def test_an_undeclared_text_is_detected(language: str, name: str) -> None:
    data = encoded(language, name)
    assert decoded(data, charset_of(data)) == TEXTS[language]


@pytest.mark.parametrize(("language", "name"), LEGACY, ids=lambda value: str(value))
def test_a_few_words_among_much_markup_are_enough(language: str, name: str) -> None:
    data = PAGE % encoded(language, name)
    assert TEXTS[language] in decoded(data, charset_of(data))


@pytest.mark.parametrize(("language", "name"), LEGACY, ids=lambda value: str(value))
def test_a_true_label_is_believed(language: str, name: str) -> None:
    data = encoded(language, name)
    found = charset_of(data, f"text/html; charset={name}")
    assert decoded(data, found) == TEXTS[language]


@pytest.mark.parametrize(
    ("language", "name"),
    [pair for pair in LEGACY if pair[1] != "windows-1252" and pair[0] not in ("hu", "th")],
    ids=lambda value: str(value),
)
def test_a_server_that_says_latin_1_of_everything_is_not_believed(language: str, name: str) -> None:
    data = PAGE % encoded(language, name)
    found = charset_of(data, "text/html; charset=ISO-8859-1")
    assert TEXTS[language] in decoded(data, found)


def test_western_text_that_is_declared_as_such_stays_so() -> None:
    for language in ("de", "fr", "es", "da"):
        data = encoded(language, "windows-1252")
        found = charset_of(data, "iso-8859-1")
        assert (found.name, found.source) == ("windows-1252", "http")


@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1251", "shift_jis", "gb2312", None])
def test_utf_8_shows_itself(declared: str | None) -> None:
    for language in ("cs", "ja", "fr", "ru"):
        data = TEXTS[language].encode()
        found = charset_of(data, declared)
        assert (found.name, found.source) == ("utf-8", "utf-8")
        assert found.confidence > 0.9


def test_one_sequence_by_chance_does_not_outweigh_a_chinese_label() -> None:
    data = "联通".encode("gbk")
    assert data.decode("utf-8", "replace") != "联通"
    pair = b"\xc3\xa9"  # one character in UTF-8, one in GBK
    assert charset_of(pair, "gbk").name == "gbk"
    assert charset_of(pair, "windows-1252").name == "utf-8"


def test_a_text_that_says_utf_8_and_is_not() -> None:
    data = encoded("fr", "windows-1252")
    found = charset_of(data, "text/plain; charset=utf-8")
    assert (found.name, found.source) == ("windows-1252", "detected")
    assert decoded(data, found) == TEXTS["fr"]


def test_utf_8_with_a_foreign_part_stays_utf_8_with_less_confidence() -> None:
    data = TEXTS["cs"].encode() + b" caf\xe9."
    found = charset_of(data, "utf-8")
    assert found.name == "utf-8"
    assert found.confidence < 0.9
    assert decoded(data, found) == TEXTS["cs"] + " caf\ufffd."


def test_a_character_that_was_cut_off_at_the_end_is_forgiven() -> None:
    data = TEXTS["ru"].encode()[:-1]
    assert charset_of(data).name == "utf-8"


def test_the_documents_own_word_counts_where_http_cannot_be_true() -> None:
    data = b"<meta charset=koi8-r>" + encoded("ru", "koi8-r")
    found = charset_of(data, "text/html; charset=utf-8")
    assert (found.name, found.source) == ("koi8-r", "document")
    found = charset_of(data, "text/html; charset=iso-8859-1")
    assert (found.name, found.source) == ("koi8-r", "document")


def test_plain_text_names_no_encoding_of_itself() -> None:
    data = b"<meta charset=koi8-r>" + encoded("fr", "windows-1252")
    assert charset_of(data, markup=False).name == "windows-1252"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_text_without_a_mark(codec: str) -> None:
    for language in ("de", "ru", "ja"):
        data = (TEXTS[language] + "\n" + "abc def " * 4).encode(codec)
        found = charset_of(data, "text/html; charset=iso-8859-1")
        assert (found.codec, found.source) == (codec, "shape")


def test_escapes_are_seen_whatever_is_declared() -> None:
    data = TEXTS["ja"].encode("iso2022_jp")
    found = charset_of(b" " * 20_000 + data, "us-ascii")
    assert (found.name, found.source) == ("iso-2022-jp", "shape")
    korean = TEXTS["ko"].encode("iso2022_kr")
    found = charset_of(korean, "iso-2022-kr")
    assert decoded(korean, found) == TEXTS["ko"]


def test_hz_is_read_unless_another_encoding_is_claimed() -> None:
    data = TEXTS["zh-hans"].encode("hz")
    assert decoded(data, charset_of(data)) == TEXTS["zh-hans"]
    assert charset_of(b"if (a ~{ b ~}) return; " * 4, "utf-8").name == "utf-8"


def test_an_encoding_that_browsers_do_not_read_is_read_if_it_is_declared() -> None:
    data = "Früh übt sich".encode("cp850")
    found = charset_of(data, "text/plain; charset=ibm850")
    assert decoded(data, found) == "Früh übt sich"


def test_ascii_is_what_it_is_declared_as() -> None:
    assert charset_of(b"plain") == Charset("utf-8", "utf-8", 1.0, "ascii")
    assert charset_of(b"plain", "koi8-r").name == "koi8-r"
    assert charset_of(b"plain", "utf-16").name == "utf-8"
    assert charset_of(b"plain", "rot13").name == "utf-8"
    assert charset_of(b"").confidence == 0.0


def test_passages_are_the_parts_beyond_ascii() -> None:
    assert passages(b'<a href="x">caf\xe9 noir</a>\nplain\n"\xe8"') == b"caf\xe9 noir\n\xe8"


def test_detection_looks_at_bounded_parts() -> None:
    data = b"a" * 3_000_000 + encoded("ru", "windows-1251")
    assert decoded(data, charset_of(data)).endswith(TEXTS["ru"])
    assert len(passages(encoded("ru", "windows-1251") * 10_000)) < 40_000


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("url(url(\0é".encode(), "utf-8"),
        (bytes((0, 0, 0, 1, 0, 1, 0, 1, 0, 1)), "utf-8"),
        ("Früh\0 am Morgen \x1b$ ging".encode(), "utf-8"),
    ],
)
def test_a_stray_nul_or_escape_makes_no_wide_text(data: bytes, name: str) -> None:
    assert charset_of(data, "utf-8").name == name
