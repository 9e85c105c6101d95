"""All readers of captures say the same: laws over archives made at random.

Records name each other as they please: rightly, wrongly, by the second, by digest, not at all.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asof.archive import OpenArchive
from asof.catalog.derive import derive
from asof.catalog.observe import Firmness, Observation, Silence, observe
from asof.catalog.validity import intervals
from asof.change.texts import Texts
from asof.change.version import version_of
from asof.clock import SECOND, Instant, iso
from asof.coherence.certificate import Choice
from asof.coherence.gather import Catalogued, gather, learn_trust_in
from asof.coherence.history import history
from asof.coherence.observations import runs
from asof.errors import NotCaptured
from asof.model import Capture, Segment, State, Validity
from asof.url import host_of
from asof.warc.digest import digest_text
from asof.warc.reader import scan
from asof.warc.record import StoredRecord
from support.catalog_entry import enter
from support.laws import examples

START = 1_700_000_000 * SECOND
URLS = [
    "http://one.example/page",
    "https://one.example/page",
    "http://one.example/other",
    "http://two.example/page",
]
ENTITIES = [b"<p>one and the same</p>", b"<p>another</p>"]
PACKED = [gzip.compress(entity, mtime=0) for entity in ENTITIES]
DATES = ["Mon, 01 Feb 2021 00:00:00 GMT", "Tue, 02 Feb 2021 00:00:00 GMT"]
STATUSES = ["200 OK"] * 5 + ["404 Gone", "206 Part", "503 Ill", "302 Found", "304 Same"]
moments = st.tuples(st.integers(0, 4), st.sampled_from([0, 0, 250_000]))
payloads = st.sampled_from([*ENTITIES, *PACKED])


def digest(data: bytes) -> str:
    return digest_text(sha256(data).digest())


@dataclass(frozen=True)
class Made:
    """A record to be: what it says of itself, and what it refers to."""

    url: str
    at: Instant
    profile: str
    status: str
    payload: bytes
    coded: bool
    headers: tuple[tuple[str, str], ...]
    to_url: str | None
    to_at: Instant | None
    says_digest: bool
    has_head: bool
    cut: bool

    def record(self, number: int) -> bytes:
        coding = (("Content-Encoding", "gzip"),) if self.coded else ()
        lines = [f"{name}: {value}" for name, value in (*coding, *self.headers)]
        block = "\r\n".join([f"HTTP/1.1 {self.status}", *lines, "", ""]).encode()
        fields = [
            f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number:012}>",
            f"WARC-Date: {iso(self.at)}",
            f"WARC-Target-URI: {self.url}",
        ]
        if self.profile:
            block = block if self.has_head else b""
            profile = f"http://netpreserve.org/warc/1.1/revisit/{self.profile}"
            fields += ["WARC-Type: revisit", f"WARC-Profile: {profile}"]
            fields += [f"WARC-Refers-To-Target-URI: {self.to_url}"] if self.to_url else []
            fields += [f"WARC-Refers-To-Date: {iso(self.to_at)}"] if self.to_at else []
        else:
            block += self.payload
            fields += ["WARC-Type: response"]
            fields += ["WARC-Truncated: length"] if self.cut else []
        if self.says_digest or not self.profile:
            fields.append(f"WARC-Payload-Digest: {digest(self.payload)}")
        fields.append(f"Content-Length: {len(block)}")
        return "\r\n".join(["WARC/1.1", *fields, "", ""]).encode() + block + b"\r\n\r\n"


@st.composite
def a_record(draw: st.DrawFn) -> Made:
    second, fraction = draw(moments)
    profile = draw(st.sampled_from(["", "", "identical-payload-digest", "server-not-modified"]))
    status = draw(st.sampled_from(STATUSES))
    if profile == "server-not-modified":
        status = "304 Same"
    headers = []
    if tag := draw(st.sampled_from(["", "", '"a"', '"b"', 'W/"a"'])):
        headers.append(("ETag", tag))
    if date := draw(st.sampled_from(["", "", *DATES])):
        headers.append(("Last-Modified", date))
    if status.startswith("302"):
        headers.append(("Location", draw(st.sampled_from(["/", "/login", "/else"]))))
    # A 304 that was kept like a page has no body.
    payload = draw(payloads) if profile or not status.startswith("304") else b""
    named = draw(st.none() | moments)
    return Made(
        draw(st.sampled_from(URLS)),
        START + second * SECOND + fraction,
        profile,
        status,
        payload,
        payload in PACKED and draw(st.integers(0, 5)) > 0,
        tuple(headers),
        draw(st.none() | st.sampled_from(URLS)),
        None if named is None else START + named[0] * SECOND + named[1],
        draw(st.booleans()),
        draw(st.integers(0, 5)) > 0,
        draw(st.integers(0, 9)) == 0,
    )


histories = st.lists(a_record(), min_size=2, max_size=9)


@contextmanager
def archived(made: list[Made]) -> Iterator[OpenArchive]:
    with TemporaryDirectory() as folder:
        with OpenArchive.write(folder, purpose="test") as archive:
            path = archive.folder.warc / "000001-test.warc"
            path.write_bytes(b"".join(each.record(n) for n, each in enumerate(made)))
            with archive.ledger.transaction():
                segment = archive.catalog.put_segment(Segment(path.name, path.stat().st_size))
                found = [derive(each) for each in scan(path) if isinstance(each, StoredRecord)]
                enter(archive.catalog, [each for each in found if each is not None], segment)
        with OpenArchive.open(Path(folder)) as archive:
            yield archive


def by_record(seen: list[Observation]) -> dict[str, Observation]:
    return {each.capture.record_id: each for each in seen}


def by_memory(archive: OpenArchive) -> dict[str, Observation]:
    """As coherence reads: of captures that were gathered."""
    everything = gather(Catalogued(archive), Choice()).everything
    return by_record([each for seen in observe(everything).values() for each in seen])


def reading(seen: Observation) -> tuple[object, ...]:
    return seen.state, seen.why, seen.firmness, seen.status, seen.redirect, seen.identity


LAW = settings(
    max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@LAW
@given(histories)
def test_all_readers_name_the_same_content_and_state(made: list[Made]) -> None:
    with archived(made) as archive, Texts(archive) as texts:
        known = by_memory(archive)
        captures = list(archive.captures())
        assert {capture.record_id for capture in captures} == set(known)
        for capture in captures:
            seen = known[capture.record_id]
            assert reading(archive.catalog.observation(capture)) == reading(seen)
            version = texts.version(capture)
            assert (version.state, version.entity) == (seen.state, seen.content)
            assert version == version_of(archive.catalog.observation(capture))
        for url in URLS:
            host = host_of(url)
            trust = learn_trust_in(archive, [host])[host]
            for validity in history(archive, url):
                if validity.status == 304 and known[validity.evidence[0].record_id].status != 304:
                    # The word of a host that was caught, by its validators or its dates.
                    assert not trust.trusts_validators or trust.dates_wrong
                else:
                    _ends_show_what_is_claimed(validity, known)


def _ends_show_what_is_claimed(validity: Validity, known: dict[str, Observation]) -> None:
    """No content is claimed for a time that does not lie between two captures which show it."""
    shown = [known[evidence.record_id] for evidence in validity.evidence]
    assert (validity.since, validity.until) == (shown[0].at, shown[-1].at)
    for seen in shown:
        assert validity.content == seen.identity
        assert (validity.state, validity.status) == (seen.state, seen.status)
    if validity.state is State.SILENT and shown[0].confirms:
        assert len(shown) == 1


@LAW
@given(histories)
def test_what_is_replayed_is_the_content_that_is_told(made: list[Made]) -> None:
    with archived(made) as archive:
        for capture in archive.captures():
            seen = archive.catalog.observation(capture)
            try:
                memento = archive.read(capture)
            except NotCaptured:
                assert seen.source is None
                continue
            assert seen.source is not None
            data = b"".join(memento.payload())
            if seen.content is not None:
                assert digest(data) == seen.content
            if seen.state is not State.SILENT:
                assert memento.status == seen.status


@LAW
@given(histories, st.randoms())
def test_the_order_of_the_captures_does_not_matter(made: list[Made], random: Random) -> None:
    with archived(made) as archive:
        captures: list[Capture] = list(archive.captures())
    once = observe(captures)
    random.shuffle(captures)
    again = observe(captures)
    assert once == again
    for seen in once.values():
        for each in seen:
            _silence_has_a_reason(each)
        told = [each for each in seen if each.why is Silence.NONE]
        for run in runs(told):
            contents = {each.content for each in run.seen if each.content is not None}
            is_one = run.mixed or run.state is not State.PRESENT
            assert is_one or len(contents) <= 1 or any(each.capture.etag for each in run.seen)
        assert len(intervals(seen)) <= len(seen)


def _silence_has_a_reason(seen: Observation) -> None:
    if seen.unclear and seen.confirms:
        assert (seen.content, seen.source, seen.name) == (None, None, None)
        # A digest of something that is not held is all that is known of it.
        is_silent = (seen.state, seen.why) == (State.SILENT, Silence.UNKNOWN)
        assert is_silent or seen.identity == seen.digest
    if seen.state is State.SILENT:
        assert seen.why is not Silence.NONE
    assert seen.confirms or seen.firmness is Firmness.BYTES
