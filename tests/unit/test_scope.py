from __future__ import annotations

import pytest

from asof.config import Config
from asof.model import Target
from asof.scope.robots import robots_from
from asof.scope.rules import Scope

SEED = "https://example.org/news/index.html"


def inside(url: str, **settings: object) -> bool:
    config = Config().updated(settings, source="test")
    return Scope((SEED,), config).decide(Target(url, depth=2)).inside


@pytest.mark.parametrize(
    ("scope", "url", "expected"),
    [
        ("host", "https://example.org/other", True),
        ("host", "http://www.example.org/", True),
        ("host", "https://blog.example.org/", False),
        ("host", "https://example.org:8443/", False),
        ("host", "https://notexample.org/", False),
        ("domain", "https://blog.example.org/", True),
        ("domain", "https://notexample.org/", False),
        ("path", "https://example.org/news/today", True),
        ("path", "https://example.org/newspaper", False),
        ("path", "https://example.org/", False),
        ("page", SEED, True),
        ("page", "https://example.org/news/today", False),
        ("surt:org,example)/n", "https://example.org/newspaper", True),
        ("surt:http://(org,example,", "https://blog.example.org/x", True),
        ("surt:org,example)/n", "https://example.org/about", False),
    ],
)
def test_areas(scope: str, url: str, expected: bool):
    assert inside(url, scope=scope) is expected


def test_an_exclusion_wins_over_everything_and_says_which():
    scope = Scope((SEED,), Config(exclude=("news/",)))
    decision = scope.decide(Target(SEED))
    assert not decision.inside
    assert "news/" in decision.reason


def test_depth_is_a_limit_with_a_reason():
    scope = Scope((SEED,), Config(depth=1))
    decision = scope.decide(Target("https://example.org/x", depth=2))
    assert (decision.inside, decision.reason) == (False, "deeper than 1")


@pytest.mark.parametrize(
    ("status", "allowed"), [(200, False), (404, True), (403, True), (302, True), (500, False)]
)
def test_robots_status_rules_of_rfc_9309(status: int, allowed: bool):
    robots = robots_from(status, b"User-agent: *\nDisallow: /private/\n")
    assert robots.allows("https://example.org/private/x", "asof") is allowed


def test_robots_longest_match_wildcards_and_delay():
    # Seed 002, "Controlling Crawling"
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


def test_junk_robots_allow_and_do_not_raise():
    assert robots_from(200, bytes(range(256)) * 10).allows("https://example.org/", "asof")
