"""What feeds and sitemaps name beside pages: pictures, media, comments, each in its role."""

from __future__ import annotations

import gzip
import json

import pytest

from asof.crawl.discover import found_in, references
from asof.model import Hop, Target
from asof.text.links.feeds import is_feed, read_feed
from asof.text.links.sitemaps import is_sitemap, read_sitemap

RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:slash="http://purl.org/rss/1.0/modules/slash/"
 xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:wfw="http://wellformedweb.org/CommentAPI/">
<channel><link>http://h/</link><itunes:image href="http://h/cover.jpg"/>
<image><url>http://h/logo.png</url><title>t</title><link>http://h/no</link></image>
<item><link>http://h/a</link><comments>http://h/a#comments</comments><slash:comments>7</slash:comments>
<wfw:commentRss>http://h/a/feed</wfw:commentRss><wfw:comment>http://h/post-here</wfw:comment>
<media:thumbnail url="http://h/a.jpg"/><media:content url="http://h/a.mp4" medium="video">
<media:thumbnail url='http://h/still.jpg'/><media:player url="http://h/player"/></media:content>
<enclosure url="http://h/a.mp3" length="1" type="audio/mpeg"/><itunes:image href="http://h/episode.jpg"/></item>
<item><link>http://h/b</link><media:group><media:content url="http://h/b.webm"/>
<media:thumbnail url="http://h/b.jpg"/></media:group></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xmlns:m="http://search.yahoo.com/mrss/" xml:base="http://h/x/">
<link rel="alternate" type="application/xhtml+xml" href="/home"/><link rel="image" href="/cover"/>
<icon>favicon.ico</icon><logo>/logo.svg</logo><entry><link href="a"/><m:thumbnail url="a.jpg"/>
<link rel="replies" type="application/atom+xml" href="a/comments.atom"/>
<link rel="replies" type="text/html" href="a/comments"/></entry></feed>"""
SITEMAP = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
 xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"
 xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
<url><loc>http://h/a</loc><image:image><image:loc>http://h/a.jpg</image:loc><image:license>http://h/no</image:license>
</image:image><image:image><image:loc><![CDATA[http://cdn/b.jpg?a&b]]></image:loc></image:image>
<news:news><news:publication><news:name>N</news:name></news:publication><news:title>T</news:title></news:news></url>
<url><video:video><video:thumbnail_loc>http://h/v.jpg</video:thumbnail_loc><video:title>t</video:title>
<video:content_loc>http://h/v.mp4</video:content_loc><video:player_loc>http://h/v?embed</video:player_loc></video:video>
<loc>http://h/v</loc></url></urlset>"""


def roles(page: bytes, media_type: str = "application/xml") -> dict[str, str]:
    links = references(media_type, page, url="http://h/x.xml")
    return {link.reference: link.hop.value + "*" * link.listing for link in links.found}


def test_a_feed_names_pictures_media_and_comments() -> None:
    assert roles(RSS.encode()) == {
        "http://h/": "L",
        "http://h/a": "F",
        "http://h/b": "F",
        "http://h/a#comments": "F",
        "http://h/a/feed": "F*",
        **dict.fromkeys(
            [
                f"http://h/{name}"
                for name in ("cover.jpg", "logo.png", "a.jpg", "a.mp4", "still.jpg")
            ]
            + [
                f"http://h/{name}" for name in ("player", "a.mp3", "episode.jpg", "b.webm", "b.jpg")
            ],
            "E",
        ),
    }


def test_prefixes_are_what_a_document_calls_them() -> None:
    others = RSS.replace("media:", "m:").replace(":media=", ":m=").replace("wfw:", "w:")
    assert roles(others.encode()) == roles(RSS.encode())
    prefixed = (
        SITEMAP.replace("<url", "<s:url").replace("</url", "</s:url").replace("loc>", "loc >")
    )
    assert roles(prefixed.replace("image:", "i:").encode()) == roles(SITEMAP.encode())
    rdf = (
        '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
        '<channel r:about="http://h/no"/><image r:about="http://h/no"><url>http://h/i.png</url></image>'
        '<item r:about="http://h/a"/></r:RDF>'
    )
    assert roles(rdf.encode()) == {"http://h/a": "F", "http://h/i.png": "E"}


def test_an_atom_feed_has_pictures_and_replies() -> None:
    assert roles(ATOM.encode()) == {
        "http://h/home": "L",
        "http://h/cover": "E",
        "http://h/x/a": "F",
        "http://h/x/a/comments.atom": "F*",
        "http://h/x/a/comments": "F",
        "http://h/x/favicon.ico": "E",
        "http://h/logo.svg": "E",
        "http://h/x/a.jpg": "E",
    }


def test_a_json_feed_has_pictures() -> None:
    item = {
        "url": "/a",
        "image": "/a.jpg",
        "banner_image": "/b.jpg",
        "attachments": [{"url": "/c"}],
    }
    feed = {"version": "https://jsonfeed.org/version/1.1", "icon": "/i.png", "favicon": "/f.ico"}
    page = json.dumps({**feed, "items": [item, {"url": "/d", "image": 7}]}).encode()
    assert roles(page, "application/feed+json") == {
        "/a": "F",
        "/d": "F",
        **dict.fromkeys(("/i.png", "/f.ico", "/a.jpg", "/b.jpg", "/c"), "E"),
    }


def test_a_sitemap_names_what_its_pages_show() -> None:
    pages = {"http://h/a": "M", "http://h/v": "M"}
    media = ("http://h/a.jpg", "http://cdn/b.jpg?a&b", "http://h/v.jpg", "http://h/v.mp4")
    expected = {**pages, **dict.fromkeys((*media, "http://h/v?embed"), "E")}
    assert roles(SITEMAP.encode()) == expected
    packed = gzip.compress(SITEMAP.encode())
    links = references("application/gzip", packed, url="http://h/sitemap.xml.gz")
    assert {link.reference: link.hop.value for link in links.found} == expected


def test_what_a_listed_page_shows_comes_right_before_it() -> None:
    """And not before all pages: a sitemap may name fifty thousand pictures."""
    links = references("application/xml", SITEMAP.encode())
    seed = Target("http://h/", 0, None, "")
    listing = Target("http://h/sitemap.xml", 0, seed.url, Hop.SITEMAP.value, 0.25)
    found = {target.url: target for target in found_in(listing, links)}
    assert seed.priority < found["http://h/a.jpg"].priority < found["http://h/a"].priority
    assert found["http://h/a.jpg"].hops == "ME"


def test_who_wants_no_listings_wants_nothing_of_them() -> None:
    styled = '<?xml-stylesheet href="/s.xsl"?>' + RSS.removeprefix('<?xml version="1.0"?>')
    links = references("application/rss+xml", styled.encode())
    assert [link.reference for link in links.without({Hop.FEED}).found] == ["/s.xsl", "http://h/"]
    assert links.without({Hop.SITEMAP}) == links


SLIPS = [
    "\n\n",
    "\ufeff",
    "\ufeff\ufeff",
    "  \r\n\ufeff\n",
    "\n\ufeff \ufeff",
    "Notice: Undefined index in /var/www/feed.php on line 3\n",
    "<br />\n<b>Warning</b>:  mysql_connect() in <b>/a.php</b> on line <b>5</b><br />\n",
    "<!-- cached -->\n",
]


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("declared", [True, False])
def test_what_slipped_in_front_is_stepped_over(slip: str, declared: bool) -> None:
    for page in (RSS, ATOM, SITEMAP):
        plain = page if declared else page.replace('<?xml version="1.0"?>', "").lstrip()
        whole = (slip + plain).encode()
        assert roles(whole) == roles(page.encode())
        if page == SITEMAP:
            assert is_sitemap("http://h/x", "application/xml", whole)
            assert read_sitemap(whole) == read_sitemap(page.encode())
        else:
            assert is_feed("application/xml", whole)
            assert read_feed(whole) == read_feed(page.encode())


def test_the_encoding_is_that_of_the_declaration_behind_a_slip() -> None:
    page = (
        "\n<b>Notice</b>: x\n<?xml version='1.0' encoding='iso-8859-1'?><rss><item><link>/é</link>"
    )
    assert read_feed(page.encode("latin-1")).items[0].url == "/é"


@pytest.mark.parametrize(
    "page",
    [
        "<!doctype html><p>How to write <?xml version='1.0'?><rss> by hand",
        "<html><body><b>x</b><?xml version='1.0'?><rss><item>",
        "<p>text</p><div><rss>",
    ],
)
def test_a_web_page_about_feeds_is_none(page: str) -> None:
    assert not is_feed("text/html", page.encode())
