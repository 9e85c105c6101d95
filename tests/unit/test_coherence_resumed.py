"""A crawl that begins to seek coherence when it is resumed goes on to do so."""

from __future__ import annotations

from pathlib import Path

from asof.archive import OpenArchive
from asof.crawl.loop import INTERRUPTED
from asof.crawl.watch import current_summary
from support.made_up_web import A, Web, seen_twice


def test_a_wish_for_coherence_outlives_the_run_that_had_it(tmp_path: Path) -> None:
    web, folder = Web(), tmp_path / "archive"
    web.fan(A, 5)

    def stop_at(request: int) -> None:
        def happens(url: str) -> None:
            if len(web.asked) == request:
                web.stop()

        web.happens = happens

    stop_at(3)
    assert web.crawl(folder, A, coherence="off").summary.ended_by == INTERRUPTED
    stop_at(9)
    outcome = web.crawl(folder, A, coherence="inducible")
    assert (outcome.summary.ended_by, outcome.resumed) == (INTERRUPTED, True)
    assert outcome.summary.to_revisit
    with OpenArchive.open(folder) as archive:
        told = current_summary(archive, outcome.crawl)
    assert (told.to_revisit, told.ended_by) == (outcome.summary.to_revisit, INTERRUPTED)
    stop_at(-1)
    outcome = web.crawl(folder, coherence=None)
    assert outcome.summary.to_revisit == 0
    visited, again = seen_twice(folder)
    assert sorted(visited) == sorted({*again, visited[-1]})
