"""The scope of a crawl: what is in, what is out, why, and in which order that is decided."""

from __future__ import annotations

from typing import Any

import pytest

from asof.config import Config
from asof.errors import ConfigError
from asof.model import Target
from asof.scope.rules import Decision, RuleStep, Scope, Verdict

SEED = "https://example.org/news/index.html"


def scope_of(*rules: str, seeds: tuple[str, ...] = (SEED,), **settings: Any) -> Scope:
    given = {"rules": rules, **settings}
    return Scope(seeds, Config().updated(given, source="test"))


def decide(url: str, *rules: str, depth: int = 2, hops: str = "LL", **settings: Any) -> Decision:
    return scope_of(*rules, seeds=(SEED,), **settings).decide(Target(url, depth, SEED, hops))


# -- Areas ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "url", "expected"),
    [
        ("host", "https://example.org/other", True),
        ("host", "http://www.example.org/", True),
        ("host", "https://user:word@example.org/", True),
        ("host", "https://example.org@evil.example/", False),
        ("host", "https://blog.example.org/", False),
        ("host", "https://example.org:8443/", False),
        ("host", "https://notexample.org/", False),
        ("domain", "https://blog.example.org/", True),
        ("domain", "https://a.b.example.org/", True),
        ("domain", "https://example.org/", True),
        ("domain", "https://blog.example.org:8443/", False),
        ("domain", "https://notexample.org/", False),
        ("domain", "https://org/", False),
        ("path", "https://example.org/news/today", True),
        ("path", "http://www.example.org/news/today?x=/other/", True),
        ("path", "https://me@example.org/news/today", True),
        ("path", "https://example.org/newspaper", False),
        ("path", "https://example.org/?/news/", False),
        ("path", "https://example.org/News/today", False),
        ("path", "https://example.org/", False),
        ("path", "https://other.example/news/today", False),
        ("page", SEED, True),
        ("page", "https://example.org/news/today", False),
        ("surt:org,example)/n", "https://example.org/newspaper", True),
        ("surt:http://(org,example,", "https://blog.example.org/x", True),
        ("surt:org,example)/n", "https://example.org/about", False),
    ],
)
def test_areas(scope: str, url: str, expected: bool) -> None:
    """Each area around a seed takes in what its name says, however the URL is dressed up."""
    assert decide(url, scope=scope).inside is expected


def test_a_seed_with_www_means_the_site() -> None:
    """Seeds often redirect between the two names of a site; both are in."""
    for scope in ("host", "domain", "path"):
        found = scope_of(seeds=("https://www.example.org/",), scope=scope)
        assert found.decide(Target("https://example.org/x", 1, SEED, "L")).inside


def test_many_seeds_have_an_area_each() -> None:
    """Folders belong to their hosts: what is in on one is not in on the other."""
    seeds = ("https://a.example/x/", "https://b.example/y/", "https://a.example/z/")
    found = scope_of(seeds=seeds, scope="path")
    expected = {"a.example/x/1": True, "a.example/z/1": True, "a.example/y/1": False,
                "b.example/y/1": True, "b.example/x/1": False}  # fmt: skip
    got = {p: found.decide(Target(f"https://{p}", 1, SEED, "L")).inside for p in expected}
    assert got == expected


# -- Reasons --------------------------------------------------------------------------------------


REASONS: list[tuple[str, str, dict[str, object], bool, str]] = [
    (SEED, "", {}, True, "seed"),
    ("https://example.org/a", "LL", {}, True, "same host"),
    ("https://example.org/a", "LL", {"scope": "domain"}, True, "same domain"),
    ("https://example.org/news/a", "LL", {"scope": "path"}, True, "same path"),
    ("https://example.org/a", "LL", {"scope": "surt:org,"}, True, "in surt:org,"),
    ("https://a.example/", "LL", {}, False, "other host"),
    ("https://a.example/", "LL", {"scope": "domain"}, False, "other domain"),
    ("https://a.example/", "LL", {"scope": "path"}, False, "other path"),
    ("https://a.example/", "LL", {"scope": "page"}, False, "other page"),
    ("https://a.example/", "LL", {"scope": "surt:org,"}, False, "out of scope"),
    (SEED, "", {"exclude": ("news/",)}, False, "excluded by news/"),
    ("https://example.org/a", "LL", {"depth": 1}, False, "deeper than 1"),
    ("https://x.example/", "LL", {"include": ("x.ex",)}, True, "included by x.ex"),
    ("https://x.example/", "LL", {"rules": ("out host:x.example",)}, False,
     "rule: out host:x.example"),
    ("https://c.example/f", "LE", {}, True, "requisite of a page in scope"),
    ("https://new.example/", "R", {"scope": "page"}, True, "redirect of a seed"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("url", "hops", "settings", "inside", "reason"), REASONS, ids=[row[-1] for row in REASONS]
)
def test_reasons_are_short_and_stable(
    url: str, hops: str, settings: dict[str, object], inside: bool, reason: str
) -> None:
    """The report of what was left out groups by these texts."""
    scope = Scope((SEED,), Config().updated(settings, source="test"))
    assert scope.decide(Target(url, len(hops), SEED, hops)) == Decision(inside, reason)


def test_a_long_pattern_makes_a_short_reason() -> None:
    """A reason stands beside every target that was left out; 5,000 letters would not fit."""
    reason = decide("https://example.org/a", exclude=("a|" * 2500 + "a",)).reason
    assert reason.startswith("excluded by a|a|")
    assert len(reason) < 100


# -- Every kind of rule ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "url", "about"),
    [
        ("surt:org,example)/news", "https://www.example.org/NEWS/x", True),
        ("surt:https://example.org/news/", "https://example.org/news/x", True),
        ("surt:org,example)/news", "https://example.org/old", False),
        ("host:example.org", "https://www.example.org/", True),
        ("host:www.Example.org", "https://example.org/", True),
        ("host:example.org:443", "https://example.org/", True),
        ("host:example.org", "https://a.example.org/", False),
        ("host:example.org", "https://example.org:8080/", False),
        ("host:example.org:8080", "https://example.org:8080/", True),
        ("host:[::1]:8080", "http://[::1]:8080/", True),
        ("host:bücher.example", "https://xn--bcher-kva.example/", True),
        ("domain:ads.example", "https://a.b.ads.example/x", True),
        ("domain:ads.example", "https://ads.example/x", True),
        ("domain:ads.example", "https://badads.example/x", False),
        ("domain:www.example.org", "https://www.example.org/", True),
        ("domain:www.example.org", "https://blog.example.org/", False),
        ("path:/news", "https://example.org/newspaper", True),
        ("path:/news", "http://www.example.org/news?x", True),
        ("path:/news", "https://other.example/news", False),
        ("path:/ä b", "https://example.org/%C3%A4%20b/c", True),
        ("path:http://other.example/a/", "https://www.other.example/a/b", True),
        ("path:http://other.example/a/", "https://other.example/b", False),
        ("page:https://example.org/a#top", "https://example.org/a", True),
        ("page:https://EXAMPLE.org/a", "https://example.org/a", True),
        ("page:https://example.org/a", "http://example.org/a", False),
        ("page:https://example.org/a", "https://example.org/a?b", False),
        (r"regex:\.pdf$", "https://example.org/a.pdf", True),
        (r"regex:\.pdf$", "https://example.org/a.pdf?x", False),
        ("regex:^http:", "http://example.org/", True),
        ("seeds:", SEED, True),
        ("seeds:", "https://example.org/", False),
    ],
)
def test_rules_over_urls(rule: str, url: str, about: bool) -> None:
    """`in` takes in and `out` leaves out exactly what the rule is about; else it says nothing."""
    target = Target(url, 1, SEED, "L")
    for verb, verdict in (("in", Verdict.IN), ("out", Verdict.OUT)):
        step = scope_of(f"{verb} {rule}").explain(target)[0]
        assert step.rule == f"{verb} {rule}"
        assert step == RuleStep(step.rule, verdict if about else Verdict.NONE, about)
        decision = scope_of(f"{verb} {rule}").decide(target)
        assert (decision.reason == f"rule: {verb} {rule}") is about


@pytest.mark.parametrize(("depth", "inside"), [(0, True), (3, True), (4, False)])
def test_depth_as_a_rule(depth: int, inside: bool) -> None:
    """Deeper than N is out; N itself is not."""
    decision = decide("https://example.org/x", "out depth:3", depth=depth)
    assert decision.inside is inside


def test_the_pages_of_a_host_are_limited_by_the_smallest_number() -> None:
    """`out count:N` and max_pages_per_host mean the same; the strictest holds."""
    assert scope_of().per_host is None
    assert scope_of("out count:7").per_host == 7
    assert scope_of(max_pages_per_host=5).per_host == 5
    assert scope_of("out count:7", "out count:3", max_pages_per_host=5).per_host == 3


def test_rules_over_answers_do_not_speak_before_the_answer() -> None:
    """A media type, a size or a count says nothing about a URL that was only found."""
    rules = ("out media:*/*", "out size:0", "out count:1")
    steps = scope_of(*rules).explain(Target("https://example.org/x", 1, SEED, "L"))
    assert [(step.rule, step.verdict) for step in steps[:3]] == [(r, Verdict.NONE) for r in rules]
    assert decide("https://example.org/x", *rules).inside


@pytest.mark.parametrize(
    "pattern",
    ["(", "*", "a{99999999999}", "(" * 9000, "a" * 1_000_000, "a\udcff"],
    ids=["unclosed", "nothing-to-repeat", "counts-too-far", "too-deep", "1-MB", "no-text"],
)
@pytest.mark.parametrize("setting", ["exclude", "include"])
def test_patterns_that_cannot_be_are_refused_with_advice(setting: str, pattern: str) -> None:
    """Every setting with a regular expression is checked, and says where it is wrong."""
    config = Config()
    object.__setattr__(config, setting, (pattern,))  # past the checks of Config itself
    with pytest.raises(ConfigError, match=f"{setting} pattern .*, character ") as refusal:
        Scope((SEED,), config)
    assert refusal.value.hint
    assert len(str(refusal.value)) < 300


# -- Order ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (("in path:/a", "out path:/a/b"), "rule: in path:/a"),
        (("out path:/a/b", "in path:/a"), "rule: out path:/a/b"),
        (("out host:example.org", "in domain:example.org"), "rule: out host:example.org"),
        (("in domain:example.org", "out host:example.org"), "rule: in domain:example.org"),
        (("out host:other.example", "in regex:/b/", "out path:/a"), "rule: in regex:/b/"),
    ],
)
def test_the_first_rule_that_decides_wins(rules: tuple[str, ...], reason: str) -> None:
    """The same rules in another order are another scope, also among rules kept by host."""
    assert decide("https://example.org/a/b/c", *rules).reason == reason


def test_settings_come_in_their_order() -> None:
    """rules, exclude, depth, include, seeds, area, requisites, and out: each wins over the next."""
    url = "https://example.org/x"
    everything: dict[str, object] = {
        "exclude": ("/x",),
        "depth": 1,
        "include": ("x$",),
    }
    found = scope_of("in page:" + url, seeds=(url,), **everything)
    assert [step.rule for step in found.explain(Target(url))] == [
        "in page:https://example.org/x",
        "out regex:/x",
        "out depth:1",
        "in regex:x$",
        "in seeds:",
        "in host:example.org",
        "in requisites of pages",
        "out everything else",
    ]
    reasons = [found.decide(Target(url, 5, None, "E")).reason]
    for gone in (None, "exclude", "depth", "include"):
        everything.pop(gone or "", None)
        found = scope_of(seeds=(url,), **everything)
        reasons.append(found.decide(Target(url, 5, None, "E")).reason)
    reasons.append(scope_of().decide(Target(url, 5, None, "E")).reason)
    reasons.append(scope_of(scope="page").decide(Target(url, 5, None, "E")).reason)
    assert reasons == [
        "rule: in page:https://example.org/x",
        "excluded by /x",
        "deeper than 1",
        "included by x$",
        "seed",
        "same host",
        "requisite of a page in scope",
    ]


def test_an_exclusion_wins_over_everything_and_says_which() -> None:
    """Even a seed is left out when it is excluded."""
    scope = Scope((SEED,), Config(exclude=("news/",)))
    assert scope.decide(Target(SEED)) == Decision(False, "excluded by news/")


def test_a_rule_can_keep_a_seed_that_is_excluded() -> None:
    """`in seeds:` before the excludes takes the seeds in, whatever follows."""
    assert decide(SEED, "in seeds:", exclude=("news/",)).inside


def test_what_is_kept_by_host_is_kept_apart_by_port_and_scheme() -> None:
    """The memory of hosts must not confuse servers that share a name."""
    found = scope_of("out host:example.org:8443")
    urls = ("https://example.org/", "https://example.org:8443/", "http://example.org/")
    for _ in range(2):
        got = [found.decide(Target(url, 1, SEED, "L")).inside for url in urls]
        assert got == [True, False, True]


# -- Requisites -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hops", "inside"),
    [
        ("E", True),
        ("LE", True),
        ("LLEE", True),
        ("LER", True),
        ("LEEER", True),
        ("LRE", True),
        ("LRRRRRE", True),
        ("LEEEE", True),
        ("LEEEEE", False),
        ("LERRRR", False),
        ("LEL", False),
        ("LELE", True),
        ("", False),
        ("L", False),
        ("R", False),
        ("LR", False),
        ("LEX", False),
        ("EM", False),
        ("EF", False),
        ("X", False),
        ("XE", True),
        ("ME", True),
    ],
)
def test_requisites_are_taken_wherever_they_lie(hops: str, inside: bool) -> None:
    """A page's parts, their parts and redirects, four steps at most; links from there are links."""
    decision = decide("https://cdn.example/font.woff", hops=hops)
    assert decision.inside is inside
    assert decision.reason == ("requisite of a page in scope" if inside else "other host")
    assert not decide("https://cdn.example/font.woff", hops=hops, requisites=False).inside


def test_rules_before_leave_requisites_out() -> None:
    """An out rule, an exclude and the depth come before what a page needs."""
    url = "https://ads.example/banner.gif"
    assert not decide(url, "out domain:ads.example", hops="LE").inside
    assert not decide(url, hops="LE", exclude=("banner",)).inside
    assert scope_of(depth=1).decide(Target(url, 3, SEED, "LLLE")).reason == "deeper than 1"


@pytest.mark.parametrize(
    ("hops", "inside"),
    [("R", True), ("RRRRR", True), ("RRRRRR", False), ("LR", False), ("E", True), ("RE", True)],
)
def test_a_page_is_followed_where_it_moved(hops: str, inside: bool) -> None:
    """`--scope page`: a seed that redirects is still the page that was asked for."""
    assert decide("https://new.example/", scope="page", hops=hops, depth=0).inside is inside


# -- Answers --------------------------------------------------------------------------------------

VIDEO = Target("https://example.org/film", 1, SEED, "L")


@pytest.mark.parametrize(
    ("rule", "media_type", "size", "refused"),
    [
        ("media:video/*", "video/mp4", None, True),
        ("media:video/*", "Video/MP4; codecs=x", None, True),
        ("media:VIDEO/mp4", "video/mp4", 0, True),
        ("media:video/*", "text/html", None, False),
        ("media:video/*", "x-video/mp4", None, False),
        ("media:video/*", None, None, False),
        ("media:video/*", "", 5, False),
        ("media:application/*+xml", "application/rss+xml", None, True),
        ("media:application/*+xml", "application/xml", None, False),
        ("media:application/x.y", "application/xzy", None, False),
        ("media:*/*", "text/plain", None, True),
        ("size:1000", "text/html", 1001, True),
        ("size:1000", None, 1000, False),
        ("size:1000", None, None, False),
        ("size:1kB", None, 1001, True),
        ("size:2MB", None, 2_000_001, True),
        ("size:1GB", None, 2_000_001, False),
    ],
)
def test_answers_are_judged(
    rule: str, media_type: str | None, size: int | None, refused: bool
) -> None:
    """By declared media type and by declared or received bytes, with the rule as the reason."""
    expected = f"rule: out {rule}" if refused else None
    assert scope_of(f"out {rule}").judge(VIDEO, media_type, size) == expected


def test_without_rules_over_answers_all_are_taken() -> None:
    assert scope_of("out path:/film").judge(VIDEO, "video/mp4", 1 << 60) is None


@pytest.mark.parametrize("hops", ["", "R", "RR", "P", "PR"])
def test_what_the_user_named_and_robots_are_always_taken(hops: str) -> None:
    """Seeds, where they redirect to, and robots.txt are never refused for type or size."""
    target = Target("https://example.org/film", 0, None, hops)
    assert scope_of("out media:*/*", "out size:1").judge(target, "video/mp4", 99) is None


def test_the_order_counts_for_answers_as_well() -> None:
    """A rule that took the target in before settles it; one behind comes too late."""
    take, leave = "in path:/film", "out media:video/*"
    assert scope_of(take, leave).judge(VIDEO, "video/mp4", None) is None
    assert scope_of(leave, take).judge(VIDEO, "video/mp4", None) == f"rule: {leave}"
    assert scope_of("in path:/other", leave).judge(VIDEO, "video/mp4", None) == f"rule: {leave}"
    two = scope_of("out size:10", leave)
    assert two.judge(VIDEO, "video/mp4", 11) == "rule: out size:10"
