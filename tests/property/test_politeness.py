from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from asof.frontier.hosts import Hosts, Pace

steps = st.lists(
    st.tuples(
        st.sampled_from(["want", "take", "release"]),
        st.sampled_from("abcd"),
        st.floats(0, 50),
    ),
    max_size=200,
)


@given(steps)
def test_no_host_is_taken_inside_its_delay_or_twice_at_once(
    script: list[tuple[str, str, float]],
) -> None:
    """The law of politeness, over any order of events."""
    hosts = Hosts()
    now = 0.0
    busy: dict[str, None] = {}
    not_before: dict[str, float] = {}
    for action, host, amount in script:
        now += amount / 10
        if action == "want":
            hosts.want(host, now)
        elif action == "take":
            taken = hosts.take(now)
            if taken is not None:
                assert taken not in busy
                assert now >= not_before.get(taken, 0.0)
                busy[taken] = None
        elif busy:
            freed, _ = busy.popitem()
            not_before[freed] = now + amount
            hosts.release(freed, now + amount)


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 100)), min_size=1))
def test_every_wanted_host_is_taken_once_its_time_has_come(wants: list[tuple[str, float]]) -> None:
    hosts = Hosts()
    for host, at in wants:
        hosts.want(host, at)
    taken = []
    while (host := hosts.take(100.0)) is not None:  # type: ignore[assignment]
        taken.append(host)
    assert sorted(taken) == sorted({host for host, _ in wants})
    assert hosts.next_due() is None


@given(
    st.floats(0, 10),
    st.floats(0, 3),
    st.floats(0, 100),
    st.none() | st.floats(0, 1e6),
    st.none() | st.floats(0, 1e6),
)
def test_a_pace_is_never_below_the_floor_nor_above_the_cap(
    delay: float, factor: float, took: float, crawl_delay: float | None, retry: float | None
) -> None:
    wait = Pace(delay, factor, cap=60.0).wait(took, crawl_delay, retry)
    assert delay <= wait <= max(delay, 60.0)
    if crawl_delay is not None:
        assert wait >= min(crawl_delay, 60.0)
