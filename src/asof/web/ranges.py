"""Parts of a body by their bytes (RFC 9110, section 14): audio and video can be sought in."""

import re
from collections.abc import Callable, Iterator

from starlette.requests import Request

from asof.warc.reader import behind

_RANGE = re.compile(r"\s*bytes\s*=\s*(\d{0,18})-(\d{0,18})\s*", re.IGNORECASE | re.ASCII)


def chosen(
    request: Request, etag: str, length: Callable[[], int]
) -> tuple[range, int, dict[str, str]] | None:
    """The positions that a request asks for, with the status and the fields of an answer that has
    them; None where all of it is the answer, as it is to HEAD (14.2).
    """
    wanted = _asked(request.headers.get("range"))
    if wanted is None or request.method != "GET" or request.headers.get("if-range", etag) != etag:
        return None
    whole = length()
    found = _satisfied(wanted, whole)
    named = f"{found.start}-{found.stop - 1}" if found else "*"
    fields = {"content-range": f"bytes {named}/{whole}", "content-length": str(len(found))}
    return found, 206 if found else 416, fields


def _asked(field: str | None) -> tuple[str, str] | None:
    """First and last byte as they are written in a Range field; None for what is to be ignored.

    That is what is malformed, and several ranges at once, which no server has to answer (14.2).
    """
    match = _RANGE.fullmatch(field or "")
    if match is None or not (match[1] or match[2]):
        return None
    if match[1] and match[2] and int(match[1]) > int(match[2]):
        return None
    return match[1], match[2]


def _satisfied(asked: tuple[str, str], length: int) -> range:
    """The positions that are asked for of so many, if there are any (14.1.2)."""
    first, last = asked
    if not first:
        return range(max(length - int(last), 0), length)
    return range(int(first), min(int(last) + 1, length) if last else length)


def part(chunks: Iterator[bytes], wanted: range) -> Iterator[bytes]:
    """These bytes of all of them; what lies before goes by and is not kept."""
    left = len(wanted)
    for chunk in behind(chunks, wanted.start):
        yield chunk[:left]
        left -= len(chunk)
        if left <= 0:
            return
