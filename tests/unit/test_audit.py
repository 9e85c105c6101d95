"""What is audited, asked for by bytes, and probed; and what becomes of hosts that were caught."""

from __future__ import annotations

from typing import Any

import pytest

from asof.catalog.observe import observe
from asof.clock import DAY, SECOND
from asof.coherence.lots import ONE_IN, draw
from asof.crawl.audit import Audits, outdated, wants_bytes
from asof.model import Body, Capture, Exchange, Target, Timings
from support.captures import plain_capture

HOST = "example.org"
SECRET = "one that nobody knows"
START = 1_700_000_000 * SECOND


def answer(status: int = 304) -> Exchange:
    return Exchange("", b"", b"", Body(0), status, (), 0, Timings(0, 0, 0), b"")


def target(number: int) -> Target:
    return Target(f"https://{HOST}/{number}")


def choose(audits: Audits, each: Target, status: int = 304, *, firm: bool = True) -> bool:
    chosen = audits.choose(each, HOST, answer(status), firm=firm)
    if chosen:
        assert audits.checks(each)
        assert not audits.choose(each, HOST, answer(status), firm=firm)  # an audit is not audited
        audits.done(each)
    return chosen


def chosen_by(secret: str, count: int = 2_000) -> set[int]:
    audits = Audits(secret, wanted=True)
    return {number for number in range(count) if choose(audits, target(number))}


def test_one_in_ten_is_audited_and_more_at_first() -> None:
    chosen = chosen_by(SECRET)
    assert 150 < len(chosen) < 260
    assert len([number for number in chosen if number < 20]) >= 3


def test_which_ones_nobody_can_know_without_the_secret() -> None:
    """A server that is honest exactly where another crawl looked is caught by the next."""
    one, other = chosen_by(SECRET), chosen_by("another")
    assert one == chosen_by(SECRET)
    by_chance = len(one) * len(other) / 2_000
    assert len(one & other) < 2 * by_chance
    assert draw(SECRET, "https://example.org/\udce9") != draw("another", "https://example.org/")


def test_all_places_of_a_plan_are_audited_alike() -> None:
    audits = Audits(SECRET, wanted=True)
    early = [
        choose(audits, Target(f"https://{HOST}/{number}", priority=number / 4_000))
        for number in range(2_000)
    ]
    assert 2_000 / ONE_IN * 0.75 < sum(early) < 2_000 / ONE_IN * 1.3


def test_nothing_but_304_is_audited_and_nothing_if_nobody_wants_it() -> None:
    assert not any(choose(Audits(SECRET, wanted=True), target(n), 200) for n in range(50))
    assert not any(choose(Audits(SECRET, wanted=False), target(n)) for n in range(50))


def test_a_304_that_would_be_weak_evidence_is_always_audited() -> None:
    audits = Audits(SECRET, wanted=True)
    assert all(choose(audits, target(number), firm=False) for number in range(50))


def test_of_a_suspect_every_304_is_audited() -> None:
    audits = Audits(SECRET, wanted=True)
    assert not audits.differed(HOST)
    assert all(choose(audits, target(number)) for number in range(20))


def test_after_three_finds_a_host_is_not_asked_by_conditions_any_more() -> None:
    audits = Audits(SECRET, wanted=True)
    assert [audits.differed(HOST) for _ in range(3)] == [False, False, True]
    assert not audits.differed("example.com")


# -- bytes or a condition --------------------------------------------------------------------------


def taken(seconds: float, what: str = "A", **more: Any) -> Capture:
    plain: dict[str, Any] = {
        "url": f"https://{HOST}/page",
        "digest": f"sha1:{what}",
        "content": "sha1:" + what * 32,
        "size": 1 << 20,
        "record_id": f"{seconds}-{what}",
    }
    return plain_capture(at=START + round(seconds * SECOND), **(plain | more))


@pytest.mark.parametrize(
    ("last", "by_condition"),
    [
        ({"etag": '"a"'}, True),
        ({"etag": '"a"', "size": 20_000}, False),  # bytes are cheap, and prove
        ({"etag": 'W/"a"'}, False),
        ({"etag": 'W/"a"', "last_modified": START - 2 * DAY}, True),
        ({"last_modified": START - 2 * DAY}, True),
        ({"last_modified": START - DAY // 2}, False),  # young, by some clock
        ({"etag": '"a"', "last_modified": START - SECOND}, False),  # may be the next one's tag, too
        ({"etag": '"a"', "last_modified": START - 3 * SECOND}, True),
        ({}, False),
    ],
)
def test_bytes_are_wanted_unless_they_are_many_and_a_304_would_be_firm(
    last: dict[str, Any], by_condition: bool
) -> None:
    assert wants_bytes(taken(0, **last), audit=True) is not by_condition


def test_who_wants_no_audits_believes_firm_words_and_no_others() -> None:
    assert not wants_bytes(taken(0, etag='"a"', size=1), audit=False)
    assert wants_bytes(taken(0, etag='W/"a"', size=1), audit=False)


# -- probes ----------------------------------------------------------------------------------------


def probed(*captures: Capture) -> Capture | None:
    [seen] = observe(captures).values()
    return outdated(seen)


def test_a_probe_asks_by_the_last_tag_that_must_not_be_confirmed() -> None:
    older, old, now = taken(0, "A", etag='"a"'), taken(9, "B", etag='"b"'), taken(18, "C")
    assert probed(older, old, now) is old
    assert probed(older, old, taken(18, "B", etag='"b"')) is older


def test_a_304_that_nobody_checked_is_in_question_itself() -> None:
    old, now = taken(0, "A", etag='"a"'), taken(9, "B", etag='"b"')

    def confirmed(capture: Capture) -> Capture:
        return taken(
            18, "", kind="revisit", status=304, digest=None, content=None, etag=capture.etag,
            profile="server-not-modified", refers_to_url=old.url, refers_to_at=capture.at,
        )  # fmt: skip

    assert probed(old, now, confirmed(old)) is old
    assert probed(old, now, confirmed(now)) is None


def test_by_dates_it_asks_where_there_are_no_tags() -> None:
    old = taken(0, "A", last_modified=START - DAY)
    assert probed(old, taken(9, "B", last_modified=START + SECOND)) is old
    assert probed(old, taken(9, "B", last_modified=START - DAY)) is None
    assert probed(old, taken(9, "B")) is None


@pytest.mark.parametrize(
    "captures",
    [
        (taken(0, "A", etag='"a"'),),
        (taken(0, "A", etag='"a"'), taken(9, "A", etag='"b"')),  # the same
        (taken(0, "A", etag='"a"'), taken(9, "B", etag='"a"')),  # false already
        (taken(0, "A", etag='W/"a"'), taken(9, "B", etag='W/"b"')),
        (taken(0, "A", etag='"a"', truncated="length"), taken(9, "B", etag='"b"')),
        (taken(0, "A", etag='"a"'), taken(9, "B", etag='"b"', status=404)),
        (taken(0, "A", etag='"a"', status=404), taken(9, "B", etag='"b"')),
    ],
)
def test_nothing_is_to_be_probed(captures: tuple[Capture, ...]) -> None:
    assert probed(*captures) is None
