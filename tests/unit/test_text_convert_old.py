"""Old office formats: compound files, DOC, XLS, PPT, MSG, and RTF."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.text.convert import CONVERTERS, Refused, by_magic, read_ole, read_rtf
from asof.text.convert.biff import Segments
from asof.text.convert.found import Found
from asof.text.convert.msg import fill_msg, unpacked_rtf
from asof.text.convert.ole import Compound, codec
from asof.text.document import Document
from support import office_files as office


def reason_or_method(read: Callable[[bytes], Document], data: bytes) -> str:
    """How a document was read, or why it was not; anything else would be raised."""
    try:
        return read(data).method
    except Refused as refused:
        return refused.reason


# -- Compound files ---------------------------------------------------------------------------


@given(
    st.dictionaries(
        st.text("abcdefgh", min_size=1, max_size=8), st.binary(max_size=6000), max_size=5
    )
)
def test_streams_come_back_as_they_were(streams: dict[str, bytes]) -> None:
    compound = Compound(office.compound(streams))
    assert set(compound.names) == set(streams)
    assert {name: compound.read(name) for name in streams} == streams


def test_large_streams_and_small_ones() -> None:
    data = bytes(range(256)) * 4000
    compound = Compound(office.compound({"Large": data, "Small": data[:100], "None": b""}))
    assert compound.read("large") == data
    assert compound.read("SMALL") == data[:100]
    assert compound.read("None") == b""
    assert compound.read("missing") == b""


def test_a_file_that_breaks_off_is_read_as_far_as_it_goes() -> None:
    data = random.Random(1).randbytes(10_000)
    whole = office.compound({"Large": data, "Small": data[:100]})
    assert Compound(whole[:-100]).read("large") == data
    without_table = Compound(whole[:-512])
    assert without_table.read("small") == data[:100]
    assert without_table.read("large")[:512] == data[:512]


@given(st.binary(max_size=600), st.integers(0, 2000))
def test_a_damaged_file_is_read_or_refused(noise: bytes, place: int) -> None:
    good = bytearray(office.doc([("Some text. " * 50, False)]))
    good[place : place + len(noise)] = noise
    assert reason_or_method(read_ole, bytes(good))


@pytest.mark.parametrize(
    ("page", "name"),
    [(1252, "cp1252"), (1251, "cp1251"), (10000, "mac-roman"), (65001, "utf-8"), (9999, "cp1252")],
)
def test_code_pages(page: int, name: str) -> None:
    assert codec(page) == name


def test_what_is_no_document_is_named() -> None:
    with pytest.raises(Refused, match="Visio drawing, which is not read"):
        read_ole(office.compound({"VisioDocument": b"x"}))
    with pytest.raises(Refused, match="no document that is known"):
        read_ole(office.compound({"Stuff": b"x"}))


# -- DOC --------------------------------------------------------------------------------------


def test_pieces_of_one_and_two_bytes() -> None:
    page = read_ole(office.doc([("Plain caf\xe9. ", False), ("Wide \u4e2d\u6587.\r", True)]))
    assert page.text == "Plain café. Wide 中文."
    assert (page.title, page.date, page.method) == ("Old", "2001-02-03", "doc")


@given(st.lists(st.tuples(st.text("abc é\r", min_size=1), st.booleans()), min_size=1, max_size=9))
def test_pieces_are_joined_in_order(pieces: list[tuple[str, bool]]) -> None:
    text = "".join(piece for piece, _ in pieces)
    assert read_ole(office.doc(pieces)).text.split() == text.split()


def test_fields_show_their_result_and_give_their_link() -> None:
    text = (
        'See \x13 HYPERLINK "http://a.example/" \x14the page\x15 or '
        "\x13 IF \x13 PAGE \x143\x15 = 3 \x14three\x15, \x13 TOC \x15end."
    )
    page = read_ole(office.doc([(text, False)]))
    assert page.text == "See the page or three, end."
    assert page.links == ("http://a.example/",)


def test_a_field_that_never_ends_hides_nothing() -> None:
    assert read_ole(office.doc([("a \x13 b", False)])).text == "a  b"


def test_cells_and_breaks() -> None:
    page = read_ole(office.doc([("a\x07b\x07\x07c\x0bd\x0ce\x1ff\x1eg", False)]))
    assert page.text == "a\tb\nc\nd\n\nef\u2011g"


def test_an_encrypted_document() -> None:
    with pytest.raises(Refused, match="is encrypted"):
        read_ole(office.doc([("secret", False)], flags=0x100))


@pytest.mark.parametrize(
    ("language", "machine", "data", "text"),
    [
        (0x409, 0, b"caf\xe9", "café"),
        (0x419, 0, "привет".encode("cp1251"), "привет"),
        (0x409, 1, "café".encode("mac-roman"), "café"),
        (0x411, 0, "日本".encode("cp932"), "日本"),
        (
            0x409,
            0,
            ("Это русский текст без единого слова на другом языке. " * 5).encode("cp1251"),
            None,
        ),
    ],
)
def test_word_6_has_code_pages(language: int, machine: int, data: bytes, text: str | None) -> None:
    head = bytearray(0x300)
    struct.pack_into("<HH2xH2xH6xH", head, 0, 0xA5DC, 104, language, 0, machine)
    struct.pack_into("<II", head, 0x18, 0x300, 0x300 + len(data))
    page = read_ole(office.compound({"WordDocument": bytes(head) + data}))
    assert page.text == (text if text is not None else data.decode("cp1251").strip())


def test_word_2_is_a_file_of_its_own() -> None:
    head = bytearray(0x180)
    struct.pack_into("<HH2xH2xH", head, 0, 0xA5DB, 45, 0x409, 0)
    struct.pack_into("<II", head, 0x18, 0x180, 0x180 + 9)
    read = by_magic(bytes(head) + b"Old words")
    assert read is not None
    assert read(bytes(head) + b"Old words").text == "Old words"


# -- XLS --------------------------------------------------------------------------------------


def number(row: int, column: int, value: float, style: int = 0) -> bytes:
    return office.biff(0x203, struct.pack("<HHHd", row, column, style, value))


def test_sheets_with_cells_of_every_kind() -> None:
    shared = struct.pack("<II", 2, 2) + b"\3\0\0one" + b"\2\0\1" + "zw".encode("utf-16-le")
    sheet = (
        office.biff(0xFD, struct.pack("<HHHI", 0, 0, 0, 0))
        + office.biff(0xFD, struct.pack("<HHHI", 0, 1, 0, 1))
        + office.biff(0xFD, struct.pack("<HHHI", 0, 2, 0, 77))
        + number(1, 0, 2.5)
        + office.biff(0x27E, struct.pack("<HHHI", 1, 1, 0, 5 << 2 | 2))
        + office.biff(0xBD, struct.pack("<HHHIHIH", 2, 0, 0, 6, 0, 10, 1))
        + office.biff(0x205, struct.pack("<HHHBB", 3, 0, 0, 1, 0))
        + office.biff(0x205, struct.pack("<HHHBB", 3, 1, 0, 42, 1))
        + office.biff(0x06, struct.pack("<HHH", 4, 0, 0) + b"\0" * 6 + b"\xff\xff" + b"\0" * 6)
        + office.biff(0x207, b"\6\0\0result")
        + office.label(5, 0, "caf\xe9")
    )
    page = read_ole(office.xls({"Täb": sheet, "Two": office.label(0, 0, "x")},
                               shared=office.biff(0xFC, shared)))  # fmt: skip
    assert page.text.splitlines() == [
        *("Täb", "one\tzw", "2.5\t5", "1\t2", "TRUE\t#N/A", "result", "café", "", "Two", "x")
    ]
    assert (page.title, page.method) == ("Figures", "xls")


def test_dates_of_old_workbooks() -> None:
    style = struct.pack("<HH16x", 0, 0)
    dated = struct.pack("<HH16x", 0, 164)
    code = "yyyy-mm"
    more = (
        office.biff(0x41E, struct.pack("<HHB", 164, len(code), 0) + code.encode())
        + office.biff(0xE0, style)
        + office.biff(0xE0, dated)
    )
    data = office.xls({"S": number(0, 0, 43831) + number(0, 1, 43831, 1)}, more=more)
    assert read_ole(data).text == "S\n43831\t2020-01-01"


@given(st.lists(st.text(min_size=0, max_size=40), min_size=1, max_size=8), st.integers(1, 30))
def test_strings_that_are_cut_come_back_whole(texts: list[str], size: int) -> None:
    """A string that is cut goes on after a byte that says how wide its characters are now."""
    texts = [text.encode("utf-16-le", "ignore").decode("utf-16-le") for text in texts]
    units = [text.encode("utf-16-le") for text in texts]
    segments = [b""]
    for data in units:
        if len(segments[-1]) > size:
            segments.append(b"")
        segments[-1] += struct.pack("<HB", len(data) // 2, 1)
        for at in range(0, len(data), 2):
            if len(segments[-1]) > size:
                segments.append(b"\1")
            segments[-1] += data[at : at + 2]
    reading = Segments(segments)
    assert [reading.string() for _ in texts] == texts


def test_boxes_links_and_edges() -> None:
    url = "http://x.example/".encode("utf-16-le") + b"\0\0"
    moniker = bytes.fromhex("e0c9ea79f9bace118c8200aa004ba90b")
    sheet = (
        office.label(0, 0, "cell")
        + office.biff(0x1B6, struct.pack("<10xHH", 3, 0) + bytes(4))
        + office.biff(0x3C, b"\0box")
        + office.biff(0x1B8, bytes(32) + moniker + struct.pack("<I", len(url)) + url)
        + office.biff(0x14, b"\x08\0\0&CReport")
    )
    page = read_ole(office.xls({"S": sheet}))
    assert page.text.splitlines() == ["S", "cell", "box", "Report"]
    assert page.links == ("http://x.example/",)


def test_records_that_are_too_short_are_passed_over() -> None:
    sheet = office.biff(0x203, b"\0") + office.biff(0xFD, b"") + office.label(0, 0, "fine")
    assert read_ole(office.xls({"S": sheet})).text == "S\nfine"


def test_an_encrypted_workbook() -> None:
    with pytest.raises(Refused, match="is encrypted"):
        read_ole(office.xls({"S": b""}, more=office.biff(0x2F, bytes(54))))


def test_excel_2_is_a_file_of_its_own() -> None:
    data = (
        office.biff(0x09, struct.pack("<HH", 2, 0x10))
        + office.biff(0x04, struct.pack("<HH3xB", 0, 0, 5) + b"words")
        + office.biff(0x03, struct.pack("<HH3xd", 0, 1, 1.5))
        + office.biff(0x02, struct.pack("<HH3xH", 1, 0, 7))
        + office.biff(0x0A)
    )
    page = CONVERTERS["application/vnd.ms-excel"](data)
    assert page.text == "words\t1.5\n7"


# -- PPT --------------------------------------------------------------------------------------


def test_slides_notes_and_links_without_what_was_deleted() -> None:
    data = office.ppt(["One\rtwo", "Three"], notes="Noted", stale="Gone", link="http://p.example/")
    page = read_ole(data)
    assert page.text.split("\n") == ["One", "two", "", "Three", "", "Noted"]
    assert page.links == ("http://p.example/",)


def test_a_presentation_that_lost_its_directory() -> None:
    stream = office.atom(1006, office.atom(4000, "One".encode("utf-16-le")), container=True)
    stream += office.atom(1006, office.atom(4008, b"Two"), container=True)
    page = read_ole(office.compound({"PowerPoint Document": stream * 2}))
    assert page.text == "One\nTwo"


def test_an_encrypted_presentation() -> None:
    current = office.atom(4086, struct.pack("<III", 20, 0xF3D1C4DF, 0))
    with pytest.raises(Refused, match="is encrypted"):
        read_ole(office.compound({"PowerPoint Document": b"\x0f\0" * 99, "Current User": current}))


def test_powerpoint_95_keeps_its_text_apart() -> None:
    data = office.compound({"PowerPoint Document": bytes(100), "Text_Content": b"One\rTwo"})
    assert read_ole(data).text == "One\nTwo"


# -- MSG --------------------------------------------------------------------------------------


def test_a_message_of_outlook() -> None:
    data = office.compound(
        {
            "__properties_version1.0": bytes(32),
            "__substg1.0_0037001F": "Grüße".encode("utf-16-le"),
            "__substg1.0_0C1A001E": b"A. Sender",
            "__substg1.0_1000001F": "The body.".encode("utf-16-le"),
            "__substg1.0_10130102": b'<a href="http://m.example/">The body.</a>',
        }
    )
    page = read_ole(data)
    assert page.title == "Grüße"
    assert page.text == "From: A. Sender\nSubject: Grüße\n\nThe body."
    assert page.links == ("http://m.example/",)


@pytest.mark.parametrize(
    ("tag", "value", "text", "encoding"),
    [
        (0x3FFD0003, 1251, "Привет", "cp1251"),
        (0x3FF10003, 0x0411, "日本語", "cp932"),
        (0x3FF10003, 0x0404, "測試", "cp950"),
        (0x3FF10003, 0x0804, "测试", "cp936"),
        (0x3FF10003, 0x0407, "Grüße", "cp1252"),
        (0x0E070003, 1, "Grüße", "cp1252"),
    ],
)
def test_a_message_in_a_code_page(tag: int, value: int, text: str, encoding: str) -> None:
    streams = {
        "__properties_version1.0": bytes(32) + struct.pack("<IIII", tag, 6, value, 0) + b"cut",
        "__substg1.0_0037001E": text.encode(encoding),
    }
    assert read_ole(office.compound(streams)).text == f"Subject: {text}"


def test_attachments_have_their_long_names(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = "__attach_version1.0_#0000000"
    streams = {
        f"{folder}0/__substg1.0_3704001e": b"MINUTE~1.DOC",
        f"{folder}0/__substg1.0_3707001e": b"Minutes of May.doc",
        f"{folder}1/__substg1.0_3704001f": "ÄHR.TXT".encode("utf-16-le"),
    }
    compound = Compound(office.compound({"__properties_version1.0": bytes(32)}))
    monkeypatch.setattr(compound, "names", tuple(streams))
    monkeypatch.setattr(compound, "read", lambda name: streams.get(name, b""))
    found = Found()
    fill_msg(compound, found)
    assert found.page("msg").text == "Minutes of May.doc\nÄHR.TXT"


def test_packed_rtf_of_messages() -> None:
    """The example of the format's description ([MS-OXRTFCP] section 3.1.1)."""
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a00726370673132354232"
        "0af32068656c090020627705b06c647d0a800fa0"
    )
    assert unpacked_rtf(packed) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    assert unpacked_rtf(b"\0" * 8 + b"MELA" + b"\0" * 4) == b""
    with pytest.raises(Refused):
        unpacked_rtf(b"\0" * 8 + b"????" + b"\0" * 40)


@given(st.binary(max_size=300))
def test_packed_rtf_of_any_bytes_ends(noise: bytes) -> None:
    assert len(unpacked_rtf(struct.pack("<II", 1, 500) + b"LZFu" + bytes(4) + noise)) < 6000


# -- RTF --------------------------------------------------------------------------------------


def rtf(body: str, head: str = "\\ansi\\ansicpg1252") -> bytes:
    return f"{{\\rtf1{head} {body}}}".encode("latin-1")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("plain", "plain"),
        ("a\\par b\\line c\\tab d", "a\nb\nc\td"),
        ("caf\\'e9 \\{x\\} a\\~b", "café {x} a\xa0b"),
        ("\\u8364 ?5", "€5"),
        ("\\uc0\\u8364 5", "€5"),
        ("\\uc2\\u8364 ??5", "€5"),
        ("\\u8364 \\'805", "€5"),
        ("\\u-10179 ?\\u-8704 ?", "\U0001f600"),
        ("{\\*\\unknown gone}kept", "kept"),
        ("{\\pict\\pngblip 89504e47}after", "after"),
        ("{\\v hidden}{\\deleted removed}seen", "seen"),
        ("a{\\f1 b}c", "abc"),
        ("a\nb\r\nc", "abc"),
        ("x \\bin4 }}}}y", "x y"),
        ("\\ldblquote q\\rdblquote\\emdash", "“q”—"),
        ("{\\upr{old}{\\*\\ud{new}}}", "new"),
        ("one\\cell two\\row three", "one\ttwo\nthree"),
        ("a{\\i0\\*\\cs7 b}", "ab"),
        (
            "super{\\*\\annotation{\\*\\atnref 1}\\pard a word}cali{\\footnote a note}.",
            "supercali.\na word\na note",
        ),
    ],
)
def test_rich_text(body: str, text: str) -> None:
    assert read_rtf(rtf(body)).text == text


def test_fonts_have_code_pages() -> None:
    fonts = "{\\f0\\fcharset0 A;}{\\f1\\fcharset204 B;}{\\f2\\fcharset128 C;}"
    head = f"\\ansi\\deff0{{\\fonttbl{fonts}}}\\pard"
    body = "\\f1 \\'ef\\'f0\\'e8\\f2 \\'93\\'fa\\'96\\'7b\\f0 \\'e9"
    assert read_rtf(rtf(body, head)).text == "при日本é"


def test_properties_and_links() -> None:
    body = (
        "{\\info{\\title A title}{\\author Somebody}{\\creatim\\yr2010\\mo2\\dy3}}"
        '{\\field{\\*\\fldinst{HYPERLINK "http://r.example/"}}{\\fldrslt link}}'
    )
    page = read_rtf(rtf(body))
    assert (page.title, page.date, page.text) == ("A title", "2010-02-03", "link")
    assert page.links == ("http://r.example/",)


@given(st.binary(max_size=300))
def test_rtf_of_any_bytes_ends(noise: bytes) -> None:
    assert reason_or_method(read_rtf, b"{\\rtf1 " + noise)


def test_a_document_is_what_its_bytes_are() -> None:
    assert CONVERTERS["application/msword"](rtf("really RTF")).text == "really RTF"
    assert CONVERTERS["application/vnd.ms-excel"](office.docx(office.paragraph("x"))).text == "x"
    with pytest.raises(Refused, match="not what its type says"):
        CONVERTERS["application/msword"](b"nothing that is known")
