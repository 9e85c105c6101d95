"""Definition 3.2: what a crawler sees by Last-Modified, as far as that can be believed."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from asof.archive import OpenArchive
from asof.catalog.observe import observe
from asof.clock import SECOND, Instant
from asof.coherence.certificate import Choice
from asof.coherence.gather import GatheredCaptures, measured
from asof.coherence.proven_intervals import stretches
from asof.coherence.quality import quality_report
from asof.coherence.verdict import HostTrust, Mode
from asof.model import Capture, Location
from support.together import known_intervals

HOST = "example.org"
START = 1_700_000_000 * SECOND
TRUSTED = HostTrust(HOST, dates_right=8, skew=0, trusts_dates=True)
HOUR = 3600 * SECOND


def taken(name: str, at: Instant, modified: Instant) -> Capture:
    return Capture(
        f"http://{HOST}/{name}", f"org,example)/{name}", START + at, "response", 200, "text/html",
        f"sha1:{name}", "sha1:" + name * 32, 1, name, Location("file", 0, 1),
        last_modified=START + modified,
    )  # fmt: skip


PAGES = (taken("A", 10 * SECOND, -HOUR), taken("B", 20 * SECOND, -HOUR))


def observable(trust: HostTrust) -> tuple[Instant, Instant] | None:
    gathered = GatheredCaptures(
        Choice(),
        (),
        PAGES,
        PAGES,
        (),
        {HOST: trust},
        Mode.OFF,
        START + 10 * SECOND,
        observe(PAGES),
    )
    # Of no crawl in particular nothing is asked of the archive.
    return quality_report(cast(OpenArchive, None), gathered, measured(gathered)).observable


def test_pages_are_observed_together_from_their_dates_to_the_first_download() -> None:
    assert observable(TRUSTED) == (START - HOUR + 2 * SECOND, START + 10 * SECOND)
    ahead = replace(TRUSTED, skew=60 * SECOND)
    assert observable(ahead) == (START - HOUR - 58 * SECOND, START + 10 * SECOND)


@pytest.mark.parametrize(
    "trust",
    [
        HostTrust(HOST, skew=0),
        replace(TRUSTED, skew=None),  # nobody knows by which clock it was dated
        replace(TRUSTED, doubted=(PAGES[1].url,)),
    ],
)
def test_dates_that_count_for_no_verdict_count_for_nothing_here(trust: HostTrust) -> None:
    assert observable(trust) is None
    found = stretches(known_intervals(observe(PAGES), {HOST: trust}, urls=[PAGES[1].url]))
    assert (*found.since, *found.until) == (PAGES[1].at, PAGES[1].at)
