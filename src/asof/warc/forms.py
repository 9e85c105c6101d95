"""What a file is by its bytes: gzip, zstd or plain. Its name is not asked."""

from __future__ import annotations

from asof.warc.frames import SKIPPABLE, ZSTD_MAGIC, ZstdFrames
from asof.warc.members import GZIP_MAGIC, RECORD_START, GzipMembers, Members, Window

# Where a record that is not compressed settles what the file is, without looking any further.
_NEAR = 64 << 10


def open_members(file: Window) -> Members | None:
    """The members of a compressed file; None when it is not compressed.

    Where the first bytes are damaged, whatever turns up first behind them decides.
    """
    head = file.peek(0, 8)
    if head.startswith(GZIP_MAGIC[:2]):
        return GzipMembers(file)
    if head.startswith((ZSTD_MAGIC, *SKIPPABLE)):
        return ZstdFrames(file)
    if head.startswith(RECORD_START):
        return None
    plain = file.find(b"\n" + RECORD_START, 0)
    if 0 <= plain < _NEAR:
        return None
    gzip, zstd = GzipMembers(file), ZstdFrames(file)
    places: list[tuple[int, Members | None]] = [(plain if plain >= 0 else file.size, None)]
    places += [(gzip.next_start(0), gzip), (zstd.next_start(0), zstd)]
    return min(places, key=lambda place: place[0])[1]
