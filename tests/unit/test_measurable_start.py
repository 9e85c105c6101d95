"""The moment of reference of a measurable crawl is its start, audits or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from asof.clock import SECOND
from support.made_up_web import A, Web, turn


@pytest.mark.parametrize("audit", [True, False])
def test_the_first_answer_is_the_start(tmp_path: Path, audit: bool) -> None:
    web, folder = Web(), tmp_path / "archive"
    web.fan(A, 3)
    web.crawl(folder, A, coherence="off")
    web.asked.clear()
    web.crawl(folder, A, coherence="measurable", plan="lifo", audit=audit)
    pages = [each for each in web.asked if "robots" not in each.path]
    assert pages[0].conditional is not audit
    assert (turn(folder) - web.clock.start) / SECOND == pytest.approx(pages[0].start, abs=1e-4)
