"""What a plan promises when not every page may be looked at again."""

from __future__ import annotations

from pathlib import Path

import pytest

from asof.crawl import CrawlRequest
from asof.crawl.run import plan_crawl
from support.made_up_web import A, Web

PLANS = ("auto", "optimal", "threshold", "lifo", "fifo")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight pages that hardly change, seen three times."""
    web, found = Web(), tmp_path_factory.mktemp("budget") / "archive"
    web.fan(A, 7)
    for _ in range(3):
        web.crawl(found, A, coherence="off", delay=3.0)
        web.clock.jump(seconds=4000.0)
    return found


@pytest.mark.parametrize("plan", PLANS)
def test_a_page_that_is_not_seen_again_is_not_expected_to_be_coherent(
    folder: Path, plan: str
) -> None:
    def expected(**budget: int) -> float:
        itinerary = plan_crawl(CrawlRequest(folder, (A,), {"delay": 3.0, "plan": plan, **budget}))
        assert itinerary.coherence_plan.expected is not None
        assert itinerary.candidates[plan] == itinerary.coherence_plan.expected
        return itinerary.coherence_plan.expected

    assert expected(revisits=0) == pytest.approx(1 / 8)
    assert expected(revisits=3) <= 4 / 8
    assert expected(revisits=7) == pytest.approx(expected())
