"""Readers of document formats: `CONVERTERS` has one for every media type that has words in it.

A reader takes bytes and gives a `Document`, or raises `Refused` with a reason and what it found
before. Types lie: a DOC may be RTF, and a DOCX a workbook. What a file is inside of its wrapping,
ZIP archive or compound file, is decided by what lies there, whatever its type says.
"""

from collections.abc import Callable
from importlib import import_module

from asof.text.convert.found import Found, Refused, Source, broken, filled
from asof.text.document import Document
from asof.text.kinds.containers import OLE_START

__all__ = ["CONVERTERS", "TEXTS", "Refused", "by_magic"]

Convert = Callable[[bytes], Document]

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


def _lazy(method: str, module: str = "", function: str = "") -> Callable[[Source], Document]:
    """A reader whose module is loaded when the first document of its kind comes.

    It is the function `fill_` of the method's name, in the module of that name, if not said.
    """

    def read(source: Source) -> Document:
        place = import_module(f"asof.text.convert.{module or method}")
        fill: Callable[[Source, Found], None] = getattr(place, function or f"fill_{method}")
        return filled(method, fill, source)

    return read


read_pdf: Convert = _lazy("pdf")
read_rtf: Convert = _lazy("rtf")
_read_archive: Convert = _lazy("zip", "archive")


def read_zip(data: bytes) -> Document:
    """A document that is a ZIP archive: of an office, a book, or an archive of documents."""
    from asof.text.convert.zip_parts import Parts

    parts = Parts(data)
    kind = b""
    if parts.find("mimetype"):
        kind = parts.read("mimetype", 1000).strip().lower()
    if kind == b"application/epub+zip" or parts.find("META-INF/container.xml"):
        return _lazy("epub")(data)
    if parts.find("[Content_Types].xml") or parts.find("_rels/.rels"):
        return _read_package(data)
    if parts.find("content.xml") and (kind or parts.find("META-INF/manifest.xml")):
        return _lazy("odf")(data)
    if any(map(parts.find, ("word/document.xml", "ppt/presentation.xml", "xl/workbook.xml"))):
        return _read_package(data)
    return _read_archive(data)


def _read_package(data: bytes) -> Document:
    from asof.text.convert.ooxml import Package

    try:
        package = Package(data)
        kind = package.kind()
    except Refused:
        if data[:2] == b"PK" and b"word/" not in data and b"xl/" not in data:
            return _read_archive(data)
        raise
    return _lazy(kind, "docx" if kind == "xps" else kind)(package)


def read_ole(data: bytes) -> Document:
    """A document that is a compound file: of Word, Excel, PowerPoint or Outlook."""
    from asof.text.convert.ole import Compound

    try:
        compound = Compound(data)
    except Exception as error:  # foreign bytes trip a reader in any way there is
        raise Refused(broken(error)) from error
    kind = next((kind for stream, kind in _STREAMS if compound.has(stream)), "")
    if kind == "encrypted":
        raise Refused("is encrypted")
    if not kind:
        what = next((what for stream, what in _OTHERS if compound.has(stream)), "")
        raise Refused(f"is {what}, which is not read" if what else "is no document that is known")
    return _lazy(kind)(compound)


def by_magic(data: bytes) -> Convert | None:
    """The reader that the first bytes of a document ask for, if they are of a known kind."""
    if data.startswith(b"PK\x03\x04"):
        return read_zip
    if data.startswith(OLE_START):
        return read_ole
    if b"%PDF-" in data[:1024]:
        return read_pdf
    if data[:16].lstrip().startswith(b"{\\rtf"):
        return read_rtf
    if data.startswith(_OLD_WORD):
        return _lazy("doc", function="fill_old_doc")
    return _lazy("xls", function="fill_old_xls") if data.startswith(_OLD_EXCEL) else None


def _office(data: bytes) -> Document:
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


# Media types after `application/`, by what they begin with; what one is also called stands in
# `kinds.media`.
_SLIDES = ("presentation", "slideshow", "template", "slide", "addin")
_FAMILIES = {
    "": (
        *("rtf", "msword", "vnd.ms-word", "vnd.ms-excel", "vnd.ms-powerpoint", "vnd.ms-outlook"),
        *("x-ole-storage", "x-cfb", "x-tika-msoffice", "oxps", "vnd.ms-xpsdocument"),
        *("epub+zip", "zip"),
    ),
    "vnd.openxmlformats-officedocument.wordprocessingml.": ("document", "template"),
    "vnd.openxmlformats-officedocument.spreadsheetml.": ("sheet", "template"),
    "vnd.openxmlformats-officedocument.presentationml.": _SLIDES,
    "vnd.ms-word.": (
        "document",
        "template",
        "document.macroenabled.12",
        "template.macroenabled.12",
    ),
    "vnd.ms-excel.": tuple(
        f"{kind}.macroenabled.12" for kind in ("sheet", "template", "addin", "sheet.binary")
    ),
    "vnd.ms-powerpoint.": tuple(f"{kind}.macroenabled.12" for kind in _SLIDES),
    "vnd.oasis.opendocument.": tuple(
        f"{kind}{template}"
        for kind in ("text", "text-master", "text-web", "spreadsheet", "presentation", "graphics")
        for template in ("", "-template")
    ),
    "vnd.sun.xml.": ("writer", "calc", "impress", "draw"),
}
CONVERTERS: dict[str, Convert] = {
    **{
        f"application/{family}{kind}": _office for family in _FAMILIES for kind in _FAMILIES[family]
    },
    "application/pdf": read_pdf,
    "application/gzip": _lazy("gzip", "archive"),
    "message/rfc822": _lazy("mail"),
    **dict.fromkeys(("application/mbox", "application/x-mbox"), _lazy("mbox", "mail")),
    **dict.fromkeys(
        ("multipart/related", "application/x-mimearchive", "message/related"),
        _lazy("mhtml", "mail"),
    ),
}

read_text: Callable[[str], Document] = _lazy("plain")
read_xml: Callable[[str], Document] = _lazy("xml", "xml_text")
_read_json: Callable[[str], Document] = _lazy("json", "plain")

# Formats that are characters: their bytes are decoded first. Other text/* is plain text, and
# other types that end in +xml or +json are what they end in.
_FEEDS = ("rss+xml", "atom+xml", "rdf+xml", "feed+json")
_PLAIN = ("javascript", "x-javascript", "ecmascript", "x-sh", "x-ndjson", "jsonl", "yaml", "x-yaml")
TEXTS: dict[str, Callable[[str], Document]] = {
    "image/svg+xml": _lazy("svg", "xml_text"),
    "application/xml": read_xml,
    "application/json": _read_json,
    **dict.fromkeys((f"application/{kind}" for kind in _FEEDS), _lazy("feed", "xml_text")),
    **dict.fromkeys((f"application/{kind}" for kind in (*_PLAIN, "toml", "sql")), read_text),
}


def text_reader(media_type: str) -> Callable[[str], Document] | None:
    """The reader of a format that is characters; None for one that is not."""
    known = TEXTS.get(media_type)
    if known is not None:
        return known
    if media_type.endswith("+xml"):
        return read_xml
    if media_type.endswith("+json"):
        return _read_json
    return read_text if media_type.startswith("text/") else None
