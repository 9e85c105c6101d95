"""Signatures of all texts that were read, on disk: which of a million may be near, in a second.

Of each document its number of shingles and 16 bits of each of 128 slots, some dozen documents in a
row of the database. What the sketches leave possible is verified by the texts themselves; a pair at
the threshold is left out with a chance below one in a million (five standard errors).
"""

import json
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from asof.change.fallback import STEP
from asof.change.minhash import SLOTS, signature, signatures_of_sets
from asof.change.near import Measure, banding
from asof.change.shingles import Hashes, shingles_of_all
from asof.text.database import TextDatabase
from asof.text.document import Document

Keys: TypeAlias = NDArray[np.int64]
Slots: TypeAlias = NDArray[np.uint16]  # a row for each document

# Rows of the database that are looked at together: some ten thousand documents.
_ROWS = 256
_ERRORS = 5  # standard errors below what is expected of a near pair


class SketchStore:
    """Sketches by the keys of their documents."""

    def __init__(self, database: TextDatabase) -> None:
        self._database = database

    def put(self, documents: Sequence[tuple[int, str, Document]]) -> None:
        """Keep the sketches of documents, given with their keys and addresses."""
        hashes, starts = shingles_of_all([main_text(document) for _, _, document in documents])
        slots = sketched(signatures_of_sets(hashes, starts))
        sizes = np.diff(starts)
        some = np.flatnonzero(sizes)  # without any terms, it is near nothing
        if not some.size:
            return
        keys = np.array([key for key, _, _ in documents], np.int64)[some]
        urls = [documents[place][1] for place in some.tolist()]
        with self._database.transaction() as db:
            db.execute(
                "INSERT INTO sketches (keys, sizes, slots, urls) VALUES (?, ?, ?, ?)",
                (keys.tobytes(), sizes[some].tobytes(), slots[some].tobytes(), json.dumps(urls)),
            )

    def near(self, asked: Hashes, threshold: float, measure: Measure) -> list[tuple[int, str]]:
        """Keys and addresses of the documents that may be as near to a set of shingles."""
        own = sketched(signature(asked))
        found = []
        for first, keys, sizes, slots, rows in self._parts():
            expected = _jaccard(asked.size, sizes, threshold, measure)
            least = expected - _ERRORS * np.sqrt(np.maximum(expected * (1 - expected), 0) / SLOTS)
            agree = (slots == own).sum(axis=1)
            for place in np.flatnonzero((agree >= SLOTS * least) & (expected <= 1)):
                row = int(rows[place])
                found.append(
                    (int(keys[place]), first + row, int(place - np.searchsorted(rows, row)))
                )
        return [(key, self._url(no, place)) for key, no, place in found]

    def with_mates(self, wanted: Keys, threshold: float) -> Keys:
        """Those of the documents that may be near another of them: they agree in a band of slots.

        In the order of their keys.
        """
        if not wanted.size:
            return wanted
        ordered, parts = np.unique(wanted), []
        for _, keys, _, slots, _ in self._parts():
            places = np.searchsorted(ordered, keys).clip(max=len(ordered) - 1)
            chosen = ordered[places] == keys
            parts.append((keys[chosen], slots[chosen]))
        if not parts:
            return np.zeros(0, np.int64)
        keys, slots = (np.concatenate(each) for each in zip(*parts, strict=True))
        bands = banding(threshold)
        shared = np.zeros(len(keys), np.bool_)
        if bands.bands * bands.rows > SLOTS:  # more than are kept: all may be
            shared[:] = True
        for band in range(min(bands.bands, SLOTS // bands.rows)):
            cells = slots[:, band * bands.rows : (band + 1) * bands.rows]
            folded = np.zeros(len(keys), np.uint64)
            for row in range(bands.rows):
                folded = (folded ^ cells[:, row]) * np.uint64(STEP)
                folded ^= folded >> np.uint64(32)
            order = np.argsort(folded, kind="stable")
            equal = folded[order[1:]] == folded[order[:-1]]
            shared[order[1:][equal]] = shared[order[:-1][equal]] = True
        return np.unique(keys[shared])

    def _parts(self) -> Iterator[tuple[int, Keys, Keys, Slots, NDArray[np.int64]]]:
        """All sketches, some at a time: the number of the first row, and of each its row there."""
        last = 0
        sql = "SELECT no, keys, sizes, slots FROM sketches WHERE no > ? ORDER BY no LIMIT ?"
        while rows := self._database.fetch_all(sql, last, _ROWS):
            first, last = rows[0][0], rows[-1][0]
            numbers, *columns = zip(*rows, strict=True)
            places = np.repeat(np.array(numbers) - first, [len(keys) // 8 for keys in columns[0]])
            try:
                keys, sizes = (np.frombuffer(b"".join(each), np.int64) for each in columns[:2])
                slots = np.frombuffer(b"".join(columns[2]), np.uint16).reshape(len(keys), SLOTS)
            except ValueError as damage:
                raise self._database.damaged(damage) from damage
            yield first, keys, sizes, slots, places

    def _url(self, no: int, place: int) -> str:
        row = self._database.fetch("SELECT urls FROM sketches WHERE no = ?", no)
        try:
            return str(json.loads(row[0])[place]) if row is not None else ""
        except (ValueError, LookupError, TypeError) as damage:
            raise self._database.damaged(damage) from damage


def main_text(document: Document) -> str:
    """What of a document is compared with other documents."""
    return document.main or document.text


def sketched(signatures: NDArray[np.uint32]) -> Slots:
    return (signatures & 0xFFFF).astype(np.uint16)


def _jaccard(size: int, others: Keys, threshold: float, measure: Measure) -> NDArray[np.float64]:
    """The least Jaccard coefficient of documents that are near; above 1 where none can be."""
    less, more = np.minimum(others, size), np.maximum(others, size)
    if measure == "jaccard":
        return np.where(less >= threshold * more, threshold, 2.0)
    common = threshold * less
    return np.asarray(common / (less + more - common))
