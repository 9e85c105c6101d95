"""Links of PDF documents: the `/URI` actions of their annotations (ISO 32000, section 12.6.4.7).

They are searched in the bytes, and in the object streams that newer files pack their annotations
into. No PDF library: those that are fast parse hostile files with C or C++ inside this process,
where one bad length ends the crawl or worse; and a link is all that is wanted. Everything here is
bounded: bytes unpacked for a stream and in all, streams looked at, links found. Strings of
encrypted files do not look like URLs and are dropped.
"""

import re
from collections.abc import Iterator
from contextlib import suppress

from asof.http.inflate import BROKEN, DECODERS
from asof.model import Hop
from asof.text.links.link import Link

MAX_STREAM = 4 << 20
MAX_UNPACKED = 64 << 20
MAX_LINKS = 10_000
_MAX_STREAMS = 20_000
_LONGEST = 4096
# Strings that do not end in a document; each may cost the longest there can be.
_MAX_BROKEN = 500
# How far before its `stream` the dictionary of an object stream may begin.
_DICTIONARY = 512

_WS = rb"[\0\t\n\f\r ]"
_URI = re.compile(rb"/URI" + _WS + rb"*+(?:(\()|<([0-9A-Fa-f\0\t\n\f\r ]{0,%d})>)" % (2 * _LONGEST))
_STREAM = re.compile(rb"\bstream\r?\n")
_FLATE = re.compile(rb"/FlateDecode\b|/Fl\b")
_STRING_PART = re.compile(rb"[^()\\]++|\\(?:[0-7]{1,3}|\r\n|[\s\S])|[()]")
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
_HTTP = re.compile(r"https?://[^\s<>\"\x00-\x1f\ufffd]+", re.IGNORECASE)


def pdf_links(document: bytes) -> Iterator[Link]:
    """The distinct web addresses that a PDF document links to, in file order."""
    seen: set[str] = set()
    broken = 0
    for stretch in _stretches(document):
        for uri in _uris(stretch):
            broken += not uri
            if broken > _MAX_BROKEN:
                return
            if uri not in seen and _HTTP.fullmatch(uri):
                seen.add(uri)
                yield Link(uri, Hop.LINK)
                if len(seen) >= MAX_LINKS:
                    return


def _stretches(document: bytes) -> Iterator[bytes]:
    """The document, then each of its object streams unpacked."""
    yield document
    room, position = MAX_UNPACKED, 0
    for _ in range(_MAX_STREAMS):
        start = _STREAM.search(document, position)
        if start is None or room <= 0:
            return
        position = start.end()
        dictionary = document[max(0, start.start() - _DICTIONARY) : start.start()]
        dictionary = dictionary[dictionary.rfind(b"obj") + 1 :]
        if b"/ObjStm" not in dictionary or not _FLATE.search(dictionary):
            continue
        end = document.find(b"endstream", position)
        end = len(document) if end < 0 else end
        unpacked = _inflated(document, position, end, min(room, MAX_STREAM))
        room -= len(unpacked)
        position = end
        yield unpacked


def _inflated(document: bytes, start: int, end: int, most: int) -> bytes:
    """As much of a stream as can be unpacked; a broken one gives what comes before the break."""
    pieces: list[bytes] = []
    with suppress(*BROKEN):
        for piece in DECODERS["deflate"][0]((document[start:end],)):
            pieces.append(piece[:most])
            most -= len(piece)
            if most <= 0:
                break
    return b"".join(pieces)


def _uris(data: bytes) -> Iterator[str]:
    for match in _URI.finditer(data):
        if match[1] is not None:
            yield _text(_literal(data, match.end()))
        else:
            digits = b"".join(match[2].translate(None, b"\0").split())
            yield _text(bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii")))


def _literal(data: bytes, start: int) -> bytes:
    """A literal string after its parenthesis (ISO 32000, section 7.3.4.2); nested ones balance."""
    parts: list[bytes] = []
    depth, position, limit = 1, start, min(len(data), start + _LONGEST)
    while (part := _STRING_PART.match(data, position, limit)) is not None:
        position = part.end()
        token = part[0]
        if token[:1] == b"\\":
            parts.append(_escape(token[1:]))
            continue
        if token == b"(":
            depth += 1
        elif token == b")":
            depth -= 1
            if not depth:
                return b"".join(parts)
        parts.append(token)
    return b""


def _escape(token: bytes) -> bytes:
    if token[:1] in (b"\r", b"\n"):  # a line goes on
        return b""
    if token.isdigit():
        return bytes([int(token, 8) & 0xFF]) if token < b"8" else token
    return _ESCAPES.get(token, token)


def _text(string: bytes) -> str:
    """Byte order marks, then UTF-8 as most write it, then the latin-1 that the standard is near."""
    if string.startswith((b"\xfe\xff", b"\xff\xfe")):
        return string.decode("utf-16", "replace").strip()
    try:
        return string.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        return string.decode("latin-1").strip()
