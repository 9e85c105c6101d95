"""References joined to their base: the compiled join says what the patterns of whatwg.py say."""

from __future__ import annotations

import ada_url
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asof.native import compiled
from asof.url.whatwg import MAX_LENGTH, plain_relative, plain_rooted
from support.laws import examples

STEM = "http://example.org"
FOLDER = "http://example.org/dir/"
ALL_OF_ASCII = [chr(code) for code in range(128)]
PIECES = [
    *"/.?#:;&=~_-^`{}|\\[]'\"<>@!$()*+%,aA0éß \t\n\r\x00\x7f\u2028\ud800",
    *("//", "..", "/.", "/..", "/./", "%2e", "%2E", "%2f", "%2", "?a=./b", "?/.", "#/.", "#%2e"),
    *("b.html", "mailto:", "http:", "xn--"),
]
references = (
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)
    | st.text(st.sampled_from(ALL_OF_ASCII), min_size=1, max_size=12)
    | st.text(min_size=1, max_size=12)
)
needs_it = pytest.mark.skipif(compiled is None, reason="no C compiler when asof was installed")


def plainly(reference: str) -> str | None:
    """As `resolve` asks: what begins with a slash is rooted, what does not is relative."""
    if reference.startswith("/"):
        return plain_rooted(STEM, reference)
    return plain_relative(FOLDER, reference)


def swiftly(reference: str) -> str | None:
    """As `unknown` joins, but for what leads upwards or is absolute, which it looks at first."""
    if reference.startswith((".", "http://", "https://")):
        return plainly(reference)
    found = compiled.unknown(((reference, None, None, None),), STEM, FOLDER, {})
    return found[0][0]


@needs_it
@settings(max_examples=examples(500))
@given(references)
@example("/")
@example("//")
@example("//a")
@example("/a//b")
@example("/.")
@example("/a/.")
@example("/a/..b")
@example("a/.b")
@example(".a")
@example("a.")
@example("a:b")
@example("/a:b")
@example("a/b:c")
@example("a?b:c")
@example("a%2e")
@example("a%2")
@example("a%")
@example("/%2E%2e/")
@example("a?x=/.")
@example("a#/.")
@example("a#%2e")
@example("a##")
@example("a#é")
@example("a?'")
@example("/a'b")
@example("a\\b")
@example("a?b\\c")
@example("/\\a")
@example("a^b")
@example("a?^")
@example("#a")
@example("?a")
def test_both_ways_give_the_same_answer(reference: str) -> None:
    assert swiftly(reference) == plainly(reference)


@needs_it
@pytest.mark.parametrize("before", ["a", "/a", "a?", "/a?", "a#", "a/", "/", "a%2", "/a%"])
def test_they_agree_on_every_character(before: str) -> None:
    for character in [*ALL_OF_ASCII, "é", "\u0131", "\uff0e", "\U0001f600", "\ud800"]:
        for after in ("", "b", "/", "e", "?x", "#x"):
            reference = before + character + after
            assert swiftly(reference) == plainly(reference), repr(reference)


@needs_it
@pytest.mark.parametrize("slack", [-1, 0, 1])
@pytest.mark.parametrize("lead", ["/", "a"])
def test_they_agree_on_the_greatest_length(slack: int, lead: str) -> None:
    """Of the URL without its fragment."""
    stem = STEM if lead == "/" else FOLDER
    reference = lead + "x" * (MAX_LENGTH - len(stem) - len(lead) + slack)
    found = plainly(reference)
    assert (found is None) == (slack > 0)
    assert swiftly(reference) == found
    assert swiftly(reference + "#" + "f" * 100) == plainly(reference + "#" + "f" * 100) == found


@settings(max_examples=examples(300))
@given(references)
def test_what_is_joined_plainly_is_what_the_standard_says(reference: str) -> None:
    """The patterns take only what the parser would leave untouched."""
    found = plainly(reference)
    if found is not None:
        parsed = ada_url.URL(reference, FOLDER)
        assert found == parsed.href.partition("#")[0]


@needs_it
def test_nothing_joined_to_something_is_left_to_the_parser() -> None:
    assert swiftly("") is None
    assert plainly("") is None
