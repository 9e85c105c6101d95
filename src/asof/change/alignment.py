"""What two sequences have in common, in order: a longest common subsequence in bounded time.

Comparing line by line is quadratic in the worst case, and pages that repeat themselves (tables,
logs, calendars) are that case. rapidfuzz compares 64 lines in a step; its table has a bit for each
pair of lines.

Before that, items that stand once on both sides are taken as anchors (patience diff): they are
what a person would align by, and they cut most comparisons to pieces of a few lines.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

# The largest table (64 MB). Larger comparisons are cut in the middle: the outcome is still a
# difference, maybe not the shortest. 2 x 23,000 lines without a single anchor are still exact.
LARGEST = 1 << 29


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
        old, new, length = found[-1] if found else (0, 0, 0)
        if length and (old + length, new + length) == (i, j):
            found[-1] = Match(old, new, length + 1)
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
    in_old, in_new = Counter(old[a:b]), Counter(new[c:d])
    where = {old[i]: i for i in range(a, b) if in_old[old[i]] == in_new[old[i]] == 1}
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
    for i, j in _without_anchors(left, right, largest):
        yield rows[i], columns[j]


def _without_anchors(left: list[int], right: list[int], largest: int) -> Iterator[tuple[int, int]]:
    waiting = [(0, len(left), 0, len(right))]
    while waiting:
        a, b, c, d = waiting.pop()
        if (b - a) * (d - c) > largest:
            half, cut = (a + b) // 2, (c + d) // 2
            waiting += [(half, b, cut, d), (a, half, c, cut)]
            continue
        for i, j, length in LCSseq.editops(left[a:b], right[c:d]).as_matching_blocks():
            yield from ((a + i + step, c + j + step) for step in range(length))
