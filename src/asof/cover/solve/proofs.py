"""Covering problems that were solved and proven, known again by what they are.

Most components are settled by reductions; the few that remain can take minutes. Their problems do
not know where they come from: rows and columns are numbered from 0. So an answer holds for every
problem of the same arrays, in whatever archive, for whatever relation, and one that an archive's
growth has not touched is not solved again. Nothing but proven answers is remembered, and what the
answer depends on is all in the key, so the answer is that of solving it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asof.cover.solve.greedy import Answer, CoverProblem

PROBLEMS = 4096
COLUMNS = 1 << 22  # of all answers together: 16 MB
# One up whenever the solver would choose another one of several best answers.
_FORMAT = 1
_KEY = np.dtype("S16")


@dataclass(slots=True)
class Proofs:
    """Answers by the key of their problem, the last used last; `changed`: some are new."""

    answers: dict[bytes, NDArray[np.int32]] = field(default_factory=dict)
    changed: bool = False

    def recall(self, problem: CoverProblem, known: Answer) -> Answer | None:
        """The proven answer to a problem that was solved from the same start."""
        key = _key(problem, known)
        columns = self.answers.pop(key, None)
        if columns is None:
            return None
        self.answers[key] = columns
        return Answer(columns, columns.size, True) if _covers(problem, columns) else None

    def learn(self, problem: CoverProblem, known: Answer, answer: Answer) -> None:
        if answer.proven and answer.lower == answer.columns.size:
            self.answers[_key(problem, known)] = answer.columns
            self.changed = True

    def packed(self) -> tuple[NDArray[Any], ...]:
        """The last used ones as arrays: keys, sizes, and columns behind each other."""
        kept: list[tuple[bytes, NDArray[np.int32]]] = []
        room = COLUMNS
        for key, columns in reversed(self.answers.items()):
            room -= columns.size
            if len(kept) >= PROBLEMS or room < 0:
                break
            kept.append((key, columns))
        kept.reverse()
        return (
            np.array([key for key, _ in kept], _KEY),
            np.array([columns.size for _, columns in kept], np.int64),
            np.concatenate([np.empty(0, np.int32), *(columns for _, columns in kept)]),
        )

    @classmethod
    def unpacked(cls, keys: NDArray[Any], sizes: NDArray[Any], columns: NDArray[Any]) -> Proofs:
        """Raises ValueError for arrays that `packed` did not make."""
        fits = keys.dtype == _KEY and sizes.dtype == np.int64 and columns.dtype == np.int32
        if not fits or keys.shape != sizes.shape or keys.ndim != 1 or columns.ndim != 1:
            raise ValueError("no proofs")
        if (sizes < 0).any() or sizes.sum() != columns.size:
            raise ValueError("proofs do not fit together")
        parts = np.split(columns, np.cumsum(sizes)[:-1]) if sizes.size else []
        return cls(dict(zip(keys.tolist(), parts, strict=True)))


def _key(problem: CoverProblem, known: Answer) -> bytes:
    """Which of several best answers is found depends on the start and on who searches, too."""
    coverage = problem.coverage
    told = (_FORMAT, _scipy(), coverage.row_ids.size, coverage.col_ids.size, known.lower)
    found = blake2b(repr(told).encode(), digest_size=15)
    for array in (coverage.rows, coverage.cols, problem.needs, problem.quality, known.columns):
        found.update(f"{array.dtype} {array.size} ".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.digest() + b"."  # numpy drops zeros at the end of such strings


def _covers(problem: CoverProblem, columns: NDArray[np.int32]) -> bool:
    """What a damaged file says is not believed."""
    count = problem.coverage.col_ids.size
    if columns.size and (columns.min() < 0 or columns.max() >= count):
        return False
    chosen = np.zeros(count, np.bool_)
    chosen[columns] = True
    return bool((problem.covered(chosen) >= problem.needs).all())


@cache
def _scipy() -> str:
    try:
        return version("scipy")
    except PackageNotFoundError:
        return ""
