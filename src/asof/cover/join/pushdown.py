"""An alternative of a relation as arrays for the join: who may meet whom, whatever the content.

What cannot be given to the join exactly stays in the residual, so that the join's pairs that meet
the residual are those of the alternative, no more and no fewer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from asof.cover.documents.sets import Counts as Codes
from asof.cover.documents.sets import spread, stretches
from asof.cover.join.equal_sets import Window
from asof.cover.language.analyse import Alternative, AttributeRange, Key
from asof.cover.language.bounds import Bound
from asof.cover.language.columns import Column
from asof.cover.language.evaluate import Pairs, Truth, prepared, ranks
from asof.cover.language.syntax import And, Atom, AttributeOf, CompareTest, Condition

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
    same = [columns[key.d1] for key in alternative.keys if key.same]
    other = [key for key in alternative.keys if not key.same]
    limits = _of_position(alternative.ranges, columns)
    position = columns[limits[0].attribute] if limits else None
    known = [column.known for column in (*same, position) if column is not None]
    rest: list[Atom] = [
        *alternative.residual,
        *(CompareTest(AttributeOf(key.d1, 1), "=", AttributeOf(key.d2, 2)) for key in other),
        *(limit.source for limit in alternative.ranges if limit not in limits),
    ]
    partition = _partition(same, n)
    meet = None if partition is None else (partition, partition)
    if meet is None and other:
        meet = _meeting(other[0], columns)
    return Pushdown(
        alternative.bound,
        partition,
        None if position is None else _places(position),
        _window(limits) if limits else None,
        _possible(alternative.d1, known, columns, n),
        _possible(alternative.d2, known, columns, n),
        None if not rest else rest[0] if len(rest) == 1 else And(tuple(rest)),
        meet,
    )


def _possible(
    alone: Sequence[CompareTest], known: list[Truth], columns: Mapping[str, Column], n: int
) -> Truth | None:
    """The documents that meet conditions on one alone, and of which all is known; None is all."""
    every, none = np.arange(n), np.zeros(n, np.int64)
    pairs = Pairs(every, every, none, none, none)
    tests = [prepared(condition, columns)(pairs) for condition in alone]
    tests += [flags for flags in known if not flags.all()]
    return np.logical_and.reduce(tests) if tests else None


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


def _of_position(
    ranges: Sequence[AttributeRange], columns: Mapping[str, Column]
) -> list[AttributeRange]:
    """The limits of one attribute, which then is the position; all others wait for the pairs.

    Times first: archives are ordered by them. Then the attribute with the most limits.
    """
    usable = [limit for limit in ranges if _exact(limit, columns[limit.attribute])]
    if not usable:
        return []
    names = [limit.attribute for limit in usable]
    best = max(names, key=lambda name: (columns[name].kind == "time", names.count(name)))
    return [limit for limit in usable if limit.attribute == best]


def _window(limits: Sequence[AttributeRange]) -> Window:
    """The narrowest that they leave; no end of it is further away than positions can be."""
    lows = [min(each.low + each.low_strict, _FAR) for each in limits if each.low is not None]
    highs = [max(each.high - each.high_strict, -_FAR) for each in limits if each.high is not None]
    low, high = max(lows, default=-_FAR - 1), min(highs, default=_FAR + 1)
    return None if low < -_FAR else low, None if high > _FAR else high


def _exact(limit: AttributeRange, column: Column) -> bool:
    """Whether whole positions decide it just as the values do."""
    if column.kind == "time" or _is_whole(column):
        return True
    ordered = column.kind == "text" or (
        limit.low in (None, 0) and limit.high in (None, 0) and not np.isinf(column.values).any()
    )
    return limit.plain and ordered


def _is_whole(column: Column) -> bool:
    if column.kind != "number":
        return False
    known = column.values[column.known]
    return bool(((np.abs(known) <= _WHOLE) & (np.trunc(known) == known)).all())


def _places(column: Column) -> Codes:
    """Values as whole numbers: themselves, or else their order; missing ones are masked."""
    if column.kind == "text":
        return ranks(column, column)[0][column.values]
    if column.kind == "time" or _is_whole(column):
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


def meetings(pushdown: Pushdown, block: int = 1 << 20) -> Iterator[tuple[Codes, Codes]]:
    """The pairs i != j that meet, for an alternative without a bound whose attributes are two.

    (Of one attribute, the join does it by partition.) Blocks of about so many pairs; bound and
    residual are not looked at, all else is.
    """
    assert pushdown.meet is not None
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
