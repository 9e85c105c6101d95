"""The two values of the WARC stage: a record to be written, and a record found in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from asof.model import Body, Headers, Location, find_header


@dataclass(frozen=True, slots=True)
class WarcHeader:
    """The named fields of a record, in order and as written; `version` is what follows WARC/."""

    version: str
    fields: Headers

    def get(self, name: str) -> str | None:
        """The first value of a field, by case-insensitive name (WARC 1.1 section 4)."""
        return find_header(self.fields, name)

    @property
    def kind(self) -> str:
        """WARC-Type in lower case, or an empty string."""
        return (self.get("WARC-Type") or "").lower()


@dataclass(frozen=True, slots=True)
class Record:
    """A record to be written. `fields` has no Content-Length: the writer adds it from `block`."""

    fields: Headers
    block: tuple[Body, ...]

    @property
    def size(self) -> int:
        """The length of the block in bytes."""
        return sum(part.size for part in self.block)


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A whole record found in a file. `data` is its block, or None when that is too large to hold.

    `asof.warc.reader.block_chunks` gives the block either way, a large one from the file again.
    """

    path: Path
    where: Location
    header: WarcHeader
    size: int
    data: bytes | None
