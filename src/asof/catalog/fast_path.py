"""Rows straight from unpacked records that are written as most tools write them.

`derive.row` understands every record; this understands one shape of a response, gives exactly the
same row for it (a property test compares the two), and None for anything else. It spares the making
of values that only the row needs, for import and reindex go through here a million times over:
29 us a record by `derive.row`, 16 by `plain_row`, 4 by `compiled_row` where a C compiler was found
when asof was installed (ADR 7).
"""

from __future__ import annotations

import re

from asof.catalog.dates import modified, warc_date
from asof.catalog.rows import Row
from asof.native import compiled
from asof.url import surt
from asof.warc.record import KNOWN_FIELDS

_LONGEST_HEAD = 1 << 16
_VERSIONS = ("WARC/1.1\r\n", "WARC/1.0\r\n")
_LINES = len(_VERSIONS[0])
_ID = re.compile(r"<urn:uuid:([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})>")
_URL = re.compile(r"https?://[!-~]+(?<!>)")
_DIGEST = re.compile(r"sha1:[A-Z2-7]{32}|sha256:[A-Z2-7]{52}====")
_STATUS = re.compile(r"HTTP/1\.[01] ([2-9][0-9]{2})[ \r]")
_WANTED = re.compile(
    r"\n(content-type|etag|last-modified|transfer-encoding|content-encoding) ?: ?([^\r]*)",
    re.IGNORECASE | re.ASCII,
)
_MEDIA_TYPE_END = re.compile(r"[;\s]")
_VERSION_LINES = (b"WARC/1.1\r\n", b"WARC/1.0\r\n")
_REQUEST, _METADATA = b"\r\nWARC-Type: request\r\n", b"\r\nWARC-Type: metadata\r\n"
_FIELDS_TYPE = b"\r\nContent-Type: application/warc-fields\r\n"
_PARTNER = b"\r\nWARC-Concurrent-To: "
# Fields that change what a row says, and are rare.
_SPECIAL = frozenset(("WARC-Segment-Number", "WARC-Asof-Anomalies"))


def compiled_row(content: bytes | bytearray, offset: int, length: int) -> Row | tuple[()] | None:
    """As `plain_row`, by the compiled reader."""
    found = compiled.response(content)
    if not found:
        return found
    at, record_id, url, status, media_type, digest, size, etag, changed, truncated = found
    return (
        surt(url), at, record_id, url, "response", status, media_type, digest, digest, size,
        offset, length, etag, changed, None, truncated, None, None, None, None,
    )  # fmt: skip


def plain_row(content: bytes | bytearray, offset: int, length: int) -> Row | tuple[()] | None:
    """The row of the one record that a member holds, if it is a plain response.

    Empty for a record that goes with one (a request, or metadata about it) and is no capture.
    """
    header_end = content.find(b"\r\n\r\n", 0, _LONGEST_HEAD)
    if _is_companion(content, header_end):
        return ()
    head_end = content.find(b"\r\n\r\n", header_end + 4, header_end + _LONGEST_HEAD)
    if header_end < 0 or head_end < 0 or not content.endswith(b"\r\n\r\n"):
        return None
    if head_end + 8 > len(
        content
    ):  # the head has no end of its own: what was found is the record's
        return None
    try:
        text = content[: head_end + 2].decode("ascii")
    except UnicodeDecodeError:
        return None
    if not text.startswith(_VERSIONS) or _is_odd(text):
        return None
    fields = _fields(text[_LINES:header_end])
    if fields is None or fields.get("Content-Length") != str(len(content) - header_end - 8):
        return None
    head = text[header_end + 4 :]
    status = _STATUS.match(head)
    if status is None or status[1][0] == "3":
        return None
    return _row(fields, head, int(status[1]), len(content) - head_end - 8, offset, length)


def _is_companion(content: bytes | bytearray, header_end: int) -> bool:
    """Whether it is a whole record, plainly written, that was made beside a response."""
    header = content[: header_end + 2]
    if _REQUEST not in header and not (_METADATA in header and _FIELDS_TYPE in header):
        return False
    if _PARTNER not in header or not header.startswith(_VERSION_LINES):
        return False
    said = b"\r\nContent-Length: %d\r\n" % (len(content) - header_end - 8)
    lower = header.lower()
    return (
        said in header
        and lower.count(b"content-length") == 1
        and lower.count(b"warc-type") == 1
        and b"\n " not in header
        and b"\n\t" not in header
        and content.endswith(b"\r\n\r\n")
    )


def _is_odd(text: str) -> bool:
    """Whether careful readers would treat anything in it in a way of their own.

    Folded lines, white space around values, line ends and NUL where none belong. Not one pattern:
    that costs 15 us, and these 1 us.
    """
    lines = text.count("\r\n")
    if text.count("\n") != lines or text.count("\r") != lines:
        return True
    return "\n " in text or "\t" in text or " \r" in text or ":  " in text or "\0" in text


def _fields(lines: str) -> dict[str, str] | None:
    """The named fields, each known and there once, of a response; else None."""
    split = lines.split("\r\n")
    try:
        fields: dict[str, str] = dict([line.split(": ", 1) for line in split])
    except ValueError:
        return None
    if len(fields) != len(split) or fields.get("WARC-Type") != "response":
        return None
    return fields if KNOWN_FIELDS.issuperset(fields) and _SPECIAL.isdisjoint(fields) else None


def _row(
    fields: dict[str, str], head: str, status: int, size: int, offset: int, length: int
) -> Row | None:
    get = fields.get
    url, digest = get("WARC-Target-URI", ""), get("WARC-Payload-Digest", "")
    record_id, at = _ID.fullmatch(get("WARC-Record-ID", "")), warc_date(get("WARC-Date", "-"))
    if record_id is None or at is None:
        return None
    if _URL.fullmatch(url) is None or _DIGEST.fullmatch(digest) is None:
        return None
    found = _WANTED.findall(head)
    # From the last to the first, since of a repeated header the first counts.
    values = {name.lower(): value for name, value in found[::-1]}
    if "transfer-encoding" in values or "content-encoding" in values:
        return None
    media_type, last_modified = values.get("content-type"), values.get("last-modified")
    if media_type:
        media_type = _MEDIA_TYPE_END.split(media_type, maxsplit=1)[0]
    return (
        surt(url), at, record_id[1], url, "response", status, media_type, digest, digest, size,
        offset, length, values.get("etag"),
        None if last_modified is None else modified(last_modified, at),
        None, get("WARC-Truncated") or None, None, None, None, None,
    )  # fmt: skip


swift_row = plain_row if compiled is None else compiled_row
