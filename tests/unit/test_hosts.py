"""Whose turn it is: a host on an errand counts like a host in its turn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asof.frontier.hosts import Hosts


def test_a_claimed_host_is_busy() -> None:
    """For those who take the next in turn, and for others on an errand."""
    hosts = Hosts()
    hosts.want("a", 0.0)
    assert hosts.claim("a", 1.0)
    assert hosts.take(1.0) is None
    assert not hosts.claim("a", 1.0)
    assert len(hosts) == 1
    hosts.want("a", 1.0)
    assert hosts.take(9.0) is None, "options wait until it is released"


def test_a_host_that_is_busy_or_left_alone_cannot_be_claimed() -> None:
    hosts = Hosts()
    hosts.want("a", 0.0)
    assert hosts.take(0.0) == "a"
    assert not hosts.claim("a", 0.0)
    hosts.release("a", 5.0)
    assert not hosts.claim("a", 4.9)
    assert hosts.claim("a", 5.0)


def test_a_host_that_nobody_wanted_can_be_claimed() -> None:
    """robots.txt may redirect to a host of which nothing is queued."""
    hosts = Hosts()
    assert hosts.claim("new", 3.0)
    hosts.release("new", 4.0)
    assert len(hosts) == 0
    assert hosts.next_due() is None
    hosts.want("new", 3.0)
    assert hosts.take(3.9) is None
    assert hosts.take(4.0) == "new"


def test_a_claim_leaves_no_turn_behind() -> None:
    """The turn that was waited for is used up; the next one has to be wanted."""
    hosts = Hosts()
    hosts.want("a", 0.0)
    hosts.want("b", 0.5)
    assert hosts.claim("a", 1.0)
    assert hosts.next_due() == 0.5
    hosts.release("a", 2.0)
    assert hosts.take(9.0) == "b"
    assert hosts.take(9.0) is None


def test_when_a_host_is_due() -> None:
    """By its turn, else by the delay after its last answer, else now."""
    hosts = Hosts()
    assert hosts.due("a", 7.0) == 7.0
    hosts.want("a", 9.0)
    assert hosts.due("a", 7.0) == 9.0
    hosts.take(9.0)
    hosts.release("a", 12.0)
    assert hosts.due("a", 10.0) == 12.0
    hosts.want("a", 10.0)
    assert hosts.due("a", 10.0) == 12.0
    hosts.want("a", 20.0)
    assert hosts.due("a", 10.0) == 12.0, "an earlier wish still holds"


acts = st.sampled_from(["want", "take", "claim", "release"])


@given(st.lists(st.tuples(acts, st.sampled_from("abc"), st.floats(0, 5)), max_size=200))
def test_no_host_is_asked_inside_its_delay_by_errands_either(
    script: list[tuple[str, str, float]],
) -> None:
    """The law of politeness, over any order of turns and errands; and nobody is forgotten."""
    hosts = Hosts()
    now = 0.0
    busy: set[str] = set()
    not_before: dict[str, float] = {}
    wanted: set[str] = set()
    for act, host, amount in script:
        now += amount / 4
        got = None
        if act == "want":
            hosts.want(host, now)
            wanted |= {host} - busy
        elif act == "take":
            got = hosts.take(now)
        elif act == "claim" and hosts.claim(host, now):
            got = host
        elif act == "release" and host in busy:
            busy.discard(host)
            not_before[host] = now + amount
            hosts.release(host, now + amount)
        if got is not None:
            assert got not in busy
            assert now >= not_before.get(got, 0.0)
            busy.add(got)
            wanted.discard(got)
        assert len(hosts) == len(busy) + len(wanted)
    late = now + 100
    taken = set()
    while (host_ := hosts.take(late)) is not None:
        taken.add(host_)
    assert taken == wanted
