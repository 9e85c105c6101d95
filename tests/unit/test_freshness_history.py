"""What an archive has seen of changes, from captures of all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from asof.catalog.validity import validities
from asof.clock import SECOND
from asof.freshness.history import Gap, Group, Observed, gaps, gather, group_of
from asof.model import Capture
from support.captures import plain_capture
from support.freshness import gaps_of

START = 1_700_000_000 * SECOND
URL = "http://example.org/news/a.html"


def capture(second: float, letter: str = "A", *, url: str = URL, **fields: Any) -> Capture:
    named = {
        "digest": f"sha1:{letter}",
        "content": f"sha256:{letter}",
        "record_id": f"{second:09.3f}-{letter}-{url}",
    }
    return plain_capture(url, START + round(second * SECOND), **(named | fields))


def not_modified(second: float) -> Capture:
    return capture(
        second, kind="revisit", status=304, content=None, digest=None, profile="server-not-modified"
    )


def seen(*captures: Capture, trusted: bool = False) -> list[tuple[float, bool]]:
    """The gaps of the only page among the captures."""
    observed = gather(captures, trusted=lambda host: trusted)
    assert len(observed) == 1
    return [tuple(gap) for gap in gaps_of(observed, 0)]  # type: ignore[misc]


PLAIN = [
    pytest.param([capture(0)], [], id="one sight makes no gap"),
    pytest.param([capture(0), capture(60)], [(60.0, False)], id="the same again"),
    pytest.param([capture(0), capture(60, "B")], [(60.0, True)], id="another content"),
    pytest.param(
        [capture(0), capture(10), capture(40, "B"), capture(45, "B")],
        [(10.0, False), (30.0, True), (5.0, False)],
        id="each two sights make a gap",
    ),
    pytest.param(
        [capture(0), capture(5, "B"), capture(9)],
        [(5.0, True), (4.0, True)],
        id="a content that comes back has changed twice",
    ),
    pytest.param(
        [capture(0), not_modified(30), capture(50, "B")],
        [(30.0, False), (20.0, True)],
        id="304 confirms",
    ),
    pytest.param(
        [capture(0), capture(20, "E", status=404), capture(50)],
        [(50.0, False)],
        id="the same after an error",
    ),
    pytest.param(
        [capture(0), capture(20, "E", status=503), capture(50, "B")],
        [(50.0, True)],
        id="another after an error",
    ),
    pytest.param(
        [capture(0, "E", status=404), capture(50), capture(60)],
        [(10.0, False)],
        id="an error before it says nothing",
    ),
    pytest.param(
        [capture(0), capture(20, "half", truncated="length"), capture(50)],
        [(50.0, False)],
        id="a body that was cut off does not compare",
    ),
    pytest.param(
        [
            capture(0, status=301, redirect="http://a/"),
            capture(9, status=301, redirect="http://b/"),
        ],
        [(9.0, True)],
        id="a redirect to elsewhere",
    ),
    pytest.param(
        [
            capture(0, status=301, redirect="http://a/"),
            capture(5, "E", status=503),
            capture(9, status=301, redirect="http://b/"),
        ],
        [],
        id="a redirect after an error",
    ),
    pytest.param(
        [capture(0), capture(4, kind="metadata", content=None), capture(9)],
        [(9.0, False)],
        id="metadata is no answer",
    ),
    pytest.param(
        [capture(0), capture(0, "B")], [(1.0, True)], id="two contents in a second of whole dates"
    ),
    pytest.param(
        [capture(0), capture(0, record_id="twin")], [], id="one content twice in an instant"
    ),
    pytest.param(
        [
            capture(0),
            capture(9, "X", kind="revisit", content=None, refers_to_url="http://other.org/"),
            capture(20),
        ],
        [(20.0, False)],
        id="a revisit of what is not known here does not compare",
    ),
    pytest.param(
        [capture(0, kind="resource", status=None), capture(9, "B", kind="resource", status=None)],
        [(9.0, True)],
        id="resources",
    ),
]


@pytest.mark.parametrize(("captures", "expected"), PLAIN)
def test_gaps_between_sights(captures: list[Capture], expected: list[tuple[float, bool]]) -> None:
    assert seen(*captures) == expected


DATED = [
    pytest.param(
        [capture(0), capture(100, "B", last_modified=START + 70 * SECOND)],
        [(1.0, True), (30.0, False)],
        id="nothing since the date, one change in its second, the rest unknown",
    ),
    pytest.param(
        [capture(100, last_modified=START)],
        [],
        id="a first sight with a date, which nothing could have shown to be wrong",
    ),
    pytest.param(
        [capture(0), capture(100, "B", last_modified=START - 70 * SECOND)],
        [(100.0, True)],
        id="a date that the archive contradicts",
    ),
    pytest.param(
        [capture(0), capture(100, last_modified=START + 70 * SECOND)],
        [(100.0, False)],
        id="a date of a content that was seen before",
    ),
    pytest.param(
        [
            capture(50, "B"),
            capture(100, last_modified=START + 100 * SECOND),
            capture(110),
        ],
        [(1.0, True), (10.0, False)],
        id="a date of just now",
    ),
]


@pytest.mark.parametrize(("captures", "expected"), DATED)
def test_dates_that_are_trusted_say_when(
    captures: list[Capture], expected: list[tuple[float, bool]]
) -> None:
    assert seen(*captures, trusted=True) == expected


def test_dates_that_are_not_trusted_say_nothing() -> None:
    pair = capture(0), capture(100, "B", last_modified=START + 70 * SECOND)
    assert seen(*pair) == [(100.0, True)]
    assert gaps(validities(pair)) == (Gap(100.0, True),)
    assert gaps(validities(pair), trusted_dates=True) == (Gap(1.0, True), Gap(30.0, False))


def test_trust_is_asked_for_once_a_host() -> None:
    asked: list[str] = []

    def trusted(host: str) -> bool:
        asked.append(host)
        return host == "b.org:8080"

    page = [
        capture(at, str(at), url=f"http://{host}/{page}", surt=f"{host}{page}", last_modified=START)
        for host in ("a.org", "b.org:8080")
        for page in "xy"
        for at in (0, 100)
    ]
    observed = gather(page, trusted=trusted)
    assert asked == ["a.org", "b.org:8080"]
    assert np.diff(observed.offsets).tolist() == [1, 1, 2, 2]


def test_urls_of_one_key_are_pages_of_their_own() -> None:
    both = sorted(
        (
            capture(second, content, url=url)
            for second, content in ((0, "A"), (60, "B"))
            for url in (URL, "http://www.example.org/news/a.html")
        ),
        key=lambda each: each.at,
    )
    observed = gather(both)
    assert observed.urls == (URL, "http://www.example.org/news/a.html")
    assert [gaps_of(observed, page) for page in (0, 1)] == [(Gap(60.0, True),)] * 2


def test_pages_that_never_answered_are_left_out() -> None:
    lost = capture(0, "E", status=404, url="http://example.org/x", surt="org,example)/x")
    observed = gather([capture(0), lost])
    assert observed.urls == (URL,)


def test_an_empty_archive() -> None:
    observed = gather([])
    assert len(observed) == 0
    assert observed.offsets.tolist() == [0]


@pytest.mark.parametrize(
    ("url", "directory"),
    [
        ("http://example.org/", "/"),
        ("http://example.org/a.html", "/"),
        ("http://example.org/news/a.html", "/news/"),
        ("http://example.org/news/2020/a.html", "/news/"),
        ("http://example.org/?path=/news/", "/"),
        ("http://example.org/a?b=/c/d", "/"),
        ("http://example.org//a", "//"),
        ("http://example.org", "/"),
    ],
)
def test_groups_of_urls(url: str, directory: str) -> None:
    assert group_of(url, "Text/HTML") == Group("example.org", directory, "text/html")


def test_groups_of_pages() -> None:
    pages = [
        capture(0),
        capture(1, "B", url="http://example.org/b", surt="z", media_type=None),
        capture(2, "B", url="http://example.org/b", surt="z", media_type="image/png"),
        capture(2, url="http://example.org/c", surt="zz", media_type=None),
    ]
    observed = gather(pages)
    assert [observed.groups[k] for k in observed.group] == [
        Group("example.org", "/news/", "text/html"),
        Group("example.org", "/", "image/png"),
        Group("example.org", "/", "unknown"),
    ]


def test_some_of_the_pages() -> None:
    observed = Observed(
        ("a", "b", "c"),
        np.array([0, 2, 2, 5]),
        np.arange(1.0, 6.0),
        np.array([True, False, True, False, False]),
        np.array([0, 1, 2], np.int32),
        (Group("x"), Group("y"), Group("z")),
    )
    some = observed.pages(np.array([2, 0, 1]))
    assert some.urls == ("c", "a", "b")
    assert [gaps_of(some, page) for page in range(3)] == [
        gaps_of(observed, page) for page in (2, 0, 1)
    ]
    assert some.group.tolist() == [2, 0, 1]
    faster = observed.in_units(np.array([2.0, 1.0, 0.5]))
    assert faster.lengths.tolist() == [0.5, 1.0, 6.0, 8.0, 10.0]
