"""Pairs that relations were found to hold for, and proofs, kept between runs in `derived/cover/`.

`pairs/TEXT-K-DIGEST.npy` has the pairs of one relation over one set of documents, `proofs.npy` has
answers to covering problems; each is one file of arrays, written whole or not at all. There are
never more than so many files of pairs, nor more bytes; those that were used longest ago go first.
Nothing in them is needed, and what is damaged counts as not there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asof.archive.folder import Folder
from asof.change.shingles import Unit
from asof.cover.documents.collection import DocumentIds
from asof.cover.documents.document_ids import DOCUMENT_ID, Which, kind_of, ways
from asof.cover.documents.of_archive import IDENTIFIED
from asof.cover.documents.sets import Edges
from asof.cover.growth import Earlier, FoundPairs, Schema
from asof.cover.kept.array_file import DAMAGE, Arrays, write_arrays
from asof.cover.kept.rank_cache import RankFile
from asof.cover.solve.proofs import Proofs

ENTRIES = 16
BYTES = 1 << 30
_LARGEST_HEAD = 1 << 20
_INT = np.dtype(np.int32)


@dataclass(frozen=True, slots=True)
class PairFile:
    """A file of pairs, of which only the head was read."""

    path: Path
    relation: str
    schema: Schema

    def document_ids(self) -> DocumentIds | None:
        """The ids of its documents; None if the file is gone or damaged."""
        try:
            with self.path.open("rb") as file:
                arrays = Arrays(file)
                _, document_ids = arrays.next(_LARGEST_HEAD), arrays.next()
        except DAMAGE:
            return None
        return (
            document_ids if document_ids.dtype == DOCUMENT_ID and document_ids.ndim == 1 else None
        )

    def load(self) -> FoundPairs | None:
        """The pairs; None if the file is gone or damaged. Whoever loads it uses it."""
        try:
            with self.path.open("rb") as file:
                arrays = Arrays(file)
                _, document_ids, i, j, inter = (arrays.next() for _ in range(5))
                arrays.end()
            _check(document_ids, i, j, inter)
        except DAMAGE:
            return None
        with suppress(OSError):
            os.utime(self.path)
        return FoundPairs(document_ids, Edges(i, j, inter))


class PairFiles:
    """The pairs of an archive's documents, for one choice of text and length of shingles."""

    def __init__(
        self,
        folder: Folder,
        which: Which,
        k: int,
        unit: Unit = "terms",
        *,
        most: int = ENTRIES,
        room: int = BYTES,
    ) -> None:
        self._folder = folder.root / "derived" / "cover" / "pairs"
        self._kind = f"{kind_of(which, k, unit)}-"
        self._ways = json.dumps(ways(which, k, unit))
        self._most = most
        self._room = room

    def entries(self) -> Iterator[PairFile]:
        """What was kept, the last used first."""
        for path in self._paths():
            if not path.name.startswith(self._kind):
                continue
            try:
                with path.open("rb") as file:
                    head = json.loads(Arrays(file).next(_LARGEST_HEAD).tobytes())
                if head["ways"] == self._ways:
                    schema = tuple((str(name), str(kind)) for name, kind in head["schema"])
                    yield PairFile(path, str(head["relation"]), schema)
            except DAMAGE:
                continue

    def keep(self, relation: str, schema: Schema, found: FoundPairs) -> None:
        """Keep pairs, in the place of those of the same relation that are all among them."""
        edges = found.edges
        arrays: list[NDArray[Any]] = [found.document_ids, edges.i, edges.j, edges.inter]
        if sum(array.nbytes for array in arrays) > self._room // 2:
            return
        older = [one for one in self.entries() if (one.relation, one.schema) == (relation, schema)]
        head = {"ways": self._ways, "relation": relation, "schema": schema}
        told = json.dumps(head).encode()
        name = blake2b(told + found.document_ids.tobytes(), digest_size=16).hexdigest()
        path = self._folder / f"{self._kind}{name}.npy"
        if not write_arrays(path, [np.frombuffer(told, np.uint8), *arrays]):
            return
        mine = frozenset(found.document_ids.tolist())
        for one in older:
            other = one.load() if one.path != path else None
            if other is not None and mine.issuperset(other.document_ids.tolist()):
                _unlink(one.path)
        self._tidy()

    def _paths(self) -> list[Path]:
        """Files of all kinds, the last used first."""
        found = []
        with suppress(OSError):
            for path in self._folder.glob("*.npy"):
                with suppress(OSError):
                    found.append((-path.stat().st_mtime_ns, path.name, path))
        return [path for _, _, path in sorted(found)]

    def _tidy(self) -> None:
        room = self._room
        for at, path in enumerate(self._paths()):
            with suppress(OSError):
                room -= path.stat().st_size
                if at >= self._most or room < 0:
                    path.unlink()


@contextmanager
def earlier_runs(folder: Folder, which: Which, k: int, unit: Unit = "terms") -> Iterator[Earlier]:
    """What earlier runs over an archive found; proofs that are new at the end are kept."""
    proofs = load_proofs(folder)
    pairs, ranks = PairFiles(folder, which, k, unit), RankFile(folder, which, k, unit)
    yield Earlier(pairs, proofs, ranks, IDENTIFIED)
    keep_proofs(folder, proofs)


def load_proofs(folder: Folder) -> Proofs:
    """The proofs of earlier runs; none where there is no file, or a damaged one."""
    try:
        with _proofs(folder).open("rb") as file:
            arrays = Arrays(file)
            keys, sizes, columns = (arrays.next() for _ in range(3))
            arrays.end()
        return Proofs.unpacked(keys, sizes, columns)
    except DAMAGE:
        return Proofs()


def keep_proofs(folder: Folder, proofs: Proofs) -> None:
    """Keep proofs for the next run, if there are new ones."""
    if proofs.changed:
        write_arrays(_proofs(folder), proofs.packed())


def _proofs(folder: Folder) -> Path:
    return folder.root / "derived" / "cover" / "proofs.npy"


def _check(
    document_ids: NDArray[Any], i: NDArray[Any], j: NDArray[Any], inter: NDArray[Any]
) -> None:
    fits = document_ids.dtype == DOCUMENT_ID and document_ids.ndim == 1 and i.ndim == 1
    fits = fits and i.shape == j.shape == inter.shape and i.dtype == j.dtype == inter.dtype == _INT
    for side in (i, j):
        fits = fits and (not side.size or (side.min() >= 0 and side.max() < document_ids.size))
    if not fits:
        raise ValueError("pairs and documents do not fit together")


def _unlink(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
