"""Crawls as rows of the ledger: what is read of them, and how one is entered."""

import json
from dataclasses import asdict
from typing import Any

from asof.model import CoherencePlan, Crawl, CrawlState
from asof.warc.file_names import IMPORTED

_COLUMNS = ("id", "seeds", "started", "state", "ended", "settings", "note", "course")
_CHANGES = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS[1:-1])
_OTHERS = f"min(substr(file, instr(file, '-') + 1) GLOB '{IMPORTED}*')"  # all are by others
_FILES = f"(SELECT crawl, {_OTHERS} AS others FROM segments GROUP BY crawl) ON crawl = no"
# First those of others, then ours, which have a file of ours or none yet; oldest first.
ALL = (
    f"SELECT {', '.join(_COLUMNS)}, ifnull(others, 0) AS imported "
    f"FROM crawls LEFT JOIN {_FILES} ORDER BY imported DESC, started, id"
)
# A turning point stays: a file that was begun after it may speak of the time before it.
PUT = (
    f"INSERT INTO crawls ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) "
    f"ON CONFLICT (id) DO UPDATE SET {_CHANGES}, "
    "course = CASE WHEN json_extract(course, '$.turn') IS NOT NULL AND "
    "json_extract(excluded.course, '$.turn') IS NULL THEN course ELSE excluded.course END"
)


def crawl_of(row: tuple[Any, ...]) -> Crawl:
    crawl_id, seeds, started, state, ended, settings, note, course, imported = row
    plan = None if course is None else CoherencePlan(**json.loads(course))
    seeds, state, settings = tuple(json.loads(seeds)), CrawlState(state), json.loads(settings)
    return Crawl(crawl_id, seeds, started, state, ended, settings, note, plan, bool(imported))


def row_of(crawl: Crawl) -> tuple[object, ...]:
    plan = crawl.coherence_plan
    return (
        crawl.id, json.dumps(crawl.seeds), crawl.started, crawl.state.value, crawl.ended,
        json.dumps(crawl.settings), crawl.note, plan and json.dumps(asdict(plan)),
    )  # fmt: skip
