"""References in style sheets, in every way of writing them."""

from __future__ import annotations

import pytest

from asof.model import Hop
from asof.text.links.css import css_links


def found(sheet: str) -> list[str]:
    assert all(link.hop is Hop.REQUISITE for link in css_links(sheet))
    return [link.reference for link in css_links(sheet)]


@pytest.mark.parametrize(
    ("sheet", "expected"),
    [
        ("a{b:url(x)}", ["x"]),
        ("a{b:url( 'x' )}a{b:URL(\"y\")}", ["x", "y"]),
        ("@import 'a';@import url(b);@IMPORT \"c\" screen;", ["a", "b", "c"]),
        ("@import/**/'a'", ["a"]),
        ("a{b:image-set('x' 1x, url(y) 2x, 'z' type('image/png'))}", ["x", "y", "z"]),
        ("a{b:-webkit-image-set(url(x) 1x)}", ["x"]),
        ("a{b:cross-fade(url(x), url(y))}", ["x", "y"]),
        ("@font-face{src:url(x.woff2)format('woff2'),url(y.woff)}", ["x.woff2", "y.woff"]),
        ("a{b:src('x')}", ["x"]),
        (r"a{b:url(a\)b\ c)}", ["a)b c"]),
        (r"a{b:url('a\'b')}", ["a'b"]),
        (r"a{b:\75 rl(x)}", ["x"]),
        (r"a{b:\url(x)}", ["x"]),
        (r"a{b:url(\68ttp://h/x)}", ["http://h/x"]),
        (r".icon:before{content:'\f101';b:url(x)}", ["x"]),
        (r".w-1\/2{b:url(x)}.a\"b{c:url(y)}", ["x", "y"]),
        ("a{b:url(data:image/png;base64,AA//)}", []),
        ("a{b:url(#x) url() url('')}", []),
        ("/* url(no) */a{b:url(x)}/* @import 'no' */", ["x"]),
        ("a{content:'url(no)';b:url(x)}", ["x"]),
        ("a{content:\"/*\";b:url(x)}/* */", ["x"]),
        ("@namespace url(no);a{b:url(x)}", ["x"]),
        ("a{b:myurl(no)}a{b:my-url(no)}", []),
        ("a{b:url(x", ["x"]),
        ("a{b:url('x", []),
        ("a{b:url(x y)}a{b:url(z)}", ["z"]),
        ("a{c:'broken\n;b:url(x)}", ["x"]),
        ("/* never closed url(no)", []),
        ("", []),
    ],
)  # fmt: skip
def test_what_a_sheet_needs(sheet: str, expected: list[str]) -> None:
    """As a browser reads it: CSS Syntax, section 4."""
    assert found(sheet) == expected
