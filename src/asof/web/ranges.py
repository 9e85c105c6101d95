"""Parts of a body by their bytes (RFC 9110, section 14): audio and video can be sought in."""

import re
from collections.abc import Iterator

from asof.warc.reader import behind

_RANGE = re.compile(r"\s*bytes\s*=\s*(\d{0,18})-(\d{0,18})\s*", re.IGNORECASE | re.ASCII)


def asked(field: str | None) -> tuple[str, str] | None:
    """First and last byte as they are written in a Range field; None for what is to be ignored.

    That is what is malformed, and several ranges at once, which no server has to answer (14.2).
    """
    match = _RANGE.fullmatch(field or "")
    if match is None or not (match[1] or match[2]):
        return None
    if match[1] and match[2] and int(match[1]) > int(match[2]):
        return None
    return match[1], match[2]


def satisfied(asked: tuple[str, str], held: range, length: int | None) -> range | None:
    """The positions that are asked for, of those that are held of so many (None: nobody knows); as
    many of them as follow the first one; None if that is not held (14.1.2).
    """
    first, last = asked
    if first:
        start, stop = int(first), int(last) + 1 if last else held.stop
    elif length is None:
        return None
    else:
        start, stop = max(length - int(last), 0), length
    return range(start, min(stop, held.stop)) if start in held and stop > start else None


def part(chunks: Iterator[bytes], wanted: range) -> Iterator[bytes]:
    """These bytes of all of them; what lies before goes by and is not kept."""
    left = len(wanted)
    for chunk in behind(chunks, wanted.start):
        yield chunk[:left]
        left -= len(chunk)
        if left <= 0:
            return
