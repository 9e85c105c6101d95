"""Documents inside documents: chapters of books, parts of mail, members of archives.

Two levels and no more: a mail with a book in it is read, an archive of archives of archives is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from asof.text.convert.found import Found, Refused
from asof.text.document import Page

_DEEPEST = 2
_depth: ContextVar[int] = ContextVar("_depth", default=0)


@contextmanager
def one_deeper() -> Iterator[None]:
    """Inside of this a document is read that stands in another."""
    depth = _depth.get()
    if depth >= _DEEPEST:
        raise Refused("holds documents in documents in documents, which are not opened")
    token = _depth.set(depth + 1)
    try:
        yield
    finally:
        _depth.reset(token)


def put_embedded(data: bytes, found: Found) -> None:
    """Add a document that is shown inside another; one that cannot be read is passed over."""
    try:
        page = read_within(data)
    except Refused as refused:
        if refused.page is None:
            return
        page = refused.page
    found.paragraph(page.text)
    found.links(page.links)


def read_within(data: bytes, declared: str | None = None, name: str | None = None) -> Page:
    """What a document says that stands in another one; raises `Refused`."""
    from asof.text.read import read_page

    with one_deeper():
        reading = read_page(data, declared, name=name)
    if reading.error is not None:
        raise Refused(reading.error, reading.page)
    return reading.page
