"""Hosts of unlike paces end together, and nobody waits for what is over."""

from __future__ import annotations

from pathlib import Path

import pytest

from asof.cli.view import snapshot_line
from asof.crawl.starts import Starts
from asof.crawl.summary import Snapshot
from support.made_up_web import A, B, Web

LATER = 400.0


@pytest.fixture
def web(tmp_path: Path) -> Web:
    """Two sites that were slow when they were crawled before: twenty seconds a page."""
    found = Web(takes=20.0)
    found.fan(A, 30)
    found.fan(B, 3)
    for _ in range(2):
        found.crawl(tmp_path, A, B, coherence="off", delay=0.0)
        found.clock.jump(seconds=LATER)
    found.asked.clear()
    return found


def begin(web: Web, host: str) -> float:
    return min(each.start for each in web.asked if each.url.startswith(host))


def test_a_host_does_not_wait_for_one_that_has_become_quick(web: Web, tmp_path: Path) -> None:
    web.takes = 0.01
    web.crawl(tmp_path, A, B, delay=0.0, audit=False)
    assert begin(web, B) - begin(web, A) < 5
    assert max(each.end for each in web.asked) - begin(web, A) < 30


def test_a_host_begins_when_those_that_keep_their_pace_need_as_long(
    web: Web, tmp_path: Path
) -> None:
    web.crawl(tmp_path, A, B, delay=0.0, audit=False)
    assert begin(web, B) - begin(web, A) == pytest.approx(27 * 20, abs=25)


def test_paces_that_become_known_move_the_start() -> None:
    starts = Starts.planned({"a": (101, 1.0), "b": (11, 1.0)}, float("inf"))
    assert starts.waits(0.0, None) == {"a": 0.0, "b": 90.0}
    for visit in range(1, 11):
        starts.visited("a", visit * 0.5)  # twice as quick
    assert starts.waits(5.0, None)["b"] == pytest.approx(91 * 0.5 - 11)
    for visit in range(1, 41):
        starts.visited("a", 5 + visit * 4.0)  # and then much slower
    assert starts.waits(165.0, None)["b"] == pytest.approx(51 * 164.5 / 49 - 11)
    for _ in range(51):
        starts.visited("a", 166.0)
    assert starts.waits(166.0, None) == {"b": 0.0}


def test_while_nobody_is_asked_nobody_waits() -> None:
    starts = Starts.planned({"a": (101, 1.0), "b": (11, 1.0), "c": (6, 1.0)}, float("inf"))
    starts.visited("a", 1.0)
    assert starts.waits(1.0, None) == {"b": 89.0, "c": 94.0}
    assert starts.waits(1.0, ["a", "b", "c"]) == {"b": 89.0, "c": 94.0}
    assert starts.waits(1.0, ["b", "c"]) == {"b": 0.0, "c": 5.0}


def test_nobody_waits_beyond_the_end_of_the_visits() -> None:
    starts = Starts.planned({"a": (101, 1.0), "b": (11, 1.0)}, 30.0)
    assert starts.waits(0.0, None) == {"a": 0.0, "b": 19.0}


def test_the_screen_says_what_is_waited_for(web: Web, tmp_path: Path) -> None:
    told: list[str] = []
    report = Snapshot(1.0, 2, 0, 0, 3, 4, 5, waiting="waiting for b.example to begin in 40 s")
    assert snapshot_line(report).endswith(" · waiting for b.example to begin in 40 s")

    def look(url: str) -> None:
        assert web.crawler is not None
        told.append(web.crawler._starts.awaited(web.clock.monotonic()))

    web.happens = look
    web.crawl(tmp_path, A, B, delay=0.0, audit=False)
    assert any("waiting for b.example to begin in" in each for each in told)
    assert not told[-1]
