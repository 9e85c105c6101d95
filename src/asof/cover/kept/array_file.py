"""Arrays in one file with a head that says what they answer, written whole or not at all.

For what may be lost at any time: what is damaged, or answers another question, raises one of
`DAMAGE`, and counts as not there. Arrays stand behind each other (.npy, no pickles), the head, a
line of JSON, first. Nothing that a file says is believed: an array is read only if the file is long
enough for it, and a checksum at its end tells whether all is as it was written.
"""

import json
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO

import numpy as np
from isal.isal_zlib import crc32
from numpy.typing import NDArray

from asof.errors import AsofError
from asof.files import atomic_file, input_file

DAMAGE = (OSError, EOFError, ValueError, KeyError, TypeError, RecursionError, AsofError)

_CHECK = np.dtype(np.uint32)
_LARGEST_HEAD = 1 << 20
_LINE = np.lib.format.ARRAY_ALIGN
_LONG = 3600  # seconds in which whoever still writes has written something


def read_head(path: Path, question: object) -> dict[str, Any]:
    """What a file says of its arrays, if it answers the question; it may be damaged further on."""
    with input_file(path) as file:
        return _head(_next(file, _LARGEST_HEAD), question)


def read_first(path: Path, question: object) -> NDArray[Any]:
    """The first array of a file that answers the question, unchecked."""
    with input_file(path) as file:
        _head(_next(file, _LARGEST_HEAD), question)
        return _next(file)


def read_arrays(path: Path, question: object, *, mapped: bool = False) -> dict[str, NDArray[Any]]:
    """All arrays of a file that is whole and answers the question, by name.

    With `mapped`, the first of them, of one dimension, is mapped into memory.
    """
    with input_file(path) as file:
        told = _next(file, _LARGEST_HEAD)
        arrays: dict[str, NDArray[Any]] = {}
        found = crc32(told.data)
        for name in _head(told, question)["arrays"]:
            arrays[name] = _mapped(file) if mapped and not arrays else _next(file)
            found = crc32(_bytes(arrays[name]), found)
        check = _next(file, _CHECK.itemsize)
        if check.dtype != _CHECK or check.tolist() != [found] or file.read(1):
            raise ValueError("not as it was written")
    return arrays


def write_arrays(
    path: Path, question: object, arrays: Mapping[str, NDArray[Any]], **facts: object
) -> bool:
    """Whether the file is there now; where it cannot be written, things go on without it."""
    head = json.dumps({"question": question, "arrays": list(arrays), **facts}).encode()
    # Filled up, so that the first array lies as whoever maps it needs it: headers do likewise.
    told = np.frombuffer(head + b" " * (-len(head) % _LINE), np.uint8)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as file:
            found = 0
            for array in map(np.ascontiguousarray, (told, *arrays.values())):
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


def _head(told: NDArray[Any], question: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told.tobytes())
    if found["question"] != json.loads(json.dumps(question)):
        raise ValueError("the answer to another question")
    return found


def _next(file: BinaryIO, most: int | None = None) -> NDArray[Any]:
    """The next array of a file, of at most so many bytes; never more than are there."""
    shape, kind = _header(file, most)
    return np.fromfile(file, kind, math.prod(shape)).reshape(shape)


def _mapped(file: BinaryIO) -> NDArray[Any]:
    shape, kind = _header(file, None)
    if len(shape) != 1:
        raise ValueError("of another kind")
    if not shape[0]:
        return np.empty(0, kind)
    start = file.tell()
    found = np.memmap(file, kind, "r", offset=start, shape=shape)
    file.seek(start + found.nbytes)
    return found


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
