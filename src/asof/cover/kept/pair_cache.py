"""Pairs that relations were found to hold for, and proofs, kept between runs in `derived/cover/`.

`pairs/TEXT-K-DIGEST.npy` has the pairs of one relation over one set of documents, `proofs.npy` has
answers to covering problems. There are never more than so many files of pairs, nor more bytes;
those that were used longest ago go first. Nothing in them is needed (array_file.py).
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asof.archive.folder import Folder
from asof.cover.documents.collection import DocumentIds
from asof.cover.documents.document_ids import DOCUMENT_ID, Shingling
from asof.cover.documents.of_archive import IDENTIFIED
from asof.cover.documents.sets import Edges
from asof.cover.growth import Earlier, FoundPairs, KeptPairs, Schema
from asof.cover.kept.array_file import DAMAGE, read_arrays, read_first, read_head, write_arrays
from asof.cover.kept.rank_cache import RankFile
from asof.cover.solve.proofs import Proofs

ENTRIES = 16
BYTES = 1 << 30
_INT = np.dtype(np.int32)


class PairFiles:
    """The pairs of an archive's documents, for one choice of text and length of shingles."""

    def __init__(self, folder: Folder, shingling: Shingling) -> None:
        self._folder = folder.root / "derived" / "cover" / "pairs"
        self._kind = str(shingling)
        self._ways = shingling.ways

    def entries(self) -> Iterator[KeptPairs]:
        """What was kept, the last used first; of each file only the head is read."""
        return (entry for _, entry in self._entries())

    def _entries(self) -> Iterator[tuple[Path, KeptPairs]]:
        for path in self._paths():
            with suppress(*DAMAGE):
                head = read_head(path, self._ways)
                schema = tuple((str(name), str(kind)) for name, kind in head["schema"])
                ids, load = partial(self._document_ids, path), partial(self._load, path)
                yield path, KeptPairs(str(head["relation"]), schema, ids, load)

    def _document_ids(self, path: Path) -> DocumentIds | None:
        with suppress(*DAMAGE):
            found = read_first(path, self._ways)
            return found if found.dtype == DOCUMENT_ID and found.ndim == 1 else None
        return None

    def _load(self, path: Path) -> FoundPairs | None:
        """Whoever loads pairs uses them."""
        with suppress(*DAMAGE):
            found = read_arrays(path, self._ways)
            pairs = _pairs(*found.values())
            with suppress(OSError):
                os.utime(path)
            return pairs
        return None

    def keep(self, relation: str, schema: Schema, found: FoundPairs) -> None:
        """Keep pairs, in the place of those of the same relation that are all among them."""
        edges = found.edges
        arrays: dict[str, NDArray[Any]] = {
            "ids": found.document_ids, "i": edges.i, "j": edges.j, "inter": edges.inter,
        }  # fmt: skip
        if sum(array.nbytes for array in arrays.values()) > BYTES // 2:
            return
        same = relation, schema
        older = [each for each in self._entries() if (each[1].relation, each[1].schema) == same]
        told = json.dumps([self._ways, relation, schema]).encode()
        name = blake2b(told + found.document_ids.tobytes(), digest_size=16).hexdigest()
        path = self._folder / f"{self._kind}-{name}.npy"
        if not write_arrays(path, self._ways, arrays, relation=relation, schema=schema):
            return
        mine = frozenset(found.document_ids.tolist())
        for other, one in older:
            theirs = one.document_ids()
            if other != path and theirs is not None and mine.issuperset(theirs.tolist()):
                other.unlink(missing_ok=True)
        self._tidy()

    def _paths(self) -> list[Path]:
        found = []
        with suppress(OSError):
            for path in self._folder.glob("*.npy"):
                with suppress(OSError):
                    found.append((-path.stat().st_mtime_ns, path.name, path))
        return [path for _, _, path in sorted(found)]

    def _tidy(self) -> None:
        room = BYTES
        for at, path in enumerate(self._paths()):
            with suppress(OSError):
                room -= path.stat().st_size
                if at >= ENTRIES or room < 0:
                    path.unlink()


@contextmanager
def earlier_runs(folder: Folder, shingling: Shingling) -> Iterator[Earlier]:
    """What earlier runs over an archive found; proofs that are new at the end are kept."""
    proofs = load_proofs(folder)
    pairs, ranks = PairFiles(folder, shingling), RankFile(folder, shingling)
    yield Earlier(pairs.entries, pairs.keep, proofs, ranks.of, IDENTIFIED)
    keep_proofs(folder, proofs)


def load_proofs(folder: Folder) -> Proofs:
    """The proofs of earlier runs; none where there is no file, or a damaged one."""
    with suppress(*DAMAGE):
        return Proofs.unpacked(*read_arrays(_proofs(folder), "proofs").values())
    return Proofs()


def keep_proofs(folder: Folder, proofs: Proofs) -> None:
    """Keep proofs for the next run, if there are new ones."""
    if proofs.changed:
        names = ("keys", "sizes", "columns")
        write_arrays(_proofs(folder), "proofs", dict(zip(names, proofs.packed(), strict=True)))


def _proofs(folder: Folder) -> Path:
    return folder.root / "derived" / "cover" / "proofs.npy"


def _pairs(ids: NDArray[Any], i: NDArray[Any], j: NDArray[Any], inter: NDArray[Any]) -> FoundPairs:
    fits = ids.dtype == DOCUMENT_ID and ids.ndim == 1 and i.ndim == 1
    fits = fits and i.shape == j.shape == inter.shape and i.dtype == j.dtype == inter.dtype == _INT
    for side in (i, j):
        fits = fits and (not side.size or (side.min() >= 0 and side.max() < ids.size))
    if not fits:
        raise ValueError("pairs and documents do not fit together")
    return FoundPairs(ids, Edges(i, j, inter))
