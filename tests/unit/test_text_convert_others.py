"""OpenDocument, books, PDF, mail, feeds, drawings, other XML, JSON, and wrappings."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.text.convert import CONVERTERS, TEXTS, Refused, read_pdf, read_xml, read_zip
from asof.text.convert.found import cleaned, day_of, tag_of, tidied
from asof.text.document import Document
from support import office_files as office

# -- OpenDocument -----------------------------------------------------------------------------


def test_text_with_its_blanks_links_and_notes() -> None:
    body = (
        '<office:text><text:h>Head<text:tab/>line</text:h><text:p>One<text:s text:c="2"/>two'
        '<text:line-break/><text:a xlink:href="http://o.example/">three</text:a><text:note>'
        "<text:note-citation>1</text:note-citation><text:note-body><text:p>noted</text:p>"
        "</text:note-body></text:note> end</text:p></office:text>"
    )
    page = read_zip(office.odf(body))
    assert page.text == "Head\tline\nOne  two\nthree\nnoted\n end"
    assert page.links == ("http://o.example/",)
    assert (page.title, page.date, page.language) == ("A letter", "2021-03-04", "de-DE")


def test_deleted_text_is_gone() -> None:
    body = (
        "<office:text><text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        "<text:p>kept</text:p></office:text>"
    )
    assert read_zip(office.odf(body)).text == "kept"


def test_sheets_are_rows_of_cells() -> None:
    body = (
        '<office:spreadsheet><table:table table:name="Tab"><table:table-row><table:table-cell>'
        "<text:p>a</text:p></table:table-cell><table:table-cell/><table:table-cell>"
        "<text:p>b</text:p><text:p>c</text:p></table:table-cell></table:table-row>"
        '<table:table-row><table:table-cell office:value="7"/></table:table-row>'
        "</table:table></office:spreadsheet>"
    )
    assert read_zip(office.odf(body, kind="spreadsheet")).text == "Tab\na\t\tb c\n7"


def test_headers_of_text_documents_are_read_once() -> None:
    styles = (
        "<office:master-styles><style:master-page><style:header><text:p>Top</text:p></style:header>"
        "<style:header-left><text:p>Top</text:p></style:header-left></style:master-page>"
        "</office:master-styles>"
    )
    data = office.odf("<office:text><text:p>body</text:p></office:text>", styles=styles)
    assert read_zip(data).text == "body\nTop"


def test_flat_documents_and_forerunners() -> None:
    body = "<office:text><text:p>flat</text:p></office:text>"
    page = TEXTS["application/xml"](office.flat_odf(body).decode())
    assert (page.text, page.title) == ("flat", "A letter")
    old = office.odf("<text:p>older</text:p>").replace(
        b"oasis.opendocument.text", b"sun.xml.writer         "
    )
    assert read_zip(old).text == "older"


def test_an_encrypted_opendocument() -> None:
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    with pytest.raises(Refused, match="is encrypted"):
        read_zip(office.odf("", parts={"META-INF/manifest.xml": manifest}))


def test_a_part_that_is_not_where_the_directory_says_is_found() -> None:
    data = office.docx(office.paragraph("shifted"))
    place = data.index(b"PK\x01\x02")
    assert read_zip(data[:place] + b"more bytes " * 7 + data[place:]).text == "shifted"


# -- Books ------------------------------------------------------------------------------------


def test_chapters_come_in_reading_order() -> None:
    chapters = {
        "b.xhtml": "<p>Second chapter.</p>",
        "a.xhtml": '<p>First <a href="b.xhtml">c</a>.</p>',
    }
    page = read_zip(office.epub(chapters, spine=["a.xhtml", "b.xhtml"]))
    assert page.text.split("\n\n") == ["First c.", "Second chapter."]
    assert (page.title, page.language, page.date) == ("A book", "fr", "1999-12-31")
    assert page.links == ()


def test_a_locked_chapter_is_passed_over() -> None:
    lock = '<encryption><CipherReference URI="OEBPS/a.xhtml"/></encryption>'
    data = office.epub(
        {"a.xhtml": "<p>locked</p>", "b.xhtml": "<p>open</p>"},
        parts={"META-INF/encryption.xml": lock},
    )
    with pytest.raises(Refused, match="is encrypted") as refused:
        read_zip(data)
    assert refused.value.page.text == "open"


def test_a_book_without_a_container() -> None:
    with pytest.raises(Refused, match="without a package document"):
        read_zip(office.zipped({"mimetype": "application/epub+zip"}, stored=["mimetype"]))


# -- PDF --------------------------------------------------------------------------------------


def test_pages_of_a_pdf() -> None:
    page = read_pdf(
        office.pdf(["One line\nanother", "Two"], title="Of pages", link="http://p.example/")
    )
    assert page.text.split("\n") == ["One line", "another", "Two"]
    assert page.links == ("http://p.example/",)
    assert (page.title, page.date, page.language) == ("Of pages", "2022-03-04", "en-US")


@pytest.mark.parametrize("packed", [True, False])
def test_a_pdf_whose_table_is_lost_is_read(packed: bool) -> None:
    data = office.pdf(["Found anyway"], damaged=True, packed=packed)
    assert read_pdf(data).text == "Found anyway"
    assert read_pdf(b"\n\njunk before " + data).text == "Found anyway"


def test_ligatures_and_broken_words_are_mended() -> None:
    from asof.text.convert.pdf import _clean

    assert _clean("e\ufb03cient com\x02piler com\ufffe\r\npiler") == "efficient compiler compiler"


def test_a_pdf_of_pictures_says_that_it_has_no_text() -> None:
    with pytest.raises(Refused, match="has no text layer"):
        read_pdf(office.pdf([""]))


@pytest.mark.parametrize(
    ("title", "kept"), [("Untitled", None), ("untitled 1", None), ("x", None), ("A plan", "A plan")]
)
def test_names_that_programs_give_are_no_titles(title: str, kept: str | None) -> None:
    assert read_pdf(office.pdf(["text"], title=title)).title == kept


def test_what_is_no_pdf_inside() -> None:
    with pytest.raises(Refused, match="is damaged"):
        read_pdf(b"%PDF-1.4\nnothing")


# -- Mail -------------------------------------------------------------------------------------

MAIL = b"""From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>
To: somebody@example.org
Subject: =?iso-8859-1?q?Gr=FC=DFe?=
Date: Fri, 3 Mar 2023 10:00:00 +0100
"""
MIXED = (
    MAIL
    + b"""Content-Type: multipart/mixed; boundary=out

--out
Content-Type: multipart/alternative; boundary=in

--in
Content-Type: text/plain

plain body
--in
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

<p>rich b=F6dy <a href=3D"http://m.example/">x</a></p>
--in--
--out
Content-Type: application/pdf; name="report.pdf"
Content-Disposition: attachment; filename="report.pdf"
Content-Transfer-Encoding: base64

JVBERi0=
--out--
"""
)


def test_a_plain_message() -> None:
    page = CONVERTERS["message/rfc822"](MAIL + b"\nHello there.\n")
    assert page.title == "Grüße"
    assert page.date == "2023-03-03"
    assert "From: Jürgen <j@example.org>" in page.text
    assert page.text.endswith("Hello there.")


def test_of_alternatives_the_rich_one_and_names_of_attachments() -> None:
    page = CONVERTERS["message/rfc822"](MIXED)
    assert "rich bödy" in page.text
    assert "plain body" not in page.text
    assert "report.pdf" in page.text
    assert page.links == ("http://m.example/",)


def test_a_box_of_messages() -> None:
    box = b"From a Mon\n" + MAIL + b"\nOne\n>From here\n\nFrom b Tue\nSubject: second\n\nTwo\n"
    page = CONVERTERS["application/mbox"](box)
    assert "One\nFrom here" in page.text
    assert page.text.endswith("Two")
    assert page.title == "Grüße"


def test_a_saved_page() -> None:
    data = (
        b"From: <Saved by a browser>\nSubject: A page\nDate: Fri, 3 Mar 2023 10:00:00 +0100\n"
        b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n--b\n"
        b"Content-Type: text/html\n\n<p>Saved words</p>\n--b\n"
        b"Content-Type: image/png\n\nxx\n--b--\n"
    )
    page = CONVERTERS["multipart/related"](data)
    assert (page.title, page.date, page.text) == ("A page", "2023-03-03", "Saved words")


@given(st.binary(max_size=400))
def test_mail_of_any_bytes(noise: bytes) -> None:
    assert reason_or_method(CONVERTERS["message/rfc822"], MIXED[:200] + noise + MIXED[200:])


def reason_or_method(read: Callable[[bytes], Document], data: bytes) -> str:
    try:
        return read(data).method
    except Refused as refused:
        return refused.reason


# -- Feeds, drawings, XML ---------------------------------------------------------------------

RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>News &amp; more</title>
<link>http://n.example/</link><language>en-us</language><item><title>One</title>
<link>http://n.example/1</link><guid>http://n.example/1</guid>
<pubDate>Sat, 04 Mar 2023 00:00:00 GMT</pubDate>
<description>&lt;p&gt;Some &lt;b&gt;bold&lt;/b&gt; words&lt;/p&gt;</description></item>
<item><title><![CDATA[Two <i>it</i>]]></title><content:encoded><![CDATA[<p>More</p><p>words</p>]]>
</content:encoded></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title>Notizen</title>
<entry><title>Eins</title><link href="http://a.example/1"/><updated>2022-01-02T00:00:00Z</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Erster</p><p>Absatz</p></div>
</content></entry></feed>"""


def test_an_rss_feed() -> None:
    page = TEXTS["application/rss+xml"](RSS)
    assert page.text.splitlines() == [
        *("News & more", "One", "Some bold words", "Two it", "More", "words")
    ]
    assert (page.title, page.date, page.language) == ("News & more", "2023-03-04", "en-us")
    assert page.links == ("http://n.example/", "http://n.example/1")


def test_an_atom_feed() -> None:
    page = read_xml(ATOM)
    assert page.text.splitlines() == ["Notizen", "Eins", "Erster", "Absatz"]
    assert (page.title, page.date, page.language) == ("Notizen", "2022-01-02", "de")
    assert page.links == ("http://a.example/1",)


def test_a_json_feed() -> None:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Feed",
        "items": [
            {"id": "1", "url": "http://j.example/1", "title": "A", "content_html": "<p>b</p>c"},
            {"id": "2", "content_text": "d"},
            "no item",
        ],
    }
    page = TEXTS["application/feed+json"](json.dumps(feed))
    assert page.text.split() == ["Feed", "A", "b", "c", "d"]
    assert page.links == ("http://j.example/1",)


def test_a_drawing() -> None:
    page = TEXTS["image/svg+xml"](
        '<svg xmlns="http://www.w3.org/2000/svg"><title>Map</title><style>.a{}</style>'
        '<a xlink:href="http://s.example/"><text>Here <tspan>be</tspan></text></a>'
        "<text>dragons</text></svg>"
    )
    assert (page.title, page.text) == ("Map", "Map\nHere be\ndragons")
    assert page.links == ("http://s.example/",)


def test_any_other_xml() -> None:
    page = read_xml(
        '<book xml:lang="en"><info><title>T</title></info><p>a <em>b</em> &lt;c&gt;</p></book>'
    )
    assert (page.title, page.text, page.language) == ("T", "T\na b <c>", "en")
    assert read_xml("<a><b>never closed").text == "never closed"


def test_word_and_excel_of_2003() -> None:
    word = (
        '<w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml" '
        'xmlns:o="urn:schemas-microsoft-com:office:office"><o:DocumentProperties><o:Title>W</o:Title>'
        "</o:DocumentProperties><w:body><w:p><w:r><w:t>words</w:t></w:r></w:p></w:body></w:wordDocument>"
    )
    page = read_xml(word)
    assert (page.title, page.text) == ("W", "words")
    excel = (
        '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" '
        'xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="S">'
        "<Table><Row>"
        '<Cell ss:HRef="http://e.example/"><Data>a</Data></Cell><Cell><Data>1</Data></Cell></Row>'
        "</Table></Worksheet></Workbook>"
    )
    page = read_xml(excel)
    assert (page.text, page.links) == ("S\na\t1", ("http://e.example/",))


@given(st.text(max_size=300))
def test_xml_of_any_characters(text: str) -> None:
    assert read_xml(text).method == "xml"


# -- JSON and plain text ----------------------------------------------------------------------


def test_strings_of_json() -> None:
    read = TEXTS["application/json"]
    assert read('{"a": ["x", {"b": "y", "n": 1}], "c": "z"}').text == "x\ny\nz"
    assert read('{"a": 1}\n{"a": 2}').text == '{"a": 1}\n{"a": 2}'


@given(
    st.recursive(
        st.none() | st.integers() | st.text("ab é"),
        lambda of: st.lists(of) | st.dictionaries(st.text("k"), of),
    )
)
def test_all_words_of_json_are_found(value: object) -> None:
    def words(item: object) -> list[str]:
        if isinstance(item, str):
            return item.split()
        inner = list(item.values()) if isinstance(item, dict) else item
        return [word for each in inner for word in words(each)] if isinstance(inner, list) else []

    assert TEXTS["application/json"](json.dumps(value)).text.split() == words(value)


# -- Wrappings --------------------------------------------------------------------------------


def test_a_gzipped_document() -> None:
    read = CONVERTERS["application/gzip"]
    page = read(gzip.compress(office.docx(office.paragraph("inside"))))
    assert (page.text, page.title) == ("inside", "A report")
    assert read(gzip.compress(b"one ") + gzip.compress(b"two") + b"\0\0").text == "one two"
    with pytest.raises(Refused, match="damaged gzip"):
        read(b"\x1f\x8b nothing of the kind")


def test_an_archive_of_documents() -> None:
    data = office.zipped(
        {
            "a.txt": "plain",
            "folder/b.docx": office.docx(office.paragraph("word")),
            "c.png": b"\x89PNG\r\n\x1a\n",
        }
    )
    page = read_zip(data)
    assert page.text.split() == ["a.txt", "plain", "folder/b.docx", "word", "c.png"]


# -- What all share ---------------------------------------------------------------------------


@given(st.text())
def test_clean_text_can_be_stored_and_is_clean(text: str) -> None:
    clean = cleaned(text + "\ud800\x00")
    clean.encode("utf-8")
    assert cleaned(clean) == clean
    assert "\r" not in clean


def test_tidy_text() -> None:
    assert tidied("\n\n a \t\n\n\n\n\nb\r\nc\x0bd \n") == " a\n\nb\nc\nd"


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2020-05-06T07:08:09Z", "2020-05-06"),
        (" 2020-05-06", "2020-05-06"),
        ("1601-01-01T00:00:00Z", None),
        ("2020-13-01", None),
        ("2020-00-00", None),
        ("May 2020", None),
        (None, None),
    ],
)
def test_days(value: str | None, day: str | None) -> None:
    assert day_of(value) == day


@pytest.mark.parametrize(
    ("value", "tag"),
    [("en", "en"), ("en_US", "en-US"), ("zh-Hant-TW", "zh-Hant-TW"), ("x", None), ("", None)],
)
def test_language_tags(value: str, tag: str | None) -> None:
    assert tag_of(value) == tag
