"""Bytes to characters and back exactly as browsers do it (WHATWG Encoding, sections 8 to 14).

By `endec`, the decoders of Firefox. Python's codecs differ from the standard in undefined bytes, in
some hundred characters and in where they go on after an error; tables and patterns that made up for
that were 305 lines, slower (48 to 72 MB/s of Japanese and Chinese against 80 to 117, 1 against 113
of ISO-2022-JP), and wrong about four bytes of GB 18030 that mean nothing. Where a byte is a
character, Python is asked with endec's table: three times as fast.
"""

import codecs
import re
from collections.abc import Iterator
from functools import lru_cache

import endec

_PYTHON = {"utf-8": "utf-8", "utf-16le": "utf-16-le", "utf-16be": "utf-16-be"}
_STATEFUL = frozenset(("iso-2022-jp", "replacement"))
_MULTI_BYTE = frozenset(("big5", "euc-jp", "euc-kr", "gb18030", "gbk", "shift_jis")) | _STATEFUL
# A decoder makes room for three bytes a byte; more at once than this would end a child process
# that has little memory.
_PIECE = 1 << 20
# No such byte is in any encoding the second of a character.
_ALONE = re.compile(rb"[\x00-\x2f]")


def decode_as(data: bytes, name: str) -> str:
    """The text of bytes in an encoding of the standard, by its lower-case name; never fails.

    A byte order mark is a character here: taking it off is the caller's business.
    """
    if name in _PYTHON:  # it agrees, and is faster
        return data.decode(_PYTHON[name], "replace")
    if name not in _MULTI_BYTE:
        return codecs.charmap_decode(data, "replace", _table(name))[0]
    if name in _STATEFUL or len(data) <= _PIECE:
        return _decode(data, name)
    return "".join(_decode(piece, name) for piece in _pieces(data))


def _decode(data: bytes, name: str) -> str:
    return endec.decode(data, name, "replace", bom="ignore")


@lru_cache(maxsize=64)
def _table(name: str) -> str:
    """What each of the 256 bytes means; U+FFFD where nothing is meant."""
    return _decode(bytes(range(256)), name)


def _pieces(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        found = _ALONE.search(data, start + _PIECE)
        end = found.end() if found else len(data)
        yield data[start:end]
        start = end


def encode_as(text: str, name: str) -> bytes:
    """The bytes of a text; what the encoding lacks becomes a character reference of HTML."""
    whole = text.encode("utf-8", "replace")  # halves of surrogate pairs are no characters
    return whole if name == "utf-8" else endec.encode(whole.decode(), name, "xmlcharrefreplace")
