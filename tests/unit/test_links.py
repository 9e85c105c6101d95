from __future__ import annotations

import pytest

from asof.crawl.discover import found_in
from asof.model import Hop, Target
from asof.text.links.attribute_values import srcset
from asof.text.links.css import css_links
from asof.text.links.elements import ELEMENTS, NAMES, element_links
from asof.text.links.html_links import MAX_LINKS, PIECE, html_links
from asof.url import resolve

PAGE = b"""<!doctype html><base href="/b/"><a href=x.html>x</a><a href="mailto:a@b">m</a>
<a href="#top">t</a><a href=" javascript:void(0)">j</a><area href=area.html>
<link rel="Stylesheet" href=s.css><link rel=next href=2.html><link rel=dns-prefetch href=//cdn>
<img src=a.png srcset="b.png 1x, c.png 2x"><picture><source srcset="d.webp"></picture>
<style>@import "q.css"; a{background:url( 'z.png' )}/* url(no.png) */</style>
<p style="background:url(k.png)"><meta http-equiv=Refresh content="0; URL='next.html'">
<svg><image xlink:href="i.png"/><use href="#u"/></svg><iframe src=f.html></iframe>
<video poster=v.jpg src=v.mp4><track src=t.vtt></video><object data=o.swf></object>
<script src=j.js></script><!-- <a href=comment.html> --><noscript><img src=ns.png></noscript>"""


def test_every_kind_of_reference_is_found() -> None:
    links = html_links(PAGE)
    found = {(link.reference, link.hop) for link in links.found}
    pages = {"x.html", "area.html", "2.html", "next.html"}
    parts = {
        "s.css", "a.png", "b.png", "c.png", "d.webp", "q.css", "z.png", "k.png", "i.png",
        "f.html", "v.jpg", "v.mp4", "t.vtt", "o.swf", "j.js", "ns.png",
    }  # fmt: skip
    assert links.base == "/b/"
    assert {ref for ref, hop in found if hop is Hop.LINK} == pages
    assert {ref for ref, hop in found if hop is Hop.REQUISITE} == parts


def test_targets_resolve_against_the_base_and_only_links_lead_deeper() -> None:
    target = Target("https://example.org/dir/page", depth=3, hops="LL")
    found = {t.url: t for t in found_in(target, html_links(PAGE))}
    link = found["https://example.org/b/x.html"]
    part = found["https://example.org/b/s.css"]
    assert (link.depth, link.hops, link.via) == (4, "LLL", target.url)
    assert (part.depth, part.hops) == (3, "LLE")


def test_css_references_in_every_quoting() -> None:
    sheet = "@import 'a.css';@import url(b.css);x{src:url(\"c.woff\")}y{z:url()}"
    assert [link.reference for link in css_links(sheet)] == ["a.css", "b.css", "c.woff"]


def test_srcset_candidates() -> None:
    found = srcset("a.jpg, b.jpg 2x,c.jpg 100w , d,e.png 3x")
    assert [candidate.url for candidate in found] == [
        "a.jpg", "b.jpg", "c.jpg", "d,e.png",
    ]  # fmt: skip
    assert list(srcset("")) == []
    assert list(srcset(" , ,, ")) == []


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_no_attribute_is_passed_by(
    monkeypatch: pytest.MonkeyPatch, drawn: bool, is_compiled: bool
) -> None:
    """What cannot refer to anything is sorted out early, by other means than the table of uses."""
    if not is_compiled:
        monkeypatch.setattr("asof.text.links.html_links.compiled", None)
    of_meta = ("content", "style")
    others = ELEMENTS - {"base", "image", "script"} | {"p"}
    for name in sorted({"amp-video", *({"g", "a", "use"} if drawn else others)}):
        for attribute in sorted(NAMES) if name != "meta" else of_meta:
            told = {attribute: "url(v.png)", "name": "og:image" if name == "meta" else "movie"}
            for value in ("url(v.png)", "v.png"):
                told |= {attribute: value, "rel": "next"}
                written = " ".join(f'{each}="{said}"' for each, said in told.items())
                page = f"<svg><{name} {written} />" if drawn else f"<{name} {written}>"
                found = [(link.reference, link.hop) for link in html_links(page).found]
                assert found == list(element_links(name, told, drawn=drawn)), page


def test_a_flood_of_links_is_bounded() -> None:
    page = b"<a href=x>" * (MAX_LINKS + 10)
    assert len(html_links(page).found) == MAX_LINKS


def test_junk_documents_have_no_links_and_do_not_raise() -> None:
    assert html_links(b"\x00\xff\xfe<a href=\x80\x81").found is not None
    assert html_links(b"").found == ()


def test_a_huge_page_is_read_in_parts_and_no_link_is_lost() -> None:
    rows = [f"<p class=x>text <a href=/n/{number}>a link</a></p>\n" for number in range(20_000)]
    page = "<base href=/b/>" + "".join(rows)
    links = html_links(page.encode())
    assert len(page) > 4 * PIECE
    assert links.base == "/b/"
    assert [link.reference for link in links.found] == [f"/n/{n}" for n in range(20_000)]
    assert html_links(page).found == links.found


def test_an_enormous_tag_and_text_without_tags_are_read_too() -> None:
    tag = "<a " + " ".join(f"a{number}=1" for number in range(20_000)) + " href=/after>"
    assert [link.reference for link in html_links(tag + "x" * 9 * PIECE).found] == ["/after"]


def found(markup: str | bytes, charset: str | None = None) -> list[tuple[str, str]]:
    """The references and the letters of their kinds."""
    return [(link.reference, link.hop.value) for link in html_links(markup, charset).found]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            "<img src=a data-src=/b.png data-srcset='/c.png 1x, /d.png 2x'>",
            "a E,/b.png E,/c.png E,/d.png E",
        ),
        (
            "<div data-bg='/a.jpg'><div data-background-image=\"url('/b.jpg')\">",
            "/a.jpg E,/b.jpg E",
        ),
        (
            "<img data-original=/a.jpg data-lazy-src=/b.jpg data-lazy='{\"x\":1}'>",
            "/a.jpg E,/b.jpg E",
        ),
        ("<tr data-href=/row><link rel=stylesheet data-href=/late.css>", "/row L,/late.css E"),
        ("<i data-src=token data-href='not a url'>", ""),
        (
            "<form action='/a?q=1#x'><form method=post action=/no><form method=GET action=/b>",
            "/a X,/b X",
        ),
        ("<form><form action=''>", ""),
        (
            "<meta property=og:image content=/a.png><meta name=twitter:image content=/b.png>",
            "/a.png E,/b.png E",
        ),
        ("<meta property=og:url content=/c><meta name=description content=/d>", "/c X"),
        ("<meta http-equiv=refresh content='3;url=/a'><meta http-equiv=refresh content=5>", "/a L"),
        ("<meta http-equiv=refresh content='0, /b'>", "/b L"),
        (
            "<link rel=alternate type=application/rss+xml href=/f><link rel=sitemap href=/s>",
            "/f L,/s L",
        ),
        (
            "<link rel='alternate stylesheet' href=a><link rel=preload imagesrcset='b 1x' href=c>",
            "a E,b E,c E",
        ),
        (
            "<link rel=prefetch href=/a><link rel=preconnect href=/b><link href=/c>",
            "/a X",
        ),
        ("<iframe srcdoc='<a href=/in>&lt;img src=/deep&gt;' src=/f>", "/f E,/in L,/deep E"),
        (
            "<object data=/a><param name=movie value=/b.swf><param name=x value=/c><embed src=/d>",
            "/a E,/b.swf E,/d E",
        ),
        (
            "<svg><a xlink:href=/a><image href=/b /><use href='/c#x'/><feImage href=/d /></svg>",
            "/a L,/b E,/c#x E,/d E",
        ),
        (
            "<svg><style>a{fill:url(/a)}</style><g fill='url(/b#c)'/><path fill='url(#d)'/></svg>",
            "/a E,/b#c E",
        ),
        ("<amp-img src=/a></amp-img><x-card href=/b><p src=/c href=/d>", "/a E,/b L"),
        (
            "<video poster=/p><source src=/a><track src=/b><audio src=/c><bgsound src=/d>",
            "/p E,/a E,/b E,/c E,/d E",
        ),
        ("<frameset><frame src=/a></frameset><noframes><a href=/b></noframes>", "/a E,/b L"),
        ("<template><a href=/a></template><select><option><a href=/b></select>", "/a L,/b L"),
        ("<blockquote cite=/a><a ping=/b href=/c><img longdesc=/d>", "/c L"),
        (
            "<A HREF=/a><IMG SRC=/b STYLE='background:URL(/c)'><BODY BACKGROUND=/d>",
            "/a L,/b E,/c E,/d E",
        ),
        ('<a href=/a href=/b><a href="/c" href="/d">', "/a L,/c L"),
        ("<a href='/?a=1&amp;b=2&copy=3&#47;'>", "/?a=1&b=2&copy=3/ L"),
        ('<a href="/a\nb"><a href="  /c  "><a href="">', "/a\nb L,/c L"),
        ("<a title='<a href=/no>' href=/yes><a title=\"<!--\" href=/too>", "/yes L,/too L"),
        ("<textarea><a href=/no></textarea><title><a href=/no></title><xmp><a href=/no></xmp>", ""),
        ("<script>'<a href=/no>'</script><style>/*<a href=/no>*/</style><a href=/yes>", "/yes L"),
        ("<script><!-- <script></script> '<a href=/no>' --></script><a href=/yes>", "/yes L"),
        ("<plaintext><a href=/no>", ""),
        ("<![CDATA[<a href=/in>]]><?php <a href=/no>?><!x <a href=/no2>><a href=/yes", ""),
    ],
)
def test_where_references_hide(markup: str, expected: str) -> None:
    """Reference and kind: L leads on, E belongs to the page, X is a guess."""
    pairs = [tuple(pair.rsplit(" ", 1)) for pair in expected.split(",") if pair]
    assert found(markup) == pairs


def test_inline_scripts_are_good_for_guesses_and_templates_are_not() -> None:
    page = """<script>var a = "/js/a.js";</script><script type=module>b("https://cdn.test.org/b")</script>
    <script type="text/template"><a href="/no"> "/no.js"</script>
    <script type="application/json">{"image": "https:\\/\\/img.test.org\\/c.png"}</script>"""
    assert found(page) == [
        ("/js/a.js", "X"), ("https://cdn.test.org/b", "X"), ("https://img.test.org/c.png", "X"),
    ]  # fmt: skip


def test_structured_data_names_pages_and_media() -> None:
    page = """<script type="application/ld+json">{"@type": "Article", "url": "/story",
    "image": {"url": "/photo.jpg"}, "author": {"url": "https://o.test.org/ann"}}</script>"""
    assert found(page) == [("/story", "L"), ("/photo.jpg", "X"), ("https://o.test.org/ann", "L")]


class TestEncodings:
    def test_utf_8_by_default_and_by_name(self) -> None:
        assert found("<a href='/caf\u00e9?q=\u00e9'>".encode()) == [("/caf\u00e9?q=\u00e9", "L")]

    @pytest.mark.parametrize("declare", ["meta", "http", "nobody"])
    def test_a_legacy_page_asks_for_what_a_browser_would(self, declare: str) -> None:
        """Path in UTF-8, query in the page's own encoding (WHATWG URL, "query state")."""
        markup = "<a href='/caf\u00e9?q=\u00e9#\u00e9'>".encode("cp1252")
        if declare == "meta":
            markup = b"<meta charset=iso-8859-1>" + markup
        [(reference, _)] = found(markup, "windows-1252" if declare == "http" else None)
        assert resolve("http://h/", reference) == "http://h/caf%C3%A9?q=%E9"

    @pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-32"])
    def test_wide_encodings_are_transcoded(self, codec: str) -> None:
        markup = "<p>\u00e9</p><a href=/\u00e9>x</a>".encode(codec)
        assert found(markup, "utf-16" if codec == "utf-16-le" else None) == [("/\u00e9", "L")]

    def test_japanese_by_escape_sequences(self) -> None:
        markup = "<meta charset=iso-2022-jp><a href=/a>\u65e5\u672c</a><a href=/b>".encode(
            "iso2022_jp"
        )
        assert found(markup) == [("/a", "L"), ("/b", "L")]

    def test_http_speaks_before_the_page_and_an_unknown_name_is_ignored(self) -> None:
        markup = b"<meta charset=koi8-r><a href=/\xe9>"
        assert found(markup, "iso-8859-1") == [("/\u00e9", "L")]
        assert found(markup, "klingon") == [("/\u0418", "L")]

    def test_text_in_place_of_bytes(self) -> None:
        assert found("<meta charset=koi8-r><a href='/\u00e9'>") == [("/\u00e9", "L")]


def test_xhtml_and_svg_are_read_by_the_rules_of_xml() -> None:
    """An empty script is empty, prefixes do not matter, CDATA is text."""
    page = """<?xml version="1.0"?><h:html xmlns:h="x"><h:script src="/a.js"/><h:a href="/b"/>
    <style><![CDATA[ p > a { b: url(/c.png) } ]]></style><![CDATA[<a href="/no">]]></html>"""
    links = html_links(page, xml=True)
    assert [(link.reference, link.hop.value) for link in links.found] == [
        ("/a.js", "E"), ("/b", "L"), ("/c.png", "E"),
    ]  # fmt: skip


def test_only_the_first_base_counts() -> None:
    assert html_links("<base target=x><base href=/a/><base href=/b/>").base == "/a/"
    assert html_links("<a href=x>").base is None


def test_documents_in_documents_end_somewhere() -> None:
    """Escaped again and again: the outer ones are read, and none of it takes for ever."""
    page = "<a href=/inmost>"
    for depth in range(8):
        escaped = page.replace("&", "&amp;").replace('"', "&quot;")
        page = f'<a href=/{depth}><iframe srcdoc="{escaped}"></iframe>'
    assert [reference for reference, _ in found(page)] == ["/7", "/6", "/5", "/4", "/3"]
