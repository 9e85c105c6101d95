"""From a collection and a relation to the smallest set that covers it (Paudel 2013, section 3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from asof.cover.documents.collection import Collection
from asof.cover.growth import Earlier, grown_pairs
from asof.cover.join.join import JoinLimits
from asof.cover.join.overlaps import overlaps
from asof.cover.join.pair_spool import PairSpool
from asof.cover.join.pairs import found_pairs
from asof.cover.language.analyse import parse_relation
from asof.cover.language.columns import Column
from asof.cover.language.kinds import type_check
from asof.cover.question import Question, attribute_to_keep, attribute_to_prefer
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


def thin_out(
    collection: Collection, question: Question, limits: JoinLimits, earlier: Earlier | None = None
) -> CoverOutcome:
    """The smallest set of documents that covers all of a collection by the relation asked for.

    What `earlier` runs found is not looked for again; what this one finds is added to it.
    """
    started = monotonic()
    written = type_check(parse_relation(question.relation), collection.columns)
    quality, at_least = wanted(collection.columns, question)
    if earlier is None:
        edges, known = found_pairs(collection, written, limits), 0
    else:
        edges, known = grown_pairs(collection, written, limits, earlier)
    complete = not limits.cancel()  # whoever stops the solver has still compared all pairs
    proofs = Proofs() if earlier is None else earlier.proofs
    if isinstance(edges, PairSpool):
        with edges:
            if question.solver == "seed":
                raise UsageError(
                    f"{edges.added:,} pairs are more than the solver seed can have in memory.",
                    hint="Use the solver auto, ask for more in the rule, or raise --memory.",
                )
            found = solve_external(
                edges, quality=quality, at_least=at_least, time_limit=question.time_limit,
                limits=limits, proofs=proofs,
                memory=None if limits.memory is None else max(limits.memory // 2, 64 << 20),
            )  # fmt: skip
    else:
        cover = solve(
            len(collection), edges.i, edges.j, quality=quality, at_least=at_least, proofs=proofs,
            solver=question.solver, time_limit=question.time_limit, cancel=limits.cancel,
            progress=partial(limits.progress, "cover"),
        )  # fmt: skip
        found = ExternalCover(cover, len(edges))
    return CoverOutcome(
        collection, question.relation, found.cover, _dropped(collection, found.cover), found.pairs,
        monotonic() - started, complete, known,
    )  # fmt: skip


def wanted(
    columns: Mapping[str, Column], question: Question
) -> tuple[Floats | None, tuple[int, NDArray[np.int32]] | None]:
    """What the solver is asked for besides few documents: a quality, and so many of each value."""
    quality = at_least = None
    if question.prefer is not None:
        column = attribute_to_prefer(columns, question.prefer)
        quality = np.where(column.known, column.values.astype(np.float64), np.nan)
    if question.at_least is not None:
        number, name = question.at_least
        column = attribute_to_keep(columns, name)
        # Documents without a value belong to no group.
        codes = np.full(column.values.size, -1, np.int32)
        codes[column.known] = np.unique(column.values[column.known], return_inverse=True)[1]
        at_least = number, codes
    return quality, at_least


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
