"""How much of one text is found in another, and how long the passages are that are not.

By shingles of five words (Spaniol 2010: "k = 5 is OK for short documents") with their places: a
word is found if any shingle through it is. Text that only moved is found; so is text that was taken
for main content one day and for furniture the next, as the other version is searched as a whole.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asof.change.shingles import Hashes, K, shingles_in_order

# So many words in a row may be a turn of phrase.
_PHRASE = 2 * K

# Scripts that put no spaces between words: every character counts as one.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"(?=\w)[{_UNSPACED}]|[^\W{_UNSPACED}]+")


def words(text: str) -> list[str]:
    """The words of a settled text; single characters where words are not set apart."""
    return _WORD.findall(text)


@dataclass(frozen=True, slots=True)
class Passages:
    """What two texts have in common, and not.

    `similarity` is the share of shingles that both have (Jaccard), `kept` the share of old words
    that are in the new text, `known` of new words that are in the old one. `added` and `removed`
    are the lengths of the passages that are on one side only.
    """

    similarity: float
    kept: float
    known: float
    added: tuple[int, ...]
    removed: tuple[int, ...]

    @property
    def largest(self) -> int:
        return max((*self.added, *self.removed), default=0)


def passages(
    old: Sequence[str],
    new: Sequence[str],
    whole_old: Sequence[str] = (),
    whole_new: Sequence[str] = (),
) -> Passages:
    """Compare the words of two texts. The whole ones are where to look beside them."""
    rows_old, rows_new = _rows(old), _rows(new)
    set_old, set_new = np.unique(rows_old), np.unique(rows_new)
    all_old = np.concatenate((set_old, _rows(whole_old)))
    all_new = np.concatenate((set_new, _rows(whole_new)))
    either = np.union1d(set_old, set_new).size
    apart = _missing(set_old, all_new) + _missing(set_new, all_old)
    removed = _gaps(np.isin(rows_old, all_new), len(old))
    added = _gaps(np.isin(rows_new, all_old), len(new))
    return Passages(
        similarity=1 - apart / either if either else 1.0,
        kept=1 - sum(removed) / len(old) if old else 1.0,
        known=1 - sum(added) / len(new) if new else 1.0,
        added=added,
        removed=removed,
    )


def _rows(text: Sequence[str]) -> Hashes:
    return shingles_in_order(" ".join(text))


def _missing(wanted: Hashes, there: Hashes) -> int:
    return int(wanted.size - np.count_nonzero(np.isin(wanted, there)))


def _gaps(found: NDArray[np.bool_], length: int) -> tuple[int, ...]:
    """The lengths of passages that no shingle found elsewhere covers."""
    covered = np.zeros(length, np.bool_)
    if length < K:
        covered[:] = found.all()  # a text of fewer words is one shingle
    else:
        for place in range(K):
            covered[place : place + found.size] |= found
    edges = np.diff(np.concatenate(([1], covered.astype(np.int8), [1])))
    starts, ends = np.flatnonzero(edges < 0).tolist(), np.flatnonzero(edges > 0).tolist()
    return _joined(list(zip(starts, ends, strict=True)))


def _joined(gaps: list[tuple[int, int]]) -> tuple[int, ...]:
    """The lengths of gaps; two with little between them, and that shorter than both, are one.

    A new section has turns of phrase that were there before. Between the figures of a table, on the
    other hand, what stays is longer than what changes.
    """
    lengths: list[int] = []
    end = 0
    for start, stop in gaps:
        between = start - end
        if lengths and between <= min(_PHRASE, lengths[-1], stop - start):
            lengths[-1] += stop - end
        else:
            lengths.append(stop - start)
        end = stop
    return tuple(lengths)
