"""What kind of document bytes are: what was declared, what they show, and what is settled on.

The rule, in words. Bytes with a signature (PDF, images, office files ...) are what it proves,
whatever a server says. Among kinds of text the server is believed, as browsers do: plain text that
looks like HTML stays plain text, and HTML that looks like nothing stays HTML; but feeds served as
HTML, and kinds of XML served as XML in general, are taken for what they are. A declared binary
format whose bytes are a page is a page: an error, sent in the place of the file. If nothing is
declared, or only "octets", a file's name helps where the bytes are vague.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from asof.text.encoding.labels import encoding_named
from asof.text.encoding.prescan import declared_label
from asof.text.kinds.containers import OLE, ZIP
from asof.text.kinds.signatures import signature_type
from asof.text.kinds.text_kinds import binary_share, text_type

OCTETS = "application/octet-stream"
PAGES = frozenset(("text/html", "application/xhtml+xml"))
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+/[!#$%&'*+.^_`|~0-9a-z-]+")
# One of several values in a field: a comma between quotes does not end it.
_VALUE = re.compile(r'(?:[^",]|"(?:[^"\\]|\\.)*+(?:"|\Z))++', re.DOTALL)
_LONGEST = 200

# What servers say who do not know.
_SAYS_NOTHING = frozenset(
    [
        *(OCTETS, "binary/octet-stream", "content/unknown", "unknown/unknown", "*/*"),
        *(f"application/{word}" for word in ("binary", "download", "save", "unknown")),
        *(f"application/x-{word}" for word in ("download", "unknown", "unknown-content-type")),
        *("application/force-download", "application/x-force-download"),
    ]
)
# Of these, browsers look at the bytes (WHATWG MIME Sniffing, section 7).
_UNKNOWN = frozenset(("unknown/unknown", "application/unknown", "*/*"))
_OTHER_NAMES = {
    **dict.fromkeys(("text/rtf", "text/richtext", "application/x-rtf"), "application/rtf"),
    **dict.fromkeys(("application/x-zip-compressed", "application/x-zip"), ZIP),
    **dict.fromkeys(("image/jpg", "image/pjpeg"), "image/jpeg"),
    "application/x-pdf": "application/pdf",
    "application/x-gzip": "application/gzip",
    "text/json": "application/json",
    "text/xml": "application/xml",
    "image/vnd.microsoft.icon": "image/x-icon",
    "message/rfc2822": "message/rfc822",
    "application/xhtml": "application/xhtml+xml",
}
_ENDINGS = {
    "css": "text/css",
    "csv": "text/csv",
    "doc": "application/msword",
    "eml": "message/rfc822",
    "htm": "text/html",
    "html": "text/html",
    "ics": "text/calendar",
    "js": "text/javascript",
    "json": "application/json",
    "md": "text/markdown",
    "mht": "multipart/related",
    "mhtml": "multipart/related",
    "mjs": "text/javascript",
    "ppt": "application/vnd.ms-powerpoint",
    "rst": "text/x-rst",
    "tex": "application/x-tex",
    "tsv": "text/tab-separated-values",
    "txt": "text/plain",
    "vtt": "text/vtt",
    "xhtml": "application/xhtml+xml",
    "xls": "application/vnd.ms-excel",
    "xml": "application/xml",
}
# Words by which people ask for types that have no part of that name.
_CALLED = _ENDINGS | {
    "atom": "application/atom+xml",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "epub": "application/epub+zip",
    "mail": "message/rfc822",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odt": "application/vnd.oasis.opendocument.text",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "rss": "application/rss+xml",
    "svg": "image/svg+xml",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_FEEDS = frozenset(("application/rss+xml", "application/atom+xml"))
_TEXTS = re.compile(
    r"text/.*|.*[+/](?:xml|json)|message/.*|multipart/.*|application/(?:mbox|rtf|postscript"
    r"|(?:x-)?(?:java|ecma)script|x-tex|x-latex|x-sh|sql|yaml|x-yaml|vnd\.apple\.mpegurl)"
)
_BINARIES = re.compile(
    r"(?:image|audio|video|font)/(?!svg).*|application/(?:pdf|zip|gzip|msword|epub\+zip|ogg"
    r"|vnd\.ms-.*|vnd\.openxmlformats.*|vnd\.oasis.*|x-7z.*|vnd\.rar|java-archive)"
)
# Controls in a page that was declared as text: more than this share, and it is none.
_STRAY = 0.02


def media_of(data: bytes, declared: str | None = None, name: str | None = None) -> str:
    """The media type of a document. `declared` is a Content-Type value, `name` a file or URL."""
    said = essence(declared)
    if said in _SAYS_NOTHING:
        said = None
    seen = sniffed(data)
    named = _ending_type(name)
    if seen is None:
        return said or named or "text/plain"  # nothing in it is binary (MIME Sniffing, 7.1)
    if said is None:
        return named if named and _refines(named, seen, binary_share(data)) else seen
    if said == seen:
        return said
    if _TEXTS.fullmatch(seen) or seen == "application/feed+json":
        return _settled_text(said, seen)
    if seen == OCTETS:
        plain = _TEXTS.fullmatch(said) and binary_share(data) > _STRAY
        return OCTETS if plain else said
    return said if _same_family(said, seen) else seen


class ContentType(NamedTuple):
    """What is declared of a body: type and subtype in lower case, the encoding by its own name."""

    media: str
    charset: str | None = None

    def coded(self, charset: str | None) -> "ContentType":
        """The same in another encoding, if one is given."""
        return self._replace(charset=charset) if charset else self

    def __str__(self) -> str:
        return f"{self.media}; charset={self.charset}" if self.charset else self.media


def content_type(values: Iterable[str]) -> ContentType | None:
    """What the Content-Type fields of an answer say together; None if that is nothing.

    Of several types, in several fields or in one, the last counts that is well formed, as in
    browsers (WHATWG Fetch, "extract a MIME type"), which keep the encoding of an equal one before.
    """
    found = None
    for value in _VALUE.findall(",".join(values)[: _LONGEST * 8]):
        written = value.partition(";")[0].strip(" \t\r\n")
        media = written.lower() if written.isascii() else ""
        if len(media) > _LONGEST or not _TOKEN.fullmatch(media) or media in _UNKNOWN:
            continue
        media = _OTHER_NAMES.get(media, media)
        charset = encoding_named(declared_label(value) or "")
        same = found is not None and found.media == media
        found = ContentType(media, charset or (found.charset if found and same else None))
    return found


@lru_cache(maxsize=64)
def essence(content_type_value: str | None) -> str | None:
    """Type and subtype of a Content-Type value, in lower case; None if it is malformed."""
    found = content_type((content_type_value or "",))
    return found.media if found else None


def sniffed(data: bytes) -> str | None:
    return (signature_type(data) or text_type(data)) if data else None


def _ending_type(name: str | None) -> str | None:
    if not name:
        return None
    path = re.split(r"[?#]", name[-2048:], maxsplit=1)[0]
    stem, dot, ending = path.rpartition("/")[2].rpartition(".")
    return _ENDINGS.get(ending.lower()) if dot and stem else None


def _settled_text(said: str, seen: str) -> str:
    """The bytes are text of some kind."""
    # A page or words in the place of a file: what was sent is the page.
    if seen == "application/rtf" or _BINARIES.fullmatch(said):
        return seen
    if said == "text/html":
        return seen if seen in _FEEDS or seen == "multipart/related" else said
    if said == "application/xml" or (said.endswith("+xml") and seen in _FEEDS):
        return seen if seen.endswith("+xml") else said
    if said == "application/json":
        return seen if seen == "application/feed+json" else said
    return said


def _refines(named: str, seen: str, controls: float) -> bool:
    """Whether a file's name may say more of it than its bytes."""
    if seen == "text/plain" or (seen == OCTETS and controls <= _STRAY):
        return _TEXTS.fullmatch(named) is not None
    if seen == OLE:
        return named in ("application/msword", "application/vnd.ms-excel") or "ms-" in named
    if seen in ("message/rfc822", "multipart/related"):
        return named in ("message/rfc822", "multipart/related")
    return seen == "application/xml" and named == "application/xhtml+xml"


def _same_family(said: str, seen: str) -> bool:
    """Whether a declaration only says more of what the signature proves."""
    if seen == ZIP:
        return said.startswith("application/") and not _TEXTS.fullmatch(said)
    if seen == OLE:
        return said.startswith("application/") and ("ms-" in said or said == "application/msword")
    if seen in ("video/mp4", "audio/mp4"):
        return said in ("audio/mp4", "video/mp4", "audio/x-m4a", "video/x-m4v", "application/mp4")
    if seen == "application/ogg":
        return said in ("audio/ogg", "video/ogg", "audio/opus")
    if seen in ("video/webm", "video/x-matroska"):
        return said in ("audio/webm", "video/webm", "video/x-matroska", "audio/x-matroska")
    if seen in ("application/gzip", "image/tiff"):
        return said.endswith(("+gzip", "/svg+xml", "/warc")) or said.startswith("image/x-")
    if seen in ("audio/wav", "video/avi", "audio/aiff"):
        return said.split("/")[-1].removeprefix("x-") in seen or said == "video/x-msvideo"
    return False


def is_binary(media_type: str | None) -> bool:
    """Whether it is one of those that are surely no text."""
    return _BINARIES.fullmatch(media_type or "") is not None


def is_of_type(media_type: str, asked: str) -> bool:
    """Whether it is of the types that somebody asks for: `html` and `image` mean `*/html` and
    `image/*`, `docx` what files of that name are.
    """
    asked = asked.lower().removeprefix(".")
    if "/" in asked:
        return fnmatchcase(media_type, asked)
    return asked in media_type.split("/") or _CALLED.get(asked) == media_type
