"""Blocks of records that are being sent: who reads slowly holds none of them.

A thousand readers of a record of four megabytes would hold four gigabytes. So each has a slice at a
time, and of whole blocks as many are held as were asked for last: another is read again.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Lock

from asof.warc.reader import block_chunks, read_record
from asof.warc.record import StoredRecord

# Bytes of a slice, of which some are on their way to each reader.
SLICE = 64 << 10
# As many are held, of four megabytes each at most.
_MOST = 8

_held: OrderedDict[tuple[Path, int], bytes] = OrderedDict()
_turn = Lock()


def block(record: StoredRecord) -> Iterator[bytes]:
    """The block of a record, in slices if it is long."""
    if record.data is None or len(record.data) <= SLICE:
        return block_chunks(record)
    _keep(record)
    return _slices(replace(record, data=None))


def _slices(record: StoredRecord) -> Iterator[bytes]:
    where = record.path, record.where.offset
    for at in range(0, record.size, SLICE):
        with _turn:
            data = _held.get(where)
        if data is None:
            data = _keep(read_record(*where, record.where.length))
        piece = data[at : at + SLICE]
        del data
        yield piece


def _keep(record: StoredRecord) -> bytes:
    data = record.data or b""
    with _turn:
        _held[record.path, record.where.offset] = data
        _held.move_to_end((record.path, record.where.offset))
        while len(_held) > _MOST:
            _held.popitem(last=False)
    return data
