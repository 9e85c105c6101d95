"""Office Open XML: what a person sees in a DOCX, PPTX or XLSX, and nothing else."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.text.convert import CONVERTERS, Refused, read_zip
from asof.text.convert.cells import Style, rk, shown, style_of
from asof.text.convert.found import field_links
from asof.text.convert.xlsb import records
from support import office_files as office

P = office.paragraph
WORDS = st.text(st.characters(categories=("L", "N"), include_characters=" "), min_size=1)


# -- DOCX -------------------------------------------------------------------------------------


def text_of(data: bytes) -> str:
    return read_zip(data).text


def test_paragraphs_are_lines_and_runs_are_joined() -> None:
    page = read_zip(office.docx(P("One ", "line") + P("Another")))
    assert page.text == page.main == "One line\nAnother"
    assert (page.title, page.date, page.language) == ("A report", "2020-05-06", "en-GB")
    assert page.method == "docx"


@given(st.lists(WORDS, min_size=1, max_size=5))
def test_what_is_written_is_read(lines: list[str]) -> None:
    text = text_of(office.docx("".join(map(P, lines))))
    assert text.split() == " ".join(lines).split()


def test_strict_documents_have_other_namespaces_and_the_same_words() -> None:
    assert text_of(office.docx(P("Strictly"), strict=True)) == "Strictly"


def test_tables_have_a_line_for_each_row() -> None:
    def row(*cells: str) -> str:
        return "<w:tr>" + "".join(f"<w:tc>{cell}</w:tc>" for cell in cells) + "</w:tr>"

    table = f"<w:tbl>{row(P('a'), P('b'))}{row(P(), P('d'))}</w:tbl>"
    assert text_of(office.docx(P("before") + table + P("after"))) == "before\na\tb\n\td\nafter"


def test_marks_inside_a_run_are_characters() -> None:
    run = "<w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/>"
    assert text_of(office.docx(f"<w:p><w:r>{run}</w:r></w:p>")) == "a\tb\nc\u2011"


def test_tab_stops_are_no_tabs() -> None:
    stops = (
        '<w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:r><w:t>x</w:t></w:r></w:p>'
    )
    assert text_of(office.docx(stops)) == "x"


def test_deleted_and_moved_words_are_gone() -> None:
    body = (
        "<w:p><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>inserted</w:t></w:r></w:ins></w:p>"
        "<w:p><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom></w:p>"
        "<w:p><w:moveTo><w:r><w:t>moved</w:t></w:r></w:moveTo></w:p>"
    )
    assert text_of(office.docx(body)) == "inserted\nmoved"


def test_of_alternatives_one_is_read() -> None:
    box = "<w:p><w:r><w:t>box</w:t></w:r></w:p>"
    body = (
        "<w:p><w:r><mc:AlternateContent><mc:Choice>"
        + box
        + "</mc:Choice><mc:Fallback>"
        + box
        + "</mc:Fallback></mc:AlternateContent></w:r><w:r><w:t>around</w:t></w:r></w:p>"
        "<mc:AlternateContent><mc:Fallback>" + P("only") + "</mc:Fallback></mc:AlternateContent>"
    )
    assert text_of(office.docx(body)) == "box\naround\nonly"


def test_links_come_from_relations_and_from_fields() -> None:
    body = (
        '<w:p><w:hyperlink r:id="h1"><w:r><w:t>one</w:t></w:r></w:hyperlink></w:p>'
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPER</w:instrText>'
        '</w:r><w:r><w:instrText>LINK "http://two.example/" </w:instrText></w:r><w:r>'
        '<w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>two</w:t></w:r></w:p>'
        '<w:p><w:fldSimple w:instr="HYPERLINK http://three.example/"/></w:p>'
        '<w:p><w:hyperlink r:id="missing" w:anchor="here"/></w:p>'
    )
    relations = office.rels(("h1", "hyperlink", "http://one.example/"), outside=["h1"])
    page = read_zip(office.docx(body, relations=relations))
    assert page.links == ("http://one.example/", "http://two.example/", "http://three.example/")
    assert page.text == "one\ntwo"


@pytest.mark.parametrize(
    ("code", "links"),
    [
        ('HYPERLINK "http://a.example/"', ["http://a.example/"]),
        ('HYPERLINK \\l "mark"', []),
        ('hyperlink  "https://a.example/x y"', ["https://a.example/x y"]),
        ('=HYPERLINK("http://a.example/","name")', ["http://a.example/"]),
        ('HYPERLINK "file.doc"', []),
        ("PAGE", []),
    ],
)
def test_addresses_in_codes(code: str, links: list[str]) -> None:
    assert field_links(code) == links


def test_notes_headers_and_comments_belong_to_the_text() -> None:
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    kinds = ("header", "footer", "footnotes", "comments")
    parts = {
        f"word/{kind}.xml": f'<w:{kind} xmlns:w="{word}">{P(f"the {kind}")}</w:{kind}>'
        for kind in kinds
    }
    parts["word/header2.xml"] = parts["word/header.xml"]
    relations = office.rels(
        *((kind, kind, f"{kind}.xml") for kind in kinds), ("again", "header", "header2.xml")
    )
    text = text_of(office.docx(P("body"), relations=relations, parts=parts))
    lines = [line for line in text.splitlines() if line]
    assert lines == ["the header", "body", "the footnotes", "the comments", "the footer"]


def test_documents_inside_documents_are_read() -> None:
    inner = office.xlsx({"Inside": '<sheetData><row><c t="str"><v>cell</v></c></row></sheetData>'})
    relations = office.rels(
        ("e1", "package", "embeddings/book.xlsx"), ("c1", "aFChunk", "chunk.html")
    )
    parts = {"word/embeddings/book.xlsx": inner, "word/chunk.html": b"<p>A chunk of HTML</p>"}
    text = text_of(office.docx(P("outside"), relations=relations, parts=parts))
    assert "outside" in text
    assert "Inside\ncell" in text
    assert "A chunk of HTML" in text


def test_the_title_is_the_paragraph_that_is_styled_so_if_nothing_else_says() -> None:
    title = '<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>Styled</w:t></w:r></w:p>'
    data = office.docx(title + P("x"), parts={"docProps/core.xml": "<a/>"})
    assert read_zip(data).title == "Styled"


def test_a_broken_part_gives_its_text_and_a_reason() -> None:
    body = P("whole") + "<w:p><w:r><w:t>half"
    data = office.docx("", parts={"word/document.xml": f"<document><body>{body}".replace("w:", "")})
    with pytest.raises(Refused, match="is damaged") as refused:
        read_zip(data)
    assert refused.value.page.text.startswith("whole")


def test_an_encrypted_document_says_so() -> None:
    data = office.compound({"EncryptionInfo": b"x" * 100, "EncryptedPackage": b"y" * 5000})
    with pytest.raises(Refused, match="is encrypted"):
        CONVERTERS["application/msword"](data)


# -- PPTX -------------------------------------------------------------------------------------


def test_slides_come_in_the_order_of_the_show() -> None:
    slides = [office.slide(office.shape(word)) for word in ("first", "second", "third")]
    assert text_of(office.pptx(slides, order=(3, 1, 2))).split() == ["third", "first", "second"]


def test_the_title_of_a_presentation_is_that_of_its_first_slide() -> None:
    slides = [office.slide(office.shape("Welcome", "ctrTitle") + office.shape("text"))]
    page = read_zip(office.pptx(slides))
    assert (page.title, page.text) == ("Welcome", "Welcome\ntext")


def test_notes_belong_to_slides_and_layouts_only_with_what_they_show() -> None:
    layout = office.slide(office.shape("Click to edit", "body") + office.shape("ACME Inc."))
    relations = office.rels(
        ("n", "notesSlide", "../notes/n1.xml"), ("l", "slideLayout", "../layouts/l1.xml")
    )
    data = office.pptx(
        [office.slide(office.shape("shown"))],
        parts={
            "ppt/slides/_rels/slide1.xml.rels": relations,
            "ppt/notes/n1.xml": office.slide(office.shape("noted")),
            "ppt/layouts/l1.xml": layout,
        },
    )
    assert text_of(data).split("\n") == ["shown", "noted", "ACME Inc."]


# -- XLSX -------------------------------------------------------------------------------------


def test_cells_of_every_kind() -> None:
    sheet = (
        '<sheetData><row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>99</v></c></row>'
        '<row><c><v>0.1</v></c><c><v>0.30000000000000004</v></c><c t="b"><v>1</v></c></row>'
        '<row><c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c>'
        '<c t="str"><f>A1</f><v>formula</v></c><c t="e"><v>#REF!</v></c></row></sheetData>'
    )
    strings = [
        "<si><t>plain</t></si>",
        "<si><r><t>ri</t></r><r><t>ch</t></r><rPh><t>RI</t></rPh></si>",
    ]
    text = text_of(office.xlsx({"Data": sheet}, strings=strings))
    assert text == "Data\nplain\trich\n0.1\t0.3\tTRUE\ninline\tformula\t#REF!"


def test_dates_and_percentages_are_shown_as_such() -> None:
    styles = (
        '<numFmts><numFmt numFmtId="170" formatCode="dd\\/mm\\/yyyy"/>'
        '<numFmt numFmtId="171" formatCode="&quot;days&quot; 0.0"/></numFmts><cellXfs>'
        '<xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/>'
        '<xf numFmtId="10"/><xf numFmtId="22"/></cellXfs>'
    )
    values = [43831, 43831, 43831, 5, 0.125, 43831.75]
    cells = "".join(f'<c s="{n}"><v>{value}</v></c>' for n, value in enumerate(values))
    sheet = f"<sheetData><row>{cells}</row></sheetData>"
    shown_row = "43831\t2020-01-01\t2020-01-01\t5\t12.5%\t2020-01-01 18:00"
    assert text_of(office.xlsx({"S": sheet}, styles=styles)) == f"S\n{shown_row}"
    later = text_of(office.xlsx({"S": sheet}, styles=styles, since_1904=True))
    assert "2024-01-02" in later


@pytest.mark.parametrize(
    ("number", "code", "style"),
    [
        (0, None, Style.BARE),
        (14, None, Style.DATE),
        (9, None, Style.PERCENT),
        (170, "General", Style.BARE),
        (170, "[Red]0.00", Style.BARE),
        (170, "[h]:mm", Style.DATE),
        (170, '0.00" days"', Style.BARE),
        (170, "#,##0;[Red]-#,##0", Style.BARE),
        (170, "0.0%", Style.PERCENT),
        (170, "[$-409]mmmm d, yyyy;@", Style.DATE),
        (170, "\\d0", Style.BARE),
    ],
)
def test_formats(number: int, code: str | None, style: Style) -> None:
    assert style_of(number, code) is style


@pytest.mark.parametrize(
    ("value", "style", "text"),
    [
        (1.0, Style.BARE, "1"),
        (-0.5, Style.BARE, "-0.5"),
        (1e300, Style.BARE, "1e+300"),
        (float("inf"), Style.BARE, "inf"),
        (float("nan"), Style.PERCENT, "nan"),
        (0.07, Style.PERCENT, "7%"),
        (0.5, Style.DATE, "12:00"),
        (-1.0, Style.DATE, "-1"),
        (1e9, Style.DATE, "1000000000"),
    ],
)
def test_numbers(value: float, style: Style, text: str) -> None:
    assert shown(value, style) == text


def test_links_comments_and_edges_of_sheets() -> None:
    sheet = (
        '<sheetData><row><c><f>HYPERLINK("http://f.example/")</f><v>1</v></c></row></sheetData>'
        '<hyperlinks><hyperlink ref="A1" r:id="h"/></hyperlinks><headerFooter><oddHeader>'
        '&amp;C&amp;"Arial,Bold"&amp;12Report &amp;P</oddHeader></headerFooter>'
    )
    relations = office.rels(
        ("h", "hyperlink", "http://h.example/"),
        ("c", "comments", "../comments1.xml"),
        outside=["h"],
    )
    comments = "<comments><comment><text><r><t>noted</t></r></text></comment></comments>"
    data = office.xlsx(
        {"S": sheet},
        parts={"xl/worksheets/_rels/sheet1.xml.rels": relations, "xl/comments1.xml": comments},
    )
    page = read_zip(data)
    assert page.links == ("http://f.example/", "http://h.example/")
    assert page.text.splitlines() == ["S", "1", "Report", "noted"]


# -- XLSB -------------------------------------------------------------------------------------


def record(kind: int, data: bytes) -> bytes:
    head = bytes([kind]) if kind < 0x80 else bytes([kind & 0x7F | 0x80, kind >> 7])
    return head + bytes([len(data) & 0x7F | (0x80 if len(data) > 0x7F else 0)]) + (
        bytes([len(data) >> 7]) if len(data) > 0x7F else b""
    ) + data  # fmt: skip


def wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def test_a_workbook_of_records() -> None:
    cell = struct.pack("<II", 0, 0)
    sheet = (
        record(0, bytes(25))
        + record(7, cell + struct.pack("<I", 0))
        + record(6, cell + wide("own"))
        + record(0, bytes(25))
        + record(5, cell + struct.pack("<d", 2.5))
        + record(2, cell + struct.pack("<I", 7 << 2 | 2))
        + record(4, cell + b"\1")
    )
    workbook = record(153, bytes(8)) + record(156, bytes(8) + wide("r9") + wide("Tab"))
    blob = office.zipped(
        {
            "xl/workbook.bin": workbook,
            "xl/_rels/workbook.bin.rels": office.rels(
                ("r9", "worksheet", "s.bin"), ("r8", "sharedStrings", "t.bin")
            ),
            "xl/s.bin": sheet,
            "xl/t.bin": record(19, b"\0" + wide("shared " * 30)),
            "_rels/.rels": office.rels(("r1", "officeDocument", "xl/workbook.bin")),
        }
    )
    page = read_zip(blob)
    assert page.method == "xlsb"
    assert page.text.splitlines()[0] == "Tab"
    assert page.text.endswith("own\n2.5\t7\tTRUE")


@pytest.mark.parametrize(
    ("value", "number"),
    [(7 << 2 | 2, 7.0), (0xFFFFFFFC | 2, -1.0), (150 << 2 | 3, 1.5), (0x3FF00000, 1.0)],
)
def test_numbers_in_thirty_bits(value: int, number: float) -> None:
    assert rk(value) == number


@given(st.binary(max_size=200))
def test_records_of_any_bytes_end(data: bytes) -> None:
    assert sum(len(each) for _, each in records(data)) <= len(data)
