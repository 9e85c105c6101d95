"""Laws of reading sitemaps and feeds, with a conforming XML writer as the source."""

from __future__ import annotations

import gzip
from itertools import pairwise
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from asof.clock import iso, parse_iso
from asof.text.links.feeds import Item, read_date, read_feed
from asof.text.links.sitemaps import SitemapEntry, read_sitemap
from asof.text.links.xml_stream import elements

# Characters that XML can hold and that text around a URL may have.
TEXT = st.text(
    st.characters(min_codepoint=0x21, max_codepoint=0x2FF, exclude_characters="\x7f\x85\xa0"),
    min_size=1,
    max_size=20,
).map(lambda text: f"http://h/{text}".strip())
INSTANTS = st.integers(0, 4_102_444_800_000_000)
ENTRIES = st.lists(
    st.builds(
        SitemapEntry,
        TEXT,
        st.none() | INSTANTS,
        st.sampled_from([None, "daily", "never"]),
        st.sampled_from([None, 0.0, 0.5, 1.0]),
    ),
    max_size=8,
)
CODECS = st.sampled_from(["utf-8", "utf-16", "ascii", "iso-8859-1", "koi8-r"])
RECORDS, LEAVES = frozenset(("url", "item")), frozenset(("loc", "link"))


def sitemap(entries: list[SitemapEntry], codec: str) -> bytes:
    """As a conforming writer has it; what the codec lacks becomes a character reference."""
    root = ET.Element("{http://www.sitemaps.org/schemas/sitemap/0.9}urlset")
    for entry in entries:
        url = ET.SubElement(root, "{http://www.sitemaps.org/schemas/sitemap/0.9}url")
        fields = {
            "loc": entry.url,
            "lastmod": None if entry.lastmod is None else iso(entry.lastmod),
            "changefreq": entry.changefreq,
            "priority": None if entry.priority is None else str(entry.priority),
        }
        for name, text in fields.items():
            if text is not None:
                ET.SubElement(url, name).text = text
    data: bytes = ET.tostring(root, codec, xml_declaration=True)
    return data


@given(ENTRIES, CODECS, st.booleans())
def test_what_a_writer_writes_is_read(
    entries: list[SitemapEntry], codec: str, packed: bool
) -> None:
    """All entries, in order, in every encoding, packed or not."""
    data = sitemap(entries, codec)
    assert read_sitemap(gzip.compress(data) if packed else data).entries == tuple(entries)


@given(st.lists(st.tuples(TEXT, INSTANTS), max_size=8), CODECS)
def test_feeds_come_back_as_they_were(rows: list[tuple[str, int]], codec: str) -> None:
    root = ET.Element("feed")
    for url, at in rows:
        entry = ET.SubElement(root, "entry")
        ET.SubElement(entry, "link", href=url)
        ET.SubElement(entry, "published").text = iso(at)
    data = ET.tostring(root, codec, xml_declaration=True)
    assert read_feed(data).items == tuple(Item(url, at) for url, at in rows)


PIECES = [
    *("<url>", "</url>", "<loc>", "</loc>", "<item a='b'>", "</item>", "<link/>", "text", "&amp;"),
    *("&#x61;", "&", "<![CDATA[", "]]>", "<!--", "-->", "<?x", "?>", "é", "<", ">", '"', " "),
    *("<b:url>", "</b:url>", "<loc>x</loc>", "<a xml:base='http://h/'>", "</a>", "<!D a>"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join), st.data())
def test_it_does_not_matter_where_pieces_end(text: str, data: st.DataObject) -> None:
    """One chunk, or cut anywhere: inside a tag, a reference, a character."""
    # Long enough that the encoding is known and pieces are given on.
    document = ("<urlset>" + " " * 5000 + text).encode()
    cuts = sorted(data.draw(st.lists(st.integers(4500, len(document)), max_size=6)))
    edges = [0, *cuts, len(document)]
    chunks = [document[a:b] for a, b in pairwise(edges)]
    whole = list(elements([document], records=RECORDS, leaves=LEAVES))
    assert list(elements(chunks, records=RECORDS, leaves=LEAVES)) == whole


@given(INSTANTS)
def test_dates_of_full_precision_come_back(instant: int) -> None:
    assert read_date(iso(instant)) == instant == parse_iso(iso(instant))


@given(st.text(max_size=40))
def test_any_date_is_read_without_complaint(text: str) -> None:
    read_date(text)
    read_date(f"Mon, {text} 2024 10:00:00")
