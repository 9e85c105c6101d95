"""What stands beside the bars of a quality report tells them apart."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from asof.clock import SECOND, Instant
from asof.coherence.quality_report import Report
from asof.coherence.verdict import Measurement, Mode, PageVerdict, Reason
from asof.model import Evidence, Grade, Proof
from asof.report.quality_drawing import page_rows
from asof.report.quality_page import _by_distance

T: Instant = 1_700_000_000 * SECOND
LONG = "http://example.org/archive/2026/"


def seen(url: str, apart: float) -> PageVerdict:
    before, after = T - 1000, T + int(apart * SECOND) - 1000
    sights = [Evidence(Proof.DOWNLOAD, at, f"{url}{at}") for at in (before, after)]
    return PageVerdict(url, Grade.PROVEN, Reason.NONE, sights[0], sights[1], before, after)


def report(pages: Sequence[PageVerdict]) -> Report:
    return Report((), Measurement(Mode.OFF, T, tuple(pages)))


@pytest.mark.parametrize(
    "urls",
    [
        [f"{LONG}{name}/the-same-name-of-a-file.html" for name in ("november", "december", "may")],
        ["http://example.org/a", "https://example.org/a"],
        ["http://example.org/a", "http://example.net/a", "https://example.net/a"],
        [f"{LONG}{'x' * 40}{n}/{m}/the-same-name-of-a-file.html" for n in "ab" for m in "xy"],
        [f"{LONG}{n}{'x' * 40}{m}/the-same-name-of-a-file.html" for n in "ab" for m in "xy"],
    ],
)
def test_no_two_pages_have_the_same_label(urls: list[str]) -> None:
    labels = page_rows(report([seen(url, 9) for url in urls])).labels
    assert sorted(url for url, _ in labels) == sorted(urls)
    assert len({short for _, short in labels}) == len(urls)
    assert all(len(short) <= 42 for _, short in labels)


def test_no_two_bars_of_distances_have_the_same_label() -> None:
    pages = [seen(f"http://example.org/{n}", 130 + n) for n in range(100)]
    assert list(_by_distance(pages)) == [
        ("up to 2 minutes", 1.0, ""),
        ("up to 3 minutes", 1.0, ""),
    ]


def test_tenths_of_one_length_are_nothing_to_compare() -> None:
    pages = [seen(f"http://example.org/{n}", 130 + n / 100) for n in range(100)]
    assert list(_by_distance(pages)) == []
