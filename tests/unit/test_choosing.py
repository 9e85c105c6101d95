"""What is kept between choices, and when it is learnt or read anew."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from asof.archive import OpenArchive
from asof.clock import SECOND, Instant
from asof.coherence import gather
from asof.coherence.trust_file import KeptTrust
from asof.coherence.verdict import HostTrust, Reason
from asof.model import Capture, Location, Segment
from asof.replay.choose import Chooser, Policy, Verdict
from asof.testing import SimulatedClock
from asof.url import surt
from support.catalog_entry import enter

START = 1_700_000_000 * SECOND
URL = "http://example.org/a.png"


def taken(second: int, body: str = "A", url: str = URL, modified: int | None = None) -> Capture:
    return Capture(
        url, "org,example)/a.png", START + second * SECOND, "response", 200, "image/png",
        f"sha1:{body * 32}", f"sha1:{body * 32}", 1, f"{second}{url}",
        Location("f.warc.gz", second, 1),
        last_modified=None if modified is None else START + modified * SECOND,
    )  # fmt: skip


def put(folder: Path, *captures: Capture, committed: int) -> None:
    with OpenArchive.write(folder, purpose="test") as archive, archive.ledger.transaction():
        number = archive.catalog.put_segment(Segment("f.warc.gz", committed))
        enter(archive.catalog, captures, number)


def at(second: float) -> Instant:
    return START + round(second * SECOND)


def test_a_host_is_not_learnt_anew_at_every_request_while_a_crawl_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt: list[str] = []
    clock = SimulatedClock(START)
    cost = 0.0

    def counted(archive: OpenArchive, hosts: Collection[str]) -> dict[str, HostTrust]:
        learnt.extend(hosts)
        clock.jump(seconds=cost)
        return {host: HostTrust(host) for host in hosts}

    monkeypatch.setattr(gather, "learn_trust_in", counted)
    put(tmp_path, taken(0), committed=10)
    with OpenArchive.open(tmp_path, clock=clock) as archive:
        kept = KeptTrust(archive)
        for committed in range(11, 41):
            kept.of("example.org")
            put(tmp_path, taken(committed), committed=committed)
            clock.jump(seconds=1)
        assert learnt == ["example.org"]
        clock.jump(seconds=60)
        cost = 10.0
        kept.of("example.org")
        assert len(learnt) == 2
        for committed in range(41, 60):  # what takes long is kept for longer
            clock.jump(seconds=10)
            put(tmp_path, taken(committed), committed=committed)
            kept.of("example.org")
        assert len(learnt) == 2
        clock.jump(seconds=100)
        kept.of("example.org")
        assert len(learnt) == 3


def test_what_is_captured_is_chosen_from_at_once(tmp_path: Path) -> None:
    put(tmp_path, taken(0), committed=10)
    with OpenArchive.open(tmp_path) as archive:
        chooser = Chooser(archive)
        assert chooser.choose(URL, at(5)).verdict is Verdict.POSSIBLE
        put(tmp_path, taken(9), committed=20)
        assert chooser.choose(URL, at(5)).verdict is Verdict.PROVEN
        assert chooser.choose("http://example.org/b.png", at(5)).verdict is Verdict.MISSING


def test_a_read_url_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, taken(0), committed=10)
    with OpenArchive.open(tmp_path) as archive:
        read: list[str] = []
        look = archive.catalog.observed

        def counted(url: str) -> object:
            read.append(url)
            return look(url)

        monkeypatch.setattr(archive.catalog, "observed", counted)
        chooser = Chooser(archive)
        for second in range(20):
            chooser.choose(URL, at(second))
            chooser.page(URL, at(second))
        assert read == [URL]


def test_a_url_under_another_name_is_found_and_the_own_name_comes_first(tmp_path: Path) -> None:
    secure = URL.replace("http:", "https:")
    put(tmp_path, taken(0, url=secure), committed=10)
    with OpenArchive.open(tmp_path) as archive:
        found = Chooser(archive).choose(URL, at(5)).capture
        assert found is not None
        assert found.url == secure
    put(tmp_path, taken(4, "B", "http://www.example.org/a.png"), committed=15)
    with OpenArchive.open(tmp_path) as archive:  # of two others the one that was seen last
        latest = Chooser(archive).page(URL, at(9))
        assert latest.capture is not None
        assert latest.capture.at == at(4)
    put(tmp_path, taken(3), committed=20)
    with OpenArchive.open(tmp_path) as archive:
        found = Chooser(archive).choose(URL, at(9)).capture
        assert found is not None
        assert found.url == URL


@pytest.mark.parametrize(
    ("captured", "asked"),
    [
        ("http://example.org/Logo.PNG", "http://example.org/logo.png"),
        ("http://example.org/enc%2fa", "http://example.org/enc/a"),
        ("http://example.org/q?b=2&a=1", "http://example.org/q?a=1&b=2"),
        ("http://example.org/q?b=2", "http://example.org/q?B=2"),
        ("http://example.org/dir/", "http://example.org/dir"),
        ("http://www2.example.org/", "http://example.org/"),
    ],
)
def test_what_another_url_of_the_key_shows_is_possible_at_best(
    tmp_path: Path, captured: str, asked: str
) -> None:
    assert surt(captured) == surt(asked)
    both = [replace(taken(second, url=captured), surt=surt(captured)) for second in (0, 9)]
    put(tmp_path, *both, committed=10)
    with OpenArchive.open(tmp_path) as archive:
        chooser = Chooser(archive)
        assert chooser.choose(captured, at(5)).verdict is Verdict.PROVEN
        secure = captured.replace("http://", "https://")
        assert chooser.choose(secure, at(5)).verdict is Verdict.PROVEN
        for found in (chooser.choose(asked, at(5)), chooser.page(asked, at(5))):
            assert found.capture is not None
            assert (found.capture.url, found.url) == (captured, asked)
            assert (found.verdict, found.reason) == (Verdict.POSSIBLE, Reason.OTHER_URL)
            assert found.at <= at(5)
        assert chooser.choose(asked, at(-5)).verdict is Verdict.DOUBTFUL
        assert chooser.choose(asked, at(-5), Policy.STRICT).verdict is Verdict.MISSING


def test_a_moment_to_the_second_is_all_of_that_second(tmp_path: Path) -> None:
    put(tmp_path, taken(0), replace(taken(5, "B"), at=at(5.3)), committed=10)
    with OpenArchive.open(tmp_path) as archive:
        chooser = Chooser(archive)
        assert chooser.choose(URL, at(6) - 1).verdict is Verdict.PROVEN
        assert chooser.choose(URL, at(5.9)).verdict is Verdict.POSSIBLE


def test_a_page_is_shown_as_of_when_it_is_known(tmp_path: Path) -> None:
    put(tmp_path, taken(0), taken(10), taken(20, "B"), committed=10)
    with OpenArchive.open(tmp_path) as archive:
        chooser = Chooser(archive)
        inside, between, after = (chooser.page(URL, at(second)) for second in (5, 15, 25))
        assert (inside.at, inside.verdict) == (at(5), Verdict.PROVEN)
        assert (between.at, between.verdict) == (at(11) - 1, Verdict.PROVEN)
        assert (after.at, after.verdict) == (at(21) - 1, Verdict.PROVEN)
        soon = chooser.page(URL, at(20.5))
        assert (soon.at, soon.verdict) == (at(20), Verdict.PROVEN)
        assert chooser.page(URL, at(-5)).verdict is Verdict.MISSING
        first = chooser.page(URL, at(-5), Policy.NEAREST)
        assert (first.at, first.verdict) == (at(1) - 1, Verdict.PROVEN)


def test_dates_that_nobody_has_found_wrong_speak_against_others(tmp_path: Path) -> None:
    put(tmp_path, taken(0), taken(100, "B", modified=40), committed=10)
    with OpenArchive.open(tmp_path) as archive:
        chooser = Chooser(archive)
        before = chooser.choose(URL, at(30))
        assert before.capture is not None
        assert (before.verdict, before.capture.at) == (Verdict.POSSIBLE, at(0))
        # By its date the later one was there already, though it is further away.
        dated = chooser.choose(URL, at(45))
        assert dated.capture is not None
        assert (dated.verdict, dated.reason) == (Verdict.DOUBTFUL, Reason.UNPROVED_DATES)
        assert dated.capture.at == at(100)
        assert chooser.choose(URL, at(30), Policy.NEAREST).capture == before.capture
        violated = chooser.choose(URL, at(38), Policy.NEAREST)
        assert violated.verdict is Verdict.POSSIBLE
