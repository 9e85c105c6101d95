from __future__ import annotations

from pathlib import Path

import pytest

from asof.frontier.queue import Frontier
from asof.frontier.states import TRANSITIONS, Event, State
from asof.ledger import Ledger
from asof.model import Target

HOST = "example.org"


@pytest.fixture
def frontier(tmp_path: Path):
    ledger = Ledger(tmp_path / "asof.db", writable=True)
    ledger.begin()
    yield Frontier(ledger, 1)
    ledger.rollback()
    ledger.close()


def url(path: str) -> str:
    return f"https://{HOST}/{path}"


def test_breadth_first_then_by_discovery(frontier: Frontier):
    frontier.add([Target(url("deep"), 2, priority=2.0)])
    frontier.add([Target(url("b"), 1, priority=1.0), Target(url("a"), 1, priority=1.0)])
    order = []
    while (target := frontier.next(HOST, now=0)) is not None:
        order.append(target.url)
        frontier.settle(target, Event.CAPTURED)
    assert order == [url("b"), url("a"), url("deep")]
    assert frontier.tally == {
        State.QUEUED: 0, State.DONE: 3, State.FAILED: 0, State.LEFT_OUT: 0,
    }  # fmt: skip


def test_a_url_is_queued_once_in_a_crawl(frontier: Frontier):
    assert frontier.add([Target(url("a")), Target(url("a"), 5)]) == [HOST]
    assert frontier.add([Target(url("a"))]) == []
    assert frontier.tally[State.QUEUED] == 1


def test_a_stumble_waits_and_counts(frontier: Frontier):
    frontier.add([Target(url("a"))])
    target = frontier.next(HOST, now=0)
    assert target is not None
    frontier.settle(target, Event.STUMBLED, reason="timeout", not_before=50)
    assert frontier.next(HOST, now=49) is None
    assert frontier.due(HOST) == 50
    again = frontier.next(HOST, now=50)
    assert again is not None
    assert again.tries == 1
    frontier.settle(again, Event.GIVEN_UP, reason="timeout")
    assert frontier.due(HOST) is None
    assert frontier.reasons() == {"timeout": 1}


def test_what_is_put_back_comes_next(frontier: Frontier):
    frontier.add([Target(url("a")), Target(url("b"))])
    target = frontier.next(HOST, now=0)
    assert target is not None
    frontier.put_back(target)
    assert frontier.next(HOST, now=0) == target


def test_what_is_left_out_is_never_fetched_but_reported(frontier: Frontier):
    frontier.leave_out([(Target(url("x")), "other host"), (Target(url("y")), "other host")])
    assert frontier.next(HOST, now=0) is None
    assert frontier.reasons() == {"other host": 2}
    assert list(frontier.hosts()) == []


def test_what_was_too_deep_is_queued_when_it_is_found_nearer(frontier: Frontier):
    frontier.leave_out([(Target(url("x"), depth=3), "deeper than 2")])
    assert frontier.add([Target(url("x"), depth=3)]) == []
    assert frontier.add([Target(url("x"), depth=2)]) == [HOST]
    found = frontier.next(HOST, now=0)
    assert found is not None
    assert found.depth == 2
    assert (frontier.tally[State.QUEUED], frontier.tally[State.LEFT_OUT]) == (1, 0)


def test_an_adopted_capture_settles_an_unknown_target(frontier: Frontier):
    frontier.settle(Target(url("new")), Event.CAPTURED)
    assert frontier.tally[State.DONE] == 1
    assert frontier.add([Target(url("new"))]) == []


def test_every_final_state_stays_final_except_by_a_capture():
    for (before, event), after in TRANSITIONS.items():
        if before is not State.QUEUED:
            assert event is Event.CAPTURED
            assert after is State.DONE
