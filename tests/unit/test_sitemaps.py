"""Sitemaps in all their forms, whole and broken."""

from __future__ import annotations

import gzip

import pytest

from asof.clock import parse_iso
from asof.testing import SiteSpec, SyntheticSite
from asof.text.links.sitemaps import (
    MAX_BYTES,
    MAX_ENTRIES,
    SitemapEntry,
    is_sitemap,
    read_sitemap,
    sitemaps_of,
)

XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
FULL = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset {XMLNS} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
  xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:video="v" xmlns:news="n">
  <!-- <url><loc>http://h/no</loc></url> -->
  <url>
    <loc>http://h/a?x=1&amp;y=2</loc>
    <lastmod>2024-05-06T07:08:09+02:00</lastmod>
    <changefreq>Daily</changefreq>
    <priority>0.8</priority>
    <image:image><image:loc>http://h/a.png</image:loc></image:image>
    <video:video><video:content_loc>http://h/v.mp4</video:content_loc></video:video>
    <news:news><news:publication_date>2020</news:publication_date></news:news>
  </url>
  <url><loc><![CDATA[ http://h/b?x=1&y=2 ]]></loc>
    <xhtml:link rel="alternate" hreflang="de" href="http://h/de/b?x=1&amp;y=2"/>
    <xhtml:link rel="alternate" hreflang="en" href="http://h/b?x=1&amp;y=2"/></url>
</urlset>""".encode()
INDEX = f"""<sitemapindex {XMLNS}>
<sitemap><loc>http://h/1.xml</loc><lastmod>2024-01-01</lastmod></sitemap>
<sitemap><loc>http://h/2.xml.gz</loc></sitemap><sitemap><loc>http://h/1.xml</loc></sitemap>
</sitemapindex>""".encode()


def urls(data: bytes) -> list[str]:
    return [entry.url for entry in read_sitemap(data).entries]


def urlset(*locs: str) -> str:
    return (
        f"<urlset {XMLNS}>" + "".join(f"<url><loc>{loc}</loc></url>" for loc in locs) + "</urlset>"
    )


def test_all_that_a_sitemap_says() -> None:
    sitemap = read_sitemap(FULL)
    assert sitemap.entries == (
        SitemapEntry("http://h/a?x=1&y=2", parse_iso("2024-05-06T05:08:09Z"), "daily", 0.8),
        SitemapEntry("http://h/b?x=1&y=2"),
        SitemapEntry("http://h/de/b?x=1&y=2"),
    )
    assert sitemap.sitemaps == ()
    assert sitemap.problems == ()


def test_an_index_lists_sitemaps_each_once() -> None:
    sitemap = read_sitemap(INDEX)
    assert sitemap.sitemaps == ("http://h/1.xml", "http://h/2.xml.gz")
    assert sitemap.entries == ()


def test_prefixes_and_case_of_names_do_not_matter() -> None:
    page = '<s:URLSET xmlns:s="x"><s:Url><s:Loc>http://h/a</s:Loc></s:Url></s:URLSET>'
    assert urls(page.encode()) == ["http://h/a"]


def test_gzip_in_one_member_or_several() -> None:
    assert read_sitemap(gzip.compress(FULL)) == read_sitemap(FULL)
    halves = gzip.compress(FULL[:500]) + gzip.compress(FULL[500:])
    assert read_sitemap(halves) == read_sitemap(FULL)
    assert read_sitemap(gzip.compress(INDEX) + b"\0\0\0") == read_sitemap(INDEX)


def test_plain_text() -> None:
    text = b"\xef\xbb\xbfhttp://h/a\r\n\r\n  https://h/b?c=d \nnot a url\nftp://h/no\nhttp://h/e"
    assert urls(text) == ["http://h/a", "https://h/b?c=d", "http://h/e"]


def test_feeds_in_the_place_of_sitemaps() -> None:
    rss = b"""<rss><channel><item><link>http://h/a</link><pubDate>Mon, 06 May 2024 05:08:09 GMT
    </pubDate></item></channel></rss>"""
    assert read_sitemap(rss).entries == (
        SitemapEntry("http://h/a", parse_iso("2024-05-06T05:08:09Z")),
    )


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2024", "2024-01-01T00:00:00Z"),
        ("2024-05", "2024-05-01T00:00:00Z"),
        ("2024-05-06", "2024-05-06T00:00:00Z"),
        ("2024-05-06T07:08Z", "2024-05-06T07:08:00Z"),
        ("2024-05-06T07:08:09Z", "2024-05-06T07:08:09Z"),
        ("2024-05-06T07:08:09.25Z", "2024-05-06T07:08:09.250000Z"),
        ("2024-05-06T07:08:09.123456789012Z", "2024-05-06T07:08:09.123456Z"),
        ("2024-05-06T07:08:09+05:30", "2024-05-06T01:38:09Z"),
        ("2024-05-06T07:08:09-0800", "2024-05-06T15:08:09Z"),
        ("2024-05-06T07:08:09+02", "2024-05-06T05:08:09Z"),
        ("2024-05-06t07:08:09z", "2024-05-06T07:08:09Z"),
        (" 2024-05-06 07:08:09 ", "2024-05-06T07:08:09Z"),
        ("Mon, 06 May 2024 07:08:09 +0200", "2024-05-06T05:08:09Z"),
        ("2024-13-01", None),
        ("2024-05-06T07:08:09 Europe/Berlin", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates_of_every_precision(text: str, instant: str | None) -> None:
    """W3C Datetime, and what people write in its place."""
    page = f"<urlset><url><loc>http://h/</loc><lastmod>{text}</lastmod></url></urlset>"
    [entry] = read_sitemap(page.encode()).entries
    assert entry.lastmod == (None if instant is None else parse_iso(instant))


@pytest.mark.parametrize(
    ("text", "priority"),
    [("0.0", 0.0), ("1", 1.0), ("0,3", 0.3), ("2", None), ("-1", None), ("nan", None), ("x", None)],
)
def test_priorities_from_zero_to_one(text: str, priority: float | None) -> None:
    page = f"<urlset><url><loc>http://h/</loc><priority>{text}</priority></url></urlset>"
    assert read_sitemap(page.encode()).entries[0].priority == priority


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<urlset><url><loc>http://h/?a=1&b=2&copy=3</loc></url>", ["http://h/?a=1&b=2&copy=3"]),
        ("<urlset><url><loc>http://h/a</loc><url><loc>http://h/b</loc>", ["http://h/a", "http://h/b"]),
        ("<urlset><url><loc>http://h/a<lastmod>2024</lastmod></url>", ["http://h/a"]),
        ("<urlset><url><loc>http://h/a</loc></url><url><loc>http://h/cu", ["http://h/a"]),
        ("<urlset><url><loc>http://h/a</loc></url><url><lo", ["http://h/a"]),
        ("<urlset><url><loc>http://h/a</loc></url><!-- never", ["http://h/a"]),
        ("<urlset><url x=\"><loc>http://h/a</loc></wrong></url>", ["http://h/a"]),
        ("Warning: x <urlset><url><loc>http://h/a</loc></url></urlset>", ["http://h/a"]),
        ("<br/><b>Warning</b><?xml version='1.0'?>" + urlset("http://h/a"), ["http://h/a"]),
        ("\n\n<urlset><url><loc>http://h/a</loc></url></urlset>", ["http://h/a"]),
        ("<urlset><url><loc/></url><url><loc> </loc></url><url></url></urlset>", []),
        ("<urlset><url><loc>http://h/&#x61;&#98;&unknown;</loc></url></urlset>", ["http://h/ab&unknown;"]),
        ("<url><loc>http://h/a</loc></url>", ["http://h/a"]),
    ],
)  # fmt: skip
def test_broken_files_are_read_as_far_as_they_are_whole(page: str, expected: list[str]) -> None:
    assert urls(page.encode()) == expected


class TestEncodings:
    @pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
    def test_by_their_marks(self, codec: str) -> None:
        assert urls(urlset("http://h/\u00e9").encode(codec)) == ["http://h/\u00e9"]

    @pytest.mark.parametrize("name", ["iso-8859-1", "windows-1252", "ISO-8859-15"])
    def test_by_declaration(self, name: str) -> None:
        page = f"<?xml version='1.0' encoding='{name}'?>" + urlset("http://h/\u00e9")
        assert urls(page.encode(name)) == ["http://h/\u00e9"]

    def test_http_speaks_before_the_declaration(self) -> None:
        page = ("<?xml version='1.0' encoding='utf-8'?>" + urlset("http://h/\u00e9")).encode(
            "latin-1"
        )
        assert read_sitemap(page, charset="latin-1").entries[0].url == "http://h/\u00e9"

    @pytest.mark.parametrize(
        "name", ["utf-16", "UTF-32", "rot13", "hex", "zlib", "idna", "klingon"]
    )
    def test_a_declaration_that_cannot_be_true_is_ignored(self, name: str) -> None:
        page = f"<?xml version='1.0' encoding='{name}'?>" + urlset("http://h/\u00e9")
        assert urls(page.encode()) == ["http://h/\u00e9"]

    def test_wrong_bytes_spoil_only_their_own_entry(self) -> None:
        page = urlset("http://h/\xff", "http://h/b").encode("latin-1")
        assert urls(page) == ["http://h/\ufffd", "http://h/b"]


class TestLimits:
    def test_entries(self) -> None:
        page = urlset(*(f"http://h/{n}" for n in range(MAX_ENTRIES + 5))).encode()
        sitemap = read_sitemap(page)
        assert len(sitemap.entries) == MAX_ENTRIES
        assert sitemap.problems == ("more than 50000 entries",)

    def test_lines(self) -> None:
        sitemap = read_sitemap(b"http://h/a\n" * (MAX_ENTRIES + 1))
        assert len(sitemap.entries) == MAX_ENTRIES
        assert sitemap.problems == ("more than 50000 entries",)

    def test_bytes(self) -> None:
        page = urlset("http://h/a").encode().replace(b"</urlset>", b" " * MAX_BYTES)
        sitemap = read_sitemap(page + b"<url><loc>http://h/b</loc></url></urlset>")
        assert [entry.url for entry in sitemap.entries] == ["http://h/a"]
        assert sitemap.problems == ("more than 50 MB",)

    def test_a_gzip_file_that_ends_early_or_is_broken(self) -> None:
        packed = gzip.compress(urlset(*(f"http://h/{n * n}" for n in range(3000))).encode())
        assert read_sitemap(packed[:-20]).problems == ("cut",)
        assert read_sitemap(packed[: len(packed) // 2] + b"\xff" * 50).problems[0] in (
            "broken gzip", "cut",
        )  # fmt: skip
        assert len(read_sitemap(packed[: len(packed) // 2]).entries) > 500

    def test_an_error_page_is_no_sitemap(self) -> None:
        sitemap = read_sitemap(b"<!doctype html><html><a href='http://h/'>x</a></html>")
        assert (sitemap.entries, sitemap.problems) == ((), ("a web page",))


class TestRobots:
    def test_sitemaps_of_any_group(self) -> None:
        body = b"""\xef\xbb\xbfSitemap: https://h/a.xml
User-agent: *\r\nDisallow: /x\r\nsitemap : https://h/b.xml # the other\rSITEMAP:/rel.xml
# Sitemap: https://h/no.xml
Site-map: https://h/c.xml
Sitemap:
Sitemap: https://h/a.xml
X-Sitemap: https://h/no.xml"""
        assert sitemaps_of(body) == (
            "https://h/a.xml",
            "https://h/b.xml",
            "/rel.xml",
            "https://h/c.xml",
        )

    @pytest.mark.parametrize("body", [b"", b"\xff\xfe\0", b"Sitemap", b"<html>Sitemap: </html>"])
    def test_nothing_is_found_in_nothing(self, body: bytes) -> None:
        assert sitemaps_of(body) == ()

    def test_a_flood_is_bounded(self) -> None:
        assert len(sitemaps_of(b"".join(b"Sitemap: /%d\n" % n for n in range(5000)))) == 1000

    def test_the_synthetic_site_is_understood(self) -> None:
        """robots.txt names the sitemap, the sitemap names the pages."""
        site = SyntheticSite(SiteSpec(seed=1, pages=20))
        start, host = site.spec.start, (("Host", "gazette.test"),)
        robots = site.respond("GET", "/robots.txt", host, start).body
        [named] = sitemaps_of(robots)
        path = "/" + named.split("/", 3)[3]
        found = read_sitemap(site.respond("GET", path, host, start).body)
        assert found.entries or found.sitemaps
        assert all(entry.lastmod is not None for entry in found.entries)


@pytest.mark.parametrize(
    ("url", "media_type", "head", "expected"),
    [
        ("http://h/s.xml", "application/xml", FULL, True),
        ("http://h/s.xml", "text/xml", INDEX, True),
        ("http://h/s", "text/html", b"<?xml version='1.0'?><urlset>", True),
        ("http://h/s", None, urlset("http://h/").encode("utf-16"), True),
        ("http://h/sitemap.xml", "application/xml", b"<rss>", False),
        ("http://h/sitemap.xml", "text/html", b"<html>", False),
        ("http://h/sitemap.xml.gz", "application/x-gzip", b"\x1f\x8b\x08", True),
        ("http://h/post-sitemap1.gz?x", "application/gzip", b"\x1f\x8b\x08", True),
        ("http://h/backup.tar.gz", "application/gzip", b"\x1f\x8b\x08", False),
        ("http://h/sitemap.txt", "text/plain", b"http://h/a", True),
        ("http://h/list.txt", "text/plain", b"http://h/a\nhttp://h/b\n", True),
        ("http://h/list.txt", "text/plain", b"http://h/a", False),
        ("http://h/list.txt", "text/plain", b"see\nhttp://h/a\n", False),
        ("http://h/sitemap.txt", "text/plain", b"", False),
    ],
)
def test_what_counts_as_a_sitemap(
    url: str, media_type: str | None, head: bytes, expected: bool
) -> None:
    """The root element decides; a name only where the bytes leave it open."""
    assert is_sitemap(url, media_type, head) is expected
