"""Documents inside documents: chapters of books, parts of mail, members of archives.

Two levels and no more: a mail with a book in it is read, an archive of archives of archives is not.
"""

from contextvars import ContextVar

from asof.text.convert.found import Found, Refused
from asof.text.document import Document

_DEEPEST = 2
_depth: ContextVar[int] = ContextVar("_depth", default=0)


def read_within(data: bytes, declared: str | None = None, name: str | None = None) -> Document:
    """What a document says that stands in another one; raises `Refused`."""
    from asof.text.read import read_page

    depth = _depth.get()
    if depth >= _DEEPEST:
        raise Refused("holds documents in documents in documents, which are not opened")
    token = _depth.set(depth + 1)
    try:
        reading = read_page(data, declared, name=name)
    finally:
        _depth.reset(token)
    if reading.error is not None:
        raise Refused(reading.error, reading)
    return reading


def put_embedded(data: bytes, found: Found, declared: str | None = None) -> None:
    """Add a document that is shown inside another, as far as it can be read."""
    try:
        page = read_within(data, declared)
    except Refused as refused:
        page = refused.page
    found.within(page)
