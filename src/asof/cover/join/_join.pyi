from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_Items: TypeAlias = NDArray[np.uint64]
_Places: TypeAlias = NDArray[np.int64]
_Ranks: TypeAlias = NDArray[np.uint32]
_Flags: TypeAlias = NDArray[np.bool_] | NDArray[np.uint8]
_Shares: TypeAlias = tuple[int, int, int, int, int, int]

def digests(items: _Items, offsets: _Places, /) -> bytes: ...
def overlaps(items: _Items, offsets: _Places, i: _Places, j: _Places, /) -> bytes: ...
def number(
    items: _Items, ends: _Places, cursors: _Places, places: _Places, ids: _Ranks, parts: _Ranks,
    covers: _Flags, scratch: _Items, last: int, /,
) -> bytes: ...  # fmt: skip
def rank(counts: _Ranks, /) -> int: ...
def relabel(
    items: _Items, ends: _Places, cursors: _Places, places: _Places, ids: _Ranks, table: _Ranks,
    last: int, /,
) -> None: ...  # fmt: skip
def arrange(ids: _Ranks, offsets: _Places, kept: _Places, first: int, last: int, /) -> None: ...
def pack(ids: _Ranks, offsets: _Places, kept: _Places, /) -> None: ...
def mark(ranks: _Ranks, offsets: _Places, prefixes: _Places, wanted: _Flags, /) -> None: ...
def post(
    ranks: _Ranks, offsets: _Places, covers: _Flags, wanted: _Flags, starts: _Ranks,
    postings: _Ranks, first: int, last: int, /,
) -> int: ...  # fmt: skip
def probe(
    ranks: _Ranks, offsets: _Places, sizes: _Places, prefixes: _Places, lows: _Ranks,
    highs: _Ranks, starts: _Ranks, postings: _Ranks, shares: _Shares, first: int, last: int,
    most: int, /,
) -> tuple[bytes, int, int, int]: ...  # fmt: skip
