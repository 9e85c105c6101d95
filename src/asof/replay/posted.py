"""Answers to what was posted: found by the method and the body that they were asked for with.

Their key says both, but for upper case and beyond some length; the request itself, which lies near
the answer, has the last word. Two bodies are the same if they say the same: fields are compared,
for boundaries between parts are random. What is shown of them is chosen as among answers to GET.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from urllib.parse import parse_qsl

from asof.archive.archive import OpenArchive
from asof.catalog.asked import (
    UNREADABLE,
    Asked,
    Requests,
    address,
    concurrent,
    form_parts,
    key_of,
    parts_of,
)
from asof.catalog.referents import ANSWERS
from asof.clock import Instant
from asof.errors import DamageError, InputError
from asof.model import Capture
from asof.replay.choose import Choice, Chooser, Policy
from asof.warc.file_names import path_of
from asof.warc.reader import read_record, scan
from asof.warc.record import StoredRecord
from asof.warc.split import split

# So many answers are looked at on either side of a moment; the request of each is looked for in
# the stretch of the file that has the answer, of so many bytes, the one before and the one after.
_MOST_ANSWERS = 100
_STRETCH = 2 << 20
_STRETCHES_KEPT = 256
_starts = lru_cache(_STRETCHES_KEPT)(split)


def posted(
    chooser: Chooser, question: tuple[str, str, bytes], url: str, at: Instant, policy: Policy
) -> Choice:
    """What answered the same method, type and body as of a moment; it may be missing."""
    archive, (method, declared, body) = chooser.archive, question
    meant = said(declared, body)
    key = key_of(address(url, method, declared, body))
    apart = [*archive.catalog.scan(key, key + "\0")]
    found = [each for each in apart if each.url == url] or apart
    # In an archive of before these were set apart they stand among the answers to GET.
    found = found or [each for each in archive.captures(url=url) if each.kind in ANSWERS]
    here = bisect_right(found, at, key=attrgetter("at"))
    near = found[max(here - _MOST_ANSWERS, 0) : here + _MOST_ANSWERS]
    same = [each for each in near if (method, meant) in _requests(archive, each)]
    return chooser.among(url, same, at, policy)


def said(declared: str, body: bytes) -> object:
    """What a body says, whatever separates its fields; bytes where nobody can tell."""
    media = declared.partition(";")[0].strip().lower()
    with suppress(*UNREADABLE):
        if media == "application/x-www-form-urlencoded":
            return parse_qsl(body.decode("utf-8"), keep_blank_values=True)
        if media.endswith("json"):
            return json.loads(body)
        if media == "multipart/form-data":
            return [
                (part.get("content-disposition"), part.get_payload(decode=True))
                for part in form_parts(declared, body)
            ]
    return body


def _requests(archive: OpenArchive, capture: Capture) -> Iterator[tuple[str, object]]:
    """Method and words of the request that an answer is to, if that is stored near it; where
    neither names the other, of each that it may be.
    """
    where, path = capture.where, path_of(archive.folder.warc, capture.where.file)
    with suppress(DamageError, InputError):  # lost or damaged since; another answer may be whole
        named = concurrent(read_record(path, where.offset).header)
        size = path.stat().st_size
        starts = [*_starts(path, size // _STRETCH + 1), size]
        place = bisect_right(starts, where.offset) - 1
        stretches = [*pairwise(starts)][max(place - 1, 0) : place + 2]
        near = [each for stretch in stretches for each in _asked(path, *stretch)]
        own = [each for each in near if capture.record_id in each.names or each.record_id in named]
        alone = (each for each in near if not each.names and not named)
        for each in own or (e for e in alone if (e.url, e.at) == (capture.url, capture.at)):
            method, declared, body = parts_of(read_record(path, each.offset).data or b"")
            yield method, said(declared, body)


@lru_cache(_STRETCHES_KEPT)
def _asked(path: Path, start: int, end: int) -> list[Asked]:
    """The requests in a stretch that are no GET."""
    requests = Requests()
    for record in scan(path, start=start, end=end):
        if isinstance(record, StoredRecord):
            requests.take(record)
    return [each for each in requests.found() if each.address]
