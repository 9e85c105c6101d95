"""The ranks of an archive's shingles, kept between runs in `derived/cover/ranks-TEXT-K.npy`.

Ranking is two thirds of a join, and is the same for every rule without a partition. One file for
each choice of text and length of shingles has 4 bytes for each shingle of each document that others
have, too, and is mapped into memory. It holds for any part of the documents that it was made of;
when there are others, it is made again by the next run that ranks all.
"""

from functools import partial

import numpy as np

from asof.archive.folder import Folder
from asof.cover.documents.collection import DocumentIds
from asof.cover.documents.document_ids import DOCUMENT_ID, Shingling
from asof.cover.join.ranking import KeptRanks, Ranking
from asof.cover.kept.array_file import DAMAGE, read_arrays, write_arrays

# Fewer ranks than this are made faster than they are worth to be kept: in 0.3 s.
LEAST = 1 << 22


class RankFile:
    """The ranks for one choice of text and length of shingles."""

    def __init__(self, folder: Folder, shingling: Shingling) -> None:
        self._path = folder.root / "derived" / "cover" / f"ranks-{shingling}.npy"
        self._ways = shingling.ways

    def of(self, document_ids: DocumentIds) -> KeptRanks:
        return KeptRanks(partial(self.load, document_ids), partial(self.keep, document_ids))

    def load(self, document_ids: DocumentIds) -> Ranking | None:
        """The ranks of these documents, in their order; None unless all of them are there."""
        try:
            found = read_arrays(self._path, self._ways, mapped=True)
            ranks, known, bounds, distinct = found.values()
            count = known.size
            fits = known.dtype == DOCUMENT_ID and known.ndim == 1 and ranks.dtype == np.uint32
            fits = fits and bounds.shape == (2, count) and bounds.dtype == np.int64
            fits = fits and distinct.shape == (1,) and count > 0
            if not fits or bounds.min() < 0 or bounds.max() > ranks.size:
                return None
            if (bounds[0] > bounds[1]).any() or ranks.max(initial=0) >= max(int(distinct[0]), 1):
                return None
        except DAMAGE:
            return None
        order = np.argsort(known, kind="stable")
        place = order[np.minimum(np.searchsorted(known[order], document_ids), count - 1)]
        if (known[place] != document_ids).any():
            return None
        return Ranking(bounds[0][place], bounds[1][place], ranks, int(distinct[0]))

    def keep(self, document_ids: DocumentIds, ranking: Ranking) -> None:
        """Keep the ranks of all documents that have these ids, if there are enough."""
        if ranking.ranks.size >= LEAST:
            bounds = np.stack([ranking.begins, ranking.ends])
            distinct = np.array([ranking.distinct], np.int64)
            arrays = {"ids": document_ids, "bounds": bounds, "distinct": distinct}
            write_arrays(self._path, self._ways, {"ranks": ranking.ranks, **arrays})
