"""Which characters the bytes of a document stand for, as far as its references are concerned.

Documents are looked at through latin-1, where every byte is one character and comes back as
the same byte. That is safe for every encoding that keeps ASCII where ASCII is; the few that do not
(UTF-16, UTF-32, ISO-2022-JP) are transcoded to UTF-8 first. Only references are decoded for real.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import lru_cache

from asof.text.encoding.labels import CODECS, encoding_named

_UTF_32 = re.compile(r"utf-?32(?:-?([lb]e))?")
_TRANSCODED = re.compile(r"utf-(?:16|32).*|iso2022.*")
# Their second byte can be a backslash, which CSS would take for an escape.
_BACKSLASH_TRAIL = frozenset(("cp932", "gb18030", "big5hkscs"))

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_META = re.compile(rb"""<meta[\s/][^>]*?charset\s*=\s*["']?\s*([\w:.-]+)""", re.IGNORECASE)
_XML = re.compile(rb"""\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w:.-]+)""")
_SHEET = re.compile(rb'@charset "([\w:.-]+)";')
# The standard asks for 1024 bytes (HTML, "prescan a byte stream"); browsers look further.
_PRESCAN = 4096
_LONGEST_LABEL = 64


@dataclass(frozen=True, slots=True)
class Text:
    """A document seen through latin-1, and the codec that its references are written in."""

    view: str
    codec: str
    transcoded: bool = False

    def back(self, view: str) -> bytes:
        """The bytes of a rewritten view."""
        return view.encode("latin-1")


def codec_of(label: str | None) -> str | None:
    """The codec that a charset label stands for in a browser, or None for an unknown label."""
    return _codec_of(label) if label and len(label) <= _LONGEST_LABEL else None


@lru_cache(maxsize=256)
def _codec_of(label: str) -> str | None:
    name = encoding_named(label)
    if name is not None:
        return CODECS.get(name)
    # Browsers read no UTF-32; an archive may hold some.
    found = _UTF_32.fullmatch(label.strip().lower())
    return f"utf-32-{found[1] or 'le'}" if found else None


def html_codec(data: bytes, declared: str | None) -> str:
    """The codec of an HTML or XML document: BOM, then HTTP, then what the document says itself."""
    return _codec(data, declared, _prescan(data))[1]


def css_codec(data: bytes, declared: str | None) -> str:
    """The codec of a style sheet (CSS Syntax, section 3.2)."""
    named = _SHEET.match(data)
    return _codec(data, declared, named[1].decode("ascii") if named else None)[1]


def is_transcoded(codec: str) -> bool:
    """Whether markup cannot be seen through latin-1 in this encoding."""
    return _TRANSCODED.fullmatch(codec) is not None


def open_html(data: bytes, declared: str | None) -> Text:
    """An HTML or XML document: BOM, then the HTTP charset, then what the document says itself."""
    return _open(data, declared, _prescan(data))


def open_css(data: bytes, declared: str | None) -> Text:
    """A style sheet (CSS Syntax, section 3.2)."""
    named = _SHEET.match(data)
    return _open(data, declared, named[1].decode("ascii") if named else None)


def _open(data: bytes, declared: str | None, own: str | None) -> Text:
    bom, codec = _codec(data, declared, own)
    if is_transcoded(codec):
        text = data[len(bom) :].decode(codec, "replace")
        return Text(text.encode("utf-8", "replace").decode("latin-1"), "utf-8", transcoded=True)
    return Text(data.decode("latin-1"), codec)


def _codec(data: bytes, declared: str | None, own: str | None) -> tuple[bytes, str]:
    for bom, codec in _BOMS:
        if data.startswith(bom):
            return bom, codec
    return b"", codec_of(declared) or _own(own) or _guess(data)


def _own(label: str | None) -> str | None:
    """A document that could be read as ASCII so far is not UTF-16, whatever it says of itself."""
    codec = codec_of(label)
    return "utf-8" if codec is not None and codec.startswith(("utf-16", "utf-32")) else codec


def _prescan(data: bytes) -> str | None:
    head = _COMMENT.sub(b"", data[:_PRESCAN])
    found = _XML.match(head) or _META.search(head)
    return found[1].decode("latin-1") if found else None


def _guess(data: bytes) -> str:
    """Nothing is said: UTF-8 if it can be, else what western browsers assume."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def decode(view: str, codec: str) -> str:
    """The characters that a piece of a latin-1 view stands for."""
    if view.isascii():
        return view
    return view.encode("latin-1").decode(codec, "replace")


def encode(text: str, codec: str) -> str:
    """A latin-1 view of characters; what the codec lacks becomes a character reference."""
    if text.isascii():
        return text
    return text.encode(codec, "xmlcharrefreplace").decode("latin-1")


def readable(view: str, codec: str) -> str | None:
    """Real characters where a second byte may be a backslash, if they come back as they were.

    None says that the latin-1 view is to be used.
    """
    if codec not in _BACKSLASH_TRAIL or view.isascii():
        return None
    data = view.encode("latin-1")
    text = data.decode(codec, "surrogateescape")
    return text if encode_back(text, codec) == view else None


def encode_back(text: str, codec: str) -> str:
    """The latin-1 view of what `readable` gave."""
    return text.encode(codec, "surrogateescape").decode("latin-1")
