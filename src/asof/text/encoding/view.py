"""Documents through latin-1, where every byte is one character and comes back as the same byte.

That is safe for every encoding that keeps ASCII where ASCII is; the others (UTF-16, UTF-32,
ISO-2022-JP ...), and those that no browser reads, are transcoded to UTF-8 first. Only references
are decoded for real.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote

from asof.text.encoding.charset import Charset, characters, charset_of, decoded
from asof.text.encoding.decoders import encode_as
from asof.text.encoding.labels import CODECS

_WIDE = frozenset(("utf-16le", "utf-16be", "iso-2022-jp"))
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
UTF_8 = Charset("utf-8", "utf-8", 1.0, "known")


@dataclass(frozen=True, slots=True)
class ByteView:
    """A document seen through latin-1, the encoding it is in now, and that of its queries."""

    view: str
    charset: Charset = UTF_8
    query: str = "utf-8"

    def back(self, view: str) -> bytes:
        return view.encode("latin-1")


def open_text(data: bytes, declared: str | None, *, sheet: bool = False) -> ByteView:
    """A document; `declared` is a Content-Type value or a label, `sheet` says that it is CSS."""
    charset = charset_of(data, declared, sheet=sheet)
    query = query_encoding(charset)
    if charset.name not in _WIDE and (charset.name in CODECS or charset.name == "x-user-defined"):
        return ByteView(data.decode("latin-1"), charset, query)
    text = decoded(data, charset).encode("utf-8", "replace")
    return ByteView(text.decode("latin-1"), UTF_8, query)


def query_encoding(charset: Charset) -> str:
    """What the queries of references are sent in (WHATWG Encoding, "get an output encoding")."""
    known = charset.name in CODECS or charset.name == "x-user-defined"
    return charset.name if known and not charset.name.startswith("utf-16") else "utf-8"


def decode(view: str, charset: Charset) -> str:
    """The characters that a piece of a latin-1 view stands for."""
    return view if view.isascii() else characters(view.encode("latin-1"), charset)


def encode(text: str, charset: Charset) -> str:
    """A latin-1 view of characters; what the encoding lacks becomes a character reference."""
    return text if text.isascii() else encode_as(text, charset.name).decode("latin-1")


def encode_query(reference: str, encoding: str) -> str:
    """Percent-encode what is not ASCII in a query by the document's own encoding.

    As browsers do (WHATWG URL, "query state"), so that a search link of a Japanese page asks its
    server for the same thing, and replay finds what was captured.
    """
    before, hash_, fragment = reference.partition("#")
    path, mark, query = before.partition("?")

    def percent(match: re.Match[str]) -> str:
        return quote(encode_as(match[0], encoding), safe="@[\\]^_`{|}~")

    return path + mark + _NON_ASCII.sub(percent, query) + hash_ + fragment
