"""Laws of the scope: explanations agree with decisions, and no memory changes an answer."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from asof.config import Config
from asof.errors import ConfigError
from asof.model import Target
from asof.scope.areas import in_domains, place, site, under_paths
from asof.scope.rule_text import parse_rule
from asof.scope.rules import Scope, Verdict, is_requisite
from asof.url import canonical

HOSTS = (
    *("example.org", "www.example.org", "a.example.org", "b.a.example.org", "notexample.org"),
    *("example.org:8443", "cdn.example", "me@example.org", "[::1]", "127.0.0.1:8000"),
)
SEED = "https://example.org/"
PATHS = ("/", "/a", "/a/", "/a/b", "/ab", "/A", "/a/b.pdf", "/a?b=/a/", "/x:y", "/%C3%A4")

urls = st.builds(
    lambda scheme, host, path: f"{scheme}://{host}{path}",
    st.sampled_from(("http", "https")),
    st.sampled_from(HOSTS),
    st.sampled_from(PATHS),
)
hops = st.text("LERMFX", max_size=7)
targets = st.builds(
    lambda url, path, depth: Target(url, depth, None, path), urls, hops, st.integers(0, 6)
)
values = st.one_of(
    st.sampled_from(HOSTS).filter(lambda h: "@" not in h).map("host:{}".format),
    st.sampled_from(HOSTS).filter(lambda h: "@" not in h).map("domain:{}".format),
    st.sampled_from(PATHS).filter(lambda p: "?" not in p).map("path:{}".format),
    urls.filter(lambda u: "?" not in u).map("path:{}".format),
    urls.map("page:{}".format),
    urls.map("surt:{}".format),
    st.sampled_from(("a", "b$", r"\.pdf", "^https", "org:8")).map("regex:{}".format),
    st.just("seeds:"),
)
rules = st.one_of(
    st.builds("{} {}".format, st.sampled_from(("in", "out")), values),
    st.sampled_from(("out depth:0", "out depth:2", "out count:9", "out media:a/*", "out size:1")),
)
configs = st.builds(
    lambda rules, scope, exclude, include, depth, requisites: Config(
        rules=tuple(rules),
        scope=scope,
        exclude=tuple(exclude),
        include=tuple(include),
        depth=depth,
        requisites=requisites,
    ),
    st.lists(rules, max_size=6),
    st.sampled_from(("host", "domain", "path", "page", "surt:org,example,")),
    st.lists(st.sampled_from(("b", "pdf$")), max_size=2),
    st.lists(st.sampled_from(("cdn", "/a$")), max_size=2),
    st.none() | st.integers(0, 4),
    st.booleans(),
)
seeds = st.lists(urls, min_size=1, max_size=3, unique=True).map(tuple)


@given(seeds, configs, st.lists(targets, min_size=1, max_size=8))
def test_explanations_agree_with_decisions(
    seeds: tuple[str, ...], config: Config, targets: list[Target]
) -> None:
    """One rule decided, it is the first with an opinion, and its opinion is the decision."""
    scope = Scope(seeds, config)
    for target in targets:
        steps = scope.explain(target)
        decided = [step for step in steps if step.decided]
        opinions = [step for step in steps if step.verdict is not Verdict.NONE]
        assert decided == opinions[:1]
        assert (decided[0].verdict is Verdict.IN) is scope.decide(target).inside


@given(seeds, configs, st.lists(targets, min_size=1, max_size=8))
def test_what_was_asked_before_does_not_matter(
    seeds: tuple[str, ...], config: Config, targets: list[Target]
) -> None:
    """A scope that remembers hosts answers like one that was never asked before."""
    scope = Scope(seeds, config)
    used = [scope.decide(target) for target in (*targets, *reversed(targets))]
    fresh = [Scope(seeds, config).decide(target) for target in (*targets, *reversed(targets))]
    assert used == fresh


@given(seeds, configs, targets, st.sampled_from((None, "a/b", "c/d")), st.integers(0, 3))
def test_an_answer_is_refused_only_by_a_rule_over_answers(
    seeds: tuple[str, ...], config: Config, target: Target, media_type: str | None, size: int
) -> None:
    """The reason is the text of such a rule; seeds and their redirects are never refused."""
    reason = Scope(seeds, config).judge(target, media_type, size)
    assert reason in (None, "rule: out media:a/*", "rule: out size:1")
    assert reason is None or reason.removeprefix("rule: ") in config.rules
    assert reason is None or set(target.hops) - {"R"}


@given(hops)
def test_requisites_by_the_definition(path: str) -> None:
    """The run of E and R at the end, from its first E on, has one to four letters."""
    expected = re.search(r"(?:^|[^ER])R*(E[ER]{0,3})$", path) is not None
    assert is_requisite(Target("https://a.example/", 0, None, path)) is expected


@given(urls, st.lists(st.sampled_from(HOSTS), max_size=4))
def test_domains_as_endings(url: str, names: list[str]) -> None:
    """Looking names up says the same as trying each one."""
    host = url.split("/")[2].rpartition("@")[2]
    expected = any(host == name or host.endswith(f".{name}") for name in names)
    assert in_domains(names)(url) is expected


@given(urls, st.lists(st.tuples(st.sampled_from(HOSTS), st.sampled_from(PATHS)), max_size=4))
def test_paths_as_beginnings(url: str, prefixes: list[tuple[str, str]]) -> None:
    """Looking hosts up says the same as trying each prefix."""
    whole = "".join(place(url))
    expected = any(whole.startswith(host + path) and site(url) == host for host, path in prefixes)
    assert under_paths(prefixes)(url) is expected


@given(urls)
def test_the_two_ways_to_a_host_agree(url: str) -> None:
    """Paths and hosts are compared by the same name of a site."""
    assert canonical(url) == url
    assert place(url)[0] == site(url)


words = st.sampled_from(
    (
        *("in ", "out ", "host:", "domain:", "path:", "regex:", "page:", "size:", "media:", " "),
        *(":", "/", "*", "(", "10MB", "example.org", "https://a.example/"),
    )
)


@given(st.one_of(st.text(max_size=40), st.lists(words, max_size=6).map("".join)))
@example("out host:\udcff")
@example("out regex:(?P<a>(?P<a>)")
@example("out regex:\\")
@example("in path:/\x00")
@example("in page:http://a\tb/")
def test_any_text_is_a_rule_or_is_refused_with_advice(text: str) -> None:
    """Nothing else is raised, and what was read is read the same again."""
    refusal = None
    try:
        rule = parse_rule(text)
    except ConfigError as error:
        refusal = error
    if refusal is not None:
        assert refusal.hint
        assert str(refusal).isprintable()
    else:
        assert parse_rule(rule.text) == rule
        Scope((SEED,), Config(rules=(text,))).decide(Target("https://a.example/"))
