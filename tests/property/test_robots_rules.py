"""Laws of robots.txt: patterns match as a regular expression would, and nothing is raised."""

from __future__ import annotations

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from asof.scope.robots import robots_from

PATHS = st.text("ab/", max_size=8).map(lambda path: f"/{path}")
PATTERNS = st.text("ab/*$", max_size=8).map(lambda pattern: f"/{pattern}")


def _expression(pattern: str) -> str:
    ends = pattern.endswith("$")
    parts = (re.escape(part) for part in pattern.removesuffix("$").split("*"))
    return ".*".join(parts) + (r"\Z" if ends else "")


@given(st.lists(st.tuples(st.booleans(), PATTERNS), max_size=4), PATHS)
def test_the_longest_rule_that_matches_decides(rules: list[tuple[bool, str]], path: str) -> None:
    lines = (f"{'Allow' if allow else 'Disallow'}: {pattern}\n" for allow, pattern in rules)
    body = "User-agent: *\n" + "".join(lines)
    matching = [
        (len(pattern), allow) for allow, pattern in rules if re.match(_expression(pattern), path)
    ]
    expected = max(matching, default=(0, True))[1]
    assert robots_from(200, body.encode(), "asof").allows(f"http://h{path}") is expected


@given(st.binary(max_size=300), PATHS, st.text(max_size=20))
def test_nothing_is_raised_for_any_bytes(body: bytes, path: str, agent: str) -> None:
    for data in (body, b"User-agent: *\nDisallow: " + body, b"Disallow:" + body * 3):
        robots_from(200, data, agent).allows(f"http://h{path}")


def test_hostile_patterns_take_no_time() -> None:
    star = b"User-agent: *\nDisallow: /" + b"*a" * 200_000 + b"b$\n"
    many = b"User-agent: *\n" + b"Disallow: /*a*a*a*a*ab\n" * 20_000
    url = "http://h/" + "a" * 2_000
    start = time.monotonic()
    for body in (star, many):
        assert robots_from(200, body, "asof").allows(url)
    assert time.monotonic() - start < 5.0
