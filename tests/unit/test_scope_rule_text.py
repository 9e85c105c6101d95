"""The text of rules: what is read, and how precisely a wrong one is complained about."""

from __future__ import annotations

import pytest

from asof.errors import ConfigError
from asof.scope.rule_text import MAX_TEXT, RuleKind, compiled, parse_rule, shown


@pytest.mark.parametrize(
    ("text", "inside", "kind", "value"),
    [
        ("in surt:org,example)/", True, RuleKind.SURT, "org,example)/"),
        ("out host:WWW.Example.ORG", False, RuleKind.HOST, "example.org"),
        ("out host:example.org:8080", False, RuleKind.HOST, "example.org:8080"),
        ("out host:example.org:80", False, RuleKind.HOST, "example.org"),
        ("out host:example.org:443", False, RuleKind.HOST, "example.org"),
        ("out host:127.1", False, RuleKind.HOST, "127.0.0.1"),
        ("in host:[::1]", True, RuleKind.HOST, "[::1]"),
        ("in domain:bücher.example", True, RuleKind.DOMAIN, "xn--bcher-kva.example"),
        ("in domain:www.example.org", True, RuleKind.DOMAIN, "www.example.org"),
        ("in path:/a/../b", True, RuleKind.PATH, "/b"),
        ("in path:/ü b/", True, RuleKind.PATH, "/%C3%BC%20b/"),
        ("in path://a", True, RuleKind.PATH, "//a"),
        ("in path:http://www.example.org", True, RuleKind.PATH, "example.org/"),
        ("in path:https://me@example.org:8443/a", True, RuleKind.PATH, "example.org:8443/a"),
        ("in page:HTTPS://Example.org#top", True, RuleKind.PAGE, "https://example.org/"),
        (r"in regex:a b:\d", True, RuleKind.REGEX, r"a b:\d"),
        ("out regex:[[a]", False, RuleKind.REGEX, "[[a]"),
        ("in seeds:", True, RuleKind.SEEDS, ""),
        ("out seeds:", False, RuleKind.SEEDS, ""),
        ("out depth:0", False, RuleKind.DEPTH, "0"),
        ("out depth:007", False, RuleKind.DEPTH, "7"),
        ("out count:500", False, RuleKind.COUNT, "500"),
        ("out media:Video/*", False, RuleKind.MEDIA, "video/*"),
        ("out media:application/ld+json", False, RuleKind.MEDIA, "application/ld+json"),
        ("out size:123456789012", False, RuleKind.SIZE, "123456789012"),
        ("out size:10MB", False, RuleKind.SIZE, "10000000"),
        ("out size:3 kb", False, RuleKind.SIZE, "3000"),
        ("out size:1GB", False, RuleKind.SIZE, "1000000000"),
        ("out size:7b", False, RuleKind.SIZE, "7"),
    ],
)
def test_rules_are_read(text: str, inside: bool, kind: RuleKind, value: str) -> None:
    """Values come out in the form that canonical URLs have, so that they can be compared."""
    rule = parse_rule(text)
    assert (rule.text, rule.inside, rule.kind, rule.value) == (text, inside, kind, value)


def test_every_kind_can_be_read() -> None:
    """No kind without a value it accepts."""
    values = {
        RuleKind.PATH: "/",
        RuleKind.PAGE: "http://a/",
        RuleKind.SEEDS: "",
        RuleKind.MEDIA: "a/b",
    }
    for kind in RuleKind:
        assert parse_rule(f"out {kind}:{values.get(kind, '1')}").kind is kind


def test_spaces_around_the_parts_do_not_matter() -> None:
    assert parse_rule(" \tout   host:  example.org \n") == parse_rule("out host:example.org")


@pytest.mark.parametrize(
    ("text", "character", "problem", "hint"),
    [
        ("", 1, "is empty", "in KIND:VALUE"),
        ("   ", 4, "is empty", "in KIND:VALUE"),
        ("allow host:a", 1, "starts with 'allow'", "in KIND:VALUE"),
        ("IN host:a", 1, "starts with 'IN'", "in KIND:VALUE"),
        ("host:example.org", 1, "begins with in or out", "out host:example.org"),
        ("out", 4, "the colon after the kind is missing", "out host:"),
        ("out video", 10, "the colon after the kind is missing", "out host:"),
        ("in seeds", 9, "the colon after the kind is missing", "in host:"),
        ("out domian:a", 5, "'domian' is no kind", "Did you mean domain:?"),
        ("out Host:a", 5, "'Host' is no kind", "Did you mean host:?"),
        ("out host :a", 5, "'host ' is no kind", "Did you mean host:?"),
        ("out colour:red", 5, "'colour' is no kind", "Kinds are surt, host"),
        ("  out\twhat:a", 7, "'what' is no kind", "Kinds are surt, host"),
        ("out http://a/", 5, "'http' is no kind", "write page:http://a/"),
        ("in depth:3", 1, "depth is a limit", "Write out depth:3"),
        ("in count:3", 1, "count is a limit", "Write out count:3"),
        ("in media:video/*", 1, "media is a limit", "Write out media:video/*"),
        ("in size:3", 1, "size is a limit", "Write out size:3"),
        ("out depth:", 11, "a value is missing", "depth:5"),
        ("out depth:-1", 11, "'-1' is not a whole number", "in digits"),
        ("out depth:1.5", 11, "'1.5' is not a whole number", "in digits"),
        ("out depth:٣", 11, "is not a whole number", "in digits"),
        ("out depth:" + "9" * 5000, 11, "is not a whole number", "in digits"),
        ("out count:0", 11, "no page at all", "count:1"),
        ("out host:", 10, "a value is missing", "host:example.org"),
        ("out host: \t ", 10, "a value is missing", "host:example.org"),
        ("out host:a b", 11, "a space stands here", "host:example.org"),
        ("out host:http://a/", 15, "'/' is not part", "only the name"),
        ("out host:me@a", 12, "'@' is not part", "only the name"),
        ("out host:*.a.org", 10, "a name has no *", "domain:a.org"),
        ("out domain:a..b:c", 12, "is not the name of a host", "domain:example.org"),
        ("out domain:a\u200d b", 14, "a space stands here", "domain:example.org"),
        ("out path:news", 10, "neither a path nor a URL", "path:/news/"),
        ("out path:ftp://a/b", 10, "neither a path nor a URL", "path:/news/"),
        ("out path:/a?b", 12, "'?' is not part of a path", "regex:"),
        ("out path:/a#b", 12, "'#' is not part of a path", "regex:"),
        ("out page:/a", 10, "'/a' is not a URL", "whole URL"),
        ("out page:ftp://a/", 10, "is not a URL", "whole URL"),
        ("out regex:", 11, "a value is missing", "regex:"),
        ("out regex:(", 11, "missing ), unterminated subpattern", "backslash"),
        ("out regex:abc**", 15, "multiple repeat", "backslash"),
        ("out  regex: ab[", 15, "unterminated character set", "backslash"),
        ("out regex:a{99999999999}", 11, "too large", "count less far"),
        ("out regex:" + "(" * 9000, 11, "too large", "Nest less deeply"),
        ("out regex:" + "a" * 1_000_000, 1, "1,000,010 characters", "Split it"),
        ("out regex:a\udcff", 12, "no text", "UTF-8"),
        ("in seeds:all", 10, "takes no value", "page:"),
        ("out surt:", 10, "a value is missing", "surt:"),
        ("out surt:org, x", 14, "a space stands here", "no spaces"),
        ("out media:video", 11, "'video' is not a media type", "video/*"),
        ("out media:a/b;c=d", 11, "is not a media type", "video/*"),
        ("out size:much", 10, "is not a number of bytes", "10MB"),
        ("out size:10 XB", 10, "is not a number of bytes", "10MB"),
        ("out size:-1", 10, "is not a number of bytes", "10MB"),
    ],
    ids=lambda value: (
        shown(value, 24).encode("ascii", "replace").decode() if isinstance(value, str) else None
    ),
)
def test_complaints_point_at_the_place(text: str, character: int, problem: str, hint: str) -> None:
    """Which character, what is wrong there, and what to write, in a short paragraph."""
    with pytest.raises(ConfigError) as refusal:
        parse_rule(text)
    assert f", character {character}: " in refusal.value.what
    assert problem in refusal.value.what
    assert hint in refusal.value.hint
    assert len(str(refusal.value)) < 300
    assert str(refusal.value).isprintable()


def test_a_text_of_the_largest_size_is_read() -> None:
    """The limit itself is allowed."""
    text = "out regex:" + "a" * (MAX_TEXT - 10)
    assert parse_rule(text).text == text
    with pytest.raises(ConfigError):
        parse_rule(text + "a")


def test_patterns_of_settings_name_their_setting() -> None:
    """--exclude and --include are no rules of the user's, and are not called so."""
    assert compiled("a+", "exclude").search("caat")
    with pytest.raises(ConfigError, match=r"exclude pattern 'ab\('.*character 3"):
        compiled("ab(", "exclude")


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [("short", 60, "short"), ("a" * 61, 60, "a" * 57 + "..."), ("a\nb\tc", 60, "a b c")],
)
def test_texts_are_shown_on_one_short_line(text: str, most: int, expected: str) -> None:
    assert shown(text, most) == expected
