"""The values of the WARC stage: a record to be written, and a record found in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from asof.model import Body, Headers, Location

# Field names as the standards and the common tools spell them. A header that has no other names
# needs no second, case-folded index to say that a field is not there.
KNOWN_FIELDS = frozenset((
    "Content-Length", "Content-Type", "WARC-Block-Digest", "WARC-Cipher-Suite",
    "WARC-Concurrent-To", "WARC-Creation-Date", "WARC-Date", "WARC-Filename",
    "WARC-Identified-Payload-Type", "WARC-IP-Address", "WARC-JSON-Metadata", "WARC-Page-ID",
    "WARC-Payload-Digest", "WARC-Profile", "WARC-Protocol", "WARC-Record-ID", "WARC-Refers-To",
    "WARC-Refers-To-Date", "WARC-Refers-To-Filename", "WARC-Refers-To-File-Offset",
    "WARC-Refers-To-Target-URI", "WARC-Resource-Type", "WARC-Segment-Number",
    "WARC-Segment-Origin-ID", "WARC-Segment-Total-Length", "WARC-Source-URI", "WARC-Target-URI",
    "WARC-Truncated", "WARC-Type", "WARC-Warcinfo-ID", "WARC-Asof-Anomalies", "WARC-Asof-Crawl",
    "WARC-Asof-TLS-Problem",
))  # fmt: skip


class WarcHeader:
    """The named fields of a record, in order and as written; `version` is what follows WARC/.

    A value, never changed once made. Not a frozen dataclass: one is made for every record of an
    import, and the index by name is worth keeping (a lookup costs 0.1 us, a search 1.5 us).
    """

    __slots__ = ("_folded", "_index", "_pairs", "version")

    def __init__(
        self, version: str, fields: Sequence[Sequence[str]], index: dict[str, str] | None = None
    ) -> None:
        self.version = version
        self._pairs = fields
        # By exact name; of a repeated field the first value counts.
        self._index = dict(fields[::-1]) if index is None else index  # type: ignore[arg-type]  # pairs
        self._folded: dict[str, str] | None = None

    @property
    def fields(self) -> Headers:
        """Name and value of every field, in the order of the file."""
        return tuple((name, value) for name, value in self._pairs)

    def get(self, name: str) -> str | None:
        """The first value of a field, by case-insensitive name (WARC 1.1 section 4)."""
        index = self._index
        value = index.get(name)
        if value is None and not (name in KNOWN_FIELDS and index.keys() <= KNOWN_FIELDS):
            if self._folded is None:
                self._folded = {key.strip().lower(): text for key, text in self._pairs[::-1]}
            return self._folded.get(name.lower())
        return value

    def get_all(self, name: str) -> list[str]:
        """Every value of a field that may be repeated, such as WARC-Concurrent-To."""
        wanted = name.lower()
        return [value for key, value in self._pairs if key.strip().lower() == wanted]

    @property
    def lengths(self) -> list[str]:
        """What it says about Content-Length: one value, if all is well."""
        index = self._index
        if len(index) == len(self._pairs) and index.keys() <= KNOWN_FIELDS:
            value = index.get("Content-Length")
            return [] if value is None else [value]
        return self.get_all("Content-Length")

    @property
    def kind(self) -> str:
        """WARC-Type in lower case, or an empty string."""
        return (self.get("WARC-Type") or "").lower()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WarcHeader):
            return NotImplemented
        return self.version == other.version and self.fields == other.fields

    def __hash__(self) -> int:
        return hash((self.version, self.fields))

    def __repr__(self) -> str:
        return f"WarcHeader({self.version!r}, {self.fields!r})"


@dataclass(frozen=True, slots=True)
class Record:
    """A record to be written. `fields` has no Content-Length: the writer adds it from `block`."""

    fields: Headers
    block: tuple[Body, ...]

    @property
    def size(self) -> int:
        """The length of the block in bytes."""
        return sum(part.size for part in self.block)


# Not frozen, though nobody changes one: freezing makes the making four times as dear (0.8 us).
@dataclass(slots=True)
class StoredRecord:
    """A whole record found in a file. `data` is its block, or None when that is too large to hold.

    `where` is the stretch of the file that holds the record: for compressed files the whole
    members, so where a member holds several records they share it, and `skip` says how many bytes
    of the unpacked content come before this one (0: it can be read by its offset alone).
    `asof.warc.reader.block_chunks` gives the block either way; it reads a large one again.
    """

    path: Path
    where: Location
    header: WarcHeader
    size: int
    data: bytes | None
    skip: int = 0
