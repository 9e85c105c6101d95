"""How many captures there are over time, as a picture as small as a word.

Pure geometry in a box of 120 by 24 units; the template draws it.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

WIDTH, HEIGHT = 120, 24
# More bars than this are no wider than the gaps between them: each stands for some in a row then.
_MOST = 60


@dataclass(frozen=True, slots=True)
class Sparkline:
    """The bars as one path, and the number of the month, or day, with the most captures."""

    path: str
    place: int
    most: int


def sparkline(counts: Iterable[tuple[int, int]], first: int, last: int) -> Sparkline:
    """Captures by month, or by day, on an axis from the first to the last, both drawn."""
    counted = dict(counts)
    span = max(last - first + 1, 1)
    each = -(-span // _MOST)
    bins: Counter[int] = Counter()
    for place, count in counted.items():
        bins[(place - first) // each] += count
    width, highest = WIDTH / -(-span // each), max(bins.values(), default=1)
    # A bar of one unit is still seen beside the highest.
    heights = ((place, max(1.0, HEIGHT * bins[place] / highest)) for place in sorted(bins))
    path = "".join(
        f"M{place * width:.1f} {HEIGHT}v-{height:.1f}h{max(width * 0.85, 1):.1f}v{height:.1f}z"
        for place, height in heights
    )
    fullest = max(counted, key=lambda place: (counted[place], -place), default=first)
    return Sparkline(path, fullest, counted.get(fullest, 0))
