"""Readers of document formats: `CONVERTERS` has one for every media type that has words in it.

A reader takes bytes and gives a `Page`, or raises `Refused` with a reason and what it found before.
Types lie: a DOC may be RTF, and a DOCX a workbook. What a file is inside of its wrapping, ZIP
archive or compound file, is decided by what lies there, whatever its type says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module

from asof.text.convert.found import Fill, Found, Refused, broken, reader
from asof.text.document import Page

__all__ = ["CONVERTERS", "TEXTS", "Refused", "by_magic"]

Convert = Callable[[bytes], Page]
FillText = Callable[[str, Found], None]

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OOXML = "application/vnd.openxmlformats-officedocument."
_ODF = "application/vnd.oasis.opendocument."
# The stream of a compound file that tells what it is, in the order of asking: a message may have
# a workbook in it, under a longer path.
_STREAMS = (
    ("encryptedpackage", "encrypted"),
    ("worddocument", "doc"),
    ("powerpoint document", "ppt"),
    ("workbook", "xls"),
    ("book", "xls"),
    ("__properties_version1.0", "msg"),
)
_OTHERS = (
    ("quill/quillsub/contents", "a Publisher document"),
    ("visiodocument", "a Visio drawing"),
    ("pp40", "a presentation of PowerPoint 4"),
    ("matost", "a document of Works"),
    ("mm", "a document of Works"),
)
# First bytes of files of Excel 2 to 4 and Word 1 and 2.
_OLD_EXCEL = (b"\x09\x00\x04\x00", b"\x09\x00\x06\x00", b"\x09\x02\x06\x00", b"\x09\x04\x06\x00")
_OLD_WORD = (b"\xdb\xa5", b"\x9b\xa5", b"\x31\xbe\x00\x00")


def _lazy(module: str, function: str, method: str) -> Convert:
    """A reader whose module is loaded when the first document of its kind comes."""

    def read(data: bytes) -> Page:
        return _reader(module, function, method)(data)

    read.__name__ = f"read_{method}"
    return read


@cache
def _reader(module: str, function: str, method: str) -> Convert:
    fill: Fill = getattr(import_module(f"asof.text.convert.{module}"), function)
    return reader(method, fill)


read_pdf = _lazy("pdf", "fill_pdf", "pdf")
read_rtf = _lazy("rtf", "fill_rtf", "rtf")
_read_epub = _lazy("epub", "fill_epub", "epub")
_read_odf = _lazy("odf", "fill_odf", "odf")
_read_archive = _lazy("archive", "fill_zip", "zip")
_read_old_doc = _lazy("doc", "fill_old_doc", "doc")
_read_old_xls = _lazy("xls", "fill_old_xls", "xls")


def read_zip(data: bytes) -> Page:
    """A document that is a ZIP archive: of an office, a book, or an archive of documents."""
    from asof.text.convert.zip_parts import Parts

    parts = Parts(data)
    kind = b""
    if parts.find("mimetype"):
        kind = parts.read("mimetype", 1000).strip().lower()
    if kind == b"application/epub+zip" or parts.find("META-INF/container.xml"):
        return _read_epub(data)
    if parts.find("[Content_Types].xml") or parts.find("_rels/.rels"):
        return _read_package(data)
    if parts.find("content.xml") and (kind or parts.find("META-INF/manifest.xml")):
        return _read_odf(data)
    if any(map(parts.find, ("word/document.xml", "ppt/presentation.xml", "xl/workbook.xml"))):
        return _read_package(data)
    return _read_archive(data)


def _read_package(data: bytes) -> Page:
    from asof.text.convert.ooxml import Package

    try:
        package = Package(data)
        kind = package.kind()
    except Refused:
        if data[:2] == b"PK" and b"word/" not in data and b"xl/" not in data:
            return _read_archive(data)
        raise
    module = "docx" if kind == "xps" else kind
    fill = getattr(import_module(f"asof.text.convert.{module}"), f"fill_{kind}")
    return reader(kind, lambda _, found: fill(package, found))(data)


def read_ole(data: bytes) -> Page:
    """A document that is a compound file: of Word, Excel, PowerPoint or Outlook."""
    from asof.text.convert.ole import Compound

    try:
        compound = Compound(data)
    except Refused:
        raise
    except Exception as error:  # foreign bytes trip a reader in any way there is
        raise Refused(broken(error)) from error
    kind = next((kind for stream, kind in _STREAMS if compound.has(stream)), "")
    if kind == "encrypted":
        raise Refused("is encrypted")
    if not kind:
        what = next((what for stream, what in _OTHERS if compound.has(stream)), "")
        raise Refused(f"is {what}, which is not read" if what else "is no document that is known")
    fill = getattr(import_module(f"asof.text.convert.{kind}"), f"fill_{kind}")
    return reader(kind, lambda _, found: fill(compound, found))(data)


def by_magic(data: bytes) -> Convert | None:
    """The reader that the first bytes of a document ask for, if they are of a known kind."""
    if data.startswith(b"PK\x03\x04"):
        return read_zip
    if data.startswith(_OLE):
        return read_ole
    if b"%PDF-" in data[:1024]:
        return read_pdf
    if data[:16].lstrip().startswith(b"{\\rtf"):
        return read_rtf
    if data.startswith(_OLD_WORD):
        return _read_old_doc
    if data.startswith(_OLD_EXCEL):
        return _read_old_xls
    return None


def _office(data: bytes) -> Page:
    """A document that calls itself one of an office; what it is, its first bytes tell."""
    read = by_magic(data)
    if read is not None:
        return read(data)
    if data[:16].lstrip().startswith(b"{\\"):
        return read_rtf(data)
    start = data.find(b"PK\x03\x04", 0, 1 << 16)  # an archive with something before it
    if start < 0:
        raise Refused("is not what its type says, and nothing else that is known")
    return read_zip(data[start:])


def _same(types: Iterable[str], read: Convert) -> dict[str, Convert]:
    return dict.fromkeys(types, read)


_WORDS = ("document", "template", "document.macroenabled.12", "template.macroenabled.12")
_SHEETS = ("sheet", "template", "addin", "sheet.binary")
_SLIDES = ("presentation", "slideshow", "template", "slide", "addin")

CONVERTERS: dict[str, Convert] = {
    **_same(("application/pdf", "application/x-pdf"), read_pdf),
    **_same(("application/rtf", "text/rtf", "text/richtext"), _office),
    **_same((f"{_OOXML}wordprocessingml.{kind}" for kind in ("document", "template")), _office),
    **_same((f"{_OOXML}spreadsheetml.{kind}" for kind in ("sheet", "template")), _office),
    **_same((f"{_OOXML}presentationml.{kind}" for kind in _SLIDES), _office),
    **_same((f"application/vnd.ms-word.{kind}" for kind in _WORDS), _office),
    **_same((f"application/vnd.ms-excel.{kind}.macroenabled.12" for kind in _SHEETS), _office),
    **_same((f"application/vnd.ms-powerpoint.{kind}.macroenabled.12" for kind in _SLIDES), _office),
    **_same(("application/oxps", "application/vnd.ms-xpsdocument"), _office),
    **_same(
        (
            f"{_ODF}{kind}{template}"
            for kind in (
                "text",
                "text-master",
                "text-web",
                "spreadsheet",
                "presentation",
                "graphics",
            )
            for template in ("", "-template")
        ),
        _office,
    ),
    **_same(
        (f"application/vnd.sun.xml.{kind}" for kind in ("writer", "calc", "impress", "draw")),
        _office,
    ),
    **_same(("application/msword", "application/vnd.ms-word"), _office),
    **_same(("application/vnd.ms-excel", "application/vnd.ms-powerpoint"), _office),
    **_same(("application/vnd.ms-outlook", "application/x-ole-storage"), _office),
    **_same(("application/x-cfb", "application/x-tika-msoffice"), _office),
    "application/epub+zip": _office,
    **_same(("application/zip", "application/x-zip-compressed"), _office),
    **_same(("application/gzip", "application/x-gzip"), _lazy("archive", "fill_gzip", "gzip")),
    "message/rfc822": _lazy("mail", "fill_mail", "mail"),
    **_same(("application/mbox", "application/x-mbox"), _lazy("mail", "fill_mbox", "mbox")),
    **_same(
        ("multipart/related", "application/x-mimearchive", "message/related"),
        _lazy("mail", "fill_mhtml", "mhtml"),
    ),
}


def _lazy_text(module: str, function: str, method: str) -> Callable[[str], Page]:
    def read(text: str) -> Page:
        fill: FillText = getattr(import_module(f"asof.text.convert.{module}"), function)
        return reader(method, lambda _, found: fill(text, found))(b"")

    return read


read_text = _lazy_text("plain", "fill_plain", "plain")
read_xml = _lazy_text("xml_text", "fill_xml", "xml")
_read_json = _lazy_text("plain", "fill_json", "json")
_read_feed = _lazy_text("xml_text", "fill_feed", "feed")

# Formats that are characters: their bytes are decoded first. Other text/* is plain text, and
# other types that end in +xml or +json are what they end in.
TEXTS: dict[str, Callable[[str], Page]] = {
    "text/plain": read_text,
    "image/svg+xml": _lazy_text("xml_text", "fill_svg", "svg"),
    **dict.fromkeys(("application/xml", "text/xml"), read_xml),
    **dict.fromkeys(("application/json", "text/json"), _read_json),
    **dict.fromkeys(
        (
            *("application/rss+xml", "application/atom+xml", "application/rdf+xml"),
            "application/feed+json",
        ),
        _read_feed,
    ),
    **dict.fromkeys(("application/javascript", "application/x-javascript"), read_text),
    **dict.fromkeys(("application/ecmascript", "application/x-sh"), read_text),
    **dict.fromkeys(("application/x-ndjson", "application/jsonl", "application/yaml"), read_text),
    **dict.fromkeys(("application/toml", "application/x-yaml", "application/sql"), read_text),
}


def text_reader(media_type: str) -> Callable[[str], Page] | None:
    """The reader of a format that is characters; None for one that is not."""
    known = TEXTS.get(media_type)
    if known is not None:
        return known
    if media_type.endswith("+xml"):
        return read_xml
    if media_type.endswith("+json"):
        return _read_json
    return read_text if media_type.startswith("text/") else None
