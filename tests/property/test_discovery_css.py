"""Laws of finding references in style sheets, with the rewriter of the replay as the referee."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from asof.replay.links import ReplayPlace
from asof.text.links.attribute_values import replaced
from asof.text.links.css import css_links, css_references
from support.laws import examples

PIECES = [
    *("url(", ")", "x.png", '"', "'", "/*", "*/", "@import", "\\", ";", "{", "}", "a:b", "(", "@"),
    *("image-set(", "-webkit-image-set(", "@namespace", "\\75", "\\75 rl(", "\\url(", "é", "#f"),
    *("data:", "http://o/", "type(", ",", "src(", "URL(", "\\f101", "\\/", "\\\n", "u\\72l(", "-"),
    *(" ", "\n", "\r\n", "\t", "\f", "\0"),
]
SHEETS = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)


def rewritten(sheet: str) -> list[str]:
    """What the rewriter would have replaced, resolved."""
    seen: list[str] = []
    place = ReplayPlace("http://h/d/p.css", lambda url: seen.append(url) or url)
    replaced(sheet, css_references(sheet), place.refer)
    return list(dict.fromkeys(seen))


@given(SHEETS)
@settings(max_examples=examples(500))
@example("a{b:url(x)}/*")
@example("\\75rl(x)url(y)")
def test_what_is_found_is_what_a_replay_will_ask_for(sheet: str) -> None:
    """Two readings of one standard: a reference that one sees, the other sees, too."""
    place = ReplayPlace("http://h/d/p.css", lambda url: url)
    found = [place.resolve(link.reference) for link in css_links(sheet)]
    assert list(dict.fromkeys(url for url in found if url is not None)) == rewritten(sheet)


@given(st.text(max_size=200))
def test_any_text_is_read_without_complaint(sheet: str) -> None:
    list(css_links(sheet))
