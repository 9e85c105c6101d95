"""Discovery, end to end: each page of a site can be reached by exactly one way, and each is taken.

Naumann 2011 and CS6200 2019 (sitemaps, feeds). A second site of
the same kind is crawled twice with validators: what its listings and documents lead to is found
again behind answers of 304, and behind listings that are packed.
"""

from __future__ import annotations

import gzip
import json
import signal
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import rig
from support.rig import crawl, page, rows_of, site

SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"
# How each page can be found: all by exactly one way.
WAYS = {
    "sitemap of robots.txt": "/m/plain",
    "second Sitemap line": "/m/second",
    "sitemap in an index": "/m/indexed",
    "gzipped sitemap by its name": "/m/packed",
    "gzipped sitemap in an index": "/m/packed-indexed",
    "gzipped sitemap sent as bytes": "/m/octets",
    "sitemap with Content-Encoding": "/m/encoded",
    "text sitemap": "/m/text",
    "sitemap with a byte order mark": "/m/bom",
    "RSS item": "/f/rss",
    "RSS enclosure": "/f/rss.mp3",
    "Atom entry": "/f/atom",
    "JSON Feed item": "/f/json",
    "next page of a feed": "/f/older",
    "Link header": "/h/next",
    "Link header of something that is no HTML": "/h/of-text",
    "second Link header": "/h/second",
    "Link header: preload": "/h/preload.js",
    "Refresh header": "/h/refresh",
    "style sheet": "/c/style.css",
    "CSS import": "/c/imported.css",
    "CSS import in an import": "/c/deeper.css",
    "CSS image": "/c/image.png",
    "CSS font": "/c/font.woff2",
    "style element": "/c/inline.png",
    "style attribute": "/c/attribute.png",
    "srcset": "/i/two.png",
    "picture source": "/i/source.webp",
    "video poster": "/i/poster.jpg",
    "track": "/i/words.vtt",
    "frame": "/i/frame",
    "image in a frame": "/i/in-frame.png",
    "link in a frame": "/i/from-frame",
    "SVG": "/i/drawing.svg",
    "image in SVG": "/i/in-svg.png",
    "meta refresh": "/r/meta",
    "redirect": "/r/here",
    "JSON-LD": "/j/page",
    "JSON-LD image": "/j/picture.jpg",
    "JSON-LD file": "/j/in-file",
    "PDF link": "/p/from-pdf",
    "PDF link in a packed stream": "/p/from-packed-pdf",
    "script": "/s/app.js",
    "URL in a script": "/s/guessed.html",
    "URL in a script of the page": "/s/inline.html",
    "URL in JSON": "/s/from-json.html",
    "manifest": "/w/app.webmanifest",
    "icon": "/w/icon.png",
    "canonical link": "/w/canonical",
    "alternate language": "/w/fr",
    "base element": "/based/deep/leaf",
    "area": "/a/area",
    "form with GET": "/a/search",
    "UTF-16 page": "/a/wide",
    "charset of the header": "/a/%D0%B4%D0%B5%D0%BD%D1%8C",
    "gzip-encoded page": "/a/from-packed",
}
EXTRA = {  # on the way to them
    "/", "/robots.txt", "/sitemap.xml", "/second.xml", "/index.xml", "/listed.xml",
    "/packed.xml.gz", "/in-index.xml.gz", "/octets.xml.gz", "/encoded.xml", "/urls.txt",
    "/bom.xml", "/rss.xml",
    "/atom.xml", "/atom-2.xml", "/feed.json", "/text.txt", "/r/moved", "/doc.pdf", "/packed.pdf",
    "/data.json", "/ld.jsonld", "/based/", "/wide", "/cyrillic", "/packed-page",
}  # fmt: skip


def urlset(*urls: str) -> str:
    rows = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="{SITEMAP}">{rows}</urlset>'


def sitemap_index(*urls: str) -> str:
    rows = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f'<?xml version="1.0"?><sitemapindex xmlns="{SITEMAP}">{rows}</sitemapindex>'


def packed(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


def pdf(uri: str, *, deflated: bool = False) -> bytes:
    """A PDF whose one page has one link; its annotation maybe in an object stream (PDF 1.5)."""
    link = f"<< /Type /Annot /Subtype /Link /A << /S /URI /URI ({uri}) >> >>".encode()
    if not deflated:
        return b"%PDF-1.4\n4 0 obj\n" + link + b"\nendobj\ntrailer << /Size 5 >>\n%%EOF\n"
    body = zlib.compress(b"4 0 " + link)
    head = f"<< /Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /Length {len(body)} >>".encode()
    stream = b"5 0 obj\n" + head + b"\nstream\n" + body + b"\nendstream\nendobj\n"
    return b"%PDF-1.5\n" + stream + b"trailer << /Size 6 >>\n%%EOF\n"


def front(at: str) -> str:
    ld = {"@context": "https://schema.org", "@type": "WebPage", "url": f"{at}/j/page",
          "image": f"{at}/j/picture.jpg"}  # fmt: skip
    return f"""<!doctype html><html><head><title>front</title>
      <link rel=stylesheet href="/c/style.css"><link rel=manifest href="/w/app.webmanifest">
      <link rel="shortcut icon" href="/w/icon.png"><link rel=canonical href="/w/canonical">
      <link rel=alternate hreflang=fr href="/w/fr">
      <link rel=alternate type="application/rss+xml" href="/rss.xml">
      <link rel=alternate type="application/atom+xml" href="/atom.xml">
      <link rel=alternate type="application/feed+json" href="/feed.json">
      <meta http-equiv="Refresh" content="90; URL='/r/meta'">
      <style>p {{ background: url("/c/inline.png") }}</style>
      <script type="application/ld+json">{json.dumps(ld)}</script>
      <script src="/s/app.js"></script>
      <script>var next = "/s/inline.html";</script></head>
      <body><p style="background:url(/c/attribute.png)">text</p>
      <img alt="" srcset="/i/two.png 2x">
      <picture><source srcset="/i/source.webp 1x"></picture>
      <video poster="/i/poster.jpg"><track src="/i/words.vtt"></video>
      <iframe src="/i/frame"></iframe><object data="/i/drawing.svg"></object>
      <map><area href="/a/area"></map><form action="/a/search"><input name=q></form>
      <a href="/r/moved">m</a><a href="/doc.pdf">d</a><a href="/packed.pdf">d</a>
      <a href="/data.json">j</a><a href="/ld.jsonld">l</a><a href="/based/">b</a>
      <a href="/wide">w</a><a href="/cyrillic">l</a><a href="/packed-page">g</a>
      <a href="/text.txt">t</a>
      </body></html>"""


def listings(at: str) -> dict[str, rig.Answer]:
    """robots.txt with the sitemaps it names, and feeds."""
    names = ["sitemap.xml", "index.xml", "packed.xml.gz", "octets.xml.gz", "encoded.xml",
             "urls.txt", "bom.xml"]  # fmt: skip
    lines = "\n".join(f"Sitemap: {at}/{name}" for name in names)
    robots = f"User-agent: *\nDisallow: /nowhere\n{lines}\nsitemap:/second.xml\n"
    rss = (
        f'<rss version="2.0"><channel><title>t</title><item><link>{at}/f/rss</link>'
        f'<enclosure url="{at}/f/rss.mp3" length="1" type="audio/mpeg"/></item></channel></rss>'
    )
    atom = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><link rel="next" href="/atom-2.xml"/>'
        '<entry><link href="/f/atom"/></entry></feed>'
    )
    older = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/f/older"/></entry></feed>'
    )
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "t",
            "items": [{"id": "1", "url": f"{at}/f/json"}]}  # fmt: skip
    return {
        "/robots.txt": page(robots, media="text/plain"),
        "/sitemap.xml": page(urlset(f"{at}/m/plain"), media="application/xml"),
        "/second.xml": page(urlset(f"{at}/m/second"), media="text/xml"),
        "/index.xml": page(
            sitemap_index(f"{at}/listed.xml", f"{at}/in-index.xml.gz"), media="application/xml"
        ),
        "/listed.xml": page(urlset(f"{at}/m/indexed"), media="application/xml"),
        "/packed.xml.gz": page(packed(urlset(f"{at}/m/packed")), media="application/x-gzip"),
        "/in-index.xml.gz": page(
            packed(urlset(f"{at}/m/packed-indexed")), media="application/gzip"
        ),
        "/octets.xml.gz": page(
            packed(urlset(f"{at}/m/octets")), media="application/octet-stream"
        ),
        "/encoded.xml": page(
            packed(urlset(f"{at}/m/encoded")), media="application/xml", Content_Encoding="gzip"
        ),
        "/urls.txt": page(f"{at}/\n{at}/m/text\n", media="text/plain"),
        "/bom.xml": page(
            b"\xef\xbb\xbf" + urlset(f"{at}/m/bom").encode(), media="application/xml"
        ),
        "/rss.xml": page(rss, media="application/rss+xml"),
        "/atom.xml": page(atom, media="application/atom+xml"),
        "/atom-2.xml": page(older, media="application/atom+xml"),
        "/feed.json": page(json.dumps(feed), media="application/feed+json"),
    }  # fmt: skip


def documents(at: str) -> dict[str, rig.Answer]:
    """What is not HTML, or not plainly so, and leads on."""
    heads = "Link: </h/second>; rel=next\r\nRefresh: 90; url=/h/refresh\r\n"
    wide = '<meta charset="utf-8"><a href="/a/wide">w</a>'.encode("utf-16")
    plain = page(front(at), Link='</h/next>; rel="next", </h/preload.js>; rel=preload; as=script')
    head, _, body = plain.sent.partition(b"\r\n\r\n")
    return {
        "/": rig.Reply((head + b"\r\n" + heads.encode() + b"\r\n" + body,), "keep"),
        "/text.txt": page("words", media="text/plain", Link="</h/of-text>; rel=next"),
        "/c/style.css": page(
            '@import "imported.css"; a { background: url(image.png) }'
            "@font-face { font-family: f; src: url('font.woff2') }",
            media="text/css",
        ),
        "/c/imported.css": page("@import url(deeper.css) screen;", media="text/css"),
        "/i/frame": page('<img src="/i/in-frame.png"><a href="/i/from-frame">f</a>'),
        "/i/drawing.svg": page(
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
            '<image xlink:href="/i/in-svg.png"/></svg>', media="image/svg+xml",
        ),
        "/r/moved": page("", "301 Moved Permanently", Location="/r/here"),
        "/doc.pdf": page(pdf(f"{at}/p/from-pdf"), media="application/pdf"),
        "/packed.pdf": page(pdf(f"{at}/p/from-packed-pdf", deflated=True), media="application/pdf"),
        "/s/app.js": page('fetch("/s/guessed.html").then(f)', media="text/javascript"),
        "/data.json": page('{"next": "/s/from-json.html"}', media="application/json"),
        "/ld.jsonld": page(json.dumps({"url": f"{at}/j/in-file"}), media="application/ld+json"),
        "/based/": page('<base href="/based/deep/"><a href="leaf">l</a>'),
        "/wide": page(wide, media="text/html"),
        "/cyrillic": page(
            "<a href='/a/день'>l</a>".encode("koi8-r"), media="text/html; charset=koi8-r"
        ),
        "/packed-page": page(packed('<a href="/a/from-packed">g</a>'), Content_Encoding="gzip"),
    }  # fmt: skip


def web(at: str) -> dict[str, rig.Answer]:
    leaves = {path: page(f"<p>{way}</p>") for way, path in WAYS.items()}
    return leaves | listings(at) | documents(at)


@dataclass(frozen=True)
class Taken:
    """What a crawl of the whole web above asked for, and what its archive holds."""

    url: str
    archive: Path
    asked: list[str]
    status: dict[str, int]
    hops: dict[str, str]


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Taken]:
    archive = tmp_path_factory.mktemp("discovery") / "archive"
    with site({}) as server:
        server.pages.update(web(server.url))
        crawl(archive, server.url + "/", timeout=60)
        (log,) = (archive / "logs").glob("*.jsonl")
        events = [json.loads(line) for line in log.read_text().splitlines()]
        hops = {e["url"]: e["hops"] for e in events if e["event"] == "fetched"}
        status = {row["url"]: row["status"] for row in rows_of(archive)}
        yield Taken(server.url, archive, server.paths(), status, hops)


@pytest.mark.parametrize("way", WAYS)
def test_a_page_is_taken_that_can_be_found_by_one_way_only(taken: Taken, way: str) -> None:
    """Asked for, and in the archive with status 200."""
    assert WAYS[way] in taken.asked
    assert taken.status[taken.url + WAYS[way]] == 200


def test_nothing_is_asked_for_twice_and_hardly_anything_else(taken: Taken) -> None:
    """Every URL once; beside the pages only what leads to them, and what browsers guess too."""
    assert len(taken.asked) == len(set(taken.asked))
    strange = set(taken.asked) - set(WAYS.values()) - EXTRA
    assert strange <= {"/favicon.ico", "/a/search?q="}


def test_the_hops_say_how_each_was_found(taken: Taken) -> None:
    """As `asof scope --help` lists them: L link, E part of a page, R redirect, M sitemap ..."""
    last = {way: taken.hops.get(taken.url + path, "?")[-1:] for way, path in WAYS.items()}
    assert last["sitemap of robots.txt"] == "M"
    assert last["RSS item"] == last["Atom entry"] == last["JSON Feed item"] == "F"
    assert last["style sheet"] == last["CSS image"] == last["srcset"] == "E"
    assert last["redirect"] == "R"
    assert last["URL in a script"] == last["URL in JSON"] == "X"
    assert last["meta refresh"] == last["JSON-LD"] == last["PDF link"] == "L"


def test_guesses_come_after_everything_else(tmp_path: Path) -> None:
    """URLs in scripts are low-priority guesses: all that is found otherwise is asked for first."""
    names = [f"/l/{no}" for no in range(8)]
    pages: dict[str, rig.Answer] = {name: page(rig.links(f"{name}/x")) for name in names}
    pages["/"] = page("<script>go('/s/guessed.html')</script>" + rig.links(*names))
    pages["/s/guessed.html"] = page("<p>after all</p>")
    with site(pages) as server:
        crawl(tmp_path / "a", server.url + "/")
        asked = server.paths()
    assert {f"{name}/x" for name in names} <= set(asked)
    assert asked[-1] == "/s/guessed.html"


@pytest.mark.parametrize("scope", ["host", "path"])
def test_an_excluded_sitemap_is_left_alone(tmp_path: Path, scope: str) -> None:
    """Also where sitemaps outside of the scope are asked for: they may list what is inside."""
    pages = {
        "/robots.txt": page("Sitemap: /maps/a.xml\nSitemap: /secret/b.xml\n", media="text/plain"),
        "/maps/a.xml": page(urlset("/in/one"), media="application/xml"),
        "/in/": page("<p>here</p>"),
        "/in/one": page("<p>listed</p>"),
    }
    with site(pages) as server:
        pages["/maps/a.xml"] = page(urlset(f"{server.url}/in/one"), media="application/xml")
        server.pages.update(pages)
        crawl(tmp_path / "a", f"{server.url}/in/", "--scope", scope, "--exclude", "/secret/")
        asked = server.paths()
    assert "/maps/a.xml" in asked
    assert "/in/one" in asked
    assert "/secret/b.xml" not in asked


# -- Switched off ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "left"),
    [
        ("ASOF_SITEMAPS", {"/m/plain", "/m/indexed", "/m/packed"}),
        ("ASOF_FEEDS", {"/f/rss", "/f/atom", "/f/json"}),
        ("ASOF_GUESSES", {"/s/guessed.html", "/s/from-json.html"}),
    ],
)
def test_a_kind_of_discovery_can_be_switched_off(
    tmp_path: Path, setting: str, left: set[str]
) -> None:
    """The settings sitemaps, feeds and guesses; ordinary pages are taken all the same."""
    with site({}) as server:
        server.pages.update(web(server.url))
        crawl(tmp_path / "a", server.url + "/", env={setting: "false"}, timeout=60)
        assert "/r/here" in server.paths()
        assert not left & set(server.paths())


def test_the_extensive_preset_does_not_guess(tmp_path: Path) -> None:
    """Its settings say guesses = false; a guess costs a request that brings mostly nothing."""
    with site({}) as server:
        server.pages.update(web(server.url))
        crawl(tmp_path / "a", server.url + "/", "--preset", "extensive", timeout=60)
        assert "/m/plain" in server.paths()
        assert "/s/guessed.html" not in server.paths()


# -- Again, behind 304 ----------------------------------------------------------------------------


def test_what_was_found_once_is_found_again_behind_304(tmp_path: Path) -> None:
    """Every listing and document is confirmed, not sent; what they lead to is still asked for."""
    archive = tmp_path / "archive"
    with site({}) as server:
        for path, answer in web(server.url).items():
            assert isinstance(answer, rig.Reply)
            server.pages[path] = validated(answer, path)
        crawl(archive, server.url + "/", timeout=60)
        first = set(server.paths())
        server.hits.clear()
        crawl(archive, server.url + "/", timeout=60)
        assert set(server.paths()) == first
        count = Counter(row["url"] for row in rows_of(archive))
        once = {way for way, path in WAYS.items() if count[server.url + path] != 2}
        assert not once


def validated(answer: rig.Reply, path: str) -> rig.Answer:
    """The same answer with an ETag, and 304 for who knows it."""
    tag = f'"{zlib.crc32(path.encode()):x}"'
    head, _, body = answer.sent.partition(b"\r\n\r\n")
    whole = rig.Reply((head + f"\r\nETag: {tag}\r\n\r\n".encode() + body,), "keep")
    same = rig.Reply((f"HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\n\r\n".encode(),), "keep")
    return lambda asked: same if tag.encode() in asked and b"200 OK" in head else whole


def test_after_a_lost_database_the_sitemaps_are_still_known(tmp_path: Path) -> None:
    """An interrupted crawl goes on from its WARC files alone: robots.txt names what is to come."""
    archive = tmp_path / "archive"
    with site({}) as server:
        robots = f"User-agent: *\nDisallow: /x\nSitemap: {server.url}/sitemap.xml\n"
        server.pages |= {
            "/": page(rig.links("/a")),
            "/a": page("a"),
            "/robots.txt": page(robots, media="text/plain"),
            "/sitemap.xml": page(urlset(f"{server.url}/listed"), media="application/xml"),
            "/listed": page("listed"),
        }
        process = rig.start("crawl", server.url + "/", "-a", archive, "--delay", 1, "-q")
        try:
            rig.wait_for(lambda: "/" in server.paths(), 20, "the front page is asked for")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
        assert server.paths() == ["/robots.txt", "/"]
        rig.remove_database(archive)
        rig.ok("reindex", "-a", archive)
        crawl(archive)
        assert sorted(server.paths()) == sorted(server.pages)
