"""What is known of a page at a moment: every rule of the verdicts, on small histories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from asof.catalog.observe import Reader, observe
from asof.catalog.referents import Held
from asof.catalog.validity import validities
from asof.clock import DAY, SECOND
from asof.coherence.credibility import firm_runs
from asof.coherence.intervals import coverage, expected_valid, stab
from asof.coherence.invariance import Bounds
from asof.coherence.measure import measure
from asof.coherence.proven_intervals import stretches
from asof.coherence.returns import Returns, returns_of
from asof.coherence.verdict import HostTrust, Mode, PageVerdict, Reason
from asof.model import Capture, Grade, Location, Proof
from support.captures import plain_capture
from support.together import bounds_of, known_intervals, stood_together

HOST = "example.org"
URL = f"http://{HOST}/page"
REFERENCE = 1_700_000_000 * SECOND
TRUSTED = HostTrust(HOST, dates_right=8, skew=0, trusts_dates=True)
NOT_MODIFIED = "server-not-modified"


def at(seconds: float) -> int:
    """So many seconds after the moment of reference."""
    return REFERENCE + round(seconds * SECOND)


def taken(seconds: float, what: str = "A", /, *, status: int | None = 200, **more: Any) -> Capture:
    """A download, so many seconds after the moment."""
    plain = {
        "url": URL,
        "digest": f"sha1:{what}",
        "content": sha(what),
        "record_id": f"{seconds}-{what}-{status}",
    }
    return plain_capture(at=at(seconds), status=status, **(plain | more))


def sha(content: str) -> str:
    """A digest that can be compared with others of its kind."""
    return "sha1:" + (content.upper() * 32)[:32]


def unchanged(seconds: float, original: Capture, **more: Any) -> Capture:
    """A 304 about a capture, with its validators, as our crawls store it."""
    plain: dict[str, object] = {
        "kind": "revisit",
        "profile": NOT_MODIFIED,
        "content": None,
        "digest": original.digest,
        "etag": original.etag,
        "last_modified": original.last_modified,
        "refers_to_url": original.url,
        "refers_to_at": original.at,
        "record_id": f"{seconds}-304",
        "status": 304,
    }
    return taken(seconds, **(plain | more))  # type: ignore[arg-type]


def same_again(seconds: float, original: Capture, **more: Any) -> Capture:
    """A download of the same payload, of which only a revisit record was kept."""
    plain: dict[str, object] = {
        "kind": "revisit",
        "profile": "identical-payload-digest",
        "content": None,
        "digest": original.digest,
        "refers_to_url": original.url,
        "refers_to_at": original.at,
        "record_id": f"{seconds}-same",
    }
    return taken(seconds, **(plain | more))  # type: ignore[arg-type]


def verdict(
    *captures: Capture,
    trust: HostTrust | None = None,
    mode: Mode = Mode.INDUCIBLE,
    known: tuple[Capture, ...] = (),
) -> PageVerdict:
    """That of the one page there is."""
    host_trust = {} if trust is None else {trust.host: trust}
    [page] = measure(captures, REFERENCE, mode=mode, host_trust=host_trust, known=known).pages
    return page


def outcome(*captures: Capture, **how: Any) -> tuple[Grade, Reason]:
    page = verdict(*captures, **how)
    return page.grade, page.reason


STRONG = taken(-9, etag='"a"')
WEAK = taken(-9, etag='W/"a"')
PROVEN = (Grade.PROVEN, Reason.NONE)
CONFIRMED = (Grade.CONFIRMED, Reason.NONE)
CLAIMED = (Grade.CLAIMED, Reason.NONE)
EQUIVALENT = (Grade.EQUIVALENT, Reason.WEAK_VALIDATOR)
OTHER = (Grade.CHANGED, Reason.OTHER_CONTENT)


def unknown(reason: Reason) -> tuple[Grade, Reason]:
    return Grade.UNKNOWN, reason


# -- bytes -----------------------------------------------------------------------------------------

BYTES: dict[str, tuple[list[Capture], tuple[Grade, Reason]]] = {
    "the same bytes before and after": ([taken(-9), taken(9)], PROVEN),
    "the same payload, kept as a revisit record": ([taken(-9), same_again(9, taken(-9))], PROVEN),
    "both are revisit records of another URL's payload": (
        [
            same_again(-9, taken(-99, url=f"http://{HOST}/other")),
            same_again(9, taken(-99, url=f"http://{HOST}/other")),
            taken(-99, url=f"http://{HOST}/other", status=404),
        ],
        PROVEN,
    ),
    "at the moment itself: the joker": ([taken(0)], PROVEN),
    "the joker, whatever came later": ([taken(-9, "Z"), taken(0), taken(9, "B")], PROVEN),
    "other bytes": ([taken(-9), taken(9, "B")], OTHER),
    "only before": ([taken(-9), taken(-5)], unknown(Reason.NOT_SEEN_AGAIN)),
    "only after": ([taken(9)], unknown(Reason.NOT_SEEN_BEFORE)),
    "there and back again is not seen": ([taken(-9), taken(9, "B"), taken(19)], OTHER),
    "of several downloads the nearest decide": (
        [taken(-19, "Z"), taken(-9), taken(9), taken(19, "B")],
        PROVEN,
    ),
    "two that differ at the moment itself": (
        [taken(0), taken(0, "B")],
        OTHER,
    ),
    "two that differ at one instant before": ([taken(-9), taken(-9, "B"), taken(9)], OTHER),
    "two of one instant that do not differ": (
        [taken(-9), taken(-9, record_id="x"), taken(9)],
        PROVEN,
    ),
    "without HTTP, then with": ([taken(-9, status=None, kind="resource"), taken(9)], PROVEN),
    "digests of different kinds": (
        [taken(-9), taken(9, content="sha256:" + "A" * 52 + "====")],
        unknown(Reason.NOT_COMPARABLE),
    ),
    "a revisit of what nobody has": (
        [taken(-9), same_again(9, taken(-99), digest=None)],
        unknown(Reason.NOT_COMPARABLE),
    ),
    "the same bytes around what cannot be compared": (
        [taken(-9), taken(5, content="sha256:" + "A" * 52 + "===="), taken(9)],
        PROVEN,
    ),
    "other bytes around what cannot be compared": (
        [taken(-9), taken(5, content="sha256:" + "A" * 52 + "===="), taken(9, "B")],
        unknown(Reason.NOT_COMPARABLE),
    ),
    "digests of different kinds with one strong ETag": (
        [taken(-9, etag='"a"'), taken(9, etag='"a"', content="sha256:" + "A" * 52 + "====")],
        CONFIRMED,
    ),
    "digests of different kinds with one weak ETag": (
        [taken(-9, etag='W/"a"'), taken(9, etag='W/"a"', content="sha256:" + "A" * 52 + "====")],
        unknown(Reason.NOT_COMPARABLE),
    ),
}


@pytest.mark.parametrize("case", BYTES)
def test_bytes(case: str) -> None:
    captures, expected = BYTES[case]
    assert outcome(*captures) == expected
    assert outcome(*reversed(captures)) == expected


# -- errors, removals, redirects, parts ------------------------------------------------------------

ANSWERS: dict[str, tuple[list[Capture], tuple[Grade, Reason]]] = {
    "removed": ([taken(-9), taken(9, "x", status=404)], (Grade.CHANGED, Reason.REMOVED)),
    "removed for ever": ([taken(-9), taken(9, "x", status=410)], (Grade.CHANGED, Reason.REMOVED)),
    "removed with the same bytes": (
        [taken(-9), taken(9, status=404)],
        (Grade.CHANGED, Reason.REMOVED),
    ),
    "appeared": ([taken(-9, "x", status=404), taken(9)], (Grade.CHANGED, Reason.APPEARED)),
    "gone on both sides, in other words": (
        [taken(-99), taken(-9, "x", status=404), taken(9, "y", status=410)],
        PROVEN,
    ),
    **{
        f"answered {status} later": (
            [taken(-9), taken(9, "x", status=status)],
            unknown(Reason.FAILED_AGAIN),
        )
        for status in (400, 401, 403, 408, 429, 500, 502, 503)
    },
    "an error, then the same": ([taken(-9), taken(5, "x", status=503), taken(9)], PROVEN),
    "an error, then something else": ([taken(-9), taken(5, "x", status=503), taken(9, "B")], OTHER),
    "an error before": ([taken(-9, "x", status=503), taken(9)], unknown(Reason.NOT_SEEN_BEFORE)),
    "an error at the moment is no joker": (
        [taken(-9), taken(0, "x", status=503)],
        unknown(Reason.FAILED_AGAIN),
    ),
    "cut short later": ([taken(-9), taken(9, truncated="length")], unknown(Reason.TRUNCATED)),
    "cut short before": ([taken(-9, truncated="time"), taken(9)], unknown(Reason.TRUNCATED)),
    "cut short both times at the same place": (
        [taken(-9, truncated="length"), taken(9, truncated="length")],
        unknown(Reason.TRUNCATED),
    ),
    "cut short at the moment": ([taken(0, truncated="length")], unknown(Reason.TRUNCATED)),
    "a revisit of what was cut short": (
        [taken(-9, truncated="length"), same_again(9, taken(-9))],
        unknown(Reason.TRUNCATED),
    ),
    "a part": ([taken(-9), taken(9, status=206)], unknown(Reason.TRUNCATED)),
    "the same redirect": (
        [taken(-9, status=301, redirect="/b"), taken(9, status=301, redirect="/b")],
        PROVEN,
    ),
    "a redirect in other words": (
        [taken(-9, status=301, redirect="/b"), taken(9, "B", status=301, redirect="/b")],
        (Grade.EQUIVALENT, Reason.OTHER_CONTENT),
    ),
    "a redirect to elsewhere with the same bytes": (
        [taken(-9, status=301, redirect="/b"), taken(9, status=301, redirect="/c")],
        OTHER,
    ),
    "moved": ([taken(-9), taken(9, status=302, redirect="/b")], OTHER),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_answers(case: str) -> None:
    captures, expected = ANSWERS[case]
    assert outcome(*captures) == expected


# -- 304 -------------------------------------------------------------------------------------------

OLD = taken(-9, last_modified=at(-69))
DAY_OLD = taken(-9, last_modified=at(-9) - DAY)
NGINX = taken(-9, last_modified=at(-9) - DAY, etag='W/"5f-2"')  # with `gzip on`
CONFIRMATIONS: dict[str, tuple[list[Capture], tuple[Grade, Reason]]] = {
    "by a strong ETag": ([STRONG, unchanged(9, STRONG)], CONFIRMED),
    "by a strong ETag that the 304 does not repeat": (
        [STRONG, unchanged(9, STRONG, etag=None)],
        CONFIRMED,
    ),
    "by a weak ETag": ([WEAK, unchanged(9, WEAK)], EQUIVALENT),
    "by a strong ETag that has become weak": (
        [STRONG, unchanged(9, STRONG, etag='W/"a"')],
        EQUIVALENT,
    ),
    "by an ETag without quotes": (
        [taken(-9, etag="a"), unchanged(9, taken(-9, etag="a"))],
        EQUIVALENT,
    ),
    "by a strong ETag, marked for compression": (
        [taken(-9, etag='"a-gzip"'), unchanged(9, taken(-9), etag='"a"')],
        CONFIRMED,
    ),
    "with another ETag": (
        [STRONG, unchanged(9, STRONG, etag='"b"')],
        unknown(Reason.FALSE_VALIDATORS),
    ),
    "with a later date": (
        [OLD, unchanged(9, OLD, last_modified=at(-5))],
        unknown(Reason.FALSE_VALIDATORS),
    ),
    "with an earlier date: put back from a copy": (
        [OLD, unchanged(9, OLD, last_modified=at(-99))],
        unknown(Reason.FALSE_VALIDATORS),
    ),
    "by an old date": ([DAY_OLD, unchanged(9, DAY_OLD)], CONFIRMED),
    "by an old date that it does not repeat": (
        [DAY_OLD, unchanged(9, DAY_OLD, last_modified=None)],
        EQUIVALENT,
    ),
    "by a weak ETag, and the same old date": ([NGINX, unchanged(9, NGINX)], CONFIRMED),
    "by a weak ETag, and another date": (
        [NGINX, unchanged(9, NGINX, last_modified=at(-9) - 2 * DAY)],
        EQUIVALENT,
    ),
    "by a date of which the clock is not known": ([OLD, unchanged(9, OLD)], EQUIVALENT),
    "by nothing that is known": ([taken(-9), unchanged(9, taken(-9))], EQUIVALENT),
    "twice, and bytes before": ([STRONG, unchanged(-5, STRONG), unchanged(9, STRONG)], CONFIRMED),
    "weak, then strong": (
        [STRONG, unchanged(5, STRONG, etag='W/"a"'), unchanged(9, STRONG)],
        CONFIRMED,
    ),
    "and the same bytes later": ([STRONG, unchanged(5, STRONG), taken(9)], PROVEN),
    "and other bytes later": ([STRONG, unchanged(5, STRONG), taken(9, "B")], CONFIRMED),
    "before, and other bytes later": (
        [taken(-19, etag='"a"'), unchanged(-5, taken(-19, etag='"a"')), taken(9, "B")],
        OTHER,
    ),
    "at the moment": ([STRONG, unchanged(0, STRONG)], CONFIRMED),
    "about something older than the last sight": (
        [taken(-99, etag='"a"'), taken(-9, "B"), unchanged(9, taken(-99, etag='"a"'))],
        OTHER,
    ),
    "about something taken after the moment": (
        [taken(5, etag='"a"'), unchanged(9, taken(5, etag='"a"'))],
        unknown(Reason.NOT_SEEN_BEFORE),
    ),
    "about something that is cut short": (
        [taken(-9, etag='"a"', truncated="length"), unchanged(9, STRONG)],
        unknown(Reason.TRUNCATED),
    ),
    "about something of the future": (
        [
            taken(-9, etag='"a"', digest=None),
            taken(99, etag='"a"'),
            unchanged(9, taken(99), digest=None),
        ],
        PROVEN,  # by bytes; the 304 itself says nothing
    ),
    "about something of the future, and nothing else": (
        [STRONG, taken(99, "B", etag='"b"'), unchanged(9, taken(99, "B"), digest=None)],
        OTHER,
    ),
    "that names nothing, with the ETag of the last": (
        [STRONG, unchanged(9, STRONG, refers_to_at=None, refers_to_url=None, digest=None)],
        CONFIRMED,
    ),
    "that names nothing and has no ETag": (
        [
            STRONG,
            unchanged(9, STRONG, refers_to_at=None, refers_to_url=None, digest=None, etag=None),
        ],
        EQUIVALENT,
    ),
    "that names nothing, with another ETag": (
        [
            STRONG,
            unchanged(9, STRONG, refers_to_at=None, refers_to_url=None, digest=None, etag='"b"'),
        ],
        unknown(Reason.FALSE_VALIDATORS),
    ),
    "kept like a page, both times": (
        [taken(-9, "", status=304), taken(9, "", status=304)],
        unknown(Reason.NOT_COMPARABLE),
    ),
    "two about one thing that is not here": (
        [unchanged(-9, taken(-99, etag='"a"')), unchanged(9, taken(-99, etag='"a"'))],
        CONFIRMED,
    ),
    "two about different things that are not here": (
        [
            unchanged(-9, taken(-99, etag='"a"')),
            unchanged(9, taken(-98, "B", etag='"b"')),
        ],
        unknown(Reason.NOT_COMPARABLE),
    ),
    "only after, about what is not here": (
        [unchanged(9, taken(-99, etag='"a"'))],
        unknown(Reason.NOT_SEEN_BEFORE),
    ),
}


@pytest.mark.parametrize("case", CONFIRMATIONS)
def test_confirmations(case: str) -> None:
    captures, expected = CONFIRMATIONS[case]
    assert outcome(*captures) == expected


def test_a_confirmation_with_its_content_filled_in_is_none_the_better() -> None:
    """Who resolves revisits may take what was seen last for what a 304 names."""
    filled = unchanged(9, taken(-99, "Z"), content=sha("A"), status=200)
    assert outcome(taken(-9, etag='"a"'), filled) == unknown(Reason.NOT_COMPARABLE)


@pytest.mark.parametrize(
    ("modified", "skew", "expected"),
    [
        (-69, 0, CONFIRMED),
        (-68, 0, EQUIVALENT),
        (-69 + 3600, 3600 * SECOND, CONFIRMED),  # by the server's own clock just as old
        (-69, -3600 * SECOND, EQUIVALENT),
    ],
)
def test_a_304_by_date_is_strong_if_the_date_is_a_minute_older_than_the_download(
    modified: int, skew: int, expected: tuple[Grade, Reason]
) -> None:
    old = taken(-9, last_modified=at(modified))
    assert outcome(old, unchanged(9, old), trust=HostTrust(HOST, skew=skew)) == expected


@pytest.mark.parametrize(
    ("modified", "expected"), [(-9, EQUIVALENT), (-10, EQUIVALENT), (-11.5, CONFIRMED)]
)
def test_the_etag_of_what_has_just_changed_may_be_that_of_two_contents(
    modified: float, expected: tuple[Grade, Reason]
) -> None:
    """Servers of files make strong ETags of the second of the change and the size."""
    fresh = taken(-9, etag='"a"', last_modified=at(modified))
    assert outcome(fresh, unchanged(9, fresh)) == expected


def test_a_304_that_an_earlier_crawl_has_the_content_of() -> None:
    """The crawl has asked once, after the moment; what it asked about was taken long before."""
    old = taken(-DAY / SECOND, etag='"a"', crawl="one")
    found = verdict(unchanged(9, old, crawl="two"), known=(old,))
    assert (found.grade, found.reason) == CONFIRMED
    assert found.before is not None
    assert (found.before.proof, found.before.record_id) == (Proof.DOWNLOAD, old.record_id)
    assert (found.since, found.until) == (old.at, at(9))


def test_what_is_known_besides_makes_no_pages() -> None:
    other = taken(-9, url=f"http://{HOST}/other")
    found = measure([taken(0)], REFERENCE, mode=Mode.OFF, host_trust={}, known=[other])
    assert [page.url for page in found.pages] == [URL]


def test_what_another_crawl_saw_in_between_counts_against() -> None:
    assert outcome(taken(-9), taken(9), known=(taken(-5, "B"),)) == OTHER


# -- servers that were caught ----------------------------------------------------------------------

CAUGHT = HostTrust(HOST, validators_wrong=1, trusts_validators=False)
LIES: dict[str, tuple[list[Capture], tuple[Grade, Reason]]] = {
    "304": ([STRONG, unchanged(9, STRONG)], unknown(Reason.FALSE_VALIDATORS)),
    "304 and the same bytes": ([STRONG, unchanged(5, STRONG), taken(9)], PROVEN),
    "304 and other bytes": ([STRONG, unchanged(5, STRONG), taken(9, "B")], OTHER),
    "304 at the moment": ([STRONG, unchanged(0, STRONG)], unknown(Reason.FALSE_VALIDATORS)),
    "304 before": (
        [taken(-99, "Z"), unchanged(-9, taken(-99, "Z")), taken(9)],
        OTHER,
    ),
    "one ETag for digests of different kinds": (
        [taken(-9, etag='"a"'), taken(9, etag='"a"', content="sha256:" + "A" * 52 + "====")],
        unknown(Reason.NOT_COMPARABLE),
    ),
}


@pytest.mark.parametrize("case", LIES)
def test_a_host_that_was_caught_is_not_believed(case: str) -> None:
    captures, expected = LIES[case]
    assert outcome(*captures, trust=CAUGHT) == expected


@pytest.mark.parametrize(
    ("trust", "expected"),
    [
        (HostTrust(HOST, dates_wrong=1, skew=0), unknown(Reason.UNTRUSTED_DATES)),
        (HostTrust(HOST, dates_wrong=1, dates_right=99, skew=0, trusts_dates=True), CONFIRMED),
        (replace(TRUSTED, doubted=(URL,)), unknown(Reason.UNTRUSTED_DATES)),
        (replace(TRUSTED, doubted=(URL + "2",)), CONFIRMED),
    ],
)
def test_a_304_by_date_is_as_good_as_the_dates(
    trust: HostTrust, expected: tuple[Grade, Reason]
) -> None:
    assert outcome(OLD, unchanged(9, OLD), trust=trust) == expected


# -- Last-Modified ---------------------------------------------------------------------------------


def dated(seconds: float, modified: float, content: str = "A", **more: Any) -> Capture:
    return taken(seconds, content, last_modified=at(modified), **more)


@pytest.mark.parametrize(
    ("captures", "trust", "expected"),
    [
        ([dated(-9, -99), dated(9, 5)], TRUSTED, unknown(Reason.REWRITTEN)),
        ([dated(-9, -99), dated(9, 5)], None, unknown(Reason.REWRITTEN)),  # by no clock at all
        ([dated(-9, -99), dated(9, -5)], TRUSTED, CLAIMED),  # what came last, by its date
        ([dated(-9, -99), dated(9, -5)], HostTrust(HOST, skew=0), unknown(Reason.REWRITTEN)),
        ([taken(-9), dated(9, -5)], HostTrust(HOST, skew=0), unknown(Reason.REWRITTEN)),
        ([dated(-9, -99), dated(9, -20)], TRUSTED, PROVEN),  # another server of the same
        ([dated(-9, -99), dated(9, -99)], TRUSTED, PROVEN),
        ([dated(-9, -99), dated(9, -200)], TRUSTED, PROVEN),
        ([dated(-9, -9), dated(9, 9)], TRUSTED, PROVEN),  # dated to each answer
        ([dated(-9, -9.9), dated(9, 8.1)], TRUSTED, PROVEN),  # cut to seconds
        ([dated(-9, -10.5), dated(9, 8.6)], TRUSTED, unknown(Reason.REWRITTEN)),  # just before
        ([dated(-9, -99), dated(9, 9)], TRUSTED, unknown(Reason.REWRITTEN)),
        ([dated(-9, -99), dated(-5, -99), dated(9, 5)], TRUSTED, unknown(Reason.REWRITTEN)),
    ],
)
def test_equal_bytes_that_were_written_again_in_between_prove_nothing(
    captures: list[Capture], trust: HostTrust | None, expected: tuple[Grade, Reason]
) -> None:
    """A-B-A as far as the archive shows it."""
    assert outcome(*captures, trust=trust) == expected


@pytest.mark.parametrize(
    ("captures", "expected"),
    [
        ([taken(-9), taken(9, age=30)], unknown(Reason.NOT_SEEN_AGAIN)),  # of before the moment
        ([taken(-9), taken(9, age=5)], PROVEN),
        ([taken(-9), taken(9, "B", age=30), taken(20)], PROVEN),  # B, then A, then A
        ([taken(0, age=3)], unknown(Reason.NOT_SEEN_AGAIN)),  # no joker
        ([taken(0, age=0)], PROVEN),
        ([STRONG, unchanged(9, STRONG, age=30)], unknown(Reason.NOT_SEEN_AGAIN)),
    ],
)
def test_what_a_cache_had_already_is_evidence_of_before(
    captures: list[Capture], expected: tuple[Grade, Reason]
) -> None:
    """RFC 9111 section 5.1: an Age is how long ago the origin was asked."""
    assert outcome(*captures) == expected


HOUR = 3600
DATES: dict[str, tuple[list[Capture], HostTrust | None, tuple[Grade, Reason]]] = {
    "before the moment": ([dated(9, -99)], TRUSTED, CLAIMED),
    "two seconds before: clear of it": ([dated(9, -2)], TRUSTED, CLAIMED),
    "one second before: too near": ([dated(9, -1)], TRUSTED, unknown(Reason.DATED_AFTER)),
    "one second after: too near": ([dated(9, 1)], TRUSTED, unknown(Reason.DATED_AFTER)),
    "after the moment": ([dated(9, 2)], TRUSTED, (Grade.CHANGED, Reason.DATED_AFTER)),
    "none": ([taken(9)], TRUSTED, unknown(Reason.NO_DATE)),
    "that of the download": ([dated(9, 9)], TRUSTED, unknown(Reason.NO_DATE)),
    "in the future": ([dated(9, 99)], TRUSTED, unknown(Reason.FUTURE_DATE)),
    "of a host nobody knows": ([dated(9, -99)], None, unknown(Reason.UNPROVED_DATES)),
    "of a host without a clock": (
        [dated(9, -99)],
        replace(TRUSTED, skew=None),
        unknown(Reason.CLOCK_OFF),
    ),
    "of a URL that was wrong before": (
        [dated(9, -99)],
        replace(TRUSTED, doubted=(URL,)),
        unknown(Reason.UNTRUSTED_DATES),
    ),
    "of a clock that is an hour ahead": (
        [dated(9, HOUR - 99)],
        replace(TRUSTED, skew=HOUR * SECOND),
        CLAIMED,
    ),
    "of a clock that is an hour behind": (
        [dated(9, -HOUR + 5)],
        replace(TRUSTED, skew=-HOUR * SECOND),
        (Grade.CHANGED, Reason.DATED_AFTER),
    ),
    "and something else was there before the date": (
        [taken(-99, "Z"), dated(9, -9)],
        TRUSTED,
        CLAIMED,
    ),
    "and something else was there after the date": (
        [taken(-9, "Z"), dated(9, -99)],
        TRUSTED,
        OTHER,
    ),
    "and what was there after the date may be the same": (
        [taken(-9), dated(9, -99, content="sha256:" + "A" * 52 + "====")],
        TRUSTED,
        CLAIMED,
    ),
    "and it was removed before": (
        [taken(-9, "x", status=404), dated(9, -99)],
        TRUSTED,
        (Grade.CHANGED, Reason.APPEARED),
    ),
    "and something else was there before, but after by date": (
        [taken(-99, "Z"), dated(9, 5)],
        TRUSTED,
        OTHER,
    ),
    "of several for one content the latest": (
        [dated(9, -99), dated(19, 5)],
        TRUSTED,
        (Grade.CHANGED, Reason.DATED_AFTER),
    ),
    "written again since": ([dated(9, -99), dated(99, 50)], TRUSTED, CLAIMED),
    "cut short": ([dated(9, -99, truncated="length")], TRUSTED, unknown(Reason.TRUNCATED)),
    "of a 304 without a copy": (
        [unchanged(9, taken(-99), last_modified=at(-999))],
        TRUSTED,
        unknown(Reason.NOT_SEEN_BEFORE),
    ),
    "of a page that is gone": (
        [taken(-99), dated(9, -50, status=404)],
        TRUSTED,
        (Grade.CHANGED, Reason.REMOVED),
    ),
}


@pytest.mark.parametrize("case", DATES)
def test_dates(case: str) -> None:
    captures, trust, expected = DATES[case]
    assert outcome(*captures, trust=trust, mode=Mode.MEASURABLE) == expected


def test_a_claim_cites_the_copy_and_what_was_there_before() -> None:
    found = verdict(taken(-99, "Z"), dated(9, -9), dated(19, -9), trust=TRUSTED)
    assert found.is_coherent
    assert found.before is not None
    assert found.after is not None
    assert (found.before.at, found.after.at) == (at(-99), at(9))
    assert found.since <= REFERENCE <= found.until


# -- which evidence is cited -----------------------------------------------------------------------


def test_a_proof_cites_the_nearest_bytes() -> None:
    found = verdict(
        taken(-19), STRONG, unchanged(-5, STRONG), unchanged(5, STRONG), taken(9), taken(19)
    )
    assert found.before is not None
    assert found.after is not None
    assert (found.before.proof, found.before.at) == (Proof.SAME_DIGEST, at(-9))
    assert (found.after.proof, found.after.at) == (Proof.SAME_DIGEST, at(9))
    assert (found.since, found.until) == (at(-19), at(19))


def test_the_joker_needs_no_second_record() -> None:
    found = verdict(taken(0))
    assert found.before is not None
    assert (found.before.proof, found.after) == (Proof.DOWNLOAD, None)


@pytest.mark.parametrize(("one", "other", "nearest"), [(-9, 19, -9), (-19, 9, 9)])
def test_outside_of_all_intervals_the_nearest_is_told(one: int, other: int, nearest: int) -> None:
    found = verdict(taken(one), taken(other, "B"))
    assert (found.since, found.until) == (at(nearest), at(nearest))


# -- which pages count -----------------------------------------------------------------------------


def pages(*captures: Capture) -> list[str]:
    return [p.url for p in measure(captures, REFERENCE, mode=Mode.OFF, host_trust={}).pages]


def test_pages_are_urls_with_an_answer_below_400() -> None:
    found = pages(
        taken(-9, url=f"http://{HOST}/robots.txt"),
        taken(-9, url=f"http://{HOST}/robots.txt?x"),
        taken(-9, url=f"http://{HOST}/files/robots.txt"),
        taken(-9, url=f"http://{HOST}/", status=301, redirect=f"https://{HOST}/"),
        taken(-9, url=f"https://{HOST}/"),
        taken(-9, url=f"http://{HOST}/failed", status=503),
        taken(-9, url=f"http://{HOST}/gone", status=404),
        taken(-9, url=f"dns:{HOST}", status=None),
        taken(-9, url=f"http://{HOST}/about", kind="metadata", status=None),
        taken(-9, url=f"http://{HOST}/file", kind="resource", status=None),
    )
    assert found == [
        f"http://{HOST}/",
        f"http://{HOST}/file",
        f"http://{HOST}/files/robots.txt",
        f"https://{HOST}/",
    ]


def test_http_and_https_are_two_pages() -> None:
    secure = f"https://{HOST}/page"
    assert pages(taken(-9), taken(9, url=secure)) == [URL, secure]
    [one, two] = measure(
        [taken(-9), taken(9, url=secure)], REFERENCE, mode=Mode.OFF, host_trust={}
    ).pages
    assert (one.grade, two.grade) == (Grade.UNKNOWN, Grade.UNKNOWN)


def test_nothing_captured_has_no_c() -> None:
    found = measure([], REFERENCE, mode=Mode.OFF, host_trust={})
    assert (found.c, found.pages) == (None, ())


def test_c_counts_what_is_proven_confirmed_or_claimed() -> None:
    def named(name: str, *captures: Capture) -> list[Capture]:
        url = f"http://{HOST}/{name}"
        return [replace(c, url=url, refers_to_url=c.refers_to_url and url) for c in captures]

    captures = [
        *named("proven", taken(-9), taken(9)),
        *named("confirmed", STRONG, unchanged(9, STRONG)),
        *named("claimed", dated(9, -99)),
        *named("equivalent", WEAK, unchanged(9, WEAK)),
        *named("changed", taken(-9), taken(9, "B")),
        *named("unknown", taken(-9)),
    ]
    found = measure(captures, REFERENCE, mode=Mode.INDUCIBLE, host_trust={HOST: TRUSTED})
    assert found.counts == dict.fromkeys(Grade, 1)
    assert found.c == pytest.approx(3 / 6)
    assert found.c_in_substance == pytest.approx(4 / 6)
    assert found.host_trust == {HOST: TRUSTED}


# -- the moment of reference, and the crawler's own clock ------------------------------------------


def test_a_measurable_crawl_begins_with_its_first_download() -> None:
    robots = taken(1, url=f"http://{HOST}/robots.txt")
    found = measure(
        [robots, taken(3), dated(9, -99, url=f"http://{HOST}/b")],
        REFERENCE,
        mode=Mode.MEASURABLE,
        host_trust={HOST: TRUSTED},
        first=REFERENCE,
    )
    assert found.reference == at(3)
    assert {page.url: page.grade for page in found.pages} == {
        URL: Grade.PROVEN,
        f"http://{HOST}/b": Grade.CLAIMED,
    }


def test_without_a_beginning_the_moment_is_the_one_given() -> None:
    found = measure([taken(3)], REFERENCE, mode=Mode.MEASURABLE, host_trust={})
    assert found.reference == REFERENCE


def stored(order: int, capture: Capture) -> Capture:
    return replace(capture, crawl="one", where=Location("file", order, 1))


def test_a_crawl_whose_clock_ran_back_over_the_moment_proves_nothing() -> None:
    other = f"http://{HOST}/other"
    captures = [
        stored(1, taken(-5, url=other)),
        stored(2, taken(20, url=f"http://{HOST}/last")),
        stored(3, taken(-30, url=f"http://{HOST}/first-after-it-was-set-back")),
        stored(4, taken(-20, url=other)),
        stored(5, taken(-9)),
        stored(6, taken(9)),
    ]
    found = measure(captures, REFERENCE, mode=Mode.INDUCIBLE, host_trust={})
    assert {(p.grade, p.reason) for p in found.pages} == {unknown(Reason.CRAWLER_CLOCK)}
    # Another crawl's evidence stands, and so does all that lies clear of it.
    assert outcome(*captures[4:], known=tuple(captures[:4])) == unknown(Reason.CRAWLER_CLOCK)
    beside = (taken(-8, crawl="two"), taken(8, crawl="two"))
    assert outcome(*captures[4:], *beside, known=tuple(captures[:4])) == PROVEN
    early = [replace(c, at=c.at - 60 * SECOND) for c in captures[:4]]
    assert outcome(*captures[4:], known=tuple(early)) == PROVEN


# -- definition 3.1 --------------------------------------------------------------------------------

A, B = f"http://{HOST}/a", f"http://{HOST}/b"


def test_pages_that_stood_together_are_coherent() -> None:
    """Figure 2, left, as far as a crawler can see it."""
    captures = [taken(0, url=A), taken(20, url=A), taken(10, url=B), taken(30, url=B)]
    assert stood_together(captures) == ("coherent", (at(10), at(20)))


def test_a_single_page_is_always_coherent() -> None:
    assert stood_together([taken(5, url=A)]) == ("coherent", (at(5), at(5)))


def test_pages_whose_widest_intervals_do_not_meet_are_incoherent() -> None:
    """Figure 2, right: one was gone before the other came."""
    captures = [taken(0, url=A), taken(10, "Z", url=A), taken(20, "Z", url=B), taken(30, url=B)]
    assert stood_together(captures, since=at(30), until=at(30)) == (
        "coherent",
        (at(30), at(30)),
    )
    later = [taken(20, url=B, status=404), taken(30, url=B)]
    assert stood_together([*captures[:2], *later]) == ("incoherent", None)


def test_pages_that_may_have_met_are_unknown() -> None:
    captures = [taken(0, url=A), taken(20, "Z", url=A), taken(10, url=B)]
    assert stood_together(captures) == ("unknown", (at(0), at(20)))
    assert stood_together([]) == ("unknown", None)


def test_bounds_are_the_nearest_sights_that_differ() -> None:
    captures = [
        taken(-30, "Y"),
        taken(-20, "Z"),
        taken(-10, "x", status=503),
        taken(0),
        unchanged(10, taken(0), etag='W/"a"'),
        taken(15),
        taken(20, content="sha256:" + "A" * 52 + "===="),
        taken(30, "B"),
    ]
    [found] = bounds_of(captures, since=at(-5), until=at(5))
    assert found == Bounds(URL, at(0), at(15), at(-20), at(30))


# -- coverage of what the catalog knows ------------------------------------------------------------


def test_coverage_tells_proven_from_expected() -> None:
    known = validities(
        [taken(0, url=A), taken(100, url=A), taken(50, url=B), taken(150, "Z", url=B)]
    )
    found = coverage(
        stretches(known),
        [0.01 if v.url == A else 0.0 for v in known],
        [at(t) for t in (-1, 0, 50, 100, 150, 200)],
        2,
    )
    assert [c.provable for c in found] == [0, 0.5, 1, 0.5, 0.5, 0]
    assert [round(c.expected, 4) for c in found] == [
        0,
        0.5,
        1,
        0.75,  # half of the gap of B has passed: half of its chances are left
        round((1 + 2.718281828**-0.5) / 2, 4),
        round((1 + 2.718281828**-1) / 2, 4),
    ]


def test_errors_of_the_server_do_not_part_what_is_the_same() -> None:
    seen = observe([taken(0), taken(50, "x", status=503), taken(100)])
    told = known_intervals(seen, {}, urls=seen)
    assert [
        c.provable
        for c in coverage(stretches(told), [math.inf] * len(told), [at(50), at(100), at(101)], 1)
    ] == [1, 1, 0]


def test_two_sights_of_one_instant_count_once() -> None:
    known = validities([taken(0), taken(0, "B"), taken(10, "B")])
    assert [
        c.provable
        for c in coverage(stretches(known), [math.inf] * len(known), [at(0), at(5), at(10)], 1)
    ] == [
        1,
        1,
        1,
    ]


@pytest.mark.parametrize(
    ("elapsed", "gap", "rate", "expected"),
    [
        (2, 5, 0.3, (math.exp(-0.6) - math.exp(-1.5)) / (1 - math.exp(-1.5))),
        (2, math.inf, 0.3, math.exp(-0.6)),
        (2, 5, 1e-18, 0.6),  # the limit 1 - t/g
        (2, 5, 1e-320, 0.6),
        (2, 5, 0, 0.6),
        (2, 5, 1e9, 0),
        (2, 5, math.inf, 0),
        (0, 5, math.inf, 1),
        (0, 0, 0.3, 0),  # nothing lies between two sights of one instant
        (2, math.inf, 0, 1),
    ],
)
def test_what_was_seen_last_is_still_there(
    elapsed: float, gap: float, rate: float, expected: float
) -> None:
    assert float(expected_valid(elapsed, gap, rate)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("wrong", [(-1, 5, 1), (1, -5, 1), (1, 5, -1), (math.nan, 5, 1)])
def test_times_and_rates_are_not_negative(wrong: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="not negative"):
        expected_valid(*wrong)


def test_an_interval_does_not_end_before_it_begins() -> None:
    with pytest.raises(ValueError, match="ends before it begins"):
        stab([2], [1])
    with pytest.raises(ValueError, match="as many"):
        stab([1, 2], [3])


def test_a_304_by_a_date_that_was_wrong_before_proves_no_coherence_of_the_whole() -> None:
    dated = taken(-9, last_modified=at(-2 * DAY / SECOND))
    other = "http://example.org/other"
    captures = [
        dated,
        unchanged(9, dated, etag=None, last_modified=dated.last_modified),
        taken(5, url=other, record_id="other"),
    ]
    assert stood_together(captures, host_trust={HOST: TRUSTED})[0] == "coherent"
    doubtful = replace(TRUSTED, doubted=("http://example.org/", URL))
    assert doubtful.doubts(URL)
    assert not doubtful.doubts(other)
    assert stood_together(captures, host_trust={HOST: doubtful})[0] == "unknown"
    assert outcome(*captures[:2], trust=doubtful) == unknown(Reason.UNTRUSTED_DATES)


class Hashed(str):
    """A text that counts how often any of its kind was looked up."""

    times = 0

    def __hash__(self) -> int:
        Hashed.times += 1
        return super().__hash__()


def test_a_long_chain_of_revisits_that_somebody_made_up_is_followed_once() -> None:
    count = 500
    names = [Hashed(f"http://{HOST}/{number:04}") for number in range(count)]
    first = taken(-9, url=names[0])
    chain = [
        same_again(-8 + number, first, url=name, refers_to_url=before, record_id=str(number))
        for number, (before, name) in enumerate(pairwise(names))
    ]
    Hashed.times = 0
    measure(chain[-1:], REFERENCE, mode=Mode.OFF, host_trust={}, known=[first, *chain])
    assert Hashed.times < 100 * count


def test_revisits_of_revisits_are_followed_once_however_many_there_are() -> None:
    first = taken(-1000)
    chain = [first]
    for number in range(1000):
        chain.append(same_again(number - 999, chain[-1], digest=None, record_id=str(number)))
    found = observe(chain)[URL]
    assert {sight.content for sight in found} == {first.content}
    circle = [
        replace(each, content=None, refers_to_at=other.at)
        for each, other in zip(chain[1:4], chain[2:4] + chain[1:2], strict=True)
    ]
    assert [sight.content for sight in observe(circle)[URL]] == [None] * 3
    steps = 0

    class Counted(Held):
        def within(self, key: str, at: int) -> Sequence[Capture]:
            nonlocal steps
            steps += 1
            return super().within(key, at)

    reader = Reader(Counted(chain))
    assert {reader.read(each).source for each in reversed(chain[1:])} == {first}
    assert steps == len(chain) - 1


# -- A, B, and A again ----------------------------------------------------------------------------

TAGGED = taken(0, etag='"a"')
MOVED: dict[str, Any] = {"status": 301, "redirect": "http://example.org/new"}


def looks(contents: str) -> list[Capture]:
    """A download of each content, one after the other."""
    return [taken(10 * place, content) for place, content in enumerate(contents)]


def counted_returns(captures: list[Capture], trust: HostTrust | None = None) -> Returns:
    told = {} if trust is None else {HOST: trust}
    [(_, runs, _)] = firm_runs(observe(captures), told)
    return returns_of(runs)


@pytest.mark.parametrize(
    ("captures", "found"),
    [
        (looks("AB"), Returns(0, 0, 0)),
        (looks("AAA"), Returns(1, 0, 0)),
        (looks("AAB"), Returns(1, 0, 0)),
        (looks("ABC"), Returns(1, 1, 0)),
        (looks("ABA"), Returns(1, 1, 1)),
        (looks("ABBA"), Returns(1, 1, 1)),
        (looks("ABABC"), Returns(1, 3, 2)),
        (looks("ABCA"), Returns(1, 2, 1)),
        # Gone and elsewhere are other than there.
        ([taken(0), taken(1, "x", status=404), taken(2)], Returns(1, 1, 1)),
        ([taken(0), taken(1, "x", **MOVED), taken(2), taken(3, "y", **MOVED)], Returns(1, 2, 2)),
        # An error is no look, nor is what cannot be compared.
        ([taken(0), taken(1, "x", status=503), taken(2)], Returns(0, 0, 0)),
        # Redirects have equal bodies, and lead elsewhere.
        ([taken(n, **MOVED | {"redirect": f"/{n % 2}"}) for n in range(3)], Returns(1, 1, 1)),
        ([taken(0), taken(1, content="sha256:" + "A" * 52 + "===="), taken(2)], Returns(0, 0, 0)),
        # A strong 304 shows a content, that of a host that was caught nothing.
        ([TAGGED, taken(1, "B"), unchanged(2, TAGGED)], Returns(1, 1, 1)),
    ],
)
def test_returns_are_counted_of_further_changes(captures: list[Capture], found: Returns) -> None:
    assert counted_returns(captures) == found


def test_equal_bytes_of_a_later_date_were_not_seen_to_change() -> None:
    first = taken(0)
    again = taken(10, last_modified=first.at + 5_000_000)
    found = counted_returns([first, again, taken(20, "B")], HostTrust(HOST, skew=0))
    assert found == Returns(1, 0, 0)


def test_the_word_of_a_host_that_was_caught_shows_no_return() -> None:
    caught = HostTrust(HOST, validators_wrong=1, trusts_validators=False)
    found = counted_returns([TAGGED, taken(1, "B"), unchanged(2, TAGGED)], caught)
    assert found == Returns(0, 0, 0)
