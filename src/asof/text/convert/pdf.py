"""PDF: the text layer in the order of the page's content, by pdfium.

pypdfium2 reads five times as many files a second as pypdf and is under the licences of Apache and
BSD. It is C++ that parses hostile bytes, so it belongs into a child process (`sandbox`); it opens
files with an empty password and rebuilds tables of objects that are broken or lost.
"""

import ctypes
import re
from collections.abc import Callable
from contextlib import closing

from pypdfium2 import PdfDocument, PdfiumError, PdfPage, raw

from asof.text.convert.found import Found, Refused, day_of, tag_of

MAX_PAGES = 10_000
_MAX_LINKS_A_PAGE = 10_000
_MAX_ANNOTATIONS = 1_000
_DATE = re.compile(r"(?:D:)?(\d{4})-?(\d{2})?-?(\d{2})?")
# pdfium marks a hyphen at the end of a line this way: the word goes on in the next line.
_HYPHEN = re.compile("[\ufffe\x02]\r?\n?")
_LIGATURES = dict(enumerate(("ff", "fi", "fl", "ffi", "ffl", "st", "st"), 0xFB00)) | {0xAD: None}
# Names that a program gave, not a person.
_NO_TITLE = re.compile(
    r"(?:untitled|titel|slide|document|pdf)\W*\d*|.{0,2}|[\w-]+\.tmp", re.IGNORECASE
)


def fill_pdf(data: bytes, found: Found) -> None:
    """The text of all pages, the addresses they lead to, title, date and language."""
    start = data.find(b"%PDF-", 0, 1 << 16)
    try:
        document = PdfDocument(data[start:] if start > 0 else data)
    except PdfiumError as error:
        code = getattr(error, "err_code", None)
        locked = code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
        reason = "is encrypted" if locked else "is damaged: no page of it can be found"
        raise Refused(reason) from error
    with closing(document):
        _properties(document, found)
        if len(document) == 0:
            raise Refused("has no pages")
        if document.get_formtype() == raw.FORMTYPE_ACRO_FORM:
            document.init_forms()  # which draws the fields that nobody has drawn
        numbers = range(min(len(document), MAX_PAGES))
        broken = sum(not _page(document, number, found) for number in numbers)
        if len(document) > MAX_PAGES:
            raise Refused(f"has more than {MAX_PAGES:,} pages, the rest is left out")
        if broken:
            raise Refused(f"is damaged: {broken} of its {len(document)} pages cannot be read")
        if not found.has_text:
            raise Refused("has no text layer")


def _properties(document: PdfDocument, found: Found) -> None:
    title = _property(document, b"Title")
    found.title = None if _NO_TITLE.fullmatch(title) else title
    for key in (b"ModDate", b"CreationDate"):
        match = _DATE.match(_property(document, key))
        if match is not None:
            day = f"{match[1]}-{match[2] or '01'}-{match[3] or '01'}"
            found.date = found.date or day_of(day)
    language = _answer(200, raw.FPDFCatalog_GetLanguage, document)
    found.language = tag_of(language[:-2].decode("utf-16-le", "replace"))


def _property(document: PdfDocument, key: bytes) -> str:
    value = _answer(1 << 16, raw.FPDF_GetMetaText, document, key)
    return value[:-2].decode("utf-16-le", "replace").strip()


def _answer(most: int, ask: Callable[..., int], *about: object) -> bytes:
    """What pdfium knows, asked first for its size; nothing if that is `most` or more."""
    size = ask(*about, None, 0)
    if not 0 < size < most:
        return b""
    buffer = ctypes.create_string_buffer(size)
    ask(*about, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw


def _page(document: PdfDocument, number: int, found: Found) -> bool:
    """Add a page; False if it cannot be opened."""
    try:
        page = document[number]
    except PdfiumError:
        return False
    try:
        _links(document, page, found)
        if _has_notes(page):
            page = _flattened(document, page, number)
        with closing(page.get_textpage()) as text_page:
            found.line(_clean(text_page.get_text_bounded(-1e6, -1e6, 1e6, 1e6)))
    except PdfiumError:
        return False
    finally:
        page.close()
    return True


def _clean(text: str) -> str:
    return _HYPHEN.sub("", text).translate(_LIGATURES)


def _has_notes(page: PdfPage) -> bool:
    """Whether something is drawn over the page that has text: fields of forms, notes, stamps."""
    drawn = (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP)
    for number in range(min(raw.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, number)
        if annotation:
            subtype = raw.FPDFAnnot_GetSubtype(annotation)
            raw.FPDFPage_CloseAnnot(annotation)
            if subtype in drawn:
                return True
    return False


def _flattened(document: PdfDocument, page: PdfPage, number: int) -> PdfPage:
    """The page with its notes and fields made part of its content, where pdfium finds text."""
    if raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) != raw.FLATTEN_SUCCESS:
        return page
    page.close()
    return document[number]


def _links(document: PdfDocument, page: PdfPage, found: Found) -> None:
    """The addresses of link annotations (ISO 32000, section 12.6.4.7)."""
    place = ctypes.c_int(0)
    link = raw.FPDF_LINK()
    for _ in range(_MAX_LINKS_A_PAGE):
        if not raw.FPDFLink_Enumerate(page, ctypes.byref(place), ctypes.byref(link)):
            return
        action = raw.FPDFLink_GetAction(link)
        if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
            continue
        path = _answer(8192, raw.FPDFAction_GetURIPath, document, action)
        found.link(path.partition(b"\0")[0].decode("utf-8", "replace"))
