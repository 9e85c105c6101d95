"""Laws of coherence: no verdict is better than the truth, whatever a server says.

A server with a known history, honest or lying, is asked by a crawler that keeps what ours keeps. No
content ever comes back (A-B-A), which is the one thing that no evidence can exclude.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from asof.clock import SECOND, Instant
from asof.coherence.host_trust import learn_host_trust, skew_of
from asof.coherence.intervals import coherence, curve, expected_valid, observable, stab, thinned
from asof.coherence.measure import measure
from asof.coherence.verdict import COHERENT, Measurement, Mode, Reason
from asof.model import Capture, Grade, Location
from support.captures import plain_capture
from support.laws import examples
from support.together import stood_together

HOST = "example.org"
START = 1_700_000_000 * SECOND
GONE = "gone"
LETTERS = dict(zip([*map(str, range(6)), GONE], "ABCDEFG", strict=True))


@dataclass
class Server:
    """A site that changes at given moments, and answers as it likes."""

    random: Random
    changes: dict[str, list[Instant]]
    removed: dict[str, Instant]
    tags: str
    dates: str
    skew: int
    lies: float  # how often a 304 is given for what has changed

    def version(self, url: str, at: Instant) -> str:
        """What there is at a moment: the truth."""
        if at >= self.removed.get(url, at + 1):
            return GONE
        return str(bisect_right(self.changes[url], at))

    def tag(self, url: str, at: Instant) -> str | None:
        version = self.version(url, at)
        return {
            "strong": f'"{version}"',
            # Every other change counts for nothing, they say.
            "weak": f'W/"{int(version) // 2 if version != GONE else 0}"',
            "none": None,
            "random": f'"{self.random.random()}"',
            "constant": '"1"',
        }[self.tags]

    def modified(self, url: str, at: Instant) -> Instant | None:
        past = [moment for moment in self.changes[url] if moment <= at]
        true = (past[-1] if past else START - 10_000 * SECOND) + self.skew
        said = {
            "honest": true,
            "none": None,
            "past": true - 500 * SECOND,
            "future": at + self.skew + 5_000 * SECOND,
            "now": at + self.skew,
            "constant": START - 77 * SECOND,
            "random": START + self.random.randrange(-900, 900) * SECOND,
        }[self.dates]
        return None if said is None else said // SECOND * SECOND

    def is_unchanged(self, url: str, at: Instant, last: Capture) -> bool:
        """Whether it answers 304 (RFC 9110 section 13.2.2)."""
        if self.version(url, at) == GONE:
            return False
        if self.random.random() < self.lies:
            return True
        if last.etag is not None:
            return self.tag(url, at) == last.etag
        modified = self.modified(url, at)
        asked = last.last_modified
        return modified is not None and asked is not None and modified <= asked


@dataclass
class Crawler:
    """Keeps what a server answers, as ours does."""

    server: Server
    captures: list[Capture] = field(default_factory=list)
    last: dict[str, Capture] = field(default_factory=dict)

    def ask(self, url: str, at: Instant, *, conditional: bool = False, fate: str = "") -> Capture:
        server, last = self.server, self.last.get(url)
        version = server.version(url, at)
        number = len(self.captures)
        plain = plain_capture(
            url,
            at,
            status=404 if version == GONE else 200,
            digest=f"sha1:{version}",
            content="sha1:" + LETTERS[version] * 32,
            record_id=f"record-{number:04}",
            where=Location("file", number, 1),
            crawl="one",
            etag=None if version == GONE else server.tag(url, at),
            last_modified=None if version == GONE else server.modified(url, at),
        )
        if fate == "error":
            plain = replace(plain, status=503, content="sha1:" + "X" * 32, etag=None)
        elif fate == "cut":
            plain = replace(plain, truncated="length", content="sha1:" + "Y" * 32)
        elif conditional and last is not None and server.is_unchanged(url, at, last):
            plain = replace(
                plain, kind="revisit", status=304, profile="server-not-modified", content=None,
                digest=last.digest, etag=last.etag,  # the date is that of now
                refers_to_url=url, refers_to_at=last.at,
            )  # fmt: skip
        elif last is not None and last.content == plain.content:
            plain = replace(
                plain, kind="revisit", profile="identical-payload-digest", content=None,
                refers_to_url=url, refers_to_at=last.at,
            )  # fmt: skip
        self.captures.append(plain)
        if plain.status == 200 and not plain.truncated:
            held = plain.content or (None if last is None else last.content)
            self.last[url] = replace(plain, content=held)
        return plain


# The honest ones first.
TAGS = ["strong", "weak", "none", "random", "constant"]
DATES = ["honest", "none", "past", "future", "now", "constant", "random"]
SPAN = 400 * SECOND
# A history is made of a seed in plain Python: drawing its hundred parts one by one took hypothesis
# tens of times as long as judging it.
SEEDS = st.integers(0, 2**63)
FEW = 400


def moment(random: Random) -> Instant:
    """Whole seconds are where dates are exact, so every other one is."""
    found = random.randrange(SPAN)
    return START + (found if random.random() < 0.5 else found // SECOND * SECOND)


def changes_of(random: Random) -> list[Instant]:
    """Some of them twice within a second, which a date cannot tell apart."""
    found = {moment(random) for _ in range(random.choice([0, 1, 1, 2, 3]))}
    twice = {at + random.randrange(SECOND) for at in found if random.random() < 0.5}
    return sorted(found | twice)[:5]


def server_of(random: Random, *, honest: bool) -> Server:
    urls = [f"http://{HOST}/{name}" for name in "abc"[: random.randint(1, 3)]]
    return Server(
        random=random,
        changes={url: changes_of(random) for url in urls},
        removed={url: moment(random) for url in urls if random.random() < 0.2},
        tags=random.choice(TAGS[: 3 if honest else None]),
        dates=random.choice(DATES[: 2 if honest else None]),
        skew=random.choice([0, 0, 7200, -86_000]) * SECOND + random.randrange(SECOND),
        lies=0.0 if honest else random.choice([0.0, 0.5, 1.0]),
    )


def crawl_of(seed: int, *, honest: bool, audits: bool = False) -> tuple[Crawler, Instant]:
    """A crawler that has asked many times, and a moment: any, or that of a capture."""
    random = Random(seed)
    server = server_of(random, honest=honest)
    crawler, urls = Crawler(server), sorted(server.changes)
    changes = [at for url in urls for at in server.changes[url]] or [START]

    def some_moment() -> Instant:
        """Often just before or after a change: that is where dates of whole seconds fail."""
        if random.random() < 0.5:
            return moment(random)
        return random.choice(changes) + random.randrange(-3 * SECOND, 3 * SECOND)

    for at in sorted({some_moment() for _ in range(random.randint(1, 14))}):
        url, fate = random.choice(urls), random.choice(["", "", "", "", "error", "cut"])
        found = crawler.ask(url, at, conditional=random.random() < 0.6, fate=fate)
        if audits and found.status == 304:
            crawler.ask(url, at + 1)
    at_capture = random.random() < 0.3
    return crawler, random.choice(crawler.captures).at if at_capture else some_moment()


def judged(crawler: Crawler, reference: Instant, *, policy: str = "auto") -> Measurement:
    """By what an archive of these captures, and the Date of their records, would say."""
    server = crawler.server
    dates = [(c.at, (c.at + server.skew) // SECOND * SECOND) for c in crawler.captures]
    learnt = learn_host_trust(crawler.captures, {HOST: skew_of(dates)}, policy=policy)  # type: ignore[arg-type]
    return measure(crawler.captures, reference, mode=Mode.INDUCIBLE, host_trust=learnt)


def untrue(crawler: Crawler, found: Measurement, grades: frozenset[Grade]) -> list[str]:
    """Pages of these grades that were something else at the moment than the evidence shows."""
    by_id = {capture.record_id: capture for capture in crawler.captures}
    wrong = []
    for page in found.pages:
        cited = page.after if page.grade is Grade.CLAIMED else page.before
        if page.grade in grades and cited is not None:
            shown = by_id[cited.record_id]
            at = shown.at if shown.refers_to_at is None else shown.refers_to_at
            server = crawler.server
            if server.version(page.url, at) != server.version(page.url, found.reference):
                wrong.append(f"{page} showed {server.version(page.url, at)}")
    return wrong


@settings(max_examples=examples(FEW), deadline=None)
@given(SEEDS)
def test_of_an_honest_server_nothing_is_called_coherent_that_was_not(seed: int) -> None:
    crawler, reference = crawl_of(seed, honest=True)
    for policy in ("auto", "always"):
        assert not untrue(crawler, judged(crawler, reference, policy=policy), COHERENT)


@settings(max_examples=examples(FEW), deadline=None)
@given(SEEDS)
def test_nothing_is_called_proven_that_was_not_whatever_the_server_says(seed: int) -> None:
    crawler, reference = crawl_of(seed, honest=False)
    found = judged(crawler, reference, policy="always")
    assert not untrue(crawler, found, frozenset((Grade.PROVEN,)))


@settings(max_examples=examples(FEW), deadline=None)
@given(SEEDS)
def test_a_server_whose_answers_are_checked_gets_no_false_confirmation_through(seed: int) -> None:
    crawler, reference = crawl_of(seed, honest=False, audits=True)
    found = judged(crawler, reference, policy="never")
    assert not untrue(crawler, found, frozenset((Grade.PROVEN, Grade.CONFIRMED)))


@settings(max_examples=examples(FEW), deadline=None)
@given(SEEDS)
def test_every_verdict_stands_on_its_evidence_or_says_why_not(seed: int) -> None:
    crawler, reference = crawl_of(seed, honest=False)
    found = judged(crawler, reference)
    for page in found.pages:
        assert (page.reason is Reason.NONE) == page.is_coherent
        assert page.since <= page.until
        assert page.before is None or page.before.at <= reference
        assert page.after is None or page.after.at >= reference
        if page.is_coherent:
            assert page.since <= reference <= page.until
            assert page.after is not None or page.before is not None
    shuffled = list(crawler.captures)
    Random(seed).shuffle(shuffled)
    assert judged(Crawler(crawler.server, shuffled), reference) == found


@settings(max_examples=examples(FEW), deadline=None)
@given(SEEDS)
def test_pages_are_called_coherent_or_incoherent_only_if_they_were(seed: int) -> None:
    """Definition 3.1 against the truth: contents of the first downloads, and when they stood."""
    crawler, _ = crawl_of(seed, honest=True)
    first: dict[str, Capture] = {}
    for capture in crawler.captures:
        if capture.status == 200 and not capture.truncated:
            first.setdefault(capture.url, capture)
    server = crawler.server
    events = [
        START,
        *(m + d for url in server.changes for m in server.changes[url] for d in (-1, 0)),
    ]
    events += [m + d for m in server.removed.values() for d in (-1, 0)] + [START + 401 * SECOND]
    together = any(
        all(server.version(url, at) == server.version(url, c.at) for url, c in first.items())
        for at in events
    )
    answer, stretch = stood_together(crawler.captures)
    if answer == "coherent":
        assert together
        assert stretch is not None
        for url, capture in first.items():
            for at in stretch:
                assert server.version(url, at) == server.version(url, capture.at)
    elif answer == "incoherent":
        assert not together


# -- intervals -------------------------------------------------------------------------------------

INTERVALS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted), max_size=8)


@given(INTERVALS)
def test_the_best_stretch_is_what_counting_at_every_moment_finds(made: list[list[int]]) -> None:
    best = stab([since for since, _ in made], [until for _, until in made])
    counts = [sum(since <= t <= until for since, until in made) for t in range(13)]
    assert best.count == max(counts)
    if not made:
        return
    assert min(counts[best.since : best.until + 1]) == best.count
    # The stretches at which as many hold, by the intervals that hold there.
    held = [tuple(since <= t <= until for since, until in made) for t in range(13)]
    stretches: dict[tuple[bool, ...], list[int]] = {}
    for t in range(13):
        if counts[t] == best.count:
            stretches.setdefault(held[t], []).append(t)
    expected = max((ts[-1] - ts[0], ts[0]) for ts in stretches.values())
    assert (best.until - best.since, best.since) == expected


@given(INTERVALS)
def test_a_curve_counts_what_holds(made: list[list[int]]) -> None:
    moments, counts = curve([since for since, _ in made], [until for _, until in made])
    assert np.all(np.diff(moments) > 0)
    for t in range(14):
        place = int(np.searchsorted(moments, t, side="right")) - 1
        expected = sum(since <= t <= until for since, until in made)
        assert (int(counts[place]) if place >= 0 else 0) == expected


@given(st.lists(st.integers(0, 50), min_size=1, max_size=300), st.integers(4, 40))
def test_a_thinned_curve_keeps_its_ends_and_its_extremes(heights: list[int], most: int) -> None:
    moments, counts = np.arange(len(heights)) ** 2, np.array(heights)
    few, kept = thinned(moments, counts, most)
    assert len(few) <= most
    assert (few[0], few[-1]) == (moments[0], moments[-1])
    assert (kept.min(), kept.max()) == (counts.min(), counts.max())
    assert set(zip(few.tolist(), kept.tolist(), strict=True)) <= set(
        zip(moments.tolist(), heights, strict=True)
    )


@given(INTERVALS.filter(bool))
def test_intervals_cohere_where_all_of_them_hold(made: list[list[int]]) -> None:
    together = [t for t in range(13) if all(since <= t <= until for since, until in made)]
    found = coherence((since, until) for since, until in made)
    assert found == ((together[0], together[-1]) if together else None)
    assert observable((since, until) for since, until in made) == found


@given(
    st.floats(0, 1e9),
    st.floats(0, 1e9) | st.just(float("inf")),
    st.floats(0, 1e6) | st.sampled_from([1e-320, 1e-18, float("inf")]),
)
def test_a_probability_is_one_and_falls(elapsed: float, gap: float, rate: float) -> None:
    def likely(t: float) -> float:
        return float(expected_valid(t, gap, rate))

    assert 0 <= likely(elapsed) <= 1
    assert likely(elapsed) <= likely(elapsed / 2) + 1e-12
    if gap > 0:
        assert likely(0) == 1
    if gap < float("inf"):
        assert likely(gap) == 0
