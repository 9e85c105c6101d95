"""From a collection and a relation to the smallest set that covers it (Paudel 2013, section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from asof.cover.documents.collection import Collection
from asof.cover.growth import Earlier, Growth, grown_pairs
from asof.cover.join.overlaps import overlaps
from asof.cover.join.pair_spool import PairSpool
from asof.cover.join.pairs import JoinLimits, found_pairs
from asof.cover.language.analyse import parse_relation
from asof.cover.language.columns import Column
from asof.cover.language.kinds import type_check
from asof.cover.options import CoverOptions, attribute_to_keep, attribute_to_prefer
from asof.cover.solve.external import ExternalCover, solve_external
from asof.cover.solve.proofs import Proofs
from asof.cover.solve.requirements import Cover
from asof.cover.solve.solve import solve
from asof.errors import UsageError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A document that need not be kept, the one that covers it, and how far."""

    document: int
    by: int
    containment: float
    jaccard: float
    dice: float


@dataclass(frozen=True, slots=True)
class CoverOutcome:
    """The answer. `edges` counts pairs of different documents; `complete`: all were compared."""

    collection: Collection
    relation: str
    cover: Cover
    dropped: tuple[Dropped, ...]
    edges: int
    seconds: float
    complete: bool
    known: int = 0  # documents that an earlier run had compared with each other

    @property
    def kept(self) -> list[str]:
        return [self.collection.names[place] for place in np.flatnonzero(self.cover.kept).tolist()]

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no smaller set does."""
        return self.complete and self.cover.optimal

    @property
    def gap(self) -> int:
        """How many documents fewer could do, at most: all but one if not all were compared."""
        if self.complete:
            return self.cover.gap
        return max(int(self.cover.kept.sum()) - 1, 0)

    @property
    def saved(self) -> tuple[float, float]:
        """Which share of documents, and of bytes, is dropped."""
        gone = ~self.cover.kept
        total = int(self.collection.weights.sum())
        count = len(self.collection)
        bytes_gone = int(self.collection.weights[gone].sum())
        return (int(gone.sum()) / count if count else 0.0, bytes_gone / total if total else 0.0)


def thin_out(
    collection: Collection,
    relation: str,
    options: CoverOptions,
    limits: JoinLimits,
    earlier: Earlier | None = None,
) -> CoverOutcome:
    """The smallest set of documents that covers all of a collection by a relation.

    What `earlier` runs found is not looked for again; what this one finds is added to it.
    """
    started = monotonic()
    written = type_check(parse_relation(relation), collection.columns)
    wanted = _wanted(collection, options)
    if earlier is None:
        growth = Growth(found_pairs(collection, written, limits), 0)
    else:
        growth = grown_pairs(collection, written, limits, earlier)
    complete = not limits.cancel()  # whoever stops the solver has still compared all pairs
    proofs = Proofs() if earlier is None else earlier.proofs
    if isinstance(growth.edges, PairSpool):
        found = _solved_externally(growth.edges, wanted, options, limits, proofs)
    else:
        edges = growth.edges
        cover = solve(
            len(collection), edges.i, edges.j, **wanted, solver=options.solver, proofs=proofs,
            time_limit=options.time_limit, cancel=limits.cancel,
            progress=lambda done, total: limits.progress("cover", done, total),
        )  # fmt: skip
        found = ExternalCover(cover, len(edges))
    cover, dropped = found.cover, _dropped(collection, found.cover)
    seconds = monotonic() - started
    return CoverOutcome(
        collection, relation, cover, dropped, found.pairs, seconds, complete, growth.known
    )


class _Wanted(TypedDict):
    quality: Floats | None
    at_least: tuple[int, NDArray[np.int32]] | None


def _wanted(collection: Collection, options: CoverOptions) -> _Wanted:
    """What the solver is asked for besides few documents."""
    quality = None if options.prefer is None else _quality(collection, options.prefer)
    if options.at_least is None:
        return {"quality": quality, "at_least": None}
    column = attribute_to_keep(collection.columns, options.at_least[1])
    return {"quality": quality, "at_least": (options.at_least[0], _codes(column))}


def _solved_externally(
    spool: PairSpool, wanted: _Wanted, options: CoverOptions, limits: JoinLimits, proofs: Proofs
) -> ExternalCover:
    with spool:
        if options.solver == "seed":
            raise UsageError(
                f"{spool.added:,} pairs are more than the solver seed can have in memory.",
                hint="Use the solver auto, ask for more in the rule, or raise --memory.",
            )
        return solve_external(
            spool, **wanted, time_limit=options.time_limit, progress=limits.progress,
            cancel=limits.cancel, proofs=proofs,
            memory=None if limits.memory is None else max(limits.memory // 2, 64 << 20),
        )  # fmt: skip


def _dropped(collection: Collection, cover: Cover) -> tuple[Dropped, ...]:
    gone = np.flatnonzero(~cover.kept)
    by = cover.by[gone]
    common = overlaps(collection.sets, gone, by).astype(np.float64)
    sizes = collection.sets.sizes.astype(np.float64)
    one, other = sizes[gone], sizes[by]
    empty = (one == 0) & (other == 0)  # two empty documents are equal, and measure 1

    def share(part: Floats, whole: Floats) -> list[float]:
        found = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
        return [float(value) for value in np.where(empty, 1.0, found)]

    rows = zip(
        gone.tolist(), by.tolist(),
        share(common, one), share(common, one + other - common), share(2 * common, one + other),
        strict=True,
    )  # fmt: skip
    return tuple(Dropped(*row) for row in rows)


def _quality(collection: Collection, name: str) -> Floats:
    column = attribute_to_prefer(collection.columns, name)
    return np.where(column.known, column.values.astype(np.float64), np.nan)


def _codes(column: Column) -> NDArray[np.int32]:
    """A number for each value; documents without one belong to no group."""
    _, codes = np.unique(column.values[column.known], return_inverse=True)
    found = np.full(column.values.size, -1, np.int32)
    found[column.known] = codes
    return found
