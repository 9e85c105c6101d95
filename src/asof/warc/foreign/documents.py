"""From a document of a foreign file to a WARC 1.1 record: the part that ARC and TREC-Web share.

Converted records are pure functions of what the file says: the same document gives the same record
with the same id, whenever and wherever it is imported.
"""

import ipaddress
import os
import re
import uuid
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote, quote_from_bytes

from asof.clock import Instant, iso_second
from asof.config import Config
from asof.http.head import find_head_end, parse_head
from asof.model import Body, Headers, find_header
from asof.url import is_web
from asof.warc.digest import digest_text
from asof.warc.record import Flag, Record

MEMORY = 1 << 20
"""A body of more bytes than this goes to a file."""

SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]{0,31}:")

_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,80}/[\w.+-]{1,80}", re.ASCII)


TORN: Headers = (
    ("WARC-Truncated", "unspecified"),
    ("WARC-Asof-Anomalies", Flag.CUT_SHORT.value),
)
"""What the record of a document says of which only the beginning is there."""


@dataclass(frozen=True, slots=True)
class ForeignDocument:
    """What a foreign file says about one document. `kind` forces a WARC-Type other than by content.

    Only metadata has no `url`. `dated` is False when the file gives no date and `at` stands in for
    it; it then does not take part in the record's id.
    """

    url: str
    at: Instant
    ip: str = ""
    media_type: str = ""
    kind: str = ""
    dated: bool = True
    extra: Headers = ()


def has_room(spool: Path, size: int, config: Config) -> bool:
    """Whether a body of that size, if it needs a file, leaves the disk its reserve."""
    return size <= MEMORY or size <= config.room(spool)


def uri(raw: bytes) -> str:
    """A URL as a WARC field can hold it: what is not visible, and what is not UTF-8, as %XX.

    Letters beyond ASCII stay: other WARC files have them, too, and they then mean the same here.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return quote_from_bytes(raw, safe=_VISIBLE)
    if text.isascii():
        return quote_from_bytes(raw, safe=_VISIBLE)
    return "".join(
        char if not char.isascii() and char.isprintable() else quote(char, safe=_VISIBLE)
        for char in text
    )


def brief(url: str) -> str:
    return url if len(url) <= 100 else f"{url[:97]}..."


def known_ip(text: str) -> str:
    """The address, or nothing where the field holds none: `-`, `0`, or the 0.0.0.0 of crawlers."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return ""
    return "" if address.is_unspecified else str(address)


def known_media_type(text: str) -> str:
    """The bare media type in lower case, or nothing where the field holds none (`no-type`)."""
    match = _MEDIA_TYPE.match(text)
    return match[0].lower() if match else ""


def valid_date(at: Instant | None) -> Instant | None:
    """The date, unless nothing on the web can have it: years before 1970 are zeros and typos."""
    return at if at is not None and at >= 0 else None


def last_byte(body: Body) -> bytes:
    """The last byte of a body, without reading all of it; empty when there is none."""
    if body.spool is None:
        return body.data[-1:]
    with body.spool.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)


def fills_its_head(body: Body) -> bool:
    """Whether an HTTP head stands in front and announces exactly the bytes that follow it."""
    first = next(body.chunks(MEMORY), b"")
    end = find_head_end(first)
    announced = find_header(parse_head(first[:end]).headers, "Content-Length") if end else None
    return announced is not None and announced.strip() == str(body.size - end)


def to_record(document: ForeignDocument, *block: Body) -> Record:
    """The WARC record of a document: a response where it has an HTTP head, else a resource."""
    whole, payload, is_response = _digests(document, block)
    kind = document.kind or ("response" if is_response else "resource")
    date = iso_second(document.at)
    name = " ".join((document.url, date if document.dated else "-", whole))
    media_type = document.media_type or "application/octet-stream"
    fields = (
        ("WARC-Type", kind),
        ("WARC-Record-ID", f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}>"),
        ("WARC-Date", date),
        ("WARC-Target-URI", document.url),
        ("WARC-IP-Address", document.ip),
        ("WARC-Block-Digest", whole),
        ("WARC-Payload-Digest", payload),
        *document.extra,
        ("Content-Type", "application/http;msgtype=response" if kind == "response" else media_type),
    )
    said = tuple((field, value) for field, value in fields if value)
    return Record(said, tuple(part for part in block if part.size))


def _digests(document: ForeignDocument, block: tuple[Body, ...]) -> tuple[str, str, bool]:
    """Digest of the block, digest of the payload (empty: leave it out), and whether it is HTTP."""
    chunks = (chunk for part in block for chunk in part.chunks(MEMORY))
    first = b""
    while len(first) < MEMORY and (chunk := next(chunks, b"")):
        first += chunk
    is_http = not document.kind and is_web(document.url)
    head_end = find_head_end(first) if is_http else 0
    whole, payload = sha256(first), sha256(memoryview(first)[head_end:])
    for chunk in chunks:
        whole.update(chunk)
        payload.update(chunk)
    # Other readers look for the payload right after the first head: with anything before the head
    # that counts, or a head of which no end is in sight, they would not find what we digested.
    size = sum(part.size for part in block)
    plain_head = parse_head(first[:head_end]).start == 0 if head_end else True
    endless = head_end == len(first) < size
    text = "" if endless or not plain_head else digest_text(payload.digest())
    return digest_text(whole.digest()), text, head_end > 0
