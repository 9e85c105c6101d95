"""The queue: what is learnt, written and given out, in that order."""

from __future__ import annotations

import pytest

from asof.frontier.queue import Frontier, apply, queue_revisits, queued_revisits, settle_revisit
from asof.frontier.report import reasons, tally
from asof.frontier.states import Event, TargetState
from asof.ledger import Ledger, url_key
from asof.model import Target

HOST = "example.org"


@pytest.fixture
def frontier(ledger: Ledger) -> Frontier:
    return Frontier(ledger, 1)


def url(path: str) -> str:
    return f"https://{HOST}/{path}"


def commit(frontier: Frontier) -> dict[str, int]:
    """Write what was learnt, as the writer does; gives the hosts that may have something."""
    changes = frontier.take_changes()
    with frontier._ledger.transaction():
        outcome = apply(frontier._ledger, changes)
    return frontier.applied(changes, outcome)


def test_breadth_first_then_by_discovery(frontier: Frontier) -> None:
    frontier.add([Target(url("deep"), 2, priority=2.0)])
    frontier.add([Target(url("b"), 1, priority=1.0), Target(url("a"), 1, priority=1.0)])
    assert commit(frontier) == {HOST: 0}
    order = []
    while (target := frontier.next(HOST, now=0)) is not None:
        order.append(target.url)
        frontier.settle(target, Event.CAPTURED)
    assert order == [url("b"), url("a"), url("deep")]
    commit(frontier)
    expected = {
        TargetState.QUEUED: 0,
        TargetState.DONE: 3,
        TargetState.FAILED: 0,
        TargetState.LEFT_OUT: 0,
    }
    assert frontier.tally == expected
    frontier.recount()
    assert frontier.tally == expected


def test_what_is_found_is_given_out_once_it_is_committed(frontier: Frontier) -> None:
    frontier.add([Target(url("a"))])
    assert frontier.next(HOST, now=0) is None
    assert frontier.awaits(HOST)
    commit(frontier)
    assert not frontier.awaits(HOST)
    assert frontier.next(HOST, now=0) == Target(url("a"))


def test_a_url_is_queued_once_in_a_crawl(frontier: Frontier) -> None:
    frontier.add([Target(url("a")), Target(url("a"), 5)])
    commit(frontier)
    frontier.add([Target(url("a"))])
    commit(frontier)
    assert frontier.tally[TargetState.QUEUED] == 1


def test_what_is_given_out_is_not_given_out_again_before_it_is_settled(frontier: Frontier) -> None:
    """The settlement of a target may be on its way to the disk while the queue is read again."""
    frontier.add([Target(url("a")), Target(url("b"))])
    commit(frontier)
    first = frontier.next(HOST, now=0)
    assert first is not None
    frontier._buffers.clear()
    frontier._dry.clear()
    second = frontier.next(HOST, now=0)
    assert second is not None
    assert {first.url, second.url} == {url("a"), url("b")}
    frontier._buffers.clear()
    frontier._dry.clear()
    frontier.settle(first, Event.CAPTURED)
    assert frontier.next(HOST, now=0) is None
    assert frontier.due(HOST, now=0) is None
    commit(frontier)
    assert frontier.due(HOST, now=0) is None


def test_a_stumble_waits_and_counts(frontier: Frontier) -> None:
    frontier.add([Target(url("a"))])
    commit(frontier)
    target = frontier.next(HOST, now=0)
    assert target is not None
    frontier.settle(target, Event.STUMBLED, reason="timeout", not_before=50)
    assert commit(frontier) == {HOST: 50}
    assert frontier.next(HOST, now=49) is None
    assert frontier.due(HOST, now=49) == 50
    again = frontier.next(HOST, now=50)
    assert again is not None
    assert again.tries == 1
    frontier.settle(again, Event.GIVEN_UP, reason="timeout")
    commit(frontier)
    assert frontier.due(HOST, now=50) is None
    assert reasons(frontier._ledger, 1) == {"timeout": 1}


def test_what_is_put_back_comes_next(frontier: Frontier) -> None:
    frontier.add([Target(url("a")), Target(url("b"))])
    commit(frontier)
    target = frontier.next(HOST, now=0)
    assert target is not None
    frontier.put_back(target)
    assert frontier.next(HOST, now=0) == target


def test_what_is_left_out_is_never_fetched_but_reported(frontier: Frontier) -> None:
    frontier.leave_out([(Target(url("x")), "other host"), (Target(url("y")), "other host")])
    commit(frontier)
    assert frontier.next(HOST, now=0) is None
    assert reasons(frontier._ledger, 1) == {"other host": 2}
    assert frontier.hosts() == []
    assert frontier.tally[TargetState.LEFT_OUT] == 2


def test_what_a_rule_left_out_is_queued_when_it_is_found_where_no_rule_is_against_it(
    frontier: Frontier,
) -> None:
    """Too deep there and near enough here; or out as a link, and in as a part of a page."""
    frontier.leave_out([(Target(url("x"), depth=3), "deeper than 2")])
    commit(frontier)
    frontier.add([Target(url("x"), depth=2)])
    commit(frontier)
    found = frontier.next(HOST, now=0)
    assert found is not None
    assert found.depth == 2
    assert (frontier.tally[TargetState.QUEUED], frontier.tally[TargetState.LEFT_OUT]) == (1, 0)


def test_what_was_refused_for_what_it_is_stays_left_out(frontier: Frontier) -> None:
    frontier.add([Target(url("x"))])
    commit(frontier)
    target = frontier.next(HOST, now=0)
    assert target is not None
    frontier.settle(target, Event.REFUSED, reason="robots.txt")
    commit(frontier)
    frontier.add([Target(url("x"))])
    commit(frontier)
    assert frontier.next(HOST, now=1) is None
    assert reasons(frontier._ledger, 1) == {"robots.txt": 1}


def test_an_adopted_capture_settles_an_unknown_target(frontier: Frontier) -> None:
    frontier.settle(Target(url("new")), Event.CAPTURED)
    commit(frontier)
    assert frontier.tally[TargetState.DONE] == 1
    assert frontier.tally[TargetState.QUEUED] == 0
    frontier.add([Target(url("new"))])
    commit(frontier)
    assert frontier.tally[TargetState.QUEUED] == 0


def test_an_exclusion_spares_what_is_in_flight(frontier: Frontier, ledger: Ledger) -> None:
    frontier.add([Target(url("bad/1")), Target(url("bad/2")), Target(url("good"))])
    commit(frontier)
    flying = frontier.next(HOST, now=0)
    assert flying is not None
    assert flying.url == url("bad/1")
    told: list[bool] = []
    moved = frontier.exclude(lambda u: "/bad/" in u, "excluded by bad", lambda: told.append(True))
    assert (moved, told) == (1, [True])
    assert frontier.next(HOST, now=0) == Target(url("good"))
    assert frontier.next(HOST, now=0) is None
    frontier.settle(flying, Event.CAPTURED)
    commit(frontier)
    assert reasons(frontier._ledger, 1) == {"excluded by bad": 1}
    assert frontier.tally[TargetState.DONE] == 1


def test_keys_fit_the_database_and_tell_urls_apart() -> None:
    keys = {url_key(url(str(number))) for number in range(10_000)}
    assert len(keys) == 10_000
    assert all(-(1 << 63) <= key < 1 << 63 for key in keys)


def guess(path: str) -> Target:
    return Target(url(path), 1, None, "X", 1.0, guess=True)


def test_guesses_come_after_all_others_however_deep_those_are(frontier: Frontier) -> None:
    """A link at depth 500 is still a link, and many more fetched pages may lie before a guess."""
    frontier.add([guess("guess"), Target(url("deep"), 500, None, "L" * 500, 500.0)])
    commit(frontier)
    first = frontier.next(HOST, now=0)
    assert first is not None
    assert (first.url, first.guess) == (url("deep"), False)
    frontier.settle(first, Event.CAPTURED)
    commit(frontier)
    assert frontier.next(HOST, now=0) == guess("guess")


def test_links_from_depth_500_on_are_read_together(frontier: Frontier) -> None:
    deep = [Target(url(str(n)), 500 + n, None, "L" * (500 + n), 500.0 + n) for n in range(3)]
    frontier.add(deep)
    commit(frontier)
    assert frontier.next(HOST, now=0) == deep[0]
    frontier.add([Target(url("other"))])  # not in the database yet
    assert frontier.next(HOST, now=0) == deep[1]


def test_a_guess_that_is_held_back_is_not_due(frontier: Frontier) -> None:
    """The crawl would ask for it for ever: it never waits for what it has just been promised."""
    frontier.add([guess("guess"), Target(url("busy"))])
    commit(frontier)
    busy = frontier.next(HOST, now=0)
    assert busy is not None
    frontier.settle(busy, Event.STUMBLED, reason="status 503", not_before=50)
    commit(frontier)
    frontier.add([Target(url("found"))])
    assert frontier.next(HOST, now=1) is None
    assert frontier.due(HOST, now=1) == 50
    commit(frontier)
    order = []
    while (target := frontier.next(HOST, now=60)) is not None:
        order.append(target.url)
        frontier.settle(target, Event.CAPTURED)
        commit(frontier)
    assert sorted(order[:2]) == [url("busy"), url("found")]
    assert order[2:] == [url("guess")]


def test_a_guess_that_waits_is_due_again_when_nothing_is_awaited(frontier: Frontier) -> None:
    frontier.add([guess("guess")])
    commit(frontier)
    target = frontier.next(HOST, now=0)
    assert target is not None
    frontier.settle(target, Event.STUMBLED, reason="timeout", not_before=50)
    commit(frontier)
    frontier.add([Target(url("found"))])
    assert frontier.due(HOST, now=1) is None
    commit(frontier)
    found = frontier.next(HOST, now=1)
    assert found is not None
    frontier.settle(found, Event.CAPTURED)
    commit(frontier)
    assert frontier.due(HOST, now=1) == 50


class TestRevisits:
    @pytest.fixture
    def visited(self, frontier: Frontier, ledger: Ledger) -> Frontier:
        """A crawl of three pages, which are to be looked at again in another order."""
        frontier.add([Target(url(name)) for name in "abc"])
        commit(frontier)
        while (target := frontier.next(HOST, now=0)) is not None:
            frontier.settle(target, Event.CAPTURED)
        commit(frontier)
        queue_revisits(ledger, 1, {url("c"): 1 / 3, url("a"): 2 / 3, url("b"): 1.0})
        return frontier

    def test_they_have_a_queue_of_their_own(self, visited: Frontier, ledger: Ledger) -> None:
        assert visited.next(HOST, now=0) is None
        visited.serve(revisits=True)
        assert (visited.revisits, visited.tally[TargetState.QUEUED]) == (True, 3)
        order = []
        while (target := visited.next(HOST, now=0)) is not None:
            order.append(target.url)
            visited.settle(target, Event.CAPTURED)
        commit(visited)
        assert order == [url("c"), url("a"), url("b")]
        assert tally(ledger, 1, revisits=True)[TargetState.DONE] == 3
        assert tally(ledger, 1)[TargetState.DONE] == 3
        assert visited.done_by_host() == {HOST: 3}

    def test_what_is_found_meanwhile_is_a_visit(self, visited: Frontier, ledger: Ledger) -> None:
        visited.serve(revisits=True)
        visited.add([Target(url("new"))])
        commit(visited)
        assert visited.tally[TargetState.QUEUED] == 3
        assert tally(ledger, 1)[TargetState.QUEUED] == 1
        visited.serve()
        assert visited.next(HOST, now=0) == Target(url("new"))

    def test_what_is_settled_after_a_crash_is_not_asked_for_again(
        self, visited: Frontier, ledger: Ledger
    ) -> None:
        assert [each.url for each in queued_revisits(ledger, 1)] == [url(x) for x in "cab"]
        settle_revisit(ledger, 1, url("a"))
        assert [each.url for each in queued_revisits(ledger, 1)] == [url(x) for x in "cb"]

    def test_an_exclusion_reaches_both_queues(self, visited: Frontier, ledger: Ledger) -> None:
        visited.add([Target(url("an-apple"))])
        commit(visited)
        visited.serve(revisits=True)
        flying = visited.next(HOST, now=0)
        assert flying is not None
        moved = visited.exclude(lambda found: "/a" in found or "/c" in found, "no", lambda: None)
        assert moved == 1  # a; c is in flight
        assert tally(ledger, 1)[TargetState.LEFT_OUT] == 1
        assert tally(ledger, 1, revisits=True)[TargetState.LEFT_OUT] == 1
