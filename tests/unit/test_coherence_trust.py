"""What a host's words are found to be worth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from scipy.stats import beta

from asof.clock import DAY, SECOND
from asof.coherence.host_trust import AUDIT_WINDOW, is_trusted, learn_host_trust, ran_back, skew_of
from asof.coherence.verdict import HostTrust
from asof.model import Capture, Location
from support.captures import plain_capture

HOST = "example.org"
START = 1_700_000_000 * SECOND
HOUR = 3600
SHA256 = "sha256:" + "A" * 52 + "===="


def taken(seconds: float, what: str = "A", /, **more: Any) -> Capture:
    plain = {
        "url": f"http://{HOST}/page",
        "digest": f"sha1:{what}",
        "content": "sha1:" + what * 32,
        "record_id": f"{seconds}-{what}",
    }
    modified = more.pop("modified", None)
    if isinstance(modified, int | float):
        more["last_modified"] = START + round(modified * SECOND)
    return plain_capture(at=START + round(seconds * SECOND), **(plain | more))


def unchanged(seconds: float, original: Capture, **more: Any) -> Capture:
    plain: dict[str, object] = {
        "kind": "revisit",
        "status": 304,
        "profile": "server-not-modified",
        "content": None,
        "digest": original.digest,
        "etag": original.etag,
        "refers_to_url": original.url,
        "refers_to_at": original.at,
        "record_id": f"{seconds}-304",
    }
    return taken(seconds, **(plain | more))


def trust(*captures: Capture, skew: int | None = 0, **how: Any) -> HostTrust:
    [found] = learn_host_trust(captures, {HOST: skew}, **how).values()
    assert found.host == HOST
    return found


# -- dates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("modified", "right", "wrong"),
    [
        (50, 1, 0),  # between the two downloads
        (-1, 1, 0),  # within what seconds and clocks leave open
        (-2, 0, 1),  # something else was seen after that
        (-DAY / SECOND, 0, 1),
        (97.5, 1, 0),
        (99, 0, 0),  # the moment of the download says nothing
        (100, 0, 0),
        (101, 0, 0),
        (HOUR, 0, 0),  # nor does the future
        (-START / SECOND, 0, 0),  # nor the epoch
        (None, 0, 0),
    ],
)
def test_a_change_is_dated_right_if_between_the_downloads_that_saw_it(
    modified: float | None, right: int, wrong: int
) -> None:
    found = trust(taken(0), taken(100, "B", modified=modified))
    assert (found.dates_right, found.dates_wrong) == (right, wrong)
    assert found.doubted == (("http://example.org/page",) if wrong else ())


def test_the_same_content_twice_says_nothing_about_dates() -> None:
    found = trust(taken(0), taken(100, modified=-50))
    assert (found.dates_right, found.dates_wrong) == (0, 0)


@pytest.mark.parametrize(
    "between",
    [
        taken(0, truncated="length"),
        taken(0, status=503),
        taken(0, status=404),
        taken(0, content=SHA256),
        taken(0, kind="metadata"),
    ],
)
def test_only_whole_pages_that_can_be_compared_teach(between: Capture) -> None:
    found = trust(between, taken(100, "B", modified=-50))
    assert (found.dates_right, found.dates_wrong) == (0, 0)


@pytest.mark.parametrize(("skew", "right"), [(HOUR * SECOND, 1), (0, 0), (None, 0)])
def test_dates_are_read_by_the_servers_clock(skew: int | None, right: int) -> None:
    found = trust(taken(0), taken(100, "B", modified=HOUR + 50), skew=skew)
    assert (found.dates_right, found.skew) == (right, skew)


def test_captures_of_a_crawl_whose_clock_ran_back_teach_nothing_about_dates() -> None:
    captures = [
        taken(0, crawl="one", where=Location("file", 2, 1)),
        taken(100, "B", modified=-50, crawl="one", where=Location("file", 1, 1)),
    ]
    assert trust(*captures).dates_wrong == 0
    assert trust(*(replace(capture, crawl=None) for capture in captures)).dates_wrong == 1


def changes(right: int, wrong: int) -> list[Capture]:
    """One URL for each date."""
    return [
        replace(capture, url=f"http://{HOST}/{number}")
        for number in range(right + wrong)
        for capture in (taken(0), taken(100, "B", modified=50 if number < right else -50))
    ]


@pytest.mark.parametrize(("right", "wrong"), [(28, 0), (44, 1), (58, 2), (72, 3)])
def test_a_host_is_trusted_from_so_many_right_dates_on(right: int, wrong: int) -> None:
    assert trust(*changes(right, wrong)).trusts_dates
    assert not trust(*changes(right - 1, wrong)).trusts_dates
    assert not trust(*changes(right, wrong + 1)).trusts_dates


def test_the_rule_is_the_quantile_of_the_posterior() -> None:
    for right in range(0, 90, 3):
        for wrong in range(30):
            low = float(beta.ppf(0.05, 1 + right, 1 + wrong))
            assert is_trusted(right, wrong) == (low >= 0.9), (right, wrong)
    assert is_trusted(1_000_000, 100_000)
    assert not is_trusted(1_000_000, 112_000)
    assert not is_trusted(251, 71), "a host that was wrong 71 times of 322"


def test_dates_are_trusted_as_long_after_them_as_enough_were_seen_to_be_right() -> None:
    """Of files that are dated when they were written and appear later nothing is known sooner."""
    seen = [
        replace(capture, url=f"http://{HOST}/{number}")
        for number in range(40)
        for capture in (taken(0), taken(100, "B", modified=90 - number))
    ]
    found = trust(*seen)
    assert (found.trusts_dates, found.lag) == (True, (10 + 27) * SECOND)
    assert trust(*seen[:56]).lag == (10 + 27) * SECOND
    assert trust(*seen, policy="always").lag == 0


def test_the_user_may_know_better() -> None:
    assert trust(*changes(0, 1), policy="always").trusts_dates
    assert not trust(*changes(50, 0), policy="never").trusts_dates
    assert trust(taken(0), skew=None, policy="always").skew == 0
    assert trust(taken(0), skew=None).skew is None


# -- validators ------------------------------------------------------------------------------------

A = taken(0, etag='"a"')
VALIDATORS: dict[str, tuple[list[Capture], int, int]] = {
    "one strong ETag, one content": ([A, taken(HOUR, etag='"a"')], 1, 0),
    "one strong ETag, two contents": ([A, taken(HOUR, "B", etag='"a"')], 0, 1),
    "one strong ETag, another between": (
        [A, taken(9, "B", etag='"b"'), taken(HOUR, "C", etag='"a"')],
        0,
        1,
    ),
    "one weak ETag, two contents": (
        [taken(0, etag='W/"a"'), taken(HOUR, "B", etag='W/"a"')],
        0,
        0,
    ),
    "an empty ETag": ([taken(0, etag='""'), taken(HOUR, "B", etag='""')], 0, 0),
    "one strong ETag, contents that cannot be compared": (
        [A, taken(HOUR, etag='"a"', content=SHA256)],
        0,
        0,
    ),
    "another ETag on every request": ([A, taken(9, etag='"b"'), taken(19, etag='"c"')], 0, 0),
    "a 304 and the same soon after": ([A, unchanged(HOUR, A), taken(HOUR + 9)], 1, 0),
    "a 304 and the same much later": ([A, unchanged(HOUR, A), taken(9 * HOUR)], 0, 0),
    "a 304 and something else soon after": ([A, unchanged(HOUR, A), taken(HOUR + 9, "B")], 0, 1),
    "a 304 and something else much later": ([A, unchanged(HOUR, A), taken(9 * HOUR, "B")], 0, 0),
    "a 304 and something else after it by date": (
        [A, unchanged(HOUR, A), taken(HOUR + 90, "B", modified=HOUR + 50)],
        0,
        0,
    ),
    "a 304 and something else before it by date": (
        [A, unchanged(HOUR, A), taken(9 * HOUR, "B", modified=HOUR - 50), *changes(28, 0)],
        0,
        1,
    ),
    "a 304 and something else before it by a date that nobody trusts": (
        [A, unchanged(HOUR, A), taken(9 * HOUR, "B", modified=HOUR - 50), *changes(10, 2)],
        0,
        0,
    ),
    "a 304 and something else before it by less than dates are trusted for": (
        [A, unchanged(HOUR, A), taken(9 * HOUR, "B", modified=HOUR - 49), *changes(28, 0)],
        0,
        0,
    ),
    "a 304 about what had been replaced before, in one crawl": (
        [A, taken(60, "B", crawl="x"), unchanged(90, A, crawl="x"), taken(91, "B", crawl="x")],
        0,
        1,
    ),
    "a 304 about what came back in between": (
        [A, taken(60, "B"), unchanged(90, A), taken(9 * HOUR, "B")],
        0,
        0,
    ),
    "a 304 and something else with a date that is false itself": (
        [A, unchanged(HOUR, A), taken(9 * HOUR, "B", modified=-50)],
        0,
        0,
    ),
    "a 304 and something else soon, dated at its download": (
        [A, unchanged(HOUR, A), taken(HOUR + 9, "B", modified=HOUR + 9)],
        0,
        1,
    ),
    "a 304 and an error soon after": (
        [A, unchanged(HOUR, A), taken(HOUR + 9, "B", status=503)],
        0,
        0,
    ),
    "a 304 by a weak ETag and other bytes soon after": (
        [taken(0, etag='W/"a"'), unchanged(HOUR, taken(0, etag='W/"a"')), taken(HOUR + 9, "B")],
        0,
        0,
    ),
    "a 304 by date and something else soon after": (
        [
            taken(0, modified=-HOUR),
            unchanged(HOUR, taken(0), last_modified=START - HOUR * SECOND),
            taken(HOUR + 9, "B"),
        ],
        0,
        1,
    ),
    "the last moment of the window": (
        [A, unchanged(HOUR, A), taken(HOUR + AUDIT_WINDOW / SECOND, "B")],
        0,
        1,
    ),
    "a 304 and something else soon after, but not asked for at once": (
        [A, unchanged(HOUR, A), taken(HOUR + 5, url=f"http://{HOST}/x"), taken(HOUR + 9, "B")],
        0,
        0,
    ),
    "a check of a page that changes all the time": (
        [
            *(taken(200 * n, what) for n, what in enumerate("ABC")),
            taken(600, "D", etag='"d"'),
            unchanged(800, taken(600, "D", etag='"d"')),
            taken(860, "E"),
        ],
        0,
        0,
    ),
    "two 304 and one check": (
        [A, unchanged(HOUR, A), unchanged(HOUR + 30, A), taken(HOUR + 60)],
        2,
        0,
    ),
}


@pytest.mark.parametrize("case", VALIDATORS)
def test_validators(case: str) -> None:
    captures, right, wrong = VALIDATORS[case]
    found = trust(*captures)
    assert (found.validators_right, found.validators_wrong) == (right, wrong)
    assert found.trusts_validators == (wrong == 0)


def test_hosts_are_judged_apart() -> None:
    elsewhere = [
        replace(capture, url="http://example.net/") for capture in (A, taken(HOUR, "B", etag='"a"'))
    ]
    found = learn_host_trust([A, taken(HOUR, etag='"a"'), *elsewhere], {HOST: 7})
    assert list(found) == ["example.net", HOST]
    assert [found[host].trusts_validators for host in found] == [False, True]
    assert [found[host].skew for host in found] == [None, 7]


def test_robots_txt_teaches_nothing() -> None:
    captures = [replace(c, url=f"http://{HOST}/robots.txt") for c in (A, taken(9, "B", etag='"a"'))]
    assert trust(*captures).trusts_validators


# -- clocks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ahead", "expected"),
    [
        ([], None),
        ([3], 3),
        ([0, 1, 2], 1),
        ([-3600, -3601, -3599], -3600),
        ([0, 5, 10], 5),
        ([0, 5, 10.1], None),  # set meanwhile, or several servers
        ([0, 0, 0, 0, 60], None),  # a Date out of a cache
        ([0, 1, 0, 1, 0, 1, 0, 1, 0, 60], 0.5),  # one in ten: the others agree
        ([0, 1, 0, 1, 0, 1, 0, 1, 60, 60], None),
    ],
)
def test_a_clock_is_known_if_it_is_steady(ahead: list[float], expected: float | None) -> None:
    dates = [(START + n * DAY, START + n * DAY + round(a * SECOND)) for n, a in enumerate(ahead)]
    assert skew_of(dates) == (None if expected is None else expected * SECOND)


def test_a_clock_that_runs_forward_passed_nothing_twice() -> None:
    captures = [
        taken(n, crawl="one", where=Location("file", n, 1), url=f"http://{HOST}/{n % 2}")
        for n in range(6)
    ]
    assert ran_back(captures) == {}
    # A long download begins early and is stored late: nothing wrong with that.
    late = taken(0, crawl="one", where=Location("file", 9, 1), url=f"http://{HOST}/long")
    assert ran_back([*captures, late]) == {}


def test_a_clock_that_was_set_back_passed_a_stretch_twice() -> None:
    def record(order: int, seconds: int, name: str, file: str = "file") -> Capture:
        return taken(
            seconds, crawl="one", where=Location(file, order, 1), url=f"http://{HOST}/{name}"
        )

    captures = [
        record(1, 0, "a"),
        record(2, 50, "b"),
        record(3, 60, "c"),
        record(1, 10, "d", "file2"),
        record(2, 20, "b", "file2"),
    ]
    stretch = [(START + 10 * SECOND, START + 60 * SECOND)]
    assert ran_back(captures) == {"one": stretch}
    assert ran_back(reversed(captures)) == {"one": stretch}
    assert ran_back(replace(capture, crawl=None) for capture in captures) == {}


class Compared(int):
    """A number that counts how often any of its kind was compared."""

    times = 0

    def __lt__(self, other: int) -> bool:
        Compared.times += 1
        return int(self) < int(other)


def test_a_clock_set_back_before_all_revisits_takes_one_look_at_each_capture() -> None:
    count = 1000
    captures = [
        replace(
            taken(0, crawl="one", where=Location("file", order, 1)),
            at=Compared(START + (order % count - (order >= count) * 50 * count) * SECOND),
            url=f"http://{HOST}/{order % count}",
        )
        for order in range(2 * count)
    ]
    Compared.times = 0
    low, high = START - 50 * count * SECOND, START + (count - 1) * SECOND
    assert ran_back(captures) == {"one": [(low, high)]}
    assert Compared.times < 10 * count
