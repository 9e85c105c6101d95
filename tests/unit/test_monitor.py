"""What a crawl tells and hears: snapshots now and then, events, orders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from asof.archive import OpenArchive
from asof.crawl.assignment import URLS
from asof.crawl.control import Act, Control, Order, running, send_order
from asof.crawl.events import EventLog
from asof.crawl.monitor import Monitor, monitoring
from asof.crawl.summary import Snapshot, Summary
from asof.model import Target
from asof.testing import SimulatedClock
from support.exchanges import CRAWL, answer, failure

URL = "http://a.example/"
SNAPSHOT = Snapshot(1.0, 10, 0, 0, 5, 999, 1, URL)


@pytest.fixture
def archive(tmp_path: Path, clock: SimulatedClock) -> Iterator[OpenArchive]:
    with OpenArchive.write(tmp_path / "archive", purpose="test", clock=clock) as made:
        made.catalog.put_crawl(CRAWL)
        yield made


def log_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_snapshot_is_due_at_once_and_then_four_times_a_second(
    tmp_path: Path, clock: SimulatedClock
) -> None:
    seen: list[Snapshot] = []
    monitor = Monitor(EventLog(tmp_path / "log", clock), seen.append)
    for _ in range(20):
        if monitor.due(clock.monotonic()):
            monitor.report(SNAPSHOT, clock.monotonic())
        clock.jump(seconds=0.1)
    assert len(seen) == 7
    assert replace(seen[0], rate_now=0.0) == SNAPSHOT


def test_a_snapshot_has_what_came_last(tmp_path: Path, clock: SimulatedClock) -> None:
    """An answer with its status, a failure with none; and how fast it goes now."""
    seen: list[Snapshot] = []
    monitor = Monitor(EventLog(tmp_path / "log", clock), seen.append)
    monitor.report(replace(SNAPSHOT, captured=0), clock.monotonic())
    monitor.fetched(Target(URL), answer(URL, status=404), revisit=False, page=False)
    monitor.failed(Target(URL + "a"), failure(URL + "a"))
    clock.jump(seconds=5)
    monitor.report(SNAPSHOT, clock.monotonic())
    assert seen[-1].recent == ((404, URL), (0, URL + "a"))
    assert seen[-1].rate_now == 2.0


def test_without_control_there_are_no_orders(tmp_path: Path, clock: SimulatedClock) -> None:
    monitor = Monitor(EventLog(tmp_path / "log", clock))
    assert not monitor.controlled
    assert monitor.orders() == []
    monitor.obeyed(Order("1", 0, Act.PAUSE), "paused")
    monitor.report(SNAPSHOT, 0.0)


def test_an_order_that_was_obeyed_is_told_at_once(
    archive: OpenArchive, clock: SimulatedClock
) -> None:
    """To the log, to whoever watches, and to the command that waits for it."""
    control = Control(archive.folder, clock, CRAWL.id)
    path = archive.folder.root / "log"
    events = EventLog(path, clock)
    monitor = Monitor(events, None, control)
    assert monitor.controlled
    monitor.report(SNAPSHOT, clock.monotonic())
    sent = send_order(archive.folder, clock, Act.EXCLUDE, "/x")
    clock.jump(seconds=0.24)
    assert monitor.orders() == [sent]
    assert not monitor.due(clock.monotonic())
    monitor.obeyed(sent, "3 queued URLs left out")
    assert monitor.due(clock.monotonic())
    monitor.report(SNAPSHOT, clock.monotonic())
    status = running(archive.folder)
    assert status is not None
    assert status.did(sent) == "3 queued URLs left out"
    events.close()
    [entry] = log_of(path)
    assert (entry["event"], entry["pattern"]) == ("excluded", "/x")
    control.close()


def test_the_log_is_written_while_nothing_happens(tmp_path: Path, clock: SimulatedClock) -> None:
    """Asking whether a snapshot is due is enough."""
    path = tmp_path / "log"
    monitor = Monitor(EventLog(path, clock))
    monitor.events.write("started")
    assert not path.exists()
    clock.jump(seconds=2)
    monitor.due(clock.monotonic())
    assert [entry["event"] for entry in log_of(path)] == ["started"]


def test_a_run_is_logged_from_its_start_to_its_end(archive: OpenArchive) -> None:
    """And its files are closed, whatever happens in between."""
    talked: list[str] = []
    with monitoring(
        archive, CRAWL, watch=lambda s: None, talk=talked.append, controlled=True
    ) as monitor:
        monitor.report(SNAPSHOT, 0.0)
        assert running(archive.folder) is not None
        exchange = answer(URL, b"page", truncated="length")
        monitor.fetched(Target(URL, 1, URL, "L"), exchange, revisit=True, page=True)
        monitor.failed(Target(URL + "a", tries=1), failure(URL + "a"))
        monitor.events.write("ended", **asdict(Summary(1, 1, 0, 0, 4, 1.0, "done", {"timeout": 1})))
    assert running(archive.folder) is None
    assert talked == []
    entries = log_of(archive.folder.root / "logs" / f"{CRAWL.id}.jsonl")
    assert [entry["event"] for entry in entries] == ["started", "fetched", "failed", "ended"]
    started, fetched, failed, ended = entries
    assert started["seeds"] == list(CRAWL.seeds)
    assert (fetched["revisit"], fetched["truncated"], fetched["bytes"]) == (True, "length", 4)
    assert (failed["reason"], failed["tries"]) == ("timeout", 2)
    assert (ended["ended_by"], ended["reasons"]) == ("done", {"timeout": 1})


def test_a_run_that_ends_in_an_error_lets_go_as_well(archive: OpenArchive) -> None:
    def fail() -> None:
        with monitoring(
            archive, CRAWL, watch=lambda s: None, talk=lambda line: None, controlled=True
        ) as monitor:
            monitor.report(SNAPSHOT, 0.0)
            raise KeyError("a test")

    with pytest.raises(KeyError):
        fail()
    assert running(archive.folder) is None
    entries = log_of(archive.folder.root / "logs" / f"{CRAWL.id}.jsonl")
    assert [entry["event"] for entry in entries] == ["started"]


def test_pages_of_the_assignment_are_listed_as_they_come(archive: OpenArchive) -> None:
    """Pages only, and only for the preset that asks for the list."""
    for preset in (None, "assignment"):
        crawl = replace(CRAWL, settings={"preset": preset})
        with monitoring(
            archive, crawl, watch=lambda s: None, talk=lambda line: None, controlled=False
        ) as monitor:
            monitor.fetched(Target(URL), answer(URL), revisit=False, page=True)
            monitor.fetched(Target(URL + "i"), answer(URL + "i"), revisit=False, page=False)
        path = next(archive.folder.root.parent.glob(f"**/{URLS}"), None)
        if preset is None:
            assert path is None
        else:
            assert path is not None
            assert path.read_text().split() == [URL]
