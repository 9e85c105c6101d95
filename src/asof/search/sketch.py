"""By which near-duplicates among hits are folded: 64 bytes of a document's minhash.

Of two documents as alike as J each byte agrees with a chance of J, or 1 in 256 more: at 0.8 the
share that agrees is off by .05 (one standard error). A place in a list depends on it, no verdict:
`asof similar` verifies.
"""

from collections.abc import Sequence

import numpy as np

from asof.change.minhash import signatures_of_sets
from asof.change.shingles import shingles_of_all

SLOTS = 64
_NEAR = 0.8


def sketches(texts: Sequence[str]) -> list[bytes]:
    """Of texts; nothing for those without any words, which are near nothing."""
    hashes, starts = shingles_of_all(texts)
    rows = (signatures_of_sets(hashes, starts)[:, :SLOTS] & 0xFF).astype(np.uint8)
    return [row.tobytes() if size else b"" for row, size in zip(rows, np.diff(starts), strict=True)]


def first_like(each: Sequence[bytes]) -> list[int]:
    """Of each sketch the place of the first that it is near, which may be its own."""
    places: list[int] = []
    leaders: list[int] = []
    for place, own in enumerate(each):
        found = place
        if own and leaders:
            rows = np.frombuffer(b"".join(each[leader] for leader in leaders), np.uint8)
            agree = (rows.reshape(-1, SLOTS) == np.frombuffer(own, np.uint8)).sum(axis=1)
            best = int(agree.argmax())
            found = leaders[best] if agree[best] >= _NEAR * SLOTS else place
        if found == place and own:
            leaders.append(place)
        places.append(found)
    return places
