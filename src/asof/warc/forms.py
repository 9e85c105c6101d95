"""What a file is by its bytes: gzip, zstd or plain. Its name is not asked."""

from __future__ import annotations

from asof.warc.frames import SKIPPABLE, ZSTD_MAGIC, ZstdFrames
from asof.warc.header import HEADER_LIMIT, parse_header
from asof.warc.members import GZIP_MAGIC, GzipMembers, Members, Window
from asof.warc.records import next_start


def open_members(file: Window) -> Members | None:
    """The members of a compressed file; None when it is not compressed.

    Where the first bytes are damaged, the record that turns up first behind them decides.
    """
    head = file.peek(0, 8)
    if head.startswith(GZIP_MAGIC[:2]):
        gzip = GzipMembers(file)
        if gzip.start_of(0) is not None:
            return gzip
    elif head.startswith((ZSTD_MAGIC, *SKIPPABLE)):
        zstd = ZstdFrames(file)
        if zstd.start_of(0) is not None:
            return zstd
    else:
        text = file.peek(0, HEADER_LIMIT).lstrip(b"\r\n")
        if not text or isinstance(parse_header(text), tuple):
            return None
    return _search(file, head)


def _search(file: Window, head: bytes) -> Members | None:
    gzip, zstd = GzipMembers(file), ZstdFrames(file)
    places: list[tuple[int, Members | None]] = [
        (gzip.next_start(0), gzip),
        (zstd.next_start(0), zstd),
        (next_start(file, 0), None),
    ]
    first, form = min(places, key=lambda place: place[0])
    if first < file.size:
        return form
    # No record at all: the magic number says at least what is damaged.
    if head.startswith(GZIP_MAGIC[:2]):
        return gzip
    return zstd if head.startswith((ZSTD_MAGIC, *SKIPPABLE)) else None
