"""Arrays in one file, one behind the other (.npy, no pickles), written whole or not at all.

For what may be lost at any time: what is damaged raises one of `DAMAGE`, and counts as not there.
Nothing that a file says is believed: an array is read only if the file is long enough for it, and a
checksum at its end tells whether the arrays are those that were written.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from asof.errors import AsofError
from asof.warc.atomic_file import whole_file

DAMAGE = (OSError, EOFError, ValueError, KeyError, TypeError, RecursionError, AsofError)

_CHECK = np.dtype(np.uint32)
_LONG = 3600  # seconds in which whoever still writes has written something


class Arrays:
    """The arrays of an open file, in their order."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._sum = 0

    def next(self, most: int | None = None) -> NDArray[Any]:
        """The next one, of at most so many bytes."""
        found = next_array(self._file, most)
        self._sum = crc32(_bytes(found), self._sum)
        return found

    def mapped(self) -> NDArray[Any]:
        """The next one, mapped into memory."""
        found = mapped_array(self._file)
        self._sum = crc32(_bytes(found), self._sum)
        return found

    def end(self) -> None:
        """Raises ValueError unless all arrays were taken, and are as they were written."""
        check = next_array(self._file, _CHECK.itemsize)
        if check.dtype != _CHECK or check.tolist() != [self._sum] or self._file.read(1):
            raise ValueError("not as it was written")


def next_array(file: BinaryIO, most: int | None = None) -> NDArray[Any]:
    """The next array of a file, of at most so many bytes; never more than are there."""
    shape, kind = _header(file, most)
    return np.fromfile(file, kind, math.prod(shape)).reshape(shape)


def mapped_array(file: BinaryIO) -> NDArray[Any]:
    """The next array of a file, which must be of one dimension, mapped into memory."""
    shape, kind = _header(file, None)
    if len(shape) != 1:
        raise ValueError("of another kind")
    if not shape[0]:
        return np.empty(0, kind)
    start = file.tell()
    found = np.memmap(file, kind, "r", offset=start, shape=shape)
    file.seek(start + found.nbytes)
    return found


def write_arrays(path: Path, arrays: Sequence[NDArray[Any]]) -> bool:
    """Whether the file is there now; where it cannot be written, things go on without it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            found = 0
            for array in map(np.ascontiguousarray, arrays):
                np.lib.format.write_array(file, array, allow_pickle=False)
                found = crc32(_bytes(array), found)
            np.lib.format.write_array(file, np.array([found], _CHECK), allow_pickle=False)
        _remove_leftovers(path)
    except (OSError, AsofError):
        return False
    return True


def _remove_leftovers(written: Path) -> None:
    """What processes that were killed began to write here: nobody has gone on with it for long."""
    now = written.stat().st_mtime
    for leftover in written.parent.glob(".*.npy.*"):
        with suppress(OSError):
            if now - leftover.stat().st_mtime > _LONG:
                leftover.unlink()


def _header(file: BinaryIO, most: int | None) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and kind of what comes next, if the file has all of it."""
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("of another format")
    try:
        shape, in_columns, kind = np.lib.format.read_array_header_1_0(file)
    except (SyntaxError, TokenError, RecursionError, MemoryError) as error:
        raise ValueError("no header") from error
    if in_columns or kind.hasobject or not kind.itemsize or min(shape, default=0) < 0:
        raise ValueError("of another kind")
    size = kind.itemsize * math.prod(shape)
    if size > os.fstat(file.fileno()).st_size - file.tell():
        raise ValueError("not all of it is there")
    if most is not None and size > most:
        raise ValueError("too large")
    return shape, kind


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data
