"""XML as it is found on the web, read piece by piece: its elements in the order in which they end.

Not a conforming parser, and on purpose. Most sitemaps that are broken hold a bare `&`, where a
conforming parser has to stop, and one that recovers makes another address of it (ADR 14); here what
is whole is taken and the rest is stepped over. No document type is read, so no entity is ever
declared, expanded or fetched: `&lol9;` stays six characters. Nothing is raised for any bytes,
nesting costs nothing, and memory is bounded by one piece and the longest single token.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from html.entities import html5
from itertools import islice
from typing import NamedTuple

from asof.text.encoding.charset import BOMS
from asof.text.encoding.labels import codec_named
from asof.url import resolve

# The longest tag, comment or run of CDATA; what is longer is dropped.
MAX_TOKEN = 1 << 20
# The most text of one element that is kept: no URL is longer (asof.url).
MAX_TEXT = 1 << 16
# A full sitemap of 50,000 entries has some 300,000 elements.
MAX_ELEMENTS = 1_000_000
# Elements nested deeper than this are passed over.
_DEEPEST = 256
_HEAD = 4096

_NAME = r"[^\s<>/!?=\"'][^\s<>/=\"']*+"
_COMMENT = r"<!--(?:[^-]++|-(?!->))*+-->"
_INSTRUCTION = r"<\?(?:[^?]++|\?(?!>))*+\?>"
_DOCTYPE = r"<![A-Za-z][^<>\[]*+(?:\[(?:[^\]\"']++|\"[^\"]*+\"|'[^']*+')*+\][^<>]*+)?>"
_TOKEN = re.compile(
    # An element that is plainly written, whole: the bulk of what a sitemap is made of.
    rf"<(?P<leaf>{_NAME})>(?P<content>[^<]*+)</(?P=leaf)>\s*+"
    r"|(?P<text>[^<]++)"
    # XML forbids `<` in attribute values, so a tag with a quote too many ends before the next one.
    rf"|<(?P<end>/?)(?P<name>{_NAME})(?P<attributes>(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+'|[\"'])*+)>\s*+"
    r"|<!\[CDATA\[(?P<cdata>(?:[^\]]++|\](?!\]>))*+)\]\]>"
    rf"|{_COMMENT}|{_INSTRUCTION}|<![A-Za-z][^<>]*+>"
    # The piece ends inside one of these.
    r"|(?P<open><(?:!--|!\[CDATA\[|\?)[\s\S]*|<[^<]*\Z)"
)
_ATTRIBUTE = re.compile(r"""([^\s=/"'<>]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")
# The five of XML, numbers, and the names of HTML, which feeds use: all with their semicolon, or
# the parameters of `?a=1&copy=2` would be taken for some.
_REFERENCE = re.compile(r"&(?:#([0-9]{1,8})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));")
_LONGEST_REFERENCE = 36
_DECLARED = re.compile(rb"""<\?xml\s[^>]*?encoding\s*=\s*["']([\w:.-]{1,40})["']""")
# What a server has let slip in front: warnings, blanks, what was meant for the terminal.
_SLIPPED = re.compile(
    r"(?:[^<]|</?(?:a|b|br|code|em|font|hr|i|p|pre|span|strong|table|tbody|td|th|tr)\b[^<>]*+>)"
    rf"{{1,{_HEAD}}}?(?=<\?xml\s|<(?:{_NAME}:)?(?:rss|feed|rdf|urlset|sitemapindex)\b)",
    re.IGNORECASE,
)
# A document type is looked for only where it may stand: each try may cost the whole document.
_PROLOG = re.compile(rf"(?:[\s\ufeff]++|{_INSTRUCTION}|{_COMMENT})*+(?:{_DOCTYPE})?+")
_ROOT = re.compile(rf"(?:\s++|{_INSTRUCTION}|{_COMMENT})*+<({_NAME})")
# Without a byte order mark (XML, appendix F.1).
_WIDE = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
# Python has codecs that are no encodings of documents (rot13, hex, idna, utf-7 ...): these are.
_ENCODINGS = re.compile(
    r"utf-8|utf-(?:16|32)(?:-[lb]e)?|ascii|iso8859-\d+|cp\d+|koi8-[rtu]|mac-.+|gb.*|big5.*|euc_.*"
    r"|shift_jis.*|iso2022.*|tis-620"
)


class XmlElement(NamedTuple):
    """An element that has ended. Names are local and in lower case; `text` is its own text.

    `attributes` are as written (see `attributes_of`), `base` is the xml:base that holds in it.
    """

    name: str
    parent: str
    text: str
    attributes: str
    base: str | None


def elements(
    chunks: Iterable[bytes],
    *,
    records: frozenset[str],
    leaves: frozenset[str],
    charset: str | None = None,
) -> Iterator[XmlElement]:
    """The elements of a document as they end, missing end tags made up for; MAX_ELEMENTS at most.

    `records` are never inside one another, so that the start of one ends the one before. `leaves`
    hold text and no elements; only their text is kept. `charset` is what HTTP says.
    """
    return islice(_elements(chunks, _Reading(records, leaves), charset), MAX_ELEMENTS)


def _elements(
    chunks: Iterable[bytes], reading: _Reading, charset: str | None
) -> Iterator[XmlElement]:
    kept: str | None = None
    for text in _decoded(chunks, charset):
        if kept is None:
            kept, text = "", text[_after_prolog(text) :]
        kept = yield from reading.read(kept + text)
        if len(kept) > MAX_TOKEN:
            kept = ""
    yield from reading.finish()


def attributes_of(written: str) -> dict[str, str]:
    """The attributes of a start tag by their names in lower case, prefixes kept."""
    return {
        match[1].lower(): unescape(match[2] if match[2] is not None else match[3])
        for match in _ATTRIBUTE.finditer(written)
    }


def root_of(head: bytes) -> str | None:
    """The local name of the root element, in lower case, if the beginning of a document has it."""
    text = decode(head[:_HEAD])
    match = _ROOT.match(text, _after_prolog(text))
    return _local(match[1]) if match else None


def decode(data: bytes, charset: str | None = None) -> str:
    """The characters of an XML or plain text document."""
    return "".join(_decoded([data], charset)).removeprefix("\ufeff")


def _after_prolog(text: str) -> int:
    slipped = _SLIPPED.match(text)
    match = _PROLOG.match(text, slipped.end() if slipped else 0)
    return match.end() if match else 0


def unescape(text: str) -> str:
    """References that every reader knows, and no others: what a document declares is not read."""
    return _REFERENCE.sub(_unescape, text) if "&" in text else text


def _unescape(match: re.Match[str]) -> str:
    decimal, hexadecimal, name = match.groups()
    if name is not None:
        return html5.get(f"{name};", match[0])
    code = int(decimal) if decimal is not None else int(hexadecimal, 16)
    valid = 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
    return chr(code) if valid else "\ufffd"


@dataclass(slots=True)
class _Open:
    """An element that has begun."""

    name: str
    attributes: str
    base: str | None
    parts: list[str] = field(default_factory=list)
    room: int = MAX_TEXT


class _Reading:
    """The open elements of a document."""

    def __init__(self, records: frozenset[str], leaves: frozenset[str]) -> None:
        self._records = records
        self._leaves = leaves
        self._open: list[_Open] = []
        self._deeper = 0

    def read(self, text: str) -> Generator[XmlElement, None, str]:
        """The elements that end in a piece; gives back what has to wait for the next one."""
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup
            if kind == "content":
                leaf, content = match.group("leaf", "content")
                yield from self._leaf(_local(leaf), content)
            elif kind == "attributes":
                end, name, attributes = match.group("end", "name", "attributes")
                name = _local(name)
                yield from self._end(name) if end else self._start(name, attributes)
            elif kind == "text":
                end = match.end()
                cut = text.find("&", max(match.start(), end - _LONGEST_REFERENCE), end)
                if end == len(text) and cut >= 0:  # a reference may go on in the next piece
                    self._text(unescape(text[match.start() : cut]))
                    return text[cut:]
                self._text(unescape(match[0]))
            elif kind == "cdata":
                self._text(match["cdata"])
            elif kind == "open":
                return match[0]
        return ""

    def finish(self) -> Iterator[XmlElement]:
        """The document is over: what is still open ends, but for a leaf, which is not whole."""
        if self._open and self._open[-1].name in self._leaves:
            self._open.pop()
        yield from self._close(0)

    def _close(self, depth: int) -> Iterator[XmlElement]:
        """End all elements that are deeper than this."""
        while len(self._open) > depth:
            last = self._open.pop()
            parent = self._open[-1].name if self._open else ""
            text = "".join(last.parts).strip()
            yield XmlElement(last.name, parent, text, last.attributes, last.base)

    def _leaf(self, name: str, content: str) -> Iterator[XmlElement]:
        if name in self._leaves and self._open and not self._deeper:
            top = self._open[-1]
            if top.name not in self._leaves and name not in self._records:
                text = unescape(content[:MAX_TEXT]).strip()
                yield XmlElement(name, top.name, text, "", top.base)
                return
        yield from self._start(name, "")
        self._text(unescape(content))
        yield from self._end(name)

    def _start(self, name: str, attributes: str) -> Iterator[XmlElement]:
        if name in self._records:
            records = (at for at, each in enumerate(self._open) if each.name in self._records)
            yield from self._close(next(records, len(self._open)))
        elif self._open and self._open[-1].name in self._leaves:
            yield from self._close(len(self._open) - 1)
        empty = attributes.endswith("/")
        if len(self._open) >= _DEEPEST:
            self._deeper += not empty
            return
        base = self._open[-1].base if self._open else None
        if "xml:base" in attributes:
            written = attributes_of(attributes).get("xml:base", "")
            base = resolve(base or written, written) or base
        self._open.append(_Open(name, attributes, base))
        if empty:
            yield from self._close(len(self._open) - 1)

    def _end(self, name: str) -> Iterator[XmlElement]:
        if self._deeper:
            self._deeper -= 1
            return
        for depth in range(len(self._open) - 1, -1, -1):
            if self._open[depth].name == name:
                yield from self._close(depth)
                return

    def _text(self, text: str) -> None:
        if self._open and self._open[-1].name in self._leaves:
            last = self._open[-1]
            last.parts.append(text[: last.room])
            last.room -= len(last.parts[-1])


@lru_cache(maxsize=256)
def _local(name: str) -> str:
    return name.rpartition(":")[2].lower()


def _decoded(chunks: Iterable[bytes], charset: str | None) -> Iterator[str]:
    decoder = None
    head = b""
    for chunk in chunks:
        if decoder is None:
            head += chunk
            if len(head) < _HEAD:
                continue
            decoder, chunk = _decoder(head, charset), head
        yield decoder.decode(chunk)
    decoder, head = (decoder, b"") if decoder is not None else (_decoder(head, charset), head)
    yield decoder.decode(head, final=True)


def _decoder(head: bytes, charset: str | None) -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder(_encoding(head, charset))("replace")


def _encoding(head: bytes, charset: str | None) -> str:
    """Byte order mark, then HTTP, then the declaration (RFC 7303 section 3)."""
    for mark, name in (*BOMS, *_WIDE):
        if head.startswith(mark):
            return name
    declared = _DECLARED.search(head, 0, _HEAD)
    for label in (charset, declared[1].decode("ascii") if declared else None):
        codec = codec_named(label or "", _ENCODINGS)
        # What can be read as ASCII so far is not UTF-16, whatever it says of itself.
        if codec is not None and not (codec.startswith(("utf-16", "utf-32")) and b"\0" not in head):
            return codec
    return "utf-8"
