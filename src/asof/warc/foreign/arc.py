"""Reading ARC 1.0 and 1.1, the format before WARC: `<URL-record> LF <what the server sent>`.

The URL-record of version 1 has five fields, that of version 2 ten:

    url ip date type length
    url ip date type result-code checksum location offset filename length

The first record of a file is `filedesc://`: its block names the version, the origin and the fields,
and in ARC 1.1 carries XML about the crawl. Files may be concatenated, so it may come again.

What real files do, and what is done about it:
- URLs hold spaces, types hold parameters: fields are found from the right, by the 14-digit date.
- Lengths lie. After each record a new one must begin, or a gzip member, or the file must end. If
  not, and a record begins inside the block, the length was too long: what comes before that is kept
  as torn, and reading goes on at the inner one. Else it was too short, or the next record is
  broken: the record is kept as declared, and the stray bytes are reported. Unless its
  Content-Length shows that it is whole it says `WARC-Truncated: unspecified`.
- Dates are invented: a record whose date is none is reported, since WARC cannot hold it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from asof.clock import Instant, parse_stamp
from asof.config import DEFAULTS, Config
from asof.fetch.spool import Spool
from asof.model import Body, Damage, Headers
from asof.warc.foreign.documents import (
    MEMORY,
    SCHEME,
    TORN,
    ForeignDocument,
    brief,
    fills_its_head,
    has_room,
    known_ip,
    known_media_type,
    last_byte,
    to_record,
    uri,
    valid_date,
)
from asof.warc.foreign.source import ForeignFile
from asof.warc.members import BAD_CHECKSUM, PIECE
from asof.warc.record import Flag, Record

LONGEST_LINE = 1 << 16
"""No URL-record is longer: URLs beyond this are not found in any crawl we know of."""

FILEDESC = b"filedesc://"

_DATE = re.compile(rb"\d{12,17}")
_KNOWN_SCHEME = re.compile(rb"(?:https?|ftp|dns|whois|gopher|news|nntp|filedesc):", re.IGNORECASE)
_LINE_START = re.compile(rb"\n(?=[A-Za-z][A-Za-z0-9+.-]{0,31}:)")
_DATE_INSIDE = re.compile(rb" \d{12,} ")
# Where the date stands, counted from the right: version 1, version 2, then types with spaces.
_DATE_PLACES = (3, 8, 4, 5, 6, 7, 9, 10)
# Bytes that may be read a second time after wrong lengths, beside four times the file itself.
_SPARE_REREAD = 256 << 20


@dataclass(frozen=True, slots=True)
class Heading:
    """A URL-record. `at` is None when its date is no date."""

    url: str
    ip: str
    at: Instant | None
    media_type: str
    length: int


def read_arc(path: Path, spool: Path, config: Config = DEFAULTS) -> Iterator[Record | Damage]:
    """The records of an ARC file, plain or compressed, as WARC 1.1 records; damage by offset.

    Bodies over 1 MiB lie in files of the folder `spool`; who takes a record discards its bodies.
    The version block, with its URL-record, comes as a `metadata` record. A damaged stretch of a
    compressed file is told by the offset of its gzip member.
    """
    with ForeignFile(path, starts_arc) as source:
        yield from source.walk(b"\r\n", _Walk(source, spool, config).step)


def parse_heading(line: bytes) -> Heading | None:
    """The URL-record that a line holds, or None. Versions 1 and 2 are told apart by the date."""
    if len(line) >= LONGEST_LINE or SCHEME.match(line) is None:
        return None
    parts = line.rstrip(b"\r\n").split(b" ")
    if len(parts) < 5 or not parts[-1].isdigit() or len(parts[-1]) > 15:
        return None
    for place in _DATE_PLACES:
        index = len(parts) - place
        if index >= 2 and _DATE.fullmatch(parts[index]):
            digits = parts[index].decode("ascii")
            return Heading(
                url=uri(b" ".join(parts[: index - 1])),
                ip=known_ip(parts[index - 1].decode("latin-1")),
                at=valid_date(parse_stamp(digits[:14] if len(digits) >= 14 else digits[:12])),
                media_type=known_media_type(parts[index + 1].decode("latin-1")),
                length=int(parts[-1]),
            )
    return None


def starts_arc(data: bytes) -> bool:
    return data.startswith(FILEDESC) or parse_heading(data.split(b"\n", 1)[0]) is not None


class _Walk:
    """One pass over the records of a source."""

    def __init__(self, source: ForeignFile, spool: Path, config: Config) -> None:
        self._source = source
        self._spool = spool
        self._config = config
        self._reread = 4 * source.size + _SPARE_REREAD

    def step(self) -> Iterator[Record | Damage]:
        source = self._source
        where, start, own_member = source.where, source.position, source.at_member
        line = source.line(LONGEST_LINE)
        # As in files packed in blocks, a line may be cut by the start of a member.
        while not line.endswith(b"\n") and source.at_member:
            ahead = source.peek_line(LONGEST_LINE)
            if parse_heading(ahead) is not None and _KNOWN_SCHEME.match(line + ahead) is None:
                break
            line += source.line(LONGEST_LINE)
        if line.startswith(FILEDESC):
            yield from self._version_block(line)
            return
        heading = parse_heading(line)
        if heading is None:
            reason = "this URL-record is broken" if _is_like(line) else "no record begins here"
            if source.packed:
                reason += f" (byte {start} of the unpacked data)"
            self._skip_stray(line)
            if source.at_end and source.fault:
                source.told, reason = True, source.fault
            yield source.damage(where, reason, source.position - start)
            return
        if reason := self._refuse(heading):
            yield source.damage(where, f"the record of {brief(heading.url)} {reason}")
            if heading.at is None:
                for _ in self._pieces(heading.length):
                    pass
            else:
                self._skip_stray(line)
        elif heading.at is not None:
            body = self._body(heading.length)
            yield from self._judge(heading, heading.at, body, where, own_member)

    def _refuse(self, heading: Heading) -> str:
        """Why the block need not be read; empty when it may well be whole."""
        source = self._source
        if heading.at is None:
            return "has no valid date"
        length = heading.length
        if not source.packed:
            length = min(length, source.size - source.position)
        if not has_room(self._spool, length, self._config):
            return "is larger than the free disk"
        return ""

    def _judge(
        self, heading: Heading, at: Instant, body: Body, where: int, own_member: bool
    ) -> Iterator[Record | Damage]:
        """A body was read: give the record if it is whole, and say what is wrong if it is not."""
        source, named = self._source, f"the record of {brief(heading.url)}"
        if body.size < heading.length:
            missing = f"{named} ends {heading.length - body.size} bytes short of its length"
            if source.at_end:
                source.told = bool(source.fault)
                missing += f": {source.fault or 'the data ends'}"
            inner = self._inner(body) if source.at_end else None
            yield from self._torn(heading, at, body, inner, source.damage(where, missing))
            return
        followed = self._is_followed(body)
        if own_member and source.fault == BAD_CHECKSUM and source.fault_at == where:
            source.told = True
            yield source.damage(where, f"{named}: {BAD_CHECKSUM}; it is kept")
            flag: Headers = (("WARC-Asof-Anomalies", Flag.WRONG_CHECKSUM.value),)
            yield to_record(_document(heading, at, flag), body)
            return
        if not followed and (inner := self._inner(body)) is not None:
            over = source.damage(where, f"{named} has a length that runs over the next record")
            yield from self._torn(heading, at, body, inner, over)
            return
        whole = followed or fills_its_head(body)
        extra: Headers = () if whole else (("WARC-Truncated", "unspecified"),)
        yield to_record(_document(heading, at, extra), body)

    def _torn(
        self, heading: Heading, at: Instant, body: Body, inner: int | None, damage: Damage
    ) -> Iterator[Record | Damage]:
        """What is left of a record: its body up to the `inner` one, at which reading goes on."""
        if inner is not None:
            whole, sink, left = body, Spool(self._spool, MEMORY), inner
            for chunk in whole.chunks():
                sink.write(chunk[:left])
                left -= min(left, len(chunk))
            body = sink.finish()
            self._source.give_back(whole, inner)
        if not body.size:
            yield damage
            return
        yield replace(damage, reason=f"{damage.reason}; what is left is kept")
        yield to_record(_document(heading, at, TORN), body)

    def _inner(self, body: Body) -> int | None:
        """Where another record begins inside of a body, if one may go back to it."""
        inner = _find_heading(body, self._source.peek_line(LONGEST_LINE))
        if inner is None or body.size - inner > self._reread:
            return None
        self._reread -= body.size - inner
        return inner

    def _version_block(self, line: bytes) -> Iterator[Record | Damage]:
        """`filedesc://`: its length is often a byte off or -1, and nothing depends on it."""
        heading, before = parse_heading(line), self._source.position
        length = heading.length if heading else 0
        # However long it says it is: the XML of ARC 1.1 takes some kilobytes.
        body = self._body(min(length, MEMORY))
        if body.size < length or not self._is_followed(body):
            if (inner := self._inner(body)) is not None:
                self._source.give_back(body, inner)
                size = self._source.position - before
                body = Body(size, body.data[:size])
            else:
                kept = self._rest_of_version_block(body.data)
                body = Body(len(kept), kept)
        if heading is not None and heading.at is not None:
            # No target, which metadata need not have: it is no capture of anything.
            about = ForeignDocument("", heading.at, media_type="text/plain", kind="metadata")
            yield to_record(about, Body(len(line), line), body)

    def _body(self, length: int) -> Body:
        sink = Spool(self._spool, MEMORY)
        try:
            for piece in self._pieces(length):
                sink.write(piece)
        except BaseException:
            sink.discard()
            raise
        return sink.finish()

    def _pieces(self, length: int) -> Iterator[bytes]:
        """The next bytes, fewer when the source ends or a member begins with a record."""
        source = self._source
        while length > 0 and not (source.at_member and _heading_next(source)):
            piece = source.take(min(length, PIECE))
            if not piece:
                return
            length -= len(piece)
            yield piece

    def _is_followed(self, body: Body) -> bool:
        """Whether a record, a gzip member or the end comes next, after any blank lines.

        A line end must come before a record: without one, `ttp://...` would pass for a URL.
        """
        source = self._source
        for size in (1 << 10, LONGEST_LINE):
            here, ahead = source.rest_of_member(size), source.peek(size)
            if len(here) < size and not here.strip(b"\r\n"):
                return True
            line, end, _ = ahead.lstrip(b"\r\n").partition(b"\n")
            if end:
                break
        # A broken URL-record is one, too: what is wrong with it is not the fault of this record.
        return _is_like(line) and (ahead[:1] in b"\r\n" or last_byte(body) == b"\n")

    def _skip_stray(self, line: bytes) -> None:
        """Pass over everything up to the next record, `line` being the last that was taken."""
        source, is_start, size = self._source, line.endswith(b"\n"), 1 << 12
        while not source.at_end:
            if (is_start or source.at_member) and _heading_next(source):
                return
            window = source.rest_of_member(size)
            found = _first_heading(window)
            if found is not None:
                source.take(found)
                return
            end = window.rfind(b"\n") + 1
            is_start = end == len(window)
            if len(window) == size and end and len(window) - end < LONGEST_LINE:
                # The last line is cut by the end of the window: look at it again.
                window, is_start = window[:end], True
            source.take(len(window))
            size = min(4 * size, PIECE)

    def _rest_of_version_block(self, block: bytes) -> bytes:
        """The block with what its length left out: the rest of two lines, and XML after them."""
        source = self._source
        while len(block) < LONGEST_LINE and not source.at_end and not source.at_member:
            ahead = source.peek_line(LONGEST_LINE)
            has_lines = block.endswith(b"\n") and block.count(b"\n") >= 2
            if _is_like(ahead) or (has_lines and not ahead.lstrip().startswith(b"<")):
                break
            block += source.line(LONGEST_LINE)
        return block


def _document(heading: Heading, at: Instant, extra: Headers) -> ForeignDocument:
    media_type = "text/dns" if heading.url.lower().startswith("dns:") else heading.media_type
    return ForeignDocument(heading.url, at, heading.ip, media_type, extra=extra)


def _heading_next(source: ForeignFile) -> bool:
    return starts_arc(source.peek_line(LONGEST_LINE))


def _is_like(line: bytes) -> bool:
    """Whether a line is a URL-record or was one before something broke it."""
    return SCHEME.match(line) is not None and _DATE_INSIDE.search(line) is not None


def _first_heading(window: bytes) -> int | None:
    """Where a line that is a URL-record begins, after the first line end."""
    for match in _LINE_START.finditer(window):
        end = window.find(b"\n", match.end())
        if end < 0:
            break
        if starts_arc(window[match.end() : end]):
            return match.end()
    return None


def _find_heading(body: Body, ahead: bytes) -> int | None:
    """Where a URL-record begins inside the body, at the start of a line that is not the first.

    `ahead` is what follows the body: the record's first line may lie across the end.
    """
    passed, start, line = 0, 0, b""
    for chunk in chain(body.chunks(), [ahead]):
        begin = 0
        while (end := chunk.find(b"\n", begin)) >= 0:
            line += chunk[begin:end]
            if start and starts_arc(line):
                return start if start < body.size else None
            line, begin = b"", end + 1
            start = passed + begin
        line = (line + chunk[begin:])[:LONGEST_LINE]
        passed += len(chunk)
    return None
