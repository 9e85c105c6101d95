"""Documents in a wrapping: one that is gzipped, or several in a ZIP archive."""

import zlib

from asof.text.convert.found import Found, Refused
from asof.text.convert.within import read_within
from asof.text.convert.zip_parts import Parts

MAX_MEMBERS = 500
MAX_MEMBER = 32 << 20
_MAX_INFLATED = 128 << 20


def fill_zip(data: bytes, found: Found) -> None:
    """The documents of an archive under their names; what is no document is only named."""
    parts = Parts(data)
    names = [name for name in parts.entries if not name.endswith("/")]
    locked = 0
    for name in names[:MAX_MEMBERS]:
        found.line(name)
        try:
            page = read_within(parts.read(name, MAX_MEMBER), name=name)
        except Refused as refused:
            locked += refused.reason == "is encrypted"
            if "unpacks to" in refused.reason:
                raise
            page = refused.page
        found.within(page)
    if locked and locked == len(names):
        raise Refused("is encrypted")
    if len(names) > MAX_MEMBERS:
        raise Refused(f"has more than {MAX_MEMBERS} members, the rest is left out")


def fill_gzip(data: bytes, found: Found) -> None:
    """The document inside, whatever it is; a file may have several members (RFC 1952, 2.2)."""
    pieces: list[bytes] = []
    room = _MAX_INFLATED
    while data and room > 0:
        inflater = zlib.decompressobj(31)
        try:
            pieces.append(inflater.decompress(data, room))
        except zlib.error as error:
            if not pieces:  # what follows the last member may be anything
                raise Refused("is a damaged gzip file") from error
            break
        room -= len(pieces[-1])
        data = inflater.unused_data if inflater.eof else b""
    if room <= 0:
        raise Refused(f"unpacks to more than {_MAX_INFLATED >> 20} MB")
    page = read_within(b"".join(pieces))
    found.title, found.date, found.language = page.title, page.date, page.language
    found.add(page.text)
    found.links(page.links)
