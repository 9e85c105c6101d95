"""What kind of document bytes are: signatures, containers, kinds of text, and the settling."""

from __future__ import annotations

import gzip
import io
import json
import struct
import time
import zipfile

import pytest

from asof.text.kinds.containers import OLE, ZIP, iso_media_type, ole_type, zip_type
from asof.text.kinds.media import OCTETS, essence, is_of_type, media_of, sniffed
from asof.text.kinds.signatures import signature_type
from asof.text.kinds.text_kinds import binary_share

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"


def zipped(*members: tuple[str, bytes], stored: bool = False) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            plain = stored or name == "mimetype"
            # Not by the clock: these bytes stand in the names of tests.
            info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            archive.writestr(info, content, zipfile.ZIP_STORED if plain else zipfile.ZIP_DEFLATED)
    return out.getvalue()


def ole(*streams: str, embedded: str | None = None) -> bytes:
    """A compound file of one FAT sector and one or two directory sectors."""
    entries = [("Root Entry", 5, 0xFFFFFFFF, 1)]
    for number, name in enumerate(streams, 1):
        right = number + 1 if number < len(streams) else 0xFFFFFFFF
        entries.append((name, 2, right, 0xFFFFFFFF))
    if embedded is not None:
        last = entries.pop()
        entries.append((last[0], 1, last[2], len(entries) + 1))
        entries.append((embedded, 2, 0xFFFFFFFF, 0xFFFFFFFF))
    directory = b""
    for name, kind, right, child in entries:
        text = name.encode("utf-16-le") + b"\0\0"
        head = text.ljust(64, b"\0") + struct.pack("<HBB", len(text), kind, 1)
        directory += head + struct.pack("<III", 0xFFFFFFFF, right, child) + bytes(48)
    directory = directory.ljust((len(directory) + 511) // 512 * 512, b"\0")
    sectors = len(directory) // 512
    chain = [number + 1 for number in range(1, sectors)] + [0xFFFFFFFE]
    table = struct.pack(f"<{len(chain) + 1}I", 0xFFFFFFFD, *chain).ljust(512, b"\xff")
    header = (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 62, 3, 0xFFFE, 9, 6)
    )
    header = header.ljust(0x30, b"\0") + struct.pack("<I", 1)
    header = header.ljust(0x4C, b"\0") + struct.pack("<I", 0) + b"\xff" * 432
    return header.ljust(512, b"\0") + table + directory


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"%PDF-1.7\n...", "application/pdf"),
        (b"\r\n<!-- from a proxy -->\n%PDF-1.4\n", "application/pdf"),
        (b"%!PS-Adobe-3.0\n", "application/postscript"),
        (b"{\\rtf1\\ansi Hi}", "application/rtf"),
        (b"GIF89a\1\0\1\0", "image/gif"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\x10\0\0\0WAVEfmt ", "audio/wav"),
        (b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\2\0", "image/bmp"),
        (b"\0\0\1\0\1\0", "image/x-icon"),
        (b"II*\0\x08\0\0\0", "image/tiff"),
        (b"\0\0\0\x1cftypavif\0\0\0\0", "image/avif"),
        (b"\0\0\0\x18ftypisom\0\0\2\0", "video/mp4"),
        (b"\0\0\0\x18ftypM4A \0\0\2\0", "audio/mp4"),
        (b"\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x1f\x42\x82\x84webm", "video/webm"),
        (b"ID3\x04\0\0\0\0\0\x21TIT2", "audio/mpeg"),
        (b"OggS\0\2", "application/ogg"),
        (b"fLaC\0\0\0\x22", "audio/flac"),
        (b"wOF2\0\1\0\0", "font/woff2"),
        (gzip.compress(b"x", mtime=0), "application/gzip"),
        (b"7z\xbc\xaf\x27\x1c\0\4", "application/x-7z-compressed"),
        (b"WARC/1.1\r\n", "application/warc"),
        (b"x" * 257 + b"ustar\x0000" + b"\0" * 100, "application/x-tar"),
        (b"\x09\x04\x06\0\0\0\x10\0", "application/vnd.ms-excel"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_signature_proves_a_format(data: bytes, media_type: str) -> None:
    assert sniffed(data) == media_type


@pytest.mark.parametrize(
    "text",
    [
        b"BMW builds cars.",
        b"BZh is no word",
        b"CWS is short for a name",
        b"ID3",
        b"MZ",
        b"FORM 27b",
    ],
)
def test_letters_that_text_may_begin_with_prove_nothing(text: bytes) -> None:
    assert sniffed(text) == "text/plain"


@pytest.mark.parametrize(
    ("members", "media_type"),
    [
        ([("[Content_Types].xml", b"<T/>"), ("word/document.xml", b"<d/>")], DOCX),
        ([("[Content_Types].xml", b"<T/>"), ("xl/workbook.xml", b"<d/>")], XLSX),
        ([("xl/workbook.bin", b"x")], XLSX),
        ([("[Content_Types].xml", b"<T/>"), ("ppt/presentation.xml", b"<d/>")], PPTX),
        (
            [("mimetype", b"application/vnd.oasis.opendocument.text"), ("content.xml", b"<d/>")],
            "application/vnd.oasis.opendocument.text",
        ),
        (
            [("content.xml", b"<d/>"), ("mimetype", b"application/epub+zip")],
            "application/epub+zip",
        ),
        ([("META-INF/container.xml", b"<c/>"), ("a.xhtml", b"")], "application/epub+zip"),
        ([("META-INF/MANIFEST.MF", b"x")], "application/java-archive"),
        ([("readme.txt", b"word/document.xml")], ZIP),
        ([("mimetype", b"\x00\x01 evil \xff")], ZIP),
    ],
    ids=str,
)
def test_a_zip_file_is_known_by_its_members(
    members: list[tuple[str, bytes]], media_type: str
) -> None:
    assert sniffed(zipped(*members)) == media_type


def test_a_file_inside_of_a_zip_file_does_not_decide() -> None:
    inner = zipped(("xl/workbook.xml", b"<d/>"))
    outer = zipped(("ppt/embeddings/a.xlsx", inner), ("ppt/presentation.xml", b"<d/>"), stored=True)
    assert zip_type(outer) == PPTX


def test_a_zip_file_that_was_cut_off_or_has_something_before_it_is_known() -> None:
    whole = zipped(("[Content_Types].xml", b"<T/>"), ("word/document.xml", b"<d/>" * 500))
    assert zip_type(whole[:-60]) == DOCX
    assert zip_type(b"PK\x03\x04" + whole) == DOCX


@pytest.mark.parametrize(
    ("streams", "media_type"),
    [
        (("WordDocument",), "application/msword"),
        (("\x05SummaryInformation", "Workbook"), "application/vnd.ms-excel"),
        (("BOOK",), "application/vnd.ms-excel"),
        (("Current User", "PowerPoint Document"), "application/vnd.ms-powerpoint"),
        (("__properties_version1.0",), "application/vnd.ms-outlook"),
        (("a", "b", "c", "d", "e", "WordDocument"), "application/msword"),
        (("EncryptedPackage",), OLE),
    ],
)
def test_an_ole_file_is_known_by_the_streams_of_its_root(
    streams: tuple[str, ...], media_type: str
) -> None:
    assert sniffed(ole(*streams)) == media_type


def test_an_embedded_workbook_does_not_make_a_letter_a_workbook() -> None:
    assert ole_type(ole("WordDocument", "ObjectPool", embedded="Workbook")) == "application/msword"
    assert ole_type(ole("ObjectPool", embedded="Workbook")) == OLE


def test_an_ole_file_with_loops_and_lies_ends() -> None:
    data = bytearray(ole("a", "WordDocument"))
    data[512 + 4 : 512 + 8] = struct.pack("<I", 1)  # the directory's chain leads to itself
    assert ole_type(bytes(data)) == "application/msword"
    data[1024 + 128 + 72 : 1024 + 128 + 76] = struct.pack("<I", 1)  # an entry is its own sibling
    assert ole_type(bytes(data)) == OLE
    for at in range(0, len(data), 7):
        broken = bytearray(data)
        broken[at] ^= 0xFF
        ole_type(bytes(broken))
        ole_type(bytes(data[:at]))


@pytest.mark.parametrize(
    ("text", "media_type"),
    [
        ("<!DOCTYPE html><title>x</title>", "text/html"),
        ("  \n<HTML>", "text/html"),
        ("<p>Hello", "text/html"),
        ("<br>", "text/html"),
        ("<plaintext>", "text/plain"),
        ("<!-- a comment --><div >", "text/html"),
        (
            '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">',
            "application/xhtml+xml",
        ),
        ('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml"),
        ('<svg width="1">', "image/svg+xml"),
        ('<?xml version="1.0"?><!-- x --><rss version="2.0">', "application/rss+xml"),
        ("<rss>", "application/rss+xml"),
        (
            '<rdf:RDF xmlns:rdf="x" xmlns="http://purl.org/rss/1.0/">',
            "application/rss+xml",
        ),
        (
            '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
            "application/rdf+xml",
        ),
        ('<feed xmlns="http://www.w3.org/2005/Atom">', "application/atom+xml"),
        ('<a:feed xmlns:a="http://www.w3.org/2005/Atom">', "application/atom+xml"),
        ("<feed me>", "text/plain"),
        ('<?xml version="1.0"?><urlset>', "application/xml"),
        ('<?xml version="1.0"?><thing/>', "application/xml"),
        ('<!-- x --><project xmlns="urn:x">', "application/xml"),
        ('{"version": "https://jsonfeed.org/version/1.1"}', "application/feed+json"),
        ('{"a": [1, 2]}', "application/json"),
        ("[1] A footnote, not a list.", "text/plain"),
        ("{ not json", "text/plain"),
        ("BEGIN:VCALENDAR\r\nVERSION:2.0", "text/calendar"),
        ("Just words: nothing more.\n\nAnd more words.", "text/plain"),
        ("\ttabs\x1b[1m and colours\x0c", "text/plain"),
    ],
)
def test_kinds_of_text_are_told_apart(text: str, media_type: str) -> None:
    assert sniffed(text.encode()) == media_type


LETTER = (
    "Received: from a.example by b.example; Mon, 3 Jun 2024 10:00:00 +0200\r\n"
    "From: Ann <ann@a.example>\r\nTo: bob@b.example\r\nSubject: The boat\r\n"
    " and the net\r\nMIME-Version: 1.0\r\n{}\r\nHello.\r\n"
)


def test_letters_are_known_by_their_headers() -> None:
    assert sniffed(LETTER.format("").encode()) == "message/rfc822"
    saved = LETTER.format('Content-Type: multipart/related; boundary="x"\r\n')
    assert sniffed(saved.encode()) == "multipart/related"
    box = "From ann@a.example Mon Jun  3 10:00:00 2024\n" + LETTER.format("")
    assert sniffed(box.encode()) == "application/mbox"


def test_a_text_with_colons_is_no_letter() -> None:
    text = "From: the harbour\nTo: the market\nVia: the hill, as people\nhave always walked\n"
    assert sniffed(text.encode()) == "text/plain"


@pytest.mark.parametrize(
    "codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
)
def test_wide_text_is_text(codec: str) -> None:
    assert sniffed("<!DOCTYPE html><title>Früh</title>".encode(codec)) == "text/html"
    assert sniffed("Früh am Morgen, as they say".encode(codec)) == "text/plain"


def test_east_asian_text_in_utf_16_is_text_and_random_bytes_are_not() -> None:
    text = "清晨，老渔夫驾着小船出海，直到太阳落到山后才回到港口。"  # noqa: RUF001
    assert sniffed(text.encode("utf-16-le")) == "text/plain"
    noise = bytes((i * 167 + i * i * 31 + 7) % 256 for i in range(1000))
    assert sniffed(noise) == OCTETS


def test_korean_with_shifts_is_text() -> None:
    assert sniffed("이른 아침 바다로".encode("iso2022_kr")) == "text/plain"


def test_nothing_is_seen_in_no_bytes() -> None:
    assert media_of(b"") == "text/plain"
    assert media_of(b"", "text/css; charset=utf-8") == "text/css"


@pytest.mark.parametrize(
    ("value", "media_type"),
    [
        ("text/html; charset=utf-8", "text/html"),
        (" TEXT/HTML ", "text/html"),
        ("text/html, text/html", "text/html"),
        ("text/xml", "application/xml"),
        ("application/x-gzip", "application/gzip"),
        ("text", None),
        ("text/ html", None),
        ("/", None),
        ("", None),
        (None, None),
        ("a/" + "b" * 5000, None),
        ("text/\u212a", None),
    ],
)
def test_the_essence_of_a_content_type(value: str | None, media_type: str | None) -> None:
    assert essence(value) == media_type


PDF, HTML, PNG = b"%PDF-1.4\n", b"<!DOCTYPE html><p>x", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
RSS = b"<rss version='2.0'><channel/></rss>"
WORDS = b"Only words, in a row."
NOISE = bytes(range(256)) * 4


@pytest.mark.parametrize(
    ("data", "declared", "name", "settled"),
    [
        (PDF, "text/html", None, "application/pdf"),
        (PDF, "text/plain", None, "application/pdf"),
        (PNG, "image/gif", None, "image/png"),
        (HTML, "text/plain", None, "text/plain"),
        (HTML, OCTETS, None, "text/html"),
        (HTML, None, None, "text/html"),
        (HTML, "application/pdf", None, "text/html"),
        (WORDS, "image/png", None, "text/plain"),
        (WORDS, "text/html", None, "text/html"),
        (WORDS, "text/css", None, "text/css"),
        (WORDS, None, "style.css?v=1", "text/css"),
        (WORDS, "application/x-unknown", "/a/b.md", "text/markdown"),
        (WORDS, None, "/a.b/c", "text/plain"),
        (WORDS, None, "scan.png", "text/plain"),
        (b"C:\\>dir\r\nIt is done.\r\n\x1a" + b" " * 60, None, "old.txt", "text/plain"),
        (RSS, "text/html", None, "application/rss+xml"),
        (RSS, "text/xml; charset=utf-8", None, "application/rss+xml"),
        (RSS, "text/plain", None, "text/plain"),
        (HTML, "application/xhtml+xml", None, "application/xhtml+xml"),
        (b"<?xml version='1.0'?><a/>", "text/html", None, "text/html"),
        (
            b'{"version": "https://jsonfeed.org/version/1"}',
            "application/json",
            None,
            "application/feed+json",
        ),
        (b'{"a": 1}', "application/ld+json", None, "application/ld+json"),
        (NOISE, "text/html", None, OCTETS),
        (b"<x>" + b"w" * 400 + b"\x01", "text/html", None, "text/html"),
        (NOISE, "application/pdf", None, "application/pdf"),
        (NOISE, None, "x.txt", OCTETS),
        (b"\0\0\0\x18ftypisom", "audio/mp4", None, "audio/mp4"),
        (b"OggS\0\2", "video/ogg", None, "video/ogg"),
        (zipped(("a", b"b")), "application/vnd.x+zip", None, "application/vnd.x+zip"),
        (zipped(("a", b"b")), "text/html", None, ZIP),
        (zipped(("word/document.xml", b"b")), "application/zip", None, DOCX),
        (ole("x"), "application/vnd.ms-works", None, "application/vnd.ms-works"),
        (ole("x"), None, "letter.doc", "application/msword"),
        (b"{\\rtf1 x}", "text/plain", None, "application/rtf"),
    ],
    ids=str,
)
def test_what_is_settled_on(
    data: bytes, declared: str | None, name: str | None, settled: str
) -> None:
    assert media_of(data, declared, name) == settled


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04" * 300_000,
        b"PK\x03\x04" + b"\xff" * 2_000_000,
        b"PK\x05\x06" + b"\xff" * 18,
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\xff" * 2_000_000,
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(22) + b"\x09\x00" + bytes(2_000_000),
        b"<!--" * 500_000,
        b"<!DOCTYPE[" * 200_000,
        b"<?" * 500_000,
        b"[" * 1_000_000,
        b'{"a":' * 200_000,
        b" " * 4_000_000,
        b"\0" * 4_000_000,
        b"From: " * 500_000,
        b"a: b\n" * 500_000,
    ],
    ids=lambda data: repr(data[:12]),
)
def test_a_hostile_document_is_settled_soon(data: bytes) -> None:
    start = time.process_time()
    found = media_of(data, "x" * 100_000, "y." * 100_000)
    assert found
    assert time.process_time() - start < 2


def test_every_beginning_of_every_format_is_some_type() -> None:
    whole = [zipped(("word/document.xml", b"<d/>")), ole("WordDocument"), HTML, PDF, PNG]
    whole.append(LETTER.format("").encode())
    whole.append(json.dumps({"a": [1, {"b": "ü"}]}).encode())
    for data in whole:
        for end in range(len(data)):
            assert media_of(data[:end])


def test_parts_have_their_own_answers() -> None:
    assert signature_type(b"") is None
    assert iso_media_type(b"\0\0\0\x18ftypmif1\0\0\0\0mif1avif") == "image/avif"
    assert iso_media_type(b"\0\0\0\x18ftyp3gp4") == "video/3gpp"
    assert binary_share(b"") == 0.0
    assert binary_share(b"ab\0\1") == 0.5


@pytest.mark.parametrize(
    ("start", "media_type"),
    [
        (b"<!DOCTYPE HTML PUBLIC>", "text/html"),
        (b"\xef\xbb\xbf \n<html>", "text/html"),
        (b"<abbr>", "text/plain"),
        (b"GIF89a", "image/gif"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF....WEBPVP8 ", "image/webp"),
        (b"%PDF-1.7", "application/pdf"),
        (b"plain words", "text/plain"),
        (b"\x00\x01", "application/octet-stream"),
        (b"", "text/plain"),
    ],
)
def test_what_has_no_name_is_known_by_its_first_bytes(start: bytes, media_type: str) -> None:
    assert media_of(start) == media_type


@pytest.mark.parametrize(
    ("media_type", "asked", "is_meant"),
    [
        ("text/html", "html", True),
        ("text/html", "TEXT/*", True),
        ("image/png", "image", True),
        ("application/rss+xml", "rss", True),
        ("application/epub+zip", ".epub", True),
        ("application/vnd.oasis.opendocument.spreadsheet", "ods", True),
        ("message/rfc822", "eml", True),
        ("text/plain", "txt", True),
        ("text/html", "txt", False),
        ("application/rtf", "docx", False),
        ("", "pdf", False),
    ],
)
def test_types_are_asked_for_by_short_names(media_type: str, asked: str, is_meant: bool) -> None:
    assert is_of_type(media_type, asked) is is_meant
