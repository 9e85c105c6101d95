from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_Array: TypeAlias = bytes | bytearray | memoryview | NDArray[np.uint64] | NDArray[np.int64]

def shingles(
    texts: Sequence[str], k: int, distinct: bool, characters: bool, /
) -> tuple[bytes, bytes]: ...
def features(words: Sequence[str], /) -> bytes: ...
def sign(hashes: _Array, starts: _Array, m: int, seed: int, /) -> bytes: ...
def sign_each(items: Sequence[str | Sequence[str]], k: int, m: int, seed: int, /) -> bytes: ...
def overlap(a: _Array, b: _Array, /) -> int: ...
def scan(
    query: _Array, hashes: _Array, starts: _Array, first: int, last: int, t: float, form: int, /
) -> bytes: ...
def pairs(
    hashes: _Array, starts: _Array, keys: NDArray[np.uint64], sketches: NDArray[np.uint8],
    order: NDArray[np.int64], parents: NDArray[np.int64] | None, band: int, at: int, t: float,
    least: int, most: int, /,
) -> tuple[bytes, int]: ...  # fmt: skip
