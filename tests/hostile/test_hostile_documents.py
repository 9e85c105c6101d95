"""Documents made to hurt whoever reads them: a reason within 10 s and 500 MB, and life goes on.

All are read in a child process, as an archive reads them. What the child may use is enforced by the
system; the tests ask for the reason, and that the next document is read as if nothing had been.
"""

from __future__ import annotations

import gzip
import io
import json
import struct
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator
from functools import cache

import pytest

from asof.text.document import Document
from asof.text.sandbox import ReadingLimits, SandboxedReader
from support import office_files as office

SECONDS = 10
LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True)
    )
    + "]>"
)
SECRET = '<!DOCTYPE x [<!ENTITY s SYSTEM "file:///etc/passwd">]>'
DEEP = 1_000_000


@pytest.fixture(scope="module")
def apart() -> Iterator[SandboxedReader]:
    with SandboxedReader(ReadingLimits(seconds=SECONDS, megabytes=500)) as reader:
        yield reader


def outcome(
    apart: SandboxedReader, data: bytes, declared: str | None = None, name: str | None = None
) -> Document:
    """What is said of a document, in time; the one after it is read as ever."""
    start = time.monotonic()
    document = apart.read(data, declared, name=name)
    assert time.monotonic() - start < SECONDS + 3
    assert apart.read(b"still here", "text/plain").text == "still here"
    return document


@cache
def zeros(size: int, wrapper: int = 31) -> bytes:
    """A compressed run of zeros."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wrapper)
    block = bytes(1 << 20)
    parts = [packer.compress(block) for _ in range(size >> 20)]
    return b"".join([*parts, packer.flush()])


# -- ZIP --------------------------------------------------------------------------------------


def bomb(head: bytes, filling: bytes, megabytes: int, name: str = "word/document.xml") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open(name, "w") as part:
            part.write(head)
            block = filling * ((1 << 20) // len(filling))
            for _ in range(megabytes):
                part.write(block)
    return out.getvalue()


def test_a_part_of_blanks_without_end(apart: SandboxedReader) -> None:
    document = outcome(apart, bomb(b"<document>", b" ", 310))
    assert document.error is not None
    assert "MB" in document.error or "nested" in document.error or "damaged" in document.error


def test_a_part_of_tags_without_end(apart: SandboxedReader) -> None:
    document = outcome(apart, bomb(b"<document><p><r><t>seen</t></r></p>", b"<p><r/></p>", 310))
    assert document.error is not None
    assert "MB" in document.error or "10 s" in document.error


def test_a_part_of_text_without_end_is_cut(apart: SandboxedReader) -> None:
    row = b"<p><r><t>" + b"words and words " * 60 + b"</t></r></p>"
    document = outcome(apart, bomb(b"<document>", row, 64))
    assert document.error == "has more than 16,000,000 characters, the rest is left out"
    assert document.text.startswith("words and words")
    assert len(document.text) <= 16_000_000


def test_many_names_for_one_bomb(apart: SandboxedReader) -> None:
    """Entries that overlap: a directory may point to the same bytes as often as it likes."""
    data = office.zipped({"a.txt": bytes(4 << 20)})
    place = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    entry = data[place:end]
    count = 3_000
    entries = b"".join(entry[:46] + b"%05d" % n + entry[51:] for n in range(count))
    tail = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count, count, len(entries), place, 0)
    document = outcome(apart, data[:place] + entries + tail)
    assert document.error is not None
    assert "unpacks to more than 300 MB" in document.error


@pytest.mark.parametrize("size", [1, 0xFFFFFFF0], ids=["too small", "too large"])
def test_sizes_that_the_directory_lies_about(apart: SandboxedReader, size: int) -> None:
    data = bytearray(office.docx(office.paragraph("True words")))
    place = data.index(b"PK\x01\x02")
    while place >= 0:
        struct.pack_into("<I", data, place + 24, size)
        place = data.find(b"PK\x01\x02", place + 4)
    assert outcome(apart, bytes(data)).text == "True words"


def test_an_archive_without_its_directory_is_read(apart: SandboxedReader) -> None:
    data = office.docx(office.paragraph("Saved words"))
    assert outcome(apart, data[: data.index(b"PK\x01\x02")]).text == "Saved words"


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9])
def test_an_archive_that_breaks_off_gives_a_reason_or_its_text(
    apart: SandboxedReader, cut: float
) -> None:
    data = office.docx("".join(office.paragraph(f"Line {n}") for n in range(2000)))
    document = outcome(apart, data[: int(len(data) * cut)])
    assert document.error or "Line 1" in document.text


def test_archives_in_archives_in_archives(apart: SandboxedReader) -> None:
    data = b"innermost"
    for _ in range(30):
        data = office.zipped({"inner.zip": data})
    document = outcome(apart, data)
    assert "innermost" not in document.text


def test_an_archive_that_contains_itself_by_name(apart: SandboxedReader) -> None:
    names = ["../../../etc/passwd", "/etc/passwd", "C:\\boot.ini", "a/../../b.txt"]
    document = outcome(apart, office.zipped(dict.fromkeys(names, "harmless")))
    assert document.text.count("harmless") == 4
    assert "root:" not in document.text


# -- gzip -------------------------------------------------------------------------------------


def test_ten_gigabytes_of_zeros(apart: SandboxedReader) -> None:
    document = outcome(apart, zeros(100 << 20) * 100, "application/gzip")
    assert document.error == "unpacks to more than 128 MB"


def test_zeros_and_nothing_else(apart: SandboxedReader) -> None:
    assert outcome(apart, bytes(100 << 20)).error == "has nothing but blanks"


def test_more_than_can_ever_be_read(apart: SandboxedReader) -> None:
    assert outcome(apart, b"a" * (201 << 20)).error == "is larger than 200 MB"


def test_gzip_in_gzip_in_gzip(apart: SandboxedReader) -> None:
    data = b"words"
    for _ in range(20):
        data = gzip.compress(data)
    document = outcome(apart, data, "application/gzip")
    assert document.error == "holds documents in documents in documents, which are not opened"


# -- XML --------------------------------------------------------------------------------------


def bombs(doctype: str, entity: str) -> dict[str, tuple[bytes, str]]:
    """The same trick in every format that is made of XML."""
    text = f"&{entity};"
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    return {
        "docx": (
            office.docx(
                "",
                parts={
                    "word/document.xml": f'{doctype}<w:document xmlns:w="{word}"><w:body><w:p><w:r>'
                    f"<w:t>{text}</w:t></w:r></w:p></w:body></w:document>"
                },
            ),
            "a.docx",
        ),
        "docx in utf-16": (
            office.docx(
                "",
                parts={
                    "word/document.xml": (
                        f'<?xml version="1.0" encoding="utf-16"?>{doctype}<w:document '
                        f'xmlns:w="{word}"><w:p a="{text}"/></w:document>'
                    ).encode("utf-16")
                },
            ),
            "a.docx",
        ),
        "core properties": (
            office.docx(
                office.paragraph("body"),
                parts={"docProps/core.xml": f"{doctype}<x><title>{text}</title></x>"},
            ),
            "a.docx",
        ),
        "xlsx": (
            office.xlsx(
                {"S": "<sheetData><row><c t='s'><v>0</v></c></row></sheetData>"},
                parts={"xl/sharedStrings.xml": f"{doctype}<sst><si><t>{text}</t></si></sst>"},
            ),
            "a.xlsx",
        ),
        "odt": (
            office.odf("", parts={"content.xml": f"{doctype}<x><body><p>{text}</p></body></x>"}),
            "a.odt",
        ),
        "flat odt": (
            f'{doctype}<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office'
            f':1.0"><body><p>{text}</p></body></office:document>'.encode(),
            "a.fodt",
        ),
        "epub": (
            office.epub(
                {"a.xhtml": "<p>x</p>"},
                parts={"OEBPS/a.xhtml": f"{doctype}<html><body><p>{text}</p></body></html>"},
            ),
            "a.epub",
        ),
        "svg": (f"{doctype}<svg><text>{text}</text></svg>".encode(), "a.svg"),
        "xml": (f'<?xml version="1.0"?>{doctype}<a b="{text}">{text}</a>'.encode(), "a.xml"),
        "rss": (f"{doctype}<rss><channel><title>{text}</title></channel></rss>".encode(), "a.rss"),
    }


@pytest.mark.parametrize("kind", bombs("", "x"))
def test_a_billion_laughs(apart: SandboxedReader, kind: str) -> None:
    data, name = bombs(LAUGHS, "j")[kind]
    document = outcome(apart, data, name=name)
    assert "hahaha" not in document.text
    assert len(document.text) < 1000
    assert len(document.title or "") < 1000


@pytest.mark.parametrize("kind", bombs("", "x"))
def test_entities_from_elsewhere_are_not_fetched(apart: SandboxedReader, kind: str) -> None:
    data, name = bombs(SECRET, "s")[kind]
    document = outcome(apart, data, name=name)
    assert "root:" not in document.text
    assert "root:" not in (document.title or "")


@pytest.mark.long
def test_elements_a_million_deep(apart: SandboxedReader) -> None:
    inside = "<w:p>" * DEEP
    document = outcome(apart, office.docx(office.paragraph("shallow") + inside))
    assert document.error == "is nested too deeply"
    assert document.text == "shallow"
    for name, data in {
        "a.xml": b'<?xml version="1.0"?>' + b"<doc>" * DEEP + b"deep" + b"</doc>" * DEEP,
        "a.svg": b"<svg>" + b"<g>" * DEEP + b"<text>deep</text>",
        "a.rss": b"<rss><channel>" + b"<x>" * DEEP + b"deep",
    }.items():
        document = outcome(apart, data, name=name)
        assert document.error is not None or "deep" in document.text


def test_paragraphs_and_groups_a_million_deep_in_an_odt(apart: SandboxedReader) -> None:
    body = "<office:text><text:p>shallow</text:p>" + "<text:p><draw:g>" * (DEEP // 2)
    document = outcome(apart, office.odf(body))
    assert document.error == "is nested too deeply"
    assert "shallow" in document.text


def test_json_a_million_deep(apart: SandboxedReader) -> None:
    assert outcome(apart, b"[" * DEEP, "application/json").error == "is nested too deeply"
    assert outcome(apart, b'{"a":' * DEEP, "application/json").error == "is nested too deeply"


def test_json_of_many_small_things(apart: SandboxedReader) -> None:
    data = json.dumps([{}] * 2_000_000).encode()
    assert outcome(apart, data, "application/json").text == ""


# -- Sheets -----------------------------------------------------------------------------------


def test_a_sheet_as_large_as_there_can_be_with_two_cells(apart: SandboxedReader) -> None:
    sheet = (
        '<dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="A1"><v>1</v></c></row>'
        '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row></sheetData>'
    )
    document = outcome(apart, office.xlsx({"S": sheet}))
    assert (document.text, document.error) == ("S\n1\n2", None)


def test_cells_that_repeat_one_long_string(apart: SandboxedReader) -> None:
    row = "<row>" + '<c t="s"><v>0</v></c>' * 1000 + "</row>"
    strings = ["<si><t>" + "long " * 6000 + "</t></si>"]
    data = office.xlsx({"S": f"<sheetData>{row * 100}</sheetData>"}, strings=strings)
    document = outcome(apart, data)
    assert document.error == "has more than 16,000,000 characters, the rest is left out"


def test_more_cells_than_are_read(apart: SandboxedReader) -> None:
    sheet = "<sheetData>" + ("<row>" + "<c/>" * 1000 + "</row>") * 1001 + "</sheetData>"
    document = outcome(apart, office.xlsx({"S": sheet}))
    assert document.error == "has more than 1,000,000 cells, the rest is left out"


def test_repeated_cells_of_an_opendocument_sheet(apart: SandboxedReader) -> None:
    body = (
        '<office:spreadsheet><table:table table:name="T"><table:table-row '
        'table:number-rows-repeated="1048576"><table:table-cell '
        'table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell>'
        "</table:table-row></table:table></office:spreadsheet>"
    )
    assert outcome(apart, office.odf(body, kind="spreadsheet")).text == "T\nx"


# -- Compound files ---------------------------------------------------------------------------


def test_chains_of_sectors_that_run_in_circles(apart: SandboxedReader) -> None:
    good = office.doc([("Words " * 2000, False)])
    table = good.rindex(struct.pack("<I", 0xFFFFFFFD)) // 512 * 512
    for value in (0, 1, 2, 5):
        looped = bytearray(good)
        for at in range(table, table + 40, 4):
            struct.pack_into("<I", looped, at, value)
        document = outcome(apart, bytes(looped))
        assert document.method == "doc" or document.error is not None
        assert "took" not in (document.error or "")


def test_a_header_that_points_everywhere(apart: SandboxedReader) -> None:
    good = office.xls({"S": office.label(0, 0, "cell")})
    for offset in range(44, 76, 4):
        for value in (0, 7, 0x7FFFFFFF, 0xFFFFFFFE):
            hurt = bytearray(good)
            struct.pack_into("<I", hurt, offset, value)
            document = apart.read(bytes(hurt))
            assert document.method in ("xls", "")
            assert "took" not in (document.error or "")
    assert outcome(apart, good).text == "S\ncell"


def test_a_directory_that_is_its_own_child(apart: SandboxedReader) -> None:
    good = bytearray(office.doc([("x", False)]))
    root = good.index("Root Entry".encode("utf-16-le"))
    for entry in range(root, root + 3 * 128, 128):
        struct.pack_into("<III", good, entry + 68, 0, 0, 0)
    document = outcome(apart, bytes(good))
    assert document.error is not None or document.text == "x"


def test_a_million_pieces_of_the_same_text(apart: SandboxedReader) -> None:
    count = 500_000
    text = b"again " * 2000
    table = struct.pack(f"<{count + 1}I", *(n * 6000 for n in range(count + 1)))
    table += struct.pack("<HIH", 0, 0x400 * 2 | 0x40000000, 0) * count
    clx = b"\x02" + struct.pack("<I", len(table)) + table
    head = bytearray(0x400)
    struct.pack_into("<HH2xH2xH", head, 0, 0xA5EC, 0xC1, 0x409, 0x200)
    struct.pack_into("<II", head, 0x1A2, 0, len(clx))
    data = office.compound({"WordDocument": bytes(head) + text, "1Table": clx})
    document = outcome(apart, data)
    assert document.text.startswith("again again")
    assert len(document.text) < 1_000_000


def test_a_presentation_whose_edits_run_in_circles(apart: SandboxedReader) -> None:
    edit = struct.pack("<IIIIIIHH", 0, 0, 0, 0, 1, 9, 0, 0)
    stream = office.atom(4085, edit) + office.atom(4000, "alone".encode("utf-16-le"))
    current = office.atom(4086, struct.pack("<III", 20, 0xE391C05F, 0))
    data = office.compound({"PowerPoint Document": stream, "Current User": current})
    assert outcome(apart, data).text == "alone"


def test_records_in_records_of_a_presentation(apart: SandboxedReader) -> None:
    size = 8 * 200_000
    nested = b"".join(struct.pack("<HHI", 0xF, 1006, size - 8 * n - 8) for n in range(size // 8))
    data = office.compound({"PowerPoint Document": nested, "Current User": b"\0" * 64})
    assert outcome(apart, data).text == ""


# -- RTF, mail, books -------------------------------------------------------------------------


def test_groups_a_million_deep(apart: SandboxedReader) -> None:
    document = outcome(apart, b"{\\rtf1 words " + b"{" * DEEP)
    assert (document.text, document.error) == ("words", "is nested too deeply")


def test_rtf_that_skips_beyond_its_end(apart: SandboxedReader) -> None:
    assert outcome(apart, b"{\\rtf1 words \\bin999999999 abc}").text == "words"
    assert outcome(apart, b"{\\rtf1 words \\bin-5 abc}").text.startswith("words")
    assert outcome(apart, b"{\\rtf1\\uc2000000000 \\u65 bc words}").error is None


def test_mail_with_a_hundred_thousand_parts(apart: SandboxedReader) -> None:
    head = b"From: a@example.org\nContent-Type: multipart/mixed; boundary=x\n\n"
    part = b"--x\nContent-Type: text/plain\n\nword\n"
    document = outcome(apart, head + part * 100_000 + b"--x--\n", "message/rfc822")
    assert document.error == "has more than 20,000 parts"
    document = outcome(apart, head + part * 3000 + b"--x--\n", "message/rfc822")
    assert document.error == "has more than 2,000 parts, the rest is left out"


def test_mail_in_mail_in_mail(apart: SandboxedReader) -> None:
    data = b"word\n"
    for _ in range(3000):
        data = b"Content-Type: message/rfc822\n\n" + data
    document = outcome(apart, b"From: a@example.org\n" + data, "message/rfc822")
    assert document.error is not None
    nested = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(2000)
    )
    document = outcome(apart, b"From: a@example.org\n" + nested + b"\nend", "message/rfc822")
    assert document.error is not None


def test_a_box_of_a_million_messages(apart: SandboxedReader) -> None:
    data = b"From a Thu Jan  1 00:00:00 1970\n\n" * 1_000_000
    document = outcome(apart, data, "application/mbox")
    assert document.error == "has more than 10,000 messages, the rest is left out"


def test_a_book_that_points_out_of_itself(apart: SandboxedReader) -> None:
    package = (
        '<package><manifest><item id="a" href="../../../../../../etc/passwd" '
        'media-type="application/xhtml+xml"/><item id="b" href="file:///etc/passwd" '
        'media-type="application/xhtml+xml"/><item id="c" href="c.xhtml"/></manifest><spine>'
        + '<itemref idref="a"/><itemref idref="b"/>'
        + '<itemref idref="c"/>' * 100_000
        + "</spine></package>"
    )
    data = office.epub({"c.xhtml": "<p>A chapter.</p>"}, parts={"OEBPS/content.opf": package})
    document = outcome(apart, data)
    assert document.text.count("A chapter.") == 1
    assert "root:" not in document.text


# -- PDF --------------------------------------------------------------------------------------


def pdf_of(*objects: bytes) -> bytes:
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % pair for pair in enumerate(objects, 1))
    return b"%PDF-1.7\n" + body + b"trailer\n<< /Root 1 0 R >>\n%%EOF"


def test_pages_that_are_their_own_parents(apart: SandboxedReader) -> None:
    catalog = b"<< /Type /Catalog /Pages 2 0 R >>"
    loops = [
        pdf_of(catalog, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 1000000 >>"),
        pdf_of(catalog, b"<< /Type /Pages /Kids [3 0 R] /Count 2147483647 >>", b"3 0 R"),
        pdf_of(catalog, b"<< /Type /Pages /Kids 2 0 R /Parent 2 0 R /Count 5 >>"),
        pdf_of(b"1 0 R", b"2 0 R"),
    ]
    for data in loops:
        assert outcome(apart, data, "application/pdf").error is not None


def test_a_form_that_draws_itself(apart: SandboxedReader) -> None:
    stream = (
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /F 4 0 R >> >>"
    )
    data = pdf_of(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 5 0 R "
        b"/Resources << /XObject << /F 4 0 R >> >> >>",
        stream + b" /Length 11 >>\nstream\n/F Do /F Do\nendstream",
        b"<< /Length 5 >>\nstream\n/F Do\nendstream",
    )
    assert outcome(apart, data, "application/pdf").error is not None


def test_a_page_of_zeros_packed_twice(apart: SandboxedReader) -> None:
    packed = zlib.compress(zeros(1 << 30, 15), 9)
    data = pdf_of(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
        b"<< /Filter [/FlateDecode /FlateDecode] /Length %d >>\nstream\n%s\nendstream"
        % (len(packed), packed),
    )
    assert outcome(apart, data, "application/pdf").error is not None


def test_an_object_stream_of_a_gigabyte(apart: SandboxedReader) -> None:
    packed = zeros(1 << 30, 15)
    data = pdf_of(
        b"<< /Type /Catalog /Pages 9 0 R >>",
        b"<< /Type /ObjStm /N 1000000000 /First 1000 /Filter /FlateDecode /Length %d >>\n"
        b"stream\n%s\nendstream" % (len(packed), packed),
        b"<< /Type /XRef /Size 99 /W [1 2 1] /Root 1 0 R /Filter /FlateDecode /Length %d >>\n"
        b"stream\n%s\nendstream" % (len(packed), packed),
    )
    assert outcome(apart, data, "application/pdf").error is not None


def test_arrays_a_million_deep_in_a_pdf(apart: SandboxedReader) -> None:
    data = pdf_of(b"<< /Type /Catalog /Pages 2 0 R >>", b"[" * DEEP, b"<<" * DEEP)
    assert outcome(apart, data, "application/pdf").error is not None


def test_the_test_has_a_python_that_nests_little() -> None:
    """Nesting is survived by design; not because somebody raised the limit of recursion."""
    assert sys.getrecursionlimit() <= 10_000
