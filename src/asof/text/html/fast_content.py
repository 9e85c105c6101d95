"""The main content of a page by its blocks alone: the fast way.

What elements, roles and classes call navigation or advertisement falls away, where that leaves
enough; if the page marks its main part, the rest does too. Of the blocks that are left, the row
with the most text that is not links is the content: the optimum of Naumann 2011 ("finding content
blocks") with characters for tokens and links for tags, found in one scan.

The shares were tuned for the mean F1 of two public collections of labelled pages (1,497 pages of
seven kinds, 990 of articles); results change little around them. bench/main_content.py scores it.
"""

from collections.abc import Iterable, Sequence

from asof.text.html.blocks import Block
from asof.text.html.parts import CORE, DOUBTFUL, NOISE, REMARKS

# What calls itself noise is believed if this share of the text is left without it. Some pages are
# one <nav> that never ends; some have classes like `main-no-sidebar`.
# Remarks are content where they are most of it, as in a forum.
_LEFT_WITHOUT = ((NOISE, 0.05), (DOUBTFUL, 0.4), (REMARKS, 0.4))
# What calls itself the main part is believed with this share of the text, and so many characters.
_SHARE_OF_CORE = 0.5
_LEAST_CORE = 200
# A block with a greater share of links is none of the content.
_MOST_LINKED = 0.5
# A block counts as many characters as it has more than these: a row of short ones is a menu.
_SHORT = 15
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


def fast_content(blocks: Sequence[Block]) -> list[Block]:
    left, own = blocks, _own(blocks)
    for part, least in _LEFT_WITHOUT:
        rest = [block for block in left if not block.said & part]
        if len(rest) < len(left) and (kept := _own(rest)) >= least * own:
            left, own = rest, kept
    core = [block for block in left if block.said & CORE]
    if core and (kept := _own(core)) > _LEAST_CORE and kept >= _SHARE_OF_CORE * own:
        left = core
    start, end = best_row([_weight(block) for block in left])
    while start and left[start - 1].name in _HEADINGS:
        start -= 1
    return [block for block in left[start:end] if not is_links(block)]


def is_links(block: Block, most: float = _MOST_LINKED) -> bool:
    return block.linked > most * len(block.text)


def best_row(weights: Sequence[float]) -> tuple[int, int]:
    """Start and end of the row with the greatest sum, in one scan; (0, 0) if all are negative.

    Of rows with the same sum the one that ends first, and of these the longest.
    """
    best, best_start, best_end = 0.0, 0, 0
    total, start = 0.0, 0
    for place, weight in enumerate(weights):
        if total < 0:
            total, start = 0.0, place
        total += weight
        if total > best:
            best, best_start, best_end = total, start, place + 1
    return best_start, best_end


def _own(blocks: Iterable[Block]) -> int:
    """Characters that are not in links."""
    return sum([len(text) - linked for text, linked, _, _, _ in blocks])


def _weight(block: Block) -> float:
    if block.name in _HEADINGS:
        return 0
    if is_links(block):
        return -block.linked / 2
    return len(block.text) - block.linked - _SHORT
