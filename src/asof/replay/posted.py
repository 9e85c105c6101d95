"""Answers to what was posted: found by the method and the body that they were asked for with.

A WARC file holds the request near the answer: right after it in files by warcio, warcprox and
browsertrix, right before it in those by wget, and with others in between where many write at once.
Either may name the other as concurrent (WARC 1.1 section 5.7). Two bodies are the same if they say
the same: other programs append that to the key of the answer (`__wb_method=POST&...`), and look at
fields too, for boundaries between parts are random.
"""

import json
import re
from bisect import bisect_right
from contextlib import suppress
from email.parser import BytesParser
from email.policy import HTTP
from functools import lru_cache
from itertools import islice, pairwise
from pathlib import Path
from urllib.parse import parse_qsl

from asof.archive.archive import OpenArchive
from asof.clock import Instant
from asof.coherence.verdict import Reason
from asof.errors import DamageError, InputError
from asof.model import Capture
from asof.replay.choose import Choice, Policy, Verdict
from asof.url import one_address
from asof.warc.file_names import path_of
from asof.warc.reader import read_record, scan
from asof.warc.record import StoredRecord
from asof.warc.split import split

# So many answers of a URL are looked at, the nearest first; the request of each is looked for in
# the stretch of the file that has the answer, of so many bytes, the one before and the one after.
_MOST_ANSWERS = 200
_STRETCH = 2 << 20
_STRETCHES_KEPT = 256
_starts = lru_cache(_STRETCHES_KEPT)(split)
_IDS = ("WARC-Record-ID", "WARC-Concurrent-To")
_FIELD = re.compile(rb"^content-type:[ \t]*([^\r\n]*)", re.IGNORECASE | re.MULTILINE)


def posted(
    archive: OpenArchive, asked: tuple[str, str, bytes], url: str, at: Instant, policy: Policy
) -> Choice:
    """The answer nearest to a moment to the same method, type and body; it may be missing."""
    method, declared, body = asked
    meant = said(declared, body)
    answers = (each for each in archive.captures(url=url) if each.kind == "response")
    near = sorted(islice(answers, 50 * _MOST_ANSWERS), key=lambda each: abs(each.at - at))
    for capture in near[:_MOST_ANSWERS]:
        request = _request(archive, capture)
        if request is None or request[0] != method or said(*request[1:]) != meant:
            continue
        verdict = Verdict.POSSIBLE if capture.at <= at else Verdict.DOUBTFUL
        if policy is Policy.STRICT and verdict is Verdict.DOUBTFUL:
            continue
        reason = Reason.NONE if one_address(url, capture.url) else Reason.OTHER_URL
        return Choice(url, at, capture, verdict, reason, capture.at, capture.at)
    return Choice(url, at)


def said(declared: str, body: bytes) -> object:
    """What a body says, whatever separates its fields; bytes where nobody can tell."""
    media = declared.partition(";")[0].strip().lower()
    with suppress(ValueError, RecursionError):
        if media == "application/x-www-form-urlencoded":
            return parse_qsl(body.decode("utf-8"), keep_blank_values=True)
        if media.endswith("json"):
            return json.loads(body)
        if media == "multipart/form-data":
            head = f"Content-Type: {declared}\r\n\r\n".encode("latin-1", "replace")
            parts = BytesParser(policy=HTTP).parsebytes(head + body).walk()
            return [
                (part.get("content-disposition"), part.get_payload(decode=True))
                for part in parts
                if not part.is_multipart()
            ]
    return body


def _request(archive: OpenArchive, capture: Capture) -> tuple[str, str, bytes] | None:
    """Method, type and body of the request that an answer is to, if that is stored near it."""
    where, path = capture.where, path_of(archive.folder.warc, capture.where.file)
    try:
        named = _names(read_record(path, where.offset))
    except (DamageError, InputError):  # lost or damaged since; another answer may be whole
        return None
    size = path.stat().st_size
    starts = [*_starts(path, size // _STRETCH + 1), size]
    place = bisect_right(starts, where.offset) - 1
    for start, end in [*pairwise(starts)][max(place - 1, 0) : place + 2]:
        for offset, names in _requests(path, start, end):
            if not named.isdisjoint(names):
                return _asked(read_record(path, offset).data or b"")
    return None


@lru_cache(_STRETCHES_KEPT)
def _requests(path: Path, start: int, end: int) -> list[tuple[int, set[str]]]:
    """The requests in a stretch that are no GET: where they lie, and who may mean them."""
    return [
        (record.where.offset, _names(record))
        for record in scan(path, start=start, end=end)
        if isinstance(record, StoredRecord)
        and record.header.kind == "request"
        and not (record.data or b"GET ").startswith((b"GET ", b"HEAD "))
    ]


def _names(record: StoredRecord) -> set[str]:
    """Its own, and what it says that it is concurrent to."""
    return {name.strip("<>") for field in _IDS for name in record.header.get_all(field)}


def _asked(block: bytes) -> tuple[str, str, bytes]:
    head, _, body = block.partition(b"\r\n\r\n")
    method, kind = head.split(b" ", 1)[0].decode("latin-1"), _FIELD.search(head)
    return method, kind[1].decode("latin-1") if kind else "", body
