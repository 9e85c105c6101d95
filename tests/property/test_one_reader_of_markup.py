"""Links, text and replay read a document the same way: what one sees, the others see.

The single documents below were found by comparing the readers of before, of which each had its own:
in every one of them two gave different answers.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asof.model import Hop
from asof.replay.links import ReplayPlace
from asof.replay.rewrite import RewriteKind, rewrite
from asof.text.encoding.charset import charset_of, decoded
from asof.text.html.page import read_html
from asof.text.links.css import css_links
from asof.text.links.html_links import html_links
from asof.url import resolve
from support.laws import examples

HERE = "http://h/d/p.html"
# All ways to refer to something that a crawl follows or needs, and what may be mistaken for one.
PIECES = (
    """
<a href=x1>|<a href="y1">|<img src=i|>|<|"|'|<!--|-->|<style>|</style>|@import "s1";|u:url(s2)
<title>|</title>|<textarea>|</textarea>|<svg>|</svg>|<math>|</math>|<title/>|<div>|</div>
<![CDATA[|]]>|<plaintext>|<iframe>|</iframe>|<xmp>|</xmp>|<noframes>|</noframes>|<foreignObject>
</foreignObject>|<path fill="url(p1)">|<p fill="url(p2)">|<meta http-equiv=refresh content="0;m1">
<meta http-equiv="\x0brefresh" content="0;url=m2">|<img srcset="t1 1x, t2 2x">|<style/>
<link imagesrcset="t4 2x" rel=preload>|<img data-lazy-srcset="/t5.png 1x">|<a href=">">
<img data-src="/l1.png">|<div data-bg="url(l2)">|<iframe srcdoc="<a href=d1>">|<object data=o1>
<iframe srcdoc="<base href=/c/><a href=d2>">|<link rel=stylesheet href=c1>|<video poster=v1>
<div background=b1>|<div style="a:url(w3)">|<use xlink:href="w2"/>|<param name=movie value="/m.swf">
<a href="\xe9?\xe9">|<source src=w5>|<a ping=z href=w6>|<embed src=w7>|<td background=w8>
<frame src=g1>|<base href="/b/">|<form action=g2>|<div style="a:&quot;url(no)">|\0|&|<br>
<x-y src=w9 href=w10>|<svg><script>|<svg><style>|<desc>|<div title='<a href=no>'>|</a b=">">|</p
<input type=image src=w11>
""".strip()
    .replace("\n", "|")
    .split("|")
)
SOUP = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
# What is led home without being followed: no crawl goes by the href of an image.
QUIET = ("<img src=i<", "<img src=i&")


def followed(document: bytes, charset: str = "utf-8", *, xml: bool = False) -> set[str]:
    """The URLs that a crawl finds in the elements and styles of a document."""
    links = html_links(document, charset, xml=xml)
    base = resolve(HERE, links.base) if links.base is not None else None
    found = [resolve(base or HERE, link.reference) for link in links.found]
    found += [resolve(HERE, link.reference) for link in links.early]
    return {url for url in found if url is not None}


def rewritten(
    document: bytes, charset: str = "utf-8", kind: RewriteKind = RewriteKind.HTML
) -> set[str]:
    """The URLs that a replay leads into the archive."""
    led: set[str] = set()

    def lead(url: str) -> str:
        led.add(url)
        return f"/T/{url}"

    rewrite(document, kind, charset, ReplayPlace(HERE, lead))
    return led


@given(SOUP)
@settings(max_examples=examples(1000))
@example('<div data-bg="url(l2)">')
@example('<p fill="url(p2)">')
@example("<noframes><a href=x1>")
@example('<img data-lazy-srcset="/t5.png 1x">')
@example('<param name=movie value="/m.swf">')
@example('<meta http-equiv="\x0brefresh" content="0;url=m2">')
@example('<a href=x1><base href="/b/"><img src=i>')
@example('<iframe srcdoc="<base href=/c/><a href=d2>">')
def test_what_a_crawl_follows_is_what_a_replay_rewrites(markup: str) -> None:
    document = markup.encode()
    bases = {resolve(HERE, "/b/"), resolve(HERE, "/c/"), resolve("http://h/b/", "/c/")}
    found, led = followed(document), rewritten(document) - bases
    assert found <= led
    if not any(quiet in markup for quiet in QUIET):
        assert found == led


@given(SOUP)
def test_so_it_is_in_xml(markup: str) -> None:
    document = f"<svg>{markup}".encode()
    assert followed(document, xml=True) <= rewritten(document, kind=RewriteKind.XML)


@given(SOUP)
@settings(max_examples=examples(1000))
@example("<plaintext><a href=x1>")
@example("<svg><style><a href=x1>")
@example("<math><textarea><a href=x1>")
@example("<svg><title><a href=x1></title>")
@example("<script><!--<script></script><a href=x1>--></script><a href=y1>")
@example('<a href=x1><plaintext><base href="/b/">')
@example("<svg><![CDATA[<a href=x1>]]><a href=y1>")
def test_the_links_of_a_text_are_those_of_a_crawl(markup: str) -> None:
    """A reader of a page's text sees the elements that a crawler sees, and no others."""
    # A crawl looks into what is shown instead of frames, too, and into documents in attributes.
    markup = markup.replace("noframes", "b").replace("srcdoc", "title")
    links = html_links(markup)
    base = resolve(HERE, links.base) if links.base is not None else None
    others = ("m1", "m2", "w10")
    found = [link for link in links.found if link.hop is Hop.LINK]
    urls = {resolve(base or HERE, link.reference) for link in found if link[0] not in others}
    assert set(read_html(markup, HERE, "fast").links) == urls - {None}


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        ("<p>a<script><!--<script></script>no--></script>b", "ab"),
        ("<p>a<svg><title>no</title><text>b</text></svg>", "ab"),
        ("<svg><script>no</script></svg><p>a", "a"),
        ("<plaintext><p>a", "<p>a"),
        ("<p>a<\0p>b", "a<p>b"),
        ("<p>a</", "a</"),
        ("<title>T</title><svg><title>U</title></svg><p>a", "a"),
    ],
)
def test_a_text_is_what_a_browser_shows(markup: str, shown: str) -> None:
    """As lexbor has it, where the readers of links and of text had two opinions."""
    assert read_html(markup, HERE, "fast").text == shown


@pytest.mark.parametrize(
    ("sheet", "charset"),
    [
        # A second byte that looks like a backslash, in a sheet that cannot be encoded again.
        (b'/*\xfaJ*/a{b:url("\x83\\")}', "shift_jis"),
        (b'a{b:url("\x83\\")}', "shift_jis"),
        (b'a{b:url("\x81\\.png")}', "gbk"),
        (b"a{b:url(\xa5\\.png)}", "big5"),
        (b'a{b:url("\\\xb1.png")}', "shift_jis"),
    ],
)
def test_a_sheet_is_read_alike_in_every_encoding(sheet: bytes, charset: str) -> None:
    text = decoded(sheet, charset_of(sheet, charset, sheet=True))
    found = {resolve(HERE, link.reference) for link in css_links(text)}
    assert len(found) == 1
    assert found == rewritten(sheet, charset, RewriteKind.CSS)
    inside = b"<style>" + sheet + b"</style>"
    assert found == followed(inside, charset) == rewritten(inside, charset)
