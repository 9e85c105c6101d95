"""Feeds of all kinds, whole and broken."""

from __future__ import annotations

import json

import pytest

from asof.clock import parse_iso
from asof.text.links.feeds import MAX_ITEMS, Feed, Item, is_feed, read_date, read_feed

RSS2 = b"""<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/">
<channel><title>T</title><link>http://h/</link><image><link>http://h/no</link></image>
<atom:link rel="self" href="http://h/feed"/><atom:link rel="next" href="http://h/feed?page=2"/>
<item><title>A &amp; B</title><link>http://h/a?x=1&amp;y=2</link><guid>http://h/?p=1</guid>
<pubDate>Mon, 06 May 2024 07:08:09 +0200</pubDate><atom:updated>2024-05-07T00:00:00Z</atom:updated>
<enclosure url="http://h/a.mp3" type="audio/mpeg"/><description>&lt;a href="/no"&gt;</description>
<media:group><media:content url="http://h/a.mp4"/></media:group></item>
<item><link><![CDATA[http://h/b]]></link><dc:date>2024-05-08</dc:date></item>
<item><guid isPermaLink="true">http://h/c</guid></item>
<item><guid isPermaLink="false">http://h/no</guid></item>
<item><title>none</title></item></channel></rss>"""
RSS1 = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="http://h/feed"><link>http://h/</link><items><rdf:Seq>
<rdf:li resource="http://h/a"/></rdf:Seq></items></channel>
<item rdf:about="http://h/a"><title>A</title><link>http://h/a</link><dc:date>2024-05-06</dc:date></item>
<item rdf:about="http://h/b"><title>B</title></item></rdf:RDF>"""
ATOM = b"""<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom"
 xml:base="http://h/blog/"><link href="http://h/" /><updated>2024-01-01T00:00:00Z</updated>
<link rel="next" href="?page=2"/><link rel="prev-archive" href="/old.xml"/>
<link rel="hub" href="/no"/><link rel="self" type="application/atom+xml" href="/no"/>
<entry><id>tag:h,2024:1</id><link rel="alternate" href="a"/><link rel="edit" href="/no"/>
<link rel="enclosure" href="/a.mp3"/><published>2024-05-06T07:08:09Z</published>
<updated>2024-05-07T07:08:09.5+01:00</updated><source><id>http://h/no</id><updated>2000</updated></source>
<content type="xhtml"><div><a href="no">x</a></div></content></entry>
<entry xml:base="http://o/"><id>http://h/b</id></entry>
<entry xml:base="http://o/"><link href="c"/><content src="/c.bin"/></entry></feed>"""
JSON_FEED = {
    "version": "https://jsonfeed.org/version/1.1",
    "home_page_url": "http://h/",
    "feed_url": "http://h/feed.json",
    "next_url": "http://h/feed.json?page=2",
    "items": [
        {
            "id": "1",
            "url": "http://h/a",
            "date_published": "2024-05-06T07:08:09+02:00",
            "date_modified": "2024-05-07T00:00:00Z",
            "attachments": [{"url": "http://h/a.mp3"}, {"size": 7}],
        },
        {"id": "http://h/b"},
        {"id": "7", "url": 7},
        "nonsense",
    ],
}


def test_rss_2() -> None:
    assert read_feed(RSS2, "application/rss+xml") == Feed(
        items=(
            Item("http://h/a?x=1&y=2", parse_iso("2024-05-06T05:08:09Z"), parse_iso("2024-05-07")),
            Item("http://h/b", parse_iso("2024-05-08")),
            Item("http://h/c"),
        ),
        home="http://h/",
        pages=("http://h/feed?page=2",),
        media=("http://h/a.mp3", "http://h/a.mp4"),
    )


def test_rss_1() -> None:
    assert read_feed(RSS1) == Feed(
        items=(Item("http://h/a", parse_iso("2024-05-06")), Item("http://h/b")), home="http://h/"
    )


def test_rss_0_91() -> None:
    page = (
        b"<rss version='0.91'><channel><item><title>A</title><link>/a</link></item></channel></rss>"
    )
    assert read_feed(page).items == (Item("/a"),)


def test_atom_with_bases() -> None:
    assert read_feed(ATOM, "application/atom+xml") == Feed(
        items=(
            Item(
                "http://h/blog/a",
                parse_iso("2024-05-06T07:08:09Z"),
                parse_iso("2024-05-07T06:08:09.5Z"),
            ),
            Item("http://h/b"),
            Item("http://o/c"),
        ),
        home="http://h/",
        pages=("http://h/blog/?page=2", "http://h/old.xml"),
        media=("http://h/a.mp3", "http://o/c.bin"),
    )


def test_atom_0_3() -> None:
    page = b"""<feed version="0.3"><entry><link rel="alternate" type="text/html" href="/a"/>
    <issued>2004-05-06</issued><modified>2004-05-07</modified></entry></feed>"""
    assert read_feed(page).items == (Item("/a", parse_iso("2004-05-06"), parse_iso("2004-05-07")),)


def test_json_feed() -> None:
    assert read_feed(json.dumps(JSON_FEED).encode(), "application/feed+json") == Feed(
        items=(
            Item("http://h/a", parse_iso("2024-05-06T05:08:09Z"), parse_iso("2024-05-07")),
            Item("http://h/b"),
        ),
        home="http://h/",
        pages=("http://h/feed.json?page=2",),
        media=("http://h/a.mp3",),
    )


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<rss><channel><item><link>/a</link><item><link>/b</link>", ["/a", "/b"]),
        ("<rss><channel><item><link>/a?x&y&reg=1</link></item>", ["/a?x&y&reg=1"]),
        ("<rss><item><link>/a</item><item><link>/b</link></item></rss>", ["/a", "/b"]),
        ("<rss><item><link>/a</link></item><item><link>/cu", ["/a"]),
        ("<feed><entry><link href='/a'/></entry><entry><link href='/b' /", ["/a"]),
        ("<rss><item><title>&nbsp;&lol;<b>bold</b></title><link>/a</link></item>", ["/a"]),
        ("<rss><item><link/>/a</item></rss>", []),
        ("<RSS><CHANNEL><ITEM><LINK>/a</LINK></ITEM></CHANNEL></RSS>", ["/a"]),
        ("not a feed", []),
        ("", []),
        ("{", []),
        ("[]", []),
        ('{"items": 7}', []),
        ("{" * 100_000, []),
    ],
)
def test_broken_feeds_are_read_as_far_as_they_are_whole(page: str, expected: list[str]) -> None:
    assert [item.url for item in read_feed(page.encode()).items] == expected


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("Mon, 06 May 2024 07:08:09 GMT", "2024-05-06T07:08:09Z"),
        ("6 May 2024 07:08:09 EST", "2024-05-06T12:08:09Z"),
        ("Mon, 06 May 24 07:08 +0000", "2024-05-06T07:08:00Z"),
        ("Monday, 06-May-24 07:08:09 GMT", "2024-05-06T07:08:09Z"),
        ("2024-05-06T07:08:09,5Z", "2024-05-06T07:08:09.5Z"),
        ("2024-05-06T24:61:00Z", None),
        ("Mon, 99999999999999999999 May 2024 07:08:09 GMT", None),
        ("Mon, 06 May 2024 07:08:09 +999999999999", None),
        (" ", None),
        (",", None),
        ("x" * 100_000, None),
    ],
)
def test_dates_as_feeds_have_them(text: str, instant: str | None) -> None:
    """RFC 822 with its odd zones, and ISO 8601."""
    assert read_date(text) == (None if instant is None else parse_iso(instant))


def test_a_flood_of_items_is_cut() -> None:
    feed = read_feed(b"<rss>" + b"<item><link>/a</link></item>" * (MAX_ITEMS + 5))
    assert len(feed.items) == MAX_ITEMS
    assert feed.problems == (f"more than {MAX_ITEMS} items",)
    rows = [{"url": f"/{n}"} for n in range(MAX_ITEMS + 5)]
    assert len(read_feed(json.dumps({"items": rows}).encode()).items) == MAX_ITEMS


@pytest.mark.parametrize(
    ("media_type", "head", "expected"),
    [
        ("application/rss+xml", RSS2, True),
        ("text/html", RSS2, True),
        ("application/xml", RSS1, True),
        (None, ATOM, True),
        ("application/atom+xml", b"<html>", False),
        ("application/rdf+xml", b"<rdf:RDF xmlns:foaf='http://xmlns.com/foaf/0.1/'>", False),
        ("text/xml", b"<urlset>", False),
        ("application/json", json.dumps(JSON_FEED).encode(), True),
        ("application/json", b'{"version": "1", "items": []}', False),
        ("application/feed+json", rb'{"version":"https:\/\/jsonfeed.org\/version\/1"}', True),
        ("text/html", b"<!-- <rss> --><html>", False),
        ("text/xml", b"<!DOCTYPE rss [<!ENTITY a '<feed>'>]><rss>", True),
        ("text/xml", b"", False),
    ],
)
def test_what_counts_as_a_feed(media_type: str | None, head: bytes, expected: bool) -> None:
    """The root element decides, whatever the server calls it."""
    assert is_feed(media_type, head) is expected
