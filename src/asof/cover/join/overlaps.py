"""How much pairs of documents have in common; and the choice of compiled code or its twin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from asof.cover.documents.sets import Sets
from asof.cover.join import fallback

if TYPE_CHECKING:
    import asof.cover.join._join as _compiled
else:
    try:
        import asof.cover.join._join as _compiled
    except ImportError:
        _compiled = None

compiled = _compiled  # None where there was no C compiler: fallback.py does the same
_Whole = NDArray[np.integer[Any]]


def overlaps(sets: Sets, i: _Whole, j: _Whole, *, plain: bool = False) -> NDArray[np.int32]:
    engine = fallback if plain or compiled is None else compiled
    found = engine.overlaps(sets.items, sets.offsets, i.astype(np.int64), j.astype(np.int64))
    return np.frombuffer(found, np.int32)
