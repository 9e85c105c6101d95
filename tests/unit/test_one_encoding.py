"""A page has one encoding: links, text and replay read the same characters in it."""

from __future__ import annotations

import codecs
from urllib.parse import unquote

import pytest

from asof.crawl.discover import references
from asof.replay.links import ReplayPlace
from asof.replay.rewrite import kind_of, rewrite
from asof.text.read import read

RUSSIAN = "Рано утром старый рыбак вышел в море на своей лодке и вернулся только на закате"
WORD = "рыбак"


def by_links(data: bytes, declared: str, media_type: str = "text/html") -> str:
    headers = (("Content-Type", declared),)
    return references(media_type, data, headers=headers).found[0].reference.strip("/")


def by_replay(data: bytes, declared: str, media_type: str = "text/html") -> str:
    led: list[str] = []
    kind = kind_of(media_type)
    assert kind is not None

    def leads(url: str) -> str:
        led.append(url)
        return "/x"

    rewrite(data, kind, declared, ReplayPlace("http://a.test/", leads))
    return unquote(led[0]).removeprefix("http://a.test/")


def by_text(data: bytes, declared: str) -> str:
    words = read(data, declared).text.split()
    return words[words.index("here:") + 1]


def page(word: bytes, *, head: bytes = b"", prose: bytes = b"") -> bytes:
    return b"%s<title>t</title><body><p>%s</p><p>here: %s</p><a href='/%s'>more</a></body>" % (
        head,
        prose,
        word,
        word,
    )


def russian(codec: str, head: bytes = b"") -> bytes:
    return page(WORD.encode(codec), head=head, prose=RUSSIAN.encode(codec))


PLAIN = "text/html"
WESTERN = "caf\xe9".encode("cp1252")
ODD = [
    ("meta in a comment", russian("koi8-r", b"<!-- <meta charset=windows-1251> -->"), PLAIN),
    ("meta in an attribute", russian("koi8-r", b'<p title="<meta charset=windows-1251>">'), PLAIN),
    (
        "meta in a comment, then another",
        russian("koi8-r", b"<!-- <meta charset=big5> --><meta charset=koi8-r>"),
        PLAIN,
    ),
    ("meta after 1,024 bytes", russian("koi8-r", b" " * 2000 + b"<meta charset=koi8-r>"), PLAIN),
    ("meta after 4,096 bytes", russian("koi8-r", b" " * 5000 + b"<meta charset=koi8-r>"), PLAIN),
    ("meta says UTF-16", russian("utf-8", b"<meta charset=utf-16>"), PLAIN),
    ("meta says UTF-16 of a Russian page", russian("koi8-r", b"<meta charset=utf-16>"), PLAIN),
    ("meta says x-user-defined", page(WESTERN, head=b"<meta charset=x-user-defined>"), PLAIN),
    ("HTTP says x-user-defined", page(WESTERN), "text/html; charset=x-user-defined"),
    (
        "an XML declaration in HTML",
        russian("koi8-r", b'<?xml version="1.0" encoding="koi8-r"?>'),
        PLAIN,
    ),
    ("HTTP against meta", russian("koi8-r", b"<meta charset=big5>"), "text/html; charset=koi8-r"),
    (
        "HTTP cannot be true, meta can",
        russian("koi8-r", b"<meta charset=koi8-r>"),
        "text/html; charset=utf-8",
    ),
    ("HTTP says Latin 1 of everything", russian("koi8-r"), "text/html; charset=ISO-8859-1"),
    ("HTTP says Latin 1 of UTF-8", russian("utf-8"), "text/html; charset=ISO-8859-1"),
    ("HTTP quotes with apostrophes", russian("koi8-r"), "text/html; charset='koi8-r'"),
    ("HTTP names two", russian("koi8-r"), 'text/html; x="charset=big5"; charset=koi8-r'),
    ("a mark against HTTP", codecs.BOM_UTF8 + russian("utf-8"), "text/html; charset=koi8-r"),
    (
        "UTF-16 with a mark against HTTP",
        codecs.BOM_UTF16_BE + russian("utf-8").decode().encode("utf-16-be"),
        "text/html; charset=koi8-r",
    ),
    ("UTF-16 without a mark", russian("utf-8").decode().encode("utf-16-le"), PLAIN),
    ("UTF-32 without a mark", russian("utf-8").decode().encode("utf-32-be"), PLAIN),
    ("nothing is said, Russian", russian("koi8-r"), PLAIN),
    ("nothing is said, Russian of Windows", russian("windows-1251"), PLAIN),
    ("nothing is said, UTF-8", russian("utf-8"), PLAIN),
    ("nothing is said, one letter", page(WESTERN), PLAIN),
    ("a wave dash in EUC-JP", page(b"\xa1\xc1", head=b"<meta charset=euc-jp>"), PLAIN),
    (
        "Japanese by escapes",
        page("海".encode("iso2022_jp"), prose="年を取った漁師は小さな舟で".encode("iso2022_jp")),
        PLAIN,
    ),
    (
        "an encoding that browsers do not know",
        page("é".encode("cp850")),
        "text/html; charset=ibm850",
    ),
]


@pytest.mark.parametrize(("data", "declared"), [case[1:] for case in ODD], ids=[c[0] for c in ODD])
def test_links_text_and_replay_read_the_same_in_an_odd_page(data: bytes, declared: str) -> None:
    seen = by_text(data, declared)
    assert (by_links(data, declared), by_replay(data, declared)) == (seen, seen)
    assert "�" not in seen


@pytest.mark.parametrize(
    ("head", "declared", "codec"),
    [
        (b'@charset "koi8-r";', "text/css", "koi8-r"),
        (b'@charset "utf-16";', "text/css", "utf-8"),
        (b" @charset 'koi8-r';", "text/css", "windows-1251"),
        (b'@charset "big5";', "text/css; charset=koi8-r", "koi8-r"),
        (codecs.BOM_UTF8 + b'@charset "koi8-r";', "text/css", "utf-8"),
        (b'<meta charset="big5">', "text/css", "koi8-r"),
        (b"", "text/css", "windows-1251"),
    ],
)
def test_links_and_replay_read_the_same_in_a_style_sheet(
    head: bytes, declared: str, codec: str
) -> None:
    sheet = b"%s/* %s */ p { background: url(%s) }"
    data = sheet % (head, RUSSIAN.encode(codec), WORD.encode(codec))
    assert by_links(data, declared, "text/css") == WORD
    assert by_replay(data, declared, "text/css") == WORD
    assert WORD in read(data, declared).text


@pytest.mark.parametrize("codec", ["koi8-r", "windows-1251"])
def test_replay_tells_the_browser_what_it_has_detected(codec: str) -> None:
    kind = kind_of("text/html")
    assert kind is not None
    place = ReplayPlace("http://a.test/", lambda url: "/x")
    assert rewrite(russian(codec), kind, "text/html", place).charset == codec
    assert rewrite(russian(codec), kind, f"text/html; charset={codec}", place).charset is None
