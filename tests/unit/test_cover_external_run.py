"""Runs with less memory than their pairs take: the same answer as with enough."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from asof.cover.documents.collection import Collection
from asof.cover.estimate import estimate
from asof.cover.join.join import JoinLimits
from asof.cover.join.pair_spool import PairSpool
from asof.cover.language.columns import number_column, text_column
from asof.cover.question import Question
from asof.cover.run import thin_out
from asof.cover.solve.external import ExternalCover, solve_external
from asof.errors import UsageError
from support.covered import sets_of


def alike(count: int) -> Collection:
    """Documents that share 40 shingles, 20 more with every seventh, and have five of their own."""
    sets = [
        {*range(40), *range(100 + 20 * (n % 7), 120 + 20 * (n % 7)), *range(1000 * n, 1000 * n + 5)}
        for n in range(1, count + 1)
    ]
    columns = {
        "day": number_column([float(n * 37 % 101) for n in range(count)]),
        "host": text_column([f"h{n % 5}" for n in range(count)]),
    }
    names = tuple(map(str, range(count)))
    return Collection(names, columns, sets_of(sets), np.full(count, 65, np.int64))


@pytest.mark.parametrize(
    ("rule", "options"),
    [
        ("C(d1,d2) >= 0.5", Question("")),
        ("C(d1,d2) >= 0.5 and day(d1) <= day(d2)", Question("", prefer="day")),
        ("C(d1,d2) >= 0.9 or J(d1,d2) >= 0.8", Question("", at_least=(3, "host"))),
        ("C(d1,d2) >= 0.5 and not host(d1) = host(d2)", Question("")),
    ],
)
def test_memory_does_not_change_the_answer(
    rule: str, options: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    spooled: list[int] = []

    def watched(spool: PairSpool, **given: Any) -> ExternalCover:
        spooled.append(spool.added)
        return solve_external(spool, **given)

    monkeypatch.setattr("asof.cover.run.solve_external", watched)
    collection = alike(400)
    enough = thin_out(collection, replace(options, relation=rule), JoinLimits())
    assert not spooled
    little = thin_out(collection, replace(options, relation=rule), JoinLimits(memory=100_000))
    assert spooled
    assert spooled[0] >= enough.edges
    assert little.edges == enough.edges
    assert little.optimal
    assert enough.optimal
    assert len(little.kept) == len(enough.kept)
    if options.at_least is None:
        assert little.kept == enough.kept
        assert little.dropped == enough.dropped


def test_the_seeds_solver_says_that_it_needs_memory() -> None:
    with pytest.raises(UsageError, match=r"more than the solver seed .* --memory"):
        thin_out(alike(400), Question("C(d1,d2) >= 0.5", solver="seed"), JoinLimits(memory=100_000))


def test_an_estimate_survives_what_the_run_does() -> None:
    found = estimate(alike(400), "C(d1,d2) >= 0.5", limits=JoinLimits(memory=100_000))
    assert 400 * 399 in found.edges
    assert 1 / 400 in found.kept
