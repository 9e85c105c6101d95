"""Arrays in one file, one behind the other (.npy, no pickles), written whole or not at all.

For what may be lost at any time: what is damaged raises one of `DAMAGE`, and counts as not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from asof.errors import AsofError
from asof.warc.whole import whole_file

DAMAGE = (OSError, EOFError, ValueError, KeyError, TypeError, AsofError)


def read_array(file: BinaryIO, most: int | None = None) -> NDArray[Any]:
    """The next array of a file, of at most so many bytes."""
    found: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    if most is not None and found.nbytes > most:
        raise ValueError("too large")
    return found


def mapped_array(file: BinaryIO, kind: type[np.uint32]) -> NDArray[np.uint32]:
    """The next array of a file, which must be of one dimension, mapped into memory."""
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("of another format")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    if len(shape) != 1 or dtype != kind:
        raise ValueError("of another kind")
    if not shape[0]:
        return np.empty(0, kind)
    return np.memmap(file, kind, "r", offset=file.tell(), shape=shape)


def write_arrays(path: Path, arrays: Sequence[NDArray[Any]]) -> bool:
    """Whether the file is there now; where it cannot be written, things go on without it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            for array in arrays:
                np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
    except (OSError, AsofError):
        return False
    return True
