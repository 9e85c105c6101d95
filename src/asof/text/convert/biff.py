"""Strings and records of the format of Excel before 2007 (BIFF), versions 2 to 8.

[MS-XLS] section 2.1.4: a record is a type and a size of two bytes each, and at most 8,224 bytes;
longer ones go on in CONTINUE records, and a string that is cut by one begins there with its flags
again (2.5.293).
"""

import struct
from collections.abc import Iterator

CONTINUE = 0x3C
_HIGH, _EXTENDED, _RICH = 0x01, 0x04, 0x08


def records(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """The records of a stream as (place, type, data), until it ends or breaks off."""
    position = 0
    end = len(data)
    unpack = struct.Struct("<HH").unpack_from
    while position + 4 <= end:
        kind, size = unpack(data, position)
        start = position + 4
        yield position, kind, data[start : start + size]
        position = start + size


class Segments:
    """A record and its continuations, read from front to end."""

    def __init__(self, segments: list[bytes]) -> None:
        self._segments = segments
        self._index = 0
        self._at = 0

    def left(self) -> bool:
        """Whether there is anything left."""
        while self._index < len(self._segments):
            if self._at < len(self._segments[self._index]):
                return True
            self._index, self._at = self._index + 1, 0
        return False

    def take(self, size: int) -> bytes:
        """Bytes that are no characters; they go on in the next segment as they are."""
        parts: list[bytes] = []
        while size > 0 and self.left():
            part = self._segments[self._index][self._at : self._at + size]
            self._at += len(part)
            size -= len(part)
            parts.append(part)
        return b"".join(parts)

    def string(self) -> str:
        """A string with its length, flags, and the formatting that follows it."""
        head = self.take(3)
        if len(head) < 3:
            return ""
        length, flags = struct.unpack("<HB", head)
        runs = int.from_bytes(self.take(2), "little") if flags & _RICH else 0
        extension = int.from_bytes(self.take(4), "little") if flags & _EXTENDED else 0
        text = self.characters(length, flags)
        self.take(4 * runs)
        self.take(extension)
        return text

    def characters(self, length: int, flags: int) -> str:
        """So many characters, of one or two bytes; each segment says anew which."""
        units: list[bytes] = []
        while length > 0 and self._index < len(self._segments):
            segment = self._segments[self._index]
            if self._at >= len(segment):  # even if none of its characters have come yet
                self._index, self._at = self._index + 1, 1
                following = self._segments[self._index : self._index + 1]
                flags = following[0][0] if following and following[0] else flags
                continue
            width = 2 if flags & _HIGH else 1
            data = segment[self._at : self._at + width * length]
            self._at += len(data)
            units.append(data if width == 2 else data.decode("latin-1").encode("utf-16-le"))
            length -= max(1, len(data) // width)
        return b"".join(units).decode("utf-16-le", "replace")


def string(data: bytes, position: int, *, wide: bool, codec: str, short: bool = False) -> str:
    """A string inside a record: in Unicode (BIFF8), or in the code page of the workbook."""
    size = 1 if short else 2
    length = int.from_bytes(data[position : position + size], "little")
    position += size
    if not wide:
        return data[position : position + length].decode(codec, "replace")
    if position >= len(data):
        return ""
    flags = data[position]
    position += 1 + (2 if flags & _RICH else 0) + (4 if flags & _EXTENDED else 0)
    if flags & _HIGH:
        return data[position : position + 2 * length].decode("utf-16-le", "replace")
    return data[position : position + length].decode("latin-1")
