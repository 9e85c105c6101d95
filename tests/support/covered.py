"""Outcomes of covers over collections that are made up."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from asof.clock import SECOND
from asof.cover.documents.collection import Collection
from asof.cover.documents.sets import Sets
from asof.cover.join.join import JoinLimits
from asof.cover.language.bounds import Bound, Least
from asof.cover.language.columns import Column, text_column, time_column
from asof.cover.question import Question
from asof.cover.run import CoverOutcome, thin_out

START = 1_262_304_000 * SECOND  # 2010-01-01


def collection(sets: list[list[int]], names: list[str], **columns: Column) -> Collection:
    offsets = np.cumsum([0, *map(len, sets)], dtype=np.int64)
    items = np.array([item for each in sets for item in sorted(each)], np.uint64)
    weights = np.array([10 * len(each) for each in sets], np.int64)
    return Collection(tuple(names), columns, Sets(offsets, items), weights)


def covered(found: Collection, relation: str = "C(d1,d2) >= 0.5") -> CoverOutcome:
    return thin_out(found, Question(relation), JoinLimits())


def versions(count: int, each: int) -> CoverOutcome:
    """URLs with some versions, each a part of the next one."""
    places = [(n, version) for n in range(count) for version in range(each)]
    urls = [f"http://a.example/{n}" for n, _ in places]
    return covered(
        collection(
            [[100 * n + item for item in range(2 + version)] for n, version in places],
            [
                f"20100101{version:06d}/{url}"
                for (_, version), url in zip(places, urls, strict=True)
            ],
            url=text_column(urls),
            title=text_column(f"Page {n}" for n, _ in places),
            timestamp=time_column(START + version * SECOND for _, version in places),
        ),
        "C(d1,d2) >= 0.5 and timestamp(d1) <= timestamp(d2)",
    )


def sets_of(sets: Iterable[Iterable[int]]) -> Sets:
    """Any sets of numbers from 0 to 2**64 - 1, as shingles."""
    each = [np.unique(np.array(list(one), np.uint64)) for one in sets]
    offsets = np.cumsum([0, *(one.size for one in each)], dtype=np.int64)
    return Sets(offsets, np.concatenate([np.empty(0, np.uint64), *each]))


def containment(threshold: Fraction | int | str, *, strict: bool = False) -> Bound:
    """C(i, j) >= threshold; a string like "0.7" is taken as it is written."""
    return Bound(contained=Least(Fraction(threshold), strict))
