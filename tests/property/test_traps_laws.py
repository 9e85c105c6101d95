from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from asof.clock import DAY
from asof.model import Target
from asof.scope.patterns import Patterns, written
from asof.scope.traps import calendar_trap, place_of, session_key, shape_trap
from asof.text.html.fingerprint import text_fingerprint, visible_blocks
from asof.url import canonical

pieces = st.sampled_from(
    ["a", "b", "item", "12", "2031-02-03", "sid", "=", "&", "?", "/", "//", ";jsessionid=7A", "%25",
     "0123456789abcdef0123456789abcdef", "PHPSESSID", "cfid", "cftoken", "(S(", "x-y-z", "sort",
     "amp;", "(S(lit3py55t21z5v55vlm25s55))", "/(", ")/", "year=2050", "month=1", "é", "[]"]
)  # fmt: skip
urls = (
    st.lists(pieces | st.text(max_size=5), max_size=25)
    .map(lambda parts: canonical("http://a.example/" + "".join(parts)))
    .filter(lambda url: url is not None)
)
words = st.text(alphabet="abcdefghij ", min_size=1, max_size=60)
blocks = st.lists(words.map(str.encode), max_size=30)


@given(urls, st.integers(0, 200 * 365 * DAY))
def test_every_url_has_a_verdict_and_a_pattern(url: str, now: int) -> None:
    """Whatever it looks like, and always the same."""
    for said in (shape_trap(url), calendar_trap(url, now)):
        assert said is None or said.startswith("trap: ")
    place = place_of(url)
    assert place.host == "a.example"
    assert place.pattern.startswith(place.path)


@given(urls)
def test_a_session_id_is_taken_out_once(url: str) -> None:
    """A key is shorter than its URL, is canonical, and has no session left."""
    key = session_key(url)
    if key is not None:
        assert len(key) < len(url)
        assert canonical(key) == key
        assert session_key(key) is None


@given(urls, st.integers(0, 9), st.integers(0, 9))
def test_numbers_do_not_make_a_pattern(url: str, one: int, other: int) -> None:
    """Two URLs that differ by a digit in a number are of one pattern."""
    joint = "&" if "?" in url else "?"
    assert place_of(f"{url}{joint}n={one}").pattern == place_of(f"{url}{joint}n={other}").pattern
    assert (
        place_of(f"http://a.example/x/{one}/y").pattern
        == place_of(f"http://a.example/x/{other}/y").pattern
    )


@given(blocks, st.randoms())
def test_a_fingerprint_is_a_set(texts: list[bytes], chance: random.Random) -> None:
    """Order and repetition are nothing; a part has no mark that the whole has not."""
    whole = text_fingerprint(texts)
    mixed = [*texts, *texts[:3]]
    chance.shuffle(mixed)
    assert text_fingerprint(mixed) == whole
    assert text_fingerprint(texts[::2]) & ~whole == 0


@given(st.binary(max_size=400) | st.text(max_size=300).map(str.encode))
def test_any_bytes_have_a_text(html: bytes) -> None:
    """A fingerprint never fails, and fits into a kilobyte."""
    assert 0 <= text_fingerprint(visible_blocks(html)) < 1 << 8_192


steps = st.lists(
    st.tuples(
        st.integers(0, 4),  # which series
        st.integers(0, 30),  # which of its pages
        st.integers(0, 3),  # what it says
        st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30)), max_size=4),  # where it leads
    ),
    max_size=120,
)


Script = list[tuple[int, int, int, list[tuple[int, int]]]]


def page(series: int, number: int, via: tuple[int, int] = (0, 0)) -> Target:
    shape = ("/a/{}", "/b/{}", "/c?x={}", "/c?x={}&y=1", "/d/{}/e")
    origin = "http://a.example"
    return Target(
        origin + shape[series].format(number), 1, origin + shape[via[0]].format(via[1]), "L"
    )


def learn(patterns: Patterns, script: Script) -> None:
    for series, number, text, leads in script:
        found = [page(which, there, (series, number)) for which, there in leads]
        patterns.learn(page(series, number), 1 << text, found, found[::2])


@given(steps, st.integers(0, 120), st.integers(1, 40))
def test_a_restart_makes_no_difference(script: Script, cut: int, group: int) -> None:
    """Committed in groups, read again after a restart: all that is learnt from then on is equal."""
    patterns, later, kept = Patterns(), Patterns(), dict[str, tuple[str, bytes]]()
    for at in range(0, cut, group):
        learn(patterns, script[at : min(cut, at + group)])
        for key, state in patterns.take_changes():
            kept.pop(key, None)
            if state is not None:
                kept[key] = written(state)
    later.restore((key, *state) for key, state in kept.items())
    for each in (patterns, later):
        learn(each, script[cut:])
    assert later.take_changes() == patterns.take_changes()
    for series in range(5):
        for via in range(5):
            target = page(series, 99, (via, 98))
            assert later.allows(target) == patterns.allows(target)


@given(steps)
def test_new_texts_are_never_a_repetition(script: Script) -> None:
    """A series whose every text is new is never refused for repeating itself."""
    patterns = Patterns()
    for k, (_, number, _, _) in enumerate(script):
        target = page(0, number, (0, number + 1))
        assert patterns.allows(target) is None
        patterns.learn(target, 1 << k)
