"""robots.txt: what a host allows, by status and by rule (RFC 9309)."""

from __future__ import annotations

import codecs

import pytest

from asof.config import Config
from asof.scope.robots import MAX_BYTES, Robots, product_token, robots_from
from asof.text.links.sitemaps import sitemaps_of

AGENT = Config().user_agent
CLOSED = "User-agent: *\nDisallow: /no\nSitemap: /map.xml\n"


def read(text: str, agent: str = AGENT) -> Robots:
    return robots_from(200, text.encode(), agent)


def allowed(text: str, path: str, agent: str = AGENT) -> bool:
    return read(text, agent).allows(f"https://example.org{path}")


@pytest.mark.parametrize(
    ("status", "allowed"), [(200, False), (404, True), (403, True), (302, True), (500, False)]
)
def test_robots_status_rules_of_rfc_9309(status: int, allowed: bool) -> None:
    robots = robots_from(status, b"User-agent: *\nDisallow: /private/\n", AGENT)
    assert robots.allows("https://example.org/private/x") is allowed


def test_robots_longest_match_wildcards_and_delay() -> None:
    # Naumann 2011, "Controlling Crawling"
    text = (
        "User-agent: *\nDisallow: /other/\nAllow: /other/public/\nDisallow: /*.pdf$\n"
        "Crawl-delay: 2.5\n"
    )
    assert allowed(text, "/other/public/a")
    assert not allowed(text, "/other/a")
    assert not allowed(text, "/a.pdf")
    assert allowed(text, "/a.pdf?x")
    assert read(text).crawl_delay == 2.5


def test_junk_robots_allow_and_do_not_raise() -> None:
    assert robots_from(200, bytes(range(256)) * 10, AGENT).allows("https://example.org/")


# -- bytes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        codecs.BOM_UTF8 + CLOSED.encode(),
        codecs.BOM_UTF8 * 2 + CLOSED.encode(),
        b"\r\n" + codecs.BOM_UTF8 + CLOSED.encode(),
        codecs.BOM_UTF16_LE + CLOSED.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + CLOSED.encode("utf-16-be"),
        codecs.BOM_UTF16_LE * 2 + CLOSED.encode("utf-16-le"),
        CLOSED.encode("utf-16-le"),
        CLOSED.encode("utf-16-be"),
        b"\0\0" + CLOSED.encode(),
        CLOSED.replace("\n", "\0\n").encode(),
        CLOSED.replace("\n", "\r").encode(),
        CLOSED.replace("\n", "\r\n").encode(),
        CLOSED.replace("\n", "\r\r\n\r\n").encode(),
        CLOSED.replace("/no", "/no\0/and/this").encode(),
    ],
)
def test_marks_wide_characters_nuls_and_ends_of_lines_are_read_around(body: bytes) -> None:
    robots = robots_from(200, body, AGENT)
    assert not robots.allows("https://example.org/no")
    assert robots.allows("https://example.org/yes")
    assert sitemaps_of(body) == ("/map.xml",)


def test_what_is_cut_is_said_and_half_a_rule_is_none() -> None:
    rule = b"Disallow: /a\n"
    lead = b"User-agent: *\n" + rule
    padding = b"#" * (MAX_BYTES - len(lead) - len("Allow: /a/b") - 1) + b"\n"
    cut = robots_from(200, lead + padding + b"Allow: /a/b/c\n" + rule, AGENT)
    assert cut.cut
    assert not cut.allows("https://example.org/a/b/c"), "half of the rule would allow it"
    assert not cut.allows("https://example.org/a")
    whole = robots_from(200, lead + padding, AGENT)
    assert not whole.cut


def test_a_file_that_a_limit_of_ours_cut_has_no_last_line() -> None:
    body = b"User-agent: *\nDisallow: /a\nDisallow: /"
    cut = robots_from(200, body, AGENT, "length")
    assert cut.cut
    assert cut.allows("https://example.org/b")
    assert not cut.allows("https://example.org/a")
    assert robots_from(200, body, AGENT, "disconnect").hold_off
    for whole in ("", None):
        robots = robots_from(200, body, AGENT, whole)
        assert not robots.cut
        assert not robots.allows("https://example.org/b"), "the last line needs no end"


def test_a_web_page_in_the_place_of_a_robots_txt_forbids_nothing() -> None:
    page = "<!doctype html>\n<html><head><title>User-agent: *</title>\n<style>a { allow: x }\n"
    assert read(page + "</style></head><body>Disallow: /\nDisallow: /</body>") == Robots()


# -- groups ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        (AGENT, "asof"),
        ("Museum_Bot-x/2.0", "museum_bot-x"),
        ("Mozilla/5.0 (compatible; MuseumBot/1.0; +https://museum.example)", "museumbot"),
        ("Mozilla/5.0 (X11; Linux x86_64)", "mozilla"),
        ("7", ""),
    ],
)
def test_a_crawler_has_one_product_token(agent: str, token: str) -> None:
    assert product_token(agent) == token


@pytest.mark.parametrize(
    ("named", "ours"),
    [
        ("asof", True),
        ("ASOF", True),
        ("AsOf/0.1", True),
        ("asof (any)", True),
        ("Web", False),
        ("archive", False),
        ("asofbot", False),
        ("as", False),
        ("a", False),
        ("*bot", False),
        ("7", False),
        ("", False),
    ],
)
def test_a_group_is_chosen_by_the_product_token_alone(named: str, ours: bool) -> None:
    text = f"User-agent: {named}\nDisallow: /\n\nUser-agent: *\nDisallow: /any\n"
    assert allowed(text, "/x") is not ours
    assert allowed(text, "/any") is False
    assert allowed(text, "/x", "asofbot/1.0") is (named != "asofbot")


def test_a_crawler_without_a_token_obeys_the_rules_for_everybody() -> None:
    text = "User-agent: 7\nDisallow: /\nUser-agent: *\nDisallow: /any"
    assert allowed(text, "/x", "7")
    assert not allowed(text, "/any", "7")


def test_agents_in_a_row_and_groups_of_one_token_are_one() -> None:
    text = (
        "User-agent: other\nUser-agent: asof\n\n# both\nDisallow: /a\n"
        "User-agent: other\nDisallow: /b\nUser-agent: Asof\nUser-agent: *\nDisallow: /c\n"
    )
    assert [path for path in ("/a", "/b", "/c") if not allowed(text, path)] == ["/a", "/c"]
    everybody = [path for path in ("/a", "/b", "/c") if not allowed(text, path, "third/1")]
    assert everybody == ["/c"]


def test_an_empty_group_of_ours_allows_what_others_must_not() -> None:
    assert allowed("User-agent: asof\nDisallow:\nUser-agent: *\nDisallow: /", "/")
    assert allowed("User-agent: *\nDisallow: /\nUser-agent: asof", "/")


@pytest.mark.parametrize("line", ["Host: x", "Clean-param: a /b", "Crawl-delay: 3", "junk", ""])
def test_a_line_that_is_no_rule_ends_no_group(line: str) -> None:
    text = f"User-agent: asof\n{line}\nUser-agent: other\nDisallow: /a\n{line}\nDisallow: /b"
    assert [path for path in ("/a", "/b") if not allowed(text, path)] == ["/a", "/b"]


def test_a_delay_is_of_the_agents_before_it() -> None:
    text = "User-agent: *\nCrawl-delay: 2\n\nUser-agent: slow\nCrawl-delay: 100\nDisallow: /a\n"
    assert read(text).crawl_delay == 2.0
    assert read(text, "slow/1").crawl_delay == 100.0
    assert read("User-agent: *\nCrawl-delay: .5").crawl_delay == 0.5
    for nonsense in ("-1", "nan", "inf", "1e9", "soon", ""):
        assert read(f"User-agent: *\nCrawl-delay: {nonsense}").crawl_delay is None


@pytest.mark.parametrize(
    "line", ["Disallow /a", "disallow : /a", "Dissallow: /a", "Disalow:/a", "\tDISALLOW:\xa0/a # b"]
)
def test_slips_of_the_pen_are_understood(line: str) -> None:
    for agent in (
        "User-agent: *",
        "Useragent: *",
        "User agent: *",
        "User-agent *",
        "user-agent:* x",
    ):
        assert not allowed(f"{agent}\n{line}", "/a")


# -- paths ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        # RFC 9309, section 2.2.2
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz", True),
        ("/foo/bar?baz=http%3A%2F%2Ffoo.bar", "/foo/bar?baz=http%3a%2f%2ffoo.bar", True),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84", True),
        ("/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84", True),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", True),
        ("/foo/bar/baz", "/foo/bar/%62%61%7A", True),
        ("/a%2Fb", "/a/b", False),
        ("/with space", "/with%20space", True),
        # RFC 9309, section 2.2.3
        ("/a/%2A.html", "/a/*.html", True),
        ("/a/%2A.html", "/a/b.html", False),
        ("/foo-%24", "/foo-$", True),
        ("/foo-%24", "/foo-", False),
        ("/a$", "/a", True),
        ("/a$", "/a/b", False),
        ("/a$b", "/a$b", True),
        ("/a$b", "/a", False),
        ("/*/b$", "/a/b/c/b", True),
        ("/*b*b$", "/b", False),
        ("/a*a$", "/a", False),
        ("*/a", "/x/a", True),
        ("/a**b", "/ab", True),
        ("*", "/", True),
        ("$", "/", False),
        ("/$", "/", True),
        ("/$", "", True),
        ("/?q", "?q=1#f", True),
        ("/a", "/b#/a", False),
        ("a", "/a", False),
        ("/A", "/a", False),
    ],
)
def test_a_pattern_matches_as_the_rfc_says(pattern: str, path: str, matches: bool) -> None:
    assert allowed(f"User-agent: *\nDisallow: {pattern}", path) is not matches


def test_bytes_that_are_no_utf_8_are_those_of_the_url() -> None:
    robots = robots_from(200, b"User-agent: *\nDisallow: /caf\xe9", AGENT)
    assert not robots.allows("https://example.org/caf%E9")
    assert robots.allows("https://example.org/caf%C3%A9")


def test_of_equal_rules_what_allows_counts_and_robots_txt_is_always_allowed() -> None:
    assert allowed("User-agent: *\nDisallow: /a\nAllow: /a", "/a")
    assert allowed("User-agent: *\nDisallow: /", "/robots.txt")
