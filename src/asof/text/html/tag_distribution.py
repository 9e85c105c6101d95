"""The main content of a page by the distribution of its tags (Naumann 2011, "removing noise").

A page is a row of tokens, of which bit b_n says that the n-th is a tag and not a word; tags that
only format text are ignored. The content is the row of tokens from i to j that maximises

    tags before i  +  words from i to j  +  tags after j

As the number of all tags is the same for every i and j, that is the row with the greatest sum of
+1 for a word and -1 for a tag: one scan over prefix sums instead of all pairs of i and j.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, islice

from asof.text.html.blocks import joined, layout_of, visible
from asof.text.html.tag_row import Token
from asof.text.markup import names

# Elements that give a text its look but no place in the layout.
FORMATTING = names(
    "abbr acronym b bdi bdo big blink br cite code data del dfn em font i ins kbd mark nobr q rp rt"
    " ruby s samp small span strike strong sub sup time tt u var wbr"
)
# All of these are kept at once; a longer page is cut.
_MOST_TOKENS = 200_000


def best_runs(runs: Sequence[int]) -> tuple[int, int] | None:
    """Start and end of the row of runs with the greatest sum above zero; None without a word.

    Of equal ones the longest, and of these the first. A row without words is no content, though it
    may be worth as much as the best.
    """
    best, found = 0, None
    lowest, start = 0, 0  # the lowest prefix sum so far, and where it first was
    for end, total in enumerate(accumulate(runs), 1):
        gain, length = total - lowest, end - start
        if gain > best or (found and gain == best and length > found[1] - found[0]):
            best, found = gain, (start, end)
        if total < lowest:
            lowest, start = total, end
    return found


def tag_content(tokens: Iterable[Token]) -> str:
    """The text of the part of a page that has words rather than tags."""
    row = visible(list(islice(tokens, _MOST_TOKENS)))
    runs: list[int] = []
    places: list[int] = []  # of the token that each run belongs to
    for place, (text, _, name, _, _) in enumerate(row):
        if text and (words := len(text.split())):
            runs.append(words)
            places.append(place)
        if name and name not in FORMATTING:
            runs.append(-1)
            places.append(place)
    span = best_runs(runs)
    if span is None:
        return ""
    first, last = places[span[0]], places[span[1] - 1]
    # A row of greatest sum begins and ends with words: the texts in front of both tags are in it.
    # The tags before them stay: they say what stands where.
    part = (("", *token[1:4], "") for token in row[:first])
    return joined(layout_of(chain(part, row[first : last + 1])).blocks)
