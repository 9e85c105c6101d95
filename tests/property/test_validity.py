"""Laws of validity intervals, on captures made at random."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from asof.catalog.validity import validities
from asof.clock import SECOND
from asof.model import Capture, Location, Validity
from support.captures import plain_capture

URLS = ["http://example.org/", "http://example.org/other"]
START = 1_700_000_000 * SECOND


def capture(
    number: int, *, at: int, content: str | None = "A", url: str = URLS[0], **fields: Any
) -> Capture:
    """A plain download, unless `fields` say otherwise; the digest follows from the content."""
    named = {
        "digest": f"sha1:{content}",
        "content": None if content is None else f"sha256:{content}",
        "record_id": f"record-{number:03}",
        "where": Location("file", number, 1),
    }
    return plain_capture(url, at, **(named | fields))


@st.composite
def captures(draw: st.DrawFn, first: int = 0, revisits: bool = True) -> list[Capture]:
    """Downloads with few contents and close dates, and revisits that refer to some of them."""
    made = []
    for number in range(first, first + draw(st.integers(0, 8))):
        at = START + draw(st.integers(0, 12)) * SECOND // 2
        modified = draw(st.none() | st.integers(-4, 12))
        made.append(
            capture(
                number,
                at=at,
                content=draw(st.sampled_from("AB")),
                url=draw(st.sampled_from(URLS)),
                status=draw(st.sampled_from([200, 200, 404])),
                last_modified=None if modified is None else START + modified * SECOND,
            )
        )
    downloads = list(made)
    for number in range(50 + first, 50 + first + draw(st.integers(0, 4))):
        if not (downloads and revisits):
            break
        origin = draw(st.sampled_from(downloads))
        profile = draw(st.sampled_from(["server-not-modified", "identical-payload-digest"]))
        made.append(
            capture(
                number,
                at=origin.at + draw(st.integers(1, 12)) * SECOND // 2,
                url=draw(st.sampled_from(URLS)),
                kind="revisit",
                status=304 if profile == "server-not-modified" else origin.status,
                digest=origin.digest,
                content=None,
                profile=profile,
                refers_to_url=origin.url,
                refers_to_at=origin.at,
            )
        )
    return made


def of_url(found: list[Validity], url: str) -> list[Validity]:
    return [validity for validity in found if validity.url == url]


def sights(found: list[Validity]) -> dict[str, tuple[str, str]]:
    return {
        evidence.record_id: (validity.url, validity.content)
        for validity in found
        for evidence in validity.evidence
    }


@given(captures())
def test_intervals_of_a_url_are_ordered_and_disjoint(made: list[Capture]) -> None:
    seen = Counter((capture.url, capture.at) for capture in made)
    for url in URLS:
        found = of_url(validities(made), url)
        for validity in found:
            assert validity.since <= validity.until
        for earlier, later in pairwise(found):
            assert earlier.until <= later.since
            if earlier.until == later.since:  # two sights of one instant that differ
                assert seen[url, later.since] > 1
            assert (earlier.content, earlier.status) != (later.content, later.status)


@given(captures())
def test_every_capture_lies_in_exactly_one_interval(made: list[Capture]) -> None:
    found = validities(made)
    proofs = [(validity, evidence) for validity in found for evidence in validity.evidence]
    assert sorted(evidence.record_id for _, evidence in proofs) == sorted(
        capture.record_id for capture in made
    )
    assert all(validity.holds(evidence.at) for validity, evidence in proofs)
    for validity in found:
        ats = [evidence.at for evidence in validity.evidence]
        assert (validity.since, validity.until) == (ats[0], ats[-1])


@given(captures(), st.randoms())
def test_the_order_of_the_captures_does_not_matter(made: list[Capture], random: Random) -> None:
    shuffled = list(made)
    random.shuffle(shuffled)
    assert validities(shuffled) == validities(made)


@given(captures(), captures(first=20))
def test_more_captures_take_no_sight_away(made: list[Capture], more: list[Capture]) -> None:
    before, after = validities(made), validities(made + more)
    assert sights(before).items() <= sights(after).items()


@given(captures(), captures(first=20, revisits=False))
def test_an_interval_shrinks_only_if_something_else_was_seen_inside_it(
    made: list[Capture], more: list[Capture]
) -> None:
    # Two different sights of one instant could stand in either order; that is another law.
    one_each = {(capture.url, capture.at): capture for capture in [*more, *made]}
    made = [capture for capture in made if one_each[capture.url, capture.at] is capture]
    more = [capture for capture in more if one_each[capture.url, capture.at] is capture]
    # What falls into a second that a revisit names may be what it means.
    named = {capture.refers_to_at // SECOND for capture in made if capture.refers_to_at is not None}
    more = [capture for capture in more if capture.at // SECOND not in named]
    # Nor a revisit of what was left out: what it declares may be found later.
    held = {(capture.url, capture.at, capture.digest) for capture in made}
    made = [
        capture
        for capture in made
        if capture.refers_to_at is None
        or (capture.refers_to_url, capture.refers_to_at, capture.digest) in held
    ]
    after = validities(made + more)
    for old in validities(made):
        inside = [new for new in more if new.url == old.url and old.holds(new.at)]
        if all((new.status, new.content) == (old.status, old.content) for new in inside):
            assert any(
                new.url == old.url
                and (new.status, new.content) == (old.status, old.content)
                and new.since <= old.since
                and old.until <= new.until
                for new in after
            )


@given(captures())
def test_a_claim_never_contradicts_what_was_seen(made: list[Capture]) -> None:
    for url in URLS:
        found = of_url(validities(made), url)
        for earlier, later in pairwise([None, *found]):
            claimed = later.claimed_since if later else None
            if later is not None and claimed is not None:
                assert claimed <= later.since
                assert earlier is None or claimed >= earlier.until
