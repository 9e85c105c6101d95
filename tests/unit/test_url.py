"""Canonical URLs, resolved references, authorities: what ada says, and our shortcuts agree."""

from __future__ import annotations

import ada_url
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asof.url import canonical, host_of, origin, resolve
from support.laws import examples


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("http://example.org:80/a/../b#top", "http://example.org/b"),
        ("https://example.org/a b?c d", "https://example.org/a%20b?c%20d"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("https://example.org/?q='x'", "https://example.org/?q=%27x%27"),
        ("mailto:a@b", None),
        ("javascript:void(0)", None),
        ("example.org/a", None),
        ("http://", None),
        ("http://a b/", None),
        ("http://example.org/\ud800", None),
        ("", None),
        ("http://example.org/" + "a" * (1 << 16), None),
        ("http://example.org/" + "é" * (1 << 14), None),
    ],
)
def test_canonical(url: str, expected: str | None) -> None:
    assert canonical(url) == expected


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("b.html", "http://example.org/dir/b.html"),
        ("/b", "http://example.org/b"),
        ("//other.example/b", "http://other.example/b"),
        ("?x=1", "http://example.org/dir/a.html?x=1"),
        ("#top", "http://example.org/dir/a.html?q"),
        ("", "http://example.org/dir/a.html?q"),
        ("../b", "http://example.org/b"),
        ("https://other.example/#x", "https://other.example/"),
        ("\\b", "http://example.org/b"),
        (" b\n.html ", "http://example.org/dir/b.html"),
        ("mailto:a@b", None),
        ("http://[", None),
        ("x" * (1 << 17), None),
    ],
)
def test_resolve(reference: str, expected: str | None) -> None:
    assert resolve("http://example.org/dir/a.html?q#frag", reference) == expected


def test_resolving_keeps_the_userinfo_of_the_base() -> None:
    assert resolve("http://u:p@example.org/a/b", "/c") == "http://u:p@example.org/c"


def test_without_a_usable_base_only_absolute_references_resolve() -> None:
    assert resolve("nonsense", "http://example.org/ä") == "http://example.org/%C3%A4"
    assert resolve("nonsense", "a.html") is None


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://example.org/a", "example.org"),
        ("https://example.org", "example.org"),
        ("http://example.org:8080/", "example.org:8080"),
        ("http://example.org:80/", "example.org"),
        ("https://example.org:80/", "example.org:80"),
        ("http://127.0.0.1:49152/x", "127.0.0.1:49152"),
        ("http://u:p@Example.ORG/", "example.org"),
        ("http://[::1]:8080/", "[::1]:8080"),
        ("http://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        ("mailto:a@b", ""),
        ("", ""),
    ],
)
def test_host_of(url: str, host: str) -> None:
    assert host_of(url) == host


def test_origin() -> None:
    assert origin("HTTPS://u:p@Example.org:443/a?b") == "https://example.org"
    assert origin("http://example.org:8080/") == "http://example.org:8080"
    assert origin("mailto:a@b") is None


def pieces(words: str, *more: str) -> list[str]:
    """The words, and further pieces that white space cannot separate."""
    return [*words.split(), *more]


PIECES = pieces(
    "http:// https:// a A example.org 127.0.0.1 1.2 256.0.0.1 01.2.3.4 xn--a - -- : :80 :443 :8080 "
    ":65535 :65536 :59999 / // \\ . .. /./ /../ %2e %2E % %41 ? # & = é ' \" < > ` { } | ^ [ ] @ ~ "
    "! $ ( ) * + , ; _ b.html mailto: 0",
    " ",
    "\t",
    "\n",
    "\x00",
    "\x7f",
)
text = st.lists(st.sampled_from(PIECES), max_size=9).map("".join) | st.text(max_size=20)
absolute = st.builds(
    lambda s, h, t: s + h + t, st.sampled_from(["http://", "https://"]), text, text
)
BASES = [
    "http://example.org/",
    "https://example.org/a/b.html?q=1#f",
    "http://u:p@example.org:8080/a/",
    "http://[::1]/x/../y",
]


def whatwg(url: str, base: str | None = None) -> str | None:
    try:
        parsed = ada_url.URL(url, base)
    except ValueError:
        return None
    return parsed.href.partition("#")[0] if parsed.protocol in ("http:", "https:") else None


@settings(max_examples=examples(800), deadline=None)
@given(absolute | text)
@example("http://a.example-/")
@example("http://-a.example/")
@example("http://a_b.example/")
@example("http://" + "a" * 70 + ".example/")
@example("http://1.2.3.4.example/")
@example("http://a.1/")
def test_the_shortcut_for_absolute_urls_agrees_with_ada(url: str) -> None:
    assert canonical(url) == whatwg(url)


@settings(max_examples=examples(800), deadline=None)
@given(st.sampled_from(BASES), text | absolute)
def test_the_shortcuts_for_references_agree_with_ada(base: str, reference: str) -> None:
    assert resolve(base, reference) == whatwg(reference, base)


@settings(max_examples=examples(500), deadline=None)
@given(
    st.sampled_from([*BASES, "http://a.b/c/d/e/f?/g/h", "http://a.b/c//d/"]),
    st.lists(
        st.sampled_from([".", "..", "./", "../", "/", "a", "a/", "?b=/../c", "#"]), max_size=7
    ),
)
def test_the_shortcut_for_climbing_references_agrees_with_ada(base: str, pieces: list[str]) -> None:
    reference = "".join(pieces)
    assert resolve(base, reference) == whatwg(reference, base)


@settings(max_examples=examples(300), deadline=None)
@given(absolute)
def test_the_shortcut_for_origins_agrees_with_ada(url: str) -> None:
    assert origin(url) == (ada_url.URL(url).origin if whatwg(url) is not None else None)


@settings(max_examples=examples(300), deadline=None)
@given(absolute)
def test_canonical_is_idempotent_and_host_of_needs_no_canonical_url(url: str) -> None:
    once = canonical(url)
    if once is not None:
        assert canonical(once) == once
        assert host_of(url) == host_of(once) == ada_url.URL(once).host
