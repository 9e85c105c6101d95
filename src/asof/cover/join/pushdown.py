"""An alternative of a relation as arrays for the join: who may meet whom, whatever the content.

What cannot be given to the join exactly stays in the residual, so that the join's pairs that meet
the residual are those of the alternative, no more and no fewer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asof.cover.documents.sets import spread, stretches
from asof.cover.language.analyse import Alternative, AttributeRange, Key
from asof.cover.language.bounds import Bound
from asof.cover.language.columns import Column
from asof.cover.language.evaluate import Pairs, Truth, prepared, ranks
from asof.cover.language.syntax import And, Atom, AttributeOf, CompareTest, Condition

Codes = NDArray[np.int64]
Window = tuple[int | None, int | None]

_WHOLE = 1 << 50  # of floats up to here, sums and differences are exact
_FAR = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Pushdown:
    """What a join needs of an alternative; None where it says nothing.

    Pairs have equal codes in `partition`; `window` limits position[j] - position[i]; `d1` and `d2`
    are the documents that can be covered and can cover. The pairs found have still to meet
    `residual`. `meet` has codes of documents as d1 and as d2, which are equal for pairs (for one
    attribute, both are the partition); there is always one where the bound is empty.
    """

    bound: Bound
    partition: Codes | None
    position: Codes | None
    window: Window | None
    d1: Truth | None
    d2: Truth | None
    residual: Condition | None
    meet: tuple[Codes, Codes] | None


def push_down(alternative: Alternative, columns: Mapping[str, Column], n: int) -> Pushdown:
    """The alternative of a checked relation, over n documents with these columns."""
    sides = _Sides(n)
    rest: list[Atom] = list(alternative.residual)
    sides.must(alternative.d1, columns, 1)
    sides.must(alternative.d2, columns, 2)
    same = [key.d1 for key in alternative.keys if key.same]
    other = [key for key in alternative.keys if not key.same]
    for name in same:
        sides.know(columns[name])
    rest += [CompareTest(AttributeOf(key.d1, 1), "=", AttributeOf(key.d2, 2)) for key in other]
    partition = _partition([columns[name] for name in same], n)
    position, window, pending = _position(alternative.ranges, columns, sides)
    rest += pending
    meet = None if partition is None else (partition, partition)
    if meet is None and other:
        meet = _meeting(other[0], columns)
    residual = None if not rest else rest[0] if len(rest) == 1 else And(tuple(rest))
    bound = alternative.bound
    return Pushdown(bound, partition, position, window, sides.d1, sides.d2, residual, meet)


class _Sides:
    """Which documents can be d1 and which d2; None is all."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.d1: Truth | None = None
        self.d2: Truth | None = None

    def must(
        self, conditions: Sequence[CompareTest], columns: Mapping[str, Column], of: int
    ) -> None:
        """Conditions on one document alone."""
        every, none = np.arange(self.n), np.zeros(self.n, np.int64)
        for condition in conditions:
            holds = prepared(condition, columns)(Pairs(every, every, none, none, none))
            if of == 1:
                self.d1 = holds if self.d1 is None else self.d1 & holds
            else:
                self.d2 = holds if self.d2 is None else self.d2 & holds

    def know(self, column: Column) -> None:
        known = column.known
        if not known.all():
            self.d1 = known if self.d1 is None else self.d1 & known
            self.d2 = known if self.d2 is None else self.d2 & known


def _partition(columns: Sequence[Column], n: int) -> Codes | None:
    """One code a document: equal if all these attributes are. Missing ones are masked elsewhere."""
    codes: Codes | None = None
    for column in columns:
        new = np.unique(column.values, return_inverse=True)[1].astype(np.int64).reshape(n)
        if codes is not None:  # both are below n, so that the product fits
            new = codes * (int(new.max(initial=0)) + 1) + new
            new = np.unique(new, return_inverse=True)[1].astype(np.int64).reshape(n)
        codes = new
    return codes


def _position(
    ranges: Sequence[AttributeRange], columns: Mapping[str, Column], sides: _Sides
) -> tuple[Codes | None, Window | None, list[Atom]]:
    """One attribute as position, with the narrowest window; all other ranges wait for the pairs.

    Times first: archives are ordered by them. Then the attribute with the most limits.
    """
    usable = [limit for limit in ranges if _exact(limit, columns[limit.attribute])]
    if not usable:
        return None, None, [limit.source for limit in ranges]
    names = [limit.attribute for limit in usable]
    best = max(names, key=lambda name: (columns[name].kind == "time", names.count(name)))
    chosen = [limit for limit in usable if limit.attribute == best]
    column = columns[best]
    sides.know(column)
    low: int | None = None
    high: int | None = None
    for limit in chosen:
        if limit.low is not None:
            at = min(limit.low + limit.low_strict, _FAR)
            low = at if low is None else max(low, at)
        if limit.high is not None:
            at = max(limit.high - limit.high_strict, -_FAR)
            high = at if high is None else min(high, at)
    low = None if low is not None and low < -_FAR else low
    high = None if high is not None and high > _FAR else high
    pending: list[Atom] = [limit.source for limit in ranges if limit not in chosen]
    return _places(column), (low, high), pending


def _exact(limit: AttributeRange, column: Column) -> bool:
    """Whether whole positions decide it just as the values do."""
    if column.kind == "time":
        return True
    if column.kind == "text" or _is_whole(column):
        return limit.plain or column.kind == "number"
    return limit.plain and limit.low in (None, 0) and limit.high in (None, 0) and _finite(column)


def _finite(column: Column) -> bool:
    return not np.isinf(column.values).any()


def _is_whole(column: Column) -> bool:
    known = column.values[column.known] if column.kind == "number" else None
    return known is not None and bool(
        ((np.abs(known) <= _WHOLE) & (np.trunc(known) == known)).all()
    )


def _places(column: Column) -> Codes:
    """Values as whole numbers: themselves, or else their order; missing ones are masked."""
    if column.kind == "time":
        return np.where(column.known, column.values, 0).astype(np.int64)
    if column.kind == "text":
        return ranks(column, column)[0][column.values]
    if _is_whole(column):
        return np.where(column.known, column.values, 0).astype(np.int64)
    return np.unique(column.values, return_inverse=True)[1].astype(np.int64)


def _meeting(key: Key, columns: Mapping[str, Column]) -> tuple[Codes, Codes]:
    """Codes of d1 by one attribute and of d2 by another; missing values meet nothing."""
    one, other = columns[key.d1], columns[key.d2]
    if one.kind == "text":
        of_one, of_other = ranks(one, other)
        codes, others = of_one[one.values], of_other[other.values]
    else:
        both = np.concatenate([one.values, other.values])
        found = np.unique(both, return_inverse=True)[1].astype(np.int64)
        codes, others = found[: one.values.size], found[one.values.size :]
    return np.where(one.known, codes, -1), np.where(other.known, others, -2)


def meetings(
    pushdown: Pushdown, block: int = 1 << 20
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The pairs i != j that meet, for an alternative without a bound whose attributes are two.

    (Of one attribute, the join does it by partition.) Blocks of about so many pairs; bound and
    residual are not looked at, all else is.
    """
    if pushdown.meet is None:
        raise ValueError("nothing says who meets whom")
    of_d1, of_d2 = pushdown.meet
    covers = np.arange(of_d2.size) if pushdown.d2 is None else np.flatnonzero(pushdown.d2)
    covers = covers[np.argsort(of_d2[covers], kind="stable")]
    covered = np.arange(of_d1.size) if pushdown.d1 is None else np.flatnonzero(pushdown.d1)
    starts = np.searchsorted(of_d2[covers], of_d1[covered], "left")
    counts = np.searchsorted(of_d2[covers], of_d1[covered], "right") - starts
    for at, to in stretches(counts, block):
        i = np.repeat(covered[at:to], counts[at:to])
        j = covers[spread(starts[at:to], counts[at:to])]
        apart = i != j
        if pushdown.position is not None and pushdown.window is not None:
            low, high = pushdown.window
            gap = pushdown.position[j] - pushdown.position[i]
            apart &= (gap >= low) if low is not None else True
            apart &= (gap <= high) if high is not None else True
        yield i[apart], j[apart]
