"""robots.txt: what a host allows, by status and by rule (RFC 9309)."""

from __future__ import annotations

import pytest

from asof.scope.robots import robots_from


@pytest.mark.parametrize(
    ("status", "allowed"), [(200, False), (404, True), (403, True), (302, True), (500, False)]
)
def test_robots_status_rules_of_rfc_9309(status: int, allowed: bool) -> None:
    robots = robots_from(status, b"User-agent: *\nDisallow: /private/\n")
    assert robots.allows("https://example.org/private/x", "asof") is allowed


def test_robots_longest_match_wildcards_and_delay() -> None:
    # Naumann 2011, "Controlling Crawling"
    robots = robots_from(
        200,
        b"User-agent: *\nDisallow: /other/\nAllow: /other/public/\nDisallow: /*.pdf$\n"
        b"Crawl-delay: 2.5\n",
    )
    assert robots.allows("https://example.org/other/public/a", "asof")
    assert not robots.allows("https://example.org/other/a", "asof")
    assert not robots.allows("https://example.org/a.pdf", "asof")
    assert robots.allows("https://example.org/a.pdf?x", "asof")
    assert robots.crawl_delay("asof") == 2.5


def test_junk_robots_allow_and_do_not_raise() -> None:
    assert robots_from(200, bytes(range(256)) * 10).allows("https://example.org/", "asof")
