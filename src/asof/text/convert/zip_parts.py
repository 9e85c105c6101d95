"""The parts of a document that is a ZIP archive, unpacked piece by piece and never beyond a limit.

Sizes and checksums that the archive quotes are not believed: text before a fault is text. Nothing
is ever written to a disk, so names with `../` in them lead nowhere.
"""

from __future__ import annotations

import io
from contextlib import suppress

from asof.text.convert.found import Refused
from asof.warc.foreign.zip_reader import MAX_ENTRIES, BadEntry, ZipEntry, contents, list_entries

# What one document may unpack to, all parts together.
MAX_UNPACKED = 300 << 20
# What is read into memory as a whole (documents are; sheets are streamed).
MAX_PART = 64 << 20
# In UTF-8 and its likes, and in both orders of UTF-16. Plain searches: a pattern for all of them
# takes a hundred times as long over a part that is full of zeros.
_ENTITIES = tuple("<!ENTITY".encode(codec) for codec in ("utf-8", "utf-16-le", "utf-16-be"))
_LONGEST = max(map(len, _ENTITIES))


def refuse_entities(data: bytes) -> None:
    """Stop at the declaration of an entity, by which a few lines grow to gigabytes.

    No office format has any use for them.
    """
    if any(declaration in data for declaration in _ENTITIES):
        raise Refused("declares entities of its own, which are not read")


class Parts:
    """An opened archive: its parts by name, and what may still be unpacked."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._room = MAX_UNPACKED
        entries = list_entries(io.BytesIO(data)).entries
        if not entries:
            raise Refused("is a damaged ZIP archive without any part")
        if len(entries) >= MAX_ENTRIES:
            raise Refused(f"has more than {MAX_ENTRIES:,} parts")
        self.entries: dict[str, ZipEntry] = {}
        for entry in entries:  # two of one name: the first counts
            self.entries.setdefault(entry.name.lstrip("/"), entry)
        self._folded = {name.lower(): name for name in self.entries}

    def find(self, name: str) -> str | None:
        """The part of that name as the archive spells it; writers disagree about case."""
        name = name.lstrip("/")
        return name if name in self.entries else self._folded.get(name.lower())

    def open(self, name: str) -> Part:
        found = self.find(name)
        if found is None:
            raise Refused(f"lacks its part {name}")
        entry = self.entries[found]
        if entry.is_encrypted:
            raise Refused("is encrypted")
        return Part(self, entry)

    def read(self, name: str, most: int = MAX_PART) -> bytes:
        """A whole part, if it is not larger than `most`."""
        data = self.open(name).read(most + 1)
        if len(data) > most:
            raise Refused(f"has a part of more than {most >> 20} MB")
        return data

    def spend(self, size: int) -> None:
        """Count what was unpacked; too much of it is a bomb."""
        self._room -= size
        if self._room < 0:
            raise Refused(f"unpacks to more than {MAX_UNPACKED >> 20} MB")


class Part:
    """A part that is being unpacked; `read` is what a parser calls. No part declares entities."""

    def __init__(self, parts: Parts, entry: ZipEntry) -> None:
        self._parts = parts
        self._ahead = self._tail = b""
        try:
            self._pieces = contents(io.BytesIO(parts.data), entry)
        except BadEntry as bad:
            raise Refused(f"is a damaged ZIP archive: a part {bad}") from bad

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size`; none at the end of the part or where it breaks off."""
        wanted = size if size >= 0 else MAX_PART
        pieces, held = [self._ahead], len(self._ahead)
        with suppress(BadEntry):
            while held < wanted and (piece := next(self._pieces, b"")):
                pieces.append(piece)
                held += len(piece)
        data = b"".join(pieces)
        data, self._ahead = data[:wanted], data[wanted:]
        self._parts.spend(len(data))
        refuse_entities(self._tail + data)
        self._tail = data[-_LONGEST:]
        return data
