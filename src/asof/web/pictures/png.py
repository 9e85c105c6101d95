"""Words in PNG pictures (PNG, third edition, 11.3.3)."""

import struct
from collections.abc import Mapping
from zlib import crc32

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# The header is 13 bytes, and stands first; each chunk has its length, its type and a sum.
_HEADER_END = len(SIGNATURE) + 4 + 4 + 13 + 4
_LONGEST = 64 << 10


def with_words(picture: bytes, words: Mapping[str, str]) -> bytes:
    """A picture that says something: as `tEXt` in Latin-1, as `iTXt` what is not."""
    said = b"".join(_chunk(name, text) for name, text in words.items() if text)
    return picture[:_HEADER_END] + said + picture[_HEADER_END:]


def _chunk(name: str, text: str) -> bytes:
    text = text.replace("\0", "")[:_LONGEST]
    try:
        kind, data = b"tEXt", name.encode("latin-1") + b"\0" + text.encode("latin-1")
    except UnicodeEncodeError:
        kind = b"iTXt"
        data = name.encode("latin-1") + b"\0\0\0\0\0" + text.encode("utf-8", "replace")
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc32(kind + data))
