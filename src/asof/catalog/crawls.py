"""Crawls and segments: who wrote what is in the archive, and which files hold it."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

from asof.catalog.rows import fetch, translated
from asof.ledger import Ledger
from asof.model import CoherencePlan, Crawl, CrawlState, Segment

_CRAWLS = "SELECT id, seeds, started, state, ended, settings, note, course FROM crawls"
_NUMBERED = re.compile(r"([0-9]+)-")


class Runs:
    """The `crawls` and `segments` tables. What is written joins an open transaction."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def crawls(self) -> list[Crawl]:
        """All crawls, oldest first."""
        return [_crawl(row) for row in fetch(self._ledger, f"{_CRAWLS} ORDER BY started, id")]

    def crawl(self, crawl_id: str) -> Crawl | None:
        """The crawl of that id."""
        rows = fetch(self._ledger, f"{_CRAWLS} WHERE id = ?", [crawl_id])
        return _crawl(rows[0]) if rows else None

    def crawl_no(self, crawl_id: str) -> int:
        """The number of a crawl in the ledger; a KeyError when it was never put."""
        found = fetch(self._ledger, "SELECT no FROM crawls WHERE id = ?", [crawl_id])
        if not found:
            raise KeyError(crawl_id)
        return int(found[0][0])

    def put_crawl(self, crawl: Crawl) -> None:
        """Enter a crawl, or what has changed about it.

        A turning point stays: a file that was begun after it may speak of the time before it.
        """
        with self._ledger.transaction() as db, translated(self._ledger):
            db.execute(
                "INSERT INTO crawls (id, seeds, started, ended, state, settings, note, course) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                "seeds = excluded.seeds, started = excluded.started, ended = excluded.ended, "
                "state = excluded.state, settings = excluded.settings, note = excluded.note, "
                "course = CASE WHEN json_extract(course, '$.turn') IS NOT NULL AND "
                "json_extract(excluded.course, '$.turn') IS NULL THEN course "
                "ELSE excluded.course END",
                (
                    crawl.id,
                    json.dumps(crawl.seeds),
                    crawl.started,
                    crawl.ended,
                    crawl.state.value,
                    json.dumps(crawl.settings),
                    crawl.note,
                    None
                    if crawl.coherence_plan is None
                    else json.dumps(asdict(crawl.coherence_plan)),
                ),
            )

    def memory(self, crawl_id: str) -> str:
        """What an interrupted crawl wanted to remember; empty when it left nothing."""
        found = fetch(self._ledger, "SELECT memory FROM crawls WHERE id = ?", [crawl_id])
        return str(found[0][0]) if found else ""

    def put_memory(self, crawl_id: str, memory: str) -> None:
        """Leave a text for the resumption of a crawl."""
        with self._ledger.transaction() as db, translated(self._ledger):
            db.execute("UPDATE crawls SET memory = ? WHERE id = ?", (memory, crawl_id))

    def segments(self) -> list[Segment]:
        """All segments, in the order of their numbers."""
        rows = fetch(
            self._ledger,
            "SELECT s.file, s.committed, k.id, s.sealed FROM segments s "
            "LEFT JOIN crawls k ON k.no = s.crawl ORDER BY s.no",
        )
        return [Segment(file, size, crawl, bool(sealed)) for file, size, crawl, sealed in rows]

    def segment_no(self, file: str) -> int:
        """The number of a segment; a KeyError when it was never put."""
        found = fetch(self._ledger, "SELECT no FROM segments WHERE file = ?", [file])
        if not found:
            raise KeyError(file)
        return int(found[0][0])

    def next_segment_no(self) -> int:
        """The number after the highest in use."""
        return int(fetch(self._ledger, "SELECT coalesce(max(no), 0) + 1 FROM segments")[0][0])

    def put_segment(self, segment: Segment) -> int:
        """Enter a segment, or what has changed about it; its number.

        A new segment takes the number that its file name begins with, if that is free. Its crawl
        has to be put before it (KeyError).
        """
        with self._ledger.transaction() as db, translated(self._ledger):
            crawl = None if segment.crawl is None else self.crawl_no(segment.crawl)
            state = (crawl, segment.committed, segment.sealed, segment.file)
            update = "UPDATE segments SET crawl = ?, committed = ?, sealed = ? WHERE file = ?"
            if not db.execute(update, state).rowcount:
                insert = (
                    "INSERT INTO segments (crawl, committed, sealed, file, no) VALUES (?,?,?,?,?)"
                )
                db.execute(insert, (*state, self._free_no(segment.file)))
            return self.segment_no(segment.file)

    def _free_no(self, file: str) -> int:
        match = _NUMBERED.match(file)
        wanted = int(match[1]) if match else 0
        taken = fetch(self._ledger, "SELECT 1 FROM segments WHERE no = ?", [wanted])
        return wanted if wanted and not taken else self.next_segment_no()


def _crawl(row: tuple[Any, ...]) -> Crawl:
    crawl_id, seeds, started, state, ended, settings, note, coherence_plan = row
    return Crawl(
        crawl_id,
        tuple(json.loads(seeds)),
        started,
        CrawlState(state),
        ended,
        json.loads(settings),
        note,
        None if coherence_plan is None else CoherencePlan(**json.loads(coherence_plan)),
    )
