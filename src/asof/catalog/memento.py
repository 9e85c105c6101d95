"""A capture read back: its status, headers and bytes, with revisits followed to their payload."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from asof.catalog.captures import Catalog
from asof.catalog.derive import ENTITY_LIMIT, is_http, own_id, stored_id
from asof.catalog.observe import Observation
from asof.catalog.referents import is_304
from asof.clock import iso
from asof.errors import DamageError, InputError, NotCaptured
from asof.http.entity import decode, is_coded
from asof.http.head import Head, parse_head
from asof.model import Capture, Headers, find_header
from asof.warc.file_names import path_of
from asof.warc.reader import beginning, behind, block_chunks, read_record
from asof.warc.record import StoredRecord
from asof.warc.revisit import block_of

_NO_HEAD = Head(b"", 0, "0.9", 0, "", ())
# What a 304 must not change in a stored response: the hop-by-hop fields of RFC 9111 section 3.1,
# Content-Length (3.2), and, as 3.2 allows, what says how the stored bytes are coded.
_KEPT = frozenset((
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info",
    "proxy-authorization", "proxy-connection", "te", "transfer-encoding", "upgrade",
    "content-encoding", "content-length", "content-range",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Memento:
    """What a URL answered at a moment. `source` is the capture whose record holds the payload.

    Of a revisit with a head of its own (identical payload), status and headers are that head's. Of
    a 304, they are those of the response that it confirms, brought up to date by it as in a cache
    (RFC 9111 section 4.3.4). What another URL said of the same bytes says nothing of this one:
    without a head of its own, such a revisit has no headers. `head` is the stored HTTP head of the
    capture itself, if it has one.
    """

    capture: Capture
    source: Capture
    status: int | None
    headers: Headers
    head: bytes
    _record: StoredRecord = field(repr=False)
    _stored: Head = field(repr=False)
    _own: Head | None = field(default=None, repr=False)
    _coding: Head | None = field(default=None, repr=False)

    @property
    def media_type(self) -> str | None:
        """The media type without parameters."""
        declared = find_header(self.headers, "Content-Type")
        if declared is None:
            return self.source.media_type if self.source.surt == self.capture.surt else None
        return declared.partition(";")[0].strip().lower() or None

    @property
    def ip(self) -> str:
        """The address that answered, where the record says so."""
        return self._record.header.get("WARC-IP-Address") or ""

    @property
    def length(self) -> int | None:
        """The length of the payload, where that can be told without decoding it."""
        coded = is_coded((self._coding or self._stored).headers)
        return None if coded else self._record.size - len(self._stored.raw)

    def raw(self) -> Iterator[bytes]:
        """HTTP head and body exactly as they came; of a 304, those of the response it confirms.

        A revisit of an identical payload has a head of its own, before the source's body.
        """
        if self._own is None:
            return block_chunks(self._record)
        return chain([self._own.raw], behind(block_chunks(self._record), len(self._stored.raw)))

    def payload(
        self,
        limit: int | None = None,
        block: Callable[[StoredRecord], Iterator[bytes]] = block_chunks,
    ) -> Iterator[bytes]:
        """The decoded entity, at most `limit` bytes of it, of the `block` of its record.

        Without a limit, an entity that is not coded comes whole, and a coded one up to the size
        beyond which it is taken for a bomb.
        """
        chunks = behind(block(self._record), len(self._stored.raw))
        if limit is None:
            limit = max(ENTITY_LIMIT, self._record.size)
        return decode((self._coding or self._stored).headers, chunks, limit=limit)


def memento(catalog: Catalog, warc_dir: Path, capture: Capture) -> Memento:
    """Read a capture. NotCaptured when the payload of a revisit is not in the archive."""
    record = _read(warc_dir, capture)
    head = stored_head(record, capture)
    if capture.kind != "revisit":
        return Memento(capture, capture, head.status or None, head.headers, head.raw, record, head)
    seen = catalog.observation(capture)
    source = seen.source
    if source is None:
        raise _missing(seen)
    if is_304(capture):
        # What is confirmed is what the URL said, though the payload may lie under another.
        confirmed = memento(catalog, warc_dir, seen.answer or source)
        known = confirmed.headers if confirmed.capture.surt == capture.surt else ()
        headers = _freshened(known, head.headers)
        return replace(confirmed, capture=capture, headers=headers, head=head.raw)
    stored_record = _read(warc_dir, source)
    stored = stored_head(stored_record, source)
    own = head if head.status else None
    # Of another URL the same bytes may mean something else (asof.catalog.observe).
    same = source.surt == capture.surt
    shown = own or (stored if same else replace(stored, headers=()))
    return Memento(
        capture, source, shown.status or None, shown.headers, head.raw, stored_record, stored, own,
        None if same else own,
    )  # fmt: skip


def _read(warc_dir: Path, capture: Capture) -> StoredRecord:
    file, offset = capture.where.file, capture.where.offset
    try:
        record = read_record(path_of(warc_dir, file), offset, capture.where.length)
    except InputError as error:
        if isinstance(error.__cause__, PermissionError):  # it is whole, but not for us
            raise
        hint = "Put it back, or run `asof reindex` to go on without it."
        raise DamageError("the file cannot be read", file=file, offset=offset, hint=hint) from error
    if stored_id(record.header) not in (None, own_id(capture.record_id)):
        what = "another record lies here than the catalog says"
        hint = "Run `asof reindex` to rebuild the catalog from the WARC files."
        raise DamageError(what, file=file, offset=offset, hint=hint)
    return record


def stored_head(record: StoredRecord, capture: Capture) -> Head:
    """The HTTP head of a record, an empty one if it has none."""
    http = is_http(capture.kind, capture.url)
    return parse_head(beginning(record) or block_of(record.header)) if http else _NO_HEAD


def _freshened(stored: Headers, update: Headers) -> Headers:
    """Stored headers with the fields of a 304 in place of those of the same name."""
    named = find_header(update, "Connection") or ""
    kept = _KEPT | {name.strip().lower() for name in named.split(",")}
    new = tuple((name, value) for name, value in update if name.lower() not in kept)
    replaced = {name.lower() for name, _ in new}
    return tuple((name, value) for name, value in stored if name.lower() not in replaced) + new


def _missing(seen: Observation) -> NotCaptured:
    revisit = seen.capture
    what = f"The capture of {revisit.url} at {iso(revisit.at)} holds no payload and refers to"
    origin = revisit.refers_to_url or revisit.url
    at = f" of {iso(revisit.refers_to_at)}" if revisit.refers_to_at is not None else ""
    if seen.unclear:
        return NotCaptured(
            f"{what} a capture{at}: there are several, and they differ.",
            hint="Nobody knows which is meant; `asof show` lists them, `--at` chooses one.",
        )
    return NotCaptured(
        f"{what} a capture{at} that is not in the archive.",
        hint=f"Import the WARC file that holds {origin}{at}.",
    )
