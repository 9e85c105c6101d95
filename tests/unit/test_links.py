from __future__ import annotations

from asof.crawl.discover import found_in
from asof.model import Hop, Target
from asof.text.links import MAX_LINKS, PIECE, css_links, html_links, srcset

PAGE = b"""<!doctype html><base href="/b/"><a href=x.html>x</a><a href="mailto:a@b">m</a>
<a href="#top">t</a><a href=" javascript:void(0)">j</a><area href=area.html>
<link rel="Stylesheet" href=s.css><link rel=next href=2.html><link rel=dns-prefetch href=//cdn>
<img src=a.png srcset="b.png 1x, c.png 2x"><picture><source srcset="d.webp"></picture>
<style>@import "q.css"; a{background:url( 'z.png' )}/* url(no.png) */</style>
<p style="background:url(k.png)"><meta http-equiv=Refresh content="0; URL='next.html'">
<svg><image xlink:href="i.png"/><use href="#u"/></svg><iframe src=f.html></iframe>
<video poster=v.jpg src=v.mp4><track src=t.vtt></video><object data=o.swf></object>
<script src=j.js></script><!-- <a href=comment.html> --><noscript><img src=ns.png></noscript>"""


def test_every_kind_of_reference_is_found():
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


def test_targets_resolve_against_the_base_and_only_links_lead_deeper():
    target = Target("https://example.org/dir/page", depth=3, hops="LL")
    found = {t.url: t for t in found_in(target, html_links(PAGE))}
    link = found["https://example.org/b/x.html"]
    part = found["https://example.org/b/s.css"]
    assert (link.depth, link.hops, link.via) == (4, "LLL", target.url)
    assert (part.depth, part.hops) == (3, "LLE")


def test_css_references_in_every_quoting():
    sheet = "@import 'a.css';@import url(b.css);x{src:url(\"c.woff\")}y{z:url()}"
    assert [link.reference for link in css_links(sheet)] == ["a.css", "b.css", "c.woff"]


def test_srcset_candidates():
    assert list(srcset("a.jpg, b.jpg 2x,c.jpg 100w , d,e.png 3x")) == [
        "a.jpg", "b.jpg", "c.jpg", "d,e.png",
    ]  # fmt: skip
    assert list(srcset("")) == []
    assert list(srcset(" , ,, ")) == []


def test_a_flood_of_links_is_bounded():
    page = b"<a href=x>" * (MAX_LINKS + 10)
    assert len(html_links(page).found) == MAX_LINKS


def test_junk_documents_have_no_links_and_do_not_raise():
    assert html_links(b"\x00\xff\xfe<a href=\x80\x81").found is not None
    assert html_links(b"").found == ()


def test_a_huge_page_is_read_in_parts_and_no_link_is_lost():
    rows = [f"<p class=x>text <a href=/n/{number}>a link</a></p>\n" for number in range(20_000)]
    page = "<base href=/b/>" + "".join(rows)
    links = html_links(page.encode())
    assert len(page) > 4 * PIECE
    assert links.base == "/b/"
    assert [link.reference for link in links.found] == [f"/n/{n}" for n in range(20_000)]
    assert html_links(page).found == links.found


def test_an_enormous_tag_and_text_without_tags_are_read_too():
    tag = "<a " + " ".join(f"a{number}=1" for number in range(20_000)) + " href=/after>"
    assert [link.reference for link in html_links(tag + "x" * 9 * PIECE).found] == ["/after"]
