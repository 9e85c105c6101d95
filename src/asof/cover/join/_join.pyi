from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_Items: TypeAlias = NDArray[np.uint64]
_Places: TypeAlias = NDArray[np.int64]
_Ranks: TypeAlias = NDArray[np.uint32]
_Marks: TypeAlias = NDArray[np.bool_] | NDArray[np.uint8]
_Shares: TypeAlias = tuple[int, int, int, int, int, int]

def digests(items: _Items, offsets: _Places, /) -> bytes: ...
def same(items: _Items, offsets: _Places, a: _Places, b: _Places, /) -> bytes: ...
def overlaps(items: _Items, offsets: _Places, i: _Places, j: _Places, /) -> bytes: ...
def seek(
    items: _Items, begins: _Places, ends: _Places, limit: int, cursors: _Places, /
) -> None: ...
def number(
    items: _Items,
    ends: _Places,
    cursors: _Places,
    last: int,
    parts: _Ranks,
    covers: _Marks,
    places: _Places,
    ids: _Ranks,
    scratch: _Items,
    /,
) -> bytes: ...
def rank(counts: _Ranks, /) -> int: ...
def relabel(
    items: _Items,
    ends: _Places,
    cursors: _Places,
    last: int,
    table: _Ranks,
    places: _Places,
    ids: _Ranks,
    /,
) -> None: ...
def arrange(ids: _Ranks, offsets: _Places, first: int, last: int, kept: _Places, /) -> None: ...
def pack(ids: _Ranks, offsets: _Places, kept: _Places, /) -> None: ...
def mark(ranks: _Ranks, offsets: _Places, prefixes: _Places, wanted: _Marks, /) -> None: ...
def tally(
    ranks: _Ranks,
    offsets: _Places,
    first: int,
    last: int,
    covers: _Marks,
    wanted: _Marks,
    starts: _Ranks,
    /,
) -> int: ...
def post(
    ranks: _Ranks,
    offsets: _Places,
    first: int,
    last: int,
    covers: _Marks,
    wanted: _Marks,
    starts: _Ranks,
    postings: _Ranks,
    /,
) -> None: ...
def probe(
    ranks: _Ranks,
    offsets: _Places,
    sizes: _Places,
    prefixes: _Places,
    lows: _Ranks,
    highs: _Ranks,
    starts: _Ranks,
    postings: _Ranks,
    shares: _Shares,
    first: int,
    last: int,
    most: int,
    /,
) -> tuple[bytes, int, int, int]: ...
