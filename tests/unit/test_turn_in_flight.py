"""The turning point of several hosts lies in nobody's answer."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from asof.archive import OpenArchive
from asof.coherence.certificate import Choice
from asof.coherence.quality import measure_choice
from asof.model import Exchange, Failure, Headers
from support.made_up_web import A, B, Web, turn

LAST = f"{A}9"


class Slow(Web):
    """The page of one host takes long to be made, and changes right after the last visit began."""

    changed_at = 0

    async def fetch(
        self, url: str, headers: Headers = (), judge: object = None
    ) -> Exchange | Failure:
        started = self.clock.now()
        if url == LAST and not self.changed_at:
            self.task_of_change = asyncio.ensure_future(self.change())
        if url == B and not self.changed_at:
            await self.clock.sleep(12.0)
        found = await super().fetch(url, headers, judge)
        return replace(found, started=started)

    async def change(self) -> None:
        await self.clock.sleep(0.01)
        self.changed_at = self.clock.now()
        self.pages[B] += "<p>Something new.</p>"


def test_an_answer_on_its_way_is_no_proof_of_what_was_there_when_the_last_visit_began(
    tmp_path: Path,
) -> None:
    web, folder = Slow(), tmp_path / "archive"
    web.fan(A, 9)
    web.put(B)
    web.crawl(folder, A, B, audit=False)
    with OpenArchive.open(folder) as archive:
        _, measurement = measure_choice(archive, Choice((archive.crawls()[-1].id,)))
    verdict = next(page for page in measurement.pages if page.url == B)
    assert verdict.is_coherent
    assert web.changed_at < turn(folder), "what was stored was not there before it changed"
    assert measurement.c == 1.0, "without a joker all pages are seen twice"
