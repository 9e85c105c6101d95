"""From a stored record to a capture: one pure function for crawl, import and reindex.

Captures are records of kind response, revisit, resource and metadata, save those whose content is
`application/warc-fields`: the same ones that cdxj-indexer lists. A request or warcinfo record is
no answer to a URL. Nor is a `conversion` (made from another record, maybe years later) or a
`continuation` (a piece of one; the first piece counts as a capture truncated by `segmentation`).
A record without a URL or without a date that can be read is nothing that can be looked up.

What is taken from the record:

- URL: WARC-Target-URI without the angle brackets of WARC 1.0, spaces escaped; as cdxj-indexer.
- status, media type, ETag, Last-Modified, Location: from the head of the final response (where
  interim 1xx blocks come first, cdxj-indexer would take the first of them).
- digest: WARC-Payload-Digest, else SHA-1 of the payload. A revisit without one has none.
- content: a digest of the decoded entity. Where the payload is the entity (no coding) that is the
  record's own digest, if it has one of a sound algorithm and nobody found it wrong. Else SHA-256;
  an entity beyond ENTITY_LIMIT counts by its coded bytes. A revisit has none: the catalog knows
  the capture that it refers to.
- size: the payload as stored, without the HTTP head.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha1, sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from asof.catalog.dates import modified, warc_date
from asof.catalog.rows import Row, capture_of
from asof.clock import Instant
from asof.errors import AsofError, DamageError, InputError
from asof.http.entity import decode
from asof.http.head import content_range, parse_head
from asof.ledger import url_key
from asof.model import PARTIAL, WHOLE_PART, Capture, Headers
from asof.native import compiled
from asof.url import is_web, resolve, surt
from asof.warc.digest import base32, holds, same
from asof.warc.file_names import path_of
from asof.warc.reader import HEAD_REACH, behind, block_chunks, read_record
from asof.warc.record import Flag, StoredRecord, WarcHeader
from asof.warc.revisit import block_of, exact_reference

if TYPE_CHECKING:
    from hashlib import _Hash

# Coded entities that unpack to more are taken for bombs. Uncoded ones have no limit.
ENTITY_LIMIT = 256 << 20

_KINDS = frozenset(("response", "revisit", "resource", "metadata"))
_HTTP_KINDS = frozenset(("response", "revisit"))
_CODINGS = frozenset(("transfer-encoding", "content-encoding"))
_WARC_FIELDS = "application/warc-fields"
# Digests that are told apart by more than chance. SHA-1 can be forged, but not against a record
# that is in the archive already; what is written here has SHA-256.
_SOUND = re.compile(r"sha1:[A-Z2-7]{32}|sha256:[A-Z2-7]{52}====")
_UUID = "urn:uuid:"
_UUID_FORM = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_TWIN = re.compile("![0-9a-f]{16}!(.+)", re.DOTALL)
IDENTICAL = "identical-payload-digest"
_PROFILE = re.compile(r".*/revisit/")
_MEDIA_TYPE_END = re.compile(r"[;\s]")

_PLAIN_STATUS = re.compile(rb"HTTP/1\.[01] ([2-9][0-9]{2})(?: |\r)")
_WANTED = re.compile(
    r"\n(content-type|etag|last-modified|location|transfer-encoding|content-encoding|age|"
    r"content-range)"
    r"[ \t]*:[ \t]*([^\r]*)",
    re.IGNORECASE | re.ASCII,
)


class _Head(NamedTuple):
    """Of an HTTP head: its length, the status, first values by lower-case name, all codings."""

    length: int
    status: int | None
    values: dict[str, str]
    codings: Headers


_NO_HEAD = _Head(0, None, {}, ())


def is_capture(header: WarcHeader) -> bool:
    """Whether a record of this header is a capture: whether `derive` would not give None."""
    return _identity(header) is not None


def derive(record: StoredRecord) -> Capture | None:
    """The capture that a stored record is, or None."""
    found = row(record)
    return None if found is None else capture_of(found, record.where.file)


def row(record: StoredRecord, problems: Sequence[str] = ()) -> Row | None:
    """The same as a row of the catalog, for entry in bulk; `problems` are those of its digests."""
    header = record.header
    identity = _identity(header)
    if identity is None:
        return None
    kind, url, at = identity
    get = header.get
    declared = get("WARC-Payload-Digest") or None
    http = is_http(kind, url)
    head, size, digest, content = _block(record, kind, http, declared, trusted=not problems)

    values = head.values
    media_type = values.get("content-type") if kind in _HTTP_KINDS else get("Content-Type")
    if media_type:
        media_type = _MEDIA_TYPE_END.split(media_type, maxsplit=1)[0]
    last_modified = values.get("last-modified")
    location = values.get("location") if head.status and 300 <= head.status <= 399 else None
    revisit = kind == "revisit"
    profile, refers_to_url, refers_to_at = _reference(header) if revisit else (None, None, None)
    if profile == IDENTICAL and digest and not head.codings and _SOUND.fullmatch(digest):
        content = digest  # the payload is elsewhere, but this is what it is
    where = record.where
    record_id = stored_id(header) or str(uuid5(NAMESPACE_URL, f"{url} {at} {digest}"))
    anomalies = (get("WARC-Asof-Anomalies") or "").replace(",", " ").split()
    if problems and Flag.WRONG_DIGEST not in anomalies:
        anomalies.append(Flag.WRONG_DIGEST)
    if head.status == PARTIAL and _is_whole(values.get("content-range"), head, size, revisit):
        anomalies.append(WHOLE_PART)
    return (
        surt(url), at, record_id, url, kind, head.status, media_type, digest, content, size,
        where.offset, where.length, values.get("etag"),
        None if last_modified is None else modified(last_modified, at),
        None if location is None else resolve(url, location),
        get("WARC-Truncated") or ("segmentation" if get("WARC-Segment-Number") else None),
        profile, refers_to_url, refers_to_at, " ".join(anomalies) or None, _age(values.get("age")),
    )  # fmt: skip


def fast_row(content: bytes | bytearray, offset: int, length: int) -> Row | tuple[()] | None:
    """The row of the one record that a member holds, if it is a response as most tools write it.

    Empty for a record that goes with one (a GET request, or metadata about it) and is no capture.
    None for anything else: `row` understands every record, and gives exactly the same (a property
    test compares the two). This spares the making of values that only the row needs, for import and
    reindex go through here a million times over: 29 us a record by `row`, 5 here, where there was a
    C compiler at installation (ADR 7).
    """
    found = compiled.response(content) if compiled is not None else None
    if not found:
        return found
    date, record_id, url, status, media_type, digest, size, etag, changed, truncated, age = found
    at = warc_date(date)
    if at is None or status == PARTIAL:
        return None
    return (
        surt(url), at, record_id, url, "response", status, media_type, digest, digest, size,
        offset, length, etag, None if changed is None else modified(changed, at),
        None, truncated, None, None, None, None, _age(age),
    )  # fmt: skip


def _is_whole(field: str | None, head: _Head, size: int, revisit: bool) -> bool:
    """Whether a part is all there is: players ask for `bytes=0-`."""
    first, last, length = content_range(field) or (1, 0, None)
    is_held = revisit or bool(head.codings) or size == length
    return first == 0 and length is not None and last == length - 1 and is_held


def _age(text: str | None) -> int | None:
    """For how many seconds a cache had an answer (RFC 9111 section 5.1), if it says so."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


def comparable(captures: Sequence[Capture], warc: Path) -> list[Capture]:
    """The captures in the same order, with the contents of each URL known by one hash: tools hash
    differently, and equal contents show only under one.
    """
    hashes: dict[str, set[str]] = defaultdict(set)
    for capture in captures:
        if capture.content is not None:
            hashes[capture.url].add(capture.content.partition(":")[0])
    return [_rehashed(c, warc) if len(hashes[c.url]) > 1 else c for c in captures]


def _rehashed(capture: Capture, warc: Path) -> Capture:
    if capture.content is None or capture.content.startswith("sha256:"):
        return capture
    if capture.kind == "revisit":
        return replace(capture, content=None)  # what it refers to is rehashed
    try:
        record = read_record(path_of(warc, capture.where.file), capture.where.offset)
    except (DamageError, InputError):
        return capture
    http = is_http(capture.kind, capture.url)
    return replace(capture, content=_block(record, capture.kind, http, None)[3])


def record_uri(record_id: str) -> str:
    """The WARC-Record-ID that a capture's `record_id` stands for, without angle brackets."""
    record_id = own_id(record_id)
    return _UUID + record_id if _UUID_FORM.fullmatch(record_id) else record_id.strip("<>")


def stored_id(header: WarcHeader) -> str | None:
    """The record's id without brackets and, if it is a UUID, without saying so.

    A record without one gets an id from what it says; its place is left out, since the same record
    in another file is the same.
    """
    field = header.get("WARC-Record-ID")
    return short_id(field) if field else None


def short_id(field: str) -> str:
    """An id that a record names, as that record's own is stored."""
    bare = field[1:-1] if field[0] == "<" and field[-1] == ">" else field
    if bare.startswith(_UUID) and _UUID_FORM.fullmatch(bare, len(_UUID)):
        return bare[len(_UUID) :]
    return f"<{bare}>" if _UUID_FORM.fullmatch(bare) else bare


def says_other(known: Capture, given: Capture, warc: Path | None, lies: Mapping[str, Path]) -> bool:
    """Whether a capture has another content than a known one of its URL, moment and id.

    Where tools digest differently, size and bytes tell; a revisit has none of its own. `lies` says
    where files are that are not in their place.
    """
    told = same(known.content, given.content)
    if told is not None or "revisit" in (known.kind, given.kind):
        return told is False
    if known.size != given.size or given.content is None or warc is None:
        return True
    file = known.where.file
    try:
        record = read_record(lies.get(file) or path_of(warc, file), known.where.offset)
        return not holds(given.content, behind(block_chunks(record), record.size - known.size))
    except AsofError:  # nobody can say that it is the same
        return True


def twin_id(capture: Capture) -> str:
    """What a capture is called here if another of its URL and moment has its id and says something
    else. It is sorted before that one: of one instant, the last is what is shown as of then.
    """
    return f"!{url_key(str(capture.content)) & (1 << 64) - 1:016x}!{capture.record_id}"


def own_id(record_id: str) -> str:
    """The id that a record itself has."""
    return match[1] if (match := _TWIN.fullmatch(record_id)) else record_id


def is_http(kind: str, url: str) -> bool:
    """Whether the block of such a record begins with an HTTP head, if it has one."""
    return kind in _HTTP_KINDS and is_web(url)


def _identity(header: WarcHeader) -> tuple[str, str, Instant] | None:
    """Kind, URL and date of a record that is a capture."""
    kind = header.kind
    if kind not in _KINDS:
        return None
    if kind not in _HTTP_KINDS and header.get("Content-Type") == _WARC_FIELDS:
        return None
    url, date = header.get("WARC-Target-URI"), header.get("WARC-Date")
    target = target_uri(url) if url else ""
    at = warc_date(date) if date else None
    return (kind, target, at) if target and at is not None else None


def missing_identity(header: WarcHeader) -> str | None:
    """What keeps a record that should be a capture from being found; None for all others."""
    kind = header.kind
    if not kind:
        return "the record has no WARC-Type"
    if kind not in _HTTP_KINDS and kind != "resource":
        return None
    if not header.get("WARC-Target-URI"):
        return "the record has no WARC-Target-URI"
    date = header.get("WARC-Date")
    if not date or warc_date(date) is None:
        return "the record has no WARC-Date that can be read"
    return None


def target_uri(url: str) -> str:
    """WARC 1.0 had angle brackets around the URL, and wget still writes them."""
    if url[0] == "<" and url[-1] == ">":
        url = url[1:-1]
    return url.replace(" ", "%20") if " " in url else url


def _reference(header: WarcHeader) -> tuple[str | None, str | None, Instant | None]:
    """Of a revisit: why, and what it refers to (WARC 1.1 section 6.7)."""
    profile = header.get("WARC-Profile")
    url, date = exact_reference(header)
    return (
        None if profile is None else _PROFILE.sub("", profile),
        target_uri(url) if url else None,
        warc_date(date) if date else None,
    )


def _block(
    record: StoredRecord, kind: str, http: bool, declared: str | None, *, trusted: bool = True
) -> tuple[_Head, int, str | None, str | None]:
    """The HTTP head of a block, and of its payload the stored size, digest and content.

    A block that is too large to hold is read in one pass over the file.
    """
    chunks = block_chunks(record) if record.data is None else iter(())
    first = record.data or block_of(record.header)
    while len(first) < HEAD_REACH and (chunk := next(chunks, b"")):
        first += chunk
    # Of nearly all heads one pattern reads everything: 4 us, against 20 us with all care.
    head = (_plain_head(first) or _careful_head(first)) if http else _NO_HEAD
    size = max(record.size - head.length, 0)
    if kind == "revisit":
        return head, size, declared, None
    if declared is not None and trusted and not head.codings and _SOUND.fullmatch(declared):
        return head, size, declared, declared
    payload = chain([first[head.length :]], chunks)
    if declared is not None:
        return head, size, declared, _content(head.codings, payload)
    fallback = sha1(usedforsecurity=False)
    content = _content(head.codings, payload, fallback)
    return head, size, f"sha1:{base32(fallback.digest())}", content


def _content(codings: Headers, payload: Iterable[bytes], *others: _Hash) -> str:
    """The content of a payload: the digest of its entity or, beyond the limit, as it is stored.

    All the stored bytes go through the `others`, too, however soon decoding ends.
    """
    stored, entity, size = sha256(), sha256(), 0

    def watched(piece: bytes) -> bytes:
        for digest in (stored, *others):
            digest.update(piece)
        return piece

    # A map and no generator: those who read it to its middle cannot close it.
    source = map(watched, payload)
    if codings:
        for piece in decode(codings, source, limit=ENTITY_LIMIT):
            entity.update(piece)
            size += len(piece)
    for _ in source:
        pass
    whole = codings and size < ENTITY_LIMIT
    return f"sha256:{base32((entity if whole else stored).digest())}"


def _plain_head(data: bytes) -> _Head | None:
    """A head in which every line is a line; None when anything is odd. A test compares the two."""
    end = data.find(b"\r\n\r\n", 0, HEAD_REACH)
    status = _PLAIN_STATUS.match(data)
    if end < 0 or status is None:
        return None
    try:
        text = data[: end + 2].decode("ascii")
    except UnicodeDecodeError:
        return None
    rest = text.replace("\r\n", "")
    if "\n" in rest or "\r" in rest or "\0" in rest or "\n " in text or "\n\t" in text:
        return None
    found = _WANTED.findall(text)
    # From the last to the first, since of a repeated header the first counts.
    values = {name.lower(): value.rstrip(" \t") for name, value in found[::-1]}
    codings = () if _CODINGS.isdisjoint(values) else _codings(found)
    return _Head(end + 4, int(status[1]), values, codings)


def _careful_head(data: bytes) -> _Head:
    head = parse_head(data)
    if not head.raw:
        return _NO_HEAD
    values = {name.lower(): as_utf8(value) for name, value in head.headers[::-1]}
    return _Head(len(head.raw), head.status or None, values, _codings(head.headers))


def _codings(headers: Iterable[tuple[str, str]]) -> Headers:
    return tuple((name, value) for name, value in headers if name.lower() in _CODINGS)


def as_utf8(value: str) -> str:
    """A value that was read as Latin-1, as the UTF-8 that servers mean if it can be that."""
    if value.isascii():
        return value
    try:
        return value.encode("latin-1").decode()
    except UnicodeDecodeError:
        return value
