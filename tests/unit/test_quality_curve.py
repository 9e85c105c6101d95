"""The curve of a quality report: of the pages that C is of, and equal to C at the reference."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from asof.archive import OpenArchive
from asof.catalog.observe import observe
from asof.clock import SECOND, Instant
from asof.coherence.certificate import Choice
from asof.coherence.gather import GatheredCaptures, measured
from asof.coherence.quality import quality_report
from asof.coherence.quality_report import Report
from asof.coherence.verdict import HostTrust, Mode
from asof.model import Capture, CoherencePlan, Crawl, CrawlState, Location
from asof.report.quality_page import page
from asof.report.quality_text import report_text

HOST = "example.org"
START = 1_700_000_000 * SECOND
TURN = START + 50 * SECOND
HOUR = 3600 * SECOND
CRAWL = Crawl(
    "one", ("http://example.org/",), START, CrawlState.FINISHED, START + 100 * SECOND,
    coherence_plan=CoherencePlan("inducible", "lifo", turn=TURN),
)  # fmt: skip


def taken(
    name: str, second: int, body: str = "A", modified: Instant | None = None, status: int = 200
) -> Capture:
    at = START + second * SECOND
    return Capture(
        f"http://{HOST}/{name}", f"org,example)/{name}", at, "response", status, "text/html",
        f"sha1:{body}", "sha1:" + body * 32, 1, f"{name}{second}", Location("file", second, 1),
        "one", last_modified=modified,
    )  # fmt: skip


def report(
    *captures: Capture, trust: HostTrust | None = None, choice: Choice | None = None,
    reference: Instant = TURN, crawls: tuple[Crawl, ...] = (),
) -> Report:  # fmt: skip
    gathered = GatheredCaptures(
        choice or Choice(), crawls, captures, captures, (),
        {HOST: trust or HostTrust(HOST, skew=0)}, Mode.OFF, reference, observe(captures),
    )  # fmt: skip
    # Without a crawl nothing is asked of the archive.
    return quality_report(cast(OpenArchive, None), gathered, measured(gathered))


def known_at(told: Report, at: Instant) -> float:
    return max((point for point in told.curve if point.at <= at), key=lambda p: p.at).provable


def test_what_was_written_again_between_two_sights_is_no_more_known_in_the_curve_than_in_c() -> (
    None
):
    told = report(
        taken("a", 10), taken("a", 90),
        *(sight for name in "bcd" for sight in (
            taken(name, 10, modified=START - HOUR), taken(name, 90, modified=START + 40 * SECOND),
        )),
    )  # fmt: skip
    assert told.measurement.c == 0.25
    assert known_at(told, TURN) == 0.25


def test_a_page_of_which_nothing_is_ever_known_is_a_page_of_the_curve() -> None:
    cut = [replace(taken(name, 10), truncated="length") for name in "bcd"]
    told = report(taken("a", 10), taken("a", 90), *cut)
    assert told.measurement.c == 0.25
    assert known_at(told, TURN) == 0.25


def test_a_page_that_was_gone_in_between_is_not_known_then() -> None:
    told = report(taken("a", 10), taken("a", 60, "x", status=404), taken("a", 90))
    assert known_at(told, TURN) == told.measurement.c == 0


def test_dates_that_count_in_c_count_in_the_curve() -> None:
    trust = HostTrust(HOST, dates_right=40, skew=0, trusts_dates=True)
    told = report(taken("a", 10, modified=START - HOUR), taken("b", 90, modified=START - HOUR),
                  taken("a", 90, modified=START - HOUR), trust=trust)  # fmt: skip
    assert known_at(told, TURN) == told.measurement.c == 1


def test_of_another_moment_a_crawl_is_still_known_to_have_sought_coherence() -> None:
    at = START + 20 * SECOND
    told = report(
        taken("a", 10), taken("a", 90), taken("b", 30), taken("b", 95),
        choice=Choice((), None, at), reference=at, crawls=(CRAWL, CRAWL),
    )  # fmt: skip
    assert told.measurement.c == 0.5
    words = "\n".join(report_text(told)) + page(told)
    assert "not sought" not in words
    assert "inducible coherence" in words
    assert told.planned is None
