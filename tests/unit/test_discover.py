"""From a document to targets: by media type, with depth and priority."""

from __future__ import annotations

import gzip
import zlib

import pytest

from asof.crawl.discover import (
    MAX_FEED_PAGES,
    follow,
    found_in,
    is_searched,
    overlong,
    references,
)
from asof.model import Headers, Hop, Target
from asof.text.links.link import Link, Links
from asof.text.links.sitemaps import MAX_NESTING, sitemaps_of
from asof.url.whatwg import MAX_LENGTH

SEED = Target("http://h/")
SITEMAP = b"""<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="/s.xsl"?><urlset>
<url><loc>http://h/a</loc><priority>1.0</priority></url><url><loc>http://h/b</loc></url>
<url><loc>http://h/c</loc><priority>0.0</priority></url></urlset>"""
INDEX = b"<sitemapindex><sitemap><loc>/1.xml</loc></sitemap></sitemapindex>"
RSS = b"""<rss><channel><link>/home</link><atom:link rel="next" href="/feed?2"/>
<item><link>/a</link><enclosure url="/a.mp3"/></item></channel></rss>"""
JSON_FEED = b'{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "/a"}]}'
PDF = b"%PDF-1.4\n1 0 obj<</S/URI/URI(http://o/a)>>endobj"


def found(
    media_type: str, document: bytes, url: str = "http://h/x", headers: Headers = ()
) -> list[tuple[str, str]]:
    links = references(media_type, document, url=url, headers=headers)
    return [(link.reference, link.hop.value) for link in links.found]


@pytest.mark.parametrize(
    ("media_type", "document", "expected"),
    [
        ("text/html", b"<a href=/a>", [("/a", "L")]),
        ("text/html", b"<?xml version='1.0'?><html><script/><a href=/a></script>", []),
        ("application/xhtml+xml", b"<html><script/><a href='/a'/></html>", [("/a", "L")]),
        ("application/xml", b"<html><script/><a href='/a'/></html>", [("/a", "L")]),
        ("image/svg+xml", b"<svg><use href='/a'/><a href='/b'/></svg>", [("/a", "E"), ("/b", "L")]),
        ("text/css", b"a{b:url(/a)}", [("/a", "E")]),
        ("text/javascript", b"x('/a.js')", [("/a.js", "X")]),
        ("application/javascript", b"x('/a.js')", [("/a.js", "X")]),
        ("text/javascript", b"import './b.js'", [("./b.js", "E")]),
        ("application/json", b"{\"x\": \";import './b.js'\"}", []),
        ("text/html", b"<script type=module>import './b.js'</script>", [("./b.js", "E")]),
        ("text/html", b"<script>import './b.js'</script>", []),
        ("application/json", b'{"x": "/a.js"}', [("/a.js", "X")]),
        ("application/manifest+json", b'{"icons": [{"src": "/a.png"}]}', [("/a.png", "X")]),
        ("application/ld+json", b'{"url": "/a"}', [("/a", "L")]),
        ("application/json", JSON_FEED, [("/a", "F")]),
        ("application/pdf", PDF, [("http://o/a", "L")]),
        ("text/plain", b"http://h/a\nhttp://h/b\n", [("http://h/a", "M"), ("http://h/b", "M")]),
        ("text/plain", b"see http://h/a\n", []),
        ("application/xml", b"<?xml-stylesheet href='/s.css'?><x y='/no'/>", [("/s.css", "E")]),
        ("image/png", b"<a href=/no>", []),
        ("application/octet-stream", b"<a href=/no>", []),
    ],
)  # fmt: skip
def test_each_media_type_by_its_rules(
    media_type: str, document: bytes, expected: list[tuple[str, str]]
) -> None:
    """L leads on, E belongs to the page, M and F are listed in a sitemap or feed, X is a guess."""
    assert found(media_type, document) == expected


@pytest.mark.parametrize(
    "media_type", ["application/xml", "text/xml", "application/rss+xml", "text/html"]
)
def test_sitemaps_and_feeds_are_told_by_their_root(media_type: str) -> None:
    """Whatever the server calls them."""
    assert found(media_type, SITEMAP) == [
        ("/s.xsl", "E"), ("http://h/a", "M"), ("http://h/b", "M"), ("http://h/c", "M"),
    ]  # fmt: skip
    assert found(media_type, INDEX) == [("/1.xml", "M")]
    feed = references(media_type, RSS)
    assert feed.listing
    assert [(link.reference, link.hop.value, link.listing) for link in feed.found] == [
        ("/a", "F", False), ("/feed?2", "F", True), ("/a.mp3", "E", False), ("/home", "L", False),
    ]  # fmt: skip


def test_packed_sitemaps_by_their_names() -> None:
    packed = gzip.compress(SITEMAP)
    for media_type in ("application/gzip", "application/x-gzip", "application/octet-stream"):
        assert is_searched(media_type, "http://h/sitemap.xml.gz?x")
        assert not is_searched(media_type, "http://h/file.bin")
        assert len(found(media_type, packed, "http://h/sitemap.xml.gz")) == 3
        assert found(media_type, packed, "http://h/backup.tar.gz") == []


def test_headers_speak_for_any_type() -> None:
    headers = (("Content-Type", "image/png"), ("Link", "</next>; rel=next"))
    assert found("image/png", b"", headers=headers) == [("/next", "L")]
    assert found("text/html", b"<a href=/a>", headers=headers) == [("/next", "L"), ("/a", "L")]


def test_the_charset_of_the_headers_is_used() -> None:
    headers = (("Content-Type", 'text/html; Charset="windows-1252"'),)
    [(reference, _)] = found("text/html", "<a href=/é>".encode("cp1252"), headers=headers)
    assert reference == "/é"
    assert found("text/css", "a{b:url(/é)}".encode("cp1252"), headers=headers) == [("/é", "E")]


@pytest.mark.parametrize(
    ("media_type", "searched"),
    [
        ("text/html", True), ("text/css", True), ("application/pdf", True), ("text/plain", True),
        ("application/atom+xml", True), ("application/vnd.x+json", True), ("image/svg+xml", True),
        ("image/png", False), ("video/mp4", False), ("application/zip", False), (None, True),
        ("application/octet-stream", False), ("", False),
    ],
)  # fmt: skip
def test_what_is_searched_at_all(media_type: str | None, searched: bool) -> None:
    assert is_searched(media_type) is searched


PAGE = Target("http://h/p", depth=2, via="http://h/", hops="LL", priority=2.0)


@pytest.mark.parametrize(
    ("hop", "depth", "priority"),
    [
        (Hop.LINK, 3, 3.0),
        (Hop.REQUISITE, 2, 1.5),
        (Hop.REDIRECT, 2, 2.0),
        (Hop.SITEMAP, 3, 3.0),
        (Hop.FEED, 3, 3.0),
        (Hop.GUESS, 3, 3.0),
    ],
)
def test_depth_and_priority(hop: Hop, depth: int, priority: float) -> None:
    """Breadth first; what a page needs comes right after it, guesses come last."""
    target = follow(PAGE, "x", hop)
    guess = hop is Hop.GUESS
    path = "LL" + hop.value
    assert target == Target("http://h/x", depth, "http://h/p", path, priority, guess=guess)


def test_a_redirect_keeps_its_turn() -> None:
    """A guess that redirects is still a guess, a requisite still a requisite."""
    guess = follow(PAGE, "/g", Hop.GUESS)
    assert guess is not None
    moved = follow(guess, "/m", Hop.REDIRECT)
    assert moved is not None
    assert (moved.priority, moved.hops, moved.guess) == (guess.priority, "LLXR", True)


def test_what_is_no_url_is_no_target() -> None:
    assert follow(PAGE, "mailto:x", Hop.LINK) is None
    assert follow(PAGE, "http://[", Hop.LINK) is None
    assert list(found_in(PAGE, Links(None, (Link("javascript:x", Hop.LINK),)))) == []


def test_targets_are_distinct_and_not_the_page_itself_or_known() -> None:
    links = Links("/b/", (
        Link("x", Hop.LINK), Link("x", Hop.LINK), Link("/p#top", Hop.LINK), Link("y", Hop.LINK),
    ))  # fmt: skip
    assert [t.url for t in found_in(PAGE, links)] == ["http://h/b/x", "http://h/b/y"]
    assert [t.url for t in found_in(PAGE, links, {"http://h/b/x": None})] == ["http://h/b/y"]


class TestListings:
    """Sitemaps and feeds are signposts: they cost no depth themselves."""

    def entries(self, listing: Target, document: bytes) -> dict[str, tuple[int, float, str]]:
        links = references("application/xml", document, url=listing.url)
        found = found_in(listing, links)
        return {target.url: (target.depth, target.priority, target.hops) for target in found}

    def test_from_robots_txt(self) -> None:
        """As deep as links of the front page; the sitemap itself as deep as the front page."""
        robots = Target("http://h/robots.txt", 0, "http://h/", Hop.ROBOTS.value)
        [name] = sitemaps_of(b"Sitemap: /sitemap.xml")
        index = follow(robots, name, Hop.SITEMAP)
        assert index == Target("http://h/sitemap.xml", 0, "http://h/robots.txt", "M", 0.25)
        inner = self.entries(index, INDEX)
        assert inner == {"http://h/1.xml": (0, 0.25, "MM")}
        entries = self.entries(Target("http://h/1.xml", 0, None, "MM"), SITEMAP)
        assert entries["http://h/b"] == (1, 1.0, "MMM")

    def test_ranks_move_entries_a_little(self) -> None:
        entries = self.entries(Target("http://h/s.xml", 0, None, "M"), SITEMAP)
        ranked = sorted(entries, key=lambda url: entries[url][1])
        assert ranked[1:] == ["http://h/a", "http://h/b", "http://h/c"]
        assert all(abs(entries[url][1] - 1) < 0.1 for url in ranked[1:])

    @pytest.mark.parametrize("hops", ["L", "X", "LRR"])
    def test_by_an_ordinary_link_entries_get_the_step_back(self, hops: str) -> None:
        """As deep as the links of the page that linked to the feed."""
        feed = Target("http://h/feed", 1, "http://h/", hops)
        entries = self.entries(feed, RSS)
        assert entries["http://h/a"][0] == 1
        assert entries["http://h/feed?2"][0] == 0
        assert (
            self.entries(Target("http://h/feed?2", 0, None, hops + "F"), RSS)["http://h/a"][0] == 1
        )

    def test_a_seed_may_be_a_feed(self) -> None:
        assert self.entries(Target("http://h/feed"), RSS)["http://h/a"][0] == 1

    def test_indexes_of_indexes_end(self) -> None:
        deepest = Target("http://h/i.xml", 0, None, "M" * MAX_NESTING)
        assert self.entries(deepest, INDEX) == {}
        deepest = Target("http://h/i.xml", 0, None, "M" + "MR" * (MAX_NESTING - 2))
        assert len(self.entries(deepest, INDEX)) == 1

    def test_pages_of_a_feed_end(self) -> None:
        last = Target("http://h/feed?9", 0, None, "LR" + "F" * MAX_FEED_PAGES)
        assert "http://h/feed?2" not in self.entries(last, RSS)
        assert "http://h/a" in self.entries(last, RSS)


class TestOverlong:
    def test_they_are_told_with_a_reason(self) -> None:
        """Nobody can ask for them, but they were there."""
        long = "/x" + "y" * MAX_LENGTH
        links = Links(None, (Link(long, Hop.LINK), Link("/fine", Hop.LINK)))
        left = overlong(PAGE, links, "/r" + "z" * 200_000)
        assert [reason for _, reason in left] == ["trap: too long"] * 2
        assert [target.hops for target, _ in left] == ["LLL", "LLR"]
        assert all(len(target.url) < 300 for target, _ in left)
        assert left[0][0].url.startswith("http://h/xyyy")

    def test_mostly_there_are_none(self) -> None:
        assert overlong(PAGE, Links(None, (Link("/a", Hop.LINK),)), "/b") == []
        assert overlong(PAGE, Links(None, ()), None) == []


def test_pdf_in_an_object_stream() -> None:
    data = zlib.compress(b"<</S/URI/URI(http://o/b)>>")
    pdf = b"%PDF-1.7\n2 0 obj<</Type/ObjStm/Filter/FlateDecode>>stream\n" + data + b"\nendstream"
    assert found("application/pdf", pdf) == [("http://o/b", "L")]


@pytest.mark.parametrize(
    ("document", "links"),
    [
        (b"<html><a href=/x>", ["/x"]),
        (b'<svg xmlns="http://www.w3.org/2000/svg"><a href="/x"/></svg>', ["/x"]),
        (b"\x89PNG\r\n\x1a\n<a href=/x>", []),
        (b"words, <a href=/x>", []),
        (b"", []),
    ],
)
def test_what_has_no_type_is_searched_as_what_it_is(document: bytes, links: list[str]) -> None:
    assert [link.reference for link in references(None, document).found] == links
