"""TREC-Web, the compound format of search engine research (Naumann 2011, slide 69), in and out.

    <DOC>
    <DOCNO>WTX001-B01-10</DOCNO>
    <DOCHDR>
    url ip date-of-14-digits media-type length
    HTTP head, without its blank line
    </DOCHDR>
    content
    </DOC>

Reading. Tags in any case. The `length` is what the server once sent; collections cleaned the
content afterwards, so it is not trusted. The first `</DOC>` ends a document: content that holds
this text cannot be told from an end, and the rest of it is reported as stray bytes; a `<DOC>` with
a `<DOCNO>` before it means that the end is missing. Header lines of a URL alone (GOV2) are read,
too; the date is then that of the HTTP head. A document without any DOCHDR becomes a resource with
the target `urn:trec:DOCNO`. Where there is no date at all, the file's own modification time stands
in: the document existed by then. The DOCNO is kept as `WARC-TREC-ID`, the name ClueWeb gave it.

Writing. Content must not be able to close its document or to open another: in a document whose head
or content holds `<DOC` or `</DOC`, every `<` before these, and before a backslash, gets a backslash
after it, and a last header line `X-Asof-Stuffed: yes` says so. Our reader undoes it exactly; others
see `<\\/DOC>`. All other documents are written as they are.
"""

import gzip
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from asof.clock import Instant, parse_http_date, parse_stamp, stamp
from asof.config import DEFAULTS, Config
from asof.fetch.spool import Spool
from asof.files import output_file
from asof.http.head import find_head_end, parse_head
from asof.model import Body, Damage, find_header
from asof.warc.foreign.arc import parse_heading
from asof.warc.foreign.documents import (
    MEMORY,
    SCHEME,
    TORN,
    ForeignDocument,
    brief,
    has_room,
    known_ip,
    known_media_type,
    to_record,
    uri,
    valid_date,
)
from asof.warc.foreign.source import ForeignFile
from asof.warc.members import PIECE
from asof.warc.record import Record

_OPEN = re.compile(rb"<DOC\s{0,8}>", re.IGNORECASE)
_END = re.compile(rb"</DOC\s{0,8}>|<DOC\s{0,8}>\s{0,8}<DOCNO", re.IGNORECASE)
_DOCNO = re.compile(rb"<DOCNO\s{0,8}>([^<]{0,256})</DOCNO\s{0,8}>", re.IGNORECASE)
_HEADER = re.compile(rb"<DOCHDR\s{0,8}>", re.IGNORECASE)
_HEADER_END = re.compile(rb"</DOCHDR\s{0,8}>", re.IGNORECASE)
_TO_STUFF = re.compile(rb"<(?=\\|/?DOC)", re.IGNORECASE)
_NEEDS_STUFFING = re.compile(rb"</?DOC", re.IGNORECASE)
_DATE = re.compile(rb"\d{12}(\d\d)?")
_TOO_LARGE = "is larger than the free disk"
_STUFFED = b"X-Asof-Stuffed: yes\n"

# The longest of the tags above, and the line end before it, lie within so many bytes.
_HOLD = 64
# DOCNO and the start of DOCHDR come at once; only DOCHDR itself may be long.
_NEAR = 1 << 14
_LONGEST_HEADER = 1 << 20


@dataclass(frozen=True, slots=True)
class TrecDocument:
    """One document to write. `head` is the HTTP head with its blank line, or empty."""

    docno: str
    url: str
    ip: str
    at: Instant
    media_type: str
    head: bytes
    payload: bytes


def write_trec(out: Path, documents: Iterable[TrecDocument]) -> int:
    """Write the documents as one TREC-Web file, gzipped when `out` ends in .gz; says how many.

    What the format cannot hold is changed: `<`, `>` and what is not visible become %XX in URLs and
    _ in docnos (with all but ASCII), fractions of seconds go, an unknown address is 0.0.0.0, an
    unknown media type application/octet-stream.
    """
    count = 0
    with ExitStack() as stack:
        file = stack.enter_context(output_file(out))
        if out.name.endswith(".gz"):
            # No name and no time in the header: the same documents give the same bytes.
            file = stack.enter_context(gzip.GzipFile("", "wb", 6, file, mtime=0))  # type: ignore[assignment]  # a BinaryIO in all but name
        for document in documents:
            _write(file, document)
            count += 1
    return count


def read_trec(path: Path, spool: Path, config: Config = DEFAULTS) -> Iterator[Record | Damage]:
    """The documents of a TREC-Web file, plain or compressed, as WARC 1.1 records; damage by offset.

    Content over 1 MiB lies in files of the folder `spool`; who takes a record discards its bodies.
    """
    with ForeignFile(path, starts_trec) as source:
        yield from source.walk(None, _Walk(source, spool, config).step)


def starts_trec(data: bytes) -> bool:
    return _OPEN.match(data) is not None


def _write(file: BinaryIO, document: TrecDocument) -> None:
    head, payload, mark = document.head, document.payload, b""
    if any(map(_NEEDS_STUFFING.search, (head, payload))) or _STUFFED.strip() in head:
        head, payload = (_TO_STUFF.sub(rb"<\\", part) for part in (head, payload))
        mark = _STUFFED
    if head.endswith(b"\r\n\r\n"):
        head = head[:-2]
    elif head.endswith(b"\n\n") and not head.endswith(b"\r\n\n"):
        head = head[:-1]
    elif head and not head.endswith(b"\n"):
        head += b"\n"
    url = uri(document.url.encode("utf-8", "replace")).replace("<", "%3C")
    media_type = known_media_type(document.media_type) or "application/octet-stream"
    length = len(document.head) + len(document.payload)
    ip = known_ip(document.ip) or "0.0.0.0"
    line = f"{url.replace('>', '%3E')} {ip} {stamp(document.at)} {media_type} {length}"
    docno = re.sub(r"[^!-;=?-~]", "_", document.docno)
    file.write(f"<DOC>\n<DOCNO>{docno}</DOCNO>\n<DOCHDR>\n{line}\n".encode())
    for part in (head, mark, b"</DOCHDR>\n", payload, b"\n</DOC>\n"):
        file.write(part)


@dataclass(slots=True)
class _Walk:
    """One pass over the documents of a source."""

    _source: ForeignFile
    _spool: Path
    _config: Config
    _line_end: bytes = b"\n"

    def step(self) -> Iterator[Record | Damage]:
        source = self._source
        where, start = source.where, source.position
        tag = _OPEN.match(source.peek(_HOLD))
        if tag is None:
            self._pass_to(_OPEN)
            reason = "no document begins here (the one before may hold the text </DOC>)"
            yield source.damage(where, reason, source.position - start)
            return
        self._source.drop(tag.end())
        self._line_end = b"\r\n" if source.peek(2) == b"\r\n" else b"\n"
        opening = self._opening()
        if isinstance(opening, str):
            self._pass_to(_END)
            self._drop_end()
            yield source.damage(where, opening, source.position - start)
            return
        document, head, stuffed = opening
        sink = Spool(self._spool, MEMORY)
        problem = self._content(sink, stuffed=stuffed)
        if problem:
            kept = sink.size and not problem.endswith(_TOO_LARGE)
            problem += "; what is left is kept" if kept else ""
            yield source.damage(where, problem, source.position - start)
            if not kept:
                sink.discard()
                return
            document = replace(document, extra=(*document.extra, *TORN))
        yield to_record(document, Body(len(head), head), sink.finish())

    def _opening(self) -> tuple[ForeignDocument, bytes, bool] | str:
        """What stands before the content: the document, its HTTP head, and whether it is stuffed;
        or what is wrong with it.
        """
        source = self._source
        window = source.peek(_NEAR)
        end = _END.search(window)
        limit = end.start() if end else len(window)
        header = _HEADER.search(window, 0, limit)
        number = _DOCNO.search(window, 0, header.start() if header else limit)
        docno = number[1].strip() if number else b""
        named = f"the document {brief(uri(docno))}"
        if header is None:
            if not docno:
                return "a document has neither a DOCNO nor a DOCHDR"
            if _HEADER_END.search(window, 0, limit):
                return f"{named} has a DOCHDR that is not opened"
            self._source.drop(number.end() if number else 0)
            self._drop_line_end()
            return self._describe(docno, b"", b""), b"", False
        closing = _HEADER_END.search(window, header.end())
        if closing is None and not end:
            window = source.peek(_LONGEST_HEADER)
            closing, end = _HEADER_END.search(window, header.end()), _END.search(window)
        if closing is None or (end and end.start() < closing.start()):
            return f"{named} has a DOCHDR that is not closed"
        line, _, head = window[header.end() : closing.start()].lstrip().partition(b"\n")
        if SCHEME.match(line) is None:
            return f"{named} has no URL in its DOCHDR"
        if _parse_line(line)[2] is None and len(line.split()) > 1:
            return f"{named} has no valid date in its DOCHDR"
        self._source.drop(closing.end())
        self._drop_line_end()
        stuffed = (b"\n" + head).endswith(b"\n" + _STUFFED)
        if stuffed:
            head = head[: -len(_STUFFED)].replace(b"<\\", b"<")
        if head and not head.endswith((b"\n\n", b"\n\r\n")):
            # An HTTP head ends in a blank line (RFC 9112 section 2.1); slide 69 leaves it out.
            end_line = b"\r\n" if b"\r\n" in head[-256:] else b"\n"
            head += end_line if head.endswith(b"\n") else 2 * end_line
        return self._describe(docno, line, head), head, stuffed

    def _describe(self, docno: bytes, line: bytes, head: bytes) -> ForeignDocument:
        url, ip, at, media_type = _parse_line(line)
        if at is None and find_head_end(head):
            at = valid_date(parse_http_date(find_header(parse_head(head).headers, "Date") or ""))
        name = uri(docno).replace("<", "%3C").replace(">", "%3E")
        return ForeignDocument(
            url=url or f"urn:trec:{name}",
            at=at if at is not None else max(0, self._source.path.stat().st_mtime_ns // 1000),
            ip=ip,
            media_type=media_type,
            kind="" if head else "resource",
            dated=at is not None,
            extra=(("WARC-TREC-ID", name),) if name else (),
        )

    def _content(self, sink: Spool, *, stuffed: bool) -> str:
        """Read up to the end tag; gives the reason where there is none."""
        source, size, kept = self._source, _NEAR, b""
        try:
            while True:
                window = source.peek(size)
                tag = _END.search(window)
                is_last = tag is not None or len(window) < size
                text = window[: tag.start()] if tag else window if is_last else window[:-_HOLD]
                self._source.drop(len(text))
                if tag is not None and tag[0].startswith(b"</"):
                    text = text.removesuffix(self._line_end)
                if stuffed:
                    text = kept + text
                    kept = b"<" if text.endswith(b"<") and not is_last else b""
                    text = text[: len(text) - len(kept)].replace(b"<\\", b"<")
                if sink.size > MEMORY and not has_room(
                    self._spool, MEMORY + len(text), self._config
                ):
                    self._pass_to(_END)
                    self._drop_end()
                    return f"a document {_TOO_LARGE}"
                sink.write(text)
                if is_last:
                    break
                size = min(size * 2, PIECE)
        except BaseException:
            sink.discard()
            raise
        if tag is not None and tag[0].startswith(b"</"):
            self._source.drop(len(tag[0]))
            return ""
        if tag is not None:
            return "a document is not closed: another begins inside it"
        source.told = bool(source.fault)
        return f"a document is not closed: {source.fault or 'the file ends'}"

    def _pass_to(self, tag: re.Pattern[bytes]) -> None:
        """Drop everything before the next such tag, or everything."""
        while window := self._source.peek(PIECE):
            match = tag.search(window)
            if match is not None:
                self._source.drop(match.start())
                return
            self._source.drop(len(window) if len(window) < PIECE else len(window) - _HOLD)

    def _drop_end(self) -> None:
        tag = _END.match(self._source.peek(_HOLD))
        if tag is not None and tag[0].startswith(b"</"):
            self._source.drop(tag.end())

    def _drop_line_end(self) -> None:
        ahead = self._source.peek(2)
        self._source.drop(2 if ahead == b"\r\n" else 1 if ahead.startswith(b"\n") else 0)


def _parse_line(line: bytes) -> tuple[str, str, Instant | None, str]:
    """URL, address, date and type, as far as the first line of DOCHDR has them (GOV2: URL only)."""
    heading = parse_heading(line)
    if heading is not None:
        return heading.url, heading.ip, heading.at, heading.media_type
    if not line:
        return "", "", None, ""
    url, *rest = line.split()[:16]
    dates = (part.decode("ascii") for part in rest if _DATE.fullmatch(part))
    ips = (known_ip(part.decode("latin-1")) for part in rest)
    kinds = (known_media_type(part.decode("latin-1")) for part in rest)
    at = valid_date(parse_stamp(next(dates, "")))
    return uri(url), next(filter(None, ips), ""), at, next(filter(None, kinds), "")
