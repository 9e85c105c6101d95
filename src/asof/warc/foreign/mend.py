"""All that can be read of a WARC file as it came: nothing that is legible is left out in silence.

What is left of a torn record is kept as truncated. What is found after damage is flagged, for it
may be a page that holds records, inside of the one that was damaged: who writes pages could forge
captures that way. Records in segments (WARC 1.1 section 8) are put together where all are there.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from asof.model import Damage
from asof.warc.members import BAD_CHECKSUM
from asof.warc.reader import scan
from asof.warc.record import Flag, StoredRecord, WarcHeader, flagged

Whole = tuple[StoredRecord, ...]
"""A record, and those that go on with its block."""

_TORN = (Flag.CUT_SHORT, Flag.WRONG_CHECKSUM)
# What is true of a segment only.
_OF_A_SEGMENT = ("warc-segment-number", "warc-block-digest", "content-length", "warc-truncated")


def mended(path: Path, *, segmented: bool) -> Iterator[Whole | Damage]:
    """The records of a file, each with its continuations and flagged for what is wrong with it."""
    segments = _segments(path) if segmented else {}
    used = {_place(piece) for pieces in segments.values() for piece in pieces[1:]}
    for found in _flagged(path):
        if isinstance(found, Damage):
            yield found
            continue
        number = found.header.get("WARC-Segment-Number")
        whole = segments.get(_id(found.header.get("WARC-Record-ID"))) if number == "1" else None
        if whole is not None:
            yield (_joined(found, whole), *whole[1:])
        elif _place(found) not in used:
            yield (found,)
            if number is not None:
                name = found.header.get("WARC-Target-URI") or found.header.get("WARC-Record-ID")
                reason = f"segment {number} of {name}: not all of the others are in this file"
                yield Damage(found.where.file, found.where.offset, reason, found.where.length)


def _flagged(path: Path) -> Iterator[StoredRecord | Damage]:
    held: Damage | None = None
    doubt = False  # whether what comes may lie inside of what was damaged
    for found in scan(path, torn=True):
        if isinstance(found, Damage):
            if held is not None:
                yield held
                doubt = doubt or BAD_CHECKSUM not in held.reason
            held = found
            continue
        said = found.header.get("WARC-Asof-Anomalies") or ""
        own = held is not None and any(said.endswith(flag) for flag in _TORN)
        before = doubt
        if held is not None:
            doubt = doubt or BAD_CHECKSUM not in held.reason
            yield replace(held, reason=f"{held.reason}; what is left is kept") if own else held
            held = None
        if before or (doubt and not own):
            found = replace(found, header=flagged(found.header, Flag.AFTER_DAMAGE))
        yield found
    if held is not None:
        yield held


def _segments(path: Path) -> dict[str, list[StoredRecord]]:
    """The segments of each record of which all are there, by its id; without their blocks."""
    found: dict[str, dict[int, StoredRecord]] = defaultdict(dict)
    totals: dict[str, str | None] = {}
    for record in scan(path):
        header = record.header if isinstance(record, StoredRecord) else None
        number = header.get("WARC-Segment-Number") if header is not None else None
        if header is None or number is None or not isinstance(record, StoredRecord):
            continue
        first = number == "1"
        origin = _id(header.get("WARC-Record-ID" if first else "WARC-Segment-Origin-ID"))
        if number.isascii() and number.isdigit() and len(number) < 7:
            found[origin].setdefault(int(number), replace(record, data=None))
            totals[origin] = header.get("WARC-Segment-Total-Length") or totals.get(origin)
    whole = {}
    for origin, pieces in found.items():
        row = [pieces[number] for number in sorted(pieces)]
        size = sum(piece.size for piece in row)
        if sorted(pieces) == list(range(1, len(row) + 1)) and totals[origin] == str(size):
            whole[origin] = row
    return whole


def _joined(first: StoredRecord, pieces: list[StoredRecord]) -> StoredRecord:
    """The first segment with the header of the whole."""
    fields = [field for field in first.header.fields if field[0].lower() not in _OF_A_SEGMENT]
    size = sum(piece.size for piece in pieces)
    header = WarcHeader(first.header.version, (*fields, ("Content-Length", str(size))))
    return replace(first, header=header)


def _place(record: StoredRecord) -> tuple[int, int]:
    return record.where.offset, record.skip


def _id(field: str | None) -> str:
    return (field or "").strip("<> ")
