"""Links in HTTP headers (RFC 8288)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.text.links.link_header import header_links


def found(*values: str) -> list[tuple[str, str]]:
    headers = tuple(("Link", value) for value in values)
    return [(link.reference, link.hop.value) for link in header_links(headers)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("</a>; rel=next", "/a L"),
        ('<https://h/a>; rel="prev canonical"', "https://h/a L"),
        ("</s.css>; rel=preload; as=style", "/s.css E"),
        ("</s.css>;rel=stylesheet,</i.png>;rel=icon", "/s.css E,/i.png E"),
        ('</a,b;c>; title="x, <y>; rel=no"; rel=next, </d>; rel=next', "/a,b;c L,/d L"),
        ('</a>; title="a \\" b"; rel=next', "/a L"),
        ("</a>; REL=Next", "/a L"),
        ("</a>; rel=next; rel=stylesheet", "/a L"),
        ("</a>; rel=dns-prefetch, </b>; rel=preconnect, </c>", ""),
        ("</a>; rel=prefetch", "/a X"),
        ('</b>; rel=preload; as=image; imagesrcset="/c 1x, /d 2x"', "/b E,/c E,/d E"),
        ("</a>; title*=UTF-8''x; rel=next", "/a L"),
        ("</a> ; rel = next ;", "/a L"),
        ("</a>; crossorigin; rel=next", "/a L"),
        ("</feed>; rel=alternate; type=application/atom+xml", "/feed L"),
        ("<>; rel=next, <#x>; rel=next, <javascript:x>; rel=next", ""),
        ("</a>; rel=next garbage, </b>; rel=next", "/a L,/b L"),
        ("</a; rel=next", ""),
        ("nonsense", ""),
        ("", ""),
    ],
)
def test_one_header(value: str, expected: str) -> None:
    """Reference and kind: L leads on, E belongs to the page, X is a guess."""
    pairs = [f"{reference} {letter}" for reference, letter in found(value)]
    assert ("\n".join(pairs)) == expected.replace(" L,/", " L\n/").replace(" E,/", " E\n/")


def test_several_headers_and_other_names() -> None:
    headers = (
        ("Link", "</a>; rel=next"),
        ("LINK", "</b>; rel=next"),
        ("X-Link", "</no>; rel=next"),
        ("Refresh", "0; url=/c"),
        ("refresh", "30"),
    )
    assert [link.reference for link in header_links(headers)] == ["/c", "/a", "/b"]


def test_a_flood_is_bounded() -> None:
    assert len(found("</a>; rel=next," * 100_000)) == 1000


@given(st.lists(st.sampled_from(["<", ">", ";", ",", '"', "\\", "=", "rel", "next", "a", " "])))
def test_any_header_is_read_without_complaint(parts: list[str]) -> None:
    found("".join(parts))
