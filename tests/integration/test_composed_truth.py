"""Composed pages against the truth: nothing is called proven that was not, and more were so.

A small one of `bench/composition.py`: pages with parts that change, crawled several times.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from asof.api import Archive
from asof.replay.choose import HOLDING, Policy, Verdict
from support.composed import ComposedSite, Score, crawled, moments, scores


@pytest.fixture(scope="module", params=[2, 4])
def found(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[Policy, Score]:
    crawls: int = request.param
    folder: Path = tmp_path_factory.mktemp("web") / "archive"
    site = ComposedSite(seed=crawls, roots=16, laps=crawls * 1.6 + 1)
    web = crawled(site, folder, crawls)
    with Archive.open(folder, clock=web.clock) as archive:
        return scores(site, archive, list(moments(site, 7, 4, web.clock.now())))


def test_what_holds_the_moment_stood_then(found: dict[Policy, Score]) -> None:
    for score in found.values():
        assert score.verdicts[Verdict.PROVEN] > score.pages
        assert {verdict: score.wrong[verdict] for verdict in HOLDING if score.wrong[verdict]} == {}
        # What is called violated was indeed not there.
        assert score.wrong[Verdict.VIOLATED] == score.verdicts[Verdict.VIOLATED]


def test_more_pages_were_so_than_by_nearness(found: dict[Policy, Score]) -> None:
    coherent, nearest, strict = (
        found[each] for each in (Policy.COHERENT, Policy.NEAREST, Policy.STRICT)
    )
    assert coherent.then >= nearest.then
    assert coherent.false <= nearest.false
    assert strict.then >= coherent.then
    assert strict.false <= coherent.false
    assert nearest.holes == 0 <= coherent.holes <= strict.holes
