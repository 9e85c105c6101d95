"""Reading: any bytes become a document, with its words or with a reason."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.text import read as module
from asof.text.convert import CONVERTERS, TEXTS
from asof.text.document import Document
from asof.text.read import read
from support import office_files as office

SAMPLES = {
    "a.docx": office.docx(office.paragraph("Hello")),
    "a.pptx": office.pptx([office.slide(office.shape("Hello"))]),
    "a.xlsx": office.xlsx({"Hello": ""}),
    "a.odt": office.odf("<office:text><text:p>Hello</text:p></office:text>"),
    "a.fodt": office.flat_odf("<office:text><text:p>Hello</text:p></office:text>"),
    "a.epub": office.epub({"a.xhtml": "<p>Hello</p>"}),
    "a.doc": office.doc([("Hello", False)]),
    "a.xls": office.xls({"Hello": b""}),
    "a.ppt": office.ppt(["Hello"]),
    "a.pdf": office.pdf(["Hello"]),
    "a.rtf": b"{\\rtf1 Hello}",
    "a.eml": b"From: a@example.org\nSubject: s\nMIME-Version: 1.0\n\nHello\n",
    "a.rss": b'<?xml version="1.0"?><rss><channel><title>Hello</title></channel></rss>',
    "a.svg": b'<svg xmlns="http://www.w3.org/2000/svg"><text>Hello</text></svg>',
    "a.xml": b'<?xml version="1.0"?><doc>Hello</doc>',
    "a.html": b"<!doctype html><title>t</title><p>Hello</p>",
    "a.txt": b"Hello",
    "a.csv": b"Hello,1\nb,2\n",
    "a.json": b'{"a": "Hello"}',
}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_format_is_read_by_its_name(name: str) -> None:
    document = read(SAMPLES[name], name=name)
    assert document.error is None
    assert "Hello" in document.text
    assert "Hello" in document.main
    assert document.method


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in ("a.txt", "a.csv")])
def test_every_format_is_known_by_its_bytes(name: str) -> None:
    document = read(SAMPLES[name])
    assert document.error is None
    assert "Hello" in document.text


@pytest.mark.parametrize("name", ["a.docx", "a.doc", "a.pdf", "a.xls", "a.epub"])
@pytest.mark.parametrize("declared", ["text/html", "application/octet-stream", "text/plain"])
def test_a_wrong_type_does_not_hide_a_document(name: str, declared: str) -> None:
    assert "Hello" in read(SAMPLES[name], declared).text


@pytest.mark.parametrize(
    ("data", "declared", "reason"),
    [
        (b"", None, "is empty"),
        (b" \n\0 ", "text/plain", "has nothing but blanks"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "image/png", "is image/png, of which no text is read"),
        (b"PK\x03\x04 and no more", "application/zip", "is a damaged ZIP archive without any part"),
        (b"%PDF-1.7 and no more", "application/pdf", "is damaged: no page of it can be found"),
    ],
)
def test_what_cannot_be_read_has_a_reason(data: bytes, declared: str | None, reason: str) -> None:
    document = read(data, declared)
    assert (document.text, document.error) == ("", reason)


def test_charset_and_language_are_told() -> None:
    text = "Das ist ein deutscher Text mit Umlauten: über, schön, größer. " * 5
    document = read(text.encode("iso-8859-1"), "text/plain; charset=iso-8859-1")
    assert document.charset == "windows-1252"
    assert document.language == "de"
    assert document.text == text.strip()


def test_what_was_found_before_the_trouble_is_kept() -> None:
    whole = SAMPLES["a.docx"]
    broken = office.docx("", parts={"word/document.xml": "<d><p><t>Half</t></p><p><t>lost"})
    assert read(whole).error is None
    document = read(broken)
    assert document.text.startswith("Half")
    assert document.error is not None
    assert document.title == "A report"


def test_a_reader_that_stumbles_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(data: bytes) -> None:
        raise ZeroDivisionError("over nothing")

    monkeypatch.setitem(CONVERTERS, "application/pdf", stumble)
    assert read(SAMPLES["a.pdf"]).error == "is damaged (ZeroDivisionError: over nothing)"


def test_a_lack_of_memory_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def starve(data: bytes) -> None:
        raise MemoryError

    monkeypatch.setitem(CONVERTERS, "application/pdf", starve)
    assert read(SAMPLES["a.pdf"]).error == module.OUT_OF_MEMORY


@given(st.binary(max_size=500), st.sampled_from([*CONVERTERS, *TEXTS, "text/html"]))
def test_any_bytes_of_any_type(data: bytes, declared: str) -> None:
    document = read(data, declared)
    assert isinstance(document, Document)
    for text in (document.title or "", document.text, document.main, *document.links):
        text.encode("utf-8")


@given(st.sampled_from(sorted(SAMPLES)), st.integers(0, 5000), st.binary(min_size=1, max_size=20))
def test_damage_anywhere(name: str, place: int, noise: bytes) -> None:
    if name == "a.pdf":  # C++ is given damaged bytes in a child only (test_hostile_documents)
        return
    data = bytearray(SAMPLES[name])
    place %= len(data)
    data[place : place + len(noise)] = noise
    assert isinstance(read(bytes(data), name=name), Document)


def test_readers_are_loaded_when_they_are_needed() -> None:
    code = (
        "import sys; import asof.text.sandbox, asof.text.convert\n"
        "heavy = ('lxml', 'pypdfium2', 'trafilatura', 'numpy', 'email.parser', 'zipfile')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_page_that_is_cut_says_so() -> None:
    """What was read stays beside the reason."""
    found = read(b"<p>First words.</p>" + b"<i>x</i>" * 2_200_000, "text/html")
    assert found.text.startswith("First words.")
    assert found.error is not None
    assert "the rest is left out" in found.error
