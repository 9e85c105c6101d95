"""What two sequences have in common, in order: a longest common subsequence in bounded time.

Comparing line by line is quadratic in the worst case, and pages that repeat themselves (tables,
logs, calendars) are that case. Here the whole table of a comparison is one integer a row
(Hyyro's bit-vectors, "Bit-parallel LCS-length computation revisited", 2004): a step costs one
addition of long integers, so what is quadratic runs at the speed of memory.

Before that, items that stand once on both sides are taken as anchors (patience diff): they are
what a person would align by, and they cut most comparisons to pieces of a few lines.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

# A table of so many bits is kept whole to walk back through it (8 MB).
_TABLE = 1 << 26
# Larger comparisons than this are cut where they are: the outcome is still a difference, maybe not
# the shortest. 2 x 131,072 lines without a single anchor are still exact.
LARGEST = 1 << 34


class Match(NamedTuple):
    """`length` items from `old` on in one sequence are those from `new` on in the other."""

    old: int
    new: int
    length: int


def common(old: Sequence[Hashable], new: Sequence[Hashable], largest: int = LARGEST) -> list[Match]:
    """The stretches that both have, in order; what lies between them was removed or added."""
    numbers: dict[Hashable, int] = {}
    left = [numbers.setdefault(item, len(numbers)) for item in old]
    right = [numbers.setdefault(item, len(numbers)) for item in new]
    return _joined(_pairs(left, right, largest))


def _joined(pairs: Iterator[tuple[int, int]]) -> list[Match]:
    found: list[Match] = []
    for i, j in pairs:
        if (
            found
            and found[-1].old + found[-1].length == i
            and found[-1].new + found[-1].length == j
        ):
            found[-1] = found[-1]._replace(length=found[-1].length + 1)
        else:
            found.append(Match(i, j, 1))
    return found


def _pairs(old: list[int], new: list[int], largest: int) -> Iterator[tuple[int, int]]:
    """Pairs of equal items in order. Ranges to compare wait on a stack, the first on top."""
    waiting = [(0, len(old), 0, len(new))]
    while waiting:
        a, b, c, d = waiting.pop()
        while a < b and c < d and old[a] == new[c]:
            yield a, c
            a, c = a + 1, c + 1
        tail = 0
        while a < b - tail and c < d - tail and old[b - tail - 1] == new[d - tail - 1]:
            tail += 1
        if tail:
            waiting.append((b - tail, b, d - tail, d))
            b, d = b - tail, d - tail
        if a == b or c == d:
            continue
        anchors = _anchors(old, new, a, b, c, d)
        if anchors:
            # In reverse, as the first range must come off the stack first. A range begins at its
            # anchor, which is then taken as its common head.
            end = (b, d)
            for anchor in reversed(anchors):
                waiting.append((anchor[0], end[0], anchor[1], end[1]))
                end = anchor
            waiting.append((a, end[0], c, end[1]))
        else:
            yield from _longest(old, new, (a, b, c, d), largest)


def _anchors(
    old: list[int], new: list[int], a: int, b: int, c: int, d: int
) -> list[tuple[int, int]]:
    """The longest rising chain of items that stand once in each range."""
    once_old = Counter(old[a:b])
    once_new = Counter(new[c:d])
    where = {old[i]: i for i in range(a, b) if once_old[old[i]] == 1 and once_new[old[i]] == 1}
    if not where:
        return []
    # Patience sorting: `tops` are the smallest ends of rising chains of each length.
    tops: list[int] = []
    piles: list[tuple[int, int]] = []
    before: dict[int, tuple[int, int] | None] = {}
    for j in range(c, d):
        i = where.get(new[j])
        if i is None:
            continue
        pile = bisect_left(tops, i)
        before[i] = piles[pile - 1] if pile else None
        if pile == len(tops):
            tops.append(i)
            piles.append((i, j))
        else:
            tops[pile], piles[pile] = i, (i, j)
    chain: list[tuple[int, int]] = []
    link: tuple[int, int] | None = piles[-1]
    while link is not None:
        chain.append(link)
        link = before[link[0]]
    return chain[::-1]


def _longest(
    old: list[int], new: list[int], span: tuple[int, int, int, int], largest: int
) -> Iterator[tuple[int, int]]:
    """The pairs of a longest common subsequence of ranges without an anchor."""
    a, b, c, d = span
    shared = set(old[a:b]) & set(new[c:d])
    if not shared:
        return
    rows = [i for i in range(a, b) if old[i] in shared]
    columns = [j for j in range(c, d) if new[j] in shared]
    left, right = [old[i] for i in rows], [new[j] for j in columns]
    for i, j in _exact(left, right, largest):
        yield rows[i], columns[j]


def _exact(left: list[int], right: list[int], largest: int) -> Iterator[tuple[int, int]]:
    """A longest common subsequence, by halves where the table would be large (Hirschberg 1975)."""
    waiting = [(0, len(left), 0, len(right))]
    while waiting:
        a, b, c, d = waiting.pop()
        rows, columns = b - a, d - c
        if not rows or not columns:
            continue
        if rows * columns <= _TABLE:
            yield from ((a + i, c + j) for i, j in _walk(left[a:b], right[c:d]))
            continue
        half = a + rows // 2
        if rows * columns > largest:
            cut = c + columns // 2
        elif rows == 1:
            # One long row: any place where it stands will do.
            if left[a] in right[c:d]:
                yield a, right.index(left[a], c, d)
            continue
        else:
            cut = c + _best_cut(left[a:half], left[half:b], right[c:d])
        waiting.append((half, b, cut, d))
        waiting.append((a, half, c, cut))


def _positions(items: list[int]) -> dict[int, int]:
    """For each item the places where it stands, as bits."""
    places: dict[int, list[int]] = {}
    for place, item in enumerate(items):
        places.setdefault(item, []).append(place)
    masks: dict[int, int] = {}
    size = len(items) // 8 + 1
    for item, stands in places.items():
        bits = bytearray(size)
        for place in stands:
            bits[place >> 3] |= 1 << (place & 7)
        masks[item] = int.from_bytes(bits, "little")
    return masks


def _rows(left: list[int], right: list[int]) -> Iterator[int]:
    """The table by rows: bit j is 0 where the subsequence grows with the j-th item of `right`."""
    masks = _positions(right)
    ones = (1 << len(right)) - 1
    row = ones
    for item in left:
        both = row & masks.get(item, 0)
        row = ((row + both) | (row - both)) & ones
        yield row


def _walk(left: list[int], right: list[int]) -> list[tuple[int, int]]:
    table = [(1 << len(right)) - 1, *_rows(left, right)]
    found: list[tuple[int, int]] = []
    i, j = len(left), len(right)
    while i and j:
        if table[i] >> (j - 1) & 1:
            j -= 1  # the last item of `right` adds nothing
        elif not table[i - 1] >> (j - 1) & 1:
            i -= 1  # it did so without this row
        else:
            i, j = i - 1, j - 1
            found.append((i, j))
    return found[::-1]


def _best_cut(upper: list[int], lower: list[int], right: list[int]) -> int:
    """Where to cut `right` so that both halves together have as much in common as the whole."""
    forward = _lengths(upper, right)
    backward = _lengths(lower[::-1], right[::-1])
    columns = len(right)
    best, at = -1, 0
    for cut in range(columns + 1):
        length = forward[cut] + backward[columns - cut]
        if length > best:
            best, at = length, cut
    return at


def _lengths(left: list[int], right: list[int]) -> list[int]:
    """How much `left` has in common with each head of `right`."""
    last = (1 << len(right)) - 1
    for row in _rows(left, right):  # only the last one counts
        last = row
    lengths = [0]
    for bit in reversed(f"{last:0{len(right)}b}"):
        lengths.append(lengths[-1] + (bit == "0"))
    return lengths


def edit_distance(old: Sequence[Hashable], new: Sequence[Hashable]) -> int:
    """How many items must be put in, taken out or replaced (Levenshtein), by bit-vectors.

    Myers 1999 in the form of Hyyro 2003, over one integer as long as `old`.
    """
    if len(old) < len(new):
        old, new = new, old
    if not new:
        return len(old)
    numbers: dict[Hashable, int] = {}
    masks = _positions([numbers.setdefault(item, len(numbers)) for item in old])
    size = len(old)
    ones = (1 << size) - 1
    up, down, distance = ones, 0, size
    for item in new:
        mask = masks.get(numbers[item], 0) if item in numbers else 0
        diagonal = (((mask & up) + up) ^ up) | mask | down
        right = down | ~(diagonal | up) & ones
        left = up & diagonal
        if right >> (size - 1) & 1:
            distance += 1
        elif left >> (size - 1) & 1:
            distance -= 1
        right = (right << 1 | 1) & ones
        left = left << 1 & ones
        up = left | ~(diagonal | right) & ones
        down = right & diagonal
    return distance
