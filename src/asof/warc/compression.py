"""What a file is by its bytes: gzip, zstd or plain. Its name is not asked."""

from enum import StrEnum
from itertools import islice
from pathlib import Path

from asof.warc.header import HEADER_LIMIT, parse_header
from asof.warc.members import GZIP_MAGIC, GzipMembers, Window
from asof.warc.records import FoundRecord, find_records, next_start
from asof.warc.zstd_members import SKIPPABLE, ZSTD_MAGIC, Members, ZstdFrames

_TRIES = 16


class Packing(StrEnum):
    """What a file is packed by; the values are what names of such files end in."""

    GZIP = ".warc.gz"
    ZSTD = ".warc.zst"
    PLAIN = ".warc"


def packing(path: Path) -> Packing:
    with Window(path) as file:
        members = open_members(file)
    if members is None:
        return Packing.PLAIN
    return Packing.ZSTD if isinstance(members, ZstdFrames) else Packing.GZIP


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
        # A frame that ends where the file or another frame does is one, whatever it holds.
        if zstd.start_of(0) is not None or zstd.end_of(0) is not None:
            return zstd
    else:
        text = file.peek(0, HEADER_LIMIT).lstrip(b"\r\n")
        if not text or isinstance(parse_header(text), tuple):
            return None
    return _search(file, head)


def _search(file: Window, head: bytes) -> Members | None:
    gzip, zstd = GzipMembers(file), ZstdFrames(file)
    in_gzip, in_zstd = gzip.next_start(0), zstd.next_start(0)
    first = min(in_gzip, in_zstd)
    if _is_plain(file, first):
        return None
    if first < file.size:
        return gzip if first == in_gzip else zstd
    # No record at all: the magic number says at least what is damaged.
    if head.startswith(GZIP_MAGIC[:2]):
        return gzip
    return zstd if head.startswith((ZSTD_MAGIC, *SKIPPABLE)) else None


def _is_plain(file: Window, stop: int) -> bool:
    """Whether a plain record starts before an offset.

    Compressed data may hold text as it is and look like one; but not like two in a row, or like one
    that ends where the file does.
    """
    at = 0
    for _ in range(_TRIES):
        at = next_start(file, at + 1)
        if at >= stop:
            return False
        row = islice(find_records(file, at, file.size, blocks=False), 2)
        if all(isinstance(each, FoundRecord) for each in row):
            return True
    return False
