"""Whether a record is what it says it is: its declared digests against its bytes.

Agrees with `warcio check`, which users know: the payload is what follows the first empty line of an
HTTP response or request, as stored (chunked framing and all), and the whole block of any other
record; digests of revisits are not judged, for they speak of another record; nor is the payload of
a record that is one segment of several. It differs on purpose in these points:

- A digest of an unknown algorithm cannot be judged. warcio calls that a failure.
- Lower-case base32, base32 without its padding and hexadecimal MD5 are understood.
- A payload digest may also be that of the payload as asof reads HTTP: after interim 1xx responses,
  or of all bytes when there is no head.
- The block digest of an empty block is judged, too.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from asof.errors import DamageError
from asof.http.head import find_head_end
from asof.warc.digest import Digest, digest_of, parse_digest
from asof.warc.reader import beginning, behind, block_chunks
from asof.warc.record import StoredRecord, WarcHeader

# For warcio a line of white space ends a head. A digest by other tools is judged over the bytes
# they meant, so this is the rule here, though it is not ours (RFC 9112 section 5.2).
_EMPTY_LINE = re.compile(rb"\n[ \t\r\v\f\x1c-\x1f]*\n")
_BLANK_START = re.compile(rb"[ \t\r\v\f\x1c-\x1f]*\n")
_HTTP_KINDS = ("response", "request", "revisit")


class Soundness(NamedTuple):
    """What became of the declared digests of a record."""

    problems: list[str]
    verified: int = 0


def verify(record: StoredRecord) -> list[str]:
    return judge(record).problems


def judge(record: StoredRecord) -> Soundness:
    header = record.header
    block, payload = header.get("WARC-Block-Digest"), header.get("WARC-Payload-Digest")
    if (block is None and payload is None) or header.kind == "revisit":
        return Soundness([])
    outcomes = []
    if block is not None:
        outcomes.append(_compare(record, "block", block))
    if payload is not None and header.get("WARC-Segment-Number") is None:
        outcomes.append(_compare(record, "payload", payload))
    return Soundness([outcome for outcome in outcomes if outcome], outcomes.count(""))


def _compare(record: StoredRecord, name: str, declared: str) -> str | None:
    """Why a digest does not hold; empty when it does, None when that cannot be judged."""
    wanted = parse_digest(declared)
    if not isinstance(wanted, tuple):
        return wanted and f"the {name} digest {wanted}"
    try:
        if name == "block":
            holds = _holds(record, wanted, 0)
        else:
            holds = _holds(record, wanted, _payload_start(record)) or (
                record.header.kind in _HTTP_KINDS
                and _holds(record, wanted, find_head_end(beginning(record)))
            )
    except DamageError as error:
        return f"the {name} digest cannot be judged: {error.what}"
    return "" if holds else f"the {name} digest does not match: {declared[:99]}"


def _holds(record: StoredRecord, wanted: Digest, start: int) -> bool:
    new, value = wanted
    data = record.data
    if data is None:
        return digest_of(new, behind(block_chunks(record), start)) == value
    # A view: hashlib needs no copy of the payload.
    return new(memoryview(data)[start:] if start else data).digest() == value


def _payload_start(record: StoredRecord) -> int:
    if not _is_http(record.header):
        return 0
    start = beginning(record)
    end = _BLANK_START.match(start) or _EMPTY_LINE.search(start)
    return end.end() if end else len(start)


def _is_http(header: WarcHeader) -> bool:
    # wget 1.19 wrote URIs in angle brackets.
    url = (header.get("WARC-Target-URI") or "").removeprefix("<")
    known = header.kind in _HTTP_KINDS
    if not header.kind:  # damaged; its content may still say what it is
        known = (header.get("Content-Type") or "").startswith("application/http")
    return known and url.startswith(("http:", "https:"))
