"""Hostile documents: nothing is raised, nothing expands, memory and time stay in proportion."""

from __future__ import annotations

import gzip
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.crawl.discover import references
from asof.text.links.feeds import read_feed
from asof.text.links.html_links import MAX_LINKS, html_links
from asof.text.links.pdf_links import MAX_UNPACKED, pdf_links
from asof.text.links.sitemaps import MAX_BYTES, MAX_ENTRIES, read_sitemap, sitemaps_of
from asof.text.links.xml_stream import MAX_TOKEN, root_of

MB = 1 << 20
# Long enough to show what is not linear: a reader that is quadratic takes minutes.
SIZE = MB // 2
# Generous: the slowest of these takes 1 s on a busy machine.
SECONDS = 20.0


@contextmanager
def in_time() -> Iterator[None]:
    start = time.perf_counter()
    yield
    assert time.perf_counter() - start < SECONDS


def peak(read: Callable[[bytes], object], data: bytes) -> int:
    """The most memory that reading took, beside the document itself."""
    tracemalloc.start()
    try:
        read(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


UNITS = [
    *("<", "<a ", "<a href='", '<a href="', "<!--", "<!-", "<script>", "</script ", "<svg>", "</"),
    *("<svg><title>", "<p a", "<a href=x ", "<x/", "<![CDATA[", "<svg><![CDATA[", "<noframes>"),
    *("<title>", "</a ", "</a x='", "<a =", "<math><mi>", "<div>", '<svg a="b">', "<!--<script>"),
    *(
        '<svg><path d="x"/>',
        "<script><!--<script>",
        "<?",
        '<a href="x">',
        "<style>/*",
        "&amp",
        '="',
    ),
    *('<p class="a"', "<meta content=x>", "<svg><style>", "<iframe srcdoc='", "<p  ", "<a href=&#"),
    *("<img srcset='a, ", "<style>url(", "<style>'", "<style>@import", "<style>\\", "<b><i>"),
    *("<script>'/a/", '<script>"https://a-', '<script type=application/ld+json>{"url":"\\'),
]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("xml", [False, True], ids=["html", "xml"])
def test_repeated_markup_takes_linear_time(unit: str, xml: bool) -> None:
    """Whatever opens a million times and never closes."""
    document = (unit * (SIZE // len(unit))).encode()
    with in_time():
        assert len(html_links(document, xml=xml).found) <= MAX_LINKS


@pytest.mark.parametrize(
    ("start", "unit"),
    [
        ("<style>", "url("), ("<style>", "image-set("), ("<style>", "'"), ("<style>", "\\75"),
        ("<style>", "@namespace \""), ("<style>", "/*"), ("<style>", "url('\\"),
        ("<p style='", "url("), ("<img srcset='", "a,"), ("<img srcset='", "a ("),
        ("<a href='", "&amp;"), ("<script>", "'/a/"), ("<script>", "'http://a."),
        ("<script type=application/ld+json>", '"ab":"'), ("<link rel='", "a "),
        ("<meta http-equiv=refresh content='", "0;"), ("<p data-src='", "/a"),
    ],
)  # fmt: skip
def test_repeated_text_inside_takes_linear_time(start: str, unit: str) -> None:
    document = (start + unit * (SIZE // len(unit)) + "'></style></script>").encode()
    with in_time():
        html_links(document)


def test_nesting_costs_nothing() -> None:
    """A tree of a hundred thousand nested elements takes a browser-grade parser 20 s."""
    page = b"<div>" * 200_000 + b"<a href=/deep>" + b"</div>" * 200_000
    with in_time():
        assert [link.reference for link in html_links(page).found] == ["/deep"]


@pytest.mark.parametrize(
    "unit", ['<a href="x">', "<img src=x>", "<style>a{b:url(x)}</style>", "<p style='a:url(x)'>"]
)
def test_a_flood_of_links_takes_no_more_memory_than_its_limit(unit: str) -> None:
    data = unit.encode() * (5 * MB // len(unit))
    assert peak(lambda document: html_links(document), data) < 40 * MB


class TestEntities:
    """Nothing that a document declares is expanded or fetched."""

    LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    BOMB = f'<?xml version="1.0"?><!DOCTYPE u [<!ENTITY l0 "lol">{LAUGHS}]>'

    def test_a_billion_laughs(self) -> None:
        page = f"{self.BOMB}<urlset><url><loc>http://h/&l9;</loc></url></urlset>".encode()
        assert root_of(page) == "urlset"
        with in_time():
            assert [entry.url for entry in read_sitemap(page).entries] == ["http://h/&l9;"]
        feed = f"{self.BOMB}<rss><item><link>http://h/&l9;</link></item></rss>".encode()
        assert [item.url for item in read_feed(feed).items] == ["http://h/&l9;"]
        assert peak(read_sitemap, page) < MB

    @pytest.mark.parametrize(
        "doctype",
        [
            '<!DOCTYPE u [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
            '<!DOCTYPE u SYSTEM "http://127.0.0.1:9/x.dtd" [<!ENTITY % p SYSTEM "http://h/"> %p;]>',
            "<!DOCTYPE u [<!ENTITY x '<url><loc>http://h/no</loc></url>'>]>",
            "<!DOCTYPE u [<!-- don't --><!ENTITY x 'y'>]>",
            "<!DOCTYPE u [<!ENTITY x 'never closed>",
        ],
    )
    def test_no_document_type_is_read(self, doctype: str) -> None:
        page = f"{doctype}<urlset><url><loc>http://h/a&x;</loc></url></urlset>".encode()
        assert [entry.url for entry in read_sitemap(page).entries] in ([], ["http://h/a&x;"])
        assert "http://h/a&x;" in str(read_sitemap(page)) or "closed" in doctype

    @pytest.mark.parametrize("reference", ["&#0;", "&#xD800;", "&#x110000;", "&#99999999;"])
    def test_numbers_of_no_character(self, reference: str) -> None:
        page = f"<urlset><url><loc>http://h/{reference}</loc></url></urlset>".encode()
        assert [entry.url for entry in read_sitemap(page).entries] == ["http://h/\ufffd"]


class TestXml:
    @pytest.mark.parametrize(
        "unit",
        [
            *(
                "<url>",
                "<url><loc>",
                "<loc>",
                "<a>",
                "<a ",
                '<a b="',
                "<!--",
                "<![CDATA[",
                "<?",
                "<",
            ),
            *(
                "<!DOCTYPE [",
                "]]>",
                "&",
                "&amp",
                "</url>",
                "</",
                "<url/>",
                "<a xml:base='/'>",
                "<!",
            ),
        ],
    )
    def test_repeated_markup_takes_linear_time(self, unit: str) -> None:
        data = b"<urlset>" + unit.encode() * (SIZE // len(unit))
        with in_time():
            read_sitemap(data)
            read_feed(data)

    def test_nesting_is_bounded(self) -> None:
        page = b"<a>" * 500_000 + b"<url><loc>http://h/deep</loc></url>" + b"</a>" * 500_000
        page += b"<url><loc>http://h/after</loc></url>"
        assert [entry.url for entry in read_sitemap(page).entries] == ["http://h/after"]

    def test_one_enormous_token_is_dropped(self) -> None:
        page = b"<urlset><!--" + b"x" * 8 * MAX_TOKEN + b"--><url><loc>http://h/a</loc></url>"
        assert [entry.url for entry in read_sitemap(page).entries] == ["http://h/a"]
        page = b"<urlset><url><loc>http://h/" + b"x" * 4 * MB + b"</loc></url>"
        assert len(read_sitemap(page).entries[0].url) <= 1 << 16

    @given(st.binary(max_size=200))
    def test_any_bytes(self, data: bytes) -> None:
        read_sitemap(data)
        read_sitemap(b"\x1f\x8b\x08" + data)
        read_feed(data)
        root_of(data)
        sitemaps_of(data)

    @given(
        st.lists(
            st.sampled_from(
                [
                    *(
                        "<url>",
                        "</url>",
                        "<loc>",
                        "</loc>",
                        "<item>",
                        "<link>",
                        "</link>",
                        "<a b='",
                    ),
                    *(
                        "'>",
                        "/>",
                        "&amp;",
                        "&",
                        "<![CDATA[",
                        "]]>",
                        "<!--",
                        "-->",
                        "http://h/",
                        "<",
                    ),
                    *(
                        "<entry xml:base='/x'>",
                        "</entry>",
                        "<?",
                        "?>",
                        "<!D[",
                        "]>",
                        "<lastmod>",
                        "2",
                    ),
                ]
            ),
            max_size=30,
        )
    )
    def test_any_markup(self, parts: list[str]) -> None:
        data = "".join(parts).encode()
        read_sitemap(data)
        read_feed(data)


class TestBombs:
    def test_a_packed_sitemap_of_gigabytes(self) -> None:
        """A megabyte that unpacks to a thousand: read to the limit, in pieces."""
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        head = b"<urlset><url><loc>http://h/a</loc></url>"
        data = packer.compress(head) + b"".join(packer.compress(bytes(MB)) for _ in range(200))
        data += packer.flush()
        sitemap = read_sitemap(data)
        assert [entry.url for entry in sitemap.entries] == ["http://h/a"]
        assert sitemap.problems == ("more than 50 MB",)
        assert peak(read_sitemap, data) < 16 * MB

    def test_entries_without_end(self) -> None:
        row = b"<url><loc>http://h/a</loc></url>"
        data = gzip.compress(b"<urlset>" + row * (MAX_BYTES // len(row)))
        with in_time():
            assert len(read_sitemap(data).entries) == MAX_ENTRIES

    def test_a_pdf_of_bombs(self) -> None:
        stream = zlib.compress(bytes(64 * MB), 9)
        head = b"1 0 obj<</Type/ObjStm/Filter/FlateDecode>>stream\n"
        data = (head + stream + b"\nendstream endobj\n") * 50
        assert peak(lambda document: list(pdf_links(document)), data) < MAX_UNPACKED // 4

    @pytest.mark.parametrize(
        "unit", [b"/URI(", b"/URI<", b"stream\n", b"/ObjStm/FlateDecode stream\n", b"/URI (\\"]
    )
    def test_a_pdf_of_beginnings(self, unit: bytes) -> None:
        with in_time():
            list(pdf_links(unit * (4 * SIZE // len(unit))))


TYPES = [
    *("text/html", "application/xhtml+xml", "text/css", "text/javascript", "application/json"),
    *("application/xml", "image/svg+xml", "application/pdf", "text/plain", "application/gzip"),
    *("application/ld+json", "image/png", None),
]


@given(st.sampled_from(TYPES), st.binary(max_size=300), st.text(max_size=20))
def test_any_bytes_of_any_type_are_read_without_complaint(
    media_type: str | None, data: bytes, text: str
) -> None:
    headers = (("Content-Type", f"x; charset={text}"), ("Link", text), ("Refresh", text))
    references(media_type, data, url="http://h/sitemap.gz", headers=headers)
    references(media_type, data, headers=(("Content-Type", text),))
