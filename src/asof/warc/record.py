"""The values of the WARC stage: a record to be written, and a record found in a file."""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Self
from urllib.parse import quote

from asof.model import Body, Headers, Location

# Field names as the standards and the common tools spell them. A header that has no others is known
# to hold no line that is odd, and needs no second index to say that a field is not there.
KNOWN_FIELDS = frozenset((
    "Content-Length", "Content-Type", "WARC-Block-Digest", "WARC-Cipher-Suite",
    "WARC-Concurrent-To", "WARC-Creation-Date", "WARC-Date", "WARC-Filename",
    "WARC-Identified-Payload-Type", "WARC-IP-Address", "WARC-JSON-Metadata", "WARC-Page-ID",
    "WARC-Payload-Digest", "WARC-Profile", "WARC-Protocol", "WARC-Record-ID", "WARC-Refers-To",
    "WARC-Refers-To-Date", "WARC-Refers-To-Filename", "WARC-Refers-To-File-Offset",
    "WARC-Refers-To-Target-URI", "WARC-Resource-Type", "WARC-Segment-Number",
    "WARC-Segment-Origin-ID", "WARC-Segment-Total-Length", "WARC-Source-URI", "WARC-Target-URI",
    "WARC-Truncated", "WARC-Type", "WARC-Warcinfo-ID", "WARC-Asof-Anomalies", "WARC-Asof-Crawl",
    "WARC-Asof-HTTP-Head", "WARC-Asof-Refers-To", "WARC-Asof-TLS-Problem",
))  # fmt: skip

UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
"""What would end a line for some reader, or cannot be said in UTF-8. No field may have it."""


class Flag(StrEnum):
    """What was wrong with a record as it came from others: it is kept, and says so."""

    WRONG_DIGEST = "digest-mismatch"  # what it holds is not what it says that it holds
    CUT_SHORT = "cut-short"  # its end is missing, or is not where its length says
    WRONG_CHECKSUM = "checksum-mismatch"  # of the member that holds it
    AFTER_DAMAGE = "after-damage"  # it may be a forgery inside of the record that was damaged
    SAME_ID = "same-record-id"  # another record of this URL, moment and id says something else


def field_lines(fields: Headers) -> str:
    """Fields as they are written, each in a line of its own: no value can add a line."""
    lines = [f"{name}: {value}" for name, value in fields]
    if not "".join(lines).isprintable():
        lines = [_safe_line(name, value) for name, value in fields]
    return "\r\n".join([*lines, ""])


def _safe_line(name: str, value: str) -> str:
    line = f"{name}: {value}"
    if line.isprintable():
        return line
    # A URL has its own way to write such a character; elsewhere a space does.
    if name.endswith("URI"):
        value = UNSAFE.sub(lambda found: quote(found[0], errors="replace"), value)
    return f"{UNSAFE.sub('', name)}: {UNSAFE.sub(' ', value).strip()}"


class WarcHeader:
    """The named fields of a record, in order and as written; `version` is what follows WARC/.

    A value, never changed once made; not a frozen dataclass, as one is made for every record of an
    import. Made from fields, it is what a reader would find after they were written.
    """

    __slots__ = ("_folded", "_index", "_lines", "known", "version")

    def __init__(self, version: str, fields: Headers) -> None:
        self._set(version, field_lines(fields).split("\r\n")[:-1])

    @classmethod
    def from_lines(cls, version: str, lines: list[str]) -> Self:
        """A header out of a file: its lines after the first, none of them folded."""
        header = cls.__new__(cls)
        header._set(version, lines)
        return header

    def _set(self, version: str, lines: list[str]) -> None:
        self.version = version
        self._lines = lines
        self._folded: dict[str, str] | None = None
        try:
            # By exact name; of a repeated field the first value counts.
            index: dict[str, str] = dict([line.split(": ", 1) for line in lines[::-1]])
        except ValueError:  # a line without ": "
            index = {}
        self._index = index
        self.known = KNOWN_FIELDS.issuperset(index) and bool(index)

    @property
    def fields(self) -> Headers:
        """Name and value of every field, in order; a line that is none is left out."""
        parts = (line.partition(":") for line in self._lines)
        return tuple((name.strip(), value.strip()) for name, colon, value in parts if colon)

    def get(self, name: str) -> str | None:
        """The first value of a field, by case-insensitive name (WARC 1.1 section 4)."""
        value = self._index.get(name)
        if value is not None:
            return value.strip()
        if self.known and name in KNOWN_FIELDS:
            return None
        if self._folded is None:
            self._folded = {key.lower(): text for key, text in reversed(self.fields)}
        return self._folded.get(name.lower())

    def get_all(self, name: str) -> list[str]:
        """Every value of a field that may be repeated, such as WARC-Concurrent-To."""
        if self.known and name in KNOWN_FIELDS and len(self._index) == len(self._lines):
            value = self._index.get(name)
            return [] if value is None else [value.strip()]
        wanted = name.lower()
        return [value for key, value in self.fields if key.lower() == wanted]

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


def flagged(header: WarcHeader, flag: Flag, size: int | None = None) -> WarcHeader:
    """A header that says what was wrong; with the size of what is left of its block, too."""
    said = [*(header.get("WARC-Asof-Anomalies") or "").replace(",", " ").split()]
    changed = {"warc-asof-anomalies": ", ".join([*said, flag] if flag not in said else said)}
    if size is not None:
        changed["content-length"] = str(size)
    fields = [field for field in header.fields if field[0].lower() not in changed]
    if size is not None and header.get("WARC-Truncated") is None:
        fields.append(("WARC-Truncated", "unspecified"))
    fields.append(("WARC-Asof-Anomalies", changed["warc-asof-anomalies"]))
    fields += [("Content-Length", str(size))] if size is not None else []
    return WarcHeader(header.version, tuple(fields))


@dataclass(frozen=True, slots=True)
class Record:
    """A record to be written. `fields` has no Content-Length: the writer adds it from `block`.

    `packed` says that the block cannot be made smaller, so that nobody need try.
    """

    fields: Headers
    block: tuple[Body, ...]
    packed: bool = False

    @property
    def size(self) -> int:
        return sum([part.size for part in self.block])

    @property
    def in_memory(self) -> bool:
        return all(part.spool is None for part in self.block)

    @property
    def kind(self) -> str:
        """WARC-Type, which is the first field of every record that is made here."""
        return self.fields[0][1]


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
