"""Revisit records in the form that other programs replay, too.

pywb and replayweb.page show a revisit under the HTTP head that its block holds, and take only the
payload from the record it refers to. A 304 shown so is an empty page. Without a block, both take
status and headers from that record as well; WARC 1.1 section 6.7.3 allows for either. So the head
of a 304 lies in a field of its own, to the last byte (ADR 5), and what is referred to is

- a record with a payload: neither program follows a revisit to another revisit;
- one of the same status and type, that leads to the same place: replayweb.page shows its head;
- named by its whole second: their indexes know no finer dates, and replayweb.page would take the
  next capture after a finer one.

Where that is not exactly what the answer was about, a field of ours says what was.
"""

import re
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from asof.clock import SECOND, Instant, iso, iso_second
from asof.model import Capture, Headers
from asof.warc.digest import digest_text
from asof.warc.record import StoredRecord, WarcHeader

# WARC 1.1 sections 6.7.2 and 6.7.3
IDENTICAL_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"

_HEAD = "WARC-Asof-HTTP-Head"
_EXACTLY = "WARC-Asof-Refers-To"
# A longer head stays in the block: a record's header of more than 64 KiB is none for readers.
_LONGEST = 16 << 10
# All but printable ASCII is written as %XX, and spaces where readers would strip them.
_ODD = re.compile(rb"[^ -~]|%|\A | \Z")
_WHOLE_SECOND = re.compile(r":\d\d(\.0+)?Z$")
_NOTHING = digest_text(sha256().digest())


def may_revisit(
    status: int | None, media_type: str | None, redirect: str | None, held: Capture
) -> bool:
    """Whether an answer can be shown under the head of a record: of its own, it may have none."""
    alike = (media_type or "").lower() == (held.media_type or "").lower()
    return status is None or (status == held.status and redirect == held.redirect and alike)


class Referent(NamedTuple):
    """A record that a revisit refers to; its id, where that is known."""

    url: str
    at: Instant
    record_id: str = ""


def reference(held: Referent, meant: Referent) -> Headers:
    """What names the record that holds the payload, and what the answer was about."""
    second = held.at - held.at % SECOND
    named = (
        ("WARC-Refers-To", held.record_id and f"<{held.record_id.strip('<>')}>"),
        ("WARC-Refers-To-Target-URI", held.url),
        ("WARC-Refers-To-Date", iso_second(second)),
        (_EXACTLY, "" if meant[:2] == (held.url, second) else f"{iso(meant.at)} {meant.url}"),
    )
    return tuple((name, value) for name, value in named if value)


def exact_reference(header: WarcHeader) -> tuple[str | None, str | None]:
    """The URL and the date that a revisit refers to, as they are written."""
    date, _, url = (header.get(_EXACTLY) or "").partition(" ")
    if url:
        return url, date
    return header.get("WARC-Refers-To-Target-URI"), header.get("WARC-Refers-To-Date")


def kept_block(block: bytes) -> Headers:
    """Fields that hold the head of a 304 instead of the block; none if it is too long for that."""
    if len(block) > _LONGEST:
        return ()
    text = _ODD.sub(lambda found: b"%%%02X" % found[0][0], block).decode("ascii")
    return ("WARC-Block-Digest", _NOTHING), (_HEAD, text)


def block_of(header: WarcHeader) -> bytes:
    """What `kept_block` has put into fields, byte for byte; empty if there is none."""
    text = header.get(_HEAD) if header.kind == "revisit" else None
    return unquote_to_bytes(text) if text else b""


def as_response(revisit: StoredRecord, payload: bytes) -> StoredRecord:
    """A revisit with a head of its own as the response that it was, but for where it lies."""
    data = (revisit.data or b"") + payload
    dropped = ("warc-refers-to", "warc-profile", "warc-block-digest", _EXACTLY.lower())
    changed = {"warc-type": "response", "content-length": str(len(data))}
    fields = tuple(
        (name, changed.get(name.lower(), value))
        for name, value in revisit.header.fields
        if not name.lower().startswith(dropped)
    )
    header = WarcHeader(revisit.header.version, fields)
    return replace(revisit, header=header, size=len(data), data=data)


def replays_elsewhere(record: StoredRecord, *, is_304: bool) -> bool:
    """Whether a stored revisit has the form that this module is about."""
    date = record.header.get("WARC-Refers-To-Date") or ""
    return bool(_WHOLE_SECOND.search(date)) and not (is_304 and record.size)


def replayable(record: StoredRecord, held: Referent, meant: Referent, digest: str) -> StoredRecord:
    """A stored revisit in that form, but for where it lies. `digest` is not empty for a 304."""
    kept = kept_block(record.data) if digest and record.data else ()
    changed = (*reference(held, meant), *kept, ("WARC-Payload-Digest", digest))
    size = 0 if kept else record.size
    new = (*((name, value) for name, value in changed if value), ("Content-Length", str(size)))
    names = {name.lower() for name, _ in (*new, ("WARC-Refers-To", ""), (_EXACTLY, ""))}
    old = (field for field in record.header.fields if field[0].lower() not in names)
    header = WarcHeader(record.header.version, (*old, *new))
    return replace(record, header=header, size=size, data=b"" if kept else record.data)
