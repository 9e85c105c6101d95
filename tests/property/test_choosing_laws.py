"""Laws of choosing: what is shown as of a moment is the best there is, and called what it is."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from asof.catalog.observe import Observation, observe
from asof.clock import DAY, SECOND, Instant
from asof.coherence.measure import Believed, believed
from asof.coherence.verdict import HostTrust
from asof.model import Capture, Location, State
from asof.replay.choose import HOLDING, RANK, Choice, Policy, Verdict, chosen, rated
from asof.url import surt
from support.laws import examples

URL = "http://example.org/logo.png"
START = 1_700_000_000 * SECOND
SPAN = 40  # seconds in which everything happens; moments are in tenths of them


def capture(number: int, at: Instant, letter: str, kind: str, modified: int | None) -> Capture:
    whole = Capture(
        url=URL, surt=surt(URL), at=at, kind="response", status=200, media_type="image/png",
        digest=f"sha1:{letter * 32}", content=f"sha1:{letter * 32}", size=1,
        record_id=f"r{number:03}", where=Location("f", number, 1), crawl=None, etag=f'"{letter}"',
        last_modified=None if modified is None else START + modified * SECOND,
    )  # fmt: skip
    if kind == "error":
        return replace(whole, status=503, etag=None, last_modified=None)
    if kind == "cut":
        return replace(whole, truncated="length")
    if kind == "gone":
        return replace(whole, status=404, etag=None, last_modified=None)
    if kind in ("strong", "weak"):
        tag = f'"{letter}"' if kind == "strong" else f'W/"{letter}"'
        return replace(
            whole, kind="revisit", status=304, profile="server-not-modified", content=None, etag=tag
        )
    return whole


KINDS = ["plain"] * 6 + ["strong", "weak", "gone", "error", "cut"]
moments = st.integers(0, SPAN * 10).map(lambda tenth: START + tenth * SECOND // 10)
rows = st.lists(
    st.tuples(
        moments,
        st.sampled_from("ABC"),
        st.sampled_from(KINDS),
        st.none() | st.integers(-20, SPAN),
    ),
    min_size=1,
    max_size=9,
).map(lambda given: [capture(number, *row) for number, row in enumerate(given)])
trusts = st.builds(
    HostTrust,
    st.just("example.org"),
    dates_wrong=st.sampled_from([0, 0, 1]),
    skew=st.sampled_from([None, 0, 0, SECOND]),
    trusts_dates=st.booleans(),
    trusts_validators=st.booleans(),
    doubted=st.sampled_from([(), (), (URL,)]),
    lag=st.sampled_from([0, 5 * SECOND]),
)
few = settings(max_examples=examples(300))


def known_of(captures: list[Capture], trust: HostTrust) -> Believed:
    return believed(URL, observe(captures)[URL], trust)


def pick(known: Believed, at: Instant, policy: Policy = Policy.COHERENT) -> Choice:
    return chosen(URL, at, rated(known, at), policy)


def content(known: Believed, choice: Choice) -> str | None:
    found = [sight for sight in known.seen if sight.capture == choice.capture]
    return found[0].identity if found else None


@few
@given(rows, trusts, moments)
def test_more_freedom_never_makes_a_choice_worse(
    captures: list[Capture], trust: HostTrust, at: Instant
) -> None:
    known = known_of(captures, trust)
    strict, coherent, nearest = (
        pick(known, at, policy) for policy in (Policy.STRICT, Policy.COHERENT, Policy.NEAREST)
    )
    assert RANK[coherent.verdict] <= RANK[strict.verdict]
    assert strict.verdict in (coherent.verdict, Verdict.MISSING)
    # The nearest is never missing where another is not, and never better than the coherent one.
    assert nearest.verdict is not Verdict.MISSING or coherent.verdict is Verdict.MISSING
    if nearest.verdict is not Verdict.VIOLATED:
        assert RANK[coherent.verdict] <= RANK[nearest.verdict]


@few
@given(rows, trusts, moments)
def test_what_is_violated_is_never_shown_and_nothing_is_shown_without_a_capture(
    captures: list[Capture], trust: HostTrust, at: Instant
) -> None:
    known = known_of(captures, trust)
    for policy in (Policy.COHERENT, Policy.STRICT):
        choice = pick(known, at, policy)
        assert choice.verdict is not Verdict.VIOLATED
        assert (choice.capture is None) is (choice.verdict is Verdict.MISSING)
        if choice.capture is not None and choice.capture.at > at:
            assert choice.verdict in HOLDING | {Verdict.DOUBTFUL}
        if policy is Policy.STRICT:
            assert choice.verdict is not Verdict.DOUBTFUL


@few
@given(rows, trusts, moments, st.booleans())
def test_only_equal_bytes_on_both_sides_or_at_the_moment_prove(
    captures: list[Capture], trust: HostTrust, at: Instant, named: bool
) -> None:
    at = at - at % SECOND + SECOND - 1 if named else at
    known = known_of(captures, trust)
    for policy in Policy:
        choice = pick(known, at, policy)
        if choice.verdict is not Verdict.PROVEN:
            continue
        begin = at - at % SECOND if named else at
        downloads = [sight for sight in known.seen if sight.is_bytes]
        at_it = [sight for sight in downloads if begin <= sight.at <= at]
        before = {_shows(sight) for sight in downloads if sight.at <= at}
        after = {_shows(sight) for sight in downloads if sight.at >= at}
        assert at_it or before & after


def _shows(sight: Observation) -> object:
    return State.GONE if sight.state is State.GONE else sight.content


@few
@given(rows, trusts)
def test_inside_a_validity_that_content_is_shown(captures: list[Capture], trust: HostTrust) -> None:
    known = known_of(captures, trust)
    for run in known.runs:
        if all(sight.source is None for sight in run.seen):
            continue
        at = (run.since + run.until) // 2
        choice = pick(known, at)
        assert (choice.since, choice.until) == (run.since, run.until)
        assert content(known, choice) in {sight.identity for sight in run.seen}


@few
@given(rows, trusts, st.lists(st.sampled_from("ABCD"), max_size=4))
def test_captures_far_away_change_nothing_that_is_proven(
    captures: list[Capture], trust: HostTrust, letters: list[str]
) -> None:
    # Of two that share an instant nobody knows the order: what is near them may decide it.
    assume(len({each.at for each in captures}) == len(captures))
    known = known_of(captures, trust)
    far = [
        capture(100 + place, START + (place + 1) * (-1) ** place * 30 * DAY, letter, "plain", None)
        for place, letter in enumerate(letters)
    ]
    later = known_of([*captures, *far], trust)
    for run in known.runs:
        at = (run.since + run.until) // 2
        choice, again = pick(known, at), pick(later, at)
        if choice.verdict is Verdict.PROVEN:
            assert again.verdict is Verdict.PROVEN
            assert content(later, again) == content(known, choice)


@few
@given(rows, trusts, moments, st.randoms(use_true_random=False), st.sampled_from(Policy))
def test_the_order_of_rows_does_not_matter(
    captures: list[Capture], trust: HostTrust, at: Instant, random: object, policy: Policy
) -> None:
    shuffled = list(captures)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = (pick(known_of(each, trust), at, policy) for each in (captures, shuffled))
    assert first == second
