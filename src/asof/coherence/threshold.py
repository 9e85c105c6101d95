"""The seed's own strategies: Figure 7 (measurable) and Figure 8 (inducible), by a threshold eta.

Both take the pages hottest first and ask of each whether its conflict probability kappa in the slot
at hand stays below eta; if so the page is promising and takes the slot, else it is hopeless and
goes behind all promising ones, the hottest of them last. The pseudo-code leaves gaps, read as the
walk-through of Spaniol 2010 does: only a kept page advances the slot; after a move the next page is
tested on the same slot; the rest shifts when a page moves.

In Figure 7 the exponent is the number of pages downloaded so far, in Figure 8 twice that number, so
both are one walk over the ascending slot lengths. Since the hotter of two pages has the larger
kappa, and kappa grows with the slot, the walk needs one look at each page.
"""

import math

import numpy as np

from asof.coherence.survival import Floats, Pages, Survival

# Above any hazard but that of a page that changes surely: at eta = 1 only such a page is hopeless.
_ANY = 1e100


def threshold_order(survival: Survival, eta: float, lengths: Floats) -> Pages:
    """Pages by ascending slot length as Figure 7 or 8 has them, for the slots of either mode.

    kappa < eta keeps, kappa >= eta moves; eta = 0 moves all, so that the coldest comes first.
    Pages of the same heat stay in their order.
    """
    if not 0 <= eta <= 1:
        raise ValueError("eta is a probability")
    hottest_first = np.argsort(-survival.heat, kind="stable")
    limit = min(-math.log1p(-eta), _ANY) if eta < 1 else _ANY
    kept = np.zeros(len(survival), dtype=np.bool_)
    slot = 0
    for place, room in enumerate(_rooms(survival, hottest_first, lengths, limit).tolist()):
        if slot < room:
            kept[place] = True
            slot += 1
    return np.concatenate([hottest_first[kept], hottest_first[~kept][::-1]])


def _rooms(survival: Survival, pages: Pages, lengths: Floats, limit: float) -> Pages:
    """In how many of the shortest slots each page is promising: bisection, all pages at once."""
    lengths = lengths[np.isfinite(lengths)]
    low = np.zeros(len(pages), dtype=np.intp)
    high = np.full(len(pages), len(lengths), dtype=np.intp)
    for _ in range(len(lengths).bit_length()):
        middle = (low + high) >> 1
        open_ = low < high
        good = survival.hazard(pages, lengths[np.minimum(middle, len(lengths) - 1)]) < limit
        low = np.where(open_ & good, middle + 1, low)
        high = np.where(open_ & ~good, middle, high)
    return low
