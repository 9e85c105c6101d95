"""What was asked for by another method than GET, and the captures that are its answers.

What a server answers to POST, HEAD or OPTIONS says nothing of what it gives to GET, so such an
answer is set apart: no question about its URL, its host or all captures sees it. Its key begins
with APART, beyond all others, and goes on as that of cdxj-indexer and pywb: the method, and for
POST and PUT what the body said, are appended to the URL (`__wb_method=post&...`).

An answer belongs to a request of its file by WARC-Concurrent-To in either of them (WARC 1.1 section
5.7); where neither names anything, to the next one of the same URL and date, before or after it.
"""

import json
import re
from base64 import b64encode
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from email.message import Message
from email.parser import BytesParser
from email.policy import HTTP
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote_plus, urlencode

from asof.catalog.captures import Catalog
from asof.catalog.dates import warc_date
from asof.catalog.derive import is_http, short_id, stored_id, target_uri
from asof.catalog.rows import APART, COLUMNS, Row, capture_of
from asof.clock import DAY, Instant
from asof.errors import DamageError, InputError
from asof.ledger import Ledger
from asof.model import Capture
from asof.url import surt
from asof.warc.reader import beginning, read_record
from asof.warc.record import StoredRecord, WarcHeader

_METHOD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) ")
_FIELD = re.compile(rb"^content-type:[ \t]*([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_SAME_ID = re.compile(r"~[0-9a-f]{8}\Z")  # see Catalog.add_rows
_LONGEST = 4096  # of what a body said, as in cdxj-indexer
# What json and email raise of bodies that nobody can read.
UNREADABLE = (ValueError, LookupError, AttributeError, TypeError, RecursionError)


class Asked(NamedTuple):
    """A request: its record, what that names as concurrent, and what makes the key of an answer.

    `address` is the URL with method and body; empty for a GET, which only takes its turn.
    """

    offset: int
    end: int
    record_id: str
    names: frozenset[str]
    url: str
    at: Instant
    address: str


def asked(record: StoredRecord) -> Asked | None:
    """The request that a record is, if it is one by HTTP that can be understood."""
    header, where = record.header, record.where
    url = target_uri(header.get("WARC-Target-URI") or " ")
    at = warc_date(header.get("WARC-Date") or "")
    sent = parts_of(beginning(record))
    if header.kind != "request" or not sent[0] or at is None or not is_http("response", url):
        return None
    whole = "" if sent[0] == "GET" else address(url, *sent)
    own = stored_id(header) or ""
    end = where.offset + where.length
    return Asked(where.offset, end, own, concurrent(header), url, at, whole)


class Requests:
    """Those of a part of a file that tell what is to be set apart: all but GET. Where they name no
    answer, GETs of the same URL and date that name none take their turns, and are read if need be.
    """

    def __init__(self) -> None:
        self._others: list[Asked] = []
        self._gets: list[StoredRecord] = []

    def take(self, record: StoredRecord) -> None:
        """Take a record into account, whatever it is."""
        if record.header.kind != "request":
            return
        if record.data is not None and record.data.startswith(b"GET "):
            if record.header.get("WARC-Concurrent-To") is None:
                self._gets.append(record)
        elif (found := asked(record)) is not None and found.address:
            self._others.append(found)

    def found(self) -> list[Asked]:
        alone = {(each.url, each.at) for each in self._others if not each.names}
        gets = [each for each in map(asked, self._gets if alone else ()) if each is not None]
        return [*self._others, *(each for each in gets if (each.url, each.at) in alone)]


def concurrent(header: WarcHeader) -> frozenset[str]:
    """What a record names as part of the same event."""
    return frozenset(short_id(name) for name in header.get_all("WARC-Concurrent-To") if name)


def parts_of(block: bytes) -> tuple[str, str, bytes]:
    """Method, type and body of a request; no method where it is none."""
    head, _, body = block.partition(b"\r\n\r\n")
    method, kind = _METHOD.match(head), _FIELD.search(head)
    declared = kind[1].decode("latin-1") if kind else ""
    return method[1].decode().upper() if method else "", declared, body


# -- which answer is to which request --------------------------------------------------------------


def pairs(path: Path, requests: Sequence[Asked], answers: Sequence[Capture]) -> dict[int, Asked]:
    """The requests in a file that are none of GET, by the places of answers to them in it."""
    found: dict[int, Asked] = {}
    named: dict[int, Collection[str]] = {}
    by_id, near = defaultdict(list), defaultdict(list)
    for answer in answers:
        where = answer.where
        by_id[_SAME_ID.sub("", answer.record_id)].append(where.offset)
        for place in {("at", answer.at), ("to", where.offset), ("to", where.offset + where.length)}:
            near[place].append(where.offset)
    alone: dict[tuple[str, Instant], dict[int, Asked | None]] = defaultdict(dict)
    for each in requests:
        own = [offset for name in each.names for offset in by_id[_SAME_ID.sub("", name)]]
        for place in () if own else (("at", each.at), ("to", each.offset), ("to", each.end)):
            for offset in near[place]:
                if offset not in named:
                    named[offset] = _named_by(path, offset)
                own += [offset] if each.record_id in named[offset] else []
        found.update(dict.fromkeys(own, each))
        if not own and not each.names:
            alone[each.url, each.at][each.offset] = each
    for answer in answers:
        offset, event = answer.where.offset, (answer.url, answer.at)
        if offset not in found and not named.get(offset) and event in alone:
            alone[event][offset] = None
    for together in alone.values():
        found.update(_in_turn(together))
    return {offset: request for offset, request in found.items() if request.address}


def _in_turn(together: dict[int, Asked | None]) -> Iterator[tuple[int, Asked]]:
    """Requests, and answers as None, of one URL and date that name nothing, one after the other."""
    waiting: deque[int] = deque()
    for offset in sorted(together):
        request = together[offset]
        if not waiting or (together[waiting[0]] is None) is (request is None):
            waiting.append(offset)
        elif request is not None:
            yield waiting.popleft(), request
        elif (earlier := together[waiting.popleft()]) is not None:
            yield offset, earlier


def _named_by(path: Path, offset: int) -> Collection[str]:
    with suppress(DamageError, InputError):
        return concurrent(read_record(path, offset).header)
    return ()


def set_apart(ledger: Ledger, requests: Iterable[Asked], path: Path, segment: int) -> int:
    """Give the answers to these requests of a file, entered before, keys of their own; in the
    caller's transaction. How many of them had been known under these.
    """
    by_key: dict[str, list[Asked]] = defaultdict(list)
    for each in requests:
        by_key[surt(each.url)].append(each)
    known = 0
    for key, own in by_key.items():
        dates = [each.at for each in own]
        found = ledger.fetch(
            f"SELECT {', '.join(COLUMNS)} FROM captures WHERE surt = ? AND at BETWEEN ? AND ? "
            "AND segment = ? AND kind IN ('response', 'revisit')",
            [key, min(dates) - DAY, max(dates) + DAY, segment],
        )
        answers = [capture_of(row, path.name) for row in found]
        apart = pairs(path, own, answers)
        moved = [
            (row, apart[each.where.offset])
            for row, each in zip(found, answers, strict=True)
            if each.where.offset in apart
        ]
        sql = "DELETE FROM captures WHERE surt = ? AND at = ? AND record_id = ?"
        ledger.db.executemany(sql, [row[:3] for row, _ in moved])
        anew: list[Row] = [(key_of(each.address), *row[1:]) for row, each in moved]
        known += len(moved) - Catalog(ledger).add_rows(anew, segment)
    return known


# -- keys ------------------------------------------------------------------------------------------


def key_of(address: str) -> str:
    """The key of an answer to what was asked for so."""
    return APART + surt(address)


def address(url: str, method: str, declared: str, body: bytes) -> str:
    """A URL with the method, and with what was sent; as cdxj-indexer appends it."""
    said = _said(declared, body)[:_LONGEST] if method in ("POST", "PUT") else ""
    mark = "&" if "?" in url else "?"
    return f"{url}{mark}__wb_method={method}{'&' if said else ''}{said}"


def _said(declared: str, body: bytes) -> str:
    with suppress(*UNREADABLE):
        if declared.startswith("application/x-www-form-urlencoded"):
            return unquote_plus(body.decode())
        if declared.startswith("multipart/") and "boundary=" in declared:
            parts = form_parts(declared, body)
            return urlencode([(_name(part), part.get_payload(decode=True)) for part in parts])
        if declared.startswith(("application/json", "text/plain")):
            return _flat(body)
    if declared.startswith("application/json"):
        return ""
    return f"__wb_post_data={b64encode(body).decode()}"


def form_parts(declared: str, body: bytes) -> list[Message]:
    """The parts of a multipart form."""
    head = f"Content-Type: {declared}\r\n\r\n".encode("latin-1", "replace")
    parts = BytesParser(policy=HTTP).parsebytes(head + body).walk()
    return [part for part in parts if not part.is_multipart()]


def _name(part: Message) -> str:
    return str(part.get_param("name", "", "content-disposition"))


def _flat(body: bytes) -> str:
    """The values of some JSON, or of lines of it, by their innermost names; a second is `x.2_`."""
    found: dict[str, str] = {}
    often: dict[str, int] = {}

    def take(value: object, name: str) -> None:
        if isinstance(value, dict):
            for inner, each in value.items():
                take(each, inner)
        elif isinstance(value, list):
            for each in value:
                take(each, name)
        elif name:
            if name in found:
                often[name] = often.get(name, 1) + 1
                name = f"{name}.{often[name]}_"
            found[name] = str(value)

    try:
        take(json.loads(body), "")
    except json.JSONDecodeError:
        if b"\n" not in body:
            raise
        for line in body.split(b"\n"):
            take(json.loads(line), "")
    return urlencode(found)
